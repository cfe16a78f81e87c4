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
    """Recovery of a model from tables of one number of rows.

    Each mean has the fields ``mean`` and ``error``, its standard error over tables.

    Attributes
    ----------
    n_rows : int
        Number of rows of each table.
    sensitivity : record
        Mean share of the model's edges that are found.
    specificity : record
        Mean share of the other pairs that are not found.
    correlation : record
        Mean correlation of the weights of all pairs with the model's; 0 for a table where one does not vary.
    found : array
        Share of tables in which each edge is found, in the order of `SampleSizeStudy.edges`.
    failures : dict of str to int
        Reasons why learning failed, and in how many tables; these are left out.
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
    """Recovery of a model at several numbers of rows; the result of `sample_size`.

    Parameters
    ----------
    edges : tuple of (str, str, float)
        Edges of the model, with their weights on the scale of the learner.
    repetitions : int
        Number of tables of each size.
    points : tuple of records
        For each size ``n_rows``, the means over tables of ``sensitivity``, ``specificity`` and ``correlation``, each
        with its standard ``error``, and ``found``, the share of tables with each edge.
    unit : str
        Unit of the edge weights.
    has_sign : tuple of bool
        Whether the weight of each edge has a sign.
    remarks : tuple of str, default ()
        Sentences on tables that are not exact draws from the model.

    See Also
    --------
    sample_size : Make a study.
    ErrorControl : Bound the number of false edges in the study itself.

    Examples
    --------
    >>> import mrfit
    >>> table = {"rain": ["no", "yes"] * 20, "wet": ["no", "yes", "no", "no"] * 10}
    >>> model = mrfit.learn(table).model
    >>> study = mrfit.sample_size(model, mrfit.L1Path(), rows=(50, 200), repetitions=10)
    >>> [(point.n_rows, round(point.sensitivity.mean, 1)) for point in study.points]
    [(50, 0.7), (200, 1.0)]
    """

    edges: tuple[tuple[str, str, float], ...]
    repetitions: int
    points: tuple[PowerPoint, ...]
    unit: str
    has_sign: tuple[bool, ...]
    remarks: tuple[str, ...] = ()

    def rows_for(self, sensitivity: float) -> float | None:
        """Return the number of rows for a wanted sensitivity.

        Sensitivities are smoothed to rise with the number of rows, and interpolated in its logarithm.

        Parameters
        ----------
        sensitivity : float
            Wanted share of the model's edges that are found, between 0 and 1.

        Returns
        -------
        float or None
            Number of rows; the smallest that was tried if it is enough, None if the largest is not.

        Raises
        ------
        MrfitError
            If the sensitivity is not between 0 and 1.
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
    """Simulate the number of rows that it takes to recover a network (power analysis).

    Tables are drawn from ``model``. The learner learns from each, and what it finds is compared with the model.

    Parameters
    ----------
    model : MarkovNetwork
        Assumed truth: a model of earlier data or of parameters that you choose. It needs at least one edge.
    learner : Learner or StructureLearner
        How the planned study will learn. It must be able to leave edges out: by structure learning, or by a penalty
        such as `L1`.
    rows : sequence of int, default (200, 500, 1000)
        Numbers of rows to try, each at least 2.
    repetitions : int, default 100
        Number of tables of each size, at least 2.
    seed : int, default 0
        Random seed of the tables.
    jobs : int, default 1
        Number of threads that learn; the result does not depend on it.
    callback : callable, default None
        Called with the number of tables that have just been finished, from any thread.

    Returns
    -------
    SampleSizeStudy
        Sensitivity, specificity and correlation of edge weights at each size, with standard errors over tables.

    Raises
    ------
    MrfitError
        If the model has no edges or has covariates, or the learner cannot leave edges out.

    See Also
    --------
    bootstrap_edges : Stability of a network of existing data.
    compare_groups : Test whether networks of groups differ.

    Notes
    -----
    Edge weights are on the scale of the learner: states have no order unless the learner has one.

    Examples
    --------
    >>> import mrfit
    >>> table = {"rain": ["no", "yes"] * 20, "wet": ["no", "yes", "no", "no"] * 10}
    >>> model = mrfit.learn(table).model
    >>> study = mrfit.sample_size(model, mrfit.L1Path(), rows=(50, 200), repetitions=10)
    >>> round(study.rows_for(0.8))
    79
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
