"""Definitions: a sentence or a glossary line that says what a term means."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pegas_assets.distill.patterns import english, russian, words
from pegas_assets.distill.sentence import Sentence, plain, shortened
from pegas_assets.model import AtomType, DistilledAtom


@dataclass(frozen=True)
class DefinitionForm:
    """How a definition may be worded: a pattern with the groups `term` and `genus` (all that is said of it)."""

    name: str
    pattern: re.Pattern[str]
    confidence: float


def _form(name: str, pattern: str, confidence: float) -> DefinitionForm:
    return DefinitionForm(name, re.compile(pattern, re.IGNORECASE), confidence)


_TERM = r"(?P<term>[^\s,;:—–][^,;:—–]{0,80}?)"
_ASIDE = r"(?: \([^)]{1,80}\))?"
_DASH = r"\s?[—–]\s|\s-\s"

ENGLISH = (
    _form("called-last", r"^(?P<genus>[^;]{10,300}?),? (?:is|are) (?:usually |often |sometimes |also )?(?:called|known as|termed|named|referred to as) (?:an? |the )?(?P<term>[^,;.]{2,60})$", 0.85),
    _form("means", rf"^(?:the (?:term|word|relation|phrase|name|abbreviation|expression) )?{_TERM}{_ASIDE} (?:means|denotes|stands for|designates) (?P<genus>[^;]{{3,400}})$", 0.85),
    _form("refers to", rf"^(?:the (?:term|word|phrase|name) )?{_TERM}{_ASIDE} (?:refers|refer) to (?P<genus>[^;]{{6,400}})$", 0.85),
    _form("defined as", rf"^{_TERM}{_ASIDE} (?:is|are) (?:defined|understood|described) (?:as|to be) (?P<genus>[^;]{{6,400}})$", 0.9),
    _form("by we mean", r"^by (?:an? |the )?(?P<term>[^,;]{2,60}?),? (?:(?:is|are) (?:meant|understood)|(?:we|one) (?:means?|understands?)) (?P<genus>[^;]{6,400})$", 0.85),
    _form("is a", rf"^(?:in [^,]{{2,40}}, )?{_TERM}{_ASIDE} (?:is|are) (?P<genus>(?:an?|any|the) [^;]{{6,400}})$", 0.85),
    _form("is that", rf"^(?:in [^,]{{2,40}}, )?{_TERM}{_ASIDE} (?:is|are) (?P<genus>(?:[a-z][\w-]+ ){{1,5}}?(?:that|which|who|whose|in which|from which|used|made|consisting|composed|formed|produced|obtained|extracted|designed|found|known|worn|built|meant|intended|grown|living|growing|written|carried|cut) [^;]{{6,400}})$", 0.75),
    _form("apposition", r"^(?P<term>[^\s,;:—–][^,;:—–]{1,50}), (?P<genus>(?:a|the) (?:kind|type|form|sort|species|variety|class|unit|measure) of [^,;]{2,100}),", 0.7),
    _form("dash", rf"^{_TERM}{_ASIDE}(?:{_DASH})(?P<genus>(?:an?|the) [^;]{{6,400}})$", 0.75),
)  # fmt: skip
RUSSIAN = (
    _form("под понимают", r"^под (?P<term>[^,;]{3,90}?) (?:обычно )?(?:понима(?:ют|ется|ются|ем)|подразумева(?:ют|ется|ются)|име(?:ют|ется) в виду) (?P<genus>[^;]{6,400})$", 0.9),
    _form("это", rf"^{_TERM}{_ASIDE}\s?[—–-]\s?это (?P<genus>[^;]{{4,400}})$", 0.9),
    _form("англ", r"^(?P<term>[^,;:—–()]{2,80}?) \((?:[^)]{0,60}\b)?(?:англ|лат|нем|фр|франц|греч|др\.-греч|итал|исп|яп|кит|от|сокр|сокращ\w+)\b[^)]{1,100}\)\s?[—–-]\s(?:это )?(?P<genus>[^;]{4,400})$", 0.9),
    _form("представляет собой", rf"^{_TERM}{_ASIDE} представля(?:ет|ют) собой (?P<genus>[^;]{{4,400}})$", 0.85),
    _form("означает", rf"^(?:термин |слово |выражение |сокращение )?{_TERM}{_ASIDE} (?:означа(?:ет|ют)|обознача(?:ет|ют)) (?P<genus>[^;]{{4,400}})$", 0.8),
    _form("называется-после", r"^(?P<genus>[^;—–]{8,300}), (?:принято )?называ(?:ется|ются|ют|ть) (?P<term>[^,;]{3,60})$", 0.85),
    _form("называют", r"^(?P<term>[^,;:—–]{2,80}?) (?:принято )?(?:называ(?:ется|ются|ют|ть|ли|л|ла)|именуе(?:тся|мые)|имену(?:ют|ется)) (?P<genus>[^;]{6,400})$", 0.85),
    _form("считается", r"^(?P<term>[^,;:—–]{2,80}?) (?:счита(?:ется|ются)|призна(?:ется|ются|ётся)) (?P<genus>[^;]{6,400})$", 0.75),
    _form("является", rf"^{_TERM}{_ASIDE} явля(?:ется|ются) (?P<genus>[^;]{{6,400}})$", 0.75),
    _form("то есть", r"^(?P<term>[^,;:—–]{2,60}), то есть (?P<genus>[^,;]{4,150}),", 0.7),
    _form("тире", rf"^{_TERM}{_ASIDE}\s?[—–]\s(?P<genus>[^;]{{6,400}})$", 0.75),
)  # fmt: skip

GLOSSARY_HEADING = re.compile(
    r"\b(?:glossary|terms|terminology|definitions|vocabulary|words|abbreviations|dictionary)\b|"
    r"\b(?:глоссари|термин|определени|словар|сокращени|обозначени|поняти)",
    re.IGNORECASE,
)
_MARKED_TERM = re.compile(
    r"^\s*(?P<marks>\*\*|__|`|\*)(?P<term>[^*_`\n]{1,80}?)(?P<colon>\s*:)?(?P=marks)\s*(?:\([^)\n]{1,80}\)\s*)?"
    r"(?P<sign>[—–:-])?\s*(?P<genus>\S[\s\S]{2,600})$"
)
_LABELLED = re.compile(r"^\s*(?P<term>[^\s:*_`|][^:*_`|\n]{0,60}?)\s*:\s+(?P<genus>[^\s:][^\n]{3,600})$")
_DASHED = re.compile(r"^\s*(?P<term>[^\s:—–|][^:—–|\n]{0,60}?)\s+[—–]\s+(?P<genus>\S[^\n]{3,600})$")

_ENTRY = re.compile(
    r"^(?P<term>[A-ZА-ЯЁ][A-ZА-ЯЁ -]{2,60})(?: \([^)]{1,60}\))?(?:,| [—–-]) (?P<genus>[a-zа-яё][^;]{10,400})$"
)
"""An entry of a dictionary: its head word in capitals."""

_BAD_TERM_START_EN = (
    english.PRONOUNS
    | english.PERSONAL
    | english.DANGLING
    | words(
        "section chapter figure table step page part for with by on at from to as when if while since before after during "
        "of and but all every each my our your more less most higher lower my only"
    )
)
_BAD_TERM_WORD_EN = english.PERSONAL | words(
    "is are was were has had have does did can could may must will would should said that which who because and-then it "
    "they he she this there not"
)
_BAD_THE_TERM = words(
    "result results problem reason goal aim purpose idea answer question difference advantage disadvantage output input "
    "first second third next last main only most best rest other same following above point key solution default example "
    "latter former way easiest trick catch hardest biggest largest smallest oldest highest longest cause effect "
    "consequence conclusion author weather price cost"
)
_LIGHT_GENUS_EN = re.compile(
    r"^(?:an? |the |any )?(?:\w+ly |very |really |quite |rather |such )?"
    r"(?:result|consequence|reason|problem|question|pity|shame|must|lot|bit|few|little|good|bad|great|nice|big|huge|best|worst|only|"
    r"most|first|second|third|last|largest|smallest|biggest|oldest|highest|longest|deepest|fastest|tallest|youngest|"
    r"same|one|way to|member of|friend|matter|mistake|waste|dream|success|failure|fan|winner|hit|masterpiece|gem|"
    r"\d|next|main|key|chief|favou?rite|hundred|thousand|million|dozen|half|couple|year|month|week|day|few|author|founder|"
    r"director|manager|president|capital|home|source of income)\b",
    re.IGNORECASE,
)
_RELATION_EN = re.compile(
    r"\b(?:that|which|who|whose|where|of|for|in|from|used|made|by|to|between|with|consisting|composed|formed|kept|"
    r"containing|produced|on|around|against|based)\b",
    re.IGNORECASE,
)
_PASSIVE_EN = re.compile(
    r"^(?:\w+(?:ed|en)|available|able|likely|unable|ready|subject|due|open|closed|free|known|sure|"
    r"important|necessary|possible|clear|true|not|also|now|still|often|usually|always|about|more|"
    r"less|very|so|too|here|there|in|on|at|of|from|to|between|up|as)\b",
    re.IGNORECASE,
)
_PLACE_EN = re.compile(
    r"^(?:an? |the )(?:\d|\w+ (?:minutes?|hours?|kilomet\w+|miles?)\b|short (?:walk|drive|ride))", re.IGNORECASE
)

_BAD_TERM_START_RU = (
    russian.PRONOUNS
    | russian.PERSONAL
    | russian.DANGLING
    | words(
        "главное основное важно цель задача причина вопрос проблема дело суть идея результат вывод итог глава раздел рисунок "
        "таблица в на из по с при для от до за о об у без через после перед между все всё самое самый самая лучшее первое "
        "второе третье каждый каждая если когда так как не где куда почему зачем сколько еще уже"
    )
)
_BAD_GENUS_RU = re.compile(
    r"^(?:не |наш|мой|моя|мое|твой|ваш|сам(?:ый|ая|ое|ые|ым|ой)\b|лучш|худш|главн|основн|важн|перв(?:ый|ая|ое|ым|ой)\b|"
    r"втор(?:ой|ая|ое)\b|один из|одна из|одно из|одни из|одним из|одной из|причин|следстви|результат|членом|любим|"
    r"хорош|плох|настоящ|просто|очень|больш(?:ой|ая|ое) |друг|враг|мечта|чуд|не\b|\d|всего|уже|еще|ещё|здесь|там|"
    r"крупнейш|древнейш|старейш|популярн|обязательн|необходим|достаточн|лауреат|автор|основател|директор|столиц|"
    r"причем|потому|поэтому|значит|и |но |а |в |на |с |от |до |из |для |через |по |без |около |примерно |более |менее |"
    r"то |то,|вот |нужно|надо|следует)",
    re.IGNORECASE,
)
_DIFFERENTIA_RU = re.compile(
    r", (?:[а-яё]+ )?котор|, (?:в|на|из|с|по|у|от|к|для|через|при) котор|, (?:где|когда|то есть|равн|служащ|предназначенн|"
    r"образующ|возника|выраженн|состоящ|использ)|\b[а-яё]+(?:ющ|ящ|ащ|ущ|вш|енн|анн|янн|ом|ем)(?:ий|ая|ее|ие|его|ей|их|им|"
    r"ый|ое|ые|ого|ых|ым|ся)\b",
    re.IGNORECASE,
)
_INSTRUMENTAL_RU = re.compile(r"(?:ом|ем|ём|ой|ей|ью|ами|ями|ым|им|ою|ею|ыми|ими)$")
_INFINITIVE = re.compile(r"(?:[аеиуыя]ть|(?<!о)сть|[сз]ти)(?:ся)?$")
_NAMING_RU = re.compile(r"^[«\"„]")
_CAPITALISED = re.compile(r"^[\"'«“„(]*[A-ZА-ЯЁ\d]|^[\"'«“„(]*[a-z]+[a-z_\d]*$")


def definition_of(sentence: Sentence) -> DistilledAtom | None:
    """The definition that a sentence is; None where it defines nothing."""
    text = sentence.text
    if not text or text.endswith(("?", "!", ":")) or len(text) > 500:
        return None
    glossary = _glossary_line(sentence)
    if glossary:
        return glossary
    if not text.endswith((".", "»", '"', ")")) and not sentence.in_list:
        return None
    body = text.rstrip(". ")
    entry = _ENTRY.match(body)
    if entry and " " in entry["genus"]:
        return _atom(sentence, entry["term"].strip(), entry["genus"], "entry", 0.75)
    for form in RUSSIAN if sentence.russian else ENGLISH:
        found = form.pattern.match(body)
        if not found:
            continue
        term, genus = found["term"].strip(), found["genus"].strip()
        accepted = (
            _accept_russian(form.name, term, genus, sentence)
            if sentence.russian
            else _accept_english(form.name, term, genus)
        )
        if accepted:
            return _atom(sentence, _bare_term(term, form.name), genus, form.name, form.confidence)
    return None


def _atom(sentence: Sentence, term: str, genus: str, form: str, confidence: float) -> DistilledAtom:
    return DistilledAtom(
        type=AtomType.DEFINITION,
        claim=shortened(sentence.text.rstrip() if form != "label" else f"{term}: {genus}"),
        content=sentence.text,
        quotation=sentence.raw,
        start=sentence.start,
        end=sentence.end,
        confidence=confidence,
        metadata={"term": term, "genus": shortened(genus), "form": form},
    )


def _glossary_line(sentence: Sentence) -> DistilledAtom | None:
    """A line that opens with its term: marked as such, or before a colon or dash under a heading of terms."""
    marked = _MARKED_TERM.match(sentence.raw)
    if marked and (marked["sign"] or marked["colon"]):
        term, genus = plain(marked["term"]).strip(" :"), plain(marked["genus"])
        if _is_term(term, sentence.russian) and _explains(genus, sentence.russian):
            return _atom(sentence, term, genus.rstrip("."), "glossary", 0.9)
        return None
    on_its_own = sentence.in_list or sentence.alone
    in_glossary = on_its_own and any(
        GLOSSARY_HEADING.search(heading) for heading in (*sentence.section, sentence.title)
    )
    labelled = _LABELLED.match(sentence.text)
    dashed = _DASHED.match(sentence.text) if in_glossary else None
    found = labelled or dashed
    if not found:
        return None
    term, genus = found["term"].strip(), found["genus"].strip()
    article = not sentence.russian and re.match(r"(?:an?|the|any) [a-z]", genus)
    if (in_glossary or article) and _is_term(term, sentence.russian) and _explains(genus, sentence.russian):
        return _atom(
            sentence, term, genus.rstrip("."), "label" if labelled else "glossary", 0.8 if in_glossary else 0.65
        )
    return None


def _is_term(term: str, is_russian: bool) -> bool:
    kept = term.casefold().replace("ё", "е").strip("\"'«»“”„ ")
    parts = kept.split()
    language = russian if is_russian else english
    return (
        bool(parts)
        and len(parts) <= 6
        and any(letter.isalpha() for letter in kept)
        and kept not in language.LABELS
        and parts[0] not in language.LABELS
        and parts[0] not in (language.PRONOUNS | language.PERSONAL)
        and (is_russian or not any(part in _BAD_TERM_WORD_EN or part in english.VERBS for part in parts[1:-1]))
    )


def _explains(genus: str, is_russian: bool) -> bool:
    """Whether what follows a term reads as its meaning: words, not a value, a question or an address to the reader."""
    parts = genus.casefold().replace("ё", "е").split()
    language = russian if is_russian else english
    if len(parts) < 2 or genus.endswith(("?", "!")) or parts[0][:1].isdigit():
        return False
    if parts[0].strip(",.") in (
        language.PERSONAL | language.IMPERATIVES | language.PRONOUNS - words("the one что то тот те")
    ):
        return False
    return not (is_russian and _BAD_GENUS_RU.match(genus) and not re.match(r"(?:один|перв|больш)", genus))


def _accept_english(form: str, term: str, genus: str) -> bool:
    parts = term.casefold().strip("\"'“”").split()
    if form == "called-last":
        return _names_a_kind(term, genus)
    if not parts or len(parts) > 7 or parts[0] in _BAD_TERM_START_EN:
        return False
    if any(part in _BAD_TERM_WORD_EN for part in parts[1:]) or not any(letter.isalpha() for letter in term):
        return False
    if form in ("apposition", "by we mean", "defined as", "refers to"):
        return form != "refers to" or parts[0] not in ("number", "value")
    if form == "means" and any(character.isdigit() for character in term) and len(parts) > 3:
        return False
    if form == "means":
        return not genus.lower().startswith(("a lot", "nothing", "more ", "less ", "trouble", "business", "much"))
    if parts[0] in ("the",) and (len(parts) < 2 or any(part in _BAD_THE_TERM for part in parts[1:])):
        return False
    if _LIGHT_GENUS_EN.match(genus) or _PLACE_EN.match(genus) or _opinionated(genus, english.OPINION):
        return False
    if form == "is that":
        return parts[0] not in ("the", "some", "many", "most", "all") and not _PASSIVE_EN.match(genus)
    if parts[0] == "the" or genus.casefold().startswith("the "):
        return bool(_RELATION_EN.search(genus))
    return len(genus.split()) >= 2


def _names_a_kind(term: str, genus: str) -> bool:
    """Whether "Y is called X" tells what X means, rather than how one thing is named."""
    opening = genus.casefold().split()
    return (
        len(opening) >= 3
        and opening[0] not in _BAD_TERM_START_EN
        and not any(word in english.PERSONAL for word in opening)
        and (term[:1].islower() or bool(_RELATION_EN.search(genus)))
    )


def _opinionated(text: str, opinions: frozenset[str]) -> bool:
    return any(word.strip(".,()") in opinions for word in text.casefold().split()[:8])


def _accept_russian(form: str, term: str, genus: str, sentence: Sentence) -> bool:
    parts = term.casefold().replace("ё", "е").strip("\"'«»„“").split()
    low = genus.casefold().replace("ё", "е")
    if not parts or len(parts) > 8 or any(stem in sentence.folded for stem in (f" {s}" for s in russian.OPINION_STEMS)):
        return False
    if form == "под понимают":
        return parts[0] not in russian.PRONOUNS
    if parts[0] in _BAD_TERM_START_RU or any(part in russian.PERSONAL for part in parts):
        return False
    if any(hedge in sentence.words for hedge in russian.HEDGES) or not any(letter.isalpha() for letter in term):
        return False
    if form == "называют":
        first = parts[0]
        instrumental = bool(_INSTRUMENTAL_RU.search(first))
        return (instrumental or len(parts) >= 4) and not _NAMING_RU.match(genus) and first not in ("его", "ее", "их")
    if form == "называется-после":
        return len(low.split()) >= 3 and not _NAMING_RU.match(term)
    if form == "считается":
        return bool(_INSTRUMENTAL_RU.search(parts[0])) and not _BAD_GENUS_RU.match(low)
    if form == "является":
        return not _INSTRUMENTAL_RU.search(parts[0]) and not _BAD_GENUS_RU.match(low) and len(low.split()) >= 2
    if form == "это":
        return not _BAD_GENUS_RU.match(low)
    if form in ("англ", "представляет собой", "то есть"):
        return True
    if form == "означает":
        return parts[0] not in ("что", "отсутствие", "рост", "увеличение") and not low.startswith("конец")
    return _dash_defines(term, parts, low)


def _dash_defines(term: str, parts: list[str], genus: str) -> bool:
    """Whether «X — Y» names the kind that X is, rather than a value, a place or a judgement."""
    if len(parts) > 5 or any(character.isdigit() for character in term):
        return False
    if _BAD_GENUS_RU.match(genus) or len(genus.split()) < 2 or _is_infinitive(genus.split()[0]):
        return False
    opening = genus.split()[:3]
    named_kind = any(word.startswith(stem) for word in opening for stem in russian.GENUS_STEMS)
    return named_kind or bool(_DIFFERENTIA_RU.search(genus))


def _is_infinitive(word: str) -> bool:
    return bool(_INFINITIVE.search(word)) and word not in russian.INFINITIVE_NOUNS


def _bare_term(term: str, form: str) -> str:
    """The term without article and quotation marks, and in the nominative where its ending is certain."""
    bare = re.sub(r"^(?:the|an?) ", "", term.strip(), flags=re.IGNORECASE).strip("\"'«»“”„ ")
    if form in ("называют", "под понимают", "считается", "называется-после"):
        for ending, nominative in (("цией", "ция"), ("остью", "ость"), ("ением", "ение"), ("анием", "ание")):
            if bare.endswith(ending):
                return bare.removesuffix(ending) + nominative
    return bare
