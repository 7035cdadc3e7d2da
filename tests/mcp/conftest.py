"""Servers for these tests: real processes on the session's engines, each with a base of its own where it writes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pegas_assets.runtime import Runtime
from tests.conftest import fresh_base
from tests.mcp.raw import RawServer, environment


@pytest.fixture(scope="package")
def served(home) -> Iterator[Runtime]:  # type: ignore[no-untyped-def]
    """A base that the tests of this package share; its rows are of no test in particular."""
    with fresh_base(home) as made:
        yield made


@pytest.fixture(scope="package")
def variables(served: Runtime) -> dict[str, str]:
    """The environment of a server on that base."""
    return environment(PEGAS_HOME=str(served.settings.home), PEGAS_BASE=served.settings.base)


@pytest.fixture(scope="package")
def server(variables: dict[str, str]) -> Iterator[RawServer]:
    """One server on that base, initialised, listed and warm."""
    with RawServer(variables) as made:
        made.initialize("test client")
        made.request("tools/list")
        made.call_again("memory_store", {"content": "The first statement of all opens every engine."})
        yield made
