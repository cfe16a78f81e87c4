"""A run over resamples that is stopped goes on where it was, and ends as one that was not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mrfit.analysis.stability.edge_bootstrap import bootstrap_edges
from mrfit.core.errors import InputError
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning import Learner
from mrfit.learning.penalty_specs import L2
from mrfit.structures.simple import Learned, StructureLearner

EBIC = Learned(select="ebic", rule="and")


class StoppedError(Exception):
    """Stand-in for the interrupt of a user."""


def stop_after(n_most: int) -> Callable[[int], None]:
    """A callback that ends a run."""
    n_done = 0

    def count(n: int) -> None:
        nonlocal n_done
        n_done += n
        if n_done > n_most:
            raise StoppedError

    return count


@pytest.mark.parametrize("learner", [EBIC, Learner(penalty=L2(1.0))], ids=["pooled", "one by one"])
def test_stopped_runs_end_as_one(
    learner: Learner | StructureLearner, named_rows: Callable[..., UniqueRows], tmp_path: Path
) -> None:
    rows, file = named_rows("czech", "data"), tmp_path / "kept"
    whole = bootstrap_edges(learner, rows, resamples=24)
    for n_most in (0, 3, 12):
        with pytest.raises(StoppedError):
            bootstrap_edges(learner, rows, resamples=24, resume=file, callback=stop_after(n_most))
        file.write_bytes(file.read_bytes() + b'{"resamples": [23], "wei')  # as if it had been killed while writing
    n_before, told = file.read_bytes().count(b"\n"), []
    found = bootstrap_edges(learner, rows, resamples=24, resume=file, callback=told.append)
    np.testing.assert_array_equal(found.networks.weights, whole.networks.weights)
    np.testing.assert_array_equal(found.networks.sample, whole.networks.sample)
    assert n_before > 2
    assert told[0] > 3  # kept, not learned again
    assert sum(told) == 24


def test_failures_are_kept(tmp_path: Path) -> None:
    rows = UniqueRows.of([[0, 0], [0, 1], [1, 0], [1, 1]] * 5)
    resamples = np.ones((6, 4))
    resamples[2] = 0.0  # nothing to learn from
    learner = Learner(penalty=L2(1.0))
    once = bootstrap_edges(learner, rows, resamples=resamples, resume=tmp_path / "kept").networks
    again = bootstrap_edges(learner, rows, resamples=resamples, resume=tmp_path / "kept").networks
    assert once.n_failed == 1
    assert again.failures == once.failures
    np.testing.assert_array_equal(again.weights, once.weights)


def test_other_runs_and_strangers_files_are_refused(named_rows: Callable[..., UniqueRows], tmp_path: Path) -> None:
    rows, file = named_rows("czech", "data"), tmp_path / "kept"
    bootstrap_edges(EBIC, rows, resamples=4, resume=file)
    before = file.read_bytes()
    for learner, table, seed, other in (
        (Learned(select="ebic", rule="or"), rows, 0, "learner"),
        (EBIC, rows.on_columns(range(4)), 0, "table"),
        (EBIC, rows, 1, "resamples"),
    ):
        with pytest.raises(InputError, match=f"not of the same {other}"):
            bootstrap_edges(learner, table, resamples=4, seed=seed, resume=file)
    assert file.read_bytes() == before
    for text in ("my own notes", "my own notes\n"):
        (tmp_path / "mine").write_text(text)
        with pytest.raises(InputError, match="choose another file"):
            bootstrap_edges(EBIC, rows, resamples=4, resume=tmp_path / "mine")
        assert (tmp_path / "mine").read_text() == text


def test_where_there_is_nothing_to_keep(named_rows: Callable[..., UniqueRows], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="leave resume out"):
        bootstrap_edges(Learner(), named_rows("czech", "data"), resamples=4, one_step=True, resume=tmp_path / "kept")
    assert not (tmp_path / "kept").exists()
