"""The scikit-learn estimator."""

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

from mrfit import _renamed
from mrfit._typing import Floats
from mrfit.core.errors import ApproximationWarning, InputError, listed
from mrfit.core.threads import resolve_jobs
from mrfit.data.batch import checked_sample_weight
from mrfit.data.columns import class_names
from mrfit.data.dataset import Dataset
from mrfit.data.encoding import UNOBSERVED
from mrfit.data.frames import check_column_names, column_values
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.em import fit_incomplete
from mrfit.learning.fit_result import FitResult
from mrfit.learning.learner import Learner
from mrfit.learning.objective_specs import JUDGES, ObjectiveSpec
from mrfit.learning.penalty_spec import PenaltySpec
from mrfit.learning.settings import Covariates, ParameterizationOptions, SolverOptions
from mrfit.learning.specification import learner_from, objective_from, structure_called
from mrfit.model.queries.evidence import takes_evidence
from mrfit.model.queries.queryable import How
from mrfit.model.queries.row_questions import warn_of_errors
from mrfit.parameterizations.ordered import ALL, check_orders
from mrfit.parameterizations.parameterization import Parameterization
from mrfit.registry import OBJECTIVES, PARAMETERIZATIONS, PENALTIES
from mrfit.solvers.method import Method
from mrfit.structures.simple import StructureLearner

_EM, _DROP = "em", "drop"
_MISSING = ("error", _DROP, "state", _EM)
_RENAMED = {"given": "covariates"}  # arguments by their earlier names
_FRAMES = {"pandas.DataFrame", "polars.DataFrame", "pyarrow.Table"}


def _has_target(learner: MarkovNetworkLearner) -> bool:
    if learner.target is None:
        raise AttributeError("predict_proba needs to know what to predict: MarkovNetworkLearner(target='NAME').")
    return True


