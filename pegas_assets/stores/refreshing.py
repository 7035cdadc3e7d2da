"""Documents that may be had again: pages and files, by age, number or address."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pegas_assets.stores.postgres import Connection

from pegas_assets.text.cleaning import clean_text

_COLUMNS = """
    document.id, document.source, document.uri, coalesce(body.sha256, '')
    FROM pm_document AS document LEFT JOIN pm_document_body AS body ON body.doc_id = document.id
"""


@dataclass(frozen=True)
class Refreshable:
    """A document with an address. `sha256` is of the bytes that are kept, empty where none are."""

    document_id: int
    source: str
    uri: str
    sha256: bytes

    @property
    def is_page(self) -> bool:
        return self.uri.startswith(("http://", "https://"))


def due(
    connection: Connection, older_than_s: float, limit: int | None = None, *, pages_only: bool = False
) -> list[Refreshable]:
    """Those that are done and were not looked at for so long, the oldest look first."""
    rows = connection.execute(
        f"SELECT {_COLUMNS}"
        """
        WHERE document.status = 'done' AND document.uri ~ %(kinds)s
          AND coalesce(document.fetched_at, document.updated_at) <= now() - make_interval(secs => %(age)s)
        ORDER BY coalesce(document.fetched_at, document.updated_at), document.id LIMIT %(limit)s
        """,
        {"kinds": "^https?://" if pages_only else "^(https?|file)://", "age": older_than_s, "limit": limit},
    ).fetchall()
    return [Refreshable(row[0], row[1], row[2], bytes(row[3])) for row in rows]


def by_id(connection: Connection, document_id: int) -> Refreshable | None:
    row = connection.execute(
        f"SELECT {_COLUMNS} WHERE document.id = %s AND document.status <> 'forgotten' AND document.uri IS NOT NULL",
        [document_id],
    ).fetchone()
    return Refreshable(row[0], row[1], row[2], bytes(row[3])) if row else None


def by_uri(connection: Connection, uri: str) -> Refreshable | None:
    """The document that has this address, whichever of its addresses it is."""
    row = connection.execute(
        f"""
        SELECT {_COLUMNS} JOIN pm_document_uri AS address ON address.doc_id = document.id
        WHERE address.uri_hash = pm_sha256(%s) AND document.status <> 'forgotten' AND document.uri IS NOT NULL
        """,
        [clean_text(uri)],
    ).fetchone()
    return Refreshable(row[0], row[1], row[2], bytes(row[3])) if row else None
