"""Connections for fetching: only to addresses that were checked, and never past a deadline."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Iterable, Sequence
from typing import Any

import httpcore

from pegas_assets.errors import FetchFailed
from pegas_assets.sources.addresses import Resolver, resolve_checked

_STEP_S = 15.0
"""Longest silence of a server, seconds, where the deadline leaves as much."""


class Deadline:
    """A moment, in monotonic seconds, after which nothing is waited for."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds that remain, at least 0."""
        return max(0.0, self._end - time.monotonic())

    def step(self, error: type[Exception]) -> float:
        """The longest wait for one operation, seconds.

        Raises:
            error: the moment has passed.
        """
        left = self.left()
        if left <= 0:
            raise error("the deadline has passed")
        return min(left, _STEP_S)


class DeadlineStream(httpcore.NetworkStream):
    """A connection whose every read and write ends with the deadline: a drip of bytes does not outlive it."""

    def __init__(self, inner: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._inner = inner
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, self._deadline.step(httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, self._deadline.step(httpcore.WriteTimeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        step = self._deadline.step(httpcore.ConnectTimeout)
        return DeadlineStream(self._inner.start_tls(ssl_context, server_hostname, step), self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class CheckedBackend(httpcore.NetworkBackend):
    """Resolves a host, checks every address and connects to one of those.

    The name is resolved once: an answer that changes between the check and the connection (DNS rebinding) changes
    nothing. TLS and the Host header keep the name. With `through_proxy` the host to connect to is the proxy, which is
    the operator's own and is not checked.
    """

    def __init__(
        self, deadline: Deadline, *, allow_hosts: Sequence[str], resolver: Resolver, through_proxy: bool = False
    ) -> None:
        self._inner = httpcore.SyncBackend()
        self._deadline = deadline
        self._allow_hosts = allow_hosts
        self._resolver = resolver
        self._through_proxy = through_proxy

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        addresses = (
            [host]
            if self._through_proxy
            else resolve_in_time(
                host, port, deadline=self._deadline, allow_hosts=self._allow_hosts, resolver=self._resolver
            )
        )
        failure: Exception | None = None
        for address in addresses[:4]:
            try:
                stream = self._inner.connect_tcp(
                    address, port, self._deadline.step(httpcore.ConnectTimeout), local_address, socket_options
                )
                return DeadlineStream(stream, self._deadline)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure or httpcore.ConnectError("no address")


def resolve_in_time(
    host: str, port: int, *, deadline: Deadline, allow_hosts: Sequence[str], resolver: Resolver = socket.getaddrinfo
) -> list[str]:
    """`resolve_checked`, given up at the deadline: the system's resolver has no limit of its own.

    Raises:
        FetchFailed: no answer in time (`retryable`), or what `resolve_checked` raises.
    """
    found: list[str] = []
    failure: list[Exception] = []

    def ask() -> None:
        try:
            found.extend(resolve_checked(host, port, allow_hosts=allow_hosts, resolver=resolver))
        except Exception as error:  # noqa: BLE001 - handed to the caller's thread below
            failure.append(error)

    thread = threading.Thread(target=ask, name="pegas-resolve", daemon=True)
    thread.start()
    thread.join(deadline.left())
    if failure:
        raise failure[0]
    if thread.is_alive():
        raise FetchFailed(f"The name {host} was not resolved within {deadline.seconds:g} s.", item=host, retryable=True)
    return found
