"""Learning from rows with missing cells: known answers, the optimum by definition, errors, and refusals."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mrfit
from mrfit import L1, L2, Learned, Learner, NoPenalty, UniqueRows, fit_incomplete
from mrfit.analysis.missing_record import MissingSummary
from mrfit.core.errors import DataError, InputError
from mrfit.data.completions import Completions
from mrfit.data.encoding import UNOBSERVED, ParseOptions
from mrfit.learning.em_errors import feature_values
from mrfit.learning.objective_specs import LIKELIHOOD, PSEUDO_LIKELIHOOD, ObjectiveSpec
from populations import domain_of

PLAIN = Learner(penalty=NoPenalty())
EXACT = Learner(penalty=NoPenalty(), objective=LIKELIHOOD)


@pytest.fixture
def folder(conformance_dir: Path) -> Path:
    return conformance_dir / "applied" / "missing"


def _read(path: Path) -> UniqueRows:
    return UniqueRows.from_file(path, ParseOptions(missing="keep"), weight="count")


# -- what others found ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("learner", "file", "column"),
    [(PLAIN, "czech_mcar_plem.csv", "pl_em"), (EXACT, "czech_mcar_ml.csv", "ml_missing")],
    ids=["pseudo", "exact"],
)
def test_estimates_that_others_found(learner: Learner, file: str, column: str, folder: Path) -> None:
    model = fit_incomplete(learner, _read(folder / "czech_mcar.csv")).fitted.model
    names = model.domain.names
    found = {frozenset(names[i] for i in model.parameters.scope(k)): model.w[k] for k in range(len(model.w))}
    with (folder / file).open() as opened:
        lines = list(csv.DictReader(opened))
    assert len(lines) == len(found)
    for line in lines:
        assert found[frozenset(line["term"].replace("|", ":").split(":"))] == pytest.approx(
            float(line[column]), abs=1e-5
        )


def test_likelihood_of_what_is_observed(folder: Path) -> None:
    rows = _read(folder / "czech_mcar.csv")
    model = fit_incomplete(EXACT, rows).fitted.model
    assert model.ll(rows) * rows.total_weight == pytest.approx(-5716.52448253, abs=1e-5)


# -- by definition -------------------------------------------------------------------------------------------------


def _rows(rng: np.random.Generator, shape: tuple[int, ...] = (2, 3, 2), n: int = 300, gone: float = 0.2) -> UniqueRows:
    common = rng.integers(0, 6, n)
    codes = np.stack([np.where(rng.random(n) < 0.4, common, rng.integers(0, 6, n)) % c for c in shape], axis=1)
    codes = np.where(rng.random(codes.shape) < gone, UNOBSERVED, codes)
    return UniqueRows.from_codes(domain_of(shape), codes.astype(np.uint8), np.ones(n))


@pytest.mark.parametrize("objective", [PSEUDO_LIKELIHOOD, LIKELIHOOD], ids=["pseudo", "exact"])
def test_complete_rows_take_one_fit(objective: ObjectiveSpec, rng: np.random.Generator) -> None:
    rows = _rows(rng, gone=0.0)
    learner = Learner(penalty=L2(1.0), objective=objective, tolerance=1e-9)
    found, plain = fit_incomplete(learner, rows, errors="sandwich"), learner.fit(rows, errors="sandwich")
    np.testing.assert_allclose(found.fitted.model.w, plain.model.w, atol=1e-6)
    assert found.rounds == 2
    assert plain.model.errors is not None
    assert found.fitted.model.errors is not None
    np.testing.assert_allclose(
        found.fitted.model.errors.covariance, plain.model.errors.covariance, rtol=1e-4, atol=1e-7
    )


def _observed_ll(model: mrfit.MarkovNetwork, rows: UniqueRows, w: np.ndarray) -> np.ndarray:
    """Log-likelihood of the observed values of every row, summed over all joint states."""
    states = np.indices(rows.domain.shape).reshape(len(rows.domain), -1).T
    log_p = model.parameters.to_factors(w).log_potential(states)
    p = np.exp(log_p - np.logaddexp.reduce(log_p))
    fits = ((rows.codes[:, None] == UNOBSERVED) | (rows.codes[:, None] == states[None])).all(axis=2)
    return np.log(fits @ p)


def test_the_likelihood_of_what_is_observed_is_at_its_top_and_errors_are_its_curvature(
    rng: np.random.Generator,
) -> None:
    rows = _rows(rng)
    model = fit_incomplete(EXACT, rows, errors="sandwich").fitted.model
    step, q = 1e-4, len(model.w)
    np.testing.assert_allclose(
        model.ll_rows(mrfit.Dataset(rows.domain, rows.codes)), _observed_ll(model, rows, model.w)
    )
    shift = step * np.eye(q)
    score = np.stack(
        [(_observed_ll(model, rows, model.w + d) - _observed_ll(model, rows, model.w - d)) / (2 * step) for d in shift],
        1,
    )
    np.testing.assert_allclose(rows.sample_weight @ score, 0.0, atol=1e-4)
    second = np.empty((q, q))
    for a in range(q):
        for b in range(q):
            signs = ((1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1))
            values = [
                s * rows.sample_weight @ _observed_ll(model, rows, model.w + i * shift[a] + j * shift[b])
                for i, j, s in signs
            ]
            second[a, b] = sum(values) / (4 * step**2)
    bread = np.linalg.inv(-second)
    products = score.T @ (rows.sample_weight[:, None] * score)
    assert model.errors is not None
    np.testing.assert_allclose(model.errors.covariance, bread @ products @ bread, rtol=2e-3, atol=1e-5)


def test_pseudo_likelihood_of_what_is_observed_by_hand(rng: np.random.Generator) -> None:
    rows = _rows(rng, n=20)
    model = Learner().fit(_rows(rng, gone=0.0)).model
    data = mrfit.Dataset(rows.domain, rows.codes)
    expected = np.zeros(rows.n_distinct)
    for i in range(len(rows.domain)):
        without = rows.codes.copy()
        without[:, i] = UNOBSERVED
        given = mrfit.Dataset(rows.domain, without)
        expected += np.where(rows.codes[:, i] == UNOBSERVED, 0.0, model.ll_rows(data) - model.ll_rows(given))
    np.testing.assert_allclose(model.pll_rows(data), expected, atol=1e-10)
    complete = _rows(rng, gone=0.0)
    some = np.vstack([complete.codes, np.full((1, 3), UNOBSERVED, np.uint8)])  # nothing observed: nothing to score
    scores = model.pll_rows(mrfit.Dataset(rows.domain, some))
    np.testing.assert_allclose(scores[:-1], model.pll_rows(mrfit.Dataset(rows.domain, complete.codes)), atol=1e-10)
    assert scores[-1] == 0.0


def test_rows_without_a_value_say_nothing(rng: np.random.Generator) -> None:
    rows = _rows(rng)
    more = UniqueRows.from_codes(
        rows.domain, np.vstack([rows.codes, np.full((1, 3), UNOBSERVED, np.uint8)]), np.append(rows.sample_weight, 50.0)
    )
    first, second = (fit_incomplete(PLAIN, each).fitted.model.w for each in (rows, more))
    np.testing.assert_allclose(first, second, atol=1e-6)


def test_completions_of_a_row() -> None:
    codes = np.array([[0, UNOBSERVED, 1], [UNOBSERVED, 2, UNOBSERVED], [1, 1, 1]], np.uint8)
    found = Completions.of(UniqueRows.from_codes(domain_of((2, 3, 2)), codes, np.array([1.0, 2.0, 3.0])))
    assert np.bincount(found.row).tolist() == [3, 1, 4]
    assert found.complete.n_distinct == 7  # one of them is a way of two rows
    shares = found.shares(np.zeros(found.complete.n_distinct))
    np.testing.assert_allclose(np.bincount(found.row, shares), 1.0)
    weighted = found.weighted(shares)
    assert weighted.total_weight == pytest.approx(6.0)


def test_features_of_rows(rng: np.random.Generator) -> None:
    rows, model = _rows(rng, gone=0.0), Learner().fit(_rows(rng, gone=0.0)).model
    values = feature_values(model.parameters, rows) @ model.w
    np.testing.assert_allclose(values, model.factors.log_potential(rows.codes.astype(np.int64)))


# -- coverage ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("objective", [PSEUDO_LIKELIHOOD, LIKELIHOOD], ids=["pseudo", "exact"])
def test_intervals_hold_what_they_promise(
    objective: ObjectiveSpec, named_rows: Callable[[str, str], UniqueRows]
) -> None:
    """40 tables of 400 rows from a known model; a sixth of the cells is missing, more often where the first is 1."""
    whole = named_rows("czech", "data").on_columns(range(4))
    truth, rng = EXACT.fit(whole).model, np.random.default_rng(4)
    sample, held = truth.sample(40 * 400, seed=7).codes, []
    for codes in np.split(sample, 40):
        gone = rng.random(codes.shape) < np.where(codes[:, :1] == 1, 0.3, 0.1)
        gone[:, 0] = False
        rows = UniqueRows.from_codes(truth.domain, np.where(gone, UNOBSERVED, codes).astype(np.uint8), np.ones(400))
        learner = Learner(penalty=NoPenalty(), objective=objective)
        low, high = fit_incomplete(learner, rows, errors="sandwich").fitted.model.intervals(0.95).T
        held.append(((low < truth.w) & (truth.w < high)).mean())
    error = np.std(held, ddof=1) / np.sqrt(len(held))
    assert np.mean(held) == pytest.approx(0.95, abs=3 * error)


# -- what is missing where, and what there is no answer to ---------------------------------------------------------


def test_a_state_that_only_missing_cells_could_have_vanishes() -> None:
    """Its weight falls to zero without a penalty, and no underflow is blamed on the user's weights."""
    table = {"a": ["0", "1", None, "1"] * 25, "b": ["0", "1", "1", "0"] * 25}
    found = fit_incomplete(Learner(penalty=NoPenalty()), table)
    joint = {tuple(states.values()): p for states, p in found.fitted.model.joint(["a", "b"]).rows()}
    assert joint["0", "1"] < 1e-6
    assert joint["1", "1"] == pytest.approx(0.5, abs=1e-5)


