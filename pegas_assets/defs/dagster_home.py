"""The home of Dagster and its storage: where they are, and what its processes must know."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from pegas_assets.embedded.postgres import dagster_database_url
from pegas_assets.embedded.process import prepare_home, private_directory, write_private
from pegas_assets.errors import EngineUnavailable
from pegas_assets.settings import Settings, without_secrets

LOCATION = "pegas_assets"
"""The code location. Run origins, sensors and schedules are stored under this name."""
SERVICE_SCHEMA = "pegas_dagster"
URL_VARIABLE = "PEGAS_DAGSTER_URL"
CONFIG_FILE = Path(__file__).resolve().parents[2] / "dagster.yaml"


def prepare_dagster_home(settings: Settings) -> Path:
    """Make `<home>/dagster` with the `dagster.yaml` of this version in it; returns the folder.

    Raises:
        EngineUnavailable: the folder cannot be written, or the checkout has no `dagster.yaml`.
    """
    try:
        prepare_home(settings.home)
        home = private_directory(settings.dagster_home)
        content = CONFIG_FILE.read_bytes()
        target = home / "dagster.yaml"
        if not target.exists() or target.read_bytes() != content:
            write_private(target, content)
    except OSError as error:
        raise EngineUnavailable(
            f"The home of Dagster, {settings.dagster_home}, cannot be made: {error}.",
            hint="Set PEGAS_HOME to a folder that can be written, and run from a whole checkout of the project.",
            component="dagster",
        ) from error
    return home


def storage_url(settings: Settings) -> str:
    """Where Dagster keeps its tables, as SQLAlchemy wants it: never beside the documents.

    With the embedded PostgreSQL that is a database of its own, made where it is missing; with a service, a schema of its
    own in the same database.
    """
    if settings.database_url is None:
        return dagster_database_url(settings)
    parts = urlsplit(settings.database_url.get_secret_value())
    schema = f"{SERVICE_SCHEMA}{settings.base_suffix}"
    query = [(name, value) for name, value in parse_qsl(parts.query) if name != "options"]
    query.append(("options", f"-csearch_path={schema}"))
    return urlunsplit(("postgresql+psycopg2", parts.netloc, parts.path, urlencode(query, quote_via=quote), ""))


def prepare_storage(settings: Settings) -> None:
    """Make the schema for Dagster's tables on a PostgreSQL service; the embedded one's database makes itself.

    Raises:
        EngineUnavailable: the service does not answer, or does not let us make a schema.
    """
    if settings.database_url is None:
        dagster_database_url(settings)
        return
    import psycopg
    from psycopg import sql

    schema = f"{SERVICE_SCHEMA}{settings.base_suffix}"
    try:
        with psycopg.connect(settings.database_url.get_secret_value(), connect_timeout=5) as connection:
            found = connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", [schema]).fetchone()
            if found is None:
                connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(schema)))
    except psycopg.Error as error:
        raise EngineUnavailable(
            f"The schema {schema} for Dagster cannot be had: {without_secrets(str(error).strip())}.",
            hint=f"Make it by hand: CREATE SCHEMA {schema} AUTHORIZATION <the role of PEGAS_DATABASE_URL>.",
            component="dagster",
        ) from None


def dagster_environment(settings: Settings) -> dict[str, str]:
    """The variables that a process of Dagster needs, these settings among them: it does not read our `.env`.

    Holds secrets: it is for the environment of a child, not for a log.
    """
    from pydantic import SecretStr

    environment = {
        "DAGSTER_HOME": str(settings.dagster_home),
        URL_VARIABLE: storage_url(settings),
        "DAGSTER_DISABLE_TELEMETRY": "1",
        "PYTHONUTF8": "1",
    }
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if value is None:
            continue
        if isinstance(value, SecretStr):
            value = value.get_secret_value()
        environment[f"PEGAS_{name.upper()}"] = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return environment
