"""What a soak must leave behind: everything acknowledged, nothing twice, projections that match."""

from __future__ import annotations

import time
from collections.abc import Sequence

from bench.soak_load import Written
from pegas_assets.identity import atom_hash
from pegas_assets.pipeline.ingest import ingest_source
from pegas_assets.projection.drain import drain
from pegas_assets.projection.reconcile import drift
from pegas_assets.runtime import Runtime

SETTLE_S = 240.0


def settle(runtime: Runtime, within_s: float = SETTLE_S) -> int:
    """Do what is still to be done, as the sensors would: open documents, then the outbox. Rows that are left."""
    deadline = time.monotonic() + within_s
    while True:
        with runtime.database.connection() as connection:
            open_ = connection.execute(
                "SELECT DISTINCT source FROM pm_document WHERE status IN ('accepted', 'fetching', 'parsed')"
            ).fetchall()
        for (source,) in open_:
            ingest_source(runtime.ingest_parts, source)
        drain(runtime.database, runtime.targets)
        left = _count(runtime, "SELECT count(*) FROM pm_outbox WHERE vector_state <> 'done' OR graph_state <> 'done'")
        left += _count(
            runtime, "SELECT count(*) FROM pm_document WHERE status IN ('accepted', 'fetching', 'parsed', 'failed')"
        )
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.5)


def lost(runtime: Runtime, written: Sequence[Written]) -> list[Written]:
    """Acknowledged writes that PostgreSQL does not hold: the atom with its text, cited by its document."""
    with runtime.database.connection() as connection:
        rows = connection.execute(
            """
            SELECT atom.content_hash, atom.id, citation.doc_id FROM pm_atom AS atom
            JOIN pm_citation AS citation ON citation.atom_id = atom.id WHERE atom.id = ANY(%s)
            """,
            [[item.atom_id for item in written]],
        ).fetchall()
    held = {(id_, document) for _, id_, document in rows}
    hashes = {hashed for hashed, _, _ in rows}
    return [
        item
        for item in written
        if (item.atom_id, item.document_id) not in held
        or not hashes.intersection(atom_hash(kind, item.text) for kind in ("text", "fact"))
    ]


def doubled(runtime: Runtime) -> dict[str, int]:
    """How many things there are twice, by what they are; all zero where all is well."""
    collection = runtime.vector_target.collection()
    info = runtime.vectors.info(collection)
    counts = runtime.graph.counts()
    atoms = _count(runtime, "SELECT count(*) FROM pm_atom")
    cited = "SELECT count(*) FROM (SELECT DISTINCT atom_id, doc_id FROM pm_citation WHERE gone_at IS NULL) AS pair"
    return {
        "atoms of one text": _count(runtime, f"SELECT count(*) FROM ({_twice('pm_atom', 'content_hash')}) AS twice"),
        "documents of one text": _count(
            runtime, f"SELECT count(*) FROM ({_twice('pm_document', 'content_hash')}) AS twice"
        ),
        "citations of one sentence": _count(
            runtime, f"SELECT count(*) FROM ({_twice('pm_citation', 'atom_id, doc_id, quoted_text')}) AS twice"
        ),
        "points": (info.points if info is not None else 0) - atoms,
        "nodes": counts.get("Atom", 0) - atoms,
        "citation edges": counts.get("CITES", 0) - _count(runtime, cited),
        "link edges": counts.get("RELATES", 0) - _count(runtime, "SELECT count(*) FROM pm_atom_link"),
    }


def drifted(runtime: Runtime) -> dict[str, int]:
    """Projection → keys that differ from PostgreSQL."""
    return {
        target.name: sum(item.total for item in drift(runtime.database, target, settle_s=10.0))
        for target in runtime.targets
    }


def _twice(table: str, columns: str) -> str:
    return f"SELECT 1 FROM {table} WHERE ({columns}) IS NOT NULL GROUP BY {columns} HAVING count(*) > 1"


def _count(runtime: Runtime, statement: str) -> int:
    with runtime.database.connection() as connection:
        row = connection.execute(statement.encode()).fetchone()
    return int(row[0]) if row else 0
