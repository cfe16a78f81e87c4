"""Optimal one-dimensional k-means: the cost of any interval, and the best partition for a price per cluster.

Values x ascend and have positive weights. A cluster is an interval [i, j) of them with the cost C(i, j) = sum of w_t
(x_t - mean)^2. Differences of prefix sums would lose all digits of a narrow interval far from the origin. Here two
clusters are joined instead,

    C(i, j) = C(i, p) + C(p, j) + (mean(p, j) - mean(i, p))^2 / (1 / W(i, p) + 1 / W(p, j)),

and clusters grow value by value in the same way. All terms are positive (the only differences are those of neighbouring
values), so every cost is accurate to the last digits for any offset, scale and weights. The cut p is the multiple of
the largest power of two between i and j. Costs that end or begin at such cuts form one table row for each power, 24 m
log2(m) bytes in all.

A partition is described by ``first``: the last cluster of the best partition of the first j values is [first[j], j).
"""

from __future__ import annotations

import numpy as np
from numba import types
from numba.extending import intrinsic

from mrfit._kernels.machine_code.compiled import njit

# Mean number of candidates per value up to which all of them are evaluated. The plain loop takes about 2.5 ns per
# candidate, the queue 20 (each comparison waits for the previous one), and the queue needs about 3.5 of them.
_FEW = 12
_ABOVE_ROUNDING = 1.0 + 2.0**-46  # factor that lifts a cost above its rounding error


@intrinsic
def _leading_zeros(typing_context, value):
    """Count the bits above the highest set bit of a positive 64-bit number."""

    def generate(context, builder, signature, arguments):
        return builder.ctlz(arguments[0], context.get_constant(types.boolean, 1))

    return types.int64(types.int64), generate


@njit(cache=True, nogil=True)
def interval_table(x, weight):
    """Return rows (cost, distance of the mean to the cut, 1 / weight) by power of two and value, (powers, values, 3).

    In a block of 2^(L+1) values with the cut p in its middle, entry i is for [i, p) if i < p, else for [p, i].
    """
    n_values = len(x)
    n_powers = 64 - _leading_zeros(n_values - 1)
    table = np.empty((n_powers, n_values, 3))
    for power in range(n_powers):
        half = 1 << power
        for cut in range(half, n_values, 2 * half):
            _grow(x, weight, cut, min(cut + half, n_values), 0.0, table[power])
            _grow(x, weight, cut - 1, cut - half - 1, x[cut] - x[cut - 1], table[power])
    return table


@njit(cache=True, nogil=True, error_model="numpy")
def _grow(x, weight, begin, end, gap, entries):
    """Fill the entries of clusters from ``begin`` to ``end``, in either direction; ``gap`` is from begin to the cut."""
    step = 1 if begin < end else -1
    total = weight[begin]
    cost = 0.0
    mean = 0.0  # distance to x[begin]
    behind = 0.0  # distance of the mean to the current value
    entries[begin, 0] = cost
    entries[begin, 1] = gap
    entries[begin, 2] = 1.0 / total
    for i in range(begin + step, end, step):
        before = total
        total += weight[i]
        share = weight[i] / total
        beyond = behind + abs(x[i] - x[i - step])
        cost += beyond * beyond * (share * before)
        mean += beyond * share
        behind = beyond * (before / total)
        entries[i, 0] = cost
        entries[i, 1] = gap + mean
        entries[i, 2] = 1.0 / total


@njit(cache=True, nogil=True, error_model="numpy")
def interval_cost(table, i, j):
    """Return C(i, j) in constant time."""
    last = j - 1
    if i == last:
        return 0.0
    power = 63 - _leading_zeros(i ^ last)  # i and last lie on different sides of this power's cut
    apart = table[power, i, 1] + table[power, last, 1]
    joint = table[power, i, 2] + table[power, last, 2]
    return table[power, i, 0] + table[power, last, 0] + apart * apart / joint


@njit(cache=True, nogil=True)
def partition_cost(table, boundaries):
    """Return the sum of the costs of [boundaries[t], boundaries[t + 1])."""
    cost = 0.0
    for t in range(len(boundaries) - 1):
        cost += interval_cost(table, boundaries[t], boundaries[t + 1])
    return cost


@njit(cache=True, nogil=True)
def boundaries_of(first):
    """Return 0 = b_0 < b_1 < ... < b_n = m, the boundaries of the best partition of all values."""
    n_values = len(first) - 1
    boundaries = np.empty(n_values + 1, np.int64)
    at = n_values
    boundaries[at] = n_values
    while boundaries[at] > 0:
        at -= 1
        boundaries[at] = first[boundaries[at + 1]]
    return boundaries[at:].copy()


