"""Made-up atoms in any number: texts of Zipf-distributed words and random unit vectors, written straight to PostgreSQL."""

from __future__ import annotations

import json
import random

import numpy as np

from pegas_assets.embedding.base import Vector
from pegas_assets.embedding.cache import text_key
from pegas_assets.embedding.passages import passage_of
from pegas_assets.identity import atom_hash
from pegas_assets.runtime import Runtime

WORDS = 20_000
ATOMS_A_DOCUMENT = 50
WORDS_AN_ATOM = 40
SYLLABLES = ("ba", "ko", "ri", "ten", "mul", "sha", "vor", "eli", "nup", "dag", "zim", "ory")


def vocabulary() -> list[str]:
    """Pronounceable words, the same each time."""
    words = []
    for number in range(WORDS):
        word, rest = "", number + 144
        while rest:
            word += SYLLABLES[rest % 12]
            rest //= 12
        words.append(word)
    return words


def fill(runtime: Runtime, atoms: int, seed: int = 7) -> None:
    """Write `atoms` text atoms with documents, chunks, citations, links and vectors."""
    chooser = random.Random(seed)
    words = vocabulary()
    weights = [1 / (rank + 10) for rank in range(WORDS)]
    dimension = runtime.embedder.fingerprint.dimension
    vectors = np.random.default_rng(seed).normal(size=(atoms, dimension)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    texts = [f"{number} " + " ".join(chooser.choices(words, weights, k=WORDS_AN_ATOM)) + "." for number in range(atoms)]
    with runtime.database.connection() as connection, connection.cursor() as cursor:
        first = _next(cursor, "pm_document")
        documents = (atoms + ATOMS_A_DOCUMENT - 1) // ATOMS_A_DOCUMENT
        with cursor.copy("COPY pm_document (id, kind, source, title, status, parsed_at, language) FROM STDIN") as copy:
            for number in range(documents):
                source = f"text:source-{number % 20}"
                copy.write_row((first + number, "text", source, f"Document {number}", "done", "now", "en"))
        first_atom = _next(cursor, "pm_atom")
        with cursor.copy(
            "COPY pm_atom (id, type, claim, content, content_hash, doc_id, language, distilled_by) FROM STDIN"
        ) as copy:
            for number, text in enumerate(texts):
                claim = " ".join(text.split()[:8])
                document = first + number // ATOMS_A_DOCUMENT
                hashed = atom_hash("text", text)
                copy.write_row((first_atom + number, "text", claim, text, hashed, document, "en", "extractive/1"))
        first_chunk = _next(cursor, "pm_chunk")
        with cursor.copy(
            "COPY pm_chunk (id, doc_id, seq, content, language, distilled_by, distil_state, text_atom_id) FROM STDIN"
        ) as copy:
            for number, text in enumerate(texts):
                document = first + number // ATOMS_A_DOCUMENT
                place = number % ATOMS_A_DOCUMENT
                copy.write_row(
                    (
                        first_chunk + number,
                        document,
                        place,
                        text,
                        "en",
                        "extractive/1",
                        "no_facts",
                        first_atom + number,
                    )
                )
        with cursor.copy("COPY pm_citation (atom_id, doc_id, chunk_id, locator, quoted_text) FROM STDIN") as copy:
            for number, text in enumerate(texts):
                copy.write_row(
                    (
                        first_atom + number,
                        first + number // ATOMS_A_DOCUMENT,
                        first_chunk + number,
                        json.dumps({"start": 0, "end": len(text)}),
                        text,
                    )
                )
        with cursor.copy("COPY pm_atom_link (src, dst, kind, confidence, source) FROM STDIN") as copy:
            for number in range(0, atoms - 1, 10):
                copy.write_row((first_atom + number, first_atom + number + 1, "reference", 0.7, "extraction"))
        fingerprint = str(runtime.embedder.fingerprint)
        with cursor.copy("COPY pm_embedding (fingerprint, text_hash, vector) FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(["text", "bytea", "bytea"])
            for text, vector in zip(texts, vectors, strict=True):
                copy.write_row((fingerprint, text_key(passage_of("text", "", text, "")), vector.tobytes()))
        for table in ("pm_document", "pm_atom", "pm_chunk"):
            cursor.execute(f"SELECT setval('{table}_id_seq', (SELECT max(id) FROM {table}))".encode())
        cursor.execute(b"ANALYZE")


def queries(count: int, dimension: int, seed: int = 11) -> list[tuple[str, Vector]]:
    """Questions of three words, each with a made-up vector."""
    chooser = random.Random(seed)
    words = vocabulary()
    vectors = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return [(" ".join(chooser.sample(words[20:4000], 3)), vector) for vector in vectors]


def _next(cursor: object, table: str) -> int:
    row = cursor.execute(f"SELECT coalesce(max(id), 0) + 1 FROM {table}".encode()).fetchone()  # type: ignore[attr-defined]
    return int(row[0])
