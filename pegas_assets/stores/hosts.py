"""What hosts ask of whoever fetches from them, shared by all processes: turns, pauses and the kept robots.txt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pegas_assets.text.cleaning import clean_text

if TYPE_CHECKING:
    from pegas_assets.stores.postgres import Connection

LONGEST_PAUSE_S = 86_400.0
"""The longest pause that a host may ask for, seconds."""


@dataclass(frozen=True)
class KeptRobots:
    """The robots.txt of an origin. `body` is None where it was never had; ages are in seconds."""

    body: str | None
    age_s: float | None
    asked_s: float
    error: str


def take_turn(connection: Connection, host: str, delay_s: float) -> tuple[float, str]:
    """Take the right to ask a host now, and none other for `delay_s` seconds; else how long it is not free, and why.

    The server's clock decides, so that processes on several machines agree.
    """
    taken = connection.execute(
        """
        INSERT INTO pm_host (host, free_at) VALUES (%(host)s, clock_timestamp() + make_interval(secs => %(delay)s))
        ON CONFLICT (host) DO UPDATE SET free_at = excluded.free_at, reason = ''
            WHERE pm_host.free_at <= clock_timestamp()
        RETURNING host
        """,
        {"host": host, "delay": delay_s},
    ).fetchone()
    if taken is not None:
        return 0.0, ""
    return busy_hosts(connection, [host]).get(host, (0.05, ""))


def busy_hosts(connection: Connection, hosts: Sequence[str]) -> dict[str, tuple[float, str]]:
    """The hosts of these that are not free: seconds until they are, and the reason where they gave one."""
    rows = connection.execute(
        """
        SELECT host, extract(epoch FROM free_at - clock_timestamp())::float8, reason FROM pm_host
        WHERE host = ANY(%s) AND free_at > clock_timestamp()
        """,
        [list(hosts)],
    ).fetchall()
    return {host: (max(0.001, seconds), reason) for host, seconds, reason in rows}


def pause_host(connection: Connection, host: str, seconds: float, reason: str) -> None:
    """Leave a host alone, as it asked; a longer pause that is on stays."""
    connection.execute(
        """
        INSERT INTO pm_host (host, free_at, reason)
        VALUES (%(host)s, clock_timestamp() + make_interval(secs => %(seconds)s), %(reason)s)
        ON CONFLICT (host) DO UPDATE SET free_at = excluded.free_at, reason = excluded.reason
            WHERE pm_host.free_at < excluded.free_at
        """,
        {"host": host, "seconds": min(seconds, LONGEST_PAUSE_S), "reason": clean_text(reason)},
    )


def read_robots(connection: Connection, origin: str) -> KeptRobots | None:
    """What is kept of an origin's robots.txt; None where it was never asked for."""
    row = connection.execute(
        """
        SELECT body, extract(epoch FROM now() - fetched_at)::float8, extract(epoch FROM now() - asked_at)::float8,
               coalesce(error, '')
        FROM pm_robots WHERE origin = %s
        """,
        [origin],
    ).fetchone()
    return KeptRobots(*row) if row else None


def keep_robots(connection: Connection, origin: str, body: str) -> None:
    """Keep a robots.txt; an empty one where there is none, which allows all."""
    connection.execute(
        """
        INSERT INTO pm_robots (origin, body, fetched_at, asked_at) VALUES (%s, %s, now(), now())
        ON CONFLICT (origin) DO UPDATE SET body = excluded.body, fetched_at = now(), asked_at = now(), error = NULL
        """,
        [origin, clean_text(body)],
    )


def note_robots_failure(connection: Connection, origin: str, error: str) -> None:
    """Note that a robots.txt could not be had; the one that was had before stays."""
    connection.execute(
        """
        INSERT INTO pm_robots (origin, asked_at, error) VALUES (%s, now(), %s)
        ON CONFLICT (origin) DO UPDATE SET asked_at = now(), error = excluded.error
        """,
        [origin, clean_text(error)],
    )
