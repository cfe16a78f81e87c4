"""One fit of experiment 1 of Buchman et al. (2012): a data set, a model, and a split into equal thirds."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from mrfit import AllInteractions, Learner, LikelihoodSpec, UniqueRows
from mrfit.data.named_datasets import named_set
from mrfit.registry import PENALTIES
from mrfit_papers.spec_rows import parts_of, thirds
from mrfit_papers.unit import Unit


@dataclass(frozen=True)
class Model:
    """A parameterization with a penalty, by the paper's name; ``search`` and ``order`` limit the sets of variables."""

    name: str
    parameterization: str
    penalty: str = "l1"
    reference: str = "first"
    search: str = "hierarchical"
    order: int | None = None
    cost: float = 1.0  # relative to S with l1

    def learner(self, name: str, seed: int) -> Learner:
        """Return the learner for a data set."""
        options: dict[str, Any] = {} if self.search == "exact" else {"search": self.search}
        penalty = PENALTIES[self.penalty](**options)
        structure = AllInteractions(self.largest(name))
        return Learner(structure, penalty, LikelihoodSpec(), self.parameterization, self.reference, seed=seed)

    def largest(self, name: str) -> int | None:
        """Return the largest number of variables that sets of this model may have on a data set, if it is bounded."""
        bounds = (self.order, None if self.search == "exact" else SEARCHED_UP_TO.get(name))
        return min((bound for bound in bounds if bound is not None), default=None)


# The paper's names, in its order.
COORDINATES = {
    "I": ("ising", "first"),
    "C1": ("canonical", "first"),
    "C2": ("canonical", "last"),
    "CR": ("canonical", "random"),
    "S": ("spectral", "first"),
    "GI": ("generalized-ising", "first"),
    "F": ("full", "first"),
}
CANONICAL = ("C1", "C2", "CR")
SCALAR = ("I", *CANONICAL, "S")  # one parameter a set of variables: l1 and group penalties coincide
FLAT = ("flat l1", "flat l2", "PC")
OPTIMA = {**{f"{name}, optimum": None for name in (*CANONICAL, "S")}, "F, optimum": 3}  # with their largest sets
TOO_LONG = {("usps", f"{name}, optimum") for name in CANONICAL}  # about a minute a split

# Largest sets where the search would admit more parameters than time allows: by model, and by data set.
_BOUNDS = {"F-group": 4, "GI-h": 3, "F-h": 3}
SEARCHED_UP_TO = {"usps": 3}
_COSTS = {
    "F": 4.0,
    "GI": 2.0,
    "GI-group": 4.0,
    "F-group": 30.0,
    "F-h": 50.0,
    "GI-h": 10.0,
    "flat l1": 8.0,
    "F, optimum": 6.0,
}


def _models() -> tuple[Model, ...]:
    models = []
    for suffix, penalty in (("", "l1"), ("-group", "group"), ("-h", "hierarchical")):
        for short, (parameterization, reference) in COORDINATES.items():
            if penalty != "group" or short not in SCALAR:
                name = short + suffix
                cost = _COSTS.get(name, 3.0 if suffix else 1.0)
                order = _BOUNDS.get(name)
                models.append(Model(name, parameterization, penalty, reference, order=order, cost=cost))
    for name, penalty in zip(FLAT, ("flat-l1", "flat-l2", "pseudo-counts"), strict=True):
        models.append(Model(name, "spectral", penalty, search="exact", cost=_COSTS.get(name, 3.0)))
    for name, order in OPTIMA.items():
        parameterization, reference = COORDINATES[name.partition(",")[0]]
        cost = _COSTS.get(name, 2.0)
        models.append(Model(name, parameterization, reference=reference, search="exact", order=order, cost=cost))
    return tuple(models)


MODELS = {model.name: model for model in _models()}
SPARSE = tuple(name for name in MODELS if name not in FLAT and name not in OPTIMA)


@dataclass(frozen=True)
class SpecFit(Unit):
    """Learn from a third of the rows, select the strength on the second, and score on the last."""

    set: str
    model: str
    split: int
    seed: int = 0

    kind: ClassVar[str] = "spec-fit"

    def data(self) -> tuple[tuple[str, str], ...]:
        return parts_of(self.set)

    def learner(self) -> Learner:
        return MODELS[self.model].learner(self.set, self.seed + self.split)  # CR has another reference in every split

    def shared(self) -> Hashable:
        return self.set, self.split

    def cost(self) -> float:
        entry = named_set(self.set)
        return MODELS[self.model].cost * 1.4**entry.n_variables * math.sqrt(entry.files[0].rows)

    def describe(self) -> str:
        return f"{self.set}, {self.model}, split {self.split}"

    def run(self) -> dict[str, Any]:
        train, valid, test = _thirds(self.set, self.split, self.seed)
        fitted = self.learner().fit(train, valid, test=test)
        best, score = fitted.best, fitted.test
        assert score is not None  # of the test rows
        return {
            "test": -score.mean,
            "error": score.standard_error,
            "valid": -best.rank,
            "strength": best.strength,
            "nonzero": best.n_nonzero,
            "scopes": best.n_nonzero_scopes,
            "by_order": {str(order): count for order, count in best.nonzero_by_order.items()},
            "fits": len(fitted.fits),
            "converged": sum(fit.solution.converged for fit in fitted.fits),
            "gap": max(fit.solution.gap or 0.0 for fit in fitted.fits),
        }


@lru_cache(maxsize=1)
def _thirds(name: str, split: int, seed: int) -> tuple[UniqueRows, UniqueRows, UniqueRows]:
    return thirds(name, split, seed=seed)
