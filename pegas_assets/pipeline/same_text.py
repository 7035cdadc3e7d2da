"""Whether two documents say the same text, whatever form each has it in."""

from __future__ import annotations

import re

from pegas_assets.distill.sentence import plain
from pegas_assets.identity import canonical_text, sha256_hex
from pegas_assets.model import BlockKind, ParsedDocument

_RULE = re.compile(r"^[\s|:+-]*-{2,}[\s|:+-]*$", re.MULTILINE)
_OPENING = re.compile(r"^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-*+•‣◦][ \t]+)+", re.MULTILINE)
_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,}).*$", re.MULTILINE)
_LINKED = re.compile(r"!?\[([^\]\n]*)\]\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)")


def same_text_hash(parsed: ParsedDocument) -> str:
    """One value for a text as Markdown, as a page, as plain lines or as a book: its words without the marks of a format.

    Code keeps all its signs and lines, since there each means something.
    """
    parts: list[str] = []
    for chunk in parsed.chunks:
        for block in chunk.blocks:
            content = chunk.content[block.start : block.end]
            if block.kind is BlockKind.CODE:
                parts.append("\n" + canonical_text(_FENCE.sub("", content), fold_space=False) + "\n")
            else:
                parts.append(canonical_text(_words(content, table=block.kind is BlockKind.TABLE)) + " ")
    return sha256_hex("".join(part for part in parts if part.strip()))


def _words(content: str, *, table: bool) -> str:
    content = _RULE.sub("", _OPENING.sub("", content))
    if table:
        content = content.replace("\\|", "\x00").replace("|", " ").replace("\x00", "|")
    return plain(_LINKED.sub(r"\1", content))
