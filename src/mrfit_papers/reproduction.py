"""Reproduction of experiments: run units without a result, store each at once, and write pages."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from mrfit.core.errors import InputError
from mrfit.learning.versions import versions
from mrfit_papers.circumstances import processor
from mrfit_papers.claim import Claim, claims_table
from mrfit_papers.document import Heading, PageDocument, Text
from mrfit_papers.experiment import Experiment, Scope
from mrfit_papers.runner import Clock, outcomes
from mrfit_papers.store import Session, Store, UnitRecord
from mrfit_papers.unit import Unit, checksum

# Called after every unit: with the number done, the number of all, the unit's description, and the seconds left.
Progress = Callable[[int, int, str, float], None]


@dataclass(frozen=True)
class Reproduction:
    """The outcome of a run of experiments."""

    experiments: Sequence[Experiment]
    scope: Scope
    units: Sequence[Unit]
    n_results: int
    n_new: int
    claims: Sequence[Claim]
    pages: Sequence[Path]
    failures: Sequence[str] = ()

    def to_dict(self) -> dict[str, Any]:
        return {
            "experiments": [experiment.word for experiment in self.experiments],
            "quick": self.scope.quick,
            "published": self.scope.published,
            "units": len(self.units),
            "results": self.n_results,
            "new": self.n_new,
            "claims": [claim.to_dict() for claim in self.claims],
            "pages": [str(page) for page in self.pages],
            "failures": list(self.failures),
        }


def run(
    experiments: Sequence[Experiment], scope: Scope, folder: Path, *, jobs: int = 1, progress: Progress | None = None
) -> tuple[int, list[str]]:
    """Run all units that have no result in ``folder`` yet; return their number, and descriptions of failures."""
    units = needed(experiments, scope)
    for name, part in sorted({file for unit in units for file in unit.data()}):
        checksum(name, part)  # refuses to begin if data are missing
    with Store.opened(folder) as store:
        missing = store.missing(units)
        session = Session(date.today().isoformat(), processor(), jobs, mrfit=versions()["mrfit"])
        if missing:
            store.begin_session(session)
        begun, memory, failures = time.perf_counter(), 0.0, []
        clock = Clock(sum(unit.cost() for unit in missing))
        for done, outcome in enumerate(outcomes(missing, jobs=jobs), 1):
            if outcome.result is None:
                failures.append(f"{outcome.unit.describe()}: {outcome.error}")
            else:
                store.add(outcome.unit, outcome.result, outcome.seconds)
            memory = max(memory, outcome.memory)
            if progress is not None:
                progress(done, len(missing), outcome.unit.describe(), clock.left(outcome.unit.cost()))
        if missing:
            seconds = round(time.perf_counter() - begun, 1)
            store.close_session(replace(session, units=len(missing), seconds=seconds, memory=memory * jobs))
        return len(missing), failures


def report(experiments: Sequence[Experiment], scope: Scope, folder: Path) -> tuple[list[Path], list[Claim]]:
    """Write the page of every experiment from stored results, and one of all claims if there are several."""
    store = Store.read(folder)
    pages: list[Path] = []
    for experiment in experiments:
        if document := page(experiment, scope, store):
            pages += document.save(folder, experiment.word)
    if not pages:
        raise InputError(f"{store.path} holds no result of {experiments[0].word}. Run without --report-only first.")
    all_claims = claims(experiments, scope, store)
    if len(experiments) > 1 and all_claims:
        title = "What the papers claim, and what we found"
        pages += PageDocument(title, [claims_table(all_claims)]).save(folder, "claims")
    return pages, all_claims


def page(experiment: Experiment, scope: Scope, store: Store) -> PageDocument | None:
    """Return the page of an experiment, or None if it has no results."""
    units = experiment.asked(scope)
    records = store.of(units)
    if not records:
        return None
    blocks = [*experiment.report(_results(records), scope)]
    if found := experiment.claims(_results(records)):
        blocks += [Heading("Claims"), claims_table(found)]
    blocks.append(Text(_made(experiment, scope, store, units, records)))
    return PageDocument(experiment.title, blocks)


def claims(experiments: Sequence[Experiment], scope: Scope, store: Store) -> list[Claim]:
    """Return every claim on which stored results bear, with its verdict."""
    return [
        claim
        for experiment in experiments
        if (records := store.of(experiment.asked(scope)))
        for claim in experiment.claims(_results(records))
    ]


def _results(records: Mapping[Unit, UnitRecord]) -> dict[Unit, dict[str, Any]]:
    return {unit: record.result for unit, record in records.items()}


def reproduce(
    experiments: Sequence[Experiment],
    scope: Scope,
    folder: str | Path,
    *,
    jobs: int = 1,
    report_only: bool = False,
    progress: Progress | None = None,
) -> Reproduction:
    """Run the units without results and write the pages, or only write the pages."""
    folder, units = Path(folder), needed(experiments, scope)
    n_new, failures = (0, []) if report_only else run(experiments, scope, folder, jobs=jobs, progress=progress)
    pages, found = report(experiments, scope, folder)
    n_results = len(Store.read(folder).of(units))
    return Reproduction(experiments, scope, units, n_results, n_new, found, pages, failures)


def needed(experiments: Sequence[Experiment], scope: Scope) -> list[Unit]:
    """Return every unit once."""
    return list(dict.fromkeys(unit for experiment in experiments for unit in experiment.asked(scope)))


def _made(
    experiment: Experiment, scope: Scope, store: Store, units: Sequence[Unit], records: Mapping[Unit, UnitRecord]
) -> str:
    """Describe the command, the machine and the time that made a page, and the missing units."""
    command = f"mrfit reproduce {experiment.word} {scope.in_options()}".strip()
    seconds, n_done = sum(record.seconds for record in records.values()), len(records)
    machines = " and ".join(dict.fromkeys(session.processor for session in store.sessions)) or "an unknown processor"
    programs = {**store.versions, "mrfit": " and ".join(store.mrfit_versions)}
    made_by = ", ".join(f"{name} {value}" for name, value in programs.items())
    return (
        f"Made by `{command}`: {n_done:,} units, {_duration(seconds)} of one core of {machines}; {made_by}."
        + _missing(units, records, store.outdated(units))
    )


def _missing(units: Sequence[Unit], records: Mapping[Unit, UnitRecord], outdated: Mapping[Unit, list[str]]) -> str:
    """Say how many units are not shown and why, and how long they would take if cost were a measure of time."""
    missing = [unit for unit in units if unit not in records]
    if not missing:
        return ""
    why = [f"{len(missing) - len(outdated):,} have no result yet"] if len(missing) > len(outdated) else []
    if outdated:
        names = sorted({name for differing in outdated.values() for name in differing})
        why.append(
            f"{len(outdated):,} have a result of an older version of {' and '.join(f'`{name}`' for name in names)}"
        )
    pace = sum(record.seconds for record in records.values()) / sum(unit.cost() for unit in records)
    left = _duration(pace * sum(unit.cost() for unit in missing))
    return (
        f" {len(missing):,} of {len(units):,} units are not shown: {' and '.join(why)}. Running them takes {left}, by "
        "the pace of the others."
    )


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"
