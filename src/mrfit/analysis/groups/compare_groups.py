"""Groups of rows: whether they have the same network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats
from mrfit.analysis.groups.group_differences import Differences, PermutationTest
from mrfit.analysis.groups.likelihood_ratio import LikelihoodRatio, likelihood_ratio
from mrfit.analysis.stability import resamples as draw
from mrfit.analysis.stability.stability import Callback, networks_of, pool_of, scores_of, weigher
from mrfit.core.errors import InputError, MrfitError, listed
from mrfit.core.seeds import generator
from mrfit.core.threads import one_blas_thread
from mrfit.data.dataset import Dataset
from mrfit.data.grouped_rows import GroupedRows
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.learner import Learner
from mrfit.learning.penalty_specs import L2, NoPenalty, SumOfSquares
from mrfit.model.wald import WaldTest, equality_tests
from mrfit.structures.edge_weights import signed_pairs, unit_of_scores
from mrfit.structures.simple import StructureLearner

TESTS = ("wald", "likelihood", "permutations")

_FEW_STATES = 2**16  # joint states of variables and groups, up to which likelihoods are compared unasked
PAIRED = "Wald and likelihood ratio tests suppose that rows are independent, which those of one person are not."


@dataclass(frozen=True)
class WaldComparison:
    """Wald tests whether parameters are equal in all groups.

    Parameters without a finite optimum in some group are left out of ``whole`` and ``nodes``.

    Attributes
    ----------
    whole : WaldTest
        Test of all interactions together.
    edges : tuple of WaldTest
        Test of each interaction.
    nodes : tuple of WaldTest
        Test of all interactions of each variable.
    remarks : tuple of str
        Sentences on what the standard errors do not cover.
    """

    whole: WaldTest
    edges: tuple[WaldTest, ...]
    nodes: tuple[WaldTest, ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class GroupComparison:
    """Networks of groups of rows, and tests whether they differ; the result of `compare_groups`.

    Parameters
    ----------
    names : tuple of str
        Variables of the networks.
    by : str
        Column that tells groups apart.
    labels : tuple of str
        Values of that column, one for each group.
    sizes : array of shape (n_groups,)
        Weight of the rows of each group.
    weights : array of shape (n_groups, n_pairs)
        Edge weights of all pairs of variables, in the order (0, 1), (0, 2), ..., (1, 2), ...
    wald : record, default None
        Wald tests: ``whole``, of all interactions; ``edges``, of each; ``nodes``, of each variable's. None if not made.
    likelihood : record, default None
        Likelihood-ratio test that all interactions are equal: ``statistic``, ``degrees`` and ``p``. None if not made.
    permutations : record, default None
        Permutation test: ``p_largest`` (largest difference of an edge weight), ``p_total`` (difference of summed
        absolute weights), ``p_edges`` and ``p_strengths``. None if not made.
    remarks : tuple of str, default ()
        Sentences on tests that do not apply.
    unit : str, default ""
        Unit of the edge weights.
    has_sign : bool array of shape (n_pairs,), default None
        Pairs whose weights have a sign.

    See Also
    --------
    compare_groups : Make a comparison.
    Comparison : Two models that are already fitted.

    Examples
    --------
    >>> import mrfit
    >>> table = {"site": ["A"] * 20 + ["B"] * 20, "rain": ["no", "yes"] * 20}
    >>> table["wet"] = ["no", "yes"] * 10 + ["no"] * 20
    >>> learner = mrfit.Learner(mrfit.CompleteGraph(), mrfit.L2())
    >>> found = mrfit.compare_groups(learner, table, by="site")
    >>> found.labels, found.weights.round(1).tolist()
    (('A', 'B'), [[2.9], [-0.7]])
    >>> round(found.wald.whole.p, 3)
    0.0
    """

    names: tuple[str, ...]
    by: str
    labels: tuple[str, ...]
    sizes: Floats
    weights: Floats
    wald: WaldComparison | None = None
    likelihood: LikelihoodRatio | None = None
    permutations: PermutationTest | None = None
    remarks: tuple[str, ...] = ()
    unit: str = ""
    has_sign: NDArray[np.bool_] | None = None

    @property
    def differences(self) -> Differences:
        """Differences of the networks, with ``largest`` of an edge, ``total``, ``edges`` and node ``strengths``."""
        return Differences.of(self.weights, len(self.names))

    def __repr__(self) -> str:
        made = [name for name in TESTS if getattr(self, name) is not None]
        return f"<GroupComparison: {len(self.labels)} groups of {self.by!r}; {', '.join(made)}>"


def compare_groups(
    learner: Learner | StructureLearner,
    data: Any,
    *,
    by: str,
    paired: Sequence[object] | None = None,
    tests: Sequence[str] | None = None,
    permutations: Any = 1000,
    seed: int = 0,
    jobs: int = 1,
    callback: Callback | None = None,
) -> GroupComparison:
    """Learn a network from each group of rows, and test whether the networks differ.

    Parameters
    ----------
    learner : Learner or StructureLearner
        How to learn each network: a `Learner`, or a structure learner such as `L1Path`, whose regressions have edge
        weights.
    data : table
        Complete rows of all groups.
    by : str
        Column that tells groups apart. It is no variable of the networks.
    paired : sequence, default None
        Identity of each row's person, if every person has one row in every group. Permutations then swap within
        persons.
    tests : sequence of str, default None
        Some of ``wald``, ``likelihood`` (interactions are equal: exact, without a penalty) and ``permutations``. None
        takes ``wald`` for a given structure with l2 or no penalty, and ``likelihood`` too where that is cheap;
        otherwise ``permutations``.
    permutations : int or array, default 1000
        Number of permutations, each of which repeats the whole analysis; or the permutations themselves, counts of
        the distinct rows of all groups, shape (permutations, groups, distinct rows).
    seed : int, default 0
        Random seed of the permutations.
    jobs : int, default 1
        Number of threads that learn networks; the result does not depend on it.
    callback : callable, default None
        Called with the number of networks that have just been learned from permuted rows, from any thread.

    Returns
    -------
    GroupComparison
        Edge weights of every group and the tests that were made.

    Raises
    ------
    MrfitError
        If a column or test does not exist, if a Wald or likelihood test meets a structure that is learned, or if
        learning fails in a group.

    See Also
    --------
    compare : Compare two models that are already fitted.
    bootstrap_edges : The sampling error of one network.

    Notes
    -----
    With permutations and two groups this is the network comparison test (van Borkulo et al. 2022). Each p value is
    (1 + permutations with as large a difference) / (1 + permutations).

    Examples
    --------
    >>> import mrfit
    >>> table = {"site": ["A"] * 20 + ["B"] * 20, "rain": ["no", "yes"] * 20}
    >>> table["wet"] = ["no", "yes"] * 10 + ["no"] * 20
    >>> learner = mrfit.Learner(mrfit.CompleteGraph(), mrfit.L2())
    >>> found = mrfit.compare_groups(
    ...     learner, table, by="site", tests=["permutations"], permutations=19
    ... )
    >>> found.permutations.p_largest
    0.05
    """
    grouped = GroupedRows.of(UniqueRows.of(data), by) if paired is None else _paired(data, by, paired)
    grouped.rows.check_complete("learning")
    asked = _tests(learner, grouped, tests)
    with one_blas_thread():
        pool = pool_of(learner, grouped.rows)
        weights = np.stack(_of_groups(grouped, weigher(learner))) if pool is None else pool.weights(grouped.counts)
        wald = ratio = shuffled = None
        if "wald" in asked:
            wald = _wald(_given(learner, "Wald tests"), grouped, jobs)
        if "likelihood" in asked:
            given = _with_free_tables(_given(learner, "Likelihood ratios"))
            ratio = likelihood_ratio(grouped, given.structure.learn(grouped.rows).structure, given, jobs=jobs)
        if "permutations" in asked:
            drawn = _permutations(grouped, permutations, seed)
            flat = drawn.reshape(-1, grouped.rows.n_distinct)
            networks = networks_of(learner, grouped.rows, flat, pool=pool, jobs=jobs, callback=callback)
            shuffled = PermutationTest.of(weights, networks)
    remarks = (PAIRED,) if paired is not None and tests is None else ()
    scores = scores_of(learner, grouped.rows.domain)
    return GroupComparison(
        grouped.rows.domain.names, by, grouped.labels, grouped.sizes, weights, wald, ratio, shuffled, remarks,
        unit=unit_of_scores(scores), has_sign=signed_pairs(scores),
    )  # fmt: skip


def _paired(data: Any, by: str, ids: Sequence[object]) -> GroupedRows:
    return GroupedRows.paired(data if isinstance(data, Dataset) else Dataset.from_table(data), by, ids)


def _tests(learner: Learner | StructureLearner, grouped: GroupedRows, tests: Sequence[str] | None) -> tuple[str, ...]:
    if tests is None:
        return _usual_tests(learner, grouped)
    unknown = [name for name in tests if name not in TESTS]
    if unknown or not tests:
        raise InputError(f"Groups are compared by {listed(TESTS)}; got {listed(unknown) if unknown else 'none'}.")
    if grouped.members is not None and tuple(tests) != ("permutations",):
        raise InputError(f"{PAIRED} Use permutations, or compare without pairs.")
    return tuple(tests)


def _usual_tests(learner: Learner | StructureLearner, grouped: GroupedRows) -> tuple[str, ...]:
    if grouped.members is not None or isinstance(learner, StructureLearner) or learner.structure.is_learned:
        return ("permutations",)
    if not isinstance(learner.penalty, NoPenalty | L2 | SumOfSquares):
        return ("permutations",)
    few = prod(grouped.rows.domain.shape) * len(grouped.labels) <= _FEW_STATES
    exact = few and isinstance(learner.penalty, NoPenalty) and learner.parameterization_kind.is_complete
    exact = exact and not learner.covariates
    return ("wald", "likelihood") if exact else ("wald",)


def _given(learner: Learner | StructureLearner, what: str) -> Learner:
    """A fit on a structure that is the same in all groups."""
    if isinstance(learner, StructureLearner) or learner.structure.is_learned:
        raise InputError(
            f"{what} need a structure that was not learned from the groups. Use a fixed one, "
            "such as complete or edges from a file, or use permutations."
        )
    return learner


def _with_free_tables(learner: Learner) -> Learner:
    """One in whose coordinates groups may differ in any state of a single variable."""
    if not learner.parameterization_kind.is_complete:
        raise InputError(
            "Likelihood ratios need coordinates in which a variable may depend on the group in any way, which "
            f"{learner.parameterization_kind.word} ones do not allow. Use wald, or canonical, spectral or full "
            "coordinates."
        )
    return learner


def _of_groups(grouped: GroupedRows, learn: Callable[[UniqueRows], Any]) -> list[Any]:
    """Apply ``learn`` to the rows of each group; an error names the group."""
    found = []
    for label, rows in zip(grouped.labels, grouped.groups(), strict=True):
        try:
            found.append(learn(rows))
        except MrfitError as error:
            raise InputError(f"Nothing could be learned from the group {label!r} of {grouped.by!r}: {error}") from error
    return found


def _permutations(grouped: GroupedRows, permutations: Any, seed: int) -> Floats:
    rows, rng = grouped.rows, generator(seed)
    if isinstance(permutations, int | np.integer):
        if grouped.members is not None:
            return draw.swaps(rows, grouped.members, int(permutations), rng)
        return draw.splits(rows, grouped.sizes.round().astype(int).tolist(), int(permutations), rng)
    counts = np.asarray(permutations, np.float64)
    if counts.ndim != 3 or counts.shape[1] != len(grouped.labels):
        raise InputError(
            f"Permutations are counts of shape (permutations, {len(grouped.labels)} groups, {rows.n_distinct} distinct "
            f"rows); got {counts.shape}."
        )
    return draw.given(rows, counts.reshape(-1, counts.shape[2])).reshape(counts.shape)


def _wald(learner: Learner, grouped: GroupedRows, jobs: int) -> WaldComparison:
    models = [
        fitted.model
        for fitted in _of_groups(grouped, lambda rows: learner.fit(rows, errors="sandwich", jobs=jobs, compared=False))
    ]
    first, errors = models[0], [model.errors for model in models if model.errors is not None]
    w, covariances = [model.w for model in models], [each.covariance for each in errors]
    known = np.isfinite(np.stack([np.diag(covariance) for covariance in covariances])).all(axis=0)
    sets = first.interaction_sets()
    whole = np.concatenate([mine for _, mine in sets])
    of_nodes = [
        ((name,), np.concatenate([mine for names, mine in sets if name in names] or [whole[:0]]))
        for name in first.domain.names
    ]
    return WaldComparison(
        equality_tests(w, covariances, [((), whole[known[whole]])])[0],
        equality_tests(w, covariances, sets),
        equality_tests(w, covariances, [(name, mine[known[mine]]) for name, mine in of_nodes]),
        tuple(dict.fromkeys(remark for each in errors for remark in each.remarks)),
    )
