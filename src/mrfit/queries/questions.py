"""The questions one can ask a distribution with names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import log
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from mrfit.checking.budget import SECONDS
from mrfit.checking.check import Check
from mrfit.checking.checker import check_model
from mrfit.checking.goodness import Cells
from mrfit.data.coding import MAX_STATES, check_complete, has_all_cells
from mrfit.data.dataset import Dataset
from mrfit.data.unique_rows import UniqueRows
from mrfit.domain import Domain
from mrfit.errors import ImpossibleError, InputError, listed
from mrfit.factors import Factors, Scope
from mrfit.inference.best_state import best_state
from mrfit.inference.choice import EXACT, exactly_planned, planned
from mrfit.inference.components import part_with
from mrfit.inference.engine import AUTO, Engine, Posterior
from mrfit.inference.plan import Plan
from mrfit.inference.planned_tree import PlannedTree
from mrfit.inference.row_draws import draw_rows
from mrfit.queries.answer import BestState, Explanation, Influence, Joint, LogZ, Marginals, Sensitivity
from mrfit.queries.beside_rows import BesideRows
from mrfit.queries.evidence import Evidence, state_code
from mrfit.queries.missing import completed, distribution_of
from mrfit.workers import resolve_jobs

Floats = NDArray[np.float64]
Given = Mapping[str, Any] | None
Kept = TypeVar("Kept")

_MOST_CELLS = 2**32  # of rows that are drawn
_KEPT_PLANS = 64


class Questions:
    """What a model can be asked; each question takes what is ``given``, and an ``engine``.

    ``given`` is ``{"smoker": "yes"}``; a mapping of numbers instead of a state is soft evidence: how likely what was
    seen is in each state. ``engine`` is ``auto`` (exact where it fits, else an approximation that says so), the word of
    an engine, or an engine with settings of its own.
    """

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
    ) -> Plan:
        """What a question would take, before anything is done: engine, cells, bytes, seconds."""
        evidence = self._evidence(given)
        return self._planned(evidence, self._scopes(targets), engine, seed)[2]

    def log_z(self, *, given: Given = None, engine: str | Engine = AUTO, seed: int = 0) -> LogZ:
        """log Z over all joint states, or over those that agree with what is given."""
        evidence = self._evidence(given)
        posterior, about = self._asked(evidence, (), engine, seed)
        return LogZ(**about, log_z=posterior.log_z, error=posterior.error)

    def marginals(
        self, variables: Iterable[str] | None = None, *, given: Given = None, engine: str | Engine = AUTO, seed: int = 0
    ) -> Marginals:
        """The probability of every state of variables, by default all that are not given."""
        evidence = self._evidence(given)
        asked = self._numbers(variables) if variables is not None else self._others(evidence)
        self._check_asked(asked)
        posterior, about = self._asked(evidence, (), engine, seed, of=asked)
        tables = {self.domain.names[i]: self._named(i, _with_known(i, posterior, evidence, self.domain)) for i in asked}
        return Marginals(**about, log_z=posterior.log_z, error=posterior.error, marginals=tables)

    def conditional(self, variable: str, given: Given = None, **how: Any) -> dict[str, float]:
        """The probability of every state of one variable."""
        return self.marginals([variable], given=given, **how)[variable]

    def joint(
        self, variables: Sequence[str], *, given: Given = None, engine: str | Engine = AUTO, seed: int = 0
    ) -> Joint:
        """The probability of every joint state of some variables that are not given."""
        evidence, asked = self._evidence(given), self._numbers(variables)
        if known := [self.domain.names[i] for i in asked if i in evidence.known]:
            raise InputError(f"{known[0]!r} is given and asked for; leave it out of one of them.")
        posterior, about = self._asked(evidence, (asked,), engine, seed, of=asked)
        states = {self.domain.names[i]: self.domain[i].states for i in asked}
        table = posterior.marginal(asked).reshape([len(own) for own in states.values()])
        return Joint(**about, states=states, table=table)

    def entropy(
        self, variables: Sequence[str], *, given: Given = None, engine: str | Engine = AUTO, seed: int = 0
    ) -> float:
        """-sum of p log p over the joint states of some variables, in nats."""
        p = self.joint(variables, given=given, engine=engine, seed=seed).table
        return float(entr(p).sum())

    def mutual_information(
        self,
        one: Sequence[str],
        other: Sequence[str],
        *,
        given: Given = None,
        engine: str | Engine = AUTO,
        seed: int = 0,
    ) -> float:
        """How much knowing some variables tells of others, in nats: both entropies minus that of all together."""
        one, other = _listed(one), _listed(other)
        p = self.joint([*one, *other], given=given, engine=engine, seed=seed).table
        first, second = p.sum(axis=tuple(range(len(one), p.ndim))), p.sum(axis=tuple(range(len(one))))
        return max(0.0, float(entr(first).sum() + entr(second).sum() - entr(p).sum()))

    def map(self, *, given: Given = None, engine: str = AUTO, seed: int = 0) -> BestState:
        """A most probable joint state, given what is known.

        ``engine`` is ``tree``, ``toulbar2`` (an extra) or ``max-product``; ``auto`` takes the first of them that can.
        """
        evidence = self._evidence(given)
        factors, tree = self._planned_tree(evidence, seed=seed)
        try:
            best = best_state(factors, engine=engine, names=self.spoken_names, tree=tree)
        except ImpossibleError as error:
            raise self._impossible(evidence) from error
        full = [evidence.known.get(i, int(best.codes[i])) for i in range(len(self.domain))]
        states = {variable.name: variable.states[code] for variable, code in zip(self.domain, full, strict=True)}
        return BestState(
            engine=best.engine,
            why=best.why,
            exact=best.exact,
            remarks=best.remarks,
            given=evidence.in_words(self.domain),
            states=states,
            log_potential=best.log_potential,
        )

    def sample(
        self, n_rows: int, *, given: Given = None, engine: str = AUTO, seed: int = 0, jobs: int | None = None
    ) -> Dataset:
        """Rows from the distribution, given what is known.

        They are independent and exact where a junction tree fits (``tree``), else from Gibbs chains (``gibbs``): the
        ``notes`` of the rows then say so.
        """
        _check_number_of_rows(n_rows, self.domain)
        evidence = self._evidence(given)
        factors, tree = self._planned_tree(evidence, seed=seed, merge=False)
        try:
            codes, notes = draw_rows(
                factors, n_rows, len(self.domain), engine=engine, seed=seed, jobs=resolve_jobs(jobs),
                names=self.spoken_names, tree=tree,
            )  # fmt: skip
        except ImpossibleError as error:
            raise self._impossible(evidence) from error
        for i, state in evidence.known.items():
            codes[:, i] = state
        return Dataset(self.domain, codes, notes=notes)

    def impute(
        self,
        data: Any,
        *,
        how: str = "map",
        seed: int | tuple[int, ...] = 0,
        jobs: int | None = None,
        callback: Callable[[int], None] | None = None,
    ) -> Dataset:
        """Rows with their missing cells filled in: the most probable states together (``map``), or drawn (``draw``).

        ``callback`` is told how many more rows are done.
        """
        if how not in ("map", "draw"):
            raise InputError(f"There is no way to impute {how!r}; choose 'map' or 'draw'.")
        rows = self._incomplete(data)
        self._check_covariates_known(rows.codes)
        codes = completed(
            self.factors,
            rows.codes,
            how=how,
            rng=np.random.default_rng(seed),
            jobs=resolve_jobs(jobs),
            callback=callback,
        )
        return Dataset(self.domain, codes, rows.sample_weight)

    def predict_proba(self, variable: str, data: Any, *, jobs: int | None = None) -> Floats:
        """p(variable | what else a row holds) for every row, shape (rows, states).

        Cells of the variable itself are not looked at; other columns may be missing in some rows, or altogether.
        """
        rows, i = self._incomplete(data), self.domain.index(variable)
        self._check_asked((i,))
        self._check_covariates_known(rows.codes)
        return distribution_of(self.factors, i, rows.codes, jobs=resolve_jobs(jobs))

    def explain(
        self, variable: str, given: Mapping[str, Any], *, state: Any = None, engine: str | Engine = AUTO, seed: int = 0
    ) -> Explanation:
        """Which pieces of what is given moved the probability of a state most: by default the most probable one.

        Each piece is left out in turn, the others kept.
        """
        evidence, (i,) = self._evidence(given), self._numbers([variable])
        if i in evidence.variables:
            raise InputError(f"{variable!r} is given and asked for; leave it out of what is given.")
        posterior, about = self._asked(evidence, (), engine, seed)
        table = posterior.marginal((i,))
        code = int(table.argmax()) if state is None else state_code(self.domain[i], state)

        def p_given(others: Evidence) -> float:
            return float(self._asked(others, (), engine, seed)[0].marginal((i,))[code])

        p = float(table[code])
        influences = []
        covariates = Evidence({z: evidence.known[z] for z in self.covariates})
        for j in (j for j in evidence.variables if j not in self.covariates):
            piece, without = evidence.only(j).in_words(self.domain), p_given(evidence.without(j))
            influences.append(Influence(self.domain.names[j], piece, without, _log_odds(p) - _log_odds(without)))
        influences.sort(key=lambda influence: -abs(influence.log_odds))
        return Explanation(
            **about,
            target=variable,
            state=self.domain[i].states[code],
            p=p,
            p_before=p_given(covariates),
            influences=tuple(influences),
        )

    def sensitivity(
        self,
        variable: str,
        state: Any,
        *,
        given: Given = None,
        top: int = 10,
        engine: str | Engine = AUTO,
        seed: int = 0,
    ) -> Sensitivity:
        """The cells of the model's log-tables on which the probability of a state depends most.

        The derivative in a cell is p(state | given) times (p(cell | state, given) - p(cell | given)).
        """
        evidence, (i,) = self._evidence(given), self._numbers([variable])
        code = state_code(self.domain[i], state)
        if i in evidence.known:
            raise InputError(f"{variable!r} is given and asked for; leave it out of what is given.")
        posterior, about = self._asked(evidence, (), engine, seed)
        p = float(posterior.marginal((i,))[code])
        fixed = self._asked(Evidence({**evidence.known, i: code}, evidence.likelihoods), (), engine, seed)[0]
        cells = []
        for scope in self.factors.scopes:
            live = tuple(j for j in scope if j not in evidence.known)
            if not live or max(live) >= len(self.domain):
                continue
            shape = [self.domain.shape[j] for j in live]
            now, then = posterior.marginal(live).reshape(shape), np.zeros(shape)
            at = tuple(code if j == i else slice(None) for j in live)
            then[at] = fixed.marginal(tuple(j for j in live if j != i)).reshape(then[at].shape)
            for place, slope in np.ndenumerate(p * (then - now)):
                states = zip(live, place, strict=True)
                cells.append(({self.domain.names[j]: self.domain[j].states[k] for j, k in states}, float(slope)))
        cells.sort(key=lambda cell: -abs(cell[1]))
        return Sensitivity(**about, target=variable, state=self.domain[i].states[code], p=p, cells=tuple(cells[:top]))

    def check(
        self, data: Any, *, engine: str = AUTO, seconds: float = SECONDS, seed: int = 0, jobs: int | None = None
    ) -> Check:
        """Whether the model's own rows look like the data: one- and two-way frequencies, and where its mass is.

        Exact where a junction tree takes no longer than about ``seconds``, else by chains annealed from anywhere and
        from the data, as many steps as about that time allows; nothing is measured, so the same arguments give the
        same numbers. ``engine`` is ``auto``, ``enumeration``, ``tree`` or ``ais``. Covariates are distributed as in the
        data.
        """
        rows = self.coded_rows(data, "a check")
        factors, log_potential = self.factors, None
        if self.covariates:
            beside = BesideRows.of(factors, self.covariates, rows)
            factors, log_potential = beside.joint, beside.log_p
        elif factors.n_variables > len(self.domain):
            log_potential = self.log_potential
        try:
            return check_model(
                factors,
                rows,
                engine=engine,
                seconds=seconds,
                seed=seed,
                jobs=resolve_jobs(jobs),
                order=self.stored_order,
                names=self.spoken_names,
                log_potential=log_potential,
                objective=self.fitted_by,
                fitted=self.fitted_cells(rows),
            )
        except ImpossibleError as error:
            raise self._impossible(Evidence()) from error

    @property
    def fitted_by(self) -> str | None:
        """Internal: the objective by which the model was fitted; None where that is not known."""
        return None

    def fitted_cells(self, rows: UniqueRows) -> Callable[[], Cells] | None:
        """Internal: all joint states, if the model was fitted to these rows and has few; None otherwise."""
        return None

    def log_potential(self, codes: NDArray[Any]) -> Floats:
        """The sum of all tables at rows of codes: log p plus log Z."""
        return self.factors.log_potential(codes)

    # -- what they share -----------------------------------------------------------------------------------------------

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
        engine: str | Engine,
        seed: int,
        *,
        of: Scope | None = None,
    ) -> tuple[Posterior, dict[str, Any]]:
        """Run the engine on what is left when the evidence is known; and how that came about.

        Where the whole is too large to be exact, it may be enough to take what the variables ``of`` interest depend on.
        """
        factors, chosen, plan = self._planned(evidence, targets, engine, seed)
        remarks: tuple[str, ...] = ()
        if engine == AUTO and of and chosen.word not in EXACT:
            part = part_with(factors, [i for i in of if i not in evidence.known])
            exact, smaller = exactly_planned(part.factors, targets, seed=seed)
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

    def _planned(
        self, evidence: Evidence, targets: tuple[Scope, ...], engine: str | Engine, seed: int
    ) -> tuple[Factors, Engine, Plan]:
        """What is left when the evidence is known, and the engine and its plan for that."""
        factors = evidence.applied_to(self.factors)

        def plan() -> tuple[Engine, Plan]:
            if engine == AUTO and factors.n_variables > len(self.domain):  # chains cannot move what others decide
                return exactly_planned(factors, targets, seed=seed, order=self.stored_order)
            return planned(factors, targets, engine=engine, seed=seed, names=self.spoken_names, order=self.stored_order)

        return factors, *self._kept(evidence, (targets, engine, seed), plan)

    def _planned_tree(self, evidence: Evidence, **settings: Any) -> tuple[Factors, PlannedTree]:
        """The same for questions that a tree answers if any does."""
        factors = evidence.applied_to(self.factors)
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
        names = [names] if isinstance(names, str) else list(names)
        numbers = tuple(self.domain.index(str(name)) for name in names)
        if len(set(numbers)) != len(numbers):
            raise InputError(f"A variable is asked for twice in {', '.join(map(repr, names))}; name each once.")
        return numbers

    def _scopes(self, targets: Iterable[Iterable[str]]) -> tuple[Scope, ...]:
        return tuple(self._numbers(names) for names in targets)

    def _others(self, evidence: Evidence) -> Scope:
        return tuple(i for i in range(len(self.domain)) if i not in evidence.known)

    def _named(self, i: int, table: Floats) -> dict[str, float]:
        return dict(zip(self.domain[i].states, table.tolist(), strict=True))


def _listed(names: Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _with_known(i: int, posterior: Posterior, evidence: Evidence, domain: Domain) -> Floats:
    """The marginal of a variable; of a known one, one."""
    if i not in evidence.known:
        return posterior.marginal((i,))
    table = np.zeros(domain.shape[i])
    table[evidence.known[i]] = 1.0
    return table


def _about(plan: Plan, exact: bool, remarks: tuple[str, ...], given: str) -> dict[str, Any]:
    return {"engine": plan.engine, "why": plan.why, "exact": exact, "remarks": remarks, "given": given}


def _log_odds(p: float) -> float:
    if p in (0.0, 1.0):
        return -np.inf if p == 0.0 else np.inf
    return log(p) - log(1.0 - p)


def _check_number_of_rows(n_rows: int, domain: Domain) -> None:
    if n_rows < 1:
        raise InputError(f"The number of rows to draw must be at least 1; got {n_rows}.")
    if n_rows * len(domain) > _MOST_CELLS:
        raise InputError(
            f"{n_rows:,} rows of {len(domain):,} variables take {n_rows * len(domain):.2g} bytes; the limit is "
            f"{_MOST_CELLS:.2g}. Draw fewer at a time, with another seed for each."
        )
    if max(domain.shape) > MAX_STATES:
        name = domain.names[int(np.argmax(domain.shape))]
        raise InputError(f"Variable {name!r} has {max(domain.shape):,} states; rows hold at most {MAX_STATES}.")
