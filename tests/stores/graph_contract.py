"""What every graph store must do, whatever engine answers: a class to inherit, with a fixture `graph`."""

from __future__ import annotations

import pytest

from pegas_assets.errors import InvalidInput
from pegas_assets.identity import bucket_of
from pegas_assets.stores.graph import ATOM, CITES, DOCUMENT, RELATES, Edge, EdgeRef, Neighbour, Node
from pegas_assets.stores.graph_bolt import BoltGraphStore


def atom(number: int | str, **properties: object) -> Node:
    key = f"atom:{number}"
    return Node(key, ATOM, bucket_of(key), {"h": f"hash of {number}", **properties})


def document(number: int) -> Node:
    key = f"doc:{number}"
    return Node(key, DOCUMENT, bucket_of(key), {"h": f"hash of {number}"})


def link(number: int | str, source: int | str, target: int | str, **properties: object) -> Edge:
    held = {"h": f"hash of {number}", "kind": "cause", "confidence": 0.5, "inferred": False, **properties}
    return Edge(f"link:{number}", RELATES, ATOM, f"atom:{source}", ATOM, f"atom:{target}", held)


def reference(edge: Edge) -> EdgeRef:
    return EdgeRef(edge.key, edge.type, edge.source_label, edge.source_key)


def all_node_hashes(graph: BoltGraphStore, label: str = ATOM) -> dict[str, str]:
    return {key: h for bucket in range(16) for key, h in graph.node_hashes(label, bucket).items()}


def all_edge_hashes(graph: BoltGraphStore, type_: str = RELATES) -> dict[str, tuple[str, str]]:
    return {key: found for bucket in range(16) for key, found in graph.edge_hashes(type_, ATOM, bucket).items()}


