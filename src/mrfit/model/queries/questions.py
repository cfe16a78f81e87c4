"""All queries to a distribution with names."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from mrfit._typing import Floats
from mrfit.core.errors import ImpossibleError
from mrfit.core.threads import resolve_jobs
from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.engine import AUTO
from mrfit.model.queries.covariate_joint import BesideRows
from mrfit.model.queries.evidence import Evidence
from mrfit.model.queries.explanations import Explanations
from mrfit.model.queries.probabilities import Probabilities
from mrfit.model.queries.row_questions import RowQuestions

if TYPE_CHECKING:
    from mrfit.analysis.goodness.check import Check
    from mrfit.analysis.goodness.goodness import ModelCells


class Queryable(Probabilities, Explanations, RowQuestions):
    """Queries of a model; each takes ``evidence`` (also under its alias ``given``) and an ``engine``.

    ``evidence`` is ``{"smoker": "yes"}``; a mapping of numbers instead of a state is soft evidence: how likely what was
    seen is in each state. ``engine`` is ``auto`` (exact where it fits, else a marked approximation), the word of
    an engine, or an engine with settings of its own.

    An approximate answer has standard errors. Two settings make them smaller: ``samples``, the number of chains, and
    ``precision``, the largest acceptable standard error of the probability of a state. Exact answers ignore them.
    """

    def check(
        self, data: Any, *, engine: str = AUTO, seconds: float = 10.0, seed: int = 0, jobs: int | None = None
    ) -> Check:
        """Check the fit: compare one-, two- and three-way frequencies, and the location of the mass, of model and data.

        Parameters
        ----------
        data : table
            Complete rows to compare with: training rows to find misfit, held-out rows to find over-fitting too.
            Covariates are distributed as in these rows.
        engine : {"auto", "enumeration", "tree", "ais"}, default "auto"
            How to compute the frequencies of the model. ``auto`` is exact where a junction tree takes no longer than
            about ``seconds``. Otherwise it uses chains, annealed from anywhere and from the data.
        seconds : float, default 10.0
            About how long the check may take. Times are forecast and not measured, so that the same arguments give the
            same numbers.
        seed : int, default 0
            Random seed of the chains.
        jobs : int, default None
            Number of threads for the chains; None uses all processors.

        Returns
        -------
        Check
            Record with ``verdict`` (one line), ``is_alike``, ``max_marginal_error``, ``max_pair_error``,
            ``phantom_mode`` (a spurious mode, or None), ``ll`` and ``remarks``.

        Raises
        ------
        MrfitError
            If rows have missing values, or if the exact engine that you name does not fit.

        See Also
        --------
        MarkovNetwork.goodness : Test all joint states at once.

        Examples
        --------
        >>> import mrfit
        >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
        >>> model = mrfit.learn(table).model
        >>> found = model.check(table)
        >>> found.is_alike, round(found.max_marginal_error, 3)
        (True, 0.028)
        """
        from mrfit.analysis.goodness.checker import check_model

        rows = self.coded_rows(data, "a check")
        factors, log_potential = self.factors, None
        if self.covariate_indices:
            beside = BesideRows.of(factors, self.covariate_indices, rows)
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
                names=self.display_names,
                log_potential=log_potential,
                objective=self.fitted_by,
                fitted=self.fitted_cells(rows),
            )
        except ImpossibleError as error:
            raise self._impossible(Evidence()) from error

    @property
    def fitted_by(self) -> str | None:
        """Internal: the objective that the model was fitted to; None if it is unknown."""
        return None

    def fitted_cells(self, rows: UniqueRows) -> Callable[[], ModelCells] | None:
        """Internal: return a function that lists all joint states, or None for many states or other rows."""
        return None

    def log_potential(self, codes: NDArray[Any]) -> Floats:
        """Return the sum of all tables at rows of codes: log p plus log Z, in nats.

        Parameters
        ----------
        codes : int array of shape (n_rows, n_variables)
            States as positions in the domain, without missing values.

        Returns
        -------
        array of shape (n_rows,)
        """
        return self.factors.log_potential(codes)
