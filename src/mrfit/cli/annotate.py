"""`mrfit annotate`."""

from __future__ import annotations

from typing import Any

import click

from mrfit.cli.document_options import reading_observed, stability_option
from mrfit.cli.files import check_files, send, summary_beside, writing
from mrfit.cli.model_options import from_option, load_scored_model, model_argument
from mrfit.cli.options import check_one_stream, common, parameters_of, read_rows
from mrfit.cli.output import note_compiling, print_json, remark
from mrfit.cli.sections import MAIN, SectionedCommand
from mrfit.core.errors import InputError

_SECTIONS = {
    MAIN: ("output", "stability", "missing", "model_format"),
    "Data": parameters_of(reading_observed),
    "Output": parameters_of(writing) | parameters_of(common),
}
_GUIDE = ("The explorer", "explorer.md")


@click.command("annotate", cls=SectionedCommand, sections=_SECTIONS, guide=_GUIDE)
@model_argument
@click.argument("data", required=False)
@stability_option
@click.option(
    "-o", "--output", required=True, metavar="FILE", help="Write the model to a .mrf file; - is standard output."
)
@from_option
@reading_observed
@writing
@common
def command(model_file: str, data: str | None, **options: Any) -> None:
    """Store summaries of data and edge stability in a model file, for reports.

    \b
    Examples:
      mrfit annotate survey.mrf test.csv --stability edges.csv -o annotated.mrf
      mrfit report annotated.mrf -o survey.html
    \f
    From DATA, mrfit stores the frequency of each state, the predictability of each variable and the score, but no rows.
    Give held-out rows for a held-out score. From --stability, it stores how often bootstrap samples include each edge.
    Summaries that MODEL already has stay, unless you replace them.
    """
    from mrfit.analysis.nodes.observed_numbers import Observed
    from mrfit.analysis.stability.stability_file import read_stability
    from mrfit.formats.mrf import to_bytes

    check_one_stream(model_file, data)
    if data is None and options["stability"] is None:
        raise InputError("There is nothing to add to the model: give DATA, --stability CSV, or both.")
    check_files(
        {"MODEL": model_file, "DATA": data, "--stability": options["stability"]}, {"-o": options["output"]}, options
    )
    quiet = options["quiet"] or options["as_json"]
    note_compiling(quiet=quiet)
    model = load_scored_model(model_file, options)
    model.check_no_covariates("Annotations describe")
    rows = None if data is None else read_rows(data, options, domain=model.domain)
    resamples = None if options["stability"] is None else read_stability(options["stability"], model.domain)
    observed = Observed.of(model, rows=rows, stability=resamples)
    send(options["output"], to_bytes(observed.added_to(model)))
    if options["as_json"]:
        print_json({"output": options["output"], **observed.to_dict(model.domain.names)})
    elif not quiet:
        with summary_beside(options["output"]):
            remark(f"wrote {options['output']}; it carries {observed.describe()}")
