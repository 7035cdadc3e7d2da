"""A statement's form: what is left of its wording when articles, synonyms, notation and inflection no longer count."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache

from pegas_assets.dedup import lexicon
from pegas_assets.dedup.inflection import english_base, russian_forms_agree
from pegas_assets.dedup.quantities import Token, quantified
from pegas_assets.dedup.synonyms import PHRASES, STEM_SYNONYMS, SYNONYMS
from pegas_assets.dedup.tokens import Raw, raw_tokens
from pegas_assets.text.folding import is_cyrillic
from pegas_assets.text.stemming import stem

BE = "≡"
_LONGEST_PHRASE = max(len(phrase) for phrase in PHRASES)
_PHRASE_STARTS = frozenset(phrase[0] for phrase in PHRASES)
_RUSSIAN_BE = frozenset(["является", "являются"])
_RUSSIAN_AMOUNTS = frozenset(["составляет", "составляют", "равен", "равна", "равно", "равны", "равняется"])
_RUSSIAN_HAVE = frozenset(["имеет", "имеют", "обладает", "обладают"])
_RUSSIAN_THERE_IS = frozenset(["есть", "имеется", "имеются"])
_CONTRACTED = {"'re": "are", "'ve": "have", "'ll": "will", "'d": "would", "'m": "am"}
_IS_BEFORE = frozenset(["it", "that", "there", "he", "she", "what", "who", "here", "where"])
_WORDS_AS_NAMES = frozenset(["us", "it", "who", "aids", "am", "may"])
_APPROXIMATELY = frozenset(
    ["about", "around", "approximately", "roughly", "circa", "some", "около", "примерно", "приблизительно", "порядка"]
)
_FLOATING = frozenset(["=usually", "=often", "sometimes", "rarely", "=обычн", "=част", "иногд", "редк"])
_AND = frozenset(["and", "or", "и", "или"])


@dataclass(frozen=True)
class Form:
    """The tokens of a statement in order, the language by whose rules they were made, and whether it asks."""

    tokens: tuple[Token, ...]
    language: str
    question: bool

    @property
    def keys(self) -> Counter[str]:
        return Counter(token.key for token in self.tokens)


def rule_language(text: str, language: str) -> str:
    """By which rules a text is read: `ru` or `en` where the language says so or the script tells, else the language."""
    base = language.split("-")[0].lower()
    if base not in ("", "und"):
        return base
    cyrillic = sum("\u0400" <= letter <= "\u04ff" for letter in text)
    latin = sum(letter.isascii() and letter.isalpha() for letter in text)
    return "ru" if cyrillic > latin else "en" if latin else "und"


@lru_cache(maxsize=8_000)
def form_of(text: str, language: str) -> Form:
    """The form of a statement. The rules of `ru` and `en` are known; other languages keep their words as they are."""
    rules = rule_language(text, language)
    raws = raw_tokens(text)
    question = any(raw.kind == "end" for raw in raws)
    raws = _expanded([raw for raw in raws if raw.kind != "end"], rules)
    if rules in ("ru", "en"):
        raws = _rephrased(raws)
    tokens = _coordinated(_canonical(quantified(raws, rules), rules))
    return Form(tuple(_floated(_with_what(tokens))), rules, question)


def same_token(one: Token, other: Token) -> bool:
    """Whether two tokens say the same."""
    if one.key != other.key:
        return False
    if one.kind != "word" or not (is_cyrillic(one.word) and is_cyrillic(other.word)):
        return True
    return russian_forms_agree(one.word, other.word)


def _word(folded: str, like: Raw) -> Raw:
    return Raw("word", folded, folded, like.glued, like.initial)


def _expanded(raws: list[Raw], rules: str) -> list[Raw]:
    """English contractions opened: `doesn't` as `does not`, `it's` as `it is`, `dog's` as `dog` and `'s`."""
    if rules != "en":
        return raws
    found: list[Raw] = []
    for raw in raws:
        word = raw.folded
        if raw.kind != "word" or ("'" not in word and word != "cannot"):
            found.append(raw)
        elif word == "cannot" or word.endswith("n't"):
            base = {"can": "can", "wo": "will", "sha": "shall", "ca": "can"}.get(word[:-3], word[:-3])
            found += [_word(base, raw), _word("not", raw)]
        elif word.endswith("'s"):
            base = word[:-2]
            found += [Raw("word", raw.text[:-2], base, raw.glued, raw.initial)]
            found.append(_word("is" if base in _IS_BEFORE else "'s", raw))
        else:
            ending = next((ending for ending in _CONTRACTED if word.endswith(ending)), "")
            found.append(_word(word.removesuffix(ending), raw) if ending else raw)
            if ending:
                found.append(_word(_CONTRACTED[ending], raw))
    return found


def _rephrased(raws: list[Raw]) -> list[Raw]:
    """Set phrases replaced by their plainer words; a comma inside a phrase does not break it."""
    found: list[Raw] = []
    i = 0
    while i < len(raws):
        match = _phrase_at(raws, i) if raws[i].folded in _PHRASE_STARTS else None
        if match is None:
            found.append(raws[i])
            i += 1
            continue
        end, replacement = match
        found += [_word(word, raws[i]) for word in replacement]
        i = end
    return found


def _phrase_at(raws: list[Raw], start: int) -> tuple[int, tuple[str, ...]] | None:
    words: list[str] = []
    best: tuple[int, tuple[str, ...]] | None = None
    i = start
    while i < len(raws) and len(words) < _LONGEST_PHRASE:
        if raws[i].kind == "word":
            words.append(raws[i].folded)
            replacement = PHRASES.get(tuple(words))
            if replacement is not None:
                best = (i + 1, replacement)
        elif raws[i].kind != "comma":
            break
        i += 1
    return best


def _canonical(items: list[Raw | Token], rules: str) -> list[Token]:
    """Each raw token as what it means; commas stay for `_coordinated`."""
    found: list[Token] = []
    words = [item.folded for item in items if isinstance(item, Raw)]
    possession = rules == "ru" and bool(words) and words[0] == "у"
    for n, item in enumerate(items):
        if isinstance(item, Token):
            # `Длина составляет 5 м`, `длина — 5 м` and `длина 5 м` are one.
            if rules == "ru" and item.unit and found and found[-1].key == BE:
                found.pop()
            found.append(item)
            continue
        if item.folded in _RUSSIAN_AMOUNTS and n + 1 < len(items) and isinstance(items[n + 1], Token):
            continue
        if item.folded in _APPROXIMATELY and n + 1 < len(items) and isinstance(items[n + 1], Token):
            found.append(Token("≈", item.folded, "word"))
            continue
        said = [token for token in found if token.kind != "comma"]
        token = _token(item, rules, said, possession)
        if token is not None and item.glued and found and token.kind == "word":
            token = replace(token, joined=True)
        if token is not None and not (token.key == BE and found and found[-1].key == BE):
            found.append(token)
    return found


def _token(raw: Raw, rules: str, before: list[Token], possession: bool) -> Token | None:
    word = raw.folded
    if raw.kind == "comma":
        return Token(",", ",", "comma")
    if raw.kind == "dash":
        return Token(BE, word, "light") if rules == "ru" and before else Token(",", ",", "comma")
    if raw.kind != "word":
        return Token(word, word, "sign")
    if rules == "en":
        return _english(raw, before)
    if rules == "ru":
        return _russian(raw, before, possession)
    return Token(word, word, "word", name=raw.capitalised and not raw.initial)


def _english(raw: Raw, before: list[Token]) -> Token | None:
    word = raw.folded
    if is_cyrillic(word):
        return Token(stem(word), word, "word", name=raw.capitalised and not raw.initial)
    if raw.acronym and word in _WORDS_AS_NAMES:
        return Token(raw.text, word, "word", name=True)
    if word in lexicon.ENGLISH_DROPPED:
        return None
    if word in ("is", "are", "am"):
        return Token(BE, word, "light")
    if word in lexicon.NEGATION_KEYS:
        return Token(lexicon.NEGATION_KEYS[word], word, "negation")
    if word in lexicon.NEGATIONS:
        return Token(english_base(word), word, "negation")
    if word in lexicon.PREPOSITIONS or word in _AND or word == "'s":
        till = word in ("until", "till") and any(token.key == "from" for token in before[-3:])
        return Token("to" if till else SYNONYMS.get(word, word), word, "light")
    if word in ("were", "was"):
        return Token("was", word, "word")
    return Token(_english_key(word), word, "word", name=raw.capitalised and not raw.initial)


def _english_key(word: str) -> str:
    base = english_base(word)
    if base in SYNONYMS:
        return SYNONYMS[base]
    for ending in ("ed", "ing"):
        if word.endswith(ending):
            root = word[: -len(ending)]
            for verb in (root, root + "e", root[:-1] if root[-2:-1] == root[-1:] else root):
                if verb in SYNONYMS:
                    return f"{SYNONYMS[verb]}+{ending}"
    return base


def _russian(raw: Raw, before: list[Token], possession: bool) -> Token | None:
    word = raw.folded
    name = raw.capitalised and not raw.initial
    if not is_cyrillic(word):
        return Token(english_base(word) if word.isascii() else word, word, "word", name=name or raw.acronym)
    if word in lexicon.RUSSIAN_DROPPED or word in _RUSSIAN_HAVE:
        return None
    if word in _RUSSIAN_BE:
        return Token(BE, word, "light")
    if word == "это" and before and before[-1].key == BE:
        return None
    if possession and (word in _RUSSIAN_THERE_IS or (word == "у" and not before)):
        return None
    if word == "чем" and before and before[-1].word.endswith(("ее", "ей", "же", "ше", "че")):
        return None
    if word == "по" and any(token.key in ("с", "от") for token in before[-3:]):
        return Token("до", word, "light")
    if word in lexicon.NEGATION_KEYS:
        return Token(lexicon.NEGATION_KEYS[word], word, "negation")
    if word in lexicon.NEGATIONS:
        return Token(stem(word), word, "negation")
    if word in lexicon.PREPOSITIONS or word in _AND:
        return Token(lexicon.SAME_PREPOSITIONS.get(word, word), word, "light")
    key = stem(word)
    return Token(STEM_SYNONYMS.get(key, key), word, "word", name=name, holder=possession)


def _coordinated(tokens: list[Token]) -> list[Token]:
    """Commas gone, and the members of a plain enumeration at an edge of the sentence in one order.

    Only single words, and only at an edge: `Alice called Bob and Carol called Dave` holds no enumeration.
    """
    while tokens and tokens[-1].kind == "comma":
        tokens = tokens[:-1]
    plain = [token for token in tokens if token.kind != "comma"]
    if any(token.word in ("respectively", "соответственно") for token in plain):
        return plain
    for start, end, members in _enumerations(tokens):
        if start and end < len(tokens):
            continue
        joint = [token for token in tokens[start:end] if token.word in _AND][:1]
        ordered = sorted(members, key=lambda member: [token.key for token in member])
        merged = [*tokens[:start], *(token for member in ordered for token in member), *joint, *tokens[end:]]
        return [token for token in merged if token.kind != "comma"]
    return plain


def _enumerations(tokens: list[Token]) -> list[tuple[int, int, list[list[Token]]]]:
    """Spans (half-open) and members of `A, B and C`: members of one word, hyphens inside, at least one conjunction."""
    found = []
    start = 0
    while start < len(tokens):
        end, members, joined = start, [], False
        while end < len(tokens) and tokens[end].kind in ("word", "number"):
            size = 1
            while end + size < len(tokens) and tokens[end + size].joined:
                size += 1
            members.append(tokens[end : end + size])
            end += size
            step = end
            while step < len(tokens) and (tokens[step].kind == "comma" or tokens[step].word in _AND):
                step += 1
            if step == end or step >= len(tokens) or tokens[step].kind not in ("word", "number"):
                break
            joined = joined or any(token.word in _AND for token in tokens[end:step])
            end = step
        if joined and len(members) > 1:
            found.append((start, end, members))
        start = max(end, start + 1)
    return found


def _with_what(tokens: list[Token]) -> list[Token]:
    """`use wax to seal cracks` as `seal cracks with wax`."""
    keys = [token.key for token in tokens]
    if "=use" not in keys or "to" not in keys:
        return tokens
    use, to = keys.index("=use"), keys.index("to")
    means = tokens[use + 1 : to]
    if not means or len(means) > 3 or any(token.kind != "word" for token in means) or len(tokens) < to + 3:
        return tokens
    return [*tokens[:use], *tokens[to + 1 :], Token("with", "with", "light"), *means]


def _floated(tokens: list[Token]) -> list[Token]:
    """Adverbs of frequency first, where no negation can be in their scope: they stand anywhere and say the same."""
    if any(token.kind == "negation" for token in tokens):
        return tokens
    return sorted(tokens, key=lambda token: token.key not in _FLOATING)
