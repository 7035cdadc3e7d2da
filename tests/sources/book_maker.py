"""Makes small EPUBs for tests, right ones and wrong ones."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pegas_assets.model import ParsedDocument
from pegas_assets.sources.registry import parse

CONTAINER = (
    '<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="{}" media-type="application/oebps-package+xml"/></rootfiles></container>'
)
METADATA = "<dc:title>The Salt Road</dc:title><dc:language>en</dc:language>"
FIRST = "<h1>First</h1><p>The caravan left the well at dusk with forty camels.</p>"
SECOND = "<h1>Second</h1><p>Salt was weighed against silver in the market of the old town.</p>"


def page(body: str, head: str = "<title>x</title>", *, attributes: str = "") -> str:
    return (
        '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml" '
        f'xmlns:epub="http://www.idpf.org/2007/ops" {attributes}><head>{head}</head><body>{body}</body></html>'
    )


@dataclass
class Book:
    """A book by its parts. Pages are bodies (wrapped by `page`) or whole files, by name, in the order of the spine."""

    pages: Mapping[str, str | bytes] = field(default_factory=lambda: {"c1.xhtml": FIRST, "c2.xhtml": SECOND})
    metadata: str = METADATA
    manifest: str | None = None
    spine: str | None = None
    more_manifest: str = ""
    after_spine: str = ""
    spine_attributes: str = ""
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    folder: str = "OEBPS/"
    package: str | None = None
    container: str | None = CONTAINER
    mimetype: bool = True
    method: int = zipfile.ZIP_DEFLATED
    leave_out: Sequence[str] = ()

    def members(self) -> dict[str, str | bytes]:
        names = list(self.pages)
        manifest = self.manifest or "".join(
            f'<item id="p{at}" href="{name}" media-type="application/xhtml+xml"/>' for at, name in enumerate(names)
        )
        spine = self.spine or "".join(f'<itemref idref="p{at}"/>' for at in range(len(names)))
        package = self.package or (
            '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
            '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:opf="http://www.idpf.org/2007/opf">'
            f"{self.metadata}</metadata><manifest>{manifest}{self.more_manifest}</manifest>"
            f"<spine {self.spine_attributes}>{spine}</spine>{self.after_spine}</package>"
        )
        members: dict[str, str | bytes] = {"mimetype": "application/epub+zip"} if self.mimetype else {}
        if self.container is not None:
            members["META-INF/container.xml"] = self.container.replace("{}", f"{self.folder}content.opf")
        if self.package != "":
            members[f"{self.folder}content.opf"] = package
        for name, body in self.pages.items():
            whole = isinstance(body, bytes) or body.lstrip().startswith(("<?xml", "<html", "<!DOCTYPE"))
            members[f"{self.folder}{name}"] = body if whole else page(str(body))
        members.update(self.files)
        return {name: body for name, body in members.items() if name not in self.leave_out}

    def bytes(self) -> bytes:
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", self.method) as archive:
            for name, body in self.members().items():
                stored = zipfile.ZIP_STORED if name == "mimetype" else self.method
                archive.writestr(name, body, compress_type=stored)
        return made.getvalue()

    def read(self, name: str = "salt.epub", **kwargs: int) -> ParsedDocument:
        document = parse(self.bytes(), name=name, **kwargs)
        for chunk in document.chunks:
            assert chunk.content == document.text[chunk.locator.start : chunk.locator.end]
        return document


def one_page(body: str, **parts: object) -> Book:
    """A book of one page with these words in its body."""
    return Book({"c1.xhtml": body}, **parts)  # type: ignore[arg-type]


def sections(document: ParsedDocument) -> list[tuple[str, ...]]:
    """The heading paths of the chunks, in order, each once."""
    return list(dict.fromkeys(chunk.locator.section for chunk in document.chunks))
