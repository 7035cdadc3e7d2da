"""What a site's robots.txt allows this program (RFC 9309)."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from protego import Protego

AGENT = "PegasMemory"
MAX_BYTES = 500_000
"""Of a robots.txt; what comes after does not count."""
LONGEST_DELAY_S = 30.0


def may_fetch(robots: str, url: str) -> bool:
    """Whether an address may be fetched by what the file says; anything may where it says nothing."""
    return bool(_parsed(robots).can_fetch(url, AGENT)) if robots.strip() else True


def delay_asked(robots: str) -> float:
    """Seconds between two requests that the file asks for, at most `LONGEST_DELAY_S`; 0 where it asks for none."""
    asked = _parsed(robots).crawl_delay(AGENT) if robots.strip() else None
    return min(float(asked), LONGEST_DELAY_S) if asked and asked > 0 else 0.0


def sitemaps_named(robots: str) -> list[str]:
    """The addresses of sitemaps that the file names."""
    return list(_parsed(robots).sitemaps) if robots.strip() else []


@lru_cache(maxsize=64)
def _parsed(robots: str) -> Protego:
    from protego import Protego

    return Protego.parse(robots.lstrip("\ufeff"))
