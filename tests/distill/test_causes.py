"""Which statement a text names as the cause of which."""

from __future__ import annotations

import pytest

from pegas_assets.distill.causes import LIKELY, SURE, Said, causes


def named(text: str, *statements: str) -> list[tuple[str, str]]:
    """Cause and effect, by the statements' own words."""
    said = [Said(text.index(statement), text.index(statement) + len(statement)) for statement in statements]
    return [(statements[cause.cause], statements[cause.effect]) for cause in causes(text, said)]


A, B = "The ice froze in March.", "The boats stayed ashore."


@pytest.mark.parametrize(
    "opening",
    [
        "Therefore the boats stayed ashore.", "As a result, the boats stayed ashore.", "That is why the boats stayed ashore.",
        "Hence the boats stayed ashore.", "Поэтому лодки остались на берегу.", "Следовательно, лодки остались на берегу.",
        "В результате лодки остались на берегу.", "Из-за этого лодки остались на берегу.",
    ],
)  # fmt: skip
def test_a_sentence_that_opens_with_therefore_is_the_effect_of_the_one_before(opening: str) -> None:
    assert named(f"{A} {opening}", A, opening) == [(A, opening)]
    assert named(f"- {A}\n- {opening}", A, opening) == [(A, opening)]


@pytest.mark.parametrize(
    "opening", ["This is because the sea was low.", "The reason is a low sea.", "Причина в том, что море обмелело."]
)
def test_a_sentence_that_gives_the_reason_is_the_cause_of_the_one_before(opening: str) -> None:
    assert named(f"{A} {opening}", A, opening) == [(opening, A)]


@pytest.mark.parametrize(
    ("between", "forward"),
    [
        (" because ", False), (", since ", False), (", потому что ", False), (", так как ", False),
        (", therefore ", True), ("; consequently, ", True), (", поэтому ", True),
    ],
)  # fmt: skip
def test_a_word_between_two_statements_of_a_sentence_points_from_the_cause(between: str, forward: bool) -> None:
    one, other = "the boats stayed ashore", "the harbour was frozen"
    wanted = (one, other) if forward else (other, one)
    assert named(f"In March {one}{between}{other}.", one, other) == [wanted]


@pytest.mark.parametrize(
    "text",
    [
        f"{A} {B}",
        f"{A} Therefore.\n\nNobody came. {B}",
        f"{A} As a result of the storm nobody came. {B}",
        f"{A}\n\n## Boats\n\n{B}",
        f"{A} The men slept long. {B}",
    ],
)
def test_what_is_not_said_is_not_a_cause(text: str) -> None:
    assert named(text, A, B) == []


def test_other_words_between_keep_a_therefore_from_reaching_over() -> None:
    effect = "Therefore the boats stayed ashore."
    assert named(f"{A} The men slept long, said the master. {effect}", A, effect) == []
    assert named(f"{A}\n\n## Boats\n\n{effect}", A, effect) == []


def test_so_is_less_sure_and_so_that_is_none() -> None:
    so = "So the boats stayed ashore."
    text = f"{A} {so}"
    (found,) = causes(text, [Said(0, len(A)), Said(len(A) + 1, len(text))])
    assert found.confidence == LIKELY < SURE
    assert named(f"{A} So far nobody has come.", A, "So far nobody has come.") == []


def test_the_order_in_which_statements_are_given_does_not_matter() -> None:
    effect = "Therefore the boats stayed ashore."
    text = f"{A} {effect}"
    spans = [Said(0, len(A)), Said(len(A) + 1, len(text))]
    ((one),) = causes(text, spans)
    ((other),) = causes(text, spans[::-1])
    assert (one.cause, one.effect) == (0, 1)
    assert (other.cause, other.effect) == (1, 0)
