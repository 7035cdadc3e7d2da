"""The graph store on the embedded Bolt server, and what happens when writers collide or the server goes away."""

from __future__ import annotations

import os
import random
import signal
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest

from pegas_assets.embedded.bolt import BoltAddress, ensure_bolt, find_bolt
from pegas_assets.errors import EngineUnavailable, PegasError
from pegas_assets.identity import bucket_of
from pegas_assets.settings import Settings
from pegas_assets.stores.bolt_connection import BoltConnection
from pegas_assets.stores.graph import ATOM, RELATES, Edge, Node
from pegas_assets.stores.graph_bolt import BoltGraphStore
from pegas_assets.stores.graph_ddl import MEMGRAPH, SYMBOL, engine_of, schema_statements, version_of
from tests.homes import make_home
from tests.stores.graph_contract import GraphContract, all_edge_hashes, all_node_hashes, atom, link


@pytest.fixture(scope="module")
def settings() -> Iterator[Settings]:
    with make_home() as made:
        yield made


@pytest.fixture(scope="module")
def shared(settings: Settings) -> Iterator[BoltGraphStore]:
    store = BoltGraphStore(lambda: ensure_bolt(settings))
    store.ensure_schema()
    yield store
    store.close()


@pytest.fixture
def graph(shared: BoltGraphStore) -> BoltGraphStore:
    shared.clear()
    return shared


@pytest.fixture
def bolt(settings: Settings) -> Iterator[BoltConnection]:
    connection = BoltConnection(lambda: ensure_bolt(settings))
    yield connection
    connection.close()


def values(bolt: BoltConnection, statement: str, **parameters: Any) -> list[list[Any]]:
    return bolt.read(lambda tx: tx.run(statement, **parameters).values())


class TestEmbedded(GraphContract):
    """The contract on ArcadeDB."""


def test_a_property_that_is_no_longer_given_goes(graph: BoltGraphStore, bolt: BoltConnection) -> None:
    graph.upsert_nodes([atom(1, status="candidate", note="to be removed")])
    graph.upsert_nodes([atom(1, status="verified"), atom(2, **{"odd `name": "x", "match": True})])
    held = dict(values(bolt, "MATCH (n:Atom) RETURN n.key, properties(n)"))
    first = {"key": "atom:1", "bucket": bucket_of("atom:1"), "h": "hash of 1", "status": "verified"}
    second = {"key": "atom:2", "bucket": bucket_of("atom:2"), "h": "hash of 2", "odd `name": "x", "match": True}
    assert held == {"atom:1": first, "atom:2": second}


def test_an_edge_holds_what_was_given_and_no_empty_names(graph: BoltGraphStore, bolt: BoltConnection) -> None:
    graph.upsert_nodes([atom(1), atom(2)])
    graph.upsert_edges(
        [link(1, 1, 2, note="одно"), link(2, 1, 2, since=3), link(3, 1, 2, **{"odd `name": "x", "end": 1})]
    )
    held = dict(values(bolt, "MATCH (:Atom {key: 'atom:1'})-[e:RELATES]->() RETURN e.key, properties(e)"))
    common = {"kind": "cause", "confidence": 0.5, "inferred": False}
    assert held == {
        "link:1": {"key": "link:1", "h": "hash of 1", **common, "note": "одно"},
        "link:2": {"key": "link:2", "h": "hash of 2", **common, "since": 3},
        "link:3": {"key": "link:3", "h": "hash of 3", **common, "odd `name": "x", "end": 1},
    }


def test_a_doubled_edge_becomes_one_when_it_is_written_again(graph: BoltGraphStore, bolt: BoltConnection) -> None:
    graph.upsert_nodes([atom(1), atom(2)])
    graph.upsert_edges([link(1, 1, 2)])
    twin = "MATCH (a:Atom {key: 'atom:1'}), (b:Atom {key: 'atom:2'}) CREATE (a)-[:RELATES {key: 'link:1'}]->(b)"
    bolt.write(lambda tx: tx.run(twin).consume())
    assert graph.counts()[RELATES] == 2
    graph.upsert_edges([link(1, 1, 2)])
    assert graph.counts()[RELATES] == 1