@_renamed.settings(**_RENAMED)
class MarkovNetworkLearner(DensityMixin, BaseEstimator):
    """Discrete Markov network as a scikit-learn estimator.

    It learns from a table of yes/no, categorical or ordered columns. ID-like columns, whose values differ in nearly
    every row, are refused: exclude or bin them, or declare their states to keep them.

    Parameters
    ----------
    structure : str, StructureLearner, Structure or networkx.Graph, default="complete"
        Which variables interact: ``complete`` (all pairs), ``independent``, ``tree`` (Chow-Liu), ``learned`` or an
        object such as ``ForwardSelection(max_degree=5)``, ``order:R`` (all scopes of up to R variables), ``order:all``
        or ``edges:FILE`` (an edge list, GraphML or JSON).
    penalty : str or PenaltySpec, default="l2"
        ``L2(strength=1.0)`` shrinks all parameters, `L1` makes many of them exactly zero, `GroupLasso` all of a scope
        at once, `NoPenalty` is maximum likelihood, ``SoftTied(groups=10)`` draws parameters to a few learned values.
        Words such as ``l2``, ``l1`` and ``tied`` select a penalty with its default settings.
    objective : str or ObjectiveSpec, default="pseudo-likelihood"
        ``pseudo-likelihood``, for any number of variables; ``likelihood``, exact for about 24 binary variables at most
        or a sparse structure; ``rise`` and ``log-rise``, interaction screening, scored by the pseudo-likelihood.
        ``LikelihoodSpec("tree")`` is the likelihood by one engine.
    parameterization : str, type of Parameterization or ParameterizationOptions, default="canonical"
        The coordinates: ``canonical``, ``spectral``, ``full``, ``ising``, ``generalized-ising`` or ``ordered``.
        ``ParameterizationOptions(reference="last")`` chooses the reference categories of canonical ones,
        ``ParameterizationOptions(ordered=["mood"])`` the columns that interact by scores.
    covariates : str, list of str, Covariates or None, default=None
        Columns that the network conditions on and does not model. Each affects every other column, and with
        ``Covariates(["age"], on_edges=True)`` also every pair that interacts.
    solver : str, Method, SolverOptions or None, default=None
        ``newton``, ``lbfgs``, ``owlqn``, ``proximal-newton`` or ``fista``; None takes the one that suits the penalty.
        ``SolverOptions(tolerance=1e-8, max_iterations=5000)`` sets when it stops.
    folds : int, default=0
        Number of folds of a cross-validation that chooses the strength or the number of groups; 0 for none, otherwise 2
        or more.
    errors : {"sandwich", "model"} or None, default=None
        Standard errors of the parameters: ``sandwich`` for the pseudo-likelihood, and for models that may be wrong;
        ``model`` for the likelihood of a true model. Needs the penalty ``none`` or ``l2``.
    missing : {"error", "drop", "state", "em"}, default="error"
        How `fit` and `score` handle missing values: raise an error, drop their rows, make missing a state of its own,
        or learn from incomplete rows by expectation maximisation (with a structure that is not learned, and no
        ``valid`` or ``folds``).
    states : dict of str to list or None, default=None
        States of some columns, in order; the others are read from the data. Declare them if a fold of a
        cross-validation may lack a rare one. Columns of arrays are called v0, v1, ...
    metric : {"objective", "ll", "pll"}, default="objective"
        Score that `score_samples` and `score` return: what was maximised, the log-likelihood or the
        pseudo-log-likelihood. The log-likelihood is exact, by enumeration or a junction tree. If neither fits, scoring
        is refused with the sizes, because scores of two learners are compared.
    target : str, int or None, default=None
        Column that `predict_proba` predicts, by name or number. Without it there is no such method;
        ``model_.predict_proba(variable, X)`` predicts any column.
    random_state : int, RandomState or None, default=0
        Random seed for folds, random references, restarts and samples.
    n_jobs : int or None, default=None
        Number of threads; None and -1 mean all processors. The result does not depend on it.

    Attributes
    ----------
    model_ : MarkovNetwork
        The fitted model.
    solution_ : Solution
        Optimum with its certificate: maximum gradient, status, trace.
    fitted_ : FitResult
        All fits, their scores, and the learned structure.
    standard_errors_ : ndarray
        Standard errors of the parameters ``model_.w``; only with ``errors``.
    covariance_ : ndarray
        Covariance of the parameters ``model_.w``; only with ``errors``.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns; only if all are strings.

    See Also
    --------
    mrfit.learn : The same without scikit-learn.

    Notes
    -----
    Settings of parts are parameters too: ``penalty__strength``, ``structure__max_degree`` and ``objective__engine`` can
    be searched with ``GridSearchCV``.

    Examples
    --------
    >>> from mrfit import L2, MarkovNetworkLearner
    >>> table = {"smokes": ["yes", "yes", "no", "no"] * 25, "coughs": ["yes", "no", "no", "no"] * 25}
    >>> learner = MarkovNetworkLearner(penalty=L2(strength=1.0), target="coughs").fit(table)
    >>> learner.model_
    <MarkovNetwork: 2 variables, 1 edges, 3 parameters; l2, strength 1>
    >>> learner.predict_proba({"smokes": ["yes", "no"], "coughs": ["no", "no"]}).round(2)
    array([[0.51, 0.49],
           [0.94, 0.06]])
    >>> round(float(learner.score(table)), 3)
    -0.884
    """

    def __init__(
        self,
        structure: Any = "complete",
        *,
        penalty: Any = "l2",
        objective: str | ObjectiveSpec = "pseudo-likelihood",
        parameterization: str | type[Parameterization] | ParameterizationOptions = "canonical",
        covariates: str | Sequence[str] | Covariates | None = None,
        solver: str | Method[Any] | SolverOptions | None = None,
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
        self.covariates = covariates
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
        """Return all parameters; with ``deep`` also the settings of nested parts."""
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
        """Set parameters, also of parts: ``penalty__strength=3``.

        A part is replaced, because it is a value and may be shared.
        """
        params = _renamed.by_new_names(params, _RENAMED, of=type(self).__name__, level=2)
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
        """Return the argument as an object with settings, or None if it has none."""
        return _NESTED[name](getattr(self, name))

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, valid: Any = None) -> MarkovNetworkLearner:
        """Learn a network from a table.

        Parameters
        ----------
        X : table
            A frame, an array, a sparse matrix or a dict of columns.
        y : object, default=None
            Ignored.
        sample_weight : array or None, default=None
            Weight of each row; None means 1.
        valid : table or None, default=None
            Validation rows, which choose the best strength or number of groups.

        Returns
        -------
        MarkovNetworkLearner
            The learner itself.
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
            raise InputError("missing='em' fits at one penalty strength: `valid` has nothing to select. Leave it out.")

    def _fitted(self, rows: UniqueRows, held_out: UniqueRows | None) -> FitResult:
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
            **_covariates(self.covariates),
            solver=solver.method,
            tolerance=solver.tolerance,
            max_iterations=solver.max_iterations,
            folds=self.folds,
            seed=_seed(self.random_state),
        )

    def _coordinates(self, rows: UniqueRows) -> dict[str, Any]:
        """Return settings of a learner; ``ordered`` columns are those of ordered coordinates."""
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
        covariates = _covariates(self.covariates).get("covariates", ())
        check_orders(ordered, rows.domain, self.states or (), covariates=covariates, scored=scores, is_read=False)
        return {**settings, "ordered": ordered, "scores": scores}

    def score_samples(self, X: Any) -> Floats:
        """Return the score of every row in nats: the log-likelihood or pseudo-log-likelihood, as ``metric`` says.

        After a fit with ``missing="em"`` incomplete rows are scored by their observed values.
        """
        return self._scores(self._rows(X, keep=self.missing == _EM))

    def _rows(self, X: Any, *, keep: bool) -> Any:
        """A table that was checked; ``keep`` codes it, with its missing cells."""
        check_is_fitted(self)
        table = self._checked(X, reset=False)
        return Dataset.from_table(table, domain=self.model_.domain, missing="keep") if keep else table

    def _scores(self, table: Any) -> Floats:
        return np.asarray(self._metric().score_table(self.model_, table, self.n_jobs), np.float64)

    def _metric(self) -> ObjectiveSpec:
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
        """Return p(variable | other values of the row) for every row, shape (rows, states).

        Rows with too many missing cells for an exact answer are answered by sampling, and an `ApproximationWarning`
        reports their largest standard error.

        Parameters
        ----------
        X : table
            Rows with all columns of `fit`. Cells of the variable itself are ignored, and others may be missing.
        variable : str, int or None, default=None
            Name or number of the column to predict; None means the ``target``. ``model_.domain`` has the order of
            states.
        return_error : bool, default=False
            Whether to return standard errors as a second array, zeros for exact answers, instead of the warning.
        samples : int or None, default=None
            Number of chains for approximate answers.
        precision : float or None, default=None
            Largest acceptable standard error of approximate answers.
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

    @takes_evidence
    def sample(self, n_samples: int = 1, random_state: Any = None, *, evidence: Mapping[str, Any] | None = None) -> Any:
        """Draw rows from the distribution, given the evidence.

        Rows are independent and exact if a junction tree fits. Otherwise they are from Gibbs chains: close to the
        distribution and nearly independent, and an `ApproximationWarning` is issued.

        Parameters
        ----------
        n_samples : int, default=1
            Number of rows.
        random_state : int, RandomState or None, default=None
            Random seed; None means that of the learner.
        evidence : dict or None, default=None
            States of some variables, by name.

        Returns
        -------
        ndarray
            Rows that `score_samples` takes: integers if all states are integers, else text.
        """
        check_is_fitted(self)
        seed = _seed(self.random_state if random_state is None else random_state)
        rows = self.model_.sample(n_samples, evidence=evidence, seed=seed, jobs=self.n_jobs)
        if rows.notes:
            warnings.warn(" ".join(rows.notes), ApproximationWarning, stacklevel=3)
        return _values(rows)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the mean of `score_samples`, in nats per row; larger is better.

        With ``missing="drop"`` incomplete rows are left out, as in `fit`. A mean log-likelihood by an estimate of log Z
        has the standard ``error`` of that, as `MarkovNetwork.ll`.

        Parameters
        ----------
        X : table
            Rows with all columns of `fit`.
        y : object, default=None
            Ignored.
        sample_weight : array or None, default=None
            Weight of each row; None means 1.
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
        """Check names and number of columns as scikit-learn does; frames keep their types, arrays are checked."""
        X = X.collect() if "polars.LazyFrame" in class_names(X) else X
        frame = _named_columns(X) if isinstance(X, Mapping) else X
        if not _FRAMES.isdisjoint(class_names(frame)):
            check_column_names(frame)
            validate_data(self, frame, reset=reset, skip_check_array=True)
            if reset or getattr(self, "feature_names_in_", None) is not None:
                return X
            # Fitted without names, as scikit-learn has just warned of: match columns by position.
            return dict(zip(self.model_.domain.names, column_values(X), strict=True))
        # Missing values pass: mrfit's reader names the column and the row in its error.
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


