"""`mrfit fit`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.exact_options import exact_options, structure_choice
from mrfit.cli.options import choice, common, data_path, declared_states, numbers, read_rows, reading, whole_numbers
from mrfit.cli.output import grid_progress, note, note_compiling, print_json, solver_progress
from mrfit.cli.picture_options import KINDS, check_title, title_of, title_option
from mrfit.cli.structure_options import structure_options, structure_settings
from mrfit.cli.tying_options import tying_options, tying_settings
from mrfit.errors import InputError

if TYPE_CHECKING:
    from mrfit.data.unique_rows import UniqueRows
    from mrfit.learning import Fit, Learned, Settings
    from mrfit.structure.nodewise import StructureSettings
    from mrfit.structure.structure import Structure


@click.command("fit")
@click.argument("data")
@click.option("--valid", metavar="FILE", help="Rows on which the best strength is chosen.")
@click.option(
    "--structure",
    metavar="complete|independent|tree|l1|order:R|edges:FILE",
    help="Which variables interact, by default complete: all pairs; l1 learns it, as `mrfit structure` does with the "
    "same options.",
)
@structure_options
@choice(
    "--penalty",
    "l2",
    "l1",
    "group",
    "hierarchical",
    "flat-l1",
    "flat-l2",
    "none",
    "pseudo-counts",
    "tied",
    "hard",
    "ltr",
    help="l2 shrinks all parameters; l1 makes many of them exactly zero; group all of a scope at once; hierarchical a "
    "scope and all that contain it; flat-l1 and flat-l2 treat all orders alike; pseudo-counts adds S rows of every "
    "joint state; tied draws parameters to a few learned values; hard makes them equal there; ltr learns with l2, "
    "clusters, and relearns as equal.",
)
@exact_options
@click.option(
    "--strength",
    "strengths",
    metavar="S[,S...]",
    help="Strength of the penalty against the sum over rows; several are warm-started. By default 1; for l1, group, "
    "hierarchical and flat-l1 with held-out rows a path from the critical strength down, until they are predicted no "
    "better; for tied parameters 0.01,0.1,0.5,1,10,15,30,50,100.",
)
@click.option(
    "--folds",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Choose by N-fold cross-validation instead of --valid.",
)
@tying_options
@click.option(
    "--free-orders",
    metavar="R[,R...]",
    help="Scope sizes not penalised, '' for none; by default 1 (single variables) for l1, group and hierarchical, else "
    "none.",
)
@click.option(
    "--solver",
    type=click.Choice(["newton", "lbfgs", "owlqn", "proximal-newton", "fista"]),
    help="By default newton; for penalties that make zeros proximal-newton, but with the pseudo-likelihood owlqn (l1) "
    "or fista.",
)
@click.option(
    "--tolerance",
    type=float,
    default=1e-6,
    show_default=True,
    help="Largest subgradient entry at the solution; the duality gap of a likelihood is brought to a thousandth of it.",
)
@click.option("--max-iterations", type=int, default=1000, show_default=True)
@click.option("--states", metavar="FILE", help='JSON file that declares states: {"smoker": ["no", "yes"]}.')
@click.option(
    "--plot-scores", metavar="FILE", help=f"Draw the score against the number of groups, L2 dotted, as {KINDS}."
)
@title_option
@click.option("-o", "--output", metavar="MODEL", help="Where to write the model, a .mrf file.")
@reading
@common
def command(data: str, **options: Any) -> None:
    """Learn a Markov network from DATA by penalised pseudo-likelihood or likelihood.

    DATA is a .csv, .tsv, .txt, .data (each also .gz) or .parquet file, or a named data set such as nltcs:train.

    \b
    Examples:
      mrfit fit survey.csv -o survey.mrf
      mrfit fit nltcs:train --valid nltcs:valid --strength 0.1,1,10 -o nltcs.mrf
      mrfit fit survey.csv --penalty l1 --strength 20 -o sparse.mrf
      mrfit fit dna:train --valid dna:valid --structure l1 --penalty tied --groups 2,5,10 --strength 1,10,30 -o dna.mrf
      mrfit fit nltcs:train --structure l1 --max-degree 5 -o sparse.mrf
      mrfit fit counts.csv --weight count --structure order:3 -o counts.mrf
      mrfit fit nltcs:train --valid nltcs:valid --objective likelihood --parameterization spectral --order all \\
        --penalty l1 -o spectral.mrf
    """
    from mrfit.choices import Source, structure_from

    settings = _settings(options)
    choice_of_structure = structure_choice(options)
    learning = _checked_degrees(structure_settings(options), choice_of_structure, options)
    held_out = None if options["valid"] is None else _given(options["valid"], "--valid")
    output = None if options["output"] is None else _checked_output(options["output"], data, held_out)
    check_title(options, "--plot-scores")
    picture = _checked_picture(options["plot_scores"], settings, held_out)
    rows = read_rows(data, options, states=declared_states(options["states"]))
    valid = None if held_out is None else read_rows(held_out, options, domain=rows.domain)
    quiet = options["quiet"] or options["as_json"]
    _note_cost(rows, settings, quiet=quiet)
    by_degree: dict[int, Learned] = {}
    for how in learning:
        structure = structure_from(choice_of_structure, Source(rows, how, valid))
        by_degree[how.max_degree] = _learned(rows, structure, settings, valid, quiet=quiet)
    degree = max(by_degree, key=lambda degree: by_degree[degree].best.rank)
    learned = by_degree[degree]
    if output is not None:
        learned.best.model.save(output)
    if picture is not None:
        _draw_scores(by_degree, valid, picture, title_of(data, options))
    if options["as_json"]:
        degrees = {"max_degree": degree, "degrees": {str(d): _document(rows, by_degree[d]) for d in by_degree}}
        print_json({**_document(rows, learned), **(degrees if len(by_degree) > 1 else {}), "output": options["output"]})
    elif not options["quiet"]:
        for d, each in by_degree.items() if len(by_degree) > 1 else ():
            mark = " *" if d == degree else ""
            click.echo(f"at most {d} neighbours: held-out score {each.best.held_out:.4f}{mark}")
        _print_summary(data, rows, learned, options["output"])
    for fit in (fit for each in by_degree.values() for fit in each.fits if not fit.solution.converged):
        note(f"warning: strength {fit.strength:g} {fit.solution.status.value}.")
    if learned.best.held_out is None and len(learned.fits) > 1 and not quiet:
        note(
            f"kept the weakest penalty, {learned.best.strength:g}; give held-out rows with --valid to choose the best."
        )


def _settings(options: dict[str, Any]) -> Settings:
    from mrfit.choices import method_from
    from mrfit.learning import Settings
    from mrfit.workers import resolve_jobs

    orders = options["free_orders"]
    return Settings(
        strengths=None if options["strengths"] is None else numbers(options["strengths"], "--strength"),
        penalty=options["penalty"],
        tying=tying_settings(options),
        objective=options["objective"],
        parameterization=options["parameterization"],
        reference=options["reference"],
        search=options["search"],
        path=True,
        free_orders=None if orders is None else whole_numbers(orders, "--free-orders"),
        method=method_from(options["solver"]),
        tolerance=options["tolerance"],
        max_iterations=options["max_iterations"],
        folds=options["folds"],
        seed=options["seed"],
        jobs=resolve_jobs(options["jobs"]),
    )


def _learned(
    rows: UniqueRows, structure: Structure, settings: Settings, valid: UniqueRows | None, *, quiet: bool
) -> Learned:
    """Followed by a bar over the fits, or where there are few over the steps of each."""
    from mrfit.learning import learn

    if settings.is_tied or settings.folds:
        with grid_progress(quiet=quiet) as progress:
            return learn(rows, structure, settings, valid=valid, progress=progress)
    with solver_progress(settings.tolerance, quiet=quiet) as callback:
        return learn(rows, structure, settings, valid=valid, callback=callback)


def _checked_degrees(
    learning: list[StructureSettings], structure: str, options: dict[str, Any]
) -> list[StructureSettings]:
    if len(learning) > 1 and structure != "l1":
        raise InputError(f"--max-degree {options['max_degree']} chooses among learned structures; add --structure l1.")
    if len(learning) > 1 and options["valid"] is None and not options["folds"]:
        raise InputError("Choosing among several degree bounds needs held-out rows: give --valid or --folds.")
    return learning


def _note_cost(rows: UniqueRows, settings: Settings, *, quiet: bool) -> None:
    """Say before long work what it will take; more than can be held is refused."""
    from mrfit._kernels.cells import sweep
    from mrfit._kernels.joint_states import exponentiate_blocks
    from mrfit.objectives.likelihood import check_size, cost_of

    if settings.is_exact:
        check_size(rows.domain.shape)
        cost = cost_of(rows.domain.shape)
        if not quiet and cost.gigabytes >= 0.1:
            note(
                f"exact over {cost.n_states:,} joint states: up to {cost.gigabytes:.1f} GB, about {cost.seconds:.2g} "
                "seconds an evaluation."
            )
    note_compiling(exponentiate_blocks if settings.is_exact else sweep, "10", quiet=quiet)


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


def _checked_picture(plot: str | None, settings: Settings, valid: str | None) -> Path | None:
    """Where the picture of the scores goes, if there will be any."""
    if plot is None:
        return None
    from mrfit.report.page import check_figure_path

    if not settings.is_tied or (valid is None and not settings.folds):
        raise InputError("--plot-scores draws held-out scores of tied fits; it needs --penalty tied, hard or ltr, and "
                         "--valid or --folds.")  # fmt: skip
    path = Path(_given(plot, "--plot-scores"))
    check_figure_path(path)
    return path


def _draw_scores(by_degree: dict[int, Learned], valid: UniqueRows | None, path: Path, title: str) -> None:
    """The best score of every number of groups, and that of L2, for every degree bound."""
    from mrfit.learning.score_curves import score_curves
    from mrfit.report.page import save_figure
    from mrfit.report.scores import draw_scores

    best = next(iter(by_degree.values())).best
    measure = "pseudo-log-likelihood" if best.train_ll is None else "log-likelihood"
    where = f"{len(best.fold_scores)}-fold cross-validation" if valid is None else f"{valid.n_rows:,} validation rows"
    labels = {"tied" if len(by_degree) == 1 else f"d = {degree}": each for degree, each in by_degree.items()}
    curves = score_curves(labels, valid)
    save_figure(draw_scores(curves, measure=measure, title=title, subtitle=f"scores of {where}"), path)


def _document(rows: UniqueRows, learned: Learned) -> dict[str, Any]:
    best = learned.best
    return {
        "n_rows": rows.n_rows,
        "n_distinct_rows": rows.n_distinct,
        "dropped": rows.dropped_rows,
        "n_variables": len(rows.domain),
        "n_parameters": learned.n_parameters,
        "n_edges": len(best.model.structure.edges),
        "n_cells": learned.n_cells,
        "guarantee": learned.guarantee,
        **_fit_document(best),
        **_tying_document(learned),
        "path": [_fit_document(fit) for fit in learned.fits],
    }


def _tying_document(learned: Learned) -> dict[str, Any]:
    best, gain = learned.best, learned.gain
    if best.model.groups is None:
        return {}
    found: dict[str, Any] = {"centers": best.model.groups.centers.tolist(), "gain_over_l2": None}
    if gain is not None:
        found["gain_over_l2"] = {
            "mean": gain.mean,
            "standard_error": gain.standard_error,
            "is_real": gain.is_real,
            "l2": _fit_document(gain.l2),
        }
    return found


def _fit_document(fit: Fit) -> dict[str, Any]:
    tied = fit.model.groups is not None
    return {
        "strength": fit.strength,
        **({"groups": fit.n_groups, "tying_iterations": len(fit.rounds)} if tied else {}),
        **({} if fit.train_ll is None else _exact_document(fit)),
        "train_pll": fit.train_pll,
        "valid_pll": fit.valid_pll,
        "n_distinct": fit.n_distinct,
        "passes": fit.passes,
        "n_nonzero": fit.n_nonzero,
        "n_nonzero_scopes": fit.n_nonzero_scopes,
        "nonzero_by_order": {str(order): count for order, count in fit.nonzero_by_order.items()},
        "objective_per_row": fit.solution.value,
        "violation": fit.solution.violation,
        "status": fit.solution.status.value,
        "iterations": fit.solution.iterations,
        "evaluations": fit.solution.evaluations,
        "products": fit.solution.products,
        "seconds": fit.seconds,
        "held": fit.held,
    }


def _exact_document(fit: Fit) -> dict[str, Any]:
    return {"train_ll": fit.train_ll, "valid_ll": fit.valid_ll, "duality_gap": fit.solution.gap}


def _print_summary(data: str, rows: UniqueRows, learned: Learned, output: str | None) -> None:
    best = learned.best
    dropped = f" ({rows.dropped_rows:,} dropped)" if rows.dropped_rows else ""
    click.echo(f"{data}: {rows.n_rows:,} rows{dropped}, {rows.n_distinct:,} distinct, {len(rows.domain)} variables")
    cells = "cells" if best.train_ll is None else "joint states"
    click.echo(
        f"{len(best.model.structure.edges):,} edges, {learned.n_parameters:,} parameters, {learned.n_cells:,} {cells}"
    )
    _print_fits(learned)
    if learned.gain is not None:
        gain = learned.gain
        verdict = "" if gain.is_real else ": no gain"
        click.echo(
            f"against the best L2 fit (strength {gain.l2.strength:g}, {gain.l2.held_out:.4f}) on held-out rows: "
            f"{gain.mean:+.4f} +- {gain.standard_error:.4f}{verdict}"
        )
    if best.solution.gap is not None:
        click.echo(f"{learned.guarantee}, within {max(best.solution.gap, 0.0):.1e} nats a row (duality gap)")
    if best.held:
        click.echo(f"held at a bound, because nothing penalises them and no finite value is best: {best.held}")
    click.echo(f"wrote {output}" if output else "no model written; name a file with -o MODEL.mrf to keep it")


def _by_order(fit: Fit) -> str:
    """Parameters that are not zero of single variables, pairs, triples, ...: " 16+105+257"."""
    counts = [str(fit.nonzero_by_order.get(order, 0)) for order in range(1, max(fit.nonzero_by_order, default=0) + 1)]
    return "  " + "+".join(counts[:6]) + ("+..." if len(counts) > 6 else "")


def _print_fits(learned: Learned) -> None:
    """One line for each fit; of a large grid the best ten."""
    best, tied = learned.best, learned.best.n_groups is not None
    by_order = not tied and max(map(len, (fit.nonzero_by_order for fit in learned.fits))) > 2
    measure = "pll" if best.train_ll is None else "ll"
    click.echo(
        (f"{'groups':>8} " if tied else "") + f"{'strength':>10} {'train ' + measure:>12} {'valid ' + measure:>12} "
        f"{'distinct' if tied else 'nonzero':>9} {'violation':>10} {'passes':>7} {'seconds':>8}"
        + (f"  {'by order'}" if by_order else "")
    )
    shown = list(learned.fits)
    if len(shown) > 20:
        shown = sorted(shown, key=lambda fit: -fit.rank)[:10]
    for fit in shown:
        held_out = "" if fit.held_out is None else f"{fit.held_out:.4f}"
        train = fit.train_pll if fit.train_ll is None else fit.train_ll
        kept = " *" if fit is best and len(learned.fits) > 1 else ""
        click.echo(
            (f"{fit.n_groups:>8} " if tied else "") + f"{fit.strength:>10g} {train:>12.4f} {held_out:>12} "
            f"{fit.n_distinct if tied else fit.n_nonzero:>9,} {fit.solution.violation:>10.1e} {fit.passes:>7} "
            f"{fit.seconds:>8.2f}{_by_order(fit) if by_order else ''}{kept}"
        )
    if len(shown) < len(learned.fits):
        click.echo(f"  ... and {len(learned.fits) - len(shown)} more fits, none better; --json has them all")
