"""The order of pages by when their hosts are free."""

from __future__ import annotations

from pegas_assets.pipeline.turns import LONGEST_WAIT_S, HostTurns, PutOff


class Hosts:
    """Hosts that are busy until some moment of a clock that only sleeping moves."""

    def __init__(self, **until: float) -> None:
        self.now = 100.0
        self.until = {host: self.now + seconds for host, seconds in until.items()}
        self.slept: list[float] = []

    def busy(self, names: list[str]) -> dict[str, tuple[float, str]]:
        left = {name: self.until.get(name, 0.0) - self.now for name in names}
        return {name: (seconds, "as it asked") for name, seconds in left.items() if seconds > 0}

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def turns(self, *documents: tuple[int, str]) -> HostTurns:
        return HostTurns(documents, self.busy, sleep=self.sleep, clock=lambda: self.now)


def test_a_host_that_is_busy_holds_up_no_other() -> None:
    hosts = Hosts(slow=5.0)
    assert list(hosts.turns((1, "slow"), (2, "quick"), (3, "slow"), (4, "quick"))) == [2, 4, 1, 3]
    assert hosts.slept == [5.0]


def test_hosts_that_are_free_take_turns() -> None:
    assert list(Hosts().turns((1, "a"), (2, "a"), (3, "b"), (4, "b"))) == [1, 3, 2, 4]


def test_what_is_given_back_comes_first_of_its_host_when_that_is_free() -> None:
    hosts = Hosts()
    turns = hosts.turns((1, "a"), (2, "a"), (3, "b"))
    came = []
    for document in turns:
        came.append(document)
        if came == [1]:
            turns.again(1, "a", 2.0)
    assert came == [1, 3, 1, 2]
    assert hosts.slept == [2.0]


def test_what_is_far_off_is_left_to_a_later_run_with_the_reason() -> None:
    hosts = Hosts(away=LONGEST_WAIT_S + 30)
    turns = hosts.turns((1, "away"), (2, "here"), (3, "away"))
    assert list(turns) == [2]
    assert turns.put_off == [
        PutOff(1, LONGEST_WAIT_S + 30, "as it asked"),
        PutOff(3, LONGEST_WAIT_S + 30, "as it asked"),
    ]
    assert hosts.slept == []


def test_a_host_that_another_process_takes_again_and_again_is_waited_for() -> None:
    hosts = Hosts(shared=1.0)
    taken = iter([1.0, 1.0])
    sleep = hosts.sleep

    def sleep_and_lose(seconds: float) -> None:
        sleep(seconds)
        hosts.until["shared"] = hosts.now + next(taken, 0.0)

    turns = HostTurns([(1, "shared")], hosts.busy, sleep=sleep_and_lose, clock=lambda: hosts.now)
    assert list(turns) == [1]
    assert len(hosts.slept) == 3
