"""The experiments of Chou et al. (2018): what they run, and what they make of results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrfit import Learner
from mrfit.core.errors import InputError
from mrfit.data.named_datasets import named_set
from mrfit.learning.penalty_specs import L2
from mrfit.structures.nodewise.pairwise_learner import PairwiseLearner
from mrfit.structures.simple import Learned
from mrfit_papers.apt_cell import METHODS, PAPERS, PAPERS_DEGREES, AptCell
from mrfit_papers.apt_curve import AptCurve, PseudoLikelihoodPoint
from mrfit_papers.apt_curve_ll import AptCurveLl, LikelihoodCurvePoint
from mrfit_papers.apt_fig1 import AptFig1, TiedParameters
from mrfit_papers.apt_fig2 import AptFig2
from mrfit_papers.apt_table1 import DEGREES, READINGS, SETS, AptTable1, published
from mrfit_papers.apt_theory import AptTheory, Bounds, Rows, enough
from mrfit_papers.benchmark_rows import read
from mrfit_papers.claim import Claim, Verdict, claims_table
from mrfit_papers.curve import COMPARED, CurvePoint, CurvePoints
from mrfit_papers.experiment import Experiment, Scope
from mrfit_papers.experiments import EXPERIMENTS, experiments_called
from mrfit_papers.subsample import TIED, subsample, tied_network


def result(test: float, gain: float = 0.0, **more: Any) -> dict[str, Any]:
    fixed = {"gain_error": 0.01, "edges": 7, "groups": 2, "strength": 1.0, "by_groups": []}
    return {"test": test, "gain": gain, **fixed, **more}


def row(name: str, degree: int, bound: str, l2: float, ltr: float, apt: float) -> dict[AptCell, dict[str, Any]]:
    scores = dict(zip(PAPERS, (l2, ltr, apt), strict=True))
    return {AptCell(name, degree, bound, method): result(score, l2 - score) for method, score in scores.items()}


def rows(bound: str, l2: float, ltr: float, apt: float) -> dict[AptCell, dict[str, Any]]:
    """Equal scores in all published cells, as differences from the paper's best."""
    best = {place: min(scores.values()) for place, scores in published().items()}
    return {
        unit: values
        for (name, degree), paper in best.items()
        for unit, values in row(name, degree, bound, paper + l2, paper + ltr, paper + apt).items()
    }


def claimed(experiment: Experiment, results: dict[Any, dict[str, Any]], words: str) -> Claim:
    return next(claim for claim in experiment.claims(results) if words in claim.words)


def test_the_paper_s_table_is_as_printed() -> None:
    table = published()
    assert len(table) == 58
    assert table["nltcs", 5] == {"L2": 5.05, "LTR": 5.02, "APT": 5.02}
    assert table["bbc", 50] == {"L2": 331.67, "LTR": 343.90, "APT": 260.95}
    assert table["ad", 15] == {"L2": 6.37, "LTR": 6.11, "APT": 6.16}
    assert {name for name, _ in table} == set(SETS)
    assert ("nltcs", 50) not in table


def test_the_paper_s_cells_are_run_by_all_readings_and_all_degrees_by_both_of_the_paper_s() -> None:
    units = set(AptTable1().units(Scope()))
    for name, degree in published():
        for bound in READINGS:
            assert {AptCell(name, degree, bound, method) for method in PAPERS} <= units
    assert {unit.degree for unit in units} == set(DEGREES)
    wanted = {("top", method) for method in METHODS} | {("gain", method) for method in PAPERS}
    for degree in DEGREES:
        asked = {(unit.bound, unit.method) for unit in units if unit.degree == degree}
        assert asked >= wanted
        assert ({bound for bound, _ in asked} == set(READINGS)) == (degree in PAPERS_DEGREES)
    assert all(unit.degree < named_set(unit.set).n_variables for unit in units)
    assert set(AptFig2().units(Scope())) <= units  # so that nothing is run twice


