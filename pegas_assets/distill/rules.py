"""Rules written as rules: a condition and what follows from it, in words or as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from pegas_assets.distill.sentence import Sentence, shortened
from pegas_assets.model import AtomType, DistilledAtom

MAX_JSON_CHARS = 20_000


@dataclass(frozen=True)
class RuleForm:
    """How a rule may be worded: a pattern with the groups `condition` and `conclusion`, and how sure it is."""

    name: str
    pattern: re.Pattern[str]
    confidence: float


def _form(name: str, pattern: str, confidence: float) -> RuleForm:
    return RuleForm(name, re.compile(pattern, re.IGNORECASE), confidence)


_IF, _THEN = r"(?P<condition>[^;]{4,300}?)", r"(?P<conclusion>[^;]{4,300})$"
_DUTY = r"(?:must|shall|may not|must not|should|has to|have to|is required|are required|is forbidden|is prohibited|may only|may be|cannot be)"
_ДОЛГ = (
    r"(?:следует|должн[аоы]?|должен|обязан[аоы]?|необходимо|нужно|надлежит|требуется|нельзя|запрещ\w+|разреша\w+|"
    r"допускается|не допускается|рекомендуется|вправе|не может|не могут)"
)

ENGLISH = (
    _form("if-then", rf"^(?:and |but )?(?:only )?if {_IF},? then {_THEN}", 0.95),
    _form("if", rf"^(?:and |but )?(?:only )?if {_IF}, {_THEN}", 0.85),
    _form("whenever", rf"^(?:whenever|every time|each time|as soon as|as long as) {_IF}, {_THEN}", 0.9),
    _form("unless", rf"^(?:unless|provided that|in case of|in the event of|in the event that|in case) {_IF}, {_THEN}", 0.85),
    _form("when", rf"^when {_IF}, {_THEN}", 0.75),
    _form("the more", r"^(?P<condition>the (?:more|less|higher|lower|larger|smaller|longer|shorter|faster|slower|deeper|closer) [^,;]{3,150}), (?P<conclusion>the (?:more|less|\w+er) [^;]{3,200})$", 0.75),
    _form("unless-last", r"^(?P<conclusion>[^;]{6,300}?),? (?P<condition>unless [^;]{6,300})$", 0.85),
    _form("if-last", r"^(?P<conclusion>[^;]{6,300}?)(?<!\bas)(?<!\beven)(?<!\bsee)(?<!\bcheck)(?<!\bask)(?<!\bknow)(?<!\bwonder)(?<!\btell),? (?:only )?if (?P<condition>[^;]{6,300})$", 0.8),
    _form("whenever-last", r"^(?P<conclusion>[^;]{6,300}?),? whenever (?P<condition>[^;]{6,300})$", 0.85),
    _form("duty-when", rf"^(?P<conclusion>[^;]{{3,200}}\b{_DUTY}\b[^;]{{3,200}}?),? (?:when|before|after|once|where) (?P<condition>[^;]{{6,300}})$", 0.8),
    _form("who-duty", rf"^(?P<condition>(?:any|every|each|anyone|whoever|a|an|all|no)\b[^;,]{{2,80}} (?:who|that|which)\b[^;]{{3,200}}?),? (?P<conclusion>{_DUTY}\b[^;]{{3,300}})$", 0.8),
)  # fmt: skip
RUSSIAN = (
    _form("если-то", r"^(?:а |и |но )?если (?P<condition>[^;]{4,300}?), (?:то|тогда) (?P<conclusion>[^;]{4,300})$", 0.95),
    _form("если", r"^(?:а |и |но )?если (?P<condition>[^;]{4,300}?), (?P<conclusion>[^;]{4,300})$", 0.85),
    _form("всякий раз", r"^(?:всякий раз|каждый раз), когда (?P<condition>[^;]{4,300}?), (?P<conclusion>[^;]{4,300})$", 0.9),
    _form("как только", r"^как только (?P<condition>[^;]{4,300}?), (?P<conclusion>[^;]{4,300})$", 0.8),
    _form("чем-тем", r"^(?P<condition>чем [^;]{4,200}?), (?P<conclusion>тем [^;]{4,300})$", 0.75),
    _form("в случае", rf"^в случае (?P<condition>[^;]{{3,200}}?),? (?P<conclusion>[^;,]{{0,120}}\b{_ДОЛГ}\b[^;]{{3,300}})$", 0.85),
    _form("когда-долг", rf"^когда (?P<condition>[^;]{{4,300}}?), (?P<conclusion>[^;]{{0,200}}\b{_ДОЛГ}\b[^;]{{3,300}})$", 0.85),
    _form("при-долг", rf"^(?:при|перед|после|до|во время) (?P<condition>[^;,]{{3,150}}?),? (?P<conclusion>(?:[^\W\d_]+ ){{0,4}}{_ДОЛГ}\b[^;]{{3,300}})$", 0.8),
    _form("кто-обязан", rf"^(?P<condition>(?:тот, кто|любой|всякий|каждый|лицо)\b[^;]{{3,200}}?), (?P<conclusion>(?:\w+ )?{_ДОЛГ}\b[^;]{{3,300}})$", 0.8),
    _form("если-после", r"^(?P<conclusion>[^;]{6,300}?), (?:только )?если (?P<condition>[^;]{6,300})$", 0.8),
    _form("когда-после", rf"^(?P<conclusion>[^;]{{0,200}}\b{_ДОЛГ}\b[^;]{{3,300}}?), когда (?P<condition>[^;]{{6,300}})$", 0.75),
)  # fmt: skip

_NO_RULE_EN = re.compile(
    r"\b(?:would|could have|had been|as if|even if|what if|if only|if you (?:like|love|enjoy|want|wish|need|prefer|would|"
    r"are interested|have (?:any |some |more )?(?:questions?|comments?|ideas?|feedback|problems?|trouble)|find|get stuck|"
    r"are looking|are lucky|ask|think|feel)|if (?:possible|necessary|needed|so|not|any|in doubt)\b[,.]?$|please|"
    r"don't hesitate|feel free|let us|let's|we |contact us|write to us|see |i )",
    re.IGNORECASE,
)
_NO_RULE_RU = re.compile(
    r"\b(?:если бы|как если|даже если|если (?:честно|говорить|верить|вкратце|угодно|хотите|вы хотите|хочется|вам|у вас|"
    r"только|вдруг захо\w+|не ошибаюсь|можно так|повезет|повезёт|честно)|что если|пожалуйста|не стесняйтесь|пишите|"
    r"звоните|обращайтесь к нам|мы |нам |бы )",
    re.IGNORECASE,
)
_PAST_CONDITION = re.compile(
    r"\b(?:was|were|had|did|came|went|began|became|took|left|saw|fell|died|arrived|broke|in 1\d{3}|in 20\d\d)\b|"
    r"^(?:the |a |an )?\w+(?: (?!is|are|be|has|have|gets?)\w+)? (?!is|are|be|been|has|have|not|gets?)\w+ed\b",
    re.IGNORECASE,
)
_ADVICE = re.compile(
    r"^(?:tell|ask|see|contact|let|check|consult|remember|call|write|email|visit|try|read|обратитесь|спросите|скажите|"
    r"позвоните|напишите|сообщите|прочтите|попробуйте)\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"^(?:it|they|he|she|this|that|these|those|он|она|оно|они|это)\b", re.IGNORECASE)


def rule_of(sentence: Sentence) -> DistilledAtom | None:
    """The rule that a sentence, or its part after a semicolon, is; None where it is none."""
    if sentence.text.endswith(("?", "!", ":")):
        return None
    for text in (sentence.text, *(part for part in sentence.text.split("; ")[1:] if ";" in sentence.text)):
        found = _match(text, sentence.russian)
        if found:
            form, condition, conclusion = found
            return DistilledAtom(
                type=AtomType.LOGICAL_RULE,
                claim=shortened(text[:1].upper() + text[1:]),
                content=sentence.text,
                quotation=sentence.raw,
                start=sentence.start,
                end=sentence.end,
                confidence=form.confidence,
                metadata={"pattern": condition, "conclusion": conclusion, "form": form.name},
            )
    return None


def _match(text: str, russian: bool) -> tuple[RuleForm, str, str] | None:
    excluded = _NO_RULE_RU if russian else _NO_RULE_EN
    if excluded.search(text):
        return None
    body = text.rstrip(". ")
    for form in RUSSIAN if russian else ENGLISH:
        found = form.pattern.match(body)
        if not found:
            continue
        condition, conclusion = found["condition"].strip(" ,"), found["conclusion"].strip(" ,")
        if form.name == "when" and (_PAST_CONDITION.search(condition) or _PRONOUN.match(condition)):
            continue
        if form.name.endswith(("-last", "-после")) and (_PRONOUN.match(conclusion) or _ADVICE.match(conclusion)):
            continue
        return form, condition, conclusion
    return None


def json_rules(text: str, offset: int) -> Iterator[DistilledAtom]:
    """The rules written as JSON objects with `if` and `then` in a text; `offset` is where the text starts in the chunk.

    The content of each is the JSON as it was written. Text past 20,000 characters is not read.
    """
    decoder = json.JSONDecoder()
    window = text[:MAX_JSON_CHARS]
    at = window.find("{") if '"if"' in window and '"then"' in window else -1
    while at >= 0:
        end = at + 1
        try:
            value, end = decoder.raw_decode(window, at)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict) and _is_rule(value):
            written = window[at:end]
            yield DistilledAtom(
                type=AtomType.LOGICAL_RULE,
                claim=shortened(f"If {_spoken(value['if'])}, then {_spoken(value['then'])}"),
                content=written,
                quotation=written,
                start=offset + at,
                end=offset + end,
                confidence=1.0,
                metadata={"pattern": value["if"], "conclusion": value["then"], "form": "json"},
            )
        elif value is not None:
            end = at + 1
        at = window.find("{", end)


def _is_rule(value: dict[str, object]) -> bool:
    condition, conclusion = value.get("if"), value.get("then")
    words = condition if isinstance(condition, list) else [condition]
    return (
        bool(words)
        and all(isinstance(word, str) and word for word in words)
        and isinstance(conclusion, str)
        and bool(conclusion)
    )


def _spoken(part: object) -> str:
    return " and ".join(str(word) for word in part) if isinstance(part, list) else str(part)
