"""Options of structure learning, shared by `mrfit structure` and `mrfit fit --structure l1`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.options import stacked
from mrfit.errors import InputError

if TYPE_CHECKING:
    from mrfit.structure.nodewise import StructureSettings

structure_options = stacked(
    click.option("--max-degree", type=int, default=15, show_default=True, metavar="D", help="Bound on the neighbours."),
    click.option(
        "--bound",
        type=click.Choice(["gain", "path", "top", "graph"]),
        default="gain",
        show_default=True,
        help="How the bound is met.",
    ),
    click.option(
        "--rule",
        type=click.Choice(["or", "and"]),
        default="or",
        show_default=True,
        help="An edge if either, or if both, of its regressions chose it.",
    ),
    click.option(
        "--select",
        type=click.Choice(["degree", "ebic", "valid", "strength", "theory"]),
        default="degree",
        show_default=True,
        help="What decides: the degree bound, the extended BIC, held-out rows, a fixed or the theoretical strength.",
    ),
    click.option("--gamma", type=float, default=0.25, show_default=True, help="Extra price of the EBIC."),
    click.option("--l1-strength", type=float, metavar="S", help="For --select strength: l1 against the sum over rows."),
    click.option("--require", multiple=True, metavar="A,B", help="An edge that must be there; may be repeated."),
    click.option("--forbid", multiple=True, metavar="A,B", help="An edge that must not be there; may be repeated."),
)


def structure_settings(options: dict[str, Any]) -> StructureSettings:
    from mrfit.structure.nodewise import StructureSettings
    from mrfit.workers import resolve_jobs

    return StructureSettings(
        max_degree=options["max_degree"],
        bound=options["bound"],
        rule=options["rule"],
        select=options["select"],
        gamma=options["gamma"],
        strength=options["l1_strength"],
        required=[_pair(text, "--require") for text in options["require"]],
        forbidden=[_pair(text, "--forbid") for text in options["forbid"]],
        jobs=resolve_jobs(options["jobs"]),
    )


def _pair(text: str, option: str) -> tuple[str, str]:
    names = [name.strip() for name in text.split(",")]
    if len(names) != 2 or not all(names):
        raise InputError(f"{option} {text!r} does not name two variables; write it like {option} smoker,cough.")
    return names[0], names[1]