def test_a_cell_is_what_a_user_would_learn(data_dir: Path) -> None:
    cell = AptCell("nltcs", 5, "top", "APT", quick=True)
    found = cell.run()
    rows, valid, test = read("nltcs")
    fitted = cell.learner().fit(rows, valid, test=test)
    assert found["test"] == pytest.approx(-fitted.test.mean, abs=1e-5)  # type: ignore[union-attr]
    assert (found["groups"], found["strength"]) == (fitted.best.n_groups, fitted.best.strength)
    assert 1 <= found["converged"] <= found["fits"] == len(fitted.fits)  # what is far from the best is rough
    assert found["gain"] == pytest.approx(fitted.gain.mean, abs=1e-5)  # type: ignore[union-attr]
    assert [point["groups"] for point in found["by_groups"]] == sorted({f.n_groups for f in fitted.fits})  # type: ignore
    assert min(point["valid"] for point in found["by_groups"]) == found["valid"]


def test_l2_gains_nothing_over_itself(data_dir: Path) -> None:
    found = AptCell("nltcs", 5, "top", "L2", quick=True).run()
    assert (found["gain"], found["gain_error"], found["by_groups"]) == (0.0, 0.0, [])


def test_the_key_of_a_cell_holds_learner_and_data(data_dir: Path) -> None:
    parts = AptCell("nltcs", 5, "top", "LTR").determined_by()
    assert Learner.from_dict(parts["learner"]).structure == Learned(max_degree=5, bound="top")
    assert set(parts["data"]) == {"nltcs:train", "nltcs:valid", "nltcs:test"}
    assert len({AptCell("nltcs", 5, "top", "LTR", quick).key for quick in (False, True)}) == 2


