"""What the schema itself guarantees, whoever writes."""

from __future__ import annotations

import json

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pegas_assets.identity import bucket_of, sha256_hex
from pegas_assets.model import AtomStatus, DocumentKind
from pegas_assets.runtime import Runtime
from pegas_assets.stores import documents
from pegas_assets.stores.atoms import set_status
from pegas_assets.stores.documents import Body, NewDocument
from pegas_assets.text.cleaning import clean_json, clean_text
from tests.stores.rows import make_atoms, make_document, make_link


def outbox(base: Runtime) -> list[tuple[str, str, str | None, int]]:
    with base.database.connection() as connection:
        return connection.execute("SELECT entity_key, op, anchor_key, bucket FROM pm_outbox ORDER BY id").fetchall()


def empty_outbox(base: Runtime) -> None:
    with base.database.connection() as connection:
        connection.execute("DELETE FROM pm_outbox")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(key=st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\x00"), max_size=80))
def test_bucket_and_hash_are_the_same_in_sql_and_python(runtime: Runtime, key: str) -> None:
    with runtime.database.connection() as connection:
        row = connection.execute("SELECT pm_bucket(%s), encode(pm_sha256(%s), 'hex')", [key, key]).fetchone()
    assert row == (bucket_of(key), sha256_hex(key))


def test_every_write_of_an_atom_leaves_an_outbox_row(base: Runtime) -> None:
    document = make_document(base.database)
    (atom,) = make_atoms(base.database, document, ["Bees dance."])
    key = f"atom:{atom}"
    assert (key, "upsert", None, bucket_of(key)) in outbox(base)
    for statement, op in (
        ("UPDATE pm_atom SET confidence = 0.9 WHERE id = %s", "upsert"),
        ("UPDATE pm_citation SET quoted_text = 'Bees do dance.' WHERE atom_id = %s", "upsert"),
        ("DELETE FROM pm_citation WHERE atom_id = %s", "upsert"),
        ("DELETE FROM pm_atom WHERE id = %s", "delete"),
    ):
        empty_outbox(base)
        with base.database.connection() as connection:
            connection.execute(statement.encode(), [atom])
        assert outbox(base) == [(key, op, None, bucket_of(key))], statement


def test_a_cascade_enqueues_the_links_of_a_deleted_atom_under_their_source(base: Runtime) -> None:
    first, second = make_atoms(base.database, make_document(base.database), ["One.", "Two."])
    link = make_link(base.database, first, second)
    empty_outbox(base)
    with base.database.connection() as connection:
        connection.execute("DELETE FROM pm_atom WHERE id = %s", [second])
    source = f"atom:{first}"
    assert set(outbox(base)) == {
        (f"atom:{second}", "delete", None, bucket_of(f"atom:{second}")),
        (f"link:{link}", "delete", source, bucket_of(source)),
    }


def test_rows_of_one_transaction_coalesce_and_the_last_operation_stands(base: Runtime) -> None:
    empty_outbox(base)
    with base.database.connection() as connection:
        row = connection.execute(
            "INSERT INTO pm_atom (type, content, content_hash) VALUES ('fact', 'x', 'x') RETURNING id"
        ).fetchone()
        assert row is not None
        connection.execute("UPDATE pm_atom SET confidence = 0.1 WHERE id = %s", [row[0]])
        connection.execute("DELETE FROM pm_atom WHERE id = %s", [row[0]])
    assert [(key, op) for key, op, _, _ in outbox(base)] == [(f"atom:{row[0]}", "delete")]


def test_working_columns_of_a_document_change_no_projection(base: Runtime) -> None:
    document = make_document(base.database)
    empty_outbox(base)
    with base.database.connection() as connection:
        connection.execute(
            "UPDATE pm_document SET attempts = 3, etag = 'x', updated_at = now() WHERE id = %s", [document]
        )
    assert outbox(base) == []
    with base.database.connection() as connection:
        connection.execute("UPDATE pm_document SET title = 'Another' WHERE id = %s", [document])
    assert [(key, op) for key, op, _, _ in outbox(base)] == [(f"doc:{document}", "upsert")]


def test_symbols_and_dependencies_are_enqueued_too(base: Runtime) -> None:
    with base.database.connection() as connection:
        connection.execute(
            "INSERT INTO pm_code_symbol (repo, path, language, symbol_name, kind) VALUES ('r', 'a.py', 'python', 'f', 'function')"
        )
        connection.execute(
            "INSERT INTO pm_code_dependency (repo, path, language, src, dst, kind) VALUES ('r', 'a.py', 'python', 'f', 'g', 'calls')"
        )
    assert [key.split(":")[0] for key, *_ in outbox(base)] == ["symbol", "dependency"]


@pytest.mark.parametrize(
    "table", ["pm_atom", "pm_atom_link", "pm_citation", "pm_document", "pm_code_symbol", "pm_code_dependency"]
)
def test_truncate_is_refused(base: Runtime, table: str) -> None:
    with (
        pytest.raises(psycopg.errors.FeatureNotSupported, match="would leave the projections behind"),
        base.database.connection() as connection,
    ):
        connection.execute(f"TRUNCATE {table} CASCADE".encode())


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO pm_document (kind, source) VALUES ('poem', 's')",
        "INSERT INTO pm_document (kind, source, status) VALUES ('text', 's', 'lost')",
        "INSERT INTO pm_atom (type, content, content_hash) VALUES ('opinion', 'x', 'y')",
        "INSERT INTO pm_atom (type, content, content_hash, confidence) VALUES ('fact', 'x', 'y', 1.5)",
        "INSERT INTO pm_research_gap (question, reason) VALUES ('why?', 'boredom')",
        "INSERT INTO pm_episodic_trace (session_id, step, kind, content) VALUES ('s', 1, 'dream', 'x')",
    ],
)
def test_an_unknown_word_is_refused_by_the_table(base: Runtime, statement: str) -> None:
    with pytest.raises(psycopg.errors.CheckViolation), base.database.connection() as connection:
        connection.execute(statement.encode())


