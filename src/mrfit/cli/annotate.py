"""`mrfit annotate`."""

from __future__ import annotations

from typing import Any

import click

from mrfit.cli.document_options import reading_observed, stability_option
from mrfit.cli.files import check_files, send, summary_beside, writing
from mrfit.cli.model_options import from_option, load_scored_model, model_argument
from mrfit.cli.options import check_one_stream, common, parameters_of, read_rows
from mrfit.cli.output import note_compiling, print_json, say
from mrfit.cli.sections import SectionedCommand
from mrfit.core.errors import InputError

_SECTIONS = {
    "Options that matter most": ("output", "stability"),
    "Model and data": {"model_format"} | parameters_of(reading_observed),
    "Output": parameters_of(writing) | parameters_of(common),
}


@click.command("annotate", cls=SectionedCommand, sections=_SECTIONS)
@model_argument
@click.argument("data", required=False)
@stability_option
@click.option(
    "-o", "--output", required=True, metavar="FILE", help="Where to write the model: new.mrf; - is standard output."
)
@from_option
@reading_observed
@writing
@common
def command(model_file: str, data: str | None, **options: Any) -> None:
    """Write MODEL with what DATA and resamples say of it, so that its page shows this without them.

    Of DATA: how frequent each state was, how well the other variables explain each, and the score; give rows that were
    held out, and it is a held-out score. Of resamples: how often they have each edge. No row is kept. What MODEL
    carries already stays where it is not given anew.

    \b
    Examples:
      mrfit annotate survey.mrf held-out.csv --stability edges.csv -o annotated.mrf
      mrfit report annotated.mrf -o survey.html
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
    model.check_no_covariates("What is observed is said of")
    rows = None if data is None else read_rows(data, options, domain=model.domain)
    resamples = None if options["stability"] is None else read_stability(options["stability"], model.domain)
    observed = Observed.of(model, rows=rows, stability=resamples)
    send(options["output"], to_bytes(observed.added_to(model)))
    if options["as_json"]:
        print_json({"output": options["output"], **observed.to_dict(model.domain.names)})
    elif not quiet:
        with summary_beside(options["output"]):
            say(f"wrote {options['output']}; it carries {observed.describe()}")
