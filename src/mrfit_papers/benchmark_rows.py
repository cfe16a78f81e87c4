"""The rows of a benchmark set and a structure learned from them, prepared once for all learners on it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from mrfit import FitResult, FixedStructure, Learned, Learner, UniqueRows
from mrfit.data.named_datasets import find
from mrfit.learning.cross_validation import mean_over_rows
from mrfit.learning.fit_result import CandidateFit, MeanScore
from mrfit.learning.objective_specs import PSEUDO_LIKELIHOOD
from mrfit.structures.base import LearnedStructure, StructureLearner

PARTS = ("train", "valid", "test")


@dataclass(frozen=True, eq=False)
class Prepared:
    """Training, validation and test rows, and the structure learned from the first two."""

    rows: UniqueRows
    valid: UniqueRows
    test: UniqueRows
    structure: LearnedStructure

    @classmethod
    def of(cls, rows: UniqueRows, valid: UniqueRows, test: UniqueRows, structure: StructureLearner) -> Prepared:
        return cls(rows, valid, test, structure.learn(rows, valid=valid))

    def fitted(self, learner: Learner, *, choosing: bool = True, rough: float | None = None) -> FitResult:
        """Fit a learner on this structure; its gain over L2 is computed elsewhere, once for all learners."""
        known = replace(learner, structure=FixedStructure(self.structure.structure))
        return known.fit(self.rows, self.valid if choosing else None, compared=False, rough=rough)

    def test_scores(self, fit: CandidateFit) -> NDArray[np.float64]:
        """Return pseudo-log-likelihoods of all distinct test rows."""
        return PSEUDO_LIKELIHOOD.row_scores(fit.model, self.test, 1)

    def mean(self, scores: NDArray[np.float64]) -> MeanScore:
        """Return the mean over test rows."""
        return mean_over_rows(scores, self.test)


@lru_cache(maxsize=1)
def prepared(name: str, degree: int, bound: str) -> Prepared:
    return Prepared.of(*read(name), Learned(max_degree=degree, bound=bound))


@lru_cache(maxsize=1)
def read(name: str) -> tuple[UniqueRows, UniqueRows, UniqueRows]:
    """Read training, validation and test rows."""
    rows = UniqueRows.from_file(find(name, "train"))
    valid, test = (UniqueRows.from_file(find(name, part)).recoded(rows.domain) for part in PARTS[1:])
    return rows, valid, test
