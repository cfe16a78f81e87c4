"""Parameter estimates of a model with standard errors, intervals and Wald tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mrfit.core.errors import InputError
from mrfit.model.markov_network import MarkovNetwork
from mrfit.model.standard_error_estimates import StandardErrors
from mrfit.model.wald import WaldTest


@dataclass(frozen=True)
class ParameterEstimate:
    """A parameter with its standard error and interval, NaN where it has no finite optimum."""

    name: str
    order: int
    value: float
    error: float
    low: float
    high: float


@dataclass(frozen=True)
class ErrorsSummary:
    """``estimates`` in the order of the model; ``tests`` of sets of variables, the smallest p first."""

    errors: StandardErrors
    level: float
    estimates: tuple[ParameterEstimate, ...]
    tests: tuple[WaldTest, ...]

    @classmethod
    def of(cls, model: MarkovNetwork, *, level: float = 0.95) -> ErrorsSummary:
        if model.errors is None:
            raise InputError("The model has no standard errors; fit it again with --errors sandwich.")
        columns = zip(
            model.parameters.names(), model.parameters.order_of_parameter.tolist(), model.w.tolist(),
            model.errors.standard_errors.tolist(), *model.intervals(level).T.tolist(), strict=True,
        )  # fmt: skip
        return cls(model.errors, level, tuple(ParameterEstimate(*each) for each in columns), model.wald_tests())

    def strongest(self, count: int, *, order: int) -> list[ParameterEstimate]:
        """Return the largest estimates in absolute value; see `MarkovNetwork.strongest`."""
        chosen = [each for each in self.estimates if each.order == order and each.value != 0]
        return sorted(chosen, key=lambda each: -abs(each.value))[:count]

    @property
    def n_without(self) -> int:
        """Parameters without a finite optimum, and so without an error."""
        return sum(np.isnan(each.error) for each in self.estimates)

    def to_dict(self) -> dict[str, Any]:
        """Return the errors and every estimate, ready for the JSON of a fit."""
        parameters = [{"name": each.name, "value": each.value, "error": each.error} for each in self.estimates]
        return {"errors": self._facts(), "parameters": parameters}

    def with_intervals(self) -> dict[str, Any]:
        """Return errors, estimates, intervals and tests, ready for JSON."""
        parameters = [
            {"name": each.name, "value": each.value, "error": each.error, "low": each.low, "high": each.high}
            for each in self.estimates
        ]
        tests = [test.to_dict() for test in self.tests]
        return {"errors": self._facts(), "level": self.level, "parameters": parameters, "tests": tests}

    def _facts(self) -> dict[str, Any]:
        errors = self.errors
        return {
            "kind": errors.kind,
            "effective_parameters": errors.effective_parameters,
            "claic": errors.claic,
            "clbic": errors.clbic,
            "remarks": list(errors.remarks),
        }
