"""Single regressions on working sets, and the pass that checks them all."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from mrfit._kernels.structure.nodewise import LANES
from mrfit.data.unique_rows import UniqueRows
from mrfit.structures.nodewise.design_matrix import IndicatorTable
from mrfit.structures.nodewise.lasso_paths import PathSettings, node_paths
from mrfit.structures.nodewise.regressions import Regression, Regressions
from populations import SHAPES, domain_of, random_codes, random_rows
from reference.nodewise import DenseRegression, dense_columns

WIDE = (2,) * (LANES + 6)
MANY_STATES = (LANES + 6, 2, 3)
VARYING = {name: shape for name, shape in SHAPES.items() if len(shape) > 1}


def _solved(rows: UniqueRows, working: list[int] | None = None, *, share: float = 0.2) -> Regressions:
    """Every regression on ``working``, or on all that have columns, at a share of its critical strength."""
    regressions = Regressions(IndicatorTable.of(rows), range(len(rows.domain)))
    norms = regressions.table.norms_alone([r.variable for r in regressions.all])
    for regression, own in zip(regressions.all, norms, strict=True):
        everything = [j for j, c in enumerate(rows.domain.shape) if c > 1 and j != regression.variable]
        chosen = everything if working is None else [j for j in working if j != regression.variable]
        strength = share * float(np.delete(own, regression.variable).max(initial=0.0))
        regression.solve(regressions.table, np.array(chosen, np.int64), strength, 1e-8 * max(strength, 1.0))
    return regressions


def _tables(regression: Regression, table: IndicatorTable) -> dict[int, np.ndarray]:
    """Coefficients of every other variable that has columns."""
    start = table.indicators.group_start
    tables = {j: regression.coefficients[1 + start[j] : 1 + start[j + 1]] for j in range(len(table.widths))}
    return {j: own for j, own in tables.items() if j != regression.variable and len(own)}


def _beta(dense: DenseRegression, constant: np.ndarray, tables: dict[int, np.ndarray]) -> np.ndarray:
    beta = np.zeros((dense.design.shape[1], dense.target.shape[1]))
    beta[0] = constant
    for j, table in tables.items():
        beta[dense.groups[j]] = table
    return beta


# -- solving -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.9, 0.3, 0.02])
@pytest.mark.parametrize("shape", VARYING.values(), ids=VARYING.keys())
def test_a_solution_on_everything_is_the_reference(
    shape: tuple[int, ...], share: float, rng: np.random.Generator
) -> None:
    """Binary and multinomial, weighted rows: same coefficients, same value, same probabilities."""
    rows = random_rows(rng, shape, 150, fractional=True)
    regressions = _solved(rows, share=share)
    for r in regressions.all:
        dense = DenseRegression.of(rows, r.variable)
        strength = share * dense.critical
        expected = dense.solve(strength)
        tables = _tables(r, regressions.table)
        np.testing.assert_allclose(_beta(dense, r.coefficients[0], tables), expected, atol=1e-5)
        assert r.value == pytest.approx(dense.value(expected, strength), rel=1e-9)
        assert r.violation <= 1e-7 * max(strength, 1.0)
        p = r.cells.probability.reshape(r.n_free, -1)[:, r.cells.class_of].T
        np.testing.assert_allclose(p, dense.probabilities(expected), atol=1e-6)


def test_a_smaller_working_set_is_the_regression_without_the_others(rng: np.random.Generator) -> None:
    """Growing and shrinking the set does not matter: cells may be finer than they need to be."""
    rows = random_rows(rng, (2, 3, 2, 2, 3), 200)
    regressions = _solved(rows)
    for r in regressions.all:
        working = np.array([j for j in (1, 3) if j != r.variable])
        r.solve(regressions.table, working, 0.5, 1e-8)
        part = sorted({r.variable, *working.tolist()})
        narrow = UniqueRows.from_codes(
            domain_of(tuple(rows.domain.shape[j] for j in part)), rows.codes[:, part], rows.sample_weight
        )
        dense = DenseRegression.of(narrow, part.index(r.variable))
        tables = _tables(r, regressions.table)
        assert all((own == 0).all() for j, own in tables.items() if j not in working)
        renamed = {part.index(j): tables[j] for j in working}
        np.testing.assert_allclose(_beta(dense, r.coefficients[0], renamed), dense.solve(0.5), atol=1e-5)


def test_refining_cells_in_any_order_gives_the_same(rng: np.random.Generator) -> None:
    rows = random_rows(rng, (2, 3, 2, 2), 80)
    at_once = Regressions(IndicatorTable.of(rows), [0]).all[0]
    at_once.solve(IndicatorTable.of(rows), np.array([1, 2, 3]), 1.0, 1e-9)
    by_steps = Regressions(IndicatorTable.of(rows), [0]).all[0]
    for working in ([3], [1, 3], [1, 2, 3]):
        by_steps.solve(IndicatorTable.of(rows), np.array(working), 1.0, 1e-9)
    assert len(at_once.cells.total) == len(by_steps.cells.total)
    for cells in (at_once.cells, by_steps.cells):  # what is kept of the old columns is that of the rows
        dense = dense_columns(rows)[:, cells.columns]
        np.testing.assert_array_equal(cells.bits[:, cells.class_of].T, dense)
    assert at_once.value == pytest.approx(by_steps.value, rel=1e-12)


def test_a_variable_with_one_state_in_the_working_set_changes_nothing(rng: np.random.Generator) -> None:
    """A required edge can put it there."""
    rows = random_rows(rng, (3, 1, 2, 2), 150, fractional=True)
    table = IndicatorTable.of(rows)
    for variable in (2, 3):
        others = [j for j in (0, 2, 3) if j != variable]
        without, with_ = (Regressions(table, [variable]).all[0] for _ in range(2))
        without.solve(table, np.array(others), 0.3, 1e-8)
        with_.solve(table, np.array(sorted([1, *others])), 0.3, 1e-8)
        assert with_.violation <= 1e-7
        assert with_.value == pytest.approx(without.value, rel=1e-12)


# -- checking ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shape",
    [(2,) * 5, (2, 3, 5, 2), (3, 1, 2, 2), WIDE, MANY_STATES],
    ids=["binary", "mixed", "one state", "wide", "many"],
)
def test_norms_alone_are_of_the_gradient_without_neighbours(shape: tuple[int, ...], rng: np.random.Generator) -> None:
    """More logits than lanes in one block, and in one regression."""
    rows = _every_state(shape, rng)
    varying = [i for i, c in enumerate(shape) if c > 1]
    for i, norms in zip(varying, IndicatorTable.of(rows).norms_alone(varying), strict=True):
        dense = DenseRegression.of(rows, i)
        gradient = dense.gradient(dense.independent)
        expected = {j: np.linalg.norm(gradient[group]) for j, group in dense.groups.items()}
        np.testing.assert_allclose([norms[j] for j in expected], list(expected.values()), atol=1e-8)


def _every_state(shape: tuple[int, ...], rng: np.random.Generator) -> UniqueRows:
    codes = random_codes(rng, shape, 150)
    codes[:, 0] = np.arange(150) % shape[0]
    return UniqueRows.from_codes(domain_of(shape), codes, rng.uniform(0.5, 2.0, 150))


@pytest.mark.parametrize("shape", [WIDE, MANY_STATES], ids=["wide", "many"])
def test_paths_of_more_logits_than_lanes_are_optimal(shape: tuple[int, ...], rng: np.random.Generator) -> None:
    rows = _every_state(shape, rng)
    for path in node_paths(rows, PathSettings(4, lowest=0.2))[::7]:
        dense = DenseRegression.of(rows, path.variable)
        assert path.critical == pytest.approx(dense.critical)
        assert len(path.points) > 1
        for point in path.points:
            assert dense.violation(dense.beta_of(point), point.strength) <= 1.01e-6 * path.critical


@pytest.mark.parametrize("shape", [(2, 2, 2, 2), (2, 3, 2, 4)], ids=["binary", "mixed"])
def test_scores_weigh_gradients_by_the_covariance_left_by_the_constants(
    shape: tuple[int, ...], rng: np.random.Generator
) -> None:
    rows = random_rows(rng, shape, 300, fractional=True)
    regressions = _solved(rows, [1])
    for r, found in zip(regressions.all, regressions.scores(regressions.all), strict=True):
        dense = DenseRegression.of(rows, r.variable)
        beta = _beta(dense, r.coefficients[0], _tables(r, regressions.table))
        gradient, covariance = dense.gradient(beta), _curvature(dense, beta, rows.sample_weight)
        expected = np.zeros(4)
        for j, group in dense.groups.items():
            own = [(k, s) for k in range(group.start, group.stop) for s in range(r.n_free)]
            constants = [(0, s) for s in range(r.n_free)]
            across = _block(covariance, own, constants)
            left = _block(covariance, own, own) - across @ np.linalg.solve(
                _block(covariance, constants, constants), across.T
            )
            g = np.array([gradient[k, s] for k, s in own])
            expected[j] = g @ np.linalg.solve(left, g)
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def _curvature(dense: DenseRegression, beta: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Second derivatives, (columns, states - 1, columns, states - 1)."""
    p, x = dense.probabilities(beta), dense.design
    states = np.einsum("rs,st->rst", p, np.eye(p.shape[1])) - np.einsum("rs,rt->rst", p, p)
    return np.einsum("r,rk,rl,rst->kslt", weight, x, x, states)


