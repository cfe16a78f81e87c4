"""Neighbours of a graph that is grown on the joint pseudo-likelihood, the settings chosen on held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mrfit.data.folds import Fold, folds_of
from mrfit.data.unique_rows import UniqueRows
from mrfit.structures.edge_weights import weight_of_coefficients
from mrfit.structures.joint.grid_search import PRICES, Chosen, Sweep
from mrfit.structures.joint.held_out_loss import HeldOutLoss
from mrfit.structures.joint.joint_growth import GrowthResult, JointGrowth, Setting
from mrfit.structures.joint.pair_model import PairModel
from mrfit.structures.joint.row_table import RowTable, StateOrder
from mrfit.structures.nodewise.allowed_pairs import AllowedPairs
from mrfit.structures.nodewise.lasso_paths import NodePath
from mrfit.structures.nodewise.neighbour_selection import NeighbourSelection
from mrfit.structures.nodewise.neighbours import Neighbours

_N_PARTS = 5  # one of which is held out where no rows are given for that
_FEWEST_ROWS = 20  # that can spare some
_UNTRIED = Setting(ridge=10.0, price=12.0)  # where nothing can be held out


@dataclass(frozen=True)
class JointSelection(NeighbourSelection):
    """A graph whose edges can be dealt to their ends so that no variable owns more than ``max_degree``.

    There are no regressions of single variables here: both rows of the result say the same, and either rule joins
    them to the same graph.

    Parameters
    ----------
    valid
        Validation rows, which select ridge and threshold. Without them a fifth of the rows does, and the graph is then
        grown again on all rows.
    seed
        Random seed for that fifth.
    """

    max_degree: int
    valid: UniqueRows | None = None
    seed: int = 0

    def neighbours(
        self,
        rows: UniqueRows,
        pairs: AllowedPairs,
        *,
        jobs: int = 1,
        callback: Callable[[int], None] | None = None,
    ) -> Neighbours:
        growth, by = self._growth(rows, pairs, jobs), "chosen on held-out rows"
        if self.valid is not None:
            chosen = self._chosen(growth, rows, self.valid.recoded(rows.domain), jobs)
            setting, grown = chosen.setting, chosen.grown
        else:
            fold = self._fold(rows)
            if fold is None:
                setting, by = _UNTRIED, f"not chosen, as fewer than {_FEWEST_ROWS} rows can spare none"
            else:
                setting = self._chosen(self._growth(fold.train, pairs, jobs), fold.train, fold.held_out, jobs).setting
            grown = growth.whole(setting, PRICES)
        if callback is not None:
            callback(len(rows.domain))
        said = (_remark(setting, by),) if _has_pairs(rows) else ()
        return replace(_neighbours(growth, grown, rows), remarks=said)

    def why_none(self, rows: UniqueRows, paths: Sequence[NodePath]) -> str:
        return "no pair gains more than its price." if _has_pairs(rows) else super().why_none(rows, paths)

    def _growth(self, rows: UniqueRows, pairs: AllowedPairs, jobs: int) -> JointGrowth:
        table = RowTable.of(rows, StateOrder.of(rows))
        return JointGrowth(PairModel(table, jobs=jobs), self.max_degree, pairs.forbidden, pairs.required)

    def _chosen(self, growth: JointGrowth, rows: UniqueRows, held_out: UniqueRows, jobs: int) -> Chosen:
        held_out.check_complete("choosing a structure")
        return Sweep(
            growth, HeldOutLoss(growth.model, PairModel(RowTable.of(held_out, StateOrder.of(rows)), jobs=jobs))
        ).best()

    def _fold(self, rows: UniqueRows) -> Fold | None:
        if min(rows.effective_rows, rows.total_weight) < _FEWEST_ROWS or rows.n_distinct < _N_PARTS:
            return None
        return next(folds_of(rows, _N_PARTS, np.random.default_rng(self.seed)))


def _has_pairs(rows: UniqueRows) -> bool:
    """Whether two variables vary."""
    return int((StateOrder.of(rows).n_columns > 0).sum()) > 1


def _neighbours(growth: JointGrowth, grown: GrowthResult, rows: UniqueRows) -> Neighbours:
    n, parameters = growth.model.table.n_variables, grown.parameters
    coefficients, gains = np.zeros((n, n)), np.zeros((n, n))
    widths = growth.model.table.widths
    weight = np.array(
        [weight_of_coefficients(w.reshape(widths[a], widths[b])) for w, (a, b) in
         zip(np.split(parameters.w, parameters.offset[1:-1]), parameters.edges.tolist(), strict=False)]
    )  # fmt: skip
    turned, single = StateOrder.of(rows).turned, np.diff(parameters.offset) == 1
    weight[single] *= (turned[parameters.edges[:, 0]] * turned[parameters.edges[:, 1]])[single]
    for matrix, values in ((coefficients, weight), (gains, 0.5 * growth.worth(grown))):
        a, b = parameters.edges.T
        matrix[a, b] = matrix[b, a] = values
    found = Neighbours.of_matrices(grown.graph.adjacency(), coefficients)
    return replace(found, owners=grown.graph.owners(), gains=gains)


def _remark(setting: Setting, by: str) -> str:
    return (
        f"Grown with ridge {setting.ridge:g}, price {setting.price:g} and {setting.n_exchanges} exchanges "
        f"({by}). The bound is on the edges that a variable owns, not on its neighbours."
    )
