"""Runs the handed cases of documents: those in tests/cases and in the folders of PEGAS_CASES_DIR.

Each key of `expected` is one test. Keys about searching, tools or several steps need engines and are checked where
those run.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pegas_assets.errors import InvalidInput, PegasError
from pegas_assets.model import BlockKind, ParsedDocument
from pegas_assets.sources.addresses import normalise_url
from pegas_assets.sources.fetch import FetchOptions, fetch
from pegas_assets.sources.pdf import unlocked_pdf
from pegas_assets.sources.registry import parse

KINDS = ("text", "web", "pdf", "epub")
HERE = Path(__file__).parent.parent / "cases"
ELSEWHERE = {
    "search": "searching needs the engines",
    "steps": "adding one text after another needs the store",
    "mcp_message_lines": "it is about the protocol's messages",
    "tool_results_mark_source": "it is about what a tool answers",
    "finishes_within_s": "time is measured by the benches",
}
PAGE_URL = "https://example.org/page"


def case_folders() -> list[Path]:
    roots = [HERE, *(Path(part) for part in os.environ.get("PEGAS_CASES_DIR", "").split(":") if part)]
    found = []
    for root in roots:
        for case in sorted(root.rglob("case.json")):
            if json.loads(case.read_text(encoding="utf-8")).get("kind") in KINDS:
                found.append(case.parent)
    return found


@dataclass(frozen=True)
class Outcome:
    """What became of one input: a document or the reason why there is none."""

    document: ParsedDocument | None
    reason: str
    code: str
    retryable: bool = False


def inputs(folder: Path, case: dict[str, Any], made: Path) -> list[Path]:
    if case.get("make"):
        subprocess.run([sys.executable, str(folder / "make.py"), str(made)], check=True, timeout=120)
        return sorted(path for path in made.rglob("*") if path.is_file())
    return [folder / "input" / name for name in case["input"]]


def read(path: Path, kind: str, headers: dict[str, str], password: str = "") -> Outcome:
    content_type = {name.lower(): value for name, value in headers.items()}.get("content-type", "")
    try:
        body = path.read_bytes()
        document = parse(
            unlocked_pdf(body, password) if password else body,
            media_type=content_type.split(";")[0],
            charset=content_type.partition("charset=")[2],
            name=path.name,
            uri=PAGE_URL if kind == "web" else path.as_uri(),
        )
    except PegasError as error:
        return Outcome(None, str(error), error.code, error.retryable)
    return Outcome(document, "", "")


def stored(outcome: Outcome) -> str:
    """All text that would be stored for an input."""
    if outcome.document is None:
        return ""
    document = outcome.document
    return "\n".join([document.text, document.title, *(chunk.content for chunk in document.chunks)])


def outcome_is(wanted: str, outcome: Outcome) -> None:
    if wanted.startswith("goes to the PDF reader"):
        assert outcome.document is not None or "PDF" in outcome.reason
        return
    allowed = wanted.split(" or ")
    if outcome.document is None:
        assert any(word.strip().startswith("refused") for word in allowed), outcome.reason
        assert outcome.code
    else:
        assert any(word.strip().startswith(("ok", "partial")) for word in allowed), stored(outcome)[:200]
        if "ok with low confidence" in wanted:
            assert outcome.document.encoding_confidence < 0.5
            assert outcome.document.warnings


def contains(wanted: list[str], outcome: Outcome) -> None:
    for part in wanted:
        assert part in stored(outcome), stored(outcome)[:400]


def contains_not(unwanted: list[str], outcome: Outcome) -> None:
    for part in unwanted:
        assert part not in stored(outcome)


def front_matter(wanted: dict[str, Any], outcome: Outcome) -> None:
    assert outcome.document is not None
    for key, value in wanted.items():
        assert outcome.document.meta[key] == value


def has_no_characters(unwanted: list[str], outcome: Outcome) -> None:
    for written in unwanted:
        if written.startswith("\\u"):
            assert chr(int(written[2:], 16)) not in stored(outcome)
        elif written == "lone surrogates":
            stored(outcome).encode("utf-8")


def code_lines(least: int, outcome: Outcome) -> None:
    assert outcome.document is not None
    longest = 0
    for chunk in outcome.document.chunks:
        for block in chunk.blocks:
            if block.kind is BlockKind.CODE:
                lines = [line for line in chunk.content[block.start : block.end].split("\n") if "```" not in line]
                longest = max(longest, len(lines))
    assert longest >= least


def paragraphs(least: int, outcome: Outcome) -> None:
    assert outcome.document is not None
    blocks = [block for chunk in outcome.document.chunks for block in chunk.blocks]
    assert sum(block.kind is BlockKind.PARAGRAPH for block in blocks) >= least


def title(wanted: str, outcome: Outcome, path: Path) -> None:
    assert outcome.document is not None
    others = {"file name": path.stem, "first heading": next(iter(headings(outcome)), "")}
    assert outcome.document.title in [others.get(one, one) for one in wanted.split(" or ")]


def headings(outcome: Outcome) -> dict[str, int]:
    """The titles in the sections of the chunks, in order, and how deep each stands."""
    assert outcome.document is not None
    paths = [chunk.locator.section for chunk in outcome.document.chunks]
    return {title: depth for path in paths for depth, title in enumerate(path, 1)}


def chapters(wanted: list[str], outcome: Outcome) -> None:
    assert [title for title in headings(outcome) if title in wanted] == wanted
    assert not set(headings(outcome)) & {"Nav", "Contents", "Cover"}


def contents(wanted: list[list[Any]], outcome: Outcome) -> None:
    assert [[title, depth] for title, depth in headings(outcome).items()] == wanted


def no_chapter(unwanted: list[str], outcome: Outcome) -> None:
    assert not set(unwanted) & set(headings(outcome))


def in_order(wanted: list[str], outcome: Outcome) -> None:
    places = [stored_text(outcome).index(part) for part in wanted]
    assert places == sorted(places)


def notes_at_the_end(wanted: list[str], outcome: Outcome) -> None:
    """Kept once, after all else: the last chunk holds them."""
    assert outcome.document is not None
    for part in wanted:
        assert stored_text(outcome).count(part) == 1
        assert part in outcome.document.chunks[-1].content


def memory_within(most_mb: int, path: Path) -> None:
    """The most that a process of its own takes to read the file."""
    code = (
        "import re, sys\n"
        "from pathlib import Path\n"
        "from pegas_assets.errors import PegasError\n"
        "from pegas_assets.sources.registry import parse\n"
        "try:\n    parse(Path(sys.argv[1]).read_bytes(), name=sys.argv[1])\n"
        "except PegasError:\n    pass\n"
        "print(re.search(r'VmHWM:\\s+(\\d+)', Path('/proc/self/status').read_text()).group(1))\n"
    )
    child = subprocess.run(
        [sys.executable, "-c", code, str(path)], check=True, timeout=120, capture_output=True, text=True
    )
    assert int(child.stdout) <= most_mb * 1024


def reason(wanted: str, outcome: Outcome) -> None:
    assert wanted.lower() in outcome.reason.lower()


def unchanged(wanted: str, outcome: Outcome, path: Path) -> None:
    assert wanted == "unchanged"
    assert outcome.document is not None
    assert outcome.document.text == path.read_text(encoding="utf-8").rstrip()


def occurrences(most: dict[str, int], outcome: Outcome) -> None:
    for part, times in most.items():
        assert stored_text(outcome).count(part) <= times


def sections(wanted: list[str], outcome: Outcome) -> None:
    assert outcome.document is not None
    there = {title for chunk in outcome.document.chunks for title in chunk.locator.section}
    assert set(wanted) <= there


def warnings_are(allowed: list[str], outcome: Outcome) -> None:
    """Nothing is warned of that the case does not name, in words of its own."""
    assert outcome.document is not None
    words = {word for part in allowed for word in part.split() if len(word) > 3}
    for warning in outcome.document.warnings:
        assert any(word in warning for word in words), warning


CHECKS: dict[str, Callable[[Any, Outcome], None]] = {
    "outcome": outcome_is,
    "must_contain": contains,
    "must_not_contain": contains_not,
    "must_not_store": contains_not,
    "hidden_text_not_in_main_text": contains_not,
    "chapters": chapters,
    "toc": contents,
    "order": in_order,
    "notes_after_or_apart": notes_at_the_end,
    "must_not_contain_as_chapter": no_chapter,
    "front_matter": front_matter,
    "stored_text_has_no": has_no_characters,
    "reason_contains": reason,
    "code_block_lines_at_least": code_lines,
    "paragraphs_at_least": paragraphs,
    "replacement_chars_at_most": lambda most, outcome: _at_most(stored_text(outcome).count("\ufffd"), most),
    "encoding": lambda wanted, outcome: _equal(outcome.document and outcome.document.encoding, wanted),
    "occurrences_at_most": occurrences,
    "sections": sections,
    "warn_allowed": warnings_are,
    "pages": lambda wanted, outcome: reason(str(wanted), outcome),
    "suggest": reason,
    "chunks": lambda wanted, outcome: _equal(len(outcome.document.chunks) if outcome.document else 0, wanted),
    "retry": lambda wanted, outcome: _equal(outcome.retryable, wanted),
    "language": lambda wanted, outcome: _equal(outcome.document and outcome.document.language, wanted),
}

CHECKS_OF_FILES = ("title", "max_rss_mb")
"""Those that need the file beside what became of it."""


def stored_text(outcome: Outcome) -> str:
    return outcome.document.text if outcome.document else ""


def _at_most(number: int, most: int) -> None:
    assert number <= most


def _equal(one: object, other: object) -> None:
    assert one == other


def expectations() -> Iterator[Any]:
    for folder in case_folders():
        case = json.loads((folder / "case.json").read_text(encoding="utf-8"))
        for key in case["expected"]:
            yield pytest.param(folder, key, id=f"{case['id']}-{key}")


@pytest.mark.parametrize(("folder", "key"), list(expectations()))
def test_a_handed_case_holds(folder: Path, key: str, tmp_path: Path) -> None:
    case = json.loads((folder / "case.json").read_text(encoding="utf-8"))
    expected = case["expected"]
    wanted = expected[key]
    if key in ELSEWHERE:
        pytest.skip(ELSEWHERE[key])
    if key in ("response_headers", "headers"):
        pytest.skip("it describes the input")
    if key.startswith("good_"):
        pytest.skip("wanted, not required")
    paths = inputs(folder, case, tmp_path)
    if key in ("each_refused", "each_allowed_by_policy", "no_socket_opened_for_refused", "error_names"):
        addresses = json.loads(paths[0].read_text(encoding="utf-8"))
        check_addresses(key, addresses)
        return
    headers = expected.get("response_headers", {})
    if key == "each":
        for path in paths:
            if (each := wanted.get(path.name)) is not None:
                check_all(each, path, case["kind"], each.get("headers", headers))
        return
    named = [path for path in paths if path.name == key]
    if named:
        check_all(wanted, named[0], case["kind"], headers)
        return
    if isinstance(wanted, dict) and "password" in wanted:
        for path in paths:
            outcome = read(path, case["kind"], headers, wanted["password"])
            for part in wanted.keys() - {"password"}:
                CHECKS[part](wanted[part], outcome)
        return
    if key == "stored_text":
        for path in paths:
            unchanged(wanted, read(path, case["kind"], headers), path)
        return
    if key not in CHECKS and key not in CHECKS_OF_FILES:
        pytest.skip(f"no reader here decides “{key}”")
    for path in paths:
        check_all({key: wanted}, path, case["kind"], headers)


def check_all(wanted: dict[str, Any], path: Path, kind: str, headers: dict[str, str]) -> None:
    outcome = read(path, kind, headers)
    for key, value in wanted.items():
        if key in CHECKS:
            CHECKS[key](value, outcome)
        elif key == "title":
            title(value, outcome, path)
        elif key == "max_rss_mb":
            memory_within(value, path)


def check_addresses(key: str, addresses: dict[str, Any]) -> None:
    if key == "each_allowed_by_policy":
        for url in addresses["allowed"]:
            assert normalise_url(url).startswith("http")
        return
    for url in addresses["refused"]:
        with pytest.raises(InvalidInput) as raised:
            fetch(url, options=FetchOptions(timeout_s=2), resolver=_never)
        assert raised.value.code == "address_not_allowed"
        assert "may not be fetched: it " in raised.value.message


def _never(*_: object, **__: object) -> list[tuple[Any, ...]]:
    """Resolving is the last step before a socket: what is refused by its text must not come so far."""
    raise AssertionError("the name was looked up")


@pytest.fixture(autouse=True)
def no_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "create_connection", refuse)


def test_the_handed_cases_are_here() -> None:
    assert len(case_folders()) >= 15
