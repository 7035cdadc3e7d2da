"""The two descriptors of the stdio transport, taken out of everybody else's reach before anything is imported."""

from __future__ import annotations

import io
import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

GRACE_S = 1.5
"""How long calls under way may still answer after the client closed its end."""

_LINE_BREAKS = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}
"""What some readers take for a line end. In JSON they stand inside strings only, where the escape means the same."""


@dataclass(frozen=True)
class Wire:
    """Private duplicates of the descriptors that the client talks to."""

    input: int
    output: int


def reserve_wire() -> Wire:
    """Keep standard input and output for the protocol: whatever prints from here on lands in stderr.

    Descriptor 0 becomes the null device, 1 a second stderr; `sys.stdin` and `sys.stdout` follow them, in UTF-8.
    """
    wire = Wire(os.dup(0), os.dup(1))
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # started without a stderr
        os.dup2(null, 1)
        os.dup2(null, 2)
    os.close(null)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
    return wire


class WireInput(io.TextIOWrapper):
    """The client's lines that are messages; the others are answered here.

    The end is reported when calls under way have answered, or after `GRACE_S`. So `printf '…' | pegas-mcp` gets its
    answers, and a client that goes away is not waited for.
    """

    def __init__(self, descriptor: int, busy: Callable[[], bool], output: WireOutput) -> None:
        super().__init__(os.fdopen(descriptor, "rb", closefd=False), encoding="utf-8", errors="replace", newline="\n")
        self._busy = busy
        self._output = output

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        from pegas_mcp.lines import mended, refusal

        while line := super().readline(size):
            line = mended(line)
            answer = refusal(line)
            if answer is None:
                return line
            if answer:
                self._output.write(answer)
                self._output.flush()
        # The last message may not have been begun yet.
        time.sleep(0.05)
        deadline = time.monotonic() + GRACE_S
        while self._busy() and time.monotonic() < deadline:
            time.sleep(0.01)
        return line


class WireOutput(io.TextIOWrapper):
    """The server's lines: one message is one line, for every reader, and no character stops the writer.

    Written by two threads: the SDK's, and the one that reads.
    """

    def __init__(self, descriptor: int) -> None:
        self._turn = threading.Lock()
        super().__init__(os.fdopen(descriptor, "wb", closefd=False), encoding="utf-8", errors="replace", newline="\n")

    def write(self, text: str, /) -> int:
        with self._turn:
            return super().write(text if text.isascii() else text.translate(_LINE_BREAKS))

    def flush(self) -> None:
        with self._turn:
            super().flush()
