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
    part_choice(
        "--objective",
        OBJECTIVES,
        help="Objective to maximise: {parts}.",
        short="Objective to maximise: pseudo-likelihood (fast), likelihood, rise or log-rise.",
    ),
    choice(
        "--engine",
        "auto",
        "exact",
        "enumeration",
        "tree",
        "chains",
        help="How to compute the likelihood (--objective likelihood). enumeration: over all joint states. tree: on a "
        "junction tree. chains: estimated by Gibbs chains. exact: the faster of the first two. auto: exact, or "
        "chains where that would take too long.",
    ),
    click.option(
        "--judge",
        type=click.Choice(("ll", "pll")),
        help="Held-out score that chooses among fits: the log-likelihood (estimated if necessary) or the "
        "pseudo-log-likelihood. By default the score of --objective.",
    ),
    click.option(
        "--order",
        metavar="R|all",
        help="Include all interactions of up to R variables, or all interactions; used instead of --structure.",
    ),
    part_choice(
        "--parameterization",
        PARAMETERIZATIONS,
        help="Parameters that are penalised or tied: {parts}.",
        short="Parameters that are penalised or tied: canonical, spectral, ordered and others.",
    ),
    click.option(
        "--reference",
        default="first",
        show_default=True,
        metavar="first|last|random|NAME=STATE,...",
        help="Reference category of each variable, for canonical parameters. Variables that are not named take the "
        "first state.",
    ),
    click.option(
        "--ordered",
        cls=BareOption,
        bare="all",
        multiple=True,
        metavar="[all|NAME[,NAME...]|NAME=SCORE,SCORE...]",
        help="Ordered (Likert) variables, which interact by scores: one edge parameter, with a sign. Without a "
        "value: all except the covariates. Scores are 0, 1, 2, ..., or those you give (mood=0,1,3). Declare the "
        "order of states that are words with --states. Repeatable.",
    ),
    choice(
        "--search",
        "exact",
        "hierarchical",
        help="Search for interactions, for sparse penalties. exact: optimum over all interactions. hierarchical: an "
        "interaction of three or more variables enters only after all its subsets.",
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
