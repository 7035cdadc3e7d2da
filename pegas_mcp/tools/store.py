"""`memory_store`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import anyio
from mcp_types import CallToolResult
from pydantic import Field

from pegas_assets.errors import PegasError
from pegas_mcp.rendering import down_targets, stored
from pegas_mcp.results import StoreAnswer, answer
from pegas_mcp.session import CALL_S, Session
from pegas_mcp.tools.arguments import Call, Type, client_of, session_of
from pegas_mcp.tools.marks import writing

if TYPE_CHECKING:
    from pegas_assets.pipeline.store import Stored
    from pegas_assets.runtime import Runtime

AGAIN_S = (0.05, 0.1, 0.2, 0.4, 0.8)
"""Pauses before a statement is tried again that another process is storing at this moment."""


@writing("Store one atom", idempotent=True)
async def memory_store(
    ctx: Call,
    content: Annotated[str, Field(description="The statement, complete in itself; code and tables whole")],
    type: Annotated[Type, Field(description="fact: one statement; text: a passage")] = "fact",
    claim: Annotated[str, Field(description="content in one sentence, to 500 characters")] = "",
    title: Annotated[str, Field(description="A name for where it comes from")] = "",
    confidence: Annotated[float, Field(ge=0, le=1, description="How sure, 0 to 1")] = 0.5,
) -> Annotated[CallToolResult, StoreAnswer]:
    """Keep one statement. What says the same as a known atom becomes further evidence for that one.

    Example: {"type": "fact", "content": "The harbour light of Vellmar is 31 m high.", "confidence": 0.8}
    """
    client = client_of(ctx)

    def work(runtime: Runtime) -> Stored:
        from pegas_assets.model import AtomType
        from pegas_assets.pipeline.store import store_atom

        return store_atom(
            runtime.ingest_parts,
            runtime.targets,
            type=AtomType(type),
            content=content,
            claim=claim,
            title=title,
            client=client,
            confidence=confidence,
        )

    done = await _stored(session_of(ctx), work)
    structure = StoreAnswer(
        key=done.key,
        status="duplicate" if done.duplicate else "stored",
        duplicate_of=done.key if done.duplicate else "",
        document=f"doc:{done.document_id}",
        operation_id=done.operation_id,
        may_contradict=[f"{key}: {said} ({reason})" for key, said, reason in done.may_contradict[:5]],
        projected=done.projected,
        degraded=down_targets((item.target, item.unavailable) for item in done.drained if item.unavailable),
    )
    return answer(structure, stored(structure))


async def _stored(session: Session, work: Callable[[Runtime], Stored]) -> Stored:
    """Do it, again where another process is at the same document: what it writes is what this call asked for."""
    deadline = time.perf_counter() + CALL_S
    for wait_s in (*AGAIN_S, None):
        try:
            return await session.run(work, limit_s=max(AGAIN_S[0], deadline - time.perf_counter()))
        except PegasError as error:
            if error.code == "timeout":
                error.hint = "It may be kept all the same. Store it again if a search does not find it: twice is once."
            if error.code != "pending" or wait_s is None:
                raise
        await anyio.sleep(wait_s)
    raise AssertionError("unreachable")


TOOLS = (memory_store,)
