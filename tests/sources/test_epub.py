"""EPUB books as they are: broken packages, odd names, other encodings, damage."""

from __future__ import annotations

import contextlib
import io
import struct
import zipfile

import pytest

from pegas_assets.errors import Refused
from pegas_assets.model import DocumentKind
from pegas_assets.sources.registry import parse
from pegas_assets.sources.sniff import sniff
from tests.sources.book_maker import CONTAINER, FIRST, METADATA, SECOND, Book, one_page, page, sections

BOTH = [("First",), ("Second",)]


def test_a_book_is_read_with_what_it_says_of_itself() -> None:
    document = Book(
        metadata="<dc:title>Соляной путь</dc:title><dc:language>ru-RU</dc:language>"
        '<dc:creator opf:role="ill">К. Рисов</dc:creator><dc:creator opf:role="aut">Анна Ким</dc:creator>'
        '<dc:creator opf:role="aut">Пётр Ли</dc:creator><dc:date opf:event="modification">2024-02-03</dc:date>'
        '<dc:date opf:event="publication">1998-05-06T00:00:00Z</dc:date><dc:publisher>Маяк</dc:publisher>',
        pages={"c1.xhtml": "<h1>Да</h1><p>Да.</p>"},
    ).read()

    assert document.kind is DocumentKind.EPUB
    assert document.title == "Соляной путь"
    assert document.author == "Анна Ким, Пётр Ли"
    assert document.published == "1998-05-06"
    assert document.language == "ru"
    assert document.meta["publisher"] == "Маяк"
    assert document.reader.startswith("epub/1+")
    assert document.warnings == ()


def test_the_roles_and_the_main_title_of_epub_3_count() -> None:
    document = Book(
        metadata='<dc:title id="s">A Story of Trade</dc:title><dc:title id="t">The Salt Road</dc:title>'
        '<meta refines="#t" property="title-type">main</meta><meta refines="#s" property="title-type">subtitle</meta>'
        '<dc:creator id="a">Anna Kim</dc:creator><dc:creator id="b">Peter Lee</dc:creator>'
        '<meta refines="#a" property="role">aut</meta><meta refines="#b" property="role">trl</meta>'
        '<dc:date>1998</dc:date><meta property="dcterms:modified">2024-01-01T00:00:00Z</meta>'
    ).read()

    assert (document.title, document.author, document.published) == ("The Salt Road", "Anna Kim", "")


@pytest.mark.parametrize(
    ("book", "warned"),
    [
        (Book(container=None), False),
        (Book(container="<container><rootfiles/></container>"), False),
        (Book(container=CONTAINER.replace("{}", "gone.opf")), False),
        (Book(container="not xml at all"), False),
        (Book(folder=""), False),
        (Book(spine="<itemref/>"), True),
        (Book(spine='<itemref idref="ghost"/>'), True),
        (Book(package=""), True),
        (Book(package="<html><body>An error page</body></html>"), True),
        (Book(spine='<itemref idref="c1.xhtml"/><itemref idref="p1"/><itemref idref="p0"/>'), False),
        (Book(manifest='<item id="p0" href="c1.xhtml"/><item id="p1" href="c2.xhtml" media-type="text/css"/>'), False),
        (Book(mimetype=False), False),
    ],
)
def test_a_package_that_is_wrong_or_missing_does_not_keep_the_text_away(book: Book, warned: bool) -> None:
    document = book.read()

    assert sections(document) == BOTH
    assert bool(document.warnings) == warned


def test_a_package_without_namespaces_or_with_undeclared_ones_is_read() -> None:
    bare = (
        "<package><metadata><title>Salt &amp; Silver&nbsp;</title><creator>A</creator></metadata><manifest>"
        '<item id="a" href="c1.xhtml" media-type="application/xhtml+xml"/></manifest>'
        '<spine><itemref idref="a"/></spine></package>'
    )
    prefixed = bare.replace("<title", "<dc:title").replace("/title", "/dc:title").replace("<item ", "<opf:item ")

    assert Book(package=bare).read().title == "Salt & Silver"
    assert Book(package=prefixed).read().title == "Salt & Silver"
    assert "forty camels" in Book(package=prefixed).read().text


