"""A base for people: one Markdown page for each document, with its atoms and what they quote, and a list of all."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, LiteralString

from pegas_assets.model import Locator
from pegas_assets.stores.postgres import Connection

INDEX = "index.md"
SLUG_CHARS = 60
HEADINGS = {
    "definition": "Definitions",
    "fact": "Facts",
    "logical_rule": "Rules",
    "table": "Tables",
    "code": "Code",
    "text": "Passages",
}

_DOCUMENTS: LiteralString = """
    SELECT id, coalesce(title, ''), coalesce(uri, ''), kind, source, status, language, created_at, coalesce(meta, '{}')
    FROM pm_document WHERE status <> 'forgotten' ORDER BY id
"""
_ATOMS: LiteralString = """
    SELECT citation.doc_id, atom.id, atom.type, coalesce(atom.claim, ''), atom.content, atom.status, atom.status_reason,
           atom.confidence, citation.quoted_text, citation.locator,
           (SELECT coalesce(json_agg(json_build_array(link.kind, link.dst) ORDER BY link.kind, link.dst), '[]')
            FROM pm_atom_link AS link WHERE link.src = atom.id)
    FROM pm_citation AS citation JOIN pm_atom AS atom ON atom.id = citation.atom_id
    WHERE citation.gone_at IS NULL
    ORDER BY citation.doc_id, array_position(%s::text[], atom.type), citation.id
"""


def write_markdown(session: Connection, folder: Path, tell: Callable[[int], None]) -> int:
    """Write the pages; returns how many. The rows are read document by document."""
    folder.mkdir()
    documents = session.execute(_DOCUMENTS).fetchall()
    names = {row[0]: _file_name(row[0], row[1]) for row in documents}
    listed = ["# Documents", ""]
    atoms = _by_document(session)
    current: tuple[int, list[tuple[Any, ...]]] | None = next(atoms, None)
    for done, row in enumerate(documents, 1):
        while current is not None and current[0] < row[0]:
            current = next(atoms, None)
        own = current[1] if current is not None and current[0] == row[0] else []
        (folder / names[row[0]]).write_text(_page(row, own), "utf-8")
        listed.append(f"- [{_plain(row[1] or row[2] or names[row[0]])}]({names[row[0]]}) — {row[3]}, {row[5]}")
        tell(done)
    (folder / INDEX).write_text("\n".join(listed) + "\n", "utf-8")
    return len(documents)


def _by_document(session: Connection) -> Iterator[tuple[int, list[tuple[Any, ...]]]]:
    with session.cursor(name="atoms") as cursor:
        cursor.itersize = 1000
        cursor.execute(_ATOMS, [list(HEADINGS)])
        for document, rows in groupby(cursor, itemgetter(0)):
            yield document, list(rows)


def _page(document: tuple[Any, ...], atoms: list[tuple[Any, ...]]) -> str:
    number, title, uri, kind, source, status, language, created_at, meta = document
    head = {
        "key": f"doc:{number}",
        "title": title,
        "uri": uri,
        "kind": kind,
        "source": source,
        "status": status,
        "language": language,
        "author": meta.get("author", ""),
        "published": meta.get("published", ""),
        "taken_in": created_at.isoformat(timespec="seconds"),
    }
    # JSON is YAML: no value needs a quoting of its own.
    lines = ["---", *(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in head.items() if value)]
    lines += ["---", "", f"# {_plain(title or uri or f'Document {number}')}"]
    for type_, rows in groupby(atoms, itemgetter(2)):
        lines += ["", f"## {HEADINGS[type_]}"]
        for row in rows:
            lines += ["", *_atom(*row[1:])]
    return "\n".join(lines) + "\n"


def _atom(
    number: int,
    type_: str,
    claim: str,
    content: str,
    status: str,
    reason: str,
    confidence: float,
    quoted: str,
    locator: dict[str, Any],
    links: list[tuple[str, int]],
) -> Iterator[str]:
    state = f"{status} ({reason})" if reason else status
    yield f"**atom:{number}** · {state} · {confidence:.2f} · {Locator.model_validate(locator)}"
    if type_ != "text" and claim and claim != quoted:
        yield ""
        yield _plain(claim)
    yield ""
    shown = content if type_ in ("code", "table") else quoted
    if type_ == "code":
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", shown)), default=0))
        yield from (fence, *shown.split("\n"), fence)
    else:
        yield from (f"> {line}".rstrip() for line in shown.split("\n"))
    for kind, other in links:
        yield ""
        yield f"→ {kind} atom:{other}"


def _file_name(number: int, title: str) -> str:
    words = re.findall(r"\w+", unicodedata.normalize("NFC", title.casefold()))
    slug = "-".join(words)[:SLUG_CHARS].rstrip("-")
    return f"{number:06d}-{slug}.md" if slug else f"{number:06d}.md"


def _plain(text: str) -> str:
    """On one line, with no mark that Markdown would take for its own."""
    return re.sub(r"([\\`*_\[\]<>#|])", r"\\\1", " ".join(text.split()))
