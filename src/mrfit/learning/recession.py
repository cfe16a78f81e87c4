"""Estimates that lie at infinity: where a convex loss falls along a direction for ever.

A log-likelihood and a pseudo-likelihood are made of differences ``(features of what was seen - features of what might
have been seen) . w``, which the loss wants large. A direction is one of *recession* where none of them falls, and it
takes the estimate to infinity where one of them grows: "separation" of a logistic regression (Albert and Anderson 1984;
Geyer 2009). All such directions are a cone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import eigh

from mrfit._typing import Floats

_SMALL = 1e-7  # what a linear program leaves of a zero
_FALLS = -1e-6
_FARTHEST = 1e5  # of a direction along which all differences that can grow have grown to 1
_FLAT = 1e-10  # of the largest eigenvalue
_MOST_SIGNS = 300  # parameters whose limits take a linear program each


@dataclass(frozen=True, eq=False)
class Recession:
    """The cone of directions along which no difference falls.

    Parameters
    ----------
    direction
        One of them, along which every difference grows that grows along any.
    growing
        These differences, (differences, unknowns), each once.
    span
        An orthonormal basis of the cone's span, (unknowns, dimensions), without what changes nothing.
    neutral
        One of the directions that change no difference: unknowns that can replace each other.
    """

    direction: Floats
    growing: sparse.csr_array
    span: Floats
    neutral: Floats

    @classmethod
    def of(cls, differences: sparse.csr_array, fixed: sparse.csr_array | None = None) -> Recession:
        """Return the cone of directions along which no difference falls and the rows of ``fixed`` stay as they are.

        ``differences`` and ``fixed`` have a row for each difference or constraint and a column for each unknown.
        """
        n = differences.shape[1]
        fixed = sparse.csr_array((0, n)) if fixed is None else fixed
        free = np.flatnonzero(np.linalg.norm(_null_space(fixed), axis=1) > _SMALL)
        inner = cls._of_free(_distinct(differences[:, free]), _distinct(fixed[:, free]))
        spread = np.zeros((n, len(free)))
        spread[free, np.arange(len(free))] = 1.0
        growing = sparse.csr_array(inner.growing @ sparse.csr_array(spread).T)
        return cls(spread @ inner.direction, growing, spread @ inner.span, spread @ inner.neutral)

    @classmethod
    def _of_free(cls, differences: sparse.csr_array, fixed: sparse.csr_array) -> Recession:
        direction = _most_growing(differences, fixed)
        grows = differences @ direction > 0.5
        neutral = _null_space(sparse.vstack([fixed, differences], format="csr"))
        span = _null_space(sparse.vstack([fixed, differences[np.flatnonzero(~grows)]], format="csr"))
        span = _orthonormal(span - neutral @ (neutral.T @ span))
        direction = direction - neutral @ (neutral.T @ direction)
        return cls(direction, differences[np.flatnonzero(grows)], span, neutral)

    @property
    def exists(self) -> bool:
        """Whether some estimate lies at infinity."""
        return self.growing.shape[0] > 0

    def limits(self, basis: sparse.csr_array) -> Floats:
        """Limit of each parameter: plus or minus infinity, 0 if it stays finite, NaN if the data leave it open.

        The parameters are ``basis @ unknowns``. One that is left open may go either way, while others go with it: the
        data determine only a sum of them.
        """
        along, own = basis @ self.direction, basis @ self.span
        moved = np.linalg.norm(own, axis=1) > _SMALL
        decided = moved & (np.abs(along) > _SMALL * np.abs(along).max(initial=1.0))
        decided &= np.linalg.norm(basis @ self.neutral, axis=1) <= _SMALL
        growing = np.asarray(self.growing @ self.span)
        out = np.where(moved, np.nan, 0.0)
        n_asked = 0
        for k in np.flatnonzero(decided):
            sign = float(np.sign(along[k]))
            if _is_among(sign * own[k], growing):
                out[k] = sign * np.inf
            elif n_asked < _MOST_SIGNS:
                n_asked += 1
                if not _falls(sign * own[k], growing):
                    out[k] = sign * np.inf
        return out


def _most_growing(differences: sparse.csr_array, fixed: sparse.csr_array) -> Floats:
    """A direction along which no difference falls, and all grow that can.

    Sums of such directions are again such, and so are their multiples: all can grow by 1 at once. So the linear program
    "max sum t, 0 <= t <= 1, differences d >= t" has a solution of zeros and ones.
    """
    n_rows, n = differences.shape
    from scipy.optimize import linprog  # here, for it takes longer to load than most fits take

    nothing = np.zeros(n)
    if n_rows == 0 or n == 0:
        return nothing
    found = linprog(  # type: ignore[call-overload]  # the stubs know no sparse matrices
        np.concatenate([nothing, -np.ones(n_rows)]),
        A_ub=sparse.hstack([-differences, sparse.eye_array(n_rows)], format="csr"),
        b_ub=np.zeros(n_rows),
        A_eq=sparse.hstack([fixed, sparse.csr_array((fixed.shape[0], n_rows))], format="csr"),
        b_eq=np.zeros(fixed.shape[0]),
        bounds=np.concatenate([np.tile([-_FARTHEST, _FARTHEST], (n, 1)), np.tile([0.0, 1.0], (n_rows, 1))]),
        method="highs",
    )
    if not found.success:  # zero is feasible, so that this is the solver's own trouble: nothing is certified
        return nothing
    direction = np.asarray(found.x[:n], np.float64)
    return direction if (differences @ direction).min() > _FALLS * max(1.0, np.abs(direction).max()) else nothing


def _is_among(row: Floats, growing: Floats) -> bool:
    """Whether a difference is the parameter itself, times something: then it cannot fall."""
    along = growing @ row
    return bool((np.linalg.norm(growing - np.outer(along / (row @ row), row), axis=1) <= _SMALL)[along > _SMALL].any())


def _falls(objective: Floats, growing: Floats) -> bool:
    """Whether a linear function is negative somewhere in the cone on which these differences do not fall."""
    from scipy.optimize import linprog

    found = linprog(objective, A_ub=-growing, b_ub=np.zeros(len(growing)), bounds=(-1.0, 1.0), method="highs")
    return not found.success or float(found.fun or 0.0) < _FALLS


def _distinct(rows: sparse.csr_array) -> sparse.csr_array:
    """Return the distinct nonzero rows; two random sums of the entries identify a row."""
    rows.sum_duplicates()
    sums = rows @ np.random.default_rng(0).standard_normal((rows.shape[1], 2))
    _, first = np.unique(sums[:, 0] + 1j * sums[:, 1], return_index=True)
    return rows[first[np.diff(rows.indptr)[first] > 0]]


def _null_space(rows: sparse.csr_array) -> Floats:
    """An orthonormal basis, (unknowns, dimensions), of what is orthogonal to all rows."""
    values, vectors = eigh((rows.T @ rows).toarray())
    flat = values <= _FLAT * max(values.max(initial=0.0), 1.0)
    return np.asarray(vectors[:, flat], np.float64)


def _orthonormal(columns: Floats) -> Floats:
    """A basis of what they span."""
    u, s, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(u[:, s > _SMALL], np.float64)
