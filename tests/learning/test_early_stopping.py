"""Fits that cannot be chosen are left, and the choice is what it would be without."""

from __future__ import annotations

import numpy as np
import pytest

from mrfit.learning import Learner
from mrfit.learning import cross_validation as held_out
from mrfit.learning import early_stopping as race
from mrfit.learning.early_stopping import EarlyStopping
from mrfit.learning.tying_specs import HardTied, LearnTieRelearn, TyingSpec
from mrfit.objectives.cached import CachedObjective
from mrfit.solvers.solution import Status
from mrfit.structures.simple import CompleteGraph


class Counter(CachedObjective):
    """Passes over no data."""

    def __init__(self) -> None:
        self.passes = 0


def looks(scores: list[float], best: float, *, passes: int = 60) -> list[bool]:
    """Return the decisions of early stopping on a fit with these scores, so many passes apart; a point is its score."""
    counter = Counter()
    found = EarlyStopping(counter, lambda w: float(w[0]))
    found.best = best
    is_lost, said = found.begun(np.array(scores[:1])), []
    for score in scores[1:]:
        counter.passes += passes
        said.append(is_lost(np.array([score])))
    return said


def test_a_fit_is_lost_when_it_falls_and_is_behind() -> None:
    assert looks([-50.0, -51.0, -52.0], best=-50.9) == [False, True]
    assert looks([-53.0, -52.0, -51.5], best=-50.0) == [False, False]  # behind, but on its way up
    assert looks([-50.0, -50.4, -50.8], best=-51.0) == [False, False]  # it falls, and is still ahead
    assert looks([-52.0, -52.0, -52.0], best=-50.0) == [False, False]  # at rest


def test_a_short_fit_is_not_looked_at() -> None:
    assert looks([-50.0, -60.0, -70.0, -80.0], best=-50.0, passes=20) == [False, False, True]


@pytest.mark.parametrize("penalty", [LearnTieRelearn, HardTied])
def test_what_is_left_would_not_have_been_chosen(
    penalty: type[TyingSpec], rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sixty rows of a chain, and parameters for all pairs: with many groups they follow every row."""
    monkeypatch.setattr(race, "_LOOK", 4)  # on a small table fits are short
    rows, valid = (chain(rng, n) for n in (60, 400))
    settings = Learner(CompleteGraph(), penalty((0.1, 1.0, 10.0), groups=(2, 5, 60, 100)))
    stopped, fine = (settings.fit(rows, valid, compared=False, rough=tolerance) for tolerance in (1e-4, None))
    assert (stopped.best.n_groups, stopped.best.strength) == (
        fine.best.n_groups,
        fine.best.strength,
    )
    assert stopped.best.rank == pytest.approx(fine.best.rank, rel=1e-6)
    left = [i for i, fit in enumerate(stopped.fits) if fit.solution.status is Status.ABANDONED]
    assert left
    assert max(fine.fits[i].rank for i in left) < fine.best.rank


def test_there_is_no_race_where_another_score_chooses(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The objective of a fit cannot be compared with another score."""
    monkeypatch.setattr(held_out, "EarlyStopping", None)  # nobody may begin one
    rows, valid = (chain(rng, n)[:, :6] for n in (60, 200))
    learner = Learner(CompleteGraph(), LearnTieRelearn((0.1, 1.0), groups=(2, 5)), judge="ll")
    assert len(learner.fit(rows, valid, compared=False, rough=1e-4).fits) == 4


def chain(rng: np.random.Generator, n_rows: int) -> np.ndarray:
    """Fourteen variables, each like the one before in four of five rows."""
    flips = rng.random((n_rows, 14)) < 0.2
    flips[:, 0] = rng.random(n_rows) < 0.5
    return np.asarray(flips.cumsum(axis=1) % 2)
