"""`mrfit explore`."""

from __future__ import annotations

import webbrowser
from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.explored import explored_model, explored_options, explored_sections
from mrfit.cli.model_options import load_scored_model
from mrfit.cli.options import check_one_stream, common, parameters_of
from mrfit.cli.output import note, note_compiling, print_json, say
from mrfit.cli.sections import SectionedCommand
from mrfit.errors import InputError

if TYPE_CHECKING:
    from mrfit.data.unique_rows import UniqueRows
    from mrfit.model import MarkovNetwork
    from mrfit.summaries.comparison import Comparison

_LOOPBACK = ("127.0.0.1", "localhost")

_SECTIONS = {
    "Options that matter most": ("title", "stability", "port", "browser"),
    **explored_sections,
    "Where it is served": ("host", "expose"),
    "For programs": ("compare",),
    "Output": parameters_of(common),
}


@click.command("explore", cls=SectionedCommand, sections=_SECTIONS)
@explored_options
@click.option(
    "--compare", metavar="OTHER", help="A second model of the same variables: its differences at /api/compare."
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="By default one that is free.")
@click.option("--browser/--no-browser", default=True, help="Open it; or only print the address.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Any other than this machine needs --expose.")
@click.option("--expose", is_flag=True, help="Let others in the network ask, who know the address with its token.")
@common
def command(model_file: str, data: str | None, **options: Any) -> None:
    """See MODEL as a network, set what you know, and watch everything else move: a page, served to you alone.

    The page is that of `mrfit report`, and the engines of mrfit answer it. Nothing leaves this machine. It runs until
    Ctrl-C. With --json the address is printed as a document, for programs that open it.

    \b
    Examples:
      mrfit explore survey.mrf
      mrfit explore survey.mrf survey.csv
      mrfit explore survey.mrf --no-browser --port 8000      over ssh -L 8000:localhost:8000
    """
    from mrfit.explorer.answering import Answering
    from mrfit.explorer.document import starting_rows
    from mrfit.explorer.server import Explorer

    if options["host"] not in _LOOPBACK and not options["expose"]:
        raise InputError(
            f"--host {options['host']} lets other machines ask; add --expose if you mean it, or leave --host out."
        )
    check_one_stream(model_file, data, options["compare"])
    quiet = options["quiet"] or options["as_json"]
    note_compiling(quiet=quiet)
    model, document, rows = explored_model(model_file, data, options)
    compared = None if options["compare"] is None else _compared(model, rows, options["compare"])
    answering = Answering(model, codes=starting_rows(rows), seed=options["seed"])
    try:
        server = Explorer(document, answering, rows=rows, compared=compared, host=options["host"], port=options["port"])
    except OSError as error:
        raise InputError(
            f"Cannot serve at {options['host']}:{options['port']}: {error.strerror or error}; choose another --port."
        ) from error
    if options["expose"] and not options["quiet"]:
        note("whoever in the network knows this address can ask the model; what is sent is not encrypted.")
    if options["as_json"]:
        print_json({"address": server.address})
    else:
        say(f"{server.address}", "Ctrl-C ends it.")
    if options["browser"] and not options["as_json"]:
        webbrowser.open(server.address)
    with server:
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            if not quiet:
                note("stopped.")


def _compared(model: MarkovNetwork, rows: UniqueRows | None, other: str) -> Comparison:
    from mrfit.summaries.comparison import compare

    return compare(model, load_scored_model(other, {"model_format": None}), rows)
