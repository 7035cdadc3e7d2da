"""The outbox protocol, on the real PostgreSQL with a projection in memory."""

from __future__ import annotations

import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pegas_assets.identity import bucket_of
from pegas_assets.projection.drain import drain
from pegas_assets.projection.reconcile import drift, reconcile
from pegas_assets.runtime import Runtime
from pegas_assets.stores.locks import LockClass, release_buckets, try_buckets
from pegas_assets.stores.outbox import lag, prune_processed, revive_dead
from tests.projection.memory_target import MemoryTarget
from tests.stores.rows import make_atoms, make_document, make_link


@pytest.fixture
def target(base: Runtime) -> MemoryTarget:
    return MemoryTarget(base.database)


def test_a_drain_makes_the_projection_match_and_a_second_changes_nothing(base: Runtime, target: MemoryTarget) -> None:
    make_atoms(base.database, make_document(base.database), [f"Fact {n}." for n in range(300)])
    (first,) = drain(base.database, [target])
    assert (first.done, first.failed, len(target.shown), target.total_drift()) == (300, 0, 300, 0)
    (second,) = drain(base.database, [target])
    assert second.done == 0


def test_a_deleted_atom_leaves_the_projection(base: Runtime, target: MemoryTarget) -> None:
    atoms = make_atoms(base.database, make_document(base.database), ["One.", "Two."])
    drain(base.database, [target])
    with base.database.connection() as connection:
        connection.execute("DELETE FROM pm_atom WHERE id = %s", [atoms[0]])
    drain(base.database, [target])
    assert set(target.shown) == {f"atom:{atoms[1]}"}


def test_a_row_that_commits_later_with_a_lower_id_is_not_lost(base: Runtime, target: MemoryTarget) -> None:
    document = make_document(base.database)
    (first,) = make_atoms(base.database, document, ["One."])
    drain(base.database, [target])
    with base.database.connection() as slow:
        slow.execute("UPDATE pm_atom SET claim = 'One, changed.' WHERE id = %s", [first])
        (second,) = make_atoms(base.database, document, ["Two."])
        drain(base.database, [target])
        assert f"atom:{second}" in target.shown
    drain(base.database, [target])
    assert target.total_drift() == 0


def test_a_change_made_while_its_older_state_is_written_is_written_after_it(
    base: Runtime, target: MemoryTarget
) -> None:
    (atom,) = make_atoms(base.database, make_document(base.database), ["One."])

    def change() -> None:
        target.after_read = None
        with base.database.connection() as connection:
            connection.execute("UPDATE pm_atom SET confidence = 0.99 WHERE id = %s", [atom])

    target.after_read = change
    drain(base.database, [target])
    drain(base.database, [target])
    assert target.total_drift() == 0


def test_a_poison_row_keeps_its_error_backs_off_and_blocks_no_other(base: Runtime, target: MemoryTarget) -> None:
    atoms = make_atoms(base.database, make_document(base.database), [f"Fact {n}." for n in range(64)])
    target.poison = {f"atom:{atoms[17]}"}
    (result,) = drain(base.database, [target])
    assert (result.done, result.failed) == (63, 1)
    with base.database.connection() as connection:
        row = connection.execute(
            "SELECT vector_state, vector_attempts, vector_error, vector_next_at > now() FROM pm_outbox "
            "WHERE entity_key = %s AND vector_state <> 'done'",
            [f"atom:{atoms[17]}"],
        ).fetchone()
    assert row == ("pending", 1, "ValueError: a row that nobody can digest", True)


def test_after_its_last_attempt_a_row_is_set_aside_and_seen_and_can_be_revived(
    base: Runtime, target: MemoryTarget
) -> None:
    (atom,) = make_atoms(base.database, make_document(base.database), ["One."])
    target.poison = {f"atom:{atom}"}
    for _ in range(2):
        drain(base.database, [target], max_attempts=2)
        with base.database.connection() as connection:
            connection.execute("UPDATE pm_outbox SET vector_next_at = now()")
    with base.database.connection() as connection:
        assert lag(connection)["vectors"].dead == 1
        assert "nobody can digest" in lag(connection)["vectors"].example_error
    target.poison = set()
    (nothing,) = drain(base.database, [target])
    assert nothing.done == 0
    with base.database.connection() as connection:
        assert revive_dead(connection) == 1
    (revived,) = drain(base.database, [target])
    assert (revived.done, target.total_drift()) == (1, 0)


def test_one_target_being_down_never_holds_up_the_other(base: Runtime, target: MemoryTarget) -> None:
    make_atoms(base.database, make_document(base.database), ["One.", "Two."])
    away = MemoryTarget(base.database)
    away.down = True
    stopped, went_on = drain(base.database, [away, target])
    assert (stopped.done, "away" in stopped.unavailable) == (0, True)
    assert went_on.done == 2
    with base.database.connection() as connection:
        assert connection.execute("SELECT sum(vector_attempts) FROM pm_outbox").fetchone() == (0,)


