"""Word, Excel and PowerPoint: what is shown, in order, at its paragraph, row or slide."""

from __future__ import annotations

import datetime
import io
import zipfile
from typing import Any

import pytest

from pegas_assets.errors import Refused
from pegas_assets.model import BlockKind, ParsedDocument
from pegas_assets.sources.registry import parse

NS = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def saved(document: Any) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def word(name: str = "mill.docx") -> tuple[Any, Any]:
    """An empty document, and what reads it as it is then."""
    import docx

    document = docx.Document()

    def read() -> ParsedDocument:
        parsed = parse(saved(document), name=name)
        for chunk in parsed.chunks:
            assert chunk.content == parsed.text[chunk.locator.start : chunk.locator.end]
        return parsed

    return document, read


def xml(source: str) -> Any:
    """An element of the document from its XML, whose prefix is declared here."""
    from docx.oxml import parse_xml

    opening, rest = source.split(">", 1)
    tail = "/" if opening.endswith("/") else ""
    return parse_xml(f"{opening.removesuffix('/')} {NS}{tail}>{rest}")


def test_styles_make_headings_lists_quotes_and_code() -> None:
    document, read = word()
    document.core_properties.author = "Ann Lee"
    document.add_heading("The tide mill", 0)
    document.add_heading("The pond", 1)
    document.add_paragraph("It is fed by the sea.")
    for text, style in (
        ("first", "List Bullet"),
        ("second", "List Bullet"),
        ("one", "List Number"),
        ("two", "List Number"),
    ):
        document.add_paragraph(text, style=style)
    document.add_paragraph("Said by him", style="Quote")
    for line in ("def f():", "    return 1"):
        document.add_paragraph().add_run(line).font.name = "Courier New"
    document.add_heading("Its end", 2)
    document.add_paragraph("It stopped in 1923.")
    parsed = read()
    assert parsed.text == (
        "# The tide mill\n\n## The pond\n\nIt is fed by the sea.\n\n- first\n- second\n\n1. one\n2. two\n\n> Said by him\n\n"
        "```\ndef f():\n    return 1\n```\n\n### Its end\n\nIt stopped in 1923."
    )
    assert (parsed.title, parsed.author) == ("The tide mill", "Ann Lee")
    places = {chunk.locator.section[-1]: chunk.locator.paragraph for chunk in parsed.chunks}
    assert places["Its end"] == 11
    assert {block.kind for chunk in parsed.chunks for block in chunk.blocks} >= {
        BlockKind.QUOTE,
        BlockKind.CODE,
        BlockKind.LIST,
    }


def test_what_was_inserted_is_read_and_what_was_deleted_or_hidden_is_not() -> None:
    document, read = word()
    paragraph = document.add_paragraph("The mill")
    paragraph.add_run(" secret").font.hidden = True
    run = '<w:r><w:t xml:space="preserve"> grinds</w:t></w:r>'
    paragraph._p.append(xml(f'<w:ins w:id="1" w:author="x">{run}</w:ins>'))
    paragraph._p.append(xml('<w:del w:id="2" w:author="x"><w:r><w:delText> gone</w:delText></w:r></w:del>'))
    paragraph._p.append(xml("<w:r><w:noBreakHyphen/><w:t>on</w:t><w:br/><w:t>and</w:t><w:tab/><w:t>on</w:t></w:r>"))
    assert read().text == "The mill grinds-on\nand on"


def test_tables_with_merged_cells_pipes_and_lines() -> None:
    document, read = word()
    table = document.add_table(3, 3)
    for row, cells in enumerate([["Tide", "Hours", "Note"], ["Spring", "5.5", "a|b"], ["Spring", "3", "c"]]):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    table.cell(1, 2).add_paragraph("more")
    table.cell(1, 0).merge(table.cell(2, 0)).text = "Spring"
    table.cell(0, 1).merge(table.cell(0, 2)).text = "Hours and note"
    assert read().text == ("| Tide | Hours and note |  |\n|---|---|---|\n| Spring | 5.5 | a\\|b; more |\n|  | 3 | c |")


