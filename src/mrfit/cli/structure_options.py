"""Options of structure learning, shared by `mrfit structure` and `mrfit fit --structure learned`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.idle_options import Rule
from mrfit.cli.options import choice, stacked, whole_numbers
from mrfit.errors import InputError
from mrfit.plugins import STRUCTURES

if TYPE_CHECKING:
    from mrfit.structure.learners import Learned

structure_options = stacked(
    click.option(
        "--max-degree",
        default="15",
        show_default=True,
        metavar="D[,D...]",
        help="Bound on the neighbours; `mrfit fit` chooses among several on held-out rows.",
    ),
    choice("--bound", "gain", "path", "top", "graph", "joint", help="How the bound is met."),
    click.option(
        "--price",
        default="3.84",
        show_default=True,
        metavar="P|valid",
        help="For --bound gain: threshold of the score of a neighbour with one parameter, or chosen on held-out rows. "
        "Neighbours with more parameters have a higher threshold with the same tail probability.",
    ),
    choice("--rule", "or", "and", help="An edge if either, or if both, of its regressions chose it."),
    choice(
        "--select",
        "degree",
        "ebic",
        "valid",
        "strength",
        "theory",
        help="What decides: the degree bound, the extended BIC, held-out rows, a fixed or the theoretical strength.",
    ),
    click.option("--gamma", type=float, default=0.25, show_default=True, help="Extra price of the EBIC."),
    choice(
        "--scale",
        "raw",
        "standard",
        help="For --select ebic: columns as they are, or standardised on the paths of glmnet, as IsingFit does.",
    ),
    click.option(
        "--refit/--no-refit",
        default=None,
        help="For --select ebic: of regressions refitted without the penalty, or of l1 solutions; by default refitted, "
        "but for --scale standard.",
    ),
    click.option(
        "--select-strength", type=float, metavar="S", help="For --select strength: l1 against the sum over rows."
    ),
    click.option("--require", multiple=True, metavar="A,B", help="An edge that must be there; may be repeated."),
    click.option("--forbid", multiple=True, metavar="A,B", help="An edge that must not be there; may be repeated."),
    click.option(
        "--with-tree/--without-tree",
        default=None,
        help="Whether the tree of most mutual information belongs to it; by default with --objective likelihood.",
    ),
)


given_option = click.option(
    "--given",
    multiple=True,
    metavar="NAME[,NAME...]",
    help="Covariates: variables that are conditioned on and never modelled, with an effect on every other one.",
)


def structure_kind(word: str | None) -> type:
    """The class of a word of --structure, with or without an argument; that of none is ``object``."""
    return object if word is None else STRUCTURES.get(word.partition(":")[0], object)


def chooses_neighbours(word: str | None) -> bool:
    """Whether a word of --structure is that of regressions, which these options set."""
    from mrfit.structure.learners import Learned

    return issubclass(structure_kind(word), Learned)


def structure_rules(options: dict[str, Any]) -> list[Rule]:
    """Which of these options have an effect only where; `mrfit structure` always learns."""
    learned = "structure" not in options or chooses_neighbours(options["structure"])
    select, bound = options["select"], options["bound"]
    by_degree = learned and select == "degree"
    return [
        Rule(("select", "require", "forbid", "with_tree"), learned, "--structure learned"),
        Rule(("max_degree", "bound"), by_degree, "--select degree" if learned else "--structure learned"),
        Rule(("price",), by_degree and bound == "gain", "--bound gain" if by_degree else "--select degree"),
        Rule(
            ("rule",),
            learned and not (by_degree and bound in ("graph", "joint")),
            "regressions that choose for themselves",
        ),
        Rule(("gamma", "scale", "refit"), learned and select == "ebic", "--select ebic"),
        Rule(("select_strength",), learned and select == "strength", "--select strength"),
    ]


def structure_learners(options: dict[str, Any]) -> list[Learned]:
    """One for each degree bound."""
    from mrfit.structure.learners import Learned

    degrees = whole_numbers(options["max_degree"], "--max-degree")
    if not degrees:
        raise InputError("--max-degree is given without a number; write it like 5, or 5,15,50.")
    return [
        Learned(
            max_degree=degree,
            bound=options["bound"],
            price=_price(options["price"]),
            rule=options["rule"],
            select=options["select"],
            gamma=options["gamma"],
            scale=options["scale"],
            refit=options["refit"],
            select_strength=options["select_strength"],
            require=[_pair(text, "--require") for text in options["require"]],
            forbid=[_pair(text, "--forbid") for text in options["forbid"]],
            with_tree=options["with_tree"],
        )
        for degree in degrees
    ]


def _price(text: str) -> float | str:
    """A number where it is one; what else it may be, the learner knows."""
    try:
        return float(text)
    except ValueError:
        return text


def _pair(text: str, option: str) -> tuple[str, str]:
    names = [name.strip() for name in text.split(",")]
    if len(names) != 2 or not all(names):
        raise InputError(f"{option} {text!r} does not name two variables; write it like {option} smoker,cough.")
    return names[0], names[1]
