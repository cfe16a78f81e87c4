"""Theory of tying: distances against all pairs, lemmas as properties, numbers against a calculation by hand."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrfit.core.domain import Domain
from mrfit.core.errors import InputError
from mrfit.data.kmeans1d import kmeans1d
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.tying.guarantee import Composition, rows_for_error
from mrfit.learning.tying.observed_curvature import smallest_eigenvalue
from mrfit.learning.tying.sample_complexity import (
    Theory,
    cluster_width,
    is_well_separated,
    largest_error,
    largest_kmeans_error,
    regularization,
    sample_size_hard,
    sample_size_soft,
    separation,
)
from mrfit.objectives.likelihood import Likelihood
from mrfit.parameterizations.canonical import Canonical
from mrfit.parameterizations.groups import Groups, clustered
from mrfit.structures.structure import Structure

# A group of one beside a group of three.
LONELY = np.array([0, 1, 1, 1])


def chain(*states: int, rows: np.ndarray | None = None) -> Likelihood:
    """A chain of variables with so many states each; its curvature is that of any rows."""
    domain = Domain.from_states({f"x{i}": [str(s) for s in range(n)] for i, n in enumerate(states)})
    structure = Structure.from_scopes(len(states), [(i, i + 1) for i in range(len(states) - 1)])
    codes = np.zeros((1, len(states)), np.uint8) if rows is None else rows
    return Likelihood(Canonical(domain, structure), UniqueRows.from_codes(domain, codes, np.ones(len(codes))))


# Distances


@st.composite
def assigned(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, many of them equal, groups in any order or none, and classes."""
    value = st.one_of(st.integers(-4, 4).map(float), st.floats(-10, 10))
    members = draw(st.lists(st.tuples(value, st.integers(-1, 3), st.integers(0, 1)), max_size=12))
    w, group, class_ = (np.array(column) for column in zip(*members, strict=True)) if members else (np.empty(0),) * 3
    return w.astype(float), group.astype(np.int64), class_.astype(np.int64)


@given(assigned())
def test_distances_equal_those_of_all_pairs(drawn: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    w, group, class_ = drawn
    pairs = [(r, s) for r, s in combinations(np.flatnonzero(group >= 0), 2)]
    within = [abs(w[r] - w[s]) for r, s in pairs if group[r] == group[s]]
    between = [abs(w[r] - w[s]) for r, s in pairs if group[r] != group[s]]
    in_class = [abs(w[r] - w[s]) for r, s in pairs if group[r] != group[s] and class_[r] == class_[s]]
    assert cluster_width(w, group) == max(within, default=0.0)
    assert separation(w, group) == min(between, default=math.inf)
    assert separation(w, group, classes=class_) == min(in_class, default=math.inf)


@given(assigned(), st.floats(0, 5), st.booleans())
def test_well_separated_is_an_error_below_the_bound(
    drawn: tuple[np.ndarray, np.ndarray, np.ndarray], error: float, hard: bool
) -> None:
    w, group, _ = drawn
    omega, alpha = cluster_width(w, group), separation(w, group)
    assert is_well_separated(w, group, error, hard=hard) == (error < (alpha if hard else alpha - omega) / 4)


# Lemma 1 and Corollary 1


@st.composite
def perturbed(draw: st.DrawFn, *, hard: bool, sizes: str, exact: bool) -> tuple[np.ndarray, np.ndarray]:
    """Values with errors just below the bound (``exact``: that for optimal k-means), and their true groups.

    Members are where they do most harm, at the ends of their group, as often as anywhere.
    """
    k = draw(st.integers(1, 5))
    equal = draw(st.integers(1, 6))
    counts = [equal] * k if sizes == "equal" else draw(st.lists(st.integers(1, 12), min_size=k, max_size=k))
    group = np.repeat(np.arange(k), counts)
    share, gap = min(counts) / sum(counts), 1.0
    widest = 1.0 / (1.0 + share**-0.5) if exact else 1.0
    width = 0.0 if hard else draw(st.floats(0, 0.99)) * widest
    place = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0, 1))
    inner = np.array(draw(st.lists(place, min_size=len(group), max_size=len(group))))
    w = group * (gap + width) + width * inner
    omega, alpha = cluster_width(w, group), separation(w, group)
    bound = largest_kmeans_error(omega, alpha, share, hard=hard) if exact else largest_error(omega, alpha, hard=hard)
    error = np.array(draw(st.lists(place, min_size=len(group), max_size=len(group)))) * 2.0 - 1.0
    return w + 0.999 * (bound if math.isfinite(bound) else 1.0) * error, group


