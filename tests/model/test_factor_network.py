"""Tables with names, and conjunctions of more variables than a table could have."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from mrfit import FactorNetwork
from mrfit.core.errors import InputError
from mrfit.core.factors import Factors
from mrfit.inference.exact.enumeration import Enumeration
from mrfit.model.factor_network import Conjunction
from populations import domain_of, networks
from reference.features import joint_states


def by_definition(network: FactorNetwork) -> np.ndarray:
    """Log-potentials of all joint states, row by row."""
    codes = joint_states(network.domain.shape)
    out = network.tables.log_potential(codes)
    for each in network.conjunctions:
        out += [each.weight if all(x[i] in states for i, states in each.conditions) else 0.0 for x in codes.tolist()]
    return out


@settings(max_examples=60)
@given(networks())
def test_hidden_variables_change_nothing(network: FactorNetwork) -> None:
    """log Z, and the marginals of the domain's variables, are those of the definition."""
    q = by_definition(network)
    np.testing.assert_allclose(network.log_potential(joint_states(network.domain.shape)), q)
    log_z = np.logaddexp.reduce(q)
    p = np.exp(q - log_z).reshape(network.domain.shape)
    engine, product = Enumeration(), network.factors
    posterior = engine.run(engine.plan(product), product)
    assert posterior.log_z == pytest.approx(log_z, abs=1e-10)
    for i in range(len(network.domain)):
        others = tuple(k for k in range(p.ndim) if k != i)
        np.testing.assert_allclose(posterior.marginal((i,)), p.sum(axis=others), atol=1e-12)


def test_thirty_variables_take_thirty_small_tables() -> None:
    """Not one of 2^30 cells."""
    n = 30
    every = Conjunction(2.0, tuple((i, (1,)) for i in range(n)))
    network = FactorNetwork(domain_of((2,) * n), Factors((2,) * n, (), np.empty(0)), (every,))
    assert network.n_hidden == n - 1
    assert len(network.factors.values) <= 8 * n
    codes = np.ones((2, n), int)
    codes[1, 17] = 0
    assert network.log_potential(codes).tolist() == [2.0, 0.0]
    named = network.with_hidden_named()
    assert named.factors == network.factors
    assert named.domain.names[: n + 1] == (*network.domain.names, "hidden0")


def test_a_domain_of_other_variables_is_refused() -> None:
    with pytest.raises(InputError, match="numbers of states differ"):
        FactorNetwork(domain_of((2, 3)), Factors((2, 2), (), np.empty(0)))


@pytest.mark.parametrize(
    ("weight", "conditions", "complaint"),
    [
        (1.0, ((2, (0,)),), "names variable 2"),
        (1.0, ((0, (0,)), (0, (1,))), "twice"),
        (1.0, ((0, ()),), "expected one or more of 0 to 1"),
        (1.0, ((0, (2,)),), "expected one or more of 0 to 1"),
        (np.inf, ((0, (1,)),), "the weight inf"),
        (np.nan, ((0, (1,)),), "the weight nan"),
    ],
)
def test_conjunctions_that_make_no_sense(
    weight: float, conditions: tuple[tuple[int, tuple[int, ...]], ...], complaint: str
) -> None:
    with pytest.raises(InputError, match=complaint):
        FactorNetwork(domain_of((2, 3)), Factors((2, 3), (), np.empty(0)), (Conjunction(weight, conditions),))
