"""What node-wise regressions say about each edge they chose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class EdgeReport:
    """Evidence for edges a - b with a < b, from the regression of a on the rest and from that of b.

    ``coefficients[k, 0]`` is the signed size of b in the regression of a, ``coefficients[k, 1]`` that of a in the
    regression of b; for variables with more than two states the size is the norm of the group of coefficients.
    ``entered[k]`` are the strengths at which the edge first entered either path, NaN where it never did.
    """

    edges: NDArray[np.int64]  # (edges, 2)
    coefficients: Floats  # (edges, 2)
    entered: Floats  # (edges, 2)

    def __len__(self) -> int:
        return len(self.edges)

    @property
    def strength(self) -> Floats:
        """One signed number for each edge, the mean of its two coefficients; for drawing and sorting."""
        return np.asarray(self.coefficients.mean(axis=1), np.float64)

    def rows(self, names: tuple[str, ...]) -> Iterator[dict[str, str | float]]:
        """One record for each edge, strongest first, variables by name."""
        for k in np.argsort(-np.abs(self.strength), kind="stable"):
            a, b = self.edges[k]
            yield {
                "source": names[a],
                "target": names[b],
                "strength": float(self.strength[k]),
                "target_given_source": float(self.coefficients[k, 1]),
                "source_given_target": float(self.coefficients[k, 0]),
                "entered_source": float(self.entered[k, 0]),
                "entered_target": float(self.entered[k, 1]),
            }
