"""Which files a path, a folder or a glob names, and why others are left out."""

from __future__ import annotations

import glob
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pegas_assets.errors import InvalidInput, NotFound

SKIPPED_FOLDERS = frozenset(
    (
        "node_modules", "__pycache__", "venv", "env", "dist", "build", "target", "vendor", "site-packages",
        "bower_components", "__MACOSX",
    )
)  # fmt: skip
"""Folders that hold what others wrote or a tool made; hidden ones (`.git`, `.venv`) go anyway."""

MAX_FILES = 100_000
_BINARY_SUFFIXES = frozenset(
    (
        ".exe", ".dll", ".so", ".o", ".a", ".pyc", ".class", ".jar", ".bin", ".iso", ".dmg", ".mp3", ".mp4", ".avi",
        ".mkv", ".mov", ".wav", ".flac", ".ogg", ".ttf", ".otf", ".woff", ".woff2", ".sqlite", ".db",
    )
)  # fmt: skip


@dataclass(frozen=True)
class Skipped:
    """A file or folder that was named and is not taken, and why."""

    path: Path
    reason: str


@dataclass(frozen=True)
class Listing:
    """What a path names. `root` is the folder given, the folder of the file, or what stands before the glob's stars."""

    root: Path
    files: tuple[Path, ...]
    skipped: tuple[Skipped, ...] = ()


def list_files(
    path: str | Path,
    *,
    allowed_roots: Sequence[Path] | None = None,
    max_bytes: int = 50_000_000,
    max_files: int = MAX_FILES,
) -> Listing:
    """The regular files that a file, a folder or a glob (`notes/**/*.md`) names, sorted by path, links resolved.

    In folders, hidden files, folders of dependencies and of build results, links that lead outside or in a circle,
    empty, too large and unreadable files are left out, each with a reason. A file that was named itself is taken
    though hidden. `allowed_roots` of None allows any place; an empty one allows none.

    Raises:
        NotFound: nothing is there.
        InvalidInput: code `path_not_allowed` outside the allowed roots (links are followed first); a folder or glob
            with no file to take; not a regular file; unreadable; more than `max_files`.
    """
    text = str(path)
    if not text.strip() or "\x00" in text:
        raise InvalidInput(
            "The path is empty or holds a NUL.", hint="Give a file, a folder or a glob.", item=text[:200]
        )
    given = Path(text).expanduser()
    roots = None if allowed_roots is None else [root.expanduser().resolve() for root in allowed_roots]
    try:
        exists = os.path.lexists(given)
    except (OSError, ValueError):
        exists = False
    if not exists and glob.has_magic(text):
        return _listed(_fixed_part(given), _matches(given), given, roots, max_bytes, max_files)
    root = _resolved(given)
    _require_inside(root, given, roots)
    if not exists or not root.exists():
        raise NotFound(
            f"There is nothing at {given}.", hint="Check the path; it is read on the server's machine.", item=text
        )
    if root.is_dir():
        if not os.access(root, os.R_OK | os.X_OK):
            raise InvalidInput(f"The folder {given} cannot be read.", hint="Check its permissions.", item=text)
        return _listed(root, _walk(root), given, roots, max_bytes, max_files)
    reason = _why_not(root, max_bytes)
    if reason:
        raise InvalidInput(f"The file {given} cannot be taken: {reason}.", hint="Give a readable text file.", item=text)
    return Listing(root.parent, (root,))


def read_file(path: Path, *, max_bytes: int = 50_000_000) -> bytes:
    """The bytes of a regular file. Checked on the open file, so that a file exchanged after the listing gains nothing.

    Raises:
        InvalidInput: it is gone, no regular file, larger than `max_bytes`, or unreadable.
    """
    try:
        # Without O_NONBLOCK, opening a pipe waits for a writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise InvalidInput(f"The file {path} cannot be read: {error.strerror}.", item=str(path)) from None
    try:
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise InvalidInput(f"The file {path} is {_kind(status.st_mode)}, not a regular file.", item=str(path))
            body = file.read(max_bytes + 1)
    except OSError as error:
        raise InvalidInput(f"The file {path} cannot be read: {error.strerror}.", item=str(path)) from None
    if len(body) > max_bytes:
        raise InvalidInput(
            f"The file {path} is larger than {max_bytes:,} bytes.",
            hint="Split it, or raise PEGAS_MAX_DOCUMENT_BYTES.",
            item=str(path),
        )
    return body


