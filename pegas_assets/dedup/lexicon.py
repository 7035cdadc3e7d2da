"""Words that do work of their own in a statement: English and Russian, folded."""

from __future__ import annotations


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


ENGLISH_DROPPED = _set(
    """
    a an the also too indeed actually thus therefore hence moreover furthermore however basically does do
    itself namely
    """
)
"""Words without which a statement says the same."""
RUSSIAN_DROPPED = _set(
    """
    также тоже кстати впрочем однако итак действительно конечно разумеется собственно же ведь вот ж таки
    """
)

NEGATIONS = _set(
    """
    not no never without none nobody nothing neither nor nowhere lacks lack fails fail hardly barely
    scarcely
    не ни нет без нельзя никогда никто ничто ничего нигде никакой никакая никакие никого никому отсутствует
    отсутствуют
    """
)
NEGATION_KEYS = {"not": "¬", "не": "¬", "ни": "¬", "no": "¬some", "нет": "¬is", "nobody": "¬who", "никто": "¬who"}

QUANTIFIERS = _set(
    """
    all some most many few several any only almost nearly mostly partly always sometimes often usually
    rarely seldom both half third quarter every each
    все всех всем некоторые многие большинство немногие несколько только лишь почти всегда иногда часто
    обычно редко половина треть четверть каждый каждая каждые
    """
)

MODALS = _set(
    """
    can could may might must should shall will would did was were had been be has have likely possibly
    perhaps probably allegedly reportedly able going
    может могут мог могла могли можно должен должна должно должны обязан следует будет будут был была было
    были бы вероятно возможно наверное якобы пожалуй
    """
)

CONDITIONS = _set(
    """
    if unless when whenever while until because although except provided during once according
    если когда пока хотя кроме чтобы из-за так-как в-течение словам мнению
    """
)

PREPOSITIONS = _set(
    """
    in on at from with without during after before since until for near under over through throughout into
    to around within inside across along by of about
    в во на с со у к ко от до из по при для без под над перед после около через между о об за про ради среди
    вокруг в-течение из-за
    """
)
SAME_PREPOSITIONS = {"во": "в", "со": "с", "ко": "к", "об": "о", "обо": "о", "изо": "из", "ото": "от"}

ADJUNCTS = (PREPOSITIONS - _set("of by about to о об про у от")) | _set(
    """
    if when because every once twice today yesterday now usually often sometimes always
    раз дважды если когда каждый каждое каждую зимой летом весной осенью ночью днем утром вечером сегодня вчера сейчас
    обычно часто иногда всегда ежегодно ежедневно
    """
)
"""Words that open a phrase which may stand at either edge of a sentence without changing what it says."""
