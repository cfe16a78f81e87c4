"""Sample complexity of tying: when it finds the true groups (Chou et al. 2018, "Theoretical Analysis").

    omega   largest distance of two parameters in one group
    alpha   smallest distance of two parameters in different groups
    C_min   smallest eigenvalue of the Hessian of the mean negative log-likelihood

Lemma 1 says that k-means returns the groups of m parameters if every error is below (alpha - omega) / 4. What holds is
weaker: then the widest group is narrower than the closest gap, so that the groups are a partition Lloyd's iterations
do not leave, and the cut at the k - 1 largest gaps finds them. The *optimal* k-means may still halve a large group and
join two small ones. For that one the sizes matter, and `largest_kmeans_error` is a bound that holds.

For the pseudo-likelihood (the paper's footnote 1) C_min is that of the mean negative pseudo-log-likelihood, divided by
the number q of conditionals that a parameter takes part in: of the pseudo-likelihood divided by q, entries of gradient
and Hessian are bounded for each row as those of the likelihood are, which is all the bound knows of it. That division
is ours, and `guarantee` proves what comes of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mrfit._typing import Floats, Indices
from mrfit.core.errors import InputError
from mrfit.learning.tying.guarantee import Composition, Guarantee
from mrfit.learning.tying.observed_curvature import SmallestEigenvalue, checked_point, smallest_eigenvalue_of
from mrfit.objectives.objective import Objective
from mrfit.parameterizations.groups import Groups


def cluster_width(w: Floats, assignment: Indices) -> float:
    """omega = max |w[r] - w[s]| over pairs in one group; zero where every group has one member. O(m log m)."""
    values, group, _ = _sorted_members(w, assignment, None)
    if not len(values):
        return 0.0
    by_group = np.argsort(group, kind="stable")  # values still ascend within a group
    values, group = values[by_group], group[by_group]
    first = np.flatnonzero(np.diff(group, prepend=-1))
    last = np.append(first[1:], len(group)) - 1
    with np.errstate(over="ignore"):  # an infinite width is refused by those who ask for it
        return float((values[last] - values[first]).max())


def separation(w: Floats, assignment: Indices, *, classes: Indices | None = None) -> float:
    """alpha = min |w[r] - w[s]| over pairs in different groups; infinite with one group. O(m log m).

    With ``classes`` (see `classes_of`) only pairs of one class count: parameters of different classes never share a
    group, whatever their values.
    """
    values, group, class_ = _sorted_members(w, assignment, classes)
    # Between two values of different groups the group changes somewhere, so the closest pair stands side by side.
    changes = (np.diff(group) != 0) & (np.diff(class_) == 0)
    with np.errstate(over="ignore"):
        return float(np.diff(values)[changes].min(initial=np.inf))


def largest_error(omega: float, alpha: float, *, hard: bool) -> float:
    """(alpha - omega) / 4 for soft tying (Lemma 1), alpha / 4 for hard (Corollary 1); zero if not separated.

    Errors below it leave every group narrower than every gap: w keeps its groups under Lloyd's iterations.
    """
    _check_distances(omega, alpha)
    return max(0.0, alpha if hard else alpha - omega) / 4.0


def largest_kmeans_error(omega: float, alpha: float, share: float, *, hard: bool) -> float:
    """(alpha - s omega) / (2 + 2 s) with s = 1 + share^(-1/2): errors below it leave the true groups optimal.

    ``share`` is that of the smallest group among the m parameters; with s = 1 this would be Lemma 1. For hard tying
    omega is zero.

    Proof. Let the estimates have width W and gap A > s W. The true groups cost at most m W^2 / 4. Were the best k
    centers to leave a group without a center within r of its members, they would cost at least share m r^2; that is
    more for some r < (A - W) / 2, as A - W > W share^(-1/2). So each group has a center within r, and only one since
    2 r < A; members are within W + r < A - r of it and no nearer to another. Errors e give W = omega + 2 e and
    A = alpha - 2 e.
    """
    _check_distances(omega, alpha)
    if not 0.0 < share <= 1.0:
        raise InputError(f"share is {share}; expected that of the smallest group, in (0, 1]. Divide its size by m.")
    s = 1.0 + 1.0 / math.sqrt(share)
    return max(0.0, alpha if hard else alpha - s * omega) / (2.0 + 2.0 * s)


def is_well_separated(w: Floats, assignment: Indices, error: float, *, hard: bool) -> bool:
    """Whether the groups of ``w`` are well-separated for a largest error: it is below `largest_error`."""
    if not error >= 0.0:
        raise InputError(
            f"error is {error}; expected the largest absolute error, zero or more. Pass its absolute value."
        )
    return error < largest_error(cluster_width(w, assignment), separation(w, assignment), hard=hard)


def sample_size_soft(n_parameters: int, omega: float, alpha: float, c_min: float, delta: float) -> float:
    """Theorem 1: with n rows or more soft tying finds the groups with probability 1 - delta.

    n = 2^9 / C_min^2 * 16 m^2 / (alpha - omega)^2 * log(2 m (m + 1) / delta)

    Infinite where the groups are not separated (alpha <= omega) or C_min is zero: then the theorem promises nothing.
    """
    _check_distances(omega, alpha)
    return _sample_size(n_parameters, n_parameters, alpha - omega, c_min, delta)


def sample_size_hard(n_parameters: int, n_groups: int, alpha: float, c_min: float, delta: float) -> float:
    """Theorem 1 for k distinct values: 2^9 / C_min^2 * 16 k^2 / alpha^2 * log(2 m (m + 1) / delta).

    Infinite where two groups have one value (alpha = 0) or C_min is zero.
    """
    _check_distances(0.0, alpha)
    if not 1 <= n_groups <= n_parameters:
        raise InputError(f"n_groups is {n_groups}; expected 1 to {n_parameters}, the number of parameters. Change it.")
    return _sample_size(n_parameters, n_groups, alpha, c_min, delta)


def _sample_size(m: int, n_values: int, distance: float, c_min: float, delta: float) -> float:
    _check_size(m, c_min)
    if not 0.0 < delta < 1.0:
        raise InputError(f"delta is {delta}; expected a probability of failure between 0 and 1, such as 0.05.")
    if distance <= 0.0 or c_min == 0.0:
        return math.inf
    # Divided before it is squared: c_min^2 of a nearly flat likelihood would underflow.
    ratio = n_values / distance / c_min
    return max(1.0, 2.0**9 * 16.0 * ratio * ratio * math.log(2.0 * m * (m + 1) / delta))


def regularization(n_samples: float, n_parameters: int, c_min: float, xi: float) -> float:
    """Theorem 1's lambda = C_min^2 n^(-xi / 2) / (2^6 m^2), against the mean over rows; n lambda is a strength."""
    _check_size(n_parameters, c_min)
    if not n_samples > 0.0:
        raise InputError(f"n_samples is {n_samples}; expected a positive number of rows. Pass how many there are.")
    if not 0.0 < xi < 1.0:
        raise InputError(f"xi is {xi}; expected a number strictly between 0 and 1, such as 0.5.")
    return float(c_min**2 * float(n_samples) ** (-xi / 2.0) / (2.0**6 * float(n_parameters) ** 2))


