"""The vector index, built in a child process over a copy while the original serves.

Building holds the interpreter for its whole length, so it may not run in the host. The copy is taken between two
writes; ids written after that are noted and brought over; then a pointer moves. Killed at any point, host or child
leave the old generation serving, and the next start sweeps the copy away.
"""

from __future__ import annotations

import ctypes
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pegas_assets.embedded import shard_files
from pegas_assets.embedded.vector_codec import SLICE
from pegas_assets.embedded.vector_collection import Collection, Generation, touched_points
from pegas_assets.errors import EngineUnavailable

log = logging.getLogger(__name__)

Progress = Callable[[str], None]

_CALM_POINTS = 1_000
"""So few points are brought over while writers wait."""
_ROUNDS = 8
_TICK_S = 0.1
_TELL_S = 1.0
_PR_SET_PDEATHSIG = 1
_NICE = 5
_BUILT, _NOTHING, _ORPHAN = 0, 3, 4


def rebuild(collection: Collection, progress: Progress) -> bool:
    """Index what was written since the last time. False: there was nothing to do. One at a time for a collection.

    Raises:
        EngineUnavailable: the child failed or was killed, or the disk is full; the old generation serves on.
    """
    with collection.build_lock:
        if not collection.dirty:
            return False
        new = shard_files.next_generation(collection.folder)
        serving = finished = False
        try:
            began = time.monotonic()
            size = collection.copy(new)
            progress(f"copied {size / 1e6:.0f} MB in {time.monotonic() - began:.1f} s")
            if not _build(collection, new, progress):
                finished = True
                return False
            generation = Generation(new)
            try:
                old = _take_over(collection, generation, progress)
                serving = finished = True
            finally:
                if not serving:
                    generation.close()
        except OSError as error:
            raise _failed(collection, str(error)) from error
        finally:
            with collection.write_lock:
                collection.touched = None
                if not finished:
                    collection.dirty = True
            if not serving:
                shutil.rmtree(new, ignore_errors=True)
        old.close()
        shutil.rmtree(old.path, ignore_errors=True)
        progress("the index serves")
        return True


def _build(collection: Collection, path: Path, progress: Progress) -> bool:
    """Run the child over the copy; False where it found nothing to do."""
    began = told = time.monotonic()
    with tempfile.TemporaryFile() as complaints:
        child = subprocess.Popen(
            [sys.executable, "-P", "-m", "pegas_assets.embedded.vector_rebuild", str(path), str(os.getpid())],
            stdin=subprocess.DEVNULL,
            stdout=complaints,
            stderr=complaints,
            close_fds=True,
        )
        try:
            while child.poll() is None:
                if collection.closing.wait(_TICK_S):
                    raise _failed(collection, "the collection was closed meanwhile")
                if time.monotonic() - told >= _TELL_S:
                    told = time.monotonic()
                    progress(f"building the index, {told - began:.0f} s")
        finally:
            # Whatever ended the wait, no child outlives it.
            child.kill()
            child.wait()
        complaints.seek(0)
        lines = complaints.read().decode(errors="replace").strip().splitlines()
    if child.returncode not in (_BUILT, _NOTHING):
        how = f"signal {-child.returncode}" if child.returncode < 0 else f"exit {child.returncode}"
        raise _failed(collection, f"the building process ended with {how}{': ' + lines[-1][:200] if lines else ''}")
    progress(f"built in {time.monotonic() - began:.1f} s")
    return child.returncode == _BUILT


def _take_over(collection: Collection, generation: Generation, progress: Progress) -> Generation:
    """Bring the new generation level, and let it serve; returns the old one."""
    brought = 0
    for _ in range(_ROUNDS):
        if len(collection.touched or ()) <= _CALM_POINTS:
            break
        with collection.write_lock:
            ids, collection.touched = list(collection.touched or ()), set()
        _bring(collection, generation, ids)
        brought += len(ids)
    with collection.write_lock:
        ids = list(collection.touched or ())
        _bring(collection, generation, ids)
        brought += len(ids)
        collection.copy_indexes(generation)
        generation.shard.flush()
        progress(f"brought over {brought} points written meanwhile")
        return collection.switch(generation)


def _bring(collection: Collection, generation: Generation, ids: list[str]) -> None:
    for start in range(0, len(ids), SLICE):
        with collection.reading() as shard:
            for operation, _ in touched_points(shard, ids[start : start + SLICE]):
                generation.shard.update(operation)


def _failed(collection: Collection, why: str) -> EngineUnavailable:
    return EngineUnavailable(
        f"The index of {collection.meta.name} was not built: {why}.",
        hint="Searches go on as before; try again.",
        item=collection.meta.name,
        component="vectors",
    )


def _child(path: str, parent: int) -> int:
    """The child: index the shard at `path`, and die with the host."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        return _ORPHAN
    os.nice(_NICE)
    from qdrant_edge import EdgeShard

    shard = EdgeShard.load(path)
    built = shard.optimize()
    shard.flush()
    shard.close()
    return _BUILT if built else _NOTHING


if __name__ == "__main__":
    sys.exit(_child(sys.argv[1], int(sys.argv[2])))
