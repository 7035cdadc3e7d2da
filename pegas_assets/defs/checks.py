"""The checks: each asks for one thing that should not be."""

from datetime import UTC, datetime

import dagster as dg

from pegas_assets.defs.metadata import Metadata, as_failure, table
from pegas_assets.defs.reprojection import ASSET_OF_TARGET
from pegas_assets.defs.resources import RuntimeResource
from pegas_assets.projection.reconcile import drift
from pegas_assets.projection.targets import GRAPH, VECTORS, Drift
from pegas_assets.stores import soundness
from pegas_assets.stores.outbox import lag
from pegas_assets.stores.soundness import Findings

SETTLE_S = 10.0
OLDEST_PENDING_S = 900.0
STUCK_S = 1800.0


def result_of(
    findings: Findings, what: str, severity: dg.AssetCheckSeverity = dg.AssetCheckSeverity.ERROR
) -> dg.AssetCheckResult:
    """A check's answer from what was found: passed when that is nothing, else with examples."""
    metadata: Metadata = {"count": findings.count}
    if findings.examples:
        metadata["examples"] = dg.MetadataValue.md(table(("what", "why"), findings.examples))
    return dg.AssetCheckResult(
        passed=findings.count == 0,
        severity=severity,
        metadata=metadata,
        description=f"{findings.count} {what}." if findings.count else f"No {what}.",
    )


def drift_check(target: str) -> dg.AssetChecksDefinition:
    """The check that a projection is what PostgreSQL says."""

    @dg.asset_check(
        asset=ASSET_OF_TARGET[target],
        name="no_drift",
        description=(
            "Every key that PostgreSQL has is there, with the same content hash, and no other. A change that is still in "
            "the outbox is late, not lost: it is counted apart."
        ),
    )
    def no_drift(runtime: RuntimeResource) -> dg.AssetCheckResult:
        opened = runtime.opened
        with as_failure():
            return drift_result(drift(opened.database, opened.target(target), settle_s=SETTLE_S))

    return no_drift


def drift_result(found: list[Drift]) -> dg.AssetCheckResult:
    """The answer from the drift of all buckets, without the keys that are late."""
    lost = [
        (key, how)
        for one in found
        for how, keys in (("missing", one.missing), ("too much", one.extra), ("different", one.different))
        for key in keys
        if key not in one.late
    ]
    metadata: Metadata = {
        "expected": sum(one.expected for one in found),
        "missing": sum(how == "missing" for _, how in lost),
        "too much": sum(how == "too much" for _, how in lost),
        "different": sum(how == "different" for _, how in lost),
        "under way": sum(len(one.late) for one in found),
    }
    if lost:
        metadata["examples"] = dg.MetadataValue.md(table(("key", "drift"), lost[: soundness.EXAMPLES]))
    return dg.AssetCheckResult(
        passed=not lost,
        metadata=metadata,
        description=f"{len(lost)} keys differ from PostgreSQL." if lost else "It is what PostgreSQL says.",
    )


def dead_rows_check(target: str) -> dg.AssetChecksDefinition:
    """The check that no change was given up."""

    @dg.asset_check(
        asset=ASSET_OF_TARGET[target],
        name="no_dead_rows",
        description="No outbox row was set aside after too many failures. `pegas retry` or a rebuild takes them up.",
    )
    def no_dead_rows(runtime: RuntimeResource) -> dg.AssetCheckResult:
        with as_failure(), runtime.opened.database.connection() as connection:
            findings = soundness.dead_rows(connection, target)
        return result_of(findings, "dead outbox rows")

    return no_dead_rows


def lag_check(target: str) -> dg.AssetChecksDefinition:
    """The check that the outbox is being drained."""

    @dg.asset_check(
        asset=ASSET_OF_TARGET[target],
        name="keeps_up",
        description=f"No change has waited in the outbox for more than {OLDEST_PENDING_S / 60:.0f} minutes.",
    )
    def keeps_up(runtime: RuntimeResource) -> dg.AssetCheckResult:
        with as_failure(), runtime.opened.database.connection() as connection:
            state = lag(connection)[target]
        oldest = (datetime.now(UTC) - state.oldest_pending).total_seconds() if state.oldest_pending else 0.0
        return dg.AssetCheckResult(
            passed=oldest <= OLDEST_PENDING_S,
            metadata={
                "pending": state.pending,
                "oldest pending, seconds": round(oldest, 1),
                "last error": state.example_error or "-",
            },
        )

    return keeps_up


@dg.asset_check(asset="documents", description="No text is two documents: another address of it is a row of its own.")
def documents_unique(runtime: RuntimeResource) -> dg.AssetCheckResult:
    with as_failure(), runtime.opened.database.connection() as connection:
        findings = soundness.documents_twice(connection)
    return result_of(findings, "texts that are two documents")


@dg.asset_check(asset="documents", description="No document failed for good; those refused on purpose are none.")
def none_failed(runtime: RuntimeResource) -> dg.AssetCheckResult:
    with as_failure(), runtime.opened.database.connection() as connection:
        findings = soundness.failed_documents(connection)
    return result_of(findings, "documents failed", dg.AssetCheckSeverity.WARN)


@dg.asset_check(asset="documents", description=f"No document has been ready for {STUCK_S / 60:.0f} minutes untouched.")
def none_stuck(runtime: RuntimeResource) -> dg.AssetCheckResult:
    with as_failure(), runtime.opened.database.connection() as connection:
        findings = soundness.stuck_documents(connection, STUCK_S)
    return result_of(findings, "documents that nobody works on")


@dg.asset_check(asset="chunks", description="No chunk's distillation failed; its text is searchable all the same.")
def all_distilled(runtime: RuntimeResource) -> dg.AssetCheckResult:
    with as_failure(), runtime.opened.database.connection() as connection:
        findings = soundness.failed_distillations(connection)
    return result_of(findings, "chunks that the distiller failed on", dg.AssetCheckSeverity.WARN)


@dg.asset_check(asset="atoms", description="No content is two atoms.")
def atoms_unique(runtime: RuntimeResource) -> dg.AssetCheckResult:
    with as_failure(), runtime.opened.database.connection() as connection:
        findings = soundness.atoms_twice(connection)
    return result_of(findings, "contents that are two atoms")


@dg.asset_check(asset="atoms", description="Every living citation's quotation stands in its chunk.")
def quotations_stand(runtime: RuntimeResource) -> dg.AssetCheckResult:
    with as_failure(), runtime.opened.database.connection() as connection:
        findings = soundness.citations_unquoted(connection)
    return result_of(findings, "citations whose quotation is gone")


@dg.asset_check(asset="atoms", description="Every atom in force is supported by a living citation.")
def atoms_cited(runtime: RuntimeResource) -> dg.AssetCheckResult:
    with as_failure(), runtime.opened.database.connection() as connection:
        findings = soundness.atoms_uncited(connection)
    return result_of(findings, "atoms in force without a citation")


drift_checks = [drift_check(VECTORS), drift_check(GRAPH)]
"""They read the whole projection: daily, and with a rebuild."""

soundness_checks = [
    *(dead_rows_check(target) for target in (VECTORS, GRAPH)),
    *(lag_check(target) for target in (VECTORS, GRAPH)),
    documents_unique,
    none_failed,
    none_stuck,
    all_distilled,
    atoms_unique,
    quotations_stand,
    atoms_cited,
]
"""They ask PostgreSQL alone: hourly."""
