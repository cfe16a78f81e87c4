"""Optimal one-dimensional k-means.

The least cost g(n) of n clusters is convex in n. A penalty ("price") per cluster therefore makes some n optimal, and
the search is for the price that makes k optimal. One price costs one pass over the sorted values, for any k (Gronlund
et al. 2017, "Fast exact k-means, k-medians and Bregman divergence clustering in 1D"). Where g is linear, no price
singles out k. There, two partitions with fewer and with more clusters, equally good at their price, are joined into one
with k clusters (Aggarwal, Schieber and Tokuyama 1994, "Finding a minimum-weight k-link path in graphs with the concave
Monge property").
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from itertools import count

import numpy as np

from mrfit._kernels.fitting.segmentation import boundaries_of, cheapest_partition, interval_table, partition_cost
from mrfit._typing import Floats, Integers
from mrfit.core.errors import InputError
from mrfit.data.batch import weight_of_any_scale

_SMALLEST = float(np.finfo(np.float64).tiny)
_NEAR = 64.0  # highest ratio of two prices at which the rounding of the higher does not matter at the lower
_N_BINS = 512  # for the first guess of the price
_N_GUESSES = 8  # prices guessed from a power law before the search falls back to bisection


@dataclass(frozen=True)
class Clustering:
    """Clusters of numbers: ascending ``centers``, the index of each value's cluster, and the cost.

    The cost is the sum of weight times squared distance to the exact weighted mean of the cluster. If the spread of a
    cluster is within a few thousand roundings of its mean, the sum over the rounded ``centers`` is slightly larger.
    """

    centers: Floats
    assignment: Integers
    cost: float

    def __post_init__(self) -> None:
        self.centers.flags.writeable = False
        self.assignment.flags.writeable = False

    @property
    def n_clusters(self) -> int:
        return len(self.centers)


def kmeans1d(values: object, k: int, *, sample_weight: object = None) -> Clustering:
    """Partition numbers into k clusters: optimal one-dimensional k-means.

    minimise  sum over t of sample_weight[t] * (values[t] - centers[assignment[t]])^2

    The answer is optimal up to rounding and does not depend on the order of the values. Equal values share a cluster:
    with fewer than k distinct values of positive weight there are that many clusters, and the cost is zero. Values of
    weight zero do not count; they are assigned to the nearest centre, the lower one of two. Distances below 1e-150 of
    the whole spread have squares that vanish, so they have no influence.

    Parameters
    ----------
    values : array of float
        Finite numbers.
    k : int
        Number of clusters, from 1 to the number of values.
    sample_weight : array of float or None, default=None
        Weight of each value, 0 or more; None means 1.

    Returns
    -------
    Clustering
        ``centers`` in ascending order, the ``assignment`` of each value and the ``cost``.

    Raises
    ------
    InputError
        If values are not finite, or k is out of range.

    Notes
    -----
    The time is O(m log m) for m values, times the number of prices tried, which is mostly below ten for any k. The
    kernel needs 24 m log2(m) bytes.

    Examples
    --------
    >>> from mrfit.data.kmeans1d import kmeans1d
    >>> kmeans1d([1, 2, 10, 11], 2)
    Clustering(centers=array([ 1.5, 10.5]), assignment=array([0, 0, 1, 1]), cost=1.0)
    """
    x = _checked_values(values)
    weight = weight_of_any_scale(np.ones(len(x)) if sample_weight is None else sample_weight, len(x))
    k = _checked_k(k, len(x))
    distinct, group = np.unique(x, return_inverse=True)
    group_weight: Floats = np.bincount(group, weight).astype(np.float64)
    counted = group_weight > 0.0
    _check_spread(distinct[counted], group_weight)
    boundaries, centers, cost = _cluster(distinct[counted], group_weight[counted], k)
    cluster = np.empty(len(distinct), np.int64)
    cluster[counted] = np.repeat(np.arange(len(centers)), np.diff(boundaries))
    halfway = centers[:-1] + 0.5 * (centers[1:] - centers[:-1])
    cluster[~counted] = np.searchsorted(halfway, distinct[~counted])
    return Clustering(centers, cluster[group], cost)


def _checked_values(values: object) -> Floats:
    try:
        x = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("values holds what is not a number; expected numbers. Convert or leave them out.") from None
    if x.ndim != 1 or not x.size:
        raise InputError(f"values has shape {x.shape}; expected one dimension and at least one number. Reshape it.")
    wrong = np.flatnonzero(~np.isfinite(x))
    if wrong.size:
        raise InputError(
            f"values[{wrong[0]}] is {x[wrong[0]]}; expected finite numbers, since no mean lies near an infinite or "
            "missing one. Leave it out."
        )
    return x


def _checked_k(k: int, n_values: int) -> int:
    try:
        number = operator.index(k)
    except TypeError:
        number = 0
    if not 1 <= number <= n_values:
        raise InputError(
            f"k is {k!r}; expected a whole number of clusters from 1 to {n_values}, the number of values. "
            "Choose k in this range."
        )
    return number


def _check_spread(x: Floats, weight: Floats) -> None:
    """Refuse an infinite cost of a single cluster, which bounds all other costs."""
    with np.errstate(over="ignore"):
        spread, total = float(x[-1]) - float(x[0]), float(weight.sum())
    if not math.isfinite(total) or not math.isfinite(total * spread * spread):
        raise InputError(
            f"values spread over {spread:.3g} with a total weight of {total:.3g}; expected a finite spread^2 * weight. "
            "Divide values or sample_weight by a constant."
        )


def _cluster(x: Floats, weight: Floats, k: int) -> tuple[Integers, Floats, float]:
    """Return boundaries, centres and cost for ascending distinct values, at a scale where no square overflows."""
    by, weight_by = math.frexp(float(x[-1]) - float(x[0]))[1], math.frexp(float(weight.max()))[1]
    scaled, scaled_weight = np.ldexp(x, -by), np.ldexp(weight, -weight_by)
    boundaries = _best_boundaries(scaled, scaled_weight, min(k, len(x)))
    begin, size = boundaries[:-1], np.diff(boundaries)
    mass = np.add.reduceat(scaled_weight, begin)
    # Distances are relative to the first value and then to the resulting mean, never to the origin. A common offset
    # therefore costs no digits, and the second shift corrects the rounding of the first mean.
    mean = scaled[begin]
    for _ in range(2):
        beyond = scaled - np.repeat(mean, size)
        shift = np.add.reduceat(scaled_weight * beyond, begin) / mass
        mean = mean + shift
    cost = float(np.sum(scaled_weight * (beyond - np.repeat(shift, size)) ** 2))
    centers = np.clip(np.ldexp(mean, by), x[begin], x[boundaries[1:] - 1])
    return boundaries, centers, math.ldexp(cost, 2 * by + weight_by)


@dataclass(frozen=True)
class _Partition:
    """A best partition at a price, with ``first`` as in the kernel.

    ``rounded_at`` is the highest price whose rounding may affect ``first``: its own price, or that of the partitions
    which bounded its candidates.
    """

    price: float
    first: Integers
    boundaries: Integers
    cost: float
    rounded_at: float = 0.0

    @property
    def n(self) -> int:
        return len(self.boundaries) - 1


def _best_boundaries(x: Floats, weight: Floats, k: int) -> Integers:
    """Return the boundaries 0 = b_0 < ... < b_k = m of the best k clusters.

    ``few`` and ``many`` bracket k, and their partitions bracket those of all prices between. A price on the chord of g
    between them either finds a partition between them or shows that none is better than the chord.
    """
    m = len(x)
    if k == 1 or k == m:
        return np.arange(0, m + 1, m // k)
    table = interval_table(x, weight)
    few, many = _single_cluster(table, m), _single_values(x, weight)
    price, on_chord = _inside(_expected_price(x, weight, k), few, many), False
    for step in count(1):
        found = _best_at(price, table, few, many)
        if found.n == k:
            break
        between = few.n < found.n < many.n
        if on_chord and not between:
            return _joined(few.boundaries, many.boundaries, k)
        if few.n <= found.n < k:
            few = found
        elif k < found.n <= many.n:
            many = found
        on_chord = not between or many.n - few.n <= 3 or (step > _N_GUESSES and step % 2 == 0)
        if on_chord:
            price = max((few.cost - many.cost) / (many.n - few.n), _SMALLEST)
        else:
            price = _inside(_likely_price(few, many, k) if step <= _N_GUESSES else 0.0, few, many)
    return found.boundaries


def _single_cluster(table: Floats, m: int) -> _Partition:
    """Return the partition into one cluster, which is best if a cluster costs as much as it can save."""
    boundaries = np.array([0, m])
    cost = partition_cost(table, boundaries)
    return _Partition(cost, np.zeros(m + 1, np.int64), boundaries, cost)


def _single_values(x: Floats, weight: Floats) -> _Partition:
    """Return the partition into single values, best up to the price of the cheapest pair of neighbours."""
    pairs = np.diff(x) ** 2 / (1.0 / weight[1:] + 1.0 / weight[:-1])
    boundaries = np.arange(len(x) + 1)
    return _Partition(max(float(pairs.min()), _SMALLEST), np.maximum(boundaries - 1, 0), boundaries, 0.0)


def _best_at(price: float, table: Floats, few: _Partition, many: _Partition) -> _Partition:
    """Return the best partition at a price.

    A price far above the cost drowns the cost in rounding. No further cluster saves more than the whole cost, so the
    number of clusters stays the same down to that price, and the search is repeated there. For the same reason the
    candidates of ``few`` are not used if its price is much higher.
    """
    while True:
        near = few.rounded_at <= _NEAR * price
        # Near-ties may have been rounded to cross; the kernel needs lower <= upper.
        lower = np.minimum(few.first, many.first) if near else np.zeros_like(few.first)
        first = cheapest_partition(table, price, lower, many.first)
        boundaries = boundaries_of(first)
        cost = partition_cost(table, boundaries)
        lowest = 2.0 * max(cost, _SMALLEST)
        if price <= lowest:
            return _Partition(price, first, boundaries, cost, max(price, few.rounded_at if near else 0.0))
        price = lowest


def _expected_price(x: Floats, weight: Floats, k: int) -> float:
    """Return -g'(k) for g(k) = (integral of density^(1/3))^3 / (12 k^2), for many values (Panter and Dite 1951)."""
    edges = np.linspace(0, len(x) - 1, min(len(x), _N_BINS + 1)).astype(np.int64)
    mass = np.diff(np.cumsum(weight)[edges])
    roots = np.cbrt(mass * np.diff(x[edges]) ** 2)
    return float(roots.sum() / k) ** 3 / 6.0


