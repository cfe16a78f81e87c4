"""`mrfit sample`."""

from __future__ import annotations

from typing import Any

import click

from mrfit.cli.evidence_options import evidence_files, evidence_of, evidence_option
from mrfit.cli.files import check_files, send, summary_beside, writing
from mrfit.cli.model_options import from_option, is_silent, model_argument, read_model
from mrfit.cli.options import STANDARD, check_one_stream, common, tell_notes
from mrfit.cli.output import note_compiling, print_json, say
from mrfit.cli.sections import SectionedCommand


@click.command("sample", cls=SectionedCommand, guide=("Sampling", "sampling.md"))
@model_argument
@click.option(
    "-n", "--rows", type=click.IntRange(min=1), default=1000, show_default=True, help="Number of rows to draw."
)
@evidence_option
@click.option(
    "-o",
    "--output",
    default=STANDARD,
    show_default=True,
    metavar="FILE",
    help="Write the rows to a .csv (also .gz) or .parquet file; - is standard output, as CSV.",
)
@from_option
@writing
@common
def command(model_file: str, rows: int, output: str, **options: Any) -> None:
    """Draw rows from the distribution of a model, given evidence.

    MODEL is a .mrf, .uai, .LG, .mn or .fg file, also .gz, or - for standard input.

    \b
    Examples:
      mrfit sample model.mrf -n 10000 -o rows.csv
      mrfit sample model.mrf -n 500 --evidence smoker=yes --seed 7 | head
      mrfit sample grid.uai.gz -n 1000000 -o rows.parquet
    \f
    Rows are independent and exact if a junction tree fits in memory. Otherwise they come from Gibbs chains, and mrfit
    prints a note.
    """
    from mrfit.formats.tables import check_table_path, table_bytes, table_of

    files = evidence_files(options["evidence"])
    check_one_stream(model_file, *files)
    check_table_path(output)
    check_files({"MODEL": model_file, "--evidence": files}, {"-o": output}, options)
    note_compiling(quiet=is_silent(options))
    network = read_model(model_file, options)
    evidence = evidence_of(network.domain, options["evidence"])
    drawn = network.sample(rows, evidence=evidence, seed=options["seed"], jobs=options["jobs"])
    tell_notes(drawn.notes, quiet=is_silent(options))
    send(output, table_bytes(table_of(drawn), output))
    if options["as_json"]:
        about = {"exact": not drawn.notes, "remarks": drawn.notes}
        print_json({"rows": rows, "variables": len(network.domain), **about, "output": output, "seed": options["seed"]})
    elif not options["quiet"] and output != STANDARD:
        with summary_beside(output):
            say(f"{rows:,} rows of {len(network.domain):,} variables to {output}")
