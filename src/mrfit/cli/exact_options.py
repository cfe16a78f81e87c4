"""Options of `mrfit fit` for the coordinates and for the exact likelihood."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from mrfit.cli.bare_options import BareOption
from mrfit.cli.options import choice, names, part_choice, stacked
from mrfit.core.errors import InputError
from mrfit.registry import OBJECTIVES, PARAMETERIZATIONS

exact_options = stacked(
    part_choice("--objective", OBJECTIVES, help=f"{OBJECTIVES.help(': ')}."),
    choice(
        "--engine",
        "auto",
        "exact",
        "enumeration",
        "tree",
        "chains",
        help="How a likelihood is worked out: over all joint states, by a junction tree, or by chains; exact: the one "
        "of the first two that takes less; auto: the same, and chains where none ends soon.",
    ),
    click.option(
        "--judge",
        type=click.Choice(("ll", "pll")),
        help="What held-out rows choose by: the log-likelihood, estimated where it must be, or the "
        "pseudo-log-likelihood; by default what is maximised.",
    ),
    click.option(
        "--order",
        metavar="R|all",
        help="All scopes of up to R variables, or all sets of variables; instead of --structure.",
    ),
    part_choice(
        "--parameterization",
        PARAMETERIZATIONS,
        help="The coordinates: what is shrunk, made zero or tied depends on them.",
    ),
    click.option(
        "--reference",
        default="first",
        show_default=True,
        metavar="first|last|random|NAME=STATE,...",
        help="For canonical coordinates, the state of each variable at which its features are silent.",
    ),
    click.option(
        "--ordered",
        cls=BareOption,
        bare="all",
        multiple=True,
        metavar="[all|NAME[,NAME...]|NAME=SCORE,SCORE...]",
        help="Variables whose states have an order, and which interact by their scores: one parameter and a sign for a "
        "pair of them. Without a value, or with all: every variable but the --covariates. Scores "
        "are 0, 1, 2, ..., or as given (mood=0,1,3). Numbers are in order; the order of words is declared with "
        "--states.",
    ),
    choice(
        "--search",
        "exact",
        "hierarchical",
        help="exact: the optimum over all scopes at once. hierarchical: a scope of three or more variables enters only "
        "when all its subsets are in.",
    ),
)


def coordinates_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a learner; --ordered NAME,... and NAME=SCORE,... is --parameterization ordered for these."""
    chosen = {"parameterization": options["parameterization"], "reference": options["reference"]}
    if not options["ordered"]:
        return chosen
    scores = dict(filter(None, map(_scores, options["ordered"])))
    named = names([text for text in options["ordered"] if _scores(text) is None], "--ordered")
    ordered = "all" if named == ("all",) else (*named, *scores)
    kind = PARAMETERIZATIONS[options["parameterization"]]
    return {**chosen, "parameterization": kind.when_ordered or kind.word, "ordered": ordered, "scores": scores}


def _scores(text: str) -> tuple[str, tuple[float, ...]] | None:
    """Name and numbers of ``mood=0,1,3``; None for names alone."""
    name, equals, values = text.rpartition("=")
    try:
        return (name.strip(), tuple(map(float, values.split(",")))) if equals and name.strip() else None
    except ValueError:
        return None


def structure_word(options: Mapping[str, Any]) -> str:
    """--order R is --structure order:R; the complete graph where neither is given."""
    order, structure = options["order"], options["structure"]
    if order is None:
        return "complete" if structure is None else str(structure)
    if structure is not None:
        raise InputError("Give --order or --structure, not both.")
    if order != "all" and not order.isdecimal():
        raise InputError(f"--order {order!r} is not an order; write a whole number like 3, or all.")
    return f"order:{order}"


def structure_file(options: Mapping[str, Any]) -> str | None:
    """The word again if it names a file, which is then an input."""
    word = structure_word(options)
    return word if word.startswith("edges:") else None