def _block(covariance: np.ndarray, own: list[tuple[int, int]], other: list[tuple[int, int]]) -> np.ndarray:
    return np.array([[covariance[k, s, m, t] for m, t in other] for k, s in own])


def test_without_neighbours_the_score_is_pearsons_chi_square(rng: np.random.Generator) -> None:
    rows = random_rows(rng, (3, 5, 2), 200)
    regressions = Regressions(IndicatorTable.of(rows), range(3))
    scores = regressions.scores(regressions.all)
    for a, b in ((0, 1), (1, 2), (0, 2)):
        observed = np.zeros((rows.domain.shape[a], rows.domain.shape[b]))
        np.add.at(observed, (rows.codes[:, a], rows.codes[:, b]), rows.sample_weight)
        pearson = chi2_contingency(observed, correction=False).statistic
        np.testing.assert_allclose([scores[a, b], scores[b, a]], pearson, rtol=1e-6)


def test_no_state_is_special_in_a_score(rng: np.random.Generator) -> None:
    """The reference category is a matter of coding."""
    rows = random_rows(rng, (3, 4, 3), 200, fractional=True)
    turned = UniqueRows.from_codes(
        rows.domain, (np.array(rows.domain.shape) - 1 - rows.codes).astype(np.uint8), rows.sample_weight
    )
    found = []
    for each in (rows, turned):
        regressions = Regressions(IndicatorTable.of(each), range(3))
        found.append(regressions.scores(regressions.all))
    np.testing.assert_allclose(*found, rtol=1e-6)


