"""Rows with more missing cells than an exact answer allows: approximate answers with errors, and names in messages."""

from __future__ import annotations

import warnings
from itertools import combinations
from math import comb

import numpy as np
import pytest

from mrfit import Domain, FactorNetwork, Factors, MarkovNetworkLearner
from mrfit.core.errors import ApproximationWarning, InputError
from mrfit.data.dataset import Dataset
from mrfit.data.encoding import UNOBSERVED

N = 44  # of which 33 fit a junction tree
SINGLE, PAIR = -0.3, 0.02


@pytest.fixture(scope="module")
def network() -> FactorNetwork:
    """All variables alike, and each pair: probabilities follow from counts of variables that are 1."""
    domain = Domain.from_states({f"item{i}": ["no", "yes"] for i in range(N)})
    singles = [((i,), np.array([0.0, SINGLE])) for i in range(N)]
    pairs = [(pair, np.array([0.0, 0.0, 0.0, PAIR])) for pair in combinations(range(N), 2)]
    return FactorNetwork(domain, Factors.from_tables((2,) * N, [*singles, *pairs]))


@pytest.fixture(scope="module")
def rows(network: FactorNetwork) -> Dataset:
    """Two rows alike with one value, and one with all but two."""
    codes = np.full((3, N), UNOBSERVED, np.uint8)
    codes[:2, 1] = 1
    codes[2, 2:] = 0
    return Dataset(network.domain, codes)


def chance_of_yes(n_ones: int, n_free: int) -> float:
    """p(a variable is yes) where so many others are known to be, and so many more are not known."""
    weight = [
        sum(
            comb(n_free, k) * np.exp(SINGLE * m + PAIR * comb(m, 2))
            for k in range(n_free + 1)
            for m in [n_ones + k + own]
        )
        for own in (0, 1)
    ]
    return float(weight[1] / sum(weight))


def test_predictions_are_approximated_with_their_errors(network: FactorNetwork, rows: Dataset) -> None:
    p, error = network.predict_proba("item0", rows, return_error=True)
    truth = np.array([chance_of_yes(1, N - 2), chance_of_yes(1, N - 2), chance_of_yes(0, 1)])
    assert (abs(p[:, 1] - truth) <= 4 * error[:, 1]).all()
    assert (error[:2] > 0).all()
    assert (error[2] == 0).all()
    assert p[2, 1] == pytest.approx(truth[2], abs=1e-12)
    asked = network.conditional("item0", {"item1": "yes"})
    assert list(asked.values()) == p[0].tolist()
    assert list(asked.error.values()) == error[0].tolist()


def test_a_precision_makes_errors_of_predictions_smaller(network: FactorNetwork, rows: Dataset) -> None:
    _, rough = network.predict_proba("item0", rows, return_error=True, samples=16)
    _, fine = network.predict_proba("item0", rows, return_error=True, precision=0.004)
    assert 0 < fine[:2].max() <= 0.004 < rough[:2].max()


def test_a_warning_says_how_large_errors_are(network: FactorNetwork, rows: Dataset) -> None:
    with pytest.warns(ApproximationWarning, match=r"2 of 3 rows .* standard errors of up to 0\.0"):
        network.predict_proba("item0", rows)
    exact = Dataset(rows.domain, rows.codes[2:])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        network.predict_proba("item0", exact)


def test_missing_cells_are_drawn_approximately_which_a_note_says(network: FactorNetwork, rows: Dataset) -> None:
    drawn = network.impute(rows, how="draw")
    assert drawn.notes[0].startswith("2 of 3 rows have too many missing values for an exact answer")
    assert (drawn.codes != UNOBSERVED).all()
    assert (drawn.codes[:2, 1] == 1).all()
    assert network.impute(Dataset(rows.domain, rows.codes[2:]), how="draw").notes == ()


def test_most_probable_values_of_missing_cells(network: FactorNetwork, rows: Dataset) -> None:
    """All yes here, whatever is observed of one: 44 singles cost 13.2, 946 pairs add 18.9."""
    found = network.impute(rows)
    assert (found.codes[:2] == 1).all()
    assert (found.codes[2, :2] == 0).all()


def test_a_score_that_no_tree_gives_is_refused_by_name(network: FactorNetwork, rows: Dataset) -> None:
    for score in (network.pll, network.pll_rows):
        with pytest.raises(InputError, match=r"'item0'.*Leave out rows with so many missing values") as refused:
            score(rows)
        assert "--" not in str(refused.value)
        assert "engine" not in str(refused.value)


def test_a_score_without_an_exact_log_z_names_what_there_is(network: FactorNetwork, rng: np.random.Generator) -> None:
    """Scores take no engine, so none is named."""
    X = rng.integers(0, 2, (60, N))
    learner = MarkovNetworkLearner(metric="ll").fit(X)
    complete = Dataset(network.domain, X[:3].astype(np.uint8))
    for score in (lambda: network.ll(complete), lambda: learner.model_.ll(X), lambda: learner.score(X)):
        with pytest.raises(InputError, match=r"Score by the pseudo-log-likelihood.* by log_z\(\)\.") as refused:
            score()
        assert "engine" not in str(refused.value)


def test_the_estimator_predicts_with_errors(rng: np.random.Generator) -> None:
    """An array, of which columns are called v0, v1, ..., with settings as of a model."""
    X = rng.integers(0, 2, (60, N)).astype(float)
    learner = MarkovNetworkLearner(target=3).fit(X)
    holes = X[:2].copy()
    holes[0, 3:] = np.nan
    p, error = learner.predict_proba(holes, return_error=True)
    assert p[0].sum() == pytest.approx(1.0)
    assert error[0].max() > error[1].max() == 0.0
    _, fine = learner.predict_proba(holes, return_error=True, precision=error.max() / 2)
    assert fine.max() <= error.max() / 2
    _, rough = learner.predict_proba(holes, return_error=True, samples=8)
    assert rough.max() > error.max()
    with pytest.warns(ApproximationWarning, match="1 of 2 rows"):
        learner.predict_proba(holes)
    with pytest.raises(InputError, match="'v3'") as refused:
        learner.model_.pll(Dataset.from_table(holes, domain=learner.model_.domain, missing="keep"))
    assert "--" not in str(refused.value)
