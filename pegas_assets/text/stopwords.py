"""Words that say nothing about what a text is about: left out of BM25, and skipped where wordings are compared."""

from __future__ import annotations

_ENGLISH = """
a about above after again against all am an and any are as at be because been before being below between both but by
can could did do does doing down during each few for from further had has have having he her here hers herself him
himself his how i if in into is it its itself just me more most my myself no nor not now of off on once only or
other our ours ourselves out over own same she should so some such than that the their theirs them themselves then
there these they this those through to too under until up very was we were what when where which while who whom why
will with would you your yours yourself yourselves isn't aren't wasn't weren't don't doesn't didn't can't couldn't
won't wouldn't shouldn't hasn't haven't hadn't it's that's there's i'm you're we're they're
"""

_RUSSIAN = """
и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня еще нет
о из ему теперь когда даже ну вдруг ли если уже или ни быть был него до вас нибудь опять уж вам ведь там потом себя
ничего ей может они тут где есть надо ней для мы тебя их чем была сам чтоб без будто чего раз тоже себе под будет ж
тогда кто этот того потому этого какой совсем ним здесь этом один почти мой тем чтобы нее сейчас были куда зачем всех
никогда можно при наконец об другой хоть после над больше тот через эти нас про всего них какая много разве эту моя
свою этой перед иногда лучше чуть том нельзя такой им более всегда конечно всю между это эта также которые который
которая которое которых которого которой котором которым которую этих этим этими
"""

STOP_WORDS = frozenset(_ENGLISH.split()) | frozenset(_RUSSIAN.split())
"""Folded: lower case, `ё` as `е`. Both languages at once, because a text may mix them."""
