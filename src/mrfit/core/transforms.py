"""Internal: linear transforms over all joint states or all subsets, in O(n 2**n) and without a matrix.

Index ``i`` of an array of 2**n values represents a subset: bit b of ``i`` tells whether variable b is in it. Each
transform multiplies the array by the n-fold Kronecker power of a 2 x 2 matrix, in the same memory and unnormalised.
Results do not depend on ``jobs``, to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from math import prod

import numpy as np

from mrfit._kernels.arithmetic import fast_transforms as butterflies
from mrfit._kernels.arithmetic.tensor_axis import multiply_axis
from mrfit._kernels.fitting import state_products as joint_states
from mrfit._typing import Floats, Matrix
from mrfit.core.errors import InputError
from mrfit.core.threads import resolve_jobs, run

_PARALLEL_LENGTH = 1 << 19  # handing work to threads takes about 40 us twice: 2**18 values break even
_JOINED_SIZE = 1024  # largest matrix for several joined axes, in entries: five axes of 2 x 2, three of 3 x 3


def walsh_hadamard(a: Floats, *, jobs: int | None = 1) -> None:
    """Replace an array by its Walsh-Hadamard transform.

    a'[k] = sum_i (-1)**popcount(i & k) a[i], natural order, unnormalised: applied twice it multiplies by 2**n.

    Parameters
    ----------
    a : float64 array of 2**n values, contiguous
    jobs : int
        Threads; -1 for all processors.

    Notes
    -----
    n 2**n additions in two passes through memory (n <= 26). It is 2**(n/2) times the H_n of Buchman et al. (2012,
    eq. 5-7), in which bit 1 means x = -1; with bit 1 for x = +1, column A changes sign where |A| is odd.
    """
    _transform("walsh_hadamard", a, jobs)


def subset_sums(a: Floats, *, jobs: int | None = 1) -> None:
    """Replace an array by its zeta transform: a'[t] = sum over subsets s of t of a[s].

    It turns canonical parameters into the log-potential of every joint state (Buchman et al. 2012, eq. 2 solved for log
    p). Parameters and passes as in :func:`walsh_hadamard`, with half of its additions.
    """
    _transform("subset_sums", a, jobs)


def inverse_subset_sums(a: Floats, *, jobs: int | None = 1) -> None:
    """Replace an array by its Möbius transform: a'[t] = sum over subsets s of t of (-1)**|t - s| a[s].

    It turns log-potentials into canonical parameters (Buchman et al. 2012, eq. 2). The alternating sums amplify
    rounding: a round trip errs by 4e-12 at n = 20, where Walsh-Hadamard errs by 2e-15.
    """
    _transform("inverse_subset_sums", a, jobs)


def superset_sums(a: Floats, *, jobs: int | None = 1) -> None:
    """Replace an array by the adjoint of :func:`subset_sums`: a'[t] = sum over supersets s of t of a[s].

    It turns probabilities of joint states into the expectation of every canonical feature.
    """
    _transform("superset_sums", a, jobs)


def inverse_superset_sums(a: Floats, *, jobs: int | None = 1) -> None:
    """Invert :func:`superset_sums` in the same memory: a'[t] = sum over supersets s of t of (-1)**|s - t| a[s]."""
    _transform("inverse_superset_sums", a, jobs)


def tensor_product(a: Floats, matrices: Sequence[Matrix]) -> Floats:
    """Multiply each axis by a matrix: (M_1 ⊗ ... ⊗ M_n) a, without forming the product.

    b[j_1, ..., j_n] = sum over i of M_1[j_1, i_1] ... M_n[j_n, i_n] a[i_1, ..., i_n]

    Parameters
    ----------
    a : float64 array (k_1, ..., k_n)
    matrices : n arrays (c_i, k_i)

    Returns
    -------
    array (c_1, ..., c_n), always a new one

    Notes
    -----
    Axes that shrink go first and axes that grow last, so that no intermediate array is larger than both ends. Leading
    axes are the fastest, so they get the largest arrays.
    """
    _check_matrices(a, matrices)
    result = np.ascontiguousarray(a, np.float64).ravel()
    joined = _joined(matrices)
    shape, growth = [matrix.shape[1] for matrix in joined], [matrix.shape[0] / matrix.shape[1] for matrix in joined]
    for axis in sorted(range(len(shape)), key=lambda i: (growth[i], i if growth[i] < 1 else -i)):
        left, right = prod(shape[:axis]), prod(shape[axis + 1 :])
        result = _times_axis(result, left, right, joined[axis])
        shape[axis] = joined[axis].shape[0]
    return result.reshape([matrix.shape[0] for matrix in matrices])


def kronecker(a: Matrix, b: Matrix) -> Floats:
    """Return the Kronecker product of two matrices; `numpy.kron` takes ten times as long for small ones."""
    (m, n), (k, h) = a.shape, b.shape
    return np.asarray(a[:, None, :, None] * b[:, None, :], np.float64).reshape(m * k, n * h)


