"""Every engine gives log Z and marginals of every distribution that it takes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from mrfit.core.errors import InputError
from mrfit.core.factors import Factors
from mrfit.inference.engine import Engine, Posterior
from mrfit.inference.exact.junction_tree import JunctionTree
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
def test_sums_that_overflow_are_told(engine: Engine) -> None:
    """An impossible state that is added to an overflow is reported, or does not matter."""
    large = [((0,), [1e308, 0.0])] * 2
    with pytest.raises(InputError, match="overflow"):
        _run(engine, Factors.from_tables((2,), large))
    excluded = Factors.from_tables((2,), [*large, ((0,), [-np.inf, 0.0])])
    if isinstance(engine, JunctionTree):
        assert _run(engine, excluded).log_z == 0.0
    else:
        with pytest.raises(InputError, match="overflow"):
            _run(engine, excluded)
