"""`mrfit report`."""

from __future__ import annotations

from typing import Any

import click

from mrfit.cli.document_options import Explored, explored_options, explored_sections
from mrfit.cli.files import check_files, send, writing
from mrfit.cli.options import STANDARD, check_one_stream, common, parameters_of
from mrfit.cli.output import note_compiling, print_json, remark
from mrfit.cli.sections import SectionedCommand

_SECTIONS = {
    "Options that matter most": ("output", "title", "stability"),
    **explored_sections,
    "Output": parameters_of(writing) | parameters_of(common),
}


@click.command("report", cls=SectionedCommand, sections=_SECTIONS)
@explored_options
@click.option(
    "-o", "--output", required=True, metavar="FILE", help="Where to write it: report.html; - is standard output."
)
@writing
@common
def command(model_file: str, data: str | None, **options: Any) -> None:
    """Write MODEL as one page on which it is seen and asked: a single file that works offline, from a mail too.

    On the page: the network, every variable with its probabilities, what changes when states are known, interactions
    in words. It computes for itself, exactly where the model allows it, else by sampling with an error that it shows;
    it loads nothing. With DATA it also shows how frequent states were, how well the others explain each variable, and
    the score; the rows are not put into it.
    `mrfit explore` opens the same page with the engines of mrfit behind it.

    \b
    Examples:
      mrfit report survey.mrf -o survey.html
      mrfit report survey.mrf survey.csv -o survey.html --title "Survey 2024"
      mrfit report survey.mrf -o survey.html --stability edges.csv
    """
    from mrfit.explorer.html_page import report_page

    check_one_stream(model_file, data)
    check_files(
        {"MODEL": model_file, "DATA": data, "--stability": options["stability"]}, {"-o": options["output"]}, options
    )
    note_compiling(quiet=options["quiet"] or options["as_json"])
    document = Explored.of(model_file, data, options).document()
    content = report_page(document)
    send(options["output"], content)
    engine = str(document.content["plan"]["engine"])
    if options["as_json"]:
        print_json({"output": options["output"], "bytes": len(content), "engine": engine})
    elif not options["quiet"] and options["output"] != STANDARD:
        how = "exactly" if engine == "exact" else "by sampling, with errors that it shows"
        remark(f"wrote {options['output']}, {len(content) / 1000:,.0f} kB; it answers {how}")
