"""Units are run once each, in one process or several, and a failure stops no other."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from mrfit_papers.runner import Clock, bundled, outcomes
from mrfit_papers.unit import Unit


@dataclass(frozen=True)
class Task(Unit):
    """Says in which process it ran; some fail, and some end their process."""

    number: int
    bundle: int = 0
    kind: ClassVar[str] = "task"

    def data(self) -> tuple[tuple[str, str], ...]:
        return ()

    def shared(self) -> int:
        return self.bundle

    def cost(self) -> float:
        return 1.0 + self.bundle

    def describe(self) -> str:
        return f"task {self.number}"

    def run(self) -> dict[str, Any]:
        if self.number == 13:
            raise ValueError("an unlucky number")
        if self.number == 66:
            os.kill(os.getpid(), signal.SIGKILL)
        return {"number": self.number, "process": os.getpid()}


TASKS = [Task(number, number // 4) for number in range(12)]


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_every_unit_is_run_once(jobs: int) -> None:
    found = list(outcomes(TASKS, jobs=jobs))
    assert sorted(outcome.unit.number for outcome in found) == list(range(12))  # type: ignore[attr-defined]
    assert all(outcome.result["number"] == outcome.unit.number for outcome in found)  # type: ignore


def test_units_that_share_work_share_a_process() -> None:
    found = list(outcomes(TASKS, jobs=2))
    for bundle in range(3):
        assert len({o.result["process"] for o in found if o.unit.bundle == bundle}) == 1  # type: ignore
    assert os.getpid() not in {o.result["process"] for o in found}  # type: ignore[index]


def test_the_dearest_bundles_come_first() -> None:
    assert [bundle[0].shared() for bundle in bundled(TASKS)] == [2, 1, 0]


def test_what_has_an_earlier_turn_comes_before_what_is_dear() -> None:
    @dataclass(frozen=True)
    class Urgent(Task):
        def turn(self) -> int:
            return self.number % 2

    bundles = bundled([Urgent(number, number // 4) for number in range(12)])
    assert [[unit.number for unit in bundle] for bundle in bundles] == [  # type: ignore[attr-defined]
        [8, 10], [4, 6], [0, 2], [9, 11], [5, 7], [1, 3],
    ]  # fmt: skip


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failure_is_told_of_and_stops_no_other(jobs: int) -> None:
    found = {o.unit.number: o for o in outcomes([Task(12), Task(13), Task(14)], jobs=jobs)}  # type: ignore[attr-defined]
    assert found[13].result is None
    assert found[13].error == "ValueError: an unlucky number"
    assert found[12].result is not None
    assert found[14].result is not None


def test_a_process_that_is_killed_loses_one_unit() -> None:
    tasks = [Task(1, 1), Task(66, 1), Task(2, 1), Task(3, 2), Task(4, 2)]
    found = {o.unit.number: o for o in outcomes(tasks, jobs=2)}  # type: ignore[attr-defined]
    assert sorted(found) == [1, 2, 3, 4, 66]
    assert "ended from outside" in found[66].error
    assert [number for number, outcome in found.items() if outcome.result is None] == [66]


def test_the_time_left_is_that_of_the_cost_left() -> None:
    times = iter([0.0, 10.0, 30.0])
    clock = Clock(total=6.0, now=lambda: next(times))
    assert clock.left(1.0) == 50.0
    assert clock.left(2.0) == 30.0
