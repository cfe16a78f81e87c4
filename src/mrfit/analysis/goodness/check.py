"""Record of a check: frequencies of a model beside those of the data, spurious modes, and the log-likelihood."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit._renamed import with_former_keys
from mrfit.analysis.goodness.goodness import ModelCells
from mrfit.analysis.goodness.margin_comparison import Difference, MarginComparison, compare
from mrfit.analysis.goodness.moment_estimates import Portrait
from mrfit.analysis.goodness.row_moments import Moments, States
from mrfit.analysis.goodness.spurious_mode import SpuriousMode
from mrfit.analysis.goodness.typical_counts import Typical
from mrfit.core.html_table import html_table
from mrfit.data.unique_rows import UniqueRows

_WIDTH = 80  # of a verdict
_SHORTEST = 7  # of names in it


@dataclass(frozen=True)
class Check:
    """Check of a model against data; the result of `MarkovNetwork.check`.

    Attributes
    ----------
    engine : str
        Engine that computed the frequencies of the model.
    why : str
        Reason for this engine.
    exact : bool
        Whether these frequencies are exact; even then, pairs that share no scope have an error.
    n_rows : float
        Weight of the data.
    n_variables : int
        Number of variables.
    compared : tuple of records
        Comparisons of single variables, pairs and, if they can be counted, triples; empty if chains do not mix.
    phantom_mode : record or None
        Spurious mode: ``mass`` is the share of the model's probability where there are no data. None if none was found.
    ll : float or None
        Mean log-likelihood per row of data, in nats; None if unknown.
    ll_error : float or None
        Standard error of ``ll``.
    remarks : tuple of str
        Sentences on how far to trust all this.
    is_known : bool
        Whether the frequencies of the model are known; false if chains do not mix.
    model, data : record
        All one- and two-way frequencies, for pictures.
    """

    engine: str
    why: str
    exact: bool
    n_rows: float
    n_variables: int
    compared: tuple[MarginComparison, ...]
    phantom_mode: SpuriousMode | None
    ll: float | None
    ll_error: float | None
    remarks: tuple[str, ...]
    is_known: bool
    model: Moments = field(repr=False, compare=False)
    data: Moments = field(repr=False, compare=False)

    @classmethod
    def of(
        cls,
        portrait: Portrait,
        data: Moments,
        typical: Typical,
        rows: UniqueRows,
        *,
        potential: float,
        objective: str | None = None,
        fitted: ModelCells | None = None,
    ) -> Check:
        """``potential`` is the mean sum of the model's tables over the rows of the data.

        ``objective`` is what the model was fitted by, where that is known; ``fitted`` are its joint states where it was
        fitted to these rows and has few.
        """
        ll, known = potential - portrait.log_z, portrait.is_known
        phantom = SpuriousMode.of(
            portrait.moments,
            typical,
            n_model_rows=portrait.n_rows,
            n_data_rows=rows.total_weight,
            log_likelihood=_ll_in_words(ll, portrait),
            objective=objective,
        )
        compared = compare(
            portrait.moments, data, rows.domain, n_rows=rows.effective_rows, n_groups=portrait.n_groups,
            left=None if fitted is None else partial(_share_left, fitted, data.states),
        )  # fmt: skip
        return cls(
            engine=portrait.engine,
            why=portrait.why,
            exact=portrait.exact,
            n_rows=rows.total_weight,
            n_variables=len(rows.domain),
            compared=compared if known else (),
            phantom_mode=phantom,
            ll=ll if known else None,
            ll_error=portrait.error if known else None,
            remarks=portrait.remarks,
            is_known=known,
            model=portrait.moments,
            data=data,
        )

    @property
    def variables(self) -> tuple[Difference, ...]:
        """The states that differ most: those beyond chance first, then by size."""
        return self._listed("variables")

    @property
    def pairs(self) -> tuple[Difference, ...]:
        """The pairs of states other than first ones that differ most, in the same order."""
        return self._listed("pairs")

    @property
    def triples(self) -> tuple[Difference, ...]:
        """The triples of states other than first ones that differ most; none if there were too many to count."""
        return self._listed("triples")

    def _listed(self, what: str) -> tuple[Difference, ...]:
        return next((each.listed for each in self.compared if each.what == what), ())

    @property
    def max_marginal_error(self) -> float | None:
        """Largest difference between the probability of a state and how often the data have it; None if unknown."""
        return self._largest("variables")

    @property
    def max_pair_error(self) -> float | None:
        """Largest difference for a pair of states, neither of them the first of its variable; None if unknown."""
        return self._largest("pairs")

    @property
    def max_triple_error(self) -> float | None:
        """Largest difference for a triple of such states; None if unknown, or if there are too many to count."""
        return self._largest("triples")

    def _largest(self, what: str) -> float | None:
        return next((each.largest.size for each in self.compared if each.what == what and each.largest), None)

    @property
    def misfits(self) -> tuple[MarginComparison, ...]:
        """The orders in which some margin differs beyond chance."""
        return tuple(each for each in self.compared if each.n_beyond)

    @property
    def is_alike(self) -> bool:
        """Whether there is no phantom mode, and no margin differs both beyond chance and by more than 0.01."""
        return self.is_known and self.phantom_mode is None and all(each.is_slight for each in self.misfits)

    @property
    def verdict(self) -> str:
        """One line of at most 80 characters."""
        if self.phantom_mode is not None:
            mass = min(self.phantom_mode.mass, 0.99)
            return f"spurious mode: {mass:.2f} of the model's probability is where there are no data"
        if not self.is_known:
            return "fit unknown: chains do not mix"
        large = [each for each in self.misfits if not each.is_slight]
        if large:
            return _misfit_in_words(large[0])
        largest = max((each.largest.size for each in self.compared if each.largest), default=None)
        if self.misfits:
            first = self.misfits[0]
            return f"slight misfit: {_count_in_words(first)}, all by at most {_rounded(first.worst)}"
        if largest is None:
            return "no misfit found: no variable has a second state"
        return f"no misfit found in {self._orders_in_words}: largest error {largest:.2g}"

    @property
    def _orders_in_words(self) -> str:
        names = ["singles" if each.what == "variables" else each.what for each in self.compared if each.largest]
        return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"

    def describe(self) -> str:
        """The verdict, and of a phantom mode what it is and what to do."""
        return self.verdict if self.phantom_mode is None else f"{self.verdict}\n{self.phantom_mode.text}"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form, with null for what the engine could not determine."""
        known = self.is_known
        record = {
            "engine": self.engine,
            "why": self.why,
            "exact": self.exact,
            "rows": self.n_rows,
            "verdict": self.verdict,
            "is_alike": self.is_alike if known or self.phantom_mode else None,
            "compared": [each.to_dict() for each in self.compared],
            "max_marginal_error": self.max_marginal_error,
            "max_marginal_standard_error": self._error_of_largest("variables"),
            "max_pair_error": self.max_pair_error,
            "max_pair_standard_error": self._error_of_largest("pairs"),
            "max_triple_error": self.max_triple_error,
            "spurious_mode": None if self.phantom_mode is None else self.phantom_mode.to_dict(),
            "ll": self.ll,
            "ll_standard_error": self.ll_error,
            "variables": [each.to_dict() for each in self.variables],
            "pairs": [each.to_dict() for each in self.pairs],
            "triples": [each.to_dict() for each in self.triples],
            "sums": {
                "model_mean": self.model.mean_sum if known else None,
                "data_mean": self.data.mean_sum,
                "model": self.model.sums.tolist() if known else None,
                "data": self.data.sums.tolist(),
            },
            "remarks": list(self.remarks),
        }
        return with_former_keys(record, spurious_mode="phantom_mode")

    def _error_of_largest(self, what: str) -> float | None:
        return next((each.largest.error for each in self.compared if each.what == what and each.largest), None)

    def __repr__(self) -> str:
        return f"<Check: {self.verdict}; by {self.engine}>"

    def _repr_html_(self) -> str:
        facts = {"verdict": self.describe(), "engine": f"{self.engine}{', exact' if self.exact else ''}"}
        if self.ll is not None:
            facts["log-likelihood"] = f"{self.ll:.4f}" + (f" +- {self.ll_error:.2g}" if self.ll_error else "")
        facts |= {f"remark {number}": text for number, text in enumerate(self.remarks, 1)}
        worst = [(each.describe(), f"model {each.model:.4f}, data {each.data:.4f}") for each in self.variables]
        return html_table("Check", facts, worst)


