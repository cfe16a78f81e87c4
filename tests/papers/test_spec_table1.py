"""Table 1 of Buchman et al. as an experiment; its entries are tested with the parameterizations."""

from __future__ import annotations

from mrfit_papers.claim import Verdict
from mrfit_papers.experiment import Scope
from mrfit_papers.spec_properties import SpecProperties
from mrfit_papers.spec_table1 import SpecTable1

TABLE = SpecTable1()


def test_all_entries_agree_for_three_variables() -> None:
    results = {unit: unit.run() for unit in TABLE.units(Scope(quick=True))}
    entries, only = TABLE.claims(results)
    assert entries.ours == "36 of 36 entries agree"
    assert (entries.verdict, only.verdict) == (Verdict.REPRODUCED, Verdict.REPRODUCED)


def test_a_wrong_entry_shows() -> None:
    results = {unit: unit.run() for unit in TABLE.units(Scope(quick=True))}
    results[SpecProperties("S", 3)] |= {"values": False}
    entries, only = TABLE.claims(results)
    assert entries.ours == "35 of 36 entries agree"
    assert (entries.verdict, only.verdict) == (Verdict.PARTLY, Verdict.NOT_REPRODUCED)


def test_flipping_one_variable_doubles_canonical_parameters_only() -> None:
    assert SpecProperties("S", 4).run()["after_flip"] == 1
    assert SpecProperties("C1", 4).run()["after_flip"] == 2
    assert SpecProperties("F", 3).run()["after_flip"] is None


def test_some_results_are_enough_for_a_page() -> None:
    for results in ({}, {SpecProperties("F", 3): SpecProperties("F", 3).run()}):
        assert TABLE.report(results, Scope())
        assert len(TABLE.claims(results)) in (0, 2)
