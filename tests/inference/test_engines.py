"""Every engine gives log Z and marginals of every distribution that it takes."""

from __future__ import annotations

import tracemalloc
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings

from mrfit.errors import InputError
from mrfit.factors import Factors
from mrfit.inference.engine import Engine, Posterior
from mrfit.inference.junction_tree import JunctionTree
from populations import ENGINES, SCOPES, factors, random_factors
from reference import factors as reference

EXACT = [engine for engines in ENGINES.values() for engine in engines]


def _run(engine: Engine, product: Factors) -> Posterior:
    return engine.run(engine.plan(product), product)


def _check(engine: Engine, product: Factors) -> None:
    log_z, p = reference.probabilities(product)
    found = _run(engine, product)
    assert found.log_z == pytest.approx(log_z, rel=1e-12, abs=1e-12)
    turned = [scope[::-1] for scope in product.scopes]
    for scope in [*product.scopes, *turned, *((i,) for i in range(len(product.shape))), ()]:
        marginal, expected = found.marginal(scope), reference.marginal(product, p, scope)
        np.testing.assert_allclose(marginal, expected, rtol=1e-11, atol=1e-300, err_msg=str(scope))
        np.testing.assert_array_equal(marginal == 0, expected == 0)


@pytest.mark.parametrize("zeros", [0.0, 0.3, 1.0], ids=["finite", "zeros", "one state possible"])
@pytest.mark.parametrize("engine", EXACT, ids=str)
@pytest.mark.parametrize("name", SCOPES)
def test_equals_the_definition(name: str, engine: Engine, zeros: float, rng: np.random.Generator) -> None:
    """log Z, the marginals of all scopes in both directions, of single variables and of nothing."""
    _check(engine, random_factors(rng, *SCOPES[name], zeros=zeros))


@settings(max_examples=100, deadline=None)
@given(factors())
def test_equals_the_definition_on_any_factors(product: Factors) -> None:
    for engine in EXACT:
        _check(engine, product)


@pytest.mark.parametrize("engine", EXACT, ids=str)
@pytest.mark.parametrize("name", [name for name, (_, scopes) in SCOPES.items() if any(scopes)])
def test_marginals_are_the_gradient_of_log_z(name: str, engine: Engine, rng: np.random.Generator) -> None:
    """By central differences in every cell of every table."""
    product, step = random_factors(rng, *SCOPES[name]), 1e-5
    found = _run(engine, product)
    gradient = np.concatenate([found.marginal(scope) for scope in product.scopes])
    for cell in range(len(product.values)):
        change = np.zeros(len(product.values))
        change[cell] = step
        above, below = (_run(engine, product.with_values(product.values + side * change)).log_z for side in (1, -1))
        assert gradient[cell] == pytest.approx((above - below) / (2 * step), abs=1e-8)


@pytest.mark.parametrize("engine", EXACT, ids=str)
def test_joint_marginals_of_other_sets(engine: Engine, rng: np.random.Generator) -> None:
    """Those that the plan was told of, in the order in which they are asked for."""
    product = random_factors(rng, *SCOPES["mixed cardinalities"])
    targets = ((3, 0, 2), (1, 2), (2, 1, 0, 3))
    found = engine.run(engine.plan(product, targets), product)
    p = reference.probabilities(product)[1]
    for scope in targets:
        np.testing.assert_allclose(found.marginal(scope), reference.marginal(product, p, scope), rtol=1e-11)


@pytest.mark.parametrize("engine", EXACT, ids=str)
@pytest.mark.parametrize("shift", [0.0, 690.0, -690.0, 1e6])
def test_the_scale_of_tables_is_a_constant(engine: Engine, shift: float, rng: np.random.Generator) -> None:
    """Tables times e^shift, 1e300 and beyond: log Z moves by it, marginals do not."""
    product = random_factors(rng, *SCOPES["cycle"])
    moved = product.with_values(product.values + shift)
    here, there = _run(engine, product), _run(engine, moved)
    assert there.log_z == pytest.approx(here.log_z + 4 * shift, rel=1e-14)
    np.testing.assert_allclose(there.marginal((3, 0)), here.marginal((3, 0)), rtol=1e-8)