class GraphContract:
    def test_a_node_is_found_in_its_bucket_and_in_no_other(self, graph: BoltGraphStore) -> None:
        graph.upsert_nodes([atom(number) for number in range(50)])
        for bucket in range(16):
            expected = {f"atom:{n}": f"hash of {n}" for n in range(50) if bucket_of(f"atom:{n}") == bucket}
            assert graph.node_hashes(ATOM, bucket) == expected

    def test_writing_a_node_twice_changes_nothing(self, graph: BoltGraphStore) -> None:
        graph.upsert_nodes([atom(1), atom(2)])
        graph.upsert_nodes([atom(2), atom(1)])
        assert graph.counts()[ATOM] == 2

    def test_of_two_nodes_with_one_key_the_last_counts(self, graph: BoltGraphStore) -> None:
        graph.upsert_nodes([atom(1, h="old"), atom(1, h="new")])
        assert all_node_hashes(graph) == {"atom:1": "new"}

    def test_labels_are_apart(self, graph: BoltGraphStore) -> None:
        graph.upsert_nodes([atom(1), document(1)])
        assert all_node_hashes(graph) == {"atom:1": "hash of 1"}
        assert all_node_hashes(graph, DOCUMENT) == {"doc:1": "hash of 1"}

    def test_an_edge_is_read_through_the_bucket_of_its_source(self, graph: BoltGraphStore) -> None:
        graph.upsert_nodes([atom(number) for number in range(20)])
        edges = [link(number, number, (number + 1) % 20) for number in range(20)]
        assert graph.upsert_edges(edges) == []
        for bucket in range(16):
            expected = {e.key: (e.source_key, e.properties["h"]) for e in edges if bucket_of(e.source_key) == bucket}
            assert graph.edge_hashes(RELATES, ATOM, bucket) == expected

    def test_an_edge_with_a_missing_end_is_named_and_no_stub_is_made(self, graph: BoltGraphStore) -> None:
        graph.upsert_nodes([atom(1), atom(2)])
        missing = graph.upsert_edges([link("no target", 1, 99), link("fine", 1, 2), link("no source", 98, 2)])
        assert missing == ["link:no source", "link:no target"]
        assert graph.counts() | {ATOM: 2, RELATES: 1} == graph.counts()
        assert list(all_edge_hashes(graph)) == ["link:fine"]

    def test_the_missing_edge_is_taken_once_its_end_is_there(self, graph: BoltGraphStore) -> None:
        graph.upsert_nodes([atom(1)])
        assert graph.upsert_edges([link(1, 1, 2)]) == ["link:1"]
        graph.upsert_nodes([atom(2)])
        assert graph.upsert_edges([link(1, 1, 2)]) == []

    def test_an_edge_written_twice_is_one(self, graph: BoltGraphStore) -> None:
        graph.upsert_nodes([atom(1), atom(2)])
        for _ in range(2):
            assert graph.upsert_edges([link(1, 1, 2)]) == []
        assert graph.counts()[RELATES] == 1

    def test_two_edges_between_the_same_nodes_are_two(self, graph: BoltGraphStore) -> None:
        graph.upsert_nodes([atom(1), atom(2)])
        graph.upsert_edges([link(1, 1, 2), link(2, 1, 2), link(3, 2, 1), link(4, 1, 1)])
        assert graph.counts()[RELATES] == 4

    def test_a_changed_edge_is_replaced_whole(self, graph: BoltGraphStore) -> None:
        graph.upsert_nodes([atom(1), atom(2)])
        graph.upsert_edges([link(1, 1, 2, confidence=0.9)])
        changed = Edge("link:1", RELATES, ATOM, "atom:1", ATOM, "atom:2", {"h": "new", "kind": "reference"})
        graph.upsert_edges([changed])
        assert all_edge_hashes(graph) == {"link:1": ("atom:1", "new")}
        assert graph.neighbours(ATOM, ["atom:1"], 5) == [
            Neighbour("atom:1", "atom:2", "reference", "out", 0.0, inferred=False)
        ]

    def test_an_edge_that_has_another_target_now_leaves_the_old_one(self, graph: BoltGraphStore) -> None:
        graph.upsert_nodes([atom(1), atom(2), atom(3)])
        graph.upsert_edges([link(1, 1, 2)])
        graph.upsert_edges([link(1, 1, 3)])
        assert [found.key for found in graph.neighbours(ATOM, ["atom:1"], 5)] == ["atom:3"]
        assert graph.neighbours(ATOM, ["atom:2"], 5) == []

    def test_deleting_a_node_detaches_its_edges(self, graph: BoltGraphStore) -> None:
        graph.upsert_nodes([atom(1), atom(2), atom(3)])
        graph.upsert_edges([link(1, 1, 2), link(2, 2, 3), link(3, 3, 1)])
        graph.delete_nodes(ATOM, ["atom:2", "atom:404"])
        assert set(all_node_hashes(graph)) == {"atom:1", "atom:3"}
        assert set(all_edge_hashes(graph)) == {"link:3"}

    def test_deleting_edges_takes_only_those(self, graph: BoltGraphStore) -> None:
        graph.upsert_nodes([atom(1), atom(2)])
        edges = [link(number, 1, 2) for number in range(5)]
        graph.upsert_edges(edges)
        gone = EdgeRef("link:404", RELATES, ATOM, "atom:1")
        graph.delete_edges([reference(edges[0]), reference(edges[3]), gone])
        assert set(all_edge_hashes(graph)) == {"link:1", "link:2", "link:4"}

    def test_the_edges_of_some_sources_are_listed(self, graph: BoltGraphStore) -> None:
        graph.upsert_nodes([atom(number) for number in range(4)])
        edges = [link(1, 0, 1), link(2, 0, 2), link(3, 1, 2), link(4, 3, 0)]
        graph.upsert_edges(edges)
        found = graph.edges_of(RELATES, ATOM, ["atom:0", "atom:1", "atom:404"])
        assert sorted(found, key=lambda edge: edge.key) == [reference(edge) for edge in edges[:3]]

    def test_neighbours_come_from_both_sides_most_confident_first(self, graph: BoltGraphStore) -> None:
        graph.upsert_nodes([atom(number) for number in range(1, 6)])
        graph.upsert_edges(
            [
                link(1, 1, 2, confidence=0.4),
                link(2, 3, 1, confidence=0.9, kind="contradicts"),
                link(3, 1, 4, confidence=0.7, kind="parent_of", inferred=True),
                link(4, 4, 5, confidence=1.0),
            ]
        )
        expected = [
            Neighbour("atom:1", "atom:3", "contradicts", "in", 0.9, inferred=False),
            Neighbour("atom:1", "atom:4", "parent_of", "out", 0.7, inferred=True),
            Neighbour("atom:1", "atom:2", "cause", "out", 0.4, inferred=False),
        ]
        assert graph.neighbours(ATOM, ["atom:1"], 10) == expected
        assert graph.neighbours(ATOM, ["atom:1", "atom:1"], 2) == expected[:2]
        assert graph.neighbours(ATOM, ["atom:404"], 10) == []
        assert graph.neighbours(ATOM, [], 10) == []

    def test_edges_of_another_type_are_no_neighbours(self, graph: BoltGraphStore) -> None:
        graph.upsert_nodes([atom(1), document(1)])
        assert graph.upsert_edges([Edge("cite:1", CITES, ATOM, "atom:1", DOCUMENT, "doc:1", {"h": "x"})]) == []
        assert graph.neighbours(ATOM, ["atom:1"], 10) == []
        assert all_edge_hashes(graph, CITES) == {"cite:1": ("atom:1", "x")}

    def test_russian_text_comes_out_as_it_went_in(self, graph: BoltGraphStore) -> None:
        graph.upsert_nodes([atom("ёж «Ёлкин» №5 🦔", h="хеш")])
        assert all_node_hashes(graph) == {"atom:ёж «Ёлкин» №5 🦔": "хеш"}

    def test_more_than_one_batch_is_written_whole(self, graph: BoltGraphStore) -> None:
        graph.upsert_nodes([atom(number) for number in range(2500)])
        edges = [link(number, number % 2499, 2499) for number in range(2500)]
        assert graph.upsert_edges([*edges, link("odd", 1, "nowhere")]) == ["link:odd"]
        assert graph.counts() | {ATOM: 2500, RELATES: 2500} == graph.counts()

    def test_long_texts_are_written_in_smaller_batches(self, graph: BoltGraphStore) -> None:
        graph.upsert_nodes([atom(number, text="длинный текст " * 20_000) for number in range(40)])
        assert graph.counts()[ATOM] == 40

    def test_a_source_with_very_many_edges_is_written_and_read_again(self, graph: BoltGraphStore) -> None:
        graph.upsert_nodes([atom(number) for number in range(3001)])
        edges = [link(number, 0, number) for number in range(1, 3001)]
        assert graph.upsert_edges(edges) == []
        assert graph.upsert_edges(edges) == []
        graph.delete_edges([reference(edge) for edge in edges[:1500]])
        assert len(graph.edge_hashes(RELATES, ATOM, bucket_of("atom:0"))) == 1500

    def test_clear_removes_everything_and_the_schema_still_serves(self, graph: BoltGraphStore) -> None:
        graph.upsert_nodes([atom(number) for number in range(3000)])
        graph.upsert_edges([link(number, number, number + 1) for number in range(2999)])
        graph.clear()
        assert not any(graph.counts().values())
        graph.upsert_nodes([atom(1)])
        assert set(all_node_hashes(graph)) == {"atom:1"}

    def test_an_empty_call_is_no_error(self, graph: BoltGraphStore) -> None:
        graph.upsert_nodes([])
        assert graph.upsert_edges([]) == []
        graph.delete_nodes(ATOM, [])
        graph.delete_edges([])
        assert graph.edge_hashes("NEVER_SEEN", ATOM, 0) == {}
        assert graph.node_hashes("NeverSeen", 0) == {}

    def test_the_schema_can_be_made_again(self, graph: BoltGraphStore) -> None:
        graph.ensure_schema()
        graph.upsert_nodes([atom(1)])
        graph.ensure_schema()
        assert set(all_node_hashes(graph)) == {"atom:1"}

    def test_a_label_that_would_be_a_statement_is_refused(self, graph: BoltGraphStore) -> None:
        with pytest.raises(InvalidInput, match="cannot be a label"):
            graph.upsert_nodes([Node("x", "Atom) DETACH DELETE (n", 0, {"h": "x"})])
        with pytest.raises(InvalidInput, match="cannot be a label"):
            graph.edge_hashes("R]->() DELETE e //", ATOM, 0)

    def test_the_version_names_the_engine(self, graph: BoltGraphStore) -> None:
        assert graph.version().split(" ")[0] in ("ArcadeDB", "Memgraph")
