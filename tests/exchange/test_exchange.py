"""A base goes out as files and comes back the same; into another base it is merged by what its things are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from pegas_assets.errors import InvalidInput
from pegas_assets.exchange.export import export
from pegas_assets.exchange.format import EMBEDDINGS, MANIFEST, SELECTS
from pegas_assets.exchange.load import load
from pegas_assets.forget import forget
from pegas_assets.model import AtomStatus
from pegas_assets.runtime import Runtime
from pegas_assets.stores.atoms import set_status
from tests.conftest import fresh_base
from tests.pipeline.reading import one, rows, settle, take_file, take_text, total_drift
from tests.search.asking import ask
from tests.stores.rows import make_link

NOTE = """---
author: A. Keeper
---
# Farrow Head

The lamp of Farrow Head burns 40 litres of oil a year. The tower is 31 m high.

| part | weight |
|------|--------|
| lens | 90 kg  |
"""
OTHER = "The lamp of Farrow Head burns 40 litres of oil a year.\n\nМаяк построен в 1862 году. Он стоит на мысе."
OTHER += "\n\nThe oil store burned down in 1901. As a result, the lamp was changed to gas in 1902."


@pytest.fixture
def full(base: Runtime, tmp_path: Path) -> Runtime:
    """A base with something in every table that an export has."""
    file = tmp_path / "farrow.md"
    file.write_text(NOTE, encoding="utf-8")
    take_file(base, file)
    take_text(base, OTHER, title="Другое \u2028 “имя”", client="reader")
    gone = take_text(base, "The boathouse of Farrow Head was sold in 1950.")
    forget(base.database, base.targets, document_id=gone)
    atoms = [row[0] for row in rows(base, "SELECT id FROM pm_atom ORDER BY id")]
    make_link(base.database, atoms[0], atoms[1])
    with base.database.connection() as connection:
        set_status(connection, atoms[2], AtomStatus.REJECTED, "a person said no")
        connection.execute("UPDATE pm_atom SET superseded_by = %s WHERE id = %s", [atoms[0], atoms[1]])
        connection.execute(
            "INSERT INTO pm_contradiction_candidate (atom_a, atom_b, reason, cosine) VALUES (%s, %s, 'number', 0.9)",
            atoms[:2],
        )
    settle(base)
    return base


@pytest.fixture
def empty(home: Path) -> Iterator[Runtime]:
    with fresh_base(home) as made:
        yield made


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != MANIFEST
    }


def test_a_base_comes_back_as_it_was(full: Runtime, empty: Runtime, tmp_path: Path) -> None:
    made = export(full.database, tmp_path / "out", base="b", embeddings=True)
    assert all(made.counts[name] > 0 for name in (*SELECTS, *EMBEDDINGS))

    loaded = load(empty.database, tmp_path / "out")

    assert loaded.added == {name: count for name, count in made.counts.items() if name != "markdown"}
    export(empty.database, tmp_path / "again", embeddings=True)
    assert files(tmp_path / "again") == files(tmp_path / "out")
    settle(empty)
    assert total_drift(empty) == 0
    found = ask(empty, "how much oil does the lamp burn").hits[0]
    assert "40 litres" in found.quote
    assert found.citation_count >= 1
    # The next document and atom get numbers of their own.
    assert take_text(empty, "A new jetty was built in 1999.") not in {
        row[0] for row in rows(full, "SELECT id FROM pm_document")
    }


def test_twice_is_once(full: Runtime, tmp_path: Path) -> None:
    export(full.database, tmp_path / "out", embeddings=True)
    before = files(tmp_path / "out")

    for _ in range(2):
        loaded = load(full.database, tmp_path / "out")
        assert set(loaded.added.values()) == {0}

    export(full.database, tmp_path / "again", embeddings=True)
    assert files(tmp_path / "again") == before


def test_another_base_gains_what_it_does_not_have(full: Runtime, empty: Runtime, tmp_path: Path) -> None:
    own = take_text(empty, "The harbour of Varn has 48 boats.")
    known = take_text(empty, OTHER, client="somebody else")
    before = set(rows(empty, "SELECT id, content FROM pm_atom"))
    export(full.database, tmp_path / "out")

    loaded = load(empty.database, tmp_path / "out")

    assert (loaded.added["documents"], loaded.known["documents"]) == (1, 2), "the forgotten one stays behind"
    assert before <= set(rows(empty, "SELECT id, content FROM pm_atom"))
    contents = rows(empty, "SELECT content_hash FROM pm_atom")
    assert len(contents) == len(set(contents))
    assert {row[0] for row in rows(full, "SELECT content_hash FROM pm_atom")} <= {row[0] for row in contents}
    # Each quotation stands where its citation says, in the chunk that it names.
    for quoted, content, start, locator in rows(
        empty,
        "SELECT quoted_text, chunk.content, (chunk.locator->>'start')::int, citation.locator "
        "FROM pm_citation AS citation JOIN pm_chunk AS chunk ON chunk.id = citation.chunk_id "
        "AND chunk.doc_id = citation.doc_id WHERE gone_at IS NULL",
    ):
        stretch = content[locator["start"] - start : locator["end"] - start]
        assert " ".join(quoted.split()) in " ".join(stretch.split())
    fact = one(empty, "SELECT id FROM pm_atom WHERE content LIKE 'The lamp of Farrow Head burns 40%' AND type = 'fact'")
    assert one(empty, "SELECT count(*) FROM pm_citation WHERE atom_id = %s", fact) == 2
    assert own != known
    settle(empty)
    assert total_drift(empty) == 0


def test_a_rejected_claim_stays_rejected_where_it_is_loaded(full: Runtime, empty: Runtime, tmp_path: Path) -> None:
    (claim,) = rows(full, "SELECT content FROM pm_atom WHERE status = 'rejected'")[0]
    export(full.database, tmp_path / "out")
    load(empty.database, tmp_path / "out")

    assert one(empty, "SELECT status FROM pm_atom WHERE content = %s", claim) == "rejected"
    take_text(empty, str(claim) + "\n\nAnd a word more.")
    assert one(empty, "SELECT status FROM pm_atom WHERE content = %s", claim) == "rejected"


def test_a_page_of_markdown_holds_each_atom_with_its_quotation(full: Runtime, tmp_path: Path) -> None:
    export(full.database, tmp_path / "out", lines=False)

    pages = {path.name: path.read_text("utf-8") for path in (tmp_path / "out" / "markdown").iterdir()}
    farrow = next(text for name, text in pages.items() if "farrow-head" in name)
    assert '"A. Keeper"' in farrow
    assert "> The tower is 31 m high." in farrow
    assert "p. " not in farrow
    assert "> | lens | 90 kg  |" in farrow
    assert len(pages) == 3
    assert "other" not in pages["index.md"]
    assert not (tmp_path / "out" / "documents.jsonl").exists()


def spoil(folder: Path, how: str) -> None:
    atoms = folder / "atoms.jsonl"
    lines = atoms.read_text("utf-8").split("\n")
    if how == "a line cut short":
        atoms.write_text("\n".join([lines[0], lines[1][:40]]), "utf-8")
    elif how == "a word that is no status":
        row = json.loads(lines[0]) | {"status": "surely"}
        atoms.write_text("\n".join([json.dumps(row), *lines[1:]]), "utf-8")
    elif how == "a number that is a word":
        row = json.loads(lines[0]) | {"key": "atom:x"}
        atoms.write_text("\n".join([json.dumps(row), *lines[1:]]), "utf-8")
    elif how == "a file missing":
        (folder / "links.jsonl").unlink()
    elif how == "other bytes":
        next((folder / "bodies").iterdir()).write_bytes(b"other")
    elif how == "a body missing":
        next((folder / "bodies").iterdir()).unlink()
    elif how == "a body that is a path":
        documents = folder / "documents.jsonl"
        rows_ = [json.loads(line) for line in documents.read_text("utf-8").splitlines()]
        rows_[0]["body"]["sha256"] = "../../../../etc/passwd"
        documents.write_text("\n".join(map(json.dumps, rows_)), "utf-8")
    elif how == "another version":
        (folder / MANIFEST).write_text(json.dumps({"format": "pegas-export", "version": 99}), "utf-8")
    elif how == "no manifest":
        (folder / MANIFEST).unlink()


@pytest.mark.parametrize(
    "how",
    [
        "a line cut short",
        "a word that is no status",
        "a number that is a word",
        "a file missing",
        "other bytes",
        "a body missing",
        "a body that is a path",
        "another version",
        "no manifest",
    ],
)
def test_a_damaged_export_changes_nothing(full: Runtime, empty: Runtime, tmp_path: Path, how: str) -> None:
    export(full.database, tmp_path / "out")
    spoil(tmp_path / "out", how)

    with pytest.raises(InvalidInput) as refused:
        load(empty.database, tmp_path / "out")

    assert refused.value.hint
    assert [one(empty, f"SELECT count(*) FROM pm_{table}") for table in ("document", "atom", "outbox")] == [0, 0, 0]


def test_an_export_never_writes_over_anything(full: Runtime, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("mine", "utf-8")

    for name in ("mine", "mine/letter.txt"):
        with pytest.raises(InvalidInput, match=r"exists already"):
            export(full.database, tmp_path / name)

    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    assert (tmp_path / "mine" / "letter.txt").read_text("utf-8") == "mine"
