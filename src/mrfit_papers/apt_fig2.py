"""Figure 2 of Chou et al. (2018): test scores by the number of groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from mrfit.data.named_datasets import named_set
from mrfit.plots.scores_plot import ScoreCurve, draw_scores
from mrfit_papers.apt_cell import AptCell
from mrfit_papers.claim import Cases, Claim
from mrfit_papers.document import Block, Picture, Text
from mrfit_papers.experiment import Experiment, Results, Scope

_FEW = 500  # groups: "small to medium values for k"


class AptFig2(Experiment):
    """Cells of Table 1, by the number of groups."""

    word = "apt-fig2"
    title = "Automatic parameter tying, Figure 2: test -PLL against the number of groups"
    datasets: ClassVar = ("dna", "plants", "audio", "bbc")
    quick_datasets: ClassVar = ("dna", "plants")

    def units(self, scope: Scope) -> list[AptCell]:
        return [
            AptCell(name, degree, "top", method, scope.quick)
            for name in self.chosen(scope)
            for degree in ((5,) if scope.quick else (5, 15, 50))
            if degree < named_set(name).n_variables
            for method in ("L2", "APT")
        ]

    def report(self, results: Results, scope: Scope) -> Sequence[Block]:
        blocks: list[Block] = [
            Text(
                "For every number of groups the strength is chosen on validation rows. Solid: APT; dotted: L2 at its "
                "optimum on the same structure (bound read as `top`). The paper's four sets were chosen at random; it "
                "names dna. Fits that are worse than the best on validation rows by more than 0.03 % are rough: "
                "run to a violation of 1e-4 at least."
            )
        ]
        for name, curves in _curves(results).items():
            caption = f"{name}: test -PLL against the number of groups"
            blocks.append(Picture(f"apt-fig2-{name}", _drawn(name, curves), caption))
        return blocks

    def claims(self, results: Results) -> list[Claim]:
        curves = [curve for several in _curves(results).values() for curve in several]
        if not curves:
            return []
        few = sum(curve.best[0] <= _FEW for curve in curves)
        gains = [rival - curve.best[1] for curve in curves for rival in curve.rivals]
        better = sum(gain > 0 for gain in gains)
        where, n_curves = "Figure 2", len({(unit.set, unit.degree) for unit in self.units(Scope())})
        claims = [
            Claim(
                "APT",
                where,
                "small to medium values of k often achieve the best score",
                f"best k at most {_FEW} in {few} of {len(curves)} curves",
                Cases(few, len(curves), n_curves, "curves"),
                "k = 1 often: then it is L2 around a learned mean",
            ),
            Claim(
                "APT",
                where,
                "for each data set there is a k at which APT outperforms L2",
                f"in {better} of {len(curves)} curves, by {min(gains):+.4f} to {max(gains):+.4f} nats on test rows",
                Cases(better, len(curves), n_curves, "curves"),
                "the best k is looked up on test rows here, as in the figure",
            ),
        ]
        dna = {curve.label: curve.best[0] for curve in _curves(results).get("dna", [])}
        if dna:
            best = ", ".join(f"{label}: k = {k}" for label, k in dna.items())
            n_dna = len({unit.degree for unit in self.units(Scope(datasets=("dna",)))})
            near = any(10 <= k <= 50 for k in dna.values())
            cases = Cases(n_dna, n_dna, n_dna) if near else Cases(0, len(dna), n_dna, "curves of dna")
            claims.append(Claim("APT", where, "dna is best with about 20 groups", best, cases))
        return claims


def _curves(results: Results) -> dict[str, list[ScoreCurve]]:
    """Return curves by data set, of cells with both methods."""
    cells: dict[tuple[str, int], dict[str, Any]] = {}
    for unit, result in results.items():
        if isinstance(unit, AptCell):
            cells.setdefault((unit.set, unit.degree), {})[unit.method] = result
    curves: dict[str, list[ScoreCurve]] = {}
    for (name, degree), found in cells.items():
        if {"L2", "APT"} <= set(found):
            points = found["APT"]["by_groups"]
            groups, scores = [point["groups"] for point in points], [point["test"] for point in points]
            curves.setdefault(name, []).append(ScoreCurve(f"d = {degree}", groups, scores, found["L2"]["test"]))
    return curves


def _drawn(name: str, curves: list[ScoreCurve]) -> Any:
    return lambda: draw_scores(curves, title=name, subtitle="test rows; strengths chosen on validation rows")
