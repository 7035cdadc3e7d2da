"""Engines that are down, tools that crash or hang, clients that go away: each costs one call at most."""

from __future__ import annotations

import signal
import time

import pytest

from pegas_assets.runtime import Runtime
from tests.mcp.raw import RawServer, assert_only_protocol, environment, structure_of, text_of

FAILS_WITHIN_S = 3.0
"""What the design promises; here it is the bound of a wait."""
DOWN = environment(PEGAS_DATABASE_URL="postgresql://pond:hunter2@127.0.0.1:1/pond")


CALLS: list[tuple[str, dict[str, object]]] = [
    ("memory_search", {"query": "x"}),
    ("memory_get_context", {"query": "x"}),
    ("memory_stats", {}),
    ("memory_store", {"content": "x"}),
    ("memory_ingest", {"text": "x"}),
]


def test_a_tool_without_a_database_fails_at_once_with_the_way_out() -> None:
    with RawServer(DOWN, "--no-warm-up") as server:
        server.initialize()
        for tool, arguments in CALLS:
            result = server.call(tool, arguments, wait_s=FAILS_WITHIN_S)
            assert result["isError"]
            failure = structure_of(result)
            assert (failure["code"], failure["component"], failure["retryable"]) == ("unavailable", "postgres", True)
            assert failure["hint"]
            assert "database is not reachable" in text_of(result)
        assert not any(b"hunter2" in line for line in server.lines)
        assert "hunter2" not in server.stderr


def test_a_database_that_takes_connections_and_says_nothing_costs_three_seconds_at_most() -> None:
    import socket

    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(8)
        address = f"postgresql://pond:hunter2@127.0.0.1:{silent.getsockname()[1]}/pond"
        with RawServer(environment(PEGAS_DATABASE_URL=address), "--no-warm-up") as server:
            server.initialize()
            failure = structure_of(server.call("memory_search", {"query": "x"}, wait_s=FAILS_WITHIN_S))
            assert failure["component"] == "postgres"
            assert failure["retryable"] is True


def test_a_search_without_vectors_or_graph_answers_and_says_so(server: RawServer, variables: dict[str, str]) -> None:
    server.call_again("memory_store", {"content": "The quay of Oddmar is paved with slate."})
    down = {"PEGAS_QDRANT_URL": "http://127.0.0.1:1", "PEGAS_BOLT_URL": "bolt://127.0.0.1:1"}
    with RawServer(variables | down, "--no-warm-up") as lame:
        lame.initialize()
        result = lame.call_again("memory_search", {"query": "slate quay of Oddmar"})
        assert not result.get("isError"), text_of(result)
        assert "vectors" in [down["component"] for down in structure_of(result)["degraded"]]
        assert any("slate" in hit["text"] for hit in structure_of(result)["hits"])
        assert "Degraded: vectors" in text_of(result)


CRASHES = """
import sys
import pegas_assets.search.hybrid as hybrid
def search(engines, request):
    if request.query == "raises":
        raise ValueError("postgresql://pond:hunter2@127.0.0.1/pond password=hunter2")
    if request.query == "exits":
        sys.exit(3)
    if request.query == "interrupts":
        raise KeyboardInterrupt
    return search(engines, request)
hybrid.search = search
"""


def test_a_tool_that_crashes_costs_its_own_call_only(variables: dict[str, str]) -> None:
    with RawServer(variables, "--no-warm-up", before=CRASHES) as server:
        server.initialize()
        for fault in ("raises", "exits", "interrupts", "recurses"):
            result = server.call_again("memory_search", {"query": fault})
            assert result["isError"]
            assert structure_of(result)["code"] == "internal_error"
            assert "Traceback" not in text_of(result)
        assert not server.call_again("memory_stats").get("isError")
        assert server.stderr.count("failed unexpectedly") == 4
        assert "hunter2" not in server.stderr
        assert not any(b"hunter2" in line for line in server.lines)
        assert_only_protocol(server)


SLOW = """
import time
import pegas_assets.search.hybrid as hybrid
import pegas_mcp.session as session
def search(engines, request):
    time.sleep(300)
hybrid.search = search
"""


def test_a_call_that_hangs_is_given_up_and_the_others_go_on(variables: dict[str, str]) -> None:
    before = SLOW + "session.Session.run.__kwdefaults__['limit_s'] = 1.0\n"
    with RawServer(variables, "--no-warm-up", before=before) as server:
        server.initialize()
        waiting = [server.begin("tools/call", {"name": "memory_search", "arguments": {"query": "x"}}) for _ in range(3)]
        for request in waiting:
            result = server.answer(request)["result"]
            assert structure_of(result)["code"] in ("timeout", "starting")
            assert structure_of(result)["retryable"] is True
        assert server.request("tools/list")["result"]["tools"]


def test_a_cancelled_call_is_not_answered_and_the_server_goes_on(variables: dict[str, str]) -> None:
    with RawServer(variables, "--no-warm-up", before=SLOW) as server:
        server.initialize()
        request = server.begin("tools/call", {"name": "memory_search", "arguments": {"query": "x"}})
        server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request}})
        assert not server.call_again("memory_stats").get("isError")
        assert not any(b'"id":%d,' % request in line for line in server.lines)


@pytest.mark.parametrize("ending", ["eof", "term"])
def test_work_under_way_does_not_hold_up_the_end_and_stays_accepted(
    variables: dict[str, str], served: Runtime, ending: str
) -> None:
    before = (
        "import time\nimport pegas_mcp.lineage as lineage\nlineage.Lineage.run = lambda self, *given: time.sleep(300)\n"
    )
    text = f"The bell of the {ending} buoy rings every 9 seconds."
    with RawServer(variables, "--no-warm-up", before=before) as server:
        server.initialize()
        answer = structure_of(server.call_again("memory_ingest", {"text": text, "wait_s": 0}))
        assert answer["state"] == "working"
        document = int(answer["items"][0]["document"].removeprefix("doc:"))
        waiting = server.begin("tools/call", {"name": "memory_ingest", "arguments": {"text": text + "!", "wait_s": 10}})
        assert waiting
        started = time.monotonic()
        if ending == "eof":
            server.close_input()
        else:
            server.process.send_signal(signal.SIGTERM)
        assert server.wait(8) == 0
        assert time.monotonic() - started < 8
    with served.database.connection() as connection:
        row = connection.execute("SELECT status FROM pm_document WHERE id = %s", [document]).fetchone()
    assert row == ("accepted",)


def test_a_run_that_fails_leaves_the_document_accepted_and_says_so(variables: dict[str, str]) -> None:
    before = (
        "from pegas_assets.errors import EngineUnavailable\nimport pegas_mcp.lineage as lineage\n"
        "def warm(self):\n"
        "    raise EngineUnavailable('Dagster is away.', hint='Wait.', component='dagster')\n"
        "lineage.Lineage.warm = warm\n"
    )
    with RawServer(variables, "--no-warm-up", before=before) as server:
        server.initialize()
        result = server.call_again("memory_ingest", {"text": "The fog horn of Sund sounds on 370 Hz.", "wait_s": 10})
        answer = structure_of(result)
        assert not result.get("isError")
        assert answer["state"] == "accepted"
        assert answer["degraded"][0]["component"] == "dagster"
        assert "Degraded: dagster gave no answer: Dagster is away." in text_of(result)
