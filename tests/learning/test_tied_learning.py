"""Learning tied parameters: grids, selection, what is kept, and what real data show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrfit.analysis.score_curves import score_curves
from mrfit.core.errors import InputError
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning import Learner
from mrfit.learning.cross_validation import mean_over_rows
from mrfit.learning.fit_problem import FitProblem
from mrfit.learning.specification import learn
from mrfit.learning.tying.stochastic_tying import Stochastic
from mrfit.learning.tying_specs import GROUPS, STRENGTHS, HardTied, LearnTieRelearn, SoftTied, TyingSpec
from mrfit.model.markov_network import MarkovNetwork
from mrfit.objectives.row_scores import row_ll, row_pll
from mrfit.structures.simple import FixedStructure, Learned
from mrfit.structures.structure import Structure
from populations import random_rows
from words import learner

SHAPE = (2, 2, 3, 2)


def _rows(seed: int, n: int = 400) -> UniqueRows:
    return random_rows(np.random.default_rng(seed), SHAPE, n)


def _learn(penalty: str, *, valid: UniqueRows | None = None, groups: tuple[int, ...] = (2, 3), **more: Any) -> Any:
    ties = {} if penalty == "l2" else {"groups": groups}
    settings = learner((1.0, 10.0), penalty, tolerance=1e-8, **ties, **more.pop("tying", {}), **more)
    return learn(_rows(0), Structure.complete(len(SHAPE)), settings, valid=valid)


def test_curves_of_scores_have_errors_of_differences() -> None:
    """Paired with the best fit of the curve: over folds as over rows, and it has none itself."""
    valid = _rows(1, 300)
    for learned, held_out in ((_learn("tied", valid=valid), valid), (_learn("tied", folds=3), None)):
        (curve,) = score_curves({"a": learned}, held_out)
        fits = {k: max((fit for fit in learned.fits if fit.n_groups == k), key=lambda fit: fit.rank) for k in (2, 3)}
        assert curve.scores == [-fits[k].rank for k in (2, 3)]
        assert curve.l2 == -learned.gain.l2.rank
        rest, best = sorted(fits.values(), key=lambda fit: fit.rank)
        if held_out is None:
            difference = np.array(best.fold_scores) - np.array(rest.fold_scores)
        else:
            codes = np.repeat(valid.codes, valid.sample_weight.astype(int), axis=0)
            one, other = (row_pll(fit.model.parameters, fit.model.w, codes) for fit in (best, rest))
            difference = one - other
        error = difference.std(ddof=1 if held_out is None else 0) / np.sqrt(len(difference))
        np.testing.assert_allclose(sorted(curve.errors), [0.0, error], rtol=1e-8, atol=1e-15)


def test_errors_are_of_the_score_that_chose() -> None:
    """Held-out rows are scored by another metric than the objective."""
    valid = _rows(1, 300)
    learned = _learn("l2", valid=valid, judge="ll")
    (curve,) = score_curves({"a": learned}, valid)
    one, other = (row_ll(fit.model.parameters, fit.model.w, valid.codes) for fit in learned.fits)
    assert curve.scores == [-fit.rank for fit in sorted(learned.fits, key=lambda fit: fit.strength)]
    expected = mean_over_rows(one - other, valid).standard_error
    np.testing.assert_allclose(sorted(curve.errors), [0.0, expected], rtol=1e-8, atol=1e-15)


def test_errors_do_not_take_weights_for_rows() -> None:
    """A row that stands for a thousand people was still asked once."""
    valid = _rows(1, 300)
    heavy = replace(valid, sample_weight=1000.0 * valid.sample_weight)
    learned = _learn("tied", valid=valid)
    (light,), (same,) = (score_curves({"a": learned}, rows) for rows in (valid, heavy))
    np.testing.assert_allclose(light.errors, same.errors)
    assert max(light.errors) > 0


def test_the_papers_grids_are_the_defaults() -> None:
    assert GROUPS == (1, 2, 5, 10, 20, 100, 500, 1000, 5000, 10000)
    assert STRENGTHS == (0.01, 0.1, 0.5, 1.0, 10.0, 15.0, 30.0, 50.0, 100.0)
    tied = Learner(penalty=SoftTied())
    grid = tied.penalty.grid(FitProblem(_rows(0), Structure.complete(len(SHAPE)), tied), selecting=True)
    assert grid.strengths == STRENGTHS
    assert grid.groups == (1, 2, 5, 10, 14)  # cut at the number of parameters


@pytest.mark.parametrize("penalty", ["tied", "hard", "ltr"])
@pytest.mark.parametrize("objective", ["pseudo-likelihood", "likelihood"])
def test_every_point_of_the_grid_is_an_optimum_with_its_groups(penalty: str, objective: str) -> None:
    learned = _learn(penalty, valid=_rows(1), objective=objective)
    assert sorted((fit.n_groups, fit.strength) for fit in learned.fits) == [(2, 1), (2, 10), (3, 1), (3, 10)]
    assert learned.best.held_out == max(fit.held_out for fit in learned.fits)
    for fit in learned.fits:
        groups = fit.model.groups
        assert groups.n_groups == fit.n_groups
        assert fit.solution.converged
        assert fit.solution.violation <= 1e-8
        assert fit.model.is_hard_tied == (penalty != "tied")
        assert fit.n_distinct == fit.n_groups if penalty != "tied" else fit.n_distinct > fit.n_groups
        assert fit.passes > 0
        means = [fit.model.w[groups.assignment == g].mean() for g in range(groups.n_groups)]
        np.testing.assert_allclose(groups.centers, means, atol=1e-9)
        score = fit.model.pll if objective == "pseudo-likelihood" else fit.model.ll
        assert fit.held_out == pytest.approx(score(_rows(1)), rel=1e-12)
        train = fit.train_pll if objective == "pseudo-likelihood" else fit.train
        assert train == pytest.approx(score(_rows(0)), rel=1e-9)


def test_a_gain_is_measured_against_the_best_l2_fit_on_the_same_rows() -> None:
    valid = _rows(1)
    learned = _learn("tied", valid=valid)
    l2 = learn(_rows(0), Structure.complete(len(SHAPE)), learner(STRENGTHS, tolerance=1e-8), valid=valid).best
    assert learned.gain.l2.held_out == pytest.approx(l2.held_out, rel=1e-9)
    assert learned.gain.mean == pytest.approx(learned.best.held_out - l2.held_out, abs=1e-9)
    repeated = np.repeat(valid.codes, valid.sample_weight.astype(int), axis=0)
    rows = [UniqueRows.from_codes(valid.domain, row[None], np.ones(1)) for row in repeated]
    difference = [learned.best.model.pll(row) - l2.model.pll(row) for row in rows]
    assert learned.gain.standard_error == pytest.approx(np.std(difference) / np.sqrt(len(difference)), rel=1e-4)
    assert learned.gain.rows == "valid"
    assert learned.gain.is_real is None  # these rows chose the winner of both grids


@pytest.mark.parametrize("penalty", ["l2", "tied"])
def test_cross_validation_scores_every_point_on_rows_it_did_not_see(penalty: str) -> None:
    learned = _learn(penalty, folds=3, seed=4)
    for fit in learned.fits:
        assert len(fit.fold_scores) == 3
        assert fit.held_out == pytest.approx(np.mean(fit.fold_scores))
        assert fit.held_out < fit.train_pll
    assert learned.best.held_out == max(fit.held_out for fit in learned.fits)
    assert (learned.gain is not None) == (penalty == "tied")
    again = _learn(penalty, folds=3, seed=4)
    assert again.best.fold_scores == learned.best.fold_scores


def test_progress_counts_every_fit() -> None:
    told: list[tuple[int, int]] = []
    settings = learner((1.0, 10.0), "tied", groups=(2, 3), folds=2)
    learn(_rows(0), Structure.complete(4), settings, progress=lambda *counts: told.append(counts))
    assert told == [(k + 1, 39) for k in range(39)]  # (4 tied + 9 l2) on all rows and on 2 parts


def test_ways_to_tie_keep_orders_apart() -> None:
    orders = _learn("hard", groups=(2,), valid=_rows(1)).best.model.parameters.order_of_parameter
    for tie, n_groups in (("all", 2), ("apart", 4)):
        best = _learn("hard", groups=(2,), valid=_rows(1), tying={"tie": tie}).best
        assert best.model.groups.n_groups == n_groups
        shared = set(best.model.groups.assignment[orders == 1]) & set(best.model.groups.assignment[orders == 2])
        assert bool(shared) == (tie == "all")


def test_a_pinned_group_is_tied_to_zero_and_free_orders_are_not_tied() -> None:
    best = _learn("hard", groups=(3,), valid=_rows(1), tying={"pin_zero": True}, free_orders=(1,)).best
    orders, groups = best.model.parameters.order_of_parameter, best.model.groups
    assert (groups.assignment[orders == 1] == -1).all()
    assert groups.pinned.sum() == 1
    zero = groups.assignment == np.flatnonzero(groups.pinned)[0]
    assert zero.any()
    np.testing.assert_array_equal(best.model.w[zero], 0.0)
    assert best.n_nonzero == len(best.model.w) - zero.sum()


def test_restarts_keep_the_best_objective_and_seeds_repeat() -> None:
    one = _learn("tied", groups=(3,), valid=_rows(1), tying={"start": "random", "seed": 5})
    same = _learn("tied", groups=(3,), valid=_rows(1), tying={"start": "random", "seed": 5})
    more = _learn("tied", groups=(3,), valid=_rows(1), tying={"restarts": 4, "seed": 5})
    single = _learn("tied", groups=(3,), valid=_rows(1))
    np.testing.assert_array_equal(one.best.model.w, same.best.model.w)
    for a, b in zip(more.fits, single.fits, strict=True):
        assert a.solution.value <= b.solution.value + 1e-12
        assert a.passes > b.passes


def test_both_ways_to_relearn_reach_one_optimum() -> None:
    reduced = _learn("ltr", groups=(3,), valid=_rows(1))
    projected = _learn("ltr", groups=(3,), valid=_rows(1), tying={"relearn": "projected"})
    for a, b in zip(reduced.fits, projected.fits, strict=True):
        np.testing.assert_allclose(a.model.w, b.model.w, atol=1e-5)
        assert b.model.is_hard_tied


def test_stochastic_tying_comes_near() -> None:
    exact = _learn("tied", groups=(2,), valid=_rows(1))
    near = _learn("tied", groups=(2,), valid=_rows(1), tying={"stochastic": Stochastic(batch_rows=50, epochs=100)})
    for a, b in zip(exact.fits, near.fits, strict=True):
        assert not b.solution.converged
        assert b.passes >= 100  # epochs
        assert a.solution.value <= b.solution.value + 1e-9
        assert b.solution.value - a.solution.value < 0.02 * abs(a.solution.value)
    assert near.n_cells == exact.n_cells  # of all rows, not of a batch


def test_save_and_load_keep_groups_and_hard_models_are_smaller(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = random_rows(rng, (2,) * 40, 500)
    sizes = {}
    for penalty in ("l2", "tied", "hard"):
        ties = {} if penalty == "l2" else {"groups": 4, "tie": "apart"}
        settings = learner((5.0,), penalty, free_orders=(), **ties)
        model = learn(rows, "complete", settings).best.model
        model.save(tmp_path / "m.mrf")
        sizes[penalty] = (tmp_path / "m.mrf").stat().st_size
        back = MarkovNetwork.load(tmp_path / "m.mrf")
        np.testing.assert_array_equal(back.w, model.w)
        assert (back.groups is None) == (model.groups is None)
        if model.groups is not None and back.groups is not None:
            for name in ("assignment", "centers", "pinned"):
                np.testing.assert_array_equal(getattr(back.groups, name), getattr(model.groups, name))
    assert sizes["hard"] < 0.75 * sizes["l2"]  # scopes and provenance are as long as before


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"penalty": "tied"}, "Choosing one of .* fits needs held-out rows"),
        ({"penalty": "knotted"}, "no penalty 'knotted'.*'tied'"),
        ({"objective": "other"}, "no objective 'other'"),
        ({"folds": 1}, "at least 2 folds"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        learn(_rows(0), Structure.complete(4), learner(**settings))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"groups": ()}, "at least 1"),
        ({"groups": (0,)}, "at least 1; got"),
        ({"groups": (2.5,)}, "whole numbers"),
        ({"tie": "none"}, "no way to tie 'none'"),
        ({"start": "zero"}, "no start 'zero'"),
        ({"restarts": -1}, "must not be negative"),
        ({"relearn": "twice"}, "no way to relearn 'twice'"),
    ],
)
def test_wrong_ways_to_tie_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        HardTied(**settings)


def test_validation_rows_and_folds_exclude_each_other() -> None:
    with pytest.raises(InputError, match="not both"):
        _learn("tied", valid=_rows(1), folds=3)


# -- real data ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("degree", "least"), [(15, 0.7), (5, 0.1)])
def test_tying_improves_on_l2_on_dna(degree: int, least: float, named_rows: Any) -> None:
    """Blankets from OR-ed l1 paths, everything chosen on the validation rows, judged on the test rows."""
    rows, valid, test = (named_rows("dna", part) for part in ("train", "valid", "test"))
    structure = Learned(max_degree=degree, bound="path").learn(rows, jobs=2).structure
    learned = Learner(FixedStructure(structure), SoftTied(groups=(2, 20))).fit(rows, valid, test=test, jobs=2)
    assert learned.gain is not None
    assert learned.gain.is_real
    assert learned.gain.mean > least
    assert learned.gain.mean == pytest.approx(learned.best.model.pll(test) - learned.gain.l2.model.pll(test))
    assert learned.test is not None
    assert learned.test.mean == pytest.approx(learned.best.model.pll(test))


def test_nothing_improves_on_nltcs_and_the_report_says_so(named_rows: Any) -> None:
    rows, valid, test = (named_rows("nltcs", part) for part in ("train", "valid", "test"))
    learned = Learner(penalty=SoftTied(groups=(2, 10))).fit(rows, valid, test=test, jobs=2)
    assert learned.gain is not None
    assert not learned.gain.is_real
    assert -learned.best.model.pll(test) == pytest.approx(4.951, abs=5e-4)


@pytest.mark.parametrize("penalty", ["tied", "hard", "ltr"])
def test_rough_fits_lead_to_the_same_choice(penalty: str) -> None:
    valid, settings = _rows(1, 300), learner((0.01, 1.0, 10.0, 100.0), penalty, groups=(1, 2, 5))
    fine = settings.fit(_rows(0), valid, compared=False)
    rough = settings.fit(_rows(0), valid, compared=False, rough=1e-3)
    assert [(f.n_groups, f.strength) for f in rough.fits] == [(f.n_groups, f.strength) for f in fine.fits]
    assert rough.best.rank == pytest.approx(fine.best.rank, abs=1e-5)  # where groups are the same, strengths may differ
    assert rough.best.n_groups == fine.best.n_groups
    assert rough.best.solution.violation <= 1e-6 < max(fit.solution.violation for fit in rough.fits)  # some were left


@pytest.mark.parametrize(
    ("name", "degree", "penalty"), [("dna", 5, SoftTied), ("nltcs", 15, SoftTied), ("nltcs", 15, LearnTieRelearn)]
)
def test_rough_fits_choose_as_fine_ones_on_real_rows(
    name: str, degree: int, penalty: type[TyingSpec], named_rows: Callable[[str, str], UniqueRows]
) -> None:
    """And all that came near the best is as good as if nothing had been rough."""
    rows, valid = (named_rows(name, part) for part in ("train", "valid"))
    given = FixedStructure(Learned(max_degree=degree, bound="top").learn(rows, valid=valid).structure)
    settings = Learner(given, penalty((0.1, 15.0, 50.0), groups=(1, 2, 20)))
    fine, rough = (settings.fit(rows, valid, compared=False, rough=tolerance) for tolerance in (None, 1e-4))
    assert (rough.best.n_groups, rough.best.strength) == (fine.best.n_groups, fine.best.strength)
    assert rough.best.rank == pytest.approx(fine.best.rank, rel=1e-5)  # soft tying has optima side by side
    near = [fit for fit in rough.fits if fit.rank > rough.best.rank * 1.0003]
    assert max(fit.solution.violation for fit in near) <= settings.tolerance
    assert len(near) < len(rough.fits)


def test_rough_fits_are_refused_where_nothing_is_chosen_from_them() -> None:
    valid = _rows(1)
    tied = learner((1.0, 10.0), "tied", groups=(2,))
    for settings, held_out in ((learner((1.0, 10.0), "l2"), valid), (replace(tied, folds=2), None)):
        with pytest.raises(InputError, match="Leave rough out"):
            settings.fit(_rows(0), held_out, rough=1e-4)
    with pytest.raises(InputError, match="must be at least the learner's"):
        tied.fit(_rows(0), valid, rough=1e-9)
