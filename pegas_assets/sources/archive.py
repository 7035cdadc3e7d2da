"""Opens a ZIP in memory under caps: what is in it, and one member at a time. A broken directory is mended by a scan."""

from __future__ import annotations

import posixpath
import re
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO

from pegas_assets.errors import Refused

_PIECE_BYTES = 1 << 16
_LOCAL = b"PK\x03\x04"
_CENTRAL = b"PK\x01\x02"
_ANY_MARK = re.compile(rb"PK(?:\x01\x02|\x03\x04|\x05\x06|\x07\x08)")
_LOCAL_BYTES = 30
_STORED, _DEFLATED = 0, 8
_ENCRYPTED, _SIZES_FOLLOW, _UTF8 = 0x1, 0x8, 0x800
_UNKNOWN = 0xFFFFFFFF
_SHOWN_CHARS = 120
_BROKEN = (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error, OSError, EOFError, OverflowError)
"""What the standard library raises over directories that make no sense."""


@dataclass(frozen=True)
class Caps:
    """How much of an archive is unpacked. `ratio` counts only for members over `ratio_free_bytes`."""

    members: int = 20_000
    member_bytes: int = 50_000_000
    total_bytes: int = 200_000_000
    declared_bytes: int = 2_000_000_000
    ratio: int = 200
    ratio_free_bytes: int = 4_000_000


class BrokenMember(Exception):
    """A member that cannot be read to its end. The text says why; `body` is what came out before."""

    def __init__(self, why: str, body: bytes = b"") -> None:
        super().__init__(why)
        self.body = body


@dataclass(frozen=True)
class _Member:
    """Where a member's local header stands. Sizes of -1 are not known."""

    name: str
    header: int
    packed: int
    size: int
    crc: int | None
    other_names: tuple[str, ...] = ()


