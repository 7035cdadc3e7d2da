"""A PDF as a person reads it: in order, without what repeats, with its tables, headings and pages."""

from __future__ import annotations

from typing import Any

import pytest

from pegas_assets.errors import Refused
from pegas_assets.model import BlockKind, ParsedDocument
from pegas_assets.sources.pdf import unlocked_pdf
from pegas_assets.sources.registry import parse
from tests.sources.pdf_files import Draw, lines, pdf, together

LEFT = (
    "Granite domes shed sheets of rock when the",
    "pressure above them falls, as the old survey of",
    "the range has shown in great detail, year by",
    "year, since the first men climbed up there.",
)
RIGHT = (
    "Salt flats form where a lake has no way out to",
    "the sea; the water goes into the air and leaves",
    "what it carried. After a thousand years a crust",
    "as thick as a house lies where the lake was.",
)
DOMES, SALT = " ".join(LEFT), " ".join(RIGHT)


def read(*pages: Draw, name: str = "file.pdf", **making: Any) -> ParsedDocument:
    document = parse(pdf(*pages, **making), name=name)
    for chunk in document.chunks:
        assert chunk.content == document.text[chunk.locator.start : chunk.locator.end]
    return document


def by_rows(page: Any) -> None:
    for number, (one, other) in enumerate(zip(LEFT, RIGHT, strict=True)):
        page.insert_text((60, 120 + 14 * number), one, fontsize=10)
        page.insert_text((320, 120 + 14 * number), other, fontsize=10)


def test_columns_are_read_one_after_the_other_however_they_were_painted() -> None:
    title = lines("A title over both columns of the page", x=60, y=80, size=18)
    document = read(together(by_rows, title, lines(*RIGHT, x=60, y=230, size=10), lines(*LEFT, x=320, y=230, size=10)))
    wanted = ["A title over both", DOMES, SALT, SALT, DOMES]
    at = 0
    for part in wanted:
        at = document.text.index(part, at) + 1
    assert document.title == "A title over both columns of the page"


def test_a_paragraph_goes_on_over_the_page_and_its_note_comes_after() -> None:
    document = read(
        together(
            lines("The pilot boats were pulled ashore by horses, and the", "men went home to their remark-", y=740),
            lines("1 See the harbour book.", y=800, size=7),
        ),
        lines("able families in the hills. Then the ice", "broke."),
    )
    whole = "The pilot boats were pulled ashore by horses, and the men went home to their remarkable families in the hills. "
    assert document.text == f"{whole}Then the ice broke.\n\n1 See the harbour book."
    (chunk,) = document.chunks
    assert str(chunk.locator).startswith("p. 1–2")
    start = document.text.index("Then the ice")
    assert chunk.locator.within(start, start + 10).page == 2


@pytest.mark.parametrize(
    ("above", "below", "joined"),
    [
        ("the remark-", "able thing", "the remarkable thing"),
        ("a well-", "known man", "a well-known man"),
        ("on the Moscow-", "Petersburg line", "on the Moscow-Petersburg line"),
        ("pages 12-", "14 of it", "pages 12-14 of it"),
        ("state-of-", "the-art tools", "state-of-the-art tools"),
        ("кто-", "то пришёл", "кто-то пришёл"),
        ("из-", "за дождя", "из-за дождя"),
        ("перепис-", "чик вошёл", "переписчик вошёл"),
        ("a dash -", "and more", "a dash - and more"),
        ("a soft\u00ad", "ware house", "a software house"),
    ],
)
def test_a_hyphen_at_a_line_s_end_stays_where_the_word_has_one(above: str, below: str, joined: str) -> None:
    from pegas_assets.sources.pdf_words import Hyphens

    assert Hyphens([above, below]).joined(above, below) == joined


def test_the_document_s_own_words_decide_about_hyphens() -> None:
    from pegas_assets.sources.pdf_words import Hyphens

    knows = Hyphens(["see the back-end here again", "as database files go"])
    assert knows.joined("the back-", "end of it") == "the back-end of it"
    assert knows.joined("the data-", "base of it") == "the database of it"


