"""`mrfit theory`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.files import load_model
from mrfit.cli.options import common
from mrfit.cli.output import note_compiling, print_json, say
from mrfit.errors import InputError

if TYPE_CHECKING:
    from mrfit.tying.theory import Bound, Theory


@click.command("theory")
@click.argument("model_file", metavar="MODEL")
@click.option("--groups", "n_groups", type=click.IntRange(min=1), help="Cluster the parameters of MODEL into so many.")
@click.option(
    "--tie",
    type=click.Choice(["all", "apart", "orders"]),
    help="Which parameters may share a group: all, single variables apart from interactions, or each order alone; by "
    "default as MODEL was fitted.",
)
@click.option("--delta", type=float, default=0.05, show_default=True, help="Probability that the groups are not found.")
@click.option("--xi", type=float, default=0.5, show_default=True, help="How fast lambda falls: n^(-xi/2); 0 < xi < 1.")
@common
def command(model_file: str, n_groups: int | None, tie: str | None, **options: Any) -> None:
    """Print what theory says about a tied MODEL: how far its groups are apart and how many rows would find them.

    MODEL, a file or - for standard input, is taken for the truth. Were new rows drawn from it, the stated number
    of rows would suffice to find its groups again with probability 1 - delta (Chou et al. 2018, Theorem 1). It is an
    upper bound; far fewer often do.
    """
    from mrfit.summaries.theory import TheorySummary

    note_compiling(quiet=options["quiet"] or options["as_json"])
    model = load_model(model_file)
    if model.has_impossible_states:
        raise InputError(
            f"{model_file} holds some states impossible; the theory is about finite parameters. Use others."
        )
    if model.groups is None and n_groups is None:
        raise InputError(
            f"{model_file} has no groups of parameters; a tied model is needed. Fit it with --penalty tied, or cluster "
            "its parameters with --groups 5."
        )
    summary = TheorySummary.of(model, n_groups=n_groups, tie=tie, delta=options["delta"], xi=options["xi"])
    if options["as_json"]:
        print_json(summary.to_dict())
    else:
        _print(summary.theory)


def _print(theory: Theory) -> None:
    sizes = ", ".join(f"{size:,}" for size in theory.group_sizes[:10]) + (", ..." if theory.n_groups > 10 else "")
    say(f"{theory.n_parameters:,} parameters, {theory.n_groups:,} groups (sizes {sizes})")
    _line("omega, largest distance within a group", f"{theory.omega:.4g}")
    _line("alpha, smallest distance between groups", _number(theory.alpha))
    _line("well separated (alpha > omega)", "yes" if theory.is_separated else "no")
    _line("C_min, smallest eigenvalue of the Hessian", f"{theory.c_min:.4g}")
    _line("", "soft tying", "hard tying")
    bounds = (theory.soft, theory.hard)
    _line("harmless error of a parameter, Lemma 1", *(_number(bound.largest_error) for bound in bounds))
    _line("  the same for optimal k-means", *(_number(bound.largest_kmeans_error) for bound in bounds))
    _line(f"rows that suffice, delta {theory.delta:g}", *(_number(bound.n_samples) for bound in bounds))
    _line(f"  lambda with so many rows, xi {theory.xi:g}", *(_number(bound.regularization) for bound in bounds))
    for name, bound in zip(("soft", "hard"), bounds, strict=True):
        _print_reason(name, bound)


def _print_reason(name: str, bound: Bound) -> None:
    if bound.reason:
        say(f"{name} tying: the theorem promises nothing, for {bound.reason}")


def _line(label: str, *columns: str) -> None:
    say(f"{label:<43}" + "".join(f"{column:>13}" for column in columns))


def _number(value: float) -> str:
    return "infinite" if math.isinf(value) else f"{value:.4g}"