def lemma(**how: bool | str) -> st.SearchStrategy[tuple[np.ndarray, np.ndarray]]:
    return st.booleans().flatmap(lambda hard: perturbed(hard=hard, **how))  # type: ignore[arg-type]


@given(lemma(sizes="any", exact=False))
def test_below_lemma_1_the_groups_are_a_fixed_point_of_lloyd_and_lie_between_the_largest_gaps(
    drawn: tuple[np.ndarray, np.ndarray],
) -> None:
    estimate, group = drawn
    centers = np.bincount(group, estimate) / np.bincount(group)
    np.testing.assert_array_equal(np.abs(estimate[:, None] - centers).argmin(axis=1), group)
    order = np.argsort(estimate)
    cuts = np.argsort(-np.diff(estimate[order]), kind="stable")[: group.max()]
    np.testing.assert_array_equal(np.sort(cuts), np.flatnonzero(np.diff(group[order])))


@given(lemma(sizes="equal", exact=False))
def test_below_lemma_1_optimal_kmeans_returns_groups_of_equal_size(drawn: tuple[np.ndarray, np.ndarray]) -> None:
    estimate, group = drawn
    np.testing.assert_array_equal(kmeans1d(estimate, int(group.max()) + 1).assignment, group)


@given(lemma(sizes="any", exact=True))
def test_below_its_own_bound_optimal_kmeans_returns_groups_of_any_size(drawn: tuple[np.ndarray, np.ndarray]) -> None:
    estimate, group = drawn
    np.testing.assert_array_equal(kmeans1d(estimate, int(group.max()) + 1).assignment, group)


@pytest.mark.parametrize(
    ("w", "error", "hard"),
    [
        ([0.0, 4.0, 4.0, 4.0], [0.99, -0.99, 0.99, 0.99], True),
        ([0.0, 1.01, 2.0, 2.0], [0.0, 0.0, 0.0, 0.0], False),
    ],
)
def test_lemma_1_fails_for_optimal_kmeans_and_unequal_sizes(w: list[float], error: list[float], hard: bool) -> None:
    # As printed the lemma has no condition on sizes: leaving the far member with the lonely one is cheaper.
    assert is_well_separated(np.array(w), LONELY, max(np.abs(error)), hard=hard)
    found = kmeans1d(np.add(w, error), 2)
    np.testing.assert_array_equal(found.assignment, [0, 0, 1, 1])
    assert found.cost < Groups(LONELY, [0.0, np.add(w, error)[1:].mean()]).cost(np.add(w, error))


@pytest.mark.parametrize("omega", [0.0, 0.5])
def test_just_beyond_lemma_1_even_groups_of_equal_size_are_lost(omega: float) -> None:
    # One member of a large group lies toward the other, and the errors draw it further away from its own.
    size, alpha = 1000, 1.0
    group = np.repeat([0, 1], size)
    w = np.where(group == 0, 0.0, omega + alpha)
    w[size - 1] = omega
    assert (cluster_width(w, group), separation(w, group)) == (omega, alpha)
    error = largest_error(omega, alpha, hard=omega == 0.0) * np.where(np.arange(2 * size) == size - 1, 1.0, -1.0)
    np.testing.assert_array_equal(kmeans1d(w + 0.99 * error, 2).assignment, group)
    assert kmeans1d(w + 1.01 * error, 2).assignment[size - 1] == 1


def test_the_bound_for_kmeans_is_below_lemma_1_and_falls_with_the_smallest_group() -> None:
    bounds = [largest_kmeans_error(0.1, 1.0, share, hard=False) for share in (1.0, 0.5, 0.1, 0.01)]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] < largest_error(0.1, 1.0, hard=False)
    assert bounds[-1] == 0.0  # the wide group could be cut


def test_groups_that_overlap_bear_no_error() -> None:
    assert largest_error(2.0, 1.0, hard=False) == 0.0
    assert not is_well_separated(np.array([0.0, 2.0, 1.0]), np.array([0, 0, 1]), 0.0, hard=False)


# Theorem 1


def test_sample_sizes_by_hand() -> None:
    # 2^9 / 0.5^2 * 16 * 10^2 / (1.5 - 0.5)^2 = 3,276,800; log(2 * 10 * 11 / 0.05) = log 4400 = 8.38935981990635
    assert sample_size_soft(10, 0.5, 1.5, 0.5, 0.05) == pytest.approx(3_276_800 * 8.38935981990635, rel=1e-12)
    # 2^9 / 0.5^2 * 16 * 3^2 / 1.5^2 = 131,072
    assert sample_size_hard(10, 3, 1.5, 0.5, 0.05) == pytest.approx(131_072 * 8.38935981990635, rel=1e-12)


