"""Reads Jupyter notebooks: text and code cell by cell, with what the code printed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from pegas_assets.errors import Refused
from pegas_assets.model import BlockKind, ParsedDocument
from pegas_assets.sources.composing import Composer, composed
from pegas_assets.sources.markdown_blocks import markdown_blocks
from pegas_assets.sources.page_code import fenced
from pegas_assets.sources.reading import Reading
from pegas_assets.text.cleaning import clean_text
from pegas_assets.text.decoding import decode

READER = "notebook/1"

_OUTPUT_LINES = 20
_OUTPUT_CHARS = 1500
_PICTURE = re.compile(r"!\[[^\]]*\]\((?:attachment:|data:)[^)]*\)|<img\b[^>]*>", re.IGNORECASE)


def is_notebook(text: str) -> bool:
    """Whether a JSON text is a notebook, by its keys."""
    return '"nbformat"' in text and ('"cells"' in text or '"worksheets"' in text)


def read_notebook(body: bytes, reading: Reading) -> ParsedDocument:
    """A document from the bytes of an .ipynb of format 3 or 4. The place of a block is its cell, from 1.

    Markdown cells are Markdown, code cells code in the kernel's language. Of outputs the text is kept, shortened, and an
    error's last line; pictures, HTML and attachments are not.

    Raises:
        Refused: no notebook, damaged, or nothing in it.
    """
    decoded = decode(body)
    try:
        notebook = json.loads(decoded.text.lstrip("\ufeff"))
        cells = list(_cells(notebook))
    except (ValueError, RecursionError, TypeError, AttributeError):
        raise Refused(
            "The notebook is damaged: it is no JSON of that form.", hint="Save it again.", item=reading.name
        ) from None
    language = _language(notebook)
    composer = Composer("cell")
    for number, cell in enumerate(cells, 1):
        source = clean_text(_PICTURE.sub("", _text(cell.get("source", cell.get("input"))))).strip("\n").rstrip()
        kind = cell.get("cell_type")
        if kind == "code":
            if source.strip():
                own = _magic_language(source) or str(cell.get("language") or language)
                composer.add(BlockKind.CODE, fenced(source, own), at=number, info=own)
            for output in cell.get("outputs") or ():
                shown = _output(output) if isinstance(output, dict) else ""
                if shown:
                    composer.add(BlockKind.CODE, fenced(shown, "output"), at=number, info="output")
        elif kind == "heading":
            level = cell.get("level")
            composer.add(
                BlockKind.HEADING, source, at=number, level=min(6, max(1, level if isinstance(level, int) else 1))
            )
        elif source.strip():
            composer.add_document(source, markdown_blocks(source), at=number)
    return composed(
        composer,
        reading,
        reader=READER,
        title=_title(notebook),
        meta={"cells": len(cells)},
        warnings=decoded.warnings,
    )


def _cells(notebook: Any) -> Iterator[dict[str, Any]]:
    if isinstance(notebook.get("cells"), list):
        found = notebook["cells"]
    else:
        found = [cell for sheet in notebook.get("worksheets") or () for cell in sheet.get("cells") or ()]
    for cell in found:
        yield cell if isinstance(cell, dict) else {}


def _language(notebook: Any) -> str:
    metadata = notebook.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    for place, key in (("language_info", "name"), ("kernelspec", "language"), ("kernelspec", "name")):
        found = metadata.get(place)
        if isinstance(found, dict) and isinstance(found.get(key), str):
            return re.sub(r"\d+$", "", found[key].lower())[:40]
    return "python"


def _magic_language(source: str) -> str:
    """The language that the first line of a cell says: `%%bash`."""
    match = re.match(r"%%(bash|sh|sql|javascript|js|html|ruby|perl|R|latex|writefile)\b", source)
    return {"writefile": "", "js": "javascript"}.get(match.group(1), match.group(1).lower()) if match else ""


def _text(source: Any) -> str:
    if isinstance(source, list):
        return "".join(part for part in source if isinstance(part, str))
    return source if isinstance(source, str) else ""


def _output(output: dict[str, Any]) -> str:
    kind = output.get("output_type")
    if kind in ("stream", "pyout", "display_data", "execute_result"):
        data = output.get("data")
        text = _text(output.get("text"))
        if not text and isinstance(data, dict):
            text = _text(data.get("text/markdown")) or _text(data.get("text/plain"))
        # What stands for an object, a figure say, tells nothing.
        if re.fullmatch(r"\s*<[\w.]+(?: [^>\n]*)?>\s*", text):
            return ""
    elif kind in ("error", "pyerr"):
        text = f"{output.get('ename') or 'Error'}: {output.get('evalue') or ''}"
    else:
        return ""
    text = clean_text(text).strip("\n").rstrip()
    lines = text.split("\n")
    if len(lines) > _OUTPUT_LINES:
        lines = [*lines[:_OUTPUT_LINES], f"… ({len(lines) - _OUTPUT_LINES} more lines)"]
    text = "\n".join(lines)
    return text if len(text) <= _OUTPUT_CHARS else text[:_OUTPUT_CHARS].rstrip() + " …"


def _title(notebook: Any) -> str:
    metadata = notebook.get("metadata")
    title = metadata.get("title") if isinstance(metadata, dict) else ""
    return title if isinstance(title, str) else ""
