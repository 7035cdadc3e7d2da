"""Which words say the opposite: English and Russian."""

from __future__ import annotations

from pegas_assets.text.stemming import stem

_PAIRS = """
increase decrease
increases decreases
increased decreased
raise lower
rise fall
grow shrink
more less
more fewer
> <
≥ ≤
before after
above below
over under
up down
open closed
opened closed
open close
hot cold
warm cold
wet dry
big small
large small
long short
high low
tall short
wide narrow
thick thin
deep shallow
steep gentle
fast slow
faster slower
quickly slowly
heavy light
heavier lighter
harder softer
stronger weaker
strong weak
hard soft
rich poor
old new
old young
older younger
early late
earlier later
first last
left right
north south
northern southern
east west
eastern western
upper lower
inner outer
inside outside
internal external
won lost
win lose
gain lose
gained lost
begin end
start stop
start end
started ended
accept reject
accepted rejected
allow forbid
allowed forbidden
permitted forbidden
true false
positive negative
minimum maximum
minimal maximal
least most
best worst
better worse
good bad
always never
all none
nobody somebody
with without
buy sell
bought sold
import export
arrive depart
arrives departs
alive dead
born died
public private
full empty
safe dangerous
safe unsafe
success failure
succeeded failed
improve worsen
improves worsens
prevent cause
prevents causes
attract repel
expand contract
expands contracts
absorb emit
absorbs emits
увеличивает уменьшает
увеличивается уменьшается
увеличил уменьшил
повышает понижает
повышает снижает
повышается снижается
растет падает
больше меньше
более менее
до после
выше ниже
над под
открыт закрыт
открыта закрыта
открыто закрыто
открыты закрыты
открывается закрывается
открывает закрывает
горячий холодный
теплый холодный
мокрый сухой
большой маленький
длинный короткий
высокий низкий
широкий узкий
толстый тонкий
глубокий мелкий
крутой пологий
быстрый медленный
быстрее медленнее
быстро медленно
тяжелый легкий
тяжелее легче
тверже мягче
твердый мягкий
сильный слабый
сильнее слабее
богатый бедный
старый новый
старый молодой
старше моложе
ранний поздний
раньше позже
первый последний
левый правый
северный южный
восточный западный
верхний нижний
внутренний внешний
выиграл проиграл
победил проиграл
начинается заканчивается
начал закончил
принял отверг
разрешен запрещен
разрешено запрещено
истинный ложный
положительный отрицательный
минимальный максимальный
минимум максимум
лучший худший
лучше хуже
хороший плохой
всегда никогда
все никто
кто-то никто
с без
купил продал
ввоз вывоз
живой мертвый
родился умер
родилась умерла
полный пустой
безопасный опасный
улучшает ухудшает
притягивает отталкивает
расширяется сжимается
поглощает излучает
съедобный ядовитый
"""

ANTONYMS = frozenset(frozenset(map(stem, line.split())) for line in _PAIRS.strip().splitlines())
"""Pairs of stems."""

NEGATING_PREFIXES = ("un", "in", "im", "il", "ir", "dis", "non", "не", "бес", "без")


def opposite(one: str, other: str) -> bool:
    """Whether two folded words say the opposite: a known pair, or one is the other with a negating prefix."""
    if frozenset((stem(one), stem(other))) in ANTONYMS:
        return True
    short, long = sorted((one, other), key=len)
    return len(short) > 3 and any(long.startswith(p) and stem(long) == stem(p + short) for p in NEGATING_PREFIXES)
