"""`mrfit impute`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mrfit.cli.files import check_files, send, summary_beside, writing
from mrfit.cli.model_options import from_option, is_silent, model_argument, read_model
from mrfit.cli.options import (
    STANDARD,
    check_one_stream,
    choice,
    common,
    layout,
    layout_of,
    parameters_of,
    tell_notes,
    unknown_option,
)
from mrfit.cli.output import note_compiling, print_json, say
from mrfit.cli.progress import counting_progress
from mrfit.cli.sections import MAIN, SectionedCommand
from mrfit.core.errors import InputError

if TYPE_CHECKING:
    from mrfit.core.domain import Domain
    from mrfit.data.dataset import Dataset
    from mrfit.data.encoding import Encoder

_DRAW = "draw"  # the column that numbers completed copies

_SECTIONS = {
    MAIN: ("output", "how", "draws", "na_values", "unknown", "model_format"),
    "Data": parameters_of(layout),
    "Output": {"no_clobber"} | parameters_of(common),
}
_GUIDE = ("Missing data", "missing.md")


@click.command("impute", cls=SectionedCommand, sections=_SECTIONS, guide=_GUIDE)
@model_argument
@click.argument("data")
@choice(
    "--how",
    "map",
    "draw",
    help="Fill in the most probable joint state of the missing values of a row (map), or draw it from its "
    "distribution.",
)
@click.option(
    "--draws",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Number of completed copies of the table (multiple imputation), stacked and numbered in a first column "
    "'draw'. More than 1 needs --how draw.",
)
@click.option(
    "-o",
    "--output",
    default=STANDARD,
    show_default=True,
    metavar="FILE",
    help="Write the table to a .csv (also .gz) or .parquet file; - is standard output, as CSV.",
)
@from_option
@unknown_option
@layout
@writing
@common
def command(model_file: str, data: str, **options: Any) -> None:
    """Fill in the missing values of a table, given the other values of their row.

    \b
    Examples:
      mrfit impute model.mrf survey.csv -o complete.csv
      mrfit impute model.mrf survey.csv --how draw --draws 20 -o copies.parquet
    \f
    Observed values keep their spelling, and columns that MODEL does not know, such as weights or IDs, stay as they are.
    Variables of MODEL that DATA does not have are added. Text files are written with a line of column names. Missing
    are empty values, NA, ? and similar codes, and those of --na-values.
    """
    from mrfit.data.encoding import UNOBSERVED
    from mrfit.formats.tables import check_table_path, table_bytes

    output = options["output"]
    check_one_stream(model_file, data)
    check_table_path(output)
    check_files({"MODEL": model_file, "DATA": data}, {"-o": output}, options)
    if options["draws"] > 1 and options["how"] == "map":
        raise InputError(f"--draws {options['draws']} needs --how draw: the most probable states are always the same.")
    note_compiling(quiet=is_silent(options))
    network = read_model(model_file, options)
    cells, rows, coder = _read(data, network.domain, options)
    tell_notes(coder.notes, quiet=options["quiet"])
    copies = []
    with counting_progress("rows", rows.n_rows * options["draws"], quiet=is_silent(options)) as callback:
        for k in range(options["draws"]):
            seed = options["seed"] if k == 0 else (options["seed"], k)
            copies.append(network.impute(rows, how=options["how"], seed=seed, jobs=options["jobs"], callback=callback))
    notes = tuple(dict.fromkeys(text for copy in copies for text in copy.notes))
    tell_notes(notes, quiet=is_silent(options))
    table = _completed(cells, rows, copies)
    send(output, table_bytes(table, output))
    summary = {
        "rows": rows.n_rows,
        "dropped": coder.dropped_rows,
        "missing": int((rows.codes == UNOBSERVED).sum()),
        "how": options["how"],
        "draws": options["draws"],
        "exact": not notes,
        "remarks": notes,
        "output": output,
    }
    if options["as_json"]:
        print_json(summary)
    elif not options["quiet"] and output != STANDARD:
        with summary_beside(output):
            dropped = f" ({coder.dropped_rows:,} dropped)" if coder.dropped_rows else ""
            say(f"{summary['missing']:,} missing values of {rows.n_rows:,} rows{dropped} filled in, to {output}")


def _read(data: str, domain: Domain, options: dict[str, Any]) -> tuple[Any, Dataset, Encoder]:
    """The table as it stands in the file, and its rows in the model's coding."""
    import numpy as np
    import pyarrow as pa

    from mrfit.data.dataset import Dataset
    from mrfit.data.encoding import Encoder, ParseOptions
    from mrfit.data.readers import named_in_errors, read_batches

    how = ParseOptions(domain, missing="keep", unknown=options["unknown"], absent="missing")
    coder, pieces, codes, weights = Encoder(how), [], [], []
    with named_in_errors(data):
        for batch in read_batches(data, select=how.chosen, **layout_of(options)):
            row_codes, row_weights = coder.encode(batch)
            codes.append(row_codes)
            weights.append(row_weights)
            pieces.append(batch.cells.filter(pa.array(~coder.left_out)))
        coder.finish()
    # Pieces of text have dictionaries of their own.
    whole = pa.Table.from_batches(pieces).unify_dictionaries().combine_chunks()
    if ((weight := np.concatenate(weights)) != 1).any():  # of a .data file; others have them in a column
        whole = whole.append_column("weight", pa.array(weight))
    return whole, Dataset(domain, np.concatenate(codes)), coder


def _completed(cells: Any, rows: Dataset, copies: list[Dataset]) -> Any:
    import pyarrow as pa

    from mrfit.formats.imputed_table import filled

    tables = [filled(cells, rows.domain, rows.codes, copy.codes) for copy in copies]
    if len(tables) == 1:
        return tables[0]
    if _DRAW in tables[0].column_names:
        raise InputError(f"DATA or MODEL has a column {_DRAW!r}, which numbers the copies of --draws; rename it.")
    numbered = [
        table.add_column(0, _DRAW, pa.array([k] * table.num_rows, pa.int64())) for k, table in enumerate(tables, 1)
    ]
    return pa.concat_tables(numbered)
