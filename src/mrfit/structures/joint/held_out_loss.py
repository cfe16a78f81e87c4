"""Quality of a graph: the loss of its joint fits on held-out rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mrfit.data.unique_rows import UniqueRows
from mrfit.structures.joint.pair_model import PairModel, PairParameters
from mrfit.structures.joint.refit import accuracy, refit
from mrfit.structures.joint.row_table import RowTable, StateOrder

# All graphs are compared by fits with these strengths, however they were grown.
_JUDGED_AT = (10.0, 1.0, 0.1, 0.01)


@dataclass(frozen=True)
class HeldOutLoss:
    """A scorer that fits graphs to the rows of one model and scores them on those of another."""

    model: PairModel
    held_out: PairModel

    @classmethod
    def of(cls, rows: UniqueRows, held_out: UniqueRows, *, jobs: int = 1) -> HeldOutLoss:
        order = StateOrder.of(rows)
        return cls(PairModel(RowTable.of(rows, order), jobs=jobs), PairModel(RowTable.of(held_out, order), jobs=jobs))

    def loss_of_edges(self, edges: NDArray[np.int64]) -> float:
        return self.loss(PairParameters.independent(self.model.table).joined(edges, self.model.table))

    def loss(self, start: PairParameters) -> float:
        """Return the mean loss over held-out rows at the best strength; constants are penalised too, as by `L2`."""
        losses, total = [], float(self.held_out.table.arrays.sample_weight.sum())
        parameters = start
        for strength in _JUDGED_AT:
            parameters, _ = refit(
                self.model, parameters, ridge=strength, constant_ridge=strength, decrease=accuracy(self.model)
            )
            losses.append(self.held_out.value(parameters) / total)
        return float(np.min(losses))
