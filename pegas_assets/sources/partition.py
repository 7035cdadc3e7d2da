"""The `source` of a document: the partition it is made and failed under."""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pegas_assets.identity import BUCKETS, bucket_of, sha256_hex

if TYPE_CHECKING:
    from tldextract import TLDExtract

MAX_KEY_CHARS = 120
_UNSAFE = re.compile(r"[^\w.:/-]")


def source_for_url(url: str) -> str:
    """`web:` and the registered domain: `https://docs.example.co.uk/a` is of `web:example.co.uk`.

    An address is its own domain.
    """
    return partition_key("web", registered_domain(url))


def source_for_file_root(root: Path) -> str:
    """`file:`, the name of the folder or file given, and eight hex digits of its whole path."""
    whole = root.expanduser().resolve()
    return partition_key("file", whole.name or "root", f"-{sha256_hex(str(whole))[:8]}")


def source_for_text(client: str, *, agent: str = "agent") -> str:
    """`text:` and the client's name, else the agent's."""
    return partition_key("text", client.strip() or agent)


def source_for_manual(client: str, *, agent: str = "agent") -> str:
    """`manual:` and the client's name, else the agent's: the atoms that were stored one by one."""
    return partition_key("manual", client.strip() or agent)


def bounded_source(source: str, existing: Collection[str], max_sources: int) -> str:
    """The source itself, or one of sixteen that latecomers share (`web:other-07`) when the set is full.

    At tens of thousands of partition keys the orchestrator's pages take seconds.
    """
    if source in existing or len(existing) < max_sources - BUCKETS:
        return source
    return f"{source.split(':')[0]}:other-{bucket_of(source):02d}"


def partition_key(kind: str, name: str, tail: str = "") -> str:
    """`kind:name` and a tail, everything outside `[\\w.:/-]` percent-encoded, at most 120 characters.

    A longer name is cut and gets eight hex digits of the whole, so that two stay two.
    """
    encoded = _encoded(name)
    room = MAX_KEY_CHARS - len(kind) - 1 - len(tail)
    if len(encoded) > room:
        tail = f"-{sha256_hex(name)[:8]}{tail}"
        kept = encoded[: room - 9]
        # An escape is kept whole or not at all.
        encoded = re.sub(r"%[0-9A-F]?$", "", kept)
    return f"{kind}:{encoded}{tail}"


def registered_domain(url: str) -> str:
    """The domain that somebody registered, in ASCII, from the public suffix list inside the package.

    A host that is an address or has no public suffix stands for itself.
    """
    host = (urlsplit(url).hostname or "").rstrip(".").lower()
    with suppress(UnicodeError):
        host = host.encode("idna").decode("ascii")
    return _extract()(host).top_domain_under_public_suffix or host or "unknown"


@lru_cache(maxsize=1)
def _extract() -> TLDExtract:
    from tldextract import TLDExtract

    # The list in the wheel only: no download, no cache folder.
    return TLDExtract(suffix_list_urls=(), cache_dir=None)


def _encoded(name: str) -> str:
    def escaped(match: re.Match[str]) -> str:
        return "".join(f"%{byte:02X}" for byte in match.group().encode("utf-8", "replace"))

    return _UNSAFE.sub(escaped, name)
