"""Settings that belong together: one argument of the estimator each, a word where its own settings do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mrfit.parameterizations.parameterization import Parameterization
from mrfit.solvers.method import Method


@dataclass(frozen=True)
class ParameterizationOptions:
    """Coordinates of a network: their kind, reference categories and scores.

    Parameters
    ----------
    word : str or type of Parameterization, default="canonical"
        ``canonical``, ``spectral``, ``full``, ``ising``, ``generalized-ising`` or ``ordered``, or a class of your own.
    reference : str, default="first"
        Reference category of each variable in canonical coordinates: ``first``, ``last``, ``random`` or
        ``NAME=STATE,...``.
    ordered : "all", list of str or None, default=None
        Columns whose states have an order and which interact by their scores 0, 1, 2, ...: one signed parameter for
        each pair of them. Makes canonical coordinates ``ordered``. Numbers are in order; declare the order of words
        (``states`` of the estimator, or an ordered pandas category).
    scores : dict or None, default=None
        Scores of columns that are not 0, 1, 2, ...: a number for each state, ``{"mood": (0, 1, 3)}``. Such columns are
        ordered.

    See Also
    --------
    mrfit.MarkovNetworkLearner : Takes these options as ``parameterization``.

    Examples
    --------
    >>> from mrfit import MarkovNetworkLearner, ParameterizationOptions
    >>> table = {"mood": [0, 1, 2, 2] * 25, "sleep": [0, 1, 1, 2] * 25}
    >>> learner = MarkovNetworkLearner(parameterization=ParameterizationOptions(ordered="all"))
    >>> learner.fit(table).model_.parameters.word
    'ordered'
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
        Names of the columns. Each affects every variable that is modelled.
    on_edges : bool, default=False
        Whether they also affect every pair that interacts.

    See Also
    --------
    mrfit.MarkovNetworkLearner : Takes these as ``covariates``.

    Examples
    --------
    >>> from mrfit import Covariates, MarkovNetworkLearner
    >>> table = {"age": [0, 1, 0, 1] * 25, "a": [0, 1, 1, 0] * 25, "b": [0, 1, 0, 0] * 25}
    >>> MarkovNetworkLearner(covariates=Covariates("age")).fit(table).model_.covariates
    ('age',)
    """

    columns: str | Sequence[str]
    on_edges: bool = False


@dataclass(frozen=True)
class SolverOptions:
    """Method that finds an optimum, and when it stops.

    Parameters
    ----------
    method : str, Method or None, default=None
        ``newton``, ``lbfgs``, ``owlqn``, ``proximal-newton``, ``fista`` or a `Method`; None takes the one that suits
        the penalty.
    tolerance : float, default=1e-6
        Largest entry of the gradient (with kinks, the subgradient) of the mean objective at which a fit has converged.
    max_iterations : int, default=1000
        Largest number of iterations of each fit.

    See Also
    --------
    mrfit.MarkovNetworkLearner : Takes these options as ``solver``.

    Examples
    --------
    >>> from mrfit import MarkovNetworkLearner, SolverOptions
    >>> table = {"a": [0, 1, 1, 0] * 25, "b": [0, 1, 0, 0] * 25}
    >>> learner = MarkovNetworkLearner(solver=SolverOptions("lbfgs", tolerance=1e-8)).fit(table)
    >>> bool(learner.solution_.violation <= 1e-8)
    True
    """

    method: str | Method[Any] | None = None
    tolerance: float = 1e-6
    max_iterations: int = 1000
