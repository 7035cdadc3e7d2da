"""Work that goes on in a thread while its caller does something else."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Aside(Generic[T]):
    """A call that has begun: `result` waits for it and returns or raises what it did.

    One that is never asked ends by itself; it must have a bound of its own.
    """

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._made: T
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="aside", daemon=True)
        self._thread.start()

    def result(self) -> T:
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._made

    def _run(self) -> None:
        try:
            self._made = self._work()
        except BaseException as error:  # noqa: BLE001 - it is the caller's, who gets it with the result
            self._error = error
