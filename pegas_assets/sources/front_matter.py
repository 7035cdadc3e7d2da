"""The block of metadata that opens a Markdown file."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass, field
from typing import Any

from pegas_assets.text.cleaning import clean_json

_YAML = re.compile(r"\A---[ \t]*\n(.*?)(?:\n|(?<=\n))(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TOML = re.compile(r"\A\+\+\+[ \t]*\n(.*?)(?:\n|(?<=\n))\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL)
_MAX_CHARS = 65_536


@dataclass(frozen=True)
class FrontMatter:
    """The parsed block, where the text after it begins, and a sentence where it could not be parsed.

    What could not be parsed stays in the text.
    """

    values: dict[str, Any] = field(default_factory=dict)
    end: int = 0
    warning: str = ""


def parse_front_matter(text: str) -> FrontMatter:
    """The YAML (`---`) or TOML (`+++`) block at the start of a text, as plain JSON values.

    Only a mapping counts. Aliases are refused: nine lines of them unfold to gigabytes.
    """
    if (match := _YAML.match(text)) and len(match.group(1)) <= _MAX_CHARS:
        parse = _yaml
    elif (match := _TOML.match(text)) and len(match.group(1)) <= _MAX_CHARS:
        parse = _toml
    else:
        return FrontMatter()
    try:
        values = parse(match.group(1))
    except (ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:200]
        return FrontMatter(warning=f"The front matter was not understood and is kept as text: {reason}.")
    if not isinstance(values, dict):
        return FrontMatter()
    cleaned = clean_json(_plain(values))
    return FrontMatter(cleaned if isinstance(cleaned, dict) else {}, match.end())


def _yaml(source: str) -> object:
    import yaml

    try:
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(source, Loader=yaml.SafeLoader)):
            raise ValueError("it holds YAML aliases")
        return yaml.safe_load(source)
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or "it is no YAML"
        raise ValueError(f"{what}, line {where.line + 1}" if where else what) from None


def _toml(source: str) -> object:
    import tomllib

    return tomllib.loads(source)


def _plain(value: object) -> object:
    """JSON has no dates, sets, bytes or keys that are not text."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item) for item in value]
    if isinstance(value, (datetime.date, datetime.datetime, datetime.time)):
        return value.isoformat()
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    return str(value)
