"""Runs the handed cases of the kind `mcp`: those in tests/cases and in the folders of PEGAS_CASES_DIR.

A scenario is a list of lines for the server. Names in `<…>` stand for this project's tools; reading a document is a
resource here, so `<read document tool>` becomes `resources/read`. Ids stay as they are.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pegas_assets.runtime import Runtime
from tests.mcp.raw import RawServer, assert_only_protocol, structure_of, text_of
from tests.sources.pdf_files import lines, pdf

HERE = Path(__file__).parent.parent / "cases"
TOOLS = {"<search tool>": "memory_search", "<ingest tool>": "memory_ingest", "<store tool>": "memory_store"}
DATABASE = "DATABASE_URL="


def folders() -> list[Path]:
    roots = [HERE, *(Path(part) for part in os.environ.get("PEGAS_CASES_DIR", "").split(":") if part)]
    found = []
    for root in roots:
        for case in sorted(root.rglob("case.json")):
            if json.loads(case.read_text(encoding="utf-8")).get("kind") == "mcp":
                found.append(case.parent)
    return found


def translated(line: Any, documents: dict[str, int]) -> Any:
    """A line of a scenario in this project's words."""
    if not isinstance(line, dict) or line.get("method") != "tools/call":
        return line
    params = line["params"]
    if params["name"] == "<read document tool>":
        wanted = params["arguments"]["id"]
        uri = f"pegas://document/{documents.get(wanted, wanted)}?limit=100000000"
        return {**line, "method": "resources/read", "params": {"uri": uri}}
    return {**line, "params": {**params, "name": TOOLS.get(params["name"], params["name"])}}


@pytest.fixture(scope="module")
def big(served: Runtime) -> int:
    """A document of 8 MB of text."""
    text = "a quiet line of water and a loud one of wind\n" * 180_000
    with served.database.connection() as connection:
        row = connection.execute(
            "INSERT INTO pm_document (kind, title, source, status) VALUES ('text', 'a', 'text:big', 'done') RETURNING id"
        ).fetchone()
        assert row is not None
        for place, start in enumerate(range(0, len(text), 500_000)):
            piece = text[start : start + 500_000]
            connection.execute(
                "INSERT INTO pm_chunk (doc_id, seq, content, locator, distilled_by) VALUES (%s, %s, %s, %s, 'x')",
                [row[0], place, piece, json.dumps({"start": start, "end": start + len(piece)})],
            )
    return int(row[0])


class Played:
    """A scenario that was played: its answers by id."""

    def __init__(self, server: RawServer, lines: list[Any]) -> None:
        self.server = server
        self.answers: dict[Any, dict[str, Any]] = {}
        for line in lines:
            server.send(line)
            if isinstance(line, dict) and "id" in line:
                self.answers[line["id"]] = server.answer(line["id"])


@pytest.fixture(params=folders(), ids=lambda folder: folder.name)
def case(
    request: pytest.FixtureRequest, variables: dict[str, str], big: int
) -> Iterator[tuple[dict[str, Any], Played]]:
    folder: Path = request.param
    told = json.loads((folder / "case.json").read_text(encoding="utf-8"))
    scenario = json.loads((folder / "input" / "scenario.json").read_text(encoding="utf-8"))
    setup = scenario.get("setup", "")
    extra = {"PYTHONWARNINGS": "default", "PEGAS_LOG_LEVEL": "DEBUG"}
    if setup.startswith(DATABASE):
        extra["PEGAS_DATABASE_URL"] = setup.removeprefix(DATABASE).split()[0]
    elif setup and "document of" not in setup:
        pytest.skip(f"nothing here prepares {setup!r}")
    lines = [translated(line, {"<big>": big}) for line in scenario["send"]]
    with RawServer(variables | extra, "--no-warm-up") as server:
        yield told, Played(server, lines)


def test_a_case(case: tuple[dict[str, Any], Played]) -> None:
    told, played = case
    expected = told["expected"]
    known = {
        "every_stdout_line", "also_when", "logs_go_to", "line_bytes_at_most", "result_says", "no_duplicate_of_text",
        "server_stays_up", "answers", "no_traceback_in_results", "results_and_stderr_must_not_contain",
    }  # fmt: skip
    server = played.server
    assert_only_protocol(server)
    assert server.process.poll() is None
    assert "Traceback" not in json.dumps(played.answers)
    for word in expected.get("results_and_stderr_must_not_contain", ()):
        assert word.encode() not in b"".join(server.lines)
        assert word not in server.stderr
    if "line_bytes_at_most" in expected:
        assert max(map(len, server.lines)) <= expected["line_bytes_at_most"]
    if "result_says" in expected:
        page = json.loads(played.answers[2]["result"]["contents"][0]["text"])
        assert page["next_offset"] == page["characters"] < page["total_characters"]
        assert "?offset=" in page["cut"]
        assert any("offset" in note for note in structure_of(played.answers[3]["result"])["notes"])
    for id_, wanted in expected.get("answers", {}).items():
        _answer_is(played.answers[int(id_)], wanted)
    for key in expected.keys() - known:
        assert key.startswith("answer_to_"), f"nothing here checks {key}"
        _answer_is(played.answers[int(key.removeprefix("answer_to_"))], expected[key])


def test_the_server_is_quiet_while_a_pdf_is_ingested(variables: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "domes.pdf"
    file.write_bytes(pdf(lines("Granite domes shed sheets of rock in the frost.")))
    extra = {"PYTHONWARNINGS": "default", "PEGAS_LOG_LEVEL": "DEBUG", "PEGAS_INGEST_ROOTS": str(tmp_path)}
    with RawServer(variables | extra, "--no-warm-up") as server:
        server.initialize()
        answer = structure_of(server.call_again("memory_ingest", {"path": str(file), "wait_s": 10}))
        assert_only_protocol(server)
    assert (answer["state"], answer["counts"]) == ("done", {"done": 1}), answer


def _answer_is(answer: dict[str, Any], wanted: str) -> None:
    """`wanted` names what may be: `isError`, a code, a result; a name in quotes has to be in the text."""
    result = answer.get("result", {})
    failed = bool(result.get("isError"))
    if wanted == "a tools list":
        assert result["tools"]
        return
    options = {
        "isError": failed,
        "-32602": answer.get("error", {}).get("code") == -32602,
        "a result": bool(result) and not failed,
    }
    assert any(held for word, held in options.items() if word in wanted), answer
    if "argument's name" in wanted:
        assert "`query`" in text_of(result)
    if "unknown tool" in wanted:
        assert "unknown tool" in text_of(result).lower()
    for quoted in re.findall(r"(?<!\w)'([^']+)'", wanted):
        assert quoted in text_of(result)
