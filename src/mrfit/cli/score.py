"""`mrfit score`."""

from __future__ import annotations

from typing import Any

import click

from mrfit.cli.model_options import from_option, load_scored_model, model_argument
from mrfit.cli.options import (
    check_one_stream,
    choice,
    common,
    layout_of,
    parameters_of,
    reading_of,
    reading_with,
    tell_notes,
)
from mrfit.cli.output import note, note_compiling, print_json, say
from mrfit.cli.sections import SectionedCommand

_reading = reading_with("observed", help="; or observed: rows are scored by the values they have")

_SECTIONS = {
    "Options that matter most": ("metric", "per_row", "model_format", "as_json"),
    "Data": parameters_of(_reading),
    "Output": parameters_of(common),
}


@click.command("score", cls=SectionedCommand, sections=_SECTIONS)
@model_argument
@click.argument("data")
@choice(
    "--metric",
    "pll",
    "ll",
    help="The pseudo-log-likelihood, or the log-likelihood, exact: over all joint states where they are few, by a "
    "junction tree where the structure is sparse; refused with the figures where neither fits.",
)
@click.option("--per-row", is_flag=True, help="Print the score of every row that was not dropped, one a line.")
@from_option
@_reading
@common
def command(model_file: str, data: str, **options: Any) -> None:
    """Mean log-likelihood or pseudo-log-likelihood per row, in nats, of DATA under MODEL; larger is better.

    MODEL may be - for standard input, and a model of another program: .uai, .LG, .mn or .fg. Columns and states are
    matched by name, whatever their order; columns the model does not know are ignored. A row that the model holds
    impossible scores minus infinity, null in JSON. With --missing observed rows with missing values are scored by what
    they have: log p of their values, or the sum of log p of each given the others.

    \b
    Examples:
      mrfit score model.mrf test.csv
      mrfit score model.mrf test.csv --metric ll
      mrfit score model.mrf test.csv --per-row > scores.txt
      mrfit score other.mn test.data                       of Libra
    """
    import numpy as np
    from numpy.typing import NDArray

    from mrfit.data.batch import checked_sample_weight
    from mrfit.data.coding import Coder
    from mrfit.data.item_lists import is_item_list, read_sparse
    from mrfit.data.readers import named_in_errors, read_batches
    from mrfit.model import finite_scores
    from mrfit.summaries.score import ScoreSummary
    from mrfit.workers import resolve_jobs

    check_one_stream(model_file, data)
    note_compiling(quiet=options["quiet"] or options["as_json"])
    jobs = resolve_jobs(options["jobs"])
    model = load_scored_model(model_file, options)
    metric = options["metric"]
    score_rows = model.row_scores(metric)
    how = reading_of(options, domain=model.domain)
    coder = Coder(how)

    def scored(codes: NDArray[np.uint8]) -> NDArray[np.float64]:
        return finite_scores(score_rows, model, np.ascontiguousarray(codes), jobs=jobs)

    if is_item_list(data, options["format"]):
        rows = read_sparse(data, how, **layout_of(options))
        score, weight = rows.scored(scored), rows.sample_weight
    else:
        with named_in_errors(data):
            batches = map(coder.encode, read_batches(data, select=how.chosen, **layout_of(options)))
            parts = [(scored(codes), weight) for codes, weight in batches]
            coder.finish()
            score, weight = (np.concatenate(part) for part in zip(*parts, strict=True))
            weight = checked_sample_weight(weight, len(score))
    tell_notes(coder.notes, quiet=options["quiet"])
    impossible = int(np.isneginf(score).sum())
    if impossible and not options["quiet"]:
        note(f"{impossible:,} of {len(score):,} rows are impossible under the model: their score is minus infinity.")
    summary = ScoreSummary.of(metric, score, weight, dropped=coder.dropped_rows)
    if options["as_json"]:
        print_json(summary.to_dict() | ({"per_row": score.tolist()} if options["per_row"] else {}))
    elif options["per_row"]:
        say(*(f"{value:.10g}" for value in score))
    else:
        dropped = f" ({summary.dropped:,} dropped)" if summary.dropped else ""
        say(f"{summary.rows:,} rows{dropped}, mean {metric} {summary.mean:.6f} nats")
