"""The fits of experiment 1 of Buchman et al. (2012), by data set and model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mrfit_papers.boxes import BoxStyle
from mrfit_papers.document import Block, Cell, DocumentColumn, DocumentTable, Text
from mrfit_papers.experiment import Results
from mrfit_papers.paired import Paired
from mrfit_papers.spec_fit import FLAT, MODELS, OPTIMA, SpecFit
from mrfit_papers.spec_rows import FLOW_IN_WORDS, IN_FIGURES, SETS

SPLITS, QUICK_SPLITS = 10, 2
QUICK_MODELS = ("I", "C1", "C2", "S", "GI", "F", "S-h", "F-group", *FLAT, "S, optimum")
REFERENCE = "S"  # the baseline of comparisons

PROTOCOL = (
    "All rows of a set are pooled and split at random into equal thirds, ten times: to learn from, to choose the "
    "strength, and to score. Strengths walk down powers of √2 from the smallest that leaves no interaction, until "
    "three in a row predict the second third no better. C1, C2, CR: canonical with features that fire where all "
    "variables are at their second state, at their first, at states drawn at random for every split; S spectral, I "
    "Ising, GI generalized Ising, F full; nothing, -group and -h: the l1, group and hierarchical penalties with λ_A = "
    "2^(|A|-2) λ; PC: pseudo-counts."
)
SEARCHES = (
    "Which sets of variables: as in the paper, the search of Schmidt and Murphy (2010), in which a set enters when "
    "all its subsets with one variable less are in. Theirs ends at sets of seven; here there is no end, but sets have "
    "at most four variables in F-group, three in F-h and GI-h, and three in all searches on usps: larger ones let in "
    "thousands of parameters. A fit then is the certified optimum over the sets that entered. The paper's objective "
    'itself has no search: "optimum" is its certified optimum with l1 over all sets of variables (F: over all of at '
    "most three; not C1, C2 and CR on usps, which take a minute a split). Flat penalties and pseudo-counts always "
    "have all sets."
)


class Fits:
    """Results by data set and model, one for each split."""

    def __init__(self, results: Results) -> None:
        found = {
            (unit.set, unit.model, unit.split): result for unit, result in results.items() if isinstance(unit, SpecFit)
        }
        self.by = dict(sorted(found.items(), key=lambda item: item[0][2]))
        self.sets = [name for name in SETS if any(key[0] == name for key in self.by)]
        self.models = [name for name in MODELS if any(key[1] == name for key in self.by)]

    def values(self, name: str, model: str, what: str) -> list[float]:
        return [float(found[what]) for (s, m, _), found in self.by.items() if (s, m) == (name, model)]

    def mean(self, name: str, model: str, what: str) -> float | None:
        values = self.values(name, model, what)
        return sum(values) / len(values) if values else None

    def paired(self, name: str, ours: str, other: str, what: str = "test") -> Paired | None:
        """Compare ours with another model, on the splits that both have; None without any."""
        splits = sorted({k for s, m, k in self.by if s == name and (s, other, k) in self.by and m == ours})
        if not splits:
            return None
        values = ([self.by[name, model, k][what] for k in splits] for model in (ours, other))
        return Paired.of(*values)

    def there(self, models: Sequence[str]) -> list[str]:
        return [model for model in models if model in self.models]

    def complete(self, models: Sequence[str]) -> Iterator[str]:
        """Return the data sets that have all of these models."""
        return (name for name in self.sets if all(self.values(name, model, "test") for model in models))

    def rows(self) -> list[list[str]]:
        """Return data sets in the rows of figures: the paper's three first, then the others."""
        rows = [[name for name in self.sets if (name in IN_FIGURES) == shown] for shown in (True, False)]
        return [row for row in rows if row]

    def style(self) -> BoxStyle:
        families = {name: _family(name) for name in self.models}
        breaks = [
            name
            for before, name in zip(self.models, self.models[1:], strict=False)
            if families[before] != families[name]
        ]
        return BoxStyle(families, breaks)

    def certificates(self) -> Text:
        """Report how many fits are certified."""
        found = list(self.by.values())
        fits, converged = (sum(each[what] for each in found) for what in ("fits", "converged"))
        gap = max(each["gap"] for each in found)
        return Text(
            f"{converged:,} of {fits:,} fits on the way converged; the largest duality gap is {gap:.0e} nats a row."
        )

    def about(self) -> list[Block]:
        blocks: list[Block] = [Text(PROTOCOL), Text(SEARCHES)]
        return [*blocks, Text(FLOW_IN_WORDS)] if "flow" in self.sets else blocks

    def table(self, what: str, digits: int) -> DocumentTable:
        """Return means over splits, models by data sets; the best of a set is bold."""
        means = {(s, m): self.mean(s, m, what) for s in self.sets for m in self.models}
        best = {s: min((v for (t, _), v in means.items() if t == s and v is not None), default=None) for s in self.sets}

        def cell(name: str, model: str) -> Cell | str:
            value = means[name, model]
            return "" if value is None else Cell(f"{value:,.{digits}f}", is_best=value == best[name])

        rows = [[model, *(cell(name, model) for name in self.sets)] for model in self.models]
        return DocumentTable([DocumentColumn("model", "left"), *(DocumentColumn(name) for name in self.sets)], rows)


def _family(model: str) -> str:
    if model in FLAT:
        return "flat penalties, pseudo-counts"
    if model in OPTIMA:
        return "l1, optimum without search"
    return {"l1": "l1", "group": "group", "hierarchical": "hierarchical"}[MODELS[model].penalty]
