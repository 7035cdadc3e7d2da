"""`pegas-mcp`: serves the memory to an agent, over stdio or streamable HTTP."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pegas_mcp.wire import reserve_wire

if TYPE_CHECKING:
    from pegas_mcp.command import Command


def main(argv: Sequence[str] | None = None) -> None:
    """Serve until the client goes away or the process is told to end. Ends the process: 0 in good order, 2 otherwise.

    Work that is under way does not hold it up: what was accepted is in PostgreSQL, and another process takes it on.
    """
    wire = reserve_wire()
    _end_on_signals()
    from pegas_mcp.command import parse

    command = parse(argv)
    code = 0
    try:
        _serve(command, wire.input, wire.output)
    except KeyboardInterrupt:
        code = 130
    os._exit(code)


def _serve(command: Command, input_fd: int, output_fd: int) -> None:
    import sys

    from pegas_assets.errors import PegasError
    from pegas_mcp.command import configure_logging

    try:
        from pegas_assets.settings import load_settings

        settings = load_settings()
        configure_logging(settings, command.secrets)
        from pegas_mcp.server import build_server

        server = build_server(settings, read_only=command.read_only, warm_up=command.warm_up, secrets=command.secrets)
        if command.transport == "http":
            from pegas_mcp.http import serve_http

            serve_http(server, command)
        else:
            import anyio

            anyio.run(server.serve_wire, input_fd, output_fd)
    except PegasError as error:
        sys.stderr.write(f"pegas-mcp: {error}\n")
        sys.stderr.flush()
        os._exit(2)


def _end_on_signals() -> None:
    import signal

    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))


if __name__ == "__main__":
    main()
