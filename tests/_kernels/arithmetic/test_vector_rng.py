"""Kernels of Gibbs sampling against their plain twins."""

from __future__ import annotations

import numpy as np
import pytest

from mrfit._kernels.arithmetic.vector_rng import LANES, WORDS, uniforms_23, uniforms_52
from mrfit.core.factors import Factors
from mrfit.inference.sampling.annealing_path import AnnealingPath
from mrfit.inference.sampling.base_distribution import independent, tree
from mrfit.inference.sampling.gibbs_chains import Chains
from populations import random_factors
from reference.gibbs import Xoshiro, sweep

GRAPHS = {
    "pairs": ((2, 2, 2, 2, 2), [(0, 1), (2, 1), (3, 2), (0, 4), (4, 3), (2,), (1, 0), ()]),
    "pairs and one-state variables": ((2, 1, 2, 2), [(0, 1), (2, 1, 0), (3, 2), (1,)]),
    "mixed": ((3, 2, 1, 4), [(0, 1), (3, 1, 2, 0), (3,), (2,), (0, 3)]),
    "triple": ((2, 2, 2), [(0, 1, 2), (2, 0)]),
}


def _lanes(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Room of a block, and the words of its generators, (lanes, 4)."""
    words = rng.integers(0, 2**32, (LANES, 4), dtype=np.uint32)
    room = np.zeros(WORDS, np.float32)
    room[:] = np.ascontiguousarray(words.T).ravel().view(np.float32)
    return room, words


@pytest.mark.parametrize(("kernel", "method"), [(uniforms_23, "uniform_23"), (uniforms_52, "uniforms_52")])
def test_every_lane_is_the_generator(kernel: object, method: str, rng: np.random.Generator) -> None:
    """Word for word, over sums that leave 32 bits; all within (0, 1), and of the right mean and variance."""
    room, words = _lanes(rng)
    lanes = [Xoshiro(own) for own in words]
    found = np.empty((200, LANES), np.float32 if method == "uniform_23" else np.float64)
    for row in found:
        kernel(room, row)  # type: ignore[operator]
    expected = np.array([[getattr(lane, method)() for lane in lanes] for _ in found])
    np.testing.assert_array_equal(found, expected)
    assert 0.0 < found.min() <= found.max() < 1.0
    assert found.mean() == pytest.approx(0.5, abs=4 * np.sqrt(1 / 12 / found.size))
    assert found.var() == pytest.approx(1 / 12, abs=4 * np.sqrt(1 / 180 / found.size))


def test_extreme_words_stay_below_one() -> None:
    """A sum of 33 bits would be a uniform number of up to 2."""
    room = np.zeros(WORDS, np.float32)
    room[:] = np.full(WORDS, 2**32 - 1, np.uint32).view(np.float32)
    out, wide = np.empty(LANES, np.float32), np.empty(LANES)
    for _ in range(50):
        uniforms_23(room, out)
        uniforms_52(room, wide)
        assert 0.0 < min(out.min(), wide.min()) <= max(out.max(), wide.max()) < 1.0


def _ends(name: str, zeros: float, rng: np.random.Generator) -> tuple[Factors, Factors]:
    shape, scopes = GRAPHS[name]
    rows = rng.integers(0, shape, (50, len(shape)))
    base = (tree if zeros else independent)("any", shape, rows).factors
    return base, random_factors(rng, shape, scopes, zeros=zeros)


@pytest.mark.parametrize("backwards", [False, True], ids=["forwards", "backwards"])
@pytest.mark.parametrize("zeros", [0.0, 0.2], ids=["finite", "zeros"])
@pytest.mark.parametrize("name", GRAPHS)
def test_sweeps_equal_their_twin(name: str, zeros: float, backwards: bool, rng: np.random.Generator) -> None:
    """States of every chain, the heat, and log p, on the way from a base to tables with impossible cells."""
    base, target = _ends(name, zeros, rng)
    path = AnnealingPath.between(base, target)
    possible = rng.integers(0, target.shape, (2000, len(target.shape)))
    start = possible[target.log_potential(possible) > -np.inf][:70]
    assert len(start) > 4
    chains, betas = Chains(path, start, (3,)), np.array([0.1, 0.5, 0.9, 1.0, 1.0])
    chains.sweep(betas, backwards=backwards)
    words = np.random.SeedSequence((3,)).generate_state(4 * len(start)).reshape(-1, 4)
    binary = path.state_type is np.float32
    assert binary == (name.startswith("pairs") and not zeros)
    heat = np.zeros(len(start))
    for number, x in enumerate(start):
        lane = Xoshiro(words[number])
        for beta in betas:
            heat[number] += sweep(base, target, beta, x, lane, binary=binary, backwards=backwards)
    np.testing.assert_array_equal(chains.codes, start)
    np.testing.assert_allclose(chains.heat, heat, atol=2e-5 if binary else 1e-11)
    np.testing.assert_allclose(path.log_target(start), target.log_potential(start), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(path.log_base(start), base.log_potential(start), rtol=1e-12, atol=1e-12)
    log_p = chains.record(1, out := np.empty((1, len(target.shape), len(start)), np.uint8))[0]
    np.testing.assert_array_equal(out[0].T, chains.codes)
    aside = target.log_potential(chains.codes) - log_p
    np.testing.assert_allclose(aside, aside[0], atol=1e-12)


@pytest.mark.parametrize("name", ["pairs", "mixed"])
def test_a_chain_depends_on_its_number_alone(name: str, rng: np.random.Generator) -> None:
    """Not on how many there are beside it, nor on threads."""
    base, target = _ends(name, 0.0, rng)
    start = rng.integers(0, target.shape, (200, len(target.shape)))
    few, many, threads = (
        Chains(AnnealingPath.between(base, target), start[:n], (1, 2), jobs=jobs)
        for n, jobs in ((7, 1), (200, 1), (200, 3))
    )
    for chains in (few, many, threads):
        chains.sweep(np.full(20, 0.7))
    np.testing.assert_array_equal(few.codes, many.codes[:7])
    np.testing.assert_array_equal(threads.codes, many.codes)
    assert threads.heat.tobytes() == many.heat.tobytes()
    assert len({tuple(row) for row in many.codes}) > 10
