"""Where the work is done: on this machine, or on a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.options import STANDARD, layout_of
from mrfit.errors import InputError

if TYPE_CHECKING:
    from mrfit.data.sources import Source

ADDRESSES = "local:N for N processes of this machine, or the address of a Dask scheduler (tcp://host:8786)"

cluster_option = click.option(
    "--cluster", metavar="ADDRESS", help=f"Do the work on a cluster: {ADDRESSES}. Needs mrfit[cluster]."
)

nested_option = click.option(
    "--cluster",
    multiple=True,
    metavar="COLUMN|ADDRESS",
    help="What each row belongs to (a person, a school): drawn with all its rows. Or where to work: "
    f"{ADDRESSES}; a column of that very name goes before. May be given for both.",
)


def enter_cluster(context: click.Context, address: str | None) -> None:
    """Work there until the command ends."""
    if address is not None:
        from mrfit.clusters import cluster

        context.with_resource(cluster(address))


def columns_and_address(
    given: Sequence[str], data: Source | None, options: dict[str, Any]
) -> tuple[str | None, str | None]:
    """Of an option that takes a column of DATA, an address, or both: a column of that very name goes before."""
    from mrfit.clusters import is_address

    addresses = [text for text in given if is_address(text) and text not in _column_names(data, options)]
    columns = [text for text in given if text not in addresses]
    for kind, found in (("column", columns), ("address", addresses)):
        if len(found) > 1:
            raise InputError(f"--cluster names more than one {kind}: {' and '.join(map(repr, found))}. Name one.")
    return next(iter(columns), None), next(iter(addresses), None)


def _column_names(data: Source | None, options: dict[str, Any]) -> Sequence[str]:
    """Of a table that can be read again; standard input cannot."""
    from mrfit.data.readers import named_in_errors, read_batches

    if data is None or data == STANDARD:
        return ()
    met: list[str] = []

    def remember(names: Sequence[str]) -> Sequence[str]:
        met[:] = names
        return names

    with named_in_errors(data):
        next(read_batches(data, select=remember, **layout_of(options)))
    return met
