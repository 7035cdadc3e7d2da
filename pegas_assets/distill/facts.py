"""Facts: sentences that state something which can be checked, and can be understood alone."""

from __future__ import annotations

import re

from pegas_assets.distill.patterns import english, russian
from pegas_assets.distill.sentence import Sentence, shortened, words_of
from pegas_assets.model import AtomType, DistilledAtom

MIN_WORDS, MAX_WORDS = 3, 90

_NUMBER = re.compile(r"\d")
_NAME = re.compile(r"(?<=[\w,»\"”)] )[\"«“(]?[A-ZА-ЯЁ][\w’'-]+")
_CAUSE = re.compile(
    r"\b(?:because|due to|caused by|causes?|as a result of|owing to|therefore|so that|in order to|since)\b|"
    r"\b(?:потому что|так как|из-за|поскольку|вследствие|благодаря|поэтому|чтобы|приводит к|вызыва)",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+|\S+@\S+\.\S+")
_IMPERATIVE_AFTER_COMMA = re.compile(
    r"^(?:for|to|before|after|in|when|on|at|by|from|once|instead|with)\b[^,]{2,200}, (?:please |then |just )?(\w+) "
)
_OUR_ERA = re.compile(r"\bнаш(?:их дней|ей эры|е время|ей эре|у эру|его века)\b")
_SPEECH = re.compile(r"^[\"“«„'][^\"”»“']{3,}[,!?.][\"”»“']|^[—–-]\s")
_SHORT_PARTICIPLE = re.compile(
    r"(?:ен|ена|ено|ены|ан|ана|ано|аны|ян|яна|яно|яны|ат|ята|ято|яты|ыт|ыта|ыто|ыты|ут|ута|уто|уты)$"
)
_VERB_RU = re.compile(
    r"(?:[аеиояуы]ет|[бвгджзклмнпрстфхцчшщ]ет|ёт|ит|ут|ют|ат|ят|(?:ет|ит|ут|ют|ат|ят)ся|[аеиоуыяё]л[аои]?|"
    r"[а-я]л(?:ся|ась|ось|ись)|[кзсгрхб]л[аои]|ш[лё][аоил]|шел|шла|шли)$"
)
_PREDICATE_DASH = re.compile(r"\s[—–]\s")
_IMPERATIVE_RU = re.compile(r"(?:йте|ьте|йтесь|ьтесь)$")
_INFINITIVE_RU = re.compile(r"(?:[аеиоуыяё]ть(?:ся)?|[сз]ти(?:сь)?|чь(?:ся)?)$")
_IMPERSONAL_RU = re.compile(
    r"\b(?:запрещ|разреша|нельзя|можно|нужно|следует|необходимо|требуется|допускается|полезно|вредно|удалось)"
)
_SUBJECTLESS_RU = re.compile(r"\w{2,}(?:[аеыуя]ли|[вдзнрстч]или|лись)$")
_SAID_RU = re.compile(
    r", [—–] (?:\w+ ){0,2}?(?:говор|сказал|сказывал|улыба|смеет|вспомина|поясн|объясн|рассказ|отмеча|отметил|добав|призна|"
    r"вздыха|ответ|спрос|утвержда|подел|счита|заметил|подчерк)"
)
_PREPOSITIONS_RU = frozenset(
    ("на", "в", "о", "об", "при", "по", "к", "с", "во", "ко", "за", "из", "от", "до", "для", "без")
)
_ALSO_NOUNS = frozenset(
    (
        "light",
        "water",
        "book",
        "boil",
        "heat",
        "salt",
        "season",
        "time",
        "rest",
        "measure",
        "order",
        "change",
        "open",
        "drink",
        "warm",
        "cool",
        "lower",
        "place",
        "fold",
        "cover",
        "clean",
        "clear",
        "cut",
        "plant",
        "sand",
        "steam",
        "paint",
        "glue",
        "press",
        "nail",
        "drill",
        "screw",
        "plug",
        "roast",
        "cook",
        "turn",
        "move",
        "release",
        "report",
        "update",
        "run",
        "start",
        "stop",
        "visit",
        "wash",
    )
)
"""Imperatives that as often open a clause as its subject."""
_NOMINAL_AFTER_IMPERATIVE = frozenset(
    ("of", "is", "are", "was", "were", "has", "had", "have", "and", "or", "in", "on", "at", "to", "from", "with", "by", "time",
     "rates", "prices", "sales", "will", "can", "may", "must", "travels", "moves", "does", "cannot", "which", "that")
)  # fmt: skip
_ATTRIBUTE = re.compile(r"^(?P<key>[^\s:][^:.!?]{0,50}?)\s*:\s+(?P<value>[^:]{1,120}?)\.?$")
_PERSON_TITLE = re.compile(r"^[A-ZА-ЯЁ][\w’'-]+(?: [A-ZА-ЯЁ][\w.’'-]*){1,3}$")
_HE_SHE = {"he": False, "she": False, "он": True, "она": True}
_IT_THEY = {"it", "they", "он", "она", "оно", "они"}
_VAGUE_STARTS = re.compile(
    r"^(?:some|many|most|few|several|other|certain) (?:people|of (?:them|us|these|those)|others)\b|^not every"
)


def _searcher(listed: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(r"(?<!\w)(?:" + "|".join(re.escape(phrase) for phrase in listed) + r")(?!\w)")


def _prefix_searcher(listed: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(r"(?<!\w)(?:" + "|".join(re.escape(phrase) for phrase in listed) + r")")


_NOISE = {
    False: _searcher(english.BOILERPLATE + english.HEDGING_PHRASES),
    True: _prefix_searcher(russian.BOILERPLATE + russian.HEDGING_PHRASES),
}
_OPINION_RU = _prefix_searcher(russian.OPINION_STEMS)
_CONNECTIVE = {
    language: re.compile(r"^(?:" + "|".join(re.escape(phrase) for phrase in listed) + r")\s+", re.IGNORECASE)
    for language, listed in ((False, english.CONNECTIVES), (True, russian.CONNECTIVES))
}


def fact_of(sentence: Sentence, subject: str = "") -> DistilledAtom | None:
    """The fact that a sentence states; None for a question, an opinion, an instruction, a fragment.

    `subject` is what the sentence before was about, for a sentence that opens with a pronoun.
    """
    text = _CONNECTIVE[sentence.russian].sub("", sentence.text)
    if sentence.in_list and (attribute := _attribute(sentence)):
        return attribute
    if not text.endswith((".", "…", ".»", '."', ".)", ".”")) and not (sentence.in_list and text[-1:].isalnum()):
        return None
    if "?" in text or "!" in text or _SPEECH.search(text) or (not text[0].isalnum() and text[0] not in '"«“('):
        return None
    if _opens_with_label(sentence) or _mostly_address(text):
        return None
    listed = words_of(text)
    if not MIN_WORDS <= len(listed) <= MAX_WORDS:
        return None
    first = text.split()[0].casefold().replace("ё", "е").strip("\"'«“(,.»”")
    resolved = _resolve(sentence, text, first, subject)
    if resolved is None:
        return None
    body = text.casefold().replace("ё", "е")
    if sentence.raw[0] == "`" or sentence.raw[0].islower():
        first = ""
    if sentence.russian and _SAID_RU.search(body):
        return None
    excluded = _excluded_russian(listed, first, body) if sentence.russian else _excluded_english(listed, first, body)
    if excluded or not _has_verb(sentence, listed, body):
        return None
    return DistilledAtom(
        type=AtomType.FACT,
        claim=shortened(resolved if resolved == sentence.text else resolved[:1].upper() + resolved[1:]),
        content=sentence.text,
        quotation=sentence.raw,
        start=sentence.start,
        end=sentence.end,
        confidence=_confidence(sentence, text, resolved != text),
    )


def _opens_with_label(sentence: Sentence) -> bool:
    """Whether it is a line such as "Author: N. N." or "Note: …"."""
    label, colon, _ = sentence.text.casefold().partition(":")
    return bool(colon) and label.strip() in (russian.LABELS if sentence.russian else english.LABELS)


def _mostly_address(text: str) -> bool:
    return sum(len(found.group()) for found in _ADDRESS.finditer(text)) > len(text) * 0.4


def _confidence(sentence: Sentence, text: str, was_resolved: bool) -> float:
    sure = 0.55
    sure += 0.15 if _NUMBER.search(text) else 0.0
    sure += 0.1 if _NAME.search(text) else 0.0
    sure += 0.05 if _CAUSE.search(text) else 0.0
    sure -= 0.1 if was_resolved else 0.0
    sure -= 0.05 if sentence.in_list else 0.0
    return round(min(sure, 0.9), 2)


def _attribute(sentence: Sentence) -> DistilledAtom | None:
    """`Weight: 310 g` in a list, said of the document or section it stands in."""
    found = _ATTRIBUTE.match(sentence.text)
    about = sentence.title or (sentence.section[0] if sentence.section else "")
    if not found or not about or not _NUMBER.search(found["value"]):
        return None
    key = found["key"].strip()
    language = russian if sentence.russian else english
    if len(key.split()) > 5 or key.casefold() in language.LABELS or _NUMBER.match(key):
        return None
    return DistilledAtom(
        type=AtomType.FACT,
        claim=shortened(
            f"{about} — {key[0].lower() + key[1:] if key[1:2].islower() else key}: {found['value'].strip()}"
        ),
        content=sentence.text,
        quotation=sentence.raw,
        start=sentence.start,
        end=sentence.end,
        confidence=0.7,
        metadata={"attribute": key, "value": found["value"].strip(), "from": "list"},
    )


def _resolve(sentence: Sentence, text: str, first: str, subject: str) -> str | None:
    """The text with its opening pronoun replaced by what it stands for; None where that is not plain."""
    language = russian if sentence.russian else english
    if first in _IT_THEY and subject:
        return subject + text[len(first) :]
    person = next((name for name in (sentence.title, *sentence.section[:1]) if _PERSON_TITLE.match(name)), "")
    if first in _HE_SHE and person and person.split()[0][:1].isupper():
        return person + text[len(first) :]
    if any(word in language.DEMONSTRATIVES for word in sentence.words[1:3]):
        return None
    if first in language.PRONOUNS or first in language.DANGLING or first in language.PERSONAL:
        return None
    return text


def _excluded_english(listed: tuple[str, ...], first: str, body: str) -> bool:
    if any(word in english.PERSONAL or word in english.OPINION or word in english.HEDGES for word in listed):
        return True
    if first in ("first", "then", "next", "finally") and listed[1] in english.IMPERATIVES:
        return True
    if (
        listed[1] in ("the", "a", "an", "your", "it", "them")
        and first not in english.NOT_IMPERATIVE_BEFORE_ARTICLE
        and first.isalpha()
        and not first.endswith(("ing", "ed", "s", "ly"))
    ):
        return True
    after_comma = _IMPERATIVE_AFTER_COMMA.match(body)
    if after_comma and after_comma.group(1) in english.IMPERATIVES - _ALSO_NOUNS:
        return True
    if first in english.IMPERATIVES and (len(listed) < 2 or not _is_noun_start(first, listed)):
        return True
    return bool(_NOISE[False].search(body) or _VAGUE_STARTS.match(body))


def _is_noun_start(first: str, listed: tuple[str, ...]) -> bool:
    """Whether a word such as "light" or "use" opens the sentence as a noun: a verb follows it closely."""
    return listed[1] in _NOMINAL_AFTER_IMPERATIVE or (
        first in _ALSO_NOUNS and (listed[1].endswith(("s", "ed")) or (len(listed) > 2 and listed[2] in english.VERBS))
    )


def _excluded_russian(listed: tuple[str, ...], first: str, body: str) -> bool:
    if _OUR_ERA.search(body):
        listed = tuple(word for word in listed if not word.startswith("наш"))
    if any(word in russian.PERSONAL or word in russian.HEDGES or word in russian.IMPERATIVES for word in listed):
        return True
    if _SUBJECTLESS_RU.match(first) and not any(character.isdigit() for character in body):
        return True
    if first in russian.NOMINAL_STARTS or _OPINION_RU.search(body) or _NOISE[True].search(body):
        return True
    if any(
        _IMPERATIVE_RU.search(word) and (at == 0 or listed[at - 1] not in _PREPOSITIONS_RU)
        for at, word in enumerate(listed)
    ):
        return True
    return (
        bool(_INFINITIVE_RU.search(first))
        and first not in russian.INFINITIVE_NOUNS
        and not first.endswith(("ость", "есть", "знь", "ночь", "дочь", "речь", "печь"))
        and not _IMPERSONAL_RU.search(body)
    )


def _has_verb(sentence: Sentence, listed: tuple[str, ...], body: str) -> bool:
    if sentence.russian:
        nominal = bool(_PREDICATE_DASH.search(body)) and not sentence.in_list and len(listed) > 3
        return nominal or any(_is_russian_verb(word) for word in listed)
    return any(_is_english_verb(listed, at) for at in range(1, len(listed)))


def _is_russian_verb(word: str) -> bool:
    if word in russian.VERBAL_WORDS:
        return True
    if word in russian.NOT_VERBS or len(word) < 4 or (word.endswith("а") and word[:-1] in russian.NOT_VERBS):
        return False
    return bool(_VERB_RU.search(word) or _SHORT_PARTICIPLE.search(word))


def _is_english_verb(listed: tuple[str, ...], at: int) -> bool:
    word, before = listed[at], listed[at - 1]
    if before in ("that", "which", "who"):
        return False
    if word in english.VERBS:
        return before not in ("the", "a", "an", "to")
    if word.endswith("ed") and len(word) > 3 and "-" not in word:
        return before not in ("the", "a", "an")
    return (
        word.endswith("s")
        and len(word) > 3
        and "-" not in word
        and (at < len(listed) - 1 or at < 3)
        and not word.endswith(("ss", "us", "is"))
        and word not in english.NOT_VERBS_IN_S
        and before not in english.BEFORE_NOUNS
        and (not before[:1].isdigit() or (at > 1 and listed[at - 2] in english.NUMBERED))
    )
