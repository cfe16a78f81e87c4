"""Optimal one-dimensional k-means against every partition, a plain recurrence in fractions and published answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrfit._kernels.fitting.segmentation import (
    boundaries_of,
    cheapest_partition,
    interval_cost,
    interval_table,
    partition_cost,
)
from mrfit.core.errors import InputError
from mrfit.data.kmeans1d import Clustering, kmeans1d
from reference.kmeans1d import (
    cost_of_assignment,
    exact_costs,
    float_costs,
    least_cost_of_all_partitions,
    least_costs,
)

# What rounding may cost, as a share of the least cost.
ROUNDING = Fraction(1, 10**12)

VALUES = {
    "small integers": st.integers(-6, 6).map(float),
    "large integers": st.integers(-(2**40), 2**40).map(float),
    "decimals": st.integers(0, 40).map(lambda n: n * 0.1),
    "reals": st.floats(-1e3, 1e3).filter(lambda v: v == 0.0 or abs(v) > 1e-60),
    "all scales": st.builds(lambda s, e: s * 10.0**e, st.sampled_from([-1.0, 1.0]), st.floats(-40, 40)),
    "powers of two": st.integers(-30, 30).map(lambda e: 2.0**e),
    "far away": st.floats(-1e-3, 1e-3).map(lambda v: 1e8 + v),
    "tight groups": st.builds(lambda a, b: a + 1e-9 * b, st.integers(0, 3), st.integers(0, 4)),
}
WEIGHTS = {
    "ones": st.just(1.0),
    "counts": st.integers(1, 5).map(float),
    "reals": st.floats(0.01, 10.0),
    "all scales": st.floats(-12, 12).map(lambda e: 10.0**e),
}


@st.composite
def weighted_values(draw: st.DrawFn, most: int) -> tuple[list[float], list[float]]:
    value, weight = draw(st.sampled_from(list(VALUES.values()))), draw(st.sampled_from(list(WEIGHTS.values())))
    pairs = draw(st.lists(st.tuples(value, weight), min_size=1, max_size=most))
    return [v for v, _ in pairs], [w for _, w in pairs]


POPULATIONS = {
    "normal": lambda rng, m: rng.normal(size=m),
    "uniform": lambda rng, m: rng.random(m),
    "lognormal": lambda rng, m: np.exp(3.0 * rng.normal(size=m)),
    "lattice": lambda rng, m: np.arange(m) * 1.0,
    "lattice in decimals": lambda rng, m: np.arange(m) * 0.1,
    "squares": lambda rng, m: np.arange(m) ** 2.0,
    "geometric": lambda rng, m: 1.5 ** np.linspace(0.0, 120.0, m),
    "counts": lambda rng, m: rng.integers(0, m, m) * 1.0,
    "groups": lambda rng, m: rng.integers(0, 8, m) + 1e-6 * rng.normal(size=m),
    "outliers": lambda rng, m: rng.standard_cauchy(m),
}
each_population = pytest.mark.parametrize("population", POPULATIONS.values(), ids=POPULATIONS.keys())


def merged(values: Sequence[float], weight: Sequence[float]) -> tuple[list[float], list[Fraction]]:
    """Distinct values in order, with their exact weights."""
    total: dict[float, Fraction] = {}
    for v, w in zip(values, weight, strict=True):
        total[v] = total.get(v, Fraction(0)) + Fraction(w)
    return sorted(total), [total[v] for v in sorted(total)]


def assert_consistent(found: Clustering, values: Sequence[float], weight: Sequence[float]) -> None:
    """Centres are the means of what is assigned to them, and moving a value to another gains no more than rounding."""
    x, w, assignment = np.asarray(values), np.asarray(weight), found.assignment
    assert (np.diff(found.centers) > 0).all()
    assert assignment.shape == x.shape
    assert set(assignment.tolist()) == set(range(found.n_clusters))
    for c, center in enumerate(found.centers.tolist()):
        members = [(Fraction(v), Fraction(u)) for v, u in zip(x[assignment == c], w[assignment == c], strict=True)]
        mean = float(sum(v * u for v, u in members) / sum(u for _, u in members))
        spread = float(np.ptp(x[assignment == c]))
        assert abs(center - mean) <= 1e-13 * spread + 2.0 * np.spacing(abs(mean))
    distance = np.abs(x[:, None] - found.centers)
    own, nearest = distance[np.arange(len(x)), assignment], distance.min(axis=1)
    gain = w * (own + nearest) * (own - nearest - 4.0 * np.spacing(np.abs(x).max()))
    assert (gain <= 1e-12 * found.cost).all()


@cache
def _least_costs(population: Callable[[np.random.Generator, int], np.ndarray]) -> tuple[np.ndarray, list[float]]:
    """Values, and the least cost of their partitions for every k."""
    x = np.unique(population(np.random.default_rng(0), 120))
    return x, least_costs(float_costs(x, np.ones(len(x))))


# -- the optimum -------------------------------------------------------------------------------------------------


@settings(max_examples=300)
@given(weighted_values(most=7))
def test_no_partition_is_better_for_any_k(case: tuple[list[float], list[float]]) -> None:
    """Every way to cut, in exact arithmetic: the partition and the reported cost, about 1,200 problems."""
    values, weight = case
    distinct, mass = merged(values, weight)
    costs = exact_costs(distinct, mass)
    for k in range(1, len(values) + 1):
        found = kmeans1d(values, k, sample_weight=weight)
        assert found.n_clusters == min(k, len(distinct))
        least = least_cost_of_all_partitions(costs, found.n_clusters)
        cost = cost_of_assignment(values, weight, found.assignment.tolist())
        assert cost <= least * (1 + ROUNDING)
        assert abs(Fraction(found.cost) - cost) <= cost * ROUNDING
        assert_consistent(found, values, weight)


@settings(max_examples=100)
@given(weighted_values(most=40))
def test_equals_the_exact_recurrence_for_every_k(case: tuple[list[float], list[float]]) -> None:
    values, weight = case
    least = least_costs(exact_costs(*merged(values, weight)))
    for k in range(1, len(least) + 1):
        found = kmeans1d(values, k, sample_weight=weight)
        assert cost_of_assignment(values, weight, found.assignment.tolist()) <= least[k - 1] * (1 + ROUNDING)


@each_population
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_the_plain_recurrence_for_every_k(population, weighted: bool, rng: np.random.Generator) -> None:
    """Large enough for the queue, wide and narrow candidate sets, and joined partitions."""
    x, least = _least_costs(population)
    weight = rng.integers(1, 9, len(x)) / 4.0 if weighted else np.ones(len(x))
    least = least_costs(float_costs(x, weight)) if weighted else least
    found = [kmeans1d(x, k, sample_weight=weight).cost for k in range(1, len(x) + 1)]
    np.testing.assert_allclose(found, np.array(least, float), rtol=1e-12)


@each_population
def test_costs_of_many_values_are_convex_in_k(population, rng: np.random.Generator) -> None:
    """The size is beyond any plain twin; a missed k would stick out."""
    x = population(rng, 5000)
    n_distinct = len(np.unique(x))
    for k in (2, 3, 10, 100, 1000, n_distinct // 2, n_distinct - 5):
        if 2 <= k < n_distinct:
            fewer, cost, more = (kmeans1d(x, n).cost for n in (k - 1, k, k + 1))
            assert fewer - cost >= (cost - more) - 1e-12 * fewer
            assert fewer > cost > more


def test_lattices_have_clusters_of_two_sizes() -> None:
    """Most k have no price of their own here; the least cost is known."""
    for m, k in [(10, 4), (97, 13), (1000, 501), (1000, 999), (4096, 3000)]:
        found = kmeans1d(np.arange(m), k)
        sizes = np.bincount(found.assignment)
        assert set(sizes.tolist()) <= {m // k, m // k + 1}
        assert len(sizes) == k
        assert found.cost == pytest.approx(sum(n * (n * n - 1) / 12 for n in sizes.tolist()), rel=1e-14)


@pytest.mark.parametrize("m", [1, 2, 3, 50])
def test_one_cluster_and_one_for_each_value(m: int, rng: np.random.Generator) -> None:
    x = rng.normal(size=m)
    one, all_ = kmeans1d(x, 1), kmeans1d(x, m)
    np.testing.assert_allclose(one.centers, [x.mean()], rtol=1e-13)
    assert one.cost == pytest.approx(x.var() * m, rel=1e-13, abs=0.0)
    np.testing.assert_array_equal(all_.centers, np.sort(x))
    np.testing.assert_array_equal(all_.centers[all_.assignment], x)
    assert all_.cost == 0.0


def test_answers_of_ckmeans_1d_dp(conformance_dir: Path) -> None:
    for case in json.loads((conformance_dir / "kmeans1d" / "cases.json").read_text()):
        if case["criterion"] != "L2":
            continue
        found = kmeans1d(case["x"], case["k"], sample_weight=case["weights"])
        for answer in (case["recomputed"], case["expected_file"]):
            if "assign" in answer:
                assert found.assignment.tolist() == answer["assign"], case["id"]
                np.testing.assert_allclose(found.centers, answer["centers"], rtol=1e-9, atol=1e-9)
                assert found.cost == pytest.approx(sum(answer["withinss"]), abs=1e-9)


# -- what must not matter ----------------------------------------------------------------------------------------


@given(weighted_values(most=20), st.data())
def test_order_does_not_matter(case: tuple[list[float], list[float]], data: st.DataObject) -> None:
    values, _ = case
    k = data.draw(st.integers(1, len(values)))
    order = data.draw(st.permutations(range(len(values))))
    found, permuted = kmeans1d(values, k), kmeans1d([values[i] for i in order], k)
    np.testing.assert_array_equal(permuted.centers, found.centers)
    np.testing.assert_array_equal(permuted.assignment, found.assignment[order])
    assert permuted.cost == found.cost


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(1, 4)), min_size=1, max_size=15), st.data())
def test_a_weight_is_a_repetition(pairs: list[tuple[int, int]], data: st.DataObject) -> None:
    values, times = [v for v, _ in pairs], [n for _, n in pairs]
    k = data.draw(st.integers(1, len(values)))
    weighted, repeated = kmeans1d(values, k, sample_weight=times), kmeans1d(np.repeat(values, times), k)
    np.testing.assert_array_equal(weighted.centers, repeated.centers)
    np.testing.assert_array_equal(np.repeat(weighted.assignment, times), repeated.assignment)
    assert weighted.cost == repeated.cost


@given(st.lists(st.integers(-1000, 1000), min_size=2, max_size=30), st.integers(-9, 9), st.integers(-9, 9), st.data())
def test_shift_and_scale(values: list[int], shift: int, power: int, data: st.DataObject) -> None:
    """Powers of two and whole shifts are exact, and so must be what follows; a change of sign turns it around."""
    k, by = data.draw(st.integers(1, len(values))), 2.0**power
    found, moved = kmeans1d(values, k), kmeans1d((np.array(values) + 1000 * shift) * by, k)
    np.testing.assert_array_equal(moved.assignment, found.assignment)
    np.testing.assert_allclose(moved.centers, (found.centers + 1000 * shift) * by, rtol=1e-14, atol=1e-12 * by)
    assert moved.cost == pytest.approx(found.cost * by * by, rel=1e-14, abs=0.0)
    assert kmeans1d(-np.array(values), k).cost == pytest.approx(found.cost, rel=1e-14, abs=0.0)


@pytest.mark.parametrize("k", [2, 7, 50, 290])
def test_a_huge_offset_costs_no_digits(k: int, rng: np.random.Generator) -> None:
    """Steps of 2^-25 are exact near 1e8, so the same values can be had without the offset."""
    near = rng.integers(0, 30_000, 300) * 2.0**-25
    far = kmeans1d(1e8 + near, k)
    np.testing.assert_array_equal(far.assignment, kmeans1d(near, k).assignment)
    assert far.cost == pytest.approx(kmeans1d(near, k).cost, rel=1e-14, abs=0.0)


@pytest.mark.parametrize("power", [-1040, -900, -500, 480])
@pytest.mark.parametrize("k", [3, 20])
def test_extreme_scales_change_no_cluster(power: int, k: int, rng: np.random.Generator) -> None:
    """Even where all squares underflow; the cost is then what a float can hold of it."""
    x = rng.integers(0, 1000, 60) * 1.0
    found, scaled = kmeans1d(x, k), kmeans1d(np.ldexp(x, power), k)
    np.testing.assert_array_equal(scaled.assignment, found.assignment)
    assert scaled.cost == pytest.approx(float(np.ldexp(found.cost, 2 * power)), rel=1e-14, abs=1e-320)


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e30, 1e300])
def test_the_scale_of_weights_scales_the_cost(scale: float, rng: np.random.Generator) -> None:
    x, weight = rng.normal(size=50), rng.random(50) + 0.1
    found, scaled = kmeans1d(x, 9, sample_weight=weight), kmeans1d(x, 9, sample_weight=weight * scale)
    np.testing.assert_array_equal(scaled.assignment, found.assignment)
    assert scaled.cost == pytest.approx(found.cost * scale, rel=1e-12, abs=0.0)


@pytest.mark.parametrize("seed", range(4))
def test_weights_of_all_sizes_hide_no_better_partition(seed: int) -> None:
    """Near-ties of one price are wide gaps at the next over 24 decades: rounded values must not be handed on."""
    rng = np.random.default_rng(seed)
    x = np.arange(36) + 1e-13 * rng.standard_normal(36)
    weight = 10.0 ** rng.uniform(-12, 12, 36)
    for k, least in enumerate(least_costs(exact_costs(x.tolist(), weight.tolist())), 1):
        found = kmeans1d(x, k, sample_weight=weight)
        exact = cost_of_assignment(x.tolist(), weight.tolist(), found.assignment.tolist())
        assert exact <= least * (1 + Fraction(1, 10**11))


def test_close_values_among_distant_ones_are_told_apart() -> None:
    found = kmeans1d([0.0, 1e-60, 3e-60, 1.0, 1e60], 4)
    assert found.assignment.tolist() == [0, 0, 1, 2, 3]
    assert found.cost == pytest.approx(0.5e-120, rel=1e-14)


# -- values that do not count, and fewer clusters than asked for ---------------------------------------------------


def test_equal_values_share_a_cluster() -> None:
    found = kmeans1d([2.0, 1.0, 2.0, 1.0, 1.0, 0.0, -0.0], 6)
    assert found.centers.tolist() == [0.0, 1.0, 2.0]
    assert found.assignment.tolist() == [2, 1, 2, 1, 1, 0, 0]
    assert found.cost == 0.0
    assert found.n_clusters == 3


def test_values_of_weight_zero_go_to_the_nearest_centre() -> None:
    found = kmeans1d([5.0, 0.0, 1.0, 10.0, 11.0, 5.5, 5.6, 10.0, 99.0], 2, sample_weight=[0, 1, 1, 1, 1, 0, 0, 0, 0])
    assert found.centers.tolist() == [0.5, 10.5]
    assert found.assignment.tolist() == [0, 0, 0, 1, 1, 0, 1, 1, 1]
    assert found.cost == 1.0


def test_only_values_with_weight_make_clusters() -> None:
    found = kmeans1d([1.0, 2.0, 3.0], 3, sample_weight=[0.0, 5.0, 0.0])
    assert (found.centers.tolist(), found.assignment.tolist(), found.cost) == ([2.0], [0, 0, 0], 0.0)


def test_results_cannot_be_changed() -> None:
    values = np.array([3.0, 1.0, 2.0])
    found = kmeans1d(values, 2)
    for array in (found.centers, found.assignment):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    values[0] = 7.0  # the input stays the caller's
    assert found.assignment.dtype == np.int64


# -- errors ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "k", "weight", "message"),
    [
        ([1.0, 2.0], 0, None, "k is 0; expected a whole number of clusters from 1 to 2"),
        ([1.0, 2.0], -1, None, "k is -1"),
        ([1.0, 2.0], 3, None, "k is 3; expected .* 1 to 2, the number of values"),
        ([1.0, 2.0], 1.0, None, "k is 1.0"),
        ([1.0, 2.0], "2", None, "k is '2'"),
        ([1.0, 2.0], None, None, "k is None"),
        ([], 1, None, r"values has shape \(0,\)"),
        (3.0, 1, None, r"values has shape \(\)"),
        ([[1.0, 2.0]], 1, None, r"values has shape \(1, 2\)"),
        (["a", "b"], 1, None, "not a number"),
        ([1.0, float("nan")], 1, None, r"values\[1\] is nan"),
        ([1.0, 2.0, -float("inf")], 1, None, r"values\[2\] is -inf; expected finite"),
        ([-1e300, 1e300], 1, None, "spread over 2e\\+300"),
        ([-1.7e308, 1.7e308], 2, None, "spread over inf"),
        ([1.0, 2.0], 1, [1e308, 1e308], "total weight of inf"),
        ([1.0, 2.0], 1, [1.0, -1.0], "sample_weight is -1.0"),
        ([1.0, 2.0], 1, [1.0, float("nan")], "sample_weight is nan"),
        ([1.0, 2.0], 1, [1.0], r"sample_weight has shape \(1,\)"),
        ([1.0, 2.0], 1, [0.0, 0.0], "sample_weight is zero"),
        ([1.0, 2.0], 1, ["x", "y"], "sample_weight holds values that are not numbers"),
    ],
)
def test_errors_say_what_was_wrong(values: object, k: object, weight: object, message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        kmeans1d(values, k, sample_weight=weight)  # type: ignore[arg-type]
    assert "\n" not in str(raised.value)


# -- the kernels -------------------------------------------------------------------------------------------------


@given(weighted_values(most=40).filter(lambda case: len(set(case[0])) > 1))
def test_interval_costs_are_right_to_the_last_digits(case: tuple[list[float], list[float]]) -> None:
    distinct, mass = merged(*case)
    x, weight = np.array(distinct), np.array([float(w) for w in mass])
    table, exact = interval_table(x, weight), exact_costs(distinct, weight.tolist())
    for i in range(len(x)):
        for j in range(i + 1, len(x) + 1):
            assert abs(Fraction(interval_cost(table, i, j)) - exact[i, j]) <= exact[i, j] * ROUNDING


@each_population
@pytest.mark.parametrize("n", [2, 5, 20, 60])
def test_the_cheapest_partition_among_all_and_among_few_candidates(population, n: int) -> None:
    """f by its definition; candidates between the answers to a higher and a lower price lead to the same partition."""
    x, costs = _least_costs(population)
    m = len(x)
    if n > m - 2:
        return
    least, table = np.array(costs, float), interval_table(x, np.ones(m))
    price = (least[n - 2] - least[n]) / 2.0
    lowest, highest = np.zeros(m + 1, np.int64), np.maximum(np.arange(m + 1) - 1, 0)
    first = cheapest_partition(table, price, lowest, highest)
    dearer, cheaper = (cheapest_partition(table, price * by, lowest, highest) for by in (1.5, 0.6))
    for answer in (first, cheapest_partition(table, price, dearer, cheaper)):
        boundaries = boundaries_of(answer)
        value = partition_cost(table, boundaries) + price * (len(boundaries) - 1)
        assert value == pytest.approx((least + price * np.arange(1, m + 1)).min(), rel=1e-13)
