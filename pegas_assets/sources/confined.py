"""Runs a parser that was written in C on somebody else's bytes: in a process of its own, under a memory and a time limit.

A file that makes it crash, hang or swell then costs that process, never the worker. The process is kept for the next
file, since starting it takes most of a second, and ends with the one that started it.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import threading
import time
from importlib import import_module
from typing import IO, Any

from pegas_assets.errors import Refused

MEMORY_BYTES = 2 << 30
"""Of addresses, of which a parser's libraries take half a gigabyte."""
LIMIT_S = 180.0
REUSED = 200
"""Files that one process reads: what a parser leaks goes with it."""
_HEAD = struct.Struct(">Q")


class _Child:
    def __init__(self) -> None:
        self.files = 0
        # Its errors are answers; what a library prints there is nobody's business.
        self.process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )

    def ask(self, request: bytes, limit_s: float) -> Any:
        """Raises:
        EOFError: the process ended over it.
        TimeoutError: it took too long.
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.files += 1
        try:
            _write(self.process.stdin, request)
        except BrokenPipeError:
            raise EOFError from None
        return pickle.loads(_read_until(self.process.stdout, time.monotonic() + limit_s))

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


_lock = threading.Lock()
_kept: list[tuple[int, _Child]] = []
"""The process that waits for the next file, with the id of the one that started it: after a fork it is another's."""


def confined(function: str, *arguments: Any, item: str, limit_s: float = LIMIT_S) -> Any:
    """The result of a function named `module:name`, called in the process beside.

    Raises:
        Refused: by the function; or it crashed, took longer than `limit_s` or more memory than it is given.
    """
    request = pickle.dumps((limit_s, function, arguments))
    with _lock:
        child = _take()
        while True:
            try:
                kind, value = child.ask(request, limit_s)
            except TimeoutError:
                child.end()
                raise _gave_up(f"it was still being read after {limit_s:.0f} s", item) from None
            except (EOFError, pickle.UnpicklingError):
                child.end()
                if child.files == 1:
                    raise _gave_up("it crashed the program that reads this kind", item) from None
                # What killed it may have been left by the files before: a new one decides.
                child = _Child()
            except BaseException:
                child.end()
                raise
            else:
                break
        _put(child)
    if kind == "refused":
        raise value
    if kind == "memory":
        raise _gave_up("it takes too much memory to read: it is too large", item)
    if kind == "failed":
        raise Refused(f"The document is damaged: {value}.", hint="Make the file again, or convert it.", item=item)
    return value


def _gave_up(why: str, item: str) -> Refused:
    return Refused(
        f"The document could not be read: {why}.", hint="Convert it to another format, or split it.", item=item
    )


def _take() -> _Child:
    while _kept:
        owner, child = _kept.pop()
        if owner == os.getpid() and child.process.poll() is None:
            return child
    return _Child()


def _put(child: _Child) -> None:
    if child.files >= REUSED:
        child.end()
    else:
        _kept.append((os.getpid(), child))


@atexit.register
def _end_kept() -> None:
    for owner, child in _kept:
        if owner == os.getpid():
            child.end()
    _kept.clear()


def _write(pipe: IO[bytes], content: bytes) -> None:
    pipe.write(_HEAD.pack(len(content)) + content)
    pipe.flush()


def _read_until(pipe: IO[bytes], deadline: float) -> bytes:
    content = bytearray()
    wanted = _HEAD.size
    size: int | None = None
    while len(content) < wanted:
        ready, _, _ = select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise TimeoutError
        some = os.read(pipe.fileno(), min(1 << 20, wanted - len(content)))
        if not some:
            raise EOFError
        content += some
        if size is None and len(content) == _HEAD.size:
            size = _HEAD.unpack(content)[0]
            wanted = size
            content.clear()
            if not size:
                break
    return bytes(content)


def _serve() -> None:
    """Answer requests until the asker goes away."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    asked = sys.stdin.buffer
    while len(head := asked.read(_HEAD.size)) == _HEAD.size:
        limit_s, function, arguments = pickle.loads(asked.read(_HEAD.unpack(head)[0]))
        # Whoever would end it at the limit may be gone by then.
        signal.alarm(int(limit_s) + 5)
        answer = _answer(function, arguments)
        signal.alarm(0)
        _write(answers, answer)


def _answer(function: str, arguments: tuple[Any, ...]) -> bytes:
    module, _, name = function.partition(":")
    try:
        return pickle.dumps(("done", getattr(import_module(module), name)(*arguments)))
    except Refused as refused:
        return pickle.dumps(("refused", refused))
    except MemoryError:
        return pickle.dumps(("memory", None))
    except Exception as error:  # noqa: BLE001 - any error of a parser on hostile bytes is about the bytes
        reason = " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
        return pickle.dumps(("memory" if "malloc" in reason or "memory" in reason.lower() else "failed", reason))


if __name__ == "__main__":
    _serve()
