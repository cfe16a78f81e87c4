"""Settings that belong together: one argument of the estimator each, a word where its own settings do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mrfit.parameterizations.parameterization import Parameterization
from mrfit.solvers.method import Method


@dataclass(frozen=True)
class ParameterizationOptions:
    """In which parameters a network is learned.

    Parameters
    ----------
    word : str or type of Parameterization, default="canonical"
        ``canonical``, ``spectral``, ``full``, ``ising``, ``generalized-ising`` or ``ordered``, or a class of your own.
    reference : str, default="first"
        For canonical coordinates the silent state of each variable: ``first``, ``last``, ``random`` or
        ``NAME=STATE,...``.
    ordered : "all", list of str or None, default=None
        Columns whose states have an order and which interact by their scores 0, 1, 2, ...: one parameter and a sign for
        a pair of them. Makes canonical coordinates ``ordered``. Numbers are in order, the order of words is declared
        (``states`` of the estimator, or an ordered pandas category).
    scores : dict or None, default=None
        Scores of columns that are not 0, 1, 2, ...: a number for each state, ``{"mood": (0, 1, 3)}``. Such columns are
        ordered.
    """

    word: str | type[Parameterization] = "canonical"
    reference: str = "first"
    ordered: str | Sequence[str] | None = None
    scores: Mapping[str, Sequence[float]] | None = None


@dataclass(frozen=True)
class Covariates:
    """Columns that are conditioned on and never modelled.

    Parameters
    ----------
    columns : str or list of str
        Each has an effect on every variable that is modelled.
    on_edges : bool, default=False
        Whether they have an effect on every pair that interacts, too.
    """

    columns: str | Sequence[str]
    on_edges: bool = False


@dataclass(frozen=True)
class SolverOptions:
    """How an optimum is found and when it is good enough.

    Parameters
    ----------
    method : {"newton", "lbfgs", "owlqn", "proximal-newton", "fista"} or None, default=None
        None takes the one that suits the penalty.
    tolerance : float, default=1e-6
        Largest entry of the subgradient of the mean objective at the solution.
    max_iterations : int, default=1000
    """

    method: str | Method[Any] | None = None
    tolerance: float = 1e-6
    max_iterations: int = 1000
