"""Promises of enumeration beyond those of every engine."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

import mrfit
from mrfit.core.errors import InputError
from mrfit.core.factors import Factors
from mrfit.inference.exact.enumeration import MOST_CELLS, Enumeration
from mrfit.inference.exact.joint_states import JointStates, plan_joint_states
from populations import PARAMETERIZATIONS, STRUCTURES, all_parameterizations, domain_of, random_factors


def test_the_limit_is_a_setting() -> None:
    """And stands in the message."""
    product = Factors((2, 3), (), np.empty(0))
    assert Enumeration(max_cells=6).plan(product).fits
    engine = Enumeration(max_cells=5)
    with pytest.raises(InputError, match=r"^Enumeration goes over all 6 joint states of 2 .*limit is 5\. .*max_cells"):
        engine.run(engine.plan(product), product)


def test_more_scopes_take_longer() -> None:
    """A forecast counts what will be touched: a table that begins early costs more than one that begins late."""
    shape = (2,) * 12
    forecasts = [
        Enumeration().plan(random_factors(np.random.default_rng(0), shape, scopes)).forecast
        for scopes in ([], [(10, 11)], [(0, 1)], [(0, 1), (0, 2)])
    ]
    assert forecasts == sorted(set(forecasts))


def test_threads_change_no_bit(rng: np.random.Generator) -> None:
    """Long enough for two of them to be used."""
    product = random_factors(rng, (2,) * 20, [(i, (7 * i + 3) % 20) for i in range(20) if (6 * i + 3) % 20])
    one, two = (engine.run(engine.plan(product), product) for engine in (Enumeration(), Enumeration(jobs=2)))
    assert one.log_z == two.log_z
    assert one.marginal((19, 0)).tobytes() == two.marginal((19, 0)).tobytes()


@pytest.mark.parametrize("kind", PARAMETERIZATIONS, ids=lambda kind: kind.word)
@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("shape", [(2, 2, 2, 2), (2, 3, 1, 2)], ids=str)
def test_tables_and_transforms_agree(
    kind: type, structure: str, shape: tuple[int, ...], rng: np.random.Generator
) -> None:
    """The two ways over all joint states: by the tables of scopes, and by the functions of a base."""
    domain = domain_of(shape)
    for parameters in PARAMETERIZATIONS[kind](domain, STRUCTURES[structure](len(shape)), rng):
        w = rng.standard_normal(parameters.n_parameters)
        product = parameters.to_factors(w)
        engine, states = Enumeration(), JointStates(parameters)
        found = engine.run(engine.plan(product), product)
        sums = states.sums(w, np.arange(1))
        assert found.log_z == pytest.approx(sums.log_z, rel=1e-12, abs=1e-12)
        p = states.base.by_state(np.exp(states.log_probabilities(w)))
        np.testing.assert_allclose(found.marginal(tuple(range(len(shape)))), p.ravel(), rtol=1e-10)
        expected = {scope: found.marginal(scope) for scope in product.scopes}
        means = states.joint.gather(sums.moments) / sums.total
        np.testing.assert_allclose(parameters.pull_back(expected), means, rtol=1e-9, atol=1e-12)


def test_learning_plans_for_its_own_vectors() -> None:
    """More of them than a single run holds, and another way on."""
    plan = plan_joint_states((2,) * 27)
    assert plan.n_cells == 2 * MOST_CELLS
    assert plan.n_bytes == 12 * 8 * 2**27
    with pytest.raises(InputError, match=r"^The exact likelihood goes over all 1\.3e\+08 .*Use the pseudo-likelihood"):
        plan.check()
    with pytest.raises(InputError, match="The exact likelihood"):
        JointStates(all_parameterizations(domain_of((2,) * 70), STRUCTURES["chain"](70), np.random.default_rng(0))[0])


def test_no_other_room_sums_over_all_joint_states() -> None:
    """log Z comes from inference alone: elsewhere nobody takes exponentials of all log-potentials."""
    source = Path(mrfit.__file__).parent
    users = {
        path.relative_to(source).parts[0]
        for path in source.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and any(name.name == "exponentiate" for name in node.names)
    }
    assert users == {"inference"}
