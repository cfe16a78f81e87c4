"""Parallel tempering: first-order transitions, what it says when it does not mix, and its parts."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from mrfit.core.factors import Factors
from mrfit.inference.exact.enumeration import Enumeration
from mrfit.inference.sampling.annealed import Annealed
from mrfit.inference.sampling.annealed_posterior import AnnealedPosterior
from mrfit.inference.sampling.ladder import MOST_RUNGS, adapted_ladder, first_ladder
from mrfit.inference.sampling.mbar import log_zs
from mrfit.inference.sampling.replicas import ReplicaRound, is_cold
from mrfit.inference.sampling.tempered_posterior import TemperedPosterior
from mrfit.inference.sampling.tempering import Tempering
from populations import random_factors

Floats = np.ndarray


def _potts(n: int, states: int, coupling: float) -> tuple[Factors, float]:
    """Every pair gains by equal states; log Z by convolving the counts of one state after another."""
    k = np.arange(n + 1)
    one = coupling * k * (k - 1) / 2 - gammaln(k + 1)
    total = one
    for _ in range(states - 1):
        total = np.array([logsumexp(total[: m + 1] + one[m::-1]) for m in range(n + 1)])
    pairs = [(pair, coupling * np.eye(states)) for pair in combinations(range(n), 2)]
    return Factors.from_tables((states,) * n, pairs), float(gammaln(n + 1) + total[n])


def _run(engine: Tempering | Annealed, factors: Factors) -> TemperedPosterior:
    found = engine.run(engine.plan(factors), factors)
    assert isinstance(found, TemperedPosterior)
    return found


def _assert_is_covered(found: TemperedPosterior, log_z: float, states: int) -> None:
    assert found.remarks == ()
    assert abs(found.log_z - log_z) < 3.5 * found.error  # type: ignore[operator]
    p, error = found.marginal((1,)), found.marginal_error((1,))
    assert (abs(p - 1.0 / states) < 4.0 * error).all()
    assert (error < 0.1).all()


def test_counts_and_enumeration_agree() -> None:
    factors, log_z = _potts(6, 4, 0.4)
    assert log_z == pytest.approx(Enumeration().run(Enumeration().plan(factors), factors).log_z, abs=1e-9)


def test_a_first_order_transition_of_sixty_variables() -> None:
    """Eight states near the transition: annealing took 142 CPU seconds, with weights worth a few chains."""
    factors, log_z = _potts(60, 8, 0.079)
    found = _run(Tempering(seed=1, max_sweeps=2000), factors)
    assert abs(found.log_z - log_z) < 3.5 * found.error  # type: ignore[operator]
    assert found.error < 0.4  # type: ignore[operator]


def test_the_default_leaves_to_tempering_what_it_cannot_anneal() -> None:
    """All chains freeze in one of eight phases with its defects, and weights are worth a few of them."""
    factors, log_z = _potts(40, 8, 0.2)
    _assert_is_covered(_run(Annealed(seed=1), factors), log_z, 8)


def test_annealing_goes_on_where_tempering_does_not_mix(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both out of patience at once, made by hand; an answer of tempering without a doubt is taken."""
    factors = random_factors(rng, (2, 3, 5, 4), [(0, 1), (1, 2), (2, 3)])
    exact = Enumeration().run(Enumeration().plan(factors), factors)
    engine = Annealed(temperatures=2)
    monkeypatch.setattr("mrfit.inference.sampling.annealed._PATIENCE", 3)
    tempered = _run(engine, factors)
    assert abs(tempered.log_z - exact.log_z) < 4.0 * tempered.error  # type: ignore[operator]
    monkeypatch.setattr(TemperedPosterior, "doubts", lambda _: ["made by hand"])
    annealed = engine.run(engine.plan(factors), factors)
    assert isinstance(annealed, AnnealedPosterior)
    assert annealed.estimates[0].temperatures > 2
    assert abs(annealed.log_z - exact.log_z) < 4.0 * annealed.error  # type: ignore[operator]


def test_threads_change_nothing() -> None:
    factors, _ = _potts(12, 8, 0.5)
    one, two = (_run(Tempering(seed=2, jobs=jobs), factors) for jobs in (1, 2))
    assert (one.log_z, one.error, one.remarks) == (two.log_z, two.error, two.remarks)
    assert one.deviations((3, 4)).tobytes() == two.deviations((3, 4)).tobytes()


def test_what_does_not_mix_is_remarked() -> None:
    factors, log_z = _potts(40, 8, 0.2)
    found = _run(Tempering(max_sweeps=1536), factors)
    assert "Parallel tempering does not mix after" in found.remarks[0]
    assert "round trips, of which 256 are enough" in found.remarks[0]
    assert abs(found.log_z - log_z) < 4.0 * found.error  # type: ignore[operator]


def _round(log_p: Floats, betas: Floats, trips: int = 10) -> ReplicaRound:
    """Draws made by hand of one variable of two states."""
    _, n_draws, replicates = log_p.shape
    log_p = log_p.copy()
    log_p[-1, -1, 0] = 0.0  # as the table says: from this draw the posterior knows what kernels leave out
    states = np.zeros((n_draws, 1, replicates), np.uint8)
    none = np.zeros((len(betas) * replicates, 1), np.int64)
    return ReplicaRound(betas, log_p, np.full(len(betas) - 1, 0.5), np.full(replicates, trips), states, none)


