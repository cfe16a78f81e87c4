"""Verdicts of checks: right models pass at the nominal rate, wrong ones are found, and what is said is one line."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, nbinom, norm

from mrfit.analysis.goodness.chance import p_values
from mrfit.analysis.goodness.check import Check
from mrfit.analysis.goodness.independent_draws import Drawn
from mrfit.analysis.goodness.row_moments import Moments, States
from mrfit.analysis.goodness.triples import n_triples_of, triple_frequencies
from mrfit.core.domain import Domain
from mrfit.core.factors import Factors
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.learner import Learner
from mrfit.learning.objective_specs import LIKELIHOOD
from mrfit.learning.penalty_specs import L2, NoPenalty
from mrfit.model.factor_network import FactorNetwork
from mrfit.structures.simple import ChowLiuTree, NoInteractions
from populations import domain_of, random_rows

Floats = NDArray[np.float64]

_N = 8
_TABLES = 100


def _truth(rng: np.random.Generator) -> FactorNetwork:
    """A random network of eight variables."""
    joined = [pair for pair in combinations(range(_N), 2) if rng.random() < 0.4]
    tables = [((i,), np.array([0.0, rng.normal(-0.5, 0.7)])) for i in range(_N)]
    pairs = [(pair, np.array([0.0, 0.0, 0.0, rng.normal(0.0, 0.8)])) for pair in joined]
    return FactorNetwork(domain_of((2,) * _N), Factors.from_tables((2,) * _N, [*tables, *pairs]))


def _parity(strength: float) -> FactorNetwork:
    """Whether an even number of three variables is one: no pair of them is dependent."""
    table = strength * np.array([1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, -1.0])
    return FactorNetwork(domain_of((2,) * _N), Factors.from_tables((2,) * _N, [((0, 1, 2), table)]))


def _share_of_misfits(n_rows: int, learner: Learner | None, *, engine: str = "auto") -> float:
    """Share of misfits among tables from random truths, each checked against its truth or a model fitted to it."""
    found = 0
    for seed in range(_TABLES):
        truth = _truth(np.random.default_rng(seed))
        rows = UniqueRows.of(truth.sample(n_rows, seed=seed))
        model = truth if learner is None else learner.fit(rows).model
        found += bool(model.check(rows, engine=engine, seconds=1.0).misfits)
    return found / _TABLES


@pytest.mark.parametrize("n_rows", [60, 1000])
@pytest.mark.parametrize("engine", ["enumeration", "tree"])
def test_the_truth_passes_at_the_nominal_rate(engine: str, n_rows: int) -> None:
    """False alarms are at most 5 %; three standard errors of 100 tables are six more."""
    assert _share_of_misfits(n_rows, None, engine=engine) <= 0.05 + 3.0 * np.sqrt(0.05 * 0.95 / _TABLES)


@pytest.mark.parametrize("penalty", [NoPenalty(), L2()], ids=["none", "l2"])
def test_what_was_learned_from_the_rows_passes_too(penalty: NoPenalty | L2) -> None:
    assert _share_of_misfits(1000, Learner(penalty=penalty)) <= 0.05 + 3.0 * np.sqrt(0.05 * 0.95 / _TABLES)


def _check_of(learner: Learner, truth: FactorNetwork, n_rows: int) -> Check:
    rows = UniqueRows.of(truth.sample(n_rows, seed=1))
    return learner.fit(rows).model.check(rows)


def test_wrong_models_are_found(rng: np.random.Generator) -> None:
    """Missing pairs show in pairs, a missing triple in triples alone."""
    without_pairs = _check_of(Learner(structure=NoInteractions(), penalty=NoPenalty()), _truth(rng), 2000)
    assert without_pairs.misfits[0].what == "pairs"
    assert not without_pairs.is_alike
    pairs_alone = Learner(penalty=NoPenalty(), objective=LIKELIHOOD)
    without_triple = _check_of(pairs_alone, _parity(0.3), 2000)
    assert [each.what for each in without_triple.misfits] == ["triples"]
    assert without_triple.misfits[0].worst is not None
    assert without_triple.misfits[0].worst.variables == ("x0", "x1", "x2")


def test_a_small_difference_that_is_sure_is_slight(rng: np.random.Generator) -> None:
    truth, model = ([((i,), np.log([1.0 - p, p])) for i in range(3)] for p in (0.500, 0.495))
    rows = UniqueRows.of(
        FactorNetwork(domain_of((2,) * 3), Factors.from_tables((2,) * 3, truth)).sample(400_000, seed=0)
    )
    check = FactorNetwork(domain_of((2,) * 3), Factors.from_tables((2,) * 3, model)).check(rows)
    assert check.verdict.startswith("slight misfit: 3 of 3 variables differ beyond chance, all by at most 0.00")
    assert check.is_alike


def test_a_tree_that_was_fitted_by_likelihood_is_not_told_to_be(data_dir: Path) -> None:
    """Its rows are others' here, which gives it a mode where there are none."""
    rows = UniqueRows.from_file("kdd:train")
    learner = Learner(structure=ChowLiuTree(), objective=LIKELIHOOD)
    other = UniqueRows.from_codes(rows.domain, 1 - rows.codes, rows.sample_weight)
    check = learner.fit(other).model.check(rows)
    assert check.phantom_mode is not None
    assert "--objective likelihood" not in check.describe()
    assert "It was fitted by likelihood" in check.describe()