def test_an_old_package_keeps_its_facts_one_level_deeper() -> None:
    document = Book(
        metadata="<dc-metadata><dc:Title>The Salt Road</dc:Title><dc:Creator role='aut'>Anna Kim</dc:Creator></dc-metadata>"
    ).read()

    assert (document.title, document.author) == ("The Salt Road", "Anna Kim")


def test_without_a_title_it_is_the_first_heading_else_the_name() -> None:
    assert Book(metadata="<dc:title> </dc:title>").read().title == "First"
    assert (
        Book({"a.xhtml": "<p>Salt is white.</p><p>Silver is too.</p>"}, metadata="").read("road.epub").title == "road"
    )


@pytest.mark.parametrize(
    ("href", "member"),
    [
        ("Chapter%20One.xhtml", "OEBPS/Chapter One.xhtml"),
        ("Chapter One.xhtml", "OEBPS/Chapter One.xhtml"),
        ("a%2520b.xhtml", "OEBPS/a%20b.xhtml"),
        ("50%.xhtml", "OEBPS/50%.xhtml"),
        ("../Text/one.xhtml", "Text/one.xhtml"),
        ("Text\\one.xhtml", "OEBPS/Text/one.xhtml"),
        ("text/ONE.xhtml", "OEBPS/Text/one.xhtml"),
        ("OEBPS/one.xhtml", "OEBPS/one.xhtml"),
        ("/OEBPS/one.xhtml", "OEBPS/one.xhtml"),
        ("one.xhtml#start", "OEBPS/one.xhtml"),
        ("%D0%93%D0%BB%D0%B0%D0%B2%D0%B0.xhtml", "OEBPS/Глава.xhtml"),
        ("Глава.xhtml", "OEBPS/глава.xhtml"),
        ("./x/../one.xhtml", "OEBPS\\one.xhtml"),
    ],
)
def test_a_file_is_found_by_whatever_spelling_the_package_has(href: str, member: str) -> None:
    document = Book(
        {},
        manifest=f'<item id="a" href="{href}" media-type="application/xhtml+xml"/>',
        spine='<itemref idref="a"/>',
        files={member: page(FIRST)},
    ).read()

    assert "forty camels" in document.text
    assert document.warnings == ()


def test_a_file_that_is_missing_or_unreadable_is_a_warning() -> None:
    missing = Book(leave_out=["OEBPS/c2.xhtml"]).read()
    assert sections(missing) == [("First",)]
    assert missing.warnings == ("The file c2.xhtml of the book is missing.",)

    body = bytearray(Book(method=zipfile.ZIP_STORED).bytes())
    body[body.index(b"silver")] = ord("S")
    damaged = parse(bytes(body), name="a.epub")
    assert "against Silver" in damaged.text
    assert "c2.xhtml" in damaged.warnings[0]
    assert "damaged" in damaged.warnings[0]

    remote = Book(more_manifest='<item id="r" href="https://example.org/c3.xhtml" media-type="application/xhtml+xml"/>',
                  spine='<itemref idref="p0"/><itemref idref="r"/>').read()  # fmt: skip
    assert len(remote.warnings) == 1


def test_very_many_things_missing_are_told_in_a_few_sentences() -> None:
    many = {f"c{number}-{'x' * 600}.xhtml": FIRST for number in range(100)}
    document = Book({"c.xhtml": SECOND, **many}, leave_out=[f"OEBPS/{name}" for name in many]).read()

    assert len(document.warnings) == 21
    assert document.warnings[-1] == "There are 80 further warnings of this kind."
    assert max(map(len, document.warnings)) < 300


def test_the_same_file_twice_in_the_spine_is_read_once() -> None:
    assert (
        Book(spine='<itemref idref="p0"/><itemref idref="p0"/><itemref idref="p1"/>').read().text.count("camels") == 1
    )


def test_what_is_no_page_in_the_spine_is_told_or_replaced() -> None:
    book = Book(
        {"c1.xhtml": FIRST},
        more_manifest='<item id="f" href="form.pdf" media-type="application/pdf" fallback="p0"/>'
        '<item id="g" href="map.pdf" media-type="application/pdf"/>',
        spine='<itemref idref="f"/><itemref idref="g"/>',
        files={"OEBPS/form.pdf": "%PDF-", "OEBPS/map.pdf": "%PDF-"},
    )

    document = book.read()

    assert sections(document) == [("First",)]
    assert "map.pdf" in document.warnings[0]


