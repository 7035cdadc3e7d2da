"""The embedded PostgreSQL: one server for a home, Unicode in every corner, healed after `kill -9`."""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from pegas_assets.embedded.postgres import (
    dagster_database_url,
    ensure_postgres,
    find_postgres,
    stop_postgres,
)
from pegas_assets.embedded.process import process_start
from pegas_assets.errors import PegasError
from pegas_assets.settings import Settings
from tests.homes import make_home

ROOT = Path(__file__).parents[2]
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root starts PostgreSQL as another user")


@pytest.fixture(scope="module")
def settings() -> Iterator[Settings]:
    with make_home() as made:
        yield made


@pytest.fixture
def own() -> Iterator[Settings]:
    with make_home() as made:
        yield made


def query(url: str, statement: str) -> object:
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(statement).fetchone()  # type: ignore[arg-type]
        return None if row is None else row[0]


def execute(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement)  # type: ignore[arg-type]


def eventually(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def kill(settings: Settings) -> int:
    """Kill the server with -9, and wait until the kernel is done with it; its pid."""
    state = find_postgres(settings)
    assert state is not None
    os.kill(state.pid, signal.SIGKILL)
    eventually(lambda: find_postgres(settings) is None, "the server is still there")
    return state.pid


def in_a_process(settings: Settings, body: str) -> subprocess.Popen[str]:
    program = f"""
    from pathlib import Path
    from pegas_assets.settings import Settings
    from pegas_assets.embedded.postgres import ensure_postgres, find_postgres
    settings = Settings(_env_file=None, home=Path({str(settings.home)!r}))
    {body}
    """
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_the_database_is_utf8_with_unicode_rules(settings: Settings) -> None:
    url = ensure_postgres(settings)
    assert query(url, "SELECT current_database()") == "pegas"
    assert query(url, "SHOW server_encoding") == "UTF8"
    assert query(url, "SELECT datlocprovider FROM pg_database WHERE datname = 'pegas'") == "b"
    assert query(url, "SELECT datlocale FROM pg_database WHERE datname = 'pegas'") == "C.UTF-8"


def test_cyrillic_folds_matches_and_has_trigrams(settings: Settings) -> None:
    url = ensure_postgres(settings)
    execute(url, "CREATE EXTENSION IF NOT EXISTS pg_trgm")
    assert query(url, "SELECT lower('ПРИВЕТ, Ёж')") == "привет, ёж"
    assert query(url, "SELECT 'Память' ILIKE 'пАМ%'") is True
    assert query(url, "SELECT 'ЁЛКА' ~* 'ёлка'") is True
    assert query(url, "SELECT similarity('Привет', 'привет мир') > 0.5") is True
    assert query(url, "SELECT to_tsvector('russian', '«Коты» — спят')::text") == "'кот':1 'спят':2"


def test_a_second_call_finds_the_same_server(settings: Settings) -> None:
    first = ensure_postgres(settings)
    state = find_postgres(settings)
    assert state is not None
    assert state.version == str(query(first, "SHOW server_version"))
    assert ensure_postgres(settings) == first
    assert find_postgres(settings) == state


def test_the_fast_path_imports_neither_psutil_nor_psycopg(settings: Settings) -> None:
    ensure_postgres(settings)
    process = in_a_process(
        settings, "import sys; ensure_postgres(settings); print({'psutil', 'psycopg', 'pgserver'} & set(sys.modules))"
    )
    out, err = process.communicate(timeout=30)
    assert (out.strip(), process.returncode) == ("set()", 0), err


def test_only_the_socket_is_served_and_only_to_its_owner(settings: Settings) -> None:
    url = ensure_postgres(settings)
    state = find_postgres(settings)
    assert state is not None
    assert query(url, "SHOW listen_addresses") == ""
    assert stat.S_IMODE(state.socket_dir.stat().st_mode) == 0o700
    assert stat.S_IMODE((state.socket_dir / ".s.PGSQL.5432").stat().st_mode) == 0o700


def test_each_base_has_a_database_and_a_dagster_database(settings: Settings) -> None:
    other = settings.model_copy(update={"base": "music"})
    other.__dict__.pop("base_suffix", None)
    assert query(ensure_postgres(other), "SELECT current_database()") == "pegas_music"
    url = dagster_database_url(other)
    assert url.startswith("postgresql+psycopg2://postgres@/pegas_dagster_music?host=")
    assert query(url.replace("+psycopg2", ""), "SELECT current_database()") == "pegas_dagster_music"


def test_a_dropped_database_is_made_again(settings: Settings) -> None:
    other = settings.model_copy(update={"base": "brief"})
    other.__dict__.pop("base_suffix", None)
    url = ensure_postgres(other)
    execute(ensure_postgres(settings), "DROP DATABASE pegas_brief")
    assert ensure_postgres(other) == url
    assert query(url, "SELECT current_database()") == "pegas_brief"


def test_two_processes_that_start_at_once_end_as_one(own: Settings) -> None:
    starters = [in_a_process(own, "ensure_postgres(settings); print(find_postgres(settings).pid)") for _ in range(2)]
    answers = [starter.communicate(timeout=60) for starter in starters]
    state = find_postgres(own)
    assert state is not None, answers
    assert [out.strip() for out, _ in answers] == [str(state.pid)] * 2, answers


def test_the_server_outlives_its_starter_and_says_nothing_to_its_output(own: Settings) -> None:
    starter = in_a_process(own, "ensure_postgres(settings)")
    # A server that held the pipe would keep communicate() waiting.
    out, err = starter.communicate(timeout=60)
    assert (out, err, starter.returncode) == ("", "", 0)
    state = find_postgres(own)
    assert state is not None
    assert os.getsid(state.pid) != os.getsid(0)
    assert query(ensure_postgres(own), "SELECT 1") == 1


def test_committed_rows_survive_kill_9(own: Settings) -> None:
    url = ensure_postgres(own)
    execute(url, "CREATE TABLE kept (word text)")
    execute(url, "INSERT INTO kept VALUES ('есть')")
    killed = kill(own)
    again = ensure_postgres(own)
    assert query(again, "SELECT word FROM kept") == "есть"
    healed = find_postgres(own)
    assert healed is not None
    assert healed.pid != killed


def test_a_backend_that_outlives_the_killed_server_does_not_block_the_next(own: Settings) -> None:
    url = ensure_postgres(own)
    # A backend that is deep in a computation does not look whether its server still lives.
    with contextlib.closing(psycopg.connect(url, autocommit=True)) as busy:
        busy.execute(
            "CREATE FUNCTION spin() RETURNS int LANGUAGE plpgsql AS $$ DECLARE n int := 0; BEGIN "
            "FOR i IN 1..2000000000 LOOP n := i % 7; END LOOP; RETURN n; END $$"
        )
        busy.pgconn.send_query(b"SELECT spin()")
        eventually(
            lambda: query(url, "SELECT count(*) FROM pg_stat_activity WHERE query = 'SELECT spin()'") == 1, "busy"
        )
        kill(own)
        assert query(ensure_postgres(own), "SELECT 1") == 1


def test_a_pid_that_another_program_has_now_does_not_block(own: Settings) -> None:
    url = ensure_postgres(own)
    execute(url, "CREATE TABLE kept AS SELECT 7 AS n")
    kill(own)
    data = own.home / "postgres"
    owner = data.stat()
    as_owner = {"user": owner.st_uid, "group": owner.st_gid, "extra_groups": []} if os.geteuid() == 0 else {}
    stranger = subprocess.Popen(["/bin/sleep", "120"], **as_owner)  # type: ignore[call-overload]
    try:
        for name in ("postmaster.pid", ".s.PGSQL.5432.lock"):
            lines = (data / name).read_text().splitlines()
            (data / name).write_text("\n".join([str(stranger.pid), *lines[1:]]) + "\n")
        assert find_postgres(own) is None
        assert query(ensure_postgres(own), "SELECT n FROM kept") == 7
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_stop_ends_the_server_and_a_start_finds_the_data(own: Settings) -> None:
    url = ensure_postgres(own)
    execute(url, "CREATE TABLE kept AS SELECT 5 AS n")
    with contextlib.closing(psycopg.connect(url)) as open_transaction:
        open_transaction.execute("INSERT INTO kept VALUES (6)")
        found = find_postgres(own)
        assert found is not None
        assert stop_postgres(own) is True
        assert process_start(found.pid) is None, "it has ended, and is not just about to"
    assert find_postgres(own) is None
    assert stop_postgres(own) is False
    assert query(ensure_postgres(own), "SELECT count(*) FROM kept") == 1


def test_a_half_made_cluster_is_made_anew(own: Settings) -> None:
    (own.home / "postgres.new").mkdir()
    (own.home / "postgres.new" / "rest").write_text("of an initdb that was killed")
    assert query(ensure_postgres(own), "SELECT 1") == 1
    assert not (own.home / "postgres.new").exists()


def test_a_folder_with_other_files_is_left_alone(own: Settings) -> None:
    (own.home / "postgres").mkdir()
    (own.home / "postgres" / "letter.txt").write_text("mine")
    with pytest.raises(PegasError, match="holds files but no database"):
        ensure_postgres(own)
    assert (own.home / "postgres" / "letter.txt").read_text() == "mine"


def test_a_home_with_a_long_path_and_odd_letters_gets_a_short_socket() -> None:
    with make_home() as outer:
        deep = outer.home / ("очень длинный путь " * 4).strip() / "it's a home"
        deep.parent.mkdir(mode=0o755)
        settings = Settings(_env_file=None, home=deep)  # type: ignore[call-arg]
        try:
            assert query(ensure_postgres(settings), "SELECT 1") == 1
            state = find_postgres(settings)
            assert state is not None
            assert len(os.fsencode(state.socket_dir / ".s.PGSQL.5432")) <= 107
            assert stat.S_IMODE(state.socket_dir.stat().st_mode) == 0o700
        finally:
            stop_postgres(settings)
            if state is not None and state.socket_dir != deep / "postgres":
                state.socket_dir.rmdir()


@as_root
def test_root_is_refused_below_a_private_folder_and_no_permission_changes(tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    settings = Settings(_env_file=None, home=private / "pegas")  # type: ignore[call-arg]
    before = [stat.S_IMODE(folder.stat().st_mode) for folder in (private, *private.parents)]
    with pytest.raises(PegasError) as refusal:
        ensure_postgres(settings)
    assert refusal.value.code == "home_not_reachable"
    assert "cannot pass" in refusal.value.message
    assert "PEGAS_HOME" in refusal.value.hint
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in (private, *private.parents)] == before
    assert not (settings.home / "postgres").exists()


@as_root
def test_no_permission_outside_the_data_folder_changes(own: Settings) -> None:
    before = {folder: stat.S_IMODE(folder.stat().st_mode) for folder in (own.home, *own.home.parents)}
    ensure_postgres(own)
    assert {folder: stat.S_IMODE(folder.stat().st_mode) for folder in before} == before
    assert stat.S_IMODE((own.home / "postgres").stat().st_mode) == 0o700
    assert (own.home / "postgres").stat().st_uid != 0
