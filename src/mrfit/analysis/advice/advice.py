"""Advice on a new table: what it contains, what to watch out for, and which commands to run on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats
from mrfit.analysis.advice.network_seconds import network_seconds
from mrfit.core.errors import InputError
from mrfit.data.encoding import UNOBSERVED
from mrfit.data.missing_codes import missing_codes
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.learner import Learner
from mrfit.parameterizations.ordered import Ordered
from mrfit.structures.edge_signs import ranks_of
from mrfit.structures.nodewise.batched_paths import RegressionPool
from mrfit.structures.nodewise.learners import ForwardSelection, L1Path
from mrfit.structures.nodewise.pairwise_learner import PairwiseLearner

_PLENTY = 10.0  # rows for each parameter of all pairs, from which nothing needs to be selected
_FEW = 2.0  # and up to which only strong edges are found
_MOST_COMPLETE = 40  # variables of which all pairs can be looked at
_MOST_EBIC = 150  # variables up to which whole l1 paths are walked
_RARE = 10.0  # rows in a state
_MANY_STATES, _FEW_EACH = 20, 30.0  # states, and rows in each, of what may be persons or places
_MOST_MISSING = 12  # cells of a row, which EM fills in in all ways
_RESAMPLES = 1000
_NAMED = 3  # columns in a sentence

# Seconds of one network among those of many resamples whose regressions are in one pool, for each pair of variables and
# for each pair in each distinct row (`python -m benchmarks bootstrap`): a variable has about as many sets of neighbours
# to refit as there are other variables. All else is measured on the table itself.
_A_PAIR, _A_CELL = 4e-5, 4e-8


@dataclass(frozen=True)
class Step:
    """A command to copy, and why."""

    command: str
    reason: str

    def to_dict(self) -> dict[str, str]:
        return {"command": self.command, "reason": self.reason}


@dataclass(frozen=True, eq=False)
class TableDescription:
    """Table to give advice on; rows with missing values are included."""

    rows: UniqueRows

    @property
    def n_rows(self) -> float:
        return self.rows.total_weight

    @property
    def n_states(self) -> NDArray[np.int64]:
        return np.array(self.rows.domain.shape, np.int64)

    @property
    def has_two_states(self) -> bool:
        return bool((self.n_states <= 2).all())

    @property
    def n_parameters(self) -> int:
        """Number of free parameters of the network in which all pairs interact."""
        free = self.n_states - 1
        return int(free.sum() + (free.sum() ** 2 - (free**2).sum()) // 2)

    @property
    def rows_a_parameter(self) -> float:
        return self.n_rows / max(self.n_parameters, 1)

    @property
    def missing(self) -> NDArray[np.bool_]:
        return np.asarray(self.rows.codes == UNOBSERVED, bool)

    @property
    def incomplete(self) -> float:
        """Share of rows with a missing cell."""
        return float(self.rows.sample_weight @ self.missing.any(axis=1)) / self.n_rows

    @property
    def codes(self) -> dict[str, tuple[str, ...]]:
        """States that look like codes of missing answers, by variable."""
        found = {each.name: missing_codes(each.states) for each in self.rows.domain}
        return {name: codes for name, codes in found.items() if codes}

    @property
    def ordered(self) -> list[str]:
        """Variables of three or more states that are numbers, none of them a code of a missing answer."""
        numbers = (each.name for each in self.rows.domain if each.n_states > 2 and ranks_of(each) is not None)
        return [name for name in numbers if name not in self.codes]

    @property
    def complete(self) -> UniqueRows | None:
        """Complete rows; None where every row lacks a value."""
        kept = ~self.missing.any(axis=1)
        if kept.all():
            return self.rows
        rows = self.rows
        return UniqueRows.from_codes(rows.domain, rows.codes[kept], rows.sample_weight[kept]) if kept.any() else None

    @property
    def filled(self) -> UniqueRows:
        """All rows, with a variable's most frequent state where it is missing."""
        rows = self.rows
        usual = np.array([np.argmax(self.counts(i)) for i in range(len(rows.domain))], np.uint8)
        return UniqueRows.from_codes(rows.domain, np.where(self.missing, usual, rows.codes), rows.sample_weight)

    def counts(self, i: int) -> Floats:
        """The weight of every state."""
        seen = ~self.missing[:, i]
        codes, weight = self.rows.codes[seen, i], self.rows.sample_weight[seen]
        return np.bincount(codes, weight, self.rows.domain.shape[i]).astype(np.float64)

    @property
    def rare(self) -> list[str]:
        """States with few rows, of columns that have no other fault; codes of missing answers are no states."""
        faulty, codes = {*self.constant, *self.like_persons}, self.codes
        return [
            f"{variable.name}={state} ({n:,.4g})"
            for i, variable in enumerate(self.rows.domain)
            if variable.name not in faulty
            for state, n in zip(variable.states, self.counts(i), strict=True)
            if n < _RARE and state not in codes.get(variable.name, ())
        ]

    @property
    def has_empty_pairs(self) -> bool:
        """Whether two states never meet, though each occurs: without a penalty their weight would be infinite."""
        shape, codes = self.rows.domain.shape, self.rows.codes.astype(np.int64)
        for a, b in combinations(range(len(shape)), 2):
            seen = ~(self.missing[:, a] | self.missing[:, b])
            if len(np.unique(codes[seen, a] * shape[b] + codes[seen, b])) < shape[a] * shape[b]:
                return True
        return False

    @property
    def constant(self) -> list[str]:
        return [each.name for i, each in enumerate(self.rows.domain) if np.count_nonzero(self.counts(i)) < 2]

    @property
    def like_persons(self) -> list[str]:
        """Columns of many values with a few rows each."""
        return [
            each.name
            for each in self.rows.domain
            if each.n_states > _MANY_STATES and self.n_rows / each.n_states < _FEW_EACH
        ]


