"""Internal: what arrays hold, once for all modules."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Indices = NDArray[np.int64]  # positions in other arrays
Integers = NDArray[np.int64]  # any other whole numbers
Codes = NDArray[Any]  # states by their numbers, in the smallest integers that hold them
Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]
Mask = NDArray[np.bool_]
Scope = tuple[int, ...]  # variables that interact, in increasing order
