"""What a stage did: counts for people, lineage and metadata."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

Progress = Callable[[str, int, int], None]
"""Called with a stage's name, how many documents are done, and how many there are."""


@dataclass
class StageReport:
    """Counts of one stage over one source. `skipped` and `failed` go by reason."""

    stage: str
    source: str
    documents: int = 0
    produced: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    _started: float = field(default_factory=time.perf_counter, repr=False)

    def note_failure(self, code: str, message: str) -> None:
        """Count a failure and keep the first sentences for whoever looks."""
        self.failed[code] += 1
        if len(self.errors) < 20:
            self.errors.append(message)

    def ended(self) -> StageReport:
        self.seconds = time.perf_counter() - self._started
        return self

    @property
    def rate(self) -> float:
        """Produced things a second."""
        return self.produced / self.seconds if self.seconds else 0.0