def test_a_structure_learner_s_version_is_in_the_keys_of_its_cells_alone(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And so is that of L2, which every gain is over."""
    cells = [AptCell("nltcs", 5, bound, method) for bound in ("top", "joint") for method in ("L2", "APT")]
    before = [cell.key for cell in cells]
    monkeypatch.setattr(PairwiseLearner, "results_version_of_way", PairwiseLearner.results_version_of_way | {"top": 9})
    changed = [cell.key != key for cell, key in zip(cells, before, strict=True)]
    assert changed == [True, True, False, False]
    monkeypatch.setattr(L2, "results_version", 3)
    assert "mrfit." not in str(cells[3].determined_by())  # so that code may move
    assert cells[3].raised_versions == {"l2": 3, "learned (joint)": PairwiseLearner.results_version_of_way["joint"]}


def test_table_1_marks_cells_that_are_worse_than_the_paper(tmp_path: Path) -> None:
    results = row("nltcs", 5, "top", 5.03, 5.01, 5.04) | row("dna", 5, "top", 59.0, 59.5, 59.1)
    text = "\n".join(block.markdown(tmp_path) for block in AptTable1().report(results, Scope()))
    assert "| nltcs | 5 | 7 | 5.05 | 5.030 | -0.020 | 5.02 | **5.010** | -0.010 |" in text
    assert "1 of 2 published cells, L2 alone in 0 of 2; not in dna at d = 5 (59.000 against 58.46)" in text
    assert "Bound read as `gain`" not in text  # nothing of readings that were not run


def test_a_cell_counts_as_soon_as_one_method_reaches_the_paper(tmp_path: Path) -> None:
    """More methods can only lower the best; where none reaches it, the page says which are missing."""
    results = {AptCell("dna", 5, "top", "L2"): result(58.0), AptCell("ad", 15, "top", "L2"): result(6.2)}
    results |= row("ad", 15, "joint", 6.0, 6.1, 6.2)
    text = "\n".join(block.markdown(tmp_path) for block in AptTable1().report(results, Scope()))
    assert "1 of 2 published cells, L2 alone in 1 of 2; not in ad at d = 15 (6.200 against 6.11 by L2 alone)." in text
    assert "56 published cells have no result by this reading yet." in text
    assert "| ad | 15 | 6.11 | 7 | 6.200 (+0.090) | 7 | 6.000 |" in text
    claim = claimed(AptTable1(), results, "58 cells")
    assert "top 1 of 2; joint 1 of 1; by one reading or another in 2" in claim.ours
    assert not any("APT outperforms L2" in claim.words for claim in AptTable1().claims(results))


def test_a_cell_that_differs_beyond_the_digits_of_the_paper_is_worse_and_says_so(tmp_path: Path) -> None:
    results = row("ad", 15, "top", 6.112, 6.2, 6.2)
    text = "\n".join(block.markdown(tmp_path) for block in AptTable1().report(results, Scope()))
    assert "0 of 1 published cells, L2 alone in 0 of 1; " in text
    assert "not in ad at d = 15 (6.112 against 6.11, equal in the digits it prints)." in text


def test_what_the_paper_has_is_run_first() -> None:
    def first(bound: str, method: str, degree: int = 5) -> int:
        return AptCell("nltcs", degree, bound, method).turn()

    assert first("top", "APT") < first("joint", "L2") < first("top", "l1") == first("top", "L2", 10)


def test_what_the_paper_has_can_be_asked_for_alone() -> None:
    units = AptTable1().asked(Scope(published=True))
    assert {(unit.set, unit.degree) for unit in units} == set(published())  # type: ignore[attr-defined]
    assert {(unit.bound, unit.method) for unit in units} == {("top", method) for method in PAPERS}  # type: ignore[attr-defined]
    assert len(units) == 3 * 58 < len(AptTable1().asked(Scope()))


def test_claims_of_table_1_go_both_ways() -> None:
    table = AptTable1()
    good, bad = rows("top", 0.0, -0.1, -0.2), rows("top", 0.1, 0.2, 0.3)
    for words in ("58 cells", "APT outperforms L2", "LTR mostly outperforms", "APT outperforms LTR"):
        assert claimed(table, good, words).verdict is Verdict.REPRODUCED
        assert claimed(table, bad, words).verdict is Verdict.NOT_REPRODUCED
    assert not any("come from tying" in claim.words for claim in table.claims(good))  # nothing of what was not run


def test_what_was_run_may_not_decide_a_claim(tmp_path: Path) -> None:
    """One cell of 58, whether it holds there or not; and none that could still turn out the other way."""
    for results in (row("nltcs", 5, "top", 5.0, 4.9, 4.8), row("nltcs", 5, "top", 5.1, 5.2, 5.3)):
        claims = AptTable1().claims(results)
        assert len(claims) == 5
        assert {claim.verdict_in_words for claim in claims} == {"not decidable from 1 of 58 cells"}
    text = claims_table(claims).markdown(tmp_path)
    assert text.count("**not decidable from 1 of 58 cells**") == 5
    most = dict(list(rows("top", 0.1, 0.2, 0.3).items())[: 3 * 30])
    assert claimed(AptTable1(), most, "APT outperforms L2").verdict is Verdict.NOT_REPRODUCED  # 28 cannot be half
    assert claimed(AptTable1(), most, "hard tying helps").verdict is Verdict.NOT_DECIDABLE  # a median of all
    least = dict(list(rows("top", 0.1, 0.2, 0.3).items())[: 3 * 29])
    assert claimed(AptTable1(), least, "APT outperforms L2").verdict is Verdict.NOT_DECIDABLE


def test_the_headline_says_what_l2_reaches_alone() -> None:
    results = row("nltcs", 5, "top", 5.0, 5.1, 5.1) | row("dna", 5, "top", 59.0, 59.0, 58.0)
    assert "at most the paper's best in: top 2 of 2;" in claimed(AptTable1(), results, "58 cells").ours
    assert "L2 alone, without any tying: top 1 of 2" in claimed(AptTable1(), results, "58 cells").ours


def test_readings_are_compared_with_the_paper_s_numbers(tmp_path: Path) -> None:
    results = row("dna", 5, "top", 59.16, 58.54, 57.8754) | row("dna", 5, "path", 65.076, 58.54, 58.46)
    text = "\n".join(block.markdown(tmp_path) for block in AptTable1().report(results, Scope()))
    assert "| `top` | 1 | 0.00 | +0.00 | 0.00 | +0.00 | 1.00 | -1.00 |" in text
    assert "| `path` | 1 | 10.00 | +10.00 |" in text


def test_a_gain_within_its_error_is_none() -> None:
    results = row("nltcs", 5, "top", 5.0, 5.0, 4.999)
    assert "better than L2 at its optimum in 0 of 1 cells" in claimed(AptTable1(), results, "APT outperforms L2").ours


def test_the_gap_widens_or_not() -> None:
    def of(gains: tuple[float, float, float]) -> dict[AptCell, dict[str, Any]]:
        by_degree = dict(zip(PAPERS_DEGREES, gains, strict=True))
        return {
            unit: values
            for name, degree in published()
            for unit, values in row(name, degree, "top", 58.0, 58.0, 58.0 - by_degree[degree]).items()
        }

    assert claimed(AptTable1(), of((0.1, 0.2, 0.9)), "widens").verdict is Verdict.REPRODUCED
    assert claimed(AptTable1(), of((0.9, 0.2, 0.1)), "widens").verdict is Verdict.NOT_REPRODUCED
    some = {unit: values for unit, values in of((0.1, 0.2, 0.9)).items() if unit.set in ("dna", "nltcs")}
    assert claimed(AptTable1(), some, "widens").verdict_in_words == "not decidable from 1 of 18 sets"


def test_hard_tying_needs_groups_or_not() -> None:
    def of(few: float, many: float) -> dict[AptCell, dict[str, Any]]:
        results = rows("top", 0.0, 0.0, 0.0)
        for unit, values in results.items():
            extra = {2: few, 100: many} if unit.method == "LTR" else {2: 0.0, 100: 0.0}
            values["by_groups"] = [{"groups": k, "test": 58.0 + more} for k, more in extra.items()]
        return results

    assert claimed(AptTable1(), of(3.0, 0.01), "hard tying helps only").verdict is Verdict.REPRODUCED
    assert claimed(AptTable1(), of(0.01, 3.0), "hard tying helps only").verdict is Verdict.NOT_REPRODUCED


def test_figure_2_has_a_curve_for_each_degree(tmp_path: Path) -> None:
    points = [{"groups": k, "strength": 1.0, "valid": 1.0, "test": 58.0 + 0.1 * abs(k - 20)} for k in (1, 20, 1000)]
    results = {
        unit: result(58.5) if unit.method == "L2" else result(58, by_groups=points) for unit in AptFig2().units(Scope())
    }
    blocks = AptFig2().report(results, Scope())
    assert "apt-fig2-dna.png" in blocks[1].markdown(tmp_path)
    assert claimed(AptFig2(), results, "about 20 groups").verdict is Verdict.REPRODUCED
    assert claimed(AptFig2(), results, "there is a k").verdict is Verdict.REPRODUCED
    one = {unit: values for unit, values in results.items() if (unit.set, unit.degree) == ("dna", 5)}
    assert claimed(AptFig2(), one, "about 20 groups").verdict is Verdict.REPRODUCED  # one k is enough
    assert claimed(AptFig2(), one, "there is a k").verdict_in_words == "not decidable from 1 of 12 curves"
    worse = {unit: result(50.0) if unit.method == "L2" else values for unit, values in results.items()}
    assert claimed(AptFig2(), worse, "there is a k").verdict is Verdict.NOT_REPRODUCED


def test_figure_1_draws_real_parameters(data_dir: Path, tmp_path: Path) -> None:
    unit = TiedParameters("nltcs", 5, 5, 30.0)
    found = unit.run()
    w, group, centers = np.array(found["w"]), np.array(found["assignment"]), np.array(found["centers"])
    np.testing.assert_allclose(np.bincount(group, w) / np.bincount(group), centers, atol=1e-5)
    assert "apt-fig1-nltcs.png" in AptFig1().report({unit: found}, Scope())[1].markdown(tmp_path)


def test_recovery_is_found_with_many_rows_and_not_with_few() -> None:
    few, many = (Rows("likelihood", 0.0, n, 4).run()["found"]["soft tying"] for n in (60, 30_000))
    assert few < many == 1.0
    bounds = Bounds("pseudo-likelihood", 0.0).run()
    assert 30_000 < bounds["proven"]["soft"] <= bounds["theorem"]["soft"]


def test_enough_rows_are_those_from_which_on_it_holds() -> None:
    shares = {n: {"soft tying": share} for n, share in ((1, 1.0), (2, 0.5), (4, 0.96), (8, 1.0))}
    assert enough(shares, "soft tying") == 4
    assert enough({1: {"soft tying": 0.5}}, "soft tying") is None


def test_lemma_1_is_refuted_by_its_example() -> None:
    assert claimed(AptTheory(), {}, "k-means returns").verdict is Verdict.NOT_REPRODUCED


def test_the_tied_network_takes_four_values() -> None:
    assert sorted(set(tied_network().w)) == [-1.0, -0.4, 0.5, 1.2]


def test_a_point_learns_from_so_many_rows_and_repeats(data_dir: Path) -> None:
    point = PseudoLikelihoodPoint("nltcs", 200, "L2, unary free", seed=3, quick=True)
    assert point.run() == point.run()
    assert point.run()["rows"] == 200
    assert point.run() != PseudoLikelihoodPoint("nltcs", 200, "L2, unary free", seed=4, quick=True).run()


def test_tying_pays_on_a_tied_network() -> None:
    assert min(PseudoLikelihoodPoint(TIED, 1000, "APT", seed, quick=True).run()["gain"] for seed in range(3)) > 0.0


def curve(point: type[CurvePoint], gains: dict[int, float]) -> dict[CurvePoint, dict[str, Any]]:
    """Made-up results on nltcs: the same gain of all methods by the number of rows, a little more with every seed."""
    return {
        point("nltcs", n, method, seed): {"rows": n, "test": 6.0, "gain": gain + 0.01 * seed}
        for n, gain in gains.items()
        for method in COMPARED
        for seed in range(3)
    }


def test_curves_compare_on_the_same_subsets() -> None:
    results = curve(PseudoLikelihoodPoint, {50: 0.5})
    del results[PseudoLikelihoodPoint("nltcs", 50, "l1", 2)]  # a run that was stopped
    assert CurvePoints(results).gains["nltcs", 50, "APT"] == [0.5, 0.51]


def test_curves_show_only_sizes_that_all_methods_have() -> None:
    results = curve(PseudoLikelihoodPoint, {50: 0.5, 1000: 0.0})
    for seed in range(3):
        del results[PseudoLikelihoodPoint("nltcs", 1000, "APT", seed)]
    points = CurvePoints(results)
    assert points.sizes("nltcs") == [50]
    mean, error = points.mean("nltcs", 50, "APT")
    assert mean == pytest.approx(0.51)
    assert error == pytest.approx(0.01 / np.sqrt(3))


@pytest.mark.parametrize(
    ("experiment", "point"), [(AptCurve(), PseudoLikelihoodPoint), (AptCurveLl(), LikelihoodCurvePoint)]
)
def test_curves_claim_what_points_say(experiment: Experiment, point: type[CurvePoint], tmp_path: Path) -> None:
    good = curve(point, {50: 0.5, 1000: 0.4})
    units = [unit for unit in experiment.units(Scope()) if isinstance(unit, CurvePoint)]
    everywhere, nowhere = (
        {unit: {"rows": unit.n_rows, "test": 6.0, "gain": gain + 0.01 * unit.seed} for unit in units}
        for gain in (0.5, -0.5)
    )
    assert claimed(experiment, everywhere, "alleviates").verdict is Verdict.REPRODUCED
    assert claimed(experiment, nowhere, "alleviates").verdict is Verdict.NOT_REPRODUCED
    assert "not decidable from 2 of" in claimed(experiment, good, "alleviates").verdict_in_words
    text = "\n".join(block.markdown(tmp_path) for block in experiment.report(good, Scope()))
    assert "| nltcs | 50 | 3 | -6.5100 | **+0.5100 ± 0.0058**" in text
    assert (tmp_path / f"{experiment.word}.png").exists()


def test_a_point_of_likelihood_is_what_a_user_would_learn(data_dir: Path) -> None:
    """The exact likelihood is fitted and selects, compared with L2 that shrinks single variables too."""
    point = LikelihoodCurvePoint("nltcs", 200, "APT", seed=1, quick=True)
    found, given = point.run(), subsample("nltcs", 200, 1, LikelihoodCurvePoint.learned)
    fitted = point.learner().fit(given.rows, given.valid, test=given.test)
    assert fitted.engine == "tree"
    assert found["test"] == pytest.approx(-fitted.test.mean, abs=1e-9)  # type: ignore[union-attr]
    assert found["converged"] == found["fits"] == len(fitted.fits)
    l2 = replace(point, method="L2").learner()
    assert l2.penalty.free_orders == ()
    other = l2.fit(given.rows, given.valid, test=given.test)
    assert found["gain"] == pytest.approx(-found["test"] - other.test.mean, abs=1e-9)  # type: ignore[union-attr]


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=list(EXPERIMENTS))
def test_reports_of_nothing_break_nothing(experiment: Experiment, tmp_path: Path) -> None:
    for block in experiment.report({}, Scope()):
        assert block.html() is not None
        assert block.markdown(tmp_path) is not None
    experiment.claims({})


def test_unknown_words_are_refused() -> None:
    with pytest.raises(InputError, match="no experiment 'apt-table2'"):
        experiments_called("apt-table2")
    with pytest.raises(InputError, match="no data set 'iris'; it has"):
        AptTable1().units(Scope(datasets=("iris",)))
    assert experiments_called("all") == tuple(EXPERIMENTS.values())
