"""Colours of CSS, as far as telling whether a text can be told from what it stands on."""

from __future__ import annotations

import colorsys
import re

Colour = tuple[float, float, float, float]
"""Red, green, blue (0 to 255) and how opaque (0 to 1)."""

WHITE: Colour = (255.0, 255.0, 255.0, 1.0)
_NAMED = {
    "white": "ffffff", "black": "000000", "red": "ff0000", "lime": "00ff00", "green": "008000", "blue": "0000ff",
    "navy": "000080", "gray": "808080", "grey": "808080", "silver": "c0c0c0", "maroon": "800000", "olive": "808000",
    "yellow": "ffff00", "aqua": "00ffff", "cyan": "00ffff", "teal": "008080", "fuchsia": "ff00ff", "purple": "800080",
    "orange": "ffa500", "snow": "fffafa", "ivory": "fffff0", "whitesmoke": "f5f5f5", "ghostwhite": "f8f8ff",
    "beige": "f5f5dc", "floralwhite": "fffaf0", "azure": "f0ffff", "mintcream": "f5fffa", "lightgray": "d3d3d3",
    "lightgrey": "d3d3d3", "gainsboro": "dcdcdc", "darkgray": "a9a9a9", "darkblue": "00008b", "darkgreen": "006400",
}  # fmt: skip
_FUNCTION = re.compile(r"^(rgba?|hsla?)\(\s*([^()]*)\)$")
_ALIKE = 12.0
"""Two colours whose channels are all nearer than this cannot be told apart by reading."""


def colour_of(text: str) -> Colour | None:
    """A colour of CSS or of an old `color` attribute; None for what is none, or is not known here."""
    text = text.strip().lower()
    if text == "transparent":
        return (0.0, 0.0, 0.0, 0.0)
    text = _NAMED.get(text, text)
    digits = text.removeprefix("#")
    if re.fullmatch(r"[0-9a-f]{3,8}", digits) and len(digits) in (3, 4, 6, 8):
        if len(digits) < 6:
            digits = "".join(digit * 2 for digit in digits)
        parts = [int(digits[at : at + 2], 16) for at in range(0, len(digits), 2)]
        return (float(parts[0]), float(parts[1]), float(parts[2]), parts[3] / 255 if len(parts) > 3 else 1.0)
    match = _FUNCTION.match(text)
    if match is None:
        return None
    values = [value for value in re.split(r"[\s,/]+", match.group(2).strip()) if value]
    if len(values) not in (3, 4):
        return None
    try:
        alpha = _number(values[3], 1.0) if len(values) == 4 else 1.0
        if match.group(1).startswith("rgb"):
            red, green, blue = (_number(value, 255.0) for value in values[:3])
            return (red, green, blue, alpha)
        hue = float(values[0].removesuffix("deg")) % 360 / 360
        channels = colorsys.hls_to_rgb(hue, _number(values[2], 1.0), _number(values[1], 1.0))
        return (channels[0] * 255, channels[1] * 255, channels[2] * 255, alpha)
    except ValueError:
        return None


def alike(one: Colour, other: Colour) -> bool:
    """Whether a text in one colour on the other cannot be read."""
    return all(abs(left - right) < _ALIKE for left, right in zip(one[:3], other[:3], strict=True))


def _number(value: str, whole: float) -> float:
    return float(value[:-1]) / 100 * whole if value.endswith("%") else float(value)
