"""`memory_ingest`."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import anyio
from mcp_types import CallToolResult
from pydantic import Field

from pegas_assets.errors import EngineUnavailable, InvalidInput, PegasError
from pegas_mcp.operations import operation_answer
from pegas_mcp.rendering import down_targets, ingested
from pegas_mcp.results import Down, IngestAnswer, OperationAnswer, answer
from pegas_mcp.session import Session
from pegas_mcp.tools.arguments import Call, WaitSeconds, client_of, session_of
from pegas_mcp.tools.marks import writing

if TYPE_CHECKING:
    from pegas_assets.pipeline.accept import Acceptance
    from pegas_assets.runtime import Runtime
    from pegas_mcp.ingestion import Work

POLL_S = 0.01
PROGRESS_S = 0.5
READ_S = 1.0
"""The bound of a look at how it stands."""


@writing("Ingest documents", idempotent=True, open_world=True)
async def memory_ingest(
    ctx: Call,
    text: Annotated[str, Field(description="Give exactly one of text (plain or Markdown),")] = "",
    url: Annotated[str, Field(description="url of a page or sitemap,")] = "",
    path: Annotated[str, Field(description="or path: a file, folder or glob on the server")] = "",
    title: Annotated[str, Field(description="Of the text")] = "",
    password: Annotated[str, Field(description="Of a locked PDF at path; not kept")] = "",
    wait_s: WaitSeconds = 5,
    refresh: Annotated[bool, Field(description="Fetch a known url again")] = False,
) -> Annotated[CallToolResult, IngestAnswer]:
    """Take in documents and make cited atoms of them. Kept once accepted; large work goes on after wait_s.

    Example: {"url": "https://example.org/guide", "wait_s": 10}
    """
    started = time.perf_counter()
    session = session_of(ctx)
    client = client_of(ctx)
    begun: list[str] = []
    accept = _acceptor(
        session,
        client,
        text=text,
        url=url,
        path=path,
        title=title,
        password=password,
        refresh=refresh,
        begun=begun.append,
    )

    def take(runtime: Runtime) -> Taken:
        from pegas_assets.stores.document_work import waiting_by_source
        from pegas_mcp.ingestion import begin

        acceptance = accept(runtime)
        work = None
        if acceptance.document_ids:
            with runtime.database.connection() as connection:
                waiting = waiting_by_source(connection, acceptance.document_ids)
            work = begin(runtime, session.lineage, waiting, client) if waiting else None
        operation = operation_answer(runtime, acceptance.operation_id)
        return Taken(acceptance.sources, acceptance.document_ids, work, operation)

    deadline, told = started + wait_s, started
    taken = await _taken(session, take, begun, deadline)
    if taken is None:
        # A large folder: it goes on being taken in, and its run begins by itself.
        operation = await session.run(lambda runtime: operation_answer(runtime, begun[0]), limit_s=READ_S)
        return await _answer(session, Taken((), (), None, operation), operation)
    operation = taken.operation
    while taken.work is not None and time.perf_counter() < deadline:
        if taken.work.done.is_set() and (taken.work.trouble is not None or not taken.work.large or operation.finished):
            break
        await anyio.sleep(min(POLL_S, max(0.0, deadline - time.perf_counter())))
        if time.perf_counter() - told >= PROGRESS_S:
            operation, told = await _standing(session, operation), time.perf_counter()
            await _report(ctx, operation)
    return await _answer(session, taken, await _standing(session, operation))


async def _taken(
    session: Session, take: Callable[[Runtime], Taken], begun: Sequence[str], deadline: float
) -> Taken | None:
    """What was taken; None where it is still being taken in at the deadline and has an id to ask by.

    Raises:
        PegasError: of the taking.
    """
    taken: list[Taken] = []
    failed: list[Exception] = []
    ended = anyio.Event()

    async def work() -> None:
        try:
            taken.append(await session.run(take))
        except Exception as error:  # noqa: BLE001 - raised again below, out of the group
            failed.append(error)
        ended.set()

    async with anyio.create_task_group() as group:
        group.start_soon(work)
        while not ended.is_set():
            with anyio.move_on_after(POLL_S):
                await ended.wait()
            if begun and time.perf_counter() >= deadline:
                group.cancel_scope.cancel()
                break
    if taken:
        return taken[0]
    if failed and not (begun and isinstance(failed[0], PegasError) and failed[0].code == "timeout"):
        raise failed[0]
    return None


@dataclass(frozen=True)
class Taken:
    """What was accepted, the work that began on it, and how the request stood then."""

    sources: tuple[str, ...]
    document_ids: tuple[int, ...]
    work: Work | None
    operation: OperationAnswer


async def _standing(session: Session, last: OperationAnswer) -> OperationAnswer:
    """How the request stands; as it stood last where nobody can tell now, since what was accepted stays accepted."""
    try:
        return await session.run(lambda runtime: operation_answer(runtime, last.operation_id), limit_s=READ_S)
    except EngineUnavailable:
        return last


def _acceptor(
    session: Session,
    client: str,
    *,
    text: str,
    url: str,
    path: str,
    title: str,
    password: str,
    refresh: bool,
    begun: Callable[[str], None],
) -> Callable[[Runtime], Acceptance]:
    """What accepts the one thing that was given; `begun` is told the operation's id where that may take long.

    Raises:
        InvalidInput: nothing was given, or more than one thing; a path where no folder may be read.
    """
    given = [name for name, value in (("text", text), ("url", url), ("path", path)) if value.strip()]
    if len(given) != 1:
        raise InvalidInput(
            "Nothing was given." if not given else f"{' and '.join(given)} were given together.",
            hint="Give exactly one of text, url and path.",
            item=", ".join(given) or "text",
        )
    settings = session.settings
    if path.strip() and not settings.ingest_roots:
        raise InvalidInput(
            "No folder may be read: none is allowed.",
            hint="Set PEGAS_INGEST_ROOTS of this server to the folders that it may read, or give the text itself.",
            item="path",
            code="path_not_allowed",
        )

    def accept(runtime: Runtime) -> Acceptance:
        from pegas_assets.pipeline.accept import accept_files, accept_text, accept_urls
        from pegas_assets.pipeline.sitemaps import accept_sitemap
        from pegas_assets.sources.sitemap import named_like_sitemap

        if text.strip():
            return accept_text(runtime.database, settings, text, title=title, client=client)
        if url.strip() and named_like_sitemap(url.strip()):
            return accept_sitemap(
                runtime.database, settings, url.strip(), client=client, refresh=refresh, or_page=True, begun=begun
            )
        if url.strip():
            return accept_urls(runtime.database, settings, [url.strip()], client=client, refresh=refresh)
        return accept_files(
            runtime.database,
            settings,
            path.strip(),
            client=client,
            allowed_roots=settings.ingest_roots,
            password=password,
            begun=begun,
        )

    return accept


async def _report(ctx: Call, operation: OperationAnswer) -> None:
    from pegas_assets.stores.documents import OPEN

    open_now = sum(operation.counts.get(status, 0) for status in OPEN)
    total = max(operation.items_total, 1)
    message = ", ".join(f"{status} {count}" for status, count in operation.counts.items())
    await ctx.report_progress(total - open_now, total, message)


async def _answer(session: Session, taken: Taken, operation: OperationAnswer) -> CallToolResult:
    def count(runtime: Runtime) -> int:
        from pegas_assets.stores.document_work import atoms_of_documents

        with runtime.database.connection() as connection:
            return atoms_of_documents(connection, taken.document_ids)

    atoms = 0
    if taken.document_ids and operation.counts.get("done"):
        with contextlib.suppress(EngineUnavailable):
            atoms = await session.run(count, limit_s=READ_S)
    work = taken.work
    trouble = work.trouble if work is not None else None
    ended = work is None or work.done.is_set()
    if operation.taking:
        state = "working"
    elif not taken.document_ids:
        state = "nothing_to_do"
    elif operation.finished and (ended or (work is not None and work.large)):
        state = "done"
    elif trouble is not None or (ended and work is not None and not work.large):
        # The run is over and the document is not: it is tried again later, by the sensor.
        state = "accepted"
    else:
        state = "working"
    structure = IngestAnswer(
        operation_id=operation.operation_id,
        state=state,
        accepted=operation.items_total if operation.taking else len(taken.document_ids),
        counts=operation.counts,
        items=operation.items,
        items_total=operation.items_total,
        sources=list(taken.sources),
        atoms=atoms,
        projected=work.projected if work is not None and ended else False,
        run=work.runs[0] if work is not None and work.runs else "",
        degraded=_degraded(work, trouble),
    )
    return answer(structure, ingested(structure))


def _degraded(work: Work | None, trouble: PegasError | None) -> list[Down]:
    if work is None:
        return []
    found = down_targets(work.behind)
    if trouble is not None:
        found.insert(0, Down(component=trouble.component or "dagster", reason=str(trouble)))
    return found


TOOLS = (memory_ingest,)
