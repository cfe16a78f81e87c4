"""Standard errors: against others' numbers, and whether intervals hold what they promise."""

from __future__ import annotations

import csv
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mrfit
from mrfit import L1, L2, CompleteGraph, FixedStructure, Learned, Learner, NoPenalty, UniqueRows
from mrfit.core.errors import InputError
from mrfit.learning.objective_specs import LIKELIHOOD, PSEUDO_LIKELIHOOD, LikelihoodSpec, ObjectiveSpec
from mrfit.learning.specification import objective_from
from mrfit.model.standard_error_estimates import ScoreCurvature
from mrfit.model.wald import adjusted_p
from mrfit.registry import PENALTIES
from mrfit.structures.structure import Structure
from populations import domain_of

ENUMERATED, ON_A_TREE = LikelihoodSpec("enumeration"), LikelihoodSpec("tree")


@pytest.fixture
def applied_rows(conformance_dir: Path, named_rows: Callable[[str, str], UniqueRows]) -> Callable[[str], UniqueRows]:
    def rows(name: str) -> UniqueRows:
        if name == "jonas":
            return UniqueRows.from_file(conformance_dir / "psychonetrics" / "jonas8.csv")
        return named_rows(name, "data")

    return rows


def _expected(path: Path, column: str) -> dict[frozenset[str], tuple[float, float]]:
    """Estimate and error by the names of variables."""
    with path.open() as file:
        return {
            frozenset(line["term"].split("|")): (float(line["estimate"]), float(line[column]))
            for line in csv.DictReader(file)
        }


def _found(model: mrfit.MarkovNetwork) -> dict[frozenset[str], tuple[float, float]]:
    assert model.errors is not None
    scopes = [frozenset(model.domain.names[i] for i in model.parameters.scope(k)) for k in range(len(model.w))]
    return dict(zip(scopes, zip(model.w, model.errors.standard_errors, strict=True), strict=True))


@pytest.mark.parametrize("name", ["jonas", "czech", "jokes"])
@pytest.mark.parametrize(
    ("objective", "kind", "file", "column"),
    [
        (PSEUDO_LIKELIHOOD, "sandwich", "pseudo/{}_pl.csv", "se_sandwich"),
        (PSEUDO_LIKELIHOOD, "model", "pseudo/{}_pl.csv", "se_naive"),
        (ENUMERATED, "model", "ml/{}_ml.csv", "se"),
        (ON_A_TREE, "model", "ml/{}_ml.csv", "se"),
    ],
    ids=["sandwich", "naive", "enumeration", "tree"],
)
def test_errors_that_others_found(
    name: str, objective: ObjectiveSpec, kind: str, file: str, column: str, conformance_dir: Path, applied_rows: Any
) -> None:
    learner = Learner(penalty=NoPenalty(), objective=objective, tolerance=1e-9)
    found = _found(learner.fit(applied_rows(name), errors=kind).model)
    expected = _expected(conformance_dir / "applied" / file.format(name), column)
    assert found.keys() == expected.keys()
    for scope, values in expected.items():
        assert found[scope] == pytest.approx(values, abs=1e-6)


# -- by definition -------------------------------------------------------------------------------------------------


def _rows(rng: np.random.Generator, shape: tuple[int, ...] = (2, 3, 2), n: int = 400) -> UniqueRows:
    common = rng.integers(0, 6, n)
    codes = np.stack([np.where(rng.random(n) < 0.4, common, rng.integers(0, 6, n)) % c for c in shape], axis=1)
    return UniqueRows.from_codes(domain_of(shape), codes.astype(np.uint8), np.ones(n))


def _gradient_by_differences(model: mrfit.MarkovNetwork, rows: UniqueRows, measure: str) -> np.ndarray:
    """Gradients of every distinct row, (rows, parameters)."""
    step, columns = 1e-5, []
    for direction in np.eye(len(model.w)):
        above, below = (
            model.row_scores(measure)(model.parameters, model.w + sign * step * direction, rows.codes, jobs=1)
            for sign in (1, -1)
        )
        columns.append((above - below) / (2 * step))
    return np.stack(columns, axis=1)


