"""Files of a vector collection: its meta file, its generations, and copies of them that keep holes."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import quote

from pegas_assets.embedded.process import write_private
from pegas_assets.errors import InvalidInput

TRASH = ".trash-"
NEW = ".new-"
_META = "meta.json"
_CURRENT = "current"
_NAME_BYTES = 200


@dataclass(frozen=True)
class CollectionMeta:
    """What a collection was made for. `layout` numbers the way in which payloads are stored."""

    name: str
    dimension: int
    fingerprint: str
    layout: int = 1


def folder_name(collection: str) -> str:
    """The folder of a collection: its name, with all that a file name may not hold percent-encoded.

    Raises:
        InvalidInput: the name is empty, hidden, or too long.
    """
    encoded = quote(collection, safe="")
    if not encoded or encoded.startswith(".") or len(encoded) > _NAME_BYTES:
        raise InvalidInput(
            "A collection needs a name that does not begin with a dot.",
            hint=f"At most {_NAME_BYTES} characters after percent-encoding.",
            item=collection[:80],
        )
    return encoded


def read_meta(folder: Path) -> CollectionMeta:
    fields = json.loads((folder / _META).read_bytes())
    return CollectionMeta(fields["name"], int(fields["dimension"]), fields["fingerprint"], int(fields["layout"]))


def write_meta(folder: Path, meta: CollectionMeta) -> None:
    write_private(folder / _META, json.dumps(asdict(meta), ensure_ascii=False).encode())


def read_current(folder: Path) -> Path:
    """The generation that serves."""
    return folder / (folder / _CURRENT).read_text().strip()


def write_current(folder: Path, generation: Path) -> None:
    """Move the pointer in one step; from here a restart serves this generation."""
    write_private(folder / _CURRENT, generation.name.encode())


def next_generation(folder: Path) -> Path:
    """The name of a generation that is not there yet."""
    numbers = [int(path.name[1:]) for path in folder.glob("g[0-9]*") if path.name[1:].isdigit()]
    return folder / f"g{max(numbers, default=0) + 1:06d}"


def sweep(root: Path) -> list[str]:
    """Remove what a killed process left half made or half removed; returns the names of what went.

    Only the owner of the home may call this, before it opens a collection.
    """
    swept = []
    for folder in root.iterdir():
        if folder.name.startswith((TRASH, NEW)):
            shutil.rmtree(folder, ignore_errors=True)
            swept.append(folder.name)
        elif folder.is_dir() and (folder / _CURRENT).exists():
            current = read_current(folder)
            for left in folder.iterdir():
                if left.name not in (_META, _CURRENT, current.name):
                    shutil.rmtree(left) if left.is_dir() else left.unlink()
                    swept.append(f"{folder.name}/{left.name}")
    return swept


def copy_tree(source: Path, target: Path) -> int:
    """Copy a generation, holes kept; returns the bytes that were written."""
    written = 0
    target.mkdir(mode=0o700)
    for path in sorted(source.rglob("*")):
        copy = target / path.relative_to(source)
        if path.is_dir():
            copy.mkdir(mode=0o700)
        elif path.is_file():
            written += _copy_file(path, copy)
    return written


def _copy_file(source: Path, target: Path) -> int:
    written = 0
    with source.open("rb") as reader, target.open("wb") as writer:
        size = os.fstat(reader.fileno()).st_size
        os.ftruncate(writer.fileno(), size)
        offset = 0
        while offset < size:
            try:
                start = os.lseek(reader.fileno(), offset, os.SEEK_DATA)
            except OSError:  # ENXIO: nothing but a hole up to the end.
                break
            end = os.lseek(reader.fileno(), start, os.SEEK_HOLE)
            os.lseek(writer.fileno(), start, os.SEEK_SET)
            offset = start
            while offset < end:
                count = os.sendfile(writer.fileno(), reader.fileno(), offset, end - offset)
                if not count:
                    return written
                offset += count
                written += count
    return written
