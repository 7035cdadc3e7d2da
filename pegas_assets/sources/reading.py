"""What every reader is told beside the bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pegas_assets.model import ParsedChunk
from pegas_assets.sources.blocks import Marks, SourceBlock
from pegas_assets.sources.chunking import CountTokens, cut
from pegas_assets.text.decoding import Decoded, decode


@dataclass(frozen=True)
class Reading:
    """What came with some bytes, and the limits within which they are read.

    `media_type` is what they are, `charset` what was declared for them. `default_encoding` is tried on text without any
    mark of its encoding. `max_tokens` is the most that the embedding model reads, `max_chars` the longest text.
    """

    media_type: str
    name: str
    uri: str
    charset: str
    default_encoding: str
    count_tokens: CountTokens
    max_tokens: int
    max_chars: int

    def decoded(self, body: bytes, *, own: Sequence[str] = (), sample: bytes | None = None) -> Decoded:
        """The text of some bytes; `own` are the encodings that they name themselves."""
        return decode(body, declared=[self.charset, *own], default=self.default_encoding, sample=sample)

    def cut(
        self, text: str, blocks: Sequence[SourceBlock], *, language: str, marks: Marks | None = None
    ) -> tuple[ParsedChunk, ...]:
        """The chunks of a text that was read."""
        return cut(
            text, blocks, count_tokens=self.count_tokens, max_tokens=self.max_tokens, language=language, marks=marks
        )
