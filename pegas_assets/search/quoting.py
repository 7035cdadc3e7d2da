"""The sentence of a text that answers a query best."""

from __future__ import annotations

from pegas_assets.text.sentences import split_sentences
from pegas_assets.text.stemming import stems

MAX_QUOTE = 400


def best_sentence(query: str, text: str, language: str) -> str:
    """The sentence that shares most stems with the query, the earlier of equals; the first where none does."""
    asked = set(stems(query))
    sentences = [text[start:end].strip() for start, end in split_sentences(text, language)] or [text.strip()]
    best, best_score = sentences[0], 0.0
    for sentence in sentences:
        held = stems(sentence)
        shared = len(asked.intersection(held))
        # Of two sentences that share as much, the one that says less besides.
        score = shared + 1 / (2 + len(held)) if shared else 0.0
        if score > best_score:
            best, best_score = sentence, score
    return best if len(best) <= MAX_QUOTE else best[: MAX_QUOTE - 1].rstrip() + "…"