def test_a_bucket_that_another_consumer_holds_is_left_to_it(base: Runtime, target: MemoryTarget) -> None:
    make_atoms(base.database, make_document(base.database), [f"Fact {n}." for n in range(100)])
    with base.database.session() as other:
        held = try_buckets(other, LockClass.VECTOR_BUCKET, [3, 4])
        assert held == [3, 4]
        (result,) = drain(base.database, [target])
        assert result.busy_buckets == (3, 4)
        assert not {3, 4} & set(result.by_bucket)
    (rest,) = drain(base.database, [target])
    assert set(rest.by_bucket) == {3, 4}
    assert target.total_drift() == 0


def test_only_the_rows_that_are_named_are_drained(base: Runtime, target: MemoryTarget) -> None:
    atoms = make_atoms(base.database, make_document(base.database), [f"Fact {n}." for n in range(10)])
    (result,) = drain(base.database, [target], keys=[f"atom:{atoms[4]}"])
    assert (result.done, set(target.shown)) == (1, {f"atom:{atoms[4]}"})


def test_eight_drains_at_once_show_each_atom_once_and_as_it_is(base: Runtime, target: MemoryTarget) -> None:
    document = make_document(base.database)
    make_atoms(base.database, document, [f"Fact {n}." for n in range(400)])
    threads = [threading.Thread(target=drain, args=(base.database, [target])) for _ in range(3)]
    for thread in threads:
        thread.start()
    make_atoms(base.database, document, [f"Later fact {n}." for n in range(100)])
    for thread in threads:
        thread.join(timeout=60)
    drain(base.database, [target])
    assert (len(target.shown), target.total_drift()) == (500, 0)


def test_a_reconcile_mends_whatever_is_wrong_and_settles_what_was_pending(base: Runtime, target: MemoryTarget) -> None:
    atoms = make_atoms(base.database, make_document(base.database), [f"Fact {n}." for n in range(50)])
    target.shown = {f"atom:{atoms[0]}": "another state", "atom:999999": "nobody wrote it"}
    found = drift(base.database, target)
    assert (sum(len(item.missing) for item in found), sum(len(item.different) for item in found)) == (49, 1)
    results = reconcile(base.database, target)
    assert sum(item.upserted for item in results) == 50
    assert sum(item.deleted for item in results) >= 1
    assert all(item.left is not None and item.left.total == 0 for item in results)
    (after,) = drain(base.database, [target])
    assert after.done == 0


def test_processed_rows_are_pruned_and_pending_ones_kept(base: Runtime, target: MemoryTarget) -> None:
    make_atoms(base.database, make_document(base.database), ["One."])
    with base.database.connection() as connection:
        connection.execute("UPDATE pm_outbox SET created_at = now() - interval '30 days'")
        connection.execute("UPDATE pm_outbox SET vector_state = 'done', graph_state = 'done' WHERE entity_type = 'doc'")
        assert prune_processed(connection, 7) == 1
        assert connection.execute("SELECT count(*) FROM pm_outbox").fetchone() == (1,)


operations = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.integers(0, 6)),
        st.tuples(st.just("change"), st.integers(0, 6)),
        st.tuples(st.just("delete"), st.integers(0, 6)),
        st.tuples(st.just("drain"), st.just(0)),
    ),
    max_size=25,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=operations)
def test_any_order_of_writes_and_drains_ends_without_drift(base: Runtime, steps: list[tuple[str, int]]) -> None:
    target = MemoryTarget(base.database)
    with base.database.connection() as connection:
        connection.execute("DELETE FROM pm_atom")
        connection.execute("DELETE FROM pm_outbox")
    for step, which in steps:
        if step == "drain":
            drain(base.database, [target])
            continue
        statement = {
            "write": "INSERT INTO pm_atom (type, content, content_hash) VALUES ('fact', %s, %s) ON CONFLICT DO NOTHING",
            "change": "UPDATE pm_atom SET confidence = 1 - confidence WHERE content = %s AND content_hash = %s",
            "delete": "DELETE FROM pm_atom WHERE content = %s AND content_hash = %s",
        }[step]
        with base.database.connection() as connection:
            connection.execute(statement.encode(), [f"text {which}", f"hash {which}"])
    drain(base.database, [target])
    assert target.total_drift() == 0


def test_an_edge_follows_as_soon_as_its_end_is_written_by_another_consumer(base: Runtime) -> None:
    atoms = make_atoms(base.database, make_document(base.database), ["One.", "Two."])
    make_link(base.database, atoms[0], atoms[1])
    kind, bucket = LockClass.GRAPH_BUCKET, bucket_of(f"atom:{atoms[1]}")
    with base.database.session() as other:
        assert try_buckets(other, kind, [bucket]) == [bucket]
        (first,) = drain(base.database, [base.graph_target])
        assert first.busy_buckets == (bucket,)
        release_buckets(other, kind, [bucket])
    (second,) = drain(base.database, [base.graph_target], wait_s=10.0)
    assert (second.waiting, second.busy_buckets) == (0, ())
    assert sum(item.total for item in drift(base.database, base.graph_target)) == 0
