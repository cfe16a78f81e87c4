"""Marginals without evidence, so that the page shows its first picture at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from mrfit.explorer.chain_answer import ChainAnswer, rounded_error
from mrfit.inference.exact.junction_tree import JunctionTree
from mrfit.inference.exact.tree_plan import TreePlan
from mrfit.inference.sampling.gibbs import Gibbs, GibbsPosterior
from mrfit.model.markov_network import MarkovNetwork

_SWEEPS, _ANNEALING = 100, 50  # of chains: about a second for 1,000 variables


@dataclass(frozen=True)
class FirstAnswer:
    """The probability of every state of every variable; ``error`` is twice the largest standard error, 0 if exact.

    If the model has a second mode, the answer is that of the mode near the data, and a remark warns.
    """

    marginals: tuple[tuple[float, ...], ...]
    error: float
    errors: tuple[tuple[float, ...], ...] | None
    remarks: tuple[str, ...]

    @classmethod
    def of(
        cls, model: MarkovNetwork, plan: TreePlan | None, *, codes: NDArray[Any] | None = None, seed: int = 0
    ) -> FirstAnswer:
        """Return the exact answer if there is a plan, else that of chains, half of which begin in rows ``codes``."""
        factors, variables = model.factors, range(len(model.domain))
        if plan is not None:
            posterior = JunctionTree().run(plan, factors)
            return cls(tuple(tuple(posterior.marginal((i,)).tolist()) for i in variables), 0.0, None, ())
        chains = Gibbs(sweeps=_SWEEPS, max_sweeps=_SWEEPS, annealing=_ANNEALING, data=codes, seed=seed)
        drawn = chains.run(chains.plan(factors), factors)
        assert isinstance(drawn, GibbsPosterior)
        answer = ChainAnswer(drawn)
        names = [(variable.name, variable.states) for variable in model.domain]
        marginals = tuple(tuple(p.tolist()) for p in answer.marginals())
        errors = tuple(tuple(map(rounded_error, error)) for error in answer.errors)
        return cls(marginals, answer.error, errors, (answer.second_mode(names),) if answer.gap else ())
