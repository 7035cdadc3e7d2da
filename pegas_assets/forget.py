"""Forgets a document: what was derived from it alone goes, from every table, cache and projection; the rest stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pegas_assets.errors import InvalidInput, NotFound
from pegas_assets.identity import atom_hash
from pegas_assets.projection.drain import Drained, drain
from pegas_assets.projection.targets import Target
from pegas_assets.stores.atoms import retire_unsupported
from pegas_assets.stores.documents import documents_awaited
from pegas_assets.stores.embeddings import Embedded, drop_unused
from pegas_assets.stores.locks import lock_dedup, release_document, try_document
from pegas_assets.stores.postgres import Connection, Database
from pegas_assets.text.cleaning import clean_text
from pegas_assets.text.folding import words


@dataclass(frozen=True)
class Forgotten:
    """What went, what stayed because another document supports it, and how the projections followed."""

    document_id: int
    atoms_removed: int
    atoms_kept: int
    citations_removed: int
    embeddings_removed: int
    drained: list[Drained] = field(default_factory=list)


def forget(
    database: Database,
    targets: Sequence[Target],
    *,
    document_id: int | None = None,
    uri: str | None = None,
) -> Forgotten:
    """Forget one document, named by its number or an address.

    A row with kind, source, status and times stays, so that an operation that brought it can still be asked about; no
    word of its text, title or address does. A projection that is down follows when it is back; hits are read from
    PostgreSQL, so nobody sees it meanwhile.

    Raises:
        NotFound: there is no such document, or it is forgotten already.
        EngineUnavailable: PostgreSQL does not answer; nothing changed. Or a worker holds the document (code `busy`).
    """
    if (document_id is None) == (uri is None):
        raise InvalidInput("Name one document, by its number or by its address.", hint="Give one of the two.")
    with database.session() as session:
        found = document_id if document_id is not None else _by_uri(session, uri or "")
        if not try_document(session, found):
            raise InvalidInput(
                f"Document {found} is being worked on.", hint="Try again in a moment.", code="busy", retryable=True
            )
        try:
            result, keys = database.transaction(lambda connection: _forget(connection, found))
        finally:
            release_document(session, found)
    drained = drain(database, targets, keys=keys, wait_s=5.0)
    return Forgotten(**{**result.__dict__, "drained": drained})


def _by_uri(connection: Connection, uri: str) -> int:
    row = connection.execute(
        "SELECT doc_id FROM pm_document_uri WHERE uri_hash = pm_sha256(%s)", [clean_text(uri)]
    ).fetchone()
    if row is None:
        raise NotFound(
            f"No document has the address {uri}.", hint="Name it by the number that a search shows.", item=uri
        )
    return int(row[0])


def _forget(connection: Connection, document_id: int) -> tuple[Forgotten, list[str]]:
    # A sibling that is being ingested decides about the same atoms: one after the other.
    lock_dedup(connection)
    row = connection.execute("SELECT status FROM pm_document WHERE id = %s FOR UPDATE", [document_id]).fetchone()
    if row is None or row[0] == "forgotten":
        raise NotFound(
            f"There is no document {document_id}.", hint="It may have been forgotten already.", item=str(document_id)
        )
    cited = [
        found[0]
        for found in connection.execute(
            "SELECT DISTINCT atom_id FROM pm_citation WHERE doc_id = %s UNION SELECT id FROM pm_atom WHERE doc_id = %s",
            [document_id, document_id],
        ).fetchall()
    ]
    citations = connection.execute("DELETE FROM pm_citation WHERE doc_id = %s", [document_id]).rowcount
    alone = connection.execute(
        """
        SELECT id, type, coalesce(claim, ''), content, context FROM pm_atom
        WHERE id = ANY(%s) AND NOT EXISTS (SELECT FROM pm_citation WHERE atom_id = pm_atom.id)
        """,
        [cited],
    ).fetchall()
    gone = [found[0] for found in alone]
    reworded = _reword(connection, _rehome(connection, document_id, gone))
    connection.execute(
        "DELETE FROM pm_distillation WHERE chunk_hash IN (SELECT content_hash FROM pm_chunk WHERE doc_id = %(id)s) "
        "AND NOT EXISTS (SELECT FROM pm_chunk WHERE content_hash = chunk_hash AND doc_id <> %(id)s)",
        {"id": document_id},
    )
    connection.execute("DELETE FROM pm_atom WHERE id = ANY(%s)", [gone])
    retire_unsupported(connection, cited)
    embeddings = drop_unused(connection, [*(Embedded(*found[1:]) for found in alone), *reworded], cut=True)
    for statement in (
        "DELETE FROM pm_chunk WHERE doc_id = %s",
        "DELETE FROM pm_document_body WHERE doc_id = %s",
        "DELETE FROM pm_document_uri WHERE doc_id = %s",
        "UPDATE pm_operation_item SET item = '', reason = '' WHERE doc_id = %s",
        "UPDATE pm_document SET status = 'forgotten', forgotten_at = now(), updated_at = now(), uri = NULL, title = NULL, "
        "content_hash = NULL, meta = '{}', warnings = '[]', error = NULL, error_code = NULL, etag = NULL, "
        "last_modified = NULL, parsed_sha256 = NULL WHERE id = %s",
    ):
        connection.execute(statement, [document_id])
    result = Forgotten(document_id, len(gone), len(cited) - len(gone), citations, embeddings)
    keys = {f"doc:{document_id}", *(f"atom:{atom}" for atom in cited), *documents_awaited(connection, cited)}
    return result, sorted(keys)


def _rehome(connection: Connection, document_id: int, gone: Sequence[int]) -> list[tuple[int, Embedded]]:
    """Give atoms that another document supports to the oldest that does, place and headings too; returns them as they were."""
    before = connection.execute(
        "SELECT id, type, coalesce(claim, ''), content, context FROM pm_atom WHERE doc_id = %s AND NOT id = ANY(%s)",
        [document_id, list(gone)],
    ).fetchall()
    connection.execute(
        """
        UPDATE pm_atom SET updated_at = now(), (doc_id, locator, context) = (
            SELECT doc_id, locator, coalesce(
                       (SELECT string_agg(heading, ' › ' ORDER BY place)
                        FROM jsonb_array_elements_text(locator->'section') WITH ORDINALITY AS section (heading, place)), '')
            FROM pm_citation WHERE atom_id = pm_atom.id ORDER BY gone_at NULLS FIRST, id LIMIT 1)
        WHERE id = ANY(%s)
        """,
        [[row[0] for row in before]],
    )
    return [(row[0], Embedded(*row[1:])) for row in before]


def _reword(connection: Connection, atoms: Sequence[tuple[int, Embedded]]) -> list[Embedded]:
    """Say atoms that stay in the words of those who still state them; returns what they were embedded as."""
    supports: dict[int, tuple[str, set[str]]] = {}
    for atom_id, quotation, passage in connection.execute(
        """
        SELECT citation.atom_id, citation.quoted_text,
               citation.quoted_text || ' ' || coalesce(chunk.content, '') || ' ' || citation.locator::text
        FROM pm_citation AS citation LEFT JOIN pm_chunk AS chunk ON chunk.id = citation.chunk_id
        WHERE citation.atom_id = ANY(%s) ORDER BY citation.gone_at NULLS FIRST, citation.id
        """,
        [[atom_id for atom_id, _ in atoms]],
    ).fetchall():
        supports.setdefault(atom_id, (quotation, set()))[1].update(words(passage))
    for atom_id, was in atoms:
        quotation, known = supports[atom_id]
        if not known.issuperset(words(f"{was.claim} {was.content}")):
            connection.execute(
                """
                UPDATE pm_atom SET claim = left(%(text)s, 500), content = %(text)s, content_hash = %(hash)s,
                       metadata = '{}', updated_at = now()
                WHERE id = %(id)s AND NOT EXISTS (SELECT FROM pm_atom WHERE content_hash = %(hash)s)
                """,
                {"text": quotation, "hash": atom_hash(was.type, quotation), "id": atom_id},
            )
    return [was for _, was in atoms]
