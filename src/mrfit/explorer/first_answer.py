"""What the page shows before anything is known, so that its first picture waits for nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit.inference.choice import EXACT, planned
from mrfit.inference.gibbs import Gibbs, GibbsPosterior
from mrfit.model import MarkovNetwork

_LONGEST = 1.0  # seconds that an exact engine may forecast
_SWEEPS, _ANNEALING = 100, 50  # of chains otherwise: about a second for 1,000 variables
_TWICE = 2.0  # standard errors that are told


@dataclass(frozen=True)
class FirstAnswer:
    """The probability of every state of every variable; ``error`` is twice the largest standard error, 0 if exact."""

    marginals: tuple[tuple[float, ...], ...]
    error: float
    remarks: tuple[str, ...]

    @classmethod
    def of(cls, model: MarkovNetwork, *, codes: NDArray[Any] | None = None, seed: int = 0) -> FirstAnswer:
        """Exact where that takes a moment, else by chains of which half begin in ``codes``, rows of data."""
        factors, variables = model.factors, range(len(model.domain))
        engine, plan = planned(factors, seed=seed, order=model.stored_order)
        if engine.word in EXACT and plan.forecast <= _LONGEST:
            posterior = engine.run(plan, factors)
            return cls(tuple(tuple(posterior.marginal((i,)).tolist()) for i in variables), 0.0, ())
        chains = Gibbs(sweeps=_SWEEPS, max_sweeps=_SWEEPS, annealing=_ANNEALING, data=codes, seed=seed)
        drawn = chains.run(chains.plan(factors), factors)
        assert isinstance(drawn, GibbsPosterior)
        error = max(float(np.max(drawn.marginal_error((i,)))) for i in variables)
        marginals = tuple(tuple(drawn.marginal((i,)).tolist()) for i in variables)
        apart = drawn.draws.disagreement()
        return cls(marginals, _TWICE * error, () if apart is None else (apart,))
