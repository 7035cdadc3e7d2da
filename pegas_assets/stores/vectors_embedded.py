"""The vector store over the embedded engine: a client of its host process, which it starts where there is none."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from pegas_assets.embedded.process import ensure_running
from pegas_assets.embedded.vector_host import vector_host
from pegas_assets.embedded.vector_wire import PROTOCOL, check_peer, pack_frame, receive_frame
from pegas_assets.embedding.base import Vector
from pegas_assets.errors import BadEmbedding, EngineUnavailable, FingerprintMismatch, InvalidInput, NotFound, PegasError
from pegas_assets.settings import Settings
from pegas_assets.stores.vector_encoding import INDEXES, conditions, encode_points, encode_query, ids_of
from pegas_assets.stores.vectors import CollectionInfo, LegHits, Point, SparseVector, VectorFilter

_START_S = 10.0
_SILENCE_S = 1.5
"""How long a silent host is believed to be at work before it is asked on another connection."""
_PING_S = 1.0
_SEARCH_S = 2.5
_WRITE_S = 600.0
_BUILD_S = 6 * 3600.0
_FRAME_POINTS = 1000
_ATTEMPTS = 3
_IDLE_CONNECTIONS = 8

_ERRORS: dict[str, type[PegasError]] = {
    error.code: error for error in (BadEmbedding, FingerprintMismatch, InvalidInput, NotFound)
}

Progress = Callable[[str], object]


class EmbeddedVectorStore:
    """A `VectorStore` whose engine lives in a process of its own, shared by all that use the same home.

    Safe to call from threads, and after a fork. Every operation can be repeated, so one that meets a dead host starts
    it again and goes on; a host that hangs is an error within 3 s.
    """

    def __init__(self, settings: Settings, *, start_timeout_s: float = _START_S) -> None:
        self._spec = vector_host(settings.home)
        self._start_timeout_s = start_timeout_s
        self._idle: list[socket.socket] = []
        self._lock = threading.Lock()
        self._pid = os.getpid()

    def ensure_collection(self, name: str, dimension: int, fingerprint: str) -> None:
        if dimension < 1:
            raise InvalidInput("A vector collection needs a dimension of at least 1.", item=name)
        wanted = {"name": name, "dimension": dimension, "fingerprint": fingerprint, "indexes": INDEXES}
        self._call({"op": "ensure", **wanted})

    def upsert(self, name: str, points: Sequence[Point]) -> None:
        frames = (
            pack_frame({"op": "upsert", "name": name, **message}, blob)
            for message, blob in encode_points(points, _FRAME_POINTS)
        )
        frame = next(frames, None)
        while frame is not None:
            ahead: list[bytes | None] = []

            def pack_next(ahead: list[bytes | None] = ahead) -> None:
                if not ahead:
                    ahead.append(next(frames, None))

            self._exchange(frame, meanwhile=pack_next)
            frame = ahead[0]

    def delete(self, name: str, keys: Sequence[str]) -> None:
        if keys:
            self._call({"op": "delete", "name": name, "ids": ids_of(keys)})

    def search(
        self,
        name: str,
        *,
        dense: Vector | None,
        sparse: SparseVector | None,
        filter: VectorFilter,
        limit: int,
    ) -> LegHits:
        if limit < 1:
            raise InvalidInput("A search needs a limit of at least 1.", item=str(limit))
        message, blob = encode_query(dense, sparse)
        if not blob and message["sparse"] is None:
            return LegHits()
        message |= {"op": "search", "name": name, "filter": conditions(filter), "limit": limit}
        found = self._call(message, blob, within_s=_SEARCH_S)
        return LegHits(tuple(map(tuple, found["dense"])), tuple(map(tuple, found["sparse"])))

    def hashes(self, name: str, bucket: int) -> dict[str, str]:
        return dict(self._call({"op": "hashes", "name": name, "bucket": bucket}))

    def info(self, name: str) -> CollectionInfo | None:
        found = self._call({"op": "info", "name": name})
        if found is None:
            return None
        return CollectionInfo(
            name=name,
            points=found["points"],
            indexed=found["indexed"],
            dimension=found["dimension"],
            fingerprint=found["fingerprint"],
            payload_indexes=tuple(found["payload_indexes"]),
        )

    def collections(self) -> list[str]:
        return list(self._call({"op": "collections"}))

    def drop_collection(self, name: str) -> None:
        self._call({"op": "drop", "name": name})

    def optimize(self, name: str, progress: Progress | None = None) -> bool:
        return bool(self._call({"op": "optimize", "name": name}, within_s=_BUILD_S, progress=progress))

    def version(self) -> str:
        return str(self._call({"op": "ping"}, within_s=_SEARCH_S))

    def close(self) -> None:
        """Close the connections of this process. The host goes on for the others."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _call(
        self,
        message: dict[str, Any],
        blob: bytes = b"",
        *,
        within_s: float = _WRITE_S,
        progress: Progress | None = None,
    ) -> Any:
        return self._exchange(pack_frame(message, blob), within_s=within_s, progress=progress)

    def _exchange(
        self,
        frame: bytes,
        *,
        within_s: float = _WRITE_S,
        progress: Progress | None = None,
        meanwhile: Callable[[], None] | None = None,
    ) -> Any:
        """One request and its answer. `meanwhile` runs while the host works, and again on a retry."""
        lost: Exception | None = None
        for attempt in range(_ATTEMPTS):
            connection: socket.socket | None = None
            try:
                connection = self._connection(fresh=attempt > 0)
                deadline = time.monotonic() + within_s
                self._send(connection, frame, deadline)
                if meanwhile is not None:
                    meanwhile()
                answer = self._receive(connection, deadline, progress)
            except (EOFError, ConnectionError, FileNotFoundError) as error:
                _close(connection)
                self.close()
                lost = error
            except TimeoutError:
                _close(connection)
                raise _unavailable("does not answer", "It may be overloaded or hang; `pegas down` ends it.") from None
            except OSError as error:
                _close(connection)
                raise _unavailable(f"cannot be reached: {error}") from error
            except BaseException:
                _close(connection)  # An answer that nobody read would be taken for the next one's.
                raise
            else:
                self._keep(connection)
                return _unwrap(answer)
        raise _unavailable(f"went away {_ATTEMPTS} times: {lost}") from lost

    def _connection(self, *, fresh: bool) -> socket.socket:
        if os.getpid() != self._pid:
            # Forked: the sockets are the parent's, and its threads may have held the lock.
            self._pid, self._lock, inherited, self._idle = os.getpid(), threading.Lock(), self._idle, []
            for connection in inherited:
                connection.close()
        if not fresh:
            with self._lock:
                if self._idle:
                    return self._idle.pop()
        return self._dial(_SILENCE_S)

    def _dial(self, timeout_s: float) -> socket.socket:
        deadline = time.monotonic() + timeout_s
        while True:
            state = ensure_running(self._spec, self._start_timeout_s)
            if state.address.get("protocol") != PROTOCOL:
                raise _unavailable("is of another version", "Run `pegas down`; the next call starts the right one.")
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                connection.settimeout(timeout_s)
                connection.connect(str(state.address["socket"]))
                check_peer(connection)
            except (FileNotFoundError, ConnectionRefusedError, BlockingIOError):
                # Its socket was removed, it is just ending, or too many knock at once: all pass.
                connection.close()
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
            except BaseException:
                connection.close()
                raise
            else:
                return connection

    def _keep(self, connection: socket.socket) -> None:
        with self._lock:
            if len(self._idle) < _IDLE_CONNECTIONS:
                self._idle.append(connection)
                return
        connection.close()

    def _send(self, connection: socket.socket, data: bytes, deadline: float) -> None:
        view = memoryview(data)
        while view:
            self._wait(connection, select.POLLOUT, deadline)
            connection.settimeout(0)
            with contextlib.suppress(BlockingIOError):
                view = view[connection.send(view) :]

    def _receive(self, connection: socket.socket, deadline: float, progress: Progress | None) -> dict[str, Any]:
        while True:
            self._wait(connection, select.POLLIN, deadline)
            answer, _ = receive_frame(connection, max(deadline, time.monotonic() + _SILENCE_S))
            if "progress" not in answer:
                return answer
            if progress is not None:
                progress(answer["progress"])

    def _wait(self, connection: socket.socket, event: int, deadline: float) -> None:
        """Wait until the host reads or writes; one that is silent must answer a ping, else it hangs.

        Raises:
            TimeoutError: it hangs, or the deadline passed.
        """
        poll = select.poll()
        poll.register(connection, event)
        while True:
            left = deadline - time.monotonic()
            if poll.poll(max(0.0, min(_SILENCE_S, left)) * 1000):
                return
            if left <= 0:
                raise TimeoutError
            self._ping(min(_PING_S, max(0.1, deadline - time.monotonic())))

    def _ping(self, timeout_s: float) -> None:
        with self._dial(timeout_s) as connection:
            connection.settimeout(timeout_s)
            connection.sendall(pack_frame({"op": "ping"}))
            receive_frame(connection, time.monotonic() + timeout_s)


def _unwrap(answer: dict[str, Any]) -> Any:
    if "error" not in answer:
        return answer["ok"]
    raise _ERRORS.get(answer["error"], EngineUnavailable)(
        answer["message"], hint=answer["hint"], item=answer["item"], component="vectors"
    )


def _unavailable(what: str, hint: str = "") -> EngineUnavailable:
    return EngineUnavailable(f"The vector engine {what}.", hint=hint, component="vectors")


def _close(connection: socket.socket | None) -> None:
    if connection is not None:
        connection.close()
