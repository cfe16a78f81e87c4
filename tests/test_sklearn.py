"""The scikit-learn face: scikit-learn's own checks, and what they do not look at."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass
from typing import Any

import networkx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import Binarizer, KBinsDiscretizer
from sklearn.utils.estimator_checks import parametrize_with_checks

from mrfit import LikelihoodSpec, MarkovNetwork, MarkovNetworkLearner, Structure
from mrfit.core.errors import DataError, InputError, StructureError
from mrfit.data.dataset import Dataset
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning import Learner
from mrfit.learning.em import fit_incomplete
from mrfit.learning.penalty_specs import L1, L2
from mrfit.learning.settings import Covariates, ParameterizationOptions, SolverOptions
from mrfit.learning.specification import penalty_from
from mrfit.registry import OBJECTIVES
from mrfit.structures.simple import Learned

NAMES = ["v0", "v1", "v2", "v3"]  # the names columns without names get


@pytest.fixture
def X(rng: np.random.Generator) -> NDArray[np.int64]:
    """0/1 in four columns, the second mostly a copy of the first."""
    table = (rng.random((160, 4)) < 0.45).astype(np.int64)
    copied = rng.random(160) < 0.7
    table[copied, 1] = table[copied, 0]
    return table


@pytest.fixture
def frame(X: NDArray[np.int64]) -> pd.DataFrame:
    return pd.DataFrame(X, columns=NAMES)


def fitted(table: Any, sample_weight: Any = None, **settings: Any) -> MarkovNetworkLearner:
    return MarkovNetworkLearner(**settings).fit(table, sample_weight=sample_weight)


# All of them apply: none is expected to fail. scikit-learn itself skips its array API check unless
# SCIPY_ARRAY_API is set.
@parametrize_with_checks(
    [
        MarkovNetworkLearner(),
        MarkovNetworkLearner("tree", solver="lbfgs", penalty=L2(3.0, free_orders=(1,))),
        MarkovNetworkLearner("independent", n_jobs=1),
        MarkovNetworkLearner(penalty=L1(3.0)),
    ]
)
def test_scikit_learn_checks(estimator: MarkovNetworkLearner, check: Any) -> None:
    check(estimator)


TABLES = {
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "pandas categories": lambda X: pd.DataFrame(X, columns=NAMES).astype(pd.CategoricalDtype([0, 1])),
    "pandas without names": pd.DataFrame,
    "pandas text": lambda X: pd.DataFrame(X, columns=NAMES).astype(str),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "arrow": lambda X: pa.table({name: X[:, k] for k, name in enumerate(NAMES)}),
    "dict of arrays": lambda X: {name: X[:, k] for k, name in enumerate(NAMES)},
    "dict of lists": lambda X: {name: X[:, k].tolist() for k, name in enumerate(NAMES)},
    "lists": lambda X: X.tolist(),
    "floats": lambda X: X.astype(float),
    "booleans": lambda X: X.astype(bool),
    "spins": lambda X: 2 * X - 1,
    "text": lambda X: X.astype(str),
    "objects": lambda X: X.astype(object),
    "bytes in Fortran order": lambda X: np.asfortranarray(X, dtype=np.uint8),
    "csr": sparse.csr_array,
    "csc": sparse.csc_array,
    "coo": sparse.coo_array,
    "old sparse matrix": sparse.csr_matrix,
}


@pytest.mark.parametrize("kind", TABLES)
def test_every_kind_of_table_gives_the_same_model(X: NDArray[np.int64], kind: str) -> None:
    table, expected = TABLES[kind](X), fitted(X)
    learner = fitted(table)
    np.testing.assert_array_equal(learner.model_.w, expected.model_.w)
    np.testing.assert_array_equal(learner.score_samples(table), expected.score_samples(X))
    assert learner.score(table) == expected.score(X)
    assert learner.n_features_in_ == 4


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "dict of lists"])
def test_names_of_columns_are_kept(X: NDArray[np.int64], kind: str) -> None:
    learner = fitted(TABLES[kind](X))
    assert list(learner.feature_names_in_) == NAMES
    assert list(learner.model_.domain.names) == NAMES


def test_the_model_is_the_one_of_the_settings(X: NDArray[np.int64]) -> None:
    learner = fitted(X, structure="tree", penalty=L2(2.0), solver=SolverOptions(tolerance=1e-9))
    assert isinstance(learner.model_, MarkovNetwork)
    assert len(learner.model_.structure.edges) == 3
    assert learner.solution_.violation <= 1e-9
    assert learner.model_.provenance["penalty"]["strength"] == 2.0
    assert learner.score(X) == pytest.approx(learner.model_.pll(X), abs=1e-12)
    assert learner.score_samples(X).shape == (160,)
    assert learner.score(X) == pytest.approx(learner.score_samples(X).mean(), abs=1e-12)


def test_structures_as_objects(X: NDArray[np.int64], frame: pd.DataFrame) -> None:
    path = fitted(X, structure=Structure.from_edges(4, [(0, 1), (1, 2)]))
    graph = fitted(frame, structure=networkx.Graph([("v1", "v0"), ("v2", "v1")]))
    np.testing.assert_array_equal(path.model_.w, graph.model_.w)
    with pytest.raises(StructureError, match="3 variables; the data have 4"):
        fitted(X, structure=Structure.complete(3))
    with pytest.raises(StructureError, match="'v9'"):
        fitted(frame, structure=networkx.Graph([("v0", "v9")]))


def test_a_row_of_weight_two_is_the_row_twice(X: NDArray[np.int64], rng: np.random.Generator) -> None:
    count = rng.integers(0, 4, len(X))
    weighted, repeated = fitted(X, sample_weight=count), fitted(np.repeat(X, count, axis=0))
    np.testing.assert_array_equal(weighted.model_.w, repeated.model_.w)
    doubled, twice = fitted(X, sample_weight=np.full(len(X), 2.0)), fitted(np.vstack([X, X]))
    np.testing.assert_array_equal(doubled.model_.w, twice.model_.w)
    assert weighted.score(X, sample_weight=count) == pytest.approx(weighted.score(np.repeat(X, count, axis=0)))


@pytest.mark.parametrize(
    "weight",
    [np.full(160, -1.0), np.full(160, np.nan), np.zeros(160), np.ones(3), np.ones((160, 2))],
    ids=["negative", "nan", "all zero", "too few", "two columns"],
)
@pytest.mark.parametrize("method", ["fit", "score"])
def test_wrong_weights(X: NDArray[np.int64], method: str, weight: NDArray[np.float64]) -> None:
    learner = fitted(X)
    with pytest.raises(ValueError, match="weight"):
        getattr(learner, method)(X, sample_weight=weight)


def test_threads_and_row_order_change_nothing(X: NDArray[np.int64]) -> None:
    models = [fitted(X, n_jobs=jobs).model_.w for jobs in (1, 2, -1, None)] + [fitted(X[::-1]).model_.w]
    for w in models[1:]:
        np.testing.assert_array_equal(w, models[0])


def test_parameters_of_the_constructor(X: NDArray[np.int64]) -> None:
    learner = MarkovNetworkLearner("tree", penalty=L2(3.0))
    assert learner.get_params() == {
        "structure": "tree",
        "penalty": L2(3.0),
        "penalty__strength": 3.0,
        "penalty__free_orders": None,
        "penalty__toward": "zero",
        "objective": "pseudo-likelihood",
        "parameterization": "canonical",
        "parameterization__word": "canonical",
        "parameterization__reference": "first",
        "parameterization__ordered": None,
        "parameterization__scores": None,
        "covariates": None,
        "solver": None,
        "solver__method": None,
        "solver__tolerance": 1e-6,
        "solver__max_iterations": 1000,
        "folds": 0,
        "errors": None,
        "missing": "error",
        "states": None,
        "metric": "objective",
        "target": None,
        "random_state": 0,
        "n_jobs": None,
    }
    assert clone(learner).get_params() == learner.get_params()
    assert learner.set_params(penalty__strength=5.0, structure="complete") is learner
    np.testing.assert_array_equal(learner.fit(X).model_.w, fitted(X, penalty=L2(5.0)).model_.w)
    assert not hasattr(clone(learner), "model_")
    assert repr(MarkovNetworkLearner("tree")) == "MarkovNetworkLearner(structure='tree')"
    with pytest.raises(TypeError):
        MarkovNetworkLearner("tree", "l2")  # type: ignore[misc]


def test_settings_of_nested_parts(X: NDArray[np.int64]) -> None:
    """Nested settings can be searched; a word becomes an object with settings; a shared part stays as it is."""
    shared = L2(3.0)
    learner = MarkovNetworkLearner("learned", penalty=shared)
    learner.set_params(structure__max_degree=1, penalty__strength=7.0)
    assert learner.structure == Learned(max_degree=1)
    assert (shared.strength, learner.penalty.strength) == (3.0, 7.0)
    assert learner.set_params(penalty="l1", penalty__strength=2.0).penalty == L1(2.0)
    assert learner.fit(X).model_.structure.degrees.max() >= 1
    for name, message in (("penalty__groups", "groups"), ("structure__order", "order"), ("solver__a", "solver__a")):
        with pytest.raises(InputError, match=message):
            learner.set_params(**{name: 1})
    learner.set_params(
        solver__tolerance=1e-9, parameterization__word="spectral", covariates=["v0"], covariates__on_edges=True
    )
    assert learner.solver == SolverOptions(tolerance=1e-9)
    assert learner.parameterization == ParameterizationOptions("spectral")
    assert learner.covariates == Covariates(["v0"], on_edges=True)
    search = GridSearchCV(MarkovNetworkLearner("learned"), {"structure__max_degree": [1, 2]}, cv=3).fit(X)
    assert search.best_params_["structure__max_degree"] in (1, 2)


def test_earlier_names_of_parameters(X: NDArray[np.int64]) -> None:
    """Earlier names set the new parameter, with a warning, and are no parameters themselves."""
    with pytest.warns(FutureWarning, match="'given' of MarkovNetworkLearner is now 'covariates'"):
        learner = MarkovNetworkLearner(given=["v0"])
    assert learner.get_params(deep=False) == MarkovNetworkLearner(covariates=["v0"]).get_params(deep=False)
    assert not [name for name in learner.get_params() if name.startswith("given")]
    assert clone(learner).covariates == ["v0"]
    with pytest.warns(FutureWarning, match="'given__on_edges' of MarkovNetworkLearner is now 'covariates__on_edges'"):
        learner.set_params(given__on_edges=True)
    assert learner.covariates == Covariates(["v0"], on_edges=True)
    with pytest.warns(FutureWarning, match="'given'"):
        assert learner.set_params(given="v1").covariates == "v1"
    with pytest.warns(FutureWarning, match=r"MarkovNetworkLearner\.given is now"):
        assert learner.given == "v1"
    assert learner.fit(X).model_.covariates == ("v1",)
    drawn = learner.sample(5, evidence={"v1": 1})
    np.testing.assert_array_equal(learner.sample(5, given={"v1": 1}), drawn)


@pytest.mark.parametrize("strength", [0.0, -1.0, float("nan"), float("inf"), "3", ()])
def test_wrong_strengths(strength: Any) -> None:
    with pytest.raises(InputError, match="strength"):
        L2(strength)


def test_validation_rows_choose(X: NDArray[np.int64]) -> None:
    """Validation rows choose in Python as on the command line, for strengths and for structures."""
    train, valid = X[::2], X[1::2]
    learner = MarkovNetworkLearner(penalty=L2((0.1, 10.0, 1000.0))).fit(train, valid=valid)
    scores = {fit.strength: fit.held_out for fit in learner.fitted_.fits}
    assert learner.fitted_.best.held_out == max(scores.values())
    chosen = MarkovNetworkLearner(Learned(select="valid")).fit(train, valid=valid)
    assert len(chosen.fitted_.structure.report) == len(chosen.fitted_.structure.structure.edges) > 0
    with pytest.raises(InputError, match="needs them; give validation rows"):
        MarkovNetworkLearner(Learned(select="valid")).fit(train)


def test_seeds_repeat(X: NDArray[np.int64]) -> None:
    """An integer, a generator in the same state, and folds dealt by them."""
    scores = [
        MarkovNetworkLearner(penalty=L2((1.0, 10.0)), folds=3, random_state=state).fit(X).fitted_.best.fold_scores
        for state in (5, 5, 6, np.random.RandomState(1), np.random.RandomState(1))
    ]
    assert scores[0] == scores[1] != scores[2]
    assert scores[3] == scores[4]


def test_l1_makes_zeros_and_leaves_single_variables_alone(X: NDArray[np.int64]) -> None:
    """A penalty that no interaction survives leaves the frequencies of the columns."""
    dense, sparse, empty = (fitted(X, penalty=L1(strength)).model_.w for strength in (1e-3, 5.0, 1e6))
    n = X.shape[1]
    assert np.count_nonzero(empty[n:]) == 0 < np.count_nonzero(sparse[n:]) < np.count_nonzero(dense[n:])
    share = X.mean(axis=0)
    np.testing.assert_allclose(empty[:n], np.log(share / (1 - share)), atol=1e-4)
    shrunk = fitted(X, penalty=L1(1e6, free_orders=())).model_.w
    assert not shrunk.any()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"structure": "bush"}, "'bush'"),
        ({"structure": 3}, "int"),
        ({"penalty": "l7"}, "'l7'"),
        ({"solver": "sgd"}, "'sgd'"),
        (
            {"penalty": "l1", "solver": "newton"},
            "`TruncatedNewton` needs a differentiable penalty; `L1` is not",
        ),
        ({"solver": SolverOptions(tolerance=0.0)}, "tolerance"),
        ({"solver": SolverOptions(max_iterations=-1)}, "limit of iterations"),
        ({"missing": "guess"}, "'guess'"),
        ({"n_jobs": 0}, "jobs"),
    ],
)
def test_wrong_settings_are_found_at_fit(X: NDArray[np.int64], settings: dict[str, Any], message: str) -> None:
    learner = MarkovNetworkLearner(**settings)
    with pytest.raises(InputError, match=message):
        learner.fit(X)
    assert not hasattr(learner, "model_")


def test_nothing_before_fit(X: NDArray[np.int64]) -> None:
    for ask in (MarkovNetworkLearner().score, MarkovNetworkLearner().score_samples):
        with pytest.raises(NotFittedError):
            ask(X)


def test_copies_score_alike(frame: pd.DataFrame) -> None:
    learner = fitted(frame)
    for other in (pickle.loads(pickle.dumps(learner)), copy.deepcopy(learner)):
        np.testing.assert_array_equal(other.score_samples(frame), learner.score_samples(frame))
        assert list(other.feature_names_in_) == NAMES
        assert other.model_.strongest(3, order=2) == learner.model_.strongest(3, order=2)


def test_grid_search_keeps_the_best_on_held_out_rows(X: NDArray[np.int64]) -> None:
    strengths = [0.01, 1.0, 30.0, 1000.0]
    folds = KFold(4)
    search = GridSearchCV(MarkovNetworkLearner(), {"penalty__strength": strengths}, cv=folds).fit(X)
    by_hand = [
        np.mean([fitted(X[train], penalty=L2(strength)).score(X[test]) for train, test in folds.split(X)])
        for strength in strengths
    ]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], by_hand, rtol=1e-12)
    assert search.best_params_ == {"penalty__strength": strengths[int(np.argmax(by_hand))]}
    assert 0 < np.argmax(by_hand) < 3  # a choice, not an end of the list
    np.testing.assert_array_equal(
        search.best_estimator_.model_.w, fitted(X, penalty=L2(search.best_params_["penalty__strength"])).model_.w
    )
    assert search.score(X) == search.best_estimator_.score(X)


def test_grid_search_over_structures_of_a_frame_with_weights(frame: pd.DataFrame) -> None:
    weight = np.arange(len(frame)) % 2 + 1.0
    grid = {"structure": ["independent", "tree", "complete"]}
    search = GridSearchCV(MarkovNetworkLearner(), grid, cv=3).fit(frame, sample_weight=weight)
    assert search.best_params_["structure"] != "independent"
    expected = fitted(frame, sample_weight=weight, **search.best_params_)
    np.testing.assert_array_equal(search.best_estimator_.model_.w, expected.model_.w)


def test_declared_categories_survive_cross_validation() -> None:
    """A state that only the held-out fold holds is known, because the frame declares it."""
    colour = ["red", "blue"] * 10 + ["green"] * 2
    frame = pd.DataFrame({"colour": colour, "size": [0, 1, 1] * 7 + [0]})
    declared = frame.astype({"colour": pd.CategoricalDtype(["red", "green", "blue"])})
    scores = cross_val_score(MarkovNetworkLearner(), declared, cv=KFold(11))
    assert np.isfinite(scores).all()
    assert fitted(declared).model_.domain.to_states()["colour"] == ["red", "green", "blue"]


def test_pipeline_with_a_binarizer(rng: np.random.Generator) -> None:
    values = rng.normal(size=(120, 3))
    values[:, 1] += values[:, 0]
    pipeline = make_pipeline(Binarizer(), MarkovNetworkLearner()).fit(values)
    expected = fitted((values > 0).astype(int))
    np.testing.assert_array_equal(pipeline[-1].model_.w, expected.model_.w)
    assert pipeline.score(values) == expected.score((values > 0).astype(int))
    assert pipeline.score_samples(values).shape == (120,)


@pytest.mark.parametrize("encode", ["ordinal", "onehot", "onehot-dense"])
def test_pipeline_with_bins(rng: np.random.Generator, encode: str) -> None:
    values = rng.uniform(size=(200, 3))
    bins = KBinsDiscretizer(n_bins=3, encode=encode, strategy="uniform")
    pipeline = Pipeline([("bins", bins), ("network", MarkovNetworkLearner("tree"))])
    search = GridSearchCV(pipeline, {"bins__n_bins": [2, 3], "network__penalty__strength": [1.0, 10.0]}, cv=3).fit(
        values
    )
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    model = pipeline.fit(values).named_steps["network"].model_
    assert model.domain.shape == ((3, 3, 3) if encode == "ordinal" else (2,) * 9)


def test_pipeline_that_hands_over_frames(rng: np.random.Generator) -> None:
    frame = pd.DataFrame(rng.uniform(size=(60, 2)), columns=["height", "weight"])
    bins = KBinsDiscretizer(n_bins=2, encode="ordinal", strategy="uniform").set_output(transform="pandas")
    learner = make_pipeline(bins, MarkovNetworkLearner()).fit(frame)[-1]
    assert list(learner.feature_names_in_) == ["height", "weight"]
    assert list(learner.model_.domain.names) == ["height", "weight"]


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_columns_in_another_order(X: NDArray[np.int64], kind: str) -> None:
    """scikit-learn asks for the columns of `fit` in their order; the model itself goes by name.

    The learner keeps to scikit-learn's rule (`feature_names_in_`), so a permuted frame is an error and never a silent
    mistake; `model_` matches columns by name and ignores those it does not know.
    """
    table = TABLES[kind](X)
    learner = fitted(table)
    permuted = table[NAMES[::-1]]
    with pytest.raises(ValueError, match="same order"):
        learner.score(permuted)
    assert learner.model_.pll(permuted) == learner.model_.pll(table)
    np.testing.assert_array_equal(learner.model_.pll_rows(permuted), learner.score_samples(table))


def test_columns_that_do_not_fit(X: NDArray[np.int64], frame: pd.DataFrame) -> None:
    learner = fitted(frame)
    with pytest.raises(ValueError, match="unseen at fit time"):
        learner.score(frame.assign(extra=1))
    assert learner.model_.pll(frame.assign(extra=1)) == learner.model_.pll(frame)
    with pytest.raises(ValueError, match="now missing"):
        learner.score(frame.drop(columns="v3"))
    with pytest.raises(DataError, match="'v3'"):
        learner.model_.pll(frame.drop(columns="v3"))
    with pytest.raises(ValueError, match="features"):
        fitted(X).score(X[:, :3])
    with pytest.warns(UserWarning, match="valid feature names"):
        assert learner.score(X) == learner.score(frame)


def test_names_on_one_side_only(X: NDArray[np.int64], frame: pd.DataFrame) -> None:
    """Matched by position, with scikit-learn's own warning."""
    frame = frame.set_axis(["rain", "wind", "fog", "snow"], axis=1)
    named, unnamed = MarkovNetworkLearner().fit(frame), MarkovNetworkLearner().fit(X)
    expected = named.score_samples(frame).tolist()
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        assert named.score_samples(X).tolist() == expected
    for table in (frame, pl.from_pandas(frame), {name: frame[name].tolist() for name in frame}):
        with pytest.warns(UserWarning, match="X has feature names, but .* was fitted without"):
            assert unnamed.score_samples(table).tolist() == expected
    assert named.model_.pll(X) == named.model_.pll(frame)