def exponentiate(q: Floats, *, jobs: int | None = 1) -> tuple[float, float]:
    """Replace log-potentials by unnormalised probabilities: q' = exp(q - largest).

    Parameters
    ----------
    q : float64 array, contiguous, of any length but 0
    jobs : int
        Threads; -1 for all processors.

    Returns
    -------
    largest, total
        max(q) and the sum of q'; log Z = largest + log(total).

    Notes
    -----
    Values more than 708 below the largest become exp(-708) = 3e-308, not zero.
    """
    _check_vector(q)
    if not len(q):
        raise InputError("The array of log-potentials is empty; expected one per joint state. Pass at least one.")
    n_blocks = -(-len(q) // joint_states.BLOCK)
    sums = np.empty(n_blocks)
    spans = _spans(n_blocks, jobs, len(q))

    def part(first: int, last: int) -> Floats:
        return q[first * joint_states.BLOCK : last * joint_states.BLOCK]

    shift = float(max(run(lambda first, last: np.maximum.reduce(part(first, last)), spans)))  # a NaN shows in the sum
    run(lambda first, last: joint_states.exponentiate_blocks(part(first, last), shift, sums[first:last]), spans)
    return shift, float(np.add.reduce(sums))


def _transform(kind: str, a: Floats, jobs: int | None) -> None:
    """Transform blocks of consecutive values on their lower bits, then strips across the blocks on the higher bits."""
    _check_vector(a)
    n = len(a).bit_length() - 1
    if len(a) != 1 << max(n, 0):
        raise InputError(
            f"The array holds {len(a)} values; a transform needs 2**n of them, one per subset of n variables. "
            "Pad it with zeros or check the number of variables."
        )
    if n < butterflies.BASE_BITS:  # zeros for the missing variables change nothing below 2**n
        padded = np.zeros(1 << butterflies.BASE_BITS)
        padded[: len(a)] = a
        _transform(kind, padded, 1)
        a[:] = padded[: len(a)]
        return
    bit = min(n, butterflies.BLOCK_BITS)
    run(partial(butterflies.BLOCKS[kind], a, bit), _spans(len(a) >> bit, jobs, len(a)))
    for lowest, n_bits, strip_bits in butterflies.passes(bit, n):
        strips = partial(butterflies.STRIPS[kind], a, lowest, n_bits, strip_bits)
        run(strips, _spans(len(a) >> (n_bits + strip_bits), jobs, len(a)))


def _joined(matrices: Sequence[Matrix]) -> list[Floats]:
    """Join trailing axes while the joint matrix is small: one BLAS product beats many passes over short rows."""
    rest = [np.array(matrix, np.float64, order="C") for matrix in matrices]  # copies: read-only needs other kernels
    last: Floats = rest.pop() if rest else np.ones((1, 1))
    while rest and rest[-1].size * last.size <= _JOINED_SIZE:
        last = kronecker(rest.pop(), last)
    return [*rest, last]


def _times_axis(a: Floats, left: int, right: int, matrix: Floats) -> Floats:
    rows, inner = matrix.shape
    if right == 1:
        return (a.reshape(left, inner) @ matrix.T).ravel()
    out = np.empty(left * rows * right)
    multiply_axis(a, left, inner, right, matrix, out)
    return out


def _spans(n_pieces: int, jobs: int | None, length: int) -> list[tuple[int, int]]:
    """Cut 0 .. n_pieces evenly into one range per thread, for as many threads as pay off."""
    n = min(resolve_jobs(jobs), n_pieces)
    if n == 1 or length < _PARALLEL_LENGTH:
        return [(0, n_pieces)]
    return list(pairwise(n_pieces * k // n for k in range(n + 1)))


def _check_vector(a: Floats) -> None:
    if not isinstance(a, np.ndarray) or a.dtype != np.float64 or a.ndim != 1 or not a.flags.c_contiguous:
        found = f"{a.dtype} of shape {a.shape}" if isinstance(a, np.ndarray) else type(a).__name__
        raise InputError(
            f"The array is {found}; the transform overwrites it and needs a contiguous one-dimensional float64 array. "
            "Pass np.ascontiguousarray(a, float).ravel() and keep a name for it."
        )
    if not a.flags.writeable:
        raise InputError("The array is read-only; the result has to be written to it. Pass a copy: a.copy().")


def _check_matrices(a: Floats, matrices: Sequence[Matrix]) -> None:
    expected = [f"(any, {k})" for k in a.shape]
    found = [matrix.shape for matrix in matrices]
    if len(found) != a.ndim or any(len(s) != 2 or s[1] != k for s, k in zip(found, a.shape, strict=True)):
        raise InputError(
            f"The matrices have shapes {found}; the array of shape {a.shape} needs one per axis, of shapes "
            f"{', '.join(expected)}. Pass them in the order of the axes, outputs by inputs."
        )
