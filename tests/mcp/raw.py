"""A client that speaks to the real server in raw lines, so that tests see every byte of its stdout."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

WAIT_S = 60.0
"""No wait of a test is longer; the machine may be busy."""
CHECKOUT = Path(__file__).resolve().parents[2]


class RawServer:
    """`python -m pegas_mcp` as a child, its stdout kept line by line and its stderr in full."""

    def __init__(self, environment: dict[str, str], *arguments: str, before: str = "", replaced: bool = False) -> None:
        """`before` is code that the child runs first: it puts a fault where a test wants one, or, where the server is
        `replaced`, defines another `main`."""
        theirs = "" if replaced else "\nfrom pegas_mcp.__main__ import main"
        start = ["-c", f"{before}{theirs}\nmain()"] if before else ["-m", "pegas_mcp"]
        self.process = subprocess.Popen(
            [sys.executable, *start, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            cwd=CHECKOUT,
        )
        self.lines: list[bytes] = []
        """Every line of stdout."""
        self.notifications: list[dict[str, Any]] = []
        self._answers: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._stray: dict[object, dict[str, Any]] = {}
        self._errors: list[bytes] = []
        self._ids = 100
        self._threads = [threading.Thread(target=self._read), threading.Thread(target=self._read_errors)]
        for thread in self._threads:
            thread.daemon = True
            thread.start()

    @property
    def stderr(self) -> str:
        return b"".join(self._errors).decode()

    def send(self, message: dict[str, Any] | str) -> None:
        assert self.process.stdin is not None
        line = message if isinstance(message, str) else json.dumps(message)
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def answer(self, wanted: object, wait_s: float = WAIT_S) -> dict[str, Any]:
        """The message that answers a request."""
        while wanted not in self._stray:
            message = self._answers.get(timeout=wait_s)
            assert message is not None, f"the server ended: {self.stderr[-2000:]}"
            self._stray[message.get("id")] = message
        return self._stray.pop(wanted)

    def initialize(self, name: str = "case") -> dict[str, Any]:
        self.send(
            {
                "jsonrpc": "2.0",
                "id": 0,
                "method": "initialize",
                "params": {
                    "protocolVersion": "2025-06-18",
                    "capabilities": {},
                    "clientInfo": {"name": name, "version": "1"},
                },
            }
        )
        answer = self.answer(0)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def request(self, method: str, params: dict[str, Any] | None = None, wait_s: float = WAIT_S) -> dict[str, Any]:
        """The whole message that answers."""
        return self.answer(self.begin(method, params), wait_s)

    def begin(self, method: str, params: dict[str, Any] | None = None) -> int:
        self._ids += 1
        self.send({"jsonrpc": "2.0", "id": self._ids, "method": method, "params": params or {}})
        return self._ids

    def call(self, tool: str, arguments: dict[str, Any] | None = None, wait_s: float = WAIT_S) -> dict[str, Any]:
        """A tool's result."""
        message = self.request("tools/call", {"name": tool, "arguments": arguments or {}}, wait_s)
        assert "result" in message, message
        result: dict[str, Any] = message["result"]
        return result

    def call_again(self, tool: str, arguments: dict[str, Any] | None = None) -> dict[str, Any]:
        """A tool's result, asked for again while the base is still being opened or the machine is too busy."""
        deadline = time.monotonic() + WAIT_S
        while True:
            result = self.call(tool, arguments)
            if not is_early(result.get("structuredContent")) or time.monotonic() > deadline:
                return result

    def close_input(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def wait(self, wait_s: float = WAIT_S) -> int:
        code = self.process.wait(wait_s)
        for thread in self._threads:
            thread.join(5)
        return code

    def __enter__(self) -> RawServer:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)
        for thread in self._threads:
            thread.join(5)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if "id" in message:
                self._answers.put(message)
            else:
                self.notifications.append(message)
        self._answers.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._errors.append(line)


def environment(**variables: str) -> dict[str, str]:
    """This process's environment with nothing of ours in it but these."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PEGAS_", "DAGSTER_"))}
    return {**kept, **variables}


def is_early(structure: dict[str, Any] | None) -> bool:
    """Whether a failure says that the same call may go well in a moment."""
    return (structure or {}).get("code") in ("starting", "timeout")


def text_of(result: dict[str, Any]) -> str:
    """The text blocks of a tool's result."""
    return "\n".join(block["text"] for block in result["content"])


def structure_of(result: dict[str, Any]) -> dict[str, Any]:
    """The structure of a tool's result."""
    structure: dict[str, Any] = result["structuredContent"]
    return structure


def assert_only_protocol(server: RawServer) -> None:
    """Every line of stdout is one JSON-RPC object, of at most 1,000,000 bytes."""
    for line in server.lines:
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        assert len(line) <= 1_000_000
