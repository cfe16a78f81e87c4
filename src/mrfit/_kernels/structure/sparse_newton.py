"""Inner loops of proximal Newton for one sparse multinomial regression on cells.

A regression has S = states - 1 logits. Its columns are indicators "variable j is in state s", grouped by variable; the
penalty is the sum over groups of strength times the Euclidean norm of their coefficients (for two binary variables the
absolute value).

Coefficients and gradients are flat ((1 + columns) x S) arrays, the free constant first. Cell arrays with a state axis
are blocks of (S, BLOCK) numbers, so that everything a block needs stays in the first-level cache.
"""

from __future__ import annotations

import math

import numpy as np

from mrfit._kernels.fitting.logistic import binary_loss, multinomial_loss
from mrfit._kernels.machine_code.compiled import njit

BLOCK = 512
_MOST_STEPS = 200
# The Hessian only determines directions, so it is summed in single precision: a ridge of this share covers the
# rounding.
RIDGE = 1e-6


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"})
def _masked_sum(column, values):
    total = 0.0
    for c in range(len(column)):
        total += column[c] * values[c]
    return total


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"})
def _total(values):
    total = 0.0
    for c in range(len(values)):
        total += values[c]
    return total


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _add_masked(column, value, out):
    for c in range(len(column)):
        out[c] += column[c] * value


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"})
def _single_dot(a, b, length):
    total = np.float32(0.0)
    for c in range(length):
        total += a[c] * b[c]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def evaluate(n_free, bits, beta, counts, total, residual, gradient, scratch):
    """Return the loss at ``beta``; fill residual = total * p - counts, and the gradient.

    Each row of ``scratch`` holds a block. Residuals are computed in the second row and copied. The reason: the compiler
    checks at run time whether an output lies within a vector's length of an input, as small arrays may. It then sums in
    another order, and the last bit would depend on memory addresses.
    """
    n_columns, n_cells = bits.shape
    value = 0.0
    gradient[:] = 0.0
    z = scratch[2]
    for first in range(0, n_cells, BLOCK):
        width = min(BLOCK, n_cells - first)
        at = n_free * first
        for s in range(n_free):
            z_s = z[s * width : (s + 1) * width]
            z_s[:] = beta[s]
            for k in range(n_columns):
                if beta[(1 + k) * n_free + s] != 0.0:
                    _add_masked(bits[k, first : first + width], beta[(1 + k) * n_free + s], z_s)
        block = scratch[1]
        if n_free == 1:
            value += binary_loss(width, z, counts, at, total, first, block)
        else:
            value += multinomial_loss(n_free, width, z, counts, at, total, first, block, scratch[0], scratch[3])
        for s in range(n_free):
            r = block[s * width : (s + 1) * width]
            gradient[s] += _total(r)
            for k in range(n_columns):
                gradient[(1 + k) * n_free + s] += _masked_sum(bits[k, first : first + width], r)
        for c in range(n_free * width):
            residual[at + c] = block[c]
    return value


@njit(cache=True, nogil=True, error_model="numpy")
def hessian_of(n_free, bits, columns, residual, counts, total, hessian):
    """Fill the Hessian of the constant and some columns: sum of e_s (1[s = t] - e_t / total), e the expected counts."""
    n_columns, n_cells = len(columns), bits.shape[1]
    column = np.empty((1 + n_columns, BLOCK), np.float32)  # the constant first
    curvature, masked = np.empty(BLOCK, np.float32), np.empty(BLOCK, np.float32)
    for c in range(BLOCK):
        column[0, c] = 1.0
    hessian[:] = 0.0
    for first in range(0, n_cells, BLOCK):
        width = min(BLOCK, n_cells - first)
        at = n_free * first
        for k in range(n_columns):
            _widen(bits[columns[k], first : first + width], column[1 + k])
        for s in range(n_free):
            for t in range(s + 1):
                _curvature(at + s * width, at + t * width, residual, counts, total[first : first + width], curvature)
                for k in range(1 + n_columns):
                    _times(column[k], curvature, width, masked)
                    for m in range(k + 1):
                        hessian[k * n_free + s, m * n_free + t] += _single_dot(column[m], masked, width)
    _symmetrize(n_free, hessian)