@pytest.mark.parametrize(
    "encoded",
    [
        '<?xml version="1.0" encoding="windows-1251"?><html><body><p>Соль взвешивали на серебро.</p></body></html>'.encode("cp1251"),
        '<html><head><meta http-equiv="Content-Type" content="text/html; charset=koi8-r"/></head><body>'
        "<p>Соль взвешивали на серебро.</p></body></html>".encode("koi8-r"),
        '<?xml version="1.0" encoding="utf-16"?><html><body><p>Соль взвешивали на серебро.</p></body></html>'.encode("utf-16"),
        '<?xml version="1.0" encoding="utf-16"?><html><body><p>Соль взвешивали на серебро.</p></body></html>'.encode("utf-16-be"),
        '<?xml version="1.0" encoding="utf-8"?><html><body><p>Соль взвешивали на серебро. Караван вышел на закате '
        "от колодца.</p></body></html>".encode("cp1251"),
        "\ufeff<html><body><p>Соль взвешивали на серебро.</p></body></html>".encode(),
    ],
    ids=["cp1251", "koi8-r by meta", "utf-16", "utf-16 without a mark", "cp1251 that says utf-8", "utf-8 with a mark"],
)  # fmt: skip
def test_a_page_is_read_in_its_encoding(encoded: bytes) -> None:
    assert "Соль взвешивали на серебро." in Book({"c1.xhtml": encoded}).read().text


def test_one_bad_byte_costs_one_character() -> None:
    body = page("<p>" + "Соль взвешивали на серебро. " * 20 + "</p>").encode()
    at = body.index("серебро".encode())
    document = Book({"c1.xhtml": body[:at] + b"\xff" + body[at:]}).read()

    assert document.text.count("Соль") == 20
    assert document.text.count("\ufffd") == 1
    assert "c1.xhtml" in document.warnings[0]


@pytest.mark.parametrize(
    "body",
    [
        "<p>Salt &amp silver &nbsp;&mdash; white<p>camels<br>forty</div></p>",
        "<p>Salt &amp; silver &nbsp;— white</p><p>camels<br></br>forty",
        '<p>Salt <a id="x"/>&amp; silver <i/>&#160;&#8212; white</p><p/><div/><p>camels<br />forty</p>',
        "<p>Salt <![CDATA[& silver]]> \u00a0&#x2014; white</p><?page 12?><p>camels<br/>forty</p>",
    ],
)
def test_broken_markup_keeps_its_words(body: str) -> None:
    text = " ".join(one_page(f"<h1>One</h1>{body}").read().text.split())

    assert text == "# One Salt & silver — white camels forty"


def test_a_head_closed_in_itself_swallows_nothing() -> None:
    document = Book(
        {"c1.xhtml": '<html><head><title/><script src="a.js"/><style/></head><body>' + FIRST + "</body></html>"}
    )

    assert "forty camels" in document.read().text


def test_prefixed_html_is_html() -> None:
    body = (
        '<h:html xmlns:h="http://www.w3.org/1999/xhtml"><h:head><h:title>t</h:title></h:head><h:body><h:h1>First</h:h1>'
        "<h:p>Forty camels.</h:p></h:body></h:html>"
    )

    assert one_page("", files={"OEBPS/c1.xhtml": body}).read().text == "# First\n\nForty camels."


def test_entities_of_the_document_are_put_in_once_and_never_loaded() -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    doctype = (
        f'<!DOCTYPE html [<!ENTITY l0 "ha">{laughs}<!ENTITY house "Maru &amp; Sons">'
        '<!ENTITY file SYSTEM "file:///etc/passwd"><!ENTITY % more SYSTEM "http://127.0.0.1:9/x"> %more;]>'
    )
    body = (
        f"<?xml version='1.0'?>{doctype}<html><body><p>Sold by &house;: &file;&l9;salt &mdash; white.</p></body></html>"
    )

    assert one_page(body).read().text == "Sold by Maru & Sons: salt — white."


