"""`SIGKILL` at any point of ingest: what was accepted is done in the end, once."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pegas_assets.pipeline.accept import accept_files
from pegas_assets.runtime import Runtime
from pegas_assets.stores.operations import operation_state
from tests.conftest import fresh_base
from tests.embedding_once import embeds_once
from tests.pipeline.reading import ingest, one, rows, settle, total_drift

ROUNDS = 4
"""Fewer than the attempts after which a document is failed for killing its worker."""
TEXTS = {
    "weir": "# The weir\n\nThe weir was rebuilt in 1954. It has nine gates.\n\n# Upkeep\n\nThe gates are painted every 4 years.\n",
    "lantern": "The lantern burns about 40 litres of oil each year.\n",
    "book": "From the keeper's book.\n\nThe lantern burns approximately 40 liters of oil every year.\n",
    "mole": "# The mole\n\nA mole is a wall of stone that keeps the sea out.\n\n# Its length\n\nThe mole is 310 m long.\n",
    "маяк": "# Маяк\n\nМаяк построен в 1727 году.\n\n# Огонь\n\nОгонь маяка виден за 20 миль.\n",
    "other": "# The weir\n\nThe weir was rebuilt in 1955.\n\n# The boats\n\nThe harbour has 48 boats.\n",
    "copy": "The lantern  burns about 40 litres of oil each year.\r\n",
    "rules": "| berth | boats |\n|---|---|\n| 1 | 4 |\n| 2 | 6 |\n\nBoats must leave berth 2 before noon.\n",
}
WORKER = """
import sys
from pathlib import Path
from pegas_assets.pipeline.ingest import ingest_source
from pegas_assets.projection.drain import drain
from pegas_assets.runtime import Runtime
from pegas_assets.settings import Settings

with Runtime(Settings(_env_file=None, home=Path(sys.argv[1]), base=sys.argv[2])) as runtime:
    runtime.embedder.embed_query("warm")
    print("ready", flush=True)
    ingest_source(runtime.ingest_parts, sys.argv[3])
    drain(runtime.database, runtime.targets)
"""


def content_of(base: Runtime) -> tuple[list[tuple[object, ...]], ...]:
    """All that ingest makes, without ids and times."""
    return tuple(
        rows(base, statement)
        for statement in (
            "SELECT title, kind, source, status, language, content_hash, error FROM pm_document ORDER BY content_hash",
            "SELECT content, seq, locator, distil_state FROM pm_chunk ORDER BY content, seq",
            "SELECT type, content_hash, claim, content, status, confidence FROM pm_atom ORDER BY type, content_hash",
            "SELECT atom.content_hash, document.content_hash, citation.quoted_text, citation.locator, citation.gone_at "
            "FROM pm_citation AS citation JOIN pm_atom AS atom ON atom.id = atom_id "
            "JOIN pm_document AS document ON document.id = citation.doc_id ORDER BY 1, 2, 3",
            "SELECT least(a.content_hash, b.content_hash), greatest(a.content_hash, b.content_hash), reason "
            "FROM pm_contradiction_candidate JOIN pm_atom AS a ON a.id = atom_a JOIN pm_atom AS b ON b.id = atom_b "
            "ORDER BY 1, 2",
            "SELECT text_hash FROM pm_embedding ORDER BY 1",
        )
    )


@pytest.mark.faults
def test_ingest_that_is_killed_again_and_again_ends_as_one_that_ran_through(home: Path, tmp_path: Path) -> None:
    for name, text in TEXTS.items():
        (tmp_path / f"{name}.md").write_text(text, encoding="utf-8")
    chance = random.Random(11)
    with fresh_base(home) as clean, fresh_base(home) as killed:
        embeds_once(clean)
        embeds_once(killed)
        started = time.monotonic()
        accepted = accept_files(clean.database, clean.settings, str(tmp_path))
        ingest(clean, accepted.sources[0])
        settle(clean)
        whole_s = max(time.monotonic() - started, 0.5)

        accepted = accept_files(killed.database, killed.settings, str(tmp_path))
        (source,) = accepted.sources
        unfinished = 0
        for _ in range(ROUNDS):
            worker = subprocess.Popen(
                [sys.executable, "-c", WORKER, str(home), killed.settings.base, source],
                stdout=subprocess.PIPE,
                text=True,
            )
            try:
                assert worker.stdout is not None
                assert worker.stdout.readline() == "ready\n"
                try:
                    worker.wait(chance.uniform(0.02, whole_s / 2))
                except subprocess.TimeoutExpired:
                    unfinished += 1
            finally:
                worker.kill()
                worker.wait()
        assert unfinished > 0
        # A run that finds the documents of a dead worker does not wait for its locks.
        ingest(killed, source)
        settle(killed)

        with killed.database.connection() as connection:
            state = operation_state(connection, accepted.operation_id)
        assert state.counts == {"done": 7, "duplicate": 1}
        assert content_of(killed) == content_of(clean)
        assert one(killed, "SELECT count(*) FROM pm_chunk WHERE distilled_by IS NULL") == 0
        for base in (clean, killed):
            assert total_drift(base) == 0
