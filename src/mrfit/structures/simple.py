"""Structure learners that need no regressions; `Learned`, which runs regressions, is exported here too."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from mrfit.core.domain import Domain
from mrfit.core.errors import StructureError
from mrfit.data.partitioned_table import PartitionedTable
from mrfit.data.unique_rows import UniqueRows
from mrfit.structures.base import LearnedStructure, StructureLearner
from mrfit.structures.mutual_information import maximum_information_tree, trees_in_parts
from mrfit.structures.nodewise.learned import Learned
from mrfit.structures.structure import Structure

__all__ = [
    "AllInteractions",
    "ChowLiuTree",
    "CompleteGraph",
    "FixedStructure",
    "Learned",
    "NoInteractions",
    "StructureLearner",
]


class _Direct(StructureLearner):
    """A structure that does not depend on rows."""

    is_learned: ClassVar[bool] = False

    @abstractmethod
    def of(self, domain: Domain) -> Structure:
        """Return the structure over a domain."""

    def learn(
        self,
        rows: UniqueRows,
        *,
        valid: UniqueRows | None = None,
        jobs: int = 1,
        callback: Callable[[int], None] | None = None,
    ) -> LearnedStructure:
        return LearnedStructure(self.of(rows.domain))

    def learn_in_parts(self, parts: PartitionedTable, *, n_folds: int = 0, seed: int = 0) -> list[LearnedStructure]:
        return [LearnedStructure(self.of(parts.domain))] * (1 + n_folds)


@dataclass(frozen=True)
class CompleteGraph(_Direct):
    """Complete graph: all pairs of variables interact.

    Its word is ``complete``. The default structure of every learner.

    See Also
    --------
    AllInteractions : Scopes of more than two variables, too.
    Learned : Learns which pairs interact.

    Examples
    --------
    >>> from mrfit import CompleteGraph, learn
    >>> table = {"a": [0, 1, 1, 0] * 25, "b": [0, 1, 0, 0] * 25, "c": [1, 1, 0, 0] * 25}
    >>> learn(table, CompleteGraph()).model.n_edges
    3
    """

    word: ClassVar[str] = "complete"

    def of(self, domain: Domain) -> Structure:
        """Return the structure over a domain."""
        return Structure.complete(len(domain))

    def describe(self) -> str:
        return "all pairs"


@dataclass(frozen=True)
class NoInteractions(_Direct):
    """Structure without interactions: independent variables.

    Its word is ``independent``. Use it as a baseline.

    See Also
    --------
    CompleteGraph : All pairs interact.

    Examples
    --------
    >>> from mrfit import NoInteractions, learn
    >>> table = {"a": [0, 1, 1, 0] * 25, "b": [0, 1, 0, 0] * 25}
    >>> learn(table, NoInteractions()).model.n_edges
    0
    """

    word: ClassVar[str] = "independent"

    def of(self, domain: Domain) -> Structure:
        """Return the structure over a domain."""
        return Structure.independent(len(domain))

    def describe(self) -> str:
        return "no interactions"


@dataclass(frozen=True)
class AllInteractions(_Direct):
    """All scopes of up to ``order`` variables: a hierarchical log-linear model.

    Its word is ``order:R``. The number of scopes grows as the number of variables to the power of ``order``.

    Parameters
    ----------
    order : int or None, default=2
        Size of the largest scopes, 1 or more; None for all sets of variables.

    See Also
    --------
    HierarchicalLasso : Removes larger scopes before smaller ones.

    Examples
    --------
    >>> from mrfit import AllInteractions, learn
    >>> table = {"a": [0, 1, 1, 0] * 25, "b": [0, 1, 0, 0] * 25, "c": [1, 1, 0, 0] * 25}
    >>> learn(table, AllInteractions(3)).model.structure
    <Structure: 3 variables, 3 edges, sets of up to 3 variables>
    """

    order: int | None = 2

    word: ClassVar[str] = "order"

    def of(self, domain: Domain) -> Structure:
        """Return the structure over a domain."""
        n_variables = len(domain)
        return Structure.up_to_order(n_variables, n_variables if self.order is None else self.order)

    def describe(self) -> str:
        return "all sets of variables" if self.order is None else f"all sets of up to {self.order} variables"


@dataclass(frozen=True)
class FixedStructure(_Direct):
    """A structure that is known beforehand.

    Parameters
    ----------
    structure : Structure
        Its number of variables is that of the table, whose columns it refers to by their numbers.

    Raises
    ------
    StructureError
        If it is no `Structure`.

    See Also
    --------
    Structure : Made from edges, scopes or a networkx graph.

    Examples
    --------
    >>> from mrfit import FixedStructure, Structure, learn
    >>> table = {"a": [0, 1, 1, 0] * 25, "b": [0, 1, 0, 0] * 25, "c": [1, 1, 0, 0] * 25}
    >>> learn(table, FixedStructure(Structure.from_edges(3, [(0, 1)]))).model.n_edges
    1
    """

    structure: Structure

    word: ClassVar[str] = "given"

    def __post_init__(self) -> None:
        if not isinstance(self.structure, Structure):
            raise StructureError(
                f"Given takes a Structure; got a {type(self.structure).__name__}. Make one of pairs of column numbers "
                "by Structure.from_edges(n_variables, edges), or of larger sets by Structure.from_scopes."
            )

    def of(self, domain: Domain) -> Structure:
        """Return the structure over a domain."""
        if self.structure.n_variables != len(domain):
            raise StructureError(
                f"The structure is over {self.structure.n_variables} variables; the data have {len(domain)}."
            )
        return self.structure

    def describe(self) -> str:
        if self.structure.is_saturated:
            return "all sets of variables"
        return f"structure given ({self.structure.n_scopes:,} scopes)"


@dataclass(frozen=True)
class ChowLiuTree(StructureLearner):
    """Tree with the largest mutual information (Chow and Liu 1968).

    Its word is ``tree``. The likelihood of a tree is exact for any number of variables.

    See Also
    --------
    LikelihoodGrowth : Starts with this tree and adds pairs.

    Examples
    --------
    >>> from mrfit import ChowLiuTree, learn
    >>> table = {"a": [0, 1, 1, 0] * 25, "b": [0, 1, 0, 0] * 25, "c": [1, 1, 0, 0] * 25}
    >>> learn(table, ChowLiuTree(), objective="likelihood").model.n_edges
    2
    """

    word: ClassVar[str] = "tree"

    def learn(
        self,
        rows: UniqueRows,
        *,
        valid: UniqueRows | None = None,
        jobs: int = 1,
        callback: Callable[[int], None] | None = None,
    ) -> LearnedStructure:
        return LearnedStructure(maximum_information_tree(rows))

    def learn_in_parts(self, parts: PartitionedTable, *, n_folds: int = 0, seed: int = 0) -> list[LearnedStructure]:
        return list(map(LearnedStructure, trees_in_parts(parts, n_folds=n_folds, seed=seed)))

    def smoothed(self, rows: UniqueRows, strength: float) -> tuple[Structure, float]:
        """Spread pseudo-counts evenly: ``strength`` rows for every state of the pair with the most states."""
        weight = strength * prod(sorted(rows.domain.shape)[-2:])
        return maximum_information_tree(rows, uniform_weight=weight), weight

    def describe(self) -> str:
        return "a tree of most mutual information"
