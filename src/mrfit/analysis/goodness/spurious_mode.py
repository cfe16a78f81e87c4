"""A mode of a model where there are no data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mrfit.analysis.goodness.row_moments import Moments
from mrfit.analysis.goodness.typical_counts import Typical
from mrfit.registry import OBJECTIVES

_MOST_UNSEEN = 0.02  # of the model's mass that is no mode: exp(-4)
_FAR_ABOVE = 10.0  # times what the data have
_SURELY = 3.0  # standard errors


@dataclass(frozen=True)
class SpuriousMode:
    """Spurious (phantom) mode: mass of the model on rows with far more, or fewer, variables "on" than the data have.

    A variable is on if it is not in its first state.

    Attributes
    ----------
    mass : float
        Share of the model's probability there.
    sum : float
        Mean number of variables that are on there.
    n_variables : int
        Number of variables.
    data_mean : float
        Mean number of variables that are on in the data.
    data_max : int
        Largest number in a row of data.
    data_share : float
        Share of the data that are there. It is less than ``mass``, or there is no such mode.
    log_likelihood : str
        Sentence on the log-likelihood of the data.
    objective : str or None
        Objective by which the model was fitted, if it is known.
    """

    mass: float
    sum: float
    n_variables: int
    data_mean: float
    data_max: int
    data_share: float
    log_likelihood: str  # a sentence
    objective: str | None = None  # by which the model was fitted, where that is known

    @classmethod
    def of(
        cls,
        moments: Moments,
        typical: Typical,
        *,
        n_model_rows: float,
        n_data_rows: float,
        log_likelihood: str,
        objective: str | None = None,
    ) -> SpuriousMode | None:
        """Return the heavier of the two tails beyond typical sums, if the model has far more mass there than the data.

        Far more is ten times the data's share and ten of their rows, and more than a fiftieth of all. Less cannot be
        told from chance, and hardly matters.
        """
        number = np.arange(len(moments.sums))
        side = typical.side(number)
        masses = np.bincount(side, moments.sums, 3) * (1, 0, 1)
        place = int(masses.argmax())
        mass, share = float(masses[place]), typical.shares[place]
        error = np.sqrt(mass * (1.0 - mass) / n_model_rows) if mass < 1.0 else 0.0
        if mass - _SURELY * error <= max(_MOST_UNSEEN, _FAR_ABOVE * share, _FAR_ABOVE / n_data_rows):
            return None
        there = side == place
        return cls(
            mass=mass,
            sum=float(moments.sums[there] @ number[there]) / mass,
            n_variables=len(number) - 1,
            data_mean=typical.mean,
            data_max=typical.most,
            data_share=share,
            log_likelihood=log_likelihood,
            objective=objective,
        )

    @property
    def text(self) -> str:
        """Warning in sentences: what is wrong, and what to do next."""
        much = "Nearly all" if self.mass > 0.99 else "Most" if self.mass > 0.5 else "A part"
        size = ">= 0.99" if self.mass > 0.99 else f"{self.mass:.2g}"
        return (
            f"{much} of the model's probability ({size}) is on rows with about {self.sum:.0f} of {self.n_variables} "
            f"variables away from their first state; the data have {_number(self.data_mean)} on average and "
            f"{self.data_max} at most. {self.log_likelihood}{self._way_on}"
        )

    @property
    def is_for_likelihood(self) -> bool:
        """Whether to advise a fit by likelihood: the model is not known to come from one."""
        fitted_by = None if self.objective is None else OBJECTIVES.get(self.objective)
        return fitted_by is None or not fitted_by.is_joint

    @property
    def _way_on(self) -> str:
        """Advice on the mode, which depends on how the model was fitted."""
        likelihood = "`--objective likelihood`, or with a stronger penalty (10 times) chosen by `--judge ll`."
        if self.objective is None:
            return f". If it was fitted by pseudo-likelihood, fit it by {likelihood}"
        fitted_by = OBJECTIVES.get(self.objective)
        if fitted_by is not None and fitted_by.is_score and not fitted_by.is_joint:
            return f" although the pseudo-likelihood looks fine. Fit it by {likelihood}"
        if fitted_by is not None and fitted_by.is_joint:
            return (
                ". It was fitted by likelihood: check that these rows have the coding of those it was learned from, or "
                "fit it with a stronger penalty."
            )
        return f". Fit it by {likelihood}"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "mass": self.mass,
            "sum": self.sum,
            "data_mean": self.data_mean,
            "data_max": self.data_max,
            "data_share": self.data_share,
            "text": self.text,
        }


def _number(value: float) -> str:
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"
