"""Arguments that several tools share, described once."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from mcp.server.mcpserver import Context
from pydantic import Field

from pegas_assets.errors import InvalidInput
from pegas_mcp.session import Session

MAX_LIMIT = 100

Call: TypeAlias = Context[Session, Any]

Type: TypeAlias = Literal["text", "definition", "logical_rule", "code", "table", "fact"]
Status: TypeAlias = Literal["candidate", "verified", "stale", "contested", "rejected"]
Kind: TypeAlias = Literal["atom", "symbol", "message", "artifact", "card"]

Types: TypeAlias = Annotated[list[Type], Field(description="Only these; [] is all")]
Statuses: TypeAlias = Annotated[list[Status], Field(description="Only these; [] is all but stale and rejected")]
Sources: TypeAlias = Annotated[list[str], Field(description='e.g. ["web:example.org"]')]
Documents: TypeAlias = Annotated[list[int], Field(description="Only these ids")]
Confidence: TypeAlias = Annotated[float | None, Field(description="At least, 0 to 1")]
Moment: TypeAlias = Annotated[str | None, Field(description="ISO date or time, e.g. 2026-01-31")]
WaitSeconds: TypeAlias = Annotated[float, Field(ge=0, le=10, description="Seconds to wait for the end, 0 to 10")]


def session_of(ctx: Call) -> Session:
    """What the tools of this process share."""
    session = ctx.request_context.lifespan_context
    assert isinstance(session, Session)
    return session


def client_of(ctx: Call) -> str:
    """The name that the client gave itself, at most 64 characters; empty where it gave none."""
    parameters = ctx.session.client_params
    return parameters.client_info.name.strip()[:64] if parameters is not None else ""


def limited(limit: int, rest: str = "") -> tuple[int, tuple[str, ...]]:
    """The limit that is kept to, and what to say of it; `rest` tells how to get what it leaves out.

    Raises:
        InvalidInput: it is under 1.
    """
    if limit < 1:
        raise InvalidInput(f"limit is {limit}; it must be 1 to {MAX_LIMIT}.", hint="10 is usual.", item="limit")
    if limit > MAX_LIMIT:
        return MAX_LIMIT, (f"limit was {limit} and is cut to {MAX_LIMIT}{rest}.",)
    return limit, ()
