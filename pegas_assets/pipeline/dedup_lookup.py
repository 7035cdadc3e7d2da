"""Brings dedup what it compares: the nearest atoms from the vector store, and from PostgreSQL what is not there yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from pegas_assets.dedup.candidates import Candidate, Existing, KeptAtom, Ref, resolve
from pegas_assets.dedup.statement import Statement
from pegas_assets.embedding.base import Vector
from pegas_assets.embedding.passages import embed_fitted, passage_of, stored_fitted
from pegas_assets.embedding.profile import Profile
from pegas_assets.errors import EngineUnavailable, NotFound
from pegas_assets.model import AtomType
from pegas_assets.pipeline.parts import IngestParts
from pegas_assets.stores.atoms import (
    AtomStatement,
    NewAtom,
    by_signature,
    ids_by_hash,
    newer_statements,
    newest_atom_id,
    similar_by_trigram,
    statements,
    unprojected_statements,
)
from pegas_assets.stores.postgres import Connection
from pegas_assets.stores.vectors import VectorFilter

NEAREST = 8
"""Neighbours that are compared with each new atom."""
UNPROJECTED_LIMIT = 4000
MEANT = ("definition", "fact", "logical_rule", "text")
"""Types that dedup compares by meaning. Code and tables are the same only when they are equal."""


@dataclass(frozen=True)
class Proposal:
    """An atom that a distiller proposes, with the quotation that proves it."""

    atom: NewAtom
    chunk_id: int
    quotation: str


@dataclass
class Surroundings:
    """What was read before the lock: vectors of the proposals, and for each its nearest atoms."""

    vectors: list[Vector]
    near: list[list[int]]
    known: dict[int, tuple[AtomStatement, Vector]] = field(default_factory=dict)
    newest: int = 0
    degraded: str = ""


def look_around(parts: IngestParts, proposals: Sequence[Proposal]) -> Surroundings:
    """Embed proposals and read their neighbours. No lock is held: this is where the time goes.

    Where the vector store is down, neighbours are those that share most trigrams, and `degraded` says why.

    Raises:
        EngineUnavailable: PostgreSQL or the embedding model does not answer.
    """
    database, embedder = parts.database, parts.embedder
    with database.connection() as connection:
        vectors = list(embed_fitted(connection, embedder, [_passage(proposal.atom) for proposal in proposals]))
    with database.connection() as connection:
        around = Surroundings(vectors, [[] for _ in proposals], newest=newest_atom_id(connection))
        if parts.profile is None:
            around.degraded = f"{embedder.fingerprint.model} has no profile, so nothing is compared by meaning"
            return around
        places = [place for place, proposal in enumerate(proposals) if proposal.atom.type in MEANT]
        # Before the engine is asked: what is projected in between is then seen twice, not never.
        pending = {row.id: row for row in unprojected_statements(connection, MEANT, UNPROJECTED_LIMIT)}
        try:
            for place in places:
                hits = parts.vectors().search(
                    parts.collection(),
                    dense=vectors[place],
                    sparse=None,
                    filter=VectorFilter(kinds=("atom",), types=(proposals[place].atom.type,)),
                    limit=NEAREST,
                )
                around.near[place] = [int(key.removeprefix("atom:")) for key, _ in hits.dense]
            found = statements(connection, sorted({id_ for near in around.near for id_ in near}))
        except (EngineUnavailable, NotFound) as error:
            around.degraded = error.message
            found = _by_trigram(connection, proposals, places, around)
        found |= pending
        _remember(parts, connection, around, list(found.values()))
        _add_nearest(around, proposals, places, [row.id for row in found.values()])
    return around


def _by_trigram(
    connection: Connection, proposals: Sequence[Proposal], places: Sequence[int], around: Surroundings
) -> dict[int, AtomStatement]:
    found: dict[int, AtomStatement] = {}
    by_type: dict[str, list[int]] = {}
    for place in places:
        by_type.setdefault(proposals[place].atom.type, []).append(place)
    for same in by_type.values():
        kind = proposals[same[0]].atom.type
        lists = similar_by_trigram(connection, kind, [proposals[place].atom.claim for place in same], NEAREST)
        for place, near in zip(same, lists, strict=True):
            around.near[place] = [row.id for row in near]
            found |= {row.id: row for row in near}
    return found


def _passage(atom: NewAtom | AtomStatement) -> str:
    return passage_of(atom.type, atom.claim, atom.content, atom.context)


def _remember(parts: IngestParts, connection: Connection, around: Surroundings, rows: Sequence[AtomStatement]) -> None:
    """Keep statements with their vectors; an atom without one is left to the next reconcile."""
    unknown = [row for row in rows if row.id not in around.known]
    vectors = stored_fitted(connection, parts.embedder, [_passage(row) for row in unknown])
    for row, vector in zip(unknown, vectors, strict=True):
        if vector is not None:
            around.known[row.id] = (row, vector)


def _add_nearest(
    around: Surroundings, proposals: Sequence[Proposal], places: Sequence[int], candidates: Sequence[int]
) -> None:
    """Add to each proposal the nearest of atoms that no engine was asked about, by brute force."""
    for kind in MEANT:
        ids = [id_ for id_ in candidates if id_ in around.known and around.known[id_][0].type == kind]
        same = [place for place in places if proposals[place].atom.type == kind]
        if not ids or not same:
            continue
        matrix = np.stack([around.known[id_][1] for id_ in ids])
        cosines = matrix @ np.stack([around.vectors[place] for place in same]).T
        for column, place in enumerate(same):
            best = np.argsort(-cosines[:, column], kind="stable")[:NEAREST]
            around.near[place] = list(dict.fromkeys([*around.near[place], *(ids[index] for index in best)]))


def refresh(
    parts: IngestParts, connection: Connection, proposals: Sequence[Proposal], around: Surroundings
) -> dict[str, int]:
    """Under the lock: add what was written since, drop what is gone; returns hash → id of atoms that exist already."""
    existing = ids_by_hash(connection, [proposal.atom.content_hash for proposal in proposals])
    if parts.profile is None:
        return existing
    places = [place for place, proposal in enumerate(proposals) if proposal.atom.type in MEANT]
    newer = newer_statements(connection, MEANT, around.newest)
    _remember(parts, connection, around, newer)
    _add_nearest(around, proposals, places, [row.id for row in newer])
    # Among many statements that differ in one figure, the nearest by vector need not hold the one that is equal.
    signed = by_signature(connection, [proposals[place].atom.signature for place in places])
    _remember(parts, connection, around, [row for rows in signed.values() for row in rows])
    for place in places:
        equal = [row.id for row in signed.get(proposals[place].atom.signature, ())]
        around.near[place] = list(dict.fromkeys([*equal, *around.near[place]]))
    alive = statements(connection, list(around.known))
    for gone in around.known.keys() - alive.keys():
        del around.known[gone]
    return existing


@dataclass(frozen=True)
class ExistingAtom:
    """An atom that was there before."""

    id: int


@dataclass
class Decided:
    """What becomes of a batch of proposals: which are written, and the atom that each one's citation goes to.

    A target is a place in the batch (a proposal that is written) or an atom that exists.
    """

    new: list[int] = field(default_factory=list)
    targets: list[int | ExistingAtom] = field(default_factory=list)
    contradictions: list[tuple[int, int | ExistingAtom, str, float]] = field(default_factory=list)
    exact: int = 0
    semantic: int = 0


def decide(parts: IngestParts, connection: Connection, proposals: Sequence[Proposal], around: Surroundings) -> Decided:
    """Settle a batch under the dedup lock: each proposal is new, an atom that exists, or an earlier one of the batch."""
    existing = refresh(parts, connection, proposals, around)
    decided = Decided()
    first_of: dict[str, int] = {}
    meant: list[int] = []
    targets: dict[int, int | ExistingAtom] = {}
    for place, proposal in enumerate(proposals):
        content_hash = proposal.atom.content_hash
        if content_hash in existing:
            targets[place] = ExistingAtom(existing[content_hash])
            decided.exact += 1
        elif content_hash in first_of:
            targets[place] = first_of[content_hash]
            decided.exact += 1
        else:
            first_of[content_hash] = place
            targets[place] = place
            if parts.profile is not None and proposal.atom.type in MEANT:
                meant.append(place)
    if parts.profile is not None:
        _settle_by_meaning(parts.profile, proposals, around, meant, targets, decided)
    # The first of equal texts may itself have become a duplicate: what points at it follows.
    for place in range(len(proposals)):
        target = targets[place]
        while isinstance(target, int) and targets[target] != target:
            target = targets[target]
        decided.targets.append(target)
    decided.new = [place for place, target in enumerate(decided.targets) if target == place]
    return decided


def _settle_by_meaning(
    profile: Profile,
    proposals: Sequence[Proposal],
    around: Surroundings,
    meant: Sequence[int],
    targets: dict[int, int | ExistingAtom],
    decided: Decided,
) -> None:
    def lookup(_: Sequence[Candidate]) -> list[list[Existing]]:
        return [
            [
                Existing(id_, _statement(around.known[id_][0]), around.known[id_][1])
                for id_ in around.near[place]
                if id_ in around.known
            ]
            for place in meant
        ]

    def place_of(ref: Ref) -> int | ExistingAtom:
        return ExistingAtom(ref.atom_id) if isinstance(ref, KeptAtom) else meant[ref.index]

    batch = [
        Candidate(_statement(proposals[place].atom), around.vectors[place], proposals[place].atom.content_hash)
        for place in meant
    ]
    for place, resolution in zip(meant, resolve(batch, lookup, profile), strict=True):
        if resolution.duplicate_of is not None:
            targets[place] = place_of(resolution.duplicate_of)
            decided.semantic += 1
        decided.contradictions += [
            (place, place_of(clash.ref), clash.reason, clash.cosine) for clash in resolution.contradictions
        ]


def _statement(atom: NewAtom | AtomStatement) -> Statement:
    return statement_of(atom.type, atom.claim, atom.content, atom.language)


def statement_of(atom_type: AtomType, claim: str, content: str, language: str) -> Statement:
    """What an atom states: a passage its text, the others their claim."""
    text = content if atom_type is AtomType.TEXT else claim or content
    return Statement(type=atom_type, text=text, language=language)
