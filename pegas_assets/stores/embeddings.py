"""Vectors that are kept and that no atom is found by any more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pegas_assets.stores.postgres import Connection

from pegas_assets.embedding.passages import WHOLE, passage_of
from pegas_assets.identity import atom_hash

SHORTEST_CUT = 256
"""Characters: no model reads less, so none cuts a passage shorter."""
LONGEST_CUT = 60_000


@dataclass(frozen=True)
class Embedded:
    """What a vector was made for."""

    type: str
    claim: str
    content: str
    context: str

    @property
    def passage(self) -> str:
        return passage_of(self.type, self.claim, self.content, self.context)


def drop_unused(connection: Connection, embedded: Sequence[Embedded], *, cut: bool = False) -> int:
    """Remove the vectors of passages that no atom has; returns how many.

    With `cut`, also those of the beginnings of passages that may have been too long for the model.
    """
    if not embedded:
        return 0
    unused = {_key(item.passage): item for item in embedded}
    for type_, claim, content, context in connection.execute(
        """
        SELECT type, coalesce(claim, ''), content, context FROM pm_atom
        WHERE pm_sha256(claim) = ANY(%s) OR content_hash = ANY(%s)
        """,
        [list(unused), sorted({hash_ for item in embedded for hash_ in _hashes(item)})],
    ).fetchall():
        unused.pop(_key(passage_of(type_, claim, content, context)), None)
    dropped = _drop(connection, list(unused))
    for item in unused.values() if cut else ():
        if len(item.passage) > SHORTEST_CUT:
            dropped += _drop(connection, list(_beginnings(item.passage)))
    return dropped


def _drop(connection: Connection, keys: Sequence[bytes]) -> int:
    return connection.execute("DELETE FROM pm_embedding WHERE text_hash = ANY(%s)", [list(keys)]).rowcount


def _key(text: str) -> bytes:
    return sha256(text.encode(errors="replace")).digest()


def _hashes(item: Embedded) -> Iterator[str]:
    """The content hashes of the atoms that may have the same passage."""
    yield atom_hash(item.type, item.content)
    for whole in WHOLE:
        yield atom_hash(whole, item.passage)


def _beginnings(passage: str) -> Iterator[bytes]:
    running = sha256(passage[:SHORTEST_CUT].encode(errors="replace"))
    for letter in passage[SHORTEST_CUT:LONGEST_CUT]:
        yield running.copy().digest()
        running.update(letter.encode(errors="replace"))
