"""Codes for the rows of a table, under a given domain or one found in the table."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from mrfit.core.domain import Domain, Variable
from mrfit.core.errors import DataError, InputError, listed
from mrfit.data.batch import Batch, BatchColumn
from mrfit.data.column_selection import (
    Crowded,
    check_agreement,
    check_known,
    chosen_names,
    is_id_like,
    names_of_rows,
    too_many_states,
)
from mrfit.data.file_layout import as_tuple
from mrfit.data.labels import MISSING_STATE, holds_spins, label, ordered_states
from mrfit.data.memory import n_bytes_of_size

MAX_STATES = 255
_TRUTH_VALUES = ({"0", "1"}, {"false", "true"})
_OTHER_SPELLING = {"0": "false", "1": "true", "false": "0", "true": "1"}
# Codes are bytes and a variable has at most 255 states, so 255 is free for missing values.
UNOBSERVED = 255
_LEFT_OUT = -1  # marks a dropped row, before codes are bytes


class ReadingOptions(TypedDict, total=False):
    """The fields of `ParseOptions`, as keyword arguments."""

    domain: Domain | None
    states: Mapping[str, Sequence[object]] | None
    missing: str
    unknown: str
    columns: Collection[str] | None
    exclude: Collection[str]
    include: Collection[str] | bool
    absent: str
    memory: float | str | None


@dataclass(frozen=True)
class ParseOptions:
    """Options that define how the values of a table are parsed.

    A given domain has chosen its columns: all others are ignored.

    Parameters
    ----------
    domain : Domain or None, default=None
        Variables and states to use, matched by name; None finds them in the table.
    states : dict of str to sequence or None, default=None
        States of some columns, in order; the others are found in the table.
    missing : {"error", "drop", "state", "keep"}, default="error"
        How to handle missing values: raise an error, ``drop`` the row, use a ``state`` "missing", or ``keep`` the value
        unobserved (code 255) for methods that learn from incomplete rows.
    unknown : {"error", "drop"}, default="error"
        How to handle values outside the given states: raise an error or drop the row.
    columns : collection of str or None, default=None
        Names of the columns to use; None uses all.
    exclude : collection of str, default=()
        Names of columns to leave out.
    include : collection of str or bool, default=()
        Names of ID-like columns to keep although their values differ in nearly every row; True keeps all. Other ID-like
        columns are refused. Columns with given or declared states are never refused.
    absent : {"error", "missing"}, default="error"
        How to handle a variable of the domain without a column: raise an error, or treat it as missing in every row.
    memory : float, str or None, default=None
        Bytes that rows may take while they are read, such as ``"2GB"``, besides the program itself. Reading stops
        before it exceeds them. None means most of the free memory of the machine or container when reading begins.

    See Also
    --------
    mrfit.Dataset : Takes these options as keywords.

    Examples
    --------
    >>> from mrfit import Dataset
    >>> Dataset.from_table({"a": ["no", None, "yes"]}, missing="drop").n_rows
    2
    """

    domain: Domain | None = None
    states: Mapping[str, Sequence[object]] | None = None
    missing: str = "error"
    unknown: str = "error"
    columns: Collection[str] | None = None
    exclude: Collection[str] = ()
    include: Collection[str] | bool = ()
    absent: str = "error"
    memory: float | str | None = None

    def __post_init__(self) -> None:
        if self.memory is not None:
            object.__setattr__(self, "memory", n_bytes_of_size(self.memory))
        for name in ("columns", "exclude", "include"):
            if (given := getattr(self, name)) is not None and not isinstance(given, bool):
                object.__setattr__(self, name, tuple(map(str, as_tuple(given))))
        _check_option("missing", self.missing, ("error", "drop", "state", "keep"))
        _check_option("unknown", self.unknown, ("error", "drop"))
        _check_option("absent", self.absent, ("error", "missing"))
        if self.domain is not None and self.states is not None:
            raise InputError("Both domain and states are given; a domain has its own states. Pass one of them.")
        if self.domain is not None:
            check_agreement(self.domain, self.columns, self.exclude)

    def chosen(self, names: Sequence[str]) -> Collection[str]:
        """Return the columns of a table to read."""
        if self.domain is None:
            if not isinstance(self.include, bool):
                check_known(self.include, names, "include")
            return chosen_names(names, self.columns, self.exclude)
        present = [name for name in self.domain.names if name in set(names)]
        # If one is absent, the error lists all columns.
        return present if len(present) == len(self.domain) or (present and self.absent == "missing") else names

    def keeps(self, name: str) -> bool:
        """Whether the user includes a column even if it is ID-like."""
        return self.include if isinstance(self.include, bool) else name in self.include


def has_all_cells(codes: NDArray[np.uint8]) -> bool:
    """Whether every cell has a value; computed without a temporary table of booleans."""
    return int(codes.max(initial=0)) < UNOBSERVED


def check_complete(codes: NDArray[np.uint8], what: str) -> None:
    """Refuse missing values on behalf of ``what``, which needs complete rows."""
    if not has_all_cells(codes):
        n_missing = int(np.count_nonzero(codes == UNOBSERVED))
        raise DataError(
            f"{n_missing:,} values are missing, and {what} needs complete rows. Read the table with missing='drop' "
            "or missing='state'."
        )


@dataclass
class Vocabulary:
    """Labels of one variable and their provisional codes; ``closed`` ones accept no new labels."""

    name: str
    codes: dict[str, int] = field(default_factory=dict)
    closed: bool = False
    declared: bool = False  # the order of the codes is the order of the states
    n_values: float = 0.0  # values counted so far, without missing ones

    @classmethod
    def of_states(cls, name: str, states: Iterable[object]) -> Vocabulary:
        codes: dict[str, int] = {}
        for code, state in enumerate(states):
            if label(state) in codes:
                raise DataError(
                    f"Column {name!r}: the state {str(state)!r} is given twice (states that spell one "
                    "number or truth value are the same). Name each state once."
                )
            codes[label(state)] = code
        return cls(name, codes, closed=True, declared=True)

    def add(self, text: str) -> int:
        return self.codes.setdefault(text, len(self.codes))

    def code(self, text: str) -> int | None:
        """Return the code of a label among closed states; false/true and 0/1 are interchangeable."""
        if text not in self.codes and text in _OTHER_SPELLING and set(self.codes) - {MISSING_STATE} in _TRUTH_VALUES:
            text = _OTHER_SPELLING[text]
        return self.codes.get(text)

    @property
    def is_id_like(self) -> bool:
        return not (self.closed or self.declared) and is_id_like(self.crowded.n_states, self.n_values)

    @property
    def crowded(self) -> Crowded:
        return Crowded(self.name, len(self.codes) - (MISSING_STATE in self.codes), int(self.n_values))

    def states(self, *, among_spins: bool) -> tuple[str, ...]:
        """Return the states in their final order; a state made of missing values comes last."""
        if self.declared:
            return tuple(self.codes)
        met = [text for text in self.codes if text != MISSING_STATE]
        states = ordered_states(met, among_spins=among_spins)
        return (*states, MISSING_STATE) if MISSING_STATE in self.codes else states


class Encoder:
    """An encoder that turns batches into codes one by one and determines the domain at the end.

    While states are still being found, `encode` returns provisional codes in the order in which labels occur. `finish`
    returns the domain and, for each variable, the lookup from provisional to final codes. States that occur only in
    dropped rows remain states.
    """

    def __init__(self, reading: ParseOptions | None = None) -> None:
        self._reading = reading or ParseOptions()
        self._vocabularies: list[Vocabulary] = []
        self._n_rows = 0
        self.dropped_rows = 0
        self.left_out: NDArray[np.bool_] = np.zeros(0, bool)  # dropped rows of the last batch
        self.notes: tuple[str, ...] = ()  # remarks about the table, for the user

    def encode(self, batch: Batch) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
        """Return provisional codes, (rows, variables) in column order, and weights, without the dropped rows."""
        if not self._vocabularies:
            self._vocabularies = self._start(batch)
        weight = np.ones(batch.n_rows) if batch.sample_weight is None else batch.sample_weight
        self._n_rows += batch.n_rows
        self.notes += batch.notes
        columns = self._matched(batch)
        self._count_values(columns, weight)
        lookups = [self._lookup(*pair, batch) for pair in zip(self._vocabularies, columns, strict=True)]
        self._refuse_too_many_states()
        codes = np.empty((len(self._vocabularies), batch.n_rows), dtype=np.uint8)
        left_out = np.zeros(batch.n_rows, bool)
        for row, (lookup, column) in enumerate(zip(lookups, columns, strict=True)):
            if not column.has_missing and lookup[:-1] == list(range(len(column.labels))):
                codes[row] = column.codes
                continue
            values = np.array(lookup, dtype=np.int16)[column.codes]
            left_out |= values == _LEFT_OUT
            codes[row] = values
        self.left_out = left_out
        if left_out.any():
            self.dropped_rows += int(left_out.sum())
            codes, weight = codes[:, ~left_out], weight[~left_out]
        return codes.T, weight

    def absorb(self, other: Encoder) -> None:
        """Merge the states and counts that another encoder found in other batches of the same table."""
        if not other._vocabularies:  # it has seen no row
            return
        if not self._vocabularies:
            self._vocabularies = other._vocabularies
        else:
            self._absorb_states({vocabulary.name: vocabulary for vocabulary in other._vocabularies})
        self._n_rows += other._n_rows
        self.dropped_rows += other.dropped_rows
        self.notes = tuple(dict.fromkeys(self.notes + other.notes))
        self._refuse_too_many_states()

    def _absorb_states(self, others: Mapping[str, Vocabulary]) -> None:
        own = [vocabulary.name for vocabulary in self._vocabularies]
        if set(own) != set(others):
            different = listed(sorted(set(own) ^ set(others)))
            raise DataError(
                f"Its columns differ from those of the files before it in {different}. All files of one table need "
                "the same columns."
            )
        for vocabulary in self._vocabularies:
            vocabulary.n_values += others[vocabulary.name].n_values
            for text in () if vocabulary.closed else others[vocabulary.name].codes:
                vocabulary.add(text)

    def finish(self) -> tuple[Domain, list[NDArray[np.uint8]]]:
        """Return the domain, and for each variable the final code of every provisional code."""
        if self._n_rows == 0:
            raise DataError("The table has no rows; at least one is needed.")
        if self._n_rows == self.dropped_rows:
            raise DataError(
                f"None of the {self._n_rows} rows is left: each holds a missing or unknown value. "
                "Use missing='state', add the unknown states to the domain, or leave out columns."
            )
        if crowded := self._names_of_rows():
            raise DataError(names_of_rows([each.crowded for each in crowded]))
        spins = any(holds_spins(vocabulary.codes) for vocabulary in self._vocabularies)
        orders = [vocabulary.states(among_spins=spins) for vocabulary in self._vocabularies]
        remaps = [_remap(vocabulary, order) for vocabulary, order in zip(self._vocabularies, orders, strict=True)]
        if self._reading.domain is not None:
            return self._reading.domain, remaps
        names = [vocabulary.name for vocabulary in self._vocabularies]
        empty = [name for name, order in zip(names, orders, strict=True) if not order]
        if empty:
            raise DataError(f"Column {empty[0]!r} has no value in any row; leave it out, with exclude=[...].")
        return Domain(tuple(map(Variable, names, orders))), remaps

    def _start(self, batch: Batch) -> list[Vocabulary]:
        if not batch.columns:
            raise DataError("The table has no columns besides its weights; at least one is needed.")
        if self._reading.domain is not None:
            return [Vocabulary.of_states(variable.name, variable.states) for variable in self._reading.domain]
        states = self._reading.states or {}
        absent = [name for name in states if name not in batch.names]
        if absent:
            raise DataError(_absent(absent, batch, "States are given for"))
        return [
            Vocabulary.of_states(column.name, states[column.name])
            if column.name in states
            else Vocabulary(column.name, declared=column.declared)
            for column in batch.columns
        ]

    def _matched(self, batch: Batch) -> list[BatchColumn]:
        """Return the batch's columns in the order of the variables; other columns are ignored.

        Unnamed columns are matched by position, if their number agrees and their generated names are unknown here.
        """
        columns = {column.name: column for column in batch.columns}
        absent = [vocabulary.name for vocabulary in self._vocabularies if vocabulary.name not in columns]
        if absent and not batch.named and len(columns) == len(self._vocabularies):
            return list(batch.columns)
        if absent and (self._reading.absent == "error" or len(absent) == len(self._vocabularies)):
            raise DataError(_absent(absent, batch, "The domain or model has"))
        for name in absent:
            columns[name] = BatchColumn(name, np.full(batch.n_rows, -1, np.int32), ())
        return [columns[vocabulary.name] for vocabulary in self._vocabularies]

    def _count_values(self, columns: Sequence[BatchColumn], weight: NDArray[np.float64]) -> None:
        """Count the values of each column; rows with whole-number weights count as often as they weigh."""
        counts = weight if (weight == np.rint(weight)).all() else np.ones(len(weight))
        total = float(counts.sum())
        for vocabulary, column in zip(self._vocabularies, columns, strict=True):
            vocabulary.n_values += total - (float(counts[column.codes < 0].sum()) if column.has_missing else 0.0)

    def _names_of_rows(self) -> list[Vocabulary]:
        """Return the ID-like columns, except those the user keeps."""
        return [each for each in self._vocabularies if each.is_id_like and not self._reading.keeps(each.name)]

    def _refuse_too_many_states(self) -> None:
        full = [each for each in self._vocabularies if len(each.codes) > MAX_STATES]
        if full:
            others = [each for each in self._names_of_rows() if each not in full]
            raise DataError(too_many_states([each.crowded for each in full + others], MAX_STATES))

    def _lookup(self, vocabulary: Vocabulary, column: BatchColumn, batch: Batch) -> list[int]:
        """Return the provisional code of every label of a column; the last entry is for missing values (-1)."""
        codes = [self._code(vocabulary, column, position, batch) for position in range(len(column.labels))]
        return [*codes, self._missing_code(vocabulary, column, batch)]

    def _code(self, vocabulary: Vocabulary, column: BatchColumn, position: int, batch: Batch) -> int:
        text = column.labels[position]
        if not vocabulary.closed:
            return vocabulary.add(text)
        if (code := vocabulary.code(text)) is not None:
            return code
        if self._reading.unknown == "drop":
            return _LEFT_OUT
        rows = np.flatnonzero(column.codes == position)
        if rows.size == 0:  # a declared category that occurs in no row
            return _LEFT_OUT
        raise DataError(
            f"Column {column.name!r} holds {text!r} ({batch.row_name(int(rows[0]))}), which is not "
            f"one of its states: {listed(vocabulary.codes)}. Add it to the domain or pass unknown='drop'."
        )

    def _missing_code(self, vocabulary: Vocabulary, column: BatchColumn, batch: Batch) -> int:
        if not column.has_missing:
            return _LEFT_OUT  # never looked up
        if vocabulary.closed and MISSING_STATE in vocabulary.codes:
            return vocabulary.codes[MISSING_STATE]
        if self._reading.missing in ("drop", "keep"):
            return _LEFT_OUT if self._reading.missing == "drop" else UNOBSERVED
        first = int(np.argmin(column.codes))
        where = f"Column {column.name!r} has no value (empty or NaN) in {batch.row_name(first)}"
        if self._reading.missing == "error":
            raise DataError(
                f"{where}; every cell needs one. Pass missing='drop' to leave such rows out, or "
                "missing='state' to make missing a state of its own; a fit with missing='em' learns from incomplete "
                "rows."
            )
        if self._reading.domain is not None:
            raise DataError(
                f"{where}, and its states in the given domain ({listed(vocabulary.codes)}) do not include "
                f"{MISSING_STATE!r}. Pass missing='drop', or a domain with that state."
            )
        return vocabulary.add(MISSING_STATE)


def _remap(vocabulary: Vocabulary, states: Sequence[str]) -> NDArray[np.uint8]:
    """Return the final code of every byte; the mark of missing values stays."""
    positions = {state: code for code, state in enumerate(states)}
    remap = np.arange(256, dtype=np.uint8)
    remap[: len(vocabulary.codes)] = [positions[text] for text in vocabulary.codes]
    return remap


def _absent(absent: Sequence[str], batch: Batch, who: str) -> str:
    return (
        f"{who} {listed(absent)}, which the table lacks; its columns are {listed(batch.names)}. "
        "Add or rename the column."
    )


def _check_option(name: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise InputError(f"{name}={value!r} is not an option; use one of {listed(allowed)}.")
