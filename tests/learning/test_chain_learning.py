"""The likelihood by chains, as learners, models and held-out rows see it."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrfit.cli.main import main
from mrfit.core.errors import InputError
from mrfit.core.factors import Factors
from mrfit.core.rounding import rounded, with_error
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning import FitResult, Learner
from mrfit.learning.chain_backend import UnknownLikelihood
from mrfit.learning.chains.ascent import Ascent, Diagnostics
from mrfit.learning.chains.chain_fit import ChainProblem
from mrfit.learning.chains.features import Features
from mrfit.learning.chains.log_z_estimate import LogZEstimate, evidence
from mrfit.learning.cross_validation import mean_over_rows
from mrfit.learning.objective_specs import LikelihoodSpec
from mrfit.learning.penalty_spec import PenaltySpec
from mrfit.learning.penalty_specs import L1, L2, GroupLasso, UniformL1
from mrfit.learning.tying_specs import HardTied, LearnTieRelearn, SoftTied, TyingSpec
from mrfit.model.markov_network import MarkovNetwork
from mrfit.objectives.likelihood import Likelihood
from mrfit.objectives.row_scores import row_ll
from mrfit.parameterizations.canonical import Canonical
from mrfit.solvers.solution import Status
from mrfit.structures.mutual_information import maximum_information_tree
from mrfit.structures.simple import ChowLiuTree, CompleteGraph, Learned
from mrfit.structures.structure import Structure
from populations import domain_of, random_rows

CHAINS, ENUMERATION = LikelihoodSpec("chains"), LikelihoodSpec("enumeration")


@cache
def _rows(seed: int = 0) -> UniqueRows:
    """Eight columns that agree with a hidden one."""
    rng = np.random.default_rng(seed)
    hidden = rng.random((1500, 1)) < 0.4
    codes = np.where(rng.random((1500, 8)) < 0.75, hidden, ~hidden)
    return UniqueRows.from_codes(domain_of((2,) * 8), codes.astype(np.uint8), np.ones(len(codes)))


@cache
def _fitted() -> FitResult:
    return Learner(CompleteGraph(), L2((10.0, 3.0)), CHAINS).fit(_rows(), _rows(1), test=_rows(2))


def test_chains_reach_what_enumeration_reaches() -> None:
    exact = Learner(CompleteGraph(), L2((10.0, 3.0)), ENUMERATION).fit(_rows(), _rows(1))
    for ours, theirs in zip(_fitted().fits, exact.fits, strict=True):
        assert ours.solution.status is Status.MOMENTS_MATCHED
        assert abs(ours.train - theirs.train) < 0.03
        assert abs(ours.held_out - theirs.held_out) < 0.03
    assert _fitted().engine == "chains"
    assert abs(_fitted().test.mean - exact.model.ll(_rows(2))) < 0.03


def test_a_model_keeps_the_log_z_it_was_learned_with(tmp_path: Path) -> None:
    model = _fitted().model
    assert abs(model.known_log_z - float(model.log_z())) < 0.03
    model.save(tmp_path / "chains.mrf")
    again = MarkovNetwork.load(tmp_path / "chains.mrf")
    assert again.known_log_z == model.known_log_z
    assert again.ll(_rows(2)) == model.ll(_rows(2))
    spectral = model.to_parameterization("spectral")
    assert np.isclose(spectral.ll(_rows(2)), model.ll(_rows(2)), rtol=0, atol=1e-9)


def test_the_same_seed_gives_the_same_model() -> None:
    learner = Learner(ChowLiuTree(), L2(1.0), CHAINS, seed=5)
    one, two = (learner.fit(_rows(), jobs=jobs).model for jobs in (1, 2))
    assert np.array_equal(one.w, two.w)
    assert one.known_log_z == two.known_log_z


def test_chains_are_drawn_towards_the_tree_too() -> None:
    """A penalty that outweighs the rows draws chains to where it draws an exact engine."""
    chains, exact = (
        Learner(CompleteGraph(), L2(300.0, toward="tree"), objective).fit(_rows()).best
        for objective in (CHAINS, ENUMERATION)
    )
    assert abs(chains.train - exact.train) < 0.02
    assert chains.train > Learner(CompleteGraph(), L2(300.0), ENUMERATION).fit(_rows()).best.train


@pytest.mark.parametrize(
    ("penalty", "apart"),
    [(SoftTied(30.0, groups=3), 0.05), (HardTied(30.0, groups=3), 0.05), (LearnTieRelearn(30.0, groups=3), 0.1)],
)
def test_tied_by_chains_is_tied_exactly(penalty: TyingSpec, apart: float) -> None:
    """Tied values agree to 0.003 nats by exact log Z, and to 0.02 by the chains' own.

    If nothing draws values to each other, 0.003 nats are 0.1 of the value that the fewest parameters share.
    """
    chains, exact = (
        Learner(CompleteGraph(), penalty, objective).fit(_rows()).best for objective in (CHAINS, ENUMERATION)
    )
    without_log_z = replace(chains.model, provenance={})
    assert without_log_z.ll(_rows()) == pytest.approx(exact.train, abs=0.003)
    assert chains.train == pytest.approx(exact.train, abs=0.02)
    assert chains.model.is_hard_tied is exact.model.is_hard_tied is not (penalty.word == "tied")
    assert chains.solution.status is Status.MOMENTS_MATCHED
    np.testing.assert_array_equal(chains.model.groups.assignment, exact.model.groups.assignment)
    np.testing.assert_allclose(chains.model.groups.centers, exact.model.groups.centers, atol=apart)


def test_l1_makes_zeros() -> None:
    fitted = Learner(CompleteGraph(), L1(60.0), CHAINS).fit(_rows())
    exact = Learner(CompleteGraph(), L1(60.0), ENUMERATION).fit(_rows())
    assert 0 < fitted.best.n_nonzero < 36
    assert abs(fitted.best.solution.value - exact.best.solution.value) < 0.03


@pytest.mark.parametrize("penalty", [L1(), UniformL1(), GroupLasso()])
def test_paths_begin_where_nothing_is_joined(penalty: PenaltySpec) -> None:
    """Paths start at the strength at which exact ones start, which takes no chains."""
    chains, exact = (
        Learner(CompleteGraph(), penalty, objective).fit(_rows(), _rows(1)) for objective in (CHAINS, ENUMERATION)
    )
    assert chains.fits[0].strength == exact.fits[0].strength
    assert chains.best.held_out == pytest.approx(exact.best.held_out, abs=0.02)


@pytest.mark.parametrize("shape", [(2,) * 4, (3, 2, 4)])
def test_the_likelihood_without_interactions_is_known(shape: tuple[int, ...], rng: np.random.Generator) -> None:
    rows = random_rows(rng, shape, 50)
    parameters = Canonical(rows.domain, Structure.complete(len(shape)))
    w = np.where(parameters.order_of_parameter == 1, rng.normal(size=parameters.n_parameters), 0.0)
    exact, known = Likelihood(parameters, rows), UnknownLikelihood(Features(parameters), rows)
    for found, expected in zip(known.value_and_gradient(w), exact.value_and_gradient(w), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-12)
    with pytest.raises(InputError, match="needs exact values of the likelihood, which chains do not give"):
        known.value_and_gradient(w + 0.1)


def test_what_chains_cannot_is_refused() -> None:
    with pytest.raises(InputError, match="canonical parameters"):
        Learner(parameterization="spectral", objective=CHAINS).fit(_rows())
    with pytest.raises(InputError, match="Leave start, restarts, how and stochastic out"):
        Learner(penalty=SoftTied(1.0, groups=2, restarts=1), objective=CHAINS).fit(_rows())
    with pytest.raises(InputError, match="use relearn 'reduced'"):
        Learner(penalty=LearnTieRelearn(1.0, groups=2, relearn="projected"), objective=CHAINS).fit(_rows())
    with pytest.raises(InputError, match="no engine 'gibbs'"):
        LikelihoodSpec("gibbs")


def test_auto_takes_chains_where_no_exact_engine_fits() -> None:
    rng = np.random.default_rng(0)
    codes = (rng.random((300, 60)) < 0.3).astype(np.uint8)
    fitted = Learner(CompleteGraph(), L2(10.0), LikelihoodSpec()).fit(
        UniqueRows.from_codes(domain_of((2,) * 60), codes, np.ones(300))
    )
    assert fitted.engine == "chains"
    assert np.isfinite(fitted.best.train)


def test_a_fit_states_the_error_of_its_scores() -> None:
    """The error covers log Z and learning, and explains the gap to the exact score of the same rows."""
    document, exact = (
        _fitted().to_dict(),
        Learner(CompleteGraph(), L2(3.0), ENUMERATION).fit(_rows()),
    )
    known = _fitted().model.provenance["log_z"]
    assert document["log_z_error"] == known["error"]
    assert document["score_error"] == pytest.approx(np.hypot(known["error"], known["learning_error"]))
    assert document["score_error"] < 0.05
    assert [point["log_z_error"] for point in document["path"]] == [fit.log_z_error for fit in _fitted().fits]
    best = _fitted().best
    assert f"; ll {with_error(best.train, known['error'])}" in repr(best)
    assert repr(exact.best).endswith(f"ll {exact.best.train:.4f}>")
    weakest = _fitted().fits[-1]
    assert abs(weakest.train - exact.best.train) < 3.0 * document["score_error"]


@pytest.mark.parametrize(
    ("shape", "n_rows", "strength", "seed"),
    [((2,) * 8, 300, 1.0, 0), ((2,) * 12, 200, 0.3, 1), ((3, 2, 4, 2, 3), 200, 1.0, 2), ((2,) * 12, 2000, 3.0, 3)],
)
def test_the_error_of_a_reported_score_covers_its_distance_to_the_exact_one(
    shape: tuple[int, ...], n_rows: int, strength: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    rows, test = (random_rows(rng, shape, n) for n in (n_rows, 50))
    for learner_seed in range(3):
        fitted = Learner(CompleteGraph(), L2(strength), CHAINS, seed=learner_seed).fit(rows, test=test)
        exact = replace(fitted.model, provenance={}).ll(test)
        assert abs(fitted.test.mean - exact) < 3.0 * fitted.test.log_z_error
        assert 0 < fitted.test.log_z_error < 0.02
        assert fitted.test.log_z_error == fitted.model.known_log_z_error
        assert fitted.test.standard_error == np.hypot(fitted.test.row_error, fitted.test.log_z_error)
        scores = row_ll(fitted.model.parameters, fitted.model.w, test.codes)
        assert fitted.test.row_error == pytest.approx(mean_over_rows(scores, test).row_error)


def test_estimates_that_chose_a_model_are_not_in_its_score(monkeypatch: pytest.MonkeyPatch) -> None:
    """Learning keeps what looks best, so that its own log Z flatters: here by half a nat."""

    def flattering(*arguments: Any, **settings: Any) -> LogZEstimate:
        found = evidence(*arguments, **settings)
        near, far = (replace(each, log_weights=each.log_weights - 0.5) for each in (found.near, found.far))
        return replace(found, near=near, far=far)

    monkeypatch.setattr("mrfit.learning.chains.mode_search.evidence", flattering)
    fitted = Learner(CompleteGraph(), L2((10.0, 3.0)), CHAINS).fit(_rows(), _rows(1), test=_rows(2))
    best, exact = fitted.best, replace(fitted.model, provenance={})
    assert fitted.test.mean == pytest.approx(exact.ll(_rows(2)), abs=0.03)
    assert best.held_out == pytest.approx(exact.ll(_rows(1)), abs=0.03)
    assert best.train == pytest.approx(exact.ll(_rows()), abs=0.03)
    assert best.solution.value == pytest.approx(_fitted().best.solution.value, abs=0.03)
    assert best.rank == max(fit.rank for fit in fitted.fits)


def test_tied_gains_have_the_errors_of_both_log_zs() -> None:
    gain = Learner(CompleteGraph(), SoftTied(30.0, groups=3), CHAINS).fit(_rows(), _rows(1), test=_rows(2))
    both = np.hypot(gain.best.log_z_error, gain.gain.l2.log_z_error)
    assert gain.gain.standard_error > both > 0


def test_a_fit_at_its_iteration_limit_did_not_converge(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where its chains match the data: the average that they match still moves."""
    usual = ChainProblem.schedule
    monkeypatch.setattr(
        ChainProblem, "schedule", lambda self, *, warm: replace(usual(self, warm=warm), iterations=12, looks=())
    )
    fitted = Learner(CompleteGraph(), L2(3.0), CHAINS).fit(_rows())
    assert fitted.best.solution.status is Status.MOVING
    assert not fitted.best.solution.converged
    document = fitted.to_dict()
    assert document["status"].startswith("did not converge: stopped at the iteration limit")
    assert document["converged"] is False
    assert fitted.model.provenance["solver"]["status"] == document["status"]
    codes = np.repeat(_rows().codes, _rows().sample_weight.astype(int), axis=0)
    lines = ["a,b,c,d,e,f,g,h", *(",".join(map(str, row)) for row in codes.tolist())]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    command = f"fit {tmp_path}/t.csv --objective likelihood --engine chains --strength 3 --no-check"
    assert main(command.split()) == 0
    printed = capsys.readouterr()
    assert "  penalty strength 3 did not converge\n" in printed.out
    heads, fit = (line.split("  ") for line in re.findall(r"^  +(lambda .*|3 .*)$", printed.out, flags=re.MULTILINE))
    train = rounded(fitted.best.train, fitted.best.log_z_error)  # no more digits than are known
    assert dict(zip(filter(None, heads), [cell.strip() for cell in fit if cell], strict=True))["train ll"] == train
    told = " ".join(printed.err.split())
    assert "warning: penalty strength 3 did not converge: stopped at the iteration limit" in told


