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
    """A structure and, if regressions selected its edges, the evidence for them.

    Parameters
    ----------
    structure : Structure
        The variables that interact.
    report : EdgeReport, default=EdgeReport.of_no_edges()
        Evidence for each edge; empty if no regressions were run.
    violation : float or None, default=None
        Largest violation of optimality on any used point of a path, as a share of its critical strength; None without
        paths.
    at_end : tuple of int, default=()
        Variables whose criterion was still falling at the end of their path.
    remarks : tuple of str, default=()
        Sentences for the user, such as reasons for an empty structure.

    See Also
    --------
    StructureLearner : Returns this from ``learn``.

    Examples
    --------
    >>> from mrfit import ForwardSelection, UniqueRows
    >>> rows = UniqueRows.of({"a": [0, 1, 1, 0] * 25, "b": [0, 1, 0, 0] * 25, "c": [1, 1, 0, 0] * 25})
    >>> learned = ForwardSelection().learn(rows)
    >>> learned.structure
    <Structure: 3 variables, 3 edges>
    >>> len(learned.report)
    3
    """

    structure: Structure
    report: EdgeReport = field(default_factory=EdgeReport.of_no_edges)
    violation: float | None = None
    at_end: tuple[int, ...] = ()
    remarks: tuple[str, ...] = ()


class StructureLearner(ABC):
    """Base class of structure learners: rows in, structure out.

    A learner is a value without state. Every fold and bootstrap sample calls it with its own rows, so nothing leaks.

    Attributes
    ----------
    word : str
        Class variable: the name at the command line and in files.
    is_learned : bool
        Class variable: whether other rows can lead to another structure.
    results_version : int
        Class variable: raise it when the same rows lead to another structure.

    See Also
    --------
    mrfit.testing.check_structure_learner : Checks a learner of your own.
    mrfit.register : Makes it known by its word.

    Examples
    --------
    >>> from mrfit import ChowLiuTree, CompleteGraph
    >>> from mrfit.structures import StructureLearner
    >>> isinstance(ChowLiuTree(), StructureLearner), ChowLiuTree().is_learned, CompleteGraph().is_learned
    (True, True, False)
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
        """Learn which variables interact.

        Parameters
        ----------
        rows : UniqueRows
            The rows to learn from.
        valid : UniqueRows or None, default=None
            Held-out rows, for learners that select by them.
        jobs : int, default=1
            Number of threads. The result does not depend on it.
        callback : callable or None, default=None
            Called with the number of regressions that have just ended, from any thread; never by learners without
            regressions.
        """

    def results_versions(self) -> dict[str, int]:
        """Return the results version of every part that determines the structure, by name.

        Stored results carry these versions, and are out of date once one of them is raised.
        """
        return {self.word: self.results_version}

    def learn_in_parts(self, parts: PartitionedTable, *, n_folds: int = 0, seed: int = 0) -> list[LearnedStructure]:
        """Learn from a table in parts: first from all rows, then from all rows except each fold.

        Parameters
        ----------
        parts : PartitionedTable
            The table.
        n_folds : int, default=0
            Number of folds.
        seed : int, default=0
            Random seed of the folds.
        """
        raise InputError(
            f"The structure {self.word} is learned from all rows together, and the table is in parts. Use a structure "
            "that is given, a tree or a learned one; or read the table as one, without --cluster and --in-parts."
        )

    def for_likelihood(self) -> StructureLearner:
        """Return the variant of this learner to use when the likelihood of whole rows is the goal."""
        return self

    def with_covariates(self, covariates: Sequence[str], domain: Domain) -> StructureLearner:
        """Return the learner with covariates in every regression.

        Parameters
        ----------
        covariates : sequence of str
            Names of the covariates.
        domain : Domain
            The variables, with the covariates among them.
        """
        if self.is_learned:
            raise InputError(
                "Covariates go with a structure that is given, or learned by regressions that they are in; "
                f"{self.word} is neither. Use complete, learned, or edges from a file."
            )
        return self

    def smoothed(self, rows: UniqueRows, strength: float) -> tuple[Structure, float] | None:
        """Return the structure for some pseudo-counts, and their total number of rows.

        None if the structure does not depend on them.

        Parameters
        ----------
        rows : UniqueRows
            The rows to learn from.
        strength : float
            Pseudo-counts of each state.
        """
        return None

    @abstractmethod
    def describe(self) -> str:
        """Return a description in a few words, such as "all pairs"."""
