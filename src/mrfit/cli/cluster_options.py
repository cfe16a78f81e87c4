"""Options on where the work is done: on this machine, or on a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.options import STANDARD, layout_of, stacked
from mrfit.cli.output import note
from mrfit.core.errors import InputError

if TYPE_CHECKING:
    from mrfit.data.sources import Source

ADDRESSES = "local:N for N processes on this machine, or the address of a Dask scheduler (tcp://host:8786)"

cluster_option = click.option(
    "--cluster", metavar="ADDRESS", help=f"Run on a cluster: {ADDRESSES}. Needs mrfit[cluster]."
)

nested_option = stacked(
    click.option(
        "--cluster-column",
        metavar="COLUMN",
        help="Column that names the cluster of each row, such as a school: bootstrap samples draw whole clusters.",
    ),
    click.option(
        "--cluster",
        multiple=True,
        metavar="ADDRESS",
        help=f"Run on a cluster: {ADDRESSES}. Needs mrfit[cluster].",
    ),
)


def enter_cluster(context: click.Context, address: str | None) -> None:
    """Work there until the command ends."""
    if address is not None:
        from mrfit.core.cluster import cluster

        context.with_resource(cluster(address))


def column_and_address(data: Source | None, options: dict[str, Any]) -> tuple[str | None, str | None]:
    """The column of --cluster-column and the address of --cluster.

    Until release 0.2 --cluster may name the column, too, with a warning; it does so where a column looks like an
    address.
    """
    from mrfit.core.cluster import is_address

    present = _column_names(data, options) if options["cluster"] else ()
    old = [text for text in options["cluster"] if text in present]
    addresses = [text for text in options["cluster"] if text not in old]
    columns = [text for text in (*old, options["cluster_column"]) if text is not None]
    for kind, found in (("column", columns), ("address", addresses)):
        if len(found) > 1:
            raise InputError(f"--cluster names more than one {kind}: {' and '.join(map(repr, found))}. Name one.")
    for text in addresses:
        if not is_address(text):
            raise InputError(
                f"--cluster {text!r} is no address ({ADDRESSES}). To name the column that says what each row belongs "
                "to, write --cluster-column."
            )
    for name in () if options["quiet"] else old:
        note(f"warning: --cluster {name} names a column; write --cluster-column {name}. --cluster is for addresses.")
    return next(iter(columns), None), next(iter(addresses), None)


def _column_names(data: Source | None, options: dict[str, Any]) -> Sequence[str]:
    """Names of the columns of a table that can be read twice; none for standard input."""
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
