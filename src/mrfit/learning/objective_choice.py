"""What is maximised: the pseudo-likelihood, or the exact likelihood."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from mrfit.data.unique_rows import UniqueRows
from mrfit.errors import InputError
from mrfit.learning.coordinates import Coordinates, ExactCoordinates, PseudoCoordinates
from mrfit.objectives.row_scores import row_ll, row_pll
from mrfit.parameterizations.parameterization import Parameterization

if TYPE_CHECKING:
    from mrfit.model import MarkovNetwork

Floats = NDArray[np.float64]

_MOST_PARAMETERS = 1e8  # 0.8 GB for each of the dozen vectors of a solver


class ObjectiveChoice(ABC):
    """Makes the coordinates of a problem, and scores rows under a model by what was maximised."""

    word: ClassVar[str]
    measure: ClassVar[str]  # the name of its score
    is_exact: ClassVar[bool]

    @abstractmethod
    def coordinates(self, parameters: Parameterization, *, listed: bool, keep_zeros: bool, jobs: int) -> Coordinates:
        """What is learned; ``listed`` and ``keep_zeros`` as for `ExactCoordinates`."""

    @abstractmethod
    def row_scores(self, model: MarkovNetwork, rows: UniqueRows, jobs: int) -> Floats:
        """The score of every distinct row."""

    @abstractmethod
    def check_finite(self, rows: UniqueRows, coordinates: Coordinates, penalized: NDArray[np.bool_]) -> None:
        """Refuse where there is no maximum at all, rather than one that some parameters lack."""


@dataclass(frozen=True)
class PseudoLikelihoodChoice(ObjectiveChoice):
    """The product of every variable's probability given all others."""

    word: ClassVar[str] = "pseudo-likelihood"
    measure: ClassVar[str] = "pll"
    is_exact: ClassVar[bool] = False

    def coordinates(self, parameters: Parameterization, *, listed: bool, keep_zeros: bool, jobs: int) -> Coordinates:
        _check_number(parameters.n_parameters)
        return PseudoCoordinates(parameters, jobs=jobs)

    def row_scores(self, model: MarkovNetwork, rows: UniqueRows, jobs: int) -> Floats:
        return row_pll(model.parameters, model.w, rows.codes, jobs=jobs)

    def check_finite(self, rows: UniqueRows, coordinates: Coordinates, penalized: NDArray[np.bool_]) -> None:
        """Parameters without a maximum are held at a bound, one by one."""


@dataclass(frozen=True)
class LikelihoodChoice(ObjectiveChoice):
    """The probability of whole rows, exact over all joint states."""

    word: ClassVar[str] = "likelihood"
    measure: ClassVar[str] = "ll"
    is_exact: ClassVar[bool] = True

    def coordinates(self, parameters: Parameterization, *, listed: bool, keep_zeros: bool, jobs: int) -> Coordinates:
        return ExactCoordinates(parameters, listed=listed, keep_zeros=keep_zeros, jobs=jobs)

    def row_scores(self, model: MarkovNetwork, rows: UniqueRows, jobs: int) -> Floats:
        return row_ll(model.parameters, model.w, rows.codes, jobs=jobs)

    def check_finite(self, rows: UniqueRows, coordinates: Coordinates, penalized: NDArray[np.bool_]) -> None:
        if rows.n_distinct == 1 and not penalized.all():
            raise InputError(
                "All rows are the same, so the likelihood grows without end as unpenalised parameters do. Use other "
                "rows, or a penalty on all of them such as l2."
            )
        saturated, n_states = coordinates.parameters.structure.is_saturated, prod(rows.domain.shape)
        if not penalized.any() and saturated and rows.n_distinct < n_states:
            raise InputError(
                f"Only {rows.n_distinct:,} of {n_states:,} joint states occur in the rows; without a "
                "penalty, and with all sets of variables, the others get probability zero, which no parameters "
                "express. Use a penalty or a lower order."
            )


PSEUDO_LIKELIHOOD = PseudoLikelihoodChoice()
LIKELIHOOD = LikelihoodChoice()


def _check_number(n_parameters: int) -> None:
    if n_parameters > _MOST_PARAMETERS:
        raise InputError(
            f"The model has {n_parameters:.3g} parameters, {8e-9 * n_parameters:.2g} GB for each copy of them; the "
            f"limit is {_MOST_PARAMETERS:.0e}. Use a sparser structure, or columns with fewer states."
        )