def test_values_of_every_type_are_stored_and_read_back(graph: BoltGraphStore, bolt: BoltConnection) -> None:
    given = {
        "moment": datetime.fromisoformat("2026-01-05T08:00:00+03:00"),
        "tags": {"b", "a"},
        "price": Decimal("1.10"),
        "id": uuid.UUID("00000000-0000-4000-8000-000000000001"),
        "nested": {"a": {"b": [1, None, {"c": 2}]}},
        "big": 9223372036854775808,
        "largest": 2**63 - 1,
        "nul": "a\0b",
        "half": "x\ud83d",
        "raw": b"\x00\xff",
        "none": None,
        "flags": [True, False],
        "empty": [],
    }
    graph.upsert_nodes([atom(1, **given)])
    ((held,),) = values(bolt, "MATCH (n:Atom {key: 'atom:1'}) RETURN properties(n)")
    assert held == {
        "key": "atom:1",
        "bucket": bucket_of("atom:1"),
        "h": "hash of 1",
        "moment": "2026-01-05T05:00:00.000000Z",
        "tags": ["a", "b"],
        "price": 1.1,
        "id": "00000000-0000-4000-8000-000000000001",
        "nested": '{"a":{"b":[1,null,{"c":2}]}}',
        "big": "9223372036854775808",
        "largest": 2**63 - 1,
        "nul": "ab",
        "half": "x�",
        "raw": "AP8=",
        "flags": [True, False],
        "empty": [],
    }


def test_eight_writers_of_the_same_twenty_nodes_make_each_thing_once(graph: BoltGraphStore, settings: Settings) -> None:
    def symbol(key: str) -> Node:
        return Node(key, SYMBOL, bucket_of(key), {"h": key})

    def work(worker: int) -> set[str]:
        # A store each: writers of one store take turns, and would never collide.
        store = BoltGraphStore(lambda: ensure_bolt(settings))
        choose = random.Random(worker)
        written = set()
        try:
            for _ in range(200):
                x, y = (f"symbol:{choose.randrange(20)}" for _ in range(2))
                store.upsert_nodes([symbol(x), symbol(y)])
                call = Edge(f"calls:{x}>{y}", "CALLS", SYMBOL, x, SYMBOL, y, {"h": "x"})
                assert store.upsert_edges([call]) == []
                written.add(call.key)
        finally:
            store.close()
        return written

    with ThreadPoolExecutor(8) as pool:
        written = set().union(*pool.map(work, range(8)))
    assert graph.counts() | {SYMBOL: 20, "CALLS": len(written)} == graph.counts()
    found = [graph.edge_hashes("CALLS", SYMBOL, bucket) for bucket in range(16)]
    assert {key for keys in found for key in keys} == written


def test_eight_stores_that_write_the_same_bucket_leave_each_thing_once(
    graph: BoltGraphStore, settings: Settings
) -> None:
    nodes = [atom(number) for number in range(100)]
    edges = [link(number, number % 100, (number * 7) % 100) for number in range(300)]

    def work(_: int) -> list[str]:
        store = BoltGraphStore(lambda: ensure_bolt(settings))
        try:
            store.upsert_nodes(nodes)
            return store.upsert_edges(edges)
        finally:
            store.close()

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(8))) == [[]] * 8
    assert graph.counts() | {ATOM: 100, RELATES: 300} == graph.counts()


def test_twenty_thousand_nodes_and_sixty_thousand_edges_go_in_by_index(
    graph: BoltGraphStore, bolt: BoltConnection
) -> None:
    graph.upsert_nodes([atom(number) for number in range(20_000)])
    choose = random.Random(5)
    edges = [link(number, choose.randrange(20_000), choose.randrange(20_000)) for number in range(60_000)]
    assert graph.upsert_edges(edges) == []
    assert graph.counts() | {ATOM: 20_000, RELATES: 60_000} == graph.counts()
    bucket = bucket_of("atom:1")
    assert len(graph.edge_hashes(RELATES, ATOM, bucket)) == sum(bucket_of(e.source_key) == bucket for e in edges)
    for statement in ("MATCH (n:Atom {key: 'atom:1'}) RETURN n.h", "MATCH (n:Atom {bucket: 3}) RETURN n.h"):
        plan = bolt.read(lambda tx, statement=statement: tx.run(f"EXPLAIN {statement}").consume().plan)
        assert "NodeIndexSeek" in str(plan)


def test_bases_do_not_see_each_other(graph: BoltGraphStore, settings: Settings) -> None:
    other_settings = Settings(_env_file=None, home=settings.home, base="music")  # type: ignore[call-arg]
    other = BoltGraphStore(lambda: ensure_bolt(other_settings))
    try:
        graph.upsert_nodes([atom(1)])
        other.upsert_nodes([atom(2)])
        assert set(all_node_hashes(graph)) == {"atom:1"}
        assert set(all_node_hashes(other)) == {"atom:2"}
        graph.clear()
        assert set(all_node_hashes(other)) == {"atom:2"}
    finally:
        other.close()


