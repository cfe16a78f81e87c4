"""Answers of Gibbs chains; if chains stay in different modes, those of chains that began near the data."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats, Scope
from mrfit.inference.sampling.draws import standard_error
from mrfit.inference.sampling.gibbs import GibbsPosterior

_TWICE = 2.0  # standard errors in the reported error
_WORTH_TELLING = 0.1  # a difference between chains that anyone would notice


def rounded_error(error: float) -> float:
    """Round a standard error to three significant digits."""
    return float(f"{error:.3g}")


class ChainAnswer:
    """Draws as the page shows them: of all chains, or of those near the data if others stay elsewhere.

    A mixture of both would not be an answer, because the weight of each mode is unknown.
    """

    def __init__(self, posterior: GibbsPosterior) -> None:
        self._posterior, self._draws = posterior, posterior.draws

    @cached_property
    def _singles(self) -> list[Floats]:
        """The frequency of each state of every variable in each chain: a list of (states, chains)."""
        return [self._draws.chain_marginals((v,)) for v in range(self._draws.factors.n_variables)]

    @cached_property
    def _worst(self) -> tuple[float, int, int]:
        """The largest distance of a chain from those near the data, with its variable and state; 0 if none is far."""
        return self._draws.farthest(_WORTH_TELLING) or (0.0, 0, 0)

    @property
    def gap(self) -> float:
        return self._worst[0]

    @property
    def _shown(self) -> NDArray[np.intp]:
        """The numbers of the chains that are shown."""
        n_chains = self._draws.states.shape[2]
        return np.arange(n_chains - self._draws.n_from_data if self.gap else 0, n_chains)

    @property
    def _elsewhere(self) -> NDArray[np.intp]:
        """The numbers of the chains that are nearer to the other mode."""
        gap, v, s = self._worst
        own = self._singles[v][s]
        return np.flatnonzero(abs(own - own[self._shown].mean()) > gap / 2)

    def marginals(self) -> list[Floats]:
        return [rows[:, self._shown].mean(axis=1) for rows in self._singles]

    @cached_property
    def errors(self) -> list[Floats]:
        """Standard errors of `marginals`."""
        return [self.marginal_error((v,)) for v in range(len(self._singles))]

    def marginals_elsewhere(self) -> list[Floats]:
        return [rows[:, self._elsewhere].mean(axis=1) for rows in self._singles]

    def marginal(self, scope: Scope) -> Floats:
        return np.asarray(self._draws.chain_marginals(scope)[:, self._shown].mean(axis=1))

    def marginal_error(self, scope: Scope) -> Floats:
        """Return standard errors of `marginal`."""
        if self.gap:
            return standard_error(self._draws.chain_marginals(scope)[:, self._shown])
        return self._posterior.marginal_error(scope)

    @property
    def error(self) -> float:
        """Twice the largest standard error of a probability."""
        return _TWICE * max(float(error.max()) for error in self.errors)

    def second_mode(self, names: list[tuple[str, tuple[str, ...]]]) -> str:
        """Describe the mode that is not shown, in a sentence; ``names`` are those of variables and their states."""
        _, v, s = self._worst
        name, states = names[v]
        near, far = (float(found[v][s]) for found in (self.marginals(), self.marginals_elsewhere()))
        return (
            f"The model has a second mode: {name} = {states[s]} has probability {near:.2f} near the data, which is "
            f"shown, and {far:.2f} where chains stay that began far from them. The weight of each mode is unknown."
        )
