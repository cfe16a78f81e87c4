"""Sample size and power: draw tables from a known model, learn from each, and compare with the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from mrfit._typing import Floats
from mrfit.analysis.stability.case_dropping import correlations
from mrfit.analysis.stability.resampled_networks import pairs_of, weights_of_tables
from mrfit.analysis.stability.stability import Callback, scores_of, weigher, weights_of_pairs
from mrfit.core.errors import InputError
from mrfit.core.seeds import check_seed
from mrfit.core.threads import one_blas_thread
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.learner import Learner
from mrfit.learning.penalty_specs import SparsePenaltySpec
from mrfit.model.markov_network import MarkovNetwork
from mrfit.parameterizations.edge_tables import edge_weights
from mrfit.structures.edge_weights import signed_pairs
from mrfit.structures.simple import StructureLearner


@dataclass(frozen=True)
class MeanOverSamples:
    """Mean over simulated tables with its standard error; NaN where it is unknown."""

    mean: float
    error: float

    @classmethod
    def of(cls, values: Floats) -> MeanOverSamples:
        known = values[~np.isnan(values)]
        if not len(known):
            return cls(np.nan, np.nan)
        return cls(float(known.mean()), float(known.std(ddof=1) / np.sqrt(len(known))) if len(known) > 1 else np.nan)

    def to_dict(self) -> dict[str, Any]:
        return {"mean": self.mean, "error": self.error}


@dataclass(frozen=True, eq=False)
class PowerPoint:
    """Tables of one number of rows.

    Parameters
    ----------
    sensitivity, specificity
        Share of the model's edges that are found, and of its other pairs that are not.
    correlation
        Of the weights of all pairs with the model's; where one does not vary it counts as 0.
    found
        Share of tables in which each edge of the model is found, in the order of `SampleSizeStudy.edges`.
    failures
        Why learning failed, and in how many tables, which are left out.
    """

    n_rows: int
    sensitivity: MeanOverSamples
    specificity: MeanOverSamples
    correlation: MeanOverSamples
    found: Floats
    failures: dict[str, int]

    @classmethod
    def of(cls, n_rows: int, truth: Floats, weights: Floats, failures: dict[str, int]) -> PowerPoint:
        known = weights[~np.isnan(weights).any(axis=1)]
        if not len(known):
            reason = max(failures, key=lambda reason: failures[reason])
            raise InputError(f"Learning failed in each of {len(weights)} tables of {n_rows:,} rows: {reason}")
        joined, true = known != 0, truth != 0
        nothing = np.full(len(known), np.nan)
        return cls(
            n_rows,
            MeanOverSamples.of(joined[:, true].mean(axis=1) if true.any() else nothing),
            MeanOverSamples.of(1.0 - joined[:, ~true].mean(axis=1) if (~true).any() else nothing),
            MeanOverSamples.of(correlations(known, truth)),
            np.asarray(joined[:, true].mean(axis=0), np.float64),
            failures,
        )


@dataclass(frozen=True, eq=False)
class SampleSizeStudy:
    """The result of `sample_size`: how much of a model is recovered at several numbers of rows.

    Parameters
    ----------
    edges
        The model's, with their weights as the learner counts them: of categories where it knows of no order.
    unit
        Name of the unit of these weights.
    has_sign
        Whether the weight of each edge has a sign.
    remarks
        Where the tables are not exact draws from the model.
    """

    edges: tuple[tuple[str, str, float], ...]
    repetitions: int
    points: tuple[PowerPoint, ...]
    unit: str
    has_sign: tuple[bool, ...]
    remarks: tuple[str, ...] = ()

    def rows_for(self, sensitivity: float) -> float | None:
        """So many rows for a wanted sensitivity, between those tried; None if it is beyond them.

        Sensitivities are smoothed to rise with the number of rows, and interpolated in its logarithm. The least number
        that was tried if it is enough.
        """
        if not 0.0 < sensitivity < 1.0:
            raise InputError(f"The sensitivity to reach lies between 0 and 1; got {sensitivity:g}. Use 0.8, say.")
        means = np.array([point.sensitivity.mean for point in self.points])
        rising, sizes = isotonic_regression(means).x, np.log([point.n_rows for point in self.points])
        if rising[-1] < sensitivity:
            return None
        k = int(np.searchsorted(rising, sensitivity))
        if k == 0:
            return float(self.points[0].n_rows)
        share = (sensitivity - rising[k - 1]) / (rising[k] - rising[k - 1])
        return float(np.exp(sizes[k - 1] + share * (sizes[k] - sizes[k - 1])))

    def __repr__(self) -> str:
        tried = ", ".join(f"{point.n_rows:,} rows {point.sensitivity.mean:.2f}" for point in self.points)
        return f"<Power: {len(self.edges):,} edges, {self.repetitions:,} tables each; sensitivity {tried}>"


def sample_size(
    model: MarkovNetwork,
    learner: Learner | StructureLearner,
    *,
    rows: Sequence[int] = (200, 500, 1000),
    repetitions: int = 100,
    seed: int = 0,
    jobs: int = 1,
    callback: Callback | None = None,
) -> SampleSizeStudy:
    """Draw tables from ``model``, learn from each as ``learner`` does, and compare what is found with the model.

    Edges of the model are pairs of variables whose parameters are not all zero. Their weights are counted as the
    learner counts its own: without an order if it knows none. ``callback`` is called after every table, from any
    thread. The result does not depend on ``jobs``.
    """
    model.check_no_covariates("Tables are drawn from")
    sizes = sorted(set(rows))
    _check(learner, sizes, repetitions)
    check_seed(seed)
    structure, names = model.structure, model.domain.names
    # Counted as the learner counts its own: a slope and a norm cannot be compared.
    scores = scores_of(learner, model.domain)
    weights = edge_weights(model.parameters, model.w, scores)
    truth = weights_of_pairs(len(names), structure.edges, weights.values)
    if not truth.any():
        raise InputError("The model has no edges to find; use another model.")
    with one_blas_thread():
        points, remarks = [], dict[str, None]()
        for k, n_rows in enumerate(sizes):
            drawn = model.sample(n_rows * repetitions, seed=seed + k, jobs=jobs)
            codes, remarks = drawn.codes, remarks | dict.fromkeys(drawn.notes)

            def table(b: int, codes: NDArray[np.uint8] = codes, n_rows: int = n_rows) -> UniqueRows:
                return UniqueRows.from_codes(model.domain, codes[b * n_rows : (b + 1) * n_rows], np.ones(n_rows))

            shape = repetitions, len(truth)
            found, failures = weights_of_tables(weigher(learner), table, shape, jobs=jobs, callback=callback)
            points.append(PowerPoint.of(n_rows, truth, found, failures))
    joined, signed = pairs_of(len(names)).tolist(), signed_pairs(scores)
    edges = tuple((names[a], names[b], float(w)) for (a, b), w in zip(joined, truth, strict=True) if w != 0)
    return SampleSizeStudy(
        edges, repetitions, tuple(points), weights.unit, tuple(signed[truth != 0].tolist()), tuple(remarks)
    )


def _check(learner: Learner | StructureLearner, sizes: Sequence[int], repetitions: int) -> None:
    if not sizes or sizes[0] < 2:
        raise InputError(f"Tables need at least 2 rows each; got {min(sizes, default=0)}.")
    if repetitions < 2:
        raise InputError(f"At least 2 tables of each number of rows are needed; got {repetitions}.")
    if isinstance(learner, StructureLearner):
        return
    if not learner.structure.is_learned and not isinstance(learner.penalty, SparsePenaltySpec):
        raise InputError(
            "With a fixed structure every table has the same edges; learn the structure, or use a penalty that "
            "sets parameters to zero, such as l1."
        )