@dataclass(frozen=True)
class Source:
    """Parts of a command that name a table: its file, and the options on its columns and its layout."""

    file: str
    columns: str = ""
    layout: str = ""

    def __str__(self) -> str:
        return " ".join(filter(None, (self.file, self.columns, self.layout)))


@dataclass(frozen=True)
class Advice:
    """``facts`` of a table, what to look at first (``cautions``), and ``steps`` in their order."""

    facts: tuple[str, ...]
    cautions: tuple[str, ...]
    steps: tuple[Step, ...]

    @classmethod
    def of(cls, rows: UniqueRows, source: Source | None = None, *, jobs: int = 1) -> Advice:
        """Return advice on ``rows``, which may have missing values; without a ``source``, commands call the table DATA.

        To forecast how long resampling takes on ``jobs`` processors, one network is learned from some of the columns.
        """
        table = TableDescription(rows)
        if len(rows.domain) - len(table.constant) < 2:
            raise InputError(
                "A network needs at least two columns that vary, and this table has fewer; use more columns or rows."
            )
        learning, data = _learning(table, source or Source("DATA"), jobs)
        return cls(_facts(table), _cautions(table), (*learning, *_afterwards(table, data)))

    def to_dict(self) -> dict[str, Any]:
        return {
            "facts": list(self.facts),
            "cautions": list(self.cautions),
            "steps": [step.to_dict() for step in self.steps],
        }


def _facts(table: TableDescription) -> tuple[str, ...]:
    rows, larger = table.rows, int((table.n_states > 2).sum())
    kind = "all of two states" if not larger else f"{larger:,} of them with more than two states"
    size = f"{table.n_rows:,.10g} rows ({rows.n_distinct:,} distinct), {len(rows.domain):,} variables, {kind}"
    pairs = f"all pairs have {table.n_parameters:,} parameters: {_rounded(table.rows_a_parameter)} rows for each"
    if not table.missing.any():
        return (size, pairs, "nothing is missing")
    share = float(rows.sample_weight @ table.missing.mean(axis=1)) / table.n_rows
    worst = int(np.argmax(rows.sample_weight @ table.missing))
    most = float(rows.sample_weight @ table.missing[:, worst]) / table.n_rows
    where = f"most in {rows.domain.names[worst]} ({most:.0%})"
    return (size, pairs, f"{share:.2g} of all cells are missing, {where}; {table.incomplete:.0%} of rows lack some")