@pytest.mark.parametrize("engine", EXACT, ids=str)
def test_a_known_variable_has_one_state(engine: Engine, rng: np.random.Generator) -> None:
    """Conditionals from tables cut down to what is known."""
    product = random_factors(rng, (2, 3, 2), [(0, 1), (1, 2), (2, 0)])
    known = Factors.from_tables(
        (2, 1, 2),
        [(scope, np.take(table.reshape([product.shape[i] for i in scope]), [2], axis=scope.index(1)))
         if 1 in scope else (scope, table) for scope, table in zip(product.scopes, product.tables, strict=True)],
    )  # fmt: skip
    whole = (0, 1, 2)
    joint = engine.run(engine.plan(product, [whole]), product).marginal(whole).reshape(2, 3, 2)[:, 2]
    found = _run(engine, known)
    np.testing.assert_allclose(found.marginal((0, 2)), (joint / joint.sum()).ravel(), rtol=1e-12)
    assert found.log_z == pytest.approx(_run(engine, product).log_z + np.log(joint.sum()), rel=1e-12)


@pytest.mark.parametrize("engine", EXACT, ids=str)
def test_no_possible_state_is_told(engine: Engine) -> None:
    """Whether one table is empty or two contradict each other."""
    empty = Factors.from_tables((2,), [((0,), [-np.inf, -np.inf])])
    contradiction = Factors.from_tables((2, 2), [((0,), [0.0, -np.inf]), ((1, 0), [[-np.inf, 0.0]] * 2)])
    for product in (empty, contradiction):
        with pytest.raises(InputError, match="no joint state possible"):
            _run(engine, product)


@pytest.mark.parametrize("engine", EXACT, ids=str)
def test_sums_that_overflow_are_told(engine: Engine) -> None:
    """Where an impossible state is added to what overflowed, it is told or does not matter."""
    large = [((0,), [1e308, 0.0])] * 2
    with pytest.raises(InputError, match="overflow"):
        _run(engine, Factors.from_tables((2,), large))
    excluded = Factors.from_tables((2,), [*large, ((0,), [-np.inf, 0.0])])
    if isinstance(engine, JunctionTree):
        assert _run(engine, excluded).log_z == 0.0
    else:
        with pytest.raises(InputError, match="overflow"):
            _run(engine, excluded)


@pytest.mark.parametrize("engine", EXACT, ids=str)
@pytest.mark.parametrize("n", [60, 300])
def test_a_plan_beyond_all_memory_is_refused_without_work(engine: Engine, n: int) -> None:
    """All pairs of so many variables: exact figures, and nothing allocated that grows with them."""
    pairs = tuple(combinations(range(n), 2))
    product = Factors((2,) * n, pairs, np.zeros(4 * len(pairs)))
    engine.plan(product)  # compiles
    tracemalloc.start()
    plan = engine.plan(product)
    with pytest.raises(InputError, match=r"variables.* about .* GB.*; the limits? (is|are) .*\. Observe"):
        engine.run(plan, product)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert not plan.fits
    assert 2**n <= plan.n_cells < 2 ** (n + 1)
    assert peak < 20_000_000


@pytest.mark.parametrize("engine", EXACT, ids=str)
def test_a_plan_is_for_its_shape(engine: Engine, rng: np.random.Generator) -> None:
    """It serves other tables over the same scopes, and no other variables."""
    product = random_factors(rng, *SCOPES["cycle"])
    plan = engine.plan(product)
    other = product.with_values(rng.standard_normal(len(product.values)))
    assert engine.plan(other) == plan
    assert engine.run(plan, other).log_z == _run(engine, other).log_z
    with pytest.raises(InputError, match="Plan again"):
        engine.run(plan, random_factors(rng, *SCOPES["tree"]))


@pytest.mark.parametrize("engine", EXACT, ids=str)
@pytest.mark.parametrize(("scope", "message"), [((0, 0), "twice"), ((4,), "names variable 4"), ((-1,), "variable -1")])
def test_wrong_questions_are_refused(engine: Engine, scope: tuple[int, ...], message: str) -> None:
    product = random_factors(np.random.default_rng(0), *SCOPES["cycle"])
    with pytest.raises(InputError, match=message):
        engine.plan(product, [scope])
    with pytest.raises(InputError, match=message):
        _run(engine, product).marginal(scope)
