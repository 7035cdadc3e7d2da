"""`pegas drift|reconcile|rebuild|optimize`: compare the projections with PostgreSQL and make them match."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from pegas_assets.cli.opened import opened
from pegas_assets.cli.output import Advance, print_json, progress, say, table

if TYPE_CHECKING:
    from pegas_assets.projection.targets import Drift, Reconciled
    from pegas_assets.runtime import Runtime

Which = Annotated[str, typer.Argument(metavar="[vectors|graph|all]", help="Which projection.")]
Buckets = Annotated[list[int] | None, typer.Option("--bucket", help="Only this bucket, 0 to 15; may be repeated.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def drift(target: Which = "all", bucket: Buckets = None, json: Json = False) -> None:
    """Compare each projection with PostgreSQL, changing nothing. Exit code 1 where they differ."""
    from pegas_assets.projection.reconcile import drift as compare

    with opened() as runtime, progress(quiet=json) as advance:
        found: list[Drift] = []
        for name in _names(target):
            for place, number in enumerate(wanted := _buckets(bucket), start=1):
                found += compare(runtime.database, runtime.target(name), [number])
                advance(f"comparing {name}", place, len(wanted))
    if json:
        print_json({"drift": sum(state.total for state in found), "buckets": found})
    else:
        print_drift(found)
    if any(state.total for state in found):
        raise typer.Exit(1)


def reconcile(target: Which = "all", bucket: Buckets = None, json: Json = False) -> None:
    """Make each projection match PostgreSQL: write what is missing or different, remove what is too much."""
    with opened() as runtime, progress(quiet=json) as advance:
        results = _reconcile(runtime, _names(target), _buckets(bucket), advance)
    _report(results, json)


def rebuild(
    target: Which = "all",
    from_empty: Annotated[
        bool, typer.Option("--from-empty", help="Drop the projection first; searches miss it until it is filled.")
    ] = False,
    json: Json = False,
) -> None:
    """Make the whole of a projection from PostgreSQL. No model is called: the embeddings are kept there."""
    names = _names(target)
    with opened() as runtime, progress(quiet=json) as advance:
        if from_empty:
            from pegas_assets.projection.reconcile import empty

            for name in names:
                empty(runtime.database, runtime.target(name))
        results = _reconcile(runtime, names, _buckets(None), advance)
    _report(results, json)


def optimize(json: Json = False) -> None:
    """Build the vector index over what was written since the last time, while searches go on."""
    with opened() as runtime, progress(quiet=json) as advance:
        built, info = runtime.vector_target.build_index(lambda step: advance(step, 0, None))
    if json:
        print_json({"built": built, "collection": info})
        return
    say("The index is built." if built else "There was nothing to build.")
    if info is not None:
        say(f"{info.name}: {info.points:,} points, {info.indexed:,} of them indexed.")


def retry(json: Json = False) -> None:
    """Take up again the changes that were set aside after too many failures, and show them."""
    from pegas_assets.projection.drain import drain
    from pegas_assets.stores.outbox import revive_dead

    with opened() as runtime:
        with runtime.database.connection() as connection:
            revived = revive_dead(connection)
        drained = drain(runtime.database, runtime.targets, max_attempts=runtime.settings.outbox_max_attempts)
    problems = [f"{state.target}: {state.unavailable}" for state in drained if state.unavailable]
    failed = sum(state.failed for state in drained)
    if json:
        print_json({"revived": revived, "failed": failed, "problems": problems})
    else:
        say(f"{revived:,} taken up again, {failed:,} failed once more." if revived else "Nothing was set aside.")
        for problem in problems:
            say(problem, style="yellow")
    if problems or failed:
        raise typer.Exit(1)


def print_drift(found: Sequence[Drift]) -> None:
    """A row for each projection, and the first keys that differ."""
    by_target: dict[str, list[Drift]] = {}
    for state in found:
        by_target.setdefault(state.target, []).append(state)
    rows = [
        (
            name,
            sum(state.expected for state in states),
            sum(len(state.missing) for state in states),
            sum(len(state.extra) for state in states),
            sum(len(state.different) for state in states),
            "no drift" if not any(state.total for state in states) else "DRIFT",
        )
        for name, states in by_target.items()
    ]
    columns = ("projection", "expected", "missing", "extra", "different", "")
    table("", columns, rows, right=columns[1:5])
    for state in found:
        for what, keys in (("missing", state.missing), ("extra", state.extra), ("different", state.different)):
            if keys:
                more = f" and {len(keys) - 5} more" if len(keys) > 5 else ""
                say(f"{state.target} bucket {state.bucket}: {what} {', '.join(keys[:5])}{more}")


def _reconcile(runtime: Runtime, names: Sequence[str], buckets: Sequence[int], advance: Advance) -> list[Reconciled]:
    from pegas_assets.projection.reconcile import reconcile as make_match

    results: list[Reconciled] = []
    for name in names:
        done = 0

        def count(_: Reconciled, name: str = name) -> None:
            nonlocal done
            done += 1
            advance(f"reconciling {name}", done, len(buckets))

        advance(f"reconciling {name}", 0, len(buckets))
        results += make_match(runtime.database, runtime.target(name), buckets, progress=count)
    return results


def _report(results: Sequence[Reconciled], json: bool) -> None:
    left = sum(result.left.total for result in results if result.left is not None)
    if json:
        print_json({"drift_left": left, "buckets": results})
    else:
        rows = []
        for name in dict.fromkeys(result.target for result in results):
            of = [result for result in results if result.target == name]
            rows.append(
                (
                    name,
                    sum((result.left or result).expected for result in of),
                    sum(result.upserted for result in of),
                    sum(result.deleted for result in of),
                    sum(result.waiting for result in of),
                    sum(result.left.total for result in of if result.left is not None),
                    f"{sum(result.seconds for result in of):.2f}",
                )
            )
        columns = ("projection", "expected", "written", "removed", "waiting", "drift left", "seconds")
        table("", columns, rows, right=columns[1:])
    if left:
        raise typer.Exit(1)


def _names(target: str) -> tuple[str, ...]:
    from pegas_assets.projection.targets import TARGETS

    return TARGETS if target == "all" else (target,)


def _buckets(wanted: list[int] | None) -> tuple[int, ...]:
    from pegas_assets.projection.reconcile import ALL_BUCKETS, checked_buckets

    return checked_buckets(wanted) if wanted else ALL_BUCKETS
