"""Whether a quotation stands in a chunk, and where: white space is folded, nothing else."""

from __future__ import annotations

import re


def occurs(quotation: str, chunk_text: str) -> bool:
    """Whether the quotation stands in the chunk, both with runs of white space folded to one blank.

    An empty quotation stands nowhere.
    """
    folded = " ".join(quotation.split())
    return bool(folded) and (quotation in chunk_text or folded in " ".join(chunk_text.split()))


def span_of(quotation: str, chunk_text: str) -> tuple[int, int] | None:
    """The first place of the quotation as offsets into the chunk, half open; None where it does not occur."""
    words = quotation.split()
    if not words:
        return None
    exact = chunk_text.find(quotation.strip())
    if exact >= 0:
        return exact, exact + len(quotation.strip())
    found = re.search(r"\s+".join(map(re.escape, words)), chunk_text)
    return (found.start(), found.end()) if found else None
