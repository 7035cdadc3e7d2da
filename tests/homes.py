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
    home = Path(tempfile.mkdtemp(prefix="pegas-test-"))
    home.chmod(0o755)
    made = Settings(_env_file=None, home=home, **settings)  # type: ignore[call-arg, arg-type]
    try:
        yield made
    finally:
        stop_engines(made)
        shutil.rmtree(home, ignore_errors=True)


def stop_engines(settings: Settings) -> None:
    """Stop PostgreSQL and every host process of a home; one that never ran is no error."""
    from pegas_assets.embedded.postgres import stop_postgres
    from pegas_assets.embedded.process import HostSpec, stop

    for owner in sorted((settings.home / "run").glob("*.owner")):
        with contextlib.suppress(Exception):
            stop(HostSpec(owner.stem, (), settings.home))
    with contextlib.suppress(Exception):
        stop_postgres(settings)
