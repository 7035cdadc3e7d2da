"""Reads robots.txt (RFC 9309): which pages of a host are not for programs, and how long it wants to be left between two."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pegas_assets.text.decoding import decode

if TYPE_CHECKING:
    from protego import Protego

AGENT = "PegasMemory"
"""The product token under which a robots.txt may speak to us."""
MAX_BYTES = 512_000
"""RFC 9309 asks to read at least 500 KiB; the rest is left out."""
MAX_DELAY_S = 30.0
"""The longest Crawl-delay that is honoured, seconds: a host that asks for an hour asks not to be read."""

_AGENT_LINE = re.compile(r"^[ \t]*user[- ]?agent[ \t]*[: \t][ \t]*([^#\r\n]*)", re.IGNORECASE)
_OTHERS = "User-agent: another-robot"


@dataclass(frozen=True)
class Robots:
    """The rules of one robots.txt for us."""

    rules: Protego

    def allows(self, url: str) -> bool:
        """Whether a page may be fetched."""
        try:
            return bool(self.rules.can_fetch(url, AGENT))
        except (ValueError, RecursionError):
            # A rule that cannot be matched forbids nothing.
            return True

    @property
    def delay_s(self) -> float:
        """Seconds that the host wants between two requests, at most `MAX_DELAY_S`; 0 where it says nothing."""
        return min(float(self.rules.crawl_delay(AGENT) or 0.0), MAX_DELAY_S)

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """The sitemaps that it names."""
        return tuple(self.rules.sitemaps)


def robots_text(body: bytes) -> str:
    """A robots.txt as text; empty for what is none, such as a page that a server gives for every address."""
    text = decode(body[:MAX_BYTES]).text
    return "" if text.lstrip().startswith(("<", "{")) else text


@lru_cache(maxsize=256)
def parse_robots(text: str) -> Robots:
    """The rules of a robots.txt. Any text gives rules; one without a rule allows all."""
    from protego import Protego

    return Robots(Protego.parse("\n".join(_ours_and_others(text.lstrip("\ufeff")))))


def origin_of(url: str) -> str:
    """Scheme, host and port of an address: what one robots.txt speaks for."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _ours_and_others(text: str) -> list[str]:
    """The lines, all other robots under one name: each rule is kept once for every name above it, and a file of ten
    thousand names and ten thousand rules would fill the memory."""
    lines: list[str] = []
    for line in text.splitlines():
        match = _AGENT_LINE.match(line)
        if match:
            name = match.group(1).strip()
            token = re.split(r"[/\s]", name, maxsplit=1)[0].lower()
            if token != "*":
                line = f"User-agent: {AGENT}" if token == AGENT.lower() else _OTHERS
            if lines and lines[-1] == line:
                continue
        lines.append(line)
    return lines
