"""Writes the snapshot of the graph: `python -m tests.defs.write_graph`, after a change that is meant."""

from __future__ import annotations

from pathlib import Path

from pegas_assets.definitions import defs
from tests.defs.graph import graph_lines

if __name__ == "__main__":
    Path(__file__).with_name("graph.txt").write_text("\n".join(graph_lines(defs.get_repository_def())) + "\n")
