"""What each graph engine is told once: a unique key and an index of buckets for every label.

Data has one dialect, this has one for each engine. ArcadeDB speaks Neo4j's and repeats it only with IF NOT EXISTS;
Memgraph has words of its own, of which every version knows the older, and a unique constraint there makes no index.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pegas_assets.errors import InvalidInput
from pegas_assets.stores.graph import ATOM, CITES, DOCUMENT, RELATES

SYMBOL = "Symbol"
LABELS = (ATOM, DOCUMENT, SYMBOL)
EDGE_TYPES = (RELATES, CITES)

ARCADEDB = "ArcadeDB"
MEMGRAPH = "Memgraph"
NEO4J = "Neo4j"

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}")


@dataclass(frozen=True)
class Statement:
    """One thing to make, in the forms that versions of an engine may take: the first that is understood counts."""

    forms: tuple[str, ...]


def name(text: str) -> str:
    """A label, edge type or property name that may stand in a statement.

    Raises:
        InvalidInput: it is not letters, digits and underscores, a letter first, at most 63.
    """
    if not _NAME.fullmatch(text):
        raise InvalidInput(
            f"{text!r} cannot be a label or an edge type.",
            hint="Use letters, digits and underscores, a letter first, at most 63.",
            item=text,
            component="graph",
        )
    return text


def schema_statements(engine: str, label: str) -> tuple[Statement, ...]:
    """The statements for a label, in order. Each is run by itself, outside any transaction."""
    label = name(label)
    if engine == MEMGRAPH:
        return (
            Statement((f"CREATE INDEX ON :{label}(key)", f"CREATE INDEX FOR (n:{label}) ON (n.key)")),
            Statement((f"CREATE INDEX ON :{label}(bucket)", f"CREATE INDEX FOR (n:{label}) ON (n.bucket)")),
            Statement(
                (
                    f"CREATE CONSTRAINT ON (n:{label}) ASSERT n.key IS UNIQUE",
                    f"CREATE CONSTRAINT FOR (n:{label}) REQUIRE n.key IS UNIQUE",
                )
            ),
        )
    unique = f"CREATE CONSTRAINT {label}_key IF NOT EXISTS FOR (n:{label}) REQUIRE n.key IS UNIQUE"
    if engine == ARCADEDB:
        # With the key behind it an entry of the index is one node's, and deleting one does not search all of a bucket.
        return (
            Statement((unique,)),
            Statement((f"CREATE INDEX {label}_bucket IF NOT EXISTS FOR (n:{label}) ON (n.bucket, n.key)",)),
        )
    return (
        Statement((unique,)),
        Statement((f"CREATE INDEX {label}_bucket IF NOT EXISTS FOR (n:{label}) ON (n.bucket)",)),
    )


def engine_of(agent: str) -> str:
    """Which engine answers, by the name that it gives over Bolt."""
    for engine in (ARCADEDB, MEMGRAPH):
        if engine.lower() in agent.lower():
            return engine
    return NEO4J


def version_of(agent: str) -> str:
    """`ArcadeDB 26.10.2` from `Neo4j/5.26.0 compatible (ArcadeDB 26.10.2)`."""
    found = re.search(r"\((\S+ [^)]+)\)", agent)
    return found.group(1) if found else agent
