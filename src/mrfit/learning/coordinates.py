"""The parameters to be learned, as the objective sees them and as the model will."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from mrfit.counts.conditional_cells import ConditionalCells
from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.joint_states import JointStates, plan_joint_states
from mrfit.objectives.likelihood import Likelihood
from mrfit.objectives.objective import Objective
from mrfit.objectives.pseudo_likelihood import PseudoLikelihood
from mrfit.objectives.reparameterized import Reparameterized
from mrfit.objectives.row_scores import conditional_scores, row_pll
from mrfit.parameterizations.joint import Listed
from mrfit.parameterizations.joint_choice import joint_of
from mrfit.parameterizations.parameterization import Parameterization

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class Coordinates(ABC):
    """A vector of parameters of some kind, whichever order it has."""

    parameters: Parameterization
    n_parameters: int

    @property
    @abstractmethod
    def orders(self) -> NDArray[np.integer]:
        """Size of the scope of each parameter."""

    @abstractmethod
    def scopes(self) -> Indices:
        """Number of the scope of each parameter."""

    @abstractmethod
    def objective(self, rows: UniqueRows) -> Objective: ...

    @abstractmethod
    def row_scores(self, w: Floats, rows: UniqueRows) -> Floats:
        """What is maximised, for every distinct row."""

    @abstractmethod
    def mean_pll(self, w: Floats, rows: UniqueRows) -> float:
        """Mean pseudo-log-likelihood of the rows."""

    @abstractmethod
    def singles(self) -> list[Indices]:
        """For every variable with a scope of its own, the numbers of its parameters; none for the others."""

    @abstractmethod
    def in_model(self, w: Floats) -> tuple[Parameterization, Indices]:
        """The parameterization of the model, and which of these parameters it has."""


class PseudoCoordinates(Coordinates):
    """Parameters of a structure, for the pseudo-likelihood."""

    def __init__(self, parameters: Parameterization, *, jobs: int = 1) -> None:
        self.parameters, self.jobs = parameters, jobs
        self.n_parameters = parameters.n_parameters

    @property
    def orders(self) -> NDArray[np.integer]:
        return self.parameters.order_of_parameter

    def scopes(self) -> Indices:
        return self.parameters.scope_of_parameter

    def objective(self, rows: UniqueRows) -> Objective:
        canonical = self.parameters.canonical
        objective = PseudoLikelihood(ConditionalCells.count(rows, canonical, jobs=self.jobs), jobs=self.jobs)
        return objective if canonical is self.parameters else Reparameterized(objective, self.parameters.canonical_map)

    def row_scores(self, w: Floats, rows: UniqueRows) -> Floats:
        return row_pll(self.parameters, w, rows.codes, jobs=self.jobs)

    def mean_pll(self, w: Floats, rows: UniqueRows) -> float:
        return float(rows.sample_weight @ self.row_scores(w, rows)) / rows.total_weight

    def singles(self) -> list[Indices]:
        return self.parameters.singles()

    def in_model(self, w: Floats) -> tuple[Parameterization, Indices]:
        return self.parameters, np.arange(self.n_parameters)


class ExactCoordinates(Coordinates):
    """Parameters of a structure or of all sets of variables, for the exact likelihood.

    ``listed`` keeps the order of the parameterization also where all sets of variables could stand, leaner, in the
    order of the joint states; ``keep_zeros`` keeps scopes in the model whose parameters are all zero.
    """

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

    def objective(self, rows: UniqueRows) -> Likelihood:
        return Likelihood(self.joint, rows, jobs=self.jobs)

    def row_scores(self, w: Floats, rows: UniqueRows) -> Floats:
        log_p = self.states.log_probabilities(w)
        return np.asarray(log_p[self.joint.base.positions(rows.codes)], np.float64)

    def mean_pll(self, w: Floats, rows: UniqueRows) -> float:
        log_p = self.states.log_probabilities(w)
        return float(rows.sample_weight @ conditional_scores(self.joint.base, log_p, rows.codes)) / rows.total_weight

    def singles(self) -> list[Indices]:
        return self.joint.singles()

    def in_model(self, w: Floats) -> tuple[Parameterization, Indices]:
        return (self.parameters, np.arange(self.n_parameters)) if self.keep_zeros else self.joint.pruned(w)
