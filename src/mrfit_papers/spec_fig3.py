"""Figure 3 of Buchman et al. (2012): the spectra of seven data sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from mrfit.analysis.spectrum.interaction_spectrum import ESTIMATORS
from mrfit.analysis.spectrum.spectrum_plot import SpectrumCurve, draw_spectra
from mrfit_papers.claim import Cases, Claim
from mrfit_papers.document import Block, DocumentColumn, DocumentTable, Heading, Picture, Text
from mrfit_papers.experiment import Experiment, Results, Scope
from mrfit_papers.paired import Paired
from mrfit_papers.spec_rows import FLOW_IN_WORDS, IN_FIGURES, SETS, SMALL
from mrfit_papers.spec_spectrum import FOLDS, SpecOrders, SpecSpectrum
from mrfit_papers.unit import Unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FLAT_L1, FLAT_L2, PSEUDO_COUNTS = ESTIMATORS
ALIKE = 0.1  # difference of log10 mean sizes: about 25 %, a line's width on a scale of four powers of ten
GROUPS = {"ab": IN_FIGURES, "cd": tuple(name for name in SETS if name not in IN_FIGURES)}
MOST = 0.9  # of the gain of all sets of variables over single variables

Found = dict[str, Any]


class SpecFig3(Experiment):
    """Mean sizes and densities of spectral parameters by the number of variables, three estimators."""

    word = "spec-fig3"
    title = "Sparse and spectral parameterizations, Figure 3: the spectra of data sets"
    datasets: ClassVar = SETS
    quick_datasets: ClassVar = SMALL

    def units(self, scope: Scope) -> list[Unit]:
        sets = self.chosen(scope)
        spectra: list[Unit] = [SpecSpectrum(name, each, scope.seed) for name in sets for each in ESTIMATORS]
        return [*spectra, *(SpecOrders(name, scope.seed) for name in sets)]

    def report(self, results: Results, scope: Scope) -> list[Block]:
        spectra, orders = _spectra(results), _orders(results)
        blocks: list[Block] = [
            Text(
                "log p(x) of every data set as a sum over all sets A of variables of w_A times the product of their "
                "signs, by estimators without preference for small sets: l1 and squared l2 with one λ for all, and "
                f"pseudo-counts. All rows, strengths by {FOLDS}-fold cross-validation. Flat l2 and pseudo-counts have "
                "closed forms; every flat l1 fit is certified."
            )
        ]
        if any(name == "flow" for name in spectra):
            blocks.append(Text(FLOW_IN_WORDS))
        for letters, group in GROUPS.items():
            if shown := {name: spectra[name] for name in group if FLAT_L1 in spectra.get(name, ())}:
                blocks.append(Picture(f"spec-fig3{letters}", partial(_draw, shown), _CAPTION))
        if spectra:
            blocks.append(_table(spectra))
        if orders:
            blocks += [Heading("What ignoring larger sets costs"), Text(_ORDERS), _orders_table(orders)]
        return blocks

    def claims(self, results: Results) -> list[Claim]:
        return list(_claims(_spectra(results), _orders(results)))


_CAPTION = (
    "Left: mean |w_A| by |A| (log scale; open circles at the foot are zeros); solid flat l1, dashed flat l2, dotted "
    "pseudo-counts, which lie on each other. Right: share of the parameters of flat l1 that are not zero. Data sets "
    "in two groups, as in the paper."
)
_ORDERS = (
    "l1 with λ_A = 2^(|A|-2) λ in spectral coordinates over sets of up to so many variables, each at the strength "
    "that predicts best: held-out -LL, how much worse than the best order that is with its standard error over the "
    "folds, and the share of the way from single variables to the best order."
)


def _spectra(results: Results) -> dict[str, dict[str, Found]]:
    """Return spectra by data set and estimator, in the order of the page."""
    by = {(unit.set, unit.estimator): found for unit, found in results.items() if isinstance(unit, SpecSpectrum)}
    return {
        name: {each: by[name, each] for each in ESTIMATORS if (name, each) in by}
        for name in SETS
        if any(key[0] == name for key in by)
    }


def _orders(results: Results) -> dict[str, Found]:
    by = {unit.set: found for unit, found in results.items() if isinstance(unit, SpecOrders)}
    return {name: by[name] for name in SETS if name in by}


def _draw(spectra: Mapping[str, Mapping[str, Found]]) -> Figure:
    curves = {
        name: [SpectrumCurve(each, found["means"], found["densities"]) for each, found in by.items()]
        for name, by in spectra.items()
    }
    return draw_spectra(curves)


def _table(spectra: Mapping[str, Mapping[str, Found]]) -> DocumentTable:
    columns = [
        DocumentColumn("set", "left"),
        DocumentColumn("estimator", "left"),
        DocumentColumn("strength"),
        DocumentColumn("held-out -LL"),
    ]
    columns += [
        DocumentColumn("nonzero"),
        DocumentColumn("mean size by order", "left"),
        DocumentColumn("density by order, %", "left"),
    ]
    rows = [
        [
            name, each, f"{found['strength']:.3g}", f"{found['held_out']:.4f}", f"{found['nonzero']:,}",
            " ".join(f"{mean:.1g}" for mean in found["means"]),
            " ".join(f"{100 * share:.0f}" for share in found["densities"]) if each == FLAT_L1 else "",
        ]
        for name, by in spectra.items()
        for each, found in by.items()
    ]  # fmt: skip
    return DocumentTable(columns, rows)


def _orders_table(orders: Mapping[str, Found]) -> DocumentTable:
    columns = [
        DocumentColumn("set", "left"),
        *map(DocumentColumn, ("up to", "nonzero", "held-out -LL", "loss", "share of the way, %")),
    ]
    rows = [
        [
            name,
            "all" if order is None else str(order),
            f"{n:,}",
            f"{score:.4f}",
            f"{loss:.4f} ± {error:.4f}",
            f"{100 * way:.1f}",
        ]
        for name, found in orders.items()
        for order, n, score, loss, error, way in zip(
            found["orders"],
            found["nonzero"],
            found["held_out"],
            found["losses"],
            found["errors"],
            _way(found),
            strict=True,
        )
    ]
    return DocumentTable(columns, rows)


def _way(found: Found) -> list[float]:
    """Return for every order the share of the gain from single variables to the best order."""
    scores: list[float] = found["held_out"]
    whole = scores[0] - min(scores)
    return [(scores[0] - score) / whole if whole > 0 else 1.0 for score in scores]


# --- claims


def _claims(spectra: Mapping[str, Mapping[str, Found]], orders: Mapping[str, Found]) -> Iterator[Claim]:
    whole = {name: by for name, by in spectra.items() if set(by) == set(ESTIMATORS)}
    if whole:
        yield _sizes_fall(whole)
        yield _most_for_l1(whole)
        yield _densities_fall(whole)
        yield _l1_fits_best(whole)
        yield _indiscernible(whole)
    if orders:
        yield _small_sets(orders)


def _of(where: str, words: str, ours: str, held: Sequence[bool], why: str = "", n_each: int = 1) -> Claim:
    """Make a claim about ``n_each`` cases on each data set."""
    noun = "sets" if n_each == 1 else "cases"
    return Claim("SPEC", where, words, ours, Cases.of(held, n_each * len(SETS), noun), why)


def _falls(values: Sequence[float], n_sets: Sequence[int]) -> bool:
    """Return whether values fall from one to two to three variables, and on to the mean over all larger sets."""
    larger = [float(np.average(values[3:], weights=n_sets[3:]))] if len(values) > 3 else []
    shown = [*values[:3], *larger]
    return all(before > after for before, after in pairwise(shown))


def _sizes_fall(whole: Mapping[str, Mapping[str, Found]]) -> Claim:
    falls = {(s, each): _falls(f["means"], f["sets"]) for s, by in whole.items() for each, f in by.items()}
    not_in = [f"{each} on {s}" for (s, each), holds in falls.items() if not holds]
    ours = f"from 1 to 2 to 3 and to all larger sets in {sum(falls.values())} of {len(falls)} spectra"
    ours += f" (not {', '.join(not_in)})" if not_in else ""
    why = "with flat l1 sizes end at a floor rather than at zero where there are many sets"
    return _of("Fig. 3(a), (c)", "mean |w_A| diminishes with |A|", ours, list(falls.values()), why, len(ESTIMATORS))


def _most_for_l1(whole: Mapping[str, Mapping[str, Found]]) -> Claim:
    """Compare the fall from pairs to all sets of four and more."""
    fall = {s: {each: _fall(f) for each, f in by.items()} for s, by in whole.items()}
    held = [each[FLAT_L1] > max(each[FLAT_L2], each[PSEUDO_COUNTS]) for each in fall.values()]
    shown = ", ".join(f"{s} {by[FLAT_L1]:.0f} / {by[FLAT_L2]:.0f} / {by[PSEUDO_COUNTS]:.0f}" for s, by in fall.items())
    ours = f"mean size of pairs over that of sets of 4 and more, flat l1 / flat l2 / pseudo-counts: {shown}"
    return _of("Fig. 3(a), (c)", "this is especially pronounced for l1", ours, held)


def _fall(found: Found) -> float:
    beyond = float(np.average(found["means"][3:], weights=found["sets"][3:])) if len(found["means"]) > 3 else 0.0
    return found["means"][1] / beyond if beyond > 0 else float("inf")


def _densities_fall(whole: Mapping[str, Mapping[str, Found]]) -> Claim:
    held = [_falls(by[FLAT_L1]["densities"], by[FLAT_L1]["sets"]) for by in whole.values()]
    shown = ", ".join(f"{s} {_beyond(by[FLAT_L1]):.1f}" for s, by in whole.items())
    ours = f"falls from 1 to 2 to 3 and to all larger sets on {sum(held)} of {len(held)} data sets; "
    ours += f"% of sets of 4 and more: {shown}"
    return _of("Fig. 3(b), (d)", "densities of flat l1 fall with |A|: large sets are sparse", ours, held)


def _beyond(found: Found) -> float:
    shares, n_sets = found["densities"][3:], found["sets"][3:]
    return 100 * float(np.average(shares, weights=n_sets)) if shares else 0.0


def _l1_fits_best(whole: Mapping[str, Mapping[str, Found]]) -> Claim:
    """Compare scores on the same folds; nine of ten are training rows."""
    held, shown = [], []
    for s, by in whole.items():
        for other in (FLAT_L2, PSEUDO_COUNTS):
            paired = Paired.of(by[other]["fold_scores"], by[FLAT_L1]["fold_scores"], test_share=1 / (FOLDS - 1))
            held.append(paired.is_clear and paired.mean > 0)
        shown.append(f"{s} {paired.mean:.4f}")
    ours = (
        f"clearly better in {sum(held)} of {len(held)} cases; gain over pseudo-counts in nats a row: {', '.join(shown)}"
    )
    return _of("6", "flat l1 allows a much better fit than flat l2 and pseudo-counts", ours, held, n_each=2)


def _indiscernible(whole: Mapping[str, Mapping[str, Found]]) -> Claim:
    apart = {
        s: float(np.median(np.abs(np.log10(by[FLAT_L2]["means"]) - np.log10(by[PSEUDO_COUNTS]["means"]))))
        for s, by in whole.items()
    }
    held = [distance <= ALIKE for distance in apart.values()]
    shown = ", ".join(f"{s} {10**distance:.2f}" for s, distance in apart.items())
    ours = f"median ratio of their mean sizes over orders: {shown}"
    why = "by Parseval's identity flat l2 makes log p of a state a function of its count alone, as pseudo-counts do"
    return _of("Fig. 3", "flat l2 and pseudo-counts are hardly discernible", ours, held, why)


def _small_sets(orders: Mapping[str, Found]) -> Claim:
    ways: dict[str, dict[int | None, float]] = {
        s: dict(zip(found["orders"], _way(found), strict=True)) for s, found in orders.items()
    }
    pairs, triples = ({s: float(way.get(order, way[None])) for s, way in ways.items()} for order in (2, 3))
    held = [way >= MOST for way in triples.values()]
    shown = ", ".join(f"{s} {100 * pairs[s]:.1f} and {100 * triples[s]:.1f}" for s in ways)
    ours = f"% of the gain over single variables with pairs, and with triples too: {shown}; most is {100 * MOST:g}"
    return _of("6", "pairs and triples capture a large portion of the variability", ours, held)