def test_heads_feet_and_numbers_go_and_what_repeats_in_the_text_stays() -> None:
    def page(number: int) -> Draw:
        return together(
            lines("Harbour Gazette", y=40),
            lines(f"{number} The night number {number} was cold.", "And again the ice came.", y=300),
            lines(f"Page {number} of 5", y=820),
        )

    document = read(*(page(number) for number in range(1, 6)))
    assert document.text.count("Harbour Gazette") == 1
    assert "Page" not in document.text
    assert document.text.count("And again the ice came.") == 5
    assert [f"night number {number}" in document.text for number in range(1, 6)] == [True] * 5


def test_a_short_file_keeps_every_line() -> None:
    document = read(lines("Harbour Gazette", y=40), lines("Harbour Gazette", y=40))
    assert document.text.count("Harbour Gazette") == 2


def ruled(page: Any) -> None:
    import pymupdf

    for row, cells in enumerate([["Pump", "Litres"], ["P-1", "40"], ["P|2", "55"]]):
        for column, cell in enumerate(cells):
            box = pymupdf.Rect(72 + 100 * column, 100 + 20 * row, 172 + 100 * column, 120 + 20 * row)
            page.draw_rect(box)
            page.insert_text((box.x0 + 5, box.y1 - 6), cell)


def loose(page: Any) -> None:
    for row, cells in enumerate([["Pump", "Litres"], ["P-1", "40"], ["P|2", "55"]]):
        for column, cell in enumerate(cells):
            page.insert_text((72 + 160 * column, 110 + 16 * row), cell)


@pytest.mark.parametrize("table", [ruled, loose])
def test_a_table_is_a_table_with_rules_or_without(table: Draw) -> None:
    document = read(together(lines("Text before it.", y=80), table, lines("Text after it.", y=200)))
    assert document.text == (
        "Text before it.\n\n| Pump | Litres |\n|---|---|\n| P-1 | 40 |\n| P\\|2 | 55 |\n\nText after it."
    )
    assert [block.kind for block in document.chunks[0].blocks] == [
        BlockKind.PARAGRAPH,
        BlockKind.TABLE,
        BlockKind.PARAGRAPH,
    ]


def test_headings_are_told_by_size_and_weight_and_make_the_section_path() -> None:
    document = read(
        together(
            lines("Domes of the Sierra", y=80, size=20),
            lines("1. Origin", y=110, size=14),
            lines(*LEFT, y=130),
            lines("1.1 Frost", y=200, font="hebo"),
            lines(*RIGHT, y=220),
        )
    )
    assert [chunk.locator.section for chunk in document.chunks] == [
        ("Domes of the Sierra", "1. Origin"),
        ("Domes of the Sierra", "1. Origin", "1.1 Frost"),
    ]
    assert document.title == "Domes of the Sierra"


def test_the_outline_opens_sections_whether_its_titles_are_on_the_page_or_not() -> None:
    document = read(
        together(lines("Origin", y=80, font="hebo"), lines(*LEFT, y=110)),
        lines(*RIGHT, y=110),
        lines("The end of it all is here.", y=110),
        outline=[(1, "Part One", 1), (2, "Origin", 1), (1, "Lost", 2), (1, "Past the end", 3)],
    )
    sections = {chunk.locator.page: chunk.locator.section for chunk in document.chunks}
    assert sections == {1: ("Part One", "Origin"), 2: ("Lost",), 3: ("Past the end",)}


def test_lists_and_code_keep_their_lines() -> None:
    document = read(
        together(
            lines("• first point of the list", "• second point that goes on over", y=80),
            lines("the end of its line", x=80, y=108),
            lines("• third point", y=122),
            lines("def f(x):", "    if x:", "        return 1", y=180, font="cour"),
            lines(*LEFT, y=260),
        )
    )
    listed = "- first point of the list\n- second point that goes on over the end of its line\n- third point"
    assert document.text.startswith(f"{listed}\n\n```\ndef f(x):\n    if x:\n        return 1\n```\n\n{DOMES}")


