"""Dedup through the whole line: what says the same is one atom with more citations, what differs is kept and noted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice, product
from pathlib import Path
from typing import Any

import pytest

from pegas_assets.forget import forget
from pegas_assets.model import AtomStatus
from pegas_assets.pipeline.accept import accept_files, accept_text
from pegas_assets.pipeline.ingest import ingest_source
from pegas_assets.runtime import Runtime
from pegas_assets.stores.atoms import set_status
from tests.conftest import fresh_base
from tests.embedding_once import embeds_once
from tests.pipeline.reading import LENIENT, ingest, one, rows, settle, take_text, total_drift, with_parts

GOLD = Path(__file__).parent.parent / "gold"
ONE = "The lantern burns about 40 litres of oil each year."
SAME = "The lantern burns approximately 40 liters of oil every year."


def facts(base: Runtime) -> dict[str, int]:
    """Content of each fact → how many citations it has."""
    return dict(
        rows(
            base,
            "SELECT atom.content, count(citation.id) FROM pm_atom AS atom "
            "LEFT JOIN pm_citation AS citation ON citation.atom_id = atom.id WHERE atom.type = 'fact' GROUP BY 1",
        )
    )


def test_the_same_sentence_in_two_texts_is_one_atom_with_two_citations(base: Runtime) -> None:
    take_text(base, f"Of the lantern on the mole.\n\n{ONE}")
    take_text(base, f"From the keeper's book.\n\n{ONE.replace(' ', '  ')}")
    assert facts(base) == {ONE: 2}


def test_another_wording_becomes_a_citation_though_nothing_is_projected(base: Runtime) -> None:
    take_text(base, f"Of the lantern on the mole.\n\n{ONE}")
    document = take_text(base, f"From the keeper's book.\n\n{SAME}")
    assert facts(base) == {ONE: 2}
    quoted = one(
        base,
        "SELECT quoted_text FROM pm_citation AS citation JOIN pm_atom AS atom ON atom.id = citation.atom_id "
        "WHERE citation.doc_id = %s AND atom.type = 'fact'",
        document,
    )
    assert quoted == SAME


def test_another_wording_becomes_a_citation_when_all_is_projected(base: Runtime) -> None:
    take_text(base, f"Of the lantern on the mole.\n\n{ONE}")
    settle(base)
    take_text(base, f"From the keeper's book.\n\n{SAME}")
    assert facts(base) == {ONE: 2}
    settle(base)
    assert total_drift(base) == 0


def test_two_wordings_in_one_batch_are_one_atom(base: Runtime) -> None:
    document = take_text(base, f"# The mole\n\n{ONE}\n\n# The book\n\n{SAME}")
    assert facts(base) == {ONE: 2}
    assert one(base, "SELECT count(*) FROM pm_chunk WHERE doc_id = %s", document) == 2


def test_with_the_vector_store_down_dedup_reads_trigrams_and_says_so(base: Runtime) -> None:
    take_text(base, f"Of the lantern on the mole.\n\n{ONE}")
    settle(base)
    parts = with_parts(base, vectors_down=True)
    accepted = accept_text(
        base.database,
        base.settings,
        f"From the keeper's book.\n\n{SAME}\n\nThe lantern burns about 50 litres of oil each year.",
    )
    reports = ingest_source(parts, accepted.sources[0])
    assert any("without vectors" in note for note in reports[2].counts)
    assert facts(base) == {ONE: 2, "The lantern burns about 50 litres of oil each year.": 1}
    assert one(base, "SELECT count(*) FROM pm_contradiction_candidate") == 1


def test_a_model_without_a_profile_compares_nothing_by_meaning(base: Runtime) -> None:
    base.__dict__["profile"] = None
    take_text(base, ONE)
    take_text(base, f"Again.\n\n{ONE}")
    take_text(base, SAME)
    assert facts(base) == {ONE: 2, SAME: 1}


def wordings() -> Iterator[str]:
    for article, harbour, about, litres, year in product(
        ("The", "A"),
        ("harbour", "harbor"),
        ("about", "approximately", "roughly", "circa"),
        ("40 litres", "40 liters"),
        ("each year.", "every year."),
    ):
        yield f"{article} {harbour} light burns {about} {litres} of oil {year}"


def test_a_fact_in_fifty_wordings_in_fifty_documents_is_one_atom_with_fifty_citations(
    base: Runtime, tmp_path: Path
) -> None:
    fifty = list(islice(wordings(), 50))
    # Two halves through two sources, the first one projected before the second comes.
    for half, texts in (("a", fifty[:25]), ("b", fifty[25:])):
        folder = tmp_path / half
        folder.mkdir()
        for n, text in enumerate(texts):
            (folder / f"{n:02}.txt").write_text(text)
        accepted = accept_files(base.database, base.settings, str(folder))
        ingest(base, accepted.sources[0])
        settle(base)
    assert one(base, "SELECT count(*) FROM pm_document WHERE status = 'done'") == 50
    assert rows(base, "SELECT type, count(*) FROM pm_atom GROUP BY 1 ORDER BY 1") == [("fact", 1), ("text", 1)]
    assert rows(
        base,
        "SELECT atom.type, count(*), count(DISTINCT citation.doc_id) FROM pm_citation AS citation "
        "JOIN pm_atom AS atom ON atom.id = citation.atom_id GROUP BY 1 ORDER BY 1",
    ) == [("fact", 50, 50), ("text", 50, 50)]
    assert total_drift(base) == 0


@pytest.mark.parametrize(
    ("one_says", "another_says", "differs"),
    [
        ("The lock has nine gates.", "The lock has ten gates.", "numbers"),
        ("The bridge is open in winter.", "The bridge is not open in winter.", "negation"),
        ("The tower is 30 m high.", "The tower is 30 ft high.", "units"),
        ("The keeper of the light is Anna Reed.", "The keeper of the light is Paul Reed.", "names"),
        ("Маяк построен в 1727 году.", "Маяк построен в 1728 году.", "numbers"),
    ],
)
@pytest.mark.parametrize("projected", [False, True], ids=["pending", "projected"])
def test_statements_that_differ_are_both_kept_and_noted_as_a_pair(
    base: Runtime, one_says: str, another_says: str, differs: str, projected: bool
) -> None:
    base.__dict__["profile"] = LENIENT
    take_text(base, one_says)
    if projected:
        settle(base)
    take_text(base, another_says)
    assert facts(base) == {one_says: 1, another_says: 1}
    pairs = rows(
        base,
        "SELECT a.content, b.content, reason FROM pm_contradiction_candidate "
        "JOIN pm_atom AS a ON a.id = atom_a JOIN pm_atom AS b ON b.id = atom_b WHERE a.type = 'fact'",
    )
    ((first, second, reason),) = pairs
    assert {first, second} == {one_says, another_says}
    assert differs in reason
    assert rows(base, "SELECT DISTINCT status FROM pm_atom") == [("candidate",)]


def test_a_rejected_claim_stays_rejected_however_it_comes_again(base: Runtime) -> None:
    first = take_text(base, f"Of the lantern on the mole.\n\n{ONE}")
    atom = one(base, "SELECT id FROM pm_atom WHERE type = 'fact'")
    with base.database.connection() as connection:
        set_status(connection, atom, AtomStatus.REJECTED, "The keeper says otherwise.")
    second = take_text(base, f"The same claim elsewhere.\n\n{ONE}")
    third = take_text(base, f"From the keeper's book.\n\n{SAME}")
    take_text(base, f"Of the lantern on the mole.\n\n{ONE}")
    rejected = [(atom, "rejected", "The keeper says otherwise.")]
    assert rows(base, "SELECT id, status, status_reason FROM pm_atom WHERE type = 'fact'") == rejected
    # Also when nothing of it was left in between.
    for document in (first, second, third):
        forget(base.database, base.targets, document_id=document)
    assert facts(base) == {}
    take_text(base, f"Of the lantern on the mole.\n\n{ONE}")
    assert rows(base, "SELECT status, status_reason FROM pm_atom WHERE type = 'fact'") == [rejected[0][1:]]


# Rows of tables are one atom only where they are equal, which needs no model.
MERGES: dict[str, list[dict[str, Any]]] = {
    kind: [pair for pair in pairs if not any(pair[side]["quotation"].startswith("|") for side in ("a", "b"))]
    for kind, pairs in json.loads((GOLD / "merges.json").read_text(encoding="utf-8")).items()
}


def excerpt(place: dict[str, str]) -> str:
    """The paragraph or table of a gold document that holds a quotation."""
    (file,) = (GOLD / place["document"]).glob("document.*")
    text = file.read_text(encoding="utf-8")
    wanted = " ".join(place["quotation"].split())
    return next(block for block in text.split("\n\n") if wanted in " ".join(block.split()))


@pytest.fixture(scope="module")
def gold(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    """A base with the excerpts of all pairs, each gold document a file."""
    folder = tmp_path_factory.mktemp("gold")
    blocks: dict[str, dict[str, None]] = {}
    for pair in (*MERGES["must"], *MERGES["must_not"]):
        for side in ("a", "b"):
            blocks.setdefault(pair[side]["document"], {})[excerpt(pair[side])] = None
    for name, texts in blocks.items():
        (folder / f"{name}.md").write_text("\n\n".join(texts), encoding="utf-8")
    with fresh_base(home) as made:
        embeds_once(made)
        accepted = accept_files(made.database, made.settings, str(folder))
        ingest(made, accepted.sources[0])
        yield made


def atoms_quoting(base: Runtime, place: dict[str, str]) -> set[int]:
    wanted = " ".join(place["quotation"].split())
    return {
        atom
        for atom, quoted in rows(
            base,
            "SELECT citation.atom_id, citation.quoted_text FROM pm_citation AS citation "
            "JOIN pm_atom AS atom ON atom.id = citation.atom_id JOIN pm_document AS document ON document.id = citation.doc_id "
            "WHERE atom.type NOT IN ('text', 'table', 'code') AND document.uri LIKE %s",
            f"%/{place['document']}.md",
        )
        if wanted in " ".join(quoted.split()) or " ".join(quoted.split()) in wanted
    }


@pytest.mark.parametrize("pair", MERGES["must"], ids=lambda pair: pair["a"]["document"])
def test_the_labelled_pairs_that_are_one_are_one_atom(gold: Runtime, pair: dict[str, Any]) -> None:
    assert atoms_quoting(gold, pair["a"]) & atoms_quoting(gold, pair["b"])


@pytest.mark.parametrize("pair", MERGES["must_not"], ids=lambda pair: f"{pair['a']['document']}-{pair['why']}")
def test_the_labelled_pairs_that_are_two_stay_two_atoms(gold: Runtime, pair: dict[str, Any]) -> None:
    assert not atoms_quoting(gold, pair["a"]) & atoms_quoting(gold, pair["b"])


def test_most_of_the_labelled_quotations_have_an_atom_at_all(gold: Runtime) -> None:
    places = [pair[side] for pair in MERGES["must_not"] for side in ("a", "b")]
    assert sum(bool(atoms_quoting(gold, place)) for place in places) >= 0.8 * len(places)
