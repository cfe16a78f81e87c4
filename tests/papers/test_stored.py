"""The results in docs/replication are those of their units, and its pages are made from them."""

from __future__ import annotations

from pathlib import Path

from mrfit_papers.document import PageDocument
from mrfit_papers.experiment import Scope
from mrfit_papers.experiments import EXPERIMENTS
from mrfit_papers.reproduction import needed, page
from mrfit_papers.store import Store

REPLICATION = Path(__file__).parents[2] / "docs" / "replication"


def test_stored_results_have_the_keys_of_their_units(data_dir: Path) -> None:
    """Keys are settings, learner, data and results versions. Results of an older version name that version."""
    store, units = Store.read(REPLICATION), needed(tuple(EXPERIMENTS.values()), Scope())
    assert {unit.key for unit in store.of(units)} <= set(store.records)
    assert len(store.of(units)) + len(store.outdated(units)) == len(store.records)


def test_the_page_of_table_1_is_what_stored_results_say(tmp_path: Path) -> None:
    found = page(EXPERIMENTS["apt-table1"], Scope(), Store.read(REPLICATION))
    assert isinstance(found, PageDocument)
    found.save(tmp_path, "apt-table1")
    assert (tmp_path / "apt-table1.md").read_text() == (REPLICATION / "apt-table1.md").read_text()