@dataclass(frozen=True)
class Bound:
    """Bounds of the theorem for one kind of tying.

    ``n_samples`` is by the error of Lemma 1, ``n_samples_kmeans`` by that for the optimal k-means, and ``proven`` both
    by `mrfit.learning.tying.guarantee`. ``reason`` says why ``n_samples`` is infinite; it is empty where it is not.
    """

    largest_error: float
    largest_kmeans_error: float
    n_samples: float
    regularization: float
    reason: str
    n_samples_kmeans: float
    proven: Guarantee


@dataclass(frozen=True)
class Theory:
    """All that theory says about one set of parameters and groups."""

    n_parameters: int
    group_sizes: tuple[int, ...]
    omega: float
    alpha: float
    c_min: float
    delta: float
    xi: float
    soft: Bound
    hard: Bound
    composition: Composition
    eigenvalue: SmallestEigenvalue

    @property
    def n_groups(self) -> int:
        return len(self.group_sizes)

    @property
    def is_separated(self) -> bool:
        """Whether some error, however small, is harmless: alpha > omega."""
        return self.alpha > self.omega

    @classmethod
    def of(
        cls,
        objective: Objective,
        w: Floats,
        groups: Groups,
        *,
        composition: Composition | None = None,
        classes: Indices | None = None,
        delta: float = 0.05,
        xi: float = 0.5,
    ) -> Theory:
        """Apply the theorems at ``w``, which is taken for the true parameters of a mean negative log-score.

        ``composition`` says which of the two; by default it is the likelihood, of features that are zero or one.
        ``classes`` say which parameters may share a group; all by default. Groups without members do not count.
        """
        omega, alpha = cluster_width(w, groups.assignment), separation(w, groups.assignment, classes=classes)
        share, m = _smallest_share(groups.assignment, classes), len(w)
        sizes = tuple(int(size) for size in groups.sizes if size)
        if not sizes:
            raise InputError("No parameter is in a group; expected groups with members. Tie some parameters.")
        # Checks delta and xi before the eigenvalues, which may take minutes.
        regularization(sample_size_soft(m, omega, alpha, 1.0, delta), m, 1.0, xi)
        composition = composition or Composition(m, m)
        eigenvalue = smallest_eigenvalue_of(objective, w)
        c_min, q = eigenvalue.value, composition.repetitions

        def bound(n_values: int, *, hard: bool) -> Bound:
            error = largest_error(omega, alpha, hard=hard)
            kmeans_error = largest_kmeans_error(omega, alpha, share, hard=hard)
            n_samples = _sample_size(m, n_values, 4.0 * error, c_min / q, delta)
            return Bound(
                error,
                kmeans_error,
                n_samples,
                q * regularization(n_samples, m, c_min / q, xi),
                _reason(omega, alpha, c_min, hard=hard),
                _sample_size(m, n_values, 4.0 * kmeans_error, c_min / q, delta),
                Guarantee.of(error, kmeans_error, w, c_min, composition, delta=delta),
            )

        soft, hard = bound(m, hard=False), bound(len(sizes), hard=True)
        return cls(m, sizes, omega, alpha, c_min, delta, xi, soft, hard, composition, eigenvalue)


