"""What the engines alone take to hold atoms: points, nodes and edges made beforehand, then written and timed."""

from __future__ import annotations

import time
from dataclasses import dataclass

from pegas_assets.projection import reconcile
from pegas_assets.projection.graph_target import atom_node, citation_edges, document_node, link_edges
from pegas_assets.projection.vector_target import BATCH
from pegas_assets.runtime import Runtime
from pegas_assets.stores.projected import atom_node_rows, document_node_rows, link_rows


@dataclass(frozen=True)
class BareSeconds:
    """How long each engine took for `atoms` atoms, one after the other."""

    atoms: int
    vectors: float
    graph: float

    def of(self, atoms: int) -> float:
        """Both, for another number of atoms."""
        return (self.vectors + self.graph) * atoms / self.atoms


def bare_writes(runtime: Runtime, atoms: int) -> BareSeconds:
    """Write the first `atoms` atoms with their documents, citations and links into emptied engines; they are emptied again."""
    with runtime.database.connection() as connection:
        ids = [row[0] for row in connection.execute("SELECT id FROM pm_atom ORDER BY id LIMIT %s", [atoms]).fetchall()]
        nodes = [atom_node(row) for row in atom_node_rows(connection, ids=ids)]
        documents = [document_node(row) for row in document_node_rows(connection)]
        pairs = connection.execute("SELECT atom_id, doc_id FROM pm_citation WHERE atom_id = ANY(%s)", [ids]).fetchall()
        held = set(ids)
        links = [row for row in link_rows(connection) if row.src in held and row.dst in held]
    cited = {document for _, document in pairs}
    edges = [*citation_edges((atom, document) for atom, document in pairs), *link_edges(links)]
    documents = [node for node in documents if node.properties["id"] in cited]
    vectors = _vectors(runtime, ids)
    empty(runtime)
    started = time.perf_counter()
    runtime.graph.upsert_nodes(documents)
    runtime.graph.upsert_nodes(nodes)
    runtime.graph.upsert_edges(edges)
    graph = time.perf_counter() - started
    empty(runtime)
    return BareSeconds(len(ids), vectors, graph)


def empty(runtime: Runtime) -> None:
    """Leave nothing in either projection."""
    for target in runtime.targets:
        reconcile.empty(runtime.database, target)


def _vectors(runtime: Runtime, ids: list[int]) -> float:
    empty(runtime)
    seconds = 0.0
    for start in range(0, len(ids), BATCH):
        points = runtime.vector_target.points(ids[start : start + BATCH])
        started = time.perf_counter()
        runtime.vectors.upsert(runtime.vector_target.collection(), points)
        seconds += time.perf_counter() - started
    return seconds
