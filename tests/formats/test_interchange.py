"""Objects of pyAgrum and pgmpy: the same distribution there and back, whatever the order of axes and states."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import given, settings

from mrfit.core.domain import Domain
from mrfit.core.errors import InputError
from mrfit.core.factors import Factors
from mrfit.formats.pgmpy import from_pgmpy, to_pgmpy
from mrfit.formats.pyagrum import from_pyagrum, to_pyagrum
from mrfit.inference.exact.enumeration import Enumeration
from mrfit.model.factor_network import FactorNetwork
from populations import domain_of, factors, random_factors
from reference.features import joint_states


def assert_same(found: FactorNetwork, expected: FactorNetwork) -> None:
    assert found.domain == expected.domain
    codes = joint_states(expected.domain.shape)
    np.testing.assert_allclose(found.log_potential(codes), expected.log_potential(codes), rtol=1e-10, atol=1e-10)


# --- pyAgrum


@pytest.fixture(name="gum")
def _gum() -> Any:
    return pytest.importorskip("pyagrum", reason="pyAgrum is in the extra `test`")


@settings(max_examples=40)
@given(factors())
def test_any_tables_through_pyagrum(product: Factors) -> None:
    pytest.importorskip("pyagrum", reason="pyAgrum is in the extra `test`")
    network = FactorNetwork(domain_of(product.shape), product)
    assert_same(from_pyagrum(to_pyagrum(network)), network)


def test_pyagrum_answers_the_same(gum: Any, rng: np.random.Generator) -> None:
    """Its own inference, on tables of different lengths and of equal ones, where a wrong order of axes is silent."""
    for shape in ((2, 3, 4, 2), (2, 2, 2, 2)):
        product = random_factors(rng, shape, [(2, 0, 1), (1, 0), (0, 1), (3, 2), (3,), ()])
        network = FactorNetwork(domain_of(shape), product)
        engine = Enumeration()
        posterior = engine.run(engine.plan(product), product)
        inference = gum.ShaferShenoyMRFInference(to_pyagrum(network))
        inference.makeInference()
        for i, variable in enumerate(network.domain):
            np.testing.assert_allclose(
                inference.posterior(variable.name).toarray(), posterior.marginal((i,)), atol=1e-9
            )


def test_a_bayesian_network_of_pyagrum(gum: Any) -> None:
    bayes = gum.fastBN("rain{no|yes}->wet[3]<-hose{off|on}", 2)
    network = from_pyagrum(bayes)
    assert network.domain.to_states()["rain"] == ["no", "yes"]
    engine = Enumeration()
    assert engine.run(engine.plan(network.factors), network.factors).log_z == pytest.approx(0.0, abs=1e-12)
    inference = gum.LazyPropagation(bayes)
    inference.makeInference()
    posterior = engine.run(engine.plan(network.factors), network.factors)
    for i, name in enumerate(network.domain.names):
        np.testing.assert_allclose(posterior.marginal((i,)), inference.posterior(name).toarray(), atol=1e-12)


def test_other_objects_are_refused_by_pyagrum(gum: Any) -> None:
    with pytest.raises(InputError, match="type dict; expected a MarkovRandomField"):
        from_pyagrum({})


# --- pgmpy, by a stand-in with the same attributes: the library itself takes minutes to install


class DiscreteFactor:
    """Values with an axis for each variable, states named for each."""

    def __init__(
        self, variables: list[Any], cardinality: list[int], values: Any, *, state_names: dict[Any, Any]
    ) -> None:
        self.variables, self.state_names = list(variables), state_names
        self.values = np.asarray(values, float).reshape(cardinality)


class DiscreteMarkovNetwork(networkx.Graph):
    """A graph with factors."""

    def __init__(self) -> None:
        super().__init__()
        self._factors: list[DiscreteFactor] = []

    def add_factors(self, *added: DiscreteFactor) -> None:
        assert all(self.has_node(variable) for each in added for variable in each.variables)
        self._factors += added

    def get_factors(self) -> list[DiscreteFactor]:
        return self._factors


class DiscreteBayesianNetwork(networkx.DiGraph):
    """A graph with conditional tables, which know themselves as factors."""

    def get_cpds(self) -> list[Any]:
        class Table:
            def to_factor(self) -> DiscreteFactor:
                states = {"b": ["x", "y"], "a": [0, 1]}
                return DiscreteFactor(["b", "a"], [2, 2], [0.1, 0.2, 0.9, 0.8], state_names=states)

        return [Table()]


@pytest.fixture(name="pgmpy", autouse=True)
def _pgmpy(monkeypatch: pytest.MonkeyPatch) -> None:
    if "pgmpy" in sys.modules:
        return
    names = {"pgmpy.factors.discrete": DiscreteFactor, "pgmpy.models": DiscreteMarkovNetwork}
    for name in ("pgmpy", "pgmpy.factors", *names):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    for name, kind in names.items():
        monkeypatch.setattr(sys.modules[name], kind.__name__, kind, raising=False)


def test_any_tables_through_pgmpy(rng: np.random.Generator) -> None:
    for shape in ((2, 3, 1, 2), (2, 2, 2), (1,), (4,)):
        n = len(shape)
        scopes = [tuple(range(n))[::-1], (0,), (0,), (), (n - 1,)]
        network = FactorNetwork(domain_of(shape), random_factors(rng, shape, scopes, zeros=0.3))
        assert_same(from_pgmpy(to_pgmpy(network)), network)


def test_edges_join_what_shares_a_table(rng: np.random.Generator) -> None:
    network = FactorNetwork(domain_of((2, 2, 2, 2)), random_factors(rng, (2, 2, 2, 2), [(2, 0, 1)]))
    model = to_pgmpy(network)
    assert {frozenset(edge) for edge in model.edges()} == {
        frozenset(e) for e in (("x0", "x1"), ("x0", "x2"), ("x1", "x2"))
    }


def test_factors_of_pgmpy_have_their_own_order_of_states() -> None:
    model = DiscreteMarkovNetwork()
    model.add_nodes_from(["a", "b"])
    model.add_factors(
        DiscreteFactor(["a"], [2], [1.0, 2.0], state_names={"a": ["no", "yes"]}),
        DiscreteFactor(["b", "a"], [2, 2], [[3.0, 4.0], [5.0, 0.0]], state_names={"a": ["yes", "no"], "b": [0, 1]}),
    )
    network = from_pgmpy(model)
    assert network.domain == Domain.from_states({"a": ["no", "yes"], "b": ["0", "1"]})
    p = np.exp(network.log_potential(joint_states((2, 2)))).reshape(2, 2)
    np.testing.assert_allclose(p, [[4.0, 0.0], [6.0, 10.0]])


def test_a_bayesian_network_of_pgmpy() -> None:
    bayes = DiscreteBayesianNetwork([("a", "b")])
    network = from_pgmpy(bayes)
    assert network.domain.to_states() == {"a": ["0", "1"], "b": ["x", "y"]}
    np.testing.assert_allclose(np.exp(network.log_potential(np.array([[1, 0]]))), [0.2])


def test_other_objects_are_refused_by_pgmpy() -> None:
    with pytest.raises(InputError, match="type dict; expected a Markov network"):
        from_pgmpy({})
    lonely = DiscreteMarkovNetwork()
    lonely.add_node("alone")
    with pytest.raises(InputError, match="'alone' is in no factor"):
        from_pgmpy(lonely)


@pytest.mark.parametrize(("library", "convert"), [("pyagrum", to_pyagrum), ("pgmpy.models", to_pgmpy)])
def test_what_is_not_installed_is_said(library: str, convert: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(InputError, match=r"not installed; run `pip install 'mrfit\[interchange\]'`"):
        convert(FactorNetwork(domain_of((2,)), Factors((2,), (), np.empty(0))))
