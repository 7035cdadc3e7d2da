"""What follows acceptance: small work in this process, large work by Dagster's own, none of it waited for too long."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pegas_assets.errors import EngineUnavailable, PegasError
from pegas_assets.settings import without_secrets

if TYPE_CHECKING:
    from pegas_assets.runtime import Runtime
    from pegas_assets.stores.document_work import Waiting
    from pegas_mcp.lineage import Lineage

log = logging.getLogger("pegas_mcp")

SMALL_DOCUMENTS = 10
SMALL_BYTES = 100_000
"""Some 100 chunks, which take the embedded model up to 20 s."""
DRAIN_WAIT_S = 0.3


@dataclass
class Work:
    """Work that goes on in a thread of its own. `done` is set at its end, whatever the end."""

    done: threading.Event = field(default_factory=threading.Event)
    runs: list[str] = field(default_factory=list)
    large: bool = False
    trouble: PegasError | None = None
    projected: bool = False
    behind: list[tuple[str, str]] = field(default_factory=list)
    """(projection, why) for each that does not show the work yet."""


def is_small(waiting: Sequence[Waiting]) -> bool:
    """Whether the work may be done in this process."""
    documents = sum(len(group.document_ids) for group in waiting)
    return documents <= SMALL_DOCUMENTS and sum(group.bytes for group in waiting) <= SMALL_BYTES


def begin(runtime: Runtime, lineage: Lineage, waiting: Sequence[Waiting], client: str) -> Work:
    """Begin the work on accepted documents. Whatever becomes of this process, they stay accepted."""
    work = Work(large=not is_small(waiting))
    target = _launch if work.large else _run

    def body() -> None:
        try:
            target(runtime, lineage, waiting, client, work)
        except PegasError as error:
            work.trouble = error
        except Exception as error:
            log.exception("The work on accepted documents failed")
            work.trouble = EngineUnavailable(
                f"Dagster failed: {type(error).__name__}.",
                hint="The documents are accepted: the sensor works on them.",
                component="dagster",
            )
        finally:
            if work.trouble is not None:
                log.info("Left to the sensor: %s", without_secrets(str(work.trouble)))
            work.done.set()

    threading.Thread(target=body, name="ingest", daemon=True).start()
    return work


def _launch(runtime: Runtime, lineage: Lineage, waiting: Sequence[Waiting], client: str, work: Work) -> None:
    for group in waiting:
        work.runs.append(lineage.launch(group.source, group.document_ids, client))


def _run(runtime: Runtime, lineage: Lineage, waiting: Sequence[Waiting], client: str, work: Work) -> None:
    from pegas_assets.projection.drain import drain
    from pegas_assets.stores.documents import keys_of

    for group in waiting:
        work.runs.append(lineage.run(runtime, group.source, group.document_ids, client))
    with runtime.database.connection() as connection:
        keys = [key for group in waiting for id_ in group.document_ids for key in keys_of(connection, id_)]
    drained = drain(
        runtime.database,
        runtime.targets,
        keys=list(dict.fromkeys(keys)),
        wait_s=DRAIN_WAIT_S,
        max_attempts=runtime.settings.outbox_max_attempts,
    )
    work.behind = [(item.target, item.unavailable) for item in drained if item.unavailable]
    work.projected = not any(item.unavailable or item.busy_buckets or item.waiting for item in drained)
