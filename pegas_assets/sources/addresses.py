"""Which addresses may be fetched, and the form of an address under which a document is known."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote, unquote_to_bytes, urlsplit, urlunsplit

from pegas_assets.errors import FetchFailed, InvalidInput

Resolver = Callable[..., Sequence[tuple[Any, ...]]]
"""`socket.getaddrinfo` or its like: host, port and `type=` to a list of address tuples."""

_DEFAULT_PORTS = {"http": 80, "https": 443}
_MAX_CHARS = 8192
_NUMBER = re.compile(r"(?:0[xX][0-9A-Fa-f]*|\d+)")
_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_LONE_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_COMPATIBLE = ipaddress.IPv6Network("::/96")

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def normalise_url(url: str, *, allow_hosts: Sequence[str] = ()) -> str:
    """The form of a web address that decides whether two are the same. Opens no socket, asks no resolver.

    Scheme and host in lower case, the host in IDNA, without a default port, a trailing dot, a fragment, an empty query
    or dot segments; percent-encoding only where it must be, in upper case. Path and query keep their case and order.

    Raises:
        InvalidInput: code `address_not_allowed`: not a web address, or one that may not be fetched as far as its text
            tells; the message names the rule. Names are checked once more when they are resolved.
    """
    normal = _normal_form(url)
    host = urlsplit(normal).hostname or ""
    if host_allowed(host, allow_hosts):
        return normal
    if host == "localhost" or host.endswith(".localhost"):
        raise _refused("names this machine (localhost)", url)
    address = _as_address(host)
    if address is not None and (rule := why_not_public(address)):
        raise _refused(f"leads to {address}, {rule}", url)
    return normal


def resolve_checked(
    host: str, port: int, *, allow_hosts: Sequence[str] = (), resolver: Resolver = socket.getaddrinfo
) -> list[str]:
    """The addresses of a host, every one of them public; connect to these and no others.

    One inner address among public ones refuses the host. Hosts in `allow_hosts` (names or addresses) are not checked.

    Raises:
        InvalidInput: code `address_not_allowed`; an address is private, loopback, link-local or otherwise inner.
        FetchFailed: the name does not resolve (`retryable`).
    """
    literal = _as_address(host)
    if literal is not None:
        found = [literal]
    else:
        try:
            answers = resolver(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise FetchFailed(
                f"The name {host} does not resolve: {error}.",
                hint="Check the spelling, or the network.",
                item=host,
                retryable=True,
            ) from None
        found = list(dict.fromkeys(_sockaddr_host(answer) for answer in answers))
    if not found:
        raise FetchFailed(f"The name {host} has no address.", item=host, retryable=True)
    if not host_allowed(host, allow_hosts):
        for address in found:
            if not host_allowed(str(address), allow_hosts) and (rule := why_not_public(address)):
                raise _refused(f"leads to {address}, {rule}", host, what="host")
    return [str(address) for address in found]


def why_not_public(address: _Address) -> str:
    """The rule that keeps an address out, empty for a public one. IPv4 inside IPv6 is taken out first."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if inner is None and (address in _NAT64 or (address in _COMPATIBLE and int(address) > 1)):
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return why_not_public(inner)
        if address.is_site_local:
            return "a site-local address"
    for named, rule in (
        (address.is_unspecified, "the unspecified address, which is this machine"),
        (address.is_loopback, "a loopback address"),
        (address.is_link_local, "a link-local address, where clouds keep their metadata"),
        (address.is_multicast, "a multicast address"),
        (address.is_private, "a private address"),
        (not address.is_global, "an address that is not public"),
    ):
        if named:
            return rule
    return ""


def host_allowed(host: str, allow_hosts: Sequence[str]) -> bool:
    """Whether a setting names this host: the same name, the same address, or a network that holds it."""
    host = host.rstrip(".").lower()
    address = _as_address(host)
    for allowed in allow_hosts:
        allowed = allowed.strip().strip("[]").rstrip(".").lower()
        if allowed == host:
            return True
        if address is not None and allowed:
            try:
                if address in ipaddress.ip_network(allowed, strict=False):
                    return True
            except ValueError:
                continue
    return False


