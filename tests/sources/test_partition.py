from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegas_assets.sources.partition import (
    bounded_source,
    partition_key,
    source_for_file_root,
    source_for_manual,
    source_for_text,
    source_for_url,
)


@pytest.mark.parametrize(
    ("url", "source"),
    [
        ("https://docs.example.co.uk/a", "web:example.co.uk"),
        ("https://example.org:8443/", "web:example.org"),
        ("http://127.0.0.1:80/x", "web:127.0.0.1"),
        ("http://[2001:db8::1]/", "web:2001:db8::1"),
        ("https://пример.испытание/", "web:xn--e1afmkfd.xn--80akhbyknj4f"),
        ("http://wiki/", "web:wiki"),
    ],
)
def test_a_page_belongs_to_its_registered_domain(url: str, source: str) -> None:
    assert source_for_url(url) == source


def test_files_belong_to_the_root_given_and_two_of_one_name_stay_two(tmp_path: Path) -> None:
    one, other = source_for_file_root(tmp_path / "x" / "notes"), source_for_file_root(tmp_path / "y" / "notes")
    assert one.startswith("file:notes-")
    assert len(one) == len("file:notes-") + 8
    assert one != other


def test_texts_and_single_atoms_belong_to_the_client_else_the_agent() -> None:
    assert source_for_text("claude code") == "text:claude%20code"
    assert source_for_text("", agent="scout") == "text:scout"
    assert source_for_manual(" ") == "manual:agent"


def test_latecomers_share_sixteen_buckets() -> None:
    existing = {f"web:{number}.example" for number in range(90)}
    assert bounded_source("web:new.example", existing, 2000) == "web:new.example"
    shared = bounded_source("web:new.example", existing, 100)
    assert shared.startswith("web:other-")
    assert bounded_source("web:new.example", existing, 100) == shared
    assert bounded_source("web:7.example", existing, 100) == "web:7.example"


@given(st.text(max_size=400), st.text(max_size=400))
def test_keys_are_short_safe_and_apart(one: str, other: str) -> None:
    first, second = partition_key("web", one), partition_key("web", other)
    assert len(first) <= 120
    assert all(character.isalnum() or character in "_.:/-%" for character in first)
    assert (first == second) == (one == other)
