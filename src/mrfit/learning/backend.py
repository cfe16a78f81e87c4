"""The parameters to be learned, as the objective sees them and as the model will."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats, Indices
from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.exact.enumeration import Enumeration
from mrfit.inference.exact.joint_states import JointStates, plan_joint_states
from mrfit.inference.exact.junction_tree import JunctionTree
from mrfit.inference.exact.tree_plan import TreePlan
from mrfit.inference.exact.tree_states import TreeStates
from mrfit.learning.partitioned_rows import PartedRows, Rows, together
from mrfit.objectives.chow_liu_closed_form import forest_parameters
from mrfit.objectives.conditional_loss import ConditionalLoss
from mrfit.objectives.counts.conditional_cells import ConditionalCells
from mrfit.objectives.feature_covariance import observed_covariance
from mrfit.objectives.gradient_products import (
    likelihood_gradient_sums,
    pseudo_gradient_products,
    pseudo_gradient_sums,
)
from mrfit.objectives.hessian import Matrix
from mrfit.objectives.likelihood import Likelihood
from mrfit.objectives.objective import Objective
from mrfit.objectives.pseudo_likelihood import PseudoLikelihood
from mrfit.objectives.reparameterized import Reparameterized
from mrfit.objectives.row_scores import conditional_scores, row_pll
from mrfit.objectives.tree_likelihood import TreeLikelihood
from mrfit.parameterizations.joint import Listed
from mrfit.parameterizations.joint_choice import joint_of
from mrfit.parameterizations.parameterization import Parameterization
from mrfit.solvers.lbfgs import LBFGS
from mrfit.solvers.method import Method
from mrfit.solvers.newton import TruncatedNewton
from mrfit.solvers.proximal_newton import ProximalNewton

# A parameter that nothing penalises and whose feature never (or always) occurs has no finite optimum. It is held
# where its conditional probability is exp(-30) = 1e-13: as good as never, and still a number.
HELD_AT = 30.0


class LogZRecord(TypedDict):
    """An estimate of log Z, its standard error, and how far learning has left to go, in nats a row."""

    value: float
    error: float
    learning_error: float


class Backend(ABC):
    """A vector of parameters as an objective sees it, whichever order it has."""

    parameters: Parameterization
    n_parameters: int

    log_z: LogZRecord | None = None  # where it is an estimate
    engine: str | None = None  # by which whole rows get their probability, if they do
    smooth_solver: Method[Any] = TruncatedNewton()
    gap_tolerance_factor: float = 1e-3  # of the tolerance, to which a duality gap is brought
    sparse_solver: Method[Any] | None = None  # for penalties with kinks; None: each has its own

    @property
    @abstractmethod
    def orders(self) -> NDArray[np.integer]:
        """Size of the scope of each parameter, not counting covariates."""

    @abstractmethod
    def scopes(self) -> Indices:
        """Number of the scope of each parameter."""

    @abstractmethod
    def objective(self, rows: Rows) -> Objective:
        """Return the objective over the rows."""

    @abstractmethod
    def row_scores(self, w: Floats, rows: UniqueRows) -> Floats:
        """Return the score that is maximised for every distinct row, in nats.

        Parameters
        ----------
        w : ndarray
            Parameters.
        rows : UniqueRows
            The rows.
        """

    @abstractmethod
    def gradient_products(self, w: Floats, rows: Rows) -> Floats:
        """Return the mean over rows of the outer products of their own gradients, shape (parameters, parameters).

        Parameters
        ----------
        w : ndarray
            Parameters.
        rows : UniqueRows
            The rows.
        """

    @abstractmethod
    def gradient_sums(self, w: Floats, rows: UniqueRows, weights: Floats) -> Floats:
        """Return sums of the rows' gradients with other weights, shape (resamples, parameters).

        Parameters
        ----------
        w : ndarray
            Parameters.
        rows : UniqueRows
            The rows.
        weights : ndarray
            Weights of the rows in each resample, shape (resamples, rows).
        """

    @abstractmethod
    def mean_pll(self, w: Floats, rows: Rows) -> float:
        """Return the mean pseudo-log-likelihood of the rows, in nats per row.

        Parameters
        ----------
        w : ndarray
            Parameters.
        rows : UniqueRows
            The rows.
        """

    @abstractmethod
    def singles(self) -> list[Indices]:
        """Return the numbers of each variable's own parameters; none for a variable without a scope of its own."""

    def near_optimum(self, rows: Rows) -> Floats | None:
        """Return a point near the optimum under a weak penalty, if one is cheap; else None."""
        return None

    def start_and_bound(
        self, rows: Rows, penalized: NDArray[np.bool_], *, smooth: bool = False
    ) -> tuple[Floats, Floats]:
        """Return where fits start, and the largest absolute value of every parameter.

        They start at zero, and free parameters of single variables at log p(x_i), their optimum if all else is zero.

        A state that never occurs is taken as exp(-30) times as likely as the reference, or as the commonest state where
        no reference occurs. The value of a free parameter at such odds is its bound.

        Under a ``smooth`` penalty on all interactions, a variable whose states all occur has an optimum and needs no
        bound: beside strong interactions it may lie far out (pumsb_star: 60). Other penalties need a bound for their
        duality gap.

        Parameters
        ----------
        rows : UniqueRows
            The rows.
        penalized : ndarray of bool
            Whether each parameter is penalised.
        smooth : bool, default=False
            Whether the penalty is smooth.
        """
        w = np.zeros(self.n_parameters)
        bound = np.where(penalized, np.inf, HELD_AT)
        of_several = penalized[self.orders > 1]
        finite = smooth and len(of_several) > 0 and bool(of_several.all())
        for variable, mine in enumerate(self.singles()):
            if not len(mine) or penalized[mine[0]]:
                continue
            weight = rows.state_weights[variable]
            w[mine], bound[mine] = _independent(self.parameters.features((variable,)), weight)
            if finite and (weight > 0).all():
                bound[mine] = np.inf
        return w, bound

    @abstractmethod
    def to_model(self, w: Floats) -> tuple[Parameterization, Indices]:
        """Return the parameterization of the model, and which of these parameters it has."""


