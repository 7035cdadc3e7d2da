"""Questions whose answer should be nothing: each names what is wrong, for a check to show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, LiteralString

if TYPE_CHECKING:
    from pegas_assets.stores.postgres import Connection

EXAMPLES = 20


@dataclass(frozen=True)
class Findings:
    """How many rows are wrong, and some of them: pairs of what and why."""

    count: int
    examples: tuple[tuple[str, str], ...] = ()


_UNDER_WAY: dict[str, LiteralString] = {
    "vectors": "SELECT entity_key FROM pm_outbox WHERE vector_state = 'pending' AND entity_key = ANY(%s)",
    "graph": "SELECT entity_key FROM pm_outbox WHERE graph_state = 'pending' AND entity_key = ANY(%s)",
}
_DEAD: dict[str, LiteralString] = {
    "vectors": """
        SELECT entity_key, coalesce(vector_error, ''), count(*) OVER () FROM pm_outbox
        WHERE vector_state = 'dead' ORDER BY id LIMIT %s
    """,
    "graph": """
        SELECT entity_key, coalesce(graph_error, ''), count(*) OVER () FROM pm_outbox
        WHERE graph_state = 'dead' ORDER BY id LIMIT %s
    """,
}


def keys_under_way(connection: Connection, target: str, keys: Sequence[str]) -> set[str]:
    """Those of `keys` whose change a target has not shown yet and still will: late, not lost."""
    return {row[0] for row in connection.execute(_UNDER_WAY[target], [list(keys)]).fetchall()} if keys else set()


def dead_rows(connection: Connection, target: str) -> Findings:
    """Outbox rows that were set aside after too many failures."""
    return _found(connection, _DEAD[target])


def failed_distillations(connection: Connection) -> Findings:
    """Chunks that the distiller failed on; their text atom is there all the same."""
    return _found(
        connection,
        """
        SELECT 'doc:' || doc_id || ' chunk ' || seq, coalesce(distil_error, ''), count(*) OVER () FROM pm_chunk
        WHERE distil_state = 'failed' ORDER BY id DESC LIMIT %s
        """,
    )


def failed_documents(connection: Connection) -> Findings:
    """Documents that failed for good; those that were refused, on purpose, are none."""
    return _found(
        connection,
        """
        SELECT 'doc:' || id || ' ' || coalesce(uri, title, ''), coalesce(error, ''), count(*) OVER () FROM pm_document
        WHERE status = 'failed' ORDER BY updated_at DESC LIMIT %s
        """,
    )


def stuck_documents(connection: Connection, older_than_s: float) -> Findings:
    """Documents that were ready to be worked on long ago and still are: nobody came."""
    return _found(
        connection,
        """
        SELECT 'doc:' || id || ' ' || source, status || ' since ' || next_attempt_at, count(*) OVER () FROM pm_document
        WHERE status IN ('accepted', 'fetching', 'parsed')
          AND greatest(next_attempt_at, updated_at) < now() - make_interval(secs => %s)
        ORDER BY id LIMIT %s
        """,
        older_than_s,
    )


def atoms_twice(connection: Connection) -> Findings:
    """Contents that more than one atom has."""
    return _found(
        connection,
        """
        SELECT content_hash, string_agg('atom:' || id, ', ' ORDER BY id), count(*) OVER () FROM pm_atom
        GROUP BY content_hash HAVING count(*) > 1 ORDER BY 1 LIMIT %s
        """,
    )


def documents_twice(connection: Connection) -> Findings:
    """Texts that more than one living document has."""
    return _found(
        connection,
        """
        SELECT content_hash, string_agg('doc:' || id, ', ' ORDER BY id), count(*) OVER () FROM pm_document
        WHERE content_hash IS NOT NULL AND status IN ('parsed', 'done')
        GROUP BY content_hash HAVING count(*) > 1 ORDER BY 1 LIMIT %s
        """,
    )


def citations_unquoted(connection: Connection) -> Findings:
    """Living citations whose quotation does not stand in their chunk, white space folded; or whose chunk is gone."""
    return _found(
        connection,
        r"""
        SELECT 'atom:' || citation.atom_id || ' in doc:' || citation.doc_id, left(citation.quoted_text, 120), count(*) OVER ()
        FROM pm_citation AS citation LEFT JOIN pm_chunk AS chunk ON chunk.id = citation.chunk_id
        WHERE citation.gone_at IS NULL
          AND coalesce(strpos(chunk.content, citation.quoted_text), 0) = 0
          AND coalesce(strpos(regexp_replace(chunk.content, '\s+', ' ', 'g'),
                              btrim(regexp_replace(citation.quoted_text, '\s+', ' ', 'g'))), 0) = 0
        ORDER BY citation.id LIMIT %s
        """,
    )


def atoms_uncited(connection: Connection) -> Findings:
    """Atoms in force that no living citation supports."""
    return _found(
        connection,
        """
        SELECT 'atom:' || atom.id, left(atom.content, 120), count(*) OVER () FROM pm_atom AS atom
        WHERE atom.status IN ('candidate', 'verified')
          AND NOT EXISTS (SELECT FROM pm_citation AS c WHERE c.atom_id = atom.id AND c.gone_at IS NULL)
        ORDER BY atom.id LIMIT %s
        """,
    )


def _found(connection: Connection, statement: LiteralString, *arguments: float) -> Findings:
    rows = connection.execute(statement, [*arguments, EXAMPLES]).fetchall()
    return Findings(rows[0][2] if rows else 0, tuple((str(row[0]), str(row[1])) for row in rows))
