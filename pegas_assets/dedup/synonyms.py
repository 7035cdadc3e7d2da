"""Which wordings say the same: set phrases, synonyms, spellings; English and Russian, folded words."""

from __future__ import annotations

from pegas_assets.text.stemming import stem

_PHRASES = """
in fact=
of course=
as a matter of fact=
it is known that=
it is well known that=
it is a fact that=
as is well known=
as is known=
as we know=
it should be noted that=
it is worth noting that=
note that=
it turns out that=
a little=some-little
a few=several
once a=once per
twice a=twice per
a lot of=many
lots of=many
a large number of=many
a great number of=many
a great many=many
in order to=to
due to=because of
owing to=because of
on account of=because of
as well as=and
is made up of=consists of
are made up of=consist of
is composed of=consists of
are composed of=consist of
comprises=consists of
comprise=consist of
is located=is
are located=are
is situated=is
are situated=are
lies in=is in
lies on=is on
lies at=is at
as a rule=usually
in most cases=usually
have to=must
has to=must
is able to=can
are able to=can
is unable to=can not
are unable to=can not
is not able to=can not
does not have=has no
do not have=have no
is called=is known as
are called=are known as
at least=≥
no less than=≥
no fewer than=≥
not less than=≥
at most=≤
no more than=≤
not more than=≤
more than=>
greater than=>
less than=<
fewer than=<
is equal to=is
are equal to=are
equals=is
equal to=is
at the moment=now
at present=now
close to=near
no one=nobody
per cent=percent
из за=из-за
по причине=из-за
вследствие=из-за
потому что=так-как
так как=так-как
поскольку=так-как
для того чтобы=чтобы
с помощью=с-помощью
при помощи=с-помощью
посредством=с-помощью
в течение=в-течение
на протяжении=в-течение
как правило=обычно
как известно=
известно что=
хорошо известно что=
общеизвестно что=
следует отметить что=
стоит отметить что=
на самом деле=
в действительности=
дело в том что=
само собой=
не менее чем=≥
не менее=≥
не меньше чем=≥
не меньше=≥
как минимум=≥
по меньшей мере=≥
по крайней мере=≥
не более чем=≤
не более=≤
не больше чем=≤
не больше=≤
как максимум=≤
более чем=>
больше чем=>
менее чем=<
меньше чем=<
свыше=>
представляет собой=является
представляют собой=являются
при температуре=при
может быть использован=используется
до сих пор=доныне
кроме того=
"""
"""A phrase and its plainer words, one a line; nothing after the sign drops the phrase."""

_ENGLISH = """
begin start commence
happen occur
use utilize utilise
need require
show demonstrate
help assist
allow permit
buy purchase
possess own
big large
fast quick rapid
kid child
physician doctor
automobile car
often frequently
usually normally typically generally commonly ordinarily
approximately roughly circa
which that who
until till
among amongst
while whilst
toward towards
although though
many numerous
color colour
harbor harbour
labor labour
honor honour
favor favour
flavor flavour
behavior behaviour
neighbor neighbour
humor humour
vapor vapour
rumor rumour
meter metre
liter litre
center centre
theater theatre
fiber fibre
kilometer kilometre
gray grey
defense defence
license licence
catalog catalogue
program programme
aluminum aluminium
sulfur sulphur
mold mould
plow plough
traveler traveller
traveled travelled
jewelry jewellery
organize organise
organization organisation
recognize recognise
realize realise
every each
its their
now currently presently nowadays
nobody noone
within inside
also additionally
"""

_RUSSIAN = """
использует использовать использовал использован применяет применять применял применен
около примерно приблизительно
обычно обыкновенно
часто зачастую
очень весьма
большой крупный
большие крупные
врач доктор
происходит случается
построен сооружен возведен
построена сооружена возведена
построены сооружены возведены
находится располагается
находились располагались
называется именуется
почти практически
сейчас теперь ныне
каждый всякий
нужен требуется необходим
нужна требуется необходима
нужно требуется необходимо
начинается стартует
помогает содействует
"""


def _phrases(text: str) -> dict[tuple[str, ...], tuple[str, ...]]:
    pairs = (line.split("=") for line in text.strip().splitlines())
    return {tuple(phrase.split()): tuple(plainer.split()) for phrase, plainer in pairs}


def _groups(text: str) -> list[list[str]]:
    return [line.split() for line in text.strip().splitlines()]


PHRASES = _phrases(_PHRASES)

SYNONYMS: dict[str, str] = {word: f"={group[0]}" for group in _groups(_ENGLISH) for word in group}
"""English base form → the name of its group."""

STEM_SYNONYMS: dict[str, str] = {
    stem(word): f"={stem(group[0])}" for group in reversed(_groups(_RUSSIAN)) for word in reversed(group)
}
"""Russian stem → the name of its group; of two groups that share a stem the earlier has it."""
