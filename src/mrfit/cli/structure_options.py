"""Options of structure learning, shared by `mrfit structure` and `mrfit fit --structure learned`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.option_rules import Rule, one_of
from mrfit.cli.options import choice, parameters_of, stacked, whole_numbers
from mrfit.core.errors import InputError
from mrfit.registry import STRUCTURES

if TYPE_CHECKING:
    from mrfit.structures.nodewise.pairwise_learner import PairwiseLearner

structure_options = stacked(
    click.option(
        "--max-degree",
        default="15",
        show_default=True,
        metavar="D[,D...]",
        help="Largest number of neighbours of a variable. mrfit fit chooses among several by the held-out score.",
    ),
    choice(
        "--bound",
        "gain",
        "path",
        "top",
        "graph",
        "joint",
        help="How to choose neighbours up to --max-degree. gain: forward selection by score test. path: the l1 path "
        "of each variable. top: largest coefficients of a weak l1 regression. graph: forward selection that bounds "
        "the degree in the final graph. joint: forward selection on the joint pseudo-likelihood.",
    ),
    click.option(
        "--price",
        default="3.84",
        show_default=True,
        metavar="P|valid",
        help="For --bound gain: threshold of the score test for a neighbour with one parameter; 3.84 is the 95 % "
        "point of chi-square. valid chooses it by the held-out score. Neighbours with more parameters have a threshold "
        "with the same tail probability.",
    ),
    choice("--rule", "or", "and", help="Keep an edge if either of its two regressions selects it, or only if both do."),
    choice(
        "--select",
        "degree",
        "ebic",
        "valid",
        "strength",
        "theory",
        help="Criterion that selects edges. degree: neighbours by --bound. The others take one point of each l1 "
        "path. ebic: extended BIC. valid: held-out score. strength: at --select-strength. theory: at the strength of "
        "Lokhov et al. (2018).",
    ),
    click.option(
        "--gamma",
        type=float,
        default=0.25,
        show_default=True,
        help="For --select ebic: weight of its extra term, 0 (BIC) to 1.",
    ),
    choice(
        "--scale",
        "raw",
        "standard",
        help="For --select ebic: columns as they are, or standardised as in IsingFit (glmnet).",
    ),
    click.option(
        "--refit/--no-refit",
        default=None,
        help="For --select ebic: whether the EBIC is computed after refitting without the penalty; by default yes, "
        "except with --scale standard.",
    ),
    click.option(
        "--select-strength",
        type=float,
        metavar="S",
        help="For --select strength: penalty strength of l1, not divided by the number of rows.",
    ),
    click.option("--require", multiple=True, metavar="A,B", help="Edge that must be included. Repeatable."),
    click.option("--forbid", multiple=True, metavar="A,B", help="Edge that must not be included. Repeatable."),
    click.option(
        "--with-tree/--without-tree",
        default=None,
        help="Whether to include the edges of the Chow-Liu tree; by default only with --objective likelihood.",
    ),
)


covariates_option = click.option(
    "--covariates",
    multiple=True,
    metavar="NAME[,NAME...]",
    help="Variables that the network controls for and does not model. Each affects every other variable. Repeatable.",
)


def structure_kind(word: str | None) -> type:
    """The class of a word of --structure, with or without an argument; that of none is ``object``."""
    return object if word is None else STRUCTURES.get(word.partition(":")[0], object)


def chooses_neighbours(word: str | None) -> bool:
    """Whether a word of --structure is that of regressions, which these options set."""
    from mrfit.structures.nodewise.pairwise_learner import PairwiseLearner

    return issubclass(structure_kind(word), PairwiseLearner)


def structure_rules(options: dict[str, Any]) -> list[Rule]:
    """List what each of these options needs; `mrfit structure` always learns."""
    every = sorted(parameters_of(structure_options))
    if "structure" in options and not chooses_neighbours(options["structure"]):
        return [Rule(tuple(every), False, "--structure learned")]
    return [_rule(option, options["select"], options["bound"]) for option in every]


def _rule(option: str, select: str, bound: str) -> Rule:
    from mrfit.structures.nodewise.learned import unmet_need

    need = unmet_need(option, select, bound)
    return Rule((option,), need is None, "" if need is None else f"--{need[0]} {one_of(need[1])}")


def structure_learners(options: dict[str, Any]) -> dict[int, PairwiseLearner]:
    """Return the learner of each degree bound."""
    from mrfit.structures.simple import Learned

    degrees = whole_numbers(options["max_degree"], "--max-degree")
    if not degrees:
        raise InputError("--max-degree is given without a number; write it like 5, or 5,15,50.")
    return {
        degree: Learned(
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
    }


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
