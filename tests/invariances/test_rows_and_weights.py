"""Changes of a table that must not change the answer at all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mrfit.data.dataset import Dataset
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning import CandidateFit
from mrfit.learning.specification import learn
from mrfit.solvers.method import Method
from populations import METHODS, SHAPES, STRUCTURES, domain_of, random_codes
from words import learner

every_method = pytest.mark.parametrize("method", [METHODS["newton"], METHODS["lbfgs"]], ids=["newton", "lbfgs"])
CASES = [("binary", "complete"), ("mixed", "order 3"), ("a variable with one state", "complete")]


def _fit(
    shape: str, structure: str, method: Method[Any], codes: np.ndarray, weight: np.ndarray | None = None
) -> CandidateFit:
    domain = domain_of(SHAPES[shape])
    rows = UniqueRows.from_dataset(Dataset(domain, codes, weight))
    return learn(rows, STRUCTURES[structure](len(domain)), learner((0.7,), solver=method, tolerance=1e-9)).best


@every_method
@pytest.mark.parametrize(("shape", "structure"), CASES)
def test_a_duplicated_row_is_a_doubled_weight(
    shape: str, structure: str, method: Method[Any], rng: np.random.Generator
) -> None:
    """Bit for bit."""
    codes = random_codes(rng, SHAPES[shape], 30)
    copies = rng.integers(1, 5, len(codes))
    repeated = _fit(shape, structure, method, np.repeat(codes, copies, axis=0))
    weighted = _fit(shape, structure, method, codes, copies.astype(float))
    np.testing.assert_array_equal(repeated.model.w, weighted.model.w)
    assert repeated.train_pll == weighted.train_pll


@every_method
@pytest.mark.parametrize(("shape", "structure"), CASES)
def test_the_order_of_rows_is_not_seen(
    shape: str, structure: str, method: Method[Any], rng: np.random.Generator
) -> None:
    """Bit for bit, for weights that add without rounding."""
    codes = random_codes(rng, SHAPES[shape], 60)
    weight = rng.integers(1, 40, len(codes)) / 8
    order = rng.permutation(len(codes))
    one = _fit(shape, structure, method, codes, weight)
    other = _fit(shape, structure, method, codes[order], weight[order])
    np.testing.assert_array_equal(one.model.w, other.model.w)


@pytest.mark.parametrize(("shape", "structure"), CASES)
def test_rows_of_weight_zero_are_not_there(shape: str, structure: str, rng: np.random.Generator) -> None:
    """Bit for bit, wherever they stand."""
    codes = random_codes(rng, SHAPES[shape], 40)
    weight = np.where(rng.random(40) < 0.4, 0.0, rng.uniform(0.5, 2.0, 40))
    kept = weight > 0
    with_zeros = _fit(shape, structure, METHODS["newton"], codes, weight)
    without = _fit(shape, structure, METHODS["newton"], codes[kept], weight[kept])
    np.testing.assert_array_equal(with_zeros.model.w, without.model.w)


def test_one_scale_of_weights_and_strength(rng: np.random.Generator) -> None:
    """Doubling all weights and the strength is the same problem, exactly: both are powers of two apart."""
    codes = random_codes(rng, SHAPES["mixed"], 50)
    rows = [UniqueRows.from_codes(domain_of(SHAPES["mixed"]), codes, np.full(50, scale)) for scale in (1.0, 4.0)]
    fits = [learn(r, STRUCTURES["complete"](4), learner((0.5 * k,))).best for r, k in zip(rows, (1, 4), strict=True)]
    np.testing.assert_array_equal(fits[0].model.w, fits[1].model.w)


@pytest.mark.parametrize(("shape", "structure"), CASES)
def test_any_number_of_jobs_gives_the_same_bits(
    shape: str, structure: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole fit, with threads forced on a small problem."""
    monkeypatch.setattr("mrfit.objectives.conditional_loss._WORTH_A_THREAD", -1.0)
    domain = domain_of(SHAPES[shape])
    rows = UniqueRows.from_codes(domain, random_codes(rng, SHAPES[shape], 60), rng.uniform(0.1, 2.0, 60))
    fits = [learn(rows, STRUCTURES[structure](len(domain)), jobs=jobs).best for jobs in (1, 2, 5)]
    for other in fits[1:]:
        np.testing.assert_array_equal(fits[0].model.w, other.model.w)
