"""Homes for the embedded engines under test."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pegas_assets.settings import Settings


@contextlib.contextmanager
def make_home(**settings: object) -> Iterator[Settings]:
    """Settings with a home of their own, whose engines are stopped and whose files are removed at the end.

    Not below `tmp_path`: pytest closes that folder to other users, and PostgreSQL started by root runs as one.
    """
    from pegas_assets.embedded.postgres import stop_postgres

    home = Path(tempfile.mkdtemp(prefix="pegas-test-"))
    home.chmod(0o755)
    made = Settings(_env_file=None, home=home, **settings)  # type: ignore[call-arg, arg-type]
    try:
        yield made
    finally:
        with contextlib.suppress(Exception):
            stop_postgres(made)
        shutil.rmtree(home, ignore_errors=True)