class ListedCoordinates(Backend):
    """Parameters of a structure in the order of their parameterization."""

    def __init__(self, parameters: Parameterization, *, jobs: int = 1) -> None:
        self.parameters, self.jobs = parameters, jobs
        self.n_parameters = parameters.n_parameters

    @property
    def orders(self) -> NDArray[np.integer]:
        return self.parameters.order_without_covariates

    def scopes(self) -> Indices:
        return self.parameters.scope_of_parameter

    def mean_pll(self, w: Floats, rows: Rows) -> float:
        if isinstance(rows, PartedRows):
            return rows.mean_pll(self.parameters, w)
        scores = rows.scored(lambda codes: row_pll(self.parameters, w, codes, jobs=self.jobs))
        return float(rows.sample_weight @ scores) / rows.total_weight

    def singles(self) -> list[Indices]:
        return self.parameters.singles()


class PseudoLikelihoodBackend(ListedCoordinates):
    """Evaluation of the pseudo-likelihood, or of another loss of each variable given all others.

    Parameters
    ----------
    parameters : Parameterization
        The coordinates of the model.
    loss : type of ConditionalLoss, default=PseudoLikelihood
        The loss of one variable given all others.
    keep_zeros : bool, default=False
        Whether parameters of the model that are zero are stored.
    jobs : int, default=1
        Number of threads.

    See Also
    --------
    PseudoLikelihoodSpec : Makes this backend.

    Examples
    --------
    >>> from mrfit import Structure, UniqueRows
    >>> from mrfit.objectives import PseudoLikelihoodBackend
    >>> from mrfit.parameterizations import Canonical
    >>> rows = UniqueRows.of({"a": [0, 1, 1, 0], "b": [0, 1, 0, 0]})
    >>> backend = PseudoLikelihoodBackend(Canonical(rows.domain, Structure.complete(2)))
    >>> backend.objective(rows).n_cells
    4
    """

    def __init__(
        self,
        parameters: Parameterization,
        *,
        loss: type[ConditionalLoss] = PseudoLikelihood,
        keep_zeros: bool = False,
        jobs: int = 1,
    ) -> None:
        super().__init__(parameters, jobs=jobs)
        self.loss, self.keep_zeros = loss, keep_zeros

    def objective(self, rows: Rows) -> Objective:
        canonical = self.parameters.canonical
        if isinstance(rows, PartedRows):
            objective = rows.objective(self.loss, canonical, jobs=self.jobs)
        else:
            objective = self.loss(ConditionalCells.count(rows, canonical, jobs=self.jobs), jobs=self.jobs)
        return objective if canonical is self.parameters else Reparameterized(objective, self.parameters.canonical_map)

    def row_scores(self, w: Floats, rows: UniqueRows) -> Floats:
        return rows.scored(lambda codes: row_pll(self.parameters, w, codes, jobs=self.jobs))

    def gradient_products(self, w: Floats, rows: Rows) -> Floats:
        own = self.parameters
        if isinstance(rows, PartedRows):
            products = rows.gradient_products(own.canonical, own.to_canonical(w))
        else:
            products = pseudo_gradient_products(own.canonical, own.to_canonical(w), rows)
        return products if own.canonical is own else Matrix(products).through(own.canonical_map.T.tocsr()).entries

    def gradient_sums(self, w: Floats, rows: UniqueRows, weights: Floats) -> Floats:
        own = self.parameters
        sums = pseudo_gradient_sums(own.canonical, own.to_canonical(w), rows, weights)
        return sums if own.canonical is own else np.asarray(sums @ own.canonical_map, np.float64)

    def to_model(self, w: Floats) -> tuple[Parameterization, Indices]:
        pruned, numbers = self.parameters.pruned(w)
        is_whole = self.keep_zeros or len(numbers) == self.n_parameters
        return (self.parameters, np.arange(self.n_parameters)) if is_whole else (pruned, numbers)