def test_bits_and_truth_values_score_alike(frame: pd.DataFrame) -> None:
    """Whichever of them was learned from."""
    bits, truths = MarkovNetworkLearner().fit(frame), MarkovNetworkLearner().fit(frame.astype(bool))
    expected = bits.score_samples(frame).tolist()
    assert bits.score_samples(frame.astype(bool)).tolist() == expected
    assert truths.score_samples(frame).tolist() == expected


def test_columns_that_tell_rows_apart(frame: pd.DataFrame) -> None:
    """Refused, unless their states are declared."""
    numbered = frame.assign(id=np.arange(len(frame)) % 200)[:200]
    with pytest.raises(DataError, match="Column 'id' has a different value in nearly every row"):
        MarkovNetworkLearner().fit(numbered)
    MarkovNetworkLearner(structure="independent").fit(numbered.astype({"id": "category"}))


def test_states_that_were_not_learned(frame: pd.DataFrame) -> None:
    with pytest.raises(DataError, match="Column 'v0' holds '7'"):
        fitted(frame).score(frame.replace({"v0": {1: 7}}))


def test_missing_values(X: NDArray[np.int64], frame: pd.DataFrame) -> None:
    holes = X.astype(float)
    holes[::10, 1] = np.nan
    with pytest.raises(DataError, match=r"Column 'v1' has no value .* row 1"):
        fitted(holes)
    whole = np.delete(X, np.s_[::10], axis=0)
    dropped = fitted(holes, missing="drop")
    np.testing.assert_array_equal(dropped.model_.w, fitted(whole).model_.w)
    assert dropped.score(holes) == dropped.score(whole)
    with pytest.raises(DataError, match="no value"):
        dropped.score_samples(holes)
    for table in (holes, pd.DataFrame(holes, columns=NAMES)):
        with_state = fitted(table, missing="state")
        assert with_state.model_.domain.shape == (2, 3, 2, 2)
        assert with_state.score_samples(table).shape == (160,)


