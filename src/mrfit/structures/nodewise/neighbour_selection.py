"""Base class of the ways to choose neighbours."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from mrfit.data.unique_rows import UniqueRows
from mrfit.structures.nodewise.allowed_pairs import AllowedPairs
from mrfit.structures.nodewise.lasso_paths import NodePath
from mrfit.structures.nodewise.neighbours import Neighbours


class NeighbourSelection(ABC):
    """A way to choose the neighbours of every variable by regressions on all others."""

    @abstractmethod
    def neighbours(
        self,
        rows: UniqueRows,
        pairs: AllowedPairs,
        *,
        jobs: int = 1,
        callback: Callable[[int], None] | None = None,
    ) -> Neighbours:
        """Choose neighbours; ``callback`` receives the number of regressions that have just ended."""

    def why_none(self, rows: UniqueRows, paths: Sequence[NodePath]) -> str:
        """Explain why no variable has a neighbour; ``paths`` are the computed ones."""
        return "no variable helps to predict another."
