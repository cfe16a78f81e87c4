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
    """Correlations of the networks of subsets with the network of the whole table.

    Parameters
    ----------
    dropped
        Share of rows dropped in each subset.
    correlations
        One for each subset, of ``edges``, of the ``strength`` of nodes (sums of absolute weights) and of their
        ``expected_influence`` (sums).
    n_failed
        Subsets in which learning failed, which are left out.
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
        """The CS coefficient of each."""
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
    """Networks of subsets of the rows, the result of `case_dropping`.

    Parameters
    ----------
    case_drop : CaseDrop
        Correlations with the network of the whole table.
    """

    case_drop: CaseDrop

    kind: ClassVar[str] = "drop"

    @property
    def coefficients(self) -> dict[str, float]:
        """CS coefficients of the edges and of the centralities."""
        return self.case_drop.coefficients

    def _findings(self) -> dict[str, Any]:
        return self.case_drop.to_dict()

    def lines(self) -> list[str]:
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
    """Drop 5 to 75 % of the rows and correlate the networks of the rest with that of the table.

    The CS coefficient is the largest share of rows that can be dropped so that 95 % of the subsets correlate above 0.7
    with the table (Epskamp, Borsboom and Fried 2018).

    Parameters
    ----------
    learner : Learner or StructureLearner
        A `Learner`, whose models have edge weights, or a structure learner such as `L1Path`, whose regressions have
        them.
    data : table
        Rows without missing values.
    resamples : int or array, default=1000
        Number of subsets, at least 10; or the subsets themselves, as in `bootstrap_edges`.
    clusters, one_step, resume, seed, jobs, callback
        As in `bootstrap_edges`.

    Returns
    -------
    CaseDropping
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
