"""The three stages: a changed text is read anew, a failing model costs nothing, and no document is done twice."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from pegas_assets.errors import EngineUnavailable, PegasError
from pegas_assets.model import AtomType, Distillation, DistilledAtom, DistilState
from pegas_assets.pipeline.accept import accept_files, accept_text
from pegas_assets.pipeline.chunks import chunk_pending
from pegas_assets.pipeline.documents import fetch_pending
from pegas_assets.pipeline.ingest import ingest_source
from pegas_assets.pipeline.report import StageReport
from pegas_assets.runtime import Runtime
from pegas_assets.search.hybrid import search
from pegas_assets.search.request import SearchRequest
from pegas_assets.stores import soundness
from pegas_assets.stores.attempts import MAX_ATTEMPTS, begin_attempt
from pegas_assets.stores.locks import try_document
from pegas_assets.stores.operations import operation_state
from tests.pipeline.reading import (
    Scripted,
    atoms,
    ingest,
    one,
    retry_now,
    rows,
    settle,
    take_file,
    take_text,
    total_drift,
    with_parts,
)

WEIR = "# The weir\n\nThe weir was rebuilt in 1954.\n\n# The lock\n\nThe lock has nine gates.\n\n# The keeper\n\nThe keeper lives on the island.\n"
NEW_LOCK = WEIR.replace("nine gates", "ten gates")


def quotations(base: Runtime, document: int) -> dict[str, tuple[str, bool]]:
    """Quotation → (the text at its locator's place in the document, whether it is gone)."""
    text = "".join(
        row[0]
        for row in rows(base, "SELECT convert_from(bytes, 'UTF8') FROM pm_document_body WHERE doc_id = %s", document)
    )
    return {
        quoted: (text[int(locator["start"]) : int(locator["end"])], gone)
        for quoted, locator, gone in rows(
            base,
            "SELECT quoted_text, locator, gone_at IS NOT NULL FROM pm_citation WHERE doc_id = %s",
            document,
        )
    }


def assert_sound(base: Runtime) -> None:
    with base.database.connection() as connection:
        for question in (
            soundness.atoms_twice,
            soundness.documents_twice,
            soundness.citations_unquoted,
            soundness.atoms_uncited,
            soundness.failed_distillations,
            soundness.failed_documents,
        ):
            assert question(connection) == soundness.Findings(0), question.__name__


def test_a_changed_text_keeps_what_stayed_and_marks_what_is_gone_and_takes_it_back(
    base: Runtime, tmp_path: Path
) -> None:
    file = tmp_path / "weir.md"
    file.write_text(WEIR)
    document = take_file(base, file)
    before = atoms(base)
    chunks = dict(rows(base, "SELECT content, id FROM pm_chunk"))
    assert len(chunks) == 3
    assert all(quoted == at for quoted, (at, _) in quotations(base, document).items())
    lock = next(id_ for content, (id_, _) in before.items() if content == "fact: The lock has nine gates.")
    rows(base, "UPDATE pm_atom SET status = 'verified', confidence = 0.9 WHERE id = %s", lock)

    # A longer beginning moves all that follows; one word of the second chunk is another.
    file.write_text("# Before\n\nThe river was wild once.\n\n" + NEW_LOCK)
    assert take_file(base, file) == document
    after = atoms(base)
    now = dict(rows(base, "SELECT content, id FROM pm_chunk"))
    kept = {content for content in chunks if "nine" not in content}
    assert {content: now[content] for content in kept} == {content: chunks[content] for content in kept}
    assert all(after[content][0] == id_ for content, (id_, _) in before.items())
    assert after["fact: The lock has nine gates."] == (lock, "stale")
    assert str(document) in one(base, "SELECT status_reason FROM pm_atom WHERE id = %s", lock)
    assert after["fact: The lock has ten gates."][1] == "candidate"
    found = quotations(base, document)
    assert found["The lock has nine gates."][1]
    living = {quoted: at for quoted, (at, gone) in found.items() if not gone}
    assert all(quoted == at for quoted, at in living.items())
    assert {"The weir was rebuilt in 1954.", "The keeper lives on the island."} <= living.keys()
    own = rows(base, "SELECT locator->>'start' FROM pm_atom WHERE content = 'The keeper lives on the island.'")
    assert all(int(start) > WEIR.index("The keeper lives") for (start,) in own)
    assert_sound(base)

    file.write_text(WEIR)
    assert take_file(base, file) == document
    back = atoms(base)
    assert back["fact: The lock has nine gates."] == (lock, "verified")
    assert back["fact: The lock has ten gates."][1] == "stale"
    assert_sound(base)
    settle(base)
    assert total_drift(base) == 0


def test_an_atom_whose_only_text_went_lives_again_when_another_document_states_it(
    base: Runtime, tmp_path: Path
) -> None:
    file = tmp_path / "a.md"
    file.write_text("The lock has nine gates.")
    take_file(base, file)
    file.write_text("The lock is gone.")
    take_file(base, file)
    assert atoms(base)["fact: The lock has nine gates."][1] == "stale"
    take_text(base, "Old papers say much.\n\nThe lock has nine gates.")
    assert atoms(base)["fact: The lock has nine gates."][1] == "candidate"


def test_a_changed_html_file_is_read_again(base: Runtime, tmp_path: Path) -> None:
    page = "<html><body><main><h1>Weir</h1><p>The weir was rebuilt in {}. It has nine gates, and the keeper opens them.</p></main></body></html>"
    file = tmp_path / "weir.html"
    file.write_text(page.format(1954))
    document = take_file(base, file)
    file.write_text(page.format(1955))
    assert take_file(base, file) == document
    assert one(base, "SELECT status FROM pm_document WHERE id = %s", document) == "done"
    assert "1955" in one(base, "SELECT string_agg(content, ' ') FROM pm_chunk WHERE doc_id = %s", document)


def test_a_newer_version_that_cannot_be_read_leaves_the_older_reading(base: Runtime, tmp_path: Path) -> None:
    file = tmp_path / "weir.md"
    file.write_text(WEIR)
    document = take_file(base, file)
    before = atoms(base)
    file.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    take_file(base, file)
    ((status, error),) = rows(base, "SELECT status, error FROM pm_document WHERE id = %s", document)
    assert status == "done"
    assert "not text" in error
    assert atoms(base) == before


def test_forcing_a_source_changes_nothing_that_is_as_it_was(base: Runtime) -> None:
    document = take_text(base, WEIR)
    before = (atoms(base), quotations(base, document))
    reports = ingest(base, "text:agent", force=True)
    assert [report.documents for report in reports[1:]] == [1, 1]
    assert reports[2].produced == 0
    assert (atoms(base), quotations(base, document)) == before


@pytest.mark.parametrize(
    "outcome",
    [
        Distillation(state=DistilState.FAILED, raw="<think>hm", reason="The reply is no JSON."),
        RuntimeError("the model fell over \x00"),
    ],
    ids=["nonsense", "exception"],
)
def test_a_failing_distiller_marks_the_chunk_and_the_text_stays_searchable(
    base: Runtime, outcome: Distillation | Exception
) -> None:
    accepted = accept_text(base.database, base.settings, "The weir was rebuilt in 1954.")
    reports = ingest_source(with_parts(base, distiller=Scripted(outcome)), accepted.sources[0])
    assert reports[2].failed["distil_failed"] == 1
    ((status, state, error),) = rows(
        base,
        "SELECT document.status, distil_state, distil_error FROM pm_chunk JOIN pm_document AS document ON document.id = doc_id",
    )
    assert (status, state) == ("done", "failed")
    assert error
    hits = search(base.search_engines, SearchRequest.checked("when was the weir rebuilt")).hits
    assert [hit.text for hit in hits] == ["The weir was rebuilt in 1954."]
    # A better distiller mends it without being asked for the document.
    ingest(base, accepted.sources[0])
    assert one(base, "SELECT distil_state FROM pm_chunk") == "facts"


def fact(claim: str, quotation: str) -> DistilledAtom:
    return DistilledAtom(type=AtomType.FACT, claim=claim, content=claim, quotation=quotation)


def test_a_quotation_that_does_not_occur_is_refused_with_its_atom(base: Runtime) -> None:
    accepted = accept_text(base.database, base.settings, "The weir was\nrebuilt in 1954.")
    told = Distillation(
        state=DistilState.FACTS,
        atoms=(
            fact("The weir was rebuilt in 1954.", "The weir was rebuilt in 1954."),
            fact("The weir is 30 m wide.", "The weir is 30 m wide."),
            fact("The weir is old.", ""),
        ),
    )
    reports = ingest_source(with_parts(base, distiller=Scripted(told)), accepted.sources[0])
    assert reports[2].counts["refused: quotation not in the text"] == 2
    assert [key for key in atoms(base) if key.startswith("fact")] == ["fact: The weir was rebuilt in 1954."]
    assert_sound(base)


def test_another_distiller_retires_what_it_does_not_find_and_finding_it_again_undoes_that(base: Runtime) -> None:
    text = "The weir was rebuilt in 1954. The lock has nine gates."
    accepted = accept_text(base.database, base.settings, text)
    both = Distillation(
        state=DistilState.FACTS,
        atoms=(
            fact("The weir was rebuilt in 1954.", "The weir was rebuilt in 1954."),
            fact("The lock has nine gates.", "The lock has nine gates."),
        ),
    )
    less = Distillation(state=DistilState.FACTS, atoms=both.atoms[:1])
    statuses = []
    for outcome, name in ((both, "scripted/1"), (less, "scripted/2"), (both, "scripted/3")):
        ingest_source(with_parts(base, distiller=Scripted(outcome, name)), accepted.sources[0])
        statuses.append(atoms(base)["fact: The lock has nine gates."][1])
        assert atoms(base)["fact: The weir was rebuilt in 1954."][1] == "candidate"
    assert statuses == ["candidate", "stale", "candidate"]


def test_a_document_that_kills_its_worker_is_failed_with_the_reason(base: Runtime) -> None:
    accepted = accept_text(base.database, base.settings, "The weir was rebuilt in 1954.")
    other = accept_text(base.database, base.settings, "The lock has nine gates.")
    (document,) = accepted.document_ids
    with base.database.connection() as connection:
        for _ in range(MAX_ATTEMPTS):
            begin_attempt(connection, document)
    ingest(base, accepted.sources[0])
    with base.database.connection() as connection:
        state = operation_state(connection, accepted.operation_id)
        assert operation_state(connection, other.operation_id).counts == {"done": 1}
    assert state.counts == {"failed": 1}
    assert str(MAX_ATTEMPTS) in state.items[0].reason
    assert state.finished


def test_an_error_of_ours_is_written_down_tried_again_and_then_failed(
    base: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted = accept_text(base.database, base.settings, "The weir was rebuilt in 1954.")

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("no such gate")

    monkeypatch.setattr("pegas_assets.pipeline.chunks.parse", broken)
    for attempt in range(1, MAX_ATTEMPTS + 1):
        report = ingest(base, accepted.sources[0])[1]
        assert report.failed == {"internal_error": 1}
        ((status, error, attempts),) = rows(base, "SELECT status, error, attempts FROM pm_document")
        assert "no such gate" in error
        assert attempts == attempt
        assert status == ("failed" if attempt == MAX_ATTEMPTS else "accepted")
        # Not before its time.
        assert ingest(base, accepted.sources[0])[1].failed == {}
        retry_now(base)


def test_an_engine_that_goes_away_in_the_middle_leaves_the_rest_to_the_next_run(
    base: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(3):
        accept_text(base.database, base.settings, f"Buoy {n} is lit at night.")
    real = base.embedder.embed_passages
    calls = 0

    def failing(texts: list[str]) -> object:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise EngineUnavailable("The embedding model is away.", component="embedder")
        return real(texts)

    monkeypatch.setattr(base.embedder, "embed_passages", failing)
    with pytest.raises(EngineUnavailable):
        ingest(base, "text:agent")
    state = rows(base, "SELECT status, attempts, coalesce(error, '') FROM pm_document ORDER BY id")
    assert state[0] == ("done", 0, "")
    assert state[1] == ("parsed", 0, "The embedding model is away.")
    retry_now(base)
    ingest(base, "text:agent")
    assert rows(base, "SELECT DISTINCT status, coalesce(error, '') FROM pm_document") == [("done", "")]
    assert_sound(base)


def test_a_document_that_another_worker_holds_is_left_to_it(base: Runtime) -> None:
    accepted = accept_text(base.database, base.settings, "The weir was rebuilt in 1954.")
    with base.database.session() as session:
        assert try_document(session, accepted.document_ids[0])
        reports = ingest(base, accepted.sources[0])
        assert reports[1].skipped["another worker has it"] == 1
    assert one(base, "SELECT status FROM pm_document") == "accepted"
    ingest(base, accepted.sources[0])
    assert one(base, "SELECT status FROM pm_document") == "done"


WORKER = """
import sys
from pathlib import Path
from pegas_assets.runtime import Runtime
from pegas_assets.settings import Settings
from pegas_assets.pipeline.ingest import ingest_source

with Runtime(Settings(_env_file=None, home=Path(sys.argv[1]), base=sys.argv[2])) as runtime:
    runtime.embedder
    print("ready", flush=True)
    sys.stdin.readline()
    print(sum(report.documents for report in ingest_source(runtime.ingest_parts, sys.argv[3])[1:2]))
"""


def test_workers_in_threads_and_in_another_process_never_do_a_document_twice(base: Runtime) -> None:
    for n in range(8):
        accept_text(base.database, base.settings, f"Buoy {n} is lit at night.")
    other = subprocess.Popen(
        [sys.executable, "-c", WORKER, str(base.settings.home), base.settings.base, "text:agent"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert other.stdin is not None
    assert other.stdout is not None
    try:
        assert other.stdout.readline() == "ready\n"
        reports: list[list[StageReport]] = []
        errors: list[PegasError] = []

        def work() -> None:
            try:
                reports.append(ingest(base, "text:agent"))
            except PegasError as error:
                errors.append(error)

        threads = [threading.Thread(target=work) for _ in range(3)]
        other.stdin.write("go\n")
        other.stdin.flush()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        out, _ = other.communicate(timeout=60)
    finally:
        other.kill()
        other.wait()
    assert errors == []
    # Who skipped a document that another held leaves what follows for the next run.
    ingest(base, "text:agent")
    assert int(out) + sum(stages[1].documents for stages in reports) == 8
    assert rows(base, "SELECT status, count(*) FROM pm_document GROUP BY 1") == [("done", 8)]
    assert one(base, "SELECT count(*) FROM pm_chunk") == 8
    assert_sound(base)


def test_progress_is_told_for_each_document_of_each_stage(base: Runtime) -> None:
    for n in range(3):
        accept_text(base.database, base.settings, f"Buoy {n} is lit at night.")
    told: list[tuple[str, int, int]] = []
    ingest(base, "text:agent", progress=lambda stage, done, total: told.append((stage, done, total)))
    for stage in ("documents", "chunks", "atoms"):
        assert [entry[1:] for entry in told if entry[0] == stage] == [(1, 3), (2, 3), (3, 3)]


def test_only_the_documents_that_are_named_are_worked_on(base: Runtime, tmp_path: Path) -> None:
    for n in range(3):
        (tmp_path / f"{n}.txt").write_text(f"Buoy {n} is lit at night.")
    accepted = accept_files(base.database, base.settings, str(tmp_path))
    first, second, third = accepted.document_ids
    ingest(base, accepted.sources[0], only=[second])
    assert dict(rows(base, "SELECT id, status FROM pm_document")) == {
        first: "accepted",
        second: "done",
        third: "accepted",
    }
    chunk_pending(base.database, base.settings, base.embedder, accepted.sources[0], only=[third])
    assert fetch_pending(base.database, base.settings, accepted.sources[0]).skipped == {"bytes are here": 1}
    assert one(base, "SELECT status FROM pm_document WHERE id = %s", third) == "parsed"