def test_what_is_missing_where() -> None:
    codes = np.array([[0, UNOBSERVED, 1], [1, UNOBSERVED, UNOBSERVED], [1, 1, 1]], np.uint8)
    found = MissingSummary.of(UniqueRows.from_codes(domain_of((2, 2, 2)), codes, np.array([1.0, 2.0, 7.0])))
    names = domain_of((2, 2, 2)).names
    assert (found.n_rows, found.n_incomplete) == (10.0, 3.0)
    assert found.columns == ((names[1], 3.0), (names[2], 2.0), (names[0], 0.0))
    assert found.patterns == (((), 7.0), ((names[1], names[2]), 2.0), ((names[1],), 1.0))


@pytest.mark.parametrize(
    ("learner", "errors", "said"),
    [
        (Learner(penalty=L1(1.0)), None, "the penalty l2 or none"),
        (Learner(Learned()), None, "needs a fixed structure"),
        (Learner(folds=2), None, "and no folds"),
        (Learner(penalty=L2((1.0, 2.0))), None, "needs one penalty strength"),
        (PLAIN, "model", "must be of the kind 'sandwich'; got 'model'"),
        (
            Learner(penalty=NoPenalty(), parameterization="spectral"),
            "sandwich",
            "need ordered parameters, or canonical ones",
        ),
    ],
    ids=["l1", "learned", "folds", "strengths", "model", "spectral"],
)
def test_refusals(learner: Learner, errors: str | None, said: str, rng: np.random.Generator) -> None:
    with pytest.raises(InputError, match=said):
        fit_incomplete(learner, _rows(rng), errors=errors)


def test_a_column_without_values_and_rows_without_end() -> None:
    domain = domain_of((2,) * 15)
    codes = np.full((3, 15), UNOBSERVED, np.uint8)
    codes[:, 0] = [0, 1, 0]
    with pytest.raises(DataError, match="no value in any row"):
        fit_incomplete(PLAIN, UniqueRows.from_codes(domain, codes, np.ones(3)))
    codes[2] = 1
    with pytest.raises(InputError, match=r"the 14 of one row 16,384; the limits are 4,194,304 and 4,096"):
        fit_incomplete(PLAIN, UniqueRows.from_codes(domain, codes, np.ones(3)))
    same: Any = {"a": ["x", "x"], "b": ["y", "y"]}
    with pytest.raises(InputError, match="are equal"):
        fit_incomplete(PLAIN, UniqueRows.of(same))
