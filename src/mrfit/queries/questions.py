"""The questions one can ask a distribution with names."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mrfit.checking.budget import SECONDS
from mrfit.checking.check import Check
from mrfit.checking.checker import check_model
from mrfit.data.coding import MAX_STATES, check_complete, has_all_cells
from mrfit.data.dataset import Dataset
from mrfit.data.unique_rows import UniqueRows
from mrfit.domain import Domain
from mrfit.errors import ApproximationWarning, ImpossibleError, InputError, listed
from mrfit.factors import Factors, Scope
from mrfit.inference.best_state import Best, best_state
from mrfit.inference.choice import EXACT, exactly_planned, planned
from mrfit.inference.components import part_with
from mrfit.inference.engine import AUTO, Engine, Posterior
from mrfit.inference.plan import Plan
from mrfit.inference.planned_tree import PlannedTree
from mrfit.inference.row_draws import draw_rows
from mrfit.queries.answer import (
    BestState,
    Distribution,
    Error,
    Explanation,
    FloatWithError,
    Influence,
    Joint,
    LogZ,
    Marginals,
    Sensitivity,
    joint_error,
)
from mrfit.queries.beside_rows import BesideRows
from mrfit.queries.evidence import Evidence, state_code
from mrfit.queries.information import information, log_odds
from mrfit.queries.missing import Completed, completed, predicted
from mrfit.workers import resolve_jobs

Floats = NDArray[np.float64]
Given = Mapping[str, Any] | None
Kept = TypeVar("Kept")

_MOST_CELLS = 2**32  # of rows that are drawn
_KEPT_PLANS = 64
_MOST_REMARKS = 2  # on rows that are filled in approximately


@dataclass(frozen=True)
class How:
    """How to answer: the settings that all questions share."""

    engine: str | Engine = AUTO
    seed: int = 0
    samples: int | None = None
    precision: float | None = None


class Questions:
    """What a model can be asked; each question takes what is ``given``, and an ``engine``.

    ``given`` is ``{"smoker": "yes"}``; a mapping of numbers instead of a state is soft evidence: how likely what was
    seen is in each state. ``engine`` is ``auto`` (exact where it fits, else an approximation that says so), the word of
    an engine, or an engine with settings of its own.

    An approximate answer has standard errors. Two settings make them smaller: ``samples``, the number of chains, and
    ``precision``, the largest standard error of the probability of a state that is good enough. Exact answers ignore
    them.
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
        samples: int | None = None,
        precision: float | None = None,
    ) -> Plan:
        """What a question would take, before anything is done: engine, cells, bytes, seconds."""
        evidence = self._evidence(given)
        return self._planned(evidence, self._scopes(targets), How(engine, seed, samples, precision))[2]

    def log_z(
        self,
        *,
        given: Given = None,
        engine: str | Engine = AUTO,
        seed: int = 0,
        samples: int | None = None,
        precision: float | None = None,
    ) -> LogZ:
        """log Z over all joint states, or over those that agree with what is given."""
        evidence = self._evidence(given)
        posterior, about = self._asked(evidence, (), How(engine, seed, samples, precision))
        return LogZ(**about, log_z=posterior.log_z, error=posterior.error)

    def marginals(
        self,
        variables: Iterable[str] | None = None,
        *,
        given: Given = None,
        engine: str | Engine = AUTO,
        seed: int = 0,
        samples: int | None = None,
        precision: float | None = None,
    ) -> Marginals:
        """The probability of every state of variables, by default all that are not given."""
        evidence = self._evidence(given)
        asked = self._numbers(variables) if variables is not None else self._others(evidence)
        self._check_asked(asked)
        posterior, about = self._asked(evidence, (), How(engine, seed, samples, precision), of=asked)
        found = {self.domain.names[i]: self._distribution(i, posterior, evidence, about) for i in asked}
        return Marginals(**about, log_z=posterior.log_z, error=posterior.error, marginals=found)

    def conditional(self, variable: str, given: Given = None, **how: Any) -> Distribution:
        """The probability of every state of one variable: a dict that has their standard ``error``."""
        return self.marginals([variable], given=given, **how)[variable]

    def joint(
        self,
        variables: Sequence[str],
        *,
        given: Given = None,
        engine: str | Engine = AUTO,
        seed: int = 0,
        samples: int | None = None,
        precision: float | None = None,
    ) -> Joint:
        """The probability of every joint state of some variables that are not given."""
        asked = self._numbers(variables)
        posterior, about = self._asked_together(asked, given, How(engine, seed, samples, precision))
        states = {self.domain.names[i]: self.domain[i].states for i in asked}
        shape, error = [len(own) for own in states.values()], posterior.marginal_error(asked)
        table = posterior.marginal(asked).reshape(shape)
        return Joint(**about, states=states, table=table, error=None if error is None else error.reshape(shape))

    def entropy(
        self,
        variables: Sequence[str],
        *,
        given: Given = None,
        engine: str | Engine = AUTO,
        seed: int = 0,
        samples: int | None = None,
        precision: float | None = None,
    ) -> FloatWithError:
        """-sum of p log p over the joint states of some variables, in nats: a float that has a standard ``error``."""
        asked = self._numbers(variables)
        how = How(engine, seed, samples, precision)
        return self._information(asked, [(1.0, range(len(asked)))], given, how)

    def mutual_information(
        self,
        one: Sequence[str],
        other: Sequence[str],
        *,
        given: Given = None,
        engine: str | Engine = AUTO,
        seed: int = 0,
        samples: int | None = None,
        precision: float | None = None,
    ) -> FloatWithError:
        """How much knowing some variables tells of others, in nats: both entropies minus that of all together.

        A float that has a standard ``error``.
        """
        one, other = _listed(one), _listed(other)
        asked, first = self._numbers([*one, *other]), len(one)
        terms = [(1.0, range(first)), (1.0, range(first, len(asked))), (-1.0, range(len(asked)))]
        found = self._information(asked, terms, given, How(engine, seed, samples, precision))
        return FloatWithError(max(0.0, found), found.error, found.exact, found.remarks)

    def _information(
        self, asked: Scope, terms: Sequence[tuple[float, Sequence[int]]], given: Given, how: How
    ) -> FloatWithError:
        posterior, about = self._asked_together(asked, given, how)
        table = posterior.marginal(asked).reshape([self.domain.shape[i] for i in asked])
        value, error = information(table, posterior.deviations(asked), terms)
        return FloatWithError(value, error, about["exact"], about["remarks"])

    def _asked_together(self, asked: Scope, given: Given, how: How) -> tuple[Posterior, dict[str, Any]]:
        """An answer that knows the joint states of variables."""
        evidence = self._evidence(given)
        if known := [self.domain.names[i] for i in asked if i in evidence.known]:
            raise InputError(f"{known[0]!r} is given and asked for; leave it out of one of them.")
        return self._asked(evidence, (asked,), how, of=asked)

    def map(self, *, given: Given = None, engine: str = AUTO, seed: int = 0) -> BestState:
        """A most probable joint state, given what is known.

        ``engine`` is ``tree``, ``toulbar2`` (an extra) or ``max-product``; ``auto`` takes the first of them that can.
        """
        evidence = self._evidence(given)
        best, full = self._best(evidence, engine, seed)
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

    def _best(self, evidence: Evidence, engine: str, seed: int) -> tuple[Best, list[int]]:
        """A most probable joint state, and its codes of the variables of the domain, what is known among them."""
        factors, tree = self._planned_tree(evidence, seed=seed)
        try:
            best = best_state(factors, engine=engine, names=self.spoken_names, tree=tree)
        except ImpossibleError as error:
            raise self._impossible(evidence) from error
        return best, [evidence.known.get(i, int(best.codes[i])) for i in range(len(self.domain))]

    def sample(
        self, n_rows: int, *, given: Given = None, engine: str = AUTO, seed: int = 0, jobs: int | None = None
    ) -> Dataset:
        """Rows from the distribution, given what is known.

        They are independent and exact where a junction tree fits (``tree``), else from Gibbs chains (``gibbs``): the
        ``notes`` of the rows then say so.
        """
        _check_number_of_rows(n_rows, self.domain)
        codes, notes = self._drawn(self._evidence(given), n_rows, engine, seed, resolve_jobs(jobs))
        return Dataset(self.domain, codes, notes=notes)

    def _drawn(
        self, evidence: Evidence, n_rows: int, engine: str, seed: int, jobs: int
    ) -> tuple[NDArray[np.uint8], tuple[str, ...]]:
        """Rows of codes, what is known among them, and what is to be said where they are not exact."""
        factors, tree = self._planned_tree(evidence, seed=seed, merge=False)
        try:
            codes, notes = draw_rows(
                factors, n_rows, len(self.domain), engine=engine, seed=seed, jobs=jobs, names=self.spoken_names,
                tree=tree,
            )  # fmt: skip
        except ImpossibleError as error:
            raise self._impossible(evidence) from error
        for i, state in evidence.known.items():
            codes[:, i] = state
        return codes, notes

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
        rows, threads = self._incomplete(data), resolve_jobs(jobs)
        self._check_covariates_known(rows.codes)
        rng = np.random.default_rng(seed)
        fill_in = partial(self._best_rows if how == "map" else self._drawn_rows, rng=rng, jobs=threads)
        found = completed(
            self.factors,
            rows.codes,
            how=how,
            rng=rng,
            otherwise=None if self._has_hidden else fill_in,
            names=self.spoken_names,
            jobs=threads,
            callback=callback,
        )
        return Dataset(self.domain, found.codes, rows.sample_weight, notes=_notes_on_rows(found, len(rows.codes)))

    def _best_rows(
        self, known: Mapping[int, int], n_rows: int, *, rng: np.random.Generator, jobs: int
    ) -> tuple[NDArray[np.uint8], tuple[str, ...]]:
        best, codes = self._best(Evidence(known), AUTO, 0)
        about = (
            () if best.exact else (best.remarks or (f"They are by {best.engine}: there may be more probable ones.",))
        )
        return np.tile(np.array(codes, np.uint8), (n_rows, 1)), about

    def _drawn_rows(
        self, known: Mapping[int, int], n_rows: int, *, rng: np.random.Generator, jobs: int
    ) -> tuple[NDArray[np.uint8], tuple[str, ...]]:
        return self._drawn(Evidence(known), n_rows, AUTO, int(rng.integers(2**31)), jobs)

    def predict_proba(
        self,
        variable: str,
        data: Any,
        *,
        return_error: bool = False,
        seed: int = 0,
        samples: int | None = None,
        precision: float | None = None,
        jobs: int | None = None,
    ) -> Floats | tuple[Floats, Floats]:
        """p(variable | what else a row holds) for every row, shape (rows, states).

        Cells of the variable itself are not looked at; other columns may be missing in some rows, or altogether. Rows
        with too many missing cells for an exact answer are answered approximately, as by `marginals`. An
        `ApproximationWarning` then says how large their standard errors are; ``return_error`` returns these as a second
        array, with zeros where an answer is exact.
        """
        p, error = self.predicted(variable, data, How(AUTO, seed, samples, precision), jobs=jobs)
        if return_error:
            return p, error
        warn_of_errors(error)
        return p

    def predicted(self, variable: str, data: Any, how: How, *, jobs: int | None = None) -> tuple[Floats, Floats]:
        """Internal: p(variable | what else a row holds), and its standard errors."""
        rows, i = self._incomplete(data), self.domain.index(variable)
        self._check_asked((i,))
        self._check_covariates_known(rows.codes)

        def otherwise(known: Mapping[int, int]) -> tuple[Floats, Floats]:
            posterior, _ = self._asked(Evidence(known), (), how, of=(i,))
            error = posterior.marginal_error((i,))
            assert error is not None  # of what auto takes
            return posterior.marginal((i,)), error

        return predicted(
            self.factors,
            i,
            rows.codes,
            otherwise=None if self._has_hidden else otherwise,
            names=self.spoken_names,
            jobs=resolve_jobs(jobs),
        )

    def explain(
        self,
        variable: str,
        given: Mapping[str, Any],
        *,
        state: Any = None,
        engine: str | Engine = AUTO,
        seed: int = 0,
        samples: int | None = None,
        precision: float | None = None,
    ) -> Explanation:
        """Which pieces of what is given moved the probability of a state most: by default the most probable one.

        Each piece is left out in turn, the others kept.
        """
        evidence, (i,) = self._evidence(given), self._numbers([variable])
        if i in evidence.variables:
            raise InputError(f"{variable!r} is given and asked for; leave it out of what is given.")
        how, found = How(engine, seed, samples, precision), list[dict[str, Any]]()

        def asked(evidence: Evidence) -> Posterior:
            posterior, about = self._asked(evidence, (), how)
            found.append(about)
            return posterior

        posterior = asked(evidence)
        code = int(posterior.marginal((i,)).argmax()) if state is None else state_code(self.domain[i], state)
        p, error = _probability(posterior, i, code)
        odds, odds_error = log_odds(p, error)
        before, before_error = _probability(asked(Evidence({z: evidence.known[z] for z in self.covariates})), i, code)
        influences = []
        for j in (j for j in evidence.variables if j not in self.covariates):
            without, without_error = _probability(asked(evidence.without(j)), i, code)
            others, others_error = log_odds(without, without_error)
            influences.append(
                Influence(
                    self.domain.names[j],
                    evidence.only(j).in_words(self.domain),
                    without,
                    odds - others,
                    without_error,
                    joint_error(odds_error, others_error),
                )
            )
        influences.sort(key=lambda influence: -abs(influence.log_odds))
        return Explanation(
            **_about_all(found),
            target=variable,
            state=self.domain[i].states[code],
            p=p,
            p_before=before,
            influences=tuple(influences),
            p_error=error,
            p_before_error=before_error,
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
        samples: int | None = None,
        precision: float | None = None,
    ) -> Sensitivity:
        """The cells of the model's log-tables on which the probability of a state depends most.

        The derivative in a cell is p(state | given) times (p(cell | state, given) - p(cell | given)).
        """
        evidence, (i,) = self._evidence(given), self._numbers([variable])
        code, how = state_code(self.domain[i], state), How(engine, seed, samples, precision)
        if i in evidence.known:
            raise InputError(f"{variable!r} is given and asked for; leave it out of what is given.")
        posterior, about = self._asked(evidence, (), how)
        p, error = _probability(posterior, i, code)
        fixed, about_fixed = self._asked(Evidence({**evidence.known, i: code}, evidence.likelihoods), (), how)
        cells = list[tuple[dict[str, str], float, Error]]()
        for scope in self.factors.scopes:
            live = tuple(j for j in scope if j not in evidence.known)
            if not live or max(live) >= len(self.domain):
                continue
            shape = [self.domain.shape[j] for j in live]
            now, then = posterior.marginal(live).reshape(shape), np.zeros(shape)
            at = tuple(code if j == i else slice(None) for j in live)
            others = tuple(j for j in live if j != i)
            then[at] = fixed.marginal(others).reshape(then[at].shape)
            slope = p * (then - now)
            errors = _errors_of_slopes(posterior, fixed, live, others, at, (p, error), then - now)
            for place, value in np.ndenumerate(slope):
                names = {self.domain.names[j]: self.domain[j].states[k] for j, k in zip(live, place, strict=True)}
                cells.append((names, float(value), None if errors is None else float(errors[place])))
        cells.sort(key=lambda cell: -abs(cell[1]))
        return Sensitivity(
            **_about_all([about, about_fixed]),
            target=variable,
            state=self.domain[i].states[code],
            p=p,
            cells=tuple((names, slope) for names, slope, _ in cells[:top]),
            p_error=error,
            cell_errors=tuple(own for _, _, own in cells[:top]),
        )

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
            )
        except ImpossibleError as error:
            raise self._impossible(Evidence()) from error

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
        how: How,
        *,
        of: Scope | None = None,
    ) -> tuple[Posterior, dict[str, Any]]:
        """Run the engine on what is left when the evidence is known; and how that came about.

        Where the whole is too large to be exact, it may be enough to take what the variables ``of`` interest depend on.
        """
        factors, chosen, plan = self._planned(evidence, targets, how)
        remarks: tuple[str, ...] = ()
        if how.engine == AUTO and of and chosen.word not in EXACT:
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

    def _distribution(self, i: int, posterior: Posterior, evidence: Evidence, about: Mapping[str, Any]) -> Distribution:
        """The probabilities of the states of a variable; of a known one, one."""
        states, error = self.domain[i].states, None
        if i in evidence.known:
            p = np.eye(len(states))[evidence.known[i]]
            error = np.zeros(len(states))
        else:
            p, error = posterior.marginal((i,)), posterior.marginal_error((i,))
        errors = [None] * len(states) if error is None else error.tolist()
        return Distribution(
            zip(states, p.tolist(), strict=True),
            dict(zip(states, errors, strict=True)),
            exact=about["exact"],
            remarks=about["remarks"],
        )


