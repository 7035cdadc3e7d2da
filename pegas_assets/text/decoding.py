"""Bytes to text: which encoding, how sure, and what was lost."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass

from pegas_assets.text.cyrillic import cyrillic_score, guess_cyrillic

_SAMPLE_BYTES = 1 << 16
_HIGH_BYTES = re.compile(rb"[\x80-\xff]")
_HIGH_RUN = re.compile(rb"[\x80-\xff]+")
_CONTROL_BYTES = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f\x7f]")
_SEQUENCE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# What pages and mails say, and what they mean by it.
_MEANT = {
    "iso-8859-1": "cp1252", "latin1": "cp1252", "latin-1": "cp1252", "us-ascii": "cp1252", "ascii": "cp1252",
    "x-mac-cyrillic": "mac_cyrillic", "maccyrillic": "mac_cyrillic", "win-1251": "cp1251", "cp-1251": "cp1251",
    "koi8": "koi8_r", "koi8r": "koi8_r", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932",
    "shift-jis": "cp932", "sjis": "cp932", "x-sjis": "cp932", "ks_c_5601-1987": "cp949", "euc-kr": "cp949",
    "x-cp1251": "cp1251", "dos-866": "cp866", "ibm866": "cp866", "unicode": "utf-16", "iso-8859-8-i": "iso8859_8",
    "utf-16": "utf-16-le", "utf16": "utf-16-le", "utf-32": "utf-32-le",
}  # fmt: skip
_NO_CHARSET = frozenset(
    ("idna", "punycode", "utf-7", "unicode-escape", "raw-unicode-escape", "undefined", "mbcs", "oem", "palmos")
)
_EUROPEAN = {
    "cp1252": frozenset("àâäáãåæçéèêëíìîïñóòôöõøúùûüýœßðþ"),
    "cp1250": frozenset("ąćęłńóśźżáčďéěíňřšťúůýžäöüßőűăâîşţđ"),
    "iso8859_2": frozenset("ąćęłńóśźżáčďéěíňřšťúůýžäöüßőűăâîşţđ"),
    "cp1254": frozenset("çğıöşüâîéä"),
    "cp1257": frozenset("ąčęėįšųūžāēģīķļņõäöü"),
}
_SHIFTS = (b"\x1b$B", b"\x1b$@", b"\x1b$A")
"""How the seven-bit encodings of Japanese mail begin a run of their letters."""
_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa]")
_HALF_KANA = re.compile("[\uff61-\uff9f]")
_TYPOGRAPHY = frozenset("«»“”„‘’—–…•°§©®€£\u00a0·")


@dataclass(frozen=True)
class Decoded:
    """Text made of bytes. `encoding` is Python's name for it, `confidence` 0 to 1, `warnings` are sentences."""

    text: str
    encoding: str
    confidence: float
    warnings: tuple[str, ...] = ()


