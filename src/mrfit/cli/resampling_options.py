"""Learner that the options name for resamples: a fit, or a structure learner alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from mrfit.cli.exact_options import structure_word
from mrfit.cli.learner_options import learner_options, structure_of
from mrfit.cli.option_rules import Rule, refuse_idle
from mrfit.cli.options import parameters_of
from mrfit.cli.structure_options import chooses_neighbours, structure_learners, structure_options
from mrfit.core.errors import InputError

if TYPE_CHECKING:
    from mrfit.core.domain import Domain
    from mrfit.learning import Learner
    from mrfit.structures.simple import StructureLearner

weights_option = click.option(
    "--weights",
    type=click.Choice(["regressions", "parameters"]),
    help="Edge weights from the regressions of mrfit structure, or from the parameters of a fit. By default "
    "regressions with --structure learned, otherwise parameters.",
)


def take_by_itself(context: click.Context, options: dict[str, Any], **usual: Any) -> None:
    """Other defaults than `mrfit fit` has; what the user said stays."""
    options |= {
        name: value for name, value in usual.items() if context.get_parameter_source(name) is ParameterSource.DEFAULT
    }


def is_of_regressions(options: dict[str, Any]) -> bool:
    by_default = "regressions" if chooses_neighbours(options["structure"]) else "parameters"
    return bool((options["weights"] or by_default) == "regressions")


def check_weights(context: click.Context, options: dict[str, Any]) -> None:
    """Options without an effect; a fit's are all but those of the structure."""
    regressions = is_of_regressions(options)
    if regressions and not chooses_neighbours(options["structure"]):
        raise InputError("--weights regressions are those of --structure learned; add it, or leave the weights out.")
    of_fit = parameters_of(learner_options) - parameters_of(structure_options) - {"structure", "order", "cells"}
    refuse_idle(context, [Rule(tuple(sorted(of_fit)), not regressions, "a fit: --weights parameters")])


def relearned(fitting: Learner, domain: Domain, options: dict[str, Any]) -> Learner | StructureLearner:
    """The learner with its structure; or what learns the structure, where edges weigh what regressions say."""
    if not chooses_neighbours(structure_word(options)):
        return replace(fitting, structure=structure_of(options, domain))
    learned, *others = structure_learners(options).values()
    if others:
        raise InputError(f"--max-degree {options['max_degree']} names several bounds; give one.")
    return learned if is_of_regressions(options) else replace(fitting, structure=learned)
