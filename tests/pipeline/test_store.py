"""One atom that somebody states: committed first, distilled like any other, shown at once."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pegas_assets.embedding.base import Vectors
from pegas_assets.errors import EngineUnavailable, InvalidInput, PegasError
from pegas_assets.model import AtomType
from pegas_assets.pipeline.store import Stored, store_atom
from pegas_assets.projection.targets import Target
from pegas_assets.runtime import Runtime
from pegas_assets.search.hybrid import search
from pegas_assets.search.request import SearchRequest
from pegas_assets.stores.stated import StatedAtom, add_stated_atom
from tests.pipeline.reading import ingest, one, retry_now, rows, settle, take_text, total_drift

FACT = "The lantern burns about 40 litres of oil each year."


def store(base: Runtime, content: str, type: AtomType = AtomType.FACT, **more: Any) -> Stored:
    return store_atom(base.ingest_parts, base.targets, type=type, content=content, client="agent", **more)


def undistilled(base: Runtime) -> int:
    return int(one(base, "SELECT count(*) FROM pm_chunk WHERE distilled_by IS NULL"))


CONTENTS = {
    AtomType.TEXT: "The lantern stands on the mole.\n\nIt burns oil.",
    AtomType.DEFINITION: "A mole is a wall of stone that keeps the sea out of a harbour.",
    AtomType.LOGICAL_RULE: "If the lantern is out, the harbour is closed.",
    AtomType.CODE: "    def lit(hour):\n        return hour > 20 or hour < 6",
    AtomType.TABLE: "| lantern | litres |\n|---------|--------|\n| mole    | 40     |",
    AtomType.FACT: FACT,
}


@pytest.mark.parametrize("type", list(AtomType))
def test_an_atom_of_each_type_is_kept_as_stated_and_shown_at_once(base: Runtime, type: AtomType) -> None:
    stored = store(
        base,
        CONTENTS[type],
        type,
        claim="What the lantern on the mole is.",
        title="Notes",
        confidence=0.9,
        metadata={"from": "the keeper", "nul": "a\x00b"},
    )
    assert (stored.duplicate, stored.projected, stored.may_contradict) == (False, True, ())
    ((type_, claim, content, confidence, metadata, status),) = rows(
        base, "SELECT type, claim, content, confidence, metadata, status FROM pm_atom WHERE id = %s", stored.atom_id
    )
    assert (type_, claim, content, status) == (type, "What the lantern on the mole is.", CONTENTS[type], "candidate")
    assert confidence == pytest.approx(0.9)
    assert metadata == {"from": "the keeper", "nul": "ab"}
    ((kind, source, title, document_status),) = rows(base, "SELECT kind, source, title, status FROM pm_document")
    assert (kind, source, title, document_status) == ("manual", "manual:agent", "Notes", "done")
    assert one(base, "SELECT count(*) FROM pm_citation WHERE atom_id = %s AND gone_at IS NULL", stored.atom_id) == 1
    # Nothing but what was stated and the passage itself.
    assert one(base, "SELECT count(*) FROM pm_atom") == (1 if type is AtomType.TEXT else 2)
    hit = search(base.search_engines, SearchRequest.checked("lantern mole harbour", types=[type])).hits[0]
    assert (hit.key, hit.projected) == (stored.key, True)
    assert total_drift(base) == 0


def test_the_same_atom_twice_is_one_and_nothing_is_left_to_do(base: Runtime) -> None:
    first = store(base, FACT)
    second = store(base, FACT)
    third = store(base, f" {FACT.replace(' ', '  ')}\n")
    assert [item.key for item in (second, third)] == [first.key] * 2
    assert [item.duplicate for item in (first, second, third)] == [False, True, True]
    assert one(base, "SELECT count(*) FROM pm_document") == 1
    assert one(base, "SELECT count(*) FROM pm_atom") == 2
    assert undistilled(base) == 0
    assert rows(base, "SELECT DISTINCT status FROM pm_document") == [("done",)]


def test_one_content_under_two_types_is_two_atoms_of_one_document(base: Runtime) -> None:
    content = "A mole is a wall of stone."
    first = store(base, content, AtomType.DEFINITION)
    second = store(base, content, AtomType.FACT)
    # Other white space is other bytes, but the same text.
    third = store(base, content.replace(" ", "  "), AtomType.LOGICAL_RULE)
    types = dict(rows(base, "SELECT 'atom:' || id, type FROM pm_atom"))
    assert [types[item.key] for item in (first, second, third)] == ["definition", "fact", "logical_rule"]
    assert one(base, "SELECT count(*) FROM pm_document") == 1
    assert undistilled(base) == 0


def test_what_a_document_says_already_is_a_duplicate(base: Runtime) -> None:
    take_text(base, f"From the keeper's book.\n\n{FACT}")
    stored = store(base, FACT)
    assert stored.duplicate
    assert one(base, "SELECT content FROM pm_atom WHERE id = %s", stored.atom_id) == FACT
    assert one(base, "SELECT count(*) FROM pm_citation WHERE atom_id = %s", stored.atom_id) == 2
    # The graph shows it with both documents, though nobody had shown the first one yet.
    assert stored.projected


def test_another_wording_is_a_citation_of_what_is_there(base: Runtime) -> None:
    first = store(base, FACT)
    second = store(base, "The lantern burns approximately 40 liters of oil every year.")
    assert (second.key, second.duplicate, second.may_contradict) == (first.key, True, ())
    assert one(base, "SELECT count(*) FROM pm_citation WHERE atom_id = %s", first.atom_id) == 2


def test_another_number_is_kept_and_named_as_what_may_contradict(base: Runtime) -> None:
    first = store(base, FACT)
    second = store(base, FACT.replace("40", "50"))
    assert not second.duplicate
    ((key, claim, reason),) = second.may_contradict
    assert (key, claim) == (first.key, FACT)
    assert "40" in reason


class DownTarget:
    """A projection whose engine does not answer."""

    def __init__(self, target: Target) -> None:
        self._target = target

    def __getattr__(self, name: str) -> Any:
        return getattr(self._target, name)

    def prepare(self) -> None:
        raise EngineUnavailable("The engine is down.", component=self._target.name)


def test_with_both_projections_down_it_is_committed_and_follows_later(base: Runtime) -> None:
    parts = replace(base.ingest_parts, vectors=_down, collection=_down)
    targets: list[Any] = [DownTarget(target) for target in base.targets]
    stored = store_atom(parts, targets, type=AtomType.FACT, content=FACT)
    assert not stored.projected
    assert all(drained.unavailable for drained in stored.drained)
    hit = search(base.search_engines, SearchRequest.checked("lantern oil", types=["fact"])).hits[0]
    assert (hit.key, hit.projected) == (stored.key, False)
    settle(base)
    assert total_drift(base) == 0


def _down() -> Any:
    raise EngineUnavailable("The engine is down.", component="vectors")


def test_a_row_that_its_projection_refuses_is_not_called_projected(
    base: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PegasError("No such property.")

    monkeypatch.setattr(base.graph_target, "apply", refuse)
    assert not store(base, FACT).projected


def test_with_the_model_down_it_is_accepted_and_done_by_the_next_run(
    base: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(texts: list[str]) -> Vectors:
        raise EngineUnavailable("The model is down.", component="embedder")

    sentence = "A bollard is a post to which ships are tied."
    with monkeypatch.context() as patched:
        patched.setattr(base.embedder, "embed_passages", down)
        with pytest.raises(EngineUnavailable):
            store(base, sentence, AtomType.DEFINITION)
    retry_now(base)
    ingest(base, "manual:agent")
    assert rows(base, "SELECT type, content FROM pm_atom ORDER BY type") == [
        ("definition", sentence),
        ("text", sentence),
    ]


def test_what_is_longer_than_a_chunk_is_kept_whole_with_its_beginning_as_quotation(base: Runtime) -> None:
    content = " ".join(f"Rule {n} of the harbour says that berth {n} is for boats." for n in range(36))
    stored = store(base, content, AtomType.LOGICAL_RULE, claim="The rules of the harbour.")
    assert one(base, "SELECT count(*) FROM pm_chunk") > 1
    assert rows(base, "SELECT content, claim FROM pm_atom WHERE id = %s", stored.atom_id) == [
        (content, "The rules of the harbour.")
    ]
    quoted, chunk = rows(
        base,
        "SELECT quoted_text, content FROM pm_citation JOIN pm_chunk AS chunk ON chunk.id = chunk_id WHERE atom_id = %s",
        stored.atom_id,
    )[0]
    assert quoted == chunk
    assert content.startswith(quoted)
    code = "\n".join(f"berth[{n}] = 'boat {n}'" for n in range(70))
    assert one(base, "SELECT content FROM pm_atom WHERE id = %s", store(base, code, AtomType.CODE).atom_id) == code
    assert total_drift(base) == 0


def test_what_was_stated_stays_when_all_is_distilled_again(base: Runtime) -> None:
    stored = store(base, FACT, claim="Oil of the lantern.")
    ingest(base, "manual:agent", force=True)
    assert rows(base, "SELECT claim, status FROM pm_atom WHERE id = %s", stored.atom_id) == [
        ("Oil of the lantern.", "candidate")
    ]


@pytest.mark.parametrize(
    ("more", "item"),
    [
        ({"content": " \n"}, ""),
        ({"content": "x", "claim": "y" * 501}, "claim"),
        ({"content": "x", "confidence": 1.01}, "confidence"),
        ({"content": "x", "confidence": float("nan")}, "confidence"),
    ],
)
def test_what_cannot_be_stored_gets_a_sentence_and_leaves_nothing(
    base: Runtime, more: dict[str, Any], item: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        store(base, **more)
    assert caught.value.item == item
    assert one(base, "SELECT count(*) FROM pm_document") == 0


def test_eight_writers_of_one_atom_make_one_and_each_is_told_which(base: Runtime) -> None:
    stored: list[Stored] = []
    errors: list[Exception] = []

    def work(n: int) -> None:
        try:
            stored.append(store(base, FACT if n % 2 else FACT.replace(" ", "  "), AtomType.FACT))
        except Exception as error:  # noqa: BLE001 - the test shows whatever came
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert errors == []
    assert len({item.key for item in stored}) == 1
    assert rows(base, "SELECT type, count(*) FROM pm_atom GROUP BY 1 ORDER BY 1") == [("fact", 1), ("text", 1)]
    assert one(base, "SELECT count(*) FROM pm_document") == 1
    assert undistilled(base) == 0
    settle(base)
    assert total_drift(base) == 0


def test_an_atom_stated_while_its_text_is_distilled_is_not_lost(base: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    first = store(base, "A mole is a wall of stone.", AtomType.FACT)
    late = StatedAtom(AtomType.DEFINITION, "", "A mole is a wall of stone.", 0.5, {})
    real = base.embedder.embed_passages
    told = threading.Event()

    def slow(texts: list[str]) -> Vectors:
        if not told.is_set():
            told.set()
            with base.database.connection() as connection:
                add_stated_atom(connection, first.document_id, late)
        return np.asarray(real(texts))

    rows(base, "DELETE FROM pm_embedding")
    monkeypatch.setattr(base.embedder, "embed_passages", slow)
    ingest(base, "manual:agent", force=True)
    assert told.is_set()
    ingest(base, "manual:agent")
    assert sorted(type_ for (type_,) in rows(base, "SELECT type FROM pm_atom")) == ["definition", "fact", "text"]
    assert undistilled(base) == 0
    assert one(base, "SELECT status FROM pm_document") == "done"


def test_the_front_matter_of_a_text_cannot_state_atoms(base: Runtime) -> None:
    forged = '[{"type": "fact", "claim": "Forged.", "content": "Forged.", "confidence": 1, "metadata": {}}]'
    document = take_text(base, f"---\nstated: {forged}\nauthor: A. Reed\n---\n\n{FACT}\n")
    assert one(base, "SELECT meta ? 'stated' FROM pm_document WHERE id = %s", document) is False
    assert one(base, "SELECT count(*) FROM pm_atom WHERE claim = 'Forged.'") == 0
    assert one(base, "SELECT status FROM pm_document WHERE id = %s", document) == "done"
