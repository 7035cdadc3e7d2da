"""Documents of other kinds through the whole line: locked, scanned, damaged, and the same text in several forms."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegas_assets.pipeline.accept import accept_files
from pegas_assets.pipeline.refresh import refresh_named
from pegas_assets.runtime import Runtime
from pegas_assets.stores.operations import operation_state
from tests.pipeline.reading import ingest, one, rows, take_file
from tests.pipeline.test_same_text import MARKDOWN, PAGE
from tests.sources.pdf_files import lines, pdf
from tests.sources.test_pdf import DOMES, LEFT, RIGHT, scanned


def take(base: Runtime, path: Path, password: str = "") -> dict[str, int]:
    accepted = accept_files(base.database, base.settings, str(path), password=password)
    for source in accepted.sources:
        ingest(base, source)
    with base.database.connection() as connection:
        return operation_state(connection, accepted.operation_id).counts


def test_a_locked_file_is_refused_without_its_password_and_kept_open_with_it(base: Runtime, tmp_path: Path) -> None:
    import pymupdf

    file = tmp_path / "locked.pdf"
    file.write_bytes(pdf(lines(*LEFT), encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="hops", owner_pw="boss"))
    assert take(base, file) == {"refused": 1}
    assert rows(base, "SELECT status, attempts < 3 FROM pm_document") == [("refused", True)]
    assert "password" in one(base, "SELECT error FROM pm_document")
    assert one(base, "SELECT count(*) FROM pm_document_body") == 0
    assert take(base, file, "malt") == {"refused": 1}
    assert take(base, file, "hops") == {"done": 1}
    assert rows(base, "SELECT kind, status, error FROM pm_document") == [("pdf", "done", None)]
    kept = bytes(one(base, "SELECT bytes FROM pm_document_body"))
    assert b"/Encrypt" not in kept
    assert take(base, file, "hops") == {"unchanged": 1}
    # Nobody gives the password each time a folder is looked at.
    assert take(base, file) == {"unchanged": 1}
    assert refresh_named(base.database, base.settings, [str(file)]).items[0].outcome == "unchanged"
    assert bytes(one(base, "SELECT bytes FROM pm_document_body")) == kept
    everything = rows(
        base, "SELECT to_jsonb(d)::text FROM pm_document d UNION SELECT to_jsonb(i)::text FROM pm_operation_item i"
    )
    assert not any("hops" in text for (text,) in everything)


def test_a_citation_of_a_page_says_the_page(base: Runtime, tmp_path: Path) -> None:
    file = tmp_path / "domes.pdf"
    file.write_bytes(pdf(lines(*LEFT), lines(*RIGHT)))
    take_file(base, file)
    cited = dict(rows(base, "SELECT quoted_text, locator->>'page' FROM pm_citation"))
    salt = " ".join(RIGHT)
    assert cited[f"{DOMES}\n\n{salt}"] == "1"
    assert cited["After a thousand years a crust as thick as a house lies where the lake was."] == "2"


def test_a_scan_has_a_status_of_its_own_and_leaves_nothing(base: Runtime, tmp_path: Path) -> None:
    file = tmp_path / "scan.pdf"
    file.write_bytes(pdf(scanned))
    assert take(base, file) == {"needs_ocr": 1}
    assert one(base, "SELECT count(*) FROM pm_chunk") == 0
    # After OCR it is another file under the same address.
    file.write_bytes(pdf(lines(*LEFT)))
    assert take(base, file) == {"done": 1}


def test_one_text_in_several_forms_is_one_document_with_its_addresses(base: Runtime, tmp_path: Path) -> None:
    prose = MARKDOWN.split("- first")[0]
    (tmp_path / "a.md").write_text(prose)
    (tmp_path / "b.html").write_text(PAGE.split("<ul>")[0] + "</body></html>")
    (tmp_path / "c.txt").write_text(
        prose.replace("# ", "")
        .replace("*", "")
        .replace("[the survey](https://example.org/x_(y))", "the survey")
        .replace("\n", "\r\n")
    )
    (tmp_path / "d.pdf").write_bytes(
        pdf(
            lambda page: [
                page.insert_text((72, 80), "Granite domes", fontsize=18),
                page.insert_text((72, 110), "Granite domes exfoliate when pressure"),
                page.insert_text((72, 124), "falls. See the survey."),
            ]
        )
    )
    assert take(base, tmp_path) == {"done": 1, "duplicate": 3}
    assert one(base, "SELECT count(*) FROM pm_document") == 1
    addresses = {uri.rpartition("/")[2] for (uri,) in rows(base, "SELECT uri FROM pm_document_uri")}
    assert addresses == {"a.md", "b.html", "c.txt", "d.pdf"}


@pytest.mark.parametrize("name", ["broken.pdf", "broken.epub", "broken.docx"])
def test_a_damaged_file_is_refused_in_a_sentence_and_holds_up_nothing(base: Runtime, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(
        {"pdf": b"%PDF-1.7\n", "epub": b"PK\x03\x04", "docx": b"PK\x03\x04"}[name[-4:].strip(".")] + b"\x00\x01" * 300
    )
    (tmp_path / "good.md").write_text("The weir was rebuilt in 1954.\n")
    assert take(base, tmp_path) == {"done": 1, "refused": 1}
    assert "damaged" in one(base, "SELECT error FROM pm_document WHERE status = 'refused'")
