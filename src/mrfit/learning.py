"""Learning the parameters of a given structure, at one strength and number of groups or over a grid of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit._version import __version__
from mrfit.counts.conditional_cells import ConditionalCells
from mrfit.data.folds import folds_of
from mrfit.data.unique_rows import UniqueRows
from mrfit.errors import InputError, listed
from mrfit.fitting import TIED_GRIDS, Callback, Found, Task, l2_path, penalized_path
from mrfit.model import MarkovNetwork
from mrfit.objectives.likelihood import Likelihood
from mrfit.objectives.objective import Objective
from mrfit.objectives.pseudo_likelihood import PseudoLikelihood
from mrfit.objectives.remembered import Remembered
from mrfit.objectives.row_scores import row_ll, row_pll
from mrfit.parameterizations.canonical import Canonical
from mrfit.penalties.strength import checked_strength
from mrfit.penalties.tied import Tied
from mrfit.presets import PRESETS
from mrfit.solvers.method import Method
from mrfit.solvers.newton import TruncatedNewton
from mrfit.solvers.solution import Solution
from mrfit.solvers.suitability import check_suitable
from mrfit.structure.structure import Structure
from mrfit.tying.settings import STRENGTHS, TyingSettings
from mrfit.tying.soft import Round

Floats = NDArray[np.float64]

# A parameter that nothing penalises and whose feature never (or always) occurs has no finite optimum. It is held
# where its conditional probability is exp(-30) = 1e-13: as good as never, and still a number.
HELD_AT = 30.0

PENALTIES = (*PRESETS, *TIED_GRIDS)
OBJECTIVES = ("pseudo-likelihood", "likelihood")


@dataclass(frozen=True)
class Settings:
    """How to learn; what to learn from is given apart.

    Parameters
    ----------
    strengths
        Strengths of the penalty to fit, each warm-started from the next; by default 1, for tied parameters the paper's
        grid.
    penalty
        ``l2`` or ``l1`` (see `mrfit.presets`); ``tied`` softly to learned values; ``hard``: the groups of soft tying
        relearned as equal; ``ltr``: learned with L2, tied by clustering, relearned as equal.
    tying
        What is tied, for the last three.
    objective
        ``pseudo-likelihood``, or the exact ``likelihood`` for few variables.
    free_orders
        Scope sizes the penalty leaves alone; by default none, for l1 single variables.
    method
        The solver; by default the one that suits the penalty.
    tolerance, max_iterations
        When it stops: at a violation (largest subgradient entry of the mean objective) of ``tolerance``.
    folds, seed
        Cross-validation where there are no validation rows: parts to cut the rows into, and how to deal them.
    jobs
        Threads.
    """

    strengths: Sequence[float] | None = None
    penalty: str = "l2"
    tying: TyingSettings = field(default_factory=TyingSettings)
    objective: str = "pseudo-likelihood"
    free_orders: Sequence[int] | None = None
    method: Method[Any] | None = None
    tolerance: float = 1e-6
    max_iterations: int = 1000
    folds: int = 0
    seed: int = 0
    jobs: int = 1

    def __post_init__(self) -> None:
        for name, value, words in (("penalty", self.penalty, PENALTIES), ("objective", self.objective, OBJECTIVES)):
            if value not in words:
                raise InputError(f"There is no {name} {value!r}; choose one of {listed(words)}.")
        # Plain numbers, whatever came in: they go into the model file.
        if self.strengths is not None:
            object.__setattr__(self, "strengths", tuple(_plain(strength) for strength in self.strengths))
        if not self.chosen_strengths:
            raise InputError("At least one strength is needed.")
        if self.free_orders is not None:
            object.__setattr__(self, "free_orders", tuple(int(order) for order in self.free_orders))
        check_suitable(type(self.chosen_method), Tied if self.is_tied else PRESETS[self.penalty].penalty)
        if not 0 < self.tolerance < np.inf:
            raise InputError(f"The tolerance must be positive and finite; got {self.tolerance:g}.")
        if self.max_iterations < 0:
            raise InputError(f"The limit of iterations must not be negative; got {self.max_iterations}.")
        if self.folds < 0 or self.folds == 1:
            raise InputError(f"Cross-validation needs at least 2 folds, or 0 for none; got {self.folds}.")

    @property
    def is_tied(self) -> bool:
        return self.penalty in TIED_GRIDS

    @property
    def chosen_strengths(self) -> Sequence[float]:
        if self.strengths is not None:
            return self.strengths
        return STRENGTHS if self.is_tied else (1.0,)

    @property
    def chosen_method(self) -> Method[Any]:
        if self.method is not None:
            return self.method
        return TruncatedNewton() if self.is_tied else PRESETS[self.penalty].method()

    def chosen_free_orders(self, structure: Structure) -> tuple[int, ...]:
        """The user's, which must be there, or those of the penalty's own that are."""
        if self.free_orders is None:
            own = () if self.is_tied else PRESETS[self.penalty].free_orders
            return tuple(order for order in own if order in structure.blocks)
        absent = sorted(set(self.free_orders) - set(structure.blocks))
        if absent:
            orders = list(structure.blocks)
            raise InputError(f"Order {absent[0]} cannot be left free: the structure has orders {orders}.")
        return tuple(self.free_orders)


@dataclass(frozen=True)
class Fit:
    """The model at one point of the grid, with the certificate of its optimum.

    Scores on held-out rows are those of the validation rows, or means over the folds of a cross-validation. ``passes``
    counts evaluations and Hessian products over the data.
    """

    strength: float
    model: MarkovNetwork
    solution: Solution
    train_pll: float
    valid_pll: float | None
    seconds: float
    passes: int = 0
    train_ll: float | None = None
    valid_ll: float | None = None
    n_groups: int | None = None
    rounds: tuple[Round, ...] = ()
    fold_scores: tuple[float, ...] = ()

    @property
    def held_out(self) -> float | None:
        """The score that fits are chosen by: of what was maximised, on held-out rows."""
        return self.valid_pll if self.train_ll is None else self.valid_ll

    @property
    def n_nonzero(self) -> int:
        """Parameters that are not exactly zero."""
        return int(np.count_nonzero(self.model.w))

    @property
    def n_distinct(self) -> int:
        """Different values among the parameters."""
        return len(np.unique(self.model.w))

    @property
    def held(self) -> list[str]:
        """Names of unpenalised parameters without a finite optimum, held at a bound."""
        return [self.model.parameters.name(int(k)) for k in self.solution.at_bound]


@dataclass(frozen=True)
class Gain:
    """What the best tied fit is better than the best L2 fit by, on held-out rows, with its standard error."""

    mean: float
    standard_error: float
    l2: Fit

    @property
    def is_real(self) -> bool:
        """Larger than two standard errors."""
        return self.mean > 2.0 * self.standard_error


@dataclass(frozen=True)
class Learned:
    """All fits in the order they were made, the one to keep, and for tied parameters what they gain over L2."""

    fits: tuple[Fit, ...]
    best: Fit
    n_cells: int
    gain: Gain | None = None


def learn(
    rows: UniqueRows,
    structure: Structure,
    settings: Settings | None = None,
    *,
    valid: UniqueRows | None = None,
    callback: Callback | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Learned:
    """Fit a Markov network with the given structure by penalised maximum (pseudo-)likelihood.

    The fit with the best score on ``valid``, or in cross-validation, is kept; without either, the one with the weakest
    penalty. ``callback`` is told the strength and every record, and may return True to stop that fit; ``progress`` how
    many fits are done, and of how many.
    """
    settings = settings or Settings()
    if settings.folds and valid is not None:
        raise InputError("Give validation rows or a number of folds, not both.")
    problem = _Problem(rows, structure, settings)
    choosable = valid is not None or settings.folds > 0
    if settings.is_tied and not choosable and problem.n_points > 1:
        raise InputError(
            f"Choosing one of {problem.n_points} fits needs held-out rows: give validation rows or a number of folds, "
            "or just one number of groups and one strength."
        )
    compared = settings.is_tied and choosable
    total = (problem.n_points + (len(settings.chosen_strengths) if compared else 0)) * (1 + settings.folds)
    done = count(1)
    judge = _Judge(
        problem,
        None if valid is None else valid.recoded(rows.domain),
        (lambda: None) if progress is None else (lambda: progress(next(done), total)),
    )
    fits = judge.fits(_Problem.grid, callback)
    best = max(fits, key=lambda fit: fit.held_out or -np.inf) if choosable else min(fits, key=lambda fit: fit.strength)
    gain = None
    if compared:
        baseline = max(judge.fits(_Problem.l2_grid, None), key=lambda fit: fit.held_out or -np.inf)
        gain = judge.gain(best, baseline)
    return Learned(fits, best, problem.n_cells, gain)


class _Problem:
    """Rows, a structure and settings: everything a grid of fits needs."""

    def __init__(self, rows: UniqueRows, structure: Structure, settings: Settings) -> None:
        self.rows, self.settings = rows, settings
        self.free_orders = settings.chosen_free_orders(structure)
        self.parameters = Canonical(rows.domain, structure)
        self.is_exact = settings.objective == "likelihood"
        objective, self.n_cells = self._objective(rows)
        self.objective = Remembered(objective)
        self._parts: dict[int, list[Objective]] = {}
        self.penalized = ~np.isin(self.parameters.order_of_parameter, self.free_orders)

    def _objective(self, rows: UniqueRows) -> tuple[Objective, int]:
        """What is minimised, and how many cells (or joint states) it goes over."""
        if self.is_exact:
            return Likelihood(self.parameters, rows), int(np.prod(rows.domain.shape))
        cells = ConditionalCells.count(rows, self.parameters, jobs=self.settings.jobs)
        return PseudoLikelihood(cells, jobs=self.settings.jobs), cells.n_cells

    def _batches(self, batch_rows: int) -> list[Objective]:
        """The same on parts of about so many rows, dealt at random."""
        if batch_rows not in self._parts:
            rng = np.random.default_rng(self.settings.seed)
            folds = folds_of(self.rows, max(1, round(self.rows.n_rows / batch_rows)), rng)
            self._parts[batch_rows] = [self._objective(fold.held_out)[0] for fold in folds]
        return self._parts[batch_rows]

    @property
    def n_points(self) -> int:
        """Points of the grid."""
        groups = self.settings.tying.groups_up_to(self.parameters.n_parameters) if self.settings.is_tied else (1,)
        return len(groups) * len(self.settings.chosen_strengths)

    def task(self, callback: Callback | None) -> Task:
        settings = self.settings
        return Task(
            objective=self.objective,
            orders=self.parameters.order_of_parameter,
            penalized=self.penalized,
            start=_start(self.objective, self.parameters, self.penalized, exact=self.is_exact),
            held_at=HELD_AT,
            total_weight=self.rows.total_weight,
            method=settings.chosen_method,
            tolerance=settings.tolerance,
            max_iterations=settings.max_iterations,
            callback=callback,
            batches=self._batches,
        )

    def grid(self, callback: Callback | None) -> Iterator[Found]:
        settings, task = self.settings, self.task(callback)
        if settings.is_tied:
            return TIED_GRIDS[settings.penalty](task, settings.tying, settings.chosen_strengths)
        return penalized_path(task, PRESETS[settings.penalty], settings.chosen_strengths)

    def l2_grid(self, callback: Callback | None) -> Iterator[Found]:
        return l2_path(self.task(callback), self.settings.chosen_strengths)

    def model(self, found: Found) -> MarkovNetwork:
        settings = self.settings
        told: dict[str, Any] = {"name": settings.penalty, "strength": found.strength}
        if found.n_groups is not None:
            told |= {"groups": found.n_groups, "tie": settings.tying.tie}
        told["free_orders"] = list(self.free_orders)
        return MarkovNetwork(
            self.parameters, found.solution.w, _provenance(self.rows, told, settings, found.solution), found.groups
        )

    def row_scores(self, model: MarkovNetwork, rows: UniqueRows) -> Floats:
        """Log-(pseudo-)likelihood of every distinct row, whichever is maximised."""
        score = row_ll if self.is_exact else row_pll
        return score(self.parameters, model.w, rows.codes)


Grid = Callable[[_Problem, Callback | None], Iterator[Found]]


@dataclass(frozen=True)
class _Judge:
    """Scores fits on validation rows, or by cross-validation, or not at all."""

    problem: _Problem
    valid: UniqueRows | None
    done: Callable[[], None]  # called after every fit

    def fits(self, grid: Grid, callback: Callback | None) -> tuple[Fit, ...]:
        """Fits on all rows, with held-out scores."""
        by_fold = self._fold_scores(grid)
        return tuple(self._fit(found, by_fold[:, k]) for k, found in enumerate(grid(self.problem, callback)))

    def _fold_scores(self, grid: Grid) -> Floats:
        """The score of every point on every held-out part, (folds, points)."""
        problem = self.problem
        rng = np.random.default_rng(problem.settings.seed)
        scores: list[list[float]] = []
        for fold in folds_of(problem.rows, problem.settings.folds, rng):
            part = _Problem(fold.train, problem.parameters.structure, problem.settings)
            scores.append([])
            for found in grid(part, None):
                scores[-1].append(self._mean(part.model(found), fold.held_out))
                self.done()
        return np.array(scores) if scores else np.empty((0, 2 * problem.n_points))

    def _mean(self, model: MarkovNetwork, rows: UniqueRows) -> float:
        return float(rows.sample_weight @ self.problem.row_scores(model, rows)) / rows.total_weight

    def _fit(self, found: Found, fold_scores: Floats) -> Fit:
        problem, solution = self.problem, found.solution
        model = problem.model(found)
        train = found.penalty / problem.rows.total_weight - solution.value
        held_out = None
        if self.valid is not None:
            held_out = self._mean(model, self.valid)
        elif len(fold_scores):
            held_out = float(fold_scores.mean())
        exact = problem.is_exact
        self.done()
        return Fit(
            strength=found.strength,
            model=model,
            solution=solution,
            train_pll=model.pll(problem.rows) if exact else train,
            valid_pll=None if exact else held_out,
            seconds=found.seconds,
            passes=found.passes,
            train_ll=train if exact else None,
            valid_ll=held_out if exact else None,
            n_groups=found.n_groups,
            rounds=found.rounds,
            fold_scores=tuple(fold_scores.tolist()),
        )

    def gain(self, best: Fit, l2: Fit) -> Gain:
        if self.valid is None:
            difference = np.array(best.fold_scores) - np.array(l2.fold_scores)
            return Gain(float(difference.mean()), float(difference.std(ddof=1) / np.sqrt(len(difference))), l2)
        rows = self.valid
        difference = self.problem.row_scores(best.model, rows) - self.problem.row_scores(l2.model, rows)
        share = rows.sample_weight / rows.total_weight
        mean = float(share @ difference)
        return Gain(mean, float(np.sqrt(share @ (difference - mean) ** 2 / rows.total_weight)), l2)


def _plain(strength: Any) -> float:
    if not isinstance(strength, Real):
        raise InputError(f"A strength must be a number; got {strength!r}.")
    return checked_strength(float(strength))


def _start(objective: Objective, parameters: Canonical, penalized: NDArray[np.bool_], *, exact: bool = False) -> Floats:
    """Zero, but for free parameters without a finite optimum, which start at their bound.

    Where all probabilities of non-reference states vanish the gradient is minus the weight of every feature; in the
    pseudo-likelihood once for each variable of its scope.
    """
    w = np.zeros(parameters.n_parameters)
    if penalized.all():
        return w
    _, gradient = objective.value_and_gradient(np.full(len(w), -1e4))
    share = -gradient / (1 if exact else parameters.order_of_parameter)
    w[~penalized & (share <= 0.0)] = -HELD_AT
    singles = parameters.structure.blocks.get(1, np.empty((0, 1), np.int64))[:, 0]
    for variable, first in zip(singles, parameters.first_parameter.get(1, ()), strict=True):
        mine = np.arange(first, first + parameters.n_free[variable])
        if len(mine) and not penalized[mine[0]] and share[mine].sum() >= 1.0 - 1e-12:
            # The reference never occurs: the commonest state goes to the bound, the others stand relative to it.
            seen = mine[share[mine] > 0.0]
            w[seen] = HELD_AT + np.log(share[seen] / share[seen].max())
    return w


def _provenance(rows: UniqueRows, penalty: dict[str, Any], settings: Settings, solution: Solution) -> dict[str, Any]:
    """What a reader of the model file wants to know, and what shows whether two models saw the same data."""
    digest = hashlib.sha256(json.dumps(rows.domain.to_states()).encode())
    digest.update(rows.codes.tobytes())
    digest.update(rows.sample_weight.tobytes())
    return {
        "mrfit": __version__,
        "objective": settings.objective,
        "penalty": penalty,
        "data": {"rows": rows.n_rows, "weight": rows.total_weight, "sha256": digest.hexdigest()},
        "solver": {
            "method": type(settings.chosen_method).__name__,
            "status": solution.status.value,
            "violation": solution.violation,
        },
    }
