"""What there is to say about a model beside data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit.checking.margin import Margin
from mrfit.checking.moments import Moments
from mrfit.checking.phantom_mode import PhantomMode
from mrfit.checking.portrait import Portrait
from mrfit.checking.typical import Typical
from mrfit.domain import Domain
from mrfit.html_table import html_table

Floats = NDArray[np.float64]

ALIKE = 0.05  # the error of a marginal up to which rows look like the data
_WORST = 10  # variables and pairs to list
_CHANCE = 2.0  # standard errors that are taken off a difference before it counts


@dataclass(frozen=True)
class Difference(Margin):
    """The margin of one or two variables.

    ``error`` is the standard error of what is said of the model, 0 where that is exact.
    """

    error: float

    @property
    def size(self) -> float:
        return abs(self.model - self.data)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            **super().to_dict(),
            "difference": self.model - self.data,
            "standard_error": self.error,
        }


@dataclass(frozen=True)
class Check:
    """Whether the rows of a model look like the data.

    Parameters
    ----------
    engine, why, exact
        What computed the model's side; where it is exact, pairs that share no scope have an error still.
    n_rows
        The weight of the data.
    variables, pairs
        The states, and pairs of states other than first ones, that differ most, worst first; none where chains do not
        mix. Pairs are so many that chance would choose: they stand in the order of their difference less two standard
        errors.
    surely
        By how much the state that differs most does so beyond two standard errors.
    phantom_mode
        A mode of the model where the data are not; None where none was found.
    ll, ll_error
        Mean log-likelihood of the data a row, with its standard error; None where it is not known.
    remarks
        How far to trust all this.
    model, data
        All one- and two-way frequencies, for pictures.
    """

    engine: str
    why: str
    exact: bool
    n_rows: float
    n_variables: int
    variables: tuple[Difference, ...]
    pairs: tuple[Difference, ...]
    surely: float
    phantom_mode: PhantomMode | None
    ll: float | None
    ll_error: float | None
    remarks: tuple[str, ...]
    is_known: bool
    model: Moments = field(repr=False, compare=False)
    data: Moments = field(repr=False, compare=False)

    @classmethod
    def of(
        cls, portrait: Portrait, data: Moments, typical: Typical, domain: Domain, *, n_rows: float, potential: float
    ) -> Check:
        """``potential`` is the mean sum of the model's tables over the rows of the data."""
        ll = potential - portrait.log_z
        phantom = PhantomMode.of(
            portrait.moments,
            typical,
            n_model_rows=portrait.n_rows,
            n_data_rows=n_rows,
            log_likelihood=_ll_in_words(ll, portrait),
        )
        known = portrait.is_known
        return cls(
            engine=portrait.engine,
            why=portrait.why,
            exact=portrait.exact,
            n_rows=n_rows,
            n_variables=len(domain),
            variables=_worst_states(portrait.moments, data, domain) if known else (),
            pairs=_worst_pairs(portrait.moments, data, domain) if known else (),
            surely=float(_beyond(portrait.moments, data).max(initial=0.0)),
            phantom_mode=phantom,
            ll=ll if known else None,
            ll_error=portrait.error if known else None,
            remarks=portrait.remarks,
            is_known=known,
            model=portrait.moments,
            data=data,
        )

    @property
    def max_marginal_error(self) -> float | None:
        """Largest difference between the probability of a state and how often the data have it; None if unknown."""
        return self.variables[0].size if self.variables else None

    @property
    def max_pair_error(self) -> float | None:
        """The same for two states together, neither of them the first of its variable; None if unknown."""
        return self.pairs[0].size if self.pairs else None

    @property
    def is_alike(self) -> bool:
        """No phantom mode, and no marginal off by more than 0.05 for sure."""
        return self.is_known and self.phantom_mode is None and self.surely <= ALIKE

    def in_words(self) -> str:
        """The verdict in one sentence, or a few."""
        if self.phantom_mode is not None:
            return self.phantom_mode.text
        if not self.is_known:
            return "Whether the model's own rows look like the data is not known: chains do not mix."
        if not self.variables:
            return "the model's own rows look like the data: no variable has a second state"
        worst = self.variables[0]
        error = f" +- {worst.error:.2g}" if worst.error else ""
        if self.is_alike:
            return f"the model's own rows look like the data: largest error of a marginal {worst.size:.2g}{error}"
        return (
            f"The model's own rows do not look like the data: {worst.in_words()} has probability {worst.model:.2f}"
            f"{error} under the model and {worst.data:.2f} in the data."
        )

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        known = self.is_known
        return {
            "engine": self.engine,
            "why": self.why,
            "exact": self.exact,
            "rows": self.n_rows,
            "is_alike": self.is_alike if known or self.phantom_mode else None,
            "max_marginal_error": self.max_marginal_error,
            "max_marginal_standard_error": self.variables[0].error if self.variables else None,
            "max_pair_error": self.max_pair_error,
            "max_pair_standard_error": self.pairs[0].error if self.pairs else None,
            "phantom_mode": None if self.phantom_mode is None else self.phantom_mode.to_dict(),
            "ll": self.ll,
            "ll_standard_error": self.ll_error,
            "variables": [each.to_dict() for each in self.variables],
            "pairs": [each.to_dict() for each in self.pairs],
            "sums": {
                "model_mean": self.model.mean_sum if known else None,
                "data_mean": self.data.mean_sum,
                "model": self.model.sums.tolist() if known else None,
                "data": self.data.sums.tolist(),
            },
            "remarks": list(self.remarks),
        }

    def __repr__(self) -> str:
        found = "unknown" if self.max_marginal_error is None else f"{self.max_marginal_error:.2g}"
        phantom = "" if self.phantom_mode is None else f"; phantom mode of mass {self.phantom_mode.mass:.2g}"
        return f"<Check: largest error of a marginal {found}{phantom}; by {self.engine}>"

    def _repr_html_(self) -> str:
        facts = {"verdict": self.in_words(), "engine": f"{self.engine}{', exact' if self.exact else ''}"}
        if self.ll is not None:
            facts["log-likelihood"] = f"{self.ll:.4f}" + (f" +- {self.ll_error:.2g}" if self.ll_error else "")
        facts |= {f"remark {number}": text for number, text in enumerate(self.remarks, 1)}
        worst = [(each.in_words(), f"model {each.model:.4f}, data {each.data:.4f}") for each in self.variables]
        return html_table("Check", facts, worst)


