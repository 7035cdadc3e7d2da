"""The host process of the embedded graph: ArcadeDB's native server with its Bolt listener, on this machine only.

Run as `python -m pegas_assets.embedded.bolt_host --home HOME`. What it opens besides Bolt (HTTP, by which databases
are made; its MCP endpoint is off) listens on the loopback address too and wants the same password.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import secrets
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pegas_assets.embedded.bolt import graph_folder, host_spec, password_file
from pegas_assets.embedded.process import Ownership, private_directory, write_private

LOOPBACK = "127.0.0.1"
LOG_FOLDER = "graph"
_START_ATTEMPTS = 5
_HEAP = "-Xmx1g"
# The engine's own settings would fill ten files of 100 MB each.
_LOGGING = """\
handlers = java.util.logging.FileHandler
.level = WARNING
java.util.logging.FileHandler.level = WARNING
java.util.logging.FileHandler.formatter = com.arcadedb.log.LogFormatter
java.util.logging.FileHandler.pattern = ../log/graph/arcadedb.log
java.util.logging.FileHandler.limit = 5000000
java.util.logging.FileHandler.count = 3
"""
_SERVER = {
    "host": LOOPBACK,
    "bolt_host": LOOPBACK,
    # Production: each commit reaches the disk, and queries read no files.
    "mode": "production",
    "server_plugins": "Bolt:com.arcadedb.bolt.BoltProtocolPlugin",
    "txWalFlush": 1,
    "serverMetrics": False,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Serve a home until SIGTERM. Returns 0 at once where another process serves it."""
    parser = argparse.ArgumentParser(prog="bolt_host")
    parser.add_argument("--home", type=Path, required=True)
    home: Path = parser.parse_args(argv).home
    ownership = Ownership.take(host_spec(home))
    if ownership is None:
        return 0
    folder = private_directory(graph_folder(home))
    private_directory(home / "log" / LOG_FOLDER)
    # The engine writes ./log and reads relative paths: its working directory is its own folder.
    os.chdir(folder)
    _prepare_engine(home)
    server, ports = _serve(folder, _password(home))
    try:
        import arcadedb

        ownership.announce(ports, f"ArcadeDB {arcadedb.__version__}")
        ownership.wait_for_stop()
    finally:
        ownership.withdraw()
        server.stop()
    return 0


def _prepare_engine(home: Path) -> None:
    """What the native library reads from its environment, once, when it is loaded."""
    Path("logging.properties").write_text(_LOGGING)
    os.environ["ARCADEDB_LOG_DIR"] = str(home / "log" / LOG_FOLDER)
    os.environ["ARCADEDB_LOG_CONSOLE"] = "0"
    # These are split at blanks, so no path of ours may stand in them.
    os.environ["ARCADEDB_NATIVE_ISOLATE_ARGS"] = f"{_HEAP} -Djava.util.logging.config.file=logging.properties"


def _password(home: Path) -> str:
    """The root password, made where there is none; the server's own copy is made anew from it at each start."""
    path = password_file(home)
    if not path.exists():
        write_private(path, f"{secrets.token_urlsafe(32)}\n".encode())
    (graph_folder(home) / "config" / "server-users.jsonl").unlink(missing_ok=True)
    return path.read_text().strip()


def _serve(folder: Path, password: str) -> tuple[Any, dict[str, str | int]]:
    """Start the server on free ports. Another program may take one between the look and the start: then try again."""
    import arcadedb

    for attempt in range(1, _START_ATTEMPTS + 1):
        bolt_port, http_port = _free_ports(2)
        server = arcadedb.create_server(
            str(folder), password, {**_SERVER, "bolt_port": bolt_port, "http_port": str(http_port)}
        )
        try:
            server.start()
        except arcadedb.ArcadeDBError:
            with contextlib.suppress(arcadedb.ArcadeDBError):
                server.stop()
            if attempt == _START_ATTEMPTS:
                raise
        else:
            return server, {"bolt_port": bolt_port, "http_port": http_port}
    raise AssertionError("unreachable")


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind((LOOPBACK, 0))
        return [one.getsockname()[1] for one in sockets]


if __name__ == "__main__":
    sys.exit(main())
