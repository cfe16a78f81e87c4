"""A run that is killed at any moment goes on where it was, and ends with the results of one that was not."""

from __future__ import annotations

import json
import signal
import time
from multiprocessing.process import BaseProcess
from pathlib import Path

import numpy as np
import pytest

from forked import started
from mrfit_papers.circumstances import processor
from mrfit_papers.experiment import Scope
from mrfit_papers.experiments import experiments_called
from mrfit_papers.reproduction import reproduce
from mrfit_papers.store import NAME, Store

SETS = ("nltcs",)
COMMAND = ["reproduce", "apt-table1", "--quick", "--datasets", ",".join(SETS), "--quiet"]
N_KILLS = 10


def begun(folder: Path, jobs: int) -> BaseProcess:
    return started(*COMMAND, "--out", str(folder), "--jobs", str(jobs))


def n_stored(folder: Path) -> int:
    path = folder / NAME
    return path.read_bytes().count(b'"key"') if path.exists() else 0


def results_in(folder: Path) -> set[str]:
    """Results in a folder without their durations."""
    records = Store.read(folder).records.values()
    return {json.dumps([record.key, record.about, record.result], sort_keys=True) for record in records}


def descendants_of(pid: int) -> list[int]:
    """Workers are not children of the process that asks for them, but of one that it has to start them."""
    path = Path(f"/proc/{pid}/task/{pid}/children")
    try:
        children = [int(child) for child in path.read_text().split()]
    except (FileNotFoundError, ProcessLookupError):  # it has just ended
        return []
    return [pid for child in children for pid in (child, *descendants_of(child))]


def is_alive(pid: int) -> bool:
    path = Path(f"/proc/{pid}/stat")
    try:
        return path.read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_ten_kills_change_no_result(data_dir: Path, tmp_path: Path, rng: np.random.Generator) -> None:
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    orphans: list[int] = []
    for number in range(N_KILLS):
        process = begun(killed, jobs=2 if number % 4 == 0 else 1)  # each job is one more process to be started
        # After another unit or before it, and then at a random moment.
        target = n_stored(killed) + int(rng.integers(0, 2))
        while n_stored(killed) < target and process.is_alive():
            time.sleep(0.01)
        time.sleep(float(rng.uniform(0.0, 0.3)))  # within the next unit, or the one after
        orphans += descendants_of(process.pid)
        process.kill()
        process.join()
        assert process.exitcode in (-signal.SIGKILL, 0)
    n_before = n_stored(killed)
    process = begun(killed, jobs=1)
    process.join()
    assert process.exitcode == 0

    found = reproduce(experiments_called("apt-table1"), Scope(True, SETS), whole, jobs=1)
    assert found.n_new == len(found.units) == 7
    assert results_in(killed) == results_in(whole)
    assert n_stored(killed) == 7  # nothing was done twice
    assert n_before > 0  # some of it was done before the last start
    assert (killed / "apt-table1.html").exists()
    assert not any(is_alive(pid) for pid in orphans), "processes outlived the one that started them"


def test_pages_name_the_machine_of_a_run_that_was_killed_after_its_last_unit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiments, scope = experiments_called("spec-table1"), Scope(True, ())

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as at_the_end:
        at_the_end.setattr(Store, "close_session", killed)
        with pytest.raises(KeyboardInterrupt):
            reproduce(experiments, scope, tmp_path, jobs=1)
    assert reproduce(experiments, scope, tmp_path, jobs=1).n_new == 0
    assert f" of one core of {processor()}; " in (tmp_path / "spec-table1.md").read_text()


def test_pages_are_made_anew_from_what_is_stored(data_dir: Path, tmp_path: Path) -> None:
    experiments, scope = experiments_called("apt-table1"), Scope(True, ("nltcs",))
    first = reproduce(experiments, scope, tmp_path, jobs=1)
    page = (tmp_path / "apt-table1.md").read_text()
    (tmp_path / "apt-table1.md").unlink()
    again = reproduce(experiments, scope, tmp_path, jobs=1, report_only=True)
    assert (first.n_new, again.n_new) == (7, 0)
    assert (tmp_path / "apt-table1.md").read_text() == page
    assert reproduce(experiments, scope, tmp_path, jobs=1).n_new == 0
