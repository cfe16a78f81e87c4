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
    """Neighbours by forward selection: each variable takes what improves its regression most, refitted each time.

    Once a variable has ``max_degree`` neighbours, its weakest one is exchanged for the best other variable as long as
    that improves the regression.

    Parameters
    ----------
    max_degree : int, default=15
        Largest number of neighbours that a variable chooses.
    threshold : float or HeldOut, default=3.84
        Score that a neighbour needs to enter: twice the gain in log-likelihood that it promises. The default is the
        95 % point of chi-square with one degree of freedom. `HeldOut` compares thresholds from 0 to 20 by fits of the
        whole graph on validation rows.
    rule : {"or", "and"}, default="or"
        Whether an edge needs to be chosen by either or by both of its variables.
    require, forbid : sequence of pairs of str, default=()
        Pairs of variables that must, or must not, be neighbours.
    include_chow_liu_tree : bool, default=None
        Whether the Chow-Liu tree belongs to the structure. By default it does where the likelihood is learned.
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
    """Edges by forward selection in both regressions together; bounds the degrees of the final graph.

    Parameters
    ----------
    max_degree : int, default=15
        Largest number of neighbours in the final graph; required edges and the Chow-Liu tree may exceed it.
    require, forbid : sequence of pairs of str, default=()
        Pairs of variables that must, or must not, be neighbours.
    include_chow_liu_tree : bool, default=None
        Whether the Chow-Liu tree belongs to the structure. By default it does where the likelihood is learned.
    """

    @property
    def way(self) -> str:
        return "graph"

    def selection(self, rows: UniqueRows, valid: UniqueRows | None) -> NeighbourSelection:
        return ForwardGraph(self.max_degree)


@dataclass(frozen=True)
class JointForwardSelection(_BoundedLearner):
    """Edges by forward selection on the joint pseudo-likelihood, each owned by one of its two variables.

    No variable owns more than ``max_degree`` edges, so that a variable may have many more neighbours. Held-out rows
    choose how cautiously the graph grows: validation rows, or else a fifth of the rows.

    Parameters
    ----------
    max_degree : int, default=15
        Largest number of edges that a variable owns.
    require, forbid : sequence of pairs of str, default=()
        Pairs of variables that must, or must not, be neighbours.
    include_chow_liu_tree : bool, default=None
        Whether the Chow-Liu tree belongs to the structure. By default it does where the likelihood is learned.
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
    """Neighbours by the largest coefficients of a weak l1 regression of each variable.

    The weak regression is the last point of the l1 path with at most 50 variables. This reading of Chou et al. (2018)
    reproduces their numbers.

    Parameters
    ----------
    max_degree : int, default=15
        Number of coefficients to keep for each variable.
    rule : {"or", "and"}, default="or"
        Whether an edge needs to be chosen by either or by both of its variables.
    require, forbid : sequence of pairs of str, default=()
        Pairs of variables that must, or must not, be neighbours.
    include_chow_liu_tree : bool, default=None
        Whether the Chow-Liu tree belongs to the structure. By default it does where the likelihood is learned.
    tolerance : float, default=1e-5
        Optimality of the paths, as a share of the critical strength.
    """

    tolerance: float = 1e-5

    @property
    def way(self) -> str:
        return "top"

    def selection(self, rows: UniqueRows, valid: UniqueRows | None) -> NeighbourSelection:
        return PathSelection.largest(self.max_degree, tolerance=self.tolerance)


@dataclass(frozen=True)
class L1Path(NodewiseLearner):
    """Neighbours by l1-penalized (group lasso) regressions: those at one point of each variable's path.

    Parameters
    ----------
    select : EBIC, HeldOut, FixedStrength, TheoryStrength or MaxDegree, default=EBIC()
        Which point of each path to take.
    rule : {"or", "and"}, default="or"
        Whether an edge needs to be chosen by either or by both of its variables.
    require, forbid : sequence of pairs of str, default=()
        Pairs of variables that must, or must not, be neighbours.
    include_chow_liu_tree : bool, default=None
        Whether the Chow-Liu tree belongs to the structure. By default it does where the likelihood is learned.
    tolerance : float, default=1e-5
        Optimality of the paths, as a share of the critical strength.
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
        """Return a learner at one strength with the pairs, rule and tolerance of another, as far as it has them."""
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
