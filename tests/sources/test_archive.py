"""A ZIP opened in memory: whole, broken, locked, lying about its sizes."""

from __future__ import annotations

import io
import struct
import zipfile

import pytest

from pegas_assets.errors import Refused
from pegas_assets.sources.archive import BrokenMember, Caps, clean_name, member_names, open_archive

FILES = {"a.txt": b"The weir has nine gates. " * 40, "text/b.txt": b"The ford is dry in summer."}


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for name, body in files.items():
            archive.writestr(name, body)
    return made.getvalue()


def streamed(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """As written to a pipe: sizes stand behind the data."""

    class Pipe(io.RawIOBase):
        def __init__(self) -> None:
            self.body = bytearray()

        def writable(self) -> bool:
            return True

        def write(self, piece: object) -> int:
            self.body += bytes(piece)  # type: ignore[call-overload]
            return len(bytes(piece))  # type: ignore[call-overload]

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", method) as archive:  # type: ignore[arg-type]
        for name, body in files.items():
            archive.writestr(name, body)
    return bytes(pipe.body)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("make", [zipped, streamed])
@pytest.mark.parametrize("end", [None, -30], ids=["whole", "without its directory's end"])
def test_every_member_is_read(make: object, method: int, end: int | None) -> None:
    body = make(FILES, method)[:end]  # type: ignore[operator]

    archive = open_archive(body, shown="The book")

    assert archive.names == tuple(FILES)
    assert {name: archive.read(name) for name in archive.names} == FILES
    assert bool(archive.warnings) == (end is not None)


def test_a_member_is_found_in_another_case_slash_or_spelling() -> None:
    archive = open_archive(zipped({"OEBPS/Глава.xhtml": b"x", "Cafe\u0301.txt": b"y"}), shown="The book")

    assert archive.find("oebps\\глава.XHTML") == "OEBPS/Глава.xhtml"
    assert archive.find("/OEBPS/./x/../Глава.xhtml") == "OEBPS/Глава.xhtml"
    assert archive.find("Caf\u00e9.txt") == "Caf\u00e9.txt"
    assert archive.find("none") is None


@pytest.mark.parametrize("encoding", ["utf-8", "cp866"])
def test_a_russian_name_without_the_mark_of_its_encoding_is_found(encoding: str) -> None:
    raw = "Глава.txt".encode(encoding)
    body = zipped({"x" * len(raw): b"text"}).replace(b"x" * len(raw), raw)

    assert open_archive(body, shown="The book").find("глава.txt") == "Глава.txt"


def test_names_that_lead_outside_stay_inside() -> None:
    assert member_names(zipped({"../../etc/passwd": b"x", "/root/key": b"y", "C:\\a": b"z"})) == (
        "etc/passwd",
        "root/key",
        "C:/a",
    )
    assert clean_name("..") == ""


def test_folders_and_what_has_no_name_are_no_files() -> None:
    body = zipped({"folder/": b"", "a.txt": b"x", "b": b"y"})
    nameless = bytearray(body)
    struct.pack_into("<HH", nameless, body.rindex(b"PK\x01\x02") + 28, 0, 1)

    assert member_names(body) == ("a.txt", "b")
    assert member_names(bytes(nameless)) == ("a.txt",)


def test_the_later_of_two_members_of_one_name_counts_and_is_told() -> None:
    body = zipped({"a.txt": b"first", "b.txt": b"second"}).replace(b"b.txt", b"a.txt")

    opened = open_archive(body, shown="The book")

    assert opened.read("a.txt") == b"second"
    assert "a.txt" in opened.warnings[0]


def test_a_truncated_archive_gives_what_came_before() -> None:
    first = bytes(range(256)) * 8
    body = zipped({"a.txt": first, "b.txt": bytes(range(256)) * 400})
    cut = body[: body.index(b"b.txt") + 60]
    archive = open_archive(cut, shown="The book")

    assert archive.read("a.txt") == first
    with pytest.raises(BrokenMember, match="breaks off"):
        archive.read("b.txt")


def test_a_damaged_member_gives_what_could_be_unpacked() -> None:
    body = bytearray(zipped(FILES, zipfile.ZIP_STORED))
    body[body.index(b"weir")] = ord("W")

    with pytest.raises(BrokenMember, match="checksum") as raised:
        open_archive(bytes(body), shown="The book").read("a.txt")

    assert raised.value.body.startswith(b"The Weir has")


def test_a_directory_that_points_nowhere_is_mended() -> None:
    body = bytearray(zipped(FILES))
    entry = body.rindex(b"PK\x01\x02")
    struct.pack_into("<L", body, entry + 42, 7)
    archive = open_archive(bytes(body), shown="The book")

    assert archive.read("text/b.txt") == FILES["text/b.txt"]
    assert archive.warnings


def test_a_locked_member_is_refused() -> None:
    body = bytearray(zipped(FILES))
    for at, mark in ((6, b"PK\x03\x04"), (8, b"PK\x01\x02")):
        entry = body.index(mark)
        body[entry + at] |= 1

    with pytest.raises(Refused, match="password"):
        open_archive(bytes(body), shown="The book").read("a.txt")


def test_an_unknown_packing_is_a_broken_member() -> None:
    archive = open_archive(zipped(FILES, zipfile.ZIP_LZMA), shown="The book")

    with pytest.raises(BrokenMember, match="method"):
        archive.read("a.txt")


def test_more_than_the_caps_is_refused_before_it_is_unpacked() -> None:
    body = zipped({"a.txt": bytes(10_000)})

    with pytest.raises(Refused, match="too large"):
        open_archive(body, shown="The book", caps=Caps(member_bytes=5_000)).read("a.txt")
    with pytest.raises(Refused, match="too large"):
        open_archive(body, shown="The book", caps=Caps(declared_bytes=5_000))
    with pytest.raises(Refused, match="too large"):
        open_archive(body, shown="The book", caps=Caps(total_bytes=5_000)).read("a.txt")
    with pytest.raises(Refused, match="bomb"):
        open_archive(body, shown="The book", caps=Caps(ratio=20, ratio_free_bytes=1_000)).read("a.txt")
    with pytest.raises(Refused, match="parts"):
        open_archive(zipped({str(number): b"" for number in range(12)}), shown="The book", caps=Caps(members=10))


def test_a_size_that_lies_does_not_help() -> None:
    body = bytearray(zipped({"a.txt": bytes(1_000_000)}))
    struct.pack_into("<L", body, body.index(b"PK\x01\x02") + 24, 10)

    with pytest.raises(Refused, match="too large"):
        open_archive(bytes(body), shown="The book", caps=Caps(member_bytes=5_000)).read("a.txt")


@pytest.mark.parametrize(
    "body", [b"", b"PK", b"PK\x03\x04", b"PK\x05\x06" + bytes(18), b"PK\x03\x04" * 50, bytes(5000)]
)
def test_what_is_no_archive_is_refused_as_damaged(body: bytes) -> None:
    assert member_names(body) == ()
    with pytest.raises(Refused, match="damaged"):
        open_archive(body, shown="The book")