def test_a_fit_that_stops_early_is_told(X: NDArray[np.int64]) -> None:
    with pytest.warns(ConvergenceWarning, match="iteration limit"):
        learner = fitted(X, penalty=L2(1e-6), solver=SolverOptions(max_iterations=1, tolerance=1e-12))
    assert not learner.solution_.converged
    assert learner.solution_.iterations == 1


def test_declared_states_survive_a_fold_that_lacks_them() -> None:
    """A state first met in a held-out fold is an error, unless it was declared."""
    frame = {"a": ["x", "y"] * 6, "b": ["p"] * 11 + ["rare"]}
    learner = MarkovNetworkLearner(states={"b": ["p", "rare"]})
    learner.fit({name: values[:8] for name, values in frame.items()})
    assert np.isfinite(learner.score(frame))
    with pytest.raises(ValueError, match="'rare'"):
        MarkovNetworkLearner().fit({name: values[:8] for name, values in frame.items()}).score(frame)


def test_fitting_again_forgets(X: NDArray[np.int64], frame: pd.DataFrame) -> None:
    learner = fitted(frame)
    learner.fit(X[:, :2])
    assert learner.n_features_in_ == 2
    assert not hasattr(learner, "feature_names_in_")
    np.testing.assert_array_equal(learner.model_.w, fitted(X[:, :2]).model_.w)


