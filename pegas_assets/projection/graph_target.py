"""Atoms and documents as nodes, links and citations as edges."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Sequence

from pegas_assets.projection.targets import GRAPH, Applied, Drift, Reconciled, ids_of, sorted_out
from pegas_assets.stores.graph import ATOM, CITES, DOCUMENT, RELATES, Edge, EdgeRef, GraphStore, Node
from pegas_assets.stores.locks import LockClass
from pegas_assets.stores.outbox import GRAPH as GRAPH_STATEMENTS
from pegas_assets.stores.outbox import OutboxRow, Statements, enqueue
from pegas_assets.stores.postgres import Database
from pegas_assets.stores.projected import (
    AtomNodeRow,
    DocumentNodeRow,
    LinkRow,
    atom_node_hashes,
    atom_node_rows,
    cited_documents,
    document_node_rows,
    link_rows,
)
from pegas_assets.text.folding import fold

CITES_HASH = "1"
"""A citation's edge carries nothing but its ends."""
SHOWN_CLAIM = 1000
"""Characters of a claim that a node shows; the whole text is in PostgreSQL."""


class GraphTarget:
    """The graph of atoms and documents."""

    name = GRAPH
    lock = LockClass.GRAPH_BUCKET
    statements: Statements = GRAPH_STATEMENTS
    entity_kinds: tuple[tuple[str, ...], ...] = (("doc",), ("atom", "symbol"), ("link", "dependency"))

    def __init__(self, database: Database, graph: GraphStore) -> None:
        self._database = database
        self._graph = graph

    def prepare(self) -> None:
        self._graph.ensure_schema()

    def empty(self) -> None:
        self._graph.clear()
        self.prepare()

    def apply(self, rows: Sequence[OutboxRow]) -> Applied:
        by_kind: dict[str, dict[int, list[OutboxRow]]] = defaultdict(lambda: defaultdict(list))
        for row in rows:
            if row.entity_id is not None:
                by_kind[row.entity_type][row.entity_id].append(row)
        waiting: set[int] = set()
        self._apply_documents(list(by_kind["doc"]))
        for atom in self._apply_atoms(list(by_kind["atom"])):
            waiting.update(row.id for row in by_kind["atom"][atom])
        for link in self._apply_links(by_kind["link"]):
            waiting.update(row.id for row in by_kind["link"][link])
        # Symbols and their dependencies have no projection of their own yet: a reconcile shows them once they do.
        return Applied(done=tuple(row.id for row in rows if row.id not in waiting), waiting=tuple(sorted(waiting)))

    def compare(self, bucket: int) -> Drift:
        with self._database.connection() as connection:
            expected = atom_node_hashes(connection, bucket)
            expected |= {row.key: row.h for row in document_node_rows(connection, bucket=bucket)}
            edges = citation_edges(cited_documents(connection, bucket))
            edges += link_edges(link_rows(connection, bucket=bucket))
        expected |= {edge.key: str(edge.properties["h"]) for edge in edges}
        present = self._graph.node_hashes(ATOM, bucket) | self._graph.node_hashes(DOCUMENT, bucket)
        for kind in (CITES, RELATES):
            present |= {key: h for key, (_, h) in self._graph.edge_hashes(kind, ATOM, bucket).items()}
        return sorted_out(expected, present, self.name, bucket)

    def reconcile_nodes(self, bucket: int) -> Reconciled:
        started = time.perf_counter()
        with self._database.connection() as connection:
            atoms = {row.key: row for row in atom_node_rows(connection, bucket=bucket)}
            documents = {row.key: row for row in document_node_rows(connection, bucket=bucket)}
        written = deleted = 0
        for label, nodes in (
            (DOCUMENT, {key: document_node(row) for key, row in documents.items()}),
            (ATOM, {key: atom_node(row) for key, row in atoms.items()}),
        ):
            expected = {key: str(node.properties["h"]) for key, node in nodes.items()}
            drift = sorted_out(expected, self._graph.node_hashes(label, bucket), self.name, bucket)
            self._graph.upsert_nodes([nodes[key] for key in (*drift.missing, *drift.different)])
            if drift.extra:
                self._graph.delete_nodes(label, drift.extra)
            written += len(drift.missing) + len(drift.different)
            deleted += len(drift.extra)
        return Reconciled(
            self.name, bucket, len(atoms) + len(documents), written, deleted, seconds=time.perf_counter() - started
        )

    def reconcile_edges(self, bucket: int) -> Reconciled:
        started = time.perf_counter()
        with self._database.connection() as connection:
            citations = citation_edges(cited_documents(connection, bucket))
            links = link_edges(link_rows(connection, bucket=bucket))
        written = deleted = 0
        missing_ends: list[str] = []
        for kind, edges in ((CITES, citations), (RELATES, links)):
            by_key = {edge.key: edge for edge in edges}
            present = self._graph.edge_hashes(kind, ATOM, bucket)
            drift = sorted_out(
                {key: str(edge.properties["h"]) for key, edge in by_key.items()},
                {key: h for key, (_, h) in present.items()},
                self.name,
                bucket,
            )
            if drift.extra:
                self._graph.delete_edges([EdgeRef(key, kind, ATOM, present[key][0]) for key in drift.extra])
            wrong = [by_key[key] for key in (*drift.missing, *drift.different)]
            missing_ends += self._graph.upsert_edges(wrong)
            written += len(wrong)
            deleted += len(drift.extra)
        self._ask_again(missing_ends, {edge.key: edge for edge in (*citations, *links)})
        return Reconciled(
            self.name,
            bucket,
            len(links),
            written - len(missing_ends),
            deleted,
            waiting=len(missing_ends),
            seconds=time.perf_counter() - started,
        )

    def _apply_documents(self, ids: list[int]) -> None:
        if not ids:
            return
        with self._database.connection() as connection:
            rows = document_node_rows(connection, ids=ids)
        self._graph.upsert_nodes([document_node(row) for row in rows])
        gone = sorted({f"doc:{id_}" for id_ in ids} - {row.key for row in rows})
        if gone:
            self._graph.delete_nodes(DOCUMENT, gone)

    def _apply_atoms(self, ids: list[int]) -> list[int]:
        """Write atoms and their citations; returns the atoms of which a document's node is missing."""
        if not ids:
            return []
        with self._database.connection() as connection:
            rows = atom_node_rows(connection, ids=ids)
        self._graph.upsert_nodes([atom_node(row) for row in rows])
        gone = sorted({f"atom:{id_}" for id_ in ids} - {row.key for row in rows})
        if gone:
            self._graph.delete_nodes(ATOM, gone)
        wanted = {edge.key: edge for edge in citation_edges(_pairs(rows))}
        present = self._graph.edges_of(CITES, ATOM, [row.key for row in rows])
        self._graph.delete_edges([ref for ref in present if ref.key not in wanted])
        known = {ref.key for ref in present}
        missing = self._graph.upsert_edges([edge for key, edge in wanted.items() if key not in known])
        return sorted(set(ids_of([wanted[key].source_key for key in missing])))

    def _apply_links(self, rows: dict[int, list[OutboxRow]]) -> list[int]:
        """Write links; returns those of which an end is missing."""
        if not rows:
            return []
        with self._database.connection() as connection:
            current = link_rows(connection, ids=list(rows))
        gone = rows.keys() - {row.id for row in current}
        self._graph.delete_edges(
            [
                EdgeRef(row.key, RELATES, ATOM, row.anchor_key)
                for id_ in sorted(gone)
                for row in rows[id_][:1]
                if row.anchor_key is not None
            ]
        )
        return ids_of(self._graph.upsert_edges(link_edges(current)))

    def _ask_again(self, keys: list[str], edges: dict[str, Edge]) -> None:
        """Leave an outbox row for each edge without its end, so that it follows when the node comes."""
        links = [key for key in keys if key.startswith("link:")]
        atoms = sorted({edges[key].source_key for key in keys if not key.startswith("link:")})
        with self._database.connection() as connection:
            enqueue(connection, "link", ids_of(links), links, [edges[key].source_key for key in links])
            enqueue(connection, "atom", ids_of(atoms), atoms, [None] * len(atoms))


