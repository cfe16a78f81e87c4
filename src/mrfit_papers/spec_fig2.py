"""Figure 2 of Buchman et al. (2012): the number of nonzero parameters with every parameterization and penalty."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mrfit_papers.boxes import BoxPanel, draw_boxes
from mrfit_papers.claim import Cases, Claim
from mrfit_papers.document import Block, Heading, Picture, Text
from mrfit_papers.experiment import Experiment, Results, Scope
from mrfit_papers.spec_fig1 import spec_fit_units
from mrfit_papers.spec_fit import CANONICAL, FLAT, SPARSE, SpecFit
from mrfit_papers.spec_fits import REFERENCE, Fits
from mrfit_papers.spec_rows import SETS, SMALL

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DEPENDS = 1.25  # ratio of numbers of parameters with different reference categories that counts as dependence


class SpecFig2(Experiment):
    """Numbers of parameters of the models of figure 1."""

    word = "spec-fig2"
    title = "Sparse and spectral parameterizations, Figure 2: nonzero parameters by parameterization and penalty"
    datasets: ClassVar = SETS
    quick_datasets: ClassVar = SMALL

    def units(self, scope: Scope) -> list[SpecFit]:
        return spec_fit_units(self.chosen(scope), scope)

    def report(self, results: Results, scope: Scope) -> list[Block]:
        fits = Fits(results)
        if not fits.sets:
            return fits.about()
        return [
            *fits.about(),
            Text(
                "Counted are parameters that are exactly zero or not, single variables included, of the models of "
                "figure 1. Redundant coordinates (I, GI, F) have many vectors for one model: with l1 the number is "
                "that of the optimum found. A table of F that is in at all has as a rule no zero under group and "
                "hierarchical penalties."
            ),
            Picture(
                "spec-fig2",
                partial(draw_sizes, fits),
                "Parameters that are not zero (log scale), boxes over the splits; numbers at the right edge are beyond "
                "the scale. The paper's figure shows the first row.",
            ),
            Heading("Mean number of nonzero parameters"),
            fits.table("nonzero", 0),
            Heading("Mean number of sets of variables with a nonzero parameter"),
            fits.table("scopes", 0),
        ]

    def claims(self, results: Results) -> list[Claim]:
        return list(_claims(Fits(results)))


def draw_sizes(fits: Fits) -> Figure:
    panels = [[_panel(fits, name) for name in row] for row in fits.rows()]
    return draw_boxes(panels, fits.style(), label="nonzero parameters", log=True)


def _panel(fits: Fits, name: str) -> BoxPanel:
    """Return a panel whose limit suits models with zeros: the two without have all possible parameters."""
    values = {model: fits.values(name, model, "nonzero") for model in fits.models}
    shown = [v for model in fits.models if model not in FLAT[1:] for v in values[model]]
    return BoxPanel(name, values, limit=1.6 * max(shown) if shown else None)


def _claims(fits: Fits) -> Iterator[Claim]:
    for claim in (_sparsest, _dense, _l1, _reference):
        found = claim(fits)
        if found is not None:
            yield found


def _sparsest(fits: Fits) -> Claim | None:
    """Compare canonical and spectral with the complete parameterizations that are not minimal."""
    canonical = fits.there(CANONICAL)
    names = [*canonical, *fits.there(("S", "GI", "F"))]
    sets = list(fits.complete(names)) if canonical and {"S", "GI", "F"} <= set(names) else []
    if not sets:
        return None
    held, shown = [], []
    for s in sets:
        size = {m: fits.mean(s, m, "nonzero") or 0.0 for m in names}
        others = min(size["GI"], size["F"])
        best = min(canonical, key=lambda m, size=size: size[m])  # type: ignore[misc]
        held += [size[best] < others, size["S"] < others]
        shown.append(f"{s} {best} {size[best]:.0f}, S {size['S']:.0f}, GI {size['GI']:.0f}, F {size['F']:.0f}")
    ours = (
        f"with l1, best canonical and S each below both others in {sum(held)} of {len(held)} cases: {'; '.join(shown)}"
    )
    words = "canonical and spectral are sparsest of the complete parameterizations"
    why = "S is as sparse as this only with the paper's search; its optimum over all sets keeps more, see `S, optimum`"
    return Claim("SPEC", "Fig. 2", words, ours, Cases.of(held, 2 * len(SETS), "cases"), why)


def _dense(fits: Fits) -> Claim | None:
    """Compare every flat model with S and l1."""
    held, shown = [], []
    for m in fits.there(FLAT):
        sizes = [(fits.mean(s, m, "nonzero"), fits.mean(s, REFERENCE, "nonzero")) for s in fits.sets]
        ratios = [ours / other for ours, other in sizes if ours and other]
        held += [ratio > 1 for ratio in ratios]
        shown += [f"{m} {np.median(ratios):.1f}"] if ratios else []
    if not held:
        return None
    ours = f"more than {REFERENCE} in {sum(held)} of {len(held)} cases; median ratio over sets: {', '.join(shown)}"
    words = "flat penalties and pseudo-counts produce dense models"
    why = "flat l2 and pseudo-counts make nothing zero by construction"
    return Claim("SPEC", "Fig. 2(b), (c)", words, ours, Cases.of(held, len(FLAT) * len(SETS), "cases"), why)


def _l1(fits: Fits) -> Claim | None:
    fewer = as_many = total = 0
    more = []
    names = [m for m in SPARSE if "-" in m]
    for model in fits.there(names):
        for s in fits.sets:
            base, other = fits.mean(s, model.partition("-")[0], "nonzero"), fits.mean(s, model, "nonzero")
            if base is None or other is None:
                continue
            total += 1
            fewer, as_many = fewer + (base < other), as_many + (base == other)
            more += [f"{model} on {s}"] if base > other else []
    if not total:
        return None
    ours = f"l1 has fewer in {fewer} of {total} pairs, as many in {as_many}" + (
        f", more in {', '.join(more)}" if more else ""
    )
    words = "l1 produces sparser models than group and hierarchical penalties"
    why = "Ising without triples is the same model with both" if as_many else ""
    return Claim("SPEC", "Fig. 2", words, ours, Cases(fewer, total, len(names) * len(SETS), "cases"), why)


_DECISIVE = ("usps",)


def _reference(fits: Fits) -> Claim | None:
    """Check dependence on the set that the paper names; list the other sets."""
    names = fits.there(CANONICAL)
    ratio = {}
    for s in fits.complete(names) if len(names) > 1 else ():
        sizes = [fits.mean(s, m, "nonzero") or 1.0 for m in names]
        ratio[s] = max(sizes) / min(sizes)
    if not ratio:
        return None
    held = [ratio[s] >= DEPENDS for s in _DECISIVE if s in ratio]
    shown = ", ".join(f"{s} {r:.2f}" for s, r in ratio.items())
    ours = f"largest over smallest mean number among {', '.join(names)}: {shown}; called dependent from {DEPENDS:g}"
    words = "canonical may depend on the reference state, particularly on usps"
    return Claim("SPEC", "Fig. 2(c)", words, ours, Cases.of(held, len(_DECISIVE), f"sets ({', '.join(_DECISIVE)})"))