def _ll_in_words(ll: float, portrait: Portrait) -> str:
    much = "is" if portrait.exact else "is about" if portrait.is_known else "is at most about"
    return f"Its log-likelihood {much} {ll:.1f}" if ll > -100 else f"Its log-likelihood {much} {ll:.0f}"


def _beyond(model: Moments, data: Moments) -> Floats:
    return abs(model.single - data.single) - _CHANCE * model.single_error


def _worst_states(model: Moments, data: Moments, domain: Domain) -> tuple[Difference, ...]:
    """Of two states the second says it all."""
    beyond = abs(model.single - data.single)
    beyond[model.states.first_state[:-1][np.array(domain.shape) <= 2]] = -np.inf
    return tuple(
        _difference([k], model.single[k], data.single[k], model.single_error[k], model, domain)
        for k in _first_largest(beyond, _WORST)
    )


def _worst_pairs(model: Moments, data: Moments, domain: Domain) -> tuple[Difference, ...]:
    """Each pair of indicators of different variables once."""
    variable, state = model.states.variable_of_indicators, model.states.of_indicators
    beyond = abs(model.pair - data.pair) - _CHANCE * model.pair_error
    beyond[variable[:, None] >= variable[None, :]] = -np.inf
    errors = np.broadcast_to(model.pair_error, beyond.shape)
    return tuple(
        _difference([int(state[a]), int(state[b])], model.pair[a, b], data.pair[a, b], errors[a, b], model, domain)
        for k in _first_largest(beyond.ravel(), _WORST)
        for a, b in [divmod(k, len(beyond))]
    )


def _first_largest(values: Floats, n: int) -> list[int]:
    """Places of the largest that are not minus infinity, largest first; of equal ones the first."""
    if not len(values):
        return []
    least = np.partition(values, max(len(values) - n, 0))[max(len(values) - n, 0)]
    some = np.flatnonzero((values >= least) & (values > -np.inf))
    return [int(k) for k in some[np.argsort(-values[some], kind="stable")][:n]]


def _difference(
    states: list[int], model: float, data: float, error: float, moments: Moments, domain: Domain
) -> Difference:
    places = [moments.states.named(state) for state in states]
    return Difference(
        variables=tuple(domain.names[i] for i, _ in places),
        states=tuple(domain[i].states[code] for i, code in places),
        model=float(model),
        data=float(data),
        error=float(error),
    )
