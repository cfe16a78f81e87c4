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
        """log Z over all joint states, or over those that agree with the evidence."""
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
        """The probability of every state of variables, by default all without evidence."""
        observed = self._evidence(evidence)
        asked = self._numbers(variables) if variables is not None else self._others(observed)
        self._check_asked(asked)
        posterior, about = self._asked(observed, (), How(engine, seed, samples, precision), of=asked)
        found = {self.domain.names[i]: self._distribution(i, posterior, observed, about) for i in asked}
        return Marginals(**about, log_z=posterior.log_z, error=posterior.error, marginals=found)

    @takes_evidence
    def conditional(self, variable: str, evidence: States = None, **how: Any) -> Distribution:
        """Return the probability of every state of one variable: a dict that has their standard ``error``."""
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
        """The probability of every joint state of some variables without evidence."""
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
        """Return -sum of p log p over the joint states of variables, in nats: a float with a standard ``error``."""
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

        It is a float with a standard ``error``.
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
