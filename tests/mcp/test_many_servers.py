"""Eight server processes that write at once, as eight agents of one user do."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from pegas_assets.projection.drain import drain
from pegas_assets.projection.reconcile import drift
from pegas_assets.runtime import Runtime
from tests.mcp.raw import RawServer, assert_only_protocol, environment, structure_of, text_of

SERVERS = 8
OWN = 2
SHARED = 2


def test_nothing_is_lost_and_nothing_doubled(base: Runtime) -> None:
    variables = environment(PEGAS_HOME=str(base.settings.home), PEGAS_BASE=base.settings.base)
    shared = [f"The shared buoy {'AB'[number]} is painted in colour {number + 40}." for number in range(SHARED)]
    own = [f"Sluice {server * OWN + number} of Marl drains polder number {server * 100 + number}."
           for server in range(SERVERS) for number in range(OWN)]  # fmt: skip

    def work(server: int) -> list[str]:
        keys = []
        with RawServer(variables, "--no-warm-up") as client:
            client.initialize(f"agent {server}")
            said = [*own[server * OWN : (server + 1) * OWN], *shared]
            # Each begins elsewhere, so that the shared ones meet.
            for content in said[server % 4 :] + said[: server % 4]:
                result = client.call_again("memory_store", {"content": content})
                assert not result.get("isError"), text_of(result) + client.stderr[-2000:]
                keys.append(structure_of(result)["key"])
            assert_only_protocol(client)
        return keys

    with ThreadPoolExecutor(SERVERS) as pool:
        keys = list(pool.map(work, range(SERVERS)))
    assert all(len(got) == OWN + SHARED for got in keys)
    with base.database.connection() as connection:
        facts = Counter(
            row[0] for row in connection.execute("SELECT content FROM pm_atom WHERE type = 'fact'").fetchall()
        )
        open_documents = connection.execute("SELECT count(*) FROM pm_document WHERE status <> 'done'").fetchone()
        twice = connection.execute(
            "SELECT count(*) FROM (SELECT content_hash FROM pm_document WHERE content_hash IS NOT NULL "
            "GROUP BY 1 HAVING count(*) > 1) AS twice"
        ).fetchone()
    assert facts == Counter(dict.fromkeys([*own, *shared], 1))
    assert open_documents == (0,)
    assert twice == (0,)
    drain(base.database, base.targets, wait_s=5)
    for target in base.targets:
        assert sum(found.total for found in drift(base.database, target)) == 0
