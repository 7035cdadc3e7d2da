"""Deleted means gone: from every table, leg and projection, whatever comes after; what others support stays."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pegas_assets.errors import EngineUnavailable, InvalidInput, NotFound, PegasError
from pegas_assets.forget import forget
from pegas_assets.model import AtomType
from pegas_assets.pipeline import atoms as atoms_stage
from pegas_assets.pipeline.accept import accept_files, accept_text, accept_urls
from pegas_assets.pipeline.store import store_atom
from pegas_assets.projection.reconcile import reconcile
from pegas_assets.runtime import Runtime
from pegas_assets.search.hybrid import search
from pegas_assets.search.request import SearchRequest
from pegas_assets.stores.locks import try_document
from pegas_assets.stores.operations import operation_state
from tests.conftest import fresh_base
from tests.embedding_once import embeds_once
from tests.pipeline.reading import atoms, ingest, one, rows, settle, take_file, take_text, total_drift

MARKER = "quillfeather"
SECRET = (
    "---\ntitle: Quillfeather papers\nauthor: Q. Quillfeather\n---\n\n# Quillfeather\n\n"
    "The Quillfeather safe has 7 locks.\n\n## The Quillfeather code\n\n```python\nquillfeather = 7\n```\n"
)
SHARED = "The lantern burns about 40 litres of oil each year."
SAME = "The lantern burns approximately 40 liters of oil every year."


@pytest.fixture
def base(home: Path) -> Iterator[Runtime]:
    with fresh_base(home) as made:
        yield embeds_once(made)


def tables_with(base: Runtime, marker: str) -> list[str]:
    """Every `table.column` of the base that holds a marker in text, JSON or bytes, in any case."""
    found = []
    for table, column, kind in rows(
        base,
        "SELECT table_name, column_name, data_type FROM information_schema.columns JOIN information_schema.tables "
        "USING (table_schema, table_name) WHERE table_schema = 'public' AND table_type = 'BASE TABLE' "
        "AND data_type IN ('text', 'jsonb', 'bytea', 'ARRAY', 'character varying')",
    ):
        held = f"encode({column}, 'escape')" if kind == "bytea" else f"{column}::text"
        if one(base, f"SELECT count(*) FROM {table} WHERE strpos(lower({held}), %s) > 0", marker):
            found.append(f"{table}.{column}")
    return found


def shown(base: Runtime, query: str) -> list[str]:
    request = SearchRequest.checked(query, statuses=["candidate", "verified", "contested", "stale"], k=50)
    return [hit.text for hit in search(base.search_engines, request).hits]


def projected(base: Runtime) -> tuple[int, dict[str, int]]:
    """Points, and nodes and edges."""
    points = sum(len(base.vectors.hashes(base.vector_target.collection(), bucket)) for bucket in range(16))
    return points, {name: count for name, count in base.graph.counts().items() if count}


def test_what_only_one_document_said_is_gone_from_everywhere(base: Runtime, tmp_path: Path) -> None:
    file = tmp_path / "quillfeather.md"
    file.write_text(SECRET)
    document = take_file(base, file)
    settle(base)
    assert shown(base, "quillfeather safe locks")
    assert len(tables_with(base, MARKER)) >= 6

    forgotten = forget(base.database, base.targets, document_id=document)
    assert forgotten.atoms_removed >= 3
    assert (forgotten.atoms_kept, forgotten.citations_removed >= 3) == (0, True)
    assert not any(drained.unavailable or drained.failed for drained in forgotten.drained)
    assert tables_with(base, MARKER) == []
    assert one(base, "SELECT count(*) FROM pm_embedding") == 0
    assert shown(base, "quillfeather safe locks") == []
    assert projected(base) == (0, {})
    assert total_drift(base) == 0

    # After a rebuild, a new process, a sibling.
    for target in base.targets:
        reconcile(base.database, target)
    take_text(base, SHARED)
    settle(base)
    with Runtime(base.settings) as later:
        embeds_once(later)
        assert shown(later, "quillfeather safe locks") == [SHARED]
        assert total_drift(later) == 0
    assert tables_with(base, MARKER) == []
    # The row tells that there was one.
    assert rows(base, "SELECT status, kind, forgotten_at IS NOT NULL FROM pm_document WHERE id = %s", document) == [
        ("forgotten", "text", True)
    ]


def test_a_page_is_forgotten_by_any_of_its_addresses_and_its_requests_no_longer_name_it(base: Runtime) -> None:
    url = "https://example.org/quillfeather"
    accepted = accept_urls(base.database, base.settings, [url])
    with base.database.connection() as connection:
        connection.execute(
            "INSERT INTO pm_document_uri (doc_id, uri) SELECT id, 'https://example.org/q' FROM pm_document"
        )
    forget(base.database, base.targets, uri="https://example.org/q")
    assert tables_with(base, MARKER) == []
    with base.database.connection() as connection:
        state = operation_state(connection, accepted.operation_id)
    assert (state.counts, state.finished) == ({"forgotten": 1}, True)
    # It is not fetched any more, and may be asked for anew.
    assert ingest(base, "web:example.org")[0].documents == 0
    again = accept_urls(base.database, base.settings, [url])
    assert again.items[0].outcome is None


def test_what_another_document_supports_stays_with_it(base: Runtime, tmp_path: Path) -> None:
    first = take_text(base, f"# Quillfeather\n\n{SHARED}\n\nThe Quillfeather safe has 7 locks.")
    second = take_text(base, f"# Notes\n\n{SHARED}")
    settle(base)
    (shared, _) = atoms(base)[f"fact: {SHARED}"]
    forgotten = forget(base.database, base.targets, document_id=first)
    assert forgotten.atoms_kept == 1
    assert tables_with(base, MARKER) == []
    ((doc_id, locator),) = rows(base, "SELECT doc_id, locator FROM pm_atom WHERE id = %s", shared)
    assert (doc_id, locator["section"]) == (second, ["Notes"])
    (hit,) = search(base.search_engines, SearchRequest.checked("oil of the lantern", types=["fact"])).hits
    assert (hit.key, [citation.document_id for citation in hit.citations]) == (f"atom:{shared}", [second])
    assert total_drift(base) == 0


def test_a_passage_that_stays_takes_the_headings_of_who_still_has_it(base: Runtime) -> None:
    take_text(base, f"# Notes\n\n{SHARED}")
    first = take_text(base, SHARED)
    rows(base, "UPDATE pm_atom SET context = 'Quillfeather', doc_id = %s", first)
    forget(base.database, base.targets, document_id=first)
    assert rows(base, "SELECT DISTINCT context FROM pm_atom WHERE type <> 'text'") == [("Notes",)]
    assert tables_with(base, MARKER) == []
    settle(base)
    assert total_drift(base) == 0


def test_what_stays_is_said_in_the_words_of_who_still_says_it(base: Runtime) -> None:
    first = take_text(base, SAME)
    second = take_text(base, SHARED)
    (fact,) = [id_ for key, (id_, _) in atoms(base).items() if key == f"fact: {SAME}"]
    forget(base.database, base.targets, document_id=first)
    assert tables_with(base, "approximately") == []
    assert atoms(base) == {
        f"fact: {SHARED}": (fact, "candidate"),
        f"text: {SHARED}": (atoms(base)[f"text: {SHARED}"][0], "candidate"),
    }
    settle(base)
    assert total_drift(base) == 0
    # The same text again is one with it.
    assert take_text(base, f"Again.\n\n{SHARED}") not in (first, second)
    assert len([key for key in atoms(base) if key.startswith("fact")]) == 1


def test_the_vector_of_a_wording_that_became_a_citation_is_not_kept(base: Runtime) -> None:
    take_text(base, SHARED)
    kept = one(base, "SELECT count(*) FROM pm_embedding")
    second = take_text(base, SAME)
    assert one(base, "SELECT count(*) FROM pm_embedding") == kept
    forget(base.database, base.targets, document_id=second)
    assert one(base, "SELECT count(*) FROM pm_embedding") == kept


def test_the_vector_of_a_content_that_was_cut_to_fit_goes_too(base: Runtime) -> None:
    rules = "\n".join(f"berth[{n}] = 'boat {n}'" for n in range(48))
    stored = store_atom(base.ingest_parts, base.targets, type=AtomType.CODE, content=rules)
    assert one(base, "SELECT count(*) FROM pm_embedding") > 0
    forget(base.database, base.targets, document_id=stored.document_id)
    assert one(base, "SELECT count(*) FROM pm_embedding") == 0
    assert one(base, "SELECT count(*) FROM pm_atom") == 0


def test_an_atom_that_only_an_older_version_of_another_document_states_is_stale_then(
    base: Runtime, tmp_path: Path
) -> None:
    file = tmp_path / "a.md"
    file.write_text(SHARED)
    take_file(base, file)
    file.write_text("The lantern is out.")
    older = take_file(base, file)
    other = take_text(base, f"From the book.\n\n{SHARED}")
    assert atoms(base)[f"fact: {SHARED}"][1] == "candidate"
    forget(base.database, base.targets, document_id=other)
    ((status, reason),) = rows(
        base, "SELECT status, status_reason FROM pm_atom WHERE content = %s AND type = 'fact'", SHARED
    )
    assert status == "stale"
    assert str(older) in reason


def test_forgetting_during_the_ingest_of_a_sibling_loses_nothing_of_it(
    base: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = take_text(base, f"# Quillfeather\n\n{SHARED}")
    settle(base)
    accepted = accept_text(base.database, base.settings, f"# Notes\n\n{SAME}")
    real = atoms_stage.look_around
    done: list[int] = []

    def meanwhile(*arguments: object) -> object:
        around = real(*arguments)  # type: ignore[arg-type]
        if not done:
            done.append(forget(base.database, base.targets, document_id=first).atoms_removed)
        return around

    monkeypatch.setattr(atoms_stage, "look_around", meanwhile)
    ingest(base, accepted.sources[0])
    assert done
    assert tables_with(base, MARKER) == []
    assert f"fact: {SAME}" in atoms(base)
    assert one(base, "SELECT count(*) FROM pm_citation WHERE gone_at IS NULL") == 2
    settle(base)
    assert total_drift(base) == 0


def test_siblings_that_come_and_go_at_once_leave_no_trace_and_no_loss(base: Runtime) -> None:
    errors: list[Exception] = []
    kept: list[int] = []

    def come_and_go(n: int) -> None:
        try:
            for round_ in range(2):
                document = take_text(base, f"Quillfeather {n} {round_}.\n\n{SHARED}", client=f"c{n}")
                if n % 2:
                    kept.append(document)
                else:
                    forget(base.database, base.targets, document_id=document)
        except Exception as error:  # noqa: BLE001 - the test shows whatever came
            errors.append(error)

    threads = [threading.Thread(target=come_and_go, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert errors == []
    assert (
        one(base, "SELECT count(*) FROM pm_citation JOIN pm_atom AS a ON a.id = atom_id WHERE a.content = %s", SHARED)
        == 4
    )
    for document in kept:
        forget(base.database, base.targets, document_id=document)
    assert tables_with(base, MARKER) == []
    assert one(base, "SELECT count(*) FROM pm_atom") == 0
    settle(base)
    assert total_drift(base) == 0


def test_forgetting_twice_or_what_is_not_there_says_so(base: Runtime) -> None:
    document = take_text(base, SHARED)
    forget(base.database, base.targets, document_id=document)
    for wrong in ({"document_id": document}, {"document_id": 10**9}, {"uri": "https://example.org/none"}):
        with pytest.raises(NotFound) as caught:
            forget(base.database, base.targets, **wrong)  # type: ignore[arg-type]
        assert caught.value.hint
    for wrong in ({}, {"document_id": 1, "uri": "x"}):
        with pytest.raises(InvalidInput, match="one document"):
            forget(base.database, base.targets, **wrong)  # type: ignore[arg-type]


def test_a_document_that_is_being_worked_on_is_busy(base: Runtime) -> None:
    document = take_text(base, SHARED)
    with base.database.session() as session:
        assert try_document(session, document)
        with pytest.raises(PegasError) as caught:
            forget(base.database, base.targets, document_id=document)
    assert (caught.value.code, caught.value.retryable) == ("busy", True)
    assert atoms(base)


def test_what_was_forgotten_may_come_again(base: Runtime, tmp_path: Path) -> None:
    file = tmp_path / "quillfeather.md"
    file.write_text(SECRET)
    first = take_file(base, file)
    forget(base.database, base.targets, document_id=first)
    accepted = accept_files(base.database, base.settings, str(file))
    assert [item.outcome for item in accepted.items] == [None]
    second = take_file(base, file)
    assert second != first
    settle(base)
    assert any("7 locks" in text for text in shown(base, "quillfeather safe locks"))
    assert total_drift(base) == 0


def test_with_the_projections_down_nobody_sees_it_and_they_follow_later(
    base: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = take_text(base, SHARED)
    settle(base)

    def gone() -> None:
        raise EngineUnavailable("The engine is away.")

    with monkeypatch.context() as away:
        for target in base.targets:
            away.setattr(target, "prepare", gone)
        forgotten = forget(base.database, base.targets, document_id=document)
    assert all(drained.unavailable for drained in forgotten.drained)
    assert projected(base)[0] > 0
    assert shown(base, "oil of the lantern") == []
    settle(base)
    assert projected(base) == (0, {})