class TreeCoordinates(ListedCoordinates):
    """Parameters of an exact likelihood on a junction tree; ``plan`` is the plan for these parameters.

    ``keep_zeros`` keeps scopes in the model whose parameters are all zero.
    """

    engine = JunctionTree.word
    smooth_solver = LBFGS(memory=50)  # pairs cost little beside an evaluation
    gap_tolerance_factor = 1.0  # without the true Hessian the end is slow
    sparse_solver = ProximalNewton()

    def __init__(
        self, parameters: Parameterization, plan: TreePlan, *, keep_zeros: bool = False, jobs: int = 1
    ) -> None:
        super().__init__(parameters, jobs=jobs)
        self.states, self.keep_zeros = TreeStates(parameters, plan), keep_zeros

    def objective(self, rows: Rows) -> TreeLikelihood:
        return TreeLikelihood(self.states, together(rows), jobs=self.jobs)

    def near_optimum(self, rows: Rows) -> Floats | None:
        return forest_parameters(self.parameters, together(rows))

    def row_scores(self, w: Floats, rows: UniqueRows) -> Floats:
        return self.states.log_potentials(w, rows) - self.states.log_z(w)

    def gradient_products(self, w: Floats, rows: Rows) -> Floats:
        rows = together(rows)
        _, gradient = self.objective(rows).value_and_gradient(w)
        return observed_covariance(self.states, rows, np.arange(rows.n_distinct)) + np.outer(gradient, gradient)

    def gradient_sums(self, w: Floats, rows: UniqueRows, weights: Floats) -> Floats:
        _, gradient = self.objective(rows).value_and_gradient(w)
        return likelihood_gradient_sums(self.parameters, gradient, rows, weights)

    def to_model(self, w: Floats) -> tuple[Parameterization, Indices]:
        return (self.parameters, np.arange(self.n_parameters)) if self.keep_zeros else self.parameters.pruned(w)


class ExactCoordinates(Backend):
    """Parameters of a structure or of all sets of variables, for the exact likelihood over all joint states.

    ``listed`` keeps the order of the parameterization also where all sets of variables could stand, leaner, in the
    order of the joint states; ``keep_zeros`` keeps scopes in the model whose parameters are all zero.
    """

    engine = Enumeration.word
    sparse_solver = ProximalNewton()

    def __init__(
        self, parameters: Parameterization, *, listed: bool = False, keep_zeros: bool = False, jobs: int = 1
    ) -> None:
        plan_joint_states(parameters.domain.shape).check()
        self.parameters, self.keep_zeros, self.jobs = parameters, keep_zeros, jobs
        self.joint = Listed(parameters) if listed or keep_zeros else joint_of(parameters)
        self.states = JointStates(self.joint, jobs=jobs)
        self.n_parameters = self.joint.n_parameters

    @property
    def orders(self) -> NDArray[np.integer]:
        return self.joint.orders

    def scopes(self) -> Indices:
        return self.joint.scopes

    def objective(self, rows: Rows) -> Likelihood:
        return Likelihood(self.joint, together(rows), jobs=self.jobs)

    def row_scores(self, w: Floats, rows: UniqueRows) -> Floats:
        log_p = self.states.log_probabilities(w)
        return np.asarray(log_p[self.joint.base.positions(rows.codes)], np.float64)

    def gradient_products(self, w: Floats, rows: Rows) -> Floats:
        return self.objective(rows).gradient_products(w)

    def gradient_sums(self, w: Floats, rows: UniqueRows, weights: Floats) -> Floats:
        _, gradient = self.objective(rows).value_and_gradient(w)
        return likelihood_gradient_sums(self.parameters, gradient, rows, weights)

    def mean_pll(self, w: Floats, rows: Rows) -> float:
        rows = together(rows)
        log_p = self.states.log_probabilities(w)
        return float(rows.sample_weight @ conditional_scores(self.joint.base, log_p, rows.codes)) / rows.total_weight

    def singles(self) -> list[Indices]:
        return self.joint.singles()

    def to_model(self, w: Floats) -> tuple[Parameterization, Indices]:
        return (self.parameters, np.arange(self.n_parameters)) if self.keep_zeros else self.joint.pruned(w)


def _independent(features: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return the parameters of a variable without neighbours from the weights of its states, and their bounds."""
    features = np.hstack([features, np.ones((len(weight), 1))])
    silent = np.flatnonzero((features[:, :-1] == 0).all(axis=1))
    anchor = silent[0] if len(silent) and weight[silent[0]] > 0 else int(weight.argmax())
    table = np.full(len(weight), np.log(weight[anchor]) - HELD_AT)
    table[weight > 0] = np.log(weight[weight > 0])
    never = np.linalg.lstsq(features, -HELD_AT * np.eye(len(weight)), rcond=None)[0][:-1]
    bound = np.round(np.abs(never).max(axis=1), 9)
    values = np.linalg.lstsq(features, table, rcond=None)[0][:-1]
    return np.where(np.abs(values) > bound - 1e-9, np.sign(values) * bound, values), bound
