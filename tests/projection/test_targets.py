"""Both projections on the real engines: drained, lost, rebuilt, and compared with PostgreSQL."""

from __future__ import annotations

import threading
import time
from itertools import pairwise

import numpy as np
import pytest

from pegas_assets.embedding.cache import text_key
from pegas_assets.projection.drain import drain
from pegas_assets.projection.reconcile import drift, empty, reconcile
from pegas_assets.projection.targets import Target
from pegas_assets.runtime import Runtime
from tests.stores.rows import make_atoms, make_document, make_link

COUNT = 40


@pytest.fixture
def filled(base: Runtime) -> Runtime:
    """Two documents, forty atoms with kept vectors, a chain of links; nothing is projected yet."""
    texts = [f"Gate {number} of the lock opens at level {number * 3}." for number in range(COUNT)]
    _keep_vectors(base, texts)
    first, second = make_document(base.database), make_document(base.database, "text:other")
    atoms = make_atoms(base.database, first, texts[:20]) + make_atoms(base.database, second, texts[20:])
    for src, dst in pairwise(atoms):
        make_link(base.database, src, dst)
    return base


def test_a_drain_leaves_no_drift_in_either_projection(filled: Runtime) -> None:
    done = drain(filled.database, filled.targets)

    assert [item.target for item in done] == ["vectors", "graph"]
    assert [item.unavailable for item in done] == ["", ""]
    assert _drift(filled) == {"vectors": 0, "graph": 0}
    assert filled.graph.counts()["CITES"] == COUNT


def test_what_waits_in_the_outbox_is_late_and_what_does_not_is_lost(filled: Runtime) -> None:
    drain(filled.database, filled.targets)
    (late,) = make_atoms(filled.database, make_document(filled.database), ["A gate that is not shown yet."])
    with filled.database.connection() as connection:
        (lost,) = connection.execute("SELECT min(id) FROM pm_atom").fetchone() or (0,)
    filled.vectors.delete(filled.vector_target.collection(), [f"atom:{lost}"])

    found = drift(filled.database, filled.vector_target)

    assert {key for state in found for key in state.missing} == {f"atom:{late}", f"atom:{lost}"}
    assert {key for state in found for key in state.late} == {f"atom:{late}"}


def test_progress_of_a_drain_is_told_for_each_target(filled: Runtime) -> None:
    told: list[str] = []

    drain(filled.database, filled.targets, progress=lambda state: told.append(state.target))

    assert set(told) == {"vectors", "graph"}


def test_lost_projections_are_rebuilt(filled: Runtime) -> None:
    drain(filled.database, filled.targets)
    filled.graph.clear()
    filled.vectors.drop_collection(filled.vector_target.collection())

    written = {target.name: _written(filled, target.name) for target in filled.targets}

    assert written == {"vectors": COUNT, "graph": COUNT + 2 + COUNT + COUNT - 1}
    assert _drift(filled) == {"vectors": 0, "graph": 0}


def test_a_projection_is_emptied_beside_a_rebuild_of_it_and_both_go_well(filled: Runtime) -> None:
    drain(filled.database, filled.targets)
    failures: list[BaseException] = []

    def rebuild(target: Target) -> None:
        try:
            for _ in range(5):
                reconcile(filled.database, target)
        except BaseException as error:  # noqa: BLE001 - it is told below
            failures.append(error)

    beside = [threading.Thread(target=rebuild, args=(target,)) for target in filled.targets]
    for thread in beside:
        thread.start()
    while any(thread.is_alive() for thread in beside):
        for target in filled.targets:
            empty(filled.database, target)
        time.sleep(0.1)
    assert failures == []
    for target in filled.targets:
        reconcile(filled.database, target)
    drain(filled.database, filled.targets, wait_s=5)
    assert _drift(filled) == {"vectors": 0, "graph": 0}


def test_whatever_changed_is_drift_until_it_is_reconciled(filled: Runtime) -> None:
    drain(filled.database, filled.targets)
    with filled.database.connection() as connection:
        ids = [row[0] for row in connection.execute("SELECT id FROM pm_atom ORDER BY id").fetchall()]
        connection.execute("UPDATE pm_atom SET status = 'verified' WHERE id = %s", [ids[0]])
        connection.execute("UPDATE pm_citation SET gone_at = now() WHERE atom_id = %s", [ids[1]])
        connection.execute("DELETE FROM pm_atom_link WHERE src = %s", [ids[2]])
        connection.execute("DELETE FROM pm_atom WHERE id = %s", [ids[-1]])

    # One more point; of the graph a changed node, a citation and a link that went, and a node with its two edges.
    assert _drift(filled) == {"vectors": 3, "graph": 6}
    assert _written(filled, "vectors") == 2
    assert _written(filled, "graph") == 1
    assert _drift(filled) == {"vectors": 0, "graph": 0}


def _drift(runtime: Runtime) -> dict[str, int]:
    return {target.name: sum(item.total for item in drift(runtime.database, target)) for target in runtime.targets}


def _written(runtime: Runtime, name: str) -> int:
    return sum(item.upserted for item in reconcile(runtime.database, runtime.target(name)))


def _keep_vectors(runtime: Runtime, texts: list[str]) -> None:
    """Vectors as if they had been embedded: the model is not what is tested."""
    fingerprint = runtime.embedder.fingerprint
    vectors = np.random.default_rng(1).normal(size=(len(texts), fingerprint.dimension)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    with runtime.database.connection() as connection, connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO pm_embedding (fingerprint, text_hash, vector) VALUES (%s, %s, %s)",
            [(str(fingerprint), text_key(text), vector.tobytes()) for text, vector in zip(texts, vectors, strict=True)],
        )
