"""The command line of the server, and where its log goes."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pegas_assets.settings import Settings


@dataclass(frozen=True)
class Command:
    """How to serve."""

    transport: Literal["stdio", "http"]
    read_only: bool
    host: str
    port: int
    token: str
    warm_up: bool

    @property
    def secrets(self) -> tuple[str, ...]:
        return (self.token,) if self.token else ()


def parse(argv: Sequence[str] | None = None) -> Command:
    """The command line as a command; ends the process with a sentence where it makes no sense."""
    parser = argparse.ArgumentParser(
        prog="pegas-mcp", description="Serve Pegas Memory over the Model Context Protocol."
    )
    parser.add_argument("--transport", choices=("stdio", "http"), default="stdio", help="http is streamable HTTP")
    parser.add_argument("--read-only", action="store_true", help="offer no tool that writes")
    parser.add_argument("--no-warm-up", action="store_true", help="load and open nothing before a call needs it")
    parser.add_argument("--host", default="127.0.0.1", help="with http: where to listen (default: %(default)s)")
    parser.add_argument("--port", type=int, default=8765, help="with http: the port (default: %(default)s)")
    parser.add_argument("--token", default="", help="with http: the bearer token that a client has to send")
    parser.add_argument("--token-file", type=Path, help="with http: a file with the token, which no process list shows")
    given = parser.parse_args(argv)
    token = given.token
    if given.token_file is not None:
        try:
            token = given.token_file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            parser.error(f"the token file cannot be read: {error}")
    if given.transport == "http" and not token:
        parser.error("streamable HTTP needs --token or --token-file")
    if not 0 <= given.port <= 65535:
        parser.error(f"there is no port {given.port}")
    return Command(given.transport, given.read_only, given.host, given.port, token, not given.no_warm_up)


def configure_logging(settings: Settings, secrets: Sequence[str]) -> None:
    """Send every log line and warning to stderr, at the level that is set, without secrets."""
    from pegas_mcp.failures import Redaction, secrets_of

    handler = logging.StreamHandler()
    handler.setFormatter(Redaction(secrets_of(settings, *secrets)))
    logging.basicConfig(level=settings.log_level, handlers=[handler], force=True)
    logging.captureWarnings(True)
