"""Puts the parts of one base together: what every face (Dagster, MCP, CLI) opens, once, at its root."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property

from pegas_assets.distill.base import Distiller
from pegas_assets.embedding.base import Embedder
from pegas_assets.embedding.profile import Profile
from pegas_assets.errors import InvalidInput
from pegas_assets.pipeline.parts import IngestParts
from pegas_assets.projection.graph_target import GraphTarget
from pegas_assets.projection.targets import TARGETS, Target
from pegas_assets.projection.vector_target import VectorTarget
from pegas_assets.search.engines import SearchEngines
from pegas_assets.settings import Settings
from pegas_assets.stores.graph import GraphStore
from pegas_assets.stores.postgres import Database
from pegas_assets.stores.vectors import VectorStore

LONG_QUEUE = 1500
"""Outbox rows after which ingest itself drains."""


class Runtime:
    """One base: its truth, its projections, its models. Every part is opened when first used and may be shared by threads.

    Nothing connects in the constructor. `ensure_schema` is called by whoever is about to write.
    """

    def __init__(self, settings: Settings, *, application: str = "pegas", connections: int = 8) -> None:
        self.settings = settings
        self._application = application
        self._connections = connections
        self._lock = threading.RLock()
        self._schema_checked = False

    @cached_property
    def database(self) -> Database:
        from pegas_assets.embedded.postgres import ensure_postgres

        service = self.settings.database_url
        address: Callable[[], str] = (
            service.get_secret_value if service is not None else lambda: ensure_postgres(self.settings)
        )
        return Database(address, size=self._connections, application=self._application)

    @cached_property
    def embedder(self) -> Embedder:
        from pegas_assets.embedding.factory import open_embedder

        return open_embedder(self.settings)

    @cached_property
    def profile(self) -> Profile | None:
        """The thresholds of the embedding model; None for a model that was never calibrated, which then dedups nothing."""
        from pegas_assets.embedding.profile import load_profile

        return load_profile(self.embedder.fingerprint)

    @cached_property
    def distiller(self) -> Distiller:
        from pegas_assets.distill.factory import open_distiller

        return open_distiller(self.settings)

    @cached_property
    def vectors(self) -> VectorStore:
        from pegas_assets.stores.vectors_factory import open_vectors

        return open_vectors(self.settings)

    @cached_property
    def graph(self) -> GraphStore:
        from pegas_assets.stores.graph_factory import open_graph

        return open_graph(self.settings)

    @cached_property
    def vector_target(self) -> VectorTarget:
        return VectorTarget(self.database, self.vectors, self.embedder, self.settings.atoms_role)

    @cached_property
    def graph_target(self) -> GraphTarget:
        return GraphTarget(self.database, self.graph)

    @property
    def targets(self) -> tuple[Target, ...]:
        """Both projections, vectors first."""
        return (self.vector_target, self.graph_target)

    def target(self, name: str) -> Target:
        """The projection called `vectors` or `graph`.

        Raises:
            InvalidInput: there is none of that name.
        """
        for target in self.targets:
            if target.name == name:
                return target
        raise InvalidInput(f"{name!r} is no projection.", hint=f"Use {' or '.join(TARGETS)}.", item=name)

    @cached_property
    def ingest_parts(self) -> IngestParts:
        return IngestParts(
            database=self.database,
            settings=self.settings,
            embedder=self.embedder,
            distiller=self.distiller,
            profile=self.profile,
            vectors=lambda: self.vectors,
            collection=lambda: self.vector_target.ready_collection(),
            relieve=self.relieve,
        )

    def relieve(self) -> None:
        """Drain the outbox into the vectors when it is long, so that dedup need not read it row by row."""
        from pegas_assets.projection.drain import drain
        from pegas_assets.stores.outbox import pending_buckets

        with self.database.connection() as connection:
            waiting = sum(pending_buckets(connection, self.vector_target.statements).values())
        if waiting > LONG_QUEUE:
            drain(self.database, [self.vector_target], max_attempts=self.settings.outbox_max_attempts)

    @cached_property
    def search_engines(self) -> SearchEngines:
        return SearchEngines(
            database=self.database,
            vectors=lambda: self.vectors,
            graph=lambda: self.graph,
            embedder=lambda: self.embedder,
            collection=lambda: self.vector_target.ready_collection(),
            profile=lambda: self.profile,
        )

    def ensure_schema(self) -> None:
        """Check the schema once. The embedded database, which is this project's own, is migrated on the way.

        Raises:
            SchemaMismatch: a service's database lacks a migration, or one was edited.
            EngineUnavailable: the database does not answer.
        """
        from pegas_assets.stores.migrations import migrate, require_schema

        with self._lock:
            if self._schema_checked:
                return
            if self.settings.database_url is None:
                migrate(self.database)
            else:
                require_schema(self.database)
            self._schema_checked = True

    def start(self, tell: Callable[[str], object] = lambda step: None) -> None:
        """Start the engines that do not run yet and check the schema; `tell` gets the name of each step before it.

        Raises:
            EngineUnavailable: an engine does not come up; the message says which and where its log is.
            SchemaMismatch: as `ensure_schema`.
        """
        tell("PostgreSQL")
        self.ensure_schema()
        tell("the vector engine")
        self.vectors.version()
        tell("the graph")
        self.graph.version()

    def close(self) -> None:
        """Give connections back. Engines that were started stay up for the next."""
        for name in ("database", "vectors", "graph"):
            part = self.__dict__.pop(name, None)
            if part is not None:
                part.close()
        for name in ("vector_target", "graph_target", "search_engines", "ingest_parts"):
            self.__dict__.pop(name, None)

    def __enter__(self) -> Runtime:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
