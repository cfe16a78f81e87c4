"""Losses of every variable given the others, in one pass over conditional cells."""

from __future__ import annotations

from abc import abstractmethod
from functools import cache, cached_property

import numpy as np

from mrfit._kernels.fitting.cells import DIAGONAL, EXPANSION, GRADIENT, PRODUCT, gather, scatter, sweep
from mrfit._kernels.fitting.curvature_blocks import curvature_blocks
from mrfit._typing import Floats
from mrfit.core.diagonal_in_basis import UncorrelatedFeatures
from mrfit.core.threads import deal, run
from mrfit.objectives.counts.conditional_cells import ConditionalCells
from mrfit.objectives.hessian import MOST_DENSE, MOST_ENTRIES, BlockLayout, Blocks, Hessian, Matrix
from mrfit.objectives.objective import Expansion, ExplicitHessian, Objective

# A second thread costs about 50 microseconds to wake; below this much work (nanoseconds) it does not pay.
_WORTH_A_THREAD = 200_000.0


class ConditionalLoss(Objective):
    """Loss of every variable given the others, as a mean over rows and a sum over variables; an abstract base class.

    1/N sum over rows d and variables i of a loss of x_i given the rest of the row.

    Parameters
    ----------
    cells : ConditionalCells
        Rows, compressed to the cells that conditional distributions depend on.
    jobs : int, default 1
        Number of threads. Variables are independent, so that the result is the same to the last bit for any number.

    See Also
    --------
    PseudoLikelihood : Logarithmic loss.
    InteractionScreening : Exponential loss.

    Notes
    -----
    One evaluation is one pass over the conditional cells, whose cost does not depend on the number of rows. A cell is
    one state of a variable's Markov blanket, so all rows in it have the same loss but for the variable's own state.

    Examples
    --------
    >>> from mrfit.objectives import ConditionalLoss, InteractionScreening, PseudoLikelihood
    >>> [each.__name__ for each in (PseudoLikelihood, InteractionScreening)
    ...  if issubclass(each, ConditionalLoss)]
    ['PseudoLikelihood', 'InteractionScreening']
    """

    @property
    @abstractmethod
    def loss(self) -> int:
        """Number of the loss in the compiled pass."""

    def __init__(self, cells: ConditionalCells, *, jobs: int = 1) -> None:
        self.cells = cells
        self.n_parameters, self.n_cells = cells.n_parameters, cells.n_cells
        self._ranges = deal(cells.cost, jobs if cells.cost.sum() > _WORTH_A_THREAD else 1)
        n_slots = len(cells.parameter_of_slot)
        # Buffers for the duration of a pass; no returned array refers to them.
        self._w_slots, self._slots = np.empty(n_slots), np.empty(n_slots)
        self._values = np.zeros(cells.n_variables)

    def value_and_gradient(self, w: Floats) -> tuple[float, Floats]:
        gradient = self._pass(GRADIENT, w, np.empty(0))
        return self._value(), gradient

    def expand(self, w: Floats) -> Expansion:
        expected = self._cell_buffer()
        gradient = self._pass(EXPANSION, w, expected)

        @cache
        def curvature() -> Floats:
            self._sweep(DIAGONAL, gradient, expected)  # ignores the direction: any vector will do
            return self._slots.copy()

        return Expansion(
            value=self._value(),
            gradient=gradient,
            diagonal=cache(lambda: self._collected(curvature()) / self.cells.total_weight),
            uncorrelated=cache(lambda: self._features.at(curvature() / self.cells.total_weight)),
            product=lambda direction: self._pass(PRODUCT, direction, expected),
            explicit=self._explicit(expected),
        )

    @cached_property
    def _features(self) -> UncorrelatedFeatures:
        """The features of each regression: every state of a variable but the first has one of its own."""
        arrays = self.cells.arrays
        widths = np.repeat(1 + arrays.n_features, arrays.n_free)
        constants = np.repeat(np.cumsum(widths) - widths, widths)
        return UncorrelatedFeatures(self.n_parameters, self.cells.parameter_of_slot, constants)

    def _cell_buffer(self) -> Floats:
        """Return an array for the terms of every cell's curvature."""
        return np.empty(len(self.cells.arrays.counts))

    def _explicit(self, expected: Floats) -> ExplicitHessian | None:
        """Return the explicit Hessian, at the price of one product per parameter of a variable, over its cells alone.

        It takes about a third of that price. A better price would gain little: most of a fit is counting and passes.
        """
        whole, n, layout = float(self.cells.cost.sum()), self.n_parameters, self._blocks
        in_blocks = n > MOST_DENSE
        if whole == 0.0 or (in_blocks and layout.n_entries > MOST_ENTRIES):
            return None
        products = float(self.cells.cost @ layout.sizes) / whole
        dividing, n_entries = (layout.nanoseconds, layout.n_entries) if in_blocks else (Matrix.nanoseconds(n), n * n)
        return ExplicitHessian(
            lambda: self._hessian(expected), products, whole, dividing, n_entries, reuse_across_steps=in_blocks
        )

    @cached_property
    def _blocks(self) -> BlockLayout:
        """The layout of the Hessian: one block for the parameters of each variable."""
        starts, numbers = self.cells.arrays.slot_start, self.cells.parameter_of_slot
        return BlockLayout(self.n_parameters, np.diff(starts), np.where(numbers < 0, self.n_parameters, numbers))

    def _hessian(self, expected: Floats) -> Hessian:
        """Return the Hessian with a block for each variable, or as one matrix if that is small."""
        entries, n = np.empty(self._blocks.n_entries), self.n_parameters
        starts = np.concatenate([[0], np.cumsum(self._blocks.sizes**2)])
        run(
            lambda first, last: curvature_blocks(self.loss, self.cells.arrays, first, last, expected, starts, entries),
            self._ranges,
        )
        entries /= self.cells.total_weight
        whole = Blocks(self._blocks, entries)
        return whole.summed(np.arange(n), n) if n <= MOST_DENSE else whole

    def _value(self) -> float:
        return float(self._values.sum()) / self.cells.total_weight

    def _pass(self, mode: int, w: Floats, expected: Floats) -> Floats:
        self._sweep(mode, w, expected)
        return self._collected(self._slots) / self.cells.total_weight

    def _sweep(self, mode: int, w: Floats, expected: Floats) -> None:
        """Fill in the sums over rows, by variable and by slot."""
        gather(np.ascontiguousarray(w), self.cells.parameter_of_slot, self._w_slots)
        run(
            lambda first, last: sweep(
                self.loss, mode, self.cells.arrays, first, last, self._w_slots, expected, self._slots, self._values
            ),
            self._ranges,
        )

    def _collected(self, slots: Floats) -> Floats:
        """Return the sums of slots by parameter."""
        out = np.empty(self.n_parameters)
        scatter(slots, self.cells.parameter_of_slot, out)
        return out
