"""Links between atoms that were found in texts, each with the chunks that say it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pegas_assets.stores.postgres import Connection

from pegas_assets.model import LinkKind, LinkSource


@dataclass(frozen=True)
class FoundLink:
    """That a chunk says that one atom stands so to another."""

    src: int
    dst: int
    kind: LinkKind
    confidence: float
    chunk_id: int


def replace_links_of(connection: Connection, chunk_ids: Sequence[int], found: Sequence[FoundLink]) -> int:
    """Make these the links that rest on these chunks; returns how many links are new.

    A link that another chunk says too is one link. One that was made by hand stays what it is. What no chunk says any
    more goes. The same links again change nothing.
    """
    links = [link for link in found if link.src != link.dst]
    if not links:
        connection.execute("DELETE FROM pm_link_support WHERE chunk_id = ANY(%s)", [list(chunk_ids)])
        return 0
    columns = (
        [link.src for link in links],
        [link.dst for link in links],
        [link.kind.value for link in links],
        [link.confidence for link in links],
        [link.chunk_id for link in links],
    )
    connection.execute(
        "CREATE TEMP TABLE IF NOT EXISTS found_link (src bigint, dst bigint, kind text, confidence real, chunk_id bigint) "
        "ON COMMIT DELETE ROWS"
    )
    connection.execute("DELETE FROM found_link")
    connection.execute(
        "INSERT INTO found_link SELECT src, dst, kind, max(confidence), chunk_id "
        "FROM unnest(%s::bigint[], %s::bigint[], %s::text[], %s::real[], %s::bigint[]) "
        "AS asked (src, dst, kind, confidence, chunk_id) GROUP BY src, dst, kind, chunk_id",
        columns,
    )
    connection.execute(
        """
        DELETE FROM pm_link_support AS support WHERE chunk_id = ANY(%s) AND NOT EXISTS (
            SELECT FROM found_link AS found JOIN pm_atom_link AS link USING (src, dst, kind)
            WHERE link.id = support.link_id AND found.chunk_id = support.chunk_id)
        """,
        [list(chunk_ids)],
    )
    new = connection.execute(
        """
        INSERT INTO pm_atom_link (src, dst, kind, confidence, source)
        SELECT src, dst, kind, max(confidence), %s FROM found_link GROUP BY src, dst, kind ORDER BY src, dst, kind
        ON CONFLICT (src, dst, kind) DO NOTHING
        """,
        [LinkSource.EXTRACTION],
    ).rowcount
    connection.execute(
        """
        INSERT INTO pm_link_support (link_id, chunk_id, confidence)
        SELECT link.id, found.chunk_id, found.confidence FROM found_link AS found JOIN pm_atom_link AS link USING (src, dst, kind)
        WHERE link.source = %s
        ON CONFLICT (link_id, chunk_id) DO UPDATE SET confidence = excluded.confidence
            WHERE pm_link_support.confidence <> excluded.confidence
        """,
        [LinkSource.EXTRACTION],
    )
    connection.execute(
        """
        UPDATE pm_atom_link AS link SET confidence = said.confidence
        FROM (SELECT link_id, max(support.confidence) AS confidence FROM pm_link_support AS support
              WHERE link_id IN (SELECT id FROM pm_atom_link JOIN found_link USING (src, dst, kind)) GROUP BY link_id) AS said
        WHERE link.id = said.link_id AND link.source = %s AND link.confidence <> said.confidence
        """,
        [LinkSource.EXTRACTION],
    )
    return new
