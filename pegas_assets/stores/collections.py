"""Which collection serves a role, and under which fingerprint it was made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pegas_assets.errors import FingerprintMismatch

if TYPE_CHECKING:
    from pegas_assets.stores.postgres import Connection


@dataclass(frozen=True)
class Collection:
    """A collection of points, as PostgreSQL knows it."""

    name: str
    role: str
    fingerprint: str
    dimension: int
    state: str


def active_collection(connection: Connection, role: str) -> Collection | None:
    row = connection.execute(
        "SELECT name, role, fingerprint, dimension, state FROM pm_collection WHERE role = %s AND state = 'active'",
        [role],
    ).fetchone()
    return Collection(*row) if row else None


def require_collection(connection: Connection, role: str, fingerprint: str, dimension: int) -> Collection:
    """The active collection of a role, made under this fingerprint; registered where there is none yet.

    Raises:
        FingerprintMismatch: it was made by another model, dimension or rule; the message names both.
    """
    connection.execute(
        "INSERT INTO pm_collection (name, role, fingerprint, dimension, state) VALUES (%s, %s, %s, %s, 'active') "
        "ON CONFLICT DO NOTHING",
        [role, role, fingerprint, dimension],
    )
    active = active_collection(connection, role)
    if active is None or active.fingerprint != fingerprint:
        made = active.fingerprint if active else "nothing"
        raise FingerprintMismatch(
            f"The collection {role} was made by {made}; the settings say {fingerprint}.",
            hint="Set the model it was made by.",
            item=role,
            component="vectors",
        )
    return active
