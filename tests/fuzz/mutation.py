"""Damaged copies of a file: what a bad disk, a cut transfer, a broken program or a hostile sender make of it."""

from __future__ import annotations

import io
import random
import zipfile
import zlib

_TOKENS = (
    b"\x00", b"\xff", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3", b"\x1a", b"\r", b"\n\n", b" " * 300, b"<", b">", b"&#x110000;", b"]]>",
    b"</p>", b"<table>", b"<!--", b"<![CDATA[", b"&amp;" * 20, b"```", b"|", b"| " * 50, b"# ", b"\xe2\x80\xae", b"\xf0\x9f\x98\x80",
    b"-1", b"99999999999999999999", b"0", b"null", b"{", b"[" * 200, b"(" * 200, b'"', b"endobj", b"endstream", b"stream\n",
    b"/Length 999999999", b"/Kids [1 0 R]", b"<<", b">>", b"obj", b"%%EOF", b"PK\x03\x04", b"PK\x05\x06", b"../", b"00:00:99,999 --> ",
)  # fmt: skip


def mutated(body: bytes, seed: int) -> bytes:
    """One damaged copy; the same seed gives the same one. Half of those of an archive are of its members, packed anew."""
    chance = random.Random(seed)
    if body.startswith(b"PK\x03\x04") and chance.random() < 0.5:
        return _packed_anew(body, chance)
    if b"%PDF-" in body[:1024] and chance.random() < 0.5:
        return _stream_changed(body, chance)
    return _damaged(body, chance)


def _damaged(body: bytes, chance: random.Random) -> bytes:
    data = bytearray(body)
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        if not data:
            break
        at = chance.randrange(len(data))
        some = chance.randrange(1, 64)
        kind = chance.randrange(8)
        if kind == 0:
            data[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            data[at : at + some] = chance.randbytes(some)
        elif kind == 2:
            del data[at : at + some]
        elif kind == 3:
            data[at:at] = chance.choice(_TOKENS)
        elif kind == 4:
            data[at : at + some] = chance.choice(_TOKENS)
        elif kind == 5:
            other = chance.randrange(len(data))
            data[at:at] = data[other : other + some * 16]
        elif kind == 6:
            del data[at + some : None if chance.random() < 0.3 else at + some + 1]
        else:
            data[at : at + some] = bytes([data[at]]) * some
    return bytes(data)


def _packed_anew(body: bytes, chance: random.Random) -> bytes:
    """The archive with one member damaged and its checksum right, so that the reader of the member meets it."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(body)) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        names = source.namelist()
        victim = chance.choice(names)
        act = chance.random()
        for name in names:
            content = source.read(name)
            if name == victim and act < 0.1:
                continue
            if name == victim:
                content = _damaged(content, chance)
            target.writestr(zipfile.ZipInfo(name), content)
    return out.getvalue()


def _stream_changed(body: bytes, chance: random.Random) -> bytes:
    """The file with one of its packed streams damaged inside, so that what draws the page meets it."""
    starts = [at + 7 for at in _places(body, b"stream\n") if body[at - 3 : at] != b"end"]
    if not starts:
        return _damaged(body, chance)
    start = chance.choice(starts)
    end = body.find(b"endstream", start)
    try:
        content = zlib.decompress(body[start:end].rstrip(b"\r\n"))
    except zlib.error:
        return _damaged(body, chance)
    return body[:start] + zlib.compress(_damaged(content, chance)) + b"\n" + body[end:]


def _places(body: bytes, mark: bytes) -> list[int]:
    places, at = [], body.find(mark)
    while at >= 0:
        places.append(at)
        at = body.find(mark, at + 1)
    return places
