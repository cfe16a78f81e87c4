"""Rows one by one, and a column that says whom or what each belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mrfit.cli.options import STANDARD, layout_of, reading_of, tell_notes
from mrfit.core.errors import InputError

if TYPE_CHECKING:
    from mrfit.core.domain import Domain
    from mrfit.data.dataset import Dataset


def read_owned(
    data: str,
    column: str,
    options: dict[str, Any],
    *,
    option: str,
    domain: Domain | None = None,
    states: dict[str, list[str]] | None = None,
) -> tuple[Dataset, list[str]]:
    """The table without ``column``, which ``option`` named, and what stands in it, row by row."""
    from mrfit.data.column_selection import check_known
    from mrfit.data.dataset import Dataset
    from mrfit.data.readers import named_in_errors, read_batches

    if data == STANDARD:
        raise InputError(f"--{option} is read from DATA in a second pass; name a file instead of standard input (-).")
    how = reading_of({**options, "exclude": (*options["exclude"], f'"{column}"')}, domain=domain, states=states)
    owners: list[str] = []

    def chosen(available: Any) -> list[str]:
        check_known([column], available, option)
        return [column]

    with named_in_errors(data):
        for batch in read_batches(data, select=chosen, **layout_of(options)):
            mine = batch.columns[0]
            if (mine.codes < 0).any():
                raise InputError(f"Column {column!r} does not say who some rows belong to; leave these rows out.")
            owners += [mine.labels[k] for k in mine.codes.tolist()]
        dataset = Dataset.from_batches(read_batches(data, select=how.chosen, **layout_of(options)), how)
    tell_notes(dataset.notes, quiet=options["quiet"])
    if dataset.dropped_rows:
        raise InputError(
            f"{dataset.dropped_rows:,} rows have missing or unknown values, and --{option} cannot tell which; leave "
            "them out of DATA."
        )
    return dataset, owners
