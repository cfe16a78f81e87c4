"""A learner: everything that decides which model rows lead to, as one value."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from copy import copy
from dataclasses import dataclass, replace
from itertools import count
from math import hypot
from numbers import Integral, Real
from pathlib import Path
from types import UnionType
from typing import Any, ClassVar

import numpy as np

from mrfit import _renamed
from mrfit.core.cluster import is_in_use
from mrfit.core.errors import InputError, listed
from mrfit.core.html_table import html_table
from mrfit.core.seeds import check_seed
from mrfit.core.threads import one_blas_thread
from mrfit.data.partitioned_table import PartitionedTable
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.checkpoint import FitCheckpoint
from mrfit.learning.cross_validation import Evaluation, fold_problems, mean_over_folds, mean_over_rows
from mrfit.learning.fit_problem import FitProblem
from mrfit.learning.fit_result import CandidateFit, FitResult, MeanScore, Optimum, TyingGain
from mrfit.learning.fresh_log_z import with_fresh_log_z
from mrfit.learning.objective_specs import JUDGES, PSEUDO_LIKELIHOOD, ObjectiveSpec
from mrfit.learning.partitioned_fit import problems_in_parts
from mrfit.learning.partitioned_rows import PartedRows, RowsSummary
from mrfit.learning.penalty_spec import STATIONARY_POINT, Callback, Grid, PenaltySpec
from mrfit.learning.penalty_specs import L2, l2_path
from mrfit.learning.serialization import SHORT, from_plain, kind_of, learner_digest, to_plain
from mrfit.learning.standard_errors import check_errors, errors_of
from mrfit.learning.structure_from_sample import learned_in_parts
from mrfit.learning.tying_specs import TyingSpec
from mrfit.learning.unbounded import unbounded_in
from mrfit.learning.versions import versions
from mrfit.parameterizations.ordered import ALL
from mrfit.parameterizations.parameterization import Parameterization
from mrfit.registry import PARAMETERIZATIONS
from mrfit.solvers.method import Method
from mrfit.solvers.solution import Status
from mrfit.structures.base import LearnedStructure
from mrfit.structures.nodewise.pairwise_learner import PairwiseLearner
from mrfit.structures.simple import CompleteGraph, StructureLearner

# What the settings of a learner are, and how an error calls that.
_KINDS: dict[str, tuple[type | UnionType, str]] = {
    "structure": (StructureLearner, "a way to find one, such as Complete()"),
    "penalty": (PenaltySpec, "a penalty, such as L2()"),
    "objective": (ObjectiveSpec, "an objective, such as PSEUDO_LIKELIHOOD or LIKELIHOOD"),
    "parameterization": (str | type, "a word or a subclass of Parameterization"),
    "reference": (str, "a word"),
    "ordered": (str | tuple, "'all', or names of variables"),
    "scores": (Mapping | tuple, "a score for each state of variables, by their names"),
    "covariates": (tuple, "names of variables"),
    "judge": (str | None, "'ll', 'pll' or None"),
    "solver": (Method | None, "a solver, such as TruncatedNewton(), or None"),
    "tolerance": (Real, "a number"),
    **dict.fromkeys(("max_iterations", "folds", "patience", "seed"), (Integral, "a whole number")),
}

Progress = Callable[[int, int], None]  # told how many fits are done, and of how many


@_renamed.settings(given="covariates", given_edges="covariates_on_edges")
@dataclass(frozen=True)
class Learner:
    """Settings that decide how a Markov network is learned, as one value; `fit` takes the rows.

    A learner is immutable. Equal learners give equal models, bit for bit, with any number of threads.

    Parameters
    ----------
    structure : StructureLearner, default=CompleteGraph()
        Which variables interact, or how to learn that: for instance `ChowLiuTree`, `ForwardSelection` or
        `FixedStructure`.
    penalty : PenaltySpec, default=L2()
        What keeps parameters small, zero or equal. A penalty with several strengths is a grid.
    objective : ObjectiveSpec, default=PseudoLikelihoodSpec()
        What is maximised: the pseudo-likelihood, the likelihood (`LikelihoodSpec`), or interaction screening.
    parameterization : str or type of Parameterization, default="canonical"
        The coordinates: ``canonical``, ``spectral``, ``full``, ``ising``, ``generalized-ising`` or ``ordered``.
    reference : str, default="first"
        Reference category of each variable, in canonical coordinates: ``first``, ``last``, ``random`` or
        ``NAME=STATE,...``.
    solver : Method or None, default=None
        Method that minimises. None takes the one that suits penalty and objective.
    tolerance : float, default=1e-6
        Largest entry of the gradient (with kinks, the subgradient) of the mean objective at which a fit has converged.
    max_iterations : int, default=1000
        Largest number of iterations of each fit, 0 or more.
    folds : int, default=0
        Number of folds of a cross-validation that chooses among several fits; 0 for none, otherwise 2 or more. Every
        fold learns from its own rows, the structure included.
    judge : {"ll", "pll"} or None, default=None
        Score of held-out rows by which to choose: log-likelihood or pseudo-log-likelihood. None takes what is
        maximised.
    patience : int, default=3
        Number of fits in a row that may predict held-out rows no better before a path of strengths ends; 1 or more.
    seed : int, default=0
        Random seed for folds, random references, restarts and sampling.
    ordered : "all" or tuple of str, default="all"
        Variables that interact by scores, with the parameterization ``ordered``.
    scores : dict or tuple, default=()
        Scores of the states of ordered variables that are not 0, 1, 2, ...: ``{"mood": (0, 1, 3)}``.
    covariates : tuple of str, default=()
        Variables that the network conditions on and does not model. Each affects every other variable.
    covariates_on_edges : bool, default=False
        Whether covariates also affect every pair that interacts.

    Raises
    ------
    InputError
        If settings contradict each other.

    See Also
    --------
    mrfit.learn : The same in one call, with words for parts.
    mrfit.MarkovNetworkLearner : The same as a scikit-learn estimator.

    Examples
    --------
    >>> from mrfit import ChowLiuTree, L2, Learner
    >>> table = {"smokes": ["yes", "yes", "no", "no"] * 25, "coughs": ["yes", "no", "no", "no"] * 25}
    >>> learner = Learner(ChowLiuTree(), penalty=L2(strength=0.5))
    >>> learner
    <Learner: a tree of most mutual information, l2, strength 0.5, pseudo-likelihood>
    >>> learner.fit(table).model
    <MarkovNetwork: 2 variables, 1 edges, 3 parameters; l2, strength 0.5>
    """

    structure: StructureLearner = CompleteGraph()  # noqa: RUF009 - a frozen value
    penalty: PenaltySpec = L2()  # noqa: RUF009
    objective: ObjectiveSpec = PSEUDO_LIKELIHOOD
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
    covariates: tuple[str, ...] = ()
    covariates_on_edges: bool = False

    # Descriptions in JSON keep these names, so that saved models and stored results stay as they are.
    stored_names: ClassVar[Mapping[str, str]] = {"covariates": "given", "covariates_on_edges": "given_edges"}
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
        self._check_covariates()
        self.penalty.check(self.objective, kind, self.solver)
        if not 0 < self.tolerance < np.inf:
            raise InputError(f"The tolerance must be positive and finite; got {self.tolerance:g}.")
        if self.max_iterations < 0:
            raise InputError(f"The limit of iterations must not be negative; got {self.max_iterations}.")
        if self.folds < 0 or self.folds == 1:
            raise InputError(f"Cross-validation needs at least 2 folds, or 0 for none; got {self.folds}.")
        if self.judge not in (None, *JUDGES):
            raise InputError(f"The metric of held-out rows (judge) is one of {listed(JUDGES)}; got {self.judge!r}.")
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
                raise InputError(
                    f"There are scores for {name!r}, which is not an ordered variable; name it in `ordered`."
                )

    def _check_covariates(self) -> None:
        object.__setattr__(self, "covariates", tuple(dict.fromkeys(self.covariates)))  # a column may be named twice
        if not isinstance(self.covariates_on_edges, bool) or self.covariates_on_edges > bool(self.covariates):
            raise InputError(
                f"covariates_on_edges is {self.covariates_on_edges!r} without covariates; name some in `covariates`, "
                "or leave it out."
            )
        if not self.covariates:
            return
        if not self.parameterization_kind.takes_covariates or self.reference != "first":
            raise InputError(
                "Networks with covariates need canonical coordinates with the first states as reference, or "
                f"ordered ones; got {self.parameterization_kind.word!r} and {self.reference!r}."
            )
        if self.penalty.searches:
            raise InputError("The search for larger scopes does not support covariates; leave one of them out.")

    def _check_kinds(self) -> None:
        """Settings come from JSON too, which may hold anything; one name, or a list of them, is as good as a tuple."""
        if isinstance(names := self.covariates, str | list):
            object.__setattr__(self, "covariates", (names,) if isinstance(names, str) else tuple(names))
        for name, (kind, expected) in _KINDS.items():
            value = getattr(self, name)
            if not isinstance(value, kind) or isinstance(value, bool):
                raise InputError(f"The {name} of a learner must be {expected}; got {value!r}.")

    @property
    def parameterization_kind(self) -> type[Parameterization]:
        """Class of the coordinates."""
        return PARAMETERIZATIONS.called(self.parameterization)

    @property
    def structure_learner(self) -> StructureLearner:
        """Structure learner with the defaults of this objective."""
        return self.structure.for_likelihood() if self.objective.is_joint else self.structure

    def with_structure(self, structure: StructureLearner) -> Learner:
        """Return the learner with another structure; its other settings need no second check."""
        other = copy(self)
        object.__setattr__(other, "structure", structure)
        return other

    def results_versions(self) -> dict[str, int]:
        """Return the results version of the learner and of each of its parts, by name.

        A part raises its version when it leads from the same rows to other results; moving or renaming code does not
        change it. Stored results carry these versions.
        """
        parts = {part.word: part.results_version for part in (self.penalty, self.objective)}
        return {"learner": self.results_version} | self.structure_learner.results_versions() | parts

    def learn_structure(self, rows: UniqueRows, *, valid: UniqueRows | None = None, jobs: int = 1) -> LearnedStructure:
        """Learn which variables interact; each covariate interacts with all others, and not with other covariates.

        Parameters
        ----------
        rows : UniqueRows
            The rows to learn from.
        valid : UniqueRows or None, default=None
            Validation rows, for structure learners that select by them.
        jobs : int, default=1
            Number of threads. The result does not depend on it.
        """
        covariates = tuple(rows.domain.index(name) for name in self.covariates)
        if not covariates:
            return self.structure_learner.learn(rows, valid=valid, jobs=jobs)
        if len(covariates) == len(rows.domain):
            raise InputError("All variables are covariates, so that none is left to model; name fewer.")
        learned = self.structure_learner.with_covariates(self.covariates, rows.domain).learn(
            rows, valid=valid, jobs=jobs
        )
        return replace(
            learned, structure=learned.structure.conditional_on(covariates, on_edges=self.covariates_on_edges)
        )

    def learn_structure_in_parts(self, parts: PartitionedTable, *, jobs: int = 1) -> list[LearnedStructure]:
        """Learn the structure from a table in parts: from all rows, then for each fold from the rows of all others.

        Parameters
        ----------
        parts : PartitionedTable
            The table.
        jobs : int, default=1
            Number of threads.
        """
        if self.covariates:
            raise InputError("Networks with covariates are learned from all rows together; read the table as one.")
        learner = self.structure_learner
        if not isinstance(learner, PairwiseLearner):
            return learner.learn_in_parts(parts, n_folds=self.folds, seed=self.seed)
        if self.folds:
            raise InputError(
                "Folds that each learn their structure need all rows together. Give validation rows, or read the table "
                "as one, without --cluster and --in-parts."
            )
        return [learned_in_parts(learner, parts, seed=self.seed, jobs=jobs)]

    def describe(self) -> str:
        """Describe the learner in one line."""
        folds = f", {self.folds}-fold cross-validation" if self.folds else ""
        covariates = f", covariates {listed(self.covariates)}" if self.covariates else ""
        return f"{self.structure.describe()}, {self.penalty.describe()}, {self.objective.word}{covariates}{folds}"

    def __repr__(self) -> str:
        return f"<Learner: {self.describe()}>"

    def _repr_html_(self) -> str:
        return html_table(
            "Learner",
            {
                "structure": self.structure.describe(),
                "penalty": self.penalty.describe(),
                "objective": self.objective.word,
                "coordinates": self.parameterization_kind.word,
                "solver": "the one that suits" if self.solver is None else kind_of(type(self.solver)),
                "folds": self.folds or "none",
                "seed": self.seed,
            },
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all settings, ready for JSON."""
        plain: dict[str, Any] = to_plain(self)
        return plain

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Learner:
        """Return the learner of a dictionary that `to_dict` made."""
        if not isinstance(document, Mapping):
            raise InputError(f"A learner is described by an object of its settings; got {type(document).__name__}.")
        try:
            learner = from_plain(dict(document), cls)
        except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError) as error:
            raise InputError(f"This is not a description of a learner: {error}") from error
        if not isinstance(learner, cls):
            raise InputError(f"A learner was expected; got a description of {type(learner).__name__}.")
        return learner

    def to_json(self) -> str:
        """Return all settings as JSON text."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Learner:
        """Return the learner of a text that `to_json` made."""
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
    ) -> FitResult:
        """Learn the structure, fit every point of the grid, and choose the best.

        The best fit predicts held-out rows best; without any, it is the one with the weakest penalty.

        Parameters
        ----------
        data : table, UniqueRows, Dataset or PartitionedTable
            A pandas or polars frame, Arrow table, array, dict of columns, or rows that were read. A `PartitionedTable`,
            whose rows are never in memory together, needs the pseudo-likelihood.
        valid : table, UniqueRows, Dataset or None, default=None
            Validation rows, which choose among the fits. Columns and states are matched by name.
        test : table, UniqueRows, Dataset or None, default=None
            Rows that score the best fit and have no part in choosing it.
        jobs : int, default=1
            Number of threads. The result does not depend on it.
        compared : bool, default=True
            Whether tied fits are compared with L2 fits, which takes more time.
        errors : {"sandwich", "model"} or None, default=None
            Estimate standard errors of the best fit, which its model stores (see `StandardErrors`).
        rough : float or None, default=None
            Tolerance, such as 1e-4, of a first pass over a large grid of tied fits. Those within 0.03 % of the best
            score are then fitted to the tolerance. If parameters are relearned as equal, long fits whose score falls
            while it is 0.3 % behind the best are abandoned.
        resume : path or None, default=None
            Checkpoint file. A call with the same arguments continues from what it contains.
        callback : callable or None, default=None
            Called with the strength and each record of a solver; it may return True to stop that fit.
        progress : callable or None, default=None
            Called with the number of finished fits and the number of all fits.

        Returns
        -------
        FitResult
            All fits and the best one; its model is ``result.model``.

        Raises
        ------
        InputError
            If data and settings do not go together, or exact inference would exceed its limits.

        Examples
        --------
        >>> from mrfit import L2, Learner
        >>> table = {"smokes": ["yes", "yes", "no", "no"] * 25, "coughs": ["yes", "no", "no", "no"] * 25}
        >>> fitted = Learner(penalty=L2(strength=(0.1, 1, 10)), folds=5).fit(table)
        >>> len(fitted.fits)
        3
        """
        self._check_rough(rough, valid is not None, callback is not None)
        if self.folds and valid is not None:
            raise InputError("Give validation rows or a number of folds, not both.")
        rows = data if isinstance(data, PartitionedTable) else UniqueRows.of(data)
        valid, test = (None if some is None else UniqueRows.of(some).recoded(rows.domain) for some in (valid, test))
        for some in (rows, valid, test):
            if isinstance(some, UniqueRows):
                some.check_complete("learning")
        with one_blas_thread(), ExitStack() as until_done:
            # 1. Which variables interact, from all rows and from the rows of every fold.
            if isinstance(rows, PartitionedTable):
                structure, problem, folds = problems_in_parts(self, rows, jobs=jobs)
            else:
                structure = self.learn_structure(rows, valid=valid, jobs=jobs)
                self.penalty.check_free_orders(structure.structure)
                problem = FitProblem.within(rows, structure.structure, self, jobs=jobs)
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
                problem = problem.with_checkpoint(kept)
                folds = folds if is_in_use() else [fold.with_checkpoint(kept) for fold in folds]
            tied = self.penalty if isinstance(self.penalty, TyingSpec) and selecting and compared else None
            baseline = () if tied is None else tied.baseline_strengths()
            done = _counter(progress, (len(grid) + len(baseline)) * (1 + len(folds)))
            # 3. Fit and score them, and keep the best.
            evaluation = Evaluation(problem, folds, valid, done)
            fits = self._fits(evaluation, grid, callback, rough)
            choose = _most_likely if selecting else _weakest
            if problem.chain_problem is not None:
                fits = with_fresh_log_z(problem.chain_problem, fits, choose, is_validated=valid is not None)
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
                if problem.chain_problem is not None:
                    others = with_fresh_log_z(
                        problem.chain_problem, others, _most_likely, is_validated=valid is not None
                    )
                gain = self._gain((best, others[_most_likely(others)]), valid, test, jobs)
            score = None if test is None else self._score(best, test, jobs)
        return FitResult(
            fits=fits,
            best=best,
            structure=structure,
            rows=RowsSummary.of(problem.rows),
            n_cells=problem.objective.n_cells,
            n_candidate_parameters=problem.n_parameters,
            guarantee=self.penalty.guarantee() if problem.objective.is_convex else STATIONARY_POINT,
            is_path=grid.is_path,
            test=score,
            gain=gain,
            engine=problem.coordinates.engine,
            parts=problem.rows if isinstance(problem.rows, PartedRows) else None,
        )

    def _fits(
        self, evaluation: Evaluation, grid: Grid, callback: Callback | None, rough: float | None
    ) -> tuple[CandidateFit, ...]:
        def walk(part: FitProblem, callback: Callback | None) -> Iterator[Optimum]:
            return self.penalty.fits(part, grid, callback)

        if rough is not None and isinstance(self.penalty, TyingSpec):
            return evaluation.refine(walk, grid, self.penalty.refine, rough)
        return evaluation.fits(walk, grid, callback)

    def _kept(
        self, path: str | Path, problem: FitProblem, valid: UniqueRows | None, rough: float | None
    ) -> AbstractContextManager[FitCheckpoint]:
        if problem.chain_problem is not None:
            raise InputError("Fits by chains store no optima, so they cannot be resumed; leave resume out.")
        settings = {
            "version": versions()["mrfit"],
            "learner": learner_digest(self),
            "table": problem.rows.sha256[:SHORT],
            "validation rows": None if valid is None else valid.sha256[:SHORT],
            "tolerance of rough fits": rough,
        }
        return FitCheckpoint.opened(path, settings)

    def _check_rough(self, rough: float | None, has_valid: bool, is_watched: bool) -> None:
        if rough is None:
            return
        if not self.tolerance <= rough < np.inf:
            raise InputError(
                f"The tolerance of rough fits must be at least the learner's, {self.tolerance:g}; got {rough}."
            )
        if not self.penalty.is_tied or self.objective.is_joint or not has_valid or is_watched:
            raise InputError(
                "Rough fits need tied parameters, the pseudo-likelihood and validation rows, and no callback. "
                "Leave rough out."
            )

    def _check_choosable(self, grid: Grid, *, selecting: bool) -> None:
        if self.penalty.is_tied and not selecting and len(grid) > 1:
            raise InputError(
                f"Choosing one of {len(grid)} fits needs held-out rows: give validation rows or a number of folds, "
                "or just one number of groups and one strength."
            )

    def _score(self, fit: CandidateFit, rows: UniqueRows, jobs: int) -> MeanScore:
        score = mean_over_rows(self.objective.row_scores(fit.model, rows, jobs), rows)
        return replace(score, log_z_error=fit.log_z_error)

    def _gain(
        self, fits: tuple[CandidateFit, CandidateFit], valid: UniqueRows | None, test: UniqueRows | None, jobs: int
    ) -> TyingGain:
        """Return the gain of the first fit over the second, on test rows or else on those that chose."""
        rows = valid if test is None else test
        if rows is None:
            difference = mean_over_folds(np.subtract(*(np.array(fit.fold_scores) for fit in fits)))
        else:
            scores = (self.objective.row_scores(fit.model, rows, jobs) for fit in fits)
            difference = mean_over_rows(np.subtract(*scores), rows)
            difference = replace(difference, log_z_error=hypot(*(fit.log_z_error for fit in fits)))
        which = "test" if test is not None else "folds" if valid is None else "valid"
        return TyingGain(difference.mean, difference.standard_error, fits[1], which)


def _most_likely(fits: Sequence[CandidateFit]) -> int:
    """Return the number of the fit that predicts held-out rows best."""
    return max(range(len(fits)), key=lambda number: fits[number].rank)


def _weakest(fits: Sequence[CandidateFit]) -> int:
    """Return the number of the fit with the weakest penalty."""
    return min(range(len(fits)), key=lambda number: fits[number].strength)


def _check_known(best: CandidateFit) -> None:
    """Chains that do not mix have learned something, but nobody can say what."""
    if best.solution.status is Status.NOT_MIXING:
        raise InputError(
            "Chains do not mix on this model, so its likelihood is not known: annealing from the data and from the "
            "uniform distribution disagree, or few chains carry the estimate. That happens if variables nearly "
            "determine each other. Use a structure that grows while an exact engine fits it (--structure grown "
            "--cells 1e6, or LikelihoodGrowth(cells=1e6)), or tree."
        )


def _counter(progress: Progress | None, total: int) -> Callable[[], None]:
    if progress is None:
        return lambda: None
    done = count(1)
    return lambda: progress(next(done), total)
