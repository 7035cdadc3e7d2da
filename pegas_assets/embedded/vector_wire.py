"""How the vector host and its clients talk: frames of JSON and raw arrays over a private Unix socket.

A frame is `PGV1`, the length of the JSON, the length of the blob (network byte order), the JSON, the blob. Nothing that
could run code crosses it, and the kernel tells each side which user the other one is.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import time
from typing import Any

from pegas_assets.errors import InvalidInput

PROTOCOL = 1

_HEAD = struct.Struct("!4sIQ")
_MAGIC = b"PGV1"
_MAX_JSON = 256 * 1024 * 1024
_MAX_BLOB = 1024 * 1024 * 1024
_PEER = struct.Struct("3i")


class WireError(ConnectionError):
    """What came is no frame, or its sender is another user."""


def check_peer(connection: socket.socket) -> None:
    """Refuse a peer that is neither us nor root.

    Raises:
        WireError: it is another user.
    """
    _, uid, _ = _PEER.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size))
    if uid not in (os.geteuid(), 0):
        raise WireError(f"the process at the other end belongs to user {uid}")


def pack_frame(message: dict[str, Any], blob: bytes = b"") -> bytes:
    """A frame, ready to be sent.

    Raises:
        InvalidInput: a text in it is no Unicode.
    """
    try:
        text = json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except UnicodeEncodeError:
        raise InvalidInput("A name or key holds half of a surrogate pair.", hint="It is no valid text.") from None
    return b"".join((_HEAD.pack(_MAGIC, len(text), len(blob)), text, blob))


def receive_frame(connection: socket.socket, deadline: float | None = None) -> tuple[dict[str, Any], bytearray]:
    """Read one frame, until `deadline` on the monotonic clock.

    Raises:
        TimeoutError: the deadline passed.
        EOFError: the other side closed before a frame began.
        WireError: what came is no frame.
    """
    magic, text_length, blob_length = _HEAD.unpack(_receive(connection, _HEAD.size, deadline, at_start=True))
    if magic != _MAGIC or text_length > _MAX_JSON or blob_length > _MAX_BLOB:
        raise WireError("the other side speaks another protocol")
    try:
        message = json.loads(_receive(connection, text_length, deadline))
    except ValueError as error:
        raise WireError(f"a frame that is no JSON: {error}") from None
    if not isinstance(message, dict):
        raise WireError("a frame without an object")
    return message, _receive(connection, blob_length, deadline) if blob_length else bytearray()


def _receive(connection: socket.socket, size: int, deadline: float | None, *, at_start: bool = False) -> bytearray:
    buffer = bytearray(size)
    view = memoryview(buffer)
    got = 0
    while got < size:
        if deadline is not None:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            connection.settimeout(left)
        count = connection.recv_into(view[got:])
        if not count:
            raise EOFError if at_start and not got else WireError("the other side closed in the middle of a frame")
        got += count
    return buffer