def test_what_nobody_sees_is_left_out_and_white_on_a_bar_is_seen() -> None:
    def draw(page: Any) -> None:
        import pymupdf

        page.insert_text((72, 80), "What is seen is kept.")
        page.insert_text((72, 100), "white secret", color=(1, 1, 1))
        page.insert_text((72, 120), "tiny secret", fontsize=1)
        page.insert_text((72, 130), "transparent secret", fill_opacity=0)
        page.insert_text((72, 140), "invisible secret", render_mode=3)
        page.insert_text((1000, 80), "outside secret")
        page.draw_rect(pymupdf.Rect(72, 150, 300, 170), fill=(0, 0, 0.3))
        page.insert_text((80, 165), "White on a dark bar", color=(1, 1, 1))

    assert read(draw).text == "What is seen is kept.\n\nWhite on a dark bar"


def scanned(page: Any) -> None:
    import pymupdf

    picture = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 100, 140))
    picture.clear_with(230)
    page.insert_image(page.rect, pixmap=picture)


def test_the_text_under_a_scan_is_its_text() -> None:
    def draw(page: Any) -> None:
        scanned(page)
        for number, line in enumerate(LEFT):
            page.insert_text((100, 100 + 14 * number), line, render_mode=3)

    assert read(draw).text == DOMES


def test_pages_that_are_pictures_are_named_and_a_file_of_them_needs_ocr() -> None:
    document = read(lines(*LEFT), scanned)
    assert document.text == DOMES
    assert any("Page 2 " in warning and "OCR" in warning for warning in document.warnings)
    with pytest.raises(Refused, match="no text layer") as raised:
        read(scanned, scanned)
    assert raised.value.needs_ocr
    with pytest.raises(Refused, match="empty") as raised:
        read(lambda page: None)
    assert not raised.value.needs_ocr


def test_a_page_on_its_side_and_a_stamp_along_the_edge() -> None:
    def sideways(page: Any) -> None:
        for number, line in enumerate(LEFT):
            page.insert_text((100 + 14 * number, 700), line, rotate=90)

    assert read(sideways).text == DOMES
    stamp = together(lines(*LEFT, x=100), lambda page: page.insert_text((30, 500), "Stamp of 2021", rotate=90))
    assert read(stamp).text == f"{DOMES}\n\nStamp of 2021"


def test_notes_and_fields_are_part_of_the_page() -> None:
    document = read(lambda page: [page.insert_text((72, 80), "A page."), page.add_text_annot((200, 80), "A doubt.")])
    assert document.text == "A page.\n\nA doubt."


def test_the_file_s_own_words_about_it() -> None:
    facts = {"title": "Domes", "author": "Ann Lee", "creationDate": "D:20240305120000Z"}
    document = read(lines(*LEFT), metadata=facts)
    assert (document.title, document.author, document.published) == ("Domes", "Ann Lee", "2024-03-05")
    for nothing in ("Microsoft Word - a.doc", "untitled", "report.tex"):
        assert read(lines(*LEFT), metadata={"title": nothing}, name="domes.pdf").title == "domes"


def test_a_locked_file_opens_with_its_password_and_is_the_same_each_time() -> None:
    import pymupdf

    locked = pdf(lines(*LEFT), encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="hops", owner_pw="boss")
    with pytest.raises(Refused, match="password"):
        parse(locked, name="locked.pdf")
    with pytest.raises(Refused, match="wrong"):
        unlocked_pdf(locked, "malt")
    opened = unlocked_pdf(locked, "hops")
    assert parse(opened, name="locked.pdf").text == DOMES
    assert unlocked_pdf(locked, "hops") == opened
    assert unlocked_pdf(opened, "hops") == opened
    only_owner = pdf(lines(*LEFT), encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="boss")
    assert parse(only_owner, name="open.pdf").text == DOMES
