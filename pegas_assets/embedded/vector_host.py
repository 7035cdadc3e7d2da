"""The host of the embedded vector engine: `python -m pegas_assets.embedded.vector_host --home HOME`.

It owns every shard under `<home>/vectors`, one folder for each collection, and serves them over a Unix socket that
only its own user can reach. One thread for each connection; see `vector_wire` for the frames.
"""

from __future__ import annotations

import argparse
import gc
import logging
import os
import shutil
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any
from uuid import uuid4

from pegas_assets.embedded import shard_files
from pegas_assets.embedded.process import HostSpec, Ownership, private_directory, socket_path
from pegas_assets.embedded.shard_files import CollectionMeta
from pegas_assets.embedded.vector_codec import deletes, upserts
from pegas_assets.embedded.vector_collection import Collection, Stopping
from pegas_assets.embedded.vector_rebuild import rebuild
from pegas_assets.embedded.vector_wire import PROTOCOL, WireError, check_peer, pack_frame, receive_frame
from pegas_assets.errors import EngineUnavailable, InvalidInput, NotFound, PegasError

log = logging.getLogger(__name__)

NAME = "vectors"
_BACKLOG = 128
_FLUSH_EVERY_S = 0.5
_SWITCH_INTERVAL_S = 0.001
_GC_ALLOCATIONS = 200_000


def vector_host(home: Path) -> HostSpec:
    """The host of the vector engine for a home."""
    return HostSpec(NAME, ("pegas_assets.embedded.vector_host", "--home", str(home)), home, component="vectors")


def engine_version() -> str:
    return f"qdrant-edge {installed_version('qdrant-edge-py')} (embedded)"


class Collections:
    """All collections of a home, by name."""

    def __init__(self, root: Path) -> None:
        self.root = private_directory(root)
        self._lock = threading.Lock()
        self._by_name: dict[str, Collection] = {}
        for name in shard_files.sweep(root):
            log.info("swept %s, left by a process that was killed", name)
        for folder in sorted(root.iterdir()):
            try:
                collection = Collection(folder)
            except (OSError, ValueError, KeyError) as error:
                log.error("%s is no collection: %s", folder.name, error)
                continue
            self._by_name[collection.meta.name] = collection

    def get(self, name: str) -> Collection:
        with self._lock:
            collection = self._by_name.get(name)
        if collection is None:
            raise NotFound(f"There is no vector collection {name}.", hint="Make it first.", item=name)
        return collection

    def find(self, name: str) -> Collection | None:
        with self._lock:
            return self._by_name.get(name)

    def names(self) -> list[str]:
        with self._lock:
            return sorted(self._by_name)

    def all(self) -> list[Collection]:
        with self._lock:
            return list(self._by_name.values())

    def ensure(self, meta: CollectionMeta, indexes: Mapping[str, str]) -> None:
        with self._lock:
            collection = self._by_name.get(meta.name)
            if collection is None:
                collection = self._by_name[meta.name] = Collection.create(self.root, meta)
        collection.check(meta.dimension, meta.fingerprint)
        collection.ensure_indexes(indexes)

    def drop(self, name: str) -> None:
        with self._lock:
            collection = self._by_name.get(name)
            if collection is None:
                return
            collection.close(drop=True)
            trash = self.root / f"{shard_files.TRASH}{uuid4().hex}"
            collection.folder.rename(trash)
            del self._by_name[name]
        shutil.rmtree(trash, ignore_errors=True)


class Server:
    """Answers frames from any number of connections."""

    def __init__(self, collections: Collections, path: Path) -> None:
        self.collections = collections
        self.path = path
        self.stopping = False
        self.last_request = time.monotonic()
        self._listener = self._listen()

    def watch(self) -> None:
        """Listen again where somebody removed the socket."""
        if not self.path.exists():
            old, self._listener = self._listener, self._listen()
            _close(old)

    def close(self) -> None:
        self.stopping = True
        self.path.unlink(missing_ok=True)
        _close(self._listener)

    def _listen(self) -> socket.socket:
        self.path.unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(self.path))
        self.path.chmod(0o600)
        listener.listen(_BACKLOG)
        threading.Thread(target=self._accept, args=(listener,), name="accept", daemon=True).start()
        return listener

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                if self.stopping or listener is not self._listener:
                    return
                log.exception("cannot take a connection")
                time.sleep(0.1)  # Out of descriptors, most likely: the next may fit again.
                continue
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                check_peer(connection)
                while True:
                    message, blob = receive_frame(connection)
                    self.last_request = time.monotonic()
                    connection.sendall(pack_frame(self._answer(connection, message, blob)))
            except EOFError:
                pass
            except WireError as error:
                log.warning("a connection was dropped: %s", error)
            except OSError:
                log.debug("a client went away, or the host is stopping")
            except ValueError:
                log.exception("an answer could not be sent")

    def _answer(self, connection: socket.socket, message: dict[str, Any], blob: bytearray) -> dict[str, Any]:
        try:
            if message.get("op") == "optimize":
                return {"ok": rebuild(self.collections.get(message["name"]), _teller(connection, message["name"]))}
            operation = _OPERATIONS.get(str(message.get("op")))
            if operation is None:
                raise InvalidInput("The vector host does not know this operation.", hint="Run `pegas down` once.")
            return {"ok": operation(self.collections, message, blob)}
        except PegasError as error:
            return {"error": error.code, "message": error.message, "hint": error.hint, "item": error.item}
        except Stopping:
            raise
        # The engine raises bare exceptions, and its panics are no Exception at all; the connection outlives both.
        except BaseException as error:
            log.exception("%s failed", message.get("op"))
            return {
                "error": EngineUnavailable.code,
                "message": f"The vector engine failed in {message.get('op')}: {str(error)[:300]}.",
                "hint": f"See the log of the host process, {NAME}.log.",
                "item": str(message.get("name", "")),
            }


