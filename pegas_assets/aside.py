"""Work that goes on in a thread while its caller does something else."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Generic, TypeVar

S = TypeVar("S")
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


def ahead(work: Callable[[S], T], items: Iterable[S]) -> Iterator[T]:
    """What `work` makes of each item, in order; the next one is begun before the caller gets the last."""
    begun: Aside[T] | None = None
    for item in items:
        if begun is None:
            begun = Aside(partial(work, item))
            continue
        made = begun.result()
        begun = Aside(partial(work, item))
        yield made
    if begun is not None:
        yield begun.result()
