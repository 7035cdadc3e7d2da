"""Reads damaged copies of one file, one after another, and says of each on a line what came of it.

A program of its own: what crashes, hangs or eats memory does so here, and its parent knows on which copy.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from pathlib import Path

from tests.fuzz.mutation import mutated

MEMORY_BYTES = 4 << 30
"""Of addresses: a reader that asks for more is refused it and fails."""


def main(path: Path, first: int, last: int) -> None:
    from pegas_assets.errors import Refused
    from pegas_assets.sources.registry import parse

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    # What a library prints is no line of ours.
    lines = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    body = path.read_bytes()
    for seed in range(first, last):
        print(json.dumps({"begins": seed}), file=lines, flush=True)
        answer: dict[str, object] = {"seed": seed}
        try:
            document = parse(mutated(body, seed), name=path.name)
        except Refused as refused:
            answer |= {"outcome": "refused", "sentences": [str(refused)]}
        except BaseException as error:  # noqa: BLE001
            answer |= {"outcome": "crashed", "sentences": [f"{type(error).__name__}: {error}"]}
        else:
            whole = all(
                chunk.content == document.text[chunk.locator.start : chunk.locator.end] for chunk in document.chunks
            )
            outcome = ("partial" if document.warnings else "ok") if whole else "chunks that are not in the text"
            answer |= {"outcome": outcome, "sentences": list(document.warnings)}
        answer["mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(json.dumps(answer), file=lines, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
