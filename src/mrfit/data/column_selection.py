"""Which columns of a table are variables."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from mrfit.core.domain import Domain
from mrfit.core.errors import DataError, InputError, listed

# A variable of this many states is one in a table of any length; a longer list needs rows to learn from.
FEW_STATES = 20


def is_id_like(n_states: int, n_values: float) -> bool:
    """Whether a column tells rows apart instead of describing them, as numbers of persons or measurements do.

    It does if it has more than 20 different values, and these occur less than twice on average. Tables of up to 20 rows
    are never suspected, nor are columns whose states each occur twice. Rows that stand for several, with weights that
    are whole numbers, count as often as they weigh.
    """
    return n_states > FEW_STATES and 2 * n_states > n_values


def chosen_names(names: Sequence[str], columns: Collection[str] | None, exclude: Collection[str]) -> list[str]:
    """The names asked for, in the order of the table."""
    for given, what in ((columns or (), "columns"), (exclude, "exclude")):
        check_known(given, names, what)
    chosen = [name for name in names if (columns is None or name in columns) and name not in exclude]
    if not chosen:
        raise DataError(f"No column is left of {listed(names)}; leave fewer out.")
    return chosen


def check_known(given: Iterable[str], names: Sequence[str], what: str) -> None:
    """Refuse names that are not there, with those that look alike."""
    unknown = [name for name in given if name not in names]
    if unknown:
        close = get_close_matches(unknown[0], names)
        hint = f"Did you mean {listed(close)}?" if close else f"The columns are {listed(names)}."
        raise DataError(f"{what}=[...] names {listed(unknown)}, which the table lacks. {hint}")


def check_agreement(domain: Domain, columns: Collection[str] | None, exclude: Collection[str]) -> None:
    """A domain has chosen its columns; refuse to leave one of them out."""
    lost = [name for name in domain.names if name in exclude or (columns is not None and name not in columns)]
    if lost:
        raise InputError(
            f"The columns {listed(lost)} are left out by columns=[...] or exclude=[...], but the domain or model needs "
            "them."
        )


@dataclass(frozen=True)
class Crowded:
    """A column with too many different values, for one message about all of them."""

    name: str
    n_states: int
    n_values: int


def names_of_rows(columns: Sequence[Crowded]) -> str:
    """The message about columns that tell rows apart."""
    return (
        f"{_have(columns)} another value in nearly every row ({_first(columns)}), as numbers of persons and "
        "measurements have; a variable has few. Leave out such columns with exclude=[...], bin them first, or keep "
        "them with include=[...] or by declaring their states."
    )


def too_many_states(columns: Sequence[Crowded], most: int) -> str:
    """The message about columns that cannot be coded."""
    return (
        f"{_have(columns)} too many different values ({_first(columns)}); mrfit models categorical columns with at "
        f"most {most} states. Bin them first, or leave them out with exclude=[...]."
    )


def _have(columns: Sequence[Crowded]) -> str:
    names = listed([column.name for column in columns])
    return f"Column {names} has" if len(columns) == 1 else f"Columns {names} have"


def _first(columns: Sequence[Crowded]) -> str:
    which = f"{columns[0].name!r}: " if len(columns) > 1 else ""
    return f"{which}{columns[0].n_states} in {columns[0].n_values} rows"
