"""A small library that the tests of reading share, and bases whose embedding model remembers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pegas_assets.pipeline.accept import accept_text
from pegas_assets.pipeline.chunks import chunk_pending
from pegas_assets.runtime import Runtime
from tests.conftest import fresh_base
from tests.embedding_once import embeds_once
from tests.pipeline.reading import rows, settle, take_file, take_text

HARBOUR = (
    "# The harbour\n\nThe lantern burns about 40 litres of oil each year.\n\n# Boats\n\nThe harbour has 48 boats.\n"
)
WEIR = "The weir was rebuilt in 1954. It has nine gates."
OTHER_WEIR = "The weir was rebuilt in 1955."
LIGHTHOUSE = "Маяк построен в 1727 году. Огонь маяка виден за 20 миль."
BREAD = "Rye bread is baked for 55 minutes."
PIER = "The old pier is closed to boats."
WELL = "The well of the island is 90 m deep."
FERRY = "The ferry leaves the island at noon."
BUOY = "The buoy at the mole is painted green."
CONTESTED = "The tide at the mole rises 3 m."
CONTESTING = "The tide at the mole rises 5 m."
EVERYTHING = "harbour lantern boats weir маяк bread pier well ferry buoy tide"


@pytest.fixture
def base(home: Path) -> Iterator[Runtime]:
    """A base of this test alone."""
    with fresh_base(home) as made:
        yield embeds_once(made)


def mark(base: Runtime, document: int, status: str, confidence: float = 0.5) -> None:
    """Give all atoms of a document a status, with a reason."""
    rows(
        base,
        "UPDATE pm_atom SET status = %s, status_reason = 'said so', confidence = %s WHERE doc_id = %s",
        status,
        confidence,
        document,
    )


@pytest.fixture(scope="session")
def library(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    """Ten short documents in every state; tests read it and change nothing.

    The ferry's is not distilled, the buoy's not projected; the well's is stale, the pier's rejected; the bread's verified.
    """
    file = tmp_path_factory.mktemp("library") / "harbour.md"
    file.write_text(HARBOUR, encoding="utf-8")
    with fresh_base(home) as made:
        embeds_once(made)
        take_file(made, file)
        take_text(made, WEIR, title="Of weirs", client="reader")
        take_text(made, OTHER_WEIR, client="other")
        take_text(made, LIGHTHOUSE, client="читатель")
        mark(made, take_text(made, BREAD, client="cook"), "verified", 0.9)
        mark(made, take_text(made, WELL, client="reader"), "stale")
        mark(made, take_text(made, PIER, client="reader"), "rejected")
        mark(made, take_text(made, CONTESTED, client="reader"), "contested")
        take_text(made, CONTESTING, client="other")
        rows(
            made,
            "INSERT INTO pm_atom_link (src, dst, kind) SELECT a.id, b.id, 'contradicts' FROM pm_atom AS a, pm_atom AS b "
            "WHERE a.content = %s AND b.content = %s AND a.type = b.type",
            CONTESTING,
            CONTESTED,
        )
        settle(made)
        take_text(made, BUOY, client="reader")
        accept_text(made.database, made.settings, FERRY, client="reader")
        chunk_pending(made.database, made.settings, made.embedder, "text:reader")
        yield made