def test_regularization_by_hand() -> None:
    # 0.5^2 * 10000^(-1/4) / (64 * 10^2) = 0.25 * 0.1 / 6400
    assert regularization(10_000, 10, 0.5, 0.5) == pytest.approx(3.90625e-6, rel=1e-12)
    assert regularization(math.inf, 10, 0.5, 0.5) == 0.0


positive = st.floats(0.01, 10.0)


@given(positive, positive, st.floats(0.001, 0.25), st.floats(0.01, 0.5), st.integers(2, 50))
def test_sample_sizes_scale_as_the_theorem_says(
    omega: float, distance: float, c_min: float, delta: float, m: int
) -> None:
    alpha = omega + distance
    soft, hard = sample_size_soft(m, omega, alpha, c_min, delta), sample_size_hard(m, 2, alpha, c_min, delta)
    assert sample_size_soft(m, omega, alpha, 0.5 * c_min, delta) == pytest.approx(4.0 * soft)
    assert sample_size_hard(m, 2, alpha, 0.5 * c_min, delta) == pytest.approx(4.0 * hard)
    assert sample_size_soft(m, 2.0 * omega, 2.0 * alpha, c_min, delta) == pytest.approx(soft / 4.0)
    assert sample_size_hard(m, 2, 2.0 * alpha, c_min, delta) == pytest.approx(hard / 4.0)
    assert sample_size_hard(m, 1, alpha, c_min, delta) == pytest.approx(hard / 4.0)
    assert soft / hard == pytest.approx((m / 2 * alpha / distance) ** 2)  # k < m makes hard tying cheaper
    assert sample_size_soft(m, omega, alpha, c_min, 0.5 * delta) > soft


@given(st.floats(1, 1e9), st.integers(1, 100), st.floats(0.001, 0.25), st.floats(0.01, 0.99))
def test_regularization_scales_as_the_theorem_says(n: float, m: int, c_min: float, xi: float) -> None:
    value = regularization(n, m, c_min, xi)
    assert regularization(16.0 * n, m, c_min, xi) == pytest.approx(value * 4.0**-xi)
    assert regularization(n, 2 * m, c_min, xi) == pytest.approx(value / 4.0)
    assert regularization(n, m, 2.0 * c_min, xi) == pytest.approx(4.0 * value)


@pytest.mark.parametrize(("omega", "alpha", "c_min"), [(1.0, 1.0, 0.1), (2.0, 1.0, 0.1), (0.0, 1.0, 0.0)])
def test_nothing_is_promised(omega: float, alpha: float, c_min: float) -> None:
    assert sample_size_soft(5, omega, alpha, c_min, 0.05) == math.inf


def test_nothing_is_promised_for_equal_groups() -> None:
    assert sample_size_hard(5, 2, 0.0, 0.1, 0.05) == math.inf
    assert sample_size_hard(5, 2, 1.0, 0.0, 0.05) == math.inf


# All together


def test_theory_gathers_the_parts(rng: np.random.Generator) -> None:
    objective = chain(2, 2, 2)
    w = np.array([-1.0, -0.9, 0.5, 0.6, 1.9])
    groups = clustered(w, np.zeros(5, np.int64), 3)
    found = Theory.of(objective, w, groups, delta=0.1, xi=0.25)
    c_min = smallest_eigenvalue(objective, w)
    assert (found.n_parameters, found.group_sizes, found.n_groups) == (5, (2, 2, 1), 3)
    assert (found.omega, found.alpha) == pytest.approx((0.1, 1.3))
    assert found.is_separated
    assert found.c_min == c_min
    assert found.soft.n_samples == sample_size_soft(5, found.omega, found.alpha, c_min, 0.1)
    assert found.hard.n_samples == sample_size_hard(5, 3, found.alpha, c_min, 0.1)
    assert found.soft.regularization == regularization(found.soft.n_samples, 5, c_min, 0.25)
    assert (found.soft.largest_error, found.hard.largest_error) == pytest.approx((0.3, 0.325))
    assert found.soft.largest_kmeans_error == largest_kmeans_error(found.omega, found.alpha, 0.2, hard=False)
    assert found.soft.reason == found.hard.reason == ""
    kmeans_error = found.soft.largest_kmeans_error
    assert found.soft.n_samples_kmeans == sample_size_soft(5, 0.0, 4.0 * kmeans_error, c_min, 0.1)
    assert found.soft.n_samples_kmeans > found.soft.n_samples
    assert found.soft.proven.n_samples == rows_for_error(found.soft.largest_error, c_min, Composition(5, 5), 0.1)
    assert found.hard.proven.n_samples < found.soft.proven.n_samples < found.soft.proven.n_samples_kmeans