@pytest.mark.parametrize("penalty", ["tied", "hard", "ltr"])
def test_tied_parameters_are_those_of_the_library(penalty: str, X: NDArray[np.int64]) -> None:
    choice = penalty_from(penalty, groups=3, strength=2.0)
    learner = fitted(X, penalty=choice)
    rows = UniqueRows.from_dataset(Dataset.from_table(X))
    expected = Learner(penalty=choice).fit(rows).model
    np.testing.assert_array_equal(learner.model_.w, expected.w)
    assert learner.model_.groups is not None
    assert learner.model_.groups.n_groups == 3


def test_the_exact_likelihood_is_learned_on_request(X: NDArray[np.int64]) -> None:
    exact, pseudo = (fitted(X, penalty=L2(1e-6), **how) for how in ({"objective": "likelihood"}, {}))
    assert exact.model_.ll(X) > pseudo.model_.ll(X)
    assert exact.model_.pll(X) < pseudo.model_.pll(X)


def test_an_objective_scores_by_its_own_measure(X: NDArray[np.int64]) -> None:
    """However it is given: a word, an object, or one of a class that this library does not know."""

    @dataclass(frozen=True)
    class Own(LikelihoodSpec):
        pass

    for objective in ("likelihood", LikelihoodSpec(), LikelihoodSpec("tree"), Own("enumeration")):
        learner = fitted(X, structure="tree", objective=objective)
        np.testing.assert_array_equal(learner.score_samples(X), learner.model_.ll_rows(X))
        assert learner.score(X) == pytest.approx(learner.fitted_.best.train, abs=1e-12)
        assert learner.score(X) < learner.model_.pll(X) - 0.1
    for word in ("pseudo-likelihood", "rise", "log-rise"):
        for objective in (word, OBJECTIVES[word]()):
            learner = fitted(X, objective=objective)
            np.testing.assert_array_equal(learner.score_samples(X), learner.model_.pll_rows(X))


