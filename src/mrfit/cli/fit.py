"""`mrfit fit`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from mrfit.cli.cluster_options import cluster_option, enter_cluster
from mrfit.cli.exact_options import structure_file, structure_word
from mrfit.cli.files import check_resumable, load_model, send, summary_beside, writing
from mrfit.cli.fit_by_em import fit_by_em
from mrfit.cli.fit_text import draw_scores, held_out_text, print_fit
from mrfit.cli.learner_options import LEARNER_SECTIONS, check_orders_of, learner_of, learner_options, structure_of
from mrfit.cli.option_rules import Rule, has_setting, refuse_idle
from mrfit.cli.options import (
    called,
    check_one_stream,
    choice,
    common,
    data_argument,
    declared_states,
    parameters_of,
    read_parts,
    read_rows,
    reading_with,
    source_of,
    states_option,
)
from mrfit.cli.output import note, note_command, note_compiling, print_json, say
from mrfit.cli.picture_options import PICTURES, check_title, title_of, title_option
from mrfit.cli.progress import grid_progress, solver_progress
from mrfit.cli.sections import MAIN, SectionedCommand, words_of
from mrfit.cli.structure_options import chooses_neighbours, structure_kind, structure_learners
from mrfit.core.errors import InputError

if TYPE_CHECKING:
    from mrfit.analysis.goodness.check import Check
    from mrfit.data.partitioned_table import PartitionedTable
    from mrfit.data.unique_rows import UniqueRows
    from mrfit.learning import FitResult, Learner
    from mrfit.model.markov_network import MarkovNetwork
    from mrfit.structures.simple import StructureLearner


_reading = reading_with("em", help="em: learn from incomplete rows, by their observed values.")

_SECTIONS = {
    MAIN: (
        *("output", "structure", "penalty", "strengths", "valid", "folds", "objective", "ordered", "missing"),
        "exclude",
    ),
    "Data": parameters_of(_reading) | {"test", "states", "in_parts", "cluster"},
    **LEARNER_SECTIONS,
    "Output": {"like", "errors", "plot_scores", "title", "no_check", "resume", "as_json", "quiet", "verbose"}
    | parameters_of(writing),
}
_GUIDE = ("Tutorial: from a survey to a network", "tutorial-survey.md")


@click.command("fit", cls=SectionedCommand, sections=_SECTIONS, guide=_GUIDE)
@data_argument
@click.option("--valid", metavar="FILE", help="Validation set: rows whose score chooses the best penalty strength.")
@click.option("--test", metavar="FILE", help="Test set: rows that only score the chosen model.")
@learner_options
@click.option(
    "--like",
    metavar="MODEL",
    help="Learn with the settings of MODEL, the structure learner included. Excludes all other options of learning.",
)
@states_option
@cluster_option
@click.option(
    "--in-parts",
    is_flag=True,
    help="Read DATA file by file without holding all rows in memory, as --cluster does. For the pseudo-likelihood, "
    "and for structures that are fixed, tree or learned.",
)
@choice(
    "--errors",
    "none",
    "sandwich",
    "model",
    help="Standard errors of the parameters, stored in the model. sandwich: valid for the pseudo-likelihood and for "
    "misspecified models. model: valid for the likelihood of a correct model. Needs --penalty none or l2.",
)
@click.option(
    "--plot-scores",
    metavar="FILE",
    help=f"Draw the held-out score against the number of groups, with l2 dotted, to a {PICTURES} file.",
)
@title_option
@click.option(
    "--no-check",
    is_flag=True,
    help="Skip the check for spurious modes, which compares samples of the model with DATA and takes at most about as "
    "long as the fit. mrfit check does more.",
)
@click.option(
    "--resume",
    metavar="FILE",
    help="Checkpoint: store finished fits in FILE, and continue from them when you run the same command again after an "
    "interruption.",
)
@click.option("-o", "--output", metavar="MODEL", help="Write the model to a .mrf file; - is standard output.")
@writing
@_reading
@common
@click.pass_context
def command(context: click.Context, /, data: tuple[str, ...], **options: Any) -> None:
    """Learn a Markov network from a table.

    DATA is a .csv, .tsv, .txt, .data or .parquet file, a directory, a quoted pattern ('*.csv'), an address (s3://...),
    - for standard input, or a named data set such as nltcs:train. Several are read as one table.

    \b
    Examples:
      mrfit fit survey.csv -o survey.mrf
      mrfit fit survey.csv --structure learned --penalty none -o survey.mrf
      mrfit fit train.csv --valid valid.csv --strength 1,10,100 -o model.mrf
    \f
    By default, mrfit maximises the pseudo-likelihood of all pairs of variables with an l2 penalty.

    With --cluster, the rows are counted or held on the cluster, and folds and the regressions of structures run there.
    A grid of penalty strengths without --folds runs on this machine, because each fit starts from the last.

    \b
    More examples:
      mrfit fit survey.csv --penalty l1 --strength 20 -o sparse.mrf
      mrfit fit survey.csv --penalty none --errors sandwich -o survey.mrf
      mrfit fit survey.csv --ordered --covariates sex,age -o survey.mrf
      mrfit fit survey.csv --missing em --penalty none -o survey.mrf
      mrfit fit survey.txt --separator '|' --exclude id,income --na-values -9 \\
        --missing drop -o survey.mrf
      mrfit fit counts.csv --weight count --structure order:3 -o counts.mrf
      mrfit fit dna:train --valid dna:valid --test dna:test --structure learned \\
        --penalty tied --groups 2,5,10 --strength 1,10,30 -o dna.mrf
      mrfit fit nltcs:train --valid nltcs:valid --objective likelihood \\
        --parameterization spectral --order all --penalty l1 -o spectral.mrf
      mrfit fit kdd:train --valid kdd:valid --structure learned --max-degree 5 \\
        --objective likelihood -o kdd.mrf
      mrfit fit ad:train --valid ad:valid --structure grown --cells 1e5 \\
        --objective likelihood --toward tree -o ad.mrf
      mrfit fit '2024/*.parquet' --structure tree --cluster local:4 -o tree.mrf
    """
    from mrfit.core.threads import resolve_jobs
    from mrfit.formats.mrf import to_bytes

    check_one_stream(*data, options["valid"], options["test"], options["like"])
    source = source_of(data)
    name = called(source)
    jobs = resolve_jobs(options["jobs"])
    learner = _repeated(context, options["like"]) if options["like"] else learner_of(context, options)
    if options["missing"] == "em":
        needs = "complete rows: another --missing"
        refuse_idle(context, [Rule(("valid", "test", "folds", "plot_scores", "resume"), False, needs)])
    held_out, tests = (_given(options[name], f"--{name}") for name in ("valid", "test"))
    _check_files(data, options)
    check_title(options, "--plot-scores")
    picture = _checked_picture(options["plot_scores"], learner, held_out)
    states = declared_states(options["states"])
    enter_cluster(context, options["cluster"])
    read: Callable[..., UniqueRows | PartitionedTable] = read_parts if _is_in_parts(learner, options) else read_rows
    rows = read(source, options, states=states)
    check_orders_of(learner, rows.domain, states)
    if options["missing"] == "em":
        told = learner.with_structure(_one_structure(learner, rows, options))
        fit_by_em(name, told, cast("UniqueRows", rows), options, jobs=jobs)
        return
    valid, test = (None if name is None else read_rows(name, options, domain=rows.domain) for name in (held_out, tests))
    quiet = options["quiet"] or options["as_json"]
    _note_cost(rows, learner, quiet=quiet)
    by_degree = {
        degree: _fitted(learner.with_structure(structure), rows, valid, test, options, jobs=jobs)
        for degree, structure in _structures(learner, rows, options)
    }
    degree = max(by_degree, key=lambda degree: by_degree[degree].best.rank)
    fitted = by_degree[degree]
    if options["output"] is not None:
        send(options["output"], to_bytes(_with_observed(fitted, rows, valid)))
    if picture is not None:
        draw_scores(by_degree, valid, picture, title_of(data[0], options))
    check = None if options["no_check"] else _checked(fitted, rows, options, jobs=jobs)
    if options["as_json"]:
        print_json({**fitted.to_dict(check), **_degrees_to_dict(by_degree, degree, check), "output": options["output"]})
    elif not options["quiet"]:
        with summary_beside(options["output"]):
            print_fit(name, fitted, options["output"], check=check, verbose=options["verbose"])
            for d, each in by_degree.items() if len(by_degree) > 1 else ():
                mark = "  best" if d == degree else ""
                say(f"at most {d} neighbours: validation score {held_out_text(each.best)}{mark}")
    for fit in (fit for each in by_degree.values() for fit in each.fits if not fit.solution.converged):
        note(f"warning: penalty strength {fit.strength:g} {fit.solution.status.value}.")
    for remark in () if fitted.model.errors is None else fitted.model.errors.remarks:
        note(f"warning: {remark}")
    if check is not None and check.phantom_mode is not None:
        note(f"warning: {check.phantom_mode.text}")
        if check.phantom_mode.is_for_likelihood and not options["quiet"]:
            note_command("mrfit", "fit", *words_of(context), "--objective", "likelihood")
    if fitted.best.held_out is None and len(fitted.fits) > 1 and not quiet:
        note(f"chose the weakest penalty, {fitted.best.strength:g}. Pass --valid FILE to choose the best.")


def _degrees_to_dict(by_degree: dict[int, FitResult], best: int, check: Check | None) -> dict[str, Any]:
    """Return the fits of several degree bounds, ready for JSON; nothing for one."""
    if len(by_degree) < 2:
        return {}
    degrees = {str(d): each.to_dict(check if d == best else None) for d, each in by_degree.items()}
    return {"max_degree": best, "degrees": degrees}


def _with_observed(fitted: FitResult, rows: UniqueRows | PartitionedTable, valid: UniqueRows | None) -> MarkovNetwork:
    """The model, which carries what its page shows of the data; of tables in parts and lists it does not."""
    from mrfit.analysis.nodes.observed_numbers import Observed
    from mrfit.data.unique_rows import UniqueRows

    if type(rows) is not UniqueRows:
        return fitted.model
    return Observed.in_learning(fitted, rows, valid).added_to(fitted.model)


def _repeated(context: click.Context, model_file: str) -> Learner:
    """Return the learner of a model; refuse further options of learning."""
    from mrfit.analysis.stability.stability import told_learner

    files = {"data", "like", "valid", "test", "output", "plot_scores", "title", "states", "no_check", "errors"}
    files |= {"cluster", "in_parts", "resume"}
    beside = files | parameters_of(_reading) | parameters_of(writing) | (parameters_of(common) - {"seed"})
    learning = tuple(name for name in context.params if name not in beside)
    refuse_idle(context, [Rule(learning, False, f"no --like: {model_file} says how to learn")])
    return told_learner(load_model(model_file), model_file)


def _is_in_parts(learner: Learner, options: dict[str, Any]) -> bool:
    """Whether rows stay in their files; a cluster is of use to others, too."""
    grown = has_setting(structure_kind(structure_word(options)), "cells")
    able = not learner.objective.is_joint and options["missing"] != "em" and not grown
    if options["in_parts"] and not able:
        raise InputError(
            "--in-parts is for the pseudo-likelihood of complete rows, and structures that are given, a tree or "
            "learned. Leave it out, or --objective likelihood, --missing em or --structure grown."
        )
    return able and (options["in_parts"] or options["cluster"] is not None)


def _structures(
    learner: Learner, rows: UniqueRows | PartitionedTable, options: dict[str, Any]
) -> list[tuple[int, StructureLearner]]:
    """One for each degree bound, with the bound."""
    if options["like"]:
        return [(0, learner.structure)]
    if not chooses_neighbours(structure_word(options)):
        return [(0, structure_of(options, rows.domain))]
    learners = structure_learners(options)
    if len(learners) > 1 and options["valid"] is None and not options["folds"]:
        raise InputError("Choosing among several degree bounds needs held-out rows: give --valid or --folds.")
    if len(learners) > 1 and options["resume"] is not None:
        raise InputError("--resume stores the fits of one structure; give one degree bound, and each its own file.")
    return list(learners.items())


def _one_structure(learner: Learner, rows: UniqueRows | PartitionedTable, options: dict[str, Any]) -> StructureLearner:
    (_, structure), *others = _structures(learner, rows, options)
    if others:
        raise InputError("EM learns with one structure; give one degree bound.")
    return structure


def _fitted(
    learner: Learner,
    rows: UniqueRows | PartitionedTable,
    valid: UniqueRows | None,
    test: UniqueRows | None,
    options: dict[str, Any],
    *,
    jobs: int,
) -> FitResult:
    """Followed by a bar over the fits, or where there are few over the steps of each."""
    errors = None if options["errors"] == "none" else options["errors"]
    quiet, fit = options["quiet"] or options["as_json"], partial(learner.fit, rows, valid, test=test, jobs=jobs)
    if learner.penalty.is_tied or learner.folds:
        with grid_progress(quiet=quiet) as progress:
            return fit(errors=errors, resume=options["resume"], progress=progress)
    with solver_progress(learner.tolerance, quiet=quiet) as callback:
        return fit(errors=errors, resume=options["resume"], callback=callback)


def _checked(
    fitted: FitResult, rows: UniqueRows | PartitionedTable, options: dict[str, Any], *, jobs: int
) -> Check | None:
    """The model beside the rows it was learned from, where these are held; what cannot be checked is still a model."""
    if fitted.parts is not None:
        if not (options["quiet"] or options["as_json"]):
            note("the model was not checked, for rows stay in their files; mrfit check MODEL DATA does.")
        return None
    try:
        return fitted.check(rows, seed=options["seed"], jobs=jobs)
    except InputError as error:
        note(f"warning: the model was not checked. {error}")
        return None


def _note_cost(rows: UniqueRows | PartitionedTable, learner: Learner, *, quiet: bool) -> None:
    """Say before long work what it will take; more than can be held is refused.

    A junction tree is planned, and may be refused, when the structure is known.
    """
    plan = learner.objective.joint_plan(rows.domain.shape)
    if plan is not None:
        plan.check()
        if not quiet and plan.n_bytes >= 1e8:
            note(
                f"exact over {plan.n_cells:,} joint states: up to {plan.size}, about {plan.forecast:.2g} seconds an "
                "evaluation."
            )
    note_compiling(quiet=quiet)


def _given(text: str | None, option: str) -> str | None:
    if text == "":
        raise InputError(f"{option} is given without a file name.")
    return text


def _check_files(data: tuple[str, ...], options: dict[str, Any]) -> None:
    inputs = {
        "DATA": data,
        "--valid": options["valid"],
        "--test": options["test"],
        "--states": options["states"],
        "--structure": structure_file(options),
        "--like": options["like"],
    }
    written = {"-o": options["output"], "--plot-scores": options["plot_scores"]}
    check_resumable(inputs, written, options)


def _checked_picture(plot: str | None, learner: Learner, valid: str | None) -> Path | None:
    """Return the path of the picture of the scores; None without one."""
    if plot is None:
        return None
    from mrfit.plots.page import check_figure_path

    if not learner.penalty.is_tied or (valid is None and not learner.folds):
        raise InputError("--plot-scores draws held-out scores of tied fits; it needs --penalty tied, hard or ltr, and "
                         "--valid or --folds.")  # fmt: skip
    _given(plot, "--plot-scores")
    path = Path(plot)
    check_figure_path(path)
    return path