def _hessian_by_differences(model: mrfit.MarkovNetwork, rows: UniqueRows, measure: str) -> np.ndarray:
    """Hessian of minus the score of all rows; every point serves all entries that need it."""
    step, n = 1e-3, len(model.w)

    def loss(move: np.ndarray) -> float:
        scores = model.row_scores(measure)(model.parameters, model.w + move, rows.codes, jobs=1)
        return -float(rows.sample_weight @ scores)

    moves = step * np.eye(n)
    here, around = loss(np.zeros(n)), [loss(move) + loss(-move) for move in moves]
    hessian = np.diag([both - 2 * here for both in around])
    for i, j in combinations(range(n), 2):
        both = loss(moves[i] + moves[j]) + loss(-moves[i] - moves[j])
        hessian[i, j] = hessian[j, i] = (both - around[i] - around[j] + 2 * here) / 2
    return hessian / step**2


@pytest.mark.parametrize("parameterization", ["canonical", "spectral"])
@pytest.mark.parametrize(
    ("objective", "structure"),
    [
        (PSEUDO_LIKELIHOOD, CompleteGraph()),
        (PSEUDO_LIKELIHOOD, mrfit.AllInteractions(None)),
        (ENUMERATED, CompleteGraph()),
        (ENUMERATED, mrfit.AllInteractions(None)),
        (ON_A_TREE, FixedStructure(Structure.from_scopes(3, [(0, 1), (1, 2)]))),
    ],
    ids=["pairs", "triples", "exact", "all-sets", "tree"],
)
@pytest.mark.parametrize("strength", [0.0, 3.0])
def test_by_definition(
    parameterization: str, objective: ObjectiveSpec, structure: Any, strength: float, rng: np.random.Generator
) -> None:
    """Gradients of rows by differences make J; second differences of the sum of their scores make H."""
    rows = _rows(rng)
    penalty = L2(strength, free_orders=(1,)) if strength else NoPenalty()
    fitted = Learner(structure, penalty, objective, parameterization, tolerance=1e-9).fit(rows, errors="sandwich")
    model, weight = fitted.model, rows.sample_weight
    assert model.errors is not None
    gradients = _gradient_by_differences(model, rows, objective.measure)
    products = gradients.T @ (weight[:, None] * gradients)
    hessian = _hessian_by_differences(model, rows, objective.measure)
    inverse = np.linalg.inv(hessian + np.diag(strength * (model.parameters.order_of_parameter > 1)))
    np.testing.assert_allclose(model.errors.covariance, inverse @ products @ inverse, rtol=1e-3, atol=1e-5)
    assert model.errors.effective_parameters == pytest.approx(np.trace(products @ inverse), rel=1e-4)
    score = rows.total_weight * (model.pll if objective is PSEUDO_LIKELIHOOD else model.ll)(rows)
    effective = model.errors.effective_parameters
    assert model.errors.claic == pytest.approx(-2 * score + 2 * effective, rel=1e-9)
    assert model.errors.clbic == pytest.approx(-2 * score + np.log(400) * effective, rel=1e-9)


def test_rows_twice_and_weights_of_any_scale(rng: np.random.Generator) -> None:
    """A row twice is two rows; weights that are no counts are worth as many rows as Kish says, at any scale."""
    rows, learner = _rows(rng), Learner(penalty=NoPenalty(), tolerance=1e-9)
    twice = rows.reweighted(2.0 * rows.sample_weight)
    once, double = (learner.fit(each, errors="sandwich").model.errors for each in (rows, twice))
    np.testing.assert_allclose(double.covariance, once.covariance / 2, rtol=1e-6)
    weight = rng.uniform(0.5, 2.0, rows.n_distinct)
    scaled = [UniqueRows.from_codes(rows.domain, rows.codes, s * weight) for s in (1.0, 7.0)]
    for kind in ("sandwich", "model"):
        first, second = (learner.fit(each, errors=kind).model.errors for each in scaled)
        np.testing.assert_allclose(first.covariance, second.covariance, rtol=1e-6)


