"""Choice of the point on each variable's l1 path that its neighbours are read from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mrfit.core.errors import InputError, listed
from mrfit.data.row_totals import Tallied
from mrfit.data.unique_rows import UniqueRows
from mrfit.structures.nodewise.allowed_pairs import HARDLY, AllowedPairs
from mrfit.structures.nodewise.criteria import HeldOutCriterion, ebic
from mrfit.structures.nodewise.observed_states import SeenStates
from mrfit.structures.nodewise.path_selection import PathSelection, theoretical_strength

SCALES = ("raw", "standard")


class PointSelection(ABC):
    """Choice of one point on the l1 path of every variable."""

    word: ClassVar[str]  # of `Learned`, the command line and stored results

    @abstractmethod
    def paths(self, rows: UniqueRows, valid: UniqueRows | None, *, tolerance: float) -> PathSelection:
        """Return how far the paths go and which of their points is taken.

        Parameters
        ----------
        rows : UniqueRows
            The rows to learn from.
        valid : UniqueRows or None
            Held-out rows, for a choice by them.
        tolerance : float
            Optimality of the paths, as a share of the critical strength.
        """

    def allowed(self, pairs: AllowedPairs, rows: UniqueRows) -> AllowedPairs:
        """Return the pairs that regressions may choose from.

        Parameters
        ----------
        pairs : AllowedPairs
            The pairs that the user allows.
        rows : UniqueRows
            The rows to learn from.
        """
        return pairs

    @abstractmethod
    def describe(self) -> str:
        """Return a description in a few words, such as "by held-out rows"."""


@dataclass(frozen=True)
class MaxDegree(PointSelection):
    """The last point of each path that selects at most ``max_degree`` neighbours.

    Parameters
    ----------
    max_degree : int, default=15
        Largest number of neighbours that a variable chooses, 1 or more.

    See Also
    --------
    L1Path : Takes this as ``select``.
    ForwardSelection : Meets the same bound by forward selection.

    Examples
    --------
    >>> from mrfit import L1Path, MaxDegree, learn
    >>> table = {"a": [0, 1, 1, 0] * 25, "b": [0, 1, 0, 0] * 25, "c": [1, 1, 0, 0] * 25}
    >>> learn(table, L1Path(MaxDegree(1))).model.edges.tolist()
    [[0, 1], [1, 2]]
    """

    max_degree: int = 15

    word: ClassVar[str] = "degree"

    def __post_init__(self) -> None:
        check_degree(self.max_degree)

    def paths(self, rows: UniqueRows, valid: UniqueRows | None, *, tolerance: float) -> PathSelection:
        return PathSelection.up_to(self.max_degree, tolerance=tolerance)

    def describe(self) -> str:
        return f"at most {self.max_degree} neighbours"


@dataclass(frozen=True)
class EBIC(PointSelection):
    """Extended BIC: the point of each path with the smallest criterion (Foygel and Drton 2010).

    The criterion of IsingFit (van Borkulo et al. 2014). A path goes on until its best point lies well behind its last
    one.

    Parameters
    ----------
    gamma : float, default=0.25
        Weight of the extra term, from 0 (the BIC) to 1. Larger values give fewer edges. IsingFit uses 0.25.
    scale : {"raw", "standard"}, default="raw"
        Scale of the columns of binary variables. ``standard`` divides each column by its standard deviation in the
        penalty and follows the paths of glmnet, which reproduces IsingFit point for point.
    refit : bool or None, default=None
        Whether to refit the regression at each point without the penalty, and to report refitted coefficients. None
        refits except with ``scale="standard"``. Variables of more than two states are always refitted.

    See Also
    --------
    L1Path : Takes this as ``select``.
    HeldOut : Selects by validation rows instead.

    Examples
    --------
    >>> from mrfit import EBIC, L1Path, learn
    >>> table = {"a": [0, 1, 1, 0] * 25, "b": [0, 1, 0, 0] * 25, "c": [1, 1, 0, 0] * 25}
    >>> learn(table, L1Path(EBIC(gamma=0.5))).model.edges.tolist()
    [[0, 1], [0, 2], [1, 2]]
    """

    gamma: float = 0.25
    scale: str = "raw"
    refit: bool | None = None

    word: ClassVar[str] = "ebic"

    def __post_init__(self) -> None:
        check_word("scale", self.scale, SCALES)
        if not 0 <= self.gamma <= 1:
            raise InputError(f"gamma of the EBIC lies between 0 and 1; got {self.gamma:g}.")

    @property
    def is_standard(self) -> bool:
        """Whether columns are standardised."""
        return self.scale == "standard"

    def paths(self, rows: UniqueRows, valid: UniqueRows | None, *, tolerance: float) -> PathSelection:
        if not self.is_standard:
            criterion = ebic(rows, self.gamma, refit=self._refits)
            return PathSelection.best_by(criterion, rows, tolerance=tolerance)
        if SeenStates.of(rows).has_groups:
            many = next(variable for variable in rows.domain if variable.n_states > 2)
            raise InputError(
                f"Columns are standardised for variables of two states; {many.name!r} has {many.n_states}. "
                "Use the scale 'raw'."
            )
        n_variables = int((~_nearly_constant(rows)).sum())
        criterion = ebic(rows, self.gamma, refit=self._refits, n_variables=n_variables)
        return PathSelection.as_glmnet(criterion, rows, tolerance=tolerance)

    def allowed(self, pairs: AllowedPairs, rows: UniqueRows) -> AllowedPairs:
        """Return the pairs, on the scale of IsingFit without the variables that IsingFit leaves out."""
        return pairs.without(_nearly_constant(rows)) if self.is_standard else pairs

    @property
    def _refits(self) -> bool:
        """Whether the EBIC is computed after refitting (default: yes, except when reproducing IsingFit)."""
        return not self.is_standard if self.refit is None else self.refit

    def describe(self) -> str:
        return f"by the EBIC, gamma {self.gamma:g}"


@dataclass(frozen=True)
class HeldOut(PointSelection):
    """Held-out rows: the point of each path that predicts validation rows best.

    A path goes on until its best point lies well behind its last one. `ForwardSelection` takes it as ``threshold``,
    too.

    See Also
    --------
    L1Path : Takes this as ``select``.
    EBIC : Needs no validation rows.

    Examples
    --------
    >>> from mrfit import HeldOut, L1Path, learn
    >>> table = {"a": [0, 1, 1, 0] * 25, "b": [0, 1, 0, 0] * 25}
    >>> learn(table, L1Path(HeldOut()), valid=table).model.edges.tolist()
    [[0, 1]]
    """

    word: ClassVar[str] = "valid"

    def paths(self, rows: UniqueRows, valid: UniqueRows | None, *, tolerance: float) -> PathSelection:
        if valid is None:
            raise InputError("Selection by held-out rows needs them; give validation rows.")
        loss = HeldOutCriterion(valid.recoded(rows.domain), SeenStates.of(rows))
        return PathSelection.best_by(loss, rows, tolerance=tolerance)

    def describe(self) -> str:
        return "by held-out rows"


class StrengthSelection(PointSelection):
    """The point of every path at one penalty strength.

    Each regression is then one convex problem, and gradients over all rows prove its solution.
    """

    @abstractmethod
    def strength_on(self, rows: Tallied) -> float:
        """Return the l1 strength for these rows; it is added to the summed (not averaged) log-likelihood."""

    def paths(self, rows: UniqueRows, valid: UniqueRows | None, *, tolerance: float) -> PathSelection:
        return PathSelection.at(self.strength_on(rows), rows, tolerance=tolerance)


@dataclass(frozen=True)
class FixedStrength(StrengthSelection):
    """Fixed strength: the point of each path at an l1 strength of your choice.

    Each regression is then one convex problem, and gradients over all rows prove its solution.

    Parameters
    ----------
    strength : float
        The l1 strength, above 0, added to the summed (not averaged) log-likelihood.

    See Also
    --------
    L1Path : Takes this as ``select``.
    mrfit.stars : Finds the weakest strength at which the network is stable.

    Examples
    --------
    >>> from mrfit import FixedStrength, L1Path, learn
    >>> table = {"a": [0, 1, 1, 0] * 25, "b": [0, 1, 0, 0] * 25, "c": [1, 1, 0, 0] * 25}
    >>> learn(table, L1Path(FixedStrength(5.0))).model.edges.tolist()
    [[0, 1], [1, 2]]
    """

    strength: float

    word: ClassVar[str] = "strength"

    def __post_init__(self) -> None:
        if not 0 < self.strength < np.inf:
            raise InputError(f"FixedStrength needs a positive strength; got {self.strength:g}.")

    def strength_on(self, rows: Tallied) -> float:
        return self.strength

    def describe(self) -> str:
        return f"at strength {self.strength:g}"


@dataclass(frozen=True)
class TheoryStrength(StrengthSelection):
    """Strength from theory: c sqrt(log(n^2 / 0.05) / N) for n variables and N rows (Lokhov et al. 2018).

    The formula is that of the mean log-likelihood over couplings of -1/+1 spins. It is rescaled for the sum over rows
    and for 0/1 columns.

    Parameters
    ----------
    constant : float, default=0.2
        The constant c, above 0, for couplings of -1/+1 spins.

    See Also
    --------
    L1Path : Takes this as ``select``.
    FixedStrength : A strength of your choice.

    Examples
    --------
    >>> from mrfit import L1Path, TheoryStrength, learn
    >>> table = {"a": [0, 1, 1, 0] * 25, "b": [0, 1, 0, 0] * 25, "c": [1, 1, 0, 0] * 25}
    >>> learn(table, L1Path(TheoryStrength(0.5))).model.edges.tolist()
    [[0, 1], [0, 2], [1, 2]]
    """

    constant: float = 0.2

    word: ClassVar[str] = "theory"

    def __post_init__(self) -> None:
        if not self.constant > 0:
            raise InputError(f"The constant of the theoretical strength must be positive; got {self.constant:g}.")

    def strength_on(self, rows: Tallied) -> float:
        return theoretical_strength(rows, self.constant)

    def describe(self) -> str:
        return "at the strength of theory"


def check_degree(max_degree: int) -> None:
    if max_degree < 1:
        raise InputError(f"The degree bound must be at least 1; got {max_degree}.")


def check_word(name: str, value: object, words: tuple[str, ...]) -> None:
    if value not in words:
        raise InputError(f"There is no {name} {value!r}; choose one of {listed(words)}.")


def _nearly_constant(rows: UniqueRows) -> NDArray[np.bool_]:
    """Variables with at most one row outside their most frequent state; IsingFit leaves them out."""
    heaviest = np.array([weights.max() for weights in rows.state_weights])
    return np.array(rows.total_weight - heaviest <= HARDLY)
