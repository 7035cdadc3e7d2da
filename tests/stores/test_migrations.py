"""Migrations: each applied once, in order, whole or not at all."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from pegas_assets.errors import SchemaMismatch
from pegas_assets.runtime import Runtime
from pegas_assets.stores.migrations import SQL_DIRECTORY, migrate, read_migrations, require_schema


def copy_of_migrations(folder: Path) -> Path:
    for path in SQL_DIRECTORY.glob("*.sql"):
        (folder / path.name).write_text(path.read_text("utf-8"), "utf-8")
    return folder


def test_a_second_migrate_applies_nothing(base: Runtime) -> None:
    assert migrate(base.database) == []
    require_schema(base.database)


def test_an_edited_migration_is_refused_by_name(base: Runtime, tmp_path: Path) -> None:
    folder = copy_of_migrations(tmp_path)
    first = folder / "0001_schema.sql"
    first.write_text(first.read_text("utf-8") + "\n-- one more word\n", "utf-8")
    with pytest.raises(SchemaMismatch, match="0001_schema was edited after it was applied"):
        migrate(base.database, folder)
    with pytest.raises(SchemaMismatch, match="0001_schema was edited"):
        require_schema(base.database, folder)


def test_a_failing_migration_changes_nothing(base: Runtime, tmp_path: Path) -> None:
    folder = copy_of_migrations(tmp_path)
    number = len(read_migrations(folder)) + 1
    broken = folder / f"{number:04d}_broken.sql"
    broken.write_text("CREATE TABLE half_made (id int); SELECT no_such_function();", "utf-8")
    with pytest.raises(SchemaMismatch, match="failed and changed nothing"):
        migrate(base.database, folder)
    with base.database.connection() as connection:
        assert connection.execute("SELECT to_regclass('half_made')").fetchone() == (None,)
    broken.write_text("CREATE TABLE whole (id int);", "utf-8")
    assert [migration.name for migration in migrate(base.database, folder)] == ["broken"]


def test_a_database_that_is_ahead_is_refused(base: Runtime) -> None:
    with base.database.connection() as connection:
        connection.execute("INSERT INTO pm_migration (version, name, checksum) VALUES (9999, 'future', 'x')")
    with pytest.raises(SchemaMismatch, match="9999_future, which this version of Pegas Memory does not know"):
        require_schema(base.database)


def test_a_missing_migration_is_named_with_the_way_out(base: Runtime, tmp_path: Path) -> None:
    folder = copy_of_migrations(tmp_path)
    number = len(read_migrations(folder)) + 1
    (folder / f"{number:04d}_later.sql").write_text("SELECT 1;", "utf-8")
    with pytest.raises(SchemaMismatch, match=f"lacks migration {number:04d}_later") as caught:
        require_schema(base.database, folder)
    assert "pegas migrate" in caught.value.hint


def test_a_gap_in_the_numbers_is_refused(tmp_path: Path) -> None:
    (tmp_path / "0001_a.sql").write_text("SELECT 1;", "utf-8")
    (tmp_path / "0003_c.sql").write_text("SELECT 1;", "utf-8")
    with pytest.raises(SchemaMismatch, match="without gaps"):
        read_migrations(tmp_path)


def test_several_migrators_at_once_end_as_one(base: Runtime, tmp_path: Path) -> None:
    folder = copy_of_migrations(tmp_path)
    number = len(read_migrations(folder)) + 1
    (folder / f"{number:04d}_once.sql").write_text("CREATE TABLE once (id int);", "utf-8")
    applied: list[int] = []
    threads = [threading.Thread(target=lambda: applied.append(len(migrate(base.database, folder)))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert sorted(applied) == [0, 0, 0, 1]
