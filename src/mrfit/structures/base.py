"""Base class of structure learners, and the result that they return."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from mrfit.core.domain import Domain
from mrfit.core.errors import InputError
from mrfit.data.partitioned_table import PartitionedTable
from mrfit.data.unique_rows import UniqueRows
from mrfit.structures.edge_report import EdgeReport
from mrfit.structures.structure import Structure


@dataclass(frozen=True)
class LearnedStructure:
    """A structure, and the evidence for its edges if regressions selected them.

    Parameters
    ----------
    report
        Evidence for each edge; empty if no regressions were run.
    violation
        Largest violation of optimality on any used point of a path, as a share of its critical strength; None without
        paths.
    at_end
        Variables whose criterion was still falling at the end of their path.
    remarks
        Sentences for the user of the structure, about the fields above and about reasons for an empty structure.
    """

    structure: Structure
    report: EdgeReport = field(default_factory=EdgeReport.of_no_edges)
    violation: float | None = None
    at_end: tuple[int, ...] = ()
    remarks: tuple[str, ...] = ()


class StructureLearner(ABC):
    """A structure learner: rows in, structure out. ``word`` is its name at the command line and in files.

    A learner is a value without state. Every fold and bootstrap sample calls it with its own rows, so nothing leaks.
    """

    word: ClassVar[str]
    is_learned: ClassVar[bool] = True  # whether other rows can lead to another structure
    results_version: ClassVar[int] = 1  # raise it when the same rows lead to another structure

    @abstractmethod
    def learn(
        self,
        rows: UniqueRows,
        *,
        valid: UniqueRows | None = None,
        jobs: int = 1,
        callback: Callable[[int], None] | None = None,
    ) -> LearnedStructure:
        """Learn which variables of ``rows`` interact; ``valid`` are held-out rows for learners that select by them.

        ``callback`` is called once for every finished regression, from any thread; learners without regressions do not
        call it. The result does not depend on ``jobs``.
        """

    def results_versions(self) -> dict[str, int]:
        """Return the results version of every part that determines the structure, by name.

        Stored results carry these versions, and are out of date once one of them is raised.
        """
        return {self.word: self.results_version}

    def learn_in_parts(self, parts: PartitionedTable, *, n_folds: int = 0, seed: int = 0) -> list[LearnedStructure]:
        """Learn from a table in parts: first from all rows, then from all rows except each fold."""
        raise InputError(
            f"The structure {self.word} is learned from all rows together, and the table is in parts. Use a structure "
            "that is given, a tree or a learned one; or read the table as one, without --cluster and --in-parts."
        )

    def for_likelihood(self) -> StructureLearner:
        """Return the variant of this learner to use when the likelihood of whole rows is the goal."""
        return self

    def with_covariates(self, covariates: Sequence[str], domain: Domain) -> StructureLearner:
        """Return the learner with covariates in every regression from which it learns how others interact."""
        if self.is_learned:
            raise InputError(
                "Covariates go with a structure that is given, or learned by regressions that they are in; "
                f"{self.word} is neither. Use complete, learned, or edges from a file."
            )
        return self

    def smoothed(self, rows: UniqueRows, strength: float) -> tuple[Structure, float] | None:
        """Return the structure for ``strength`` pseudo-counts and their total number of rows.

        None if the structure does not depend on them.
        """
        return None

    @abstractmethod
    def describe(self) -> str:
        """Describe it for the user: "all pairs"."""
