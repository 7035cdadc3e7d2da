"""What a run opens: one `Runtime`, given back at its end."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import dagster as dg
from pydantic import PrivateAttr

from pegas_assets.defs import tags
from pegas_assets.embedded.process import process_start
from pegas_assets.runtime import Runtime
from pegas_assets.settings import load_settings

_LENT: ContextVar[Runtime | None] = ContextVar("lent_runtime", default=None)


def owner_tags() -> dict[str, str]:
    """Tags that say which process works on a run, so that the sweep can tell when it is gone."""
    pid = os.getpid()
    return {tags.PID: str(pid), tags.HOST: socket.gethostname(), tags.STARTED: str(process_start(pid) or 0)}


@contextmanager
def lend(runtime: Runtime) -> Iterator[None]:
    """Have runs in this thread use a runtime that is open and warm, and leave it open."""
    token = _LENT.set(runtime)
    try:
        yield
    finally:
        _LENT.reset(token)


class RuntimeResource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """One base: its truth, its projections, its models. Opened for a run, closed after it; each part when first used."""

    _opened: Runtime | None = PrivateAttr(default=None)

    @property
    def opened(self) -> Runtime:
        """The runtime of this run, with its schema checked."""
        assert self._opened is not None, "the resource is used outside of a run"
        return self._opened

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator[RuntimeResource]:
        lent = _LENT.get()
        if lent is not None:
            self._opened = lent
            yield self
            return
        _claim(context)
        with Runtime(load_settings(), application="pegas-dagster") as runtime:
            runtime.ensure_schema()
            self._opened = runtime
            yield self


def _claim(context: dg.InitResourceContext) -> None:
    # The run launcher does not watch its workers: with these tags the sweep finds one that was killed.
    if context.run is not None and context.instance is not None and not context.instance.is_ephemeral:
        context.instance.add_run_tags(context.run.run_id, owner_tags())
