from __future__ import annotations

import gzip
import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegas_assets.errors import PegasError, Refused
from pegas_assets.model import BlockKind, DocumentKind
from pegas_assets.sources.registry import parse
from pegas_assets.sources.sniff import sniff


def test_front_matter_goes_to_meta_and_title_not_to_the_text() -> None:
    body = b"\xef\xbb\xbf---\r\ntitle: Bridge log\r\nauthor: [Ada, Bo]\r\ndate: 2023-04-05\r\ntags: [bridge, log]\r\n---\r\n# Day one\r\n\r\nIt opens at noon.\r\n"
    document = parse(body, name="note.md")
    assert document.title == "Bridge log"
    assert document.text == "# Day one\n\nIt opens at noon."
    assert document.meta == {
        "title": "Bridge log",
        "author": ["Ada", "Bo"],
        "date": "2023-04-05",
        "tags": ["bridge", "log"],
    }
    assert (document.author, document.published, document.language) == ("Ada, Bo", "2023-04-05", "en")
    assert document.kind is DocumentKind.TEXT


def test_toml_front_matter_is_read_too() -> None:
    document = parse(b'+++\ntitle = "Weir"\nyear = 1954\n+++\nIt has nine gates.', name="a.md")
    assert (document.title, document.meta["year"], document.text) == ("Weir", 1954, "It has nine gates.")


@pytest.mark.parametrize(
    "block",
    [
        b"title: [unclosed",
        b"a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]",
        b"- just\n- a list",
        b"title: !!python/object:os.system {}",
    ],
)
def test_front_matter_that_is_none_stays_as_text(block: bytes) -> None:
    document = parse(b"---\n" + block + b"\n---\nThe weir.", name="a.md")
    assert document.meta == {}
    assert "The weir." in document.text
    assert block.split(b"\n")[0].decode() in document.text


def test_a_rule_at_the_start_is_no_front_matter() -> None:
    assert parse(b"---\n\nThe weir.", name="a.md").text == "---\n\nThe weir."


def test_the_title_is_the_highest_heading_else_the_name_else_the_first_line() -> None:
    assert parse(b"## Two\n\n# The *Weir*\n\ntext", name="a.md").title == "The Weir"
    assert parse(b"No heading here.", name="dir/weir notes.txt").title == "weir notes"
    assert parse(b"Weir notes\n\nIt has nine gates.", name="a.txt").title == "Weir notes"
    assert parse("Мост **открыт** в полдень.\nДа.".encode()).title == "Мост открыт в полдень."


def test_the_language_and_encoding_are_told() -> None:
    document = parse("Мост открывается в полдень, паром ждёт у берега.".encode("koi8-r"))
    assert (document.language, document.encoding) == ("ru", "koi8-r")
    assert document.chunks[0].language == "ru"


def test_plain_text_with_headings_is_read_as_markdown_and_without_as_plain() -> None:
    assert parse(b"# Weir\n\nIt has gates.").chunks[0].locator.section == ("Weir",)
    assert parse(b"Weir\n\n- It has gates.\n- Nine.").chunks[0].locator.section == ()


def test_source_and_data_files_keep_their_lines() -> None:
    (chunk,) = parse(b"# a comment\n\ndef f():\n    return 1\n", name="f.py").chunks
    assert [(block.kind, block.info) for block in chunk.blocks] == [(BlockKind.CODE, "python")]
    (chunk,) = parse(b"gate,width\n1,5\n2,6\n", name="g.csv", media_type="text/csv").chunks
    assert chunk.blocks[0].kind is BlockKind.TABLE
    (chunk,) = parse(b'{"gate": 1}', media_type="text/html").chunks
    assert chunk.blocks[0].info == "json"


def archive(*names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name in names:
            file.writestr(name, "application/epub+zip" if name == "mimetype" else "x")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"", "empty"),
        (b" \n\t", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b"%PDF-1.5\n1 0 obj<<>>endobj\n%%EOF", "The PDF is damaged"),
        (archive("mimetype"), "The book “page.html” has no text"),
        (archive("a.txt"), "a ZIP archive, not text"),
        (archive("[Content_Types].xml", "word/document.xml"), "damaged"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "a PNG image, not text"),
        (gzip.compress(b"text"), "a gzip archive, not text"),
        (b"\x7fELF\x02\x01\x01" + bytes(60), "a program, not text"),
        (bytes(range(256)) * 4, "a binary file, not text"),
        (b"---\ntitle: [\n", None),
    ],
)
def test_what_cannot_be_read_gets_a_sentence(body: bytes, says: str | None) -> None:
    if says is None:
        assert parse(body, name="a.md").chunks
        return
    with pytest.raises(Refused, match=says):
        parse(body, name="page.html", media_type="text/html")


def test_a_text_that_is_too_long_is_refused() -> None:
    with pytest.raises(Refused, match="at most 100 are read"):
        parse(b"word " * 100, max_chars=100)


@pytest.mark.parametrize(
    ("body", "declared", "name", "kind"),
    [
        (b"BZh is how it begins, and ID3 too.", "text/plain", "", "text/plain"),
        (b"<!DOCTYPE html><p>x", "text/plain", "", "text/html"),
        (b"<!-- c -->\n<html>", "application/octet-stream", "a.bin", "text/html"),
        (b"<div align=center>\n\n# Weir", "", "README.md", "text/markdown"),
        (b"<?xml version='1.0'?><rss/>", "application/rss+xml", "", "application/xml"),
        (b"Larch needs light", "application/octet-stream", "x.bin", "text/plain"),
        (b"a,b", "text/plain", "x.csv", "text/csv"),
        (b"<p align=center>Weir</p>", "text/markdown", "", "text/markdown"),
        ("привет".encode("utf-16"), "", "", "text/plain"),
        (b"no pdf at all", "application/pdf", "x.pdf", "text/plain"),
    ],
)
def test_the_bytes_win_over_the_header_and_that_over_the_name(body: bytes, declared: str, name: str, kind: str) -> None:
    assert sniff(body, media_type=declared, name=name).media_type == kind


def test_a_stored_atom_and_a_fetched_page_keep_their_kind() -> None:
    assert parse(b"The weir.", kind=DocumentKind.MANUAL).kind is DocumentKind.MANUAL
    assert parse(b"The weir.", kind=DocumentKind.WEB).kind is DocumentKind.WEB
    assert parse(b"<html><p>The weir.</p></html>", kind=DocumentKind.TEXT).kind is DocumentKind.WEB
    html = "<html><p>Use this frame.</p></html>"
    assert parse(html.encode(), kind=DocumentKind.MANUAL, media_type="text/markdown").text == html


def test_the_same_bytes_give_the_same_document() -> None:
    body = ("# Weir\n\n" + "It has nine gates. " * 400).encode()
    assert parse(body, name="a.md") == parse(body, name="a.md")
    assert parse(body, name="a.md").reader == "text/1+chunk/1"


@given(st.binary(max_size=400), st.sampled_from(["", "text/html", "text/markdown", "application/json"]))
def test_any_bytes_are_a_document_or_refused(body: bytes, declared: str) -> None:
    try:
        document = parse(body, media_type=declared)
    except PegasError:
        return
    assert document.chunks
    document.text.encode("utf-8")
    assert "\x00" not in document.text