def _listed(names: Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _about(plan: Plan, exact: bool, remarks: tuple[str, ...], given: str) -> dict[str, Any]:
    return {"engine": plan.engine, "why": plan.why, "exact": exact, "remarks": remarks, "given": given}


def _about_all(found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """How answers came about that make up one: the first, exact if all are, with the remarks on any."""
    remarks = dict.fromkeys(remark for about in found for remark in about["remarks"])
    return {**found[0], "exact": all(about["exact"] for about in found), "remarks": tuple(remarks)}


def _probability(posterior: Posterior, i: int, code: int) -> tuple[float, Error]:
    """The probability of a state of a variable, and its standard error."""
    error = posterior.marginal_error((i,))
    return float(posterior.marginal((i,))[code]), None if error is None else float(error[code])


def _errors_of_slopes(
    posterior: Posterior,
    fixed: Posterior,
    live: Scope,
    others: Scope,
    at: tuple[int | slice, ...],
    p: tuple[float, Error],
    difference: Floats,
) -> Floats | None:
    """Standard errors of p times a difference of marginals, of which the first is from another run; see `sensitivity`.

    ``p`` and what is subtracted are from one run, so their parts add up.
    """
    value, error = p
    of_now, of_then = posterior.marginal_error(live), fixed.marginal_error(others)
    if error is None or of_now is None or of_then is None:
        return None
    then = np.zeros(difference.shape)
    then[at] = of_then.reshape(then[at].shape)
    return np.asarray(np.hypot(value * then, abs(difference) * error + value * of_now.reshape(difference.shape)))


def _notes_on_rows(found: Completed, n_rows: int) -> tuple[str, ...]:
    if not found.n_approximate:
        return ()
    some, more = found.remarks[:_MOST_REMARKS], len(found.remarks) - _MOST_REMARKS
    return (
        f"{found.n_approximate:,} of {n_rows:,} rows have too many missing values for an exact answer, so theirs are "
        "filled in approximately.",
        *some,
        *((f"Another {more:,} remarks are like these.",) if more > 0 else ()),
    )


def warn_of_errors(error: Floats) -> None:
    """Warn of approximate predictions, to the caller of a public method that calls this."""
    rows = np.flatnonzero(error.any(axis=1))
    if len(rows):
        warnings.warn(
            f"{len(rows):,} of {len(error):,} rows have too many missing values for an exact answer: their "
            f"probabilities have standard errors of up to {error.max():.1g}. return_error=True returns these.",
            ApproximationWarning,
            stacklevel=3,
        )


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
