"""Fixtures that every test may use. The engines start once for the session, and each test gets a base of its own.

| fixture    | scope    | what it is                                                                            |
|------------|----------|---------------------------------------------------------------------------------------|
| `settings` | session  | settings of a home of its own; its engines start when first used and stop at the end  |
| `home`     | session  | that home's folder                                                                    |
| `runtime`  | session  | a `Runtime` on the default base of that home, migrated: for tests that only read, or  |
|            |          | whose rows cannot disturb another test's                                              |
| `base`     | function | a `Runtime` on a fresh base (database, collection, graph of its own), migrated        |

A module may have a `settings` fixture of its own (`tests.homes.make_home`) where it stops or kills engines.
No test sees a `PEGAS_*` variable of whoever runs the tests, nor a proxy.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from pegas_assets.runtime import Runtime
from pegas_assets.settings import Settings
from tests.homes import make_home

KEPT = ("PEGAS_CASES_DIR",)
"""Variables that are meant for the tests."""

for name in [name for name in os.environ if name.startswith("PEGAS_") and name not in KEPT]:
    del os.environ[name]
for name in ("PROXY_URL", "ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "http_proxy", "https_proxy"):
    os.environ.pop(name, None)


@pytest.fixture(scope="session")
def settings() -> Iterator[Settings]:
    """Settings of the session's home."""
    with make_home() as made:
        yield made


@pytest.fixture(scope="session")
def home(settings: Settings) -> Path:
    """The session's home."""
    return settings.home


@pytest.fixture(scope="session")
def runtime(settings: Settings) -> Iterator[Runtime]:
    """The default base of the session's home."""
    with Runtime(settings, application="tests") as made:
        made.ensure_schema()
        yield made


@pytest.fixture
def base(home: Path) -> Iterator[Runtime]:
    """A base of this test alone."""
    with fresh_base(home) as made:
        yield made


@contextlib.contextmanager
def fresh_base(home: Path) -> Iterator[Runtime]:
    """A new base on the engines of a home, migrated, and removed at the end. For fixtures of a wider scope too."""
    name = f"t{uuid.uuid4().hex[:16]}"
    settings = Settings(_env_file=None, home=home, base=name)  # type: ignore[call-arg]
    made = Runtime(settings, application=f"tests-{name}")
    try:
        made.ensure_schema()
        yield made
    finally:
        _remove(made)


def _remove(made: Runtime) -> None:
    opened = set(made.__dict__)
    with contextlib.suppress(Exception):
        if "vectors" in opened:
            made.vectors.drop_collection(made.settings.atoms_role)
    with contextlib.suppress(Exception):
        if "graph" in opened:
            made.graph.clear()
    made.close()
    with contextlib.suppress(Exception):
        _drop_database(made.settings)


def _drop_database(settings: Settings) -> None:
    import psycopg
    from psycopg import sql

    from pegas_assets.embedded.postgres import find_postgres

    found = find_postgres(settings)
    if found is None:
        return
    address = f"postgresql://postgres@/postgres?host={found.socket_dir}"
    with psycopg.connect(address, autocommit=True) as server:
        for name in (settings.database_name, f"pegas_dagster{settings.base_suffix}"):
            server.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
