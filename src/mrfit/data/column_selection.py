"""Selection of the columns of a table that are variables."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from mrfit.core.domain import Domain
from mrfit.core.errors import DataError, InputError, listed

# A variable may have this many states in a table of any length; more states need enough rows.
FEW_STATES = 20


def is_id_like(n_states: int, n_values: float) -> bool:
    """Whether a column identifies rows instead of describing them, such as person numbers or measurements.

    A column is ID-like if it has more than 20 distinct values and these occur less than twice on average. Columns of
    tables with up to 20 rows are therefore never ID-like. Rows with whole-number weights count as often as they weigh.
    """
    return n_states > FEW_STATES and 2 * n_states > n_values


def chosen_names(names: Sequence[str], columns: Collection[str] | None, exclude: Collection[str]) -> list[str]:
    """Return the selected names, in the order of the table."""
    for given, what in ((columns or (), "columns"), (exclude, "exclude")):
        check_known(given, names, what)
    chosen = [name for name in names if (columns is None or name in columns) and name not in exclude]
    if not chosen:
        raise DataError(f"No column is left of {listed(names)}; leave fewer out.")
    return chosen


def check_known(given: Iterable[str], names: Sequence[str], what: str) -> None:
    """Refuse unknown names, and suggest similar ones."""
    unknown = [name for name in given if name not in names]
    if unknown:
        close = get_close_matches(unknown[0], names)
        hint = f"Did you mean {listed(close)}?" if close else f"The columns are {listed(names)}."
        raise DataError(f"{what}=[...] names {listed(unknown)}, which the table lacks. {hint}")


def check_agreement(domain: Domain, columns: Collection[str] | None, exclude: Collection[str]) -> None:
    """Refuse to leave out columns of a domain: the domain has already chosen the columns."""
    left_out = [name for name in domain.names if name in exclude or (columns is not None and name not in columns)]
    if left_out:
        raise InputError(
            f"The columns {listed(left_out)} are left out by columns=[...] or exclude=[...], but the domain or model "
            "needs them."
        )


@dataclass(frozen=True)
class Crowded:
    """A column with too many distinct values, for one message about all such columns."""

    name: str
    n_states: int
    n_values: int


def names_of_rows(columns: Sequence[Crowded]) -> str:
    """Return the message about ID-like columns."""
    return (
        f"{_subject_and_verb(columns)} a different value in nearly every row ({_example(columns)}). "
        "ID-like columns and measurements are not categories. Leave them out with exclude=[...], bin them first, or "
        "keep them with include=[...] or by declaring their states."
    )


def too_many_states(columns: Sequence[Crowded], most: int) -> str:
    """Return the message about columns with too many states."""
    return (
        f"{_subject_and_verb(columns)} too many different values ({_example(columns)}); mrfit models categorical "
        f"columns with at most {most} states. Bin them first, or leave them out with exclude=[...]."
    )


def _subject_and_verb(columns: Sequence[Crowded]) -> str:
    names = listed([column.name for column in columns])
    return f"Column {names} has" if len(columns) == 1 else f"Columns {names} have"


def _example(columns: Sequence[Crowded]) -> str:
    which = f"{columns[0].name!r}: " if len(columns) > 1 else ""
    return f"{which}{columns[0].n_states} in {columns[0].n_values} rows"