def atom_node(row: AtomNodeRow) -> Node:
    """An atom as a node."""
    claim = row.claim[:SHOWN_CLAIM]
    return Node(
        key=row.key,
        label=ATOM,
        bucket=row.bucket,
        properties={
            "id": row.id,
            "type": row.type,
            "status": row.status,
            "claim": claim,
            # Memgraph lower-cases ASCII only: look-ups go by this copy.
            "claim_folded": fold(claim),
            "language": row.language,
            "confidence": row.confidence,
            "h": row.h,
        },
    )


def document_node(row: DocumentNodeRow) -> Node:
    """A document as a node."""
    return Node(
        key=row.key,
        label=DOCUMENT,
        bucket=row.bucket,
        properties={
            "id": row.id,
            "kind": row.kind,
            "title": row.title[:SHOWN_CLAIM],
            "title_folded": fold(row.title[:SHOWN_CLAIM]),
            "source": row.source,
            "uri": row.uri,
            "language": row.language,
            "authority": row.authority,
            "h": row.h,
        },
    )


def citation_edges(pairs: Iterable[tuple[int, int]]) -> list[Edge]:
    """Edges from atoms to the documents that they cite, from pairs of their ids."""
    return [
        Edge(
            key=f"cite:{atom}:{document}",
            type=CITES,
            source_label=ATOM,
            source_key=f"atom:{atom}",
            target_label=DOCUMENT,
            target_key=f"doc:{document}",
            properties={"h": CITES_HASH},
        )
        for atom, document in pairs
    ]


def _pairs(rows: Iterable[AtomNodeRow]) -> list[tuple[int, int]]:
    return [(row.id, document) for row in rows for document in ids_of(row.documents)]


def link_edges(rows: Iterable[LinkRow]) -> list[Edge]:
    """Edges between atoms."""
    return [
        Edge(
            key=f"link:{row.id}",
            type=RELATES,
            source_label=ATOM,
            source_key=f"atom:{row.src}",
            target_label=ATOM,
            target_key=f"atom:{row.dst}",
            properties={
                "kind": row.kind,
                "confidence": row.confidence,
                "source": row.source,
                "inferred": row.inferred,
                "h": row.h,
            },
        )
        for row in rows
    ]