def _close(listener: socket.socket) -> None:
    # Closing alone would not wake the thread that accepts.
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def _teller(connection: socket.socket, name: str) -> Callable[[str], None]:
    """Passes lines of progress on; a client that has gone does not end the work."""
    gone = False

    def tell(line: str) -> None:
        nonlocal gone
        log.info("%s: %s", name, line)
        if not gone:
            try:
                connection.sendall(pack_frame({"progress": line}))
            except OSError:
                gone = True

    return tell


def _ensure(collections: Collections, message: dict[str, Any], _: bytearray) -> None:
    meta = CollectionMeta(message["name"], message["dimension"], message["fingerprint"])
    collections.ensure(meta, message["indexes"])


def _upsert(collections: Collections, message: dict[str, Any], blob: bytearray) -> None:
    collection = collections.get(message["name"])
    collection.write(upserts(message, blob, collection.meta.dimension))


def _delete(collections: Collections, message: dict[str, Any], _: bytearray) -> None:
    collections.get(message["name"]).write(deletes(message["ids"]))


def _search(collections: Collections, message: dict[str, Any], blob: bytearray) -> dict[str, Any]:
    import numpy as np

    dense = np.frombuffer(blob, "<f4").tolist() if blob else None
    sparse = tuple(message["sparse"]) if message["sparse"] else None
    found = collections.get(message["name"]).search(dense, sparse, message["filter"], message["limit"])
    return {"dense": found[0], "sparse": found[1]}


def _info(collections: Collections, message: dict[str, Any], _: bytearray) -> dict[str, Any] | None:
    collection = collections.find(message["name"])
    return None if collection is None else collection.info()


_OPERATIONS: dict[str, Callable[[Collections, dict[str, Any], bytearray], Any]] = {
    "ping": lambda collections, message, blob: engine_version(),
    "ensure": _ensure,
    "upsert": _upsert,
    "delete": _delete,
    "search": _search,
    "hashes": lambda collections, message, blob: collections.get(message["name"]).hashes(message["bucket"]),
    "info": _info,
    "collections": lambda collections, message, blob: collections.names(),
    "drop": lambda collections, message, blob: collections.drop(message["name"]),
}


def _open_all(collections: Collections) -> None:
    """Open every collection before the first caller waits for one; one that cannot be opened says so when it is used."""
    for collection in collections.all():
        try:
            collection.live()
        except EngineUnavailable as error:
            log.error("%s", error)


def _flush_forever(collections: Collections, server: Server) -> None:
    while True:
        time.sleep(_FLUSH_EVERY_S)
        idle_s = time.monotonic() - server.last_request
        for collection in collections.all():
            try:
                collection.flush_if_due(idle_s)
            except NotFound:
                continue
            except Exception:
                # Nothing is lost by it: what is not flushed is in the shard's log.
                log.exception("cannot flush %s", collection.meta.name)


def main(arguments: list[str] | None = None) -> int:
    """Serve until told to stop. Returns at once, quietly, where another process serves this home."""
    parser = argparse.ArgumentParser(prog="vector_host", description="Host of the embedded vector engine.")
    parser.add_argument("--home", type=Path, required=True)
    home = parser.parse_args(arguments).home
    ownership = Ownership.take(vector_host(home))
    if ownership is None:
        return 0
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
    sys.setswitchinterval(_SWITCH_INTERVAL_S)
    # A batch is thousands of lists and no cycle: the collector would look through them again and again, a tenth of all time.
    gc.set_threshold(_GC_ALLOCATIONS, 20, 20)
    collections = Collections(home / "vectors")
    _open_all(collections)
    server = Server(collections, socket_path(home, NAME))
    threading.Thread(target=_flush_forever, args=(collections, server), name="flush", daemon=True).start()
    log.info("serving %s, process %d", home, os.getpid())
    ownership.announce({"socket": str(server.path), "protocol": PROTOCOL}, engine_version())
    ownership.wait_for_stop(server.watch)
    log.info("stopping")
    ownership.withdraw()
    server.close()
    for collection in collections.all():
        collection.close()
    return 0


if __name__ == "__main__":
    code = main()
    logging.shutdown()
    # Threads of connections may still sit in the engine, which does not take an interpreter that is being torn down.
    os._exit(code)
