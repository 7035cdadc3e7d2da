"""The truth: a pool of connections to PostgreSQL, found or started when first used."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from pegas_assets.errors import EngineUnavailable
from pegas_assets.settings import public_address, without_secrets

if TYPE_CHECKING:
    import psycopg
    from psycopg.rows import TupleRow
    from psycopg_pool import ConnectionPool

    Connection = psycopg.Connection[TupleRow]
else:
    # psycopg is imported when a connection is made; the name serves annotations.
    Connection = object

T = TypeVar("T")

CONNECT_TIMEOUT_S = 2
WAIT_TIMEOUT_S = 2.5
"""Together under the 3 s in which a tool must fail."""

# The pool logs every failed attempt; callers get one error instead, without the address's secrets.
logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())
logging.getLogger("psycopg.pool").propagate = False


class Database:
    """Connections to one base, opened on first use; safe to share between threads.

    `address` gives the URL; for the embedded server it also starts it, and is asked again when a connection is lost.
    """

    def __init__(self, address: Callable[[], str], *, size: int = 8, application: str = "pegas") -> None:
        self._address = address
        self._size = size
        self._application = application
        self._pool: ConnectionPool[Connection] | None = None
        self._lock = threading.Lock()

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """A connection in a transaction: committed at the end, rolled back on an error.

        Raises:
            EngineUnavailable: the server does not answer, or went away in the middle.
        """
        import psycopg

        connection = self._take()
        pool = self._pool
        assert pool is not None
        try:
            with connection:
                yield connection
        except psycopg.OperationalError as error:
            if connection.closed or connection.broken:
                raise self._unavailable(error) from None
            raise
        finally:
            # `with connection` closes it on leaving, unless the pool takes it back; the pool replaces closed ones.
            pool.putconn(connection)

    @contextmanager
    def session(self) -> Iterator[Connection]:
        """A connection in autocommit mode, for advisory locks that outlive a transaction and for streaming reads."""
        import psycopg

        connection = self._take()
        pool = self._pool
        assert pool is not None
        try:
            connection.autocommit = True
            yield connection
        except psycopg.OperationalError as error:
            if connection.closed or connection.broken:
                raise self._unavailable(error) from None
            raise
        finally:
            if not connection.closed:
                try:
                    connection.execute("SELECT pg_advisory_unlock_all()")
                    connection.autocommit = False
                except psycopg.Error:
                    connection.close()
            pool.putconn(connection)

    def transaction(self, work: Callable[[Connection], T], attempts: int = 6) -> T:
        """Run `work` in a transaction, again where PostgreSQL asks for it: deadlock or serialisation failure."""
        import psycopg

        for attempt in range(attempts):
            try:
                with self.connection() as connection:
                    return work(connection)
            except (psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure):
                if attempt == attempts - 1:
                    raise
        raise AssertionError("unreachable")

    def version(self) -> str:
        """Name and version of the server; also the health check."""
        with self.connection() as connection:
            row = connection.execute("SELECT current_setting('server_version')").fetchone()
        return f"PostgreSQL {str(row[0]).split()[0]}" if row else "PostgreSQL"

    def close(self) -> None:
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close(timeout=2)

    def _take(self) -> Connection:
        """A live connection; the address is asked again once, since an embedded server may have been restarted."""
        from psycopg import OperationalError
        from psycopg_pool import PoolClosed, PoolTimeout

        try:
            return self._open().getconn(timeout=WAIT_TIMEOUT_S)
        except (PoolTimeout, PoolClosed, OperationalError) as first:
            stats = self._pool.get_stats() if self._pool is not None else {}
            if stats.get("connections_errors", 0) == 0 and stats.get("pool_size", 0) >= self._size:
                raise EngineUnavailable(
                    "Every connection to the database is in use.",
                    hint="Try again in a moment.",
                    component="postgres",
                    code="busy",
                ) from None
            self.close()
            if not self._may_restart():
                raise self._unavailable(first) from None
        try:
            return self._open().getconn(timeout=WAIT_TIMEOUT_S)
        except (PoolTimeout, PoolClosed, OperationalError) as error:
            self.close()
            raise self._unavailable(error) from None

    def _may_restart(self) -> bool:
        """Whether asking for the address may bring the server back: true for the embedded one, on a socket."""
        return "host=" in self._address()

    def _open(self) -> ConnectionPool[Connection]:
        with self._lock:
            if self._pool is None:
                from psycopg_pool import ConnectionPool

                options: dict[str, Any] = {
                    "connect_timeout": CONNECT_TIMEOUT_S,
                    "application_name": self._application,
                    "options": "-c idle_in_transaction_session_timeout=600000",
                }
                self._pool = ConnectionPool(
                    self._address(),
                    kwargs=options,
                    min_size=0,
                    max_size=self._size,
                    max_idle=60,
                    reconnect_timeout=1,
                    check=ConnectionPool.check_connection,
                    open=True,
                    name=self._application,
                )
            return self._pool

    def _unavailable(self, error: Exception) -> EngineUnavailable:
        try:
            address = public_address(self._address())
        except EngineUnavailable as unavailable:
            return unavailable
        return EngineUnavailable(
            f"The database is not reachable at {address}: {without_secrets(first_line(error))}.",
            hint="Start it with `pegas up`, or check PEGAS_DATABASE_URL.",
            component="postgres",
        )


def first_line(error: BaseException) -> str:
    """The first line of an error's text, without the full stop."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
