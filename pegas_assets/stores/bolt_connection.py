"""A Bolt server seen as two verbs, read and write: a transaction with retries, one reconnect, and bounds on every wait.

The driver's own managed transactions are not used: they go on trying for as long while the server is away as while
two writers collide, and they do not retry a race on a unique key.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pegas_assets.errors import EngineUnavailable, PegasError
from pegas_assets.settings import public_address, without_secrets
from pegas_assets.stores.graph_ddl import engine_of

if TYPE_CHECKING:
    import neo4j

T = TypeVar("T")

COMPONENT = "graph"
_SCHEMES = ("bolt://", "bolt+s://", "bolt+ssc://", "neo4j://", "neo4j+s://", "neo4j+ssc://")
_CONNECT_S = 2.0
_ACQUIRE_S = 3.0
_FIRST_DELAY_S = 0.005
_LONGEST_DELAY_S = 0.25
_RACE = "Neo.ClientError.Schema.ConstraintValidationFailed"
_GONE = ("Neo.ClientError.Database.DatabaseNotFound", "Neo.ClientError.Security.Unauthorized")
"""What a server says that was made anew under the same address: its database and password may be others."""


_SILENT = logging.NullHandler()


class BoltEndpoint(Protocol):
    """Where a graph is served, and as whom to speak to it. `database` is None for the server's own."""

    @property
    def url(self) -> str: ...
    @property
    def user(self) -> str: ...
    @property
    def password(self) -> str: ...
    @property
    def database(self) -> str | None: ...


class _Open:
    """A driver, and what it is connected to."""

    def __init__(self, driver: neo4j.Driver, endpoint: BoltEndpoint, agent: str) -> None:
        self.driver = driver
        self.endpoint = endpoint
        self.agent = agent


