"""Base classes of the learners of pairwise structures."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from mrfit._typing import Indices
from mrfit.core.domain import Domain
from mrfit.core.errors import InputError
from mrfit.data.unique_rows import UniqueRows
from mrfit.structures.base import LearnedStructure, StructureLearner
from mrfit.structures.mutual_information import maximum_information_tree
from mrfit.structures.nodewise.allowed_pairs import AllowedPairs
from mrfit.structures.nodewise.batched_paths import RegressionPool
from mrfit.structures.nodewise.neighbour_selection import NeighbourSelection
from mrfit.structures.nodewise.neighbours import Neighbours
from mrfit.structures.nodewise.notes import remarks
from mrfit.structures.nodewise.point_selection import check_word
from mrfit.structures.structure import Structure

RULES = ("or", "and")


@dataclass(frozen=True, kw_only=True)
class PairwiseLearner(StructureLearner):
    """Base class of learners of a graph whose edges are pairs of interacting variables.

    Parameters
    ----------
    require : sequence of pairs of str, default=()
        Pairs of variables that must be neighbours.
    forbid : sequence of pairs of str, default=()
        Pairs of variables that must not be neighbours.
    include_chow_liu_tree : bool or None, default=None
        Whether the edges of the Chow-Liu tree are added, except forbidden ones. None adds them if the likelihood is
        maximised, which suffers most without them.

    Attributes
    ----------
    results_version_of_way : mapping of str to int
        Class variable: results version of each way to choose neighbours.

    See Also
    --------
    ForwardSelection : The default way.

    Examples
    --------
    >>> from mrfit import L1Path, TopCoefficients
    >>> from mrfit.structures import PairwiseLearner
    >>> isinstance(L1Path(), PairwiseLearner), isinstance(TopCoefficients(), PairwiseLearner)
    (True, True)
    """

    require: Sequence[tuple[str, str]] = ()
    forbid: Sequence[tuple[str, str]] = ()
    include_chow_liu_tree: bool | None = None

    word: ClassVar[str] = "learned"
    # Stored results know each way by this name. Raise its version when it leads from the same rows to another
    # structure. `joint` is at 2 since its refits solve Newton systems with another preconditioner. `gain` stayed at 1
    # when it got a surcharge for few rows by the rule `or`: no result of so few rows by that rule was stored.
    results_version_of_way: ClassVar[Mapping[str, int]] = {
        "gain": 1,
        "gain, price valid": 1,
        "path": 1,
        "top": 1,
        "graph": 1,
        "joint": 2,
        "ebic": 1,
        "valid": 1,
        "strength": 1,
        "theory": 1,
    }

    def __post_init__(self) -> None:
        for name in ("require", "forbid"):  # lists are welcome, but a value does not change
            object.__setattr__(self, name, tuple(map(tuple, getattr(self, name))))

    @property
    @abstractmethod
    def way(self) -> str:
        """Name of the way to choose neighbours in stored results."""

    @property
    def degree_bound(self) -> int | None:
        """Largest number of neighbours that a variable chooses; None without such a bound."""
        return None

    @property
    def uses_valid(self) -> bool:
        """Whether validation rows have an effect on what it learns."""
        return False

    @abstractmethod
    def selection(self, rows: UniqueRows, valid: UniqueRows | None) -> NeighbourSelection:
        """Return what chooses the neighbours of each variable in these rows.

        Parameters
        ----------
        rows : UniqueRows
            The rows to learn from.
        valid : UniqueRows or None
            Held-out rows, for learners that select by them.
        """

    def learn(
        self,
        rows: UniqueRows,
        *,
        valid: UniqueRows | None = None,
        jobs: int = 1,
        callback: Callable[[int], None] | None = None,
    ) -> LearnedStructure:
        rows.check_complete("learning")
        pairs = self._allowed_pairs(rows)
        # 1. The neighbours that each variable's own regression chooses.
        selection = self.selection(rows, valid)
        neighbours = selection.neighbours(rows, pairs, jobs=jobs, callback=callback)
        # 2. One graph of them all.
        edges = self._edges(neighbours)
        if self.include_chow_liu_tree:
            edges = np.concatenate([edges, maximum_information_tree(rows).edges])
        structure = Structure.of_pairs(len(rows.domain), pairs.on(edges))
        # 3. The evidence for its edges, and what else there is to say.
        report = neighbours.report(rows, structure.edges)
        said = remarks(rows, selection, neighbours, n_edges=len(report))
        largest = int(structure.degrees.max(initial=0))
        if self.degree_bound is not None and largest > self.degree_bound:
            said.insert(0, self._beyond_the_bound(largest))
        return LearnedStructure(structure, report, neighbours.violation, neighbours.at_end, tuple(said))

    def results_versions(self) -> dict[str, int]:
        return super().results_versions() | {f"{self.word} ({self.way})": self.results_version_of_way[self.way]}

    def pool(self, rows: UniqueRows) -> RegressionPool | None:
        """Return regressions that learn many resamples of these rows at once; None if `learn` is as fast."""
        return None

    def with_covariates(self, covariates: Sequence[str], domain: Domain) -> StructureLearner:
        raise InputError(
            "Covariates stay in regressions that grow (select='degree', bound='gain'); the others would choose "
            "among them. Use these settings, or a fit of all pairs with the penalty l1."
        )

    def for_likelihood(self) -> Self:
        return replace(self, include_chow_liu_tree=True) if self.include_chow_liu_tree is None else self

    def describe(self) -> str:
        return f"structure learned ({self._choice()})"

    @abstractmethod
    def _choice(self) -> str:
        """Describe what chooses the neighbours in a few words."""

    def _allowed_pairs(self, rows: UniqueRows) -> AllowedPairs:
        return AllowedPairs.of(rows.domain, require=self.require, forbid=self.forbid)

    def _edges(self, neighbours: Neighbours) -> Indices:
        """Edges of the graph, (edges, 2); both variables of a pair agree on it."""
        return neighbours.edges("or")

    def _beyond_the_bound(self, largest: int) -> str:
        """Explain why variables have more neighbours than the bound."""
        why = ", and ".join(reason for reason, applies in self._additions().items() if applies)
        return f"Degrees go up to {largest}: each variable chooses at most {self.degree_bound} neighbours; {why}."

    def _additions(self) -> dict[str, bool]:
        """Reasons for edges beyond a variable's own choice, and whether each applies."""
        return {
            "the tree of most mutual information was added": bool(self.include_chow_liu_tree),
            "required pairs were added": bool(self.require),
        }


@dataclass(frozen=True, kw_only=True)
class NodewiseLearner(PairwiseLearner):
    """Learner by one sparse regression for each variable; the two regressions of a pair may disagree.

    Parameters
    ----------
    rule : {"or", "and"}, default="or"
        Whether an edge needs to be chosen by one or by both of its two regressions. ``and`` gives fewer edges. With
        ``or``, degrees may exceed a bound on the neighbours that each variable chooses.
    require : sequence of pairs of str, default=()
        Pairs of variables that must be neighbours.
    forbid : sequence of pairs of str, default=()
        Pairs of variables that must not be neighbours.
    include_chow_liu_tree : bool or None, default=None
        Whether the edges of the Chow-Liu tree are added, except forbidden ones. None adds them if the likelihood is
        maximised, which suffers most without them.
    """

    rule: str = "or"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_word("rule", self.rule, RULES)

    def _edges(self, neighbours: Neighbours) -> Indices:
        return neighbours.edges(self.rule)

    def _additions(self) -> dict[str, bool]:
        reason = "the rule 'or' keeps an edge that either of its variables chose"
        return {reason: self.rule == "or"} | super()._additions()
