"""Starts runs from outside Dagster: in this very process, or over the webserver. Both are real runs in the lineage."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pegas_assets.defs import tags as tags_of_runs
from pegas_assets.defs.dagster_home import LOCATION
from pegas_assets.defs.stack_host import LOOPBACK, webserver_port
from pegas_assets.embedded.postgres import dagster_database_url
from pegas_assets.errors import EngineUnavailable, InvalidInput, NotFound
from pegas_assets.runtime import Runtime
from pegas_assets.settings import Settings

if TYPE_CHECKING:
    from dagster import DagsterInstance, JobDefinition

REPOSITORY = "__repository__"
DOCUMENTS_LIMIT = 10_000
TIMEOUT_S = 10.0
RUNS_AT_ONCE = 2
"""In one process: a run holds up to two of a runtime's connections, and more would only take the processor from
searches. A further one waits."""

_turns = threading.BoundedSemaphore(RUNS_AT_ONCE)
_job: JobDefinition | None = None
_job_lock = threading.Lock()
FINISHED = frozenset({"SUCCESS", "FAILURE", "CANCELED"})


@dataclass(frozen=True)
class RunResult:
    """How a run stands. `error` is the sentence of the step that failed, empty where none did."""

    run_id: str
    status: str
    error: str = ""

    @property
    def finished(self) -> bool:
        return self.status in FINISHED

    @property
    def succeeded(self) -> bool:
        return self.status == "SUCCESS"


def run_ingest_inprocess(
    instance: DagsterInstance,
    runtime: Runtime,
    source: str,
    document_ids: Sequence[int] = (),
    *,
    force: bool = False,
    tags: Mapping[str, str] | None = None,
) -> RunResult:
    """Run documents → chunks → atoms for a source in this thread, with the caller's open runtime; some 0.1 s of Dagster.

    `tags` should say who asks, for example `{"pegas/source": "mcp"}`. Such a run has no code location behind it: the UI
    shows it and cannot re-execute it. A failure of the run is in the result, and its documents are left to the sensor.

    Raises:
        EngineUnavailable: Dagster's storage does not answer.
    """
    job = _ingest_job()
    from pegas_assets.defs.partitions import SOURCES_NAME
    from pegas_assets.defs.resources import lend, owner_tags

    _bring_up(runtime.settings)
    all_tags = {**owner_tags(), **(tags or {})}
    if document_ids:
        all_tags[tags_of_runs.DOCUMENTS] = str(len(document_ids))
    try:
        if not instance.has_dynamic_partition(SOURCES_NAME, source):
            instance.add_dynamic_partitions(SOURCES_NAME, [source])
        with _turns, lend(runtime):
            result = job.execute_in_process(
                run_config={
                    **ingest_config(document_ids, force=force),
                    "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
                },
                instance=instance,
                partition_key=source,
                tags=all_tags,
                raise_on_error=False,
            )
    except Exception as error:
        _reraise_as_unavailable(error)
        raise
    failures = result.filter_events(lambda event: event.is_step_failure)
    run = instance.get_run_by_id(result.run_id)
    return RunResult(
        run_id=result.run_id,
        status=run.status.value if run is not None else ("SUCCESS" if result.success else "FAILURE"),
        error=_sentence(failures[0]) if failures else "",
    )


def ingest_config(document_ids: Sequence[int] = (), *, force: bool = False) -> dict[str, Any]:
    """The run config of `ingest_job`: the same for each of its stages."""
    from pegas_assets.defs.stages import INGEST_STAGES

    if len(document_ids) > DOCUMENTS_LIMIT:
        raise InvalidInput(
            f"{len(document_ids)} documents are too many to name in one run.", hint="Run over the whole source."
        )
    config = {"document_ids": list(document_ids), "force": force}
    return {"ops": {stage: {"config": config} for stage in INGEST_STAGES}}


def launch_over_graphql(
    settings: Settings,
    job: str,
    partition: str | None = None,
    config: Mapping[str, Any] | None = None,
    tags: Mapping[str, str] | None = None,
) -> str:
    """Have the daemon start a run of a job; returns the run's id at once. A source's partition is added where absent.

    `config` is a run config, for `ingest_job` what `ingest_config` makes.

    Raises:
        EngineUnavailable: the webserver is not up, or the code location is not loaded.
        InvalidInput: there is no such job, or its config is wrong.
    """
    selector = {"repositoryLocationName": LOCATION, "repositoryName": REPOSITORY}
    if partition is not None and job == "ingest_job":
        _add_source(settings, selector, partition)
    all_tags = dict(tags or {})
    if partition is not None:
        all_tags[tags_of_runs.PARTITION] = partition
        if job == "ingest_job":
            all_tags[tags_of_runs.SOURCE_KEY] = partition
    answer = _ask(
        settings,
        """
        mutation Launch($params: ExecutionParams!) {
          launchRun(executionParams: $params) {
            __typename
            ... on LaunchRunSuccess { run { runId } }
            ... on RunConfigValidationInvalid { errors { message } }
            ... on PipelineNotFoundError { message }
            ... on PythonError { message }
            ... on UnauthorizedError { message }
            ... on InvalidSubsetError { message }
            ... on ConflictingExecutionParamsError { message }
            ... on PresetNotFoundError { message }
            ... on NoModeProvidedError { message }
          }
        }
        """,
        {
            "params": {
                "selector": {**selector, "jobName": job},
                "runConfigData": dict(config or {}),
                "executionMetadata": {"tags": [{"key": key, "value": value} for key, value in all_tags.items()]},
            }
        },
    )["launchRun"]
    if answer["__typename"] == "LaunchRunSuccess":
        return str(answer["run"]["runId"])
    told = answer.get("message") or "; ".join(error["message"] for error in answer.get("errors", ()))
    if answer["__typename"] == "PipelineNotFoundError":
        raise EngineUnavailable(
            f"Dagster has no job {job}: {told}",
            hint="Its code location may still be loading, or have failed: see the Deployment page of the UI.",
            component="dagster",
        )
    raise InvalidInput(f"Dagster does not start {job}: {told}", hint="Check the job's config and partition.", item=job)


def run_status(settings: Settings, run_id: str) -> RunResult:
    """How a run stands, asked of the webserver.

    Raises:
        EngineUnavailable: the webserver is not up.
        NotFound: there is no such run.
    """
    answer = _ask(
        settings,
        """
        query Status($id: ID!) {
          runOrError(runId: $id) {
            __typename
            ... on Run {
              status
            }
          }
        }
        """,
        {"id": run_id},
    )["runOrError"]
    if answer["__typename"] != "Run":
        raise NotFound(f"There is no run {run_id}.", hint="Runs are listed in the Dagster UI.", item=run_id)
    return RunResult(run_id=run_id, status=answer["status"])


def _add_source(settings: Settings, selector: dict[str, str], source: str) -> None:
    from pegas_assets.defs.partitions import SOURCES_NAME

    answer = _ask(
        settings,
        """
        mutation Add($selector: RepositorySelector!, $name: String!, $key: String!) {
          addDynamicPartition(repositorySelector: $selector, partitionsDefName: $name, partitionKey: $key) {
            __typename
            ... on PythonError { message }
          }
        }
        """,
        {"selector": selector, "name": SOURCES_NAME, "key": source},
    )["addDynamicPartition"]
    if answer["__typename"] not in ("AddDynamicPartitionSuccess", "DuplicateDynamicPartitionError"):
        raise EngineUnavailable(
            f"Dagster does not take the source {source}: {answer.get('message') or answer['__typename']}.",
            hint="The code location may still be loading: try again in a few seconds.",
            component="dagster",
            item=source,
        )


def _ask(settings: Settings, query: str, variables: Mapping[str, Any]) -> dict[str, Any]:
    import httpx

    port = webserver_port(settings)
    address = f"http://{LOOPBACK}:{port}/graphql"
    try:
        # Without the environment: a proxy is for pages, not for our own services.
        with httpx.Client(trust_env=False, timeout=TIMEOUT_S) as client:
            response = client.post(address, json={"query": query, "variables": dict(variables)})
            response.raise_for_status()
            answer: dict[str, Any] = response.json()
    except (httpx.HTTPError, ValueError) as error:
        raise EngineUnavailable(
            f"The Dagster webserver does not answer on port {port}: {type(error).__name__}.",
            hint="Start it with `pegas up`. Documents that were accepted are not lost: they are worked on then.",
            component="dagster",
        ) from None
    if answer.get("errors"):
        told = "; ".join(str(error.get("message", "")) for error in answer["errors"])
        raise EngineUnavailable(f"The Dagster webserver cannot answer: {told[:300]}.", component="dagster")
    data: dict[str, Any] = answer["data"]
    return data


def _ingest_job() -> JobDefinition:
    """The job, loaded once. Under a lock: threads that import the same modules for the first time see half of them."""
    global _job
    with _job_lock:
        if _job is None:
            from pegas_assets.definitions import defs

            _job = defs.resolve_job_def("ingest_job")
        return _job


def _bring_up(settings: Settings) -> None:
    """An embedded PostgreSQL that was killed is started again; reads two small files where it runs."""
    if settings.database_url is None:
        dagster_database_url(settings)


def _sentence(event: Any) -> str:
    failure = event.step_failure_data
    if failure.user_failure_data is not None and failure.user_failure_data.description:
        return str(failure.user_failure_data.description)
    cause = failure.error.cause or failure.error if failure.error is not None else None
    return str(cause.message).strip().splitlines()[0] if cause is not None else "The run failed."


def _reraise_as_unavailable(error: Exception) -> None:
    """Errors of the storage come as SQLAlchemy's or dagster-postgres's own."""
    from dagster_postgres.utils import DagsterPostgresException
    from sqlalchemy.exc import SQLAlchemyError

    if isinstance(error, DagsterPostgresException | SQLAlchemyError):
        raise EngineUnavailable(
            f"Dagster's storage does not answer: {type(error).__name__}.",
            hint="The documents are accepted: the sensor works on them when it is back.",
            component="dagster",
        ) from error
