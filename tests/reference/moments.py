"""Contribution of a chain to the mean of a feature, from log p of all joint states."""

from __future__ import annotations

import numpy as np

from mrfit.parameterizations.canonical import Canonical
from reference.features import feature_matrix, joint_states
from reference.network import assignments


def joint_probabilities(parameters: Canonical, w: np.ndarray) -> np.ndarray:
    """Joint probabilities with one axis for each variable."""
    log_p = feature_matrix(parameters) @ w
    p = np.exp(log_p - log_p.max())
    return (p / p.sum()).reshape(parameters.domain.shape)


def given_others(p: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """p of the states of some variables, given those of all others."""
    return p / p.sum(axis=axes, keepdims=True)


def one_after_the_other(parameters: Canonical, w: np.ndarray) -> np.ndarray:
    """(joint states, features): each feature averaged over one of its variables given all others, and over these."""
    p, x = joint_probabilities(parameters, w), joint_states(parameters.domain.shape)
    out = np.zeros((len(x), parameters.n_parameters))
    for f, states in enumerate(assignments(parameters)):
        for i, s in states:
            moved = x.copy()
            moved[:, i] = s
            others = np.all([x[:, j] == t for j, t in states if j != i], axis=0)
            out[:, f] += given_others(p, (i,))[tuple(moved.T)] * others / len(states)
    return out


def all_at_once(parameters: Canonical, w: np.ndarray) -> np.ndarray:
    """(joint states, features): each feature averaged over all of its variables together, given all others."""
    p, x = joint_probabilities(parameters, w), joint_states(parameters.domain.shape)
    out = np.zeros((len(x), parameters.n_parameters))
    for f, states in enumerate(assignments(parameters)):
        moved = x.copy()
        for i, s in states:
            moved[:, i] = s
        out[:, f] = given_others(p, tuple(i for i, _ in states))[tuple(moved.T)]
    return out
