"""Best points on the l1 paths of one variable's regression, over many bootstrap samples of a binary table.

A bootstrap sample only changes the weight of the cells. Each path is searched for the point of least extended BIC,

    2 loss + price * number of nonzero coefficients,

without walking all of it. The loss of the solutions falls with the strength. Between two solved points, no other can
therefore be better than the loss of the weaker one plus the price of the variables that both select. A stretch is
halved as long as this bound is below the best score so far. The only assumption is that a coefficient of similar size
(`_NEAR`) at both ends of a stretch is nonzero within.

If points are scored by the loss of a refit of their selection, the assumption is that points within a stretch select
what both ends select, and nothing that neither selects. No point is then better than the refit of the union, with the
price of the intersection.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mrfit._kernels.machine_code.compiled import njit
from mrfit._kernels.structure.sparse_newton import BLOCK, RIDGE, evaluate, hessian_of, solve_positive, violation_of

_MOST_STEPS = 200
_MOST_SETS = 4  # most active sets tried per coefficient
_ROUNDING = 1e-12  # of the total weight: a smaller gradient counts as zero
_NEAR = 0.1  # least ratio of a coefficient at the two ends of a stretch


class ResampledCells(NamedTuple):
    """Cells of rows that agree on all other variables."""

    bits: np.ndarray  # (other variables, cells): 1 in the second state
    cell_of: np.ndarray  # cell of every row
    is_second: np.ndarray  # whether the variable itself is in its second state, for every row
    path: np.ndarray  # (points, 1 + other variables): the coefficients of the whole table, the constant first


class Resamples(NamedTuple):
    """Properties of each bootstrap sample, the first axis of all arrays."""

    weight: np.ndarray  # (resamples, rows)
    present: (
        np.ndarray
    )  # (resamples, other variables) that may enter; nothing does where the variable has no regression
    scale: np.ndarray  # (resamples, other variables): of their penalties
    price: np.ndarray  # of one coefficient


class Walk(NamedTuple):
    """Positions of points, and end of a path."""

    share: np.ndarray  # strengths of all points, as shares of the critical one, falling from 1
    stage_end: np.ndarray  # points after which to check whether the best point is far enough behind
    behind: int  # how far behind
    stride: int  # points per step, before stretches are halved
    least_gain: float  # of the first loss: a path ends at a point with a smaller gain
    least_left: float  # of the first loss: a path ends if less remains
    least_points: int  # least points before either ending
    tolerance: float  # of the critical strength
    refit_strength: float  # of the total weight, if points are scored by refits of their selection; else zero
    refit_tolerance: float  # of the total weight
    kept_strength: float  # of the refit whose coefficients are returned


@njit(cache=True, nogil=True, error_model="numpy")
def best_points(cells, resamples, walk):
    """Return the coefficients at the best point of every sample, (resamples, other variables)."""
    best = np.zeros(resamples.present.shape)
    for b in range(len(best)):
        bits, counts, total = _present_cells(cells, resamples.weight[b])
        present, scale, price = resamples.present[b], resamples.scale[b], resamples.price[b]
        table = _ResampledTable(bits, counts, total, present, scale, price, resamples.weight[b].sum())
        _search(table, cells.path, walk, best[b])
    return best


@njit(cache=True, nogil=True, error_model="numpy")
def _present_cells(cells, weight):
    """Return (bits, weight in the second state, weight) of the cells of positive weight."""
    n_columns, n_cells = cells.bits.shape
    all_total, all_counts, n = np.zeros(n_cells), np.zeros(n_cells), 0
    for r in range(len(weight)):
        n += all_total[cells.cell_of[r]] == 0.0 and weight[r] > 0.0
        all_total[cells.cell_of[r]] += weight[r]
        all_counts[cells.cell_of[r]] += weight[r] * cells.is_second[r]
    bits, counts, total, n = np.empty((n_columns, n), np.uint8), np.empty(n), np.empty(n), 0
    for c in range(n_cells):
        if all_total[c] > 0.0:
            total[n], counts[n] = all_total[c], all_counts[c]
            n += 1
    for k in range(n_columns):
        n = 0
        for c in range(n_cells):
            if all_total[c] > 0.0:
                bits[k, n] = cells.bits[k, c]
                n += 1
    return bits, counts, total


class _ResampledTable(NamedTuple):
    """Cells of one bootstrap sample, and the variables it may select."""

    bits: np.ndarray
    counts: np.ndarray
    total: np.ndarray
    present: np.ndarray
    scale: np.ndarray
    price: float
    weight: float


class _Points(NamedTuple):
    """Known results of the points of a path."""

    known: np.ndarray
    loss: np.ndarray
    betas: np.ndarray
    refit_loss: np.ndarray  # loss of the refit of the point's selection, if points are scored by refits
    bound: np.ndarray  # lower bound of the scores on the stretch that begins at a point
    bound_to: np.ndarray  # end of that stretch


class _ResampleBuffers(NamedTuple):
    """Buffers for one solution."""

    beta: np.ndarray
    gradient: np.ndarray
    residual: np.ndarray
    strength: np.ndarray
    scratch: np.ndarray


@njit(cache=True, nogil=True, error_model="numpy")
def _search(table, path, walk, best):
    """Fill ``best`` with the coefficients of the point of least EBIC on one path."""
    size, n_points = 1 + len(table.bits), len(walk.share)
    known, loss, betas = np.zeros(n_points, np.bool_), np.empty(n_points), np.zeros((n_points, size))
    points = _Points(known, loss, betas, np.empty(n_points), np.empty(n_points), np.zeros(n_points, np.int64))
    work = _ResampleBuffers(
        np.zeros(size), np.empty(size), np.empty(len(table.total)), np.empty(size - 1), np.empty((4, BLOCK))
    )  # fmt: skip
    critical = _begin(table, work)
    if critical == 0.0:
        return
    betas[0], known[0], loss[0] = work.beta, True, _evaluated(table, work)
    points.refit_loss[0], last, n_end, chosen = loss[0], 0, n_points, 0
    # Stages extend the solved part of the path. Within a stage, stretches that may hide a better point are halved.
    for end in walk.stage_end:
        while last < min(end, n_end) - 1:
            low, last = last, min(last + walk.stride, end - 1)
            _visit(table, path, walk, critical, points, low, low, last, work)
            explains = loss[low] - loss[last] >= walk.least_gain * loss[0] and loss[last] >= walk.least_left * loss[0]
            if last + 1 >= walk.least_points and not explains:
                n_end = last + 1
        while True:
            chosen = _best(points, table.price, walk, last)
            low, high = _promising(table, points, walk, last, _score(points, table.price, walk, chosen), work)
            if high < 0:
                low, high = _undecided(points, walk, chosen, last)
            if high < 0:
                break
            _visit(table, path, walk, critical, points, low, high, (low + high) // 2, work)
        if chosen < last + 1 - walk.behind or last + 1 >= n_end:
            break
    chosen_beta = points.betas[chosen]
    if walk.refit_strength > 0.0:
        _refit(table, chosen_beta != 0.0, chosen_beta, walk.kept_strength, walk.refit_tolerance, work)
        chosen_beta = work.beta
    for k in range(len(best)):
        best[k] = chosen_beta[1 + k]


@njit(cache=True, nogil=True, error_model="numpy")
def _visit(table, path, walk, critical, points, low, high, t, work):
    """Solve at a point between two solved points."""
    _guess(path, points.betas, table.present, walk.share, low, high, t, work.beta)
    _strengths(critical * walk.share[t], table.present, table.scale, work.strength)
    points.loss[t] = _solve(table, walk.tolerance * critical, work)
    points.betas[t] = work.beta
    if walk.refit_strength > 0.0:
        points.refit_loss[t] = _refit_loss(table, walk, points, work.beta != 0.0, t, work)
    points.known[t] = True


@njit(cache=True, nogil=True, error_model="numpy")
def _refit_loss(table, walk, points, selected, near, work):
    """Return the loss of a set of variables: a solved point with this selection, or a refit from point ``near``."""
    for t in range(len(points.known)):
        if points.known[t]:
            same = True
            for k in range(1, len(selected)):
                same = same and selected[k] == (points.betas[t, k] != 0.0)
            if same:
                return points.refit_loss[t]
    strength, tolerance = walk.refit_strength * table.weight, walk.refit_tolerance
    return _refit(table, selected, points.betas[near], strength, tolerance, work)


@njit(cache=True, nogil=True, error_model="numpy")
def _refit(table, selected, begin, strength, tolerance, work):
    """Solve for these variables alone; return the loss."""
    work.beta[0] = begin[0]
    for k in range(1, len(selected)):
        work.beta[k] = begin[k] if selected[k] else 0.0
        work.strength[k - 1] = strength if selected[k] else np.inf
    return _solve(table, tolerance * table.weight, work)


@njit(cache=True, nogil=True, error_model="numpy")
def _undecided(points, walk, chosen, last):
    """Return the stretch behind the best point if its extent decides whether the path continues."""
    end = last + 1 - walk.behind
    if walk.refit_strength > 0.0 and chosen < end:
        high = chosen + 1
        while high <= last and not points.known[high]:
            high += 1
        if high <= last and high > chosen + 1 and high > end:
            return chosen, high
    return 0, -1


@njit(cache=True, nogil=True, error_model="numpy")
def _evaluated(table, work):
    """Return the loss at the coefficients in ``work``, and compute gradient and residual there."""
    at = work.beta
    return evaluate(1, table.bits, at, table.counts, table.total, work.residual, work.gradient, work.scratch)


@njit(cache=True, nogil=True, error_model="numpy")
def _begin(table, work):
    """Start without other variables; return the critical strength, zero if nothing can enter."""
    second = 0.0
    for c in range(len(table.counts)):
        second += table.counts[c]
    if not 0.0 < second < table.weight:
        return 0.0
    work.beta[0] = np.log(second / (table.weight - second))
    _evaluated(table, work)
    critical = 0.0
    for k in range(len(table.bits)):
        if table.present[k] and abs(work.gradient[1 + k]) > _ROUNDING * table.weight:
            critical = max(critical, abs(work.gradient[1 + k]) / table.scale[k])
    return critical


@njit(cache=True, nogil=True, error_model="numpy")
def _guess(path, betas, present, share, low, high, at, beta):
    """Set the starting point: the path of the whole table, with the offsets of the neighbouring solved points."""
    # A sample's path is close to that of the whole table, up to an offset that changes slowly with the strength: it is
    # interpolated between the solved points.
    part = (share[at] - share[high]) / (share[low] - share[high]) if high > low else 1.0
    for k in range(len(beta)):
        one, other = betas[low, k], betas[high, k]
        beside = part * (one - path[low, k]) + (1.0 - part) * (other - path[high, k])
        is_zero = one * other == 0.0 and (path[at, k] == 0.0 or (high > low and one == other))
        beta[k] = 0.0 if k > 0 and (is_zero or not present[k - 1]) else path[at, k] + beside


@njit(cache=True, nogil=True, error_model="numpy")
def _strengths(strength, present, scale, strengths):
    for k in range(len(strengths)):
        strengths[k] = strength * scale[k] if present[k] else np.inf


@njit(cache=True, nogil=True, error_model="numpy")
def _score(points, price, walk, t):
    n = 0
    for k in range(1, points.betas.shape[1]):
        n += points.betas[t, k] != 0.0
    return 2.0 * (points.loss[t] if walk.refit_strength == 0.0 else points.refit_loss[t]) + price * n


@njit(cache=True, nogil=True, error_model="numpy")
def _best(points, price, walk, last):
    """Return the solved point of least score; ties go to the last."""
    best, least = 0, np.inf
    for t in range(last + 1):
        if points.known[t]:
            score = _score(points, price, walk, t)
            if score <= least:
                best, least = t, score
    return best


@njit(cache=True, nogil=True, error_model="numpy")
def _promising(table, points, walk, last, least, work):
    """Return the ends of the stretch that may contain a point better than ``least``; (0, -1) if none may."""
    found_low, found_high, low = 0, -1, 0
    for high in range(1, last + 1):
        if not points.known[high]:
            continue
        if high > low + 1:
            if points.bound_to[low] != high:
                is_shrunken, points.bound_to[low] = walk.refit_strength == 0.0, high
                points.bound[low] = (
                    _shrunken_bound(points, table.price, low, high)
                    if is_shrunken
                    else _refitted_bound(table, points, walk, low, high, work)
                )
            if points.bound[low] < least:
                found_low, found_high, least = low, high, points.bound[low]
        low = high
    return found_low, found_high


@njit(cache=True, nogil=True, error_model="numpy")
def _shrunken_bound(points, price, low, high):
    """Return a lower bound of the scores between two points: the lesser loss, and the variables that both select.

    A variable counts if its coefficients have one sign and similar sizes, so that it is nonzero in between (`_NEAR`).
    """
    n_both = 0
    for k in range(1, points.betas.shape[1]):
        one, other = points.betas[low, k], points.betas[high, k]
        n_both += one * other > 0.0 and _NEAR * abs(other) <= abs(one) <= abs(other) / _NEAR
    return 2.0 * points.loss[high] + price * n_both


@njit(cache=True, nogil=True, error_model="numpy")
def _refitted_bound(table, points, walk, low, high, work):
    """Return a bound for points between, which select within the union of the ends; infinite if these differ by one."""
    either, n_both, n_either = np.zeros(points.betas.shape[1], np.bool_), 0, 0
    for k in range(1, len(either)):
        one, other = points.betas[low, k] != 0.0, points.betas[high, k] != 0.0
        either[k] = one or other
        n_both, n_either = n_both + (one and other), n_either + either[k]
    if n_either <= n_both + 1:
        return np.inf
    return 2.0 * _refit_loss(table, walk, points, either, high, work) + table.price * n_both


@njit(cache=True, nogil=True, error_model="numpy")
def _solve(table, tolerance, work):
    """Run proximal Newton from the coefficients in ``work``, which take the solution; return its loss."""
    beta, gradient, strength, each = work.beta, work.gradient, work.strength, np.arange(len(table.bits) + 1)
    previous, loss = np.empty(len(beta)), _evaluated(table, work)
    for _ in range(_MOST_STEPS):
        violation = violation_of(1, each, beta, gradient, strength)
        if violation <= 0.5 * tolerance:
            break
        direction, promise = _direction(table, tolerance, violation, work)
        penalty, step, accepted = _penalty(strength, beta), 1.0, False
        previous[:], value = beta, loss + penalty
        while promise < 0.0 and step > 1e-9 and not accepted:
            for k in range(len(beta)):
                beta[k] = previous[k] + step * direction[k]
            loss = _evaluated(table, work)
            accepted = loss + _penalty(strength, beta) <= value + 1e-4 * step * promise + 1e-14 * abs(value)
            step *= 0.5
        if not accepted:
            beta[:] = previous
            return _evaluated(table, work)
    return loss


@njit(cache=True, nogil=True, error_model="numpy")
def _direction(table, tolerance, violation, work):
    """Return (step to the minimum of the quadratic model, promised decrease) over nonzero or entering variables."""
    beta, gradient, strength = work.beta, work.gradient, work.strength
    working, n = np.empty(len(strength), np.int64), 0
    for k in range(len(strength)):
        if beta[1 + k] != 0.0 or abs(gradient[1 + k]) > strength[k]:
            working[n] = k
            n += 1
    working, own_strength = working[:n], np.empty(n)
    own_beta, own_gradient = np.empty(1 + n), np.empty(1 + n)
    own_beta[0], own_gradient[0] = beta[0], gradient[0]
    for m in range(n):
        own_strength[m] = strength[working[m]]
        own_beta[1 + m], own_gradient[1 + m] = beta[1 + working[m]], gradient[1 + working[m]]
    hessian, direction = np.empty((1 + n, 1 + n)), np.empty(1 + n)
    hessian_of(1, table.bits, working, work.residual, table.counts, table.total, hessian)
    for k in range(1 + n):
        hessian[k, k] += RIDGE * hessian[k, k] + 1e-10
    goal = max(0.1 * tolerance, 1e-2 * violation)
    _best_of_model(own_beta, own_gradient, hessian, own_strength, goal, direction)
    full_direction, promise = np.zeros(len(beta)), own_gradient[0] * direction[0]
    full_direction[0] = direction[0]
    for m in range(n):
        full_direction[1 + working[m]] = direction[1 + m]
        moved = abs(own_beta[1 + m] + direction[1 + m]) - abs(own_beta[1 + m])
        promise += own_gradient[1 + m] * direction[1 + m] + own_strength[m] * moved
    return full_direction, promise


@njit(cache=True, nogil=True, error_model="numpy")
def _best_of_model(beta, gradient, hessian, strength, goal, direction):
    """Minimise the quadratic model plus penalty by active sets; fill ``direction`` with the step to the minimum.

    Each move goes to the best point with the present zeros and signs, or to the first coefficient that vanishes on the
    way, which becomes a zero. At a best point, the zero that would gain most becomes active. Every move lowers the sum.
    """
    size = len(beta)
    value, slope, sign, is_active = beta.copy(), gradient.copy(), np.sign(beta), beta != 0.0
    sign[0], is_active[0] = 0.0, True
    for _ in range(_MOST_SETS * size):
        chosen, step, n = np.empty(size, np.int64), np.empty(size), 0
        for k in range(size):
            if is_active[k]:
                chosen[n], step[n] = k, -slope[k]
                if k > 0:
                    step[n] -= strength[k - 1] * sign[k]
                n += 1
        matrix = np.empty((n, n))
        for i in range(n):
            for j in range(i + 1):
                matrix[i, j] = hessian[chosen[i], chosen[j]]
        if not solve_positive(matrix, step[:n]):
            break
        # Go as far as the signs hold; the first coefficient that would change its sign becomes zero instead.
        part, first = 1.0, 0
        for i in range(n):
            k = chosen[i]
            if (value[k] + step[i]) * sign[k] < 0.0 and -value[k] / step[i] < part:
                part, first = -value[k] / step[i], k
        for i in range(n):
            value[chosen[i]] += part * step[i]
            for j in range(size):
                slope[j] += part * step[i] * hessian[chosen[i], j]
        if first > 0:
            value[first], sign[first], is_active[first] = 0.0, 0.0, False
            continue
        largest = goal
        for k in range(1, size):
            if not is_active[k] and abs(slope[k]) - strength[k - 1] > largest:
                largest, first = abs(slope[k]) - strength[k - 1], k
        if first == 0:
            break
        sign[first], is_active[first] = -np.sign(slope[first]), True
    for k in range(size):
        direction[k] = value[k] - beta[k]


@njit(cache=True, nogil=True, error_model="numpy")
def _penalty(strength, beta):
    value = 0.0
    for k in range(len(strength)):
        if beta[1 + k] != 0.0:
            value += strength[k] * abs(beta[1 + k])
    return value
