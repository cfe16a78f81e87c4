"""The whole way from a model and rows to a check."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from numpy.typing import NDArray

from mrfit._typing import Floats
from mrfit.analysis.goodness.budget import SECONDS, Budget
from mrfit.analysis.goodness.check import Check
from mrfit.analysis.goodness.exact_moments import by_enumeration, by_tree
from mrfit.analysis.goodness.goodness import ModelCells
from mrfit.analysis.goodness.moment_estimates import Portrait
from mrfit.analysis.goodness.row_moments import Moments, States, mean_log_potential
from mrfit.analysis.goodness.sampled_moments import by_chains
from mrfit.analysis.goodness.typical_counts import Typical
from mrfit.core.errors import InputError, listed
from mrfit.core.factors import Factors
from mrfit.core.seeds import check_seed
from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.engine import AUTO
from mrfit.inference.exact.enumeration import Enumeration
from mrfit.inference.exact.junction_tree import JunctionTree
from mrfit.inference.sampling.annealed import Annealed

ENGINES = (AUTO, Enumeration.word, JunctionTree.word, Annealed.word)
_FEW_STATES = 2**16  # joint states: their table says everything, and is small


def check_model(
    factors: Factors,
    rows: UniqueRows,
    *,
    engine: str = AUTO,
    seconds: float = SECONDS,
    seed: int = 0,
    jobs: int = 1,
    order: Sequence[int] | None = None,
    names: Sequence[str] | None = None,
    log_potential: Callable[[NDArray[Any]], Floats] | None = None,
    objective: str | None = None,
    fitted: Callable[[], ModelCells] | None = None,
) -> Check:
    """Compare a model with rows in its coding.

    ``factors`` may have hidden variables after those of the rows; then ``log_potential`` says what rows are worth.
    ``objective`` names what the model was fitted by, where that is known: advice depends on it.
    ``fitted`` gives the joint states of a model that has few and was fitted to these rows.
    """
    if engine not in ENGINES:
        raise InputError(f"There is no engine {engine!r} for checks; choose one of {listed(ENGINES)}.")
    check_seed(seed)
    states = States(rows.domain.shape)
    states.check_size()
    budget = Budget.of(seconds, factors)
    triples = budget.allows_triples(states, rows.n_distinct)
    data = Moments.of_rows(rows, triples=triples)
    typical = Typical.of(data.sums)
    portrait = _portrait(
        factors, rows, typical, budget, engine=engine, seed=seed, jobs=jobs, order=order, names=names, triples=triples
    )
    if log_potential is None:
        potential = mean_log_potential(factors, rows, data)
    else:
        potential = float(rows.sample_weight @ log_potential(rows.codes)) / rows.total_weight
    cells = None if fitted is None or not triples else fitted()
    return Check.of(portrait, data, typical, rows, potential=potential, objective=objective, fitted=cells)


def _portrait(
    factors: Factors,
    rows: UniqueRows,
    typical: Typical,
    budget: Budget,
    *,
    engine: str,
    seed: int,
    jobs: int,
    order: Sequence[int] | None,
    names: Sequence[str] | None,
    triples: bool,
) -> Portrait:
    """Return the model's moments by the engine asked for, else by an exact one within the budget, else by chains."""
    shape = rows.domain.shape
    is_small = prod(factors.shape) <= _FEW_STATES
    if engine == Enumeration.word or (engine == AUTO and is_small):
        plan = Enumeration().plan(factors)
        plan.check(names)
        return by_enumeration(plan, factors, shape, jobs=jobs, triples=triples)
    has_hidden = factors.n_variables > len(shape)  # chains cannot move what others decide
    if engine != Annealed.word:
        asked = engine == JunctionTree.word or has_hidden
        tree = JunctionTree(seed=seed) if asked else JunctionTree(seed=seed, max_cells=budget.max_cells, effort=0.1)
        found = tree.plan(factors, order=order)
        if asked:
            found.check(names)
        if found.fits:
            return by_tree(found, factors, shape, n_rows=budget.n_rows, seed=seed, jobs=jobs, triples=triples)
    if has_hidden:
        raise InputError("Chains cannot check a model with features of very many variables; use --engine tree.")
    return by_chains(
        factors,
        rows,
        typical,
        n_chains=budget.n_chains,
        max_temperatures=budget.max_temperatures,
        seed=seed,
        jobs=jobs,
        why="it was asked for" if engine == Annealed.word else "no exact engine is quick enough",
        triples=triples,
    )