class Archive:
    """The files of a ZIP by name, in the order of its directory. Names have `/`, and neither `..` nor a root."""

    def __init__(self, body: bytes, members: list[_Member], *, shown: str, caps: Caps, warnings: list[str]) -> None:
        self._body = body
        self._shown = shown
        self._caps = caps
        self._unpacked = 0
        self._members = {member.name: member for member in members}
        self._by_key: dict[str, str] = {}
        for member in members:
            for name in (member.name, *member.other_names):
                self._by_key.setdefault(_key(name), member.name)
        self.names = tuple(self._members)
        self.warnings = tuple(warnings)

    def find(self, name: str) -> str | None:
        """The name under which a file is in the archive: as given, else in another case, spelling or slash."""
        clean = clean_name(name)
        return clean if clean in self._members else self._by_key.get(_key(clean))

    def read(self, name: str, *, max_bytes: int | None = None) -> bytes:
        """The content of a member, by a name of `names`.

        Raises:
            BrokenMember: it breaks off, is damaged, or packed in a way that is not known.
            Refused: it is locked with a password, or more would come out than the caps allow.
            KeyError: there is none of that name.
        """
        member = self._members[name]
        most = self._caps.member_bytes if max_bytes is None else max_bytes
        if member.size > most:
            raise self._too_large(f"{shown_name(name)} unpacks to {member.size:,} bytes")
        pieces: list[bytes] = []
        size = 0
        for piece in self._unpack(member, pieces):
            pieces.append(piece)
            size += len(piece)
            self._unpacked += len(piece)
            if size > most:
                raise self._too_large(f"{shown_name(name)} unpacks to over {most:,} bytes")
            if self._unpacked > self._caps.total_bytes:
                raise self._too_large(f"its parts unpack to over {self._caps.total_bytes:,} bytes")
            if size > self._caps.ratio_free_bytes and size > self._caps.ratio * len(self._body):
                raise self._bomb(name)
            if size > self._caps.ratio_free_bytes and member.packed >= 0 and size > self._caps.ratio * member.packed:
                raise self._bomb(name)
        content = b"".join(pieces)
        if member.crc is not None and zlib.crc32(content) != member.crc:
            raise BrokenMember("its checksum is another one", content)
        return content

    def _unpack(self, member: _Member, so_far: list[bytes]) -> Iterator[bytes]:
        header = self._body[member.header : member.header + _LOCAL_BYTES]
        if len(header) < _LOCAL_BYTES or not header.startswith(_LOCAL):
            raise BrokenMember("it is not where the directory of the archive says")
        flags, method = struct.unpack_from("<HH", header, 6)
        names, extra = struct.unpack_from("<HH", header, 26)
        if flags & _ENCRYPTED:
            raise Refused(
                f"{self._shown} is locked with a password: its part {shown_name(member.name)} is encrypted.",
                hint="Give it without the password.",
                item=self._shown,
            )
        start = member.header + _LOCAL_BYTES + names + extra
        stop = len(self._body) if member.packed < 0 else min(start + member.packed, len(self._body))
        if method == _STORED:
            for at in range(start, stop, _PIECE_BYTES):
                yield self._body[at : min(at + _PIECE_BYTES, stop)]
            if member.packed >= 0 and start + member.packed > len(self._body):
                raise BrokenMember("it breaks off", b"".join(so_far))
            return
        if method != _DEFLATED:
            raise BrokenMember(f"it is packed by a method that is not read ({method})")
        decoder = zlib.decompressobj(wbits=-zlib.MAX_WBITS)
        at, rest = start, b""
        while not decoder.eof:
            if not rest:
                rest = self._body[at : min(at + _PIECE_BYTES, stop)]
                at += len(rest)
                if not rest:
                    raise BrokenMember("it breaks off", b"".join(so_far))
            try:
                piece = decoder.decompress(rest, _PIECE_BYTES)
            except zlib.error:
                raise BrokenMember("it is damaged", b"".join(so_far)) from None
            rest = decoder.unconsumed_tail
            if piece:
                yield piece

    def _too_large(self, why: str) -> Refused:
        return Refused(
            f"{self._shown} is too large unpacked: {why}.",
            hint="Split it, or take out what is not text.",
            item=self._shown,
        )

    def _bomb(self, name: str) -> Refused:
        return self._too_large(
            f"{shown_name(name)} unfolds to over {self._caps.ratio} times its size, as a decompression bomb does"
        )


def open_archive(body: bytes, *, shown: str, caps: Caps | None = None) -> Archive:
    """The archive that some bytes are. Nothing is unpacked yet.

    A directory that is missing or broken is made again from the headers before the members, with a warning; of two
    members of one name the later one counts. Nothing is ever written, so names that lead outside do no harm.

    Args:
        body: the bytes of the ZIP; anything may stand before it.
        shown: what to call it at the start of a sentence, as in `The book “a.epub”`.
        caps: how much is taken.

    Raises:
        Refused: no ZIP, damaged so that no member is left, or larger than the caps by its own word.
    """
    caps = caps or Caps()
    # Counted before the directory is read: each entry of it costs ten times its bytes.
    if max(body.count(_CENTRAL), body.count(_LOCAL)) > caps.members:
        raise Refused(f"{shown} is too large: it has more than {caps.members:,} parts.", hint="Split it.", item=shown)
    members, warnings = _members(body)
    if not members:
        raise Refused(
            f"{shown} is damaged: no file can be found in the archive.",
            hint="Get it again from its source.",
            item=shown,
        )
    declared = sum(max(member.size, 0) for member in members)
    if declared > caps.declared_bytes:
        raise Refused(
            f"{shown} is too large unpacked: {declared:,} bytes by its own word.", hint="Split it.", item=shown
        )
    return Archive(body, members, shown=shown, caps=caps, warnings=warnings)


def member_names(body: bytes, *, caps: Caps | None = None) -> tuple[str, ...]:
    """The names in a ZIP, for telling what kind it is; empty where there is none, or too many."""
    if max(body.count(_CENTRAL), body.count(_LOCAL)) > (caps or Caps()).members:
        return ()
    return tuple(dict.fromkeys(member.name for member in _members(body)[0]))


