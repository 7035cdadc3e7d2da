"""Numbered SQL files, each applied once, in order, in a transaction, under one lock."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pegas_assets.errors import SchemaMismatch
from pegas_assets.identity import sha256_hex
from pegas_assets.stores.postgres import Database, first_line

if TYPE_CHECKING:
    from pegas_assets.stores.postgres import Connection

SQL_DIRECTORY = Path(__file__).resolve().parents[2] / "sql"
LOCK_KEY = 0x50454741534D4947  # "PEGASMIG"


@dataclass(frozen=True)
class Migration:
    """One file: `number` orders it, `checksum` tells whether it was edited since."""

    number: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        return sha256_hex(self.sql)


def read_migrations(directory: Path = SQL_DIRECTORY) -> list[Migration]:
    """The migrations of a directory, in order.

    Raises:
        SchemaMismatch: no files, a number twice, or one left out.
    """
    found = []
    for path in sorted(directory.glob("*.sql")):
        match = re.fullmatch(r"(\d{4})_(\w+)\.sql", path.name)
        if match:
            found.append(Migration(int(match[1]), match[2], path.read_text("utf-8")))
    if [migration.number for migration in found] != list(range(1, len(found) + 1)) or not found:
        raise SchemaMismatch(
            f"The migrations in {directory.name}/ are not numbered 0001, 0002, … without gaps.",
            hint="Run from a whole checkout of the project.",
            component="postgres",
        )
    return found


def migrate(database: Database, directory: Path = SQL_DIRECTORY) -> list[Migration]:
    """Apply what is missing; returns what was applied. Several callers at once end as one.

    Raises:
        SchemaMismatch: an applied migration was edited, the database is ahead of this code, or a statement failed.
    """
    import psycopg

    migrations = read_migrations(directory)
    applied: list[Migration] = []
    with database.session() as session:
        session.execute("SELECT pg_advisory_lock(%s)", [LOCK_KEY])
        session.execute(
            "CREATE TABLE IF NOT EXISTS pm_migration ("
            " version integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL,"
            " applied_at timestamptz NOT NULL DEFAULT now())"
        )
        for migration in _missing(session, migrations):
            try:
                with session.transaction():
                    session.execute(migration.sql.encode())
                    session.execute(
                        "INSERT INTO pm_migration (version, name, checksum) VALUES (%s, %s, %s)",
                        [migration.number, migration.name, migration.checksum],
                    )
            except psycopg.OperationalError:
                raise
            except psycopg.Error as error:
                raise SchemaMismatch(
                    f"Migration {migration.number:04d}_{migration.name} failed and changed nothing: {first_line(error)}.",
                    hint="Mend the database or the file, then run `pegas migrate` again.",
                    component="postgres",
                ) from None
            applied.append(migration)
    return applied


def require_schema(database: Database, directory: Path = SQL_DIRECTORY) -> None:
    """Check that every migration is applied, unedited.

    Raises:
        SchemaMismatch: with what is missing and `pegas migrate` as the way out.
    """
    migrations = read_migrations(directory)
    with database.connection() as connection:
        known = connection.execute("SELECT to_regclass('pm_migration') IS NOT NULL").fetchone()
        missing = _missing(connection, migrations) if known and known[0] else migrations
    if missing:
        raise SchemaMismatch(
            f"The database lacks migration {missing[0].number:04d}_{missing[0].name}"
            + (f" and {len(missing) - 1} more." if len(missing) > 1 else "."),
            hint="Run `pegas migrate`.",
            component="postgres",
        )


def _missing(connection: Connection, migrations: list[Migration]) -> list[Migration]:
    rows = connection.execute("SELECT version, name, checksum FROM pm_migration ORDER BY version").fetchall()
    by_number = {migration.number: migration for migration in migrations}
    for version, name, checksum in rows:
        known = by_number.pop(version, None)
        if known is None:
            raise SchemaMismatch(
                f"The database has migration {version:04d}_{name}, which this version of Pegas Memory does not know.",
                hint="Use the version that made it, or a newer one.",
                component="postgres",
            )
        if known.checksum != checksum:
            raise SchemaMismatch(
                f"Migration {version:04d}_{name} was edited after it was applied.",
                hint="Restore the file, and put the change into a new migration.",
                component="postgres",
            )
    return list(by_number.values())
