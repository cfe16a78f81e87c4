"""Queries for probabilities and information measures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from mrfit._typing import Scope
from mrfit.core.errors import InputError
from mrfit.inference.engine import AUTO, Engine, Posterior
from mrfit.model.queries.answer import Distribution, FloatWithError, JointProbabilities, LogZ, Marginals
from mrfit.model.queries.evidence import Evidence, States, takes_evidence
from mrfit.model.queries.information import information
from mrfit.model.queries.queryable import Asked, How


class Probabilities(Asked):
    """Queries for log Z, marginals, joint probabilities and entropies."""

    @takes_evidence
    def log_z(
        self,
        *,
        evidence: States = None,
        engine: str | Engine = AUTO,
        seed: int = 0,
        samples: int | None = None,
        precision: float | None = None,
    ) -> LogZ:
        """Return log Z, the logarithm of the partition function.

        With evidence, the sum goes over joint states that agree with it. The difference of two values, with and without
        evidence, is the log-probability of the evidence.

        Parameters
        ----------
        evidence : mapping, default None
            Observed states by variable, such as ``{"rain": "yes"}``. Give numbers by state for soft evidence.
        engine : str or Engine, default "auto"
            ``tree`` and ``enumeration`` are exact, ``ais`` and ``tempering`` have errors, ``mean-field`` and ``trw``
            give lower and upper bounds, ``bp`` an estimate. ``auto`` is exact where that fits, else ``ais``.
        seed : int, default 0
            Random seed of an approximation.
        samples : int, default None
            Number of chains of an approximation; None leaves it to the engine.
        precision : float, default None
            Largest acceptable standard error of the probability of a state, which determines how long chains run.

        Returns
        -------
        LogZ
            Record with ``log_z`` in nats, its standard ``error`` (0 if exact, None if unknown), ``engine`` and
            ``remarks``.

        Raises
        ------
        MrfitError
            If the evidence has probability zero, or the engine needs more memory than its limit.

        Examples
        --------
        >>> import mrfit
        >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
        >>> model = mrfit.learn(table).model
        >>> round(model.log_z().log_z, 3)
        1.373
        >>> log_p = model.log_z(evidence={"rain": "yes"}).log_z - model.log_z().log_z
        >>> round(log_p, 3)
        -0.639
        """
        how = How(engine, seed, samples, precision)
        posterior, about = self._asked(self._evidence(evidence), (), how)
        return LogZ(**about, log_z=posterior.log_z, error=posterior.error)

    @takes_evidence
    def marginals(
        self,
        variables: Iterable[str] | None = None,
        *,
        evidence: States = None,
        engine: str | Engine = AUTO,
        seed: int = 0,
        samples: int | None = None,
        precision: float | None = None,
    ) -> Marginals:
        """Return the probability of every state of variables, given the evidence.

        Parameters
        ----------
        variables : list of str, default None
            Variables to report; None reports all that have no observed state.
        evidence : mapping, default None
            What is known: ``{"smoker": "yes"}`` for an observed state, ``{"smoker": {"yes": 0.8, "no": 0.2}}`` for soft
            evidence, the likelihood of the observation in each state. Covariates must have a state.
        engine : str or Engine, default "auto"
            ``auto`` is exact where a junction tree or enumeration fits, else annealed importance sampling. Others:
            ``enumeration``, ``tree``, ``bp``, ``trw``, ``mean-field``, ``gibbs``, ``ais``, ``tempering``, or an
            `Engine`.
        seed : int, default 0
            Random seed; equal seeds give equal numbers, with any number of threads.
        samples : int, default None
            Number of chains of an approximate engine, 128 for ``ais``. Errors fall with its square root.
        precision : float, default None
            Largest acceptable standard error of the probability of any state, such as 0.005. Approximate engines run
            until they reach it, or add a remark. Exact ones ignore it.

        Returns
        -------
        Marginals
            Record of a dict of probabilities for each variable, in ``marginals`` or by ``answer[name]``, with standard
            errors in ``errors``, and ``log_z``. ``to_frame()`` gives a pandas frame.

        Raises
        ------
        MrfitError
            If a name or state does not exist, the evidence has probability zero, or the engine does not fit into its
            limit.

        See Also
        --------
        MarkovNetwork.conditional : The probabilities of one variable, as a dict.
        MarkovNetwork.joint : The probabilities of several variables together.
        plot_marginals : A picture of the answer.

        Examples
        --------
        >>> import mrfit
        >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
        >>> answer = mrfit.learn(table).model.marginals(evidence={"rain": "yes"})
        >>> round(answer["wet"]["yes"], 3), answer.exact
        (0.585, True)
        """
        observed = self._evidence(evidence)
        asked = self._numbers(variables) if variables is not None else self._others(observed)
        self._check_asked(asked)
        posterior, about = self._asked(observed, (), How(engine, seed, samples, precision), of=asked)
        found = {self.domain.names[i]: self._distribution(i, posterior, observed, about) for i in asked}
        return Marginals(**about, log_z=posterior.log_z, error=posterior.error, marginals=found)

    @takes_evidence
    def conditional(self, variable: str, evidence: States = None, **how: Any) -> Distribution:
        """Return the probability of every state of one variable, given the evidence.

        Parameters
        ----------
        variable : str
            Name of the variable. If it has an observed state, that state has probability 1.
        evidence : mapping, default None
            States of other variables, ``{"rain": "yes"}``, or numbers by state for soft evidence.
        **how : keywords
            ``engine``, ``seed``, ``samples`` and ``precision`` of `marginals`.

        Returns
        -------
        Distribution
            A dict from states to probabilities, with their standard errors in ``error``, and ``exact``.

        Examples
        --------
        >>> import mrfit
        >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
        >>> p = mrfit.learn(table).model.conditional("wet", {"rain": "yes"})
        >>> {state: round(value, 3) for state, value in p.items()}
        {'no': 0.415, 'yes': 0.585}
        """
        return self.marginals([variable], evidence=evidence, **how)[variable]

    @takes_evidence
    def joint(
        self,
        variables: Sequence[str],
        *,
        evidence: States = None,
        engine: str | Engine = AUTO,
        seed: int = 0,
        samples: int | None = None,
        precision: float | None = None,
    ) -> JointProbabilities:
        """Return the probability of every joint state of some variables, given the evidence.

        Parameters
        ----------
        variables : list of str
            Variables of the table, in its order, without observed states.
        evidence : mapping, default None
            States of other variables that the table is conditional on.
        engine : str or Engine, default "auto"
            As in `marginals`. ``bp`` and ``trw`` know the joint states of variables in a common scope only.
        seed : int, default 0
            Random seed for a table that is estimated.
        samples : int, default None
            Number of chains from which a table is estimated.
        precision : float, default None
            Largest acceptable standard error of the states of single variables; those of joint states may be larger.

        Returns
        -------
        JointProbabilities
            Record with ``states``, ``table`` (one axis for each variable), its standard ``error`` and ``rows()``.

        Raises
        ------
        MrfitError
            If a variable is both asked for and observed, or the table is too large for the engine.

        Examples
        --------
        >>> import mrfit
        >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
        >>> mrfit.learn(table).model.joint(["rain", "wet"]).table.round(3)
        array([[0.253, 0.219],
               [0.219, 0.309]])
        """
        asked = self._numbers(variables)
        posterior, about = self._asked_together(asked, evidence, How(engine, seed, samples, precision))
        states = {self.domain.names[i]: self.domain[i].states for i in asked}
        shape, error = [len(own) for own in states.values()], posterior.marginal_error(asked)
        table = posterior.marginal(asked).reshape(shape)
        return JointProbabilities(
            **about, states=states, table=table, error=None if error is None else error.reshape(shape)
        )

    @takes_evidence
    def entropy(
        self,
        variables: Sequence[str],
        *,
        evidence: States = None,
        engine: str | Engine = AUTO,
        seed: int = 0,
        samples: int | None = None,
        precision: float | None = None,
    ) -> FloatWithError:
        """Return the entropy of the joint states of variables, in nats.

        Parameters
        ----------
        variables : list of str
            Variables whose joint entropy to compute, without observed states.
        evidence : mapping, default None
            States that the entropy is conditional on: those of one case, not an average over cases.
        engine : str or Engine, default "auto"
            Engine that computes the table of joint states, as in `joint`.
        seed : int, default 0
            Random seed for probabilities that are estimated.
        samples : int, default None
            Number of chains from which probabilities are estimated.
        precision : float, default None
            Largest acceptable standard error of a state's probability; that of the entropy follows from it.

        Returns
        -------
        FloatWithError
            A float, 0 or larger, with a standard ``error`` by the delta method, and ``exact``.

        Examples
        --------
        >>> import mrfit
        >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
        >>> round(mrfit.learn(table).model.entropy(["wet"]), 3)
        0.692
        """
        asked = self._numbers(variables)
        how = How(engine, seed, samples, precision)
        return self._information(asked, [(1.0, range(len(asked)))], evidence, how)

    @takes_evidence
    def mutual_information(
        self,
        one: Sequence[str],
        other: Sequence[str],
        *,
        evidence: States = None,
        engine: str | Engine = AUTO,
        seed: int = 0,
        samples: int | None = None,
        precision: float | None = None,
    ) -> FloatWithError:
        """Return the mutual information of two sets of variables, in nats: both entropies minus the joint one.

        Parameters
        ----------
        one : str or list of str
            First set, or the name of one variable.
        other : str or list of str
            Second set; it shares no variable with the first.
        evidence : mapping, default None
            States that both sets are conditional on.
        engine : str or Engine, default "auto"
            Engine for the table of the joint states of both sets, as in `joint`.
        seed : int, default 0
            Random seed for a joint table that is estimated.
        samples : int, default None
            Number of chains for a joint table that is estimated.
        precision : float, default None
            Largest acceptable standard error of a state's probability in that table's margins.

        Returns
        -------
        FloatWithError
            A float, 0 or larger, with a standard ``error``; chance makes estimates of a true zero positive.

        Examples
        --------
        >>> import mrfit
        >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
        >>> round(mrfit.learn(table).model.mutual_information("rain", "wet"), 4)
        0.0074
        """
        one, other = _listed(one), _listed(other)
        asked, first = self._numbers([*one, *other]), len(one)
        terms = [(1.0, range(first)), (1.0, range(first, len(asked))), (-1.0, range(len(asked)))]
        found = self._information(asked, terms, evidence, How(engine, seed, samples, precision))
        return FloatWithError(max(0.0, found), found.error, found.exact, found.remarks)

    def _distribution(self, i: int, posterior: Posterior, evidence: Evidence, about: Mapping[str, Any]) -> Distribution:
        """Return the probabilities of a variable's states; an observed state has probability one."""
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

    def _information(
        self, asked: Scope, terms: Sequence[tuple[float, Sequence[int]]], evidence: States, how: How
    ) -> FloatWithError:
        posterior, about = self._asked_together(asked, evidence, how)
        table = posterior.marginal(asked).reshape([self.domain.shape[i] for i in asked])
        value, error = information(table, posterior.deviations(asked), terms)
        return FloatWithError(value, error, about["exact"], about["remarks"])

    def _asked_together(self, asked: Scope, states: States, how: How) -> tuple[Posterior, dict[str, Any]]:
        """Run a query for the joint states of variables."""
        evidence = self._evidence(states)
        if known := [self.domain.names[i] for i in asked if i in evidence.known]:
            raise InputError(f"{known[0]!r} is both asked for and evidence; leave it out of one of them.")
        return self._asked(evidence, (asked,), how, of=asked)


def _listed(names: Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)
