"""What `mrfit fit` says about what it learned: as JSON, as text, as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from mrfit.cli.output import say

if TYPE_CHECKING:
    from mrfit.data.unique_rows import UniqueRows
    from mrfit.learning import Fit, Fitted, Gain

_ON = {
    "test": "on the test rows",
    "valid": "on the validation rows, which chose both of them",
    "folds": "over the folds, which chose both of them",
}


def fit_document(rows: UniqueRows, fitted: Fitted) -> dict[str, Any]:
    best = fitted.best
    test = {} if fitted.test is None else {
        f"test_{best.measure}": fitted.test.mean, "test_standard_error": fitted.test.standard_error
    }  # fmt: skip
    return {
        "n_rows": rows.n_rows,
        "n_distinct_rows": rows.n_distinct,
        "dropped": rows.dropped_rows,
        "n_variables": len(rows.domain),
        "n_parameters": fitted.n_parameters,
        "n_edges": len(best.model.structure.edges),
        "n_cells": fitted.n_cells,
        "guarantee": fitted.guarantee,
        **_one_fit(best),
        **test,
        **_tying(fitted),
        "path": [_one_fit(fit) for fit in fitted.fits],
    }


def _one_fit(fit: Fit) -> dict[str, Any]:
    tied = {} if fit.model.groups is None else {"groups": fit.n_groups, "tying_iterations": len(fit.rounds)}
    exact = {} if fit.measure == "pll" else {"train_pll": fit.train_pll, "duality_gap": fit.solution.gap}
    return {
        "strength": fit.strength,
        **tied,
        f"train_{fit.measure}": fit.train,
        f"valid_{fit.measure}": fit.held_out,
        **exact,
        "n_distinct": fit.n_distinct,
        "passes": fit.passes,
        "n_nonzero": fit.n_nonzero,
        "n_nonzero_scopes": fit.n_nonzero_scopes,
        "nonzero_by_order": {str(order): count for order, count in fit.nonzero_by_order.items()},
        "objective_per_row": fit.solution.value,
        "violation": fit.solution.violation,
        "status": fit.solution.status.value,
        "iterations": fit.solution.iterations,
        "evaluations": fit.solution.evaluations,
        "products": fit.solution.products,
        "seconds": fit.seconds,
        "held": fit.held,
    }


def _tying(fitted: Fitted) -> dict[str, Any]:
    groups, gain = fitted.best.model.groups, fitted.gain
    if groups is None:
        return {}
    found: dict[str, Any] = {"centers": groups.centers.tolist(), "gain_over_l2": None}
    if gain is not None:
        found["gain_over_l2"] = {
            "mean": gain.mean,
            "standard_error": gain.standard_error,
            "rows": gain.rows,
            "is_real": gain.is_real,
            "l2": _one_fit(gain.l2),
        }
    return found


def print_fit(data: str, rows: UniqueRows, fitted: Fitted, output: str | None) -> None:
    best = fitted.best
    dropped = f" ({rows.dropped_rows:,} dropped)" if rows.dropped_rows else ""
    say(f"{data}: {rows.n_rows:,} rows{dropped}, {rows.n_distinct:,} distinct, {len(rows.domain)} variables")
    cells = "cells" if best.measure == "pll" else "joint states"
    considered = fitted.structure.structure
    say(f"{len(considered.edges):,} edges, {fitted.n_parameters:,} parameters, {fitted.n_cells:,} {cells}")
    _print_fits(fitted)
    if best.n_nonzero < fitted.n_parameters and not best.n_groups:
        scopes = f"{best.n_nonzero_scopes:,} of {considered.n_scopes:,} scopes"
        say(f"kept {best.n_nonzero:,} of {fitted.n_parameters:,} parameters, in {scopes}")
    if fitted.end_of_grid is not None:
        beyond = "weaker" if fitted.end_of_grid == "weakest" else "stronger"
        say(f"the best strength, {best.strength:g}, is the {fitted.end_of_grid} tried; try {beyond} ones too")
    if fitted.test is not None:
        say(f"test {best.measure} {fitted.test.mean:.4f} +- {fitted.test.standard_error:.4f} nats a row")
    if fitted.gain is not None:
        _print_gain(fitted.gain)
    if best.solution.gap is not None:
        say(f"{fitted.guarantee}, within {max(best.solution.gap, 0.0):.1e} nats a row (duality gap)")
    if best.held:
        say(f"held at a bound, because nothing penalises them and no finite value is best: {best.held}")
    say(f"wrote {output}" if output else "no model written; name a file with -o MODEL.mrf to keep it")


def _print_gain(gain: Gain) -> None:
    """A verdict only from rows that chose nothing: the best of ninety fits looks good on the rows it was chosen by."""
    verdict = {True: ": a gain", False: ": no gain", None: "; --test FILE tells what is left of it on other rows"}
    say(
        f"against the best L2 fit (strength {gain.l2.strength:g}) {_ON[gain.rows]}: "
        f"{gain.mean:+.4f} +- {gain.standard_error:.4f}{verdict[gain.is_real]}"
    )


def _by_order(fit: Fit) -> str:
    """Parameters that are not zero of single variables, pairs, triples, ...: " 16+105+257"."""
    counts = [str(fit.nonzero_by_order.get(order, 0)) for order in range(1, max(fit.nonzero_by_order, default=0) + 1)]
    return "  " + "+".join(counts[:6]) + ("+..." if len(counts) > 6 else "")


def _print_fits(fitted: Fitted) -> None:
    """One line for each fit; of a large grid the best ten."""
    best, tied = fitted.best, fitted.best.n_groups is not None
    by_order = not tied and max(map(len, (fit.nonzero_by_order for fit in fitted.fits))) > 2
    measure = best.measure
    say(
        (f"{'groups':>8} " if tied else "") + f"{'strength':>10} {'train ' + measure:>12} {'valid ' + measure:>12} "
        f"{'distinct' if tied else 'nonzero':>9} {'violation':>10} {'passes':>7} {'seconds':>8}"
        + (f"  {'by order'}" if by_order else "")
    )
    shown = list(fitted.fits)
    if len(shown) > 20:
        shown = sorted(shown, key=lambda fit: -fit.rank)[:10]
    for fit in shown:
        held_out = "" if fit.held_out is None else f"{fit.held_out:.4f}"
        kept = " *" if fit is best and len(fitted.fits) > 1 else ""
        say(
            (f"{fit.n_groups:>8} " if tied else "") + f"{fit.strength:>10g} {fit.train:>12.4f} {held_out:>12} "
            f"{fit.n_distinct if tied else fit.n_nonzero:>9,} {fit.solution.violation:>10.1e} {fit.passes:>7} "
            f"{fit.seconds:>8.2f}{_by_order(fit) if by_order else ''}{kept}"
        )
    if len(shown) < len(fitted.fits):
        say(f"  ... and {len(fitted.fits) - len(shown)} more fits, none better; --json has them all")


def draw_scores(by_degree: dict[int, Fitted], valid: UniqueRows | None, path: Path, title: str) -> None:
    """The best score of every number of groups, and that of L2, for every degree bound."""
    from mrfit.learning.score_curves import score_curves
    from mrfit.report.page import save_figure
    from mrfit.report.scores import draw_scores

    best = next(iter(by_degree.values())).best
    measure = "pseudo-log-likelihood" if best.measure == "pll" else "log-likelihood"
    where = f"{len(best.fold_scores)}-fold cross-validation" if valid is None else f"{valid.n_rows:,} validation rows"
    labels = {"tied" if len(by_degree) == 1 else f"d = {degree}": each for degree, each in by_degree.items()}
    curves = score_curves(labels, valid)
    save_figure(draw_scores(curves, measure=measure, title=title, subtitle=f"scores of {where}"), path)
