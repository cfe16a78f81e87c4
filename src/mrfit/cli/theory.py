"""`mrfit theory`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.files import load_model
from mrfit.cli.options import check_one_stream, common, parameters_of, read_rows, reading, tell_notes
from mrfit.cli.output import note_compiling, print_json, remark, say
from mrfit.cli.sections import MAIN, SectionedCommand
from mrfit.core.errors import InputError

if TYPE_CHECKING:
    from mrfit.analysis.theory_record import CurvatureChoice, CurvatureRecord, TheorySummary
    from mrfit.learning.tying.sample_complexity import Bound, Theory
    from mrfit.model.markov_network import MarkovNetwork

_SECTIONS = {
    MAIN: ("n_groups", "tie", "objective", "n_draws", "delta", "xi", "as_json"),
    "Data": parameters_of(reading),
    "Output": parameters_of(common),
}
_GUIDE = ("Automatic parameter tying", "tying.md")


@click.command("theory", cls=SectionedCommand, sections=_SECTIONS, guide=_GUIDE)
@click.argument("model_file", metavar="MODEL")
@click.argument("data", required=False)
@click.option(
    "--groups", "n_groups", type=click.IntRange(min=1), help="Number of groups to cluster the parameters of MODEL into."
)
@click.option(
    "--tie",
    type=click.Choice(["all", "apart", "orders"]),
    help="Parameters that may share a group: all of them, single variables apart from interactions, or each order "
    "apart. By default as MODEL was fitted.",
)
@click.option(
    "--objective",
    type=click.Choice(["likelihood", "pseudo-likelihood", "pseudo"]),
    help="Objective that recovers the groups. By default the likelihood if all joint states fit in memory and there "
    "is no DATA, otherwise the pseudo-likelihood. pseudo is short for pseudo-likelihood.",
)
@click.option(
    "--draws",
    "n_draws",
    type=click.IntRange(min=1),
    default=10_000,
    show_default=True,
    help="Number of rows to draw from MODEL for the curvature of the pseudo-likelihood, if it has too many joint "
    "states.",
)
@click.option(
    "--delta",
    type=float,
    default=0.05,
    show_default=True,
    help="Probability that the groups are not recovered, between 0 and 1.",
)
@click.option(
    "--xi",
    type=float,
    default=0.5,
    show_default=True,
    help="Rate at which lambda falls with n rows, n^(-xi/2), with 0 < xi < 1.",
)
@reading
@common
def command(model_file: str, data: str | None, n_groups: int | None, tie: str | None, **options: Any) -> None:
    """Bound the number of rows that recover the groups of a tied model.

    \b
    Examples:
      mrfit theory small.mrf
      mrfit theory large.mrf                   curvature from rows drawn from it
      mrfit theory large.mrf train.csv --json  curvature from the rows of a table
    \f
    MODEL, a file or - for standard input, is taken as the truth. With the printed number of rows, its groups are
    recovered with probability 1 - delta: by the bound of Chou et al. (2018, Theorem 1 and footnote 1), and by a bound
    of mrfit with a proof. Both are upper bounds; far fewer rows often suffice.

    The curvature of the pseudo-likelihood is a mean over the rows of DATA. Without DATA it is a mean over all joint
    states of MODEL if there are few, otherwise over rows drawn from it. From rows or draws, C_min and all bounds are
    estimates.
    """
    from mrfit.analysis.theory_record import TheorySummary

    check_one_stream(model_file, data)
    silent = options["quiet"] or options["as_json"]
    note_compiling(quiet=silent)
    model = load_model(model_file)
    if model.has_impossible_states:
        raise InputError(
            f"{model_file} makes some states impossible, and the theory needs finite parameters. Use another model."
        )
    if model.groups is None and n_groups is None:
        raise InputError(
            f"{model_file} has no groups of parameters; a tied model is needed. Fit it with --penalty tied, or cluster "
            "its parameters with --groups 5."
        )
    choice = _choice(model, data, options)
    summary = TheorySummary.of(
        model, n_groups=n_groups, tie=tie, delta=options["delta"], xi=options["xi"], curvature=choice
    )
    if options["as_json"]:
        print_json(summary.to_dict())
    else:
        tell_notes(summary.curvature.notes, quiet=silent)
        _print(summary)


def _choice(model: MarkovNetwork, data: str | None, options: dict[str, Any]) -> CurvatureChoice:
    from mrfit.analysis.theory_record import CurvatureChoice

    objective = "pseudo-likelihood" if options["objective"] == "pseudo" else options["objective"]
    if data is not None and objective == "likelihood":
        raise InputError(
            "DATA are given with --objective likelihood, whose curvature does not depend on rows; leave DATA out, or "
            "use --objective pseudo."
        )
    rows = None if data is None else read_rows(data, options, domain=model.domain)
    return CurvatureChoice(objective, rows, options["n_draws"], options["seed"], options["jobs"])


def _print(summary: TheorySummary) -> None:
    theory = summary.theory
    sizes = ", ".join(f"{size:,}" for size in theory.group_sizes[:10]) + (", ..." if theory.n_groups > 10 else "")
    separated = "well separated" if theory.is_separated else "not well separated"
    groups = f"{theory.n_groups:,} group{'' if theory.n_groups == 1 else 's'}"
    say(f"{theory.n_parameters:,} parameters in {groups}, {separated}", bold=True)
    remark(f"sizes of the groups: {sizes}")
    _line("omega, largest distance within a group", f"{theory.omega:.3g}")
    _line("alpha, smallest distance between groups", _number(theory.alpha))
    _line("well separated (alpha > omega)", "yes" if theory.is_separated else "no")
    _line("C_min, smallest eigenvalue of the Hessian", f"{theory.c_min:.3g}")
    remark(_origin(summary.curvature, theory))
    say(f"{'':<43}{'soft tying':>13}{'hard tying':>13}", bold=True)
    bounds = (theory.soft, theory.hard)
    _line("harmless error of a parameter, Lemma 1", *(_number(bound.largest_error) for bound in bounds))
    _line("  the same for optimal k-means", *(_number(bound.largest_kmeans_error) for bound in bounds))
    _line(f"rows that suffice, delta {theory.delta:g}", *(_number(bound.n_samples) for bound in bounds))
    _line("  the same for optimal k-means", *(_number(bound.n_samples_kmeans) for bound in bounds))
    _line(f"  lambda with so many rows, xi {theory.xi:g}", *(_number(bound.regularization) for bound in bounds))
    _line("rows that suffice, by our proof", *(_number(bound.proven.n_samples) for bound in bounds))
    _line("  the same for optimal k-means", *(_number(bound.proven.n_samples_kmeans) for bound in bounds))
    _line("  lambda at most", *(_number(bound.proven.regularization) for bound in bounds))
    for name, bound in zip(("soft", "hard"), bounds, strict=True):
        _print_reason(name, bound)


def _origin(curvature: CurvatureRecord, theory: Theory) -> str:
    """Describe the origin of C_min, and how accurate it is."""
    over = f"{curvature.n_rows:,} {curvature.over}" if not curvature.is_exact else curvature.over
    accuracy = theory.eigenvalue.accuracy
    settled = f", to {accuracy:.0e} of it" if accuracy else ""
    return f"C_min is of the {curvature.objective}, over {over}{settled}" + (
        "" if curvature.is_exact else ": an estimate"
    )


def _print_reason(name: str, bound: Bound) -> None:
    if bound.reason:
        remark(f"{name} tying: the theorem promises nothing, because {bound.reason}")


def _line(label: str, *columns: str) -> None:
    say(f"{label:<43}" + "".join(f"{column:>13}" for column in columns))


def _number(value: float) -> str:
    return "infinite" if math.isinf(value) else f"{value:.3g}"
