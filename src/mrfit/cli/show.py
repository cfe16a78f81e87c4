"""`mrfit show`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.files import check_files, load_model, writing
from mrfit.cli.options import common
from mrfit.cli.output import print_json, say
from mrfit.cli.picture_options import KINDS, check_title, title_of, title_option
from mrfit.errors import InputError, listed

if TYPE_CHECKING:
    from mrfit.model import MarkovNetwork


@click.command("show")
@click.argument("model_file", metavar="MODEL")
@click.option("--top", type=click.IntRange(min=0), default=10, show_default=True, help="Parameters of each order.")
@click.option("--plot", metavar="FILE", help=f"Draw tied parameters with their centers on a line, as {KINDS}.")
@title_option
@writing
@common
def command(model_file: str, top: int, **options: Any) -> None:
    """Print what MODEL (a file, or - for standard input) is: variables, structure, strongest parameters, provenance.

    What a parameter means depends on the model's coordinates, which the output explains: with canonical ones it
    belongs to a combination of states and is measured against each variable's reference state: positive means that
    the combination is more likely than the smaller terms say. Parameters that are zero are not listed.
    """
    check_title(options)
    check_files({"MODEL": model_file}, {"--plot": options["plot"]}, options)
    model = load_model(model_file)
    if options["plot"] is not None:
        _draw(model, options["plot"], title_of(model_file, options))
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
                "parameterization": {"name": model.parameters.word, **model.parameters.options},
                "strongest": {
                    str(order): [{"name": name, "value": value} for name, value in parameters]
                    for order, parameters in strongest.items()
                },
                "groups": None if model.groups is None else _groups(model),
                "provenance": dict(model.provenance),
            }
        )
        return
    say(f"{len(model.domain)} variables, {len(model.structure.edges):,} edges, {len(model.w):,} parameters")
    for variable in list(model.domain)[: max(top, 1)]:
        say(f"  {variable.name}: {listed(variable.states)}")
    if len(model.domain) > max(top, 1):
        say(f"  ... and {len(model.domain) - max(top, 1)} more variables")
    if model.groups is not None:
        _print_groups(model, max(top, 1))
    say(f"{model.parameters.word} coordinates: {model.parameters.meaning}")
    for order, parameters in strongest.items():
        if parameters:
            say("single variables" if order == 1 else f"interactions of {order} variables")
        for name, value in parameters:
            say(f"  {value:+9.4f}  {name}")
    for key, entry in model.provenance.items():
        if isinstance(entry, dict):
            entry = ", ".join(f"{name} {detail}" for name, detail in entry.items() if detail not in ([], None))
        say(f"{key}: {entry}")


def _groups(model: MarkovNetwork) -> list[dict[str, Any]]:
    """Size, center and largest distance from it, of every group."""
    import numpy as np

    groups = model.groups
    if groups is None:
        return []
    tied, farthest = groups.assignment >= 0, np.zeros(groups.n_groups)
    np.maximum.at(farthest, groups.assignment[tied], abs(model.w - groups.tied(model.w))[tied])
    columns = zip(groups.centers, groups.sizes, farthest, groups.pinned, strict=True)  # type: ignore[arg-type]
    return [
        {"center": float(center), "size": int(size), "farthest": float(far), "pinned": bool(pinned)}
        for center, size, far, pinned in columns
    ]


def _print_groups(model: MarkovNetwork, top: int) -> None:
    groups = _groups(model)
    kind = "equal" if model.is_hard_tied else "softly tied"
    say(f"{kind} in {len(groups):,} groups, the largest first")
    for group in sorted(groups, key=lambda group: -group["size"])[:top]:
        within = "" if model.is_hard_tied else f", within {group['farthest']:.4f}"
        pinned = ", pinned" if group["pinned"] else ""
        say(f"  {group['center']:+9.4f}  {group['size']:,} parameters{within}{pinned}")
    if len(groups) > top:
        say(f"  ... and {len(groups) - top:,} more groups")


def _draw(model: MarkovNetwork, plot: str, title: str) -> None:
    from mrfit.report.page import check_figure_path, save_figure
    from mrfit.report.parameters import draw_parameters

    if model.groups is None:
        raise InputError("--plot draws tied parameters, and this model has none; fit one with --penalty tied.")
    check_figure_path(plot)
    penalty = model.provenance.get("penalty", {})
    strength = penalty.get("strength") if isinstance(penalty, dict) else None
    orders = model.parameters.order_of_parameter
    save_figure(draw_parameters(model.w, model.groups, strength=strength or 1.0, orders=orders, title=title), plot)