def test_notes_and_comments_come_after_and_boxes_in_place() -> None:
    document, read = word()
    paragraph = document.add_paragraph("The mill stands.")
    document.add_comment(paragraph.runs[0], text="Does it?", author="Bob")
    box = "<w:r><w:pict><v:shape xmlns:v='urn:schemas-microsoft-com:vml'><v:textbox><w:txbxContent><w:p><w:r><w:t>In a box.</w:t></w:r></w:p></w:txbxContent></v:textbox></v:shape></w:pict></w:r>"
    paragraph._p.append(xml(box))
    document.add_paragraph("It grinds.")
    assert read().text == "The mill stands.\n\nIn a box.\n\nIt grinds.\n\nComment by Bob: Does it?"


def test_numbers_that_word_only_counts_are_written_out() -> None:
    document, read = word()
    for level, text in enumerate(("Origin", "Frost")):
        document.add_paragraph(text, style=f"List Number{'' if not level else ' 2'}")
    document.add_paragraph("Ice", style="List Number")
    assert read().text.split("\n")[0] == "1. Origin"
    assert read().text.split("\n")[-1].endswith("2. Ice")


def test_a_file_without_text_that_is_damaged_or_locked_is_refused() -> None:
    document, read = word()
    with pytest.raises(Refused, match="no text"):
        read()
    document.add_paragraph("Words.")
    whole = saved(document)
    with pytest.raises(Refused, match="damaged"):
        parse(whole[:400], name="a.docx")
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(whole)) as source, zipfile.ZipFile(buffer, "w") as target:
        for member in source.namelist():
            if member != "word/document.xml":
                target.writestr(member, source.read(member))
    with pytest.raises(Refused, match="damaged"):
        parse(buffer.getvalue(), name="a.docx")
    locked = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600) + "EncryptedPackage".encode("utf-16-le") + bytes(600)
    with pytest.raises(Refused, match="password"):
        parse(locked, name="a.docx")
    with pytest.raises(Refused, match="HTML"):
        parse(b"<!doctype html><title>Sign in</title>", name="a.docx")


def test_a_document_that_unfolds_to_gigabytes_is_refused() -> None:
    document, _ = word()
    document.add_paragraph("Words.")
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(saved(document))) as source,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for member in source.namelist():
            target.writestr(member, source.read(member))
        with target.open("word/media/image1.xml", "w") as swelling:
            for _ in range(620):
                swelling.write(bytes(1 << 20))
    with pytest.raises(Refused, match="too large"):
        parse(buffer.getvalue(), name="a.docx")


def test_sheets_are_tables_with_their_rows() -> None:
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Gauges"
    for row in (
        ["Readings of the gauge"],
        [],
        ["station", "zero, m", "date"],
        ["Pier", 0.42, datetime.date(2020, 1, 2)],
        ["Pond", 1, None],
    ):
        sheet.append(row)
    hidden = book.create_sheet("Secret")
    hidden.append(["secret"])
    hidden.sheet_state = "hidden"
    parsed = parse(saved(book), name="gauges.xlsx")
    assert parsed.text == (
        "## Gauges\n\nReadings of the gauge\n\n| station | zero, m | date |\n|---|---|---|\n| Pier | 0.42 | 2020-01-02 |\n| Pond | 1 |  |"
    )
    (chunk,) = parsed.chunks
    assert [turn.value for turn in chunk.locator.turns] == [3, 4, 5]
    assert parsed.title == "gauges"


def test_slides_are_pages() -> None:
    import pptx

    deck = pptx.Presentation()
    for title, text in (("The pond", "first\nsecond"), ("The wheel", "one point")):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = text
    deck.slides[0].notes_slide.notes_text_frame.text = "Say this."
    parsed = parse(saved(deck), name="mill.pptx")
    assert parsed.text == "## The pond\n\n- first\n- second\n\nNotes: Say this.\n\n## The wheel\n\none point"
    assert [chunk.locator.page for chunk in parsed.chunks] == [1, 2]
