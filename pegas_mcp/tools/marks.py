"""Marks on a tool's function, and the tool that its signature, docstring and marks make."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, TypeVar

from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, ToolAnnotations

from pegas_mcp.schemas import flat, flat_output

Function: TypeAlias = Callable[..., Awaitable[CallToolResult]]
F = TypeVar("F", bound=Function)


def reading(title: str) -> Callable[[F], F]:
    """Marks a tool that changes nothing."""
    return _marked(ToolAnnotations(title=title, read_only_hint=True, open_world_hint=False))


def writing(
    title: str, *, destructive: bool = False, idempotent: bool = False, open_world: bool = False
) -> Callable[[F], F]:
    """Marks a tool that changes the base. `open_world` marks one that reaches outside it, as a fetch does."""
    return _marked(
        ToolAnnotations(
            title=title,
            read_only_hint=False,
            destructive_hint=destructive,
            idempotent_hint=idempotent,
            open_world_hint=open_world,
        )
    )


def writes(function: Function) -> bool:
    """Whether a tool is marked as writing."""
    return not _annotations(function).read_only_hint


def as_tool(function: Function) -> Tool:
    """The tool of a function, with schemas as small as they can be said."""
    tool = Tool.from_function(
        function,
        description=inspect.cleandoc(function.__doc__ or ""),
        annotations=_annotations(function),
    )
    tool.parameters = {**flat(tool.parameters), "additionalProperties": False}
    if tool.fn_metadata.output_schema is not None:
        tool.fn_metadata.output_schema = flat_output(tool.fn_metadata.output_schema)
    return tool


def _marked(annotations: ToolAnnotations) -> Callable[[F], F]:
    def mark(function: F) -> F:
        function.__annotations_of_tool__ = annotations  # type: ignore[attr-defined]
        return function

    return mark


def _annotations(function: Function) -> ToolAnnotations:
    found: Any = getattr(function, "__annotations_of_tool__", None)
    assert isinstance(found, ToolAnnotations), f"{function.__name__} has no mark"
    return found
