"""A distribution with names, and how it is asked: what all questions share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mrfit.data.coding import check_complete, has_all_cells
from mrfit.data.dataset import Dataset
from mrfit.data.unique_rows import UniqueRows
from mrfit.domain import Domain
from mrfit.errors import ImpossibleError, InputError, listed
from mrfit.factors import Factors, Scope
from mrfit.inference.choice import exactly_planned, planned
from mrfit.inference.components import part_with
from mrfit.inference.engine import AUTO, Engine, Posterior
from mrfit.inference.plan import Plan
from mrfit.inference.planned_tree import PlannedTree
from mrfit.queries.evidence import Evidence
from mrfit.seeds import Seed, check_seed

Given = Mapping[str, Any] | None
Kept = TypeVar("Kept")

_KEPT_PLANS = 64


@dataclass(frozen=True)
class How:
    """How to answer: the settings that all questions share."""

    engine: str | Engine = AUTO
    seed: int = 0
    samples: int | None = None
    precision: float | None = None

    def __post_init__(self) -> None:
        check_seed(self.seed)


class Asked:
    """A distribution over the variables of a domain; its subclasses have the questions."""

    domain: Domain

    @property
    def factors(self) -> Factors:
        """The distribution as tables; variables after those of the domain are hidden."""
        raise NotImplementedError

    @property
    def stored_order(self) -> tuple[int, ...] | None:
        """In which to eliminate variables, where the model brings that with it."""
        return None

    @property
    def covariates(self) -> tuple[int, ...]:
        """Numbers of variables that have no distribution: all others are distributed given these."""
        return ()

    @property
    def covariate_names(self) -> tuple[str, ...]:
        return tuple(self.domain.names[z] for z in self.covariates)

    @property
    def spoken_names(self) -> tuple[str, ...]:
        """Of all variables of `factors`, for messages."""
        hidden = range(self.factors.n_variables - len(self.domain))
        return (*self.domain.names, *(f"hidden {number}" for number in hidden))

    def plan(
        self,
        *,
        given: Given = None,
        targets: Iterable[Iterable[str]] = (),
        engine: str | Engine = AUTO,
        seed: int = 0,
        samples: int | None = None,
        precision: float | None = None,
    ) -> Plan:
        """What a question would take, before anything is done: engine, cells, bytes, seconds."""
        evidence = self._evidence(given)
        return self._planned(evidence, self._scopes(targets), How(engine, seed, samples, precision))[2]

    def _evidence(self, given: Given) -> Evidence:
        """What is given, the state of every covariate among it."""
        evidence = Evidence.of(self.domain, given)
        missing = [self.domain.names[z] for z in self.covariates if z not in evidence.known]
        if missing:
            raise InputError(
                f"The model says how variables are distributed given {listed(missing)}, of which it says nothing; give "
                "a state of each."
            )
        return evidence

    def _check_asked(self, asked: Scope) -> None:
        """Refuse questions about covariates."""
        for z in (z for z in asked if z in self.covariates):
            raise InputError(
                f"{self.domain.names[z]!r} is a covariate of this model, which says nothing of its distribution. Ask "
                "for another variable."
            )

    def _check_covariates_known(self, codes: NDArray[np.uint8]) -> None:
        for z in self.covariates:
            if not has_all_cells(codes[:, z]):
                raise InputError(
                    f"The covariate {self.domain.names[z]!r} has no value in some rows, and this model says nothing of "
                    "its distribution. Leave these rows out."
                )

    def _asked(
        self,
        evidence: Evidence,
        targets: tuple[Scope, ...],
        how: How,
        *,
        of: Scope | None = None,
    ) -> tuple[Posterior, dict[str, Any]]:
        """Run the engine on what is left when the evidence is known; and how that came about.

        Where the whole is too large to be exact, it may be enough to take what the variables ``of`` interest depend on.
        """
        factors, chosen, plan = self._planned(evidence, targets, how)
        remarks: tuple[str, ...] = ()
        if how.engine == AUTO and of and not chosen.is_exact:
            part = part_with(factors, [i for i in of if i not in evidence.known])
            exact, smaller = exactly_planned(part.factors, targets, seed=how.seed)
            if part.is_proper and smaller.fits:
                factors, chosen, plan = part.factors, exact, smaller
                remarks = ("Exact for what is asked, which depends on a part of the model; log Z is that of the part.",)
        plan.check(self.spoken_names)
        try:
            posterior = chosen.run(plan, factors)
        except ImpossibleError as error:
            raise self._impossible(evidence) from error
        about = _about(plan, posterior.exact, (*remarks, *posterior.remarks), evidence.in_words(self.domain))
        return posterior, about

    def _planned(self, evidence: Evidence, targets: tuple[Scope, ...], how: How) -> tuple[Factors, Engine, Plan]:
        """What is left when the evidence is known, and the engine and its plan for that."""
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
                names=self.spoken_names,
                order=self.stored_order,
            )

        return factors, *self._kept(evidence, (targets, how), plan)

    @property
    def _has_hidden(self) -> bool:
        """Whether there are variables that others decide, which no chain can move."""
        return self.factors.n_variables > len(self.domain)

    def _planned_tree(self, evidence: Evidence, *, seed: Seed, **settings: Any) -> tuple[Factors, PlannedTree]:
        """The same for questions that a tree answers if any does."""
        check_seed(seed)  # before it is looked up
        factors, settings = evidence.applied_to(self.factors), {"seed": seed, **settings}
        key = ("tree", *settings.items())
        return factors, self._kept(evidence, key, lambda: PlannedTree.of(factors, **settings))

    def _kept(self, evidence: Evidence, key: Any, plan: Callable[[], Kept]) -> Kept:
        """The latest plans are kept: the same variables given and asked for need no other one."""
        plans: dict[Any, Any] = self.__dict__.setdefault("_plans", {})
        key = (frozenset(evidence.known), frozenset(evidence.likelihoods), key)
        if key not in plans:
            if len(plans) == _KEPT_PLANS:
                del plans[next(iter(plans))]
            plans[key] = plan()
        kept: Kept = plans[key]
        return kept

    def _impossible(self, evidence: Evidence) -> InputError:
        if not evidence.variables:
            return ImpossibleError("The model leaves no joint state possible: its tables contradict each other.")
        return ImpossibleError(
            f"What is given has probability zero under the model: {evidence.in_words(self.domain)}. Change it."
        )

    def _incomplete(self, data: Any) -> Dataset:
        """Rows in the model's coding, missing cells kept; columns that the table lacks are missing in every row."""
        if isinstance(data, Dataset):
            return data.recoded(self.domain)
        return Dataset.from_table(data, domain=self.domain, missing="keep", absent="missing")

    def _dataset(self, data: Any, what: str | None = None) -> Dataset:
        """Codes in this model's coding, matched by names; without missing cells if ``what`` needs all."""
        if not isinstance(data, Dataset):
            return Dataset.from_table(data, domain=self.domain)
        if what is not None:
            check_complete(data.codes, what)
        return data.recoded(self.domain)

    def coded_rows(self, data: Any, what: str | None = None) -> UniqueRows:
        """Internal: the distinct rows of data, as `_dataset`."""
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
            raise InputError(f"A variable is asked for twice in {', '.join(map(repr, names))}; name each once.")
        return numbers

    def _scopes(self, targets: Iterable[Iterable[str]]) -> tuple[Scope, ...]:
        return tuple(self._numbers(names) for names in targets)

    def _others(self, evidence: Evidence) -> Scope:
        return tuple(i for i in range(len(self.domain)) if i not in evidence.known)


def _about(plan: Plan, exact: bool, remarks: tuple[str, ...], given: str) -> dict[str, Any]:
    return {"engine": plan.engine, "why": plan.why, "exact": exact, "remarks": remarks, "given": given}
