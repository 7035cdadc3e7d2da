"""Reads JSON and JSON Lines: records become rows of a table or small sections; what is a configuration stays code."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from pegas_assets.model import BlockKind, ParsedDocument
from pegas_assets.sources.composing import Composer, composed
from pegas_assets.sources.pipe_table import pipe_row
from pegas_assets.sources.reading import Reading
from pegas_assets.text.cleaning import clean_text

READER = "records/1"

JSON_LINES = "application/x-ndjson"

_CHATS = frozenset(("mapping", "chat_messages", "chunkedPrompt", "conversation_turns", "messages"))
"""Keys of exported conversations, which are no records."""
_TITLES = ("title", "name", "headline", "subject", "question", "heading", "заголовок", "название", "имя", "тема")
_LONG_CHARS = 160
_CELL_CHARS = 80
_COLUMNS = 12
_DEPTH = 12
_FIELDS = 200


class _Number(str):
    """A number as it was written: 1.50 stays 1.50."""


def read_records(body: bytes, reading: Reading) -> ParsedDocument | None:
    """A document of records from the bytes of a JSON file, or of one with a value a line; None where it holds none.

    A record is an object in an array, the array being the whole or the one value of the outermost object that matters.
    Short flat records are the rows of a table; else each is a section under its title, with its long texts as
    paragraphs. Numbers stay as they were written. The place of a record is its number, from 1; of one in JSON Lines its line.

    Raises:
        Refused: no text in it, or longer than `max_chars`.
    """
    decoded = reading.decoded(body)
    text = decoded.text.lstrip("\ufeff")
    if len(text) > reading.max_chars:
        return None
    warnings = list(decoded.warnings)
    context: dict[str, Any] = {}
    if reading.media_type == JSON_LINES:
        records = list(_by_line(text, warnings))
    else:
        try:
            context, found = _array(_loaded(text))
        except (ValueError, RecursionError):
            return None
        records = list(enumerate(found, 1))
    objects = [(number, record) for number, record in records if isinstance(record, dict) and record]
    if not objects or len(objects) < 0.8 * len(records) or any(_CHATS & record.keys() for _, record in objects[:20]):
        return None
    composer = Composer("row")
    title = _scalar(next((context[key] for key in _TITLES if key in context), ""))
    if title:
        composer.add(BlockKind.HEADING, title, at=objects[0][0], level=1)
    about = [f"- {key}: {value}" for key, value in _flat(context) if key not in _TITLES and value]
    composer.add(BlockKind.LIST, "\n".join(about[:_FIELDS]), at=objects[0][0])
    if _is_table([record for _, record in objects]):
        _add_rows(composer, objects)
    else:
        for number, record in objects:
            _add_section(composer, number, record)
    return composed(
        composer,
        # Written out it is longer than in its file.
        replace(reading, max_chars=3 * reading.max_chars),
        reader=READER,
        title=title or (reading.name.rpartition("/")[2].rpartition(".")[0] or reading.name),
        decoded=decoded,
        meta={"records": len(objects)},
        warnings=warnings,
    )


def _loaded(text: str) -> Any:
    return json.loads(text, parse_float=_Number, parse_int=_Number, parse_constant=_Number)


def _by_line(text: str, warnings: list[str]) -> Iterator[tuple[int, Any]]:
    bad: list[int] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield number, _loaded(line)
            except (ValueError, RecursionError):
                bad.append(number)
    if bad:
        shown = ", ".join(map(str, bad[:10])) + (" …" if len(bad) > 10 else "")
        warnings.append(f"{len(bad):,} lines are no JSON and were left out: {shown}.")


def _array(value: Any) -> tuple[dict[str, Any], list[Any]]:
    """The records, and what stands beside them.

    Raises:
        ValueError: there are none.
    """
    if isinstance(value, list):
        return {}, value
    if isinstance(value, dict):
        arrays = {
            key: found
            for key, found in value.items()
            if isinstance(found, list) and found and all(isinstance(item, dict) for item in found)
        }
        if len(arrays) == 1:
            ((key, found),) = arrays.items()
            beside = {name: other for name, other in value.items() if name != key}
            # Beside a long list of settings an array is one more setting.
            if _size(found) > _size(beside) and len(found) > 1:
                return beside, found
    raise ValueError


def _size(value: Any, depth: int = 0) -> int:
    if depth > _DEPTH:
        return 1
    if isinstance(value, dict):
        return sum(1 + _size(item, depth + 1) for item in value.values())
    if isinstance(value, list):
        return sum(_size(item, depth + 1) for item in value)
    return 1


def _scalar(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return clean_text(str(value)).strip() if isinstance(value, str) else ""


def _flat(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """The scalars of a value, each with its path; a list of scalars is one of them."""
    if depth > _DEPTH:
        yield path, json.dumps(value, ensure_ascii=False, default=str)[:1000]
    elif isinstance(value, dict):
        for key, item in value.items():
            name = clean_text(str(key)).strip()
            yield from _flat(item, f"{path}.{name}" if path else name, depth + 1)
    elif isinstance(value, list):
        if any(isinstance(item, (dict, list)) for item in value):
            for number, item in enumerate(value, 1):
                yield from _flat(item, f"{path} {number}".strip(), depth + 1)
        else:
            yield path, ", ".join(text for text in map(_scalar, value) if text)
    else:
        yield path, _scalar(value)


def _is_table(records: Sequence[dict[str, Any]]) -> bool:
    keys = {key: None for record in records[:200] for key in record}
    if len(records) < 2 or len(keys) > _COLUMNS:
        return False
    shared = sum(len(record) for record in records[:200]) / (len(keys) * min(len(records), 200))
    return shared > 0.6 and all(
        not isinstance(value, (dict, list)) and len(_scalar(value)) <= _CELL_CHARS and "\n" not in _scalar(value)
        for record in records
        for value in record.values()
    )


def _add_rows(composer: Composer, records: Sequence[tuple[int, dict[str, Any]]]) -> None:
    keys = list({key: None for _, record in records for key in record})[: 2 * _COLUMNS]
    lines: list[tuple[float | None, str]] = [
        (records[0][0], pipe_row([clean_text(str(key)) for key in keys])),
        (None, "|" + "---|" * len(keys)),
    ]
    lines += [(number, pipe_row([_scalar(record.get(key)) for key in keys])) for number, record in records]
    composer.add_lines(BlockKind.TABLE, lines)


def _add_section(composer: Composer, number: int, record: dict[str, Any]) -> None:
    """A record as a section: its title, its short values as a list, its long ones as paragraphs under their names."""
    named = next((key for wanted in _TITLES for key in record if str(key).lower() == wanted), None)
    title = _scalar(record[named]) if named is not None else ""
    if title and len(title) <= 200:
        composer.add(BlockKind.HEADING, title, at=number, level=2)
    else:
        named = None
    fields = [
        (key, value) for key, value in _flat({key: value for key, value in record.items() if key != named}) if value
    ]
    short = [f"- {key}: {value}" for key, value in fields[:_FIELDS] if len(value) <= _LONG_CHARS and "\n" not in value]
    composer.add(BlockKind.LIST if len(short) > 1 else BlockKind.PARAGRAPH, "\n".join(short), at=number)
    for key, value in fields[:_FIELDS]:
        if len(value) > _LONG_CHARS or "\n" in value:
            first, *rest = (part.strip() for part in re.split(r"\n\s*\n", value) if part.strip())
            composer.add(BlockKind.PARAGRAPH, f"{key}: {first}", at=number)
            for part in rest:
                composer.add(BlockKind.PARAGRAPH, part, at=number)
