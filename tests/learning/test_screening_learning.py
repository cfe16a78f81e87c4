"""Learning by interaction screening: behind the door of all other objectives, and scored by what rows are scored by."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mrfit.learning import Learner
from mrfit.learning.objective_specs import LOG_RISE, PSEUDO_LIKELIHOOD, RISE, ObjectiveSpec
from mrfit.learning.penalty_specs import L1, L2, GroupLasso, HierarchicalLasso, NoPenalty
from mrfit.learning.specification import learn
from mrfit.learning.tying_specs import HardTied, LearnTieRelearn, SoftTied
from mrfit.objectives.row_scores import row_pll
from mrfit.solvers.fista import Fista
from mrfit.solvers.lbfgs import LBFGS
from mrfit.structures.simple import AllInteractions
from populations import full_rows, random_rows

both = pytest.mark.parametrize("objective", [RISE, LOG_RISE], ids=lambda objective: objective.word)

PENALTIES = [
    L2((3.0, 0.3)), L1(), L1(2.0), GroupLasso(2.0), HierarchicalLasso(2.0), SoftTied((0.1, 1.0), groups=(2, 5)),
    HardTied(1.0, groups=3), LearnTieRelearn(1.0, groups=3),
]  # fmt: skip


@both
@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda penalty: penalty.describe())
@pytest.mark.parametrize("parameterization", ["canonical", "spectral"])
def test_every_penalty_reaches_an_optimum(objective: ObjectiveSpec, penalty: Any, parameterization: str) -> None:
    rng = np.random.default_rng(3)
    rows, valid = (random_rows(rng, (2, 2, 3, 2), 300) for _ in range(2))
    fitted = Learner(AllInteractions(2), penalty, objective, parameterization).fit(rows, valid)
    assert all(fit.solution.converged for fit in fitted.fits)
    best, share = fitted.best, rows.sample_weight / rows.total_weight
    scores = row_pll(fitted.model.parameters, fitted.model.w, rows.codes)
    assert best.train == best.train_pll == pytest.approx(float(share @ scores), abs=1e-12)
    assert best.measure == best.judge == "pll"
    assert best.train < Learner(AllInteractions(2), NoPenalty(), PSEUDO_LIKELIHOOD).fit(rows).best.train


@both
@pytest.mark.parametrize("solver", [LBFGS(), None])
def test_solvers_agree(objective: ObjectiveSpec, solver: Any) -> None:
    rows = full_rows(np.random.default_rng(0), (2, 2, 2, 3))
    newton, other = (
        Learner(AllInteractions(3), L2(1.0), objective, solver=each).fit(rows).model for each in (None, solver)
    )
    np.testing.assert_allclose(newton.w, other.w, atol=1e-4)
    sparse = [Learner(AllInteractions(3), L1(5.0), objective, solver=each).fit(rows).model for each in (None, Fista())]
    np.testing.assert_allclose(sparse[0].w, sparse[1].w, atol=1e-4)


@both
def test_what_never_occurs_is_held(objective: ObjectiveSpec) -> None:
    """A constant column, and a pair that never occurs, have no finite optimum here either."""
    codes = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 0]] * 5)
    fit = learn(codes, "complete", penalty=NoPenalty(), objective=objective).best
    assert fit.solution.converged
    assert set(fit.held) >= {"v2=1", "v0=1 & v1=1"}
    assert np.isfinite(fit.model.w).all()


def test_words_are_known() -> None:
    table = np.random.default_rng(0).integers(0, 2, (50, 4))
    for word in ("rise", "log-rise"):
        model = learn(table, penalty="l2", objective=word).model
        assert model.provenance["objective"] == word
        assert Learner.from_dict(model.provenance["learner"]).objective.word == word
