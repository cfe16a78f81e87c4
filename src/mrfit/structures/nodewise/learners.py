"""Learners of pairwise structures, one for each way to choose neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations, product

import numpy as np

from mrfit.core.domain import Domain
from mrfit.core.errors import InputError
from mrfit.data.unique_rows import UniqueRows
from mrfit.structures.nodewise.allowed_pairs import AllowedPairs
from mrfit.structures.nodewise.batched_paths import RegressionPool
from mrfit.structures.nodewise.forward_neighbours import THRESHOLD, ForwardGraph, ForwardNeighbours
from mrfit.structures.nodewise.held_out_threshold import HeldOutThreshold
from mrfit.structures.nodewise.joint_selection import JointSelection
from mrfit.structures.nodewise.neighbour_selection import NeighbourSelection
from mrfit.structures.nodewise.pairwise_learner import NodewiseLearner, PairwiseLearner
from mrfit.structures.nodewise.path_selection import PathSelection
from mrfit.structures.nodewise.point_selection import (
    EBIC,
    FixedStrength,
    HeldOut,
    MaxDegree,
    PointSelection,
    check_degree,
)


@dataclass(frozen=True)
class _BoundedLearner(PairwiseLearner):
    """Learner with a bound on the number of neighbours that a variable chooses."""

    max_degree: int = 15

    def __post_init__(self) -> None:
        super().__post_init__()
        check_degree(self.max_degree)

    @property
    def degree_bound(self) -> int | None:
        return self.max_degree

    def _choice(self) -> str:
        return f"at most {self.max_degree} neighbours"


@dataclass(frozen=True)
class ForwardSelection(_BoundedLearner, NodewiseLearner):
    """Forward selection of neighbours: each variable adds the neighbour with the best score test and refits.

    The default way to learn a structure, with the word ``learned``. Once a variable has ``max_degree`` neighbours, its
    weakest one is exchanged for the best other variable as long as that improves the regression.

    Parameters
    ----------
    max_degree : int, default=15
        Largest number of neighbours that a variable chooses, 1 or more.
    threshold : float or HeldOut, default=3.84
        Score that a neighbour needs to enter, 0 or more: approximately twice its gain in log-likelihood, in nats summed
        over rows. The default is the 95 % point of chi-square with one degree of freedom; raise it for fewer edges.
        `HeldOut` compares thresholds from 0 to 20 on validation rows.
    rule : {"or", "and"}, default="or"
        Whether an edge needs to be chosen by one or by both of its two regressions. ``and`` gives fewer edges.
    require : sequence of pairs of str, default=()
        Pairs of variables that must be neighbours.
    forbid : sequence of pairs of str, default=()
        Pairs of variables that must not be neighbours.
    include_chow_liu_tree : bool or None, default=None
        Whether the edges of the Chow-Liu tree are added, except forbidden ones. None adds them if the likelihood is
        maximised, which suffers most without them.

    See Also
    --------
    L1Path : The same by l1-penalised regressions, as in IsingFit.
    GraphForwardSelection : Bounds the degrees of the final graph.

    Notes
    -----
    See the how-to page on structure learning for the choice among learners.

    Examples
    --------
    >>> from mrfit import ForwardSelection, learn
    >>> table = {"a": [0, 1, 1, 0] * 25, "b": [0, 1, 0, 0] * 25, "c": [1, 1, 0, 0] * 25}
    >>> learn(table, ForwardSelection()).model.edges.tolist()
    [[0, 1], [0, 2], [1, 2]]
    """

    threshold: float | HeldOut = THRESHOLD

    def __post_init__(self) -> None:
        super().__post_init__()
        is_number = isinstance(self.threshold, float | int) and 0 <= self.threshold < np.inf
        if not is_number and not isinstance(self.threshold, HeldOut):
            raise InputError(
                "The threshold (price) of a neighbour is a number of at least 0, or 'valid' (HeldOut() in Python) for "
                f"one chosen on held-out rows; got {self.threshold!r}."
            )

    @property
    def way(self) -> str:
        return "gain, price valid" if isinstance(self.threshold, HeldOut) else "gain"

    @property
    def uses_valid(self) -> bool:
        return isinstance(self.threshold, HeldOut)

    def selection(self, rows: UniqueRows, valid: UniqueRows | None) -> NeighbourSelection:
        if not isinstance(self.threshold, HeldOut):
            return ForwardNeighbours(self.max_degree, float(self.threshold), either=self.rule == "or")
        if valid is None:
            raise InputError("A threshold chosen on held-out rows needs them; give validation rows.")
        return HeldOutThreshold(self.max_degree, self.rule, valid)

    def with_covariates(self, covariates: Sequence[str], domain: Domain) -> ForwardSelection:
        """Return a learner that requires the covariates for every variable, beyond the bound on its degree."""
        others = [name for name in domain.names if name not in covariates]
        require = (*self.require, *product(others, covariates))
        forbid = (*self.forbid, *combinations(covariates, 2))
        return replace(self, require=require, forbid=forbid, max_degree=self.max_degree + len(covariates))


@dataclass(frozen=True)
class GraphForwardSelection(_BoundedLearner):
    """Forward selection of edges in both regressions together, which bounds the degrees of the final graph.

    Parameters
    ----------
    max_degree : int, default=15
        Largest number of neighbours of a variable in the graph; required edges and the Chow-Liu tree may exceed it.
    require : sequence of pairs of str, default=()
        Pairs of variables that must be neighbours.
    forbid : sequence of pairs of str, default=()
        Pairs of variables that must not be neighbours.
    include_chow_liu_tree : bool or None, default=None
        Whether the edges of the Chow-Liu tree are added, except forbidden ones. None adds them if the likelihood is
        maximised, which suffers most without them.

    See Also
    --------
    ForwardSelection : Bounds the neighbours that each variable chooses instead.

    Examples
    --------
    >>> from mrfit import GraphForwardSelection, learn
    >>> table = {"a": [0, 1, 1, 0] * 25, "b": [0, 1, 0, 0] * 25, "c": [1, 1, 0, 0] * 25}
    >>> learn(table, GraphForwardSelection(max_degree=2)).model.edges.tolist()
    [[0, 1], [0, 2], [1, 2]]
    """

    @property
    def way(self) -> str:
        return "graph"

    def selection(self, rows: UniqueRows, valid: UniqueRows | None) -> NeighbourSelection:
        return ForwardGraph(self.max_degree)


@dataclass(frozen=True)
class JointForwardSelection(_BoundedLearner):
    """Forward selection of edges on the joint pseudo-likelihood; each edge belongs to one of its two variables.

    No variable owns more than ``max_degree`` edges, but it may have many more neighbours. Held-out rows choose how
    cautiously the graph grows: validation rows, or else a fifth of the rows.

    Parameters
    ----------
    max_degree : int, default=15
        Largest number of edges that a variable owns, 1 or more.
    require : sequence of pairs of str, default=()
        Pairs of variables that must be neighbours.
    forbid : sequence of pairs of str, default=()
        Pairs of variables that must not be neighbours.
    include_chow_liu_tree : bool or None, default=None
        Whether the edges of the Chow-Liu tree are added, except forbidden ones. None adds them if the likelihood is
        maximised, which suffers most without them.

    See Also
    --------
    GraphForwardSelection : Bounds all neighbours.

    Examples
    --------
    >>> from mrfit import JointForwardSelection, learn
    >>> table = {"a": [0, 1, 1, 0] * 25, "b": [0, 1, 0, 0] * 25, "c": [1, 1, 0, 0] * 25}
    >>> learn(table, JointForwardSelection(max_degree=2)).model.edges.tolist()
    [[0, 1], [1, 2]]
    """

    @property
    def way(self) -> str:
        return "joint"

    @property
    def degree_bound(self) -> None:
        """None: the bound is on owned edges, and a variable may have more neighbours."""

    @property
    def uses_valid(self) -> bool:
        return True

    def selection(self, rows: UniqueRows, valid: UniqueRows | None) -> NeighbourSelection:
        return JointSelection(self.max_degree, valid)

    def _choice(self) -> str:
        return f"at most {self.max_degree} edges owned"


@dataclass(frozen=True)
class TopCoefficients(_BoundedLearner, NodewiseLearner):
    """Neighbours with the largest coefficients in a weak l1 regression of each variable.

    The weak regression is the last point of the l1 path with at most 50 variables. This reading of Chou et al. (2018)
    reproduces their numbers.

    Parameters
    ----------
    max_degree : int, default=15
        Number of coefficients to keep for each variable, 1 or more.
    rule : {"or", "and"}, default="or"
        Whether an edge needs to be chosen by one or by both of its two regressions. ``and`` gives fewer edges, at most
        ``max_degree`` for each variable.
    require : sequence of pairs of str, default=()
        Pairs of variables that must be neighbours.
    forbid : sequence of pairs of str, default=()
        Pairs of variables that must not be neighbours.
    include_chow_liu_tree : bool or None, default=None
        Whether the edges of the Chow-Liu tree are added, except forbidden ones. None adds them if the likelihood is
        maximised, which suffers most without them.
    tolerance : float, default=1e-5
        Optimality of the paths, as a share of the critical strength.

    See Also
    --------
    L1Path : Chooses the number of neighbours by a criterion.

    Examples
    --------
    >>> from mrfit import TopCoefficients, learn
    >>> table = {"a": [0, 1, 1, 0] * 25, "b": [0, 1, 0, 0] * 25, "c": [1, 1, 0, 0] * 25}
    >>> learn(table, TopCoefficients(max_degree=1)).model.edges.tolist()
    [[0, 1], [1, 2]]
    """

    tolerance: float = 1e-5

    @property
    def way(self) -> str:
        return "top"

    def selection(self, rows: UniqueRows, valid: UniqueRows | None) -> NeighbourSelection:
        return PathSelection.largest(self.max_degree, tolerance=self.tolerance)


@dataclass(frozen=True)
class L1Path(NodewiseLearner):
    """Neighbours by l1-penalised regressions (group lasso), at one point of each variable's path.

    With ``EBIC(scale="standard")`` and the rule ``and`` this is the estimator of IsingFit (eLasso; van Borkulo et al.
    2014). Parameters of a variable with several states enter together.

    Parameters
    ----------
    select : EBIC, HeldOut, FixedStrength, TheoryStrength or MaxDegree, default=EBIC()
        Point of each path to take.
    tolerance : float, default=1e-5
        Optimality of the paths, as a share of the critical strength.
    rule : {"or", "and"}, default="or"
        Whether an edge needs to be chosen by one or by both of its two regressions. ``and`` gives fewer edges, and is
        the rule of IsingFit.
    require : sequence of pairs of str, default=()
        Pairs of variables that must be neighbours.
    forbid : sequence of pairs of str, default=()
        Pairs of variables that must not be neighbours.
    include_chow_liu_tree : bool or None, default=None
        Whether the edges of the Chow-Liu tree are added, except forbidden ones. None adds them if the likelihood is
        maximised, which suffers most without them.

    See Also
    --------
    EBIC : ``EBIC(scale="standard")`` reproduces IsingFit point for point.
    ForwardSelection : Forward selection instead of a path.

    Examples
    --------
    >>> from mrfit import L1Path, learn
    >>> table = {"a": [0, 1, 1, 0] * 25, "b": [0, 1, 0, 0] * 25, "c": [1, 1, 0, 0] * 25}
    >>> learn(table, L1Path(rule="and")).model.edges.tolist()
    [[0, 1], [0, 2], [1, 2]]
    """

    select: PointSelection = EBIC()  # noqa: RUF009 - a frozen value
    tolerance: float = 1e-5

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.select, PointSelection):
            raise InputError(
                f"A point of an l1 path is selected by an object such as EBIC(), HeldOut() or MaxDegree(5); got "
                f"{self.select!r}."
            )

    @classmethod
    def at(cls, strength: float, learner: PairwiseLearner) -> L1Path:
        """Return a learner at one strength, with the pairs, rule and tolerance of another as far as it has them.

        Parameters
        ----------
        strength : float
            The l1 strength, added to the summed (not averaged) log-likelihood.
        learner : PairwiseLearner
            The other learner.
        """
        shared = {f.name for f in fields(learner)} & {"rule", "require", "forbid", "tolerance"}
        return cls(FixedStrength(strength), **{name: getattr(learner, name) for name in shared})

    @property
    def way(self) -> str:
        return "path" if isinstance(self.select, MaxDegree) else self.select.word

    @property
    def degree_bound(self) -> int | None:
        return self.select.max_degree if isinstance(self.select, MaxDegree) else None

    @property
    def uses_valid(self) -> bool:
        return isinstance(self.select, HeldOut)

    def selection(self, rows: UniqueRows, valid: UniqueRows | None) -> PathSelection:
        return self.select.paths(rows, valid, tolerance=self.tolerance)

    def pool(self, rows: UniqueRows) -> RegressionPool | None:
        if not isinstance(self.select, EBIC) or self.include_chow_liu_tree or not RegressionPool.suits(rows):
            return None
        pairs = AllowedPairs.of(rows.domain, require=self.require, forbid=self.forbid)
        walk, is_standard = self.selection(rows, None).pooled_walk, self.select.is_standard
        return RegressionPool.of(rows, pairs, walk, gamma=self.select.gamma, rule=self.rule, standard=is_standard)

    def _allowed_pairs(self, rows: UniqueRows) -> AllowedPairs:
        return self.select.allowed(super()._allowed_pairs(rows), rows)

    def _choice(self) -> str:
        return self.select.describe()
