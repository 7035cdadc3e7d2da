"""Takes out of text what no store, protocol or terminal should meet, and nothing else."""

from __future__ import annotations

import math
import re

_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")

# A string sequence (OSC, DCS, SOS, PM, APC) goes up to its terminator; one without a terminator near by loses only its
# introducer, so that a stray byte cannot swallow a document.
_ANSI = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x9c\n]{0,4096}(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]?"
)

_NONCHARACTERS = "\ufdd0-\ufdef" + "".join(
    f"{chr(plane * 0x10000 + 0xFFFE)}{chr(plane * 0x10000 + 0xFFFF)}" for plane in range(17)
)
_UNWANTED = re.compile(f"[\x00-\x08\x0e-\x1b\x1f\x7f\x80-\x84\x86-\x9f\ufeff{_NONCHARACTERS}]")
_SURROGATES = re.compile("[\ud800-\udfff]+")
_ANYTHING = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff{_NONCHARACTERS}]")


def clean_text(text: str) -> str:
    """The text without NUL, controls, ANSI sequences, noncharacters and U+FEFF, its line ends `\\n`.

    Tab and line end stay; a form feed, a vertical tab, U+0085, U+2028 and U+2029 become line ends. Halves of a
    surrogate pair that stand together are joined, a lone one becomes U+FFFD. Joiners, direction marks, soft hyphens
    and every other character stay as they came. Cleaning twice is cleaning once.
    """
    if not _ANYTHING.search(text):
        return text
    text = _SURROGATES.sub(_joined, text)
    while "\x1b" in text or "\x9b" in text:
        shorter = _ANSI.sub("", text)
        if shorter == text:
            break
        text = shorter
    text = _UNWANTED.sub("", _ANSI.sub("", text))
    return _LINE_ENDS.sub("\n", text)


def _joined(match: re.Match[str]) -> str:
    return match.group().encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def clean_json(value: object) -> object:
    """A JSON value with every string and key cleaned, and NaN and infinities made null, which `jsonb` refuses.

    Two keys that become equal are both kept: the later one gets a number. Tuples become lists. Works without
    recursion, so depth costs nothing.
    """
    root: list[object] = [value]
    waiting: list[tuple[dict[str, object] | list[object], str | int]] = [(root, 0)]
    while waiting:
        holder, place = waiting.pop()
        item = holder[place]  # type: ignore[index]
        cleaned: object
        if isinstance(item, str):
            cleaned = clean_text(item)
        elif isinstance(item, float) and not math.isfinite(item):
            cleaned = None
        elif isinstance(item, dict):
            fresh: dict[str, object] = {}
            for key, inner in item.items():
                fresh[_free_key(clean_text(str(key)), fresh)] = inner
            waiting.extend((fresh, key) for key in fresh)
            cleaned = fresh
        elif isinstance(item, (list, tuple)):
            row = list(item)
            waiting.extend((row, index) for index in range(len(row)))
            cleaned = row
        else:
            cleaned = item
        holder[place] = cleaned  # type: ignore[index]
    return root[0]


def _free_key(key: str, taken: dict[str, object]) -> str:
    if key not in taken:
        return key
    number = 2
    while f"{key}_{number}" in taken:
        number += 1
    return f"{key}_{number}"
