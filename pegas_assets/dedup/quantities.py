"""Dates, ordinals, quantities and ranges in a row of raw tokens, each made one token."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from pegas_assets.dedup import lexicon
from pegas_assets.dedup.inflection import english_base
from pegas_assets.dedup.numerals import (
    CARDINALS,
    MONEY_BEFORE,
    MONTHS,
    ORDINALS,
    SCALES,
    UNITS,
    compose,
    continues,
    parse_number,
    parse_roman,
    plain,
)
from pegas_assets.dedup.tokens import Raw

_IDENTIFIED_WORDS = """
    version room chapter section figure table step line page gate platform level model part volume issue
    train flight route highway channel number type phase
    версия версии комната комнате глава главе раздел рисунок таблица шаг строка страница дом доме корпус
    корп поезд рейс маршрут канал номер часть том этап вариант модель тип этаж уровень статья пункт серия
    цех школа палата кабинет
"""
_IDENTIFIED = frozenset(_IDENTIFIED_WORDS.split())
_DEGREES = {"c": "celsius", "с": "celsius", "celsius": "celsius", "цельсия": "celsius", "f": "fahrenheit"}
_DEGREES |= {"fahrenheit": "fahrenheit", "фаренгейта": "fahrenheit"}
_ORDINAL_TAILS = frozenset(["st", "nd", "rd", "th", "й", "го", "му", "м", "е", "я", "ая", "ый", "ое", "ой", "ом", "ую"])
_CARDINAL_TAILS = frozenset(["х", "ти", "ю", "мя", "ми", "ых"])
_YEAR = frozenset(["год", "года", "году", "годом", "гг"])
_RANGE_STARTS = frozenset(["from", "between", "от", "с", "между"])
_RANGE_MIDDLES = frozenset(["to", "and", "до", "по", "и", "until", "till"])


@dataclass(frozen=True, slots=True)
class Token:
    """What a statement is compared by.

    `kind` is word, number, light (prepositions, conjunctions, the copula), negation, sign or comma. A number has its
    `values` (two for a range) in the base unit `unit`; `identifier` marks one that names its subject, as in `room 12`.
    """

    key: str
    word: str
    kind: str
    name: bool = False
    values: tuple[Decimal, ...] = ()
    unit: str = ""
    identifier: bool = False
    holder: bool = False
    """Stands in the genitive after the `у` that says who has something."""
    joined: bool = False
    """Hangs on the token before by a hyphen."""


def quantified(raws: list[Raw], rules: str) -> list[Raw | Token]:
    """The row with every date, number, quantity and range as one token; other words are left as they are."""
    found: list[Raw | Token] = []
    i = 0
    while i < len(raws):
        token, end = _date_at(raws, i)
        if token is None:
            token, end = _number_at(raws, i, rules)
        if token is None:
            found.append(raws[i])
            i += 1
            continue
        if _names_its_subject(raws, i, token):
            token = Token(token.key, token.word, "number", False, token.values, token.unit, True)
        found.append(token)
        i = end
    return _ranges(found)


def _date_at(raws: list[Raw], i: int) -> tuple[Token | None, int]:
    raw = raws[i]
    if raw.kind == "time":
        hours, minutes, *_ = raw.folded.split(":")
        value = Decimal(int(hours) * 60 + int(minutes))
        return Token(f"@{raw.folded.lstrip('0')}", raw.folded, "number", values=(value,), unit="clock"), i + 1
    if raw.kind == "date":
        parts = raw.folded.split("-") if "-" in raw.folded else raw.folded.split(".")[::-1]
        return _date(int(parts[0]), int(parts[1]), int(parts[2])), _after_year_word(raws, i + 1)
    month = MONTHS.get(raw.folded) if raw.kind == "word" else None
    if month is not None and (day := _day(raws, i + 1)) is not None:
        number, end = day
        year_at = end + 1 if end < len(raws) and raws[end].kind == "comma" else end
        year = _year(raws, year_at)
        return (_date(year, month, number), year_at + 1) if year else (_date(None, month, number), end)
    if (day := _day(raws, i)) is not None:
        number, end = day
        month = MONTHS.get(raws[end].folded) if end < len(raws) and raws[end].kind == "word" else None
        if month is not None:
            year = _year(raws, end + 1)
            if year:
                return _date(year, month, number), _after_year_word(raws, end + 2)
            return _date(None, month, number), end + 1
    return None, i


def _date(year: int | None, month: int, day: int) -> Token:
    text = f"{year or ''}-{month:02}-{day:02}"
    return Token(f"@{text}", text, "number", values=(Decimal((year or 0) * 10_000 + month * 100 + day),), unit="date")


def _day(raws: list[Raw], i: int) -> tuple[int, int] | None:
    if i >= len(raws) or raws[i].kind != "number" or not raws[i].folded.isdigit() or not 1 <= int(raws[i].folded) <= 31:
        return None
    end = i + 1
    if end < len(raws) and raws[end].glued and raws[end].folded in _ORDINAL_TAILS:
        end += 1
    return int(raws[i].folded), end


def _year(raws: list[Raw], i: int) -> int | None:
    if i < len(raws) and raws[i].kind == "number" and raws[i].folded.isdigit() and len(raws[i].folded) == 4:
        return int(raws[i].folded)
    return None


def _after_year_word(raws: list[Raw], i: int) -> int:
    return i + 1 if i < len(raws) and raws[i].folded in ("г", "года", "году", "год") else i


def _number_at(raws: list[Raw], i: int, rules: str) -> tuple[Token | None, int]:
    raw = raws[i]
    if raw.kind == "sign" and raw.folded in MONEY_BEFORE and i + 1 < len(raws) and raws[i + 1].kind == "number":
        token, end = _number_at(raws, i + 1, rules)
        if token is not None and not token.unit and token.values:
            unit = MONEY_BEFORE[raw.folded]
            return _quantity(token.values[0], token.word, unit, Decimal(1)), end
    if raw.kind == "fraction":
        return Token(f"#{raw.folded}", raw.folded, "number"), i + 1
    if raw.kind == "number":
        return _digits_at(raws, i, rules)
    if raw.kind != "word":
        return None, i
    if raw.acronym and set(raw.text) <= set("IVX") and (roman := parse_roman(raw.text)) is not None:
        return _ordinal(Decimal(roman), raw.folded), i + 1
    return _spelled_at(raws, i)


def _digits_at(raws: list[Raw], i: int, rules: str) -> tuple[Token | None, int]:
    raw = raws[i]
    value = parse_number(raw.folded, rules)
    tail, end = _tail(raws, i + 1)
    if value is not None and tail in _ORDINAL_TAILS:
        return _ordinal_at(value, raw.folded, raws, end)
    if tail not in _CARDINAL_TAILS:
        end = i + 1
    if value is None:
        return Token(f"#{raw.folded}", raw.folded, "number"), end
    if end < len(raws) and raws[end].folded in SCALES:
        return _with_unit(value * SCALES[raws[end].folded], raw.folded, raws, end + 1, exact="")
    exact = raw.folded.replace(" ", "").replace(",", ".") if _keeps_zeros(raw.folded) else ""
    return _with_unit(value, raw.folded, raws, end, exact=exact)


def _tail(raws: list[Raw], i: int) -> tuple[str, int]:
    """The letters that hang on a number, as in `3rd`, `3-й`, and where they end. A bare `м` is a metre."""
    dash = i < len(raws) and raws[i].glued and raws[i].kind == "dash"
    at = i + 1 if dash else i
    if at >= len(raws) or not raws[at].glued or raws[at].kind != "word" or (raws[at].folded == "м" and not dash):
        return "", i
    return raws[at].folded, at + 1


def _keeps_zeros(text: str) -> bool:
    """Whether a number ends in a zero after its point: 3.10 is another version than 3.1."""
    return text[-1] == "0" and "." in text


def _spelled_at(raws: list[Raw], i: int) -> tuple[Token | None, int]:
    run: list[tuple[Decimal, bool]] = []
    ordinal = False
    end = i
    while end < len(raws) and raws[end].kind == "word" and not ordinal:
        word = raws[end].folded
        if word in ("and", "и") and run and run[-1][1] and end + 1 < len(raws) and raws[end + 1].folded in CARDINALS:
            end += 1
            continue
        if word in SCALES and (run or word not in ("hundreds",)):
            run.append((SCALES[word], True))
        elif word in CARDINALS or word in ORDINALS:
            value = CARDINALS[word] if word in CARDINALS else ORDINALS[word]
            if run and not run[-1][1] and not continues(run[-1][0], value):
                break
            ordinal = word not in CARDINALS
            run.append((value, False))
        else:
            break
        end += 1
    if not run:
        return None, i
    word = " ".join(raw.folded for raw in raws[i:end])
    if ordinal:
        return _ordinal_at(compose(run), word, raws, end)
    return _with_unit(compose(run), word, raws, end, exact="")


def _ordinal_at(value: Decimal, word: str, raws: list[Raw], i: int) -> tuple[Token, int]:
    """An ordinal number; that of a year is the year: `в 1904-м году`, `в 1904 году`."""
    if _may_be_year(value) and _after_year_word(raws, i) > i:
        return Token(f"#{plain(value)}", word, "number", values=(value,)), i + 1
    return _ordinal(value, word), i


def _ordinal(value: Decimal, word: str) -> Token:
    return Token(f"#{plain(value)}.", word, "number", values=(value,), unit="ordinal")


def _with_unit(value: Decimal, word: str, raws: list[Raw], i: int, *, exact: str) -> tuple[Token, int]:
    if i < len(raws) and raws[i].kind in ("word", "sign"):
        name = raws[i].folded
        if name in ("г", "гг") and _is_year(value, raws, i):
            name = "год"
        base = name if name in UNITS else english_base(name)
        if base in ("°", "degree", "градус", "градуса", "градусов", "градусах", "градусам", "градусе"):
            scale = _DEGREES.get(raws[i + 1].folded) if i + 1 < len(raws) else None
            return _quantity(value, f"{word} {name}", scale or "degree", Decimal(1)), i + (2 if scale else 1)
        if base in ("век", "веке", "веку", "веком") and 4 < value < 30:
            return _ordinal(value, word), i
        if name in _YEAR and _may_be_year(value):
            return Token(f"#{plain(value)}", word, "number", values=(value,)), i + 1
        if base in UNITS:
            return _quantity(value, f"{word} {name}", *UNITS[base]), i + 1
    return Token(f"#{exact or plain(value)}", word, "number", values=(value,)), i


def _is_year(value: Decimal, raws: list[Raw], i: int) -> bool:
    """Whether `г` after a number is a year's, not a gram's: `в 1904 г.`, but `весит 2000 г`."""
    return _may_be_year(value) and (i < 2 or raws[i - 2].kind != "word" or raws[i - 2].folded in lexicon.PREPOSITIONS)


def _may_be_year(value: Decimal) -> bool:
    return value == value.to_integral_value() and 1000 <= value <= 2100


def _quantity(value: Decimal, word: str, unit: str, factor: Decimal) -> Token:
    return Token(f"#{plain(value * factor)} {unit}", word, "number", values=(value * factor,), unit=unit)


def _names_its_subject(raws: list[Raw], i: int, token: Token) -> bool:
    if token.unit and token.unit != "ordinal":
        return False
    if i == 0:
        return token.unit == "ordinal"
    before = raws[i - 1]
    if token.unit == "ordinal" or before.folded == "№" or before.folded in _IDENTIFIED:
        return True
    light = before.folded in lexicon.PREPOSITIONS or before.folded in lexicon.QUANTIFIERS
    return before.kind == "word" and before.capitalised and not light


def _ranges(items: list[Raw | Token]) -> list[Raw | Token]:
    found: list[Raw | Token] = []
    i = 0
    while i < len(items):
        first, middle, second = items[i], _get(items, i + 1), _get(items, i + 2)
        if (
            isinstance(first, Token)
            and isinstance(middle, Raw)
            and isinstance(second, Token)
            and first.kind == second.kind == "number"
            and _joins(middle, found[-1] if found else None)
        ):
            if found and isinstance(found[-1], Raw) and found[-1].folded in _RANGE_STARTS:
                found.pop()
            key = f"{first.key}…{second.key}"
            word = f"{first.word}…{second.word}"
            found.append(Token(key, word, "number", False, first.values + second.values, second.unit))
            i += 3
            continue
        found.append(first)
        i += 1
    return found


def _get(items: list[Raw | Token], i: int) -> Raw | Token | None:
    return items[i] if i < len(items) else None


def _joins(middle: Raw, before: Raw | Token | None) -> bool:
    if middle.kind == "dash":
        return True
    opened = isinstance(before, Raw) and before.folded in _RANGE_STARTS
    if middle.folded in ("and", "и"):
        return isinstance(before, Raw) and before.folded in ("between", "между")
    return middle.folded in _RANGE_MIDDLES and (opened or middle.folded == "to")
