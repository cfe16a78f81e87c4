"""Sparse multinomial regressions of one variable on all others: the inner loops.

A node regression has S = states - 1 logits. Its columns are indicators "variable j is in state s", grouped by
variable; the penalty is strength times the sum over groups of the Euclidean norm of their coefficients (for two binary
variables the absolute value). Only columns of a *working set* are in play at a time. Rows that agree on all of them are
one cell, so a regression with few columns costs a few hundred cells whatever the number of rows.

Coefficients and gradients are flat ((1 + columns) x S) arrays, the free constant first. Cell arrays with a state axis
are flat (S, cells).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from mrfit._kernels.logistic import binary_loss, multinomial_loss
from mrfit._kernels.partition import count_cells, split


@njit(cache=True, nogil=True)
def _working_bits(start, rows, columns, class_of, bits):
    """bits[k, c] = 1 where working column k is active in cell c.

    Bytes column by column: a column times a vector of cells is one vectorised loop, eight cells at a time, which beats
    lists of active columns down to densities of a few percent.
    """
    bits[:] = 0
    for k in range(len(columns)):
        for at in range(start[columns[k]], start[columns[k] + 1]):
            bits[k, class_of[rows[at]]] = 1


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"})
def _masked_sum(column, values):
    total = 0.0
    for c in range(len(column)):
        total += column[c] * values[c]
    return total


@njit(cache=True, nogil=True, fastmath={"contract"})
def _add_masked(column, value, out):
    for c in range(len(column)):
        out[c] += column[c] * value


@njit(cache=True, nogil=True)
def _logits(n_free, bits, beta, z):
    n_columns, n_cells = bits.shape
    for s in range(n_free):
        z_s = z[s * n_cells : (s + 1) * n_cells]
        z_s[:] = beta[s]
        for k in range(n_columns):
            if beta[(1 + k) * n_free + s] != 0.0:
                _add_masked(bits[k], beta[(1 + k) * n_free + s], z_s)


@njit(cache=True, nogil=True)
def _loss(n_free, z, counts, total, residual, scratch):
    n_cells = len(total)
    if n_free == 1:
        return binary_loss(n_cells, z, counts, 0, total, 0, residual)
    return multinomial_loss(n_free, n_cells, z, counts, 0, total, 0, residual, scratch[0], scratch[1])


@njit(cache=True, nogil=True)
def _gradient(n_free, bits, residual, gradient):
    n_columns, n_cells = bits.shape
    for s in range(n_free):
        r = residual[s * n_cells : (s + 1) * n_cells]
        gradient[s] = r.sum()
        for k in range(n_columns):
            gradient[(1 + k) * n_free + s] = _masked_sum(bits[k], r)


@njit(cache=True, nogil=True)
def _hessian(n_free, bits, residual, counts, total, hessian):
    """Sum over cells of the curvature e_s (1[s = t] - e_t / total), e the expected counts, on their active columns."""
    n_columns, n_cells = bits.shape
    curvature, masked = np.empty(n_cells), np.empty(n_cells)
    for s in range(n_free):
        for t in range(s + 1):
            for c in range(n_cells):
                e = residual[s * n_cells + c] + counts[s * n_cells + c]
                f = residual[t * n_cells + c] + counts[t * n_cells + c]
                curvature[c] = (e if s == t else 0.0) - e * f / total[c]
            _set_symmetric(hessian, n_free, 0, 0, s, t, curvature.sum())
            for k in range(n_columns):
                for c in range(n_cells):
                    masked[c] = bits[k, c] * curvature[c]
                _set_symmetric(hessian, n_free, 1 + k, 0, s, t, masked.sum())
                for m in range(k + 1):
                    _set_symmetric(hessian, n_free, 1 + k, 1 + m, s, t, _masked_sum(bits[m], masked))


@njit(cache=True, nogil=True)
def _set_symmetric(hessian, n_free, k, m, s, t, value):
    """Set the entries of columns k, m and states s, t: the curvature is symmetric in both."""
    hessian[k * n_free + s, m * n_free + t] = hessian[m * n_free + t, k * n_free + s] = value
    hessian[k * n_free + t, m * n_free + s] = hessian[m * n_free + s, k * n_free + t] = value


@njit(cache=True, nogil=True)
def violation_of(n_free, group_start, beta, gradient, strength):
    """Largest distance of minus the gradient to the subdifferential, over groups and the constant."""
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
            worst = max(worst, math.sqrt(norm) - strength)
        else:
            size = math.sqrt(size)
            norm = 0.0
            for k in range(low, high):
                norm += (gradient[k] + strength * beta[k] / size) ** 2
            worst = max(worst, math.sqrt(norm))
    return worst


@njit(cache=True, nogil=True)
def _penalty(n_free, group_start, beta, strength):
    value = 0.0
    for g in range(len(group_start) - 1):
        size = 0.0
        for k in range((1 + group_start[g]) * n_free, (1 + group_start[g + 1]) * n_free):
            size += beta[k] * beta[k]
        value += strength * math.sqrt(size)
    return value


@njit(cache=True, nogil=True)
def _jump(beta, gradient, hessian, strength, direction, slope):
    """For single coefficients: the exact minimiser with the present zeros and signs, if it keeps the signs."""
    size = len(beta)
    chosen = np.empty(size, np.int64)
    n = 0
    for k in range(size):
        if k == 0 or beta[k] + direction[k] != 0.0:
            chosen[n] = k
            n += 1
    matrix, target = np.empty((n, n)), np.empty(n)
    for i in range(n):
        value = beta[chosen[i]] + direction[chosen[i]]
        target[i] = slope[chosen[i]] + (0.0 if i == 0 else strength * np.sign(value))
        for j in range(n):
            matrix[i, j] = hessian[chosen[i], chosen[j]]
    step = np.linalg.solve(matrix, target)
    for i in range(1, n):
        value = beta[chosen[i]] + direction[chosen[i]]
        if value * (value - step[i]) <= 0.0:
            return
    for i in range(n):
        direction[chosen[i]] -= step[i]
    for j in range(size):
        slope[j] = gradient[j]
    for k in range(size):  # also those that just became zero: they have moved
        if direction[k] != 0.0:
            for j in range(size):
                slope[j] += direction[k] * hessian[k, j]


@njit(cache=True, nogil=True)
def _descend(n_free, group_start, beta, gradient, hessian, strength, curvature, goal, direction, slope):
    """Minimise the quadratic model plus penalty by group coordinate descent; fills ``direction``.

    A group moves by one proximal gradient step with its own curvature bound, which for a single coefficient is the
    exact minimiser. ``slope`` is the gradient of the model at beta + direction. Stops when no move changes it by more
    than ``goal``.
    """
    size = len(beta)
    for k in range(size):
        direction[k] = 0.0
        slope[k] = gradient[k]
    n_groups = len(group_start) - 1
    single = n_free == 1
    for g in range(n_groups):
        single = single and group_start[g + 1] - group_start[g] <= 1
    move = np.empty(size)
    for sweep in range(1000):
        if single and sweep % 4 == 3:
            _jump(beta, gradient, hessian, strength, direction, slope)
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
                shrink = 1.0 - strength / (bound * norm) if norm * bound > strength else 0.0
            for k in range(low, high):
                step = shrink * move[k] - beta[k] - direction[k]
                if step != 0.0:
                    largest = max(largest, abs(step) * bound)
                    direction[k] += step
                    for j in range(size):
                        slope[j] += step * hessian[k, j]
        if largest <= goal:
            break


@njit(cache=True, nogil=True)
def _solve_on_cells(n_free, group_start, bits, counts, total, strength, tolerance, beta, residual):
    """Proximal Newton on the working set; improves ``beta`` in place and leaves total * p - counts in ``residual``.

    Returns (violation, Newton steps, value). Stops at ``tolerance``, or where rounding hides any decrease.
    """
    n_cells, size, n_groups = len(total), len(beta), len(group_start) - 1
    z, scratch = np.empty(n_free * n_cells), np.empty((2, n_cells))
    gradient, direction, slope, trial = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    hessian, curvature = np.empty((size, size)), np.empty(n_groups + 1)
    _logits(n_free, bits, beta, z)
    value = _loss(n_free, z, counts, total, residual, scratch) + _penalty(n_free, group_start, beta, strength)
    violation, steps = np.inf, 0
    while steps < 200:
        _gradient(n_free, bits, residual, gradient)
        violation = violation_of(n_free, group_start, beta, gradient, strength)
        if violation <= tolerance:
            break
        _hessian(n_free, bits, residual, counts, total, hessian)
        _bound_curvature(n_free, group_start, hessian, curvature)
        goal = max(0.1 * tolerance, 1e-2 * violation)
        _descend(n_free, group_start, beta, gradient, hessian, strength, curvature, goal, direction, slope)
        # Armijo on the full objective: compare with what slope and penalty promise for a full step.
        promise = -_penalty(n_free, group_start, beta, strength)
        for k in range(size):
            trial[k] = beta[k] + direction[k]
            promise += gradient[k] * direction[k]
        promise += _penalty(n_free, group_start, trial, strength)
        step, accepted = 1.0, False
        while promise < 0.0 and step > 1e-9 and not accepted:
            for k in range(size):
                trial[k] = beta[k] + step * direction[k]
            _logits(n_free, bits, trial, z)
            new = _loss(n_free, z, counts, total, residual, scratch) + _penalty(n_free, group_start, trial, strength)
            accepted = new <= value + 1e-4 * step * promise + 1e-14 * abs(value)
            step *= 0.5
        if not accepted:
            _logits(n_free, bits, beta, z)
            _loss(n_free, z, counts, total, residual, scratch)
            break
        for k in range(size):
            beta[k] = trial[k]
        value = new
        steps += 1
    return violation, steps, value


@njit(cache=True, nogil=True)
def _bound_curvature(n_free, group_start, hessian, curvature):
    """A bound on the curvature of every group, the constant first: the trace of its block.

    A tiny ridge keeps columns that repeat each other from making the model singular.
    """
    for g in range(-1, len(group_start) - 1):
        low = 0 if g < 0 else (1 + group_start[g]) * n_free
        high = n_free if g < 0 else (1 + group_start[g + 1]) * n_free
        trace = 0.0
        for k in range(low, high):
            hessian[k, k] += 1e-10 * (hessian[k, k] + 1.0)
            trace += hessian[k, k]
        curvature[g + 1] = trace


@njit(cache=True, nogil=True)
def solve_node(
    start, rows, sample_weight, state_of, n_free, class_of, size, n_cells, new, columns, group_start, strength,
    tolerance, beta,
):  # fmt: skip
    """Solve one regression on its working set; refines the cells by the columns that are new to it.

    ``beta`` holds a warm start and takes the solution. Returns (cells, violation, Newton steps, value, probabilities),
    the last as an (S, cells) array.
    """
    n_cells = split(start, rows, new, class_of, size, n_cells)
    total, counts = np.empty(n_cells), np.empty(n_free * n_cells)
    count_cells(class_of, state_of, sample_weight, n_cells, total, counts)
    bits = np.empty((len(columns), n_cells), np.uint8)
    _working_bits(start, rows, columns, class_of, bits)
    probability = np.empty(n_free * n_cells)
    violation, steps, value = _solve_on_cells(
        n_free, group_start, bits, counts, total, strength, tolerance, beta, probability
    )
    for s in range(n_free):
        for c in range(n_cells):
            k = s * n_cells + c
            probability[k] = (probability[k] + counts[k]) / total[c]
    return n_cells, violation, steps, value, probability


@njit(cache=True, nogil=True)
def spread_over_rows(probability, n_cells, n_free, class_of, sample_weight, lane, expected):
    """expected[row, lane + s] = weight of the row times the probability of state s + 1 in its cell."""
    for r in range(len(class_of)):
        for s in range(n_free):
            expected[r, lane + s] = sample_weight[r] * probability[s * n_cells + class_of[r]]


@njit(cache=True, nogil=True)
def columns_times(row_start, row_columns, expected, first_row, last_row, out):
    """out[k, :] += sum over the rows in which column k is active of expected[row, :].

    Row after row, so that all regressions (lanes) share one pass over the table and the inner loop is a vector add.
    """
    lanes = expected.shape[1]
    for r in range(first_row, last_row):
        for at in range(row_start[r], row_start[r + 1]):
            k = row_columns[at]
            for lane in range(lanes):
                out[k, lane] += expected[r, lane]