def test_errors_do_not_change_the_fit(rng: np.random.Generator) -> None:
    rows = _rows(rng)
    plain, sure = Learner().fit(rows), Learner().fit(rows, errors="sandwich")
    np.testing.assert_array_equal(plain.model.w, sure.model.w)
    assert plain.model.provenance == sure.model.provenance
    assert plain.model.errors is None
    assert sure.best in sure.fits


def test_a_parameter_without_a_finite_optimum_has_no_error(rng: np.random.Generator) -> None:
    """b never occurs without a."""
    table = {"a": [0, 0, 1, 1, 0, 1] * 90, "b": [0, 0, 0, 1, 0, 1] * 90, "c": rng.integers(0, 2, 540)}
    model = mrfit.learn(table, penalty=NoPenalty(), errors="sandwich").model
    assert model.errors is not None
    lost = np.isnan(model.errors.standard_errors)
    assert lost.any()
    assert not lost.all()
    assert np.isnan(model.intervals()[lost]).all()
    tests = {test.variables: test for test in model.wald_tests()}
    assert np.isnan(tests["a", "b"].p)  # that of b alone falls without end, and this one rises
    assert 0 <= tests["a", "c"].p <= tests["a", "c"].adjusted <= 1


# -- coverage ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("objective", "kind", "share"),
    [(PSEUDO_LIKELIHOOD, "sandwich", 0.95), (LIKELIHOOD, "model", 0.95), (PSEUDO_LIKELIHOOD, "model", 0.81)],
    ids=["sandwich", "exact", "naive"],
)
def test_intervals_hold_what_they_promise(
    objective: ObjectiveSpec, kind: str, share: float, named_rows: Callable[[str, str], UniqueRows]
) -> None:
    """Coverage over 150 tables of 500 rows from a known model; naive errors of a pseudo-likelihood fail it.

    Parameters of one table are not independent, so the Monte Carlo error is taken from the tables' own shares.
    """
    truth = Learner(penalty=NoPenalty(), objective=LIKELIHOOD).fit(named_rows("czech", "data")).model
    sample = truth.sample(150 * 500, seed=5).codes
    held = []
    for codes in np.split(sample, 150):
        rows = UniqueRows.from_codes(truth.domain, codes, np.ones(500))
        low, high = Learner(penalty=NoPenalty(), objective=objective).fit(rows, errors=kind).model.intervals(0.95).T
        held.append(((low < truth.w) & (truth.w < high)).mean())
    error = np.std(held, ddof=1) / np.sqrt(len(held))
    assert np.mean(held) == pytest.approx(share, abs=3 * error + (0.01 if share < 0.95 else 0.0))


# -- tests ---------------------------------------------------------------------------------------------------------


def test_wald_tests_of_single_parameters_are_squared_z(rng: np.random.Generator) -> None:
    model = Learner(penalty=NoPenalty()).fit(_rows(rng, (2, 2, 2)), errors="sandwich").model
    assert model.errors is not None
    z = {scope: (value / error) ** 2 for scope, (value, error) in _found(model).items() if len(scope) == 2}
    tests = model.wald_tests()
    assert {frozenset(test.variables): test.statistic for test in tests} == pytest.approx(z)
    assert [test.p for test in tests] == sorted(test.p for test in tests)


def test_a_wald_test_does_not_depend_on_the_reference(rng: np.random.Generator) -> None:
    """All parameters of a pair are tested at once."""
    rows = _rows(rng, (3, 4, 2))
    first, last = (
        Learner(penalty=NoPenalty(), reference=reference, tolerance=1e-9).fit(rows, errors="sandwich").model
        for reference in ("first", "last")
    )
    for a, b in zip(first.wald_tests(), last.wald_tests(), strict=True):
        assert (a.variables, a.degrees) == (b.variables, b.degrees)
        assert a.statistic == pytest.approx(b.statistic, rel=1e-5)


def test_adjusted_p_by_hand() -> None:
    found = adjusted_p(np.array([0.01, np.nan, 0.04, 0.03, 0.5]))
    np.testing.assert_allclose(found, [0.04, np.nan, 0.04 * 4 / 3, 0.04 * 4 / 3, 0.5])
    assert len(adjusted_p(np.empty(0))) == 0


