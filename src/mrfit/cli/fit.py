"""`mrfit fit`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.options import common, data_path, declared_states, numbers, read_rows, reading, whole_numbers
from mrfit.cli.output import note, print_json, solver_progress
from mrfit.cli.structure_options import structure_options, structure_settings
from mrfit.errors import InputError

if TYPE_CHECKING:
    from mrfit.data.unique_rows import UniqueRows
    from mrfit.learning import Fit, Learned


@click.command("fit")
@click.argument("data")
@click.option("--valid", metavar="FILE", help="Rows on which the best strength is chosen.")
@click.option(
    "--structure",
    default="complete",
    show_default=True,
    metavar="complete|independent|tree|l1|order:R|edges:FILE",
    help="Which variables interact; l1 learns it, as `mrfit structure` does with the same options.",
)
@structure_options
@click.option(
    "--penalty",
    type=click.Choice(["l2", "l1"]),
    default="l2",
    show_default=True,
    help="l2 shrinks all parameters; l1 makes many of them exactly zero.",
)
@click.option(
    "--strength",
    "strengths",
    default="1",
    show_default=True,
    metavar="S[,S...]",
    help="Strength of the penalty against the sum over rows; several are warm-started, strongest first.",
)
@click.option(
    "--free-orders",
    metavar="R[,R...]",
    help="Scope sizes not penalised, '' for none; by default none for l2, 1 (single variables) for l1.",
)
@click.option(
    "--solver", type=click.Choice(["newton", "lbfgs", "owlqn"]), help="By default newton for l2, owlqn for l1."
)
@click.option(
    "--tolerance", type=float, default=1e-6, show_default=True, help="Largest subgradient entry at the solution."
)
@click.option("--max-iterations", type=int, default=1000, show_default=True)
@click.option("--states", metavar="FILE", help='JSON file that declares states: {"smoker": ["no", "yes"]}.')
@click.option("-o", "--output", metavar="MODEL", help="Where to write the model, a .mrf file.")
@reading
@common
def command(data: str, **options: Any) -> None:
    """Learn a Markov network from DATA by penalised pseudo-likelihood.

    DATA is a .csv, .tsv, .txt, .data (each also .gz) or .parquet file, or a named data set such as nltcs:train.

    \b
    Examples:
      mrfit fit survey.csv -o survey.mrf
      mrfit fit nltcs:train --valid nltcs:valid --strength 0.1,1,10 -o nltcs.mrf
      mrfit fit survey.csv --penalty l1 --strength 20 -o sparse.mrf
      mrfit fit nltcs:train --structure l1 --max-degree 5 -o sparse.mrf
      mrfit fit counts.csv --weight count --structure order:3 -o counts.mrf
    """
    from mrfit.choices import Source, method_from, structure_from
    from mrfit.learning import Settings, learn
    from mrfit.workers import resolve_jobs

    orders = options["free_orders"]
    free_orders = None if orders is None else whole_numbers(orders, "--free-orders")
    settings = Settings(
        strengths=numbers(options["strengths"], "--strength"),
        penalty=options["penalty"],
        free_orders=free_orders,
        method=method_from(options["solver"]),
        tolerance=options["tolerance"],
        max_iterations=options["max_iterations"],
        jobs=resolve_jobs(options["jobs"]),
    )
    learning = structure_settings(options)
    held_out = None if options["valid"] is None else _given(options["valid"], "--valid")
    output = None if options["output"] is None else _checked_output(options["output"], data, held_out)
    rows = read_rows(data, options, states=declared_states(options["states"]))
    valid = None if held_out is None else read_rows(held_out, options, domain=rows.domain)
    structure = structure_from(options["structure"], Source(rows, learning, valid))
    quiet = options["quiet"] or options["as_json"]
    with solver_progress(settings.tolerance, quiet=quiet) as callback:
        learned = learn(rows, structure, settings, valid=valid, callback=callback)
    if output is not None:
        learned.best.model.save(output)
    if options["as_json"]:
        print_json({**_document(rows, learned), "output": options["output"]})
    elif not options["quiet"]:
        _print_summary(data, rows, learned, options["output"])
    for fit in learned.fits:
        if not fit.solution.converged:
            note(f"warning: strength {fit.strength:g} {fit.solution.status.value}.")
    if valid is None and len(learned.fits) > 1 and not quiet:
        note(
            f"kept the weakest penalty, {learned.best.strength:g}; give held-out rows with --valid to choose the best."
        )


def _given(text: str, option: str) -> str:
    if not text:
        raise InputError(f"{option} is given without a file name.")
    return text


def _checked_output(output: str, *sources: str | None) -> Path:
    """Where the model goes; complains before the work is done, and never replaces the data."""
    from mrfit.formats.whole import check_writable

    path = Path(_given(output, "-o"))
    check_writable(path)
    if path.exists() and any(text is not None and path.resolve() == data_path(text).resolve() for text in sources):
        raise InputError(f"-o {output} is the data file itself; choose another name.")
    return path


def _document(rows: UniqueRows, learned: Learned) -> dict[str, Any]:
    best = learned.best
    return {
        "n_rows": rows.n_rows,
        "n_distinct_rows": rows.n_distinct,
        "dropped": rows.dropped_rows,
        "n_variables": len(rows.domain),
        "n_parameters": len(best.model.w),
        "n_edges": len(best.model.structure.edges),
        "n_cells": learned.n_cells,
        **_fit_document(best),
        "path": [_fit_document(fit) for fit in learned.fits],
    }


def _fit_document(fit: Fit) -> dict[str, Any]:
    return {
        "strength": fit.strength,
        "train_pll": fit.train_pll,
        "valid_pll": fit.valid_pll,
        "n_nonzero": fit.n_nonzero,
        "violation": fit.solution.violation,
        "status": fit.solution.status.value,
        "iterations": fit.solution.iterations,
        "evaluations": fit.solution.evaluations,
        "products": fit.solution.products,
        "seconds": fit.seconds,
        "held": fit.held,
    }


def _print_summary(data: str, rows: UniqueRows, learned: Learned, output: str | None) -> None:
    best = learned.best
    dropped = f" ({rows.dropped_rows:,} dropped)" if rows.dropped_rows else ""
    click.echo(f"{data}: {rows.n_rows:,} rows{dropped}, {rows.n_distinct:,} distinct, {len(rows.domain)} variables")
    click.echo(
        f"{len(best.model.structure.edges):,} edges, {len(best.model.w):,} parameters, {learned.n_cells:,} cells"
    )
    click.echo(
        f"{'strength':>10} {'train pll':>12} {'valid pll':>12} {'nonzero':>9} "
        f"{'violation':>10} {'passes':>7} {'seconds':>8}"
    )
    for fit in learned.fits:
        valid = "" if fit.valid_pll is None else f"{fit.valid_pll:.4f}"
        passes = fit.solution.evaluations + fit.solution.products
        kept = " *" if fit is best and len(learned.fits) > 1 else ""
        click.echo(
            f"{fit.strength:>10g} {fit.train_pll:>12.4f} {valid:>12} {fit.n_nonzero:>9,} "
            f"{fit.solution.violation:>10.1e} {passes:>7} {fit.seconds:>8.2f}{kept}"
        )
    if best.held:
        click.echo(f"held at a bound, because nothing penalises them and no finite value is best: {best.held}")
    click.echo(f"wrote {output}" if output else "no model written; name a file with -o MODEL.mrf to keep it")
