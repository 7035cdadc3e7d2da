"""What a failed call answers: a sentence, and `{code, component, retryable, hint}`; no traceback, no secret."""

from __future__ import annotations

import difflib
import logging
import re
from collections.abc import Sequence
from typing import Any

from mcp_types import CallToolResult, TextContent
from pydantic import ValidationError

from pegas_assets.errors import InvalidInput, PegasError
from pegas_assets.settings import Settings, without_secrets

log = logging.getLogger("pegas_mcp")

MAX_MESSAGE_CHARS = 2000


class Redaction(logging.Formatter):
    """Log lines, and texts, without the secrets that the settings hold and without passwords in addresses."""

    def __init__(self, secrets: Sequence[str] = ()) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        wanted = sorted({secret for secret in secrets if len(secret) >= 4}, key=len, reverse=True)
        self._secrets = re.compile("|".join(map(re.escape, wanted))) if wanted else None

    def format(self, record: logging.LogRecord) -> str:
        return self.redact(super().format(record))

    def redact(self, text: str) -> str:
        text = without_secrets(text)
        return self._secrets.sub("***", text) if self._secrets is not None else text


def secrets_of(settings: Settings, *others: str) -> list[str]:
    """Every secret of the settings: keys, passwords, and the passwords inside addresses."""
    from urllib.parse import unquote, urlsplit

    found = list(others)
    for secret in (settings.qdrant_api_key, settings.bolt_password):
        if secret is not None:
            found.append(secret.get_secret_value())
    database = settings.database_url.get_secret_value() if settings.database_url is not None else ""
    for address in (database, settings.qdrant_url, settings.bolt_url, settings.ollama_url, settings.proxy_url):
        password = urlsplit(address).password if address else None
        if password:
            found += [password, unquote(password)]
    return [secret for secret in found if secret]


def failed(tool: str, error: BaseException, redaction: Redaction) -> CallToolResult:
    """The result of a call that failed. What nobody expected is told to the log only."""
    known = error if isinstance(error, PegasError) else _unexpected(tool, error)
    message = redaction.redact(known.message)[:MAX_MESSAGE_CHARS]
    hint = redaction.redact(known.hint)[:MAX_MESSAGE_CHARS]
    lines = [f"{tool} failed: {message}"]
    if hint:
        lines.append(f"What to do: {hint}")
    named = f"code {known.code}" + (f", component {known.component}" if known.component else "")
    lines.append(f"({named}, {'worth trying again' if known.retryable else 'trying again will not help'})")
    return CallToolResult(
        content=[TextContent(type="text", text="\n".join(lines))],
        structured_content={
            "code": known.code,
            "component": known.component,
            "retryable": known.retryable,
            "hint": hint,
            "message": message,
        },
        is_error=True,
    )


def wrong_arguments(error: ValidationError) -> InvalidInput:
    """A validation error as a sentence that names each argument, without the values that came."""
    wrong = []
    for item in error.errors(include_url=False, include_input=False, include_context=False):
        name = ".".join(str(part) for part in item["loc"]) or "arguments"
        wrong.append(f"`{name}`: {str(item['msg'])[:1].lower()}{str(item['msg'])[1:]}")
    return InvalidInput(
        f"The arguments do not fit: {'; '.join(wrong[:8])}.",
        hint="See the tool's input schema.",
        item=", ".join(str(item["loc"][0]) for item in error.errors() if item["loc"]),
    )


def unknown_arguments(unknown: Sequence[str], known: Sequence[str]) -> InvalidInput:
    """The answer to arguments that a tool does not have."""
    names = ", ".join(f"`{name[:100]}`" for name in unknown[:8])
    near = [found for name in unknown for found in difflib.get_close_matches(name, known, 1)]
    guess = f"Did you mean `{near[0]}`? " if near else ""
    return InvalidInput(
        f"There is no argument {names}.", hint=f"{guess}It takes: {', '.join(known)}.", item=", ".join(unknown[:8])
    )


def unknown_tool(name: str, known: Sequence[str]) -> InvalidInput:
    """The answer to a tool that does not exist, or is left out where nothing may be written."""
    return InvalidInput(
        f"Unknown tool: {name[:100]}.", hint=f"There are: {', '.join(known)}.", item=name[:100], code="unknown_tool"
    )


def _unexpected(tool: str, error: BaseException) -> PegasError:
    log.error("%s failed unexpectedly", tool, exc_info=error)
    return PegasError(
        "Something went wrong inside the server.",
        hint="The server's log tells why; tell whoever runs it.",
        code="internal_error",
    )


def cause_of(error: BaseException) -> Any:
    """What the SDK's wrappers were raised for, else the error itself."""
    while error.__cause__ is not None and type(error).__module__.startswith("mcp."):
        error = error.__cause__
    return error