def _penalty_part(choice: Any) -> PenaltySpec | None:
    if isinstance(choice, str) and choice in PENALTIES:
        return PENALTIES[choice]()
    return choice if isinstance(choice, PenaltySpec) else None


def _objective_part(choice: Any) -> ObjectiveSpec | None:
    if isinstance(choice, str):
        return OBJECTIVES[choice]() if choice in OBJECTIVES else None
    return choice if isinstance(choice, ObjectiveSpec) else None


def _coordinates_part(choice: str | type[Parameterization] | ParameterizationOptions) -> ParameterizationOptions:
    return choice if isinstance(choice, ParameterizationOptions) else ParameterizationOptions(choice)


def _covariates_part(choice: str | Sequence[str] | Covariates | None) -> Covariates | None:
    return choice if choice is None or isinstance(choice, Covariates) else Covariates(choice)


def _solver_part(choice: str | Method[Any] | SolverOptions | None) -> SolverOptions:
    return choice if isinstance(choice, SolverOptions) else SolverOptions(choice)


# The arguments that have settings of their own, and how a name becomes an object that has them.
_NESTED: dict[str, Callable[[Any], Any]] = {
    "structure": _structure_part,
    "penalty": _penalty_part,
    "objective": _objective_part,
    "parameterization": _coordinates_part,
    "covariates": _covariates_part,
    "solver": _solver_part,
}


