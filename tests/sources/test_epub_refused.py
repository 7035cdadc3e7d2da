"""EPUB books that are refused, and why: locked, without text, too large; and those that only look so."""

from __future__ import annotations

import zipfile

import pytest

from pegas_assets.errors import Refused
from pegas_assets.sources.registry import parse
from tests.sources.book_maker import Book, one_page, sections

BOTH = [("First",), ("Second",)]


def locked(algorithm: str, uri: str) -> dict[str, str]:
    return {
        "META-INF/encryption.xml": '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" '
        'xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData>'
        f'<enc:EncryptionMethod Algorithm="{algorithm}"/><enc:CipherData><enc:CipherReference URI="{uri}"/>'
        "</enc:CipherData></enc:EncryptedData></encryption>"
    }


AES = "http://www.w3.org/2001/04/xmlenc#aes128-cbc"


@pytest.mark.parametrize(
    "files",
    [
        locked(AES, "OEBPS/c1.xhtml"),
        locked(AES, "oebps/C1.xhtml"),
        {"META-INF/rights.xml": "<rights/>"},
        {"META-INF/sinf.xml": "<fairplay/>"},
        {"META-INF/license.lcpl": "{}"},
    ],
)
def test_a_locked_book_is_refused_as_such(files: dict[str, str]) -> None:
    with pytest.raises(Refused, match="DRM"):
        Book(files=files).read()


@pytest.mark.parametrize(
    "files",
    [
        locked("http://www.idpf.org/2008/embedding", "OEBPS/a.otf"),
        locked("http://ns.adobe.com/pdf/enc#RC", "OEBPS/a.otf"),
        locked(AES, "OEBPS/a.jpg"),
        {"META-INF/encryption.xml": "broken <"},
    ],
)
def test_hidden_fonts_are_no_lock(files: dict[str, str]) -> None:
    assert sections(Book(files=files).read()) == BOTH


def test_a_password_is_told() -> None:
    body = bytearray(Book(method=zipfile.ZIP_STORED).bytes())
    at = body.index(b"OEBPS/c1.xhtml") - 30
    body[at + 6] |= 1

    with pytest.raises(Refused, match="password"):
        parse(bytes(body), name="a.epub")


@pytest.mark.parametrize(
    ("pages", "needs_ocr"),
    [
        ({"c1.xhtml": '<img src="1.png" alt=""/>', "c2.xhtml": '<img src="2.png" alt="page 2"/><p>2</p>'}, True),
        ({"c1.xhtml": '<svg xmlns="http://www.w3.org/2000/svg"><image href="1.png"/></svg>'}, True),
        ({"c1.xhtml": "<p> </p>", "c2.xhtml": ""}, False),
    ],
)
def test_a_book_without_text_is_refused(pages: dict[str, str], needs_ocr: bool) -> None:
    with pytest.raises(Refused, match="no text") as raised:
        Book(pages).read()

    assert raised.value.needs_ocr is needs_ocr


def test_pictures_in_the_spine_are_pages_of_pictures() -> None:
    book = Book({}, manifest='<item id="a" href="1.jpg" media-type="image/jpeg"/>', spine='<itemref idref="a"/>',
                files={"OEBPS/1.jpg": b"\xff\xd8\xff"})  # fmt: skip

    with pytest.raises(Refused, match="no text") as raised:
        book.read()

    assert raised.value.needs_ocr


@pytest.mark.parametrize(
    "book",
    [
        one_page("<p>" + "a " * 20_000_000 + "</p>"),
        one_page("<p>a</p>" * 1_000_000),
        one_page("<br/>" * 1_000_000),
        Book(package="<package>" + "<item/>" * 3_000_000 + "</package>"),
        Book({f"c{n}.xhtml": b"<p>" + b"word " * 2_000_000 for n in range(16)}),
    ],
    ids=["a long page", "many elements", "many breaks", "a long package", "many long pages"],
)
def test_a_bomb_is_refused(book: Book) -> None:
    with pytest.raises(Refused, match="too large"):
        book.read()


def test_more_text_than_is_read_is_refused() -> None:
    with pytest.raises(Refused, match=r"too large: it has over 60 characters"):
        Book().read(max_chars=60)