def _ll_in_words(ll: float, portrait: Portrait) -> str:
    much = "is" if portrait.exact else "is about" if portrait.is_known else "is at most about"
    return f"Its log-likelihood {much} {ll:.1f}" if ll > -100 else f"Its log-likelihood {much} {ll:.0f}"


def _share_left(cells: ModelCells, named: States, states: NDArray[np.int64]) -> NDArray[np.float64]:
    return cells.share_left([tuple(named.named(int(state)) for state in each) for each in states])


def _count_in_words(each: MarginComparison) -> str:
    return f"{each.n_beyond:,} of {each.n:,} {each.what} differ beyond chance"


def _misfit_in_words(each: MarginComparison) -> str:
    """Return a line on the number of misfits and the worst of them, shortened until it fits the width."""
    counted, worst = f"misfit: {_count_in_words(each)}", each.worst
    assert worst is not None  # some differ
    names, sizes = "-".join(worst.variables), f"{worst.model:.3f} vs {worst.data:.3f}"
    z = f", z = {worst.z:.0f}" if abs(worst.z) >= 100.0 else f", z = {worst.z:.1f}"
    short = f"{names[: _SHORTEST - 1]}…" if len(names) > _SHORTEST else names
    endings = (f" (worst {called}: {sizes}{also})" for also in (z, "") for called in (names, short))
    return next((line for line in map(counted.__add__, endings) if len(line) <= _WIDTH), counted)


def _rounded(worst: Difference | None) -> str:
    return "0" if worst is None else f"{worst.size:.1g}"