def _covariates(choice: str | Sequence[str] | Covariates | None) -> dict[str, Any]:
    """Return the settings of covariates for a learner."""
    part = _covariates_part(choice)
    return {} if part is None else {"covariates": _names(part.columns), "covariates_on_edges": part.on_edges}


def _names(names: str | Sequence[str]) -> tuple[str, ...]:
    if not isinstance(names, Iterable):
        raise InputError(f"{names!r} is no name of a column; expected a name, or a list of them.")
    return (names,) if isinstance(names, str) else tuple(names)


def _seed(random_state: Any) -> int:
    """Return one number, from what scikit-learn accepts as random state."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError as error:
        raise InputError(
            f"random_state is {random_state!r}; expected a whole number, 0 or larger, a numpy RandomState or None."
        ) from error


def _values(rows: Dataset) -> NDArray[Any]:
    """Return rows as users see them: integers if all states are integers, else the names of states."""
    states = [np.array(variable.states, object) for variable in rows.domain]
    table = np.column_stack([own[rows.codes[:, i]] for i, own in enumerate(states)])
    is_whole = all(re.fullmatch(r"-?\d{1,18}", state) for own in states for state in own)
    return table.astype(np.int64) if is_whole else table


def _named_columns(table: Mapping[Any, Any]) -> Any:
    """Return an Arrow table without rows that has the names of the columns: scikit-learn does not support dicts."""
    import pyarrow as pa

    return pa.table({str(name): pa.array([], pa.int8()) for name in table})
