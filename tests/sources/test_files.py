from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from pegas_assets.errors import InvalidInput, NotFound
from pegas_assets.sources.files import list_files, read_file


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    root = tmp_path / "notes"
    (root / "deep" / "er").mkdir(parents=True)
    (root / "b.md").write_text("# B")
    (root / "a.txt").write_text("a")
    (root / "deep" / "er" / "c.md").write_text("c")
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("x")
    (root / "node_modules").mkdir()
    (root / "node_modules" / "x.md").write_text("x")
    (root / ".hidden.md").write_text("x")
    (root / "empty.md").write_text("")
    (root / "big.txt").write_text("x" * 2000)
    (root / "song.mp3").write_bytes(b"ID3")
    return root


def names(paths: tuple[Path, ...], root: Path) -> list[str]:
    return [str(path.relative_to(root)) for path in paths]


def test_a_folder_gives_its_files_in_order_and_says_what_it_left_out(notes: Path) -> None:
    listing = list_files(notes, max_bytes=1000)
    assert listing.root == notes
    assert names(listing.files, notes) == ["a.txt", "b.md", "deep/er/c.md"]
    reasons = {item.path.name: item.reason for item in listing.skipped}
    assert reasons[".git"] == "a hidden folder"
    assert reasons["node_modules"] == "a folder of dependencies"
    assert reasons[".hidden.md"] == "a hidden file"
    assert reasons["empty.md"] == "empty"
    assert "larger than 1,000 bytes" in reasons["big.txt"]
    assert "binary" in reasons["song.mp3"]
    assert list_files(notes, max_bytes=1000) == listing


def test_a_glob_names_files_below_its_fixed_part(notes: Path) -> None:
    assert names(list_files(f"{notes}/**/*.md").files, notes) == ["b.md", "deep/er/c.md"]
    assert names(list_files(f"{notes}/*.[tm]*", max_bytes=1000).files, notes) == ["a.txt", "b.md"]
    assert list_files(f"{notes}/**/*.md").root == notes
    with pytest.raises(InvalidInput, match="no file to take"):
        list_files(f"{notes}/*.rst")


def test_one_file_is_taken_though_hidden_and_its_folder_is_the_root(notes: Path) -> None:
    listing = list_files(notes / ".hidden.md")
    assert listing.files == (notes / ".hidden.md",)
    assert listing.root == notes


def test_links_in_a_circle_and_links_that_lead_outside_are_left_out(notes: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    (notes / "out.txt").symlink_to(tmp_path / "secret.txt")
    (notes / "loop").symlink_to(notes)
    (notes / "deep" / "back").symlink_to(notes / "deep")
    (notes / "self").symlink_to(notes / "self")
    (notes / "nothing").symlink_to(notes / "gone")
    (notes / "inside.txt").symlink_to(notes / "a.txt")
    listing = list_files(f"{notes}/**", max_bytes=1000)
    assert names(listing.files, notes) == ["a.txt", "b.md", "deep/er/c.md"]
    listing = list_files(notes, max_bytes=1000)
    assert names(listing.files, notes) == ["a.txt", "b.md", "deep/er/c.md"]
    reasons = {item.path.name: item.reason for item in listing.skipped}
    assert reasons["out.txt"] == "a link that leads outside"
    assert reasons["loop"] == reasons["back"] == "a linked folder"
    assert reasons["nothing"] == "a link to nothing"


def test_pipes_and_sockets_are_left_out_and_never_waited_for(notes: Path) -> None:
    os.mkfifo(notes / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        previous = Path.cwd()
        os.chdir(notes)
        try:
            listening.bind("sock")
        finally:
            os.chdir(previous)
        reasons = {item.path.name: item.reason for item in list_files(notes).skipped}
    assert reasons["pipe"] == "a pipe, not a regular file"
    assert reasons["sock"] == "a socket, not a regular file"
    with pytest.raises(InvalidInput, match="a pipe"):
        list_files(notes / "pipe")
    with pytest.raises(InvalidInput, match="a pipe"):
        read_file(notes / "pipe")


def test_only_allowed_roots_are_read_after_links_are_followed(notes: Path, tmp_path: Path) -> None:
    assert list_files(notes / "a.txt", allowed_roots=[notes]).files
    outside = tmp_path / "other.txt"
    outside.write_text("x")
    (notes / "link.txt").symlink_to(outside)
    for path in (outside, notes / "link.txt", notes / ".." / "other.txt", f"{tmp_path}/*.txt", "/etc/hostname"):
        with pytest.raises(InvalidInput) as raised:
            list_files(path, allowed_roots=[notes])
        assert raised.value.code == "path_not_allowed"
    with pytest.raises(InvalidInput, match="outside") as raised:
        list_files(notes / "a.txt", allowed_roots=[])
    assert "PEGAS_INGEST_ROOTS" in raised.value.hint


def test_what_is_not_there_empty_or_nonsense_gets_a_sentence(notes: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="nothing at"):
        list_files(tmp_path / "gone.txt")
    (tmp_path / "bare").mkdir()
    with pytest.raises(InvalidInput, match="no file to take"):
        list_files(tmp_path / "bare")
    for nonsense in ("", "  ", "a\x00b"):
        with pytest.raises(InvalidInput):
            list_files(nonsense)
    with pytest.raises(InvalidInput, match="empty"):
        list_files(notes / "empty.md")
    with pytest.raises(InvalidInput, match="more than 2 files"):
        list_files(notes, max_files=2)


def test_a_file_is_read_whole_or_not_at_all(notes: Path) -> None:
    assert read_file(notes / "a.txt") == b"a"
    with pytest.raises(InvalidInput, match="larger than 1,000"):
        read_file(notes / "big.txt", max_bytes=1000)
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_file(notes / "gone.txt")
