"""The commands on a base of their own: what goes in is found, compared, forgotten."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pegas_assets.cli.main import main
from pegas_assets.runtime import Runtime
from tests.cli.conftest import Commands, environment_of
from tests.conftest import fresh_base

NOTES = {
    "lock.md": "# Alder lock\n\nThe sluice gate of Alder lock weighs 4 tonnes. It was cast in 1894.",
    "bakery.txt": "The oven of the mill bakery is heated with beech wood, because beech gives little smoke.",
    "озеро.md": "# Озеро\n\nОзеро Тихое замерзает в начале ноября и вскрывается в середине апреля.",
}


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("notes")
    for name, text in NOTES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def library(home: Path, notes: Path) -> Iterator[Runtime]:
    """A base that has taken in the notes, through the command itself."""
    with fresh_base(home) as made:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in environment_of(made.settings).items():
                patch.setenv(name, value)
            patch.chdir(notes)
            assert main(["ingest", str(notes), "--json"]) == 0
        yield made


def test_every_file_is_done_and_its_run_is_in_dagster(library: Runtime, shared: Commands, notes: Path) -> None:
    from pegas_assets.defs.instance import close_instance, open_inprocess_instance

    (notes / "weir.md").write_text("The weir of Alder was raised by 30 centimetres in 1931.")
    outcome = shared("ingest", str(notes), "--json")
    assert outcome.code == 0, outcome
    assert outcome.json["counts"] == {"done": 1, "unchanged": 3}
    instance = open_inprocess_instance(library.settings)
    try:
        run = instance.get_run_by_id(outcome.json["runs"][0])
        assert run is not None
        assert run.status.value == "SUCCESS"
        assert run.tags["dagster/partition"].startswith("file:notes")
    finally:
        close_instance(instance)


def test_a_hit_shows_score_parts_document_locator_and_sentence(shared: Commands) -> None:
    outcome = shared("search", "how heavy is the sluice gate", "--k", "1")
    assert outcome.code == 0
    assert "dense" in outcome.out
    assert "“The sluice gate of Alder lock weighs 4 tonnes.”" in outcome.out
    assert "Alder lock" in outcome.out
    start = NOTES["lock.md"].index("The sluice gate")
    assert f"chars {start}–{start + len('The sluice gate of Alder lock weighs 4 tonnes.')}" in outcome.out
    assert "lock.md" in outcome.out


def test_russian_is_found_in_russian_and_from_english(shared: Commands) -> None:
    for question in ("когда замерзает озеро", "when does the lake freeze"):
        hits = shared("search", question, "--json").json["hits"]
        assert "замерзает в начале ноября" in hits[0]["quote"], question


def test_the_json_of_a_search_holds_what_a_program_needs(shared: Commands) -> None:
    outcome = shared("search", "beech wood oven", "--k", "2", "--json")
    assert outcome.err == ""
    hit = outcome.json["hits"][0]
    assert abs(sum(hit["parts"].values()) - hit["score"]) < 0.001
    assert hit["untrusted"] is True
    assert hit["citations"][0]["locator"]["start"] == 0
    assert len(outcome.json["hits"]) <= 2


def test_a_query_is_read_from_stdin(shared: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"beech wood\n"), encoding="utf-8"))
    assert "mill bakery" in shared("search", "-").out


def test_a_context_stays_in_its_budget_and_numbers_its_evidence(shared: Commands) -> None:
    outcome = shared("context", "sluice gate", "--budget", "60", "--json")
    assert outcome.json["tokens"] <= 60
    assert [citation["number"] for citation in outcome.json["citations"]][:1] == [1]
    assert "tokens" in shared("context", "sluice gate").out


def test_the_control_characters_of_a_document_do_not_reach_the_terminal(pegas: Commands, tmp_path: Path) -> None:
    (tmp_path / "odd.md").write_text("The bell \x1b[31mof Corran\x1b[0m rings at [bold]nine[/bold] o'clock.")
    assert pegas("ingest", "odd.md").code == 0
    outcome = pegas("search", "bell of Corran")
    assert "\x1b" not in outcome.out
    assert "[bold]nine[/bold]" in outcome.out


def test_without_waiting_a_document_is_kept_and_left_to_dagster(pegas: Commands, tmp_path: Path) -> None:
    (tmp_path / "later.md").write_text("The ferry of Corran leaves at six.")
    outcome = pegas("ingest", "later.md", "--no-wait", "--json")
    assert outcome.code == 0
    assert outcome.json["counts"] == {"accepted": 1}
    assert outcome.json["runs"] == []
    again = pegas("ingest", "later.md", "--json")
    assert again.code == 0
    assert again.json["counts"] == {"done": 1}


def test_the_same_text_twice_is_one_document(pegas: Commands, tmp_path: Path) -> None:
    (tmp_path / "one.md").write_text("The ferry of Corran leaves at six.")
    (tmp_path / "two.md").write_text("The ferry of Corran leaves at six.")
    outcome = pegas("ingest", "one.md", "two.md", "--json")
    assert outcome.code == 0
    assert outcome.json["counts"] == {"done": 1, "duplicate": 1}


def test_what_is_forgotten_is_found_no_more_and_leaves_no_drift(pegas: Commands, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("The key of the boathouse hangs behind the clock.")
    number = pegas("ingest", "secret.md", "--json").json["items"][0]["document_id"]
    assert pegas("search", "boathouse key", "--json").json["hits"]
    gone = pegas("forget", str(number), "--yes", "--json")
    assert gone.code == 0
    assert gone.json["atoms_removed"] > 0
    assert pegas("search", "boathouse key", "--json").json["hits"] == []
    assert pegas("drift").code == 0


def test_what_was_set_aside_is_taken_up_again(pegas: Commands, base: Runtime, tmp_path: Path) -> None:
    (tmp_path / "ford.md").write_text("The ford of Alder is 40 cm deep.", encoding="utf-8")
    pegas("ingest", str(tmp_path / "ford.md"))
    with base.database.connection() as connection:
        connection.execute("UPDATE pm_outbox SET vector_state = 'dead' WHERE entity_type = 'atom'")
        (dead,) = connection.execute("SELECT count(*) FROM pm_outbox WHERE vector_state = 'dead'").fetchone() or (0,)
    assert dead > 0
    assert pegas("retry", "--json").json == {"revived": dead, "failed": 0, "problems": []}
    assert pegas("retry").out.strip() == "Nothing was set aside."


def test_drift_is_shown_and_mended(pegas: Commands, base: Runtime, tmp_path: Path) -> None:
    (tmp_path / "mast.md").write_text("The mast of the Heron is 11 metres of spruce.")
    assert pegas("ingest", "mast.md").code == 0
    keys = [key for bucket in range(16) for key in base.vectors.hashes(base.vector_target.collection(), bucket)]
    base.vectors.delete(base.vector_target.collection(), keys[:1])
    found = pegas("drift", "vectors", "--json")
    assert found.code == 1
    assert found.json["drift"] == 1
    assert keys[0] in pegas("drift").out
    mended = pegas("reconcile", "vectors", "--json")
    assert mended.code == 0
    assert sum(bucket["upserted"] for bucket in mended.json["buckets"]) == 1
    assert pegas("drift").code == 0


def test_a_rebuild_from_empty_brings_everything_back(pegas: Commands, tmp_path: Path) -> None:
    (tmp_path / "mast.md").write_text("The mast of the Heron is 11 metres of spruce.")
    assert pegas("ingest", "mast.md").code == 0
    before = pegas("search", "mast of spruce", "--json").json["hits"]
    rebuilt = pegas("rebuild", "--from-empty", "--json")
    assert rebuilt.code == 0
    assert rebuilt.json["drift_left"] == 0
    assert {bucket["target"] for bucket in rebuilt.json["buckets"]} == {"vectors", "graph"}
    after = pegas("search", "mast of spruce", "--json").json["hits"]
    assert [hit["key"] for hit in after] == [hit["key"] for hit in before]


def test_migrate_says_what_it_applied_and_then_nothing(pegas: Commands) -> None:
    outcome = pegas("migrate", "--json")
    assert outcome.code == 0
    assert outcome.json["applied"] == []
    assert outcome.json["database"].startswith("PostgreSQL")


def test_status_names_each_role_and_no_secret(shared: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEGAS_BOLT_PASSWORD", "opensesame")
    outcome = shared("status", "--json")
    assert outcome.code == 0, outcome
    roles = {role["name"]: role for role in outcome.json["roles"]}
    assert roles["truth"]["kind"] == "embedded"
    assert roles["truth"]["pids"]
    assert roles["vectors"]["pending"] == 0
    assert roles["embeddings"]["version"]
    assert roles["dagster daemon"]["reachable"] is False
    assert outcome.json["counts"]["documents"]["done"] >= 3
    text = shared("status").out
    assert "truth" in text
    assert "opensesame" not in text + outcome.out


def test_the_snippets_start_the_server_of_this_environment(shared: Commands) -> None:
    made = shared("mcp", "--json").json["mcpServers"]["pegas-memory"]
    assert Path(made["command"]).is_absolute()
    assert Path(made["command"]).exists()
    assert made["env"] == environment_of(shared.settings)
    text = shared("mcp", "--snippet").out
    assert json.dumps(made["command"]) in text
    assert "transport: stdio" in text


def test_the_demo_has_a_home_of_its_own(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pegas_assets.cli.demo import EXAMPLES, demo_settings
    from pegas_assets.settings import default_home

    assert demo_settings().home == default_home().with_name("pegas-demo").resolve()
    monkeypatch.setenv("PEGAS_HOME", str(elsewhere))
    monkeypatch.setenv("PEGAS_DATABASE_URL", "postgresql://somebody@127.0.0.1:1/memory")
    settings = demo_settings()
    assert settings.home == elsewhere.with_name(f"{elsewhere.name}-demo").resolve()
    assert settings.database_url is None
    assert any(EXAMPLES.iterdir())
