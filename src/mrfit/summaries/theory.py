"""What theory says about a model whose parameters are tied."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mrfit.data.unique_rows import UniqueRows
from mrfit.errors import InputError
from mrfit.model import MarkovNetwork
from mrfit.objectives.likelihood import Likelihood
from mrfit.tying.groups import classes_of, clustered
from mrfit.tying.theory import Theory


@dataclass(frozen=True)
class TheorySummary:
    """How far the groups are apart and how many rows would find them; see `mrfit.tying.theory`."""

    theory: Theory

    @classmethod
    def of(
        cls,
        model: MarkovNetwork,
        *,
        n_groups: int | None = None,
        tie: str | None = None,
        delta: float = 0.05,
        xi: float = 0.5,
    ) -> TheorySummary:
        """Taking the model for the truth: its own groups, or its parameters clustered into ``n_groups``.

        ``tie`` says which parameters may share a group; by default as the model was fitted.
        """
        penalty = model.provenance.get("penalty")
        fitted = penalty.get("tie", "all") if isinstance(penalty, dict) else "all"
        classes = classes_of(model.parameters.order_of_parameter, np.ones(len(model.w), bool), tie or fitted)
        groups = model.groups if n_groups is None else clustered(model.w, classes, n_groups)
        if groups is None:
            raise InputError("The model has no groups of parameters; fit a tied one, or give a number of groups.")
        # The curvature of the likelihood does not depend on the data; any row will do.
        row = np.zeros((1, len(model.domain)), np.uint8)
        objective = Likelihood(model.parameters, UniqueRows.from_codes(model.domain, row, np.ones(1)))
        return cls(Theory.of(objective, model.w, groups, classes=classes, delta=delta, xi=xi))

    def to_dict(self) -> dict[str, Any]:
        theory = self.theory
        return {"n_groups": theory.n_groups, "is_separated": theory.is_separated, **asdict(theory)}
