"""Makes a sentence, or a chunk, out of a line of text."""

from __future__ import annotations

from pegas_assets.distill.extractive import ExtractiveDistiller
from pegas_assets.distill.passages import is_russian
from pegas_assets.distill.sentence import Sentence
from pegas_assets.model import ChunkToDistil, DistilledAtom


def sentence(text: str, *, in_list: bool = False, section: tuple[str, ...] = (), title: str = "") -> Sentence:
    return Sentence(
        raw=text,
        start=0,
        end=len(text),
        russian=is_russian(text, "und"),
        in_list=in_list,
        alone=True,
        section=section,
        title=title,
    )


def distilled(content: str, *, section: tuple[str, ...] = (), title: str = "") -> list[DistilledAtom]:
    language = "ru" if is_russian(content, "und") else "en"
    chunk = ChunkToDistil(content=content, language=language, section=section, document_title=title)
    return list(ExtractiveDistiller().distil(chunk).atoms)
