"""Undoes a content encoding piece by piece, so that a bomb is noticed while it is small."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

_PIECE_BYTES = 1 << 16

MAX_RATIO = 200
"""Web pages compress 3 to 30 times; past this, and past `RATIO_FREE_BYTES`, it is a bomb."""

RATIO_FREE_BYTES = 4_000_000


class TooLarge(Exception):
    """More bytes came out than are taken. The text says by which rule."""


class BrokenEncoding(Exception):
    """The bytes are not what the content encoding says."""


def inflate(pieces: Iterable[bytes], encoding: str, *, max_bytes: int) -> Iterator[bytes]:
    """The content in pieces of at most 64 KB, from the pieces that came over the wire.

    `encoding` is the Content-Encoding header: identity, gzip or deflate, or several of them, comma separated.

    Raises:
        TooLarge: more than `max_bytes`, before or after, or a ratio that no page has.
        BrokenEncoding: an encoding that was not asked for, or bytes that are not in it.
    """
    names = [name.strip().lower() for name in encoding.split(",") if name.strip().lower() not in ("", "identity")]
    if len(names) > 2 or any(name not in ("gzip", "x-gzip", "deflate") for name in names):
        raise BrokenEncoding(f"the content encoding “{encoding[:60]}” was not asked for")
    taken = _Counter(max_bytes)
    stream: Iterator[bytes] = taken.wire(pieces)
    for name in reversed(names):
        stream = _inflated(stream, raw_allowed=name == "deflate")
    yield from taken.content(stream)


class _Counter:
    """Counts what came over the wire and what came out of it."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._wire = 0
        self._content = 0

    def wire(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            self._wire += len(piece)
            if self._wire > self._max_bytes:
                raise TooLarge(f"it is larger than {self._max_bytes:,} bytes")
            yield piece

    def content(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            self._content += len(piece)
            if self._content > self._max_bytes:
                raise TooLarge(f"it is larger than {self._max_bytes:,} bytes after decompression")
            if self._content > RATIO_FREE_BYTES and self._content > MAX_RATIO * self._wire:
                raise TooLarge(f"it unfolds to over {MAX_RATIO} times its size, as a decompression bomb does")
            yield piece


def _inflated(pieces: Iterable[bytes], *, raw_allowed: bool) -> Iterator[bytes]:
    """gzip or zlib, several members after one another, or raw deflate where servers call that deflate."""
    decoder = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
    started = False
    for piece in pieces:
        rest = piece
        while rest:
            if decoder.eof:
                if not rest.strip(b"\x00"):
                    break
                decoder = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
            try:
                content = decoder.decompress(rest, _PIECE_BYTES)
            except zlib.error as error:
                if started or not raw_allowed:
                    raise BrokenEncoding(f"the compressed content is damaged ({error})") from None
                decoder, raw_allowed = zlib.decompressobj(wbits=-zlib.MAX_WBITS), False
                continue
            started = True
            rest = decoder.unconsumed_tail or decoder.unused_data
            if content:
                yield content
    if started and not decoder.eof:
        raise BrokenEncoding("the compressed content breaks off")
