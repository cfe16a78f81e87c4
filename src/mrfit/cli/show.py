"""`mrfit show`."""

from __future__ import annotations

from typing import Any

import click

from mrfit.cli.options import common
from mrfit.cli.output import print_json
from mrfit.errors import listed


@click.command("show")
@click.argument("model_file", metavar="MODEL")
@click.option("--top", type=click.IntRange(min=0), default=10, show_default=True, help="Parameters of each order.")
@common
def command(model_file: str, top: int, **options: Any) -> None:
    """Print what MODEL is: variables, structure, strongest parameters of each order, provenance.

    A parameter belongs to a combination of states and is measured against each variable's first state: positive
    means that the combination is more likely than the smaller terms say.
    """
    from mrfit.model import MarkovNetwork

    model = MarkovNetwork.load(model_file)
    orders = list(model.structure.blocks)
    strongest = {order: model.strongest(top, order=order) for order in orders}
    if options["as_json"]:
        print_json(
            {
                "domain": model.domain.to_states(),
                "n_variables": len(model.domain),
                "n_scopes": model.structure.n_scopes,
                "n_edges": len(model.structure.edges),
                "n_parameters": len(model.w),
                "strongest": {
                    str(order): [{"name": name, "value": value} for name, value in parameters]
                    for order, parameters in strongest.items()
                },
                "provenance": dict(model.provenance),
            }
        )
        return
    click.echo(f"{len(model.domain)} variables, {len(model.structure.edges):,} edges, {len(model.w):,} parameters")
    for variable in list(model.domain)[: max(top, 1)]:
        click.echo(f"  {variable.name}: {listed(variable.states)}")
    if len(model.domain) > max(top, 1):
        click.echo(f"  ... and {len(model.domain) - max(top, 1)} more variables")
    for order, parameters in strongest.items():
        if parameters:
            click.echo("single variables" if order == 1 else f"interactions of {order} variables")
        for name, value in parameters:
            click.echo(f"  {value:+9.4f}  {name}")
    for key, entry in model.provenance.items():
        if isinstance(entry, dict):
            entry = ", ".join(f"{name} {detail}" for name, detail in entry.items() if detail not in ([], None))
        click.echo(f"{key}: {entry}")
