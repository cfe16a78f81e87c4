"""The cost of a computation, known before anything is allocated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mrfit.core.errors import InputError
from mrfit.core.rounding import format_count, format_size

_LARGEST = 10**300  # near the largest float, and beyond any machine


@dataclass(frozen=True)
class Plan:
    """Forecast of the work of an engine on factors of a shape, independent of the values in their tables.

    A plan is a value: it serves every run on factors with the same scopes. An engine with further settings, such as an
    order of elimination, extends this class.

    Parameters
    ----------
    engine : str
        Word of the engine.
    shape : tuple of int
        Number of states of each variable.
    task : str
        The computation, as the subject of a sentence.
    n_cells : int
        Number of cells that a run visits, exact however large.
    max_cells : int
        Limit of the engine.
    n_bytes : int
        Memory of a run, in bytes.
    forecast : float
        Time of a run, in seconds.
    why : str
        Reason for this engine.
    suggestion : str
        Advice if the plan is refused.

    See Also
    --------
    Engine : Makes and runs plans.
    mrfit.MarkovNetwork.plan : The plan of a query.

    Examples
    --------
    >>> import mrfit
    >>> factors = mrfit.Factors.from_tables((2, 3), [((0, 1), [0.0, 1.0, 2.0, 0.0, 0.0, 0.0])])
    >>> plan = mrfit.Enumeration(max_cells=4).plan(factors)
    >>> plan.n_cells, plan.fits
    (6, False)
    """

    engine: str
    shape: tuple[int, ...]
    task: str  # the computation, as the subject of a sentence
    n_cells: int  # exact, however large
    max_cells: int
    n_bytes: int
    forecast: float  # seconds
    why: str  # the reason for this engine
    suggestion: str  # the advice if the plan is refused

    @property
    def fits(self) -> bool:
        """Whether the plan is within the limit of its engine."""
        return self.n_cells <= self.max_cells

    @property
    def size(self) -> str:
        """Memory of a run, with a unit."""
        return format_size(as_float(self.n_bytes))

    def check(self, names: Sequence[str] | None = None) -> None:
        """Refuse a plan beyond the limit, with the figures and what to do.

        Parameters
        ----------
        names : sequence of str, default None
            Names of the variables, for the message.

        Raises
        ------
        MrfitError
            If the plan does not fit.
        """
        if not self.fits:
            raise InputError(f"{self.figures(names)} {self.suggestion}")

    def figures(self, names: Sequence[str] | None = None) -> str:
        """Return the cost of the plan in a sentence.

        Parameters
        ----------
        names : sequence of str, default None
            Names of the variables that the sentence may mention.

        Returns
        -------
        str
        """
        return (
            f"{self.task} goes over all {format_count(as_float(self.n_cells))} joint states of {len(self.shape)} "
            f"variables, about {self.size}; the limit is {format_count(as_float(self.max_cells))}."
        )


def as_float(count: int) -> float:
    """Return a count as a float for forecasts and messages; counts beyond 1e300 are cut there."""
    return float(min(count, _LARGEST))