def decode(body: bytes, *, declared: Sequence[str] = (), default: str = "", sample: bytes | None = None) -> Decoded:
    """The text of some bytes. Never fails; what could not be read is U+FFFD and a warning.

    Args:
        body: the bytes.
        declared: charset names that came with them, the most trusted first (the header before the document itself).
        default: an encoding to try on bytes without any mark, before guessing.
        sample: the part of `body` that is prose, where markup would drown the statistics.

    The order: byte order mark; valid UTF-8 with something beyond ASCII in it; a declared charset that decodes, unless
    the letters plainly say another; UTF-16 without a mark; UTF-8 with under 1 % bad; the default; Cyrillic by letter
    pairs; other 8-bit and Asian encodings by charset-normalizer.
    """
    for mark, name in _MARKS:
        if body.startswith(mark):
            return _with_replacement(body[len(mark) :], name, 1.0)
    # Without high bytes every encoding here reads the same, except those that shift or take two bytes a character.
    ascii_only = body.isascii()
    names = [name for name in map(_codec, declared) if name]
    if ascii_only and any(mark in body for mark in _SHIFTS) and (text := _strict(body, "iso2022_jp_2")) is not None:
        return Decoded(text, "iso2022_jp", 0.95)
    if ascii_only and b"\x00" not in body and not any(name.startswith(("utf-16", "iso2022", "hz")) for name in names):
        return Decoded(body.decode("ascii"), "utf-8", 1.0)
    if not ascii_only and b"\x00" not in body[:_SAMPLE_BYTES] and (text := _strict(body, "utf-8")) is not None:
        wrong = [name for name in names if name != "utf-8"][:1]
        return Decoded(text, "utf-8", 1.0, tuple(f"The charset was declared as {name}; it is UTF-8." for name in wrong))

    prose = (body if sample is None else sample)[:_SAMPLE_BYTES]
    guess = guess_cyrillic(prose)
    for name in names:
        if name.startswith(("utf-16", "utf-32")) and b"\x00" not in body[:_SAMPLE_BYTES]:
            continue
        if (text := _strict(body, name)) is None:
            continue
        if guess and guess.confidence >= 0.8 and guess.score >= 0.6 and guess.encoding != name and _one_byte(name):
            said, _ = cyrillic_score(prose.decode(name, "replace"))
            if guess.score - said >= 0.3:
                warning = f"The charset was declared as {name}; by its letters it is {guess.encoding}."
                return _with_replacement(body, guess.encoding, guess.confidence, warning)
        return Decoded(text, name, 1.0)

    if (wide := _wide_without_mark(body)) is not None:
        return _with_replacement(body, wide, 0.9)
    if (text := _strict(body, "utf-8")) is not None:
        return Decoded(text, "utf-8", 1.0)
    damaged = body.decode("utf-8", "replace")
    bad = damaged.count("\ufffd")
    good = len(_SEQUENCE.findall(body[:_SAMPLE_BYTES]))
    if bad < max(0.01 * len(damaged), 2) and good >= 4 * min(bad, 1 + bad * _SAMPLE_BYTES // len(body)):
        return _with_replacement(body, "utf-8", 0.9)
    if (name := _codec(default)) and (text := _strict(body, name)) is not None:
        return Decoded(text, name, 0.7)
    if guess and guess.score >= (0.6 if guess.pairs >= 15 else 0.5):
        return _with_replacement(body, guess.encoding, guess.confidence)
    return _other(body, prose)


def looks_binary(body: bytes) -> bool:
    """Whether bytes are no text: more controls than a damaged text has. Looks at the first 64 KB.

    UTF-16 and UTF-32 are text, and so is UTF-8 with a stray NUL.
    """
    head = body[:_SAMPLE_BYTES]
    if not head or head.startswith(tuple(mark for mark, _ in _MARKS)) or _wide_without_mark(head) is not None:
        return False
    controls = len(_CONTROL_BYTES.findall(head))
    try:
        head[: max(len(head) - 3, 0)].decode("utf-8")
    except UnicodeDecodeError as error:
        # A character cut at the end of the sample is no damage.
        if error.start < len(head) - 7:
            return controls > 0.02 * len(head)
    return controls > 0.1 * len(head)


def _codec(name: str) -> str:
    """Python's name of a charset, empty where it is none."""
    wanted = name.strip().strip("\"'").lower()
    if not wanted or len(wanted) > 40:
        return ""
    try:
        found = codecs.lookup(_MEANT.get(wanted, wanted)).name
        b"".decode(found)
    except (LookupError, ValueError, UnicodeError):
        return ""
    return "" if found.replace("_", "-") in _NO_CHARSET else ("utf-8" if found == "utf-8-sig" else found)


def _one_byte(name: str) -> bool:
    try:
        return len(bytes(range(0xA0, 0x100)).decode(name, "replace")) == 0x60
    except LookupError:
        return False


def _strict(body: bytes, name: str) -> str | None:
    try:
        return body.decode(name)
    except (UnicodeDecodeError, LookupError):
        return None


def _with_replacement(body: bytes, name: str, confidence: float, *warnings: str) -> Decoded:
    text = body.decode(name, "replace")
    notes = list(warnings)
    if (bad := text.count("\ufffd") - body.count(b"\xef\xbf\xbd")) > 0:
        notes.append(f"{bad} {'place is' if bad == 1 else 'places are'} damaged and shown as U+FFFD ({name}).")
    if confidence < 0.5:
        notes.append(f"The encoding {name} is a guess from little text (confidence {confidence:.2f}).")
    return Decoded(text, codecs.lookup(name).name, confidence, tuple(notes))


def _wide_without_mark(body: bytes) -> str | None:
    """UTF-16 whose high bytes are nearly all controls (Latin 00, Cyrillic 04 and their neighbours), else None."""
    head = body[: _SAMPLE_BYTES & ~1]
    head = head[: len(head) & ~1]
    if len(head) < 4 or (len(body) % 2 and len(body) < 64):
        return None
    for high, name in ((1, "utf-16-le"), (0, "utf-16-be")):
        highs, lows = head[high::2], head[1 - high :: 2]
        small = sum(highs.count(bytes((value,))) for value in (0, 3, 4, 5, 6, 0x20))
        if small < 0.9 * len(highs) or highs.count(b" ") > 0.2 * len(highs):
            continue
        zeros_low = lows.count(b"\x00")
        if zeros_low > 0.1 * len(lows) or not (highs.count(b"\x00") or highs.count(b"\x04")):
            continue
        text = head.decode(name, "replace")
        fine = sum(character.isprintable() or character in "\n\r\t" for character in text[:4000])
        if fine >= 0.97 * len(text[:4000]):
            return name
    return None


def _other(body: bytes, prose: bytes) -> Decoded:
    """What is neither Unicode nor Cyrillic: European where accents stand alone, else charset-normalizer."""
    runs = _HIGH_RUN.findall(prose)
    if sum(len(run) == 1 for run in runs) >= 0.7 * len(runs):
        scores = {name: _letters_fit(prose, name) for name in _EUROPEAN}
        name = max(scores, key=scores.__getitem__)
        return _with_replacement(body, name, round(0.5 + 0.4 * min(1.0, len(runs) / 40), 2))
    if (japanese := _japanese(prose)) is not None:
        return _with_replacement(body, japanese, 0.9)
    from charset_normalizer import from_bytes

    best = from_bytes(prose).best()
    if best is None:
        return _with_replacement(body, "cp1252", 0.2)
    long_enough = min(1.0, len(_HIGH_BYTES.findall(prose)) / 60)
    return _with_replacement(body, best.encoding, round(max(0.0, 1.0 - best.chaos) * (0.3 + 0.5 * long_enough), 2))


def _japanese(prose: bytes) -> str | None:
    """Shift JIS or EUC, where a quarter of what is not ASCII is kana in it: no other language has so many."""
    best, found = 0.25, None
    for name in ("cp932", "euc_jp"):
        text = prose.decode(name, "replace")
        high = sum(character > "\x7f" for character in text)
        # A character cut at the end of the sample is no damage.
        if high == 0 or text.count("\ufffd") > 1 + 0.01 * high or len(_HALF_KANA.findall(text)) > 0.1 * high:
            continue
        share = len(_KANA.findall(text)) / high
        if share >= best:
            best, found = share, name
    return found


def _letters_fit(prose: bytes, name: str) -> float:
    """The share of non-ASCII characters that are letters of the languages that a code page is for."""
    text = prose.decode(name, "replace")
    letters = _EUROPEAN[name]
    score, high = 0.0, 0
    for before, character, after in zip(" " + text, text, text[1:] + " ", strict=False):
        if character > "\x7f":
            high += 1
            if character.lower() in letters:
                score += 1.0
            elif not (before.isalpha() and after.isalpha()):
                score += 0.9 if character in _TYPOGRAPHY else 0.3
    return score / max(high, 1)
