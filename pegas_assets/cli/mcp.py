"""`pegas mcp`: become the MCP server, or print what a client needs to start it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pegas_assets.cli.opened import settings_of_process
from pegas_assets.cli.output import print_json, say

if TYPE_CHECKING:
    from pegas_assets.settings import Settings

SERVER_NAME = "pegas-memory"


def mcp(
    snippet: Annotated[bool, typer.Option("--snippet", help="Print the client's settings instead.")] = False,
    read_only: Annotated[bool, typer.Option("--read-only", help="Offer no tool that writes.")] = False,
    json: Annotated[bool, typer.Option("--json", help="With --snippet: print the JSON form alone.")] = False,
) -> None:
    """Serve MCP over stdio, as pegas-mcp does; with --snippet, print the settings for a client."""
    if snippet or json:
        settings = settings_of_process()
        if json:
            print_json(json_snippet(settings, read_only))
        else:
            print_snippets(settings, read_only)
        return
    arguments = ["--read-only"] if read_only else []
    os.execv(sys.executable, [sys.executable, "-m", "pegas_mcp", *arguments])


def server_program() -> Path:
    """The MCP server's program in this environment."""
    return Path(sys.executable).absolute().parent / "pegas-mcp"


def server_environment(settings: Settings) -> dict[str, str]:
    """The variables that a client must hand on for its server to reach this base. Addresses that may hold secrets are
    left for the reader to add."""
    from pegas_assets.settings import Settings

    wanted = {"PEGAS_HOME": str(settings.home)}
    if settings.base != Settings.model_fields["base"].default:
        wanted["PEGAS_BASE"] = settings.base
    return wanted


def json_snippet(settings: Settings, read_only: bool = False) -> dict[str, Any]:
    """The `mcpServers` object that most clients read."""
    server: dict[str, Any] = {"command": str(server_program())}
    if read_only:
        server["args"] = ["--read-only"]
    server["env"] = server_environment(settings)
    return {"mcpServers": {SERVER_NAME: server}}


def dsh_snippet(settings: Settings, read_only: bool = False) -> list[str]:
    """The same for a dsh profile, as lines of YAML."""
    return [
        f"- id: mcp-{SERVER_NAME}",
        "  name: '@deepseek-ai/dsh-mcp-client'",
        "  config:",
        f"    serverName: {SERVER_NAME}",
        "    transport: stdio",
        f"    command: {server_program()}",
        f"    args: [{'--read-only' if read_only else ''}]",
        "    env:",
        *(f"      {name}: {value}" for name, value in server_environment(settings).items()),
    ]


def print_snippets(settings: Settings, read_only: bool = False) -> None:
    """Both forms, and which services' addresses have to be added by hand."""
    import json

    say("For an MCP client that reads mcpServers:", style="bold")
    say(json.dumps(json_snippet(settings, read_only), indent=2))
    say()
    say("For a dsh profile:", style="bold")
    for line in dsh_snippet(settings, read_only):
        say(line)
    services = ("database_url", "qdrant_url", "bolt_url", "ollama_url", "proxy_url")
    set_here = [f"PEGAS_{name.upper()}" for name in services if getattr(settings, name) is not None]
    if set_here:
        say()
        say(f"Add {', '.join(set_here)} to its env as they are set here; they may hold passwords and are not printed.")
