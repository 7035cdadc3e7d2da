"""What the tools of one server process share: the base, opened when first used, and the threads that work on it."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import anyio.to_thread

from pegas_assets.errors import EngineUnavailable, PegasError
from pegas_assets.settings import Settings, public_address

if TYPE_CHECKING:
    from pegas_assets.runtime import Runtime
    from pegas_mcp.lineage import Lineage

T = TypeVar("T")
log = logging.getLogger("pegas_mcp")

CALL_S = 9.5
"""The bound of the work of a call: with what a look at its outcome takes, an agent waits little more than 10 s."""
OPEN_S = 2.8
"""The bound of the first contact with a database that is a service: a tool fails within 3 s."""
PROBE_S = 1.0
CALLS_AT_ONCE = 6
"""Calls that work at once; further ones wait for their turn. Each takes two connections at most."""
CONNECTIONS = 2 * CALLS_AT_ONCE + 6
"""Those of calls, of two runs of ingest and of the warm-up; they are opened when they are needed and closed when idle."""
THREADS = 64
"""Threads for calls: those that were given up keep theirs until they end. None is one of the transport's."""


class Session:
    """One base as the tools see it. Nothing is opened before `run`, `open` or `warm_up`; all may be called at once."""

    def __init__(self, settings: Settings, *, read_only: bool = False, warms_up: bool = True) -> None:
        self.settings = settings
        self.read_only = read_only
        self._warms_up = warms_up
        self.calls = 0
        """Requests that are being answered."""
        self._runtime: Runtime | None = None
        self._lineage: Lineage | None = None
        self._opening = threading.Lock()
        self._turns: anyio.Semaphore | None = None
        self._limiter: anyio.CapacityLimiter | None = None

    @property
    def opened(self) -> bool:
        return self._runtime is not None

    def open(self) -> Runtime:
        """The base, its schema checked.

        Raises:
            EngineUnavailable: PostgreSQL does not answer. The next call tries again.
        """
        if self._runtime is not None:
            return self._runtime
        probe(self.settings)
        with self._opening:
            if self._runtime is None:
                from pegas_assets.runtime import Runtime

                made = Runtime(self.settings, application="pegas-mcp", connections=CONNECTIONS)
                try:
                    made.ensure_schema()
                except BaseException:
                    made.close()
                    raise
                self._runtime = made
        return self._runtime

    @property
    def lineage(self) -> Lineage:
        """Runs of ingest through Dagster; nothing of it is imported before it is warmed or used."""
        with self._opening:
            if self._lineage is None:
                from pegas_mcp.lineage import Lineage

                self._lineage = Lineage(self.settings)
            return self._lineage

    @property
    def ingest_state(self) -> str:
        """How ingest is done here, in words."""
        if self.read_only:
            return "off: this server reads only"
        return f"runs in this process: {self._lineage.state if self._lineage is not None else 'not warmed yet'}"

    async def run(self, work: Callable[[Runtime], T], *, limit_s: float = CALL_S) -> T:
        """Do `work` with the base in a thread, for at most `limit_s` seconds.

        A call that is cancelled, or late, leaves its thread to end by itself: the server goes on.

        Raises:
            PegasError: of the work; or EngineUnavailable, code `timeout` or `starting`.
        """
        if self._limiter is None or self._turns is None:
            self._turns = anyio.Semaphore(CALLS_AT_ONCE)
            self._limiter = anyio.CapacityLimiter(THREADS)
        opened = self.opened
        if not opened and self.settings.database_url is not None:
            limit_s = min(limit_s, OPEN_S)
        with anyio.move_on_after(limit_s):
            async with self._turns:
                return await anyio.to_thread.run_sync(
                    lambda: _contained(lambda: work(self.open())), abandon_on_cancel=True, limiter=self._limiter
                )
        if not opened and not self.opened:
            raise EngineUnavailable(
                f"The base is still being opened after {limit_s:g} s.",
                hint="Try again in a moment.",
                component="postgres",
                code="starting",
            )
        raise EngineUnavailable(
            f"There was no answer within {limit_s:g} s.",
            hint="Try again in a moment, or ask for less.",
            code="timeout",
        )

    def warm_up(self) -> None:
        """Open, load and connect what the first calls would wait for, in a thread of its own.

        What is down now is tried again by the call that needs it.
        """
        if self._warms_up:
            threading.Thread(target=self._warm_up, name="warm-up", daemon=True).start()

    def _warm_up(self) -> None:
        # The answer that the client waits for goes first: imports hold the interpreter.
        time.sleep(0.05)
        steps: list[Callable[[], Any]] = [self._warm_search]
        if not self.read_only:
            steps.append(lambda: self.lineage.warm())
        for step in steps:
            try:
                step()
            except PegasError as error:
                log.info("Not warm yet: %s", error)
            except Exception:
                log.exception("The warm-up failed")

    def _warm_search(self) -> None:
        from pegas_assets.search.hybrid import search
        from pegas_assets.search.request import SearchRequest

        runtime = self.open()
        if not self.read_only:
            runtime.vector_target.prepare()
        search(runtime.search_engines, SearchRequest.checked("warm up", k=1))


def probe(settings: Settings) -> None:
    """Refuse at once where a database that is a service takes no connection: cheaper than a driver's patience.

    Raises:
        EngineUnavailable: nothing listens, or nobody answers.
    """
    from urllib.parse import urlsplit

    if settings.database_url is None:
        return
    address = settings.database_url.get_secret_value()
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port or 5432
    except ValueError:
        return
    if not host or "," in parts.netloc or parts.scheme not in ("postgresql", "postgres"):
        return
    started = time.monotonic()
    try:
        socket.create_connection((host, port), timeout=PROBE_S).close()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise EngineUnavailable(
            f"The database is not reachable at {public_address(address)}: {reason}"
            f" ({time.monotonic() - started:.1f} s).",
            hint="Start it with `pegas up`, or check PEGAS_DATABASE_URL.",
            component="postgres",
        ) from None


def _contained(work: Callable[[], T]) -> T:
    """Do `work`; what would end a process ends only the call."""
    try:
        return work()
    except (SystemExit, KeyboardInterrupt) as error:
        raise RuntimeError(f"the work tried to end the process: {type(error).__name__}({error})") from error