# -- what there is no answer to ------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", sorted(set(PENALTIES) - {"l2", "flat-l2", "none"}))
def test_penalties_without_errors_say_so_before_the_fit(word: str, rng: np.random.Generator) -> None:
    objective = LIKELIHOOD if word == "pseudo-counts" else PSEUDO_LIKELIHOOD
    with pytest.raises(InputError, match=word):
        Learner(penalty=PENALTIES[word](), objective=objective).fit(_rows(rng), errors="sandwich")


def test_what_errors_do_not_know_is_said(rng: np.random.Generator) -> None:
    rows = _rows(rng)
    given, shrunken, learned = (
        Learner(structure, penalty).fit(rows, errors="sandwich").model.errors
        for structure, penalty in [
            (CompleteGraph(), NoPenalty()),
            (CompleteGraph(), L2(1.0)),
            (mrfit.ChowLiuTree(), NoPenalty()),
        ]
    )
    assert given.remarks == ()
    assert "shrunken" in shrunken.remarks[0]
    assert "learned from the same rows" in learned.remarks[0]
    assert Learned().is_learned


@pytest.mark.parametrize(
    ("learner", "kind", "said"),
    [
        (Learner(), "robust", "no errors of the kind 'robust'.*'sandwich', 'model'"),
        (Learner(penalty=L1(1.0)), "sandwich", "selects parameters"),
        (Learner(penalty=NoPenalty(), parameterization="full"), "model", "are not identified"),
        (Learner(objective=LikelihoodSpec("chains")), "model", "chains do not give"),
        (Learner(objective=objective_from("rise")), "sandwich", "rise is neither"),
        (Learner(penalty=L2(toward="tree")), "sandwich", "a tree of the same rows"),
    ],
    ids=["kind", "l1", "full", "chains", "rise", "toward a tree"],
)
def test_refusals(learner: Learner, kind: str, said: str, rng: np.random.Generator) -> None:
    with pytest.raises(InputError, match=said):
        learner.fit(_rows(rng), errors=kind)


def test_too_many_parameters_are_refused_before_the_fit() -> None:
    codes = np.random.default_rng(0).integers(0, 2, (20, 95), np.uint8)
    rows = UniqueRows.from_codes(domain_of((2,) * 95), codes, np.ones(20))
    with pytest.raises(InputError, match=r"4,560 parameters; the limit is 4,000"):
        Learner().fit(rows, errors="sandwich")


def test_levels_and_models_without_errors_are_refused(rng: np.random.Generator) -> None:
    plain, sure = Learner().fit(_rows(rng)).model, Learner().fit(_rows(rng), errors="model").model
    with pytest.raises(InputError, match="errors='sandwich'"):
        plain.intervals()
    with pytest.raises(InputError, match="errors='sandwich'"):
        plain.wald_tests()
    with pytest.raises(InputError, match="between 0 and 1; got 95"):
        sure.intervals(95)


def test_no_kind_of_errors_but_two() -> None:
    one = np.eye(1)
    with pytest.raises(InputError, match="no errors of the kind"):
        ScoreCurvature(one, one, np.zeros(1), 1.0, 10.0, 10.0).errors("exact", held=np.empty(0, np.int64))


def test_the_estimator_has_them(rng: np.random.Generator) -> None:
    table = rng.integers(0, 2, (200, 4))
    learner = mrfit.MarkovNetworkLearner(penalty="none", errors="sandwich").fit(table)
    assert learner.covariance_.shape == (10, 10)
    np.testing.assert_array_equal(learner.standard_errors_, np.sqrt(np.diag(learner.covariance_)))
    assert not hasattr(mrfit.MarkovNetworkLearner().fit(table), "standard_errors_")


def test_errors_survive_their_file(rng: np.random.Generator, tmp_path: Path) -> None:
    model = Learner().fit(_rows(rng), errors="sandwich").model
    model.save(tmp_path / "m.mrf")
    again = mrfit.MarkovNetwork.load(tmp_path / "m.mrf")
    assert again.errors is not None
    assert model.errors is not None
    np.testing.assert_array_equal(again.errors.covariance, model.errors.covariance)
    assert again.errors.claic == model.errors.claic
    assert again.errors.remarks == model.errors.remarks
    assert again.to_parameterization("spectral").errors is None
