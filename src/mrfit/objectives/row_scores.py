"""Log-likelihood and pseudo-log-likelihood of single rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import prod

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from mrfit._kernels.fitting.cells import gather
from mrfit._kernels.fitting.scoring import BLOCK, row_scores
from mrfit._typing import Floats, Scope
from mrfit.core.factors import Factors, positions
from mrfit.core.threads import deal, run
from mrfit.inference.engine_selection import exactly_planned
from mrfit.inference.exact.joint_states import JointStates, plan_joint_states
from mrfit.inference.plan import Plan
from mrfit.parameterizations.bases import CompleteBase
from mrfit.parameterizations.canonical import Canonical
from mrfit.parameterizations.parameterization import Parameterization

_WORTH_A_THREAD = 2_000_000  # features times rows
_FEW_STATES = 2**20  # joint states: enumerating them is cheaper than listing the subsets of large scopes
_SUGGESTION = (
    "Score by the pseudo-log-likelihood, learn a sparser structure (rule='and', fewer neighbours), or estimate log Z, "
    "with its error, by log_z()."
)


def row_pll(own: Parameterization, w: Floats, codes: NDArray[np.uint8], *, jobs: int = 1) -> Floats:
    """Return sum over variables of log p(x_i | rest) for every row of codes, (rows,); the same bits for any jobs.

    Covariates are in the rest only. Rows that the model holds impossible have minus infinity.
    """
    if np.isneginf(w).any():
        return pll_of_factors(own.to_factors(w), codes, covariates=own.covariate_indices)
    if not isinstance(own, Canonical) and not own.covariate_indices and prod(own.domain.shape) <= _FEW_STATES:
        states = JointStates(own, jobs=jobs)
        return conditional_scores(states.base, states.log_probabilities(w), codes)
    parameters, w = own.canonical, own.to_canonical(w)
    conditionals = parameters.conditionals
    w_slots = np.empty(len(conditionals.parameter_of_slot))
    gather(w, conditionals.parameter_of_slot, w_slots)
    variables, state_codes = parameters.indicators(conditionals.conditions)
    columns = np.array(codes.T, order="C")  # a copy, also of one column: numba compiles read-only arrays separately
    scores = np.empty(len(codes))

    def score(first: int, last: int) -> None:
        row_scores(
            columns, conditionals.n_free, conditionals.feature_start, conditionals.condition_start,
            variables, state_codes, conditionals.slot_start, w_slots, first, last, scores,
        )  # fmt: skip

    worth_threads = conditionals.feature_start[-1] * len(codes) > _WORTH_A_THREAD
    run(score, deal(np.ones(-(-len(codes) // BLOCK)), jobs if worth_threads else 1))
    return scores


def row_ll(
    parameters: Parameterization,
    w: Floats,
    codes: NDArray[np.uint8],
    *,
    jobs: int = 1,
    log_z: float | None = None,
) -> Floats:
    """Return the log-likelihood of every row, minus infinity for impossible rows.

    Unless ``log_z`` is known, it comes from transforms over all joint states, or from the fastest exact engine. With
    covariates, the likelihood is conditional on them.
    """
    if parameters.covariate_indices:
        return _ll_with_covariates(parameters, w, codes)
    if log_z is not None:
        return parameters.to_factors(w).log_potential(codes) - log_z
    by_transforms = plan_joint_states(parameters.domain.shape)
    if by_transforms.n_cells <= _FEW_STATES and not np.isneginf(w).any():
        return _ll_of_joint_states(parameters, w, codes, jobs)
    factors = parameters.to_factors(w)
    engine, plan = exactly_planned(factors)
    if not np.isneginf(w).any() and by_transforms.fits and by_transforms.forecast < plan.forecast:
        return _ll_of_joint_states(parameters, w, codes, jobs)
    check_exact_score(plan, parameters.domain.names)
    return factors.log_potential(codes) - engine.run(plan, factors).log_z


def check_exact_score(plan: Plan, names: Sequence[str] | None) -> None:
    """Refuse a plan of log Z that does not fit, and suggest another score."""
    replace(plan, suggestion=_SUGGESTION).check(names)


def _ll_with_covariates(parameters: Parameterization, w: Floats, codes: NDArray[np.uint8]) -> Floats:
    """log p(others | covariates): every state of the covariates has a log Z of its own."""
    factors, covariates = parameters.to_factors(w), list(parameters.covariate_indices)
    states, number = np.unique(codes[:, covariates], axis=0, return_inverse=True)
    log_z = log_z_at_states(factors, parameters.covariate_indices, states, names=parameters.domain.names)
    return factors.log_potential(codes) - log_z[number.ravel()]


def log_z_at_states(
    factors: Factors, covariates: Scope, states: NDArray[np.integer], *, names: tuple[str, ...] | None = None
) -> Floats:
    """Return the exact log Z with some variables fixed, for every row of their states."""
    out = np.empty(len(states))
    for k, row in enumerate(states.tolist()):
        left = factors.given(dict(zip(covariates, row, strict=True)))
        engine, plan = exactly_planned(left)
        check_exact_score(plan, names)
        out[k] = engine.run(plan, left).log_z
    return out


def _ll_of_joint_states(parameters: Parameterization, w: Floats, codes: NDArray[np.uint8], jobs: int) -> Floats:
    states = JointStates(parameters, jobs=jobs)
    return np.asarray(states.log_probabilities(w)[states.base.positions(codes)], np.float64)


def conditional_scores(base: CompleteBase, log_p: Floats, codes: NDArray[np.uint8]) -> Floats:
    """Return sum over variables of log p(x_i | rest) for every row of codes, from log p of all joint states."""
    at = base.positions(codes)
    scores = len(base.shape) * log_p[at]
    for i, digits in enumerate(base.digits):
        rest = at - base.strides[i] * digits[codes[:, i]]
        scores -= logsumexp(log_p[rest[:, None] + base.strides[i] * np.arange(base.shape[i])], axis=1)
    return np.asarray(scores, np.float64)


def pll_of_factors(factors: Factors, codes: NDArray[np.uint8], *, covariates: Scope = ()) -> Floats:
    """Return sum over variables of log p(x_i | rest) for every row of codes, from tables.

    Tables may contain impossible cells; impossible rows have minus infinity.
    """
    return pll_of_potentials(
        conditional_potentials(factors, codes), factors.log_potential(codes) > -np.inf, codes, covariates=covariates
    )


def pll_of_potentials(
    potentials_of_others: Iterable[Floats],
    possible: NDArray[np.bool_],
    codes: NDArray[np.uint8],
    *,
    covariates: Scope = (),
) -> Floats:
    """Return the pseudo-log-likelihood of each row from `conditional_potentials`; ``possible`` rows only are finite."""
    scores = np.where(possible, 0.0, -np.inf)
    for i, log_potentials in enumerate(potentials_of_others):
        if i in covariates:
            continue
        own = np.take_along_axis(log_potentials, codes[:, i, None].astype(np.int64), axis=1)[possible, 0]
        scores[possible] += own - logsumexp(log_potentials[possible], axis=1)
    return scores


def conditional_distributions(factors: Factors, codes: NDArray[np.uint8]) -> Iterator[Floats]:
    """Yield p(x_i | rest) for every row, (rows, states), one variable at a time; zeros where the rest is impossible."""
    for log_potentials in conditional_potentials(factors, codes):
        most = log_potentials.max(axis=1, keepdims=True)
        p = np.exp(log_potentials - np.where(np.isneginf(most), 0.0, most))
        total = p.sum(axis=1, keepdims=True)
        yield np.divide(p, total, out=p, where=total > 0.0)


def conditional_potentials(factors: Factors, codes: NDArray[np.uint8]) -> Iterator[Floats]:
    """Yield for each variable the sums of its tables at each of its states, given the others, (rows, states)."""
    holding: list[list[int]] = [[] for _ in factors.shape]
    for number, scope in enumerate(factors.scopes):
        for i in scope:
            holding[i].append(number)
    codes = np.asfortranarray(codes)  # each column is read many times
    for i, numbers in enumerate(holding):
        out = np.zeros((factors.shape[i], len(codes)))
        for number in numbers:
            scope = factors.scopes[number]
            rest = tuple(j for j in scope if j != i)
            table = factors.table(number).reshape([factors.shape[j] for j in scope])
            by_state = np.moveaxis(table, scope.index(i), 0).reshape(
                factors.shape[i], -1
            )  # (states, cells of the rest)
            out += by_state.take(positions(codes, rest, factors.shape), axis=1)
        yield out.T
