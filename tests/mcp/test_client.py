"""The SDK's own client against the real server: stdio with validation of every structure, and streamable HTTP."""

from __future__ import annotations

import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import anyio
import httpx2 as httpx
import pytest
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client
from mcp_types import CallToolResult

from tests.mcp.raw import CHECKOUT, environment, is_early

BOUND_S = 60.0


def parameters(variables: dict[str, str], *arguments: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable, args=["-m", "pegas_mcp", *arguments], env=variables, cwd=str(CHECKOUT)
    )


def test_every_answer_fits_its_schema(variables: dict[str, str]) -> None:
    async def talk() -> None:
        async with Client(stdio_client(parameters(variables))) as client:
            tools = (await client.list_tools()).tools
            assert all(tool.output_schema for tool in tools)
            # The client validates each structure against the schema that was listed.
            stored = await call_again(client, "memory_store", {"content": "The jetty of Brae is 120 m long."})
            assert stored.structured_content is not None
            for tool, arguments in (
                ("memory_search", {"query": "jetty of Brae"}),
                ("memory_get_context", {"query": "jetty of Brae"}),
                ("memory_stats", {}),
                ("memory_ingest", {"text": "Brae has two slipways and a net loft.", "wait_s": 10}),
            ):
                result = await call_again(client, tool, arguments)
                assert not result.is_error, result
            assert result.structured_content is not None
            asked = await client.call_tool("memory_stats", {"operation_id": result.structured_content["operation_id"]})
            assert not asked.is_error
            templates = await client.list_resource_templates()
            assert {template.uri_template.partition("/{")[0] for template in templates.resource_templates} == {
                "pegas://atom", "pegas://document", "pegas://operation",
            }  # fmt: skip
            read = await client.read_resource(f"pegas://atom/{stored.structured_content['key'].removeprefix('atom:')}")
            assert "120 m" in read.contents[0].text  # type: ignore[union-attr]

    _bounded(talk)


def test_several_calls_at_once_are_all_answered(variables: dict[str, str]) -> None:
    async def talk() -> None:
        async with Client(stdio_client(parameters(variables, "--no-warm-up"))) as client:
            answers: list[Any] = []

            async def ask(number: int) -> None:
                tool, arguments = [
                    ("memory_search", {"query": f"lamp number {number}"}),
                    ("memory_store", {"content": f"Crate {number % 4} of the loft holds rope."}),
                    ("memory_stats", {}),
                ][number % 3]
                answers.append(await call_again(client, tool, arguments))

            async with anyio.create_task_group() as group:
                for number in range(24):
                    group.start_soon(ask, number)
            assert len(answers) == 24
            assert not [answer for answer in answers if answer.is_error]

    _bounded(talk)


def test_progress_is_told_while_a_call_waits(variables: dict[str, str]) -> None:
    told: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    async def talk() -> None:
        async with Client(stdio_client(parameters(variables))) as client:
            text = "\n\n".join(f"Berth {number} of Brae takes boats of {number + 3} m." for number in range(120))
            await call_again(client, "memory_stats", {})
            result = await client.call_tool("memory_ingest", {"text": text, "wait_s": 2}, progress_callback=note)
            assert not result.is_error

    _bounded(talk)
    assert told
    assert all(total == 1 and 0 <= progress <= 1 for progress, total, _ in told)
    assert all(message for _, _, message in told)


@pytest.fixture
def address(variables: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The address and the token of a server over HTTP."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = secrets.token_hex(16)
    process = subprocess.Popen(
        [sys.executable, "-m", "pegas_mcp", "--transport", "http", "--port", str(port), "--token", token, "--no-warm-up"],
        cwd=CHECKOUT, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        deadline = time.monotonic() + BOUND_S
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert process.poll() is None
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp", token
    finally:
        process.terminate()
        out, err = process.communicate(timeout=20)
        assert out == b""
        assert token.encode() not in err


def test_streamable_http_wants_the_token(address: tuple[str, str]) -> None:
    from mcp.client.streamable_http import streamable_http_client

    url, token = address
    hello = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    with httpx.Client(trust_env=False) as plain:
        for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": f"Basic {token}"}):
            answer = plain.post(url, json=hello, headers=headers)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"

    async def talk() -> None:
        async with (
            httpx.AsyncClient(trust_env=False, headers={"authorization": f"Bearer {token}"}) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            assert (await client.list_tools()).tools
            assert not (await call_again(client, "memory_stats", {})).is_error

    _bounded(talk)


def test_streamable_http_without_a_token_is_not_served() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pegas_mcp", "--transport", "http"],
        cwd=CHECKOUT, env=environment(), capture_output=True, timeout=BOUND_S, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert b"--token" in done.stderr


async def call_again(client: Client, tool: str, arguments: dict[str, Any]) -> CallToolResult:
    """A call's result, asked for again while the base is still being opened; every test has a bound."""
    while True:
        result = await client.call_tool(tool, arguments)
        if not is_early(result.structured_content):
            return result


def _bounded(talk: Any) -> None:
    async def bounded() -> None:
        with anyio.fail_after(BOUND_S):
            await talk()

    anyio.run(bounded)