def test_a_score_is_about_twice_the_gain() -> None:
    """The second-order expansion holds for a weak dependence."""
    counts = np.array([260.0, 240.0, 235.0, 265.0])
    rows = UniqueRows.from_codes(domain_of((2, 2)), np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.uint8), counts)
    regressions = Regressions(IndicatorTable.of(rows), [0])
    r = regressions.all[0]
    score, before = regressions.scores([r])[0][1], r.value
    r.solve(regressions.table, np.array([1]), 1e-6, 1e-9)
    assert 2.0 * (before - r.value) == pytest.approx(score, rel=0.01)


def test_only_the_states_that_occur_count(rng: np.random.Generator) -> None:
    """Constant at the first or the last state, one state: no regression. An unseen state is as if not declared."""
    codes = random_codes(rng, (2, 2, 2, 1, 2), 60)
    codes[:, 1], codes[:, 2] = 0, 1
    rows = UniqueRows.from_codes(domain_of((2, 2, 2, 1, 3)), codes, np.ones(60))
    regressions = Regressions(IndicatorTable.of(rows), range(5))
    assert [r.variable for r in regressions.all] == [0, 4]
    assert regressions.table.widths.tolist() == [1, 0, 0, 0, 1]
    np.testing.assert_allclose(regressions.table.norms_alone([0])[0, 1:4], 0.0, atol=1e-9)


@pytest.mark.parametrize("unseen", [0, 1, 2])
def test_an_unseen_state_changes_no_regression(unseen: int, rng: np.random.Generator) -> None:
    """Whether it is the first, the last or between; rows of weight zero do not show it either."""
    codes = random_codes(rng, (2, 3, 2, 2), 200)
    declared = codes.copy()
    declared[:, 1] += (codes[:, 1] >= unseen).astype(np.uint8)
    narrow = UniqueRows.from_codes(domain_of((2, 3, 2, 2)), codes, np.ones(200))
    extra = np.array([[1, unseen, 0, 1]], np.uint8)
    wide = UniqueRows(domain_of((2, 4, 2, 2)), np.concatenate([declared, extra]), np.r_[np.ones(200), 0.0], 201)
    one, other = (node_paths(rows, PathSettings(3)) for rows in (narrow, wide))
    for a, b in zip(one, other, strict=True):
        assert a.critical == b.critical
        assert [p.selected.tolist() for p in a.points] == [p.selected.tolist() for p in b.points]
        for p, q in zip(a.points, b.points, strict=True):
            np.testing.assert_array_equal(p.values, q.values)