@njit(cache=True, nogil=True, error_model="numpy")
def _widen(column, out):
    for c in range(len(column)):
        out[c] = column[c]


@njit(cache=True, nogil=True, error_model="numpy")
def _times(a, b, length, out):
    for c in range(length):
        out[c] = a[c] * b[c]


@njit(cache=True, nogil=True, error_model="numpy")
def _curvature(at_s, at_t, residual, counts, total, curvature):
    """Fill the cells' second derivatives in logits s and t, whose numbers begin at ``at_s`` and ``at_t``."""
    e_s, n_s = residual[at_s : at_s + len(total)], counts[at_s : at_s + len(total)]
    e_t, n_t = residual[at_t : at_t + len(total)], counts[at_t : at_t + len(total)]
    # ``residual`` is total * p - counts, so that e = residual + counts needs no array of its own.
    own = 1.0 if at_s == at_t else 0.0
    for c in range(len(total)):
        curvature[c] = (e_s[c] + n_s[c]) * (own - (e_t[c] + n_t[c]) / total[c])


@njit(cache=True, nogil=True, error_model="numpy")
def _symmetrize(n_free, hessian):
    """Copy entries summed for columns k >= m and states s >= t: the curvature is symmetric in both pairs."""
    size = len(hessian)
    for row in range(size):
        for k in range(row // n_free + 1):
            s = row % n_free
            for t in range(s + 1):
                value = hessian[row, k * n_free + t]
                hessian[k * n_free + t, row] = value
                hessian[row - s + t, k * n_free + s] = value
                hessian[k * n_free + s, row - s + t] = value


@njit(cache=True, nogil=True, error_model="numpy")
def violation_of(n_free, group_start, beta, gradient, strength):
    """Return the largest distance of minus the gradient to the subdifferential, over groups and the constant."""
    worst = 0.0
    for s in range(n_free):
        worst = max(worst, abs(gradient[s]))
    for g in range(len(group_start) - 1):
        low, high = (1 + group_start[g]) * n_free, (1 + group_start[g + 1]) * n_free
        norm = size = 0.0
        for k in range(low, high):
            size += beta[k] * beta[k]
            norm += gradient[k] * gradient[k]
        if size == 0.0:
            worst = max(worst, math.sqrt(norm) - strength[g])
        else:
            size = math.sqrt(size)
            norm = 0.0
            for k in range(low, high):
                norm += (gradient[k] + strength[g] * beta[k] / size) ** 2
            worst = max(worst, math.sqrt(norm))
    return worst


@njit(cache=True, nogil=True, error_model="numpy")
def _penalty(n_free, group_start, beta, strength):
    value = 0.0
    for g in range(len(group_start) - 1):
        size = 0.0
        for k in range((1 + group_start[g]) * n_free, (1 + group_start[g + 1]) * n_free):
            size += beta[k] * beta[k]
        value += strength[g] * math.sqrt(size)
    return value


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"})
def _dot(a, b, length):
    total = 0.0
    for c in range(length):
        total += a[c] * b[c]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def solve_positive(matrix, target):
    """Overwrite ``target`` by the solution of a positive definite system by Cholesky; return False for other matrices.

    It is separate from the LAPACK division of the solvers: compiled code calls it, without the interpreter's lock, for
    a few dozen unknowns, and it gives up instead of adding a ridge.
    """
    n = len(target)
    for j in range(n):
        row_j = matrix[j]
        for k in range(j):
            row_j[k] = (row_j[k] - _dot(row_j, matrix[k], k)) / matrix[k, k]
        pivot = row_j[j] - _dot(row_j, row_j, j)
        if pivot <= 0.0:
            return False
        row_j[j] = math.sqrt(pivot)
        target[j] = (target[j] - _dot(row_j, target, j)) / row_j[j]
    for j in range(n - 1, -1, -1):
        target[j] /= matrix[j, j]
        for k in range(j):
            target[k] -= matrix[j, k] * target[j]
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def _norm(values, low, high):
    total = 0.0
    for k in range(low, high):
        total += values[k] * values[k]
    return math.sqrt(total)


@njit(cache=True, nogil=True, error_model="numpy")
def _newton_on_nonzero(n_free, group_start, beta, gradient, hessian, strength, direction, slope):
    """Take a Newton step of the quadratic model plus penalty on the nonzero variables, if it lowers their sum.

    The penalty of a nonzero group is smooth there: its second derivative is strength / norm, across the group's own
    direction. For single coefficients it vanishes, and the step is the exact minimiser with the present zeros and
    signs, which it must preserve.
    """
    size = len(beta)
    value, chosen, step, n = np.empty(size), np.empty(size, np.int64), np.empty(size), 0
    for k in range(size):
        value[k] = beta[k] + direction[k]
    for k in range(n_free):
        chosen[n], step[n] = k, slope[k]
        n += 1
    for g in range(len(group_start) - 1):
        low, high = (1 + group_start[g]) * n_free, (1 + group_start[g + 1]) * n_free
        norm = _norm(value, low, high)
        for k in range(low, high if norm > 0.0 else low):
            chosen[n], step[n] = k, slope[k] + strength[g] * value[k] / norm
            n += 1
    matrix = np.empty((n, n))
    for i in range(n):
        for j in range(i + 1):
            matrix[i, j] = hessian[chosen[i], chosen[j]]
    first = n_free
    for g in range(len(group_start) - 1):
        low, high = (1 + group_start[g]) * n_free, (1 + group_start[g + 1]) * n_free
        norm = _norm(value, low, high)
        if norm > 0.0 and high - low > 1:
            for i in range(high - low):
                matrix[first + i, first + i] += strength[g] / norm
                for j in range(i + 1):
                    matrix[first + i, first + j] -= strength[g] * value[low + i] * value[low + j] / norm**3
        first += high - low if norm > 0.0 else 0
    if not solve_positive(matrix, step[:n]):
        return
    moved, change = np.zeros(size), 0.0
    for i in range(n):
        k = chosen[i]
        moved[k] = value[k] - step[i]
        change -= slope[k] * step[i]
    for g in range(len(group_start) - 1):
        low, high = (1 + group_start[g]) * n_free, (1 + group_start[g + 1]) * n_free
        before = _norm(value, low, high)
        if before > 0.0:
            if high - low == 1 and value[low] * moved[low] <= 0.0:
                return
            change += strength[g] * (_norm(moved, low, high) - before)
    new_slope = gradient.copy()
    for k in range(size):  # including those that just became zero, because they have moved
        if moved[k] != beta[k]:
            for j in range(size):
                new_slope[j] += (moved[k] - beta[k]) * hessian[k, j]
    for i in range(n):  # half the curvature along the step, from the two slopes
        change -= 0.5 * step[i] * (new_slope[chosen[i]] - slope[chosen[i]])
    if change > 0.0:
        return
    for k in range(size):
        direction[k] = moved[k] - beta[k]
        slope[k] = new_slope[k]


@njit(cache=True, nogil=True, error_model="numpy")
def _descend(n_free, group_start, beta, gradient, hessian, strength, curvature, goal, direction, slope):
    """Minimise the quadratic model plus penalty by group coordinate descent; fill ``direction``.

    A group moves by one proximal gradient step with its own curvature bound, which for a single coefficient is the
    exact minimiser. ``slope`` is the gradient of the model at beta + direction. It stops when no move changes the slope
    by more than ``goal``.
    """
    size = len(beta)
    for k in range(size):
        direction[k] = 0.0
        slope[k] = gradient[k]
    n_groups = len(group_start) - 1
    move = np.empty(size)
    for sweep in range(1000):
        # Coordinate descent finds the zeros and signs within a few sweeps but converges slowly along correlated
        # columns. Newton's step on the nonzero ones does the opposite; it is taken only if it lowers the model.
        if sweep % 4 == 1:
            _newton_on_nonzero(n_free, group_start, beta, gradient, hessian, strength, direction, slope)
        largest = 0.0
        for g in range(-1, n_groups):
            low = 0 if g < 0 else (1 + group_start[g]) * n_free
            high = n_free if g < 0 else (1 + group_start[g + 1]) * n_free
            bound = curvature[g + 1]
            norm = 0.0
            for k in range(low, high):
                move[k] = beta[k] + direction[k] - slope[k] / bound
                norm += move[k] * move[k]
            shrink = 1.0
            if g >= 0:
                norm = math.sqrt(norm)
                shrink = 1.0 - strength[g] / (bound * norm) if norm * bound > strength[g] else 0.0
            for k in range(low, high):
                step = shrink * move[k] - beta[k] - direction[k]
                if step != 0.0:
                    largest = max(largest, abs(step) * bound)
                    direction[k] += step
                    for j in range(size):
                        slope[j] += step * hessian[k, j]
        if largest <= goal:
            break


@njit(cache=True, nogil=True, error_model="numpy")
def _bound_curvature(n_free, group_start, hessian, curvature):
    """Bound the curvature of every group, the constant first, by the Frobenius norm of its block.

    The ridge also prevents a singular model if columns repeat each other.
    """
    for g in range(-1, len(group_start) - 1):
        low = 0 if g < 0 else (1 + group_start[g]) * n_free
        high = n_free if g < 0 else (1 + group_start[g + 1]) * n_free
        squares = 0.0
        for k in range(low, high):
            hessian[k, k] += RIDGE * hessian[k, k] + 1e-10
            for j in range(low, high):
                squares += hessian[k, j] ** 2
        curvature[g + 1] = math.sqrt(squares)


@njit(cache=True, nogil=True, error_model="numpy")
def solve_on_cells(n_free, group_start, bits, counts, total, strength, tolerance, beta, residual):
    """Run proximal Newton on the given columns; improve ``beta`` and leave total * p - counts in ``residual``.

    ``strength`` is that of every group. Returns (violation, value, penalty). It stops at ``tolerance``, or when
    rounding hides any decrease.
    """
    size, n_groups = len(beta), len(group_start) - 1
    scratch = np.empty((4, n_free * BLOCK))
    gradient, direction, slope, trial = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    hessian, curvature, columns = np.empty((size, size)), np.empty(n_groups + 1), np.arange(len(bits))
    penalty = _penalty(n_free, group_start, beta, strength)
    value = evaluate(n_free, bits, beta, counts, total, residual, gradient, scratch) + penalty
    violation, steps = violation_of(n_free, group_start, beta, gradient, strength), 0
    while violation > tolerance and steps < _MOST_STEPS:
        hessian_of(n_free, bits, columns, residual, counts, total, hessian)
        _bound_curvature(n_free, group_start, hessian, curvature)
        goal = max(0.1 * tolerance, 1e-2 * violation)
        _descend(n_free, group_start, beta, gradient, hessian, strength, curvature, goal, direction, slope)
        # Armijo's rule on the full objective, relative to the decrease that slope and penalty promise for a full step.
        promise = -penalty
        for k in range(size):
            trial[k] = beta[k] + direction[k]
            promise += gradient[k] * direction[k]
        promise += _penalty(n_free, group_start, trial, strength)
        step, accepted = 1.0, False
        while promise < 0.0 and step > 1e-9 and not accepted:
            for k in range(size):
                trial[k] = beta[k] + step * direction[k]
            new_penalty = _penalty(n_free, group_start, trial, strength)
            new = evaluate(n_free, bits, trial, counts, total, residual, gradient, scratch) + new_penalty
            accepted = new <= value + 1e-4 * step * promise + 1e-14 * abs(value)
            step *= 0.5
        if not accepted:
            # The last trial overwrote the residual; callers need that of ``beta``.
            evaluate(n_free, bits, beta, counts, total, residual, gradient, scratch)
            break
        for k in range(size):
            beta[k] = trial[k]
        value, penalty = new, new_penalty
        violation = violation_of(n_free, group_start, beta, gradient, strength)
        steps += 1
    return violation, value, penalty
