"""Recovery of known groups: networks with parameters in groups, rows drawn from them, and learned groups.

Rows are drawn exactly, and a method succeeds when it finds all groups:

    L2 + k-means    a weak L2 fit, its parameters clustered
    soft tying      started from that fit
    soft, restarts  also from that fit with noise like its estimation error; the start with the best objective counts
    hard tying      the groups of soft tying relearned as equal; it succeeds when their values are right too: an L1
                    error of the centers below alpha / 4, as the theorem promises
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrfit import Domain, Structure, UniqueRows
from mrfit.core.errors import InputError
from mrfit.inference.exact.joint_states import JointStates, weighted_states
from mrfit.learning.tying.guarantee import Composition
from mrfit.learning.tying.hard_tying import tie_hard
from mrfit.learning.tying.sample_complexity import Theory
from mrfit.learning.tying.soft_tying import TiedSolution, TyingTask, tie_softly
from mrfit.learning.tying.tying_problem import TyingProblem
from mrfit.objectives.cached import CachedObjective
from mrfit.objectives.counts.conditional_cells import ConditionalCells
from mrfit.objectives.likelihood import Likelihood
from mrfit.objectives.objective import Objective
from mrfit.objectives.pseudo_likelihood import PseudoLikelihood
from mrfit.parameterizations.canonical import Canonical
from mrfit.parameterizations.groups import Groups, clustered
from mrfit.penalties.l2 import Ridge

Floats = NDArray[np.float64]

METHODS = ("L2 + k-means", "soft tying", "soft, restarts", "hard tying")
WEAK = 0.1  # strength of the L2 fit
BOUND = 30.0  # largest absolute parameter, as in every fit of the library
_MOST_VARIABLES = 16  # of two states: every fit enumerates all joint states


class _Measure(NamedTuple):
    """The objective of learning, and its decomposition in theory."""

    objective: Callable[[Canonical, UniqueRows], Objective]
    composition: Callable[[Canonical], Composition]


def _pseudo_likelihood(parameters: Canonical, rows: UniqueRows) -> Objective:
    return PseudoLikelihood(ConditionalCells.count(rows, parameters))


_MEASURES = {
    "likelihood": _Measure(Likelihood, Composition.of_likelihood),
    "pseudo-likelihood": _Measure(_pseudo_likelihood, Composition.of_pseudo_likelihood),
}


@dataclass(frozen=True)
class Design:
    """A kind of network: binary variables, a number of edges, and the values of its parameters.

    ``spread`` is the width of the groups: zero if parameters of a group are equal. ``objective`` is that of learning,
    ``likelihood`` or ``pseudo-likelihood``.
    """

    n_variables: int = 8
    n_edges: int = 12
    centers: tuple[float, ...] = (-0.8, 0.0, 0.8)
    spread: float = 0.0
    objective: str = "likelihood"

    def __post_init__(self) -> None:
        n, most = self.n_variables, self.n_variables * (self.n_variables - 1) // 2
        if not 1 <= n <= _MOST_VARIABLES:
            raise InputError(f"n_variables is {n}; expected 1 to {_MOST_VARIABLES}, whose states can all be listed.")
        if not 0 <= self.n_edges <= most:
            raise InputError(f"n_edges is {self.n_edges}; expected 0 to {most}, the pairs of {n} variables.")
        if not 1 <= len(self.centers) <= n + self.n_edges or list(self.centers) != sorted(set(self.centers)):
            raise InputError(
                f"centers are {self.centers}; expected different values in ascending order, no more of them than the "
                f"{n + self.n_edges} parameters."
            )
        if not self.spread >= 0.0:
            raise InputError(f"spread is {self.spread}; expected the width of a group, zero or more.")
        if self.objective not in _MEASURES:
            raise InputError(f"There is no objective {self.objective!r} here; choose {' or '.join(_MEASURES)}.")


@dataclass(frozen=True)
class Truth:
    """A network with known groups, and what theory predicts for it."""

    design: Design
    parameters: Canonical
    w: Floats
    groups: Groups
    probabilities: Floats  # of all joint states, flat
    theory: Theory

    @classmethod
    def drawn(cls, design: Design, seed: int) -> Truth:
        """Draw a network; graph and groups depend on the seed and on sizes alone. Groups are about equal in size."""
        rng, n = np.random.default_rng(seed), design.n_variables
        domain = Domain.from_states({f"x{i}": ["0", "1"] for i in range(n)})
        pairs = np.transpose(np.triu_indices(n, 1))
        edges = rng.choice(pairs, design.n_edges, replace=False).tolist()
        parameters = Canonical(domain, Structure.from_scopes(n, edges))
        centers = np.array(design.centers)
        assignment = rng.permutation(np.arange(parameters.n_parameters) % len(centers))
        groups = Groups(assignment, centers)
        w = groups.tied(np.zeros(len(assignment))) + design.spread * _evenly_spread(assignment, len(centers))
        states = JointStates(parameters)
        p = states.base.by_state(np.exp(states.log_probabilities(w))).ravel()
        measure = _MEASURES[design.objective]
        objective = measure.objective(parameters, weighted_states(domain, p))
        theory = Theory.of(objective, w, groups, composition=measure.composition(parameters))
        return cls(design, parameters, w, groups, p, theory)

    def rows(self, rng: np.random.Generator, n_rows: int) -> UniqueRows:
        counts = rng.multinomial(n_rows, self.probabilities)
        return weighted_states(self.parameters.domain, counts.astype(np.float64))

    def objective(self, rows: UniqueRows) -> Objective:
        return _MEASURES[self.design.objective].objective(self.parameters, rows)

    @cached_property
    def variance(self) -> Floats:
        """The variance of the maximum likelihood estimate of each parameter, times the number of rows."""
        likelihood = Likelihood(self.parameters, weighted_states(self.parameters.domain, self.probabilities))
        return np.diag(np.linalg.inv(hessian(likelihood, self.w)))

    def normal_rows(self, error: float) -> float:
        """Return the rows with which all errors are below the given one, each up to a probability of delta / m."""
        quantile = NormalDist().inv_cdf(1.0 - self.theory.delta / (2 * len(self.w)))
        return float((quantile / error) ** 2 * self.variance.max())


@dataclass(frozen=True)
class Recovery:
    """The `METHODS` that found all groups in one table, and the L1 error of the centers of hard tying."""

    found: dict[str, bool]
    center_error: float


@dataclass(frozen=True)
class RecoveryShare:
    """The share of tables in which each of `METHODS` found all groups, and the median error of centers."""

    n_rows: int
    repetitions: int
    found: dict[str, float]
    center_error: float


def recovery_share(
    truth: Truth, n_rows: int, *, seed: int = 0, repetitions: int = 50, share: float = 0.01, restarts: int = 10
) -> RecoveryShare:
    """Repeat `recover` over ``repetitions`` tables of ``n_rows`` rows."""
    if repetitions < 1:
        raise InputError(f"repetitions is {repetitions}; at least one is needed.")
    seeds = np.random.SeedSequence([seed, n_rows]).spawn(repetitions)
    each = [recover(truth, n_rows, np.random.default_rng(s), share=share, restarts=restarts) for s in seeds]
    found = {name: float(np.mean([one.found[name] for one in each])) for name in METHODS}
    return RecoveryShare(n_rows, repetitions, found, float(np.median([one.center_error for one in each])))


def recover(
    truth: Truth, n_rows: int, rng: np.random.Generator, *, share: float = 0.01, restarts: int = 10
) -> Recovery:
    """Draw one table and learn from it by every method.

    ``share`` is the strength of soft tying per row, so that it does not change relative to the mean over rows.
    """
    if n_rows < 1 or restarts < 0:
        raise InputError(f"n_rows is {n_rows} and restarts {restarts}; expected at least one row, and zero restarts.")
    objective = CachedObjective(truth.objective(truth.rows(rng, n_rows)))
    problem, m, centers = TyingProblem(objective, n_rows, bound=BOUND), len(truth.w), truth.groups.centers
    smooth, _ = Ridge(WEAK).added_to(objective, total_weight=n_rows)
    l2 = problem.minimum(smooth, np.zeros(m)).w
    tying = TyingTask(len(centers), share * n_rows, np.zeros(m, np.int64))

    def softly(start: Floats) -> TiedSolution:
        return tie_softly(problem, start, tying)

    soft = softly(l2)
    # The inverse of n times the Hessian is the covariance of the maximum likelihood estimate.
    noise = np.linalg.inv(np.linalg.cholesky(n_rows * hessian(smooth, l2))).T
    others = [softly(l2 + noise @ rng.normal(size=m)) for _ in range(restarts)]
    best = min([soft, *others], key=lambda one: one.solution.value)
    hard = tie_hard(problem, soft.groups, soft.w)
    error = float(np.abs(hard.groups.centers - centers).sum())
    right = _same(soft.groups, truth.groups)
    found = (
        _same(clustered(l2, tying.classes, len(centers)), truth.groups),
        right,
        _same(best.groups, truth.groups),
        right and error < truth.theory.hard.largest_error,
    )
    return Recovery(dict(zip(METHODS, found, strict=True)), error)


def hessian(objective: Objective, w: Floats) -> Floats:
    """Return the Hessian as a matrix, by one product for each parameter."""
    product = objective.expand(w).product
    return np.stack([product(column) for column in np.eye(len(w))])


def _same(groups: Groups, others: Groups) -> bool:
    return bool(np.array_equal(groups.assignment, others.assignment))


def _evenly_spread(assignment: NDArray[np.int64], n_groups: int) -> Floats:
    """Return offsets from -1/2 to 1/2 in each group, with a mean of zero."""
    offset = np.empty(len(assignment))
    for number in range(n_groups):
        own = np.flatnonzero(assignment == number)
        offset[own] = np.linspace(-0.5, 0.5, len(own))
    return offset
