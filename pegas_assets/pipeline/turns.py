"""Orders pages by when their hosts are free, so that a host that is waited for holds up no other."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

Busy = Callable[[list[str]], dict[str, tuple[float, str]]]
"""Which of some hosts are not free: seconds until they are, and why."""

LONGEST_WAIT_S = 60.0
"""What is further off is left to a later run."""
RUN_S = 3600.0
"""So long one run goes on asking; what is left then waits for the next."""


@dataclass(frozen=True)
class PutOff:
    """A document that this run does not wait for: seconds until it may be tried, and why."""

    document_id: int
    seconds: float
    reason: str


class HostTurns:
    """Documents one by one, each when its host is free.

    Iterate, work on what comes, and give back with `again` what has to wait. When no host that is left becomes free
    within `LONGEST_WAIT_S`, the iteration ends, and what is left is in `put_off`.
    """

    def __init__(
        self,
        documents: Iterable[tuple[int, str]],
        busy: Busy,
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.put_off: list[PutOff] = []
        self._busy = busy
        self._sleep = sleep
        self._clock = clock
        self._free_at: dict[str, float] = {}
        self._reason: dict[str, str] = {}
        self._waiting: dict[str, deque[int]] = {}
        for document_id, host in documents:
            self._waiting.setdefault(host, deque()).append(document_id)
        self._ends = clock() + RUN_S

    def again(self, document_id: int, host: str, seconds: float, reason: str = "") -> None:
        """Have a document come again, first of its host, when that is free."""
        self._waiting.setdefault(host, deque()).appendleft(document_id)
        self._put(host, seconds, reason)

    def __iter__(self) -> Iterator[int]:
        while self._waiting:
            now = self._clock()
            # Of hosts that are free the one that came first: the order of acceptance, as far as hosts allow.
            host = min(self._waiting, key=lambda name: max(self._free_at.get(name, 0.0), now))
            wait = self._free_at.get(host, 0.0) - now
            if wait > LONGEST_WAIT_S or now > self._ends:
                self._put_all_off(now)
                return
            if wait > 0:
                self._sleep(wait)
            seconds, reason = self._busy([host]).get(host, (0.0, ""))
            if seconds > 0:
                self._put(host, seconds, reason)
                continue
            ids = self._waiting.pop(host)
            document_id = ids.popleft()
            if ids:
                # To the end, so that hosts that are free take turns.
                self._waiting[host] = ids
            yield document_id

    def _put(self, host: str, seconds: float, reason: str) -> None:
        self._free_at[host] = self._clock() + seconds
        self._reason[host] = reason

    def _put_all_off(self, now: float) -> None:
        for host, ids in self._waiting.items():
            seconds = max(0.0, self._free_at.get(host, now) - now)
            self.put_off += [PutOff(document_id, seconds, self._reason.get(host, "")) for document_id in ids]
        self._waiting.clear()
