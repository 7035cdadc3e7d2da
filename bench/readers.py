"""Readers: pages and megabytes a second of each kind of document, beside the bare library on the same bytes."""

from __future__ import annotations

import io
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from bench.harness import Figure, report, say
from pegas_assets.sources.registry import parse

ROUNDS = 5
EXAMPLES = Path(__file__).parents[1] / "examples"


def seconds(work: Callable[[], object]) -> float:
    """The median of some rounds, after one that warms up."""
    work()
    taken = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def many_pages(body: bytes, times: int) -> bytes:
    """A PDF with the pages of another, several times over."""
    import pymupdf

    source = pymupdf.open(stream=body, filetype="pdf")
    target = pymupdf.open()
    for _ in range(times):
        target.insert_pdf(source)
    return bytes(target.tobytes(garbage=3, deflate=True))


def bare_pdf(body: bytes) -> None:
    import pymupdf

    document = pymupdf.open(stream=body, filetype="pdf")
    for page in document:
        page.get_text()


def pdf_figures() -> list[Figure]:
    pages = 150
    body = many_pages((EXAMPLES / "tide-mill.pdf").read_bytes(), pages // 3)
    ours, bare = seconds(lambda: parse(body, name="mill.pdf")), seconds(lambda: bare_pdf(body))
    return [
        Figure("PDF, pages", pages / ours, "/s", "", pages / bare),
        Figure("PDF, bytes", len(body) / ours / 1e6, "MB/s", "", len(body) / bare / 1e6),
    ]


def bare_page(body: bytes) -> None:
    from trafilatura import extract

    extract(body.decode(), output_format="markdown", include_tables=True)


def bare_book(body: bytes) -> None:
    import zipfile

    from lxml.html import document_fromstring

    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        for name in archive.namelist():
            if name.endswith(("html", "htm")):
                document_fromstring(archive.read(name)).text_content()


def bare_word(body: bytes) -> None:
    import docx

    "\n".join(paragraph.text for paragraph in docx.Document(io.BytesIO(body)).paragraphs)


def bare_table(body: bytes) -> None:
    import csv

    list(csv.reader(io.StringIO(body.decode())))


def bare_json(body: bytes) -> None:
    import json

    json.loads(body)


def long_page() -> bytes:
    """A page of some 200 kB: the body of an example many times over, its paragraphs told apart."""
    page = (EXAMPLES / "rye-bread.html").read_text(encoding="utf-8")
    head, _, rest = page.partition("<p>")
    part = "<p>" + rest.partition("</main>")[0].partition("</body>")[0]
    return (head + "".join(part.replace("<p>", f"<p>{number}. ") for number in range(200))).encode()


def long_book() -> bytes:
    """The example book with each of its chapters a hundred times as long."""
    import zipfile

    made = io.BytesIO()
    with zipfile.ZipFile(EXAMPLES / "watermill-ru.epub") as source, zipfile.ZipFile(made, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name.endswith(("html", "htm")) and b"<p" in content and b"</body>" in content:
                inner = content[content.index(b"<p") : content.index(b"</body>")]
                content = content.replace(b"</body>", inner * 100 + b"</body>")
            target.writestr(name, content)
    return made.getvalue()


def long_word() -> bytes:
    import docx

    document = docx.Document()
    for number in range(1500):
        document.add_paragraph(
            f"{number}. A boat may go at most 4 knots inside the mole, because the wash lifts the boats."
        )
    made = io.BytesIO()
    document.save(made)
    return made.getvalue()


def long_table() -> bytes:
    return b"station,zero,highest,year\n" + b"".join(
        f"Station {number},{number % 97 / 10},{number % 61 / 10},{1900 + number % 120}\n".encode()
        for number in range(20_000)
    )


def long_json() -> bytes:
    import json

    return json.dumps(
        [
            {"name": f"Buoy {number}", "note": "Its chain is inspected by a diver each May. " * 6}
            for number in range(2_000)
        ]
    ).encode()


def size_figures(kind: str, name: str, body: bytes, bare: Callable[[bytes], None]) -> list[Figure]:
    ours, floor = seconds(lambda: parse(body, name=name)), seconds(lambda: bare(body))
    return [Figure(f"{kind}, {len(body) / 1e3:,.0f} kB", len(body) / ours / 1e6, "MB/s", "", len(body) / floor / 1e6)]


def main() -> None:
    figures: list[Figure] = []
    say("reading PDF")
    figures.extend(pdf_figures())
    for kind, name, body, bare in (
        ("web page", "a.html", long_page(), bare_page),
        ("EPUB", "a.epub", long_book(), bare_book),
        ("Word", "a.docx", long_word(), bare_word),
        ("CSV", "a.csv", long_table(), bare_table),
        ("JSON", "a.json", long_json(), bare_json),
    ):
        say(f"reading {kind}")
        figures.extend(size_figures(kind, name, body, bare))
    report("readers", figures)


if __name__ == "__main__":
    main()
