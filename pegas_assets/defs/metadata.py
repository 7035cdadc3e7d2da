"""What a materialisation says of itself: counts, rates, reasons, the model, the way to the source."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias
from urllib.parse import unquote

import dagster as dg

from pegas_assets.errors import PegasError
from pegas_assets.pipeline.report import StageReport
from pegas_assets.runtime import Runtime
from pegas_assets.stores.postgres import Database
from pegas_assets.stores.source_counts import atoms_by_type, documents_by_status, example_uri

Metadata: TypeAlias = dict[str, Any]

LOG_EVERY_S = 2.0


def report_metadata(report: StageReport) -> Metadata:
    """A stage's report. Numbers are plotted over time by the UI; `dagster/row_count` is what the stage produced."""
    metadata: Metadata = {
        "dagster/row_count": report.produced,
        "documents": report.documents,
        "failed": sum(report.failed.values()),
        "skipped": sum(report.skipped.values()),
        "seconds": round(report.seconds, 3),
        "per second": round(report.rate, 2),
    }
    metadata |= dict(sorted(report.counts.items()))
    if report.skipped:
        metadata["why skipped"] = dg.MetadataValue.md(counts_table("reason", report.skipped))
    if report.failed:
        metadata["why failed"] = dg.MetadataValue.md(counts_table("code", report.failed))
    if report.errors:
        metadata["first errors"] = dg.MetadataValue.md("\n".join(f"- {error}" for error in report.errors[:5]))
    return metadata


def source_metadata(database: Database, source: str, *, whole: bool) -> Metadata:
    """The way to a source, and how its documents stand now. A run over a few documents, which should feel instant,
    does not count the whole source."""
    if not whole:
        return {"source": source_link(source)}
    with database.connection() as connection:
        statuses = documents_by_status(connection, source)
        uri = example_uri(connection, source)
    return {
        "documents of the source": sum(statuses.values()),
        "by status": dg.MetadataValue.md(counts_table("status", statuses)),
        "source": source_link(source, uri),
    }


def atoms_metadata(database: Database, source: str, *, whole: bool) -> Metadata:
    """The way to a source, and what it supports now, by type; counted as in `source_metadata`."""
    if not whole:
        return {"source": source_link(source)}
    with database.connection() as connection:
        types = atoms_by_type(connection, source)
        uri = example_uri(connection, source)
    return {
        "atoms of the source": sum(types.values()),
        "by type": dg.MetadataValue.md(counts_table("type", types)),
        "source": source_link(source, uri),
    }


def model_metadata(runtime: Runtime) -> Metadata:
    """The models at work: a fingerprint names provider, model, dimension, prefix and normalisation."""
    return {"embedding": str(runtime.embedder.fingerprint), "distiller": runtime.distiller.name}


def source_link(source: str, uri: str = "") -> dg.MetadataValue[Any]:
    """The way to a source: a web site's address, or where its files lie."""
    kind, _, name = source.partition(":")
    if kind == "web" and "." in name:
        return dg.MetadataValue.url(f"https://{name}/")
    if uri.startswith("file://"):
        return dg.MetadataValue.path(unquote(uri.removeprefix("file://").rpartition("/")[0]))
    return dg.MetadataValue.text(source)


def counts_table(name: str, counts: Mapping[str, int]) -> str:
    """Two columns of Markdown, largest count first."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], str(item[0])))
    return table((name, "count"), ordered)


def table(head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    """A Markdown table; bars and line ends in a cell are made harmless."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def _cell(value: object) -> str:
    return " ".join(str(value).replace("|", "\\|").split())


def log_progress(context: dg.AssetExecutionContext) -> Callable[[str, int, int], None]:
    """Progress as lines of the run's log, one every two seconds at most."""
    last = time.monotonic()

    def tell(stage: str, done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= LOG_EVERY_S:
            last = time.monotonic()
            context.log.info(f"{stage}: {done} of {total} documents")

    return tell


@contextmanager
def as_failure() -> Iterator[None]:
    """Turn an error that people can act on into a failure that the UI shows as a sentence, retried where that may help."""
    try:
        yield
    except PegasError as error:
        raise dg.Failure(
            description=str(error),
            metadata={"code": error.code, "component": error.component or "-", "item": error.item or "-"},
            allow_retries=error.retryable,
        ) from error
