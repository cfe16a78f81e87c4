"""exp and log1p that a compiler can vectorise.

Calls into libm are scalar (about 10 ns each) and keep a whole loop scalar. These are branch-free
polynomials: inlined into a loop they become SIMD code at one to two nanoseconds a value, accurate to
about 1 ulp. ``contract`` (fused multiply-add) is the only relaxation allowed here: reassociation would
fold the magic-number rounding away.
"""

from __future__ import annotations

from numba import njit, types
from numba.extending import intrinsic

_SHIFTER = 6755399441055744.0  # 1.5 * 2**52: adding it leaves round(x) in the low bits of the sum
_LOG2_E = 1.4426950408889634
_LN2_HIGH = 0.693147180369123816490  # Cody and Waite: high part has 32 trailing zero bits,
_LN2_LOW = 1.90821492927058770002e-10  # so k * high is exact for |k| < 2**20
_SMALLEST = -708.0  # exp of anything below is denormal; it is taken as exp(-708) = 3e-308


@intrinsic
def _bits_of(typing_context, value):
    """The 64 bits of a float64 as int64."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], context.get_value_type(types.int64))

    return types.int64(types.float64), generate


@intrinsic
def _float_of(typing_context, bits):
    """The float64 with these 64 bits."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], context.get_value_type(types.float64))

    return types.float64(types.int64), generate


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def exp_nonpositive(x):
    """exp(x) for x <= 0: 2**k times a degree-12 polynomial on [-ln2/2, ln2/2]."""
    x = max(x, _SMALLEST)
    shifted = x * _LOG2_E + _SHIFTER
    k = shifted - _SHIFTER
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    p = 2.08767569878681e-09  # 1/12!
    p = p * r + 2.505210838544172e-08
    p = p * r + 2.755731922398589e-07
    p = p * r + 2.7557319223985893e-06
    p = p * r + 2.48015873015873e-05
    p = p * r + 0.0001984126984126984
    p = p * r + 0.001388888888888889
    p = p * r + 0.008333333333333333
    p = p * r + 0.041666666666666664
    p = p * r + 0.16666666666666666
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    return _float_of(_bits_of(p) + (_bits_of(shifted) << 52))


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def log1p_unit(x):
    """log(1 + x) for 0 <= x <= 1, as 2 atanh(s) with s = x / (2 + x) <= 1/3."""
    s = x / (2.0 + x)
    q = s * s
    p = 1 / 31
    p = p * q + 1 / 29
    p = p * q + 1 / 27
    p = p * q + 1 / 25
    p = p * q + 1 / 23
    p = p * q + 1 / 21
    p = p * q + 1 / 19
    p = p * q + 1 / 17
    p = p * q + 1 / 15
    p = p * q + 1 / 13
    p = p * q + 1 / 11
    p = p * q + 1 / 9
    p = p * q + 1 / 7
    p = p * q + 1 / 5
    p = p * q + 1 / 3
    p = p * q + 1.0
    return 2.0 * s * p
