"""Spectra of the data sets of Buchman et al., and the claims of figure 3 on made-up results."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from mrfit.analysis.spectrum.interaction_spectrum import ESTIMATORS
from mrfit_papers.claim import Verdict
from mrfit_papers.experiment import Scope
from mrfit_papers.spec_fig3 import SpecFig3
from mrfit_papers.spec_rows import SETS
from mrfit_papers.spec_spectrum import SpecOrders, SpecSpectrum

FIG3 = SpecFig3()

SIZES = {"flat-l1": [1.0, 0.1, 0.01, 0.001], "flat-l2": [1.0, 0.2, 0.1, 0.05], "pseudo-counts": [1.0, 0.21, 0.1, 0.05]}
SCORES = {"flat-l1": 1.0, "flat-l2": 1.2, "pseudo-counts": 1.21}
CLAIMS: dict[str, tuple[str, dict[str, Any]]] = {
    "mean |w_A| diminishes with |A|": ("flat-l1", {"means": [0.1, 1.0, 0.01, 0.001]}),
    "this is especially pronounced for l1": ("flat-l2", {"means": [1.0, 0.2, 0.1, 1e-5]}),
    "densities of flat l1 fall with |A|: large sets are sparse": ("flat-l1", {"densities": [1.0, 0.1, 0.2, 0.0]}),
    "flat l1 allows a much better fit than flat l2 and pseudo-counts": ("flat-l1", {"fold_scores": [1.3] * 10}),
    "flat l2 and pseudo-counts are hardly discernible": ("flat-l2", {"means": [2.0, 0.5, 0.3, 0.1]}),
    "pairs and triples capture a large portion of the variability": ("orders", {"held_out": [3.0, 2.9, 2.5, 1.0]}),
}


def _results(sets: tuple[str, ...] = SETS) -> dict[Any, dict[str, Any]]:
    """Published results, on every set."""
    results: dict[Any, dict[str, Any]] = {
        SpecSpectrum(name, each): {
            "strength": 1.0, "held_out": SCORES[each], "nonzero": 9, "sets": [4, 6, 4, 1], "means": SIZES[each],
            "densities": [1.0, 0.5, 0.25, 0.0],
            "fold_scores": [SCORES[each] + 0.01 * k + 1e-4 * (k % 3) for k in range(10)],
        }
        for name in sets
        for each in ESTIMATORS
    }  # fmt: skip
    orders = {
        "orders": [1, 2, 3, None], "nonzero": [4, 9, 12, 13], "held_out": [3.0, 1.3, 1.0, 1.0],
        "losses": [2.0, 0.3, 0.0, 0.0], "errors": [0.1, 0.1, 0.0, 0.0],
    }  # fmt: skip
    return results | {SpecOrders(name): dict(orders) for name in sets}


def test_units_say_the_same_twice(data_dir: Path) -> None:
    units = [*(SpecSpectrum("czech", name) for name in ESTIMATORS), SpecOrders("czech")]
    results = [unit.run() for unit in units]
    assert results == [unit.run() for unit in units]
    found = results[list(ESTIMATORS).index("flat-l1")]
    assert len(found["fold_scores"]) == 10
    assert found["sets"] == [6, 15, 20, 15, 6, 1]
    assert found["converged"]
    assert found["gap"] <= 1e-9


def test_claims_hold_on_what_the_paper_says() -> None:
    claims = FIG3.claims(_results())
    assert [claim.words for claim in claims] == list(CLAIMS)
    assert {claim.verdict for claim in claims} == {Verdict.REPRODUCED}


@pytest.mark.parametrize("words", CLAIMS)
def test_every_claim_can_fail(words: str) -> None:
    results, (which, change) = deepcopy(_results()), CLAIMS[words]
    results[SpecOrders("czech") if which == "orders" else SpecSpectrum("czech", which)] |= change
    assert next(claim for claim in FIG3.claims(results) if claim.words == words).verdict is not Verdict.REPRODUCED


def test_claims_are_not_decided_by_one_set() -> None:
    assert {claim.verdict for claim in FIG3.claims(_results(("czech",)))} == {Verdict.NOT_DECIDABLE}


def test_some_results_are_enough_for_a_page(tmp_path: Path) -> None:
    results = _results(("czech",))
    for n in range(len(results) + 1):
        some = dict(list(results.items())[-n:] if n else [])
        for block in FIG3.report(some, Scope()):
            assert block.markdown(tmp_path)
        FIG3.claims(some)


def test_seven_sets_and_two_when_it_is_to_be_quick() -> None:
    assert len(FIG3.units(Scope())) == 7 * 4
    assert {unit.set for unit in FIG3.units(Scope(quick=True))} == {"rochdale", "czech"}  # type: ignore[attr-defined]