@njit(cache=True, nogil=True)
def cheapest_partition(table, price, lower, upper):
    """Minimise f(j) = price + min over i of f(i) + C(i, j), lower[j] <= i <= upper[j], f(0) = 0; return ``first``.

    ``lower`` and ``upper`` must not descend: they come from a higher and a lower price. Costs satisfy the Monge
    condition, so the best i does not descend with j either. The time is O(m log m) at worst, O(m) if there are few
    candidates.
    """
    n_candidates = 0
    for j in range(len(lower)):
        n_candidates += upper[j] - lower[j] + 1
    if n_candidates <= _FEW * len(lower):
        return _by_full_scan(table, price, lower, upper)
    return _by_queue(table, price, lower, upper)


@njit(cache=True, nogil=True)
def _by_full_scan(table, price, lower, upper):
    n_values = len(lower) - 1
    f = np.empty(n_values + 1)
    first = np.empty(n_values + 1, np.int64)
    f[0] = 0.0
    first[0] = 0
    for j in range(1, n_values + 1):
        begin = min(max(lower[j], first[j - 1]), upper[j])
        best = np.inf
        for i in range(begin, upper[j] + 1):
            value = (f[i] - f[begin]) + interval_cost(table, i, j)
            if value <= best:
                best = value
                first[j] = i
        f[j] = f[begin] + best + price
    return first


@njit(cache=True, nogil=True)
def _by_queue(table, price, lower, upper):
    """Queue candidates in the order in which they take over, each with the first j at which it beats its predecessors.

    A later candidate that is better for some j is better for all later j (Hirschberg and Larmore 1987, "The least
    weight subsequence problem").
    """
    n_values = len(lower) - 1
    f = np.empty(n_values + 1)
    first = np.empty(n_values + 1, np.int64)
    candidate = np.empty(n_values + 1, np.int64)
    takes_over = np.empty(n_values + 1, np.int64)
    opens, closes = _uses(lower, upper)
    f[0] = 0.0
    first[0] = 0
    candidate[0] = 0
    takes_over[0] = 1
    front = 0
    back = 0
    for j in range(1, n_values + 1):
        new = j - 1
        begin = max(j, opens[new])
        if new > 0 and begin < closes[new]:
            end = n_values + 1
            # The front is valid for j - 1 and is never dropped here, since begin >= j.
            while takes_over[back] >= begin and _beats(table, f, new, candidate[back], takes_over[back]):
                end = takes_over[back]
                back -= 1
            begin = max(takes_over[back], begin - 1)
            end = min(end, max(closes[candidate[back]], begin + 1))
            end = _first_win(table, f, new, candidate[back], begin, end)
            if end < closes[new]:
                back += 1
                candidate[back] = new
                takes_over[back] = end
        while front < back and takes_over[front + 1] <= j:
            front += 1
        first[j] = candidate[front]
        f[j] = f[first[j]] + interval_cost(table, first[j], j) + price
    return first


@njit(cache=True, nogil=True)
def _uses(lower, upper):
    """Return for each i the j at which it becomes a candidate and the j at which it ceases to be one."""
    n_values = len(lower) - 1
    opens = np.empty(n_values, np.int64)
    closes = np.empty(n_values, np.int64)
    opening = 1
    closing = 1
    for i in range(n_values):
        while opening <= n_values and upper[opening] < i:
            opening += 1
        while closing <= n_values and lower[closing] <= i:
            closing += 1
        opens[i] = opening
        closes[i] = closing
    return opens, closes


@njit(cache=True, nogil=True)
def _beats(table, f, new, old, j):
    """Return whether [new, j) is the better last cluster; ties within rounding count as better.

    For values far from light or close ones, two costs differ only by rounding. This must not hide a win nearby, because
    the searches rely on every j after the first win to be a win.
    """
    return f[new] - f[old] <= _ABOVE_ROUNDING * interval_cost(table, old, j) - interval_cost(table, new, j)


@njit(cache=True, nogil=True)
def _first_win(table, f, new, old, begin, end):
    """Return the least j in (begin, end) at which new beats old, or end; strides double, as it is mostly near begin."""
    stride = 1
    while begin + stride < end:
        if _beats(table, f, new, old, begin + stride):
            end = begin + stride
            break
        begin += stride
        stride *= 2
    while end - begin > 1:
        middle = (begin + end) // 2
        if _beats(table, f, new, old, middle):
            end = middle
        else:
            begin = middle
    return end
