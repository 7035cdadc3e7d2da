"""FictionBook files, plain and packed."""

from __future__ import annotations

import io
import zipfile

import pytest

from pegas_assets.errors import Refused
from pegas_assets.model import BlockKind, DocumentKind
from pegas_assets.sources.registry import parse
from pegas_assets.sources.sniff import sniff
from tests.sources.book_maker import sections

BOOK = """<?xml version="1.0" encoding="{}"?>
<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0" xmlns:l="http://www.w3.org/1999/xlink">
<description><title-info><genre>prose</genre><author><first-name>Анна</first-name><last-name>Ким</last-name></author>
<book-title>Соляной путь</book-title><annotation><p>О торговле.</p></annotation><lang>ru</lang>
<date value="1998-05-06">1998</date><sequence name="Пути" number="1"/></title-info>
<document-info><author><nickname>scanner</nickname></author><date value="2010-01-01"/></document-info>
<publish-info><publisher>Маяк</publisher></publish-info></description>
<body><title><p>Анна Ким</p><p>Соляной путь</p></title>
<section><title><p>Часть первая</p></title><epigraph><p>Соль бела.</p><text-author>Пословица</text-author></epigraph>
<section><title><p>Глава 1</p><p>Караван</p></title><p>Караван вышел <emphasis>на</emphasis> закате, сорок
верблюдов<a l:href="#n1" type="note">[1]</a>.</p><empty-line/><subtitle>* * *</subtitle>
<poem><stanza><v>Соль и песок,</v><v>песок и соль.</v></stanza></poem><image l:href="#i.png"/></section>
<section><title><p>Глава 2</p></title><p>Соль взвешивали на серебро & медь.</p>
<table><tr><th>Товар</th><th>Цена</th></tr><tr><td>Соль</td><td>4</td></tr></table></section></section></body>
<body name="notes"><title><p>Примечания</p></title><section id="n1"><title><p>1</p></title>
<p>Верблюд несёт 200 кг.</p></section></body>
<binary id="i.png" content-type="image/png">aGVsbG8=</binary></FictionBook>"""


@pytest.mark.parametrize("encoding", ["utf-8", "windows-1251", "utf-16"])
def test_a_fiction_book_is_read(encoding: str) -> None:
    document = parse(BOOK.format(encoding).encode(encoding), name="a.fb2")

    assert document.kind is DocumentKind.EPUB
    assert (document.title, document.author, document.published) == ("Соляной путь", "Анна Ким", "1998-05-06")
    assert document.language == "ru"
    assert document.meta["series"] == "Пути"
    assert sections(document) == [
        ("Часть первая",),
        ("Часть первая", "Глава 1. Караван"),
        ("Часть первая", "Глава 2"),
        ("Примечания",),
    ]
    assert "Караван вышел на закате, сорок верблюдов[1]." in document.text
    assert document.text.endswith("# Примечания\n\n[1] Верблюд несёт 200 кг.")
    assert "aGVsbG8" not in document.text
    assert "серебро & медь" in document.text
    kinds = {block.kind for chunk in document.chunks for block in chunk.blocks}
    assert {BlockKind.TABLE, BlockKind.QUOTE, BlockKind.PARAGRAPH, BlockKind.HEADING} == kinds
    for chunk in document.chunks:
        assert chunk.content == document.text[chunk.locator.start : chunk.locator.end]


def test_a_packed_one_is_the_same_book() -> None:
    body = BOOK.format("utf-8").encode()
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("Книга.fb2", body)

    assert parse(made.getvalue(), name="a.fb2.zip").text == parse(body, name="a.fb2").text


def test_one_that_breaks_off_keeps_what_was_before() -> None:
    body = BOOK.format("utf-8").encode()

    assert parse(body[: body.index("на серебро".encode())], name="a.fb2").text.endswith("Соль взвешивали")


@pytest.mark.parametrize(
    "body",
    [b"<FictionBook>", b"<FictionBook><body><section/></body></FictionBook>", b"<FictionBook><body><p>1</p></body>"],
)
def test_one_without_text_is_refused(body: bytes) -> None:
    with pytest.raises(Refused, match="no text"):
        parse(body, name="a.fb2")


def test_other_xml_is_no_book() -> None:
    assert sniff(b"<?xml version='1.0'?><a><FictionBook/></a>").media_type == "application/xml"
    assert (
        sniff(b"\xef\xbb\xbf<?xml version='1.0'?>\n<FictionBook xmlns='x'>").media_type
        == "application/x-fictionbook+xml"
    )
