"""What servers answer and networks do instead of giving a page, said in one sentence."""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pegas_assets.errors import FetchFailed, PegasError, Refused
from pegas_assets.settings import public_address
from pegas_assets.sources.inflate import BrokenEncoding, TooLarge

if TYPE_CHECKING:
    from pegas_assets.sources.fetch import Fetched

TRY_AGAIN = (429, 500, 502, 503, 504)
"""Answers after which the same request may bring the page."""


@contextmanager
def said_plainly(url: str, seconds: float) -> Iterator[None]:
    """Turns what the network raises into one sentence."""
    import httpcore

    shown = public_address(url)
    host = urlsplit(url).hostname
    try:
        yield
    except PegasError:
        raise
    except TooLarge as error:
        raise Refused(f"The page {shown} is not taken: {error}.", item=shown, hint="Give a smaller page.") from None
    except BrokenEncoding as error:
        raise FetchFailed(f"The page {shown} cannot be read: {error}.", item=shown, retryable=True) from None
    except httpcore.TimeoutException:
        raise FetchFailed(
            f"The page {shown} did not come within the time for it ({seconds:g} s in all).",
            hint="Try again later, or raise PEGAS_FETCH_TIMEOUT_S.",
            item=shown,
            code="fetch_timeout",
            retryable=True,
        ) from None
    except httpcore.ProxyError as error:
        raise FetchFailed(
            f"The proxy did not reach {host}: {error}.", hint="Check PEGAS_PROXY_URL.", item=shown, retryable=True
        ) from None
    except (httpcore.ConnectError, ssl.SSLError) as error:
        if "SSL" in str(error) or "CERTIFICATE" in str(error).upper() or isinstance(error, ssl.SSLError):
            reason = re.sub(r"^\[[^\]]*\]\s*|\s*\(_ssl\.c:\d+\)", "", str(error))
            raise FetchFailed(
                f"There is no safe connection to {host}: {reason}.",
                hint="The site's certificate is at fault, or something reads along.",
                item=shown,
                code="fetch_tls",
            ) from None
        raise FetchFailed(f"The server {host} cannot be reached: {error}.", item=shown, retryable=True) from None
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.UnsupportedProtocol, OSError) as error:
        reason = str(error).rstrip(".") or type(error).__name__
        raise FetchFailed(f"The connection to {host} broke off: {reason}.", item=shown, retryable=True) from None


def raise_for_status(fetched: Fetched, pause: float | None) -> None:
    status, shown = fetched.status, public_address(fetched.url)
    if 200 <= status < 300 or fetched.not_modified:
        return
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "an unknown status"
    retryable = status in TRY_AGAIN or status == HTTPStatus.REQUEST_TIMEOUT
    hint = {
        401: "The page asks for a sign-in, which is not done here.",
        403: "The server refuses programs or strangers; save the page and ingest the file.",
        404: "Check the address.",
        410: "The page is gone for good.",
        429: "The server asks for patience.",
    }.get(status, "Try again later." if retryable else "Check the address in a browser.")
    if pause:
        hint = f"The server asks to wait {pause:g} s."
    failed = FetchFailed(
        f"The server answered {status} {phrase} for {shown}.", hint=hint, item=shown, retryable=retryable
    )
    failed.status, failed.wait_s = status, pause or 0.0
    raise failed


def retry_after(value: str) -> float | None:
    """Seconds from a Retry-After header, a number or a date; None where it says nothing usable."""
    value = value.strip()
    if value.isdecimal() and len(value) < 10:
        return float(value)
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None
