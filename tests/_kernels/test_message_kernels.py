"""Compiled messages against their plain twins, sweep by sweep."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from mrfit._kernels.inference.contract_vectors import LOG_SUM, MAX, SUM, contract_others
from mrfit._kernels.inference.messages import Messages, Potentials, pass_by_residual, pass_in_sweeps
from mrfit._kernels.inference.product_states import ascend
from mrfit._kernels.inference.spanning_forests import heaviest_forest
from mrfit.core.factors import Factors
from mrfit.inference.messages.beliefs import beliefs_from_messages
from mrfit.inference.messages.factor_graph import FactorGraph
from mrfit.inference.messages.message_passing import MessagePassing, Schedule
from populations import random_factors
from reference.messages import PlainMessages, Tables, mean_field_bound, mean_field_sweep

MIXED = ((2, 3, 2, 4), [(0, 1), (1, 2), (2, 0), (3, 1, 0), (2,), (1,)])
PAIRS = ((2,) * 6, [(0, 1), (2, 1), (2, 3), (3, 0), (0, 2), (4, 5), (4,), (1,)])


def _parts(product: Factors) -> tuple[FactorGraph, list[np.ndarray], Tables]:
    """The graph, and its fields and log-tables as arrays of their own."""
    graph = FactorGraph(product.shape, product.scopes)
    field, log_table, _ = graph.gather(product)
    fields = np.split(field, graph.arrays.field_start[1:-1])
    flat = np.split(log_table, graph.arrays.table_start[1:-1])
    tables = {a: t.reshape([product.shape[i] for i in a]) for a, t in zip(graph.hosts, flat, strict=True)}
    return graph, fields, tables


def _plain(fields: list[np.ndarray], tables: Tables, weight: np.ndarray) -> PlainMessages:
    weights = dict(zip(tables, weight.tolist(), strict=True))
    return PlainMessages([np.exp(f) for f in fields], {a: np.exp(t) for a, t in tables.items()}, weights)


def _potentials(graph: FactorGraph, product: Factors, weight: np.ndarray) -> Potentials:
    field, log_table, _ = graph.gather(product)
    return graph.potentials(field, log_table, weight)


def _same(plain: PlainMessages, graph: FactorGraph, potentials: Potentials, messages: Messages) -> None:
    single, joint = beliefs_from_messages(graph, potentials, messages)
    np.testing.assert_allclose(single, np.concatenate([plain.belief(i) for i in range(len(graph.shape))]), atol=1e-12)
    np.testing.assert_allclose(joint, np.concatenate([plain.joint(a).ravel() for a in graph.hosts]), atol=1e-12)


def _empty(graph: FactorGraph) -> Messages:
    n = int(graph.arrays.message_start[-1])
    n_edges, n_fields = len(graph.arrays.scope), int(graph.arrays.field_start[-1])
    return Messages(np.zeros(n), np.zeros(n), np.ones(n), np.zeros(n_edges), np.zeros(n_fields))


WEIGHTS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "belief propagation": lambda rng, n: np.ones(n),
    "reweighted": lambda rng, n: rng.uniform(0.3, 1.0, n),
}


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("zeros", [0.0, 0.25], ids=["finite", "zeros"])
@pytest.mark.parametrize("model", [MIXED, PAIRS], ids=["mixed", "pairs"])
@pytest.mark.parametrize("n_sweeps", [1, 2, 3])
def test_sweeps_are_those_of_the_definition(
    model: tuple, zeros: float, weights: str, n_sweeps: int, rng: np.random.Generator
) -> None:
    product = random_factors(rng, *model, zeros=zeros)
    graph, fields, tables = _parts(product)
    weight = WEIGHTS[weights](rng, len(graph.hosts))
    potentials = _potentials(graph, product, weight)
    plain = _plain(fields, tables, weight)
    plain.start()
    for number in range(n_sweeps):
        plain.sweep(number)
    messages = _empty(graph)
    pass_in_sweeps(graph.arrays, potentials, messages, False, 0.0, False, 0.0, n_sweeps)
    _same(plain, graph, potentials, messages)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("damping", [0.0, 0.4])
@pytest.mark.parametrize("n_sweeps", [1, 2, 5])
def test_one_ratio_says_all_of_a_pair(weights: str, damping: float, n_sweeps: int, rng: np.random.Generator) -> None:
    """The quick way: variables tell their neighbours at once, which is the same iteration from another first sweep."""
    product = random_factors(rng, *PAIRS)
    graph, fields, tables = _parts(product)
    weight = WEIGHTS[weights](rng, len(graph.hosts))
    potentials, plain = _potentials(graph, product, weight), _plain(fields, tables, weight)
    for number in range(n_sweeps):
        for i in range(6) if number % 2 == 0 else reversed(range(6)):
            plain.spread(i, damping=damping)
    plain.start()
    quick = MessagePassing((Schedule("sequential", damping),), 0.0, n_sweeps).run(graph, potentials)
    assert (quick.n_sweeps, quick.converged) == (n_sweeps, False)
    _same(plain, graph, potentials, quick.messages)


def test_flooding_is_that_of_the_definition(rng: np.random.Generator) -> None:
    product = random_factors(rng, *MIXED)
    graph, fields, tables = _parts(product)
    weight = np.ones(len(tables))
    potentials, plain = _potentials(graph, product, weight), _plain(fields, tables, weight)
    for n_sweeps in range(1, 5):
        plain.flood()
        messages = _empty(graph)
        made = pass_in_sweeps(graph.arrays, potentials, messages, True, 0.0, False, 0.0, n_sweeps)
        assert made == (n_sweeps, False, True)
        _same(plain, graph, potentials, messages)


def test_largest_products_are_those_of_the_definition(rng: np.random.Generator) -> None:
    product = random_factors(rng, *MIXED, zeros=0.2)
    graph, fields, tables = _parts(product)
    weight = np.ones(len(tables))
    potentials, plain = _potentials(graph, product, weight), _plain(fields, tables, weight)
    plain.start()
    for number in range(3):
        plain.sweep(number, maximise=True)
    messages = _empty(graph)
    pass_in_sweeps(graph.arrays, potentials, messages, False, 0.0, True, 0.0, 3)
    _same(plain, graph, potentials, messages)


def test_residuals_lead_to_the_same_fixed_point(rng: np.random.Generator) -> None:
    product = random_factors(rng, *MIXED)
    product = product.with_values(0.4 * product.values)
    graph, fields, tables = _parts(product)
    weight = np.ones(len(tables))
    potentials, plain = _potentials(graph, product, weight), _plain(fields, tables, weight)
    plain.start()
    for number in range(200):
        plain.sweep(number)
    for damping in (0.0, 0.5):
        messages = _empty(graph)
        made, converged, _ = pass_by_residual(graph.arrays, potentials, messages, damping, False, 1e-14, 1000)
        assert converged
        assert made > 2
        _same(plain, graph, potentials, messages)


@pytest.mark.parametrize("kind", [SUM, MAX, LOG_SUM])
@pytest.mark.parametrize("shape", [(3, 2), (2, 3, 4), (2, 1, 3, 2)], ids=str)
def test_contractions_are_those_of_einsum(kind: int, shape: tuple[int, ...], rng: np.random.Generator) -> None:
    """Or of the largest sum; ``first`` and ``begin`` say where in longer arrays the table stands."""
    table, vectors = rng.standard_normal(shape), [rng.standard_normal(c) for c in shape]
    cells = np.concatenate([np.full(5, np.nan), table.ravel()])
    at = np.append([0], np.cumsum([0, *shape[:-1]])).astype(np.int64)
    sizes = np.array([99, *shape])
    work = np.empty((2, table.size))
    for kept in range(len(shape)):
        out = np.empty(shape[kept])
        first, last = 1, 1 + len(shape)
        contract_others(kind, cells, 5, sizes, first, last, first + kept, np.concatenate(vectors), at, work, out)
        whole = table if kind == SUM else table.copy()
        for axis, vector in enumerate(vectors):
            if axis != kept:
                along = vector.reshape([-1 if k == axis else 1 for k in range(len(shape))])
                whole = whole * along if kind == SUM else whole + along
        others = tuple(axis for axis in range(len(shape)) if axis != kept)
        expected = {
            SUM: lambda whole=whole, others=others: whole.sum(axis=others),
            MAX: lambda whole=whole, others=others: whole.max(axis=others),
            LOG_SUM: lambda whole=whole, others=others: np.log(np.exp(whole).sum(axis=others)),
        }[kind]()
        np.testing.assert_allclose(out, expected, atol=1e-12)


@pytest.mark.parametrize("n_sweeps", [1, 2, 50])
def test_mean_field_is_that_of_the_definition(n_sweeps: int, rng: np.random.Generator) -> None:
    """Probabilities after so many sweeps; the bound never falls."""
    product = random_factors(rng, *MIXED)
    graph, fields, tables = _parts(product)
    p = [np.full(c, 1.0 / c) for c in product.shape]
    bounds = []
    for _ in range(n_sweeps):
        mean_field_sweep(fields, tables, p)
        bounds.append(mean_field_bound(fields, tables, p))
    assert np.all(np.diff(bounds) > -1e-12)
    found = np.repeat(1.0 / graph.arrays.states, graph.arrays.states)
    field, log_table, _ = graph.gather(product)
    ascend(graph.arrays, field, log_table, np.empty(0), found, 0.0, n_sweeps)
    np.testing.assert_allclose(found, np.concatenate(p), atol=1e-12)


def test_the_heaviest_forest(rng: np.random.Generator) -> None:
    """All subsets of edges without a cycle are compared, on two components."""
    ends = np.array([(0, 1), (1, 2), (2, 0), (2, 3), (3, 0), (4, 5)])
    for _ in range(20):
        weight = rng.random(len(ends))
        chosen = heaviest_forest(7, ends, weight)
        best = max(
            (subset for subset in range(2 ** len(ends)) if _is_forest(ends, subset)),
            key=lambda subset: sum(weight[e] for e in range(len(ends)) if subset >> e & 1),
        )
        assert sum(1 << e for e in np.flatnonzero(chosen)) == best


def _is_forest(ends: np.ndarray, subset: int) -> bool:
    scopes = tuple(tuple(pair) for e, pair in enumerate(ends.tolist()) if subset >> e & 1)
    return FactorGraph((2,) * 7, scopes).is_forest
