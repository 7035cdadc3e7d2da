"""Runs of ingest through Dagster: the one module here that imports it, and not before it is warmed or asked to run.

A run inside this process is a real run in the lineage, tagged with who works on it, so that a sweep can tell when this
process is gone. It never captures output, which would take stdout and with it the protocol.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pegas_assets.errors import PegasError
from pegas_assets.settings import Settings

if TYPE_CHECKING:
    from dagster import DagsterInstance

    from pegas_assets.runtime import Runtime

JOB = "ingest_job"


class Lineage:
    """One Dagster instance for this process, opened once and shared by its threads."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._instance: DagsterInstance | None = None
        self._lock = threading.Lock()
        self._trouble = ""

    @property
    def state(self) -> str:
        """How runs are, in words."""
        if self._instance is not None:
            return "ready"
        return f"Dagster is not reachable ({self._trouble})" if self._trouble else "warming up"

    def warm(self) -> DagsterInstance:
        """The instance, with the job loaded: some seconds when first called. Asked again after a failure.

        Raises:
            EngineUnavailable: Dagster's storage does not answer.
        """
        with self._lock:
            if self._instance is None:
                from pegas_assets.defs.instance import open_inprocess_instance

                try:
                    instance = open_inprocess_instance(self._settings)
                    from pegas_assets.definitions import defs

                    defs.resolve_job_def(JOB)
                except PegasError as error:
                    self._trouble = error.message
                    raise
                self._instance, self._trouble = instance, ""
            return self._instance

    def run(self, runtime: Runtime, source: str, document_ids: Sequence[int], client: str) -> str:
        """Do the work on documents of a source here, in this thread; returns the run's id.

        Raises:
            EngineUnavailable: Dagster's storage does not answer; the documents stay accepted.
            PegasError: code `run_failed`, with the sentence of the step that failed.
        """
        from pegas_assets.defs.launch import run_ingest_inprocess

        instance = self.warm()
        result = run_ingest_inprocess(instance, runtime, source, document_ids, tags=_tags(client))
        if not result.succeeded:
            raise PegasError(
                result.error or f"The run {result.run_id} ended as {result.status}.",
                hint="The documents are kept; they are tried again.",
                component="dagster",
                code="run_failed",
                retryable=True,
            )
        return result.run_id

    def launch(self, source: str, document_ids: Sequence[int], client: str) -> str:
        """Have Dagster's own processes do the work; returns the run's id at once.

        Raises:
            EngineUnavailable: the webserver does not answer; the documents stay accepted.
        """
        from pegas_assets.defs.launch import DOCUMENTS_LIMIT, ingest_config, launch_over_graphql

        named = document_ids if len(document_ids) <= DOCUMENTS_LIMIT else ()
        return launch_over_graphql(
            self._settings, JOB, partition=source, config=ingest_config(named), tags=_tags(client)
        )


def _tags(client: str) -> dict[str, str]:
    return {"pegas/source": "mcp", "pegas/client": client or "unnamed"}