@pytest.mark.parametrize("tag", ["div", "span", "blockquote", "ul><li", "table><tr><td", "sub", "h1", "a"])
def test_what_is_nested_too_deep_loses_nothing(tag: str) -> None:
    opened = f"<{tag}>" * 2_000
    document = one_page(f"<p>before</p>{opened}inside<p>after</p>").read()

    assert {"before", "inside", "after"} <= set(
        document.text.replace("#", " ").replace("-", " ").replace(">", " ").split()
    )


def test_a_tag_with_very_many_attributes_does_not_hang() -> None:
    attributes = " ".join(f"a{n}=''" for n in range(100_000))

    assert "silver" in one_page(f"<p {attributes}>Salt for silver</p>").read().text


def test_a_book_without_its_directory_is_read_from_what_is_left() -> None:
    whole = Book().bytes()
    document = parse(whole[: whole.index(b"PK\x01\x02") + 10], name="a.epub")

    assert sections(document) == BOTH
    assert "damaged" in document.warnings[0]


def test_a_book_that_breaks_off_in_a_chapter_keeps_what_was_before() -> None:
    whole = Book(method=zipfile.ZIP_STORED).bytes()
    document = parse(whole[: whole.index(b" in the market")], name="a.epub")

    assert document.text.endswith("Salt was weighed against silver")
    assert any("c2.xhtml" in warning and "breaks off" in warning for warning in document.warnings)


@pytest.mark.parametrize("kept", [30, 45, 100])
def test_what_is_left_of_a_book_is_too_little(kept: int) -> None:
    with pytest.raises(Refused):
        parse(Book().bytes()[:kept], name="a.epub")


def test_a_book_with_something_before_it_is_found_by_its_name() -> None:
    assert sections(parse(b"\x00\x01garbage\xff" * 5 + Book().bytes(), name="a.epub")) == BOTH


def zipped(names: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        for name, body in names.items():
            archive.writestr(name, body)
    return made.getvalue()


@pytest.mark.parametrize(
    ("body", "media_type"),
    [
        (Book().bytes(), "application/epub+zip"),
        (Book(mimetype=False).bytes(), "application/epub+zip"),
        (Book(mimetype=False, container=None).bytes(), "application/epub+zip"),
        (Book(mimetype=False, files={"word/a.txt": "x"}).bytes(), "application/epub+zip"),
        (zipped({"book/META-INF/container.xml": b"", "book/c.opf": b""}), "application/epub+zip"),
        (zipped({"a.epub": Book().bytes(), "b.epub": Book().bytes()}), "application/zip"),
        (zipped({"notes/a.txt": b"x", "META-INF/MANIFEST.MF": b""}), "application/zip"),
        (
            zipped({"[Content_Types].xml": b"", "word/document.xml": b"", "word/media/a.opf": b""}),
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        ),
        (
            zipped({"mimetype": b"application/vnd.oasis.opendocument.text", "META-INF/manifest.xml": b""}),
            "application/vnd.oasis.opendocument",
        ),
    ],
)
def test_books_are_told_from_other_archives(body: bytes, media_type: str) -> None:
    assert sniff(body, name="thing").media_type == media_type


def test_a_book_packed_with_its_folder_is_read() -> None:
    members = {
        f"salt/{name}": body if isinstance(body, bytes) else body.encode() for name, body in Book().members().items()
    }

    assert sections(parse(zipped(members), name="a.epub")) == BOTH


def test_the_same_bytes_give_the_same_document() -> None:
    body = Book(metadata=METADATA).bytes()

    assert parse(body, name="a.epub") == parse(body, name="a.epub")


def test_damage_anywhere_is_a_document_or_a_refusal() -> None:
    whole = Book({"c1.xhtml": FIRST, "c2.xhtml": SECOND + "<table><tr><td>a</td></tr></table><pre>x</pre>"}).bytes()
    for at in range(0, len(whole), 7):
        for damaged in (
            whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :],
            whole[:at] + struct.pack("<L", 0xFFFFFFFF) + whole[at + 4 :],
            whole[:at] + whole[at + 5 :],
        ):
            with contextlib.suppress(Refused):
                assert parse(damaged, name="a.epub").chunks