def _inside(price: float, few: _Partition, many: _Partition) -> float:
    """Return the price if it lies between those of the ends, else their geometric mean."""
    return price if many.price < price < few.price else math.sqrt(few.price) * math.sqrt(many.price)


def _likely_price(few: _Partition, many: _Partition, k: int) -> float:
    """Return the price of k on a power law A n^-p through both ends, or by -g'/g of ``few`` if ``many`` costs 0."""
    if few.cost == 0.0:
        return 0.0
    if many.cost > 0.0:
        p = (math.log(few.price) - math.log(many.price)) / math.log(many.n / few.n)
    else:
        p = 1.0 + few.price * few.n / few.cost
    return few.price * float((few.n / k) ** p)


def _joined(few: Integers, many: Integers, k: int) -> Integers:
    """Follow ``few`` to its t-th boundary, then ``many``, for k clusters in all.

    Take the first t for which the (t + 1)-th cluster of ``few`` contains one of ``many`` with the right number of
    clusters after it. Such a t exists, and by the Monge condition crossing there costs nothing: exchanging the ends of
    the two clusters gives two partitions that together are no worse, and neither can be better than the best.
    """
    ahead = len(many) - 1 - k
    t = int(np.argmax(few[1:] >= many[ahead + 1 : ahead + len(few)]))
    return np.concatenate([few[: t + 1], many[t + 1 + ahead :]])
