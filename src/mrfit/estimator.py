"""The scikit-learn face."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from mrfit.data.batch import checked_sample_weight
from mrfit.data.coding import UNOBSERVED
from mrfit.data.columns import class_names
from mrfit.data.dataset import Dataset
from mrfit.data.frames import check_column_names, column_values
from mrfit.data.unique_rows import UniqueRows
from mrfit.errors import ApproximationWarning, InputError, listed
from mrfit.learning.fitted import Fitted
from mrfit.learning.incomplete import fit_incomplete
from mrfit.learning.learner import Learner
from mrfit.learning.objective_choice import JUDGES, ObjectiveChoice
from mrfit.learning.penalty_choice import PenaltyChoice
from mrfit.parameterizations.ordered import ALL, check_orders
from mrfit.parameterizations.parameterization import Parameterization
from mrfit.plugins import OBJECTIVES, PARAMETERIZATIONS, PENALTIES
from mrfit.queries.asked import How
from mrfit.queries.row_questions import warn_of_errors
from mrfit.registry import learner_from, objective_from, structure_called
from mrfit.settings import Coordinates, Covariates, Solver
from mrfit.solvers.method import Method
from mrfit.structure.learners import StructureLearner
from mrfit.workers import resolve_jobs

Floats = NDArray[np.float64]

_EM, _DROP = "em", "drop"
_MISSING = ("error", _DROP, "state", _EM)
_FRAMES = {"pandas.DataFrame", "polars.DataFrame", "pyarrow.Table"}


def _has_target(learner: MarkovNetworkLearner) -> bool:
    if learner.target is None:
        raise AttributeError("predict_proba needs to know what to predict: MarkovNetworkLearner(target='NAME').")
    return True


class MarkovNetworkLearner(DensityMixin, BaseEstimator):
    """Learn a discrete Markov network from a table of categorical columns.

    Columns with another value in nearly every row, as numbers of persons and measurements have, are refused: drop or
    bin them, or declare their states (``states``, or a pandas category) to keep them.

    Parameters
    ----------
    structure : str, StructureLearner, Structure or networkx.Graph, default="complete"
        ``complete`` (all pairs), ``independent``, ``tree`` (most mutual information), ``learned`` or
        ``Learned(max_degree=5, ...)`` (one sparse regression for each variable), ``order:R`` (all scopes of up to R
        variables), ``order:all`` or ``edges:FILE`` (an edge list, GraphML or JSON).
    penalty : str or PenaltyChoice, default="l2"
        ``L2(strength=1.0)`` shrinks all parameters, ``L1`` makes many of them exactly zero, ``Group`` all of a scope at
        once, ``Hierarchical`` a scope and all that contain it, ``FlatL1`` and ``FlatL2`` treat all orders alike,
        ``PseudoCounts`` adds ``strength`` rows of every joint state, ``NoPenalty`` is maximum likelihood,
        ``Tied(groups=10)`` draws parameters to a few learned values, ``HardTied`` makes them equal there,
        ``LearnTieRelearn`` learns with L2, clusters, and relearns as equal. The words of the command line (``l2``,
        ``l1``, ``tied``, ...) stand for these with their own settings.
    objective : {"pseudo-likelihood", "likelihood", "rise", "log-rise"} or ObjectiveChoice, default="pseudo-likelihood"
        The second is exact, for about 24 binary variables at most or a sparse structure; scores are then
        log-likelihoods. ``LikelihoodChoice("tree")`` is the likelihood by one engine. The last two are interaction
        screening, scored by pseudo-log-likelihoods.
    parameterization : str, type of Parameterization or Coordinates, default="canonical"
        The coordinates: ``canonical``, ``spectral``, ``full``, ``ising``, ``generalized-ising`` or ``ordered``.
        ``Coordinates(reference="last")`` chooses the silent states of canonical ones, ``Coordinates(ordered=["mood"])``
        the columns that interact by scores.
    given : str, list of str, Covariates or None, default=None
        Covariates: columns that are conditioned on and never modelled, with an effect on every other one, and as
        ``Covariates(["age"], on_edges=True)`` on every pair that interacts, too.
    solver : {"newton", "lbfgs", "owlqn", "proximal-newton", "fista"}, Method, Solver or None, default=None
        None takes the one that suits the penalty; ``Solver(tolerance=1e-8, max_iterations=5000)`` says when it stops.
    folds : int, default=0
        Parts of a cross-validation that chooses among several strengths or numbers of groups; 0 for none.
    errors : {"sandwich", "model"} or None, default=None
        Standard errors of the parameters: ``sandwich`` for the pseudo-likelihood, and where the model is not the truth;
        ``model`` for the likelihood of one that is. Needs the penalty ``none`` or ``l2``.
    missing : {"error", "drop", "state", "em"}, default="error"
        How `fit` and `score` handle missing values: raise an error, drop their rows, make missing a state of its own,
        or learn from incomplete rows by expectation maximization (with a structure that is not learned, and no
        ``valid`` or ``folds``).
    states : dict of str to list, default=None
        States of some columns, in order; the others are found in the data. Declare them where a fold of a
        cross-validation may lack a rare one. Columns of arrays are called v0, v1, ...
    metric : {"objective", "ll", "pll"}, default="objective"
        What `score_samples` and `score` give: the log-likelihood, the pseudo-log-likelihood, or the one of them that
        was maximised. The log-likelihood is exact, by enumeration or a junction tree; where neither fits, scoring is
        refused with the figures rather than replaced by another measure, since scores of two learners are compared.
    target : str, int or None, default=None
        The column that `predict_proba` predicts, by name or number. Without one there is no such method, for nothing
        sets a column apart; ``model_.predict_proba(variable, X)`` predicts any.
    random_state : int, RandomState or None, default=0
        Of whatever is random: folds, random references and restarts, and samples.
    n_jobs : int or None, default=None
        Threads; None and -1 mean all processors. The result does not depend on it.

    Settings of nested parts are parameters too: ``penalty__strength``, ``structure__max_degree`` and
    ``objective__engine`` can be searched.

    Attributes
    ----------
    model_ : MarkovNetwork
    solution_ : Solution
        The optimum with its certificate: violation, status, trace.
    fitted_ : Fitted
        All fits, their scores and what was learned about the structure.
    standard_errors_, covariance_ : ndarray
        Of the parameters ``model_.w``; only with ``errors``.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only when the columns of the table have string names.
    """

    def __init__(
        self,
        structure: Any = "complete",
        *,
        penalty: Any = "l2",
        objective: str | ObjectiveChoice = "pseudo-likelihood",
        parameterization: str | type[Parameterization] | Coordinates = "canonical",
        given: str | Sequence[str] | Covariates | None = None,
        solver: str | Method[Any] | Solver | None = None,
        folds: int = 0,
        errors: str | None = None,
        missing: str = "error",
        states: Mapping[str, Sequence[Any]] | None = None,
        metric: str = "objective",
        target: str | int | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.structure = structure
        self.penalty = penalty
        self.objective = objective
        self.parameterization = parameterization
        self.given = given
        self.solver = solver
        self.folds = folds
        self.errors = errors
        self.missing = missing
        self.states = states
        self.metric = metric
        self.target = target
        self.random_state = random_state
        self.n_jobs = n_jobs

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All parameters; with ``deep`` also the settings of nested parts."""
        params = super().get_params(deep=False)
        if not deep:
            return dict(params)
        nested = {
            f"{name}__{f.name}": getattr(part, f.name)
            for name in _NESTED
            if (part := self._part(name)) is not None
            for f in fields(part)
        }
        return {**params, **nested}

    def set_params(self, **params: Any) -> MarkovNetworkLearner:
        """Set parameters; a nested one replaces its part, which is a value and may be shared."""
        # Whole parts first: set_params(penalty=L1(), penalty__strength=3) speaks of the new one.
        super().set_params(**{name: value for name, value in params.items() if "__" not in name})
        for name, value in params.items():
            part_name, nested, setting = name.partition("__")
            if not nested:
                continue
            part = self._part(part_name) if part_name in _NESTED else None
            known = [f.name for f in fields(part)] if part is not None else []
            if part is None or setting not in known:
                settings = listed(known, limit=20) or "no settings of its own"
                raise InputError(f"There is no parameter {name!r}; {part_name!r} has {settings}.")
            setattr(self, part_name, replace(part, **{setting: value}))
        return self

    def _part(self, name: str) -> Any:
        """The argument as an object with settings; None where it has none."""
        return _NESTED[name](getattr(self, name))

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, valid: Any = None) -> MarkovNetworkLearner:
        """Learn from a frame, an array or a sparse matrix; ``y`` is ignored.

        ``valid`` is another such table, on which the best strength or number of groups is chosen.
        """
        table = self._checked(X, reset=True)
        self._check_missing(valid)
        missing = "keep" if self.missing == _EM else self.missing
        dataset = Dataset.from_table(table, sample_weight=sample_weight, states=self.states, missing=missing)
        rows = UniqueRows.from_dataset(dataset)
        held_out = None
        if valid is not None:
            table = self._checked(valid, reset=False)
            missing = _DROP if self.missing == _DROP else "error"
            held_out = UniqueRows.from_dataset(Dataset.from_table(table, domain=rows.domain, missing=missing))
        self.fitted_ = self._fitted(rows, held_out)
        self.model_, self.solution_ = self.fitted_.model, self.fitted_.best.solution
        if self.model_.errors is not None:
            self.covariance_ = self.model_.errors.covariance
            self.standard_errors_ = self.model_.errors.standard_errors
        if not self.solution_.converged:
            warnings.warn(f"The solver {self.solution_.status.value}.", ConvergenceWarning, stacklevel=2)
        return self

    def _check_missing(self, valid: Any) -> None:
        if self.missing not in _MISSING:
            raise InputError(f"missing is {self.missing!r}; expected one of {listed(_MISSING)}.")
        if self.missing == _EM and valid is not None:
            raise InputError("missing='em' fits at one penalty strength: `valid` has nothing to choose. Leave it out.")

    def _fitted(self, rows: UniqueRows, held_out: UniqueRows | None) -> Fitted:
        learner, jobs = self._learner(rows), resolve_jobs(self.n_jobs)
        if self.missing != _EM:
            return learner.fit(rows, held_out, jobs=jobs, errors=self.errors)
        found = fit_incomplete(learner, rows, errors=self.errors, jobs=jobs)
        if not found.converged:
            warnings.warn(f"EM did not converge in {found.rounds:,} iterations.", ConvergenceWarning, stacklevel=3)
        return found.fitted

    def _learner(self, rows: UniqueRows) -> Learner:
        solver = _solver_part(self.solver)
        return learner_from(
            rows.domain,
            structure=self.structure,
            penalty=self.penalty,
            objective=self.objective,
            **self._coordinates(rows),
            **_covariates(self.given),
            solver=solver.method,
            tolerance=solver.tolerance,
            max_iterations=solver.max_iterations,
            folds=self.folds,
            seed=_seed(self.random_state),
        )

    def _coordinates(self, rows: UniqueRows) -> dict[str, Any]:
        """Settings of a learner; ``ordered`` columns are those of ordered coordinates."""
        chosen = _coordinates_part(self.parameterization)
        kind = PARAMETERIZATIONS.called(chosen.word)
        settings: dict[str, Any] = {"parameterization": chosen.word, "reference": chosen.reference}
        scores = chosen.scores or {}
        if chosen.ordered is None and not scores and not kind.has_scores:
            return settings
        every = chosen.ordered == ALL or (chosen.ordered is None and kind.has_scores)
        ordered = ALL if every else (*_names(chosen.ordered or ()), *scores)
        if kind.when_ordered is not None and not kind.has_scores:
            settings["parameterization"] = kind.when_ordered
        given = _covariates(self.given).get("given", ())
        check_orders(ordered, rows.domain, self.states or (), given=given, scored=scores, is_read=False)
        return {**settings, "ordered": ordered, "scores": scores}

    def score_samples(self, X: Any) -> Floats:
        """Log-likelihood or pseudo-log-likelihood of every row, in nats, as ``metric`` says.

        After a fit with ``missing="em"`` incomplete rows are scored by what they have.
        """
        return self._scores(self._rows(X, keep=self.missing == _EM))

    def _rows(self, X: Any, *, keep: bool) -> Any:
        """A table that was checked; ``keep`` codes it, with its missing cells."""
        check_is_fitted(self)
        table = self._checked(X, reset=False)
        return Dataset.from_table(table, domain=self.model_.domain, missing="keep") if keep else table

    def _scores(self, table: Any) -> Floats:
        return np.asarray(self._metric().score_table(self.model_, table, self.n_jobs), np.float64)

    def _metric(self) -> ObjectiveChoice:
        metrics = {"objective": objective_from(self.objective), **JUDGES}
        if self.metric not in metrics:
            raise InputError(f"There is no metric {self.metric!r}; choose one of {listed(metrics)}.")
        return metrics[self.metric]

    @available_if(_has_target)
    def predict_proba(
        self,
        X: Any,
        variable: str | int | None = None,
        *,
        return_error: bool = False,
        samples: int | None = None,
        precision: float | None = None,
    ) -> Floats | tuple[Floats, Floats]:
        """p(variable | what else a row holds) for every row, shape (rows, states).

        Rows with too many missing cells for an exact answer are answered by sampling, and an `ApproximationWarning`
        says how large their standard errors are.

        Parameters
        ----------
        X
            Rows with all columns of `fit`; cells of the variable itself are not looked at, and others may be missing.
        variable
            Its name or the number of its column; by default the ``target``. ``model_.domain`` has the order of states.
        return_error
            Return standard errors as a second array, zeros where an answer is exact, in place of the warning.
        samples, precision
            Make these errors smaller: the number of chains, and the largest standard error that is good enough.
        """
        check_is_fitted(self)
        asked: Any = self.target if variable is None else variable
        domain = self.model_.domain
        if not isinstance(asked, str | int | np.integer) or isinstance(asked, bool):
            raise InputError(f"The column to predict is {asked!r}; expected its name, or its number counted from 0.")
        if not isinstance(asked, str) and not -len(domain) <= asked < len(domain):
            raise InputError(f"There is no column {asked}; there are {len(domain)}, counted from 0.")
        name = asked if isinstance(asked, str) else domain.names[asked]
        how = How(seed=_seed(self.random_state), samples=samples, precision=precision)
        p, error = self.model_.predicted(name, self._checked(X, reset=False), how, jobs=self.n_jobs)
        if return_error:
            return p, error
        warn_of_errors(error)
        return p

    def sample(self, n_samples: int = 1, random_state: Any = None, *, given: Mapping[str, Any] | None = None) -> Any:
        """Draw rows of the distribution, given what is known: an array that `score_samples` takes.

        They are independent and exact where a junction tree fits. Elsewhere they are from Gibbs chains, close to the
        distribution and nearly independent, which an `ApproximationWarning` says. The array holds integers if all
        states are, else text. ``random_state`` is that of the learner if it is None.
        """
        check_is_fitted(self)
        seed = _seed(self.random_state if random_state is None else random_state)
        rows = self.model_.sample(n_samples, given=given, seed=seed, jobs=self.n_jobs)
        if rows.notes:
            warnings.warn(" ".join(rows.notes), ApproximationWarning, stacklevel=2)
        return _values(rows)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Mean of `score_samples`; larger is better.

        With ``missing="drop"`` incomplete rows are left out, as in `fit`. A mean log-likelihood by an estimate of log Z
        has the standard ``error`` of that, as `MarkovNetwork.ll`.
        """
        scores, counted = self._complete_scores(X) if self.missing == _DROP else (self.score_samples(X), True)
        weight = np.ones(len(scores)) if sample_weight is None else checked_sample_weight(sample_weight, len(scores))
        mean = float(np.average(scores, weights=weight * counted))
        return self.model_.mean_ll(mean) if self._metric().measure == "ll" else mean

    def _complete_scores(self, X: Any) -> tuple[Floats, NDArray[np.bool_]]:
        """The score of every complete row, zero for others, and which rows are complete."""
        rows = self._rows(X, keep=True)
        complete = (rows.codes != UNOBSERVED).all(axis=1)
        if not complete.any():
            raise InputError("Every row has a missing value, and missing='drop' leaves them all out. Impute some.")
        scores = np.zeros(len(complete))
        scores[complete] = self._scores(Dataset(rows.domain, rows.codes[complete]))
        return scores, complete

    def _checked(self, X: Any, *, reset: bool) -> Any:
        """Names and number of columns as scikit-learn keeps them; frames keep their types, arrays are checked."""
        X = X.collect() if "polars.LazyFrame" in class_names(X) else X
        frame = _named_columns(X) if isinstance(X, Mapping) else X
        if not _FRAMES.isdisjoint(class_names(frame)):
            check_column_names(frame)
            validate_data(self, frame, reset=reset, skip_check_array=True)
            if reset or getattr(self, "feature_names_in_", None) is not None:
                return X
            # Fitted without names, as scikit-learn has just warned: columns are matched by position.
            return dict(zip(self.model_.domain.names, column_values(X), strict=True))
        # Missing values pass: the data room names the column and the row.
        return validate_data(self, X, reset=reset, dtype=None, accept_sparse=True, ensure_all_finite="allow-nan")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        return tags


def _structure_part(choice: Any) -> StructureLearner | None:
    if isinstance(choice, str):
        return structure_called(choice)
    return choice if isinstance(choice, StructureLearner) else None


def _penalty_part(choice: Any) -> PenaltyChoice | None:
    if isinstance(choice, str) and choice in PENALTIES:
        return PENALTIES[choice]()
    return choice if isinstance(choice, PenaltyChoice) else None


def _objective_part(choice: Any) -> ObjectiveChoice | None:
    if isinstance(choice, str):
        return OBJECTIVES[choice]() if choice in OBJECTIVES else None
    return choice if isinstance(choice, ObjectiveChoice) else None


def _coordinates_part(choice: str | type[Parameterization] | Coordinates) -> Coordinates:
    return choice if isinstance(choice, Coordinates) else Coordinates(choice)


def _covariates_part(choice: str | Sequence[str] | Covariates | None) -> Covariates | None:
    return choice if choice is None or isinstance(choice, Covariates) else Covariates(choice)


def _solver_part(choice: str | Method[Any] | Solver | None) -> Solver:
    return choice if isinstance(choice, Solver) else Solver(choice)


# The arguments that have settings of their own, and how a word becomes an object that has them.
_NESTED: dict[str, Callable[[Any], Any]] = {
    "structure": _structure_part,
    "penalty": _penalty_part,
    "objective": _objective_part,
    "parameterization": _coordinates_part,
    "given": _covariates_part,
    "solver": _solver_part,
}


def _covariates(choice: str | Sequence[str] | Covariates | None) -> dict[str, Any]:
    """Settings of a learner."""
    part = _covariates_part(choice)
    return {} if part is None else {"given": _names(part.columns), "given_edges": part.on_edges}


def _names(names: str | Sequence[str]) -> tuple[str, ...]:
    if not isinstance(names, Iterable):
        raise InputError(f"{names!r} is no name of a column; expected a name, or a list of them.")
    return (names,) if isinstance(names, str) else tuple(names)


def _seed(random_state: Any) -> int:
    """One number, from what scikit-learn takes."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError as error:
        raise InputError(
            f"random_state is {random_state!r}; expected a whole number, 0 or larger, a numpy RandomState or None."
        ) from error


def _values(rows: Dataset) -> NDArray[Any]:
    """Rows as users see them: numbers where all states are whole ones, else the names of states."""
    states = [np.array(variable.states, object) for variable in rows.domain]
    table = np.column_stack([own[rows.codes[:, i]] for i, own in enumerate(states)])
    is_whole = all(re.fullmatch(r"-?\d{1,18}", state) for own in states for state in own)
    return table.astype(np.int64) if is_whole else table


def _named_columns(table: Mapping[Any, Any]) -> Any:
    """scikit-learn does not know dicts of columns; an Arrow table without rows shows it their names."""
    import pyarrow as pa

    return pa.table({str(name): pa.array([], pa.int8()) for name in table})
