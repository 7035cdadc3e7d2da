"""Sites that pages are fetched from: their robots.txt, and whose turn it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pegas_assets.stores.postgres import Connection

from pegas_assets.text.cleaning import clean_text


def robots_of(connection: Connection, origin: str, max_age_s: float) -> tuple[str | None, bool]:
    """The robots.txt that is kept of a site, None where none ever was, and whether it is young enough."""
    row = connection.execute(
        "SELECT robots, robots_at > now() - make_interval(secs => %s) FROM pm_host WHERE origin = %s",
        [max_age_s, origin],
    ).fetchone()
    return (row[0], bool(row[1])) if row else (None, False)


def keep_robots(connection: Connection, origin: str, robots: str) -> None:
    connection.execute(
        """
        INSERT INTO pm_host (origin, robots, robots_at) VALUES (%s, %s, now())
        ON CONFLICT (origin) DO UPDATE SET robots = excluded.robots, robots_at = excluded.robots_at
        """,
        [origin, clean_text(robots)],
    )


def take_turn(connection: Connection, origin: str, apart_s: float) -> float:
    """Take the next free moment of a site, for one request; the seconds until then. Each caller gets another moment."""
    row = connection.execute(
        """
        INSERT INTO pm_host AS host (origin, next_request_at) VALUES (%(origin)s, now() + make_interval(secs => %(apart)s))
        ON CONFLICT (origin) DO UPDATE SET
            next_request_at = greatest(host.next_request_at, now()) + make_interval(secs => %(apart)s)
        RETURNING extract(epoch FROM next_request_at - make_interval(secs => %(apart)s) - now())
        """,
        {"origin": origin, "apart": apart_s},
    ).fetchone()
    return max(0.0, float(row[0])) if row else 0.0


def give_back(connection: Connection, origin: str, apart_s: float) -> None:
    """Give a moment back that was taken and is not used."""
    connection.execute(
        "UPDATE pm_host SET next_request_at = next_request_at - make_interval(secs => %s) WHERE origin = %s",
        [apart_s, origin],
    )


def hold_off(connection: Connection, origin: str, seconds: float) -> None:
    """Ask nobody of a site anything for a while: it said so."""
    connection.execute(
        """
        INSERT INTO pm_host AS host (origin, next_request_at) VALUES (%(origin)s, now() + make_interval(secs => %(s)s))
        ON CONFLICT (origin) DO UPDATE SET
            next_request_at = greatest(host.next_request_at, now() + make_interval(secs => %(s)s))
        """,
        {"origin": origin, "s": seconds},
    )