def test_a_score_by_an_estimated_log_z_has_its_error(X: NDArray[np.int64]) -> None:
    learner = fitted(X, objective=LikelihoodSpec("chains"))
    score = learner.score(X)
    assert score == learner.model_.ll(X)
    assert score.error == learner.model_.known_log_z_error > 0.0  # type: ignore[attr-defined]
    assert repr(score) == repr(learner.model_.ll(X))
    assert type(learner.set_params(metric="pll").score(X)) is float


def test_a_search_chooses_by_the_measure_of_the_objective(X: NDArray[np.int64]) -> None:
    """The strength with the best held-out log-likelihood, for a word and for an object, which names an engine."""
    strengths = {"penalty__strength": [0.1, 3.0, 30.0, 300.0]}
    by_word, by_object, by_hand = (
        GridSearchCV(MarkovNetworkLearner(objective=objective, penalty=L2(free_orders=())), strengths, cv=4, **how).fit(
            X
        )
        for objective, how in (
            ("likelihood", {}),
            (LikelihoodSpec("tree"), {}),
            ("likelihood", {"scoring": lambda learner, rows: learner.model_.ll(rows)}),
        )
    )
    for search in (by_word, by_object):
        np.testing.assert_allclose(
            search.cv_results_["mean_test_score"], by_hand.cv_results_["mean_test_score"], atol=1e-6
        )
        assert search.best_params_ == by_hand.best_params_
    engines = ["tree", "enumeration"]
    search = GridSearchCV(MarkovNetworkLearner("tree", objective="likelihood"), {"objective__engine": engines}, cv=2)
    scores = search.fit(X).cv_results_["mean_test_score"]
    assert scores[0] == pytest.approx(scores[1], abs=1e-6)
    assert search.best_estimator_.objective.engine in engines
    assert search.best_estimator_.fitted_.engine == search.best_params_["objective__engine"]


