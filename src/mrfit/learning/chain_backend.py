"""The likelihood by chains, where no exact engine fits: coordinates, and fits as learning keeps them."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import NoReturn

import numpy as np

from mrfit._typing import Floats, Indices
from mrfit.core.errors import InputError
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.backend import ListedCoordinates, LogZRecord
from mrfit.learning.chains.chain_fit import ChainFit, ChainProblem
from mrfit.learning.chains.features import Features
from mrfit.learning.fit_result import Optimum
from mrfit.learning.partitioned_rows import Rows, together
from mrfit.learning.tying.tied_chains import TiedByChains
from mrfit.objectives.objective import Objective
from mrfit.parameterizations.canonical import Canonical
from mrfit.parameterizations.parameterization import Parameterization
from mrfit.penalties.penalty import Penalty
from mrfit.solvers.solution import Record, Solution, Status

CHAINS = "chains"  # the word of the engine

_MOST_PARAMETERS = 1_000_000  # an iteration takes a second then, of which there are hundreds


class ChainCoordinates(ListedCoordinates):
    """The backend of the likelihood by persistent chains; ``log_z`` is that of one fit, as far as annealing tells.

    ``keep_zeros`` keeps scopes in the model whose parameters are all zero.
    """

    engine = CHAINS

    def __init__(
        self, parameters: Parameterization, *, log_z: LogZRecord | None = None, keep_zeros: bool = False, jobs: int = 1
    ) -> None:
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
        self.canonical, self.log_z, self.keep_zeros = parameters, log_z, keep_zeros

    def objective(self, rows: Rows) -> UnknownLikelihood:
        return UnknownLikelihood(Features(self.canonical), together(rows))

    def row_scores(self, w: Floats, rows: UniqueRows) -> Floats:
        log_z = np.nan if self.log_z is None else self.log_z["value"]
        return self.parameters.to_factors(w).log_potential(rows.codes) - log_z

    def gradient_products(self, w: Floats, rows: Rows) -> NoReturn:
        self.objective(rows).expand(w)

    def gradient_sums(self, w: Floats, rows: UniqueRows, weights: Floats) -> NoReturn:
        self.objective(rows).expand(w)

    def to_model(self, w: Floats) -> tuple[Parameterization, Indices]:
        return (self.parameters, np.arange(self.n_parameters)) if self.keep_zeros else self.parameters.pruned(w)


class UnknownLikelihood(Objective):
    """Stands where an exact objective would: chains follow its gradient, but nobody can work it out.

    Only where no variables interact, which is where paths of strengths begin, it is known.
    """

    def __init__(self, features: Features, rows: UniqueRows) -> None:
        self.features, self.rows = features, rows
        self.n_parameters, self.n_cells = features.parameters.n_parameters, len(rows.domain)

    def value_and_gradient(self, w: Floats) -> tuple[float, Floats]:
        if (w[self.features.orders > 1] != 0).any():
            self._refuse()
        observed = self.features.means(self.rows).of_features
        log_z, independent = self.features.without_interactions(w)
        return log_z - float(w @ observed), independent - observed

    def expand(self, w: Floats) -> NoReturn:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise InputError(
            "This penalty needs exact values of the likelihood, which chains do not give. Chains learn with l2, l1 "
            "or group (with at most single variables free), and tied parameters. Use one of these, a structure "
            "that an exact engine fits, or the pseudo-likelihood."
        )


def fit_by_chains(problem: ChainProblem, function: Penalty, strength: float, start: Floats | None) -> Optimum:
    """The optimum of one strength, as far as chains tell; ``start`` is a fit that is near."""
    begun = time.perf_counter()
    fit = problem.fit(function, start=start)
    return optimum_of(problem, fit, strength, function, begun=begun)


def optimum_of(
    problem: ChainProblem,
    fit: ChainFit,
    strength: float,
    penalty: Penalty,
    *,
    begun: float,
    tied: TiedByChains | None = None,
) -> Optimum:
    """Return the optimum that chains found under a penalty."""
    score = np.nan
    log_z: LogZRecord | None = None
    if _is_known(fit):
        known = fit.evidence
        score, log_z = fit.train, {"value": known.log_z, "error": known.error, "learning_error": fit.ascent.error}
    solution = _solution(fit, penalty.value(fit.w) / problem.rows.total_weight - score)
    own = ChainCoordinates(problem.parameters, log_z=log_z, keep_zeros=tied is not None, jobs=problem.jobs)
    groups, rounds = (None, ()) if tied is None else (tied.groups, tied.rounds)
    return Optimum(
        strength, solution, score, solution.evaluations, time.perf_counter() - begun,
        groups=groups, rounds=rounds, coordinates=own,
    )  # fmt: skip


def _is_known(fit: ChainFit) -> bool:
    return not fit.evidence.is_unmixed


def _status(fit: ChainFit) -> Status:
    if not _is_known(fit):
        return Status.NOT_MIXING
    if not fit.is_clean:
        return Status.SPURIOUS_MODE if fit.ascent.converged else Status.MOVING_PHANTOM
    return Status.MOMENTS_MATCHED if fit.ascent.converged else Status.MOVING


def _solution(fit: ChainFit, value: float) -> Solution:
    """Its records are the looks at the average; values between them are not known."""
    trace = tuple(Record(look.iteration, np.nan, look.violation, look.iteration, 0, 1.0) for look in fit.ascent.looks)
    trace = (*trace[:-1], replace(trace[-1], value=value))
    return Solution(fit.w, value, fit.ascent.look.violation, _status(fit), trace, np.empty(0, np.int64))