def _listed(
    root: Path,
    found: Iterator[Path | Skipped],
    given: Path,
    roots: list[Path] | None,
    max_bytes: int,
    max_files: int,
) -> Listing:
    root = _resolved(root)
    _require_inside(root, given, roots)
    files: dict[Path, None] = {}
    skipped: list[Skipped] = []
    for path in found:
        if isinstance(path, Skipped):
            skipped.append(path)
            continue
        target = _resolved(path)
        # A link is taken where it stays in the folder that was given, or in what is allowed.
        inside = target.is_relative_to(root) if roots is None else any(target.is_relative_to(place) for place in roots)
        if path.is_symlink() and not (inside and target.exists()):
            skipped.append(Skipped(path, "a link that leads outside" if target.exists() else "a link to nothing"))
        elif not inside:
            skipped.append(Skipped(path, "outside the folders that may be read"))
        elif reason := _why_not(target, max_bytes):
            skipped.append(Skipped(path, reason))
        else:
            files[target] = None
        if len(files) > max_files:
            raise InvalidInput(
                f"{given} names more than {max_files:,} files.", hint="Give a smaller folder.", item=str(given)
            )
    if not files:
        why = f": {len(skipped)} left out, the first is {skipped[0].reason}" if skipped else ""
        raise InvalidInput(
            f"There is no file to take in {given}{why}.", hint="Give a folder with text files.", item=str(given)
        )
    return Listing(root, tuple(sorted(files)), tuple(sorted(skipped, key=lambda item: item.path)))


def _walk(root: Path) -> Iterator[Path | Skipped]:
    """Files below a folder, in order. Linked folders are not entered, so that no circle is."""
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                inside = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            yield Skipped(folder, f"an unreadable folder ({error.strerror})")
            continue
        deeper = []
        for entry in inside:
            path = Path(entry.path)
            if entry.is_dir(follow_symlinks=False):
                if entry.name.startswith(".") or entry.name in SKIPPED_FOLDERS:
                    yield Skipped(path, "a hidden folder" if entry.name.startswith(".") else "a folder of dependencies")
                else:
                    deeper.append(path)
            elif entry.name.startswith("."):
                yield Skipped(path, "a hidden file")
            elif entry.is_symlink() and path.is_dir():
                yield Skipped(path, "a linked folder")
            else:
                yield path
        waiting.extend(reversed(deeper))


def _matches(pattern: Path) -> Iterator[Path | Skipped]:
    """Files that a glob matches, by a walk of the folder before its first star: `**` of the standard library follows
    links, and two that point at each other keep it busy for ever."""
    root = _fixed_part(pattern)
    if not root.is_dir():
        return
    tail = str(pattern.relative_to(root))
    matcher = _matcher(tail)
    for path in _walk(root):
        if isinstance(path, Path) and matcher(str(path.relative_to(root))):
            yield path


def _matcher(pattern: str) -> Callable[[str], bool]:
    parts = []
    segments = pattern.split("/")
    for index, segment in enumerate(segments):
        if segment == "**":
            parts.append("(?:[^/]+/)*" if index < len(segments) - 1 else "(?:[^/]+/)*[^/]+")
            continue
        expression = ""
        at = 0
        while at < len(segment):
            character = segment[at]
            close = segment.find("]", at + 2) if character == "[" else -1
            if character == "*":
                expression += "[^/]*"
            elif character == "?":
                expression += "[^/]"
            elif close > 0:
                inner = segment[at + 1 : close].replace("\\", "\\\\")
                expression += f"[{'^' + inner[1:] if inner[0] == '!' else inner}]"
                at = close
            else:
                expression += re.escape(character)
            at += 1
        parts.append(expression + ("/" if index < len(segments) - 1 else ""))
    compiled = re.compile("".join(parts), re.DOTALL)
    return lambda path: compiled.fullmatch(path) is not None


def _fixed_part(pattern: Path) -> Path:
    fixed = Path(pattern.anchor) if pattern.anchor else Path()
    for part in pattern.parts[1 if pattern.anchor else 0 :]:
        if glob.has_magic(part):
            break
        fixed = fixed / part
    return fixed


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        # Links in a circle.
        return path.absolute()


def _require_inside(path: Path, given: Path, roots: list[Path] | None) -> None:
    if roots is None or any(path.is_relative_to(root) for root in roots):
        return
    allowed = ", ".join(str(root) for root in roots)
    raise InvalidInput(
        f"The path {given} is outside the folders that may be read.",
        hint=f"Allowed: {allowed}." if roots else "No folder is allowed: set PEGAS_INGEST_ROOTS.",
        item=str(given),
        code="path_not_allowed",
    )


def _why_not(path: Path, max_bytes: int) -> str:
    try:
        status = path.stat()
    except OSError as error:
        return f"unreadable ({error.strerror})"
    if not stat.S_ISREG(status.st_mode):
        return f"{_kind(status.st_mode)}, not a regular file"
    if status.st_size == 0:
        return "empty"
    if status.st_size > max_bytes:
        return f"larger than {max_bytes:,} bytes ({status.st_size:,})"
    if path.suffix.lower() in _BINARY_SUFFIXES:
        return f"binary by its name ({path.suffix.lower()})"
    if not os.access(path, os.R_OK):
        return "unreadable (permission denied)"
    return ""


def _kind(mode: int) -> str:
    for test, name in (
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
    ):
        if test(mode):
            return name
    return "a special file"