def test_a_server_that_was_restarted_elsewhere_is_found_again_with_its_data(
    graph: BoltGraphStore, settings: Settings
) -> None:
    graph.upsert_nodes([atom(1), atom(2)])
    graph.upsert_edges([link(1, 1, 2)])
    before = find_bolt(settings)
    assert before is not None
    os.kill(before.pid, signal.SIGKILL)
    deadline = time.monotonic() + 10
    while find_bolt(settings) is not None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    graph.upsert_nodes([atom(3)])
    after = find_bolt(settings)
    assert after is not None
    assert after.address != before.address
    assert set(all_node_hashes(graph)) == {"atom:1", "atom:2", "atom:3"}
    assert all_edge_hashes(graph) == {"link:1": ("atom:1", "hash of 1")}


def test_a_graph_that_nobody_serves_is_unavailable_and_says_where(capfd: pytest.CaptureFixture[str]) -> None:
    store = BoltGraphStore(lambda: BoltAddress("bolt://127.0.0.1:1", "root", "a secret word"))
    with pytest.raises(EngineUnavailable) as failure:
        store.neighbours(ATOM, ["atom:1"], 3)
    assert failure.value.component == "graph"
    assert failure.value.retryable
    assert "a secret word" not in str(failure.value)
    assert capfd.readouterr() == ("", "")


def test_a_wrong_password_is_a_sentence_without_the_password(settings: Settings) -> None:
    right = ensure_bolt(settings)
    store = BoltGraphStore(lambda: BoltAddress(right.url, right.user, "a wrong word", right.database))
    with pytest.raises(EngineUnavailable) as failure:
        store.version()
    assert "a wrong word" not in str(failure.value)


def test_an_address_that_is_none_is_unavailable() -> None:
    store = BoltGraphStore(lambda: BoltAddress("http://nowhere", "", ""))
    with pytest.raises(EngineUnavailable):
        store.counts()


def test_an_answer_that_does_not_come_is_given_up(settings: Settings) -> None:
    bolt = BoltConnection(lambda: ensure_bolt(settings), query_timeout_s=0.5)
    endless = "UNWIND range(1, 3000) AS x UNWIND range(1, 3000) AS y WITH x, y WHERE x * y % 7 = 3 RETURN count(x)"
    try:
        with pytest.raises(EngineUnavailable):
            bolt.read(lambda tx: tx.run(endless).consume())
    finally:
        bolt.close()


def test_a_server_that_hangs_holds_no_search(
    graph: BoltGraphStore, settings: Settings, capfd: pytest.CaptureFixture[str]
) -> None:
    graph.upsert_nodes([atom(1), atom(2)])
    graph.upsert_edges([link(1, 1, 2)])
    assert graph.neighbours(ATOM, ["atom:1"], 3)
    state = find_bolt(settings)
    assert state is not None
    os.kill(state.pid, signal.SIGSTOP)
    try:
        for _ in range(2):
            started = time.monotonic()
            with pytest.raises(EngineUnavailable):
                graph.neighbours(ATOM, ["atom:1"], 3)
            # The bound is three seconds; a machine under load is not what is tested.
            assert time.monotonic() - started < 8
    finally:
        os.kill(state.pid, signal.SIGCONT)
    assert [found.key for found in graph.neighbours(ATOM, ["atom:1"], 3)] == ["atom:2"]
    assert capfd.readouterr() == ("", "")


def test_a_statement_that_is_refused_is_no_outage(bolt: BoltConnection) -> None:
    with pytest.raises(PegasError) as refusal:
        bolt.write(lambda tx: tx.run("CREATE (n:Atom").consume())
    assert refusal.value.code == "graph_refused"
    assert "SyntaxError" in refusal.value.message


def test_memgraph_is_told_in_its_own_words() -> None:
    first_forms = [statement.forms[0] for statement in schema_statements(MEMGRAPH, "Symbol")]
    assert first_forms == [
        "CREATE INDEX ON :Symbol(key)",
        "CREATE INDEX ON :Symbol(bucket)",
        "CREATE CONSTRAINT ON (n:Symbol) ASSERT n.key IS UNIQUE",
    ]
    assert engine_of("Neo4j/v5.11.0 compatible graph database server - Memgraph") == MEMGRAPH
    assert version_of("Neo4j/5.26.0 compatible (ArcadeDB 26.10.2)") == "ArcadeDB 26.10.2"


def test_a_node_of_a_label_unknown_before_is_indexed_first(graph: BoltGraphStore, bolt: BoltConnection) -> None:
    graph.upsert_nodes([Node("module:1", "Module", 3, {"h": "x"})])
    assert graph.node_hashes("Module", 3) == {"module:1": "x"}
    plan = bolt.read(lambda tx: tx.run("EXPLAIN MATCH (n:Module {key: 'module:1'}) RETURN n.h").consume().plan)
    assert "NodeIndexSeek" in str(plan)
