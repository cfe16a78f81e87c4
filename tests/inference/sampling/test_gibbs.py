"""Gibbs sampling: draws against exact probabilities, and what is said when chains disagree."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare

from mrfit.core.errors import InputError
from mrfit.core.factors import Factors
from mrfit.inference.exact.enumeration import Enumeration
from mrfit.inference.sampling.chain_initialization import annealed_states
from mrfit.inference.sampling.gibbs import Gibbs, GibbsPosterior, sample
from phantom import phantom_mode, two_modes
from populations import random_factors

CASES = {
    "two states": ((2, 2, 2, 2), [(0, 1), (1, 2), (3, 2), (0, 3), (0,)], 0.0),
    "categorical": ((3, 4, 3), [(0, 1), (2, 1), (2,)], 0.0),
    "mixed": ((2, 3, 4), [(1, 0), (2, 1), (0, 2)], 0.0),
    "triple": ((2, 3, 2, 2), [(2, 0, 1), (3, 1)], 0.0),
    "impossible cells": ((2, 3, 4), [(1, 0), (2, 1), (0, 2)], 0.15),
    "something known": ((2, 1, 2, 2, 1), [(0, 1), (1, 2), (3, 4, 2), (0, 3)], 0.0),
    "something known, categorical": ((3, 1, 2, 3), [(0, 1), (1, 2), (3, 2), (0, 3)], 0.0),
}


def _run(engine: Gibbs, product: Factors) -> GibbsPosterior:
    found = engine.run(engine.plan(product), product)
    assert isinstance(found, GibbsPosterior)
    return found


@pytest.mark.parametrize("name", CASES)
def test_draws_of_many_chains_have_the_joint_distribution(name: str, rng: np.random.Generator) -> None:
    """One draw of each of 4,096 independent chains, by chi-square over all joint states."""
    shape, scopes, zeros = CASES[name]
    product = random_factors(rng, shape, scopes, zeros=zeros)
    product = product.with_values(0.5 * product.values)  # so that chains forget where they began
    p = Enumeration().run(Enumeration().plan(product), product).marginal(tuple(range(len(shape))))
    drawn = sample(product, 4096, engine=Gibbs(chains=4096, sweeps=64, max_sweeps=64, annealing=20))
    assert drawn.codes.shape == (4096, len(shape))
    counts = np.bincount(np.ravel_multi_index(tuple(drawn.codes.T), shape), minlength=len(p))
    assert not counts[p == 0.0].any()
    rare = p * 4096 < 5.0
    observed, expected = (np.append(x[~rare], x[rare].sum()) for x in (counts, 4096 * p))
    kept = expected > 0.0
    assert chisquare(observed[kept], expected[kept]).pvalue > 1e-3


def test_draws_of_few_chains_hardly_depend_on_each_other() -> None:
    """A slow chain: neighbours agree with e^3 to 1. Thinned draws have the variance of independent ones."""
    product = Factors.from_tables((2,) * 6, [((i, i + 1), [[3.0, 0.0], [0.0, 3.0]]) for i in range(5)])
    drawn = sample(product, 2000, engine=Gibbs(chains=4, seed=1)).codes
    assert abs(drawn.mean() - 0.5) < 4 * 0.5 / np.sqrt(2000)
    first = drawn[:, 0].reshape(-1, 4)  # in turn from 4 chains
    assert abs(np.corrcoef(first[:-1].ravel(), first[1:].ravel())[0, 1]) < 0.2


def test_a_sample_may_be_empty_and_not_less() -> None:
    product = Factors((2, 3), (), np.empty(0))
    assert sample(product, 0).codes.shape == (0, 2)
    with pytest.raises(InputError, match="-1 rows"):
        sample(product, -1)


def test_chains_run_until_they_agree() -> None:
    """Rounds double until R-hat is small; where the limit comes first it is said."""
    product = Factors.from_tables((2,) * 6, [((i, i + 1), [[3.0, 0.0], [0.0, 3.0]]) for i in range(5)])
    long, short = _run(Gibbs(), product), _run(Gibbs(max_sweeps=600), product)
    assert long.r_hat <= 1.01
    assert long.remarks == ()
    assert long.sweeps in {500 * 2**k for k in range(1, 7)}
    assert short.sweeps == 500
    assert short.r_hat > 1.01
    assert short.remarks[0].startswith(
        f"Chains have not mixed after 500 sweeps: R-hat is {short.r_hat:.3f}, above 1.01"
    )
    assert short.ess < long.ess


def test_chains_that_cannot_move_are_told() -> None:
    """Two states that no single change joins: errors are how far chains differ."""
    product = Factors.from_tables((2, 2), [((0, 1), [[0.0, -np.inf], [-np.inf, 1.0]])])
    found = _run(Gibbs(max_sweeps=500), product)
    assert found.r_hat == np.inf
    assert "have not mixed" in found.remarks[0]
    p = found.marginal((0, 1))
    assert p[1] == p[2] == 0.0
    assert abs(p[0] - 1.0 / (1.0 + np.e)) < 2.0 * found.marginal_error((0, 1))[0]


def test_data_and_annealing_that_disagree_are_told(rng: np.random.Generator) -> None:
    """Rows in the small mode, the mass in the large one: data-started chains alone would look well."""
    product, log_z = two_modes(16)
    rows = (rng.random((500, 16)) < 0.001).astype(np.int64)
    found = _run(Gibbs(data=rows, max_sweeps=2000), product)
    assert any("annealed and chains that began in data disagree: variable" in remark for remark in found.remarks)
    p = float(Enumeration().run(Enumeration().plan(product), product).marginal((3,))[1])
    assert abs(found.marginal((3,))[1] - p) <= found.marginal_error((3,))[1]
    assert found.marginal_error((3,))[1] > 0.4
    assert np.isfinite(log_z)


def test_data_and_annealing_that_agree_are_not_told(rng: np.random.Generator) -> None:
    for seed in range(10):
        product = random_factors(rng, (2, 3, 2), [(0, 1), (2, 1)])
        rows = rng.integers(0, product.shape, (5, 3))
        assert not any("disagree" in remark for remark in _run(Gibbs(data=rows, seed=seed), product).remarks)


def test_the_phantom_mode_of_a_learned_network(rng: np.random.Generator) -> None:
    """Its rows have half a one on average, its mass is where nearly all are ones."""
    product, _, rows = phantom_mode(rng)
    found = _run(Gibbs(data=rows, max_sweeps=1000), product)
    assert any("began in data disagree" in remark for remark in found.remarks)
    assert _run(Gibbs(), product).marginal((4,))[1] > 0.99


def test_rows_that_are_impossible_are_left_out() -> None:
    product = Factors.from_tables((2, 2), [((0, 1), [[0.0, 0.0], [0.0, -np.inf]])])
    rows = np.array([[1, 1], [0, 1]])
    assert _run(Gibbs(data=rows), product).remarks == ()
    assert _run(Gibbs(data=rows[:1]), product).remarks == (
        "None of the rows of data is possible; all chains were annealed.",
    )
    with pytest.raises(InputError, match="beyond its 2 states"):
        _run(Gibbs(data=np.array([[0, 2]])), product)


def test_annealed_states_are_possible(rng: np.random.Generator) -> None:
    """Also where most joint states are not."""
    product = random_factors(rng, (3, 3, 3, 3), [(0, 1), (1, 2), (2, 3), (3, 0)], zeros=0.5)
    codes = annealed_states(product, 50, sweeps=20, seed=(1,))
    assert (product.log_potential(codes) > -np.inf).all()
