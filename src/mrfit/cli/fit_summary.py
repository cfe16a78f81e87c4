"""What `mrfit fit` says about what it learned: as text, and as a picture."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from mrfit.cli.output import note, say

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mrfit.data.unique_rows import UniqueRows
    from mrfit.learning import Fitted
    from mrfit.model import MarkovNetwork
    from mrfit.summaries.errors import ErrorsSummary
    from mrfit.summaries.fit import FitSummary, GainSummary, PointSummary

_ON = {
    "test": "on the test rows",
    "valid": "on the validation rows, which chose both of them",
    "folds": "over the folds, which chose both of them",
}
_CELLS = {None: "cells", "enumeration": "joint states", "tree": "cells of the cliques of a junction tree"}
_CHAINS = (
    "learned by chains: log Z of the model, estimated again after the fit, has a standard error of {:.2g} nats; fits "
    "with other seeds differ by about {:.2g} nats a row"
)
_MOST_HELD = 10  # names of parameters at a bound


def print_fit(data: str, summary: FitSummary, output: str | None) -> None:
    best, rows = summary.best, summary.rows
    dropped = f" ({rows.dropped:,} dropped)" if rows.dropped else ""
    distinct = "" if rows.n_distinct_rows is None else f", {rows.n_distinct_rows:,} distinct"
    say(f"{data}: {rows.n_rows:,} rows{dropped}{distinct}, {rows.n_variables} variables")
    sizes = f"{summary.n_candidate_edges:,} edges, {summary.n_candidate_parameters:,} parameters"
    if is_sparse := summary.n_parameters < summary.n_candidate_parameters:
        sizes = f"considered: {sizes}"
    say(sizes if summary.engine == "chains" else f"{sizes}, {summary.n_cells:,} {_CELLS[summary.engine]}")
    for remark in summary.remarks:
        say(remark)
    _print_points(summary)
    if is_sparse:
        edges = f"{summary.n_edges:,} of {summary.n_candidate_edges:,} edges"
        parameters = f"{summary.n_parameters:,} of {summary.n_candidate_parameters:,} parameters"
        scopes = f"{best.n_nonzero_scopes:,} of {summary.n_candidate_scopes:,} scopes"
        say(f"kept {edges}, {parameters}, {scopes}")
    if summary.end_of_grid is not None:
        beyond = "weaker" if summary.end_of_grid == "weakest" else "stronger"
        say(f"the best strength, {best.strength:g}, is the {summary.end_of_grid} tried; try {beyond} ones too")
    if summary.log_z_error is not None and summary.score_error is not None:
        say(_CHAINS.format(summary.log_z_error, summary.score_error))
    if summary.test is not None:
        say(f"test {best.measure} {summary.test.in_words()}")
    if summary.gain is not None:
        _print_gain(summary.gain)
    if best.duality_gap is not None:
        say(f"{summary.guarantee}, within {max(best.duality_gap, 0.0):.1e} nats a row (duality gap)")
    if summary.unbounded:
        say(unbounded_in_words(summary.unbounded))
    if summary.errors is not None:
        print_criteria(summary.errors)
    if summary.check is not None and summary.check.phantom_mode is None:
        say(summary.check.in_words())
    say(f"wrote {output}" if output else "no model written; name a file with -o MODEL.mrf to keep it")


def unbounded_in_words(limits: Mapping[str, str]) -> str:
    """Which parameters have no finite estimate, and why."""
    several = "parameters are" if len(limits) > 1 else "parameter is"
    shown = ", ".join(f"{name} ({limit})" for name, limit in list(limits.items())[:_MOST_HELD])
    more = f", ... ({len(limits):,} in all)" if len(limits) > _MOST_HELD else ""
    return f"{len(limits):,} {several} unbounded, without a penalty and never contradicted by the data: {shown}{more}"


def note_unbounded(model: MarkovNetwork, name: str) -> None:
    """Have it said where edge weights that a command counts are those at which a solver stopped."""
    if model.unbounded:
        note(f"warning: {name}: {unbounded_in_words(model.unbounded)}. Their weights are where the solver stopped.")


def print_criteria(summary: ErrorsSummary) -> None:
    """How many parameters there are in effect, and what that costs."""
    errors, n = summary.errors, len(summary.estimates)
    without = f", {summary.n_without:,} of them without a finite optimum" if summary.n_without else ""
    criteria = "" if math.isnan(errors.claic) else f"; CLAIC {errors.claic:.2f}, CLBIC {errors.clbic:.2f}"
    say(f"{errors.kind} errors of {n:,} parameters{without}, {errors.effective_parameters:.1f} in effect{criteria}")


def _print_gain(gain: GainSummary) -> None:
    """A verdict only from rows that chose nothing: the best of ninety fits looks good on the rows it was chosen by."""
    verdict = {True: ": a gain", False: ": no gain", None: "; --test FILE tells what is left of it on other rows"}
    say(
        f"against the best L2 fit (strength {gain.l2.strength:g}) {_ON[gain.rows]}: "
        f"{gain.mean:+.4f} +- {gain.standard_error:.4f}{verdict[gain.is_real]}"
    )


def _by_order(point: PointSummary) -> str:
    """Parameters that are not zero of single variables, pairs, triples, ...: " 16+105+257"."""
    by_order = point.nonzero_by_order
    counts = [str(by_order.get(order, 0)) for order in range(1, max(by_order, default=0) + 1)]
    return "  " + "+".join(counts[:6]) + ("+..." if len(counts) > 6 else "")


def _unconverged(point: PointSummary) -> str:
    return "" if point.converged or "did not converge" not in point.status else "  did not converge"


def _print_points(summary: FitSummary) -> None:
    """One line for each fit; of a large grid the best ten."""
    best, tied, measure = summary.best, summary.best.groups is not None, summary.best.measure
    equal = any(point.is_hard_tied for point in summary.path)  # else tied parameters have values of their own
    by_order = not tied and max(len(point.nonzero_by_order) for point in summary.path) > 2
    say(
        (f"{'groups':>8} " if tied else "") + f"{'strength':>10} {'train ' + measure:>12} {'valid ' + best.judge:>12} "
        f"{'distinct' if equal else 'nonzero':>9} {'violation':>10} {'passes':>7} {'seconds':>8}"
        + (f"  {'by order'}" if by_order else "")
    )
    shown = list(summary.path)
    if len(shown) > 20:
        shown = sorted(shown, key=lambda point: math.inf if point.held_out is None else -point.held_out)[:10]
    for point in shown:
        kept = " *" if point is best and len(summary.path) > 1 else ""
        say(
            (f"{point.n_groups:>8} " if tied else "")
            + f"{point.strength:>10g} {point.train_text:>12} {point.held_out_text:>12} "
            f"{point.n_distinct if equal else point.n_nonzero:>9,} {point.violation:>10.1e} {point.passes:>7} "
            f"{point.seconds:>8.2f}{_by_order(point) if by_order else ''}{kept}{_unconverged(point)}"
        )
    if len(shown) < len(summary.path):
        say(f"  ... and {len(summary.path) - len(shown)} more fits, none better; --json has them all")


def draw_scores(by_degree: dict[int, Fitted], valid: UniqueRows | None, path: Path, title: str) -> None:
    """The best score of every number of groups, and that of L2, for every degree bound."""
    from mrfit.learning.score_curves import MEASURES, score_curves
    from mrfit.report.page import save_figure
    from mrfit.report.scores import draw_scores

    best = next(iter(by_degree.values())).best
    measure = MEASURES[best.measure]
    where = f"{len(best.fold_scores)}-fold cross-validation" if valid is None else f"{valid.n_rows:,} validation rows"
    labels = {"tied" if len(by_degree) == 1 else f"d = {degree}": each for degree, each in by_degree.items()}
    curves = score_curves(labels, valid)
    save_figure(draw_scores(curves, measure=measure, title=title, subtitle=f"scores of {where}"), path)
