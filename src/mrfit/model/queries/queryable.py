"""A distribution with names: the base of all queries."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Scope
from mrfit.core.domain import Domain
from mrfit.core.errors import ImpossibleError, InputError, listed
from mrfit.core.factors import Factors
from mrfit.core.seeds import Seed, check_seed
from mrfit.data.dataset import Dataset
from mrfit.data.encoding import check_complete, has_all_cells
from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.components import component_of
from mrfit.inference.engine import AUTO, Engine, Posterior
from mrfit.inference.engine_selection import exactly_planned, planned
from mrfit.inference.exact.planned_tree import PlannedTree
from mrfit.inference.plan import Plan
from mrfit.model.queries.evidence import Evidence, States, takes_evidence

Planned = TypeVar("Planned")

_CACHED_PLANS = 64


@dataclass(frozen=True)
class How:
    """The settings that all queries share."""

    engine: str | Engine = AUTO
    seed: int = 0
    samples: int | None = None
    precision: float | None = None

    def __post_init__(self) -> None:
        check_seed(self.seed)


class Asked:
    """A distribution over the variables of a domain; subclasses add queries."""

    domain: Domain

    @property
    def factors(self) -> Factors:
        """Tables whose product is the distribution; variables after those of the domain are hidden."""
        raise NotImplementedError

    @property
    def stored_order(self) -> tuple[int, ...] | None:
        """Elimination order that is stored with the model, as positions of variables, or None."""
        return None

    @property
    def covariate_indices(self) -> tuple[int, ...]:
        """Positions of the covariates in the domain."""
        return ()

    @property
    def covariates(self) -> tuple[str, ...]:
        """Names of the covariates. The model is the distribution of all other variables, conditional on these."""
        return tuple(self.domain.names[z] for z in self.covariate_indices)

    @property
    def display_names(self) -> tuple[str, ...]:
        """Names of all variables of `factors`, hidden ones included, as messages show them."""
        hidden = range(self.factors.n_variables - len(self.domain))
        return (*self.domain.names, *(f"hidden {number}" for number in hidden))

    @takes_evidence
    def plan(
        self,
        *,
        evidence: States = None,
        targets: Iterable[Iterable[str]] = (),
        engine: str | Engine = AUTO,
        seed: int = 0,
        samples: int | None = None,
        precision: float | None = None,
    ) -> Plan:
        """Forecast the cost of a query, before anything is computed.

        Parameters
        ----------
        evidence : mapping, default None
            Evidence that the query will have. Only the variables matter, not their states.
        targets : sequence of sequences of str, default ()
            Sets of variables whose joint probabilities the query will need.
        engine : str or Engine, default "auto"
            Engine to plan for, as in `marginals`; ``auto`` plans the one that it would choose.
        seed : int, default 0
            Seed of the engine; that of a junction tree breaks ties in its search for an order.
        samples : int, default None
            Number of chains that an approximate engine would run.
        precision : float, default None
            Standard error that an approximate engine would have to reach; its plan covers the first round.

        Returns
        -------
        Plan
            Engine, number of cells, bytes and forecast seconds; ``fits`` tells whether it is within the limits.

        Examples
        --------
        >>> import mrfit
        >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
        >>> plan = mrfit.learn(table).model.plan()
        >>> plan.engine, plan.n_cells, plan.fits
        ('tree', 4, True)
        """
        return self._planned(self._evidence(evidence), self._scopes(targets), How(engine, seed, samples, precision))[2]

    def _evidence(self, states: States) -> Evidence:
        """The evidence, which must hold a state of every covariate."""
        evidence = Evidence.of(self.domain, states)
        missing = [self.domain.names[z] for z in self.covariate_indices if z not in evidence.known]
        if missing:
            raise InputError(
                f"The model has covariates and is a distribution of the other variables; give a state of "
                f"{listed(missing)} as evidence."
            )
        return evidence

    def _check_asked(self, asked: Scope) -> None:
        """Refuse queries for the distribution of covariates."""
        for z in (z for z in asked if z in self.covariate_indices):
            raise InputError(
                f"The model is conditional on the covariate {self.domain.names[z]!r} and has no distribution of it. "
                "Ask for another variable."
            )

    def _check_covariates_known(self, codes: NDArray[np.uint8]) -> None:
        for z in self.covariate_indices:
            if not has_all_cells(codes[:, z]):
                raise InputError(
                    f"The covariate {self.domain.names[z]!r} is missing in some rows, and this model has no "
                    "distribution of it. Leave these rows out."
                )

    def _asked(
        self,
        evidence: Evidence,
        targets: tuple[Scope, ...],
        how: How,
        *,
        of: Scope | None = None,
    ) -> tuple[Posterior, dict[str, Any]]:
        """Run the engine on the factors given the evidence; return the posterior and the origin of the answer.

        If the whole model is too large for exact inference, the component that the variables ``of`` depend on may fit.
        """
        factors, chosen, plan = self._planned(evidence, targets, how)
        remarks: tuple[str, ...] = ()
        if how.engine == AUTO and of and not chosen.is_exact:
            part = component_of(factors, [i for i in of if i not in evidence.known])
            exact, smaller = exactly_planned(part.factors, targets, seed=how.seed)
            if part.is_proper and smaller.fits:
                factors, chosen, plan = part.factors, exact, smaller
                remarks = ("Exact for this query, which depends on a part of the model; log Z is that of the part.",)
        plan.check(self.display_names)
        try:
            posterior = chosen.run(plan, factors)
        except ImpossibleError as error:
            raise self._impossible(evidence) from error
        about = _about(plan, posterior.exact, (*remarks, *posterior.remarks), evidence.describe(self.domain))
        return posterior, about

    def _planned(self, evidence: Evidence, targets: tuple[Scope, ...], how: How) -> tuple[Factors, Engine, Plan]:
        """Return the factors given the evidence, and the engine and its plan for these."""
        factors = evidence.applied_to(self.factors)

        def plan() -> tuple[Engine, Plan]:
            if how.engine == AUTO and self._has_hidden:
                return exactly_planned(factors, targets, seed=how.seed, order=self.stored_order)
            return planned(
                factors,
                targets,
                engine=how.engine,
                seed=how.seed,
                samples=how.samples,
                precision=how.precision,
                names=self.display_names,
                order=self.stored_order,
            )

        return factors, *self._cached(evidence, (targets, how), plan)

    @property
    def _has_hidden(self) -> bool:
        """Whether there are hidden variables. Others determine them, so no chain can move them."""
        return self.factors.n_variables > len(self.domain)

    def _planned_tree(self, evidence: Evidence, *, seed: Seed, **settings: Any) -> tuple[Factors, PlannedTree]:
        """Return factors and plan for queries that only a junction tree answers exactly."""
        check_seed(seed)  # before it is looked up
        factors, settings = evidence.applied_to(self.factors), {"seed": seed, **settings}
        key = ("tree", *settings.items())
        return factors, self._cached(evidence, key, lambda: PlannedTree.of(factors, **settings))

    def _cached(self, evidence: Evidence, key: Any, plan: Callable[[], Planned]) -> Planned:
        """Return a cached plan, or a new one: plans depend on which variables have evidence, not on their states."""
        plans: dict[Any, Any] = self.__dict__.setdefault("_plans", {})
        key = (frozenset(evidence.known), frozenset(evidence.likelihoods), key)
        if key not in plans:
            if len(plans) == _CACHED_PLANS:
                del plans[next(iter(plans))]
            plans[key] = plan()
        planned: Planned = plans[key]
        return planned

    def _impossible(self, evidence: Evidence) -> InputError:
        if not evidence.variables:
            return ImpossibleError("The model leaves no joint state possible: its tables contradict each other.")
        return ImpossibleError(
            f"The evidence has probability zero under the model: {evidence.describe(self.domain)}. Change it."
        )

    def _incomplete(self, data: Any) -> Dataset:
        """Return rows in the model's coding, missing cells included; absent columns are missing in every row."""
        if isinstance(data, Dataset):
            return data.recoded(self.domain)
        return Dataset.from_table(data, domain=self.domain, missing="keep", absent="missing")

    def _dataset(self, data: Any, what: str | None = None) -> Dataset:
        """Return codes in this model's coding, matched by names; ``what`` names a task that needs complete rows."""
        if not isinstance(data, Dataset):
            return Dataset.from_table(data, domain=self.domain)
        if what is not None:
            check_complete(data.codes, what)
        return data.recoded(self.domain)

    def coded_rows(self, data: Any, what: str | None = None) -> UniqueRows:
        """Internal: return the distinct rows of data, in the coding of this model.

        Parameters
        ----------
        data : table
            Rows in any form that `UniqueRows` can be made of, matched by names of columns.
        what : str, default None
            Name of a task that needs complete rows, for the error if they are not.

        Returns
        -------
        UniqueRows
        """
        if not isinstance(data, UniqueRows):
            return UniqueRows.from_dataset(self._dataset(data, what))
        if what is not None:
            data.check_complete(what)
        return data.recoded(self.domain)

    def _numbers(self, names: Iterable[str]) -> Scope:
        if not isinstance(names, Iterable):
            raise InputError(f"Names of variables are expected, in a list; got {names!r}.")
        names = [names] if isinstance(names, str) else list(names)
        numbers = tuple(self.domain.index(str(name)) for name in names)
        if len(set(numbers)) != len(numbers):
            raise InputError(f"A variable is named twice in {', '.join(map(repr, names))}; name each once.")
        return numbers

    def _scopes(self, targets: Iterable[Iterable[str]]) -> tuple[Scope, ...]:
        return tuple(self._numbers(names) for names in targets)

    def _others(self, evidence: Evidence) -> Scope:
        return tuple(i for i in range(len(self.domain)) if i not in evidence.known)


def _about(plan: Plan, exact: bool, remarks: tuple[str, ...], given: str) -> dict[str, Any]:
    return {"engine": plan.engine, "why": plan.why, "exact": exact, "remarks": remarks, "given": given}
