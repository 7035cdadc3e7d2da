"""What a client's line should have been: half characters made whole, and an answer to what is no message.

The SDK drops a line that it cannot read, and whoever sent it waits for ever.
"""

from __future__ import annotations

import json
import re
from typing import Any

from mcp import types
from pydantic import ValidationError

_MAYBE_HALF = re.compile(r"\\u[dD][89a-fA-F]")
"""A surrogate's escape: half of a character, as a program leaves it that cuts text inside an emoji."""


def mended(line: str) -> str:
    """The line with U+FFFD for half characters; itself where it has none or is no JSON."""
    if not _MAYBE_HALF.search(line):
        return line
    try:
        text = json.dumps(json.loads(line), ensure_ascii=False)
    except (ValueError, RecursionError):
        return line
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace") + "\n"


def refusal(line: str) -> str | None:
    """The answer to a line that is no JSON-RPC message, as a line; empty where none is due, None where it is one."""
    if not line.strip():
        return ""
    try:
        types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError:
        pass
    else:
        return None
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return _error(None, types.PARSE_ERROR, "The line is not JSON. Send one JSON-RPC 2.0 message a line, in UTF-8.")
    if isinstance(message, dict) and ("result" in message or "error" in message):
        return ""
    id_ = message.get("id") if isinstance(message, dict) else None
    if id_ is None and isinstance(message, dict) and isinstance(message.get("method"), str):
        return ""  # A notification is never answered.
    return _error(
        id_ if isinstance(id_, str | int) and not isinstance(id_, bool) else None,
        types.INVALID_REQUEST,
        "The line is no JSON-RPC 2.0 request: it needs jsonrpc, id, method as text, and params as an object.",
    )


def _error(id_: str | int | None, code: int, message: str) -> str:
    answer: dict[str, Any] = {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message}}
    return json.dumps(answer) + "\n"
