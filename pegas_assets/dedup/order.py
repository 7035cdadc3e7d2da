"""Whether two rows of the same tokens, in another order, still say the same."""

from __future__ import annotations

from collections.abc import Sequence

from pegas_assets.dedup.form import BE, same_token
from pegas_assets.dedup.inflection import roles_change, russian_shape
from pegas_assets.dedup.lexicon import ADJUNCTS
from pegas_assets.dedup.quantities import Token
from pegas_assets.text.folding import is_cyrillic

Row = Sequence[Token]
_MOST_MOVES = 3


def same_statement(one: Row, other: Row) -> bool:
    """Whether two rows are equal token by token, or after moves that leave who does what to whom as it was.

    Three moves are safe: a phrase that opens with a preposition, a conjunction or a word of time goes from one edge to the
    other, or two such phrases at an edge change places; the sides of `X is Y` change places where one is a name; and
    in Russian a verb changes places with all the rest, every word in the very same form. `Alice hired Bob` is never `Bob hired Alice`.
    """
    return len(one) == len(other) and _same(one, other, _MOST_MOVES)


def _same(one: Row, other: Row, moves: int) -> bool:
    if _aligned(one, other):
        return True
    if not moves or sorted(token.key for token in one) != sorted(token.key for token in other):
        return False
    return (
        _edge_moved(one, other, moves)
        or _edge_moved(other, one, moves)
        or _adjuncts_exchanged(one, other)
        or _copula_turned(one, other)
        or _verb_turned(one, other)
    )


def _aligned(one: Row, other: Row) -> bool:
    if len(one) != len(other) or not all(same_token(a, b) for a, b in zip(one, other, strict=True)):
        return False
    words = [
        (a.word, b.word)
        for i, (a, b) in enumerate(zip(one, other, strict=True))
        if a.kind == "word" and is_cyrillic(a.word) and not _case_is_free(one, other, i)
    ]
    return not roles_change(words)


def _case_is_free(one: Row, other: Row, i: int) -> bool:
    """Whether a word's case follows from what stands before it: `у` of possession, a preposition, a comparative."""
    if one[i].holder or other[i].holder:
        return True
    if i == 0:
        return False
    before, same = one[i - 1], other[i - 1]
    if before.kind == "light":
        return before.word != same.word
    return before.kind == "word" and is_cyrillic(before.word) and russian_shape(before.word)[0] == "comparative"


def _edge_moved(one: Row, other: Row, moves: int) -> bool:
    """The first tokens of `one` are the last of `other`."""
    return any(
        _movable(one[:size]) and _aligned(one[:size], other[-size:]) and _same(one[size:], other[:-size], moves - 1)
        for size in range(1, len(one))
    )


def _adjuncts_exchanged(one: Row, other: Row) -> bool:
    start = 0
    while start < len(one) and same_token(one[start], other[start]):
        start += 1
    end = 0
    while end < len(one) - start and same_token(one[-1 - end], other[-1 - end]):
        end += 1
    # Both phrases may open with the same preposition, or end in the same word.
    spans = [(first, len(one)) for first in range(start + 1)] if not end else []
    spans += [(0, len(one) - last) for last in range(end + 1)] if not start else []
    return any(_exchanged(one[first:last], other[first:last]) for first, last in spans)


def _exchanged(one: Row, other: Row) -> bool:
    return any(
        _movable(one[:cut])
        and _movable(one[cut:])
        and _aligned(one[:cut], other[len(one) - cut :])
        and _aligned(one[cut:], other[: len(one) - cut])
        for cut in range(1, len(one))
    )


def _movable(block: Row) -> bool:
    if not block or (block[0].word not in ADJUNCTS and block[0].key not in ADJUNCTS):
        return False
    return len(block) > 1 or block[0].kind == "word"


def _copula_turned(one: Row, other: Row) -> bool:
    at = [i for i, token in enumerate(one) if token.key == BE]
    if len(at) != 1 or any(token.kind == "negation" for token in one):
        return False
    left, right = one[: at[0]], one[at[0] + 1 :]
    turned = [*right, one[at[0]], *left]
    if not left or not right or not _aligned(turned, other):
        return False
    return any(all(_name_in(token, one, other) for token in side) for side in (left, right))


def _name_in(token: Token, *rows: Row) -> bool:
    """Whether a token is written as a name where it does not open its sentence."""
    return any(same.name for row in rows for same in row if same.key == token.key)


def _verb_turned(one: Row, other: Row) -> bool:
    return any(_turned_at(cut, one, other) for cut in range(1, len(one)))


def _turned_at(cut: int, one: Row, other: Row) -> bool:
    head, rest = one[:cut], one[cut:]
    if not (
        (_only_verbs(head) and not any(map(_is_verb, rest))) or (_only_verbs(rest) and not any(map(_is_verb, head)))
    ):
        return False
    return all(a.word == b.word for a, b in zip([*rest, *head], other, strict=True))


def _only_verbs(block: Row) -> bool:
    return any(map(_is_verb, block)) and all(_is_verb(token) or token.key in _WAS for token in block)


_WAS = frozenset(["был", "будет", "будут"])


def _is_verb(token: Token) -> bool:
    if token.kind != "word" or not is_cyrillic(token.word):
        return token.kind in ("negation", "sign")
    kind, _, reflexive = russian_shape(token.word)
    return reflexive or kind in ("present", "past", "infinitive", "short")
