"""Second moments of features, read off the vector of all first moments.

The product of two features of all joint states is a feature itself: for products of signs that of the symmetric
difference, for indicators that of the union (or nothing, where they contradict each other). So a Hessian of k
parameters costs k^2 lookups, whatever the number of joint states.
"""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True, error_model="numpy")
def sign_covariance(moments, also, positions, out):
    """out[i, j] = m[a xor b] - m[a] m[b] for positions a and b of binary variables; m = moments + also, if any."""
    two = len(also) > 0
    for i in range(len(positions)):
        a = positions[i]
        of_a = moments[a] + (also[a] if two else 0.0)
        for j in range(i + 1):
            b = positions[j]
            value = moments[a ^ b] - of_a * (moments[b] + (also[b] if two else 0.0)) + (also[a ^ b] if two else 0.0)
            out[i, j] = value
            out[j, i] = value


@njit(cache=True, nogil=True, error_model="numpy")
def indicator_covariance(moments, also, positions, out):
    """out[i, j] = m[a or b] - m[a] m[b] for positions a and b of binary variables; m = moments + also, if any."""
    two = len(also) > 0
    for i in range(len(positions)):
        a = positions[i]
        of_a = moments[a] + (also[a] if two else 0.0)
        for j in range(i + 1):
            b = positions[j]
            value = moments[a | b] - of_a * (moments[b] + (also[b] if two else 0.0)) + (also[a | b] if two else 0.0)
            out[i, j] = value
            out[j, i] = value


@njit(cache=True, nogil=True, error_model="numpy")
def state_covariance(moments, positions, digits, strides, out):
    """The same for variables of any number of states; ``digits`` has a row for each position, zero for silent."""
    n = len(strides)
    for i in range(len(positions)):
        for j in range(i + 1):
            joint, agree = 0, True
            for v in range(n):
                a, b = digits[i, v], digits[j, v]
                agree = agree and (a == 0 or b == 0 or a == b)
                joint += strides[v] * max(a, b)
            value = (moments[joint] if agree else 0.0) - moments[positions[i]] * moments[positions[j]]
            out[i, j] = value
            out[j, i] = value
