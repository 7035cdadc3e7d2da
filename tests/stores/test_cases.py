"""Runs the handed cases of the kinds `postgres`, `qdrant` and `memgraph`: those in tests/cases and in the folders of
PEGAS_CASES_DIR.

Each key of `expected` is one test. Stores that are out of step are run with searching, in tests/search/test_cases.py.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest

from pegas_assets.identity import NAMESPACE, bucket_of, point_id
from pegas_assets.model import DocumentKind
from pegas_assets.runtime import Runtime
from pegas_assets.stores import documents
from pegas_assets.stores.documents import Body, NewDocument
from pegas_assets.stores.graph import ATOM, RELATES, Edge, Node
from pegas_assets.stores.graph_values import plain
from pegas_assets.stores.vectors import FLOAT_FIELDS, INTEGER_FIELDS, KEYWORD_FIELDS, Point, VectorFilter

HERE = Path(__file__).parent.parent / "cases"
KINDS = ("postgres", "qdrant", "memgraph")
ELSEWHERE = {
    "search_results": "run with searching",
    "repair": "run with searching",
    "statements_used": "the DDL is kept for each engine; the older form is tested with the graph store",
    "run_in": "a schema statement in a transaction is refused by the engine, so every test of the graph would fail",
    "explain_uses": "a plan has other words in each engine; the graph store's own test counts time by index",
    "finishes_within_s": "time is measured by the benches",
    "created_when": "said by indexes_exist_for",
}


@dataclass(frozen=True)
class Given:
    """A base and the input of one case."""

    base: Runtime
    input: Any
    expected: Any


def case_folders() -> list[Path]:
    roots = [HERE, *(Path(part) for part in os.environ.get("PEGAS_CASES_DIR", "").split(":") if part)]
    found = {}
    for root in roots:
        for file in sorted(root.rglob("case.json")):
            case = json.loads(file.read_text(encoding="utf-8"))
            if case.get("kind") in KINDS:
                found[case["id"]] = file.parent
    return list(found.values())


def input_of(folder: Path, case: dict[str, Any], made: Path) -> Any:
    if case.get("make"):
        subprocess.run([sys.executable, str(folder / case["make"]), str(made)], check=True, timeout=120)
        (file,) = made.glob("*.json")
    else:
        file = folder / "input" / case["input"][0]
    return json.loads(file.read_text(encoding="utf-8"))


def documents_of(texts: list[dict[str, Any]]) -> list[NewDocument]:
    return [
        NewDocument(
            kind=DocumentKind.TEXT,
            source="text:cases",
            title=row["text"],
            meta=row["meta"],
            body=Body(row["text"].encode()),
        )
        for row in texts
    ]


def all_rows_stored(given: Given) -> None:
    with given.base.database.connection() as connection:
        ids = documents.insert_documents(connection, documents_of(given.input))
    assert len(ids) == given.expected


def stored_text_has_no(given: Given) -> None:
    with given.base.database.connection() as connection:
        documents.insert_documents(connection, documents_of(given.input))
        stored = connection.execute("SELECT coalesce(title, ''), meta FROM pm_document").fetchall()
    held = json.dumps(stored, ensure_ascii=False)
    for unwanted in given.expected:
        assert unwanted not in held
        assert json.dumps(unwanted)[1:-1] not in held


def no_partial_batch(given: Given) -> None:
    batch = documents_of(given.input)
    bad = NewDocument(kind=DocumentKind.TEXT, source="text:cases", authority=7.0)

    def write() -> None:
        with given.base.database.connection() as connection:
            documents.insert_documents(connection, [*batch, bad])

    with pytest.raises(psycopg.errors.CheckViolation):
        write()
    with given.base.database.connection() as connection:
        assert connection.execute("SELECT count(*) FROM pm_document").fetchone() == (0,)


def _store_long(given: Given) -> tuple[int, int]:
    long = given.input
    new = NewDocument(kind=DocumentKind.WEB, source="web:cases", uri=long["url"], title=long["title"])
    with given.base.database.connection() as connection:
        document = documents.insert_document(connection, new)
        symbols = connection.execute(
            "INSERT INTO pm_code_dependency (repo, path, language, src, dst, kind) VALUES ('r', 'p', 'cpp', %s, 'f', 'calls') "
            "ON CONFLICT DO NOTHING",
            [long["symbol"]],
        ).rowcount
    return document, symbols


def stored(given: Given) -> None:
    document, symbols = _store_long(given)
    assert given.expected is True
    assert (document > 0, symbols) == (True, 1)


def lookup_by_value_works(given: Given) -> None:
    document, _ = _store_long(given)
    with given.base.database.connection() as connection:
        known = documents.find_by_uri(connection, given.input["url"])
        found = connection.execute(
            "SELECT src FROM pm_code_dependency WHERE pm_sha256(src) = pm_sha256(%s)", [given.input["symbol"]]
        ).fetchone()
    assert known is not None
    assert known.document_id == document
    assert found == (given.input["symbol"],)


def second_insert(given: Given) -> None:
    document, _ = _store_long(given)
    with given.base.database.connection() as connection:
        known = documents.find_by_uri(connection, given.input["url"])
    assert known is not None
    assert known.document_id == document
    other, symbols = _store_long(given)
    assert symbols == 0
    with given.base.database.connection() as connection:
        assert connection.execute("SELECT doc_id FROM pm_document_uri").fetchall() == [(document,)]
    assert other != document


def _points(given: Given) -> dict[str, Point]:
    direction = np.zeros(8, dtype=np.float32)
    direction[0] = 1
    return {
        str(key): Point(str(key), direction, None, {"key": str(key), "bucket": bucket_of(str(key)), "h": f"h of {key}"})
        for key in given.input["keys"]
        if str(key)
    }


def ids_used(given: Given) -> None:
    assert "uuid5" in given.expected
    for key in _points(given):
        assert point_id(key) == str(uuid.uuid5(NAMESPACE, key))


def stable_across_runs(given: Given) -> None:
    keys = list(_points(given))
    again = subprocess.run(
        [sys.executable, "-c", "import json, sys; from pegas_assets.identity import point_id; "
         "print(json.dumps([point_id(key) for key in json.loads(sys.argv[1])]))", json.dumps(keys)],
        check=True, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert json.loads(again.stdout) == [point_id(key) for key in keys]


def round_trip_equal(given: Given) -> None:
    vectors, name = given.base.vectors, given.base.settings.atoms_role
    points = _points(given)
    vectors.ensure_collection(name, 8, "cases")
    vectors.upsert(name, list(points.values()))
    held = {key: h for bucket in range(16) for key, h in vectors.hashes(name, bucket).items()}
    assert held == {key: f"h of {key}" for key in points}
    some = next(iter(points.values()))
    hits = vectors.search(name, dense=some.dense, sparse=None, filter=VectorFilter(), limit=20)
    assert {key for key, _ in hits.dense} == set(points)


def indexes_exist_for(given: Given) -> None:
    collection = given.base.vector_target.ready_collection()
    for _ in range(2):
        given.base.vector_target.prepare()
        info = given.base.vectors.info(collection)
        assert info is not None
        assert set(info.payload_indexes) >= {*KEYWORD_FIELDS, *INTEGER_FIELDS, *FLOAT_FIELDS}
    filtered = set(VectorFilter.__dataclass_fields__)
    assert filtered == {
        "kinds", "types", "statuses", "sources", "documents", "languages", "min_confidence", "created_from",
        "created_until", "buckets",
    }  # fmt: skip


def after(given: Given) -> None:
    """Workers that merge pairs of shared nodes, each a part of the times that the scenario names."""
    graph = given.base.graph
    graph.ensure_schema()
    keys = [f"atom:{n}" for n in range(20)]
    errors: list[Exception] = []
    wanted: set[tuple[str, str]] = set()

    def work(seed: int) -> None:
        chance = random.Random(seed)
        try:
            for _ in range(10):
                pairs = [chance.sample(keys, 2) for _ in range(10)]
                wanted.update((one, other) for one, other in pairs)
                graph.upsert_nodes([Node(key, ATOM, bucket_of(key), {"h": key}) for pair in pairs for key in pair])
                graph.upsert_edges(
                    [
                        Edge(f"link:{one}-{other}", RELATES, ATOM, one, ATOM, other, {"h": "1", "kind": "calls"})
                        for one, other in pairs
                    ]
                )
        except Exception as error:  # noqa: BLE001 - the test shows whatever came
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(given.input["workers"])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert errors == []
    counts = graph.counts()
    assert (counts[ATOM], counts[RELATES]) == (len({key for pair in wanted for key in pair}), len(wanted))


def repeatable(given: Given) -> None:
    for _ in range(3):
        given.base.graph.ensure_schema()


MAKERS: dict[str, Callable[[Any], Any]] = {
    "datetime": datetime.fromisoformat,
    "set": set,
    "Decimal": Decimal,
    "UUID": uuid.UUID,
    "nested": lambda value: value,
    "big": lambda value: value,
}


def _values(given: Given) -> dict[str, Any]:
    made = {name: MAKERS[name](value) for name, value in given.input["values"].items() if name in MAKERS}
    return made | {"surrogate": "a\ud83db", "nul": "a\x00b"}


def stored_as(given: Given) -> None:
    values = {name: plain(value) for name, value in _values(given).items()}
    moment = datetime.fromisoformat(given.input["values"]["datetime"]).astimezone(UTC)
    assert datetime.fromisoformat(str(values["datetime"])) == moment
    assert values["set"] == sorted(given.input["values"]["set"])
    assert float(str(values["Decimal"])) == float(given.input["values"]["Decimal"])
    assert values["UUID"] == given.input["values"]["UUID"]
    assert json.loads(str(values["nested"])) == given.input["values"]["nested"]
    assert (values["surrogate"], values["nul"]) == ("a\ufffdb", "ab")


def round_trip(given: Given) -> None:
    graph = given.base.graph
    graph.ensure_schema()
    graph.upsert_nodes([Node("atom:1", ATOM, bucket_of("atom:1"), {"h": "1", **_values(given)})])
    assert graph.node_hashes(ATOM, bucket_of("atom:1")) == {"atom:1": "1"}


def errors_to_user(given: Given) -> None:
    assert given.expected == 0  # `after` fails with whatever came to a user


CHECKS: dict[str, Callable[[Given], None]] = {
    check.__name__: check
    for check in (
        all_rows_stored, stored_text_has_no, no_partial_batch, stored, lookup_by_value_works, second_insert, ids_used,
        stable_across_runs, round_trip_equal, indexes_exist_for, after, repeatable, stored_as, round_trip, errors_to_user,
    )
}  # fmt: skip


def checks() -> list[Any]:
    found = []
    for folder in case_folders():
        case = json.loads((folder / "case.json").read_text(encoding="utf-8"))
        for name, expected in case["expected"].items():
            if name not in ELSEWHERE:
                found.append(pytest.param(folder, case, name, expected, id=f"{case['id']}-{name}"))
    return found


@pytest.mark.parametrize(("folder", "case", "name", "expected"), checks())
def test_a_store_does_what_the_case_expects(
    base: Runtime, tmp_path: Path, folder: Path, case: dict[str, Any], name: str, expected: Any
) -> None:
    if name not in CHECKS:
        pytest.skip(f"nothing here checks {name!r} yet")
    CHECKS[name](Given(base, input_of(folder, case, tmp_path), expected))