@pytest.mark.parametrize(
    ("rested", "mismatch", "converged"), [(True, 0.5, True), (False, 0.5, False), (True, 3.0, False)]
)
def test_what_converged_means(rested: bool, mismatch: float, converged: bool) -> None:
    ascent = Ascent(np.zeros(1), (Diagnostics(9, mismatch, 1.0, 0.05),), 9, 0.1, rested)
    assert ascent.converged is converged


def test_a_phantom_at_the_iteration_limit_says_both(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LogZEstimate, "has_phantom", property(lambda self: self.near.log_z > -np.inf))
    monkeypatch.setattr(Ascent, "converged", property(lambda self: self.iterations < 0))
    status = Learner(ChowLiuTree(), L2(3.0), CHAINS).fit(_rows()).best.solution.status
    assert status is Status.MOVING_PHANTOM
    assert "did not converge" in status.value
    assert "mode where the rows are not" in status.value


def test_chains_that_do_not_mix_afterwards_are_not_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The winner is estimated again; if its log Z is then unknown, the next fit is chosen."""
    strengths: list[float] = []

    def unmixed_first(self: ChainProblem, factors: Factors) -> LogZEstimate:
        strengths.append(1.0)
        found = usual(self, factors)
        lost = replace(found.near, log_weights=np.where(np.arange(128) > 0, -1e9, 0.0))
        return replace(found, near=lost) if len(strengths) == 1 else found

    usual = ChainProblem.weighed_again
    monkeypatch.setattr(ChainProblem, "weighed_again", unmixed_first)
    fitted = Learner(CompleteGraph(), L2((10.0, 3.0)), CHAINS).fit(_rows(), _rows(1))
    (lost,) = (fit for fit in fitted.fits if fit is not fitted.best)
    assert len(strengths) == 2
    assert lost.solution.status is Status.NOT_MIXING
    assert np.isnan(lost.held_out)
    assert lost.model.known_log_z is None
    assert fitted.best.solution.status is Status.MOMENTS_MATCHED


def test_chains_that_do_not_mix_give_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LogZEstimate, "is_unmixed", property(lambda self: self.near.log_z > -np.inf))
    learner = Learner(ChowLiuTree(), L2((3.0, 1.0)), CHAINS)
    with pytest.raises(InputError, match=r"Chains do not mix on this model.*--structure grown --cells 1e6"):
        learner.fit(_rows(), _rows(1))


def test_a_phantom_that_is_left_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mode occurs as on tmovie and book, whose real heavy rows need a mode that the search does not settle."""
    monkeypatch.setattr(LogZEstimate, "has_phantom", property(lambda self: self.near.log_z > -np.inf))
    best = Learner(ChowLiuTree(), L2(3.0), CHAINS).fit(_rows()).best
    assert best.solution.status is Status.SPURIOUS_MODE
    assert "mode where the rows are not" in best.solution.status.value
    assert not best.solution.converged


