"""The prox of a sum of norms of overlapping groups from its definition, on whole vectors, one loop for each group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def penalty(v: np.ndarray, groups: Sequence[np.ndarray], limits: Sequence[float]) -> float:
    """``groups`` are the indices of their parameters."""
    return sum(limit * float(np.linalg.norm(v[group])) for group, limit in zip(groups, limits, strict=True))


def primal(v: np.ndarray, w: np.ndarray, groups: Sequence[np.ndarray], limits: Sequence[float]) -> float:
    return 0.5 * float((v - w) @ (v - w)) + penalty(v, groups, limits)


def prox_by_dual_gradients(
    w: np.ndarray, groups: Sequence[np.ndarray], limits: Sequence[float], *, n_steps: int = 20_000
) -> tuple[np.ndarray, float]:
    """The prox and its duality gap, by accelerated projected gradients on the dual, restarted where they turn."""
    step = 1.0 / max(1, max((sum(k in group for group in groups) for k in range(len(w))), default=1))
    x = y = np.zeros((len(groups), len(w)))
    inside = np.array([np.isin(np.arange(len(w)), group) for group in groups]).reshape(len(groups), len(w))
    radius, momentum = np.array(limits)[:, None], 1.0
    for _ in range(n_steps):
        z = y + step * inside * (w - y.sum(axis=0))
        length = np.linalg.norm(z, axis=1, keepdims=True)
        new = z * np.minimum(1.0, radius / np.maximum(length, 1e-300))
        turned = ((y - new) * (new - x)).sum() > 0
        following = 1.0 if turned else 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        y = new if turned else new + (momentum - 1.0) / following * (new - x)
        x, momentum = new, following
    v = w - x.sum(axis=0)
    return v, primal(v, w, groups, limits) - 0.5 * float(w @ w - v @ v)


def prox_of_nested(w: np.ndarray, groups: Sequence[np.ndarray], limits: Sequence[float]) -> np.ndarray:
    """Exact where each group holds, or does not meet, those before it (Jenatton et al. 2011): one pass."""
    v = w.copy()
    for group, limit in zip(groups, limits, strict=True):
        length = np.linalg.norm(v[group])
        v[group] *= max(0.0, 1.0 - limit / length) if length > 0 else 0.0
    return v