def clean_name(name: str) -> str:
    """A member's name as a relative path with `/`, without `.`, `..` and empty steps."""
    steps = posixpath.normpath("/" + name.replace("\\", "/").strip()).split("/")
    return unicodedata.normalize("NFC", "/".join(step for step in steps if step))


def shown_name(name: str) -> str:
    """A member's name as a sentence can hold it."""
    name = " ".join(name.split())
    return name if len(name) <= _SHOWN_CHARS else name[: _SHOWN_CHARS - 1] + "…"


def _members(body: bytes) -> tuple[list[_Member], list[str]]:
    warnings: list[str] = []
    try:
        members = list(_by_directory(body))
    except _BROKEN:
        members = list(_by_scan(body))
        if members:
            warnings.append(
                "The directory of the archive is damaged: what could be found without it was read, parts may be missing."
            )
    lost = {member.name for member in members if not body.startswith(_LOCAL, member.header)}
    if lost:
        found = {member.name: member for member in _by_scan(body)}
        members = [found.get(member.name, member) if member.name in lost else member for member in members]
        warnings.append("The directory of the archive is damaged: it names places where no file is.")
    by_name: dict[str, _Member] = {}
    for member in members:
        before = by_name.get(member.name)
        if before is not None and before.crc != member.crc:
            warnings.append(f"The archive holds two files named {shown_name(member.name)}: the later one was read.")
        by_name[member.name] = member
    return list(by_name.values()), warnings


def _by_directory(body: bytes) -> Iterator[_Member]:
    with zipfile.ZipFile(BytesIO(body)) as archive:
        for info in archive.infolist():
            other: tuple[str, ...] = ()
            name = info.orig_filename.partition("\x00")[0]
            if name.endswith(("/", "\\")):
                continue
            if not name.isascii() and not info.flag_bits & _UTF8:
                name, *rest = _spellings(name.encode("cp437", "replace"))
                other = tuple(clean_name(spelling) for spelling in rest)
            if clean := clean_name(name):
                yield _Member(clean, info.header_offset, info.compress_size, info.file_size, info.CRC, other)


def _by_scan(body: bytes) -> Iterator[_Member]:
    """The members by the headers before them. Where the size stands behind the data, the data says where it ends."""
    at = body.find(_LOCAL)
    while at >= 0 and at + _LOCAL_BYTES <= len(body):
        flags, method, crc, packed, size, names, extra = struct.unpack_from("<2xHH4xLLLHH", body, at + 4)
        raw = body[at + _LOCAL_BYTES : at + _LOCAL_BYTES + names]
        start = at + _LOCAL_BYTES + names + extra
        if not raw or len(raw) < names or b"\x00" in raw or start > len(body):
            at = body.find(_LOCAL, at + 4)
            continue
        known = not flags & _SIZES_FOLLOW and packed != _UNKNOWN and size != _UNKNOWN
        if not known and method == _STORED:
            packed = size = _next_mark(body, start) - start
        name, *other = [raw.decode("utf-8", "replace")] if flags & _UTF8 else _spellings(raw)
        if (clean := clean_name(name)) and not name.endswith(("/", "\\")):
            names_too = tuple(clean_name(spelling) for spelling in other)
            if known:
                yield _Member(clean, at, packed, size, crc, names_too)
            else:
                yield _Member(clean, at, packed if method == _STORED else -1, -1, None, names_too)
        at = body.find(_LOCAL, min(start + packed, len(body)) if known else start)


def _next_mark(body: bytes, start: int) -> int:
    found = _ANY_MARK.search(body, start)
    return found.start() if found else len(body)


def _spellings(raw: bytes) -> list[str]:
    """A name whose encoding is not said: UTF-8 where it is, else the code pages of Russian and Western MS-DOS."""
    try:
        return [raw.decode("utf-8")]
    except UnicodeDecodeError:
        return [raw.decode("cp866"), raw.decode("cp437")]


def _key(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
