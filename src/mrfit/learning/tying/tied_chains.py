"""Tying where only chains know the likelihood: softly by turns of learning and clustering, and hard."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mrfit._typing import Floats
from mrfit.core.errors import InputError
from mrfit.core.linear_systems import Factor
from mrfit.learning.chains.ascent import NEGLIGIBLE, Target, climb
from mrfit.learning.chains.chain_fit import ChainFit, ChainProblem
from mrfit.learning.tying.reduced_parameters import Unknowns
from mrfit.learning.tying.soft_tying import TyingRecord, TyingTask
from mrfit.parameterizations.groups import Groups
from mrfit.penalties.cluster_penalty import ClusterPenalty
from mrfit.penalties.penalty import ZeroPenalty

_ITERATIONS = 50  # between two clusterings
_MOST_ROUNDS = 10
_MOST_UNKNOWNS = 3000  # whose covariances are a matrix that is divided by at every step
_ROWS, _AT_ONCE = 4000, 500  # of the data, from which these are taken
_SHRINKAGE = 0.1  # of what features have in common: beyond, few rows mislead
_LONGEST = 0.5  # that a value moves at once


@dataclass(frozen=True, eq=False)
class TiedByChains:
    """Result of learning tied parameters by chains: the fit, its groups, and the alternations that led to it."""

    fit: ChainFit
    groups: Groups
    rounds: tuple[TyingRecord, ...] = ()


def tie_softly_by_chains(problem: ChainProblem, w: Floats, tying: TyingTask) -> TiedByChains:
    """Alternate between learning with parameters drawn to their groups' centers and clustering, while that gains.

    Gains are measured against the noise of chains: parameters between two groups change sides for ever by noise alone,
    which makes no difference. Then learning runs to its end."""
    chains, groups = problem.chains(), tying.groups(w)
    rounds: list[TyingRecord] = []
    schedule = replace(problem.schedule(warm=True), iterations=_ITERATIONS, looks=())
    while len(rounds) < _MOST_ROUNDS:
        drawn = ClusterPenalty(tying.strength, groups.assignment, groups.pinned)
        w = climb(Target(problem.means, drawn), chains, w, schedule).w
        best = tying.groups(w)
        moved = int((best.assignment != groups.assignment).sum())
        rounds.append(TyingRecord(len(rounds), tying.strength, np.nan, np.nan, moved, _ITERATIONS * (len(rounds) + 1)))
        gain = drawn.value(w) - 0.5 * tying.strength * best.cost(w)
        groups = best
        if gain < NEGLIGIBLE * problem.rows.total_weight:
            break
    drawn = ClusterPenalty(tying.strength, groups.assignment, groups.pinned)
    fit = problem.fit(drawn, start=w)
    return TiedByChains(fit, replace(groups, centers=drawn.centers(fit.w)), tuple(rounds))


def tie_hard_by_chains(problem: ChainProblem, groups: Groups, start: Floats) -> TiedByChains:
    """Relearn with all parameters of a group equal."""
    unknowns = Unknowns(groups)
    if unknowns.n > _MOST_UNKNOWNS:
        raise InputError(
            f"Chains can relearn at most {_MOST_UNKNOWNS:,} shared values; these groups have {unknowns.n:,}. Use "
            "fewer groups, soft tying (penalty tied), or a structure that an exact engine fits."
        )
    target = Equal(problem.means, ZeroPenalty(), unknowns, _metric(problem, unknowns))
    fit = problem.climbed(target, start=unknowns.full(unknowns.means(start)))
    values = unknowns.means(fit.w)
    return TiedByChains(replace(fit, w=unknowns.full(values)), replace(groups, centers=unknowns.centers(values)))


@dataclass(frozen=True, eq=False)
class Equal(Target):
    """The likelihood of parameters that are equal within groups.

    A group's feature is the sum of its parameters' features. Such sums vary together far more than single features do,
    so that steps are in the ``metric`` of all their covariances and not of variances alone.
    """

    unknowns: Unknowns
    sums_metric: Floats

    @cached_property
    def _factor(self) -> Factor:
        return Factor.of(self.sums_metric)

    def subgradient(self, w: Floats, gradient: Floats) -> Floats:
        return self.unknowns.sums(gradient)

    def product(self, w: Floats, a: Floats, b: Floats) -> float:
        return float(a @ self._factor.divide(b))

    def distance(self, w: Floats, other: Floats) -> float:
        change = self.unknowns.means(w - other)
        return 0.5 * float(change @ self.sums_metric @ change)

    def moved(self, w: Floats, gradient: Floats, length: float, distrust: float) -> Floats:
        """Take a step along the groups' sums; ``distrust`` is unused, since the metric is damped already."""
        change = length * self._factor.divide(self.unknowns.sums(gradient))
        return w + self.unknowns.full(np.clip(change, -_LONGEST, _LONGEST))


def _metric(problem: ChainProblem, unknowns: Unknowns) -> Floats:
    """Covariances of the sums of features over rows of the data, damped as variances are where each is alone."""
    sums = np.concatenate([_sums(problem, unknowns, at) for at in range(0, min(_ROWS, len(problem.codes)), _AT_ONCE)])
    sums -= sums.mean(axis=0)
    out = (1.0 - _SHRINKAGE) / len(sums) * sums.T @ sums
    out[np.diag_indices(unknowns.n)] += _SHRINKAGE * sums.var(axis=0) + unknowns.sizes * _distrust(problem)
    return np.asarray(out, np.float64)


def _sums(problem: ChainProblem, unknowns: Unknowns, first: int) -> Floats:
    values = problem.features.values(problem.codes[first : first + _AT_ONCE])
    return np.stack([unknowns.sums(row) for row in values.astype(np.float64)])


def _distrust(problem: ChainProblem) -> float:
    return problem.schedule(warm=True).damping / problem.n_chains