def _normal(rng: np.random.Generator, betas: Floats, draws: int = 200, replicates: int = 64) -> Floats:
    """log p that is N(0, 1) under the base, and so N(beta, 1) on each rung: log Z is beta^2 / 2."""
    return rng.standard_normal((len(betas), draws, replicates)) + betas[:, None, None]


def test_replicates_that_began_cold_must_agree_with_the_others(rng: np.random.Generator) -> None:
    betas, factors = np.linspace(0.0, 1.0, 4), Factors.from_tables((2,), [((0,), [0.0, 0.0])])
    log_p = _normal(rng, betas)
    before = TemperedPosterior(factors, _round(log_p[:, :100], betas))
    assert TemperedPosterior(factors, _round(log_p, betas), before).doubts() == []
    apart = log_p + 0.3 * betas[:, None, None] * is_cold(64)
    disagreeing = TemperedPosterior(factors, _round(apart, betas), TemperedPosterior(factors, _round(apart, betas)))
    (said,) = disagreeing.doubts()
    assert "replicates that began cold" in said
    usual = disagreeing.error
    disagreeing.doubtful([said])
    assert said in disagreeing.remarks[0]
    assert disagreeing.error >= max(usual, 0.05)  # type: ignore[type-var]


def test_too_few_trips_and_a_log_z_that_moves_are_doubts(rng: np.random.Generator) -> None:
    betas, factors = np.linspace(0.0, 1.0, 4), Factors.from_tables((2,), [((0,), [0.0, 0.0])])
    log_p = _normal(rng, betas)
    before = TemperedPosterior(factors, _round(log_p, betas))
    moved = TemperedPosterior(factors, _round(log_p + betas[:, None, None], betas, trips=3), before)
    trips, change = moved.doubts()
    assert trips == "states made 192 round trips, of which 256 are enough"
    assert change.startswith("log Z changed by")
    moved.doubtful([trips, change])
    assert moved.error >= 0.2  # type: ignore[operator]


def test_log_zs_of_normal_draws(rng: np.random.Generator) -> None:
    betas = np.array([0.0, 0.3, 0.7, 1.0])
    found = log_zs(betas, _normal(rng, betas))
    errors = np.linalg.norm(found.influences, axis=0)
    assert errors[0] == 0.0
    assert (abs(found.values - betas**2 / 2) <= 4.0 * errors).all()
    assert (errors[1:] < 0.02).all()


def test_influences_are_those_of_leaving_a_replicate_out(rng: np.random.Generator) -> None:
    """Influences are right to first order in 1 / replicates; a method that stops early makes them too small."""
    betas = np.array([0.0, 0.4, 1.0])
    log_p = _normal(rng, betas, draws=40, replicates=200)
    log_p += 0.5 * rng.standard_normal((1, 1, 200))
    whole = log_zs(betas, log_p)
    for r in range(0, 200, 40):
        without = log_zs(betas, np.delete(log_p, r, axis=2))
        np.testing.assert_allclose(whole.values - without.values, whole.influences[r], atol=2e-5, rtol=0.05)


def test_the_error_is_that_of_repeated_runs(rng: np.random.Generator) -> None:
    """The error is checked on 100 short runs, in which draws of a replicate are alike."""
    betas, values, errors = np.linspace(0.0, 1.0, 3), [], []
    for _ in range(100):
        log_p = _normal(rng, betas, draws=6) + 0.3 * betas[:, None, None] * rng.standard_normal(64)
        found = log_zs(betas, log_p)
        values.append(found.values[-1])
        errors.append(np.linalg.norm(found.influences[:, -1]))
    assert np.median(errors) == pytest.approx(np.std(values), rel=0.3)


def test_ladders_have_equal_rejections() -> None:
    betas = first_ladder()
    assert (betas[0], betas[-1], len(betas)) == (0.0, 1.0, 8)
    placed = adapted_ladder(np.array([0.0, 0.5, 1.0]), np.array([0.9, 0.1]))
    assert len(placed) == 4
    np.testing.assert_allclose(placed, [0.0, 0.5 / 2.7, 1.0 / 2.7, 1.0])
    assert len(adapted_ladder(np.linspace(0.0, 1.0, 60), np.ones(59))) == MOST_RUNGS
    assert (np.diff(adapted_ladder(betas, np.zeros(7))) > 0.0).all()


def test_a_precision_is_reached_or_remarked(rng: np.random.Generator) -> None:
    factors = random_factors(rng, (2, 3, 5, 4), [(0, 1), (1, 2), (2, 3)])
    fine = _run(Tempering(precision=0.004), factors)
    assert (fine.largest_error <= 0.004, fine.remarks) == (True, ())
    short = _run(Tempering(precision=1e-5, max_sweeps=2000), factors)
    assert "a precision of 1e-05 was asked for" in short.remarks[-1]
    assert short.log_z != _run(replace(Tempering(), seed=3), factors).log_z
