"""Names and hashes that every store agrees on.

`pm_bucket`, `pm_text_hash` and their kin in `sql/` compute the same values; a test holds them equal.
"""

from __future__ import annotations

import hashlib
import unicodedata
import uuid

BUCKETS = 16
"""How many slices a projection has. A constant of the data: changing it strands every stored bucket."""

NAMESPACE = uuid.UUID("6f9b1c62-5d0c-5d5e-9a4e-0f3c7a1d2b48")
"""The namespace of point ids. Never changes."""


def bucket_of(key: str) -> int:
    """The slice of a projection that owns `key`: first byte of its SHA-256, modulo 16."""
    return hashlib.sha256(key.encode()).digest()[0] % BUCKETS


def point_id(key: str) -> str:
    """The vector engine's id of `key`: a UUID of version 5, as text with hyphens."""
    return str(uuid.uuid5(NAMESPACE, key))


def sha256_hex(data: bytes | str) -> str:
    """SHA-256 of bytes, or of text as UTF-8, in 64 hex digits."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


_LIGATURES = {
    0xFB00: "ff",
    0xFB01: "fi",
    0xFB02: "fl",
    0xFB03: "ffi",
    0xFB04: "ffl",
    0xFB05: "st",
    0xFB06: "st",
}
_SPACES = dict.fromkeys([0x00A0, 0x2007, 0x202F, 0x2009, 0x200A, 0x2002, 0x2003, 0x3000], " ")
_FULL_WIDTH = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
_INVISIBLE: dict[int, None] = {0x00AD: None, 0xFEFF: None}
_CANONICAL: dict[int, str | None] = {**_LIGATURES, **_SPACES, **_FULL_WIDTH, **_INVISIBLE}


def canonical_text(text: str, *, fold_space: bool = True) -> str:
    """The form of a text that decides whether two are the same.

    NFC; ligatures, full-width forms and no-break spaces mapped; white space folded unless the text is code or a table,
    where it carries meaning (line ends and trailing blanks are normalised even there). Not NFKC, which makes 102 of 10².
    """
    text = unicodedata.normalize("NFC", text).translate(_CANONICAL)
    if fold_space:
        return " ".join(text.split())
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def atom_hash(atom_type: str, text: str) -> str:
    """The identity of an atom's content: SHA-256 of its type and canonical text, in hex."""
    canonical = canonical_text(text, fold_space=atom_type not in ("code", "table"))
    return sha256_hex(f"{atom_type}\n{canonical}")
