"""Rerun the experiments of two papers, beside their numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mrfit import MrfitError
from mrfit.cli.cluster_options import cluster_option, enter_cluster
from mrfit.cli.options import common, names, parameters_of
from mrfit.cli.output import note_compiling, print_json, remark, say, wrapped
from mrfit.cli.progress import unit_progress
from mrfit.cli.sections import MAIN, SectionedCommand

if TYPE_CHECKING:
    from mrfit_papers.reproduction import Reproduction

WORDS = {
    "apt-table1": "L2, learn-tie-relearn and tying on 20 data sets",
    "apt-fig1": "parameters on the real line, tied to a few values",
    "apt-fig2": "test scores against the number of groups",
    "apt-theory": "rows that recover known groups, beside the theory",
    "apt-curve": "gains of tying over L2 against training rows",
    "apt-curve-ll": "the same by exact likelihood",
    "spec-table1": "completeness and symmetry of parameterizations",
    "spec-fig1": "test likelihood by parameterization and penalty",
    "spec-fig2": "nonzero parameters of the same fits",
    "spec-fig3": "spectral parameters by the number of variables",
    "league": "test log-likelihoods of the best networks, 20 data sets",
}


_SECTIONS = {
    MAIN: ("quick", "published", "datasets", "folder", "report_only", "jobs", "cluster", "as_json"),
    "Output": parameters_of(common),
}
_GUIDE = ("Replication of two papers", "replication.md")


@click.command("reproduce", cls=SectionedCommand, sections=_SECTIONS, guide=_GUIDE)
@click.argument("experiment", metavar="EXPERIMENT", type=click.Choice([*WORDS, "all"]))
@click.option("--quick", is_flag=True, help="Use a few small data sets and reduced grids: minutes instead of an hour.")
@click.option(
    "--published",
    is_flag=True,
    help="Run only what the paper has numbers for; of apt-table1, with the likeliest reading of its degree bound.",
)
@click.option("--datasets", metavar="NAME[,NAME...]", multiple=True, help="Use only these data sets. Repeatable.")
@click.option(
    "--out",
    "folder",
    metavar="DIR",
    default="reproduced",
    show_default=True,
    help="Directory for stored results and pages; it is created if necessary. Experiments may share one.",
)
@click.option("--report-only", is_flag=True, help="Run nothing; write the pages again from stored results.")
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
    """Rerun an experiment of the papers that mrfit builds on, beside their numbers.

    \b
    EXPERIMENT is one of
      {experiments}
      all          every experiment, and a page of all claims

    \b
    Examples:
      mrfit reproduce apt-table1 --quick --out quick
      mrfit reproduce apt-table1 --published --jobs 2
      mrfit reproduce spec-fig1 --datasets nltcs,yeast
    \f
    mrfit stores each finished unit in DIR/results.jsonl. If you interrupt a run, start it again and it continues. For
    each experiment, DIR then has a page of Markdown, a page of HTML, and figures. The data sets must be available;
    mrfit data get nltcs downloads one.
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
