"""`mrfit explore`."""

from __future__ import annotations

import webbrowser
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.document_options import Explored, explored_options, explored_sections
from mrfit.cli.model_options import load_scored_model
from mrfit.cli.options import check_one_stream, common, parameters_of
from mrfit.cli.output import note, note_compiling, print_json, say
from mrfit.cli.picture_options import title_of
from mrfit.cli.progress import waiting
from mrfit.cli.sections import MAIN, SectionedCommand
from mrfit.core.errors import InputError

if TYPE_CHECKING:
    from mrfit.explorer.query_api import Answering
    from mrfit.explorer.server import Explorer
    from mrfit.model.markov_network import MarkovNetwork

_SECTIONS = {
    MAIN: ("compare", "title", "stability", "evidence", "port", "browser", "as_json"),
    **explored_sections,
    "Server": ("host", "expose"),
    "Output": parameters_of(common),
}
_GUIDE = ("The explorer", "explorer.md")


@click.command("explore", cls=SectionedCommand, sections=_SECTIONS, guide=_GUIDE)
@explored_options
@click.option("--compare", metavar="OTHER", help="Second model of the same variables, shown beside MODEL.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port of the server; by default a free one.")
@click.option(
    "--browser/--no-browser", default=True, help="Open the page in the browser (default), or only print its address."
)
@click.option(
    "--host",
    metavar="ADDRESS",
    default="127.0.0.1",
    show_default=True,
    help="Address to serve at; other addresses than this machine need --expose.",
)
@click.option(
    "--expose", is_flag=True, help="Allow access from other machines, for people who know the address with its token."
)
@common
def command(model_file: str, data: str | None, **options: Any) -> None:
    """Explore a model interactively in the browser.

    Click a state to condition on it. The page is served to you alone, and runs until you press Ctrl-C.

    \b
    Examples:
      mrfit explore survey.mrf
      mrfit explore survey.mrf survey.csv
      mrfit explore men.mrf --compare women.mrf
    \f
    The page is that of mrfit report; the inference engines of mrfit compute its answers. No data leave this machine.
    With --json, mrfit prints the address as a JSON document, for programs that open it.

    \b
    More examples:
      mrfit explore survey.mrf --no-browser --port 8000  over ssh -L
    """
    from mrfit.explorer.hosts import is_loopback

    if not options["expose"] and not is_loopback(options["host"].lower()):
        raise InputError(
            f"--host {options['host']} lets other machines query the model; add --expose if you want that, or leave "
            "--host out."
        )
    if options["compare"] is not None and options["stability"] is not None:
        raise InputError("--stability is of one model, and --compare shows two; leave one of them out.")
    check_one_stream(model_file, data, options["compare"])
    quiet = options["quiet"] or options["as_json"]
    note_compiling(quiet=quiet)
    explored = Explored.of(model_file, data, options)
    try:
        server = _server(explored, options)
    except OSError as error:
        raise InputError(
            f"Cannot serve at {options['host']}:{options['port']}: {error.strerror or error}; choose another --host or "
            "--port."
        ) from error
    if options["expose"] and not options["quiet"]:
        note("anyone on the network who knows this address can query the model; the connection is not encrypted.")
    if options["as_json"]:
        print_json({"address": server.address})
    else:
        say(f"{server.address}", "Ctrl-C ends it.")
    if options["browser"] and not options["as_json"]:
        webbrowser.open(server.address)
    with server, waiting():
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            if not quiet:
                note("stopped.")


def _server(explored: Explored, options: Mapping[str, Any]) -> Explorer:
    from mrfit.explorer.server import Explorer

    where = {"rows": explored.rows, "host": options["host"], "port": options["port"]}
    if options["compare"] is None:
        return Explorer(explored.document(), _answering(explored.model, explored), **where)
    return _server_of_two(explored, options["compare"], where)


def _server_of_two(explored: Explored, file: str, where: dict[str, Any]) -> Explorer:
    from mrfit.analysis.model_comparison import compare
    from mrfit.explorer.server import Explorer
    from mrfit.explorer.two_models import document_of_two, in_order_of

    a, b = explored.model, load_scored_model(file, {"model_format": None})
    compared = compare(a, b, explored.rows)
    titles = (explored.title, title_of(file, {"title": None}))
    document = document_of_two(a, b, titles=titles, scores=compared.scores, rows=explored.rows, seed=explored.seed)
    one, other = (_answering(model, explored) for model in (a, in_order_of(a.domain, b)))
    return Explorer(document, one, compared=compared, other=other, **where)


def _answering(model: MarkovNetwork, explored: Explored) -> Answering:
    from mrfit.analysis.nodes.observed_numbers import Observed
    from mrfit.explorer.document import starting_rows
    from mrfit.explorer.query_api import Answering

    codes = starting_rows(explored.rows, Observed.kept_with(model), seed=explored.seed)
    return Answering(model, codes=codes, seed=explored.seed)