def test_inferred_links_take_any_token_and_stated_ones_the_closed_list(base: Runtime) -> None:
    first, second = make_atoms(base.database, make_document(base.database), ["One.", "Two."])
    with base.database.connection() as connection:
        connection.execute(
            "INSERT INTO pm_atom_link (src, dst, kind, inferred, source) VALUES (%s, %s, 'reaches_by_rule', true, 'inference')",
            [first, second],
        )
    with pytest.raises(psycopg.errors.CheckViolation):
        make_link(base.database, first, second, "reaches_by_rule")


def test_a_rejected_claim_stays_rejected_when_its_text_comes_again(base: Runtime) -> None:
    document = make_document(base.database)
    (atom,) = make_atoms(base.database, document, ["The moon is cheese."])
    with base.database.connection() as connection:
        set_status(connection, atom, AtomStatus.REJECTED, "It is rock.")
        connection.execute("DELETE FROM pm_atom WHERE id = %s", [atom])
    (again,) = make_atoms(base.database, document, ["The moon is cheese."])
    with base.database.connection() as connection:
        row = connection.execute("SELECT status, status_reason FROM pm_atom WHERE id = %s", [again]).fetchone()
        assert row == ("rejected", "It is rock.")
        set_status(connection, again, AtomStatus.CANDIDATE, "Somebody looked again.")
        assert connection.execute("SELECT count(*) FROM pm_rejection").fetchone() == (0,)


def test_the_history_keeps_each_status_with_its_reason(base: Runtime) -> None:
    (atom,) = make_atoms(base.database, make_document(base.database), ["Tea is a drink."])
    with base.database.connection() as connection:
        set_status(connection, atom, AtomStatus.CONTESTED, "Another source says otherwise.")
    with base.database.connection() as connection:
        rows = connection.execute(
            "SELECT status, reason FROM pm_atom_history WHERE atom_id = %s ORDER BY id", [atom]
        ).fetchall()
    assert rows == [("candidate", ""), ("contested", "Another source says otherwise.")]


def test_cyrillic_is_found_in_any_case_and_form(base: Runtime) -> None:
    make_atoms(base.database, make_document(base.database), ["Ёлка стоит у дома №7"])
    with base.database.connection() as connection:
        for query in ("елки", "ДОМЕ", "дом 7"):
            row = connection.execute(
                "SELECT count(*) FROM pm_atom WHERE pm_tsvector(content) @@ websearch_to_tsquery('russian', pm_search_copy(%s))",
                [query],
            ).fetchone()
            assert row == (1,), query
        assert connection.execute("SELECT count(*) FROM pm_atom WHERE claim ILIKE '%ёЛКА%'").fetchone() == (1,)


def test_a_nine_thousand_letter_address_is_stored_found_and_known_again(base: Runtime) -> None:
    import random

    letters = random.Random(7)
    address = "https://example.org/?" + "".join(
        letters.choice("abcdefghijklmnopqrstuvwxyz0123456789") for _ in range(9000)
    )
    title = "ж" * 9000
    new = NewDocument(kind=DocumentKind.WEB, source="web:example.org", uri=address, title=title)
    with base.database.connection() as connection:
        document = documents.insert_document(connection, new)
        known = documents.find_by_uri(connection, address)
        assert known is not None
        assert known.document_id == document
        with pytest.raises(psycopg.errors.UniqueViolation):
            connection.execute("INSERT INTO pm_document_uri (doc_id, uri) VALUES (%s, %s)", [document, address])


def test_a_symbol_with_a_long_name_is_stored_once(base: Runtime) -> None:
    name = "A<" * 3000 + "int" + ">" * 3000
    statement = (
        "INSERT INTO pm_code_dependency (repo, path, language, src, dst, kind) VALUES ('r', 'p', 'cpp', %s, 'f', 'calls') "
        "ON CONFLICT DO NOTHING"
    )
    with base.database.connection() as connection:
        assert [connection.execute(statement, [name]).rowcount for _ in range(2)] == [1, 0]
        connection.execute(
            "INSERT INTO pm_code_symbol (repo, path, language, symbol_name, kind) VALUES ('r', 'p', 'cpp', %s, 'type')",
            [name],
        )
        row = connection.execute(
            "SELECT symbol_name FROM pm_code_symbol WHERE pm_sha256(symbol_name) = pm_sha256(%s)", [name]
        ).fetchone()
    assert row == (name,)


def test_nul_in_text_and_json_is_cleaned_and_the_rest_kept(base: Runtime) -> None:
    rows = json.loads(
        '[{"text":"plain","meta":{}},{"text":"a\\u0000b","meta":{}},{"text":"c","meta":{"k":"x\\u0000y","\\u0000key":1}},{"text":"\\u0000","meta":{}}]'
    )
    with base.database.connection() as connection:
        for row in rows:
            documents.insert_document(
                connection,
                NewDocument(
                    kind=DocumentKind.TEXT,
                    source="text:t",
                    title=row["text"],
                    meta=row["meta"],
                    body=Body(row["text"].encode()),
                ),
            )
        stored = connection.execute("SELECT coalesce(title, ''), meta FROM pm_document ORDER BY id").fetchall()
    assert stored == [(clean_text(row["text"]), clean_json(row["meta"])) for row in rows]
    assert "\x00" not in json.dumps(stored, ensure_ascii=False)
