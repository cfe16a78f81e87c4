"""Abilities of the junction tree alone: orders, best states, draws, limits, and logarithms against underflow."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from mrfit.core.errors import InputError
from mrfit.core.factors import Factors
from mrfit.inference.exact.junction_tree import JunctionTree
from populations import SCOPES, factors, random_factors
from reference import factors as reference


def _grid(rows: int, columns: int, rng: np.random.Generator) -> Factors:
    number = np.arange(rows * columns).reshape(rows, columns)
    pairs = [*zip(number[:, :-1].ravel(), number[:, 1:].ravel(), strict=True)]
    pairs += [*zip(number[:-1].ravel(), number[1:].ravel(), strict=True)]
    return random_factors(rng, (2,) * (rows * columns), [tuple(map(int, pair)) for pair in pairs])


@pytest.mark.parametrize("zeros", [0.0, 0.3, 1.0], ids=["finite", "zeros", "one state possible"])
@pytest.mark.parametrize("name", SCOPES)
def test_best_state_is_the_largest(name: str, zeros: float, rng: np.random.Generator) -> None:
    product, engine = random_factors(rng, *SCOPES[name], zeros=zeros), JunctionTree()
    codes, largest = engine.best(engine.plan(product), product)
    log_z, p = reference.probabilities(product)
    assert largest == pytest.approx(np.log(max(p.values())) + log_z, rel=1e-12, abs=1e-12)
    assert product.log_potential(codes[None])[0] == pytest.approx(largest, rel=1e-12, abs=1e-12)


@settings(max_examples=50, deadline=None)
@given(factors())
def test_best_state_is_the_largest_of_any_factors(product: Factors) -> None:
    engine = JunctionTree()
    log_z, p = reference.probabilities(product)
    codes, largest = engine.best(engine.plan(product), product)
    assert largest == pytest.approx(np.log(max(p.values())) + log_z, rel=1e-9, abs=1e-9)
    assert product.log_potential(codes[None])[0] == pytest.approx(largest, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", ["tree", "cycle", "mixed cardinalities", "disconnected"])
def test_draws_follow_the_distribution(name: str, rng: np.random.Generator) -> None:
    """Chi-square over all joint states."""
    product, engine = random_factors(rng, *SCOPES[name]), JunctionTree()
    drawn = engine.draw(engine.plan(product), product, 50_000, rng=rng)
    p = np.array([*reference.probabilities(product)[1].values()])
    count = np.bincount(np.ravel_multi_index(drawn.T, product.shape), minlength=len(p))
    chi_square = ((count - 50_000 * p) ** 2 / (50_000 * p)).sum()
    assert chi_square < len(p) + 4.5 * np.sqrt(2 * len(p))


def test_draws_do_not_depend_on_the_number_of_threads(rng: np.random.Generator) -> None:
    product, engine = random_factors(rng, *SCOPES["cycle"]), JunctionTree()
    plan = engine.plan(product)
    one, two = (engine.draw(plan, product, 101, rng=np.random.default_rng(3), jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_tables_of_any_scale(rng: np.random.Generator) -> None:
    """Each times its own power of ten, up to 1e300 and down to 1e-300: a constant, no more."""
    product, engine = _grid(6, 6, rng), JunctionTree()
    plan = engine.plan(product)
    shifts = rng.uniform(-690.0, 690.0, len(product.scopes))
    moved = product.with_values(product.values + np.repeat(shifts, 4))
    here, there = engine.run(plan, product), engine.run(plan, moved)
    assert there.log_z == pytest.approx(here.log_z + shifts.sum(), rel=1e-13)
    np.testing.assert_allclose(there.marginal((0,)), here.marginal((0,)), rtol=1e-8)


def test_what_scales_lose_is_found_in_logarithms(rng: np.random.Generator) -> None:
    """Couplings of thousands of nats against each other: every message has cells that no float holds."""
    product, engine = random_factors(rng, (3,) * 6, [(i, (i + 1) % 6) for i in range(6)]), JunctionTree()
    product = product.with_values(product.values * 3000.0)
    log_z, p = reference.probabilities(product)
    found = engine.run(engine.plan(product), product)
    assert found.log_z == pytest.approx(log_z, rel=1e-12)
    for i in range(6):
        np.testing.assert_allclose(found.marginal((i,)), reference.marginal(product, p, (i,)), rtol=1e-8, atol=1e-300)


def test_orders_of_grids_are_narrow(rng: np.random.Generator) -> None:
    """A grid of 12 x 12 has a treewidth of 12; a minimum of fill alone leaves several times the cells."""
    plan = JunctionTree().plan(_grid(12, 12, rng))
    assert plan.width <= 15
    assert plan.n_cells < 6e5


def test_an_order_may_be_given(rng: np.random.Generator) -> None:
    product, engine = _grid(3, 3, rng), JunctionTree()
    plan = engine.plan(product, order=range(9))
    assert plan.order == tuple(range(9))
    assert engine.run(plan, product).log_z == pytest.approx(engine.run(engine.plan(product), product).log_z, rel=1e-13)
    with pytest.raises(InputError, match="expected each of the 9"):
        engine.plan(product, order=[0, 1, 1, 2, 3, 4, 5, 6, 7])


def test_a_tree_of_many_variables_takes_no_square_of_memory(rng: np.random.Generator) -> None:
    """A chain of 30,000: bits for all pairs of variables would be 112 MB."""
    n = 30_000
    product = Factors((2,) * n, tuple((i, i + 1) for i in range(n - 1)), np.zeros(4 * (n - 1)))
    plan = JunctionTree().plan(product)
    assert (plan.width, plan.n_cells) == (1, 4 * (n - 1))
    assert JunctionTree().run(plan, product).log_z == pytest.approx(n * np.log(2), rel=1e-12)


def test_limits_are_told_with_figures_and_ways_on(rng: np.random.Generator) -> None:
    product = _grid(5, 5, rng)
    for engine, limit in (
        (JunctionTree(max_cells=50), r"the limit is 50 cells\."),
        (JunctionTree(max_bytes=100), r"Messages between them take about .* k?B; the limit is 100 B\."),
    ):
        plan = engine.plan(product)
        assert not plan.fits
        message = rf"cliques of \d+ cells in all, the largest of 6 variables.*{limit} Observe some variables"
        with pytest.raises(InputError, match=message):
            engine.run(plan, product)
    with pytest.raises(InputError, match="'c'"):
        plan.check(["abc"[i % 3] for i in range(25)])


def test_joint_marginals_need_a_clique(rng: np.random.Generator) -> None:
    product, engine = _grid(3, 3, rng), JunctionTree()
    with pytest.raises(InputError, match="no clique for the joint marginal"):
        engine.run(engine.plan(product), product).marginal((0, 8))


@pytest.mark.parametrize("merge", [True, False])
def test_a_second_thread_changes_last_bits_at_most(
    merge: bool, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every node that can be is cut in two, of binary variables and of others."""
    monkeypatch.setattr("mrfit.inference.exact.tree_passes._LARGE", 4)
    monkeypatch.setattr("mrfit.inference.exact.tree_passes._LEAST_KEPT", 2)
    pairs = [(i, j) for i in range(9) for j in range(i) if rng.random() < 0.6]
    shape = tuple(rng.integers(2, 5, 9).tolist())
    for product in (_grid(5, 5, rng), random_factors(rng, shape, [*pairs, (0, 1, 2), (8,)])):
        one, two = JunctionTree(merge=merge), JunctionTree(merge=merge, jobs=2)
        plan = one.plan(product)
        here, there = one.run(plan, product), two.run(plan, product)
        assert there.log_z == pytest.approx(here.log_z, rel=1e-14)
        np.testing.assert_allclose(there.leaves, here.leaves, rtol=1e-11)