def _cautions(table: TableDescription) -> tuple[str, ...]:
    found = []
    if constant := table.constant:
        found.append(f"columns that never vary carry no information; --exclude them: {_some(constant)}")
    if persons := table.like_persons:
        found.append(
            f"{_some(persons)}: many values with few rows each. If they name persons or sites, --exclude them; their "
            f"rows depend on each other, so use `mrfit stability --cluster-column {persons[0]}`. If they are numbers, "
            "bin them into a few classes"
        )
    if codes := table.codes:
        named = [f"{name}={','.join(own)}" for name, own in codes.items()]
        found.append(f"codes that look like missing answers: {_some(named)}. Read them as missing: {_na_values(codes)}")
    if rare := table.rare:
        found.append(f"categories with fewer than 10 rows give unstable weights; merge them with others: {_some(rare)}")
    if table.rows_a_parameter < _FEW:
        found.append(
            "few rows for so many pairs: only strong edges are found; a missing edge is not evidence of no association"
        )
    return tuple(found)


def _learning(table: TableDescription, source: Source, jobs: int) -> tuple[list[Step], str]:
    """And what is learned from, which may have been filled in."""
    data, again = str(source), _without_codes(table, source)
    if len(table.rows.domain) <= _MOST_COMPLETE and table.rows_a_parameter >= _PLENTY:
        dropped = " --missing drop" if table.missing.any() else ""
        return [*again, *_all_pairs(table, data, jobs)], data + dropped
    steps, data = _filled(table, source)
    learner, options, reason = _selection(table)
    found = Step(f"mrfit fit {data} {options} -o model.mrf", reason)
    rows = table.filled if steps else table.complete
    return [*again, *steps, found, _stability(rows, learner, f"{data} {options}", jobs)], data


def _without_codes(table: TableDescription, source: Source) -> list[Step]:
    if not table.codes:
        return []
    reason = "advice for the table without its codes of missing answers; the steps below take them for answers"
    return [Step(f"mrfit advise {source} {_na_values(table.codes)}", reason)]


def _na_values(codes: Mapping[str, Sequence[str]]) -> str:
    every = {code for own in codes.values() for code in own}
    return f"--na-values {','.join(sorted(every, key=float))}"


def _selection(table: TableDescription) -> tuple[PairwiseLearner, str, str]:
    """Return a way to select edges, the options that name it, and why it suits."""
    if len(table.rows.domain) > _MOST_EBIC:
        reason = "too many columns for whole paths: forward selection of up to 5 neighbours for each variable"
        return ForwardSelection(max_degree=5), "--structure learned --max-degree 5 --rule or", reason
    reason = "too few rows to estimate all pairs: edges are selected by the extended BIC"
    return L1Path(rule="and"), "--structure learned --select ebic --rule and", reason


def _all_pairs(table: TableDescription, data: str, jobs: int) -> list[Step]:
    """Enough rows: everything is estimated, nothing selected, and intervals mean what they say.

    Parts of the rows have states that never meet, so that they are fitted with a penalty.
    """
    missing, because = "", ""
    if table.missing.any() and table.missing.sum(axis=1).max() <= _MOST_MISSING:
        missing, because = " --missing em", f"; EM, since leaving out incomplete rows loses {table.incomplete:.0%}"
    elif table.missing.any():
        missing, because = " --missing drop", "; some rows lack too much for EM"
    penalty, ordered = "l2" if table.rare or table.has_empty_pairs else "none", ""
    if table.ordered:
        every = len(table.ordered) == len(table.rows.domain)
        ordered = f" --ordered {'all' if every else ','.join(table.ordered)}"
        because += "; numeric states interact by their scores, with one sign for each pair, if they are ordered"
    fit = Step(
        f"mrfit fit {data}{missing} --penalty {penalty}{ordered} --errors sandwich -o model.mrf",
        f"enough rows to estimate all pairs without selection, so intervals are valid{because}",
    )
    show = Step("mrfit show model.mrf --errors", "edge weights with confidence intervals and tests")
    complete = f"{data} --missing drop" if missing else data
    learner = Learner()
    if table.ordered:
        learner = Learner(parameterization=Ordered.word, ordered=tuple(table.ordered))
    seconds = None if table.complete is None else network_seconds(learner.fit, table.complete)
    drop = Step(
        f"mrfit stability {complete} --penalty l2{ordered} --kind drop --plot drop.png",
        "how many rows can be dropped before the network changes" + _duration(seconds, _RESAMPLES, jobs),
    )
    return [fit, show, drop]


