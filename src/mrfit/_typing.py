"""Internal: what arrays hold, once for all modules."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Indices = NDArray[np.int64]  # positions in other arrays
Integers = NDArray[np.int64]  # any other whole numbers
Codes = NDArray[Any]  # states by their numbers, in the smallest integers that hold them
StateCodes = NDArray[np.int32] | NDArray[np.int8]  # codes of one column, -1 for missing; booleans take a byte each
Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]
Mask = NDArray[np.bool_]
Matrix = NDArray[np.floating[Any]]
Scopes = NDArray[np.int64]  # one scope a row, all of one size
Scope = tuple[int, ...]  # variables that interact, in increasing order
