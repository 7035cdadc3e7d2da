"""What an agent is told about the tools, and how much of its context that takes."""

from __future__ import annotations

import json

import pytest

from pegas_assets.settings import Settings
from pegas_mcp.schemas import flat, flat_output
from pegas_mcp.server import INSTRUCTIONS, build_server
from pegas_mcp.tools import GROUPS, tools_for
from pegas_mcp.tools.marks import as_tool, writes

WRITERS = {"memory_store", "memory_ingest"}
ALLOWANCE = 8000 / 18
"""Tokens for each of the tools that there will be."""


def wire() -> list[dict]:  # type: ignore[type-arg]
    return [
        {
            "name": tool.name,
            "description": tool.description,
            "inputSchema": tool.parameters,
            "outputSchema": tool.output_schema,
            "annotations": tool.annotations.model_dump(by_alias=True, exclude_none=True) if tool.annotations else None,
        }
        for tool in tools_for(read_only=False)
    ]


def test_the_list_fits_into_its_share_of_the_context() -> None:
    size = len(json.dumps(wire(), ensure_ascii=False, separators=(",", ":"))) / 4
    # The first five are the widest; the allowance is for the average of all.
    assert size <= 1.1 * ALLOWANCE * max(5, len(wire()))
    assert size < 8000


@pytest.mark.parametrize("tool", wire(), ids=lambda tool: tool["name"])
def test_a_tool_says_all_that_is_needed_to_call_it(tool: dict) -> None:  # type: ignore[type-arg]
    assert "Example: {" in tool["description"]
    example = tool["description"].split("Example: ", 1)[1].split("} or {")[0].rstrip("}") + "}"
    assert set(json.loads(example)) <= set(tool["inputSchema"]["properties"])
    assert tool["inputSchema"]["additionalProperties"] is False
    assert tool["outputSchema"]["type"] == "object"
    assert tool["annotations"]["readOnlyHint"] is (tool["name"] not in WRITERS)
    assert "openWorldHint" in tool["annotations"]
    if tool["name"] in WRITERS:
        assert {"destructiveHint", "idempotentHint"} <= set(tool["annotations"])
    assert "$ref" not in json.dumps(tool)
    assert '"title":' not in json.dumps([tool["inputSchema"], tool["outputSchema"]]).replace('"title": {', ""), (
        "a title says what the name says"
    )
    described = [name for name, schema in tool["inputSchema"]["properties"].items() if "description" not in schema]
    assert set(described) <= {"until", "include_stale"}


def test_a_server_that_reads_only_has_no_tool_that_writes() -> None:
    assert {tool.name for tool in tools_for(read_only=True)} == {tool["name"] for tool in wire()} - WRITERS
    assert {function.__name__ for group in GROUPS for function in group.TOOLS if writes(function)} == WRITERS


def test_a_function_without_a_mark_is_no_tool() -> None:
    async def unmarked() -> None: ...

    with pytest.raises(AssertionError, match="unmarked"):
        as_tool(unmarked)  # type: ignore[arg-type]


def test_the_instructions_are_the_servers_own_words_and_short() -> None:
    assert len(INSTRUCTIONS) / 4 < 500
    server = build_server(Settings(_env_file=None))  # type: ignore[call-arg]
    assert server.instructions == INSTRUCTIONS


def test_a_flat_schema_has_no_reference_left_and_keeps_properties_of_any_name() -> None:
    schema = {
        "$defs": {"Inner": {"title": "Inner", "type": "object", "properties": {"title": {"type": "string"}}}},
        "properties": {
            "inner": {"$ref": "#/$defs/Inner", "description": "kept"},
            "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None, "title": "Maybe"},
            "default": {"type": "string", "default": "x"},
        },
        "required": ["inner"],
        "type": "object",
        "title": "Outer",
    }
    assert flat(schema) == {
        "properties": {
            "inner": {"type": "object", "properties": {"title": {"type": "string"}}, "description": "kept"},
            "maybe": {"type": ["integer", "null"]},
            "default": {"type": "string", "default": "x"},
        },
        "required": ["inner"],
        "type": "object",
    }
    assert flat_output(schema)["properties"]["default"] == {"type": "string"}
