"""Case-dropping bootstrap and CS coefficients (Epskamp, Borsboom and Fried 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from mrfit._typing import Floats
from mrfit.analysis.stability import resamples as draw
from mrfit.analysis.stability.resampled_networks import Networks, pairs_of
from mrfit.analysis.stability.resampling import Resampling, Stability
from mrfit.analysis.stability.stability import Callback
from mrfit.learning.learner import Learner
from mrfit.structures.base import StructureLearner

DROPPED = tuple(np.linspace(0.05, 0.75, 10).tolist())
SIMILAR, CERTAIN = 0.7, 0.95  # a correlation above the first, in a larger share of subsets than the second


@dataclass(frozen=True, eq=False)
class CaseDrop:
    """Correlations of the networks of subsets of rows with the network of the whole table.

    Attributes
    ----------
    dropped : array
        Share of rows that each subset leaves out.
    correlations : dict of str to array
        One correlation for each subset: of ``edges`` weights, of node ``strength`` (sums of absolute weights), and of
        ``expected_influence`` (sums of weights).
    n_failed : int
        Number of subsets in which learning failed; they are left out.
    """

    dropped: Floats
    correlations: dict[str, Floats]
    n_failed: int = 0

    @classmethod
    def of(cls, networks: Networks, dropped: Floats) -> CaseDrop:
        known = ~np.isnan(networks.weights).any(axis=1)
        nodes = incidence(len(networks.names))
        sample, subsets = networks.sample, networks.known
        with np.errstate(invalid="ignore"):  # of infinite weights, which correlate with nothing
            views = {
                "edges": (subsets, sample),
                "strength": (np.abs(subsets) @ nodes, np.abs(sample) @ nodes),
                "expected_influence": (subsets @ nodes, sample @ nodes),
            }
        return cls(dropped[known], {name: correlations(*view) for name, view in views.items()}, networks.n_failed)

    @property
    def coefficients(self) -> dict[str, float]:
        """CS coefficients of edge weights and centralities, by name."""
        return {name: cs_coefficient(self.dropped, values) for name, values in self.correlations.items()}

    def to_dict(self) -> dict[str, Any]:
        shares = np.unique(self.dropped)
        levels = [
            {"dropped": float(share), "subsets": int((self.dropped == share).sum())}
            | {
                f"mean_{name}": float(values[self.dropped == share].mean())
                for name, values in self.correlations.items()
            }
            for share in shares
        ]
        return {"cs_coefficients": self.coefficients, "levels": levels}


@dataclass(frozen=True, eq=False, repr=False)
class CaseDropping(Stability):
    """Networks of subsets of the rows, with CS coefficients; the result of `case_dropping`.

    Parameters
    ----------
    networks : record
        Edge weights of all pairs in the table and in every subset of rows.
    scores : tuple of array or None
        Scores of the states of each variable, or None for categories.
    case_drop : record
        Correlations of each subset with the table, and the shares of dropped rows.
    level : float, default 0.95
        Share of the subsets within the percentile intervals of ``edges``.

    See Also
    --------
    case_dropping : Drop rows and correlate.
    EdgeBootstrap : Bootstrap of edge weights.

    Examples
    --------
    >>> import mrfit
    >>> table = {"rain": ["no", "yes"] * 20, "wet": ["no", "yes", "no", "no"] * 10}
    >>> table["cold"] = ["no"] * 20 + ["yes"] * 20
    >>> found = mrfit.case_dropping(mrfit.Learner(penalty=mrfit.L2()), table, resamples=20)
    >>> sorted(found.coefficients)
    ['edges', 'expected_influence', 'strength']
    """

    case_drop: CaseDrop

    kind: ClassVar[str] = "drop"

    @property
    def coefficients(self) -> dict[str, float]:
        """CS coefficients, from 0 to 0.75, of ``edges``, node ``strength`` and ``expected_influence``."""
        return self.case_drop.coefficients

    def _findings(self) -> dict[str, Any]:
        return self.case_drop.to_dict()

    def lines(self) -> list[str]:
        """Return the CS coefficients for a terminal, as a list of lines."""
        found = {
            name.replace("_", " ").replace("strength", "node strength"): v for name, v in self.coefficients.items()
        }
        verdict = "CS coefficients: " + ", ".join(f"{name} {value:.2f}" for name, value in found.items())
        return [
            verdict,
            "the share of rows that can be dropped while 95 % of subsets correlate above 0.7; 0.5 is stable",
        ]


def case_dropping(
    learner: Learner | StructureLearner,
    data: Any,
    *,
    resamples: Any = 1000,
    clusters: Sequence[object] | None = None,
    one_step: bool = False,
    resume: str | Path | None = None,
    seed: int = 0,
    jobs: int = 1,
    callback: Callback | None = None,
) -> CaseDropping:
    """Drop 5 to 75 % of the rows, and correlate the networks of the rest with that of the table (CS coefficients).

    The CS coefficient is the largest share of rows that can be dropped so that 95 % of the subsets correlate above 0.7
    with the table (Epskamp, Borsboom and Fried 2018). Values above 0.5 are considered stable.

    Parameters
    ----------
    learner : Learner or StructureLearner
        Analysis to repeat: a `Learner`, or a structure learner such as `L1Path`, whose regressions have edge weights.
    data : table
        Complete rows to drop some of.
    resamples : int or array, default 1000
        Number of subsets, at least 10, in ten steps of 5 to 75 % of dropped rows; or the subsets themselves, an array
        of how often each contains each distinct row.
    clusters : sequence, default None
        Cluster of each row, if rows are nested. Whole clusters are dropped.
    one_step : bool, default False
        Whether to take one Newton step from the fit of all rows instead of refitting each subset; see
        `bootstrap_edges`.
    resume : str or Path, default None
        Checkpoint file, from which an interrupted run continues.
    seed : int, default 0
        Random seed of the subsets.
    jobs : int, default 1
        Number of threads that learn from subsets; the result does not depend on it.
    callback : callable, default None
        Called with the number of subsets that have just been learned from, from any thread.

    Returns
    -------
    CaseDropping

    Raises
    ------
    MrfitError
        If rows have missing values, or there are fewer than 10 subsets or 2 variables.

    See Also
    --------
    bootstrap_edges : Percentile intervals of edge weights.
    node_stability : Percentile intervals of centralities.

    Examples
    --------
    >>> import mrfit
    >>> table = {"rain": ["no", "yes"] * 20, "wet": ["no", "yes", "no", "no"] * 10}
    >>> table["cold"] = ["no"] * 20 + ["yes"] * 20
    >>> found = mrfit.case_dropping(mrfit.Learner(penalty=mrfit.L2()), table, resamples=20)
    >>> found.coefficients["edges"]
    0.75
    """
    drawn = Resampling.of(data, resamples, _subsets, clusters=clusters, seed=seed, least=len(DROPPED))
    networks = drawn.networks(learner, one_step=one_step, resume=resume, jobs=jobs, callback=callback)
    return CaseDropping(networks, drawn.scores(learner), CaseDrop.of(networks, drawn.dropped))


def _subsets(units: draw.Drawn, n: int, rng: np.random.Generator) -> Floats:
    return draw.case_drop(units, DROPPED, n // len(DROPPED), rng)


def correlations(subsets: Floats, sample: Floats) -> Floats:
    """Correlate every row with ``sample``; 0 where either is constant or not finite."""
    both = np.vstack([sample, subsets])
    both = np.where(np.isfinite(both).all(axis=1, keepdims=True), both, 0.0)
    both -= both.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(both, axis=1)
    both[lengths > 0] /= lengths[lengths > 0, None]
    return np.asarray(both[1:] @ both[0], np.float64)


def cs_coefficient(dropped: Floats, values: Floats) -> float:
    """Largest share of rows that can be dropped so that the correlation is very likely to stay high, or 0."""
    stable = [share for share in np.unique(dropped) if (values[dropped == share] > SIMILAR).mean() > CERTAIN]
    return float(max(stable, default=0.0))


def incidence(n_variables: int) -> Floats:
    """(pairs, variables): which variables each pair joins."""
    pairs = pairs_of(n_variables)
    incidence = np.zeros((len(pairs), n_variables))
    incidence[np.arange(len(pairs))[:, None], pairs] = 1.0
    return incidence
