"""A Hessian that was worked out, in a form that can be divided by."""

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

MOST_DENSE = 4000  # parameters of which a matrix is held: 128 MB
MOST_ENTRIES = 50_000_000  # of blocks: 400 MB, and as much and a half when they are divided by

_RIDGE = 1e-6  # of the diagonal: features that repeat each other make a block singular
_NANOSECONDS_CUBED = 0.02  # to divide by a matrix, times the third power of its size
_NANOSECONDS_BLOCK = 30_000.0  # for every block, however small
_ROUNDED = 8  # sizes of blocks are rounded up to this


class Addend(Protocol):
    """What a smooth penalty tells of its own Hessian."""

    def hessian(self, w: Floats) -> Floats: ...

    def stiffness(self, w: Floats) -> Floats: ...

    def preconditioner(self, diagonal: Floats) -> Division | None: ...


class Hessian(ABC):
    """Second derivatives at one point, all of them."""

    entries: Floats

    @abstractmethod
    def with_entries(self, entries: Floats) -> Hessian:
        """Of the same form: that of another function of the same parameters, or of a sum of such."""

    @abstractmethod
    def plus(self, penalty: Addend, w: Floats, scale: float) -> Hessian:
        """With ``scale`` times that of a penalty added."""

    @abstractmethod
    def summed(self, number: Indices, n: int) -> Hessian:
        """Of a function of fewer unknowns: that each parameter is one of, by its number, or zero where that is -1."""

    @abstractmethod
    def through(self, adjoint: csr_array) -> Hessian:
        """Of a function of other parameters, of which these are sums: adjoint times this times its transpose."""

    @abstractmethod
    def matrix(self) -> Floats:
        """All entries."""

    @abstractmethod
    def division(self) -> Division:
        """By this Hessian, or by one close to it."""


@dataclass(frozen=True, eq=False)
class Matrix(Hessian):
    """All entries."""

    entries: Floats

    def with_entries(self, entries: Floats) -> Matrix:
        return Matrix(entries)

    def plus(self, penalty: Addend, w: Floats, scale: float) -> Matrix:
        return Matrix(self.entries + scale * penalty.hessian(w))

    def summed(self, number: Indices, n: int) -> Matrix:
        kept = np.flatnonzero(number >= 0)
        return self.through(csr_array((np.ones(len(kept)), (number[kept], kept)), shape=(n, len(number))))

    def through(self, adjoint: csr_array) -> Matrix:
        return Matrix(np.asarray(adjoint @ (adjoint @ self.entries).T, np.float64))

    def matrix(self) -> Floats:
        return self.entries

    def division(self) -> Division:
        lower = cholesky(self.entries)
        return lambda r: np.asarray(cho_solve((lower, True), r, check_finite=False), np.float64)

    @staticmethod
    def nanoseconds(n: int) -> float:
        """To divide by one, roughly."""
        return _NANOSECONDS_CUBED * float(n) ** 3


@dataclass(frozen=True, eq=False)
class BlockLayout:
    """Which parameters are in which block.

    Parameters
    ----------
    n
        Parameters; the number n stands for none.
    sizes
        Of every block.
    numbers
        The parameters of every block, one block after another.
    """

    n: int
    sizes: Indices
    numbers: Indices

    @property
    def n_entries(self) -> int:
        return int((self.sizes**2).sum())

    @property
    def nanoseconds(self) -> float:
        """To divide by such blocks, roughly."""
        cubes = float((self.sizes.astype(np.float64) ** 3).sum())
        return 5.0 * _NANOSECONDS_CUBED * cubes + _NANOSECONDS_BLOCK * len(self.sizes)

    def renumbered(self, number: Indices, n: int) -> BlockLayout:
        """With other parameters, some of which may be one; -1 is none."""
        return BlockLayout(n, self.sizes, np.append(np.where(number < 0, n, number), n)[self.numbers])

    @cached_property
    def starts(self) -> Indices:
        """Of every block in ``numbers``."""
        return np.concatenate([[0], np.cumsum(self.sizes)])

    @cached_property
    def row_starts(self) -> Indices:
        """Of every row of every block among all entries."""
        return np.concatenate([[0], np.cumsum(np.repeat(self.sizes, self.sizes))])

    @cached_property
    def columns(self) -> NDArray[np.int32]:
        """The parameter in the column of every entry."""
        row_sizes = np.repeat(self.sizes, self.sizes)
        shift = np.repeat(self.starts[:-1], self.sizes) - self.row_starts[:-1]
        return self.numbers[np.arange(self.n_entries) + np.repeat(shift, row_sizes)].astype(np.int32)

    @cached_property
    def on_diagonal(self) -> Indices:
        """Entries that are, one for each of ``numbers``."""
        inside = np.arange(len(self.numbers)) - np.repeat(self.starts[:-1], self.sizes)
        return np.asarray(self.row_starts[:-1] + inside, np.int64)