@pytest.mark.parametrize("length", [1, 5, 30])
@pytest.mark.parametrize("n", [3, 12])
def test_a_verdict_is_one_line_of_eighty_characters(length: int, n: int, rng: np.random.Generator) -> None:
    p = rng.random((2, n))
    names = [f"{i:x}".rjust(length, "v") for i in range(n)]
    domain = Domain.from_states(dict.fromkeys(names, ("no", "yes")))
    rows = UniqueRows.from_codes(domain, (rng.random((5000, n)) < p[0]).astype(np.uint8), np.ones(5000))
    factors = Factors.from_tables((2,) * n, [((i,), np.log([1.0 - q, q])) for i, q in enumerate(p[1])])
    verdict = FactorNetwork(domain, factors).check(rows).verdict
    assert verdict.startswith("misfit: ")
    assert len(verdict) <= 80
    assert "\n" not in verdict


@pytest.mark.parametrize("shape", [(2, 2, 2, 2, 2), (3, 2, 4, 2)])
def test_triples_are_counted(shape: tuple[int, ...], rng: np.random.Generator) -> None:
    rows = random_rows(rng, shape, 80, fractional=True)
    states = States(shape)
    found = Moments.of_rows(rows, triples=True)
    assert found.triple is not None
    assert len(states.triples) == n_triples_of(states.variable_of_indicators) == len(found.triple)
    for triple, frequency in zip(states.triples, found.triple, strict=True):
        places = [states.named(int(states.of_indicators[k])) for k in triple]
        holds = np.logical_and.reduce([rows.codes[:, i] == code for i, code in places])
        assert frequency == pytest.approx(rows.sample_weight[holds].sum() / rows.total_weight)


def test_drawn_triples_have_errors(rng: np.random.Generator) -> None:
    """Stated errors from independent groups equal the spread over repetitions."""
    states = States((2, 2, 2))
    found = []
    for _ in range(200):
        codes = (rng.random((32, 16, 3)) < (0.5, 0.6, 0.7)).astype(np.uint8)
        moments = Drawn(states, codes, np.full(32, 1 / 32)).moments(triples=True)
        assert moments.triple is not None
        found.append((moments.triple[0], moments.triple_error[0]))
    values, errors = np.array(found).T
    assert values.mean() == pytest.approx(0.21, abs=0.01)
    assert errors.mean() == pytest.approx(values.std(), rel=0.15)
    everything = triple_frequencies(np.ones((4, 3), np.float32), np.full(4, 0.25), states.variable_of_indicators)
    assert everything.tolist() == [1.0]


def test_p_values_are_those_of_counts(rng: np.random.Generator) -> None:
    """Binomial where probabilities are exact, negative binomial and normal where they have errors."""
    n, none = 400.0, np.zeros(4)
    p, k = np.array([0.01, 0.02, 0.05, 0.97]), np.array([0.0, 15.0, 9.0, 400.0])
    exact = 2.0 * np.minimum(binom.cdf(k, n, p), binom.sf(k - 1.0, n, p))
    assert p_values(p, k / n, none, n_rows=np.full(4, n), n_groups=np.inf) == pytest.approx(np.minimum(exact, 1.0))
    error = np.full(4, 0.01)
    loose = p_values(p, k / n, error, n_rows=np.full(4, n), n_groups=np.inf)
    r = (n * 0.02) ** 2 / (n * 0.01) ** 2
    assert loose[1] == pytest.approx(2.0 * nbinom.sf(14, r, r / (r + 8.0)))
    half = p_values(np.array([0.5]), np.array([0.6]), np.array([0.02]), n_rows=np.array([n]), n_groups=np.inf)
    assert half[0] == pytest.approx(2.0 * norm.sf(0.1 / np.hypot(0.025, 0.02)))
    few = p_values(np.array([0.5]), np.array([0.6]), np.array([0.02]), n_rows=np.array([n]), n_groups=3.0)
    assert few[0] > half[0]
    impossible = p_values(np.array([0.0]), np.array([0.01]), np.zeros(1), n_rows=np.array([n]), n_groups=np.inf)
    assert impossible[0] == 0.0
