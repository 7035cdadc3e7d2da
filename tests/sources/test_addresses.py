from __future__ import annotations

import socket
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegas_assets.errors import FetchFailed, InvalidInput
from pegas_assets.sources.addresses import normalise_url, resolve_checked


def answers(*addresses: str) -> Any:
    def resolver(host: str, port: int, **_: object) -> list[tuple[Any, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    return resolver


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("HTTP://Example.ORG:80/a/../b/./c?q=%7e%2F%d0%bf#part", "http://example.org/b/c?q=~%2F%D0%BF"),
        ("https://example.org", "https://example.org/"),
        ("https://example.org.:443/?#x", "https://example.org/"),
        ("https://example.org:8443/a?b=c#d", "https://example.org:8443/a?b=c"),
        ("https://пример.испытание/страница", "https://xn--e1afmkfd.xn--80akhbyknj4f/%D1%81%D1%82%D1%80%D0%B0%D0%BD%D0%B8%D1%86%D0%B0"),
        ("https://example.org/a b", "https://example.org/a%20b"),
        ("https://example.org/50%", "https://example.org/50%25"),
        (" https://example.org/A ", "https://example.org/A"),
    ],
)  # fmt: skip
def test_two_ways_to_write_an_address_are_one(one: str, other: str) -> None:
    assert normalise_url(one) == other
    assert normalise_url(other) == other


@pytest.mark.parametrize(
    ("url", "rule"),
    [
        ("http://０x7f.1/", "loopback"),
        ("http://①②⑦.0.0.1/", "loopback"),
        ("http://0177.0.0.1/", "loopback"),
        ("http://[64:ff9b::7f00:1]/", "loopback"),
        ("http://[2002:7f00:1::]/", "loopback"),
        ("http://[::127.0.0.1]/", "loopback"),
        ("http://[fec0::1]/", "site-local"),
        ("http://224.0.0.1/", "multicast"),
        ("http://%6c%6fcalhost/", "localhost"),
        ("http://a.localhost/", "localhost"),
        ("http://1.2.3.4.5/", "none"),
        ("http://256.1.1.1/", "none"),
        ("https://example.org\\@127.0.0.1/", "backslash"),
        ("https://example.org/\x00", "control"),
        ("https://user:secret@example.org/", "password"),
        ("example.org", "http"),
        ("https://" + "a" * 9000, "longer"),
    ],
)
def test_what_may_not_be_fetched_names_the_rule(url: str, rule: str) -> None:
    with pytest.raises(InvalidInput, match=rule) as raised:
        normalise_url(url)
    assert raised.value.code == "address_not_allowed"
    assert "secret" not in str(raised.value)


def test_a_setting_lets_named_inner_hosts_in() -> None:
    assert normalise_url("http://127.0.0.1:8080/", allow_hosts=["127.0.0.1"]) == "http://127.0.0.1:8080/"
    assert normalise_url("http://wiki.localhost/", allow_hosts=["wiki.localhost"])
    assert normalise_url("http://10.1.2.3/", allow_hosts=["10.0.0.0/8"])
    with pytest.raises(InvalidInput):
        normalise_url("http://10.1.2.3/", allow_hosts=["127.0.0.1", "wiki"])


def test_every_address_of_a_name_must_be_public() -> None:
    assert resolve_checked("a.example", 80, resolver=answers("8.8.8.8", "8.8.4.4")) == ["8.8.8.8", "8.8.4.4"]
    for inner in ("127.0.0.1", "169.254.169.254", "10.0.0.1", "::ffff:10.0.0.1", "fe80::1%eth0"):
        with pytest.raises(InvalidInput) as raised:
            resolve_checked("a.example", 80, resolver=answers("8.8.8.8", inner))
        assert raised.value.code == "address_not_allowed"
    assert resolve_checked("a.example", 80, allow_hosts=["a.example"], resolver=answers("10.0.0.1")) == ["10.0.0.1"]


def test_a_name_that_does_not_resolve_may_be_tried_again() -> None:
    def resolver(*_: object, **__: object) -> list[tuple[Any, ...]]:
        raise socket.gaierror(-2, "Name or service not known")

    with pytest.raises(FetchFailed) as raised:
        resolve_checked("nowhere.example", 80, resolver=resolver)
    assert raised.value.retryable


@given(st.text(max_size=60) | st.text("htps:/.@[]%0x12:#?aя", max_size=30).map(lambda tail: "http://" + tail))
def test_any_text_is_normal_or_refused_and_normal_stays(url: str) -> None:
    try:
        normal = normalise_url(url)
    except InvalidInput:
        return
    assert normalise_url(normal) == normal
    assert normal.isascii()
