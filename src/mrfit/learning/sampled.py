"""The likelihood by chains, where no exact engine fits: coordinates, and fits as learning keeps them."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from mrfit.data.unique_rows import UniqueRows
from mrfit.errors import InputError
from mrfit.learning.coordinates import ListedCoordinates
from mrfit.learning.grid import Optimum
from mrfit.objectives.objective import Expansion, Objective
from mrfit.parameterizations.canonical import Canonical
from mrfit.parameterizations.parameterization import Parameterization
from mrfit.penalties.penalty import Penalty
from mrfit.solvers.solution import Record, Solution, Status
from mrfit.stochastic.fit import ChainFit, ChainProblem

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

CHAINS = "chains"  # the word of the engine

_MOST_PARAMETERS = 1_000_000  # an iteration takes a second then, of which there are hundreds


class ChainCoordinates(ListedCoordinates):
    """For the likelihood by persistent chains; ``log_z`` is that of one fit, as far as annealing tells."""

    engine: ClassVar[str] = CHAINS

    def __init__(self, parameters: Parameterization, *, log_z: float = np.nan, jobs: int = 1) -> None:
        if not isinstance(parameters, Canonical) or parameters.reference is not None:
            raise InputError(
                "Chains learn canonical parameters whose reference is the first state; no exact engine fits this "
                "structure. Leave the parameterization and the reference out (`to_parameterization` of the model "
                "changes them afterwards), or use a sparser structure."
            )
        if parameters.n_parameters > _MOST_PARAMETERS:
            raise InputError(
                f"No exact engine fits this structure, and chains would learn {parameters.n_parameters:,} parameters; "
                f"the limit is {_MOST_PARAMETERS:,}. Use a sparser structure: tree, learned or grown."
            )
        super().__init__(parameters, jobs=jobs)
        self.canonical, self.log_z = parameters, log_z

    def objective(self, rows: UniqueRows) -> UnknownLikelihood:
        return UnknownLikelihood(self.n_parameters, len(self.parameters.domain))

    def row_scores(self, w: Floats, rows: UniqueRows) -> Floats:
        return self.parameters.to_factors(w).log_potential(rows.codes) - self.log_z

    def gradient_products(self, w: Floats, rows: UniqueRows) -> NoReturn:
        self.objective(rows).value_and_gradient(w)

    def in_model(self, w: Floats) -> tuple[Parameterization, Indices]:
        return self.parameters.pruned(w)


class UnknownLikelihood(Objective):
    """Stands where an exact objective would: chains follow its gradient, but nobody can work it out."""

    def __init__(self, n_parameters: int, n_variables: int) -> None:
        self.n_parameters, self.n_cells = n_parameters, n_variables

    def value_and_gradient(self, w: Floats) -> NoReturn:
        raise InputError(
            "Chains give no exact values of the likelihood, which this penalty needs: they learn with l2, or with l1 "
            "or group at strengths that are given. Choose one of these, a structure that an exact engine fits, or the "
            "pseudo-likelihood."
        )

    def expand(self, w: Floats) -> Expansion:
        self.value_and_gradient(w)


def fit_by_chains(problem: ChainProblem, function: Penalty, strength: float, start: Floats | None) -> Optimum:
    """The optimum of one strength, as far as chains tell; ``start`` is a fit that is near."""
    begun = time.perf_counter()
    fit = problem.fit(function, start=start)
    penalty = function.value(fit.w)
    solution = _solution(fit, penalty / problem.rows.total_weight)
    passes, seconds = solution.evaluations, time.perf_counter() - begun
    log_z = fit.evidence.log_z if _is_known(fit) else np.nan
    own = ChainCoordinates(problem.parameters, log_z=log_z, jobs=problem.jobs)
    return Optimum(strength, solution, penalty, passes, seconds, coordinates=own, log_z_error=fit.evidence.error)


def _is_known(fit: ChainFit) -> bool:
    return not fit.evidence.is_unmixed


def _status(fit: ChainFit) -> Status:
    if not _is_known(fit):
        return Status.UNMIXED
    if not fit.is_clean:
        return Status.PHANTOM
    return Status.MATCHED if fit.ascent.look.matches else Status.ITERATION_LIMIT


def _solution(fit: ChainFit, penalty: float) -> Solution:
    """Its records are the looks at the average; values between them are not known."""
    value = penalty - fit.train if _is_known(fit) else np.nan
    trace = tuple(Record(look.iteration, np.nan, look.violation, look.iteration, 0, 1.0) for look in fit.ascent.looks)
    trace = (*trace[:-1], replace(trace[-1], value=value))
    return Solution(fit.w, value, fit.ascent.look.violation, _status(fit), trace, np.empty(0, np.int64))
