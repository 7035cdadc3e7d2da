"""What a Bolt graph can hold: one function makes any value plain, so that no driver or engine meets a type it lacks."""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from numbers import Integral, Real
from typing import Any

Plain = str | int | float | bool | list[Any] | None

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_INT64 = range(-(2**63), 2**63)


def plain_text(text: str) -> str:
    """The text without NUL; two halves of a surrogate pair are joined, a lone one becomes U+FFFD."""
    if not _UNSTORABLE.search(text):
        return str(text)
    whole = text.replace("\0", "").encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _UNSTORABLE.sub("�", whole)


def plain(value: object) -> Plain:
    """The value as text, whole or floating number, boolean, or a list of these; None where it has none.

    A time becomes ISO 8601 text in UTC with microseconds (one without a zone counts as UTC), so that text order is
    time order; a set a sorted list; a Decimal a float; a whole number beyond 64 bits, a UUID and anything unknown their
    text; bytes base64; a map, or a list inside a list, JSON with sorted keys; NaN and infinities None.
    """
    if isinstance(value, Mapping):
        return json.dumps(_json(value), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    if isinstance(value, set | frozenset):
        return sorted(_items(value), key=lambda item: (str(type(item)), item))
    if isinstance(value, list | tuple | range):
        return _items(value)
    return _scalar(value)


def plain_properties(properties: Mapping[str, object]) -> dict[str, Plain]:
    """Properties made plain. What is None is left out, which is how a graph says so."""
    made = {plain_text(str(name)): plain(value) for name, value in properties.items()}
    return {name: value for name, value in made.items() if value is not None}


def _scalar(value: object) -> str | int | float | bool | None:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return _scalar(value.value)
    if isinstance(value, str):
        return plain_text(value)
    if isinstance(value, Integral):
        number = int(value)
        return number if number in _INT64 else str(number)
    if isinstance(value, Decimal) and value.is_nan():
        return None
    if isinstance(value, Real | Decimal):
        floating = float(value)
        return floating if math.isfinite(floating) else None
    if isinstance(value, datetime):
        moment = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
        return moment.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(bytes(value)).decode()
    return plain_text(str(value))


def _items(values: Iterable[object]) -> list[Any]:
    return [item for item in map(_item, values) if item is not None]


def _item(value: object) -> Plain:
    """An item of a list: a container inside one is JSON text, since not every engine nests lists."""
    if isinstance(value, Mapping | list | tuple | range | set | frozenset):
        return json.dumps(_json(value), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return _scalar(value)


def _json(value: object) -> Any:
    if isinstance(value, Mapping):
        return {plain_text(str(_scalar(name))): _json(item) for name, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((_json(item) for item in value), key=lambda item: (str(type(item)), str(item)))
    if isinstance(value, list | tuple | range):
        return [_json(item) for item in value]
    return _scalar(value)
