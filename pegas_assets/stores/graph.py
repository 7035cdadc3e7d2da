"""The graph store's interface: labelled nodes by key, typed edges by key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

ATOM = "Atom"
DOCUMENT = "Document"
RELATES = "RELATES"
CITES = "CITES"


@dataclass(frozen=True)
class Node:
    """A node. `properties` are plain (text, whole and floating numbers, booleans, lists of these) and hold `h`."""

    key: str
    label: str
    bucket: int
    properties: Mapping[str, Any]


@dataclass(frozen=True)
class Edge:
    """An edge, owned by its source's bucket and read through its source. `properties` hold `h`."""

    key: str
    type: str
    source_label: str
    source_key: str
    target_label: str
    target_key: str
    properties: Mapping[str, Any]


@dataclass(frozen=True)
class EdgeRef:
    """Enough to find an edge again without scanning: its key and the indexed node it starts from."""

    key: str
    type: str
    source_label: str
    source_key: str


@dataclass(frozen=True)
class Neighbour:
    """One hop from `source_key`. `direction` is `out` or `in`."""

    source_key: str
    key: str
    kind: str
    direction: str
    confidence: float
    inferred: bool


class GraphStore(Protocol):
    """A Bolt graph. All methods raise `EngineUnavailable` where it does not answer; they may be called from threads."""

    def ensure_schema(self) -> None:
        """Make indexes and constraints where they are missing. Repeatable."""
        ...

    def upsert_nodes(self, nodes: Sequence[Node]) -> None: ...

    def delete_nodes(self, label: str, keys: Sequence[str]) -> None:
        """Remove nodes with their edges. A key that is not there is no error."""
        ...

    def upsert_edges(self, edges: Sequence[Edge]) -> list[str]:
        """Write edges; returns the keys of those that were left out because an end is missing."""
        ...

    def delete_edges(self, edges: Sequence[EdgeRef]) -> None: ...

    def node_hashes(self, label: str, bucket: int) -> dict[str, str]:
        """Key → `h` of every node of a label in a bucket."""
        ...

    def edge_hashes(self, type: str, source_label: str, bucket: int) -> dict[str, tuple[str, str]]:
        """Edge key → (source key, `h`) of every edge that starts in a bucket."""
        ...

    def edges_of(self, type: str, source_label: str, source_keys: Sequence[str]) -> list[EdgeRef]:
        """Every edge of a type that starts at one of these nodes."""
        ...

    def neighbours(self, label: str, keys: Sequence[str], limit: int) -> list[Neighbour]:
        """Up to `limit` atoms one RELATES hop from any of `keys`, most confident first."""
        ...

    def counts(self) -> dict[str, int]:
        """How many nodes by label and edges by type there are."""
        ...

    def clear(self) -> None:
        """Remove everything of this base."""
        ...

    def version(self) -> str:
        """Name and version of the server; also the health check."""
        ...

    def close(self) -> None: ...
