"""Opens the base of this process from its settings, once for a command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pegas_assets.runtime import Runtime
    from pegas_assets.settings import Settings


def settings_of_process() -> Settings:
    """The settings, with logging set to their level, on stderr.

    Raises:
        InvalidInput: a variable holds what it may not.
    """
    import logging
    import sys

    from pegas_assets.settings import load_settings

    settings = load_settings()
    logging.basicConfig(level=settings.log_level, stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    return settings


@contextmanager
def opened(*, schema: bool = True) -> Iterator[Runtime]:
    """The base that the settings name, with its schema checked. Its connections are given back at the end."""
    from pegas_assets.runtime import Runtime

    with Runtime(settings_of_process(), application="pegas-cli") as runtime:
        if schema:
            runtime.ensure_schema()
        yield runtime
