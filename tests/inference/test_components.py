"""The part of a distribution that variables depend on gives the same marginals of them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from mrfit import Domain, FactorNetwork, Factors
from mrfit.inference.components import component_of
from mrfit.inference.exact.junction_tree import JunctionTree
from populations import random_factors


def test_marginals_of_a_part_are_those_of_the_whole(rng: np.random.Generator) -> None:
    """Two chains, a lonely variable, and one between the chains that is known."""
    shape, scopes = (2, 3, 2, 1, 2, 2, 3), [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (6,), ()]
    factors, engine = random_factors(rng, shape, scopes), JunctionTree()
    whole = engine.run(engine.plan(factors), factors)
    for variables, n_tables in (([0], 3), ([4, 5], 2), ([6], 1), ([0, 5], 5)):
        part = component_of(factors, variables)
        assert part.is_proper
        assert len(part.factors.scopes) == n_tables
        found = engine.run(engine.plan(part.factors), part.factors)
        for i in variables:
            np.testing.assert_allclose(found.marginal((i,)), whole.marginal((i,)), rtol=1e-12)
    assert not component_of(random_factors(rng, (2, 2), [(0, 1)]), [0]).is_proper


def test_a_small_part_of_a_model_too_large_is_exact(rng: np.random.Generator) -> None:
    """Evidence cuts off what is asked for from 40 variables that all interact."""
    n = 40
    pairs = [*combinations(range(n), 2), (n - 1, n), (n, n + 1)]
    domain = Domain.from_states({f"v{i}": ["0", "1"] for i in range(n + 2)})
    network = FactorNetwork(domain, Factors((2,) * (n + 2), tuple(pairs), 0.1 * rng.standard_normal(4 * len(pairs))))
    found = network.marginals(["v41"], evidence={"v39": "1"})
    assert found.exact
    assert "part" in found.remarks[0]
    table = network.tables.table(len(pairs) - 2).reshape(2, 2)[1][:, None] + network.tables.table(
        len(pairs) - 1
    ).reshape(2, 2)
    p = np.exp(table).sum(axis=0)
    assert list(found["v41"].values()) == pytest.approx(p / p.sum(), rel=1e-12)
    joint = network.joint(["v41", "v40"], evidence={"v39": "1"})
    assert joint.exact
    assert not network.marginals(["v0"]).exact