def _normal_form(url: str) -> str:
    url = url.strip()
    if not url:
        raise _refused("is empty", url)
    if len(url) > _MAX_CHARS:
        raise _refused(f"is longer than {_MAX_CHARS} characters", url)
    if re.search(r"[\x00-\x1f\x7f\\]", url):
        raise _refused("holds a control character or a backslash", url)
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise _refused("has a host or port that cannot be read", url) from None
    if parts.scheme not in _DEFAULT_PORTS:
        raise _refused("does not begin with http:// or https://", url)
    if "@" in parts.netloc:
        raise _refused("carries a user name or password", url, hint="Leave it out: addresses are kept and shown.")
    host = _normal_host(parts.hostname or "", url)
    if port == 0:
        raise _refused("has port 0", url)
    authority = f"[{host}]" if ":" in host else host
    if port is not None and port != _DEFAULT_PORTS[parts.scheme]:
        authority = f"{authority}:{port}"
    path = _without_dots(_normal_escapes(parts.path, "/:@!$&'()*+,;=")) or "/"
    return urlunsplit((parts.scheme, authority, path, _normal_escapes(parts.query, "/?:@!$&'()*+,;=[]|"), ""))


def _normal_host(host: str, url: str) -> str:
    host = unquote_to_bytes(host).decode("utf-8", "replace").rstrip(".").lower()
    if not host:
        raise _refused("has no host", url)
    if ":" in host:
        address = _as_address(host)
        if address is None:
            raise _refused("has an IPv6 address that cannot be read", url)
        return str(address)
    if not host.isascii():
        import idna

        try:
            host = idna.encode(host, uts46=True).decode("ascii").rstrip(".")
        except (idna.IDNAError, UnicodeError):
            raise _refused("has a host name that is none", url) from None
    address = _as_address(host)
    if address is not None:
        return str(address)
    # Whoever resolves takes a host with a numeric last label for an address; what does not parse as one is no name.
    if _NUMBER.fullmatch(host.rsplit(".", 1)[-1]) or not _HOST.fullmatch(host) or len(host) > 253:
        raise _refused("has a host name that is none", url)
    return host


def _as_address(host: str) -> _Address | None:
    """The address that a host is: IPv6, or IPv4 in dotted, short, decimal, octal or hexadecimal form."""
    bare = host.strip("[]")
    if ":" in bare:
        try:
            return ipaddress.IPv6Address(bare.split("%")[0])
        except ValueError:
            return None
    parts = bare.split(".")
    if not 1 <= len(parts) <= 4 or not all(_NUMBER.fullmatch(part) for part in parts):
        return None
    try:
        numbers = [_number(part) for part in parts]
    except ValueError:
        return None
    tail = 256 ** (5 - len(numbers))
    if any(number > 255 for number in numbers[:-1]) or numbers[-1] >= tail:
        return None
    value = numbers[-1] + sum(number << (24 - 8 * place) for place, number in enumerate(numbers[:-1]))
    return ipaddress.IPv4Address(value)


def _number(part: str) -> int:
    if part[:2] in ("0x", "0X"):
        return int(part[2:] or "0", 16)
    return int(part, 8) if len(part) > 1 and part[0] == "0" else int(part)


def _sockaddr_host(answer: tuple[Any, ...]) -> _Address:
    return ipaddress.ip_address(str(answer[4][0]).split("%")[0])


def _normal_escapes(part: str, safe: str) -> str:
    def escape(match: re.Match[str]) -> str:
        character = chr(int(match.group(1), 16))
        return character if character in _UNRESERVED else match.group().upper()

    whole = _LONE_PERCENT.sub("%25", _ESCAPE.sub(escape, part))
    return quote(whole, safe=safe + "%~", encoding="utf-8", errors="replace")


def _without_dots(path: str) -> str:
    kept: list[str] = []
    parts = path.split("/")
    for place, part in enumerate(parts):
        if part == "..":
            if len(kept) > 1:
                kept.pop()
        elif part != ".":
            kept.append(part)
            continue
        if place == len(parts) - 1:
            kept.append("")
    return "/".join(kept)


def _refused(rule: str, url: str, *, hint: str = "", what: str = "address") -> InvalidInput:
    from pegas_assets.settings import public_address

    try:
        shown = public_address(url) if "://" in url else url.split("@")[-1]
    except ValueError:
        shown = url.split("@")[-1].split("?")[0]
    return InvalidInput(
        f"The {what} “{shown[:200]}” may not be fetched: it {rule}.",
        hint=hint or "Only public http and https addresses are fetched; PEGAS_FETCH_ALLOW_HOSTS names inner hosts.",
        item=shown[:200],
        code="address_not_allowed",
    )
