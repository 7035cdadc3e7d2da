"""Streamable HTTP with a bearer token, on `/mcp`."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any

from pegas_assets.errors import PegasError

if TYPE_CHECKING:
    from pegas_mcp.command import Command
    from pegas_mcp.server import PegasServer

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class BearerToken:
    """Lets a request through that carries the token, and answers any other with 401."""

    def __init__(self, app: App, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or self._admits(scope):
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        body = b'{"error": "unauthorized", "error_description": "Send the bearer token of this server."}'
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"www-authenticate", b"Bearer"),
        ]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _admits(self, scope: Scope) -> bool:
        sent = next((value for name, value in scope.get("headers", ()) if name == b"authorization"), b"")
        scheme, _, token = sent.partition(b" ")
        return scheme.lower() == b"bearer" and hmac.compare_digest(token.strip(), self._token)


def serve_http(server: PegasServer, command: Command) -> None:
    """Serve until the process is told to end; then at most a second for answers under way.

    Raises:
        PegasError: the address cannot be listened on.
    """
    import uvicorn

    app = BearerToken(server.streamable_http_app(host=command.host), command.token)
    config = uvicorn.Config(
        app,
        host=command.host,
        port=command.port,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=1,
    )
    try:
        uvicorn.Server(config).run()
    except (OSError, SystemExit) as error:
        raise PegasError(
            f"Nothing can be served on {command.host}:{command.port}.",
            hint="Another program may have the port: choose one with --port.",
            code="port_taken",
        ) from error
