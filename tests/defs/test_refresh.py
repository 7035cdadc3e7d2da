"""Known pages are asked for again by the clock, when a setting says so."""

from __future__ import annotations

from collections.abc import Iterator

import dagster as dg
import pytest

from pegas_assets.definitions import defs
from pegas_assets.defs.resources import lend
from pegas_assets.defs.schedules import refresh_schedule
from pegas_assets.pipeline.accept import accept_urls
from pegas_assets.runtime import Runtime


@pytest.fixture(autouse=True)
def no_documents(opened: Runtime) -> Iterator[None]:
    yield
    with opened.database.connection() as connection:
        connection.execute("DELETE FROM pm_document")


def known_pages(opened: Runtime, *ages_days: int) -> list[int]:
    """Pages that were read so many days ago."""
    urls = [f"https://example.org/{number}" for number in range(len(ages_days))]
    ids = accept_urls(opened.database, opened.settings, urls).document_ids
    with opened.database.connection() as connection:
        for document, days in zip(ids, ages_days, strict=True):
            connection.execute(
                "UPDATE pm_document SET status = 'done', fetched_at = now() - make_interval(days => %s) WHERE id = %s",
                [days, document],
            )
    return list(ids)


def run(opened: Runtime, instance: dg.DagsterInstance) -> dg.ExecuteInProcessResult:
    with lend(opened):
        return defs.resolve_job_def("refresh_job").execute_in_process(instance=instance)


def test_pages_past_the_age_are_left_to_the_sensor_and_the_rest_alone(
    opened: Runtime, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = known_pages(opened, 40, 20)
    monkeypatch.setattr(opened, "settings", opened.settings.model_copy(update={"refresh_after": "30d"}))
    assert run(opened, instance).success
    with opened.database.connection() as connection:
        found = connection.execute("SELECT id, status, fetched_at IS NULL FROM pm_document ORDER BY id").fetchall()
    assert found == [(old, "accepted", True), (new, "done", False)]


def test_without_the_setting_nothing_is_asked_for(opened: Runtime, instance: dg.DagsterInstance) -> None:
    known_pages(opened, 400)
    assert run(opened, instance).success
    with opened.database.connection() as connection:
        assert connection.execute("SELECT DISTINCT status FROM pm_document").fetchall() == [("done",)]


def test_the_schedule_skips_unless_it_is_switched_on(
    instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = dg.build_schedule_context(instance=instance)
    assert isinstance(refresh_schedule(context), dg.SkipReason)
    monkeypatch.setenv("PEGAS_REFRESH_AFTER", "30d")
    assert isinstance(refresh_schedule(context), dg.RunRequest)