def test_held_out_rows_judge_by_what_is_asked() -> None:
    by_ll = Learner(CompleteGraph(), L2((100.0, 1.0)), judge="ll").fit(_rows(), _rows(1))
    assert by_ll.best.judge == "ll"
    assert by_ll.best.measure == "pll"
    for fit in by_ll.fits:
        assert np.isclose(fit.held_out, fit.model.ll(_rows(1)))
    by_pll = Learner(CompleteGraph(), L2(3.0), ENUMERATION, judge="pll").fit(_rows(), _rows(1))
    assert np.isclose(by_pll.best.held_out, by_pll.model.pll(_rows(1)))
    folds = Learner(ChowLiuTree(), L2((10.0, 1.0)), judge="ll", folds=2).fit(_rows())
    assert folds.best.judge == "ll"
    with pytest.raises(InputError, match=r"metric of held-out rows \(judge\) is one of"):
        Learner(judge="aic")


def test_learned_structures_have_the_tree_where_the_likelihood_counts() -> None:
    tree = {tuple(edge) for edge in maximum_information_tree(_rows()).edges.tolist()}
    sparse = Learned(max_degree=1, rule="and")
    for objective, contained in ((LikelihoodSpec(), True), (Learner().objective, False)):
        fitted = Learner(sparse, L2(1.0), objective).fit(_rows())
        assert (tree <= {tuple(edge) for edge in fitted.structure.structure.edges.tolist()}) is contained
    without = Learner(Learned(max_degree=1, rule="and", with_tree=False), L2(1.0), LikelihoodSpec()).fit(_rows())
    assert not tree <= {tuple(edge) for edge in without.structure.structure.edges.tolist()}
    forbidden = Learned(with_tree=True, max_degree=1, forbid=[("x0", "x1")]).learn(_rows())
    assert (0, 1) not in {tuple(edge) for edge in forbidden.structure.edges.tolist()}
