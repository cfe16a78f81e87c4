"""The joint model of pairs: its derivatives, its agreement with the library's objective, and its score test."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mrfit.data.unique_rows import UniqueRows
from mrfit.parameterizations.canonical import Canonical
from mrfit.structures.joint.pair_model import PairModel, PairParameters
from mrfit.structures.joint.refit import refit
from mrfit.structures.joint.row_table import RowTable, StateOrder
from mrfit.structures.joint.score_test import pair_scores
from mrfit.structures.structure import Structure
from populations import domain_of, penalized, pseudo_likelihood, random_rows

SHAPES = {"two states": (2,) * 5, "mixed": (2, 3, 4, 2), "a constant": (3, 1, 2, 2)}
shapes = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())


def _table(rows: UniqueRows) -> RowTable:
    return RowTable.of(rows, StateOrder.of(rows))


def _chain(table: RowTable) -> PairParameters:
    n = table.n_variables
    return PairParameters.independent(table).joined(np.array([(i - 1, i) for i in range(1, n)] + [(0, n - 1)]), table)


def _random(parameters: PairParameters, rng: np.random.Generator) -> PairParameters:
    constants, w = rng.normal(size=len(parameters.constants)), rng.normal(size=len(parameters.w))
    return replace(parameters, constants=constants, w=w)


def _moved(parameters: PairParameters, step: np.ndarray) -> PairParameters:
    n = len(parameters.constants)
    return replace(parameters, constants=parameters.constants + step[:n], w=parameters.w + step[n:])


@shapes
@pytest.mark.parametrize("n_rows", [12, 400], ids=["every row a cell", "merged"])
def test_derivatives_are_those_of_the_value(shape: tuple[int, ...], n_rows: int, rng: np.random.Generator) -> None:
    model = PairModel(_table(random_rows(rng, shape, n_rows, fractional=True)))
    at = _random(_chain(model.table), rng)
    n = len(at.constants)
    direction = rng.normal(size=n + len(at.w))
    step = 1e-5 * direction
    above, below = (model.expand(_moved(at, sign * step)) for sign in (1.0, -1.0))
    _, *gradient = model.expand(at)
    product = np.concatenate(model.product(direction[:n], direction[n:]))
    assert np.concatenate(gradient) @ direction == pytest.approx((above[0] - below[0]) / 2e-5, rel=1e-6)
    slopes = [np.concatenate(expansion[1:]) for expansion in (above, below)]
    np.testing.assert_allclose(product, (slopes[0] - slopes[1]) / 2e-5, rtol=1e-5, atol=1e-5)
    units = np.eye(n + len(at.w))
    hessian = np.stack([np.concatenate(model.product(unit[:n], unit[n:])) for unit in units])
    curvature = model.curvature(len(at.w))
    constants, ends = curvature[:n], curvature[n:].reshape(2, -1)
    diagonal = np.concatenate([constants, ends.sum(axis=0)])
    np.testing.assert_allclose(diagonal, hessian.diagonal(), rtol=1e-9, atol=1e-12)
    # Features are indicators: what they have in common with the constant of a regression is their own curvature in it.
    for end, columns in zip(ends, at.columns(model.table), strict=True):
        np.testing.assert_allclose(end, hessian[n + np.arange(len(at.w)), columns], rtol=1e-9, atol=1e-12)


def test_it_is_the_pseudo_likelihood_of_the_library(rng: np.random.Generator) -> None:
    """The optimum has a ridge on all parameters, which does not depend on the reference state."""
    rows = random_rows(rng, (2,) * 5, 300)
    model = PairModel(_table(rows))
    start = _chain(model.table)
    parameters = Canonical(rows.domain, Structure.from_edges(5, start.edges.tolist()))
    independent = PairModel(_table(rows)).value(PairParameters.independent(model.table))
    plain = pseudo_likelihood(rows, Canonical(rows.domain, Structure.independent(5)))
    means = rows.sample_weight @ rows.codes / rows.total_weight
    logits = np.log(means / (1 - means))
    assert independent == pytest.approx(rows.total_weight * plain.value_and_gradient(logits)[0], rel=1e-12)
    _, value = refit(model, start, ridge=1e-9, decrease=1e-10)
    objective = penalized(rows, parameters, strength=1e-9)
    w = np.zeros(objective.n_parameters)
    for _ in range(30):
        expansion = objective.expand(w)
        hessian = np.stack([expansion.product(unit) for unit in np.eye(len(w))])
        w = w - np.linalg.solve(hessian, expansion.gradient)
    assert value == pytest.approx(rows.total_weight * objective.value_and_gradient(w)[0], rel=1e-9)


@shapes
def test_scores_are_slopes_over_variances(shape: tuple[int, ...], rng: np.random.Generator) -> None:
    """The reference is a table of indicators and probabilities written out."""
    rows = random_rows(rng, shape, 150, fractional=True)
    table = _table(rows)
    model, n = PairModel(table), len(shape)
    at = _random(_chain(table), rng)
    model.expand(at)
    owner = np.repeat(np.arange(n), table.widths)
    state = np.concatenate([np.arange(1, width + 1) for width in table.widths])
    x = (table.arrays.codes[owner] == state[:, None]).astype(float)  # (columns, rows)
    w = np.zeros((len(x), len(x)))
    a, b = at.columns(table)
    w[a, b] = w[b, a] = at.w
    z = np.exp(at.constants[:, None] + w @ x)
    sums = np.stack([1.0 + z[owner == i].sum(axis=0) for i in range(n)])
    p, weight = z / sums[owner], table.arrays.sample_weight
    slope = x @ (weight * (p - x)).T
    curvature = weight * p * (1 - p)
    second = x @ curvature.T
    variance = second - second**2 / curvature.sum(axis=1)
    each = (slope + slope.T) ** 2 / (variance + variance.T)
    expected = np.array([[each[np.ix_(owner == i, owner == j)].sum() for j in range(n)] for i in range(n)])
    off = ~np.eye(n, dtype=bool)
    np.testing.assert_allclose(pair_scores(model)[off], expected[off], rtol=1e-9)
    np.testing.assert_allclose(model.variance(at), (variance + variance.T)[a, b], rtol=1e-9)


def test_a_score_is_about_twice_the_gain(rng: np.random.Generator) -> None:
    """Two columns that hardly hang together: the gain is small, and the quadratic it is read from is good."""
    x = rng.integers(0, 2, 4000)
    y = np.where(rng.random(4000) < 0.05, x, rng.integers(0, 2, 4000))
    rows = UniqueRows.from_codes(domain_of((2, 2)), np.stack([x, y], 1).astype(np.uint8), np.ones(4000))
    model = PairModel(_table(rows))
    apart = PairParameters.independent(model.table)
    before = model.value(apart)
    score = pair_scores(model)[0, 1]
    _, after = refit(model, apart.joined(np.array([(0, 1)]), model.table), ridge=1e-9, decrease=1e-9)
    assert score == pytest.approx(2 * (before - after), rel=0.05)


def test_jobs_change_nothing(rng: np.random.Generator) -> None:
    rows = random_rows(rng, (2, 3, 2, 2, 2), 200)
    one, two = (PairModel(_table(rows), jobs=jobs) for jobs in (1, 2))
    at = _random(_chain(one.table), rng)
    for first, second in zip(one.expand(at), two.expand(at), strict=True):
        np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(pair_scores(one), pair_scores(two))


def test_held_out_rows_in_states_never_seen_are_not_judged() -> None:
    domain = domain_of((3, 2))
    seen = UniqueRows.from_codes(domain, np.array([[0, 0], [1, 1], [1, 0]], np.uint8), np.ones(3))
    new = UniqueRows.from_codes(domain, np.array([[2, 1]], np.uint8), np.ones(1))
    order = StateOrder.of(seen)
    assert order.n_seen.tolist() == [2, 2]
    alone = PairParameters.independent(RowTable.of(seen, order))
    # The second variable alone is judged: a third of the rows are in its second state.
    assert PairModel(RowTable.of(new, order)).value(alone) == pytest.approx(np.log(3))
