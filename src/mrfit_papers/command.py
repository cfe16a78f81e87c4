"""Run the experiments of the papers, beside their numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mrfit import MrfitError
from mrfit.cli.cluster_options import cluster_option, enter_cluster
from mrfit.cli.options import common, names
from mrfit.cli.output import note_compiling, print_json, remark, say, wrapped
from mrfit.cli.progress import unit_progress

if TYPE_CHECKING:
    from mrfit_papers.reproduction import Reproduction

WORDS = {
    "apt-table1": "L2, learn-tie-relearn and tying on 20 data sets, beside the paper's numbers",
    "apt-fig1": "parameters on the real line, tied to a few values",
    "apt-fig2": "test scores against the number of groups",
    "apt-theory": "how many rows find known groups, beside what theory asks for",
    "apt-curve": "when tying pays: gains over L2 against the number of training rows",
    "apt-curve-ll": "the same by exact likelihood: does tying pay where it matters",
    "spec-table1": "which parameterizations are complete, minimal and symmetric",
    "spec-fig1": "test likelihood by parameterization and penalty, seven data sets, ten splits",
    "spec-fig2": "nonzero parameters of the same fits",
    "spec-fig3": "sizes and densities of spectral parameters by the number of variables",
    "league": "test log-likelihoods of the best networks learned by likelihood, 20 data sets",
}


@click.command("reproduce")
@click.argument("experiment", metavar="EXPERIMENT", type=click.Choice([*WORDS, "all"]))
@click.option("--quick", is_flag=True, help="A few small data sets and reduced grids: minutes instead of an hour.")
@click.option(
    "--published",
    is_flag=True,
    help="Only what the paper has numbers for; of apt-table1 by the likeliest reading of its bound.",
)
@click.option("--datasets", metavar="NAME[,NAME...]", multiple=True, help="Only these data sets.")
@click.option(
    "--out",
    "folder",
    metavar="DIR",
    default="reproduced",
    show_default=True,
    help="Folder for stored results and pages; it is created if needed. Experiments may share one.",
)
@click.option("--report-only", is_flag=True, help="Run nothing: make the pages again from stored results.")
@cluster_option
@common
@click.pass_context
def command(
    context: click.Context,
    /,
    experiment: str,
    quick: bool,
    published: bool,
    datasets: tuple[str, ...],
    folder: str,
    report_only: bool,
    **options: Any,
) -> None:
    """Run an experiment of the papers mrfit builds on, and print their numbers beside ours.

    \b
    EXPERIMENT is one of
      {experiments}
      all          every one of them, and a page of all claims

    Each finished piece of work is stored at once in DIR/results.jsonl; a run that was stopped or killed continues when
    you start it again. DIR then has a page of Markdown, one of HTML, and figures for each experiment. The data sets
    must be available: `mrfit data get nltcs` fetches one.

    \b
    Examples:
      mrfit reproduce apt-table1 --quick --out quick
      mrfit reproduce apt-table1 --published --jobs 2
      mrfit reproduce spec-fig1 --datasets nltcs,yeast
      mrfit reproduce all --report-only
    """
    from mrfit.core.threads import resolve_jobs
    from mrfit_papers.experiment import Scope
    from mrfit_papers.experiments import experiments_called
    from mrfit_papers.reproduction import reproduce

    quiet = options["quiet"] or options["as_json"]
    note_compiling(quiet=quiet)
    enter_cluster(context, options["cluster"])
    scope = Scope(quick, names(datasets, "--datasets") if datasets else None, options["seed"], published)
    with unit_progress(quiet=quiet) as progress:
        found = reproduce(
            experiments_called(experiment),
            scope,
            folder,
            jobs=resolve_jobs(options["jobs"]),
            report_only=report_only,
            progress=progress,
        )
    if options["as_json"]:
        print_json(found.to_dict())
    elif not options["quiet"]:
        _print(found)
    if found.failures:
        raise MrfitError(
            f"{len(found.failures)} of {len(found.units)} units failed and have no result, the first: "
            f"{found.failures[0]}. Run the same command to try them again."
        )


command.help = (command.help or "").format(experiments="\n      ".join(f"{word:<13}{WORDS[word]}" for word in WORDS))


_COLOURS = {"reproduced": "green", "partly": "yellow", "not reproduced": "red"}


def _print(found: Reproduction) -> None:
    for claim in found.claims:
        undecided = f"from {claim.cases}: " if claim.verdict.value != claim.verdict_in_words else ""
        text = f"{claim.verdict.value:<15} {claim.paper}, {claim.where}: {claim.words}"
        say(*wrapped(text, hanging=" " * 16), fg=_COLOURS.get(claim.verdict.value))
        say(*wrapped(f"{undecided}{claim.ours}", indent=" " * 16, hanging=""))
    remark(f"{found.n_results:,} of {len(found.units):,} units have results, {found.n_new:,} of them new; the pages:")
    say(*(f"  {page}" for page in found.pages))
