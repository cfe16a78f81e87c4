"""Phantom modes that chains from data never see: found, and gone after the hunt."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.chains.ascent import Ascent, AscentSchedule, Diagnostics, Target, climb
from mrfit.learning.chains.chain_fit import ChainProblem
from mrfit.learning.chains.features import Features
from mrfit.learning.chains.likelihood_growth import LikelihoodGrowth
from mrfit.learning.chains.log_z_estimate import LogZEstimate, evidence
from mrfit.learning.chains.mode_search import hunt
from mrfit.objectives.likelihood import Likelihood
from mrfit.parameterizations.canonical import Canonical
from mrfit.penalties.l2 import Ridge
from mrfit.penalties.penalized_objective import PenalizedObjective
from mrfit.solvers.lbfgs import LBFGS
from mrfit.solvers.minimize import minimize
from mrfit.structures.structure import Structure
from populations import domain_of

Rows = Callable[[str, str], UniqueRows]

N = 16
DISTRUST = AscentSchedule().distrust(0, 256)


class Case:
    """Rows of few ones, some of them all ones; the complete graph, and its optimum by enumeration."""

    def __init__(self, rng: np.random.Generator, *, ones: float = 0.005, heavy: float = 0.0) -> None:
        self.codes = (rng.random((2000, N)) < ones).astype(np.int64)
        self.codes[rng.random(2000) < heavy] = 1
        self.rows = UniqueRows.from_codes(domain_of((2,) * N), self.codes.astype(np.uint8), np.ones(2000))
        self.parameters = Canonical(self.rows.domain, Structure.complete(N))
        self.pairs = self.parameters.order_of_parameter == 2
        self.penalty = Ridge(3.0, self.pairs)
        objective = PenalizedObjective(Likelihood(self.parameters, self.rows), self.penalty, total_weight=2000.0)
        self.optimum = minimize(objective, LBFGS(), tolerance=1e-7)
        self.objective = objective

    def evidence_at(self, w: np.ndarray) -> LogZEstimate:
        return evidence(self.parameters.to_factors(w), self.codes)

    def all_ones(self, w: np.ndarray) -> float:
        """log p of the row of ones less that of the row of zeros."""
        return float(w.sum())


def test_a_phantom_is_found_and_removed(rng: np.random.Generator) -> None:
    """Couplings that the data hardly see made a little larger: chains from data notice nothing, log Z is wrong."""
    case = Case(rng)
    w = case.optimum.w.copy()
    w[case.pairs] += (5.0 - case.all_ones(w)) / case.pairs.sum()
    target = Target(Features(case.parameters).means(case.rows), case.penalty)
    found = case.evidence_at(w)
    assert found.has_phantom
    assert found.far_sum > N - 3
    assert found.log_z > found.near.log_z + 1.0
    before = Ascent(w, (Diagnostics(0, 0.0, 1.0, 0.0),), 0, 0.0)
    after = hunt(target, before, case.codes, DISTRUST, seed=(0,))
    assert after.rounds >= 1
    assert not after.evidence.has_phantom
    gaps = [case.objective.value_and_gradient(each)[0] - case.optimum.value for each in (w, after.ascent.w)]
    assert gaps[0] > 1.0
    assert gaps[1] < 0.05
    assert after.objective == pytest.approx(-case.optimum.value - gaps[1], abs=0.06)


def test_a_model_without_a_phantom_is_left_alone(rng: np.random.Generator) -> None:
    case = Case(rng)
    before = Ascent(case.optimum.w, (Diagnostics(0, 0.0, 1.0, 0.0),), 0, 0.0)
    target = Target(Features(case.parameters).means(case.rows), case.penalty)
    after = hunt(target, before, case.codes, DISTRUST, seed=(0,))
    assert after.rounds == 0
    assert after.ascent is before
    assert after.objective == pytest.approx(-case.optimum.value, abs=0.02)


def test_a_heavy_mode_that_the_data_have_stays(rng: np.random.Generator) -> None:
    """5 % of rows are all ones: neither the exact optimum nor the fit by chains has a phantom."""
    case = Case(rng, ones=0.03, heavy=0.05)
    assert not case.evidence_at(case.optimum.w).has_phantom
    fit = ChainProblem(case.parameters, case.rows, chains=256).fit(case.penalty)
    assert fit.is_clean
    assert fit.hunts == 0
    gap = case.objective.value_and_gradient(fit.w)[0] - case.optimum.value
    assert gap < 0.05


def test_a_heavy_mode_that_chains_never_leave_is_seen(rng: np.random.Generator) -> None:
    """Nothing between the modes: chains cannot weigh them, so that the fit puts nearly all into the heavy one.

    Both bases find it, for the data have it. The hunt leaves it what the data have there.
    """
    case = Case(rng, heavy=0.05)
    assert not case.evidence_at(case.optimum.w).has_phantom
    w = case.optimum.w.copy()
    w[case.pairs] += 11.0 / case.pairs.sum()
    found = case.evidence_at(w)
    assert found.far_mass > 0.99
    assert found.has_phantom
    target = Target(Features(case.parameters).means(case.rows), case.penalty)
    before = Ascent(w, (Diagnostics(0, 0.0, 1.0, 0.0),), 0, 0.0)
    after = hunt(target, before, case.codes, DISTRUST, seed=(0,))
    gaps = [case.objective.value_and_gradient(each)[0] - case.optimum.value for each in (w, after.ascent.w)]
    assert after.rounds >= 1
    assert gaps[0] > 7.0
    assert gaps[1] < 0.1


def test_retail_grown_has_a_phantom_that_chains_from_data_miss(named_rows: Rows) -> None:
    """115 of 135 ones, where no row has more than 16: its chains match the data, and test rows get -40 nats.

    After the hunt -10.835, as by a prototype.
    """
    rows, valid, test = (named_rows("retail", part) for part in ("train", "valid", "test"))
    structure = LikelihoodGrowth(max_pairs=1350, share=3.0).learn(rows, valid=valid).structure
    problem = ChainProblem(Canonical(rows.domain, structure), rows)
    target = Target(problem.means, Ridge(3.0, problem.features.orders > 1))
    schedule = problem.schedule(warm=False)
    ascent = climb(target, problem.chains(), problem.start, schedule)
    assert ascent.look.matches
    before = evidence(problem.parameters.to_factors(ascent.w), problem.codes)
    assert before.has_phantom
    assert before.log_z > before.near.log_z + 5.0
    hunted = hunt(target, ascent, problem.codes, schedule.distrust(0, problem.n_chains), seed=(0, 2))
    assert not hunted.evidence.has_phantom
    of_test = problem.features.means(test).of_features
    assert float(of_test @ hunted.ascent.w) - hunted.evidence.log_z == pytest.approx(-10.835, abs=0.02)
