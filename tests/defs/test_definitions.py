"""The code location loads, connects to nothing, and is the graph that it is said to be."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest

from pegas_assets.definitions import defs
from pegas_assets.defs.partitions import buckets
from tests.defs.graph import graph_lines

SNAPSHOT = Path(__file__).with_name("graph.txt")
ROOT = Path(__file__).resolve().parents[2]
REPOSITORY = defs.get_repository_def()
ASSETS = [
    asset for asset in REPOSITORY.assets_defs_by_key.values() if isinstance(asset, dg.AssetsDefinition) and asset.keys
]


def test_the_graph_is_the_one_in_the_snapshot() -> None:
    """A change that is meant: `python -m tests.defs.write_graph` writes it anew."""
    assert "\n".join(graph_lines(REPOSITORY)) + "\n" == SNAPSHOT.read_text()


def test_every_asset_returns_no_value_that_an_io_manager_would_pickle() -> None:
    for asset in ASSETS:
        returned = asset.node_def.compute_fn.decorated_fn.__annotations__["return"]  # type: ignore[attr-defined]
        assert getattr(returned, "__origin__", returned) is dg.MaterializeResult


def test_every_asset_says_what_it_is() -> None:
    for asset in ASSETS:
        for spec in asset.specs:
            assert spec.group_name
            assert spec.kinds
            assert spec.owners
            assert spec.description
            assert spec.description.startswith("One "), "the first words say what one row is"


def test_every_job_runs_in_one_process_and_has_a_longest_time() -> None:
    for job in REPOSITORY.get_all_jobs():
        assert job.executor_def.name == "in_process"
        if not job.name.startswith("__"):
            assert int(job.run_tags["dagster/max_runtime"]) > 0


def test_every_sensor_and_schedule_runs_without_being_switched_on() -> None:
    assert {sensor.default_status for sensor in REPOSITORY.sensor_defs} == {dg.DefaultSensorStatus.RUNNING}
    assert {schedule.default_status for schedule in REPOSITORY.schedule_defs} == {dg.DefaultScheduleStatus.RUNNING}


def test_arrows_between_different_partition_sets_name_their_mapping() -> None:
    graph = REPOSITORY.asset_graph
    for key in graph.get_all_asset_keys():
        node = graph.get(key)
        for parent in node.parent_keys:
            if graph.get(parent).partitions_def != node.partitions_def:
                assert isinstance(node.partition_mappings[parent], dg.AllPartitionMapping), (parent, key)


def test_bucket_keys_are_plain() -> None:
    assert [int(key) for key in buckets.get_partition_keys()] == list(range(16))
    assert all(key.isdigit() for key in buckets.get_partition_keys())


def test_the_four_distributions_of_dagster_are_one_release_set() -> None:
    import dagster_postgres

    version = importlib.metadata.version
    assert version("dagster") == version("dagster-webserver") == version("dagster-graphql")
    assert dagster_postgres.__version__.split(".")[1:] == [
        str(int(version("dagster").split(".")[1]) + 16),
        version("dagster").split(".")[2],
    ]


LOAD_WITHOUT_ENGINES = """
import socket
def refuse(*_, **__):
    raise AssertionError("something connects while the definitions load")
socket.socket.connect = socket.socket.connect_ex = refuse
from pegas_assets.definitions import defs
defs.get_repository_def()
"""


def test_loading_connects_to_nothing_and_makes_nothing(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-c", LOAD_WITHOUT_ENGINES],
        check=True,
        timeout=60,
        env={
            **os.environ,
            "PEGAS_HOME": str(tmp_path / "never"),
            "PEGAS_DATABASE_URL": "postgresql://nobody@192.0.2.1/x",
        },
    )
    assert not (tmp_path / "never").exists()


def test_the_workspace_validates_with_no_database_up(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "dagster", "definitions", "validate", "-w", str(ROOT / "workspace.yaml")],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=ROOT,
        env={**os.environ, "DAGSTER_HOME": str(tmp_path), "PEGAS_HOME": str(tmp_path / "never")},
    )
    assert done.returncode == 0, done.stderr
    assert "pegas_assets" in done.stderr + done.stdout


@pytest.mark.parametrize("name", ["stack", "instance", "launch", "dagster_home", "stack_host"])
def test_the_doors_to_dagster_open_without_importing_it(name: str) -> None:
    code = f"import sys, pegas_assets.defs.{name}; sys.exit('dagster' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0
