"""Queries on what a probability depends on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mrfit._typing import Floats, Scope
from mrfit.core.errors import InputError
from mrfit.inference.engine import AUTO, Engine, Posterior
from mrfit.model.queries.answer import Error, Explanation, Influence, Sensitivity, joint_error
from mrfit.model.queries.evidence import Evidence, States, state_code, takes_evidence
from mrfit.model.queries.information import log_odds
from mrfit.model.queries.queryable import Asked, How


class Explanations(Asked):
    """Queries on the evidence and the parameters that a probability depends on."""

    @takes_evidence
    def explain(
        self,
        variable: str,
        evidence: Mapping[str, Any],
        *,
        state: Any = None,
        engine: str | Engine = AUTO,
        seed: int = 0,
        samples: int | None = None,
        precision: float | None = None,
    ) -> Explanation:
        """Rank the pieces of evidence by how much each moves the probability of a state.

        Each piece is removed in turn, and the others stay.

        Parameters
        ----------
        variable : str
            Target variable, without evidence.
        evidence : mapping
            Observed states or soft evidence to rank. Covariates must be in it; they stay and are not ranked.
        state : str, default None
            State of the target to explain; None takes the most probable one given all evidence.
        engine : str or Engine, default "auto"
            Engine for the probabilities with and without each piece, as in `marginals`.
        seed : int, default 0
            Random seed of every one of these runs, if they are approximate.
        samples : int, default None
            Number of chains in each run.
        precision : float, default None
            Largest acceptable standard error of a probability in each run; that of log-odds is larger.

        Returns
        -------
        Explanation
            Record with ``target``, ``state``, ``p`` (given all evidence), ``p_before`` (given none) and ``influences``:
            for each piece its ``variable``, ``p_without`` it, and its effect on the ``log_odds``, the largest effect
            first.

        Examples
        --------
        >>> import mrfit
        >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
        >>> why = mrfit.learn(table).model.explain("wet", {"rain": "yes"})
        >>> why.state, round(why.p_before, 3), round(why.p, 3)
        ('yes', 0.528, 0.585)
        >>> why.influences[0].variable, round(why.influences[0].log_odds, 3)
        ('rain', 0.233)
        """
        observed, (i,) = self._evidence(evidence), self._numbers([variable])
        if i in observed.variables:
            raise InputError(f"{variable!r} is both asked for and evidence; leave it out of the evidence.")
        how, found = How(engine, seed, samples, precision), list[dict[str, Any]]()

        def asked(known: Evidence) -> Posterior:
            posterior, about = self._asked(known, (), how)
            found.append(about)
            return posterior

        posterior = asked(observed)
        code = int(posterior.marginal((i,)).argmax()) if state is None else state_code(self.domain[i], state)
        p, error = _probability(posterior, i, code)
        odds, odds_error = log_odds(p, error)
        before, before_error = _probability(
            asked(Evidence({z: observed.known[z] for z in self.covariate_indices})), i, code
        )
        influences = []
        for j in (j for j in observed.variables if j not in self.covariate_indices):
            without, without_error = _probability(asked(observed.without(j)), i, code)
            others, others_error = log_odds(without, without_error)
            influences.append(
                Influence(
                    self.domain.names[j],
                    observed.only(j).describe(self.domain),
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

    @takes_evidence
    def sensitivity(
        self,
        variable: str,
        state: Any,
        *,
        evidence: States = None,
        top: int = 10,
        engine: str | Engine = AUTO,
        seed: int = 0,
        samples: int | None = None,
        precision: float | None = None,
    ) -> Sensitivity:
        """Return the cells of the model's log-tables on which the probability of a state depends most.

        Parameters
        ----------
        variable : str
            Target variable, without an observed state.
        state : str
            State of the target whose probability is differentiated.
        evidence : mapping, default None
            States of other variables that the probability is conditional on.
        top : int, default 10
            Number of cells to return.
        engine : str or Engine, default "auto"
            Engine of two runs, with and without the target in its state, as in `marginals`.
        seed : int, default 0
            Random seed of both runs, if they are approximate.
        samples : int, default None
            Number of chains in both runs.
        precision : float, default None
            Largest acceptable standard error of a probability in both runs.

        Returns
        -------
        Sensitivity
            Record with ``p`` and ``cells``: pairs of the states of a cell and the derivative of ``p`` in its
            log-potential, the largest first.

        Notes
        -----
        The derivative in a cell is p(state | evidence) times (p(cell | state, evidence) - p(cell | evidence)).

        Examples
        --------
        >>> import mrfit
        >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
        >>> found = mrfit.learn(table).model.sensitivity("wet", "yes", top=3)
        >>> [(cell, round(slope, 3)) for cell, slope in found.cells][2]
        ({'rain': 'yes', 'wet': 'yes'}, 0.146)
        """
        observed, (i,) = self._evidence(evidence), self._numbers([variable])
        code, how = state_code(self.domain[i], state), How(engine, seed, samples, precision)
        if i in observed.known:
            raise InputError(f"{variable!r} is both asked for and evidence; leave it out of the evidence.")
        posterior, about = self._asked(observed, (), how)
        p, error = _probability(posterior, i, code)
        fixed, about_fixed = self._asked(Evidence({**observed.known, i: code}, observed.likelihoods), (), how)
        cells = list[tuple[dict[str, str], float, Error]]()
        for scope in self.factors.scopes:
            live = tuple(j for j in scope if j not in observed.known)
            if not live or max(live) >= len(self.domain):
                continue
            shape = [self.domain.shape[j] for j in live]
            now, then = posterior.marginal(live).reshape(shape), np.zeros(shape)
            at = tuple(code if j == i else slice(None) for j in live)
            others = tuple(j for j in live if j != i)
            then[at] = fixed.marginal(others).reshape(then[at].shape)
            slope = p * (then - now)
            errors = _errors_of_slopes(posterior, fixed, live, others, at, (p, error), then - now)
            for position, value in np.ndenumerate(slope):
                names = {self.domain.names[j]: self.domain[j].states[k] for j, k in zip(live, position, strict=True)}
                cells.append((names, float(value), None if errors is None else float(errors[position])))
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


def _about_all(found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Combine the origins of partial answers: the first engine, exact if all are, with the remarks of all."""
    remarks = dict.fromkeys(remark for about in found for remark in about["remarks"])
    return {**found[0], "exact": all(about["exact"] for about in found), "remarks": tuple(remarks)}


def _probability(posterior: Posterior, i: int, code: int) -> tuple[float, Error]:
    """Return the probability of a state of a variable, and its standard error."""
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
    """Return standard errors of p times a difference of marginals from two runs; see `sensitivity`.

    ``p`` and the subtracted marginal are from one run, so their errors add up; the other run is independent.
    """
    value, error = p
    of_now, of_then = posterior.marginal_error(live), fixed.marginal_error(others)
    if error is None or of_now is None or of_then is None:
        return None
    then = np.zeros(difference.shape)
    then[at] = of_then.reshape(then[at].shape)
    return np.asarray(np.hypot(value * then, abs(difference) * error + value * of_now.reshape(difference.shape)))
