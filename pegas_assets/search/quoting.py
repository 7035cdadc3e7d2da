"""The sentence of a text that answers a query best."""

from __future__ import annotations

import re

from pegas_assets.text.sentences import split_sentences
from pegas_assets.text.stemming import stems

MAX_QUOTE = 400
_HEADING = re.compile(r"^ {0,3}#{1,6} .*$", re.MULTILINE)


def best_sentence(query: str, text: str, language: str) -> tuple[str, bool]:
    """The sentence that shares most stems with the query, and whether it shares any; else the first that is no heading."""
    asked = set(stems(query))
    # Blanked, not cut out: a heading ends the sentence before it.
    body = _HEADING.sub("\n", text)
    sentences = [body[start:end].strip() for start, end in split_sentences(body, language)]
    sentences = [sentence for sentence in sentences if sentence] or [text.strip()]
    best, best_score = sentences[0], 0.0
    for sentence in sentences:
        held = stems(sentence)
        shared = len(asked.intersection(held))
        # Of two sentences that share as much, the one that says less besides.
        score = shared + 1 / (2 + len(held)) if shared else 0.0
        if score > best_score:
            best, best_score = sentence, score
    quote = best if len(best) <= MAX_QUOTE else best[: MAX_QUOTE - 1].rstrip() + "…"
    return quote, best_score > 0
