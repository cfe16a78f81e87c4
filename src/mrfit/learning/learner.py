"""A learner: everything that decides which model rows lead to, as one value."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from itertools import count
from math import hypot
from numbers import Integral, Real
from pathlib import Path
from types import UnionType
from typing import Any, ClassVar

import numpy as np

from mrfit.clusters import is_in_use
from mrfit.data.parts import Parts
from mrfit.data.unique_rows import UniqueRows
from mrfit.errors import InputError, listed
from mrfit.html_table import html_table
from mrfit.learning.fitted import Fit, Fitted, Gain, Score
from mrfit.learning.fresh_log_z import with_fresh_log_z
from mrfit.learning.grid import Callback, Grid, Optimum
from mrfit.learning.held_out import Evaluation, fold_problems, mean_over_folds, mean_over_rows
from mrfit.learning.in_parts import problems_in_parts
from mrfit.learning.json_form import SHORT, from_plain, kind_of, learner_digest, to_plain
from mrfit.learning.kept_fits import KeptFits
from mrfit.learning.objective_choice import JUDGES, PSEUDO_LIKELIHOOD, ObjectiveChoice
from mrfit.learning.parted_rows import PartedRows
from mrfit.learning.penalized import L2, l2_path
from mrfit.learning.penalty_choice import STATIONARY_POINT, PenaltyChoice
from mrfit.learning.problem import Problem
from mrfit.learning.sampled_structure import learned_in_parts
from mrfit.learning.standard_errors import check_errors, errors_of
from mrfit.learning.tied import TiedChoice
from mrfit.learning.unbounded import unbounded_in
from mrfit.learning.versions import versions
from mrfit.parameterizations.ordered import ALL
from mrfit.parameterizations.parameterization import Parameterization
from mrfit.plugins import PARAMETERIZATIONS
from mrfit.seeds import check_seed
from mrfit.solvers.method import Method
from mrfit.solvers.solution import Status
from mrfit.structure.learner import LearnedStructure
from mrfit.structure.learners import Complete, Learned, StructureLearner
from mrfit.workers import one_blas_thread

# What the settings of a learner are, and how an error calls that.
_KINDS: dict[str, tuple[type | UnionType, str]] = {
    "structure": (StructureLearner, "a way to find one, such as Complete()"),
    "penalty": (PenaltyChoice, "a penalty, such as L2()"),
    "objective": (ObjectiveChoice, "an objective, such as PSEUDO_LIKELIHOOD or LIKELIHOOD"),
    "parameterization": (str | type, "a word or a subclass of Parameterization"),
    "reference": (str, "a word"),
    "ordered": (str | tuple, "'all', or names of variables"),
    "scores": (Mapping | tuple, "a score for each state of variables, by their names"),
    "given": (tuple, "names of variables"),
    "judge": (str | None, "'ll', 'pll' or None"),
    "solver": (Method | None, "a solver, such as TruncatedNewton(), or None"),
    "tolerance": (Real, "a number"),
    **dict.fromkeys(("max_iterations", "folds", "patience", "seed"), (Integral, "a whole number")),
}

Progress = Callable[[int, int], None]  # told how many fits are done, and of how many


@dataclass(frozen=True)
class Learner:
    """How to learn a Markov network; what to learn from is given apart.

    Parameters
    ----------
    structure
        Which variables interact, or how that is learned; see `mrfit.structure.learners`.
    penalty
        What keeps parameters small, zero or equal, and how strongly; see `mrfit.learning.penalized` and ``tied``.
    objective
        The pseudo-likelihood, the exact likelihood for few variables or a sparse structure, or interaction screening.
    parameterization, reference, ordered, scores
        The coordinates: ``canonical``, ``spectral``, ``full``, ``ising``, ``generalized-ising`` or ``ordered``; the
        silent states of canonical ones, see `mrfit.parameterizations.reference`; and which variables interact by scores
        in ordered ones: names, or ``all``; their scores, where these are not 0, 1, 2, ...: ``{"mood": (0, 1, 3)}``.
    solver
        By default the one that suits penalty and objective.
    tolerance, max_iterations
        When it stops: at a violation (largest subgradient entry of the mean objective) of ``tolerance``.
    folds
        Parts of a cross-validation, which chooses where there are no validation rows. Every part learns all there is to
        learn from its own rows, the structure included.
    judge
        What held-out rows choose by: ``ll``, the log-likelihood, estimated where no exact engine fits, or ``pll``; by
        default what is maximised.
    patience
        How often in a row a path may predict held-out rows no better before it ends.
    seed
        Of whatever is random: folds, random references, restarts.
    given, given_edges
        Names of covariates: variables that are conditioned on and have no distribution of their own. They have an
        effect on every other variable, and with ``given_edges`` on every pair that interacts.
    """

    structure: StructureLearner = field(default_factory=Complete)
    penalty: PenaltyChoice = field(default_factory=L2)
    objective: ObjectiveChoice = PSEUDO_LIKELIHOOD
    parameterization: str | type[Parameterization] = "canonical"
    reference: str = "first"
    solver: Method[Any] | None = None
    tolerance: float = 1e-6
    max_iterations: int = 1000
    folds: int = 0
    judge: str | None = None
    patience: int = 3
    seed: int = 0
    ordered: str | tuple[str, ...] = ALL
    scores: Mapping[str, Sequence[float]] | tuple[tuple[str, tuple[float, ...]], ...] = ()
    given: tuple[str, ...] = ()
    given_edges: bool = False

    results_version: ClassVar[int] = 1  # raise it when the same rows lead to another model for reasons of its own

    def __post_init__(self) -> None:
        self._check_kinds()
        kind = self.parameterization_kind
        if self.reference != "first" and not kind.has_reference:
            raise InputError(
                f"Reference states belong to canonical coordinates; got {kind.word!r}. Leave the reference "
                "out, or choose canonical."
            )
        if self.ordered != ALL and (isinstance(self.ordered, str) or not kind.has_scores):
            raise InputError(
                "Ordered variables are 'all' or a tuple of names, and belong to ordered coordinates; got "
                f"{self.ordered!r} and {kind.word!r}."
            )
        self._check_scores()
        self._check_given()
        self.penalty.check(self.objective, kind, self.solver)
        if not 0 < self.tolerance < np.inf:
            raise InputError(f"The tolerance must be positive and finite; got {self.tolerance:g}.")
        if self.max_iterations < 0:
            raise InputError(f"The limit of iterations must not be negative; got {self.max_iterations}.")
        if self.folds < 0 or self.folds == 1:
            raise InputError(f"Cross-validation needs at least 2 folds, or 0 for none; got {self.folds}.")
        if self.judge not in (None, *JUDGES):
            raise InputError(f"Held-out rows judge by {listed(JUDGES)}; got {self.judge!r}.")
        if self.patience < 1:
            raise InputError(f"The patience with a path must be at least 1; got {self.patience}.")
        check_seed(self.seed)

    def _check_scores(self) -> None:
        """A mapping is welcome, but a value does not change. How many there are to be is known with the rows."""
        try:
            scores = tuple((str(name), tuple(map(float, own))) for name, own in dict(self.scores).items())
        except (TypeError, ValueError):
            raise InputError(
                f"Scores are a number for each state of a variable, by its name; got {self.scores!r}."
            ) from None
        object.__setattr__(self, "scores", scores)
        known = self.ordered if self.parameterization_kind.has_scores else ()
        for name, _ in scores:
            if known != ALL and name not in known:
                raise InputError(f"Scores belong to ordered variables, and {name!r} is none; name it in `ordered`.")

    def _check_given(self) -> None:
        object.__setattr__(self, "given", tuple(dict.fromkeys(self.given)))  # a column may be named twice
        if not isinstance(self.given_edges, bool) or self.given_edges > bool(self.given):
            raise InputError(
                f"Covariates have effects on edges where there are some (given); got {self.given_edges!r}."
            )
        if not self.given:
            return
        if not self.parameterization_kind.takes_covariates or self.reference != "first":
            raise InputError(
                "Networks with covariates have canonical coordinates, first states silent, or ordered ones; got "
                f"{self.parameterization_kind.word!r} and {self.reference!r}."
            )
        if self.penalty.searches:
            raise InputError("A search for larger scopes does not know covariates; leave one of them out.")

    def _check_kinds(self) -> None:
        """Settings come from JSON too, which may hold anything; one name, or a list of them, is as good as a tuple."""
        if isinstance(self.given, str | list):
            object.__setattr__(self, "given", (self.given,) if isinstance(self.given, str) else tuple(self.given))
        for name, (kind, expected) in _KINDS.items():
            value = getattr(self, name)
            if not isinstance(value, kind) or isinstance(value, bool):
                raise InputError(f"The {name} of a learner must be {expected}; got {value!r}.")

    @property
    def parameterization_kind(self) -> type[Parameterization]:
        """The class of the coordinates, given by its word or as it is."""
        return PARAMETERIZATIONS.called(self.parameterization)

    @property
    def structure_learner(self) -> StructureLearner:
        """What learns the structure, as it is by itself with this objective."""
        return self.structure.for_likelihood() if self.objective.is_joint else self.structure

    def results_versions(self) -> dict[str, int]:
        """Return the results version of the learner and of each of its parts, by name.

        A part raises its version when it leads from the same rows to other results; moving or renaming code does not
        change it. Stored results carry these versions.
        """
        parts = {part.word: part.results_version for part in (self.penalty, self.objective)}
        return {"learner": self.results_version} | self.structure_learner.results_versions() | parts

    def learn_structure(self, rows: UniqueRows, *, valid: UniqueRows | None = None, jobs: int = 1) -> LearnedStructure:
        """Which variables interact; covariates do with all others, and not with each other."""
        given = tuple(rows.domain.index(name) for name in self.given)
        if not given:
            return self.structure_learner.learn(rows, valid=valid, jobs=jobs)
        if len(given) == len(rows.domain):
            raise InputError("All variables are given; leave one out, which depends on them.")
        learned = self.structure_learner.with_covariates(self.given, rows.domain).learn(rows, valid=valid, jobs=jobs)
        return replace(learned, structure=learned.structure.conditional_on(given, on_edges=self.given_edges))

    def learn_structure_in_parts(self, parts: Parts, *, jobs: int = 1) -> list[LearnedStructure]:
        """The same from a table in parts, and for every fold from the rows of all others."""
        if self.given:
            raise InputError("Networks with covariates are learned from all rows together; read the table as one.")
        learner = self.structure_learner
        if not isinstance(learner, Learned):
            return learner.learn_in_parts(parts, n_folds=self.folds, seed=self.seed)
        if self.folds:
            raise InputError(
                "Folds that each learn their structure need all rows together. Give validation rows, or read the table "
                "as one, without --cluster and --in-parts."
            )
        return [learned_in_parts(learner, parts, seed=self.seed, jobs=jobs)]

    def in_words(self) -> str:
        """What decides which model rows lead to, in one line."""
        folds = f", {self.folds}-fold cross-validation" if self.folds else ""
        given = f", given {listed(self.given)}" if self.given else ""
        return f"{self.structure.in_words()}, {self.penalty.in_words()}, {self.objective.word}{given}{folds}"

    def __repr__(self) -> str:
        return f"<Learner: {self.in_words()}>"

    def _repr_html_(self) -> str:
        return html_table(
            "Learner",
            {
                "structure": self.structure.in_words(),
                "penalty": self.penalty.in_words(),
                "objective": self.objective.word,
                "coordinates": self.parameterization_kind.word,
                "solver": "the one that suits" if self.solver is None else kind_of(type(self.solver)),
                "folds": self.folds or "none",
                "seed": self.seed,
            },
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything it is made of, ready for JSON."""
        plain: dict[str, Any] = to_plain(self)
        return plain

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Learner:
        """The learner that `to_dict` was asked of."""
        if not isinstance(document, Mapping):
            raise InputError(f"A learner is described by an object of its settings; got {type(document).__name__}.")
        try:
            learner = from_plain(dict(document), cls)
        except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError) as error:
            raise InputError(f"This is no description of a learner: {error}") from error
        if not isinstance(learner, cls):
            raise InputError(f"A learner was expected; got a description of {type(learner).__name__}.")
        return learner

    def to_json(self) -> str:
        """`to_dict` as text."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Learner:
        """The learner that `to_json` was asked of."""
        try:
            document = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError(f"This is not JSON ({error}); expected what `to_json` of a learner gave.") from error
        return cls.from_dict(document)

    def fit(
        self,
        data: Any,
        valid: Any = None,
        *,
        test: Any = None,
        jobs: int = 1,
        compared: bool = True,
        errors: str | None = None,
        rough: float | None = None,
        resume: str | Path | None = None,
        callback: Callback | None = None,
        progress: Progress | None = None,
    ) -> Fitted:
        """Learn the structure, fit every point of the grid, and keep the best.

        ``data`` is a table of any kind, rows read before (`UniqueRows`, `Dataset`), or a table in files that are never
        held together (`Parts`), for the pseudo-likelihood; ``valid`` and ``test`` are as the first of these,
        whose columns and states are matched by name. The best is the one that predicts ``valid`` best, or in
        cross-validation; without either, the one with the weakest penalty. ``test`` has no part in that: the best is
        scored on it. ``errors``, ``sandwich`` or ``model``, asks for standard errors of the best, which its model keeps
        (see `mrfit.Errors`). Tied fits are ``compared`` with L2 fits, which takes more time. Most of a large grid of
        them are far from the best: ``rough`` (1e-4) is the violation they are fitted to, and those within 0.03 % of
        the best score are run on to the tolerance. Of parameters that are relearned as equal, long fits whose score
        falls when it is 0.3 % behind the best are left (`Status.LOST`). What is found is kept in the file ``resume``,
        and a call with the same arguments goes on from what it holds (see `mrfit.learning.kept_fits`). ``callback`` is
        told the strength and every record, and may return True to stop that fit. The result does not depend on
        ``jobs``.
        """
        self._check_rough(rough, valid is not None, callback is not None)
        if self.folds and valid is not None:
            raise InputError("Give validation rows or a number of folds, not both.")
        rows = data if isinstance(data, Parts) else UniqueRows.of(data)
        valid, test = (None if some is None else UniqueRows.of(some).recoded(rows.domain) for some in (valid, test))
        for some in (rows, valid, test):
            if isinstance(some, UniqueRows):
                some.check_complete("learning")
        with one_blas_thread(), ExitStack() as until_done:
            # 1. Which variables interact, from all rows and from the rows of every fold.
            if isinstance(rows, Parts):
                structure, problem, folds = problems_in_parts(self, rows, jobs=jobs)
            else:
                structure = self.learn_structure(rows, valid=valid, jobs=jobs)
                self.penalty.check_free_orders(structure.structure)
                problem = Problem.within(rows, structure.structure, self, jobs=jobs)
            if errors is not None:
                check_errors(errors, problem)
            if isinstance(rows, UniqueRows):
                folds = fold_problems(self, rows, jobs=jobs)
            # 2. The points to fit.
            selecting = valid is not None or bool(folds)
            grid = self.penalty.grid(problem, selecting=selecting)
            self._check_choosable(grid, selecting=selecting)
            if resume is not None:
                kept = until_done.enter_context(self._kept(resume, problem, valid, rough))
                problem = problem.keeping(kept)
                folds = folds if is_in_use() else [fold.keeping(kept) for fold in folds]
            tied = self.penalty if isinstance(self.penalty, TiedChoice) and selecting and compared else None
            baseline = () if tied is None else tied.baseline_strengths()
            done = _counter(progress, (len(grid) + len(baseline)) * (1 + len(folds)))
            # 3. Fit and score them, and keep the best.
            evaluation = Evaluation(problem, folds, valid, done)
            fits = self._fits(evaluation, grid, callback, rough)
            choose = _most_likely if selecting else _weakest
            if problem.by_chains is not None:
                fits = with_fresh_log_z(problem.by_chains, fits, choose, is_validated=valid is not None)
            best = fits[choose(fits)]
            _check_known(best)
            sure = best.with_unbounded(unbounded_in(problem, best))
            if errors is not None:
                sure = sure.with_errors(errors_of(problem, sure, errors))
            fits, best = tuple(sure if fit is best else fit for fit in fits), sure
            # 4. What that is worth.
            gain = None
            if baseline:
                others = evaluation.fits(lambda part, _: l2_path(part, baseline), Grid(baseline), None)
                if problem.by_chains is not None:
                    others = with_fresh_log_z(problem.by_chains, others, _most_likely, is_validated=valid is not None)
                gain = self._gain((best, others[_most_likely(others)]), valid, test, jobs)
            score = None if test is None else self._score(best, test, jobs)
        n_cells, n_parameters = problem.objective.n_cells, problem.n_parameters
        guarantee = self.penalty.guarantee() if problem.objective.is_convex else STATIONARY_POINT
        return Fitted(
            fits, best, structure, n_cells, n_parameters, guarantee, grid.is_path, score, gain,
            problem.coordinates.engine, problem.rows if isinstance(problem.rows, PartedRows) else None,
        )  # fmt: skip

    def _fits(
        self, evaluation: Evaluation, grid: Grid, callback: Callback | None, rough: float | None
    ) -> tuple[Fit, ...]:
        def walk(part: Problem, callback: Callback | None) -> Iterator[Optimum]:
            return self.penalty.fits(part, grid, callback)

        if rough is not None and isinstance(self.penalty, TiedChoice):
            return evaluation.run_on(walk, grid, self.penalty.run_on, rough)
        return evaluation.fits(walk, grid, callback)

    def _kept(
        self, path: str | Path, problem: Problem, valid: UniqueRows | None, rough: float | None
    ) -> AbstractContextManager[KeptFits]:
        if problem.by_chains is not None:
            raise InputError("Chains are where they are and keep no optima to go on from; leave resume out.")
        settings = {
            "version": versions()["mrfit"],
            "learner": learner_digest(self),
            "table": problem.rows.sha256[:SHORT],
            "validation rows": None if valid is None else valid.sha256[:SHORT],
            "tolerance of rough fits": rough,
        }
        return KeptFits.opened(path, settings)

    def _check_rough(self, rough: float | None, has_valid: bool, is_watched: bool) -> None:
        if rough is None:
            return
        if not self.tolerance <= rough < np.inf:
            raise InputError(f"Rough fits have a violation of at least the tolerance {self.tolerance:g}; got {rough}.")
        if not self.penalty.is_tied or self.objective.is_joint or not has_valid or is_watched:
            raise InputError(
                "Rough fits are for grids of tied parameters by pseudo-likelihood that validation rows choose from, "
                "without a callback. Leave rough out."
            )

    def _check_choosable(self, grid: Grid, *, selecting: bool) -> None:
        if self.penalty.is_tied and not selecting and len(grid) > 1:
            raise InputError(
                f"Choosing one of {len(grid)} fits needs held-out rows: give validation rows or a number of folds, "
                "or just one number of groups and one strength."
            )

    def _score(self, fit: Fit, rows: UniqueRows, jobs: int) -> Score:
        score = mean_over_rows(self.objective.row_scores(fit.model, rows, jobs), rows)
        return replace(score, log_z_error=fit.log_z_error)

    def _gain(self, fits: tuple[Fit, Fit], valid: UniqueRows | None, test: UniqueRows | None, jobs: int) -> Gain:
        """Of the first over the second, on the test rows; without any on those that chose, which it says."""
        rows = valid if test is None else test
        if rows is None:
            difference = mean_over_folds(np.subtract(*(np.array(fit.fold_scores) for fit in fits)))
        else:
            scores = (self.objective.row_scores(fit.model, rows, jobs) for fit in fits)
            difference = mean_over_rows(np.subtract(*scores), rows)
            difference = replace(difference, log_z_error=hypot(*(fit.log_z_error for fit in fits)))
        which = "test" if test is not None else "folds" if valid is None else "valid"
        return Gain(difference.mean, difference.standard_error, fits[1], which)


def _most_likely(fits: Sequence[Fit]) -> int:
    """Return the number of the fit that predicts held-out rows best."""
    return max(range(len(fits)), key=lambda number: fits[number].rank)


def _weakest(fits: Sequence[Fit]) -> int:
    """Return the number of the fit with the weakest penalty."""
    return min(range(len(fits)), key=lambda number: fits[number].strength)


def _check_known(best: Fit) -> None:
    """Chains that do not mix have learned something, but nobody can say what."""
    if best.solution.status is Status.UNMIXED:
        raise InputError(
            "Chains do not mix on this model: annealing from the data and from everywhere disagree, or a few chains "
            "decide, so that its likelihood is not known. Variables that nearly determine each other do that. Use a "
            "structure that grows while an exact engine fits it (--structure grown --cells 1e6, Grown(cells=1e6)), or "
            "tree."
        )


def _counter(progress: Progress | None, total: int) -> Callable[[], None]:
    if progress is None:
        return lambda: None
    done = count(1)
    return lambda: progress(next(done), total)