def _reason(omega: float, alpha: float, c_min: float, *, hard: bool) -> str:
    if hard and alpha == 0.0:
        return "two groups have members of the same value (alpha = 0)"
    if not hard and alpha <= omega:
        return f"the groups are not separated: alpha = {alpha:.3g} is not above omega = {omega:.3g}"
    if c_min == 0.0:
        return "the likelihood is flat in some direction (C_min = 0)"
    return ""


def _smallest_share(assignment: Indices, classes: Indices | None) -> float:
    """Share of the smallest group among the tied parameters of its class."""
    tied = assignment >= 0
    class_ = np.zeros_like(assignment) if classes is None else classes
    share = 1.0
    for number in np.unique(class_[tied]):
        sizes = np.unique(assignment[tied & (class_ == number)], return_counts=True)[1]
        share = min(share, float(sizes.min() / sizes.sum()))
    return share


def _sorted_members(w: Floats, assignment: Indices, classes: Indices | None) -> tuple[Floats, Indices, Indices]:
    """Values, groups and classes of the tied parameters, by class and then by value."""
    w, group = checked_point(w), np.asarray(assignment)
    class_ = np.zeros(len(w), np.int64) if classes is None else np.asarray(classes)
    for name, array in (("assignment", group), ("classes", class_)):
        if array.shape != w.shape or array.dtype.kind not in "iu":
            raise InputError(
                f"{name} has shape {array.shape} and type {array.dtype}; expected one whole number for each of the "
                f"{len(w)} parameters. Pass that of the same model."
            )
    tied = np.flatnonzero(group >= 0)
    order = tied[np.lexsort((w[tied], class_[tied]))]
    return w[order], group[order], class_[order]


def _check_distances(omega: float, alpha: float) -> None:
    if not (0.0 <= omega < math.inf and alpha >= 0.0):
        raise InputError(
            f"omega is {omega} and alpha {alpha}; expected distances, zero or more, and a finite omega. "
            "Use cluster_width and separation."
        )


def _check_size(n_parameters: int, c_min: float) -> None:
    if n_parameters < 1:
        raise InputError(f"n_parameters is {n_parameters}; expected at least one. Pass the number of parameters.")
    if not 0.0 <= c_min < math.inf:
        raise InputError(f"c_min is {c_min}; expected an eigenvalue, zero or more. Use smallest_eigenvalue.")