@dataclass(frozen=True, eq=False)
class Blocks(Hessian):
    """The sum of small matrices, each over a few parameters; a parameter may be in several of them.

    The Hessian of a pseudo-likelihood is one: a block for every variable, over all parameters that its conditional
    depends on, so that the parameter of an edge is in two. The inverse is not so simple; what `division` does instead
    is an additive Schwarz method. Where a parameter has the share s of its curvature in a block, the block is scaled to
    have all of it there, inverted, and scaled back:

        sum over blocks of  sqrt(s) (block / sqrt(s s') + penalty)^-1 sqrt(s)

    which is exact where blocks are diagonal, and where no parameter is in two.

    Parameters
    ----------
    layout
        Which parameters are in which block.
    entries
        Of every block, row after row.
    """

    layout: BlockLayout
    entries: Floats
    penalty: tuple[Addend, Floats, float] | None = None
    _inverses: dict[bytes, csr_array] = field(default_factory=dict, repr=False)  # the last one, by what was added

    def with_entries(self, entries: Floats) -> Blocks:
        return Blocks(self.layout, entries)

    def plus(self, penalty: Addend, w: Floats, scale: float) -> Blocks:
        return replace(self, penalty=(penalty, w, scale))

    def summed(self, number: Indices, n: int) -> Hessian:
        """As a matrix where that is small. Otherwise parameters of one block that become one stay apart in it."""
        whole = Blocks(self.layout.renumbered(number, n), self.entries)
        return whole if n > MOST_DENSE else Matrix(whole.matrix())

    def matrix(self) -> Floats:
        layout, n = self.layout, self.layout.n
        place = np.repeat(layout.numbers * (n + 1), np.diff(layout.row_starts)) + layout.columns
        sums = np.asarray(np.bincount(place, self.entries, minlength=(n + 1) ** 2), np.float64)
        return np.ascontiguousarray(sums.reshape(n + 1, n + 1)[:n, :n])

    def through(self, adjoint: csr_array) -> Blocks:
        matrix, numbers, entries = adjoint.T.tocsr(), [], []
        for mine, block in self._each():
            there = mine < self.layout.n
            rows = matrix[mine[there]]
            columns = np.unique(rows.indices)
            change = rows[:, columns].toarray()
            numbers.append(columns)
            entries.append((change.T @ block[np.ix_(there, there)] @ change).ravel())
        sizes = np.array([len(columns) for columns in numbers], np.int64)
        return Blocks(BlockLayout(int(adjoint.shape[0]), sizes, np.concatenate(numbers)), np.concatenate(entries))

    def division(self) -> Division:
        numbers, n = self.layout.numbers, self.layout.n
        diagonal, ridge, common, scale = self._diagonal, np.zeros(n), None, 1.0
        if self.penalty is not None:
            penalty, w, scale = self.penalty
            ridge, common = scale * penalty.stiffness(w), penalty.preconditioner(diagonal / scale)
        alone = at_least(diagonal + ridge, 1e-8)  # what each parameter would be divided by
        added = alone - diagonal + _RIDGE * alone
        if added.tobytes() not in self._inverses:
            self._inverses.clear()
            self._inverses[added.tobytes()] = self._inverse(added)
        inverse = self._inverses[added.tobytes()]

        def divide(r: Floats) -> Floats:
            parts = inverse @ np.append(r, 0.0)
            out = np.asarray(np.bincount(numbers, parts, minlength=n + 1)[:n], np.float64)
            # Groups that may move together for nothing do so as if all else were diagonal.
            return out if common is None else out + common(r) / scale - r / alone

        return divide

    def _inverse(self, added: Floats) -> csr_array:
        """The scaled inverses of all blocks side by side, from parameters to the entries of ``numbers``."""
        layout, ridge = self.layout, np.append(added, 1.0)
        own, whole = self.entries[layout.on_diagonal], np.append(self._diagonal, 1.0)[layout.numbers]
        least = 1e-12 * float(whole.max(initial=1e-300))
        share = np.sqrt(np.maximum(own, least) / np.maximum(whole, least))
        shares, scaled = np.split(share, layout.starts[1:-1]), []
        for (mine, block), s in zip(self._each(), shares, strict=True):
            scaled.append(block / s / s[:, None])
            scaled[-1].flat[:: len(s) + 1] += ridge[mine]
        inverted = [(s[:, None] * block * s).ravel() for s, block in zip(shares, _inverses(scaled), strict=True)]
        shape = (len(layout.numbers), layout.n + 1)
        return csr_array((np.concatenate(inverted), layout.columns, layout.row_starts), shape=shape)

    def _each(self) -> Iterator[tuple[Indices, Floats]]:
        """The parameters and the entries of every block."""
        numbers = np.split(self.layout.numbers, self.layout.starts[1:-1])
        entries = np.split(self.entries, np.cumsum(self.layout.sizes**2)[:-1])
        return ((mine, block.reshape(len(mine), -1)) for mine, block in zip(numbers, entries, strict=True))

    @cached_property
    def _diagonal(self) -> Floats:
        n, on = self.layout.n, self.entries[self.layout.on_diagonal]
        return np.asarray(np.bincount(self.layout.numbers, on, minlength=n + 1)[:n], np.float64)


def _inverses(blocks: list[Floats]) -> list[Floats]:
    """Of all blocks; those of nearly one size at once, as most are too small to be worth a call."""
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
