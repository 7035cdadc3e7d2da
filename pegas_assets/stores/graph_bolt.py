"""The graph store over Bolt: one dialect of Cypher for the embedded ArcadeDB and for Memgraph.

Every MATCH starts at a node with a label and an indexed property: without a label both engines scan everything, and
edges have no index that is used.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from pegas_assets.errors import EngineUnavailable, PegasError
from pegas_assets.identity import bucket_of
from pegas_assets.stores.bolt_connection import BoltConnection, BoltEndpoint
from pegas_assets.stores.graph import ATOM, RELATES, Edge, EdgeRef, Neighbour, Node
from pegas_assets.stores.graph_ddl import (
    ARCADEDB,
    EDGE_TYPES,
    LABELS,
    MEMGRAPH,
    Statement,
    name,
    schema_statements,
    version_of,
)
from pegas_assets.stores.graph_values import plain_properties, plain_text

if TYPE_CHECKING:
    import neo4j

_BATCH = 1000
_BATCH_CHARS = 4_000_000
_CLEAR_BATCH = 2000
_SERVING_TIMEOUT_S = 2.0
"""How long a search waits for the graph before it goes on without."""
_TURN = "WriterTurn"
"""The label of nodes that are nothing but what writers of one bucket collide on."""

Row = dict[str, Any]


class _Shape(NamedTuple):
    """What the edges of one statement have in common."""

    type: str
    source_label: str
    target_label: str


class BoltGraphStore:
    """A graph over Bolt. `endpoint` says where; it is asked when first needed, and again when the server went away."""

    def __init__(
        self,
        endpoint: Callable[[], BoltEndpoint],
        *,
        labels: Sequence[str] = LABELS,
        query_timeout_s: float = 60.0,
    ) -> None:
        self._bolt = BoltConnection(endpoint, query_timeout_s=query_timeout_s)
        self._serving = BoltConnection(endpoint, query_timeout_s=_SERVING_TIMEOUT_S)
        self._labels = tuple(labels)
        self._indexed: set[tuple[int, str]] = set()

    def ensure_schema(self) -> None:
        """Make the unique key and the bucket index of every known label where they are missing. Repeatable."""
        for label in self._labels:
            self._ensure_label(label, again=True)

    # --- writing ------------------------------------------------------------------------------------------------

    def upsert_nodes(self, nodes: Sequence[Node]) -> None:
        """Write nodes. Of two with one key the last counts. A property that is not given is removed."""
        by_label: dict[str, dict[str, Row]] = defaultdict(dict)
        for node in nodes:
            row = plain_properties(node.properties)
            key = row["key"] = plain_text(node.key)
            row["bucket"] = node.bucket
            by_label[name(node.label)][key] = row
        for label, rows in by_label.items():
            self._ensure_label(label)
            # Sorted, so that two writers of the same nodes meet them in the same order.
            for batch in _batches([rows[key] for key in sorted(rows)]):
                names = _names(batch)
                statement = (
                    f"UNWIND $rows AS r MERGE (n:{label} {{key: r[{names.index('key')}]}}) "
                    f"SET n = {_literal(names)} RETURN count(n) AS n"
                )
                self._bolt.write(_statement(statement, rows=[list(map(row.get, names)) for row in batch]))

    def delete_nodes(self, label: str, keys: Sequence[str]) -> None:
        """Remove nodes with their edges. A key that is not there is no error."""
        statement = f"UNWIND $keys AS k MATCH (n:{name(label)} {{key: k}}) DETACH DELETE n RETURN count(n) AS n"
        wanted = sorted({plain_text(key) for key in keys})
        if wanted:
            self._ensure_label(label)
        for start in range(0, len(wanted), _BATCH):
            self._bolt.write(_statement(statement, keys=wanted[start : start + _BATCH]))

    def upsert_edges(self, edges: Sequence[Edge]) -> list[str]:
        """Write edges; returns, sorted, the keys of those that were left out because an end is missing.

        Of two with one type and key the last counts. An edge that has another target now, or other properties, is
        replaced; one that is as it should be is not written.
        """
        by_shape: dict[_Shape, dict[tuple[str, str], Row]] = defaultdict(dict)
        for edge in edges:
            properties = plain_properties(edge.properties)
            key = properties["key"] = plain_text(edge.key)
            source = plain_text(edge.source_key)
            row = {"s": source, "t": plain_text(edge.target_key), "p": properties}
            shape = _Shape(name(edge.type), name(edge.source_label), name(edge.target_label))
            by_shape[shape][(source, key)] = row
        missing: list[str] = []
        for shape, rows in sorted(by_shape.items()):
            self._ensure_label(shape.source_label)
            self._ensure_label(shape.target_label)
            self._ensure_label(_TURN)
            for batch in _batches([rows[place] for place in sorted(rows)]):
                missing += self._bolt.write(partial(_write_edges, shape=shape, rows=batch))
        return sorted(missing)

    def delete_edges(self, edges: Sequence[EdgeRef]) -> None:
        """Remove edges by key, each found through its source. One that is not there is no error."""
        places: dict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
        for edge in edges:
            found = (plain_text(edge.source_key), plain_text(edge.key))
            places[name(edge.type), name(edge.source_label)].add(found)
        for (type_, label), found_at in sorted(places.items()):
            self._ensure_label(label)
            wanted = sorted(found_at)
            for start in range(0, len(wanted), _BATCH):
                batch = wanted[start : start + _BATCH]
                self._bolt.write(partial(_delete_edges, type_=type_, source_label=label, places=batch))

    def clear(self) -> None:
        """Remove everything of this base, a few thousand nodes at a time."""
        for label in self._all_labels():
            statement = f"MATCH (n:{label}) WITH n LIMIT {_CLEAR_BATCH} DETACH DELETE n RETURN count(n) AS n"
            while self._bolt.write(_statement(statement))[0]["n"]:
                pass

    # --- reading ------------------------------------------------------------------------------------------------

    def node_hashes(self, label: str, bucket: int) -> dict[str, str]:
        """Key → `h` of every node of a label in a bucket."""
        # One list, since a record for each costs the driver as much as the server.
        statement = f"MATCH (n:{name(label)} {{bucket: $bucket}}) RETURN collect([n.key, coalesce(n.h, '')])"
        return dict(self._values(statement, bucket=bucket)[0][0])

    def edge_hashes(self, type: str, source_label: str, bucket: int) -> dict[str, tuple[str, str]]:
        """Edge key → (source key, `h`) of every edge of a type that starts in a bucket."""
        statement = (
            f"MATCH (a:{name(source_label)} {{bucket: $bucket}})-[e:{name(type)}]->() "
            "RETURN collect([e.key, a.key, coalesce(e.h, '')])"
        )
        return {key: (source, h) for key, source, h in self._values(statement, bucket=bucket)[0][0]}

    def edges_of(self, type: str, source_label: str, source_keys: Sequence[str]) -> list[EdgeRef]:
        """Every edge of a type that starts at one of these nodes."""
        statement = f"UNWIND $keys AS k MATCH (a:{name(source_label)} {{key: k}})-[e:{name(type)}]->() RETURN e.key, k"
        wanted = sorted({plain_text(key) for key in source_keys})
        return [
            EdgeRef(key, type, source_label, source)
            for start in range(0, len(wanted), _BATCH)
            for key, source in self._values(statement, keys=wanted[start : start + _BATCH])
        ]

    def neighbours(self, label: str, keys: Sequence[str], limit: int) -> list[Neighbour]:
        """Up to `limit` atoms one RELATES hop from any of `keys`, either way, most confident first."""
        if not keys or limit <= 0:
            return []
        # One statement for both ways: a search waits for each answer.
        statement = " UNION ALL ".join(
            f"UNWIND $keys AS k MATCH (a:{name(label)} {{key: k}}){pattern}(b:{ATOM}) "
            f"RETURN k, b.key AS key, coalesce(e.kind, '') AS kind, '{direction}' AS direction, "
            "coalesce(e.confidence, 0.0) AS confidence, coalesce(e.inferred, false) AS inferred "
            "ORDER BY confidence DESC, key, kind LIMIT $limit"
            for direction, pattern in (("out", f"-[e:{RELATES}]->"), ("in", f"<-[e:{RELATES}]-"))
        )
        wanted = sorted({plain_text(key) for key in keys})
        rows = self._serving.read(lambda tx: tx.run(statement, keys=wanted, limit=limit).values())
        found = [
            Neighbour(source, key, kind, direction, float(confidence), bool(inferred))
            for source, key, kind, direction, confidence, inferred in rows
        ]
        found.sort(key=lambda one: (-one.confidence, one.key, one.kind, one.source_key, one.direction))
        return found[:limit]

    def counts(self) -> dict[str, int]:
        """How many nodes by label and edges by type there are; zero for a known one that has none."""
        labels = [label for label in self._all_labels() if label != _TURN]

        def read(transaction: neo4j.Transaction) -> dict[str, int]:
            counted = dict.fromkeys((*labels, *EDGE_TYPES), 0)
            for label in labels:
                nodes = f"MATCH (n:{label}) RETURN count(n) AS n"
                counted[label] = transaction.run(nodes).single(strict=True)["n"]
                edges = f"MATCH (:{label})-[e]->() RETURN type(e) AS t, count(e) AS n"
                for type_, count in transaction.run(edges).values():
                    counted[type_] = counted.get(type_, 0) + count
            return counted

        return self._bolt.read(read)

    def version(self) -> str:
        """Name and version of the server, after it has answered a query on this base; also the health check."""
        self._serving.read(lambda tx: tx.run("RETURN 1 AS one").consume())
        if self._serving.engine == MEMGRAPH:
            return f"Memgraph {self._serving.alone('SHOW VERSION')[0].get('version', '')}".strip()
        return version_of(self._serving.agent)

    def close(self) -> None:
        """Close the connections. The next use opens them again."""
        self._bolt.close()
        self._serving.close()

    # --- schema -------------------------------------------------------------------------------------------------

    def _ensure_label(self, label: str, *, again: bool = False) -> None:
        """Index a label before its first use on a server: a MERGE without index searches the whole label."""
        if not again and (self._bolt.generation, label) in self._indexed:
            return
        for statement in schema_statements(self._bolt.engine, label):
            self._make(statement)
        self._indexed.add((self._bolt.generation, label))

    def _make(self, statement: Statement) -> None:
        for form in statement.forms:
            try:
                self._bolt.alone(form)
                return
            except EngineUnavailable:
                raise
            except PegasError as error:
                if "already exists" in error.message.lower():
                    return
                refusal = error
        raise refusal

    def _all_labels(self) -> list[str]:
        """The labels that may have nodes: on a server that serves many bases, only the known ones are ours."""
        known = {*self._labels, _TURN}
        if self._bolt.engine == ARCADEDB:
            known |= {label for (label,) in self._values("CALL db.labels()")}
        return sorted(known)

    def _values(self, statement: str, **parameters: Any) -> list[list[Any]]:
        return self._bolt.read(lambda tx: tx.run(statement, **parameters).values())


def _statement(statement: str, **parameters: Any) -> Callable[[neo4j.Transaction], list[Row]]:
    return lambda transaction: transaction.run(statement, **parameters).data()


def _batches(rows: list[Row]) -> Iterator[list[Row]]:
    """Rows in lists of at most a thousand, fewer where they are long."""
    batch: list[Row] = []
    chars = 0
    for row in rows:
        length = _chars(row)
        if batch and (len(batch) == _BATCH or chars + length > _BATCH_CHARS):
            yield batch
            batch, chars = [], 0
        batch.append(row)
        chars += length
    if batch:
        yield batch


def _names(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    return sorted({property_ for row in rows for property_ in row})


def _literal(names: Sequence[str], offset: int = 0) -> str:
    """A map whose values are the items of the list `r`: a row without names is packed and read twice as fast.

    An item that is null is a property that is not set.
    """
    quoted = ("`" + property_.replace("`", "``") + "`" for property_ in names)
    return "{" + ", ".join(f"{property_}: r[{offset + at}]" for at, property_ in enumerate(quoted)) + "}"


def _chars(row: Mapping[str, Any]) -> int:
    return sum(len(value) for value in row.values() if isinstance(value, str | list))


def _write_edges(transaction: neo4j.Transaction, shape: _Shape, rows: list[Row]) -> list[str]:
    """Make the edges of a source what the rows say; the keys of those with a missing end.

    Existing edges are read once through their sources, then new ones are created: MERGE would walk all edges of a
    source again for every row, which takes 17 s for one with 5,000.
    """
    type_, source_label, target_label = shape
    _take_turn(transaction, shape, rows)
    wanted = {(row["s"], row["p"]["key"]): row for row in rows}
    stale: set[tuple[str, str]] = set()
    right: set[tuple[str, str]] = set()
    found = transaction.run(
        f"UNWIND $sources AS k MATCH (a:{source_label} {{key: k}})-[e:{type_}]->(b) "
        "RETURN k, e.key, labels(b), b.key, properties(e)",
        sources=sorted({row["s"] for row in rows}),
    )
    for source, key, labels, target, properties in found.values():
        row = wanted.get((source, key))
        if row is None:
            continue
        same = target == row["t"] and target_label in labels and properties == row["p"]
        # A second edge of one key is one too many, whatever it holds.
        (right if same and (source, key) not in right else stale).add((source, key))
    if stale:
        _delete_edges(transaction, type_, source_label, sorted(stale))
    fresh = [row for place, row in wanted.items() if place in stale or place not in right]
    if not fresh:
        return []
    return [] if _create_edges(transaction, shape, fresh) == len(fresh) else _without_ends(transaction, shape, fresh)


def _take_turn(transaction: neo4j.Transaction, shape: _Shape, rows: Iterable[Row]) -> None:
    """Make two writers of one bucket's edges collide, so that the later one is run again and sees what is there.

    ArcadeDB lets both append to a node, on purpose: without this each would create the edge that neither has found.
    """
    transaction.run(
        f"UNWIND $turns AS k MERGE (w:{_TURN} {{key: k}}) SET w.taken = coalesce(w.taken, 0) + 1",
        turns=sorted({f"{shape.type}:{bucket_of(row['s'])}" for row in rows}),
    ).consume()


def _create_edges(transaction: neo4j.Transaction, shape: _Shape, rows: list[Row]) -> int:
    """Create edges with their properties in place (setting them afterwards writes each twice); how many there were."""
    type_, source_label, target_label = shape
    names = _names(row["p"] for row in rows)
    statement = (
        f"UNWIND $rows AS r MATCH (a:{source_label} {{key: r[0]}}) MATCH (b:{target_label} {{key: r[1]}}) "
        f"CREATE (a)-[e:{type_} {_literal(names, 2)}]->(b) RETURN count(e) AS n"
    )
    values = [[row["s"], row["t"], *map(row["p"].get, names)] for row in rows]
    made: int = transaction.run(statement, rows=values).single(strict=True)["n"]
    return made


def _without_ends(transaction: neo4j.Transaction, shape: _Shape, rows: list[Row]) -> list[str]:
    def present(label: str, keys: Iterable[str]) -> set[str]:
        statement = f"UNWIND $keys AS k MATCH (n:{label} {{key: k}}) RETURN n.key"
        return {key for (key,) in transaction.run(statement, keys=sorted(set(keys))).values()}

    sources = present(shape.source_label, (row["s"] for row in rows))
    targets = present(shape.target_label, (row["t"] for row in rows))
    return [row["p"]["key"] for row in rows if row["s"] not in sources or row["t"] not in targets]


def _delete_edges(
    transaction: neo4j.Transaction, type_: str, source_label: str, places: Iterable[tuple[str, str]]
) -> None:
    """Delete edges by (source key, edge key), walking each source's edges once."""
    keys: dict[str, list[str]] = defaultdict(list)
    for source, key in places:
        keys[source].append(key)
    transaction.run(
        f"UNWIND $groups AS g MATCH (a:{source_label} {{key: g.s}})-[e:{type_}]->() WHERE e.key IN g.keys DELETE e",
        groups=[{"s": source, "keys": found} for source, found in keys.items()],
    ).consume()
