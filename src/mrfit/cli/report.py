"""`mrfit report`."""

from __future__ import annotations

from typing import Any

import click

from mrfit.cli.document_options import Explored, explored_options, explored_sections
from mrfit.cli.files import check_files, send, writing
from mrfit.cli.options import STANDARD, check_one_stream, common, parameters_of
from mrfit.cli.output import note_compiling, print_json, remark
from mrfit.cli.sections import MAIN, SectionedCommand

_SECTIONS = {
    MAIN: ("output", "title", "stability", "evidence", "missing", "as_json"),
    **explored_sections,
    "Output": parameters_of(writing) | parameters_of(common),
}
_GUIDE = ("The explorer", "explorer.md")


@click.command("report", cls=SectionedCommand, sections=_SECTIONS, guide=_GUIDE)
@explored_options
@click.option(
    "-o", "--output", required=True, metavar="FILE", help="Write the page to an .html file; - is standard output."
)
@writing
@common
def command(model_file: str, data: str | None, **options: Any) -> None:
    """Write a model as an interactive page: one file that works offline.

    \b
    Examples:
      mrfit report survey.mrf -o survey.html
      mrfit report survey.mrf survey.csv -o survey.html --title "Survey 2024"
      mrfit report survey.mrf --stability edges.csv -o survey.html
    \f
    The page shows the network, the probabilities of every variable, how they change with evidence, and the interactions
    as sentences. It computes its answers itself: exactly if the model allows it, otherwise by sampling, with the error.
    It loads nothing from other servers.

    With DATA, the page also shows observed frequencies, the predictability of each variable and the score. It does not
    contain the rows. mrfit explore opens the same page with the inference engines of mrfit.
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
