"""Output of `mrfit fit`: the result of a fit as text, and held-out scores as a picture."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from mrfit.cli.output import note, say
from mrfit.core.rounding import rounded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mrfit.analysis.goodness.check import Check
    from mrfit.data.unique_rows import UniqueRows
    from mrfit.learning import CandidateFit, FitResult, TyingGain
    from mrfit.model.markov_network import MarkovNetwork
    from mrfit.model.parameter_estimates import ErrorsSummary
    from mrfit.solvers.solution import Solution

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
_MOST_LISTED, _BEST_LISTED = 20, 10  # fits of a grid that are all printed; of a larger one
_MOST_HELD = 10  # names of parameters at a bound


def print_fit(data: str, fitted: FitResult, output: str | None, *, check: Check | None = None) -> None:
    """Print what was learned from which rows, the grid of fits, and what the best of them is worth."""
    model, rows, considered = fitted.model, fitted.rows, fitted.structure.structure
    dropped = f" ({rows.dropped:,} dropped)" if rows.dropped else ""
    distinct = "" if rows.n_distinct_rows is None else f", {rows.n_distinct_rows:,} distinct"
    say(f"{data}: {rows.n_rows:,} rows{dropped}{distinct}, {rows.n_variables} variables")
    n_edges, n_parameters = len(considered.edges), fitted.n_candidate_parameters
    sizes = f"{n_edges:,} edges, {n_parameters:,} parameters"
    if is_sparse := model.n_parameters < n_parameters:
        sizes = f"considered: {sizes}"
    say(sizes if fitted.engine == "chains" else f"{sizes}, {fitted.n_cells:,} {_CELLS[fitted.engine]}")
    for remark in fitted.structure.remarks:
        say(remark)
    _print_grid(fitted)
    if is_sparse:
        edges = f"{model.n_edges:,} of {n_edges:,} edges"
        parameters = f"{model.n_parameters:,} of {n_parameters:,} parameters"
        say(f"kept {edges}, {parameters}, {model.n_scopes:,} of {considered.n_scopes:,} scopes")
    _print_worth(fitted)
    if check is not None and check.phantom_mode is None:
        say(check.describe())
    say(f"wrote {output}" if output else "no model written; name a file with -o MODEL.mrf to keep it")


def _print_worth(fitted: FitResult) -> None:
    """Print what is known of the best fit: how far to trust the grid, its scores, certificate and parameters."""
    best, end, score_error, estimates = fitted.best, fitted.end_of_grid, fitted.score_error, fitted.estimates
    if end is not None:
        beyond = "weaker" if end == "weakest" else "stronger"
        say(f"the best strength, {best.strength:g}, is the {end} tried; try {beyond} ones too")
    if score_error is not None:
        say(_CHAINS.format(fitted.model.known_log_z_error, score_error))
    if fitted.test is not None:
        say(f"test {best.measure} {fitted.test.describe()}")
    if fitted.gain is not None:
        _print_gain(fitted.gain)
    if best.solution.gap is not None:
        say(f"{fitted.guarantee}, within {max(best.solution.gap, 0.0):.1e} nats a row (duality gap)")
    if unbounded := fitted.model.unbounded:
        say(unbounded_in_words(unbounded))
    if estimates is not None:
        print_criteria(estimates)


def unbounded_in_words(limits: Mapping[str, str]) -> str:
    """Name the parameters without a finite estimate."""
    several = "parameters are" if len(limits) > 1 else "parameter is"
    shown = ", ".join(f"{name} ({limit})" for name, limit in list(limits.items())[:_MOST_HELD])
    more = f", ... ({len(limits):,} in all)" if len(limits) > _MOST_HELD else ""
    return f"{len(limits):,} {several} unbounded, without a penalty and never contradicted by the data: {shown}{more}"


def note_unbounded(model: MarkovNetwork, name: str) -> None:
    """Have it said where edge weights that a command counts are those at which a solver stopped."""
    if model.unbounded:
        note(f"warning: {name}: {unbounded_in_words(model.unbounded)}. Their weights are where the solver stopped.")


def print_criteria(summary: ErrorsSummary) -> None:
    """Print the effective number of parameters, and the information criteria."""
    errors, n = summary.errors, len(summary.estimates)
    without = f", {summary.n_without:,} of them without a finite optimum" if summary.n_without else ""
    criteria = "" if math.isnan(errors.claic) else f"; CLAIC {errors.claic:.2f}, CLBIC {errors.clbic:.2f}"
    say(f"{errors.kind} errors of {n:,} parameters{without}, {errors.effective_parameters:.1f} in effect{criteria}")


def _print_gain(gain: TyingGain) -> None:
    """Print the gain. Only test rows give a verdict: the best of ninety fits looks good on rows that chose it."""
    verdict = {True: ": a gain", False: ": no gain", None: "; --test FILE tells what is left of it on other rows"}
    say(
        f"against the best L2 fit (strength {gain.l2.strength:g}) {_ON[gain.rows]}: "
        f"{gain.mean:+.4f} +- {gain.standard_error:.4f}{verdict[gain.is_real]}"
    )


def held_out_text(fit: CandidateFit) -> str:
    """Return the held-out score with the digits that are known of it; nothing where there are no such rows."""
    return "" if fit.held_out is None else rounded(fit.held_out, fit.held_out_log_z_error)


def _by_order(by_order: Mapping[int, int]) -> str:
    """Return how many parameters of single variables, pairs, triples, ... are not zero: " 16+105+257"."""
    counts = [str(by_order.get(order, 0)) for order in range(1, max(by_order, default=0) + 1)]
    return "  " + "+".join(counts[:6]) + ("+..." if len(counts) > 6 else "")


def _unconverged(solution: Solution) -> str:
    return "  did not converge" if solution.status.is_at_limit else ""


def _print_grid(fitted: FitResult) -> None:
    """Print one line for each fit; of a large grid the best ten."""
    fits, best = fitted.fits, fitted.best
    tied = best.model.groups is not None
    equal = any(fit.model.is_hard_tied for fit in fits)  # else tied parameters have values of their own
    by_order = not tied and max(len(fit.nonzero_by_order) for fit in fits) > 2
    say(
        (f"{'groups':>8} " if tied else "")
        + f"{'strength':>10} {'train ' + best.measure:>12} {'valid ' + best.judge:>12} "
        f"{'distinct' if equal else 'nonzero':>9} {'violation':>10} {'passes':>7} {'seconds':>8}"
        + (f"  {'by order'}" if by_order else "")
    )
    shown = list(fits)
    if len(shown) > _MOST_LISTED:
        shown = sorted(shown, key=lambda fit: math.inf if fit.held_out is None else -fit.held_out)[:_BEST_LISTED]
    for fit in shown:
        kept = " *" if fit is best and len(fits) > 1 else ""
        say(
            (f"{fit.model.n_groups:>8} " if tied else "")
            + f"{fit.strength:>10g} {rounded(fit.train, fit.log_z_error):>12} {held_out_text(fit):>12} "
            f"{fit.n_distinct if equal else fit.n_nonzero:>9,} {fit.solution.violation:>10.1e} {fit.passes:>7} "
            f"{fit.seconds:>8.2f}{_by_order(fit.nonzero_by_order) if by_order else ''}{kept}"
            f"{_unconverged(fit.solution)}"
        )
    if len(shown) < len(fits):
        say(f"  ... and {len(fits) - len(shown)} more fits, none better; --json has them all")


def draw_scores(by_degree: dict[int, FitResult], valid: UniqueRows | None, path: Path, title: str) -> None:
    """The best score of every number of groups, and that of L2, for every degree bound."""
    from mrfit.analysis.score_curves import MEASURES, score_curves
    from mrfit.plots.page import save_figure
    from mrfit.plots.scores_plot import draw_scores

    best = next(iter(by_degree.values())).best
    measure = MEASURES[best.measure]
    where = f"{len(best.fold_scores)}-fold cross-validation" if valid is None else f"{valid.n_rows:,} validation rows"
    labels = {"tied" if len(by_degree) == 1 else f"d = {degree}": each for degree, each in by_degree.items()}
    curves = score_curves(labels, valid)
    save_figure(draw_scores(curves, measure=measure, title=title, subtitle=f"scores of {where}"), path)