def _filled(table: TableDescription, source: Source) -> tuple[list[Step], str]:
    """Structures are learned from complete rows. Columns that are left out stay in a table that is filled in."""
    if not table.missing.any():
        return [], str(source)
    if table.missing.sum(axis=1).max() > _MOST_MISSING or table.incomplete < 0.05:
        return [], f"{source} --missing drop"
    fit = Step(
        f"mrfit fit {source} --missing em -o fill.mrf",
        f"leaving out incomplete rows would lose {table.incomplete:.0%} of them",
    )
    impute = Step(
        f"mrfit impute fill.mrf {replace(source, columns='')} --how draw -o full.csv",
        "draws preserve associations; repeat with another --seed to see what changes",
    )
    return [fit, impute], str(Source("full.csv", source.columns))


def _stability(rows: UniqueRows | None, learner: PairwiseLearner, how: str, jobs: int) -> Step:
    """Return the step that bootstraps the network; its duration is unknown if ``rows`` is None (no row is complete)."""
    n, seconds = _RESAMPLES // (10 if isinstance(learner, ForwardSelection) else 1), None
    if rows is not None:
        is_pooled = isinstance(learner, L1Path) and RegressionPool.suits(rows)
        seconds = pooled_seconds(rows) if is_pooled else network_seconds(learner.learn, rows)
    return Step(
        f"mrfit stability {how} --resamples {n} --plot edges.png",
        "how often each edge appears across bootstrap samples" + _duration(seconds, n, jobs),
    )


def pooled_seconds(rows: UniqueRows) -> float:
    """Processor seconds of one network, where those of many resamples are learned in one pool."""
    return len(rows.domain) ** 2 * (_A_PAIR + _A_CELL * rows.n_distinct)


def _duration(seconds: float | None, n_resamples: int, jobs: int) -> str:
    """Return the end of a sentence: how long so many resamples take. It is empty where that is not known."""
    if seconds is None:
        return ""
    return f"; about {describe(n_resamples * seconds / jobs)} on {jobs:,} processor{'s' if jobs > 1 else ''}"


def _afterwards(table: TableDescription, data: str) -> list[Step]:
    steps = [
        Step(f"mrfit check model.mrf {data} --plot check.png", "does the model reproduce the data?"),
        Step(
            f"mrfit nodes model.mrf {data} --plot nodes.png",
            "centrality, predictability and communities",
        ),
    ]
    if table.rows_a_parameter < _PLENTY:
        sizes = ",".join(str(round(times * table.n_rows)) for times in (1, 2, 4))
        steps.append(Step(f"mrfit power model.mrf --rows {sizes}", "how many rows a study needs to find these edges"))
    return steps


def _rounded(number: float) -> str:
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def describe(seconds: float) -> str:
    """One digit: a forecast is no more certain than that."""
    for unit, size in (("day", 86400.0), ("hour", 3600.0), ("minute", 60.0), ("second", 1.0)):
        if seconds >= 0.95 * size or unit == "second":
            number = float(f"{max(seconds / size, 1.0):.1g}")
            return f"{number:,.0f} {unit}{'s' if number != 1 else ''}"
    raise AssertionError("there is a second at the end")
