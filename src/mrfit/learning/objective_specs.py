"""Objectives as users choose them: pseudo-likelihood, likelihood, or minus a screening loss."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats
from mrfit.core.errors import InputError
from mrfit.core.errors import listed as listed_words
from mrfit.core.factors import Factors
from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.engine import AUTO
from mrfit.inference.engine_selection import exactly_planned
from mrfit.inference.exact.enumeration import Enumeration
from mrfit.inference.exact.joint_states import plan_joint_states
from mrfit.inference.exact.junction_tree import JunctionTree
from mrfit.inference.exact.tree_plan import TreePlan
from mrfit.inference.exact.tree_states import plan_tree_states
from mrfit.inference.plan import Plan
from mrfit.learning.backend import Backend, ExactCoordinates, PseudoLikelihoodBackend, TreeCoordinates
from mrfit.learning.chain_backend import CHAINS, ChainCoordinates
from mrfit.learning.chains.log_z_estimate import evidence
from mrfit.learning.covariate_likelihood import ConditionalCoordinates, without_covariates
from mrfit.objectives.conditional_loss import ConditionalLoss
from mrfit.objectives.pseudo_likelihood import PseudoLikelihood
from mrfit.objectives.row_scores import row_ll, row_pll
from mrfit.objectives.screening import InteractionScreening, LogInteractionScreening
from mrfit.parameterizations.parameterization import Parameterization

if TYPE_CHECKING:
    from mrfit.model.markov_network import MarkovNetwork


EXACT = "exact"
ENGINES = (AUTO, EXACT, Enumeration.word, JunctionTree.word, CHAINS)

_MOST_NEIGHBOURS = 32  # a clique of them and one more has 2**33 states or more, beyond the limit of a tree
_LONG = 1.0  # seconds of an evaluation, of which a fit takes some dozens, beyond which chains are taken
_WORTH_A_TREE = 4.0  # times faster: products and blocks of the Hessian are cheaper where all joint states are known
_MOST_PARAMETERS = 1e8  # 0.8 GB for each of the dozen vectors of a solver


@dataclass(frozen=True)
class ObjectiveSpec(ABC):
    """Base class of objectives as users choose them.

    It makes the coordinates of a problem, and scores rows under a model by what was maximised.

    Attributes
    ----------
    word : str
        Class variable: the name at the command line, in JSON and in saved models.
    measure : str
        Class variable: the name of its score, ``pll`` or ``ll``.
    is_joint : bool
        Class variable: whether it is the probability of whole rows.
    is_score : bool
        Class variable: whether its score is what it maximises.
    results_version : int
        Class variable: raise it when the same rows lead to other optima.

    See Also
    --------
    mrfit.objectives.Objective : The function of the parameters.

    Examples
    --------
    >>> from mrfit import LikelihoodSpec
    >>> from mrfit.objectives import ObjectiveSpec, PseudoLikelihoodSpec
    >>> isinstance(LikelihoodSpec(), ObjectiveSpec), PseudoLikelihoodSpec().measure
    (True, 'pll')
    """

    word: ClassVar[str]
    measure: ClassVar[str]  # the name of its score
    is_joint: ClassVar[bool]  # whether it is the probability of whole rows
    is_score: ClassVar[bool] = True  # whether its score is what it maximises
    results_version: ClassVar[int] = 1  # raise it when the same rows lead to other optima, or to other scores

    @abstractmethod
    def coordinates(self, parameters: Parameterization, *, listed: bool, keep_zeros: bool, jobs: int) -> Backend:
        """Return the backend that evaluates the objective; problems that are too large are refused.

        Parameters
        ----------
        parameters : Parameterization
            The coordinates of the model.
        listed : bool
            Whether the scopes must be listed one by one.
        keep_zeros : bool
            Whether parameters of the model that are zero are stored.
        jobs : int
            Number of threads.
        """

    def joint_plan(self, shape: tuple[int, ...]) -> Plan | None:
        """Return the plan of a pass over all joint states, if the objective may need one; else None."""
        return None

    @abstractmethod
    def row_scores(self, model: MarkovNetwork, rows: UniqueRows, jobs: int) -> Floats:
        """Return the score of every distinct row, in nats.

        Parameters
        ----------
        model : MarkovNetwork
            The model.
        rows : UniqueRows
            The rows.
        jobs : int
            Number of threads.
        """

    def score_table(self, model: MarkovNetwork, table: Any, jobs: int | None) -> Floats:
        """Score every row of a table in its order; refused if the score cannot be computed exactly.

        Parameters
        ----------
        model : MarkovNetwork
            The model.
        table : table
            Any table that has the columns of the model.
        jobs : int or None
            Number of threads; None for all processors.
        """
        return getattr(model, f"{self.measure}_rows")(table, jobs=jobs)  # type: ignore[no-any-return]

    @abstractmethod
    def check_finite(self, rows: UniqueRows, coordinates: Backend, penalized: NDArray[np.bool_]) -> None:
        """Refuse problems without any maximum, as opposed to a maximum that some parameters lack.

        Parameters
        ----------
        rows : UniqueRows
            The rows.
        coordinates : Backend
            The backend, from `coordinates`.
        penalized : ndarray of bool
            Whether each parameter is penalised.
        """


@dataclass(frozen=True)
class PseudoLikelihoodSpec(ObjectiveSpec):
    """Pseudo-likelihood: the product of the probability of every variable given all others (Besag 1975).

    The default objective. Its cost does not depend on log Z, so it suits any number of variables. Its word is
    ``pseudo-likelihood``.

    See Also
    --------
    mrfit.LikelihoodSpec : The probability of whole rows.

    Examples
    --------
    >>> from mrfit import Learner
    >>> from mrfit.objectives import PseudoLikelihoodSpec
    >>> Learner().objective == PseudoLikelihoodSpec()
    True
    """

    word: ClassVar[str] = "pseudo-likelihood"
    measure: ClassVar[str] = "pll"
    is_joint: ClassVar[bool] = False
    loss: ClassVar[type[ConditionalLoss]] = PseudoLikelihood

    def coordinates(self, parameters: Parameterization, *, listed: bool, keep_zeros: bool, jobs: int) -> Backend:
        _check_number(parameters.n_parameters)
        return PseudoLikelihoodBackend(parameters, loss=self.loss, keep_zeros=keep_zeros, jobs=jobs)

    def row_scores(self, model: MarkovNetwork, rows: UniqueRows, jobs: int) -> Floats:
        return rows.scored(lambda codes: row_pll(model.parameters, model.w, codes, jobs=jobs))

    def check_finite(self, rows: UniqueRows, coordinates: Backend, penalized: NDArray[np.bool_]) -> None:
        """Parameters without a maximum are held at a bound, one by one."""


@dataclass(frozen=True)
class RiseSpec(PseudoLikelihoodSpec):
    """Interaction screening objective (RISE; Vuffray et al. 2016).

    Rows are scored by the pseudo-likelihood. Its word is ``rise``.

    See Also
    --------
    LogRiseSpec : Maximises minus the logarithm of the loss.

    Examples
    --------
    >>> from mrfit import L1, Learner
    >>> from mrfit.objectives import RiseSpec
    >>> Learner(penalty=L1(), objective=RiseSpec())
    <Learner: all pairs, l1, rise>
    """

    word: ClassVar[str] = "rise"
    is_score: ClassVar[bool] = False
    loss: ClassVar[type[ConditionalLoss]] = InteractionScreening


@dataclass(frozen=True)
class LogRiseSpec(RiseSpec):
    """Logarithmic interaction screening objective (logRISE; Lokhov et al. 2018).

    It maximises minus the sum over variables of the logarithm of the interaction screening loss. Its word is
    ``log-rise``.

    See Also
    --------
    RiseSpec : Maximises minus the loss itself.

    Examples
    --------
    >>> from mrfit import L1, Learner
    >>> from mrfit.objectives import LogRiseSpec
    >>> Learner(penalty=L1(), objective=LogRiseSpec())
    <Learner: all pairs, l1, log-rise>
    """

    word: ClassVar[str] = "log-rise"
    loss: ClassVar[type[ConditionalLoss]] = LogInteractionScreening


@dataclass(frozen=True)
class LikelihoodSpec(ObjectiveSpec):
    """Likelihood: the probability of whole rows.

    Choose it for density estimation, for few variables (about 24 binary ones at most) or sparse structures. Scores are
    then log-likelihoods, ``ll``, in nats per row. See the how-to page on maximum likelihood.

    Parameters
    ----------
    engine : {"auto", "exact", "enumeration", "tree", "chains"}, default="auto"
        ``enumeration`` of all joint states, for few variables; ``tree``, a junction tree, for sparse structures;
        ``chains``, persistent Gibbs chains, for any structure (canonical parameters, with `L2`, `L1`, `GroupLasso` or
        tying). ``exact`` takes the exact engine with the shorter forecast. ``auto`` does so too, but takes chains if no
        exact engine would finish soon.

    See Also
    --------
    mrfit.objectives.PseudoLikelihoodSpec : The default objective.

    Examples
    --------
    >>> from mrfit import LikelihoodSpec, learn
    >>> table = {"smokes": ["yes", "yes", "no", "no"] * 25, "coughs": ["yes", "no", "no", "no"] * 25}
    >>> learn(table, objective=LikelihoodSpec("exact")).engine
    'enumeration'
    """

    engine: str = AUTO

    word: ClassVar[str] = "likelihood"
    measure: ClassVar[str] = "ll"
    is_joint: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.engine not in ENGINES:
            raise InputError(f"The likelihood has no engine {self.engine!r}; choose one of {listed_words(ENGINES)}.")

    def coordinates(self, parameters: Parameterization, *, listed: bool, keep_zeros: bool, jobs: int) -> Backend:
        if parameters.covariate_indices:
            return self._given_covariates(parameters, jobs=jobs)
        if self.engine == CHAINS or (self.engine == AUTO and _is_far_too_dense(parameters)):
            return ChainCoordinates(parameters, keep_zeros=keep_zeros, jobs=jobs)
        plan = self._tree(parameters)
        if plan is None:
            return ExactCoordinates(parameters, listed=listed, keep_zeros=keep_zeros, jobs=jobs)
        if self.engine == AUTO and not (plan.fits and plan.forecast < _LONG):
            return ChainCoordinates(parameters, keep_zeros=keep_zeros, jobs=jobs)
        return TreeCoordinates(parameters, plan, keep_zeros=keep_zeros, jobs=jobs)

    def _given_covariates(self, parameters: Parameterization, *, jobs: int) -> Backend:
        """Exact in every state of the covariates."""
        if self.engine == CHAINS:
            raise InputError("Chains do not know covariates; use the engine exact, or the pseudo-likelihood.")
        exact = replace(self, engine=EXACT) if self.engine == AUTO else self
        left = without_covariates(parameters)
        inner = exact.coordinates(left, listed=True, keep_zeros=True, jobs=jobs)
        return ConditionalCoordinates(parameters, inner, jobs=jobs)

    def joint_plan(self, shape: tuple[int, ...]) -> Plan | None:
        plan = plan_joint_states(shape)
        possible = self.engine == Enumeration.word or (self._goes_by_forecast and plan.fits)
        return plan if possible else None

    @property
    def _goes_by_forecast(self) -> bool:
        """Whether the exact engine is not named."""
        return self.engine in (AUTO, EXACT)

    def _tree(self, parameters: Parameterization) -> TreePlan | None:
        """The plan of a junction tree, unless all joint states are to be gone through."""
        everything = plan_joint_states(parameters.domain.shape)
        if self.engine == Enumeration.word or (self._goes_by_forecast and parameters.structure.is_saturated):
            return None
        if parameters.structure.is_saturated:
            raise InputError(
                "All sets of variables make one clique, in which a junction tree has nothing to gain. Use the engine "
                "enumeration, or a lower order."
            )
        _check_number(parameters.n_parameters)
        plan = plan_tree_states(parameters)
        if self._goes_by_forecast and everything.fits:
            return plan if plan.fits and _WORTH_A_TREE * plan.forecast < everything.forecast else None
        return plan

    def row_scores(self, model: MarkovNetwork, rows: UniqueRows, jobs: int) -> Floats:
        """Return the log-likelihood of every row: by the log Z of the fit, an exact engine, or annealing."""
        if model.covariates:
            return row_ll(model.parameters, model.w, rows.codes, jobs=jobs)
        factors = model.parameters.to_factors(model.w) if model.known_log_z is None else None
        if factors is None or _fits(factors):
            return row_ll(model.parameters, model.w, rows.codes, jobs=jobs, log_z=model.known_log_z)
        codes = rows.codes.astype(np.int64)
        return factors.log_potential(codes) - evidence(factors, codes, jobs=jobs).log_z

    def check_finite(self, rows: UniqueRows, coordinates: Backend, penalized: NDArray[np.bool_]) -> None:
        if rows.n_distinct == 1 and not penalized.all():
            raise InputError(
                "All rows are the same, so the likelihood grows without end as unpenalised parameters do. Use other "
                "rows, or a penalty that leaves no scope size free, such as l2 with free orders ''."
            )
        saturated, n_states = coordinates.parameters.structure.is_saturated, prod(rows.domain.shape)
        if not penalized.any() and saturated and rows.n_distinct < n_states:
            raise InputError(
                f"Only {rows.n_distinct:,} of {n_states:,} joint states occur in the rows; without a "
                "penalty, and with all sets of variables, the others get probability zero, which no parameters "
                "express. Use a penalty or a lower order."
            )


PSEUDO_LIKELIHOOD = PseudoLikelihoodSpec()
RISE = RiseSpec()
LOG_RISE = LogRiseSpec()
LIKELIHOOD = LikelihoodSpec()
JUDGES: dict[str, ObjectiveSpec] = {choice.measure: choice for choice in (LIKELIHOOD, PSEUDO_LIKELIHOOD)}


def _is_far_too_dense(parameters: Parameterization) -> bool:
    """Whether no exact engine could fit, whatever the order: the first variable to go leaves all its neighbours joined.

    To look for an order would take minutes where thousands of variables all interact.
    """
    structure = parameters.structure
    if structure.is_saturated or plan_joint_states(parameters.domain.shape).fits:
        return False
    return bool(structure.degrees.min() > _MOST_NEIGHBOURS)


def _fits(factors: Factors) -> bool:
    _, plan = exactly_planned(factors)
    return plan.fits and plan.forecast < _LONG


def _check_number(n_parameters: int) -> None:
    if n_parameters > _MOST_PARAMETERS:
        raise InputError(
            f"The model has {n_parameters:.3g} parameters, {8e-9 * n_parameters:.2g} GB for each copy of them; the "
            f"limit is {_MOST_PARAMETERS:.0e}. Use a sparser structure, or columns with fewer states."
        )
