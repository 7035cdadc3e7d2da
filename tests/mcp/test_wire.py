"""What reaches stdout, how the server begins and how it ends."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import pytest

from pegas_mcp.lines import mended, refusal
from tests.mcp.raw import CHECKOUT, RawServer, assert_only_protocol, environment, structure_of, text_of

NOTHING = environment(
    PEGAS_DATABASE_URL="postgresql://pond:hunter2@127.0.0.1:1/pond", PEGAS_QDRANT_URL="http://127.0.0.1:1"
)
HEAVY = ("qdrant_client", "qdrant_edge", "neo4j", "dagster", "psycopg", "trafilatura", "numpy", "lxml", "pymupdf")


def test_initialize_and_the_list_of_tools_need_no_engine() -> None:
    with RawServer(NOTHING) as server:
        answer = server.initialize()
        assert answer["result"]["serverInfo"]["name"] == "pegas-memory"
        assert "never an instruction" in answer["result"]["instructions"]
        tools = server.request("tools/list")["result"]["tools"]
        assert {tool["name"] for tool in tools} >= {"memory_search", "memory_store", "memory_ingest"}
        assert_only_protocol(server)


def test_no_heavy_library_is_imported_to_build_the_server() -> None:
    code = (
        "import sys; from pegas_assets.settings import load_settings; from pegas_mcp.server import build_server; "
        "import pegas_mcp.__main__, pegas_mcp.command; build_server(load_settings()); "
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=CHECKOUT, env=NOTHING, capture_output=True, check=True)
    assert done.stdout.strip() == b"[]"


def test_what_a_library_prints_never_reaches_stdout() -> None:
    # The file is imported by the child before anything else: its prints stand for any library's.
    code = (
        "import os, sys, subprocess\n"
        "from pegas_mcp.__main__ import main\n"
        "import pegas_mcp.tools.search as search\n"
        "from pegas_mcp import session\n"
        "def probe(settings):\n"
        "    print('a print'); os.write(1, b'a write\\n'); subprocess.run(['echo', 'a child'])\n"
        "session.probe = probe\n"
        "main([])\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=CHECKOUT,
        env=NOTHING | {"PEGAS_LOG_LEVEL": "DEBUG", "PYTHONWARNINGS": "default"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    lines = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "memory_search", "arguments": {"query": "x"}},
        },
    ]
    out, err = process.communicate("".join(json.dumps(line) + "\n" for line in lines).encode(), timeout=60)
    messages = [json.loads(line) for line in out.splitlines()]
    # The input ended at once: what was asked before is answered all the same.
    assert [message["id"] for message in messages] == [0, 1]
    assert b"a print" in err
    assert b"a write" in err
    assert b"a child" in err
    assert b"hunter2" not in err + out
    assert process.returncode == 0


def test_the_locale_does_not_matter() -> None:
    plain = {name: value for name, value in NOTHING.items() if not name.startswith(("LC_", "PYTHON"))}
    with RawServer(plain | {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}) as server:
        server.initialize()
        result = server.call("чайник")
        assert "чайник" in text_of(result)
        assert any("чайник".encode() in line for line in server.lines)


def test_a_line_that_is_not_json_and_a_lone_surrogate_leave_the_server_up() -> None:
    with RawServer(NOTHING) as server:
        server.initialize()
        server.send("{not json")
        server.send("")
        server.send(
            '{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "a\\ud800b", "arguments": {}}}'
        )
        assert server.answer(None)["error"]["code"] == -32700
        answered = server.answer(7)
        assert (answered["id"], structure_of(answered["result"])["code"]) == (7, "unknown_tool")
        result = server.call("no\u2028tool")
        assert structure_of(result)["code"] == "unknown_tool"
        assert server.request("tools/list")["result"]["tools"]
        for line in server.lines:
            assert len(line.decode().splitlines()) == 1
        assert_only_protocol(server)


@pytest.mark.parametrize(
    ("line", "id_", "code"),
    [
        ('{"jsonrpc": "2.0", "id": 11, "method": "tools/call", "params": []}', 11, -32600),
        ('{"jsonrpc": "2.0", "id": "twelve", "method": 7}', "twelve", -32600),
        ('{"id": 13, "method": "tools/list"}', 13, -32600),
        ('{"jsonrpc": "2.0", "id": true, "method": 7}', None, -32600),
        ('[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', None, -32600),
        ('{"jsonrpc": "2.0", "id": 14, "method": "tools/li', None, -32700),
        ("[" * 100_000, None, -32700),
    ],
)
def test_a_line_that_is_no_request_is_answered(line: str, id_: object, code: int) -> None:
    told = refusal(line + "\n")
    assert told
    answer = json.loads(told)
    assert (answer["id"], answer["error"]["code"]) == (id_, code)


@pytest.mark.parametrize(
    "line",
    [
        "",
        " ",
        '{"jsonrpc": "2.0", "method": "notifications/initialized", "params": []}',
        '{"jsonrpc": "2.0", "id": 5, "error": "none of ours"}',
    ],
)
def test_what_asks_for_nothing_gets_no_answer(line: str) -> None:
    assert refusal(line + "\n") == ""


def test_half_a_character_becomes_the_replacement_and_whole_ones_stay() -> None:
    line = r'{"a": "caf\ud83d", "b": "\ud83d\ude00", "c": "\\ud83d", "d": "\udc00\ud800x"}'
    assert json.loads(mended(line)) == {"a": "caf\ufffd", "b": "😀", "c": "\\ud83d", "d": "\ufffd\ufffdx"}


def test_one_message_is_one_line_for_every_reader() -> None:
    with RawServer(NOTHING) as server:
        server.initialize()
        result = server.call("memory_search", {"query": "x", "kinds": ["a\u2028b\x85c"]})
        assert result["isError"]
        server.request("nothing/like\u2028this")
        assert all(len(line.decode().splitlines()) == 1 for line in server.lines)


@pytest.mark.parametrize("ending", ["eof", "term"])
def test_the_process_ends_promptly(ending: str) -> None:
    with RawServer(NOTHING) as server:
        server.initialize()
        server.request("tools/list")
        started = time.monotonic()
        if ending == "eof":
            server.close_input()
        else:
            server.process.send_signal(signal.SIGTERM)
        assert server.wait(10) == 0
        assert time.monotonic() - started < 10


def test_settings_that_cannot_be_used_are_named_in_a_sentence() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pegas_mcp"],
        cwd=CHECKOUT,
        env=environment(PEGAS_BASE="Not A Base"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == b""
    assert b"PEGAS_BASE" in done.stderr
    assert b"Traceback" not in done.stderr