def test_settings_of_the_objective() -> None:
    learner = MarkovNetworkLearner(objective="likelihood")
    assert learner.get_params()["objective__engine"] == "auto"
    assert learner.set_params(objective__engine="tree").objective == LikelihoodSpec("tree")
    assert clone(learner).get_params() == learner.get_params()
    with pytest.raises(InputError, match="'objective' has no settings of its own"):
        MarkovNetworkLearner().set_params(objective__engine="tree")
    with pytest.raises(InputError, match="no engine 'forest'"):
        learner.set_params(objective__engine="forest")
    assert not [name for name in MarkovNetworkLearner(objective="wrong").get_params() if name.startswith("objective__")]


def test_predictions_of_the_target(X: NDArray[np.int64], frame: pd.DataFrame) -> None:
    """Or of any column; what it holds itself is not looked at, and other cells may be missing."""
    learner = fitted(frame, target="v1")
    p = learner.predict_proba(frame)
    assert p.shape == (160, 2)
    np.testing.assert_array_equal(p, learner.model_.predict_proba("v1", frame))
    np.testing.assert_array_equal(p, learner.predict_proba(frame.assign(v1=0), variable="v1"))
    np.testing.assert_array_equal(learner.predict_proba(frame, 3), learner.model_.predict_proba("v3", frame))
    holes = frame.astype(float)
    holes.iloc[:, 2] = np.nan
    np.testing.assert_allclose(learner.predict_proba(holes).sum(axis=1), 1.0)
    np.testing.assert_array_equal(fitted(X, target=1).predict_proba(X), p)


