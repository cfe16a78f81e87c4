"""Ways to come to a structure: values that are given rows and return which variables interact.

A learner of structures is asked again wherever rows change (folds, resamples), so nothing it learned leaks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

from mrfit.data.unique_rows import UniqueRows
from mrfit.errors import StructureError
from mrfit.structure.edge_report import EdgeReport
from mrfit.structure.mutual_information import maximum_information_tree
from mrfit.structure.nodewise import StructureSettings, learn_structure
from mrfit.structure.structure import Structure


@dataclass(frozen=True)
class StructureFound:
    """A structure, and where regressions chose its edges the evidence for them."""

    structure: Structure
    report: EdgeReport | None = None


class StructureLearner(ABC):
    """Rows in, structure out. ``word`` is its name at the command line and in files."""

    word: ClassVar[str]

    @abstractmethod
    def learn(
        self,
        rows: UniqueRows,
        *,
        valid: UniqueRows | None = None,
        jobs: int = 1,
        callback: Callable[[int], None] | None = None,
    ) -> StructureFound:
        """Which variables of ``rows`` interact; ``valid`` are held-out rows for those that select by them."""

    @abstractmethod
    def in_words(self) -> str:
        """What it is, for a person: "all pairs"."""


class _Fixed(StructureLearner):
    """A structure that depends on nothing but the number of variables."""

    @abstractmethod
    def over(self, n_variables: int) -> Structure: ...

    def learn(
        self,
        rows: UniqueRows,
        *,
        valid: UniqueRows | None = None,
        jobs: int = 1,
        callback: Callable[[int], None] | None = None,
    ) -> StructureFound:
        return StructureFound(self.over(len(rows.domain)))


@dataclass(frozen=True)
class Complete(_Fixed):
    """All pairs."""

    word: ClassVar[str] = "complete"

    def over(self, n_variables: int) -> Structure:
        return Structure.complete(n_variables)

    def in_words(self) -> str:
        return "all pairs"


@dataclass(frozen=True)
class Independent(_Fixed):
    """No interactions."""

    word: ClassVar[str] = "independent"

    def over(self, n_variables: int) -> Structure:
        return Structure.independent(n_variables)

    def in_words(self) -> str:
        return "no interactions"


@dataclass(frozen=True)
class UpToOrder(_Fixed):
    """All scopes of up to ``order`` variables; None means all sets of variables."""

    order: int | None = 2

    word: ClassVar[str] = "order"

    def over(self, n_variables: int) -> Structure:
        return Structure.up_to_order(n_variables, n_variables if self.order is None else self.order)

    def in_words(self) -> str:
        return "all sets of variables" if self.order is None else f"all sets of up to {self.order} variables"


@dataclass(frozen=True)
class Given(_Fixed):
    """Scopes that are known beforehand."""

    structure: Structure

    word: ClassVar[str] = "given"

    def over(self, n_variables: int) -> Structure:
        if self.structure.n_variables != n_variables:
            raise StructureError(
                f"The structure is over {self.structure.n_variables} variables; the data have {n_variables}."
            )
        return self.structure

    def in_words(self) -> str:
        if self.structure.is_saturated:
            return "all sets of variables"
        return f"structure given ({self.structure.n_scopes:,} scopes)"


@dataclass(frozen=True)
class Tree(StructureLearner):
    """The tree with most mutual information (Chow and Liu 1968)."""

    word: ClassVar[str] = "tree"

    def learn(
        self,
        rows: UniqueRows,
        *,
        valid: UniqueRows | None = None,
        jobs: int = 1,
        callback: Callable[[int], None] | None = None,
    ) -> StructureFound:
        return StructureFound(maximum_information_tree(rows))

    def in_words(self) -> str:
        return "a tree of most mutual information"


@dataclass(frozen=True)
class Learned(StructureSettings, StructureLearner):
    """Pairs chosen by one sparse regression for each variable; see `mrfit.structure.nodewise`."""

    word: ClassVar[str] = "learned"

    def learn(
        self,
        rows: UniqueRows,
        *,
        valid: UniqueRows | None = None,
        jobs: int = 1,
        callback: Callable[[int], None] | None = None,
    ) -> StructureFound:
        learned = learn_structure(rows, replace(self, jobs=jobs), valid=valid, callback=callback)
        return StructureFound(learned.structure, learned.report)

    def in_words(self) -> str:
        how = {
            "degree": "at most {0.max_degree} neighbours",
            "ebic": "by the EBIC, gamma {0.gamma:g}",
            "valid": "by held-out rows",
            "strength": "at strength {0.select_strength:g}",
            "theory": "at the strength of theory",
        }
        return f"structure learned ({how[self.select].format(self)})"
