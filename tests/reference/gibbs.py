"""Gibbs sampling from its definition: whole numbers for random bits, and log p of whole states for conditionals."""

from __future__ import annotations

import math

import numpy as np

from mrfit.core.factors import Factors

_MASK = 2**32 - 1


class Xoshiro:
    """xoshiro128+ (Blackman and Vigna, 2021)."""

    def __init__(self, words: np.ndarray) -> None:
        self.s = [int(word) for word in words]

    def next_word(self) -> int:
        s = self.s
        word = (s[0] + s[3]) & _MASK
        shifted = (s[1] << 9) & _MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= shifted
        s[3] = ((s[3] << 11) & _MASK) | (s[3] >> 21)
        return word

    def uniform_23(self) -> float:
        return ((self.next_word() >> 9) + 0.5) * 2.0**-23

    def uniforms_52(self) -> float:
        high = self.next_word() >> 6
        return (high * 2**26 + (self.next_word() >> 6) + 0.5) * 2.0**-52


def sweep(
    base: Factors, target: Factors, beta: float, x: np.ndarray, lane: Xoshiro, *, binary: bool, backwards: bool
) -> float:
    """Update all variables of one state in place; what log p has changed by.

    ``binary`` states are 1 when the uniform number is below p(1), others the first whose cumulated p is above it.
    """
    heat = 0.0
    variables = [i for i, c in enumerate(target.shape) if c > 1]
    for i in reversed(variables) if backwards else variables:
        states = np.tile(x, (target.shape[i], 1))
        states[:, i] = np.arange(target.shape[i])
        z = beta * target.log_potential(states)
        if beta < 1.0:
            z += (1.0 - beta) * base.log_potential(states)
        if binary:
            new = int(lane.uniform_23() * (1.0 + math.exp(z[0] - z[1])) < 1.0)
        else:
            cumulated = np.cumsum(np.exp(z - z.max()))
            new = int((cumulated[:-1] <= lane.uniforms_52() * cumulated[-1]).sum())
        heat += float(z[new] - z[x[i]])
        x[i] = new
    return heat
