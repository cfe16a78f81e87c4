"""Reinterpretation of floating-point numbers as bits and back, in a register."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic

_BITS: dict[Any, Any] = {types.float64: types.int64, types.float32: types.uint32}
_FLOATS: dict[Any, Any] = {bits: number for number, bits in _BITS.items()}


def _bitcast(context, builder, signature, arguments):
    return builder.bitcast(arguments[0], context.get_value_type(signature.return_type))


@intrinsic
def bits_of(typing_context, value):
    """Return the 64 bits of a float64 as int64, or the 32 bits of a float32 as uint32."""
    return _BITS[value](value), _bitcast


@intrinsic
def float_of(typing_context, bits):
    """Return the float64 with the 64 bits of an int64, or the float32 with the 32 bits of a uint32."""
    return _FLOATS[bits](bits), _bitcast
