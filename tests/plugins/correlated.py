"""A graph of correlations: edges between variables whose codes correlate by more than a threshold."""

from dataclasses import dataclass

import numpy as np

from mrfit.structures import LearnedStructure, Structure, StructureLearner


@dataclass(frozen=True)
class Correlated(StructureLearner):
    threshold: float = 0.2

    word = "correlated"

    def learn(self, rows, *, valid=None, jobs=1, callback=None):
        covariance = np.atleast_2d(np.cov(rows.codes.T, aweights=rows.sample_weight, ddof=0))
        scale = np.sqrt(np.diag(covariance)) + 1e-300  # a variable of one state correlates with none
        strong = np.abs(covariance) > self.threshold * np.outer(scale, scale)
        edges = np.argwhere(np.triu(strong, 1))
        return LearnedStructure(Structure.from_edges(len(rows.domain), edges.tolist()))

    def describe(self):
        return f"pairs that correlate by more than {self.threshold:g}"