class BoltConnection:
    """Transactions on one graph. Opened when first used; `endpoint` is asked again when the server went away.

    May be used from many threads. Writers take turns: an engine that detects conflicts by page makes two of them
    slower than one.
    """

    def __init__(
        self, endpoint: Callable[[], BoltEndpoint], *, query_timeout_s: float = 60.0, retry_s: float = 20.0
    ) -> None:
        self._endpoint = endpoint
        self._query_timeout_s = query_timeout_s
        self._retry_s = retry_s
        self._opening = threading.Lock()
        self._writing = threading.Lock()
        self._open: _Open | None = None
        self.generation = 0
        """How often a server was connected to: what was learnt of an earlier one may no longer hold."""

    def read(self, work: Callable[[neo4j.Transaction], T]) -> T:
        """Run `work` in a transaction that reads. It may be run again, so it must have no effect of its own."""
        return self._attempt(lambda opened: self._in_transaction(opened, work, "READ"))

    def write(self, work: Callable[[neo4j.Transaction], T]) -> T:
        """Run `work` in a transaction and commit it. It may be run again, also after a commit that was not confirmed.

        Never done outside a transaction: ArcadeDB then commits each row by itself, 50 times slower.
        """
        with self._writing:
            return self._attempt(lambda opened: self._in_transaction(opened, work, "WRITE"))

    def alone(self, statement: str) -> list[dict[str, Any]]:
        """Run a statement by itself, as schema statements must be."""

        def run(opened: _Open) -> list[dict[str, Any]]:
            with opened.driver.session(database=opened.endpoint.database) as session:
                return session.run(statement).data()

        with self._writing:
            return self._attempt(run)

    @property
    def agent(self) -> str:
        """What the server calls itself."""
        return self._attempt(lambda opened: opened.agent)

    @property
    def engine(self) -> str:
        """Which engine answers: a name of `graph_ddl`."""
        return engine_of(self.agent)

    def close(self) -> None:
        """Close all connections. The next use opens them again."""
        with self._opening:
            opened, self._open = self._open, None
        if opened is not None:
            opened.driver.close()

    def _attempt(self, run: Callable[[_Open], T]) -> T:
        from neo4j.exceptions import DriverError, Neo4jError

        reconnected = False
        delay = _FIRST_DELAY_S
        deadline = time.monotonic() + self._retry_s
        while True:
            opened: _Open | None = None
            try:
                opened = self._opened()
                return run(opened)
            except (DriverError, OSError, ValueError) as error:
                lost: Exception = error
            except Neo4jError as error:
                if error.is_retryable() or error.code == _RACE:
                    if time.monotonic() > deadline:
                        raise self._unavailable(
                            error, opened, "has other writers of the same nodes, which never let this one through"
                        ) from error
                    # Apart by chance, or two that collided collide again.
                    time.sleep(delay * (0.5 + random.random()))
                    delay = min(delay * 2, _LONGEST_DELAY_S)
                    continue
                if error.code not in _GONE:
                    raise _refused(error) from error
                lost = error
            self._discard(opened)
            # Where connecting failed the address was asked for just now, and a server that hangs hangs again.
            if reconnected or opened is None or _timed_out(lost):
                raise self._unavailable(lost, opened, "does not answer") from lost
            reconnected = True

    def _in_transaction(self, opened: _Open, work: Callable[[neo4j.Transaction], T], access: str) -> T:
        with (
            opened.driver.session(database=opened.endpoint.database, default_access_mode=access) as session,
            session.begin_transaction(timeout=self._query_timeout_s) as transaction,
        ):
            # ArcadeDB does not heed the timeout of a transaction, and the driver has none for an answer. It stays with
            # the pooled connection, so that the next BEGIN on it is bounded too.
            transaction._connection.socket.set_read_timeout(self._query_timeout_s)
            result = work(transaction)
            transaction.commit()
            return result

    def _opened(self) -> _Open:
        opened = self._open
        if opened is not None:
            return opened
        with self._opening:
            if self._open is None:
                self._open = self._connect()
                self.generation += 1
            return self._open

    def _connect(self) -> _Open:
        import neo4j

        # What the driver has to say comes in our errors; it must not speak on the side.
        logging.getLogger("neo4j").addHandler(_SILENT)
        endpoint = self._endpoint()
        if not endpoint.url.startswith(_SCHEMES):
            raise ValueError("the address must start with bolt:// or neo4j://")
        driver = neo4j.GraphDatabase.driver(
            endpoint.url,
            auth=(endpoint.user, endpoint.password) if endpoint.user or endpoint.password else None,
            connection_timeout=_CONNECT_S,
            connection_acquisition_timeout=_ACQUIRE_S,
            max_connection_pool_size=32,
            keep_alive=True,
            telemetry_disabled=True,
        )
        try:
            return _Open(driver, endpoint, driver.get_server_info().agent)
        except BaseException:
            driver.close()
            raise

    def _discard(self, opened: _Open | None) -> None:
        with self._opening:
            if opened is None or self._open is not opened:
                return
            self._open = None
        # Others may still be reading through it: they fail, and reconnect in their turn.
        opened.driver.close()

    def _unavailable(self, error: Exception, opened: _Open | None, what: str) -> EngineUnavailable:
        at = f" at {public_address(opened.endpoint.url)}" if opened is not None else ""
        return EngineUnavailable(
            f"The graph{at} {what} ({type(error).__name__}: {_first_line(error)}).",
            hint="Check that the Bolt server runs and that PEGAS_BOLT_URL, user and password are right; "
            "embedded, `pegas up` starts it.",
            component=COMPONENT,
        )


def _timed_out(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, TimeoutError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _refused(error: Exception) -> PegasError:
    return PegasError(
        f"The graph refused a statement ({getattr(error, 'code', None) or type(error).__name__}: "
        f"{_first_line(error)}).",
        hint="The server's log says more.",
        component=COMPONENT,
        code="graph_refused",
    )


def _first_line(error: Exception) -> str:
    text = getattr(error, "message", None) or str(error)
    return without_secrets(str(text).strip().splitlines()[0] if str(text).strip() else "no reason given")[:300]
