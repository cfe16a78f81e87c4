"""Explicit Hessians, as a matrix or as a sum of blocks, with which linear systems can be solved."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve
from scipy.sparse import csr_array

from mrfit._typing import Floats, Indices
from mrfit.core.linear_systems import at_least, cholesky

Division = Callable[[Floats], Floats]

MOST_DENSE = 4000  # parameters up to which a matrix is held: 128 MB
MOST_ENTRIES = 50_000_000  # of blocks: 400 MB, and 600 MB more for their inverses

_RIDGE = 1e-6  # of the diagonal: redundant features make a block singular
_NANOSECONDS_CUBED = 0.02  # of a factorization, times the third power of the size
_NANOSECONDS_BLOCK = 30_000.0  # for every block, however small
_ROUNDED = 8  # sizes of blocks are rounded up to multiples of this


class Addend(Protocol):
    """The part of a smooth penalty that contributes to a Hessian."""

    def hessian(self, w: Floats) -> Floats: ...

    def stiffness(self, w: Floats) -> Floats: ...

    def preconditioner(self, diagonal: Floats) -> Division | None: ...


class Hessian(ABC):
    """All second derivatives at one point."""

    entries: Floats

    @abstractmethod
    def with_entries(self, entries: Floats) -> Hessian:
        """Return a Hessian of the same form with other entries, such as those of a sum of functions."""

    @abstractmethod
    def plus(self, penalty: Addend, w: Floats, scale: float) -> Hessian:
        """Return this Hessian plus ``scale`` times that of a penalty."""

    @abstractmethod
    def summed(self, number: Indices, n: int) -> Hessian:
        """Return the Hessian after merging parameters: parameter k becomes unknown number[k] (dropped where -1)."""

    @abstractmethod
    def through(self, adjoint: csr_array) -> Hessian:
        """Return the Hessian in other parameters, from which these follow linearly: adjoint @ this @ adjoint.T."""

    @abstractmethod
    def matrix(self) -> Floats:
        """Return the Hessian as a dense matrix."""

    @abstractmethod
    def division(self) -> Division:
        """Return the function that multiplies by the inverse of this Hessian, or of one close to it."""


@dataclass(frozen=True, eq=False)
class Matrix(Hessian):
    """A Hessian as a dense matrix."""

    entries: Floats

    def with_entries(self, entries: Floats) -> Matrix:
        return Matrix(entries)

    def plus(self, penalty: Addend, w: Floats, scale: float) -> Matrix:
        return Matrix(self.entries + scale * penalty.hessian(w))

    def summed(self, number: Indices, n: int) -> Matrix:
        used = np.flatnonzero(number >= 0)
        return self.through(csr_array((np.ones(len(used)), (number[used], used)), shape=(n, len(number))))

    def through(self, adjoint: csr_array) -> Matrix:
        return Matrix(np.asarray(adjoint @ (adjoint @ self.entries).T, np.float64))

    def matrix(self) -> Floats:
        return self.entries

    def division(self) -> Division:
        lower = cholesky(self.entries)
        return lambda r: np.asarray(cho_solve((lower, True), r, check_finite=False), np.float64)

    @staticmethod
    def nanoseconds(n: int) -> float:
        """Estimate the time of a factorization."""
        return _NANOSECONDS_CUBED * float(n) ** 3


@dataclass(frozen=True, eq=False)
class BlockLayout:
    """The parameters of each block.

    Parameters
    ----------
    n
        Number of parameters; the number n means none.
    sizes
        Size of every block.
    numbers
        The parameters of every block, concatenated.
    """

    n: int
    sizes: Indices
    numbers: Indices

    @property
    def n_entries(self) -> int:
        return int((self.sizes**2).sum())

    @property
    def nanoseconds(self) -> float:
        """The estimated time to invert such blocks."""
        cubes = float((self.sizes.astype(np.float64) ** 3).sum())
        return 5.0 * _NANOSECONDS_CUBED * cubes + _NANOSECONDS_BLOCK * len(self.sizes)

    def renumbered(self, number: Indices, n: int) -> BlockLayout:
        """Return the layout after merging parameters: parameter k becomes number[k], or none where that is -1."""
        return BlockLayout(n, self.sizes, np.append(np.where(number < 0, n, number), n)[self.numbers])

    @cached_property
    def starts(self) -> Indices:
        """The start of every block in ``numbers``."""
        return np.concatenate([[0], np.cumsum(self.sizes)])

    @cached_property
    def row_starts(self) -> Indices:
        """The start of every row of every block among all entries."""
        return np.concatenate([[0], np.cumsum(np.repeat(self.sizes, self.sizes))])

    @cached_property
    def columns(self) -> NDArray[np.int32]:
        """The parameter in the column of every entry."""
        row_sizes = np.repeat(self.sizes, self.sizes)
        shift = np.repeat(self.starts[:-1], self.sizes) - self.row_starts[:-1]
        return self.numbers[np.arange(self.n_entries) + np.repeat(shift, row_sizes)].astype(np.int32)

    @cached_property
    def on_diagonal(self) -> Indices:
        """The position of the diagonal entry for each of ``numbers``."""
        inside = np.arange(len(self.numbers)) - np.repeat(self.starts[:-1], self.sizes)
        return np.asarray(self.row_starts[:-1] + inside, np.int64)


@dataclass(frozen=True, eq=False)
class Blocks(Hessian):
    """The sum of small matrices, each over a few parameters; a parameter may be in several of them.

    The Hessian of a pseudo-likelihood is such a sum: a block for every variable, over all parameters of its
    conditional, so that the parameter of an edge is in two blocks. The inverse of the sum is expensive. `division`
    approximates it by an additive Schwarz method. If a block has the share s of a parameter's curvature, the block is
    scaled so that it has all of it, inverted, and scaled back:

        sum over blocks of  sqrt(s) (block / sqrt(s s') + penalty)^-1 sqrt(s)

    which is exact where blocks are diagonal, and where no parameter is in two blocks. It is symmetric positive
    definite, as a preconditioner has to be.

    Parameters
    ----------
    layout
        The parameters of each block.
    entries
        Entries of every block, row after row.
    """

    layout: BlockLayout
    entries: Floats
    penalty: tuple[Addend, Floats, float] | None = None
    _inverses: dict[bytes, csr_array] = field(default_factory=dict, repr=False)  # the last one, by the added diagonal

    def with_entries(self, entries: Floats) -> Blocks:
        return Blocks(self.layout, entries)

    def plus(self, penalty: Addend, w: Floats, scale: float) -> Blocks:
        return replace(self, penalty=(penalty, w, scale))

    def summed(self, number: Indices, n: int) -> Hessian:
        """Merge parameters: as a matrix if that is small, else as blocks in which merged parameters stay separate."""
        whole = Blocks(self.layout.renumbered(number, n), self.entries)
        return whole if n > MOST_DENSE else Matrix(whole.matrix())

    def matrix(self) -> Floats:
        layout, n = self.layout, self.layout.n
        position = np.repeat(layout.numbers * (n + 1), np.diff(layout.row_starts)) + layout.columns
        sums = np.asarray(np.bincount(position, self.entries, minlength=(n + 1) ** 2), np.float64)
        return np.ascontiguousarray(sums.reshape(n + 1, n + 1)[:n, :n])

    def through(self, adjoint: csr_array) -> Blocks:
        matrix, numbers, entries = adjoint.T.tocsr(), [], []
        for own, block in self._each():
            present = own < self.layout.n
            rows = matrix[own[present]]
            columns = np.unique(rows.indices)
            change = rows[:, columns].toarray()
            numbers.append(columns)
            entries.append((change.T @ block[np.ix_(present, present)] @ change).ravel())
        sizes = np.array([len(columns) for columns in numbers], np.int64)
        return Blocks(BlockLayout(int(adjoint.shape[0]), sizes, np.concatenate(numbers)), np.concatenate(entries))

    def division(self) -> Division:
        numbers, n = self.layout.numbers, self.layout.n
        diagonal, ridge, common, scale = self._diagonal, np.zeros(n), None, 1.0
        if self.penalty is not None:
            penalty, w, scale = self.penalty
            ridge, common = scale * penalty.stiffness(w), penalty.preconditioner(diagonal / scale)
        total = at_least(diagonal + ridge, 1e-8)  # the divisor of each parameter if all others were fixed
        added = total - diagonal + _RIDGE * total
        if added.tobytes() not in self._inverses:
            self._inverses.clear()
            self._inverses[added.tobytes()] = self._inverse(added)
        inverse = self._inverses[added.tobytes()]

        def divide(r: Floats) -> Floats:
            parts = inverse @ np.append(r, 0.0)
            out = np.asarray(np.bincount(numbers, parts, minlength=n + 1)[:n], np.float64)
            # Groups with a common direction that costs nothing move along it as if all else were diagonal.
            return out if common is None else out + common(r) / scale - r / total

        return divide

    def _inverse(self, added: Floats) -> csr_array:
        """Return the scaled inverses of all blocks, as a map from parameters to the entries of ``numbers``."""
        layout, ridge = self.layout, np.append(added, 1.0)
        own, whole = self.entries[layout.on_diagonal], np.append(self._diagonal, 1.0)[layout.numbers]
        least = 1e-12 * float(whole.max(initial=1e-300))
        share = np.sqrt(np.maximum(own, least) / np.maximum(whole, least))
        shares, scaled = np.split(share, layout.starts[1:-1]), []
        for (own_numbers, block), s in zip(self._each(), shares, strict=True):
            scaled.append(block / s / s[:, None])
            scaled[-1].flat[:: len(s) + 1] += ridge[own_numbers]
        inverted = [(s[:, None] * block * s).ravel() for s, block in zip(shares, _inverses(scaled), strict=True)]
        shape = (len(layout.numbers), layout.n + 1)
        return csr_array((np.concatenate(inverted), layout.columns, layout.row_starts), shape=shape)

    def _each(self) -> Iterator[tuple[Indices, Floats]]:
        """Yield the parameters and the entries of every block."""
        numbers = np.split(self.layout.numbers, self.layout.starts[1:-1])
        entries = np.split(self.entries, np.cumsum(self.layout.sizes**2)[:-1])
        return ((own, block.reshape(len(own), -1)) for own, block in zip(numbers, entries, strict=True))

    @cached_property
    def _diagonal(self) -> Floats:
        n, on = self.layout.n, self.entries[self.layout.on_diagonal]
        return np.asarray(np.bincount(self.layout.numbers, on, minlength=n + 1)[:n], np.float64)


def _inverses(blocks: list[Floats]) -> list[Floats]:
    """Return the inverses of all blocks; those of similar size are stacked, because most are too small for a call."""
    widths = np.array([-(-len(block) // _ROUNDED) * _ROUNDED for block in blocks])
    inverses: list[Floats] = [np.empty((0, 0))] * len(blocks)
    for width in np.unique(widths):
        chosen = np.flatnonzero(widths == width)
        stack = np.tile(np.eye(width), (len(chosen), 1, 1))
        for padded, b in zip(stack, chosen, strict=True):
            padded[: len(blocks[b]), : len(blocks[b])] = blocks[b]
        for inverse, b in zip(np.linalg.inv(stack), chosen, strict=True):
            inverses[b] = inverse[: len(blocks[b]), : len(blocks[b])]
    return inverses
