"""One spectrum of experiment 2 of Buchman et al. (2012), and the cost of ignoring large sets of variables."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, ClassVar

from mrfit import L1, AllInteractions, Learner, LikelihoodSpec, interaction_spectrum
from mrfit.analysis.spectrum.interaction_spectrum import ESTIMATORS, order_costs
from mrfit.data.named_datasets import named_set
from mrfit_papers.spec_rows import all_rows, parts_of
from mrfit_papers.unit import Unit

FOLDS = 10


@dataclass(frozen=True)
class SpecSpectrum(Unit):
    """The spectral parameters of a data set by one estimator, with its strength by cross-validation."""

    set: str
    estimator: str
    seed: int = 0

    kind: ClassVar[str] = "spec-spectrum"

    def data(self) -> tuple[tuple[str, str], ...]:
        return parts_of(self.set)

    def learners(self) -> tuple[Learner, ...]:
        return (Learner(AllInteractions(None), ESTIMATORS[self.estimator](), LikelihoodSpec(), "spectral"),)

    def shared(self) -> Hashable:
        return self.set

    def cost(self) -> float:
        return (5.0 if self.estimator == "flat-l1" else 1.0) * 2.0 ** named_set(self.set).n_variables

    def describe(self) -> str:
        return f"{self.set}, {self.estimator}"

    def run(self) -> dict[str, Any]:
        found = interaction_spectrum(all_rows(self.set), self.estimator, folds=FOLDS, seed=self.seed)
        return {
            "strength": found.strength,
            "held_out": -found.held_out,
            "fold_scores": [-score for score in found.fit.fold_scores],
            "nonzero": found.fit.n_nonzero,
            "sets": [size.n_scopes for size in found.sizes],
            "means": [size.mean for size in found.sizes],
            "densities": [size.density for size in found.sizes],
            "converged": found.fit.solution.converged,
            "gap": found.fit.solution.gap or 0.0,
        }


@dataclass(frozen=True)
class SpecOrders(Unit):
    """Held-out scores of sets of up to 1, 2, ... variables, by l1 in spectral coordinates on the same folds."""

    set: str
    seed: int = 0

    kind: ClassVar[str] = "spec-orders"

    def data(self) -> tuple[tuple[str, str], ...]:
        return parts_of(self.set)

    def learners(self) -> tuple[Learner, ...]:
        return (Learner(AllInteractions(None), L1(), LikelihoodSpec(), "spectral"),)

    def shared(self) -> Hashable:
        return self.set

    def cost(self) -> float:
        return 4.0 * 2.0 ** named_set(self.set).n_variables

    def describe(self) -> str:
        return f"{self.set}, sets of up to so many variables"

    def run(self) -> dict[str, Any]:
        costs = order_costs(all_rows(self.set), folds=FOLDS, seed=self.seed)
        return {
            "orders": [cost.order for cost in costs],
            "strengths": [cost.strength for cost in costs],
            "nonzero": [cost.n_nonzero for cost in costs],
            "held_out": [-cost.held_out for cost in costs],
            "losses": [cost.loss for cost in costs],
            "errors": [cost.standard_error for cost in costs],
        }
