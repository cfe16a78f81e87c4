"""Seeds, and other plain arguments, that are none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mrfit import (
    L1,
    Learner,
    MarkovNetwork,
    MarkovNetworkLearner,
    SoftTied,
    bootstrap_edges,
    bootstrap_goodness,
    learn,
    sample_size,
)
from mrfit.core.errors import InputError
from mrfit.core.seeds import generator
from mrfit.data.unique_rows import UniqueRows


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return pd.DataFrame(np.random.default_rng(0).integers(0, 2, (60, 3)), columns=list("abc"))


@pytest.fixture(scope="module")
def model(frame: pd.DataFrame) -> MarkovNetwork:
    return learn(frame).model


ASKED: dict[str, Callable[[MarkovNetwork, pd.DataFrame, Any], object]] = {
    "sample": lambda model, frame, seed: model.sample(3, seed=seed),
    "marginals": lambda model, frame, seed: model.marginals(seed=seed),
    "gibbs": lambda model, frame, seed: model.marginals(engine="gibbs", seed=seed),
    "annealing": lambda model, frame, seed: model.log_z(engine="ais", seed=seed),
    "map": lambda model, frame, seed: model.map(seed=seed),
    "impute": lambda model, frame, seed: model.impute(frame, how="draw", seed=seed),
    "check": lambda model, frame, seed: model.check(frame, seed=seed),
    "learn": lambda model, frame, seed: learn(frame, seed=seed),
    "estimator": lambda model, frame, seed: MarkovNetworkLearner(random_state=seed).fit(frame),
    "stability": lambda model, frame, seed: bootstrap_edges(Learner(), UniqueRows.of(frame), resamples=3, seed=seed),
    "goodness": lambda model, frame, seed: bootstrap_goodness(model, frame, tables=3, seed=seed),
    "power": lambda model, frame, seed: sample_size(model, Learner(penalty=L1()), rows=(20,), repetitions=2, seed=seed),
}


@pytest.mark.parametrize("seed", ["x", -1, 1.5, [1]], ids=str)
@pytest.mark.parametrize("asked", ASKED)
def test_what_is_no_seed_is_refused_in_one_sentence(
    asked: str, seed: object, model: MarkovNetwork, frame: pd.DataFrame
) -> None:
    with pytest.raises(InputError, match=r"(seed|random_state).* (is|be|got) "):
        ASKED[asked](model, frame, seed)


@pytest.mark.parametrize("seed", [np.int64(3), (1, 2)], ids=str)
@pytest.mark.parametrize("asked", ["sample", "marginals", "gibbs", "map", "impute"])
def test_every_question_takes_seeds_of_numpy_and_several_numbers(
    asked: str, seed: object, model: MarkovNetwork, frame: pd.DataFrame
) -> None:
    assert repr(ASKED[asked](model, frame, seed)) == repr(ASKED[asked](model, frame, seed))


def test_seeds_of_numpy_and_several_numbers_are_seeds() -> None:
    assert generator(np.int64(3)).integers(2**32) == generator(3).integers(2**32)
    assert generator((3, 4)).integers(2**32) != generator(3).integers(2**32)


@pytest.mark.parametrize("n_rows", [1.5, "x", 0, -3, True], ids=str)
def test_a_number_of_rows_is_whole(n_rows: Any, model: MarkovNetwork, frame: pd.DataFrame) -> None:
    with pytest.raises(InputError, match=r"The number of rows to draw is .*; expected a whole number"):
        model.sample(n_rows)
    with pytest.raises(InputError, match=r"The number of rows to draw is .*; expected a whole number"):
        MarkovNetworkLearner().fit(frame).sample(n_rows)


@pytest.mark.parametrize("given", [["a"], "a=1", [("a", 1)], 3], ids=str)
def test_evidence_is_a_mapping(given: Any, model: MarkovNetwork) -> None:
    with pytest.raises(InputError, match=r"expected a mapping from variables to their states, such as \{'a': '0'\}"):
        model.marginals(evidence=given)


def test_covariates_are_named_alone_or_in_a_list(frame: pd.DataFrame) -> None:
    for names in ("a", ["a"]):
        assert Learner(covariates=names) == Learner(covariates=("a",))  # type: ignore[arg-type]


def test_plain_arguments_of_another_type_are_refused(model: MarkovNetwork, frame: pd.DataFrame) -> None:
    """Each with what was given and what was expected, where Python would say something of its own."""
    fitted = MarkovNetworkLearner(target="a").fit(frame)
    asked: list[tuple[str, Callable[[Any], object], tuple[Any, ...]]] = [
        ("number of samples is", lambda wrong: model.marginals(engine="gibbs", samples=wrong), ("x", 5.5, 0)),
        ("precision is", lambda wrong: model.marginals(engine="gibbs", precision=wrong), ("x", 0, np.nan)),
        ("number of jobs must be", lambda wrong: model.sample(2, jobs=wrong), ("x", 1.5, 0, -3)),
        ("is no name of a column", lambda wrong: MarkovNetworkLearner(covariates=wrong).fit(frame), (3,)),
        ("The column to predict is", lambda wrong: fitted.predict_proba(frame, wrong), (1.5, ["a"])),
        ("Numbers of groups are", lambda wrong: SoftTied(groups=wrong), ("x", 1.5, (2, "x"), np.nan, np.inf, None)),
        (
            "Resamples (are|need)",
            lambda wrong: bootstrap_edges(Learner(), UniqueRows.of(frame), resamples=wrong),
            ("x", 1.5),
        ),
        ("Names of variables are expected", lambda wrong: model.marginals(wrong), (3,)),
    ]
    for message, ask, values in asked:
        for wrong in values:
            with pytest.raises(InputError, match=message):
                ask(wrong)
