"""How to learn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np

from mrfit.errors import InputError, listed
from mrfit.learning.closed_forms import CLOSED_FORMS
from mrfit.learning.grids import TIED_GRIDS
from mrfit.parameterizations.kinds import KINDS
from mrfit.penalties.strength import checked_strength
from mrfit.penalties.tied import Tied
from mrfit.presets import PRESETS
from mrfit.solvers.method import Method
from mrfit.solvers.newton import TruncatedNewton
from mrfit.solvers.suitability import check_suitable
from mrfit.structure.structure import Structure
from mrfit.tying.settings import STRENGTHS, TyingSettings

PENALTIES = (*PRESETS, *CLOSED_FORMS, *TIED_GRIDS)
OBJECTIVES = ("pseudo-likelihood", "likelihood")
# What a converged fit is, by the search that led to it.
SEARCHES = {
    "exact": "an optimum over all scopes of the structure",
    "hierarchical": "an optimum over the scopes that entered the search, not over all",
}


@dataclass(frozen=True)
class Settings:
    """How to learn; what to learn from is given apart.

    Parameters
    ----------
    strengths
        Strengths of the penalty to fit, each warm-started from the next; by default 1, for tied parameters the paper's
        grid.
    penalty
        ``none``, ``l2``, ``l1``, ``group``, ``hierarchical``, ``flat-l1`` or ``flat-l2`` (see `mrfit.presets`);
        ``tied`` softly to learned values; ``hard``: the groups of soft tying relearned as equal; ``ltr``: learned with
        L2, tied by clustering, relearned as equal; ``pseudo-counts``: ``strength`` rows more of every joint state.
    parameterization, reference
        The coordinates: ``canonical``, ``spectral``, ``full``, ``ising`` or ``generalized-ising``; and the silent
        states of canonical ones, see `mrfit.parameterizations.reference`.
    search
        ``exact``: one optimum over all scopes of the structure. ``hierarchical``: a scope of three or more variables
        enters only when all its subsets are in (Schmidt and Murphy 2010); not an optimum over all of them.
    tying
        What is tied, for the tied ones.
    objective
        ``pseudo-likelihood``, or the exact ``likelihood`` for few variables.
    free_orders
        Scope sizes the penalty leaves alone; by default none, for l1 single variables.
    method
        The solver; by default the one that suits the penalty.
    tolerance, max_iterations
        When it stops: at a violation (largest subgradient entry of the mean objective) of ``tolerance``.
    folds, seed
        Cross-validation where there are no validation rows: parts to cut the rows into, and how to deal them.
    jobs
        Threads.
    path, patience
        Whether, without ``strengths``, to walk from the critical strength down until held-out rows are predicted no
        better ``patience`` times in a row; for penalties that make zeros, and for flat-l2 and pseudo-counts from a
        strength that leaves little else.
    """

    strengths: Sequence[float] | None = None
    penalty: str = "l2"
    tying: TyingSettings = field(default_factory=TyingSettings)
    objective: str = "pseudo-likelihood"
    parameterization: str = "canonical"
    reference: str = "first"
    search: str = "exact"
    free_orders: Sequence[int] | None = None
    method: Method[Any] | None = None
    tolerance: float = 1e-6
    max_iterations: int = 1000
    folds: int = 0
    seed: int = 0
    jobs: int = 1
    path: bool = False
    patience: int = 3

    def __post_init__(self) -> None:
        choices: dict[str, Iterable[str]] = {
            "penalty": PENALTIES, "objective": OBJECTIVES, "parameterization": KINDS, "search": SEARCHES
        }  # fmt: skip
        for name, words in choices.items():
            if (value := getattr(self, name)) not in words:
                raise InputError(f"There is no {name} {value!r}; choose one of {listed(words, limit=20)}.")
        # Plain numbers, whatever came in: they go into the model file.
        if self.strengths is not None:
            object.__setattr__(self, "strengths", tuple(_plain(strength) for strength in self.strengths))
        if not self.chosen_strengths:
            raise InputError("At least one strength is needed.")
        if self.free_orders is not None:
            object.__setattr__(self, "free_orders", tuple(int(order) for order in self.free_orders))
        if self.penalty not in CLOSED_FORMS:
            check_suitable(type(self.chosen_method), Tied if self.is_tied else PRESETS[self.penalty].penalty)
        self._check_combination()
        if not 0 < self.tolerance < np.inf:
            raise InputError(f"The tolerance must be positive and finite; got {self.tolerance:g}.")
        if self.max_iterations < 0:
            raise InputError(f"The limit of iterations must not be negative; got {self.max_iterations}.")
        if self.folds < 0 or self.folds == 1:
            raise InputError(f"Cross-validation needs at least 2 folds, or 0 for none; got {self.folds}.")

    def _check_combination(self) -> None:
        if self.penalty in CLOSED_FORMS and not self.is_exact:
            raise InputError(f"The penalty {self.penalty!r} smooths all joint states; it needs the exact likelihood.")
        if self.penalty in CLOSED_FORMS and self.parameterization not in ("canonical", "spectral"):
            raise InputError(
                f"The penalty {self.penalty!r} needs complete and minimal coordinates, canonical or spectral; got "
                f"{self.parameterization!r}."
            )
        if self.search == "hierarchical" and not (self.penalty in PRESETS and PRESETS[self.penalty].is_sparse):
            sparse = [name for name, preset in PRESETS.items() if preset.is_sparse]
            raise InputError(
                f"A hierarchical search needs a penalty that makes zeros; got {self.penalty!r}. Use one of "
                f"{listed(sparse)}."
            )
        if self.penalty == "none" and self.strengths is not None:
            raise InputError("Without a penalty there is no strength; leave one of them out.")
        if self.reference != "first" and self.parameterization != "canonical":
            raise InputError(
                f"Reference states belong to canonical coordinates; got {self.parameterization!r}. Leave the reference "
                "out, or choose canonical."
            )

    @property
    def is_exact(self) -> bool:
        return self.objective == "likelihood"

    @property
    def is_tied(self) -> bool:
        return self.penalty in TIED_GRIDS

    @property
    def walks_path(self) -> bool:
        """Whether strengths may be found by walking down from the critical one."""
        sparse = self.penalty in PRESETS and PRESETS[self.penalty].is_sparse
        return self.path and self.strengths is None and (sparse or self.penalty in ("flat-l2", *CLOSED_FORMS))

    @property
    def chosen_strengths(self) -> Sequence[float]:
        if self.penalty == "none":
            return (0.0,)
        if self.strengths is not None:
            return self.strengths
        return STRENGTHS if self.is_tied else (1.0,)

    @property
    def chosen_method(self) -> Method[Any]:
        if self.method is not None:
            return self.method
        if self.penalty not in PRESETS:
            return TruncatedNewton()
        preset = PRESETS[self.penalty]
        return preset.exact_method() if self.is_exact else preset.method()

    def chosen_free_orders(self, structure: Structure) -> tuple[int, ...]:
        """The user's, which must be there, or those of the penalty's own that are."""
        if self.free_orders is None:
            own = PRESETS[self.penalty].free_orders if self.penalty in PRESETS else ()
            return (
                tuple(structure.blocks) if own is None else tuple(order for order in own if order in structure.blocks)
            )
        absent = sorted(set(self.free_orders) - set(structure.blocks))
        if absent:
            orders = list(structure.blocks)
            raise InputError(f"Order {absent[0]} cannot be left free: the structure has orders {orders}.")
        return tuple(self.free_orders)


def _plain(strength: Any) -> float:
    if not isinstance(strength, Real):
        raise InputError(f"A strength must be a number; got {strength!r}.")
    return checked_strength(float(strength))