def test_predictions_need_a_target(X: NDArray[np.int64]) -> None:
    with pytest.raises(AttributeError, match="no attribute 'predict_proba'"):
        fitted(X).predict_proba(X)
    learner = fitted(X, target=7)
    with pytest.raises(InputError, match="no column 7; there are 4"):
        learner.predict_proba(X)
    with pytest.raises(InputError, match="no variable 'v9'"):
        learner.predict_proba(X, "v9")


def test_samples_can_be_scored(X: NDArray[np.int64], frame: pd.DataFrame) -> None:
    """Numbers where states are numbers, else text; the same for the same seed."""
    learner = fitted(X, metric="ll")
    rows = learner.sample(4000)
    assert rows.shape == (4000, 4)
    assert rows.dtype == np.int64
    assert learner.score(rows) == pytest.approx(learner.score(learner.sample(4000, 7)), abs=0.1)
    np.testing.assert_array_equal(rows, learner.sample(4000, 0))
    assert not np.array_equal(rows, learner.sample(4000, np.random.RandomState(1)))
    assert (learner.sample(50, evidence={"v2": 1})[:, 2] == 1).all()
    words = fitted(frame.replace({0: "no", 1: "yes"})).sample(5)
    assert set(words.ravel().tolist()) <= {"no", "yes"}


def test_scores_by_the_metric_that_is_asked_for(X: NDArray[np.int64]) -> None:
    model = fitted(X).model_
    np.testing.assert_array_equal(fitted(X).score_samples(X), model.pll_rows(X))
    np.testing.assert_array_equal(fitted(X, metric="ll").score_samples(X), model.ll_rows(X))
    np.testing.assert_array_equal(fitted(X, metric="pll").score_samples(X), model.pll_rows(X))
    with pytest.raises(InputError, match="no metric 'bic'; choose one of 'objective', 'll', 'pll'"):
        fitted(X, metric="bic").score_samples(X)


def test_a_likelihood_that_does_not_fit_is_refused(rng: np.random.Generator) -> None:
    """Never replaced by another measure."""
    table = rng.integers(0, 2, (60, 50))
    with pytest.raises(InputError, match=r"needs cliques of 1\.1e\+15 cells"):
        fitted(table, metric="ll", solver=SolverOptions(max_iterations=3000, tolerance=1e-3)).score(table)


def test_ordered_columns_and_covariates() -> None:
    """One parameter for a pair of ordered columns, none for a covariate alone; words need an order."""
    rng = np.random.default_rng(2)
    mood = rng.integers(0, 3, 200)
    frame = pd.DataFrame(
        {
            "mood": np.array(["low", "fair", "high"])[mood],
            "sleep": (mood + rng.integers(0, 2, 200)),
            "sex": rng.integers(0, 2, 200),
        }
    )
    order = {"mood": ["low", "fair", "high"]}
    model = MarkovNetworkLearner(parameterization="ordered", covariates="sex", states=order).fit(frame).model_
    assert list(model.parameters.names())[-3:] == ["mood × sleep", "mood × sex=1", "sleep × sex=1"]
    assert model.covariates == ("sex",)
    assert model.graph.edges["mood", "sleep"]["weight"] > 0
    lone = MarkovNetworkLearner(parameterization=ParameterizationOptions(ordered="sleep")).fit(frame).model_
    assert lone.parameters.options == {"ordered": ["sleep"]}
    scored = (
        MarkovNetworkLearner(parameterization=ParameterizationOptions(scores={"sleep": (0, 1, 3, 7)})).fit(frame).model_
    )
    assert scored.parameters.options == {"ordered": ["sleep"], "scores": {"sleep": [0, 1, 3, 7]}}
    with pytest.raises(InputError, match=r"'mood' is to be ordered.*states=\{\.\.\.\}"):
        MarkovNetworkLearner(parameterization=ParameterizationOptions(ordered=["mood"])).fit(frame)
    coded = frame.assign(sleep=frame["sleep"].where(frame.index > 3, -99))
    with pytest.raises(InputError, match=r"'-99' lies outside its scale \(\d to \d\).*\(-99\) by NaN"):
        MarkovNetworkLearner(parameterization=ParameterizationOptions(ordered=["sleep"])).fit(coded)
    frame["mood"] = pd.Categorical(frame["mood"], order["mood"], ordered=True)
    ordered = MarkovNetworkLearner(parameterization=ParameterizationOptions(ordered=["mood"])).fit(frame).model_
    assert ordered.domain.to_states()["mood"] == order["mood"]


