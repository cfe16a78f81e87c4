"""What every way to choose neighbours offers."""

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
        """``callback`` is told how many regressions have newly come to their end, each of them once."""

    def why_none(self, rows: UniqueRows, paths: Sequence[NodePath]) -> str:
        """Why no variable has a neighbour, where none has; ``paths`` are those that were walked."""
        return "no variable helps to predict another."
