"""What a learner of structures is, and what it returns."""

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
    """A structure, and where regressions chose its edges the evidence for them.

    Parameters
    ----------
    report
        Of no edges where no regression was asked.
    violation
        The largest of any point of a path that was used, as a share of its critical strength; None where no path was
        walked.
    at_end
        Variables whose criterion was still falling where their path ended.
    remarks
        Sentences a reader of the structure should know, on this and on why it is empty.
    """

    structure: Structure
    report: EdgeReport = field(default_factory=EdgeReport.of_no_edges)
    violation: float | None = None
    at_end: tuple[int, ...] = ()
    remarks: tuple[str, ...] = ()


class StructureLearner(ABC):
    """Rows in, structure out. ``word`` is its name at the command line and in files.

    It is a value and is asked again wherever rows change (folds, resamples), so nothing it learned leaks.
    """

    word: ClassVar[str]
    is_learned: ClassVar[bool] = True  # whether other rows may lead to another structure
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
        """Which variables of ``rows`` interact; ``valid`` are held-out rows for those that select by them.

        ``callback`` is told of every regression that is done, once, from any thread; where there are none it is not
        called. The result does not depend on ``jobs``.
        """

    def results_versions(self) -> dict[str, int]:
        """Return the results version of everything that decides the structure, by name.

        Stored results carry these versions, and are out of date once one of them is raised.
        """
        return {self.word: self.results_version}

    def learn_in_parts(self, parts: PartitionedTable, *, n_folds: int = 0, seed: int = 0) -> list[LearnedStructure]:
        """From a table in parts: what all rows lead to, and then all rows but those of each fold."""
        raise InputError(
            f"The structure {self.word} is learned from all rows together, and the table is in parts. Use a structure "
            "that is given, a tree or a learned one; or read the table as one, without --cluster and --in-parts."
        )

    def for_likelihood(self) -> StructureLearner:
        """The same as it is by itself where the likelihood of whole rows is what counts."""
        return self

    def with_covariates(self, covariates: Sequence[str], domain: Domain) -> StructureLearner:
        """The same with some variables in everything from which it is learned how others interact."""
        if self.is_learned:
            raise InputError(
                "Covariates go with a structure that is given, or learned by regressions that they are in; "
                f"{self.word} is neither. Use complete, learned, or edges from a file."
            )
        return self

    def smoothed(self, rows: UniqueRows, strength: float) -> tuple[Structure, float] | None:
        """What ``strength`` pseudo-counts lead to, where the structure depends on them; else None.

        The structure, and how many rows they are in all.
        """
        return None

    @abstractmethod
    def describe(self) -> str:
        """What it is, for a person: "all pairs"."""
