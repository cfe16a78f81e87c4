"""Likelihood ratio test of equal interactions: a model in which groups share them against one in which they do not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import chdtrc, xlogy

from mrfit.core.domain import Domain, Variable
from mrfit.data.grouped_rows import GroupedRows
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.learner import Learner
from mrfit.learning.objective_specs import LIKELIHOOD, LikelihoodSpec
from mrfit.learning.penalty_specs import NoPenalty
from mrfit.structures.simple import FixedStructure
from mrfit.structures.structure import Structure

_TOLERANCE = 1e-8  # twice the log-likelihood is compared, over all rows


@dataclass(frozen=True)
class Nested:
    """A model of all groups: its log-likelihood, given the groups, and how many parameters it has."""

    log_likelihood: float
    n_parameters: int

    def to_dict(self) -> dict[str, Any]:
        return {"log_likelihood": self.log_likelihood, "n_parameters": self.n_parameters}


@dataclass(frozen=True)
class LikelihoodRatio:
    """Likelihood-ratio test that the interactions of all groups are equal.

    Three models are fitted by maximum likelihood, each a special case of the one before.

    Attributes
    ----------
    free : record
        Every group has parameters of its own: ``log_likelihood`` and ``n_parameters``.
    equal_interactions : record
        Groups differ in the parameters of single variables only.
    equal : record
        Groups do not differ.
    held : tuple of str
        Parameters of ``free`` without a finite optimum. Their number makes ``p`` too large.
    """

    free: Nested
    equal_interactions: Nested
    equal: Nested
    held: tuple[str, ...] = ()

    @property
    def statistic(self) -> float:
        """Twice the difference of the log-likelihoods of ``free`` and ``equal_interactions``."""
        return 2.0 * (self.free.log_likelihood - self.equal_interactions.log_likelihood)

    @property
    def degrees(self) -> int:
        """Degrees of freedom, the difference of the numbers of parameters."""
        return self.free.n_parameters - self.equal_interactions.n_parameters

    @property
    def p(self) -> float:
        """Asymptotic p-value: the probability that groups with equal interactions differ as much."""
        return float(chdtrc(self.degrees, max(self.statistic, 0.0)))

    def to_dict(self) -> dict[str, Any]:
        return {
            "statistic": self.statistic,
            "degrees": self.degrees,
            "p": self.p,
            "free": self.free.to_dict(),
            "equal_interactions": self.equal_interactions.to_dict(),
            "equal": self.equal.to_dict(),
            "held": list(self.held),
        }


def likelihood_ratio(grouped: GroupedRows, structure: Structure, learner: Learner, *, jobs: int = 1) -> LikelihoodRatio:
    """Test whether the interactions of ``structure`` are equal in all groups, by maximum likelihood without a penalty.

    Groups that differ in single variables only are one model of the table with its column of groups, joined to every
    variable: how many rows a group has is a free parameter there, so that all else is the likelihood given the groups.
    """
    objective = learner.objective if isinstance(learner.objective, LikelihoodSpec) else LIKELIHOOD
    plain = replace(learner, penalty=NoPenalty(), objective=objective, solver=None, folds=0, tolerance=_TOLERANCE)

    def fitted(rows: UniqueRows, structure: Structure) -> tuple[Nested, list[str]]:
        best = replace(plain, structure=FixedStructure(structure)).fit(rows, jobs=jobs).best
        return Nested(best.train * rows.total_weight, best.model.parameters.n_parameters), best.held

    parts = [fitted(rows, structure) for rows in grouped.groups()]
    free = Nested(sum(part.log_likelihood for part, _ in parts), sum(part.n_parameters for part, _ in parts))
    joint, _ = fitted(*_with_groups(grouped, structure))
    n_of_groups = len(grouped.labels) - 1
    of_groups = float(xlogy(grouped.sizes, grouped.sizes / grouped.sizes.sum()).sum())
    held = tuple(
        f"{name} in {label}" for label, (_, names) in zip(grouped.labels, parts, strict=True) for name in names
    )
    return LikelihoodRatio(
        free,
        Nested(joint.log_likelihood - of_groups, joint.n_parameters - n_of_groups),
        fitted(grouped.rows, structure)[0],
        held,
    )


def _with_groups(grouped: GroupedRows, structure: Structure) -> tuple[UniqueRows, Structure]:
    """The table with its column of groups, the last, joined to every variable."""
    variables = tuple(grouped.rows.domain)
    domain = Domain((*variables, Variable(grouped.by, grouped.labels)))
    group, row = np.nonzero(grouped.counts)
    codes = np.column_stack([grouped.rows.codes[row], group]).astype(np.uint8)
    last = len(variables)
    scopes = [tuple(scope) for block in structure.blocks.values() for scope in block.tolist()]
    joined = Structure.from_scopes(last + 1, [*scopes, *((i, last) for i in range(last))])
    return UniqueRows.from_codes(domain, codes, grouped.counts[group, row]), joined
