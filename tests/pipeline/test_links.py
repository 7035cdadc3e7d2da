"""Links that texts name live as long as a text names them."""

from __future__ import annotations

from pathlib import Path

from pegas_assets.forget import forget
from pegas_assets.projection.drain import drain
from pegas_assets.runtime import Runtime
from tests.pipeline.reading import ingest, one, rows, take_file, take_text

CAUSE = "The harbour froze on 3 March 1881."
EFFECT = "As a result, the pilot boats were pulled ashore by horses."
TEXT = f"{CAUSE} {EFFECT}\n"


def linked(base: Runtime) -> list[tuple[str, str, str, str]]:
    return rows(
        base,
        "SELECT a.content, b.content, link.kind, link.source FROM pm_atom_link AS link "
        "JOIN pm_atom AS a ON a.id = link.src JOIN pm_atom AS b ON b.id = link.dst ORDER BY link.id",
    )


def test_a_cause_that_a_text_names_is_a_link_and_the_same_text_again_makes_no_other(base: Runtime) -> None:
    take_text(base, TEXT)
    assert linked(base) == [(CAUSE, EFFECT, "cause", "extraction")]
    before = rows(base, "SELECT id, created_at FROM pm_atom_link")
    ((source,),) = rows(base, "SELECT source FROM pm_document")
    ingest(base, source, force=True)
    assert rows(base, "SELECT id, created_at FROM pm_atom_link") == before
    assert one(base, "SELECT count(*) FROM pm_link_support") == 1


def test_a_link_goes_with_the_last_text_that_names_it(base: Runtime, tmp_path: Path) -> None:
    one_file, other = tmp_path / "a.md", tmp_path / "b.md"
    one_file.write_text(TEXT + "\nThe first of two files says so.\n")
    other.write_text("The second of two files says so.\n\n" + TEXT)
    first, second = take_file(base, one_file), take_file(base, other)
    assert len(linked(base)) == 1
    assert one(base, "SELECT count(*) FROM pm_link_support") == 2
    forget(base.database, base.targets, document_id=first)
    assert len(linked(base)) == 1
    other.write_text(f"The second of two files says so.\n\n{CAUSE}\n\nNothing came of it.\n")
    assert take_file(base, other) == second
    assert linked(base) == []


def test_a_link_made_by_hand_stays_by_hand(base: Runtime) -> None:
    document = take_text(base, TEXT)
    with base.database.connection() as connection:
        connection.execute("DELETE FROM pm_atom_link")
        connection.execute(
            "INSERT INTO pm_atom_link (src, dst, kind, confidence) SELECT a.id, b.id, 'cause', 1 FROM pm_atom a, pm_atom b "
            "WHERE a.content = %s AND b.content = %s",
            [CAUSE, EFFECT],
        )
    ((source,),) = rows(base, "SELECT source FROM pm_document WHERE id = %s", document)
    ingest(base, source, force=True)
    assert rows(base, "SELECT source, confidence FROM pm_atom_link") == [("manual", 1.0)]
    assert one(base, "SELECT count(*) FROM pm_link_support") == 0


def test_the_graph_has_the_link_and_loses_it(base: Runtime) -> None:
    document = take_text(base, TEXT)
    drain(base.database, base.targets)
    assert drift(base) == 0
    edges = base.graph.counts()
    forget(base.database, base.targets, document_id=document)
    drain(base.database, base.targets)
    assert drift(base) == 0
    assert one(base, "SELECT count(*) FROM pm_atom_link") == 0
    assert base.graph.counts() != edges


def drift(base: Runtime) -> int:
    found = [target.compare(bucket) for target in base.targets for bucket in range(16)]
    return sum(len(one.missing) + len(one.extra) + len(one.different) for one in found)