def test_a_lazy_frame_is_collected(frame: pd.DataFrame) -> None:
    eager = pl.from_pandas(frame)
    lazy = MarkovNetworkLearner().fit(eager.lazy())
    assert lazy.feature_names_in_.tolist() == list(frame.columns)
    assert lazy.score(eager.lazy()) == MarkovNetworkLearner().fit(eager).score(eager)


def test_names_that_repeat_are_refused(frame: pd.DataFrame) -> None:
    with pytest.raises(DataError, match=r"repeats the column names"):
        MarkovNetworkLearner().fit(pd.concat([frame, frame], axis=1))


@pytest.fixture
def holed(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with a tenth of its cells missing."""
    return frame.mask(np.random.default_rng(3).random(frame.shape) < 0.1)


def test_missing_cells_are_summed_out_by_em(holed: pd.DataFrame) -> None:
    """Missing values are summed out as by `fit_incomplete`, in a frame or an array with NaN."""
    estimator = MarkovNetworkLearner(missing="em").fit(holed)
    expected = fit_incomplete(Learner(), Dataset.from_table(holed, missing="keep"))
    np.testing.assert_array_equal(estimator.model_.w, expected.fitted.model.w)
    of_array = fit_incomplete(Learner(), holed.to_numpy(dtype=float))
    np.testing.assert_array_equal(of_array.fitted.model.w, expected.fitted.model.w)
    with pytest.raises(InputError, match=r"`valid` has nothing to select"):
        MarkovNetworkLearner(missing="em").fit(holed, valid=holed)


@pytest.mark.parametrize("missing", ["drop", "em"])
def test_incomplete_rows_are_scored_as_they_were_learned_from(missing: str, holed: pd.DataFrame) -> None:
    """Left out, or by what they have; so that a search over settings can score its folds."""
    estimator = MarkovNetworkLearner(missing=missing).fit(holed)
    model, weight = estimator.model_, np.arange(len(holed), dtype=float)
    if missing == "drop":
        complete = holed.notna().all(axis=1)
        each, weight_of_each = model.pll_rows(holed[complete]), weight[complete]
    else:
        kept = Dataset.from_table(holed, domain=model.domain, missing="keep")
        each, weight_of_each = model.pll_rows(kept), weight
        np.testing.assert_array_equal(estimator.score_samples(holed), each)
    assert estimator.score(holed) == pytest.approx(each.mean(), rel=1e-12)
    assert estimator.score(holed, sample_weight=weight) == pytest.approx(np.average(each, weights=weight_of_each))
    if missing == "drop":
        assert MarkovNetworkLearner(missing=missing).fit(holed, valid=holed).score(holed) == estimator.score(holed)
        with pytest.raises(InputError, match="Every row has a missing value"):
            estimator.score(holed[~complete])


def test_a_missing_cell_is_refused_with_all_ways_out(holed: pd.DataFrame) -> None:
    with pytest.raises(DataError, match=r"missing='drop'.*missing='state'.*missing='em'"):
        MarkovNetworkLearner().fit(holed)
    with pytest.raises(InputError, match=r"missing is 'keep'; expected one of 'error', 'drop', 'state', 'em'"):
        MarkovNetworkLearner(missing="keep").fit(holed)


def test_codes_of_missing_answers_are_replaced_where_nothing_is_read(rng: np.random.Generator) -> None:
    """The estimator has no `na_values`, so its message does not name that."""
    X = rng.integers(1, 6, (60, 2))
    X[:3, 0] = -99
    learner = MarkovNetworkLearner(parameterization=ParameterizationOptions("ordered"), missing="drop")
    with pytest.raises(InputError, match=r"outside its scale \(1 to 5\)\. Replace codes .*\(-99\) by NaN; if all"):
        learner.fit(X)
    assert len(learner.fit(np.where(X == -99, np.nan, X)).model_.domain[0].states) == 5
