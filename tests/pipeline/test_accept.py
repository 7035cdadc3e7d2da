"""What is accepted is kept, the same thing twice is one thing, and bad input gets a sentence."""

from __future__ import annotations

import json
import os
import threading
import unicodedata
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from pegas_assets.errors import EngineUnavailable, InvalidInput, NotFound
from pegas_assets.forget import forget
from pegas_assets.model import DocumentStatus
from pegas_assets.pipeline.accept import accept_files, accept_text, accept_urls
from pegas_assets.runtime import Runtime
from pegas_assets.stores import attempts, documents
from pegas_assets.stores.documents import Body
from pegas_assets.stores.operations import Item, add_items, open_operation, operation_state
from pegas_assets.stores.postgres import Connection
from tests.pipeline.reading import ended_at, ingest, one, rows, take_file, take_text

WEIR = "The weir was rebuilt in 1954.\nIt has nine gates.\n"


def documents_in(base: Runtime) -> int:
    return int(one(base, "SELECT count(*) FROM pm_document WHERE status NOT IN ('refused', 'failed')"))


def test_a_text_is_committed_before_any_model_is_called(base: Runtime) -> None:
    accepted = accept_text(base.database, base.settings, WEIR, title="Weir", client="reader")
    assert "ingest_parts" not in base.__dict__
    assert rows(base, "SELECT status, source, title FROM pm_document") == [("accepted", "text:reader", "Weir")]
    assert bytes(one(base, "SELECT bytes FROM pm_document_body")) == WEIR.encode()
    assert accepted.sources == ("text:reader",)
    with base.database.connection() as connection:
        state = operation_state(connection, accepted.operation_id)
    assert (state.counts, state.finished) == ({"accepted": 1}, False)


def test_an_operation_is_finished_when_its_document_is_done(base: Runtime) -> None:
    accepted = accept_text(base.database, base.settings, WEIR)
    ingest(base, accepted.sources[0])
    with base.database.connection() as connection:
        state = operation_state(connection, accepted.operation_id)
    assert (state.counts, state.finished) == ({"done": 1}, True)


@pytest.mark.parametrize(
    "again",
    [
        pytest.param(WEIR, id="same bytes"),
        pytest.param(WEIR.replace("\n", "\r\n"), id="other line ends"),
        pytest.param("\ufeff  " + WEIR.replace(" ", "  ") + "\n\n", id="other white space"),
        pytest.param(WEIR.replace(" nine", "\u00a0nine"), id="no-break space"),
    ],
)
def test_the_same_text_again_is_one_document(base: Runtime, again: str) -> None:
    first = take_text(base, WEIR)
    accepted = accept_text(base.database, base.settings, again)
    ingest(base, accepted.sources[0])
    assert ended_at(base, accepted) == first
    assert documents_in(base) == 1
    with base.database.connection() as connection:
        state = operation_state(connection, accepted.operation_id)
    assert state.counts == {"duplicate": 1}
    assert str(first) in state.items[0].reason


def test_composed_and_decomposed_letters_are_one_document(base: Runtime) -> None:
    text = "Ёлка стоит у маяка. Café na náměstí je otevřené."
    first = take_text(base, unicodedata.normalize("NFC", text))
    assert take_text(base, unicodedata.normalize("NFD", text)) == first
    assert documents_in(base) == 1
    assert one(base, "SELECT count(*) FROM pm_atom WHERE type = 'text'") == 1


def case_folders() -> list[Path]:
    here = Path(__file__).parent.parent / "cases"
    roots = [here, *(Path(part) for part in os.environ.get("PEGAS_CASES_DIR", "").split(":") if part)]
    found = []
    for root in roots:
        for case in sorted(root.rglob("case.json")):
            expected = json.loads(case.read_text(encoding="utf-8")).get("expected", {})
            if any("add" in step for step in expected.get("steps", []) if isinstance(step, dict)):
                found.append(case.parent)
    return found


@pytest.mark.parametrize("folder", case_folders(), ids=lambda folder: folder.name)
def test_the_cases_of_texts_added_one_after_another(base: Runtime, folder: Path) -> None:
    for step in json.loads((folder / "case.json").read_text(encoding="utf-8"))["expected"]["steps"]:
        accepted = accept_files(base.database, base.settings, str(folder / "input" / step["add"]))
        ingest(base, accepted.sources[0])
        assert documents_in(base) == step["documents"], step
        if "says" in step:
            with base.database.connection() as connection:
                assert step["says"] in operation_state(connection, accepted.operation_id).counts


def test_an_unchanged_file_is_unchanged(base: Runtime, tmp_path: Path) -> None:
    file = tmp_path / "weir.md"
    file.write_text(WEIR)
    take_file(base, file)
    accepted = accept_files(base.database, base.settings, str(file))
    assert [item.outcome for item in accepted.items] == ["unchanged"]
    assert accepted.document_ids == ()


