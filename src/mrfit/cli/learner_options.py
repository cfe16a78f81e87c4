"""Options that say how to learn, shared by the commands that do."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.exact_options import coordinates_of, exact_options, structure_word
from mrfit.cli.option_rules import Rule, has_setting, one_of, penalties_with, refuse_idle
from mrfit.cli.options import (
    PartChoice,
    PartOption,
    choice,
    names,
    numbers,
    parameters_of,
    part_choice,
    stacked,
    whole_numbers,
)
from mrfit.cli.structure_options import covariates_option, structure_kind, structure_options, structure_rules
from mrfit.cli.tying_options import tying_options, tying_rules, tying_settings
from mrfit.registry import OBJECTIVES, PARAMETERIZATIONS, PENALTIES, SOLVERS, STRUCTURES

if TYPE_CHECKING:
    from mrfit.core.domain import Domain
    from mrfit.learning import Learner
    from mrfit.learning.objective_specs import ObjectiveSpec
    from mrfit.learning.penalty_spec import PenaltySpec
    from mrfit.structures.simple import StructureLearner

learner_options = stacked(
    click.option(
        "--structure",
        metavar="NAME",
        cls=PartOption,
        parts=STRUCTURES,
        show_default="complete",
        help="Interactions to include: {parts}.",
        short="Interactions to include: complete (all pairs), learned (selects edges), tree, order:3 (up to triples), "
        "edges:FILE and others.",
    ),
    structure_options,
    covariates_option,
    click.option("--covariates-on-edges", is_flag=True, help="Let covariates also change the weight of every edge."),
    click.option(
        "--cells",
        type=float,
        metavar="N",
        help="For --structure grown: add only edges with which the cliques of a junction tree have at most N cells, "
        "such as 1e6. The likelihood is then exact, which helps where chains do not mix.",
    ),
    part_choice(
        "--penalty",
        PENALTIES,
        help="Penalty: {parts}.",
        short="Penalty: l2 (shrinks), l1 or group (also selects), none, tied (makes parameters equal) and others.",
    ),
    exact_options,
    click.option(
        "--strength",
        "strengths",
        metavar="S[,S...]",
        help="Penalty strength lambda, not divided by the number of rows. The best held-out score chooses among "
        "several (--valid or --folds); otherwise the weakest is used. By default 1; with held-out rows, sparse "
        "penalties try a decreasing path. tied, hard and ltr try 0.01 to 100.",
    ),
    click.option(
        "--folds",
        type=click.IntRange(min=0),
        default=0,
        show_default=True,
        metavar="N",
        help="Number of folds of a cross-validation, used instead of --valid: 0 for none, or at least 2. Each fold "
        "learns its own structure.",
    ),
    tying_options,
    click.option(
        "--free-orders",
        metavar="R[,R...]",
        help="Orders (numbers of variables) of interactions that are not penalised; '' for none. By default 1 for l1, "
        "group, hierarchical, and for l2 with --objective likelihood; otherwise none.",
    ),
    choice(
        "--toward",
        "zero",
        "tree",
        help="Target towards which l2 shrinks parameters: zero, or their values in the smoothed Chow-Liu tree.",
    ),
    click.option(
        "--solver",
        type=PartChoice(SOLVERS),
        help="Solver. By default newton, or lbfgs for l2 on a junction tree. Sparse penalties use proximal-newton "
        "for the likelihood; for the pseudo-likelihood, l1 uses owlqn and the others fista.",
    ),
    click.option(
        "--tolerance",
        type=float,
        default=1e-6,
        show_default=True,
        help="Max. gradient of the mean objective at which a fit has converged. For a likelihood, the duality gap "
        "falls below a thousandth of it; on a junction tree, below it.",
    ),
    click.option(
        "--max-iterations", type=int, default=1000, show_default=True, help="Largest number of iterations of a fit."
    ),
)

# Their sections in the help of a command that has them all.
LEARNER_SECTIONS = {
    "Structure": parameters_of(structure_options)
    | {"structure", "order", "cells", "covariates", "covariates_on_edges"},
    "Penalty and parameterization": (
        {"penalty", "strengths", "folds", "free_orders", "toward", "search"} | parameters_of(exact_options)
    ),
    "Tying": parameters_of(tying_options),
    "Solver": ("solver", "tolerance", "max_iterations", "seed", "jobs"),
}


def learner_of(context: click.Context, options: dict[str, Any]) -> Learner:
    """Return the learner that the options describe, except for its structure, which may need the names of variables."""
    from mrfit.learning import Learner
    from mrfit.learning.specification import solver_from

    refuse_idle(context, [*_rules(options), *structure_rules(options), *tying_rules(options)])
    return Learner(
        penalty=_penalty(options),
        objective=_objective(options),
        **coordinates_of(options),
        covariates=names(options["covariates"], "--covariates"),
        covariates_on_edges=options["covariates_on_edges"],
        solver=solver_from(options["solver"]),
        tolerance=options["tolerance"],
        max_iterations=options["max_iterations"],
        folds=options["folds"],
        judge=options["judge"],
        seed=options["seed"],
    )


def check_orders_of(learner: Learner, domain: Domain, states: Collection[str] | None) -> None:
    """Refuse --ordered for words whose order nobody has said, and for codes of missing answers."""
    from mrfit.parameterizations.ordered import check_orders

    if learner.parameterization_kind.has_scores:
        scored = dict(learner.scores)
        check_orders(learner.ordered, domain, states or (), covariates=learner.covariates, scored=scored)


def structure_of(options: dict[str, Any], domain: Domain) -> StructureLearner:
    """Return the structure learner that the options describe, if it is not one of regressions."""
    from mrfit.learning.specification import structure_from

    structure = structure_from(structure_word(options), domain)
    if not has_setting(type(structure), "cells"):
        return structure
    return replace(structure, cells=options["cells"])  # type: ignore[type-var]


def _objective(options: dict[str, Any]) -> ObjectiveSpec:
    kind = OBJECTIVES[options["objective"]]
    return kind(engine=options["engine"]) if has_setting(kind, "engine") else kind()  # type: ignore[call-arg]


def _rules(options: dict[str, Any]) -> list[Rule]:
    word = options["penalty"]
    kind = PENALTIES[word]
    solved = kind.function is not None
    coordinates = PARAMETERIZATIONS[options["parameterization"]]
    return [
        Rule(("solver", "max_iterations", "tolerance"), solved, f"another penalty: {word} need no solver"),
        Rule(("free_orders",), solved and kind.default_free_orders is not None, "a penalty on parameters"),
        Rule(("engine",), has_setting(OBJECTIVES[options["objective"]], "engine"), "--objective likelihood"),
        Rule(("judge",), bool(options.get("valid") or options["folds"]), "held-out rows: --valid or --folds"),
        Rule(("toward",), has_setting(kind, "toward"), "--penalty l2"),
        Rule(("cells",), has_setting(structure_kind(options["structure"]), "cells"), "--structure grown"),
        Rule(("ordered",), coordinates.when_ordered is not None, "--parameterization ordered"),
        Rule(("covariates_on_edges",), bool(options["covariates"]), "--covariates"),
        Rule(
            ("search",), has_setting(kind, "search"), f"a penalty that makes zeros: {one_of(penalties_with('search'))}"
        ),
    ]


def _penalty(options: dict[str, Any]) -> PenaltySpec:
    """The penalty with those of the options that it has a use for."""
    orders = options["free_orders"]
    kind = PENALTIES[options["penalty"]]
    settings = {
        "strength": None if options["strengths"] is None else numbers(options["strengths"], "--strength"),
        "free_orders": None if orders is None else whole_numbers(orders, "--free-orders"),
        "search": options["search"],
        "toward": options["toward"],
        **tying_settings(options),
    }
    return kind(**{name: value for name, value in settings.items() if has_setting(kind, name)})
