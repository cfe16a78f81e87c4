"""Second moments of features, read off the vector of all first moments.

The product of two features of all joint states is a feature itself: for products of signs that of the symmetric
difference, for indicators that of the union (or zero, if they contradict each other). A Hessian of k parameters
therefore costs k^2 lookups, independent of the number of joint states.
"""

from __future__ import annotations

from mrfit._kernels.machine_code.compiled import njit


@njit(cache=True, nogil=True, error_model="numpy")
def binary_covariance(moments, also, positions, signs, out):
    """Fill out[i, j] = m[ab] - m[a] m[b] for positions a and b of binary variables; m = moments + also, if any.

    ab is a xor b if the features are signs, else, for indicators, a or b.
    """
    two = len(also) > 0
    for i in range(len(positions)):
        a = positions[i]
        of_a = moments[a] + (also[a] if two else 0.0)
        for j in range(i + 1):
            b = positions[j]
            ab = a ^ b if signs else a | b
            value = moments[ab] - of_a * (moments[b] + (also[b] if two else 0.0)) + (also[ab] if two else 0.0)
            out[i, j] = value
            out[j, i] = value


@njit(cache=True, nogil=True, error_model="numpy")
def state_covariance(moments, positions, digits, strides, out):
    """Fill the covariance for any numbers of states; ``digits`` has a row for each position, zero for the reference."""
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