def test_a_pseudo_likelihood_counts_each_parameter_as_often_as_it_has_conditionals() -> None:
    w, groups = np.array([-1.0, -0.9, 0.5, 0.6, 1.9]), Groups([0, 0, 1, 1, 2], [-0.95, 0.55, 1.9])
    likelihood = Theory.of(chain(2, 2, 2), w, groups)
    found = Theory.of(chain(2, 2, 2), w, groups, composition=Composition(5, 3, 2))
    assert found.soft.n_samples == pytest.approx(4.0 * likelihood.soft.n_samples, rel=1e-12)
    # Of the loss divided by two, lambda is by half of C_min, n by four times as many rows.
    expected = 2.0 * regularization(found.soft.n_samples, 5, 0.5 * found.c_min, 0.5)
    assert found.soft.regularization == pytest.approx(expected, rel=1e-12)


def test_theory_says_why_it_promises_nothing() -> None:
    wide = Theory.of(chain(2, 2), np.array([0.0, 1.0, 1.5]), Groups([0, 0, 1], [0.5, 1.5]))
    assert wide.soft.n_samples == math.inf
    assert "alpha = 0.5 is not above omega = 1" in wide.soft.reason
    assert (math.isfinite(wide.hard.n_samples), wide.hard.reason) == (True, "")
    equal = Theory.of(chain(2, 2), np.array([0.0, 1.0, 1.0]), Groups([0, 0, 1], [0.5, 1.0]))
    assert "alpha = 0" in equal.hard.reason
    flat = Theory.of(chain(2, 2), np.array([-60.0, 0.0, 0.0]), Groups([0, 1, 1], [-60.0, 0.0]))
    assert "C_min = 0" in flat.soft.reason
    assert "C_min = 0" in flat.hard.reason


def test_one_group_is_found_by_anyone() -> None:
    found = Theory.of(chain(2, 2), np.array([0.0, 0.1, 0.2]), Groups([0, 0, 0], [0.1]))
    assert (found.alpha, found.soft.n_samples, found.hard.n_samples) == (math.inf, 1.0, 1.0)


def test_empty_groups_do_not_count_and_classes_keep_groups_apart() -> None:
    w, groups = np.array([0.0, 1.0, 1.0]), Groups([0, 1, 3], [0.0, 1.0, 0.0, 1.0])
    assert Theory.of(chain(2, 2), w, groups).alpha == 0.0
    apart = Theory.of(chain(2, 2), w, groups, classes=np.array([0, 0, 1]))
    assert (apart.alpha, apart.n_groups) == (1.0, 3)


W, GROUP = np.array([0.0, 1.0]), np.array([0, 1])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: cluster_width(W, np.array([0])), "assignment has shape"),
        (lambda: cluster_width(W, np.array([0.0, 1.0])), "type float64"),
        (lambda: separation(W, GROUP, classes=np.array([0])), "classes has shape"),
        (lambda: separation(np.array([0.0, np.nan]), GROUP), "finite"),
        (lambda: separation(np.zeros((2, 2)), GROUP), "shape"),
        (lambda: largest_error(-1.0, 1.0, hard=False), "omega is -1.0"),
        (lambda: largest_error(0.0, math.nan, hard=True), "alpha nan"),
        (lambda: largest_kmeans_error(0.0, 1.0, 0.0, hard=True), "share is 0.0"),
        (lambda: is_well_separated(W, GROUP, -0.1, hard=True), "error is -0.1"),
        (lambda: sample_size_soft(0, 0.0, 1.0, 0.1, 0.05), "n_parameters is 0"),
        (lambda: sample_size_soft(3, 0.0, 1.0, -0.1, 0.05), "c_min is -0.1"),
        (lambda: sample_size_soft(3, 0.0, 1.0, 0.1, 0.0), "delta is 0.0"),
        (lambda: sample_size_hard(3, 4, 1.0, 0.1, 0.05), "n_groups is 4"),
        (lambda: sample_size_hard(3, 2, 1.0, 0.1, 1.0), "delta is 1.0"),
        (lambda: regularization(0, 3, 0.1, 0.5), "n_samples is 0"),
        (lambda: regularization(10, 3, 0.1, 1.0), "xi is 1.0"),
        (lambda: Theory.of(chain(2), W[:1], Groups([-1], [])), "No parameter is in a group"),
        (lambda: Theory.of(chain(2), W[:1], Groups([0], [0.0]), xi=0.0), "xi is 0.0"),
    ],
)
def test_wrong_input_is_named_in_one_line(call: object, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        call()  # type: ignore[operator]
    assert "\n" not in str(caught.value)