def test_a_copy_that_changes_leaves_the_other_files_text_alone(base: Runtime, tmp_path: Path) -> None:
    original, copy = tmp_path / "a.md", tmp_path / "b.md"
    for file in (original, copy):
        file.write_text(WEIR)
        take_file(base, file)
    assert documents_in(base) == 1
    copy.write_text("The lock keeper lives on the island.\n")
    changed = take_file(base, copy)
    kept = take_file(base, original)
    assert changed != kept
    assert dict(rows(base, "SELECT doc_id, content FROM pm_chunk")) == {
        kept: WEIR.strip(),
        changed: "The lock keeper lives on the island.",
    }
    assert dict(rows(base, "SELECT uri, doc_id FROM pm_document_uri")) == {
        original.as_uri(): kept,
        copy.as_uri(): changed,
    }
    # The same when it is the file that came first that changes.
    copy.write_text(WEIR)
    take_file(base, copy)
    original.write_text("The weir is gone.\n")
    take_file(base, original)
    assert sorted(text for (text,) in rows(base, "SELECT content FROM pm_chunk")) == sorted(
        ["The weir is gone.", WEIR.strip()]
    )


def test_a_folder_gives_a_row_a_file_and_says_what_it_leaves_out(base: Runtime, tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        (tmp_path / f"{name}.txt").write_text(f"Buoy {name} is lit at night.")
    (tmp_path / "copy.txt").write_text("Buoy one is lit at night.")
    (tmp_path / "image.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(50))
    (tmp_path / "empty.txt").write_text("")
    seen: list[tuple[int, int]] = []
    accepted = accept_files(
        base.database, base.settings, str(tmp_path), progress=lambda done, total: seen.append((done, total))
    )
    (source,) = accepted.sources
    assert source.startswith(f"file:{tmp_path.name}-")
    assert Counter(item.outcome for item in accepted.items) == {None: 4, "duplicate": 1, "refused": 1}
    assert seen[-1][0] == seen[-1][1]
    ingest(base, source)
    with base.database.connection() as connection:
        counts = operation_state(connection, accepted.operation_id).counts
    assert counts == {"done": 3, "duplicate": 1, "refused": 2}


def test_a_refused_file_keeps_row_status_and_reason_and_nothing_else(base: Runtime, tmp_path: Path) -> None:
    file = tmp_path / "figure.txt"
    file.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4)
    document = take_file(base, file)
    ((status, error, code),) = rows(base, "SELECT status, error, error_code FROM pm_document WHERE id = %s", document)
    assert (status, code) == ("refused", "refused")
    assert "not text" in error
    for table in ("pm_document_body", "pm_chunk", "pm_atom", "pm_citation"):
        assert one(base, f"SELECT count(*) FROM {table}") == 0
    # It can be mended and given again.
    file.write_text("The figure shows nine gates.")
    assert take_file(base, file) == document
    assert one(base, "SELECT status FROM pm_document WHERE id = %s", document) == "done"


def test_bytes_that_come_while_the_older_ones_are_read_are_read_too(base: Runtime) -> None:
    document = accept_text(base.database, base.settings, WEIR).document_ids[0]
    with base.database.connection() as connection:
        attempts.begin_attempt(connection, document)
        documents.reopen(connection, document, Body(b"The gates are open."))
        attempts.refuse(connection, document, DocumentStatus.REFUSED, "of the older bytes", "refused")
        attempts.fail(connection, document, "of the older bytes", "failed", retry_in_s=None)
        attempts.finish(connection, document)
    ingest(base, "text:agent")
    assert rows(base, "SELECT content FROM pm_chunk") == [("The gates are open.",)]


def test_who_asks_again_for_what_was_never_done_has_it_done(base: Runtime, tmp_path: Path) -> None:
    """The first asker died before any work: its document is open, and no second one is made."""
    first = accept_text(base.database, base.settings, WEIR).document_ids
    again = accept_text(base.database, base.settings, WEIR)
    assert again.document_ids == first
    file = tmp_path / "weir.md"
    file.write_text(WEIR)
    assert accept_files(base.database, base.settings, str(file)).document_ids == first
    with base.database.connection() as connection:
        state = operation_state(connection, again.operation_id)
    assert (state.counts, state.finished) == ({"accepted": 1}, False)
    ingest(base, "text:agent")
    with base.database.connection() as connection:
        state = operation_state(connection, again.operation_id)
    assert (state.counts, state.finished) == ({"duplicate": 1}, True)
    (item,) = accept_text(base.database, base.settings, WEIR).items
    assert (item.document_id, item.outcome) == (first[0], "duplicate")


def test_what_is_added_to_a_document_while_it_becomes_one_with_another_is_not_lost(base: Runtime) -> None:
    survivor = take_text(base, WEIR)
    (leaving,) = accept_text(base.database, base.settings, "The same in other words.").document_ids
    adding = base.database.transaction(lambda connection: open_operation(connection, "ingest", "late"))
    merged = threading.Event()

    def merge() -> None:
        with base.database.connection() as connection:
            documents.merge_into(connection, leaving, survivor)
        merged.set()

    with base.database.connection() as connection, connection.transaction():
        assert documents.hold(connection, [leaving]) == {leaving}
        merger = threading.Thread(target=merge)
        merger.start()
        assert not merged.wait(0.5), "it waits for who holds the document"
        add_items(connection, adding, [Item("late.md", leaving)])
        documents.add_uri(connection, leaving, "file:///late.md")
    merger.join(20)
    assert merged.is_set()
    assert one(base, "SELECT doc_id FROM pm_operation_item WHERE operation_id = %s", adding) == survivor
    assert one(base, "SELECT doc_id FROM pm_document_uri WHERE uri = 'file:///late.md'") == survivor


def test_a_text_that_comes_while_its_copy_is_forgotten_is_kept(base: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    first = take_text(base, WEIR)
    real = documents.known_bytes

    def meanwhile(connection: Connection, hashes: Sequence[bytes]) -> dict[bytes, documents.Known]:
        known = real(connection, hashes)
        if known:
            forget(base.database, base.targets, document_id=first)
        return known

    monkeypatch.setattr(documents, "known_bytes", meanwhile)
    second = take_text(base, WEIR)
    assert dict(rows(base, "SELECT id, status FROM pm_document")) == {first: "forgotten", second: "done"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        (" \n\t", "empty"),
        ("\x00\x00", "empty"),
        ("x" * 2001, "2,001 bytes"),
        ("\u200b\u200b", "no word"),
        ("😀 …", "no word"),
    ],
)
def test_a_text_that_cannot_be_taken_gets_a_sentence_and_leaves_nothing(base: Runtime, text: str, says: str) -> None:
    small = base.settings.model_copy(update={"max_document_bytes": 2000})
    with pytest.raises(InvalidInput, match=says) as caught:
        accept_text(base.database, small, text)
    assert caught.value.hint
    assert one(base, "SELECT count(*) FROM pm_document") == 0
    assert one(base, "SELECT count(*) FROM pm_operation") == 0


def test_nul_in_a_title_a_client_and_an_address_is_cleaned(base: Runtime) -> None:
    accept_text(base.database, base.settings, "The weir\x00 leaks.", title="We\x00ir\ud800", client="cl\x00ient")
    accepted = accept_urls(base.database, base.settings, ["http://exa\x00mple.org/", "https://example.org/\ud800"])
    assert accepted.items[0].outcome == "refused"
    assert "\x00" not in "".join(row[0] for row in rows(base, "SELECT item FROM pm_operation_item"))


def test_an_authority_out_of_range_gets_a_sentence(base: Runtime) -> None:
    with pytest.raises(InvalidInput, match="authority"):
        accept_text(base.database, base.settings, WEIR, authority=1.5)


def test_a_path_that_is_not_there_or_not_allowed_gets_a_sentence(base: Runtime, tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.write_text("The weir leaks.")
    with pytest.raises(NotFound, match="nothing at"):
        accept_files(base.database, base.settings, str(tmp_path / "missing.txt"))
    with pytest.raises(InvalidInput) as caught:
        accept_files(base.database, base.settings, str(outside), allowed_roots=[inside])
    assert caught.value.code == "path_not_allowed"
    assert one(base, "SELECT count(*) FROM pm_operation") == 0


def test_one_bad_address_is_an_error_and_among_others_it_is_refused_alone(base: Runtime) -> None:
    with pytest.raises(InvalidInput, match="loopback"):
        accept_urls(base.database, base.settings, ["http://127.0.0.1/admin"])
    with pytest.raises(InvalidInput, match="No address"):
        accept_urls(base.database, base.settings, [])
    accepted = accept_urls(
        base.database,
        base.settings,
        ["http://169.254.169.254/", "HTTPS://Example.org:443/a#b", "https://example.org/a"],
    )
    assert [item.outcome for item in accepted.items] == ["refused", None, None]
    assert accepted.items[1].document_id == accepted.items[2].document_id
    assert rows(base, "SELECT uri, source, kind FROM pm_document") == [
        ("https://example.org/a", "web:example.org", "web")
    ]


def test_nothing_is_half_written_when_postgresql_goes_away(base: Runtime) -> None:
    def work(connection: Connection) -> None:
        connection.execute("INSERT INTO pm_operation (kind) VALUES ('ingest')")
        rows(base, "SELECT pg_terminate_backend(%s)", connection.info.backend_pid)
        connection.execute("SELECT 1")

    with pytest.raises(EngineUnavailable):
        base.database.transaction(work)
    assert one(base, "SELECT count(*) FROM pm_operation") == 0
