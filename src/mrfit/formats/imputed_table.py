"""A table from a file with its missing cells filled in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Codes
from mrfit.core.domain import Domain, Variable
from mrfit.data.encoding import UNOBSERVED


def filled(cells: Any, domain: Domain, before: Codes, after: Codes) -> Any:
    """Return an Arrow table in which missing cells have the names of their imputed states.

    All other cells and all columns that are not variables stay the same. Variables without a column are appended at the
    end.
    """
    import pyarrow as pa

    columns = dict(zip(cells.column_names, cells.columns, strict=True))
    for i, variable in enumerate(domain):
        missing = before[:, i] == UNOBSERVED
        if variable.name not in columns:
            columns[variable.name] = _states(variable, after[:, i])
        elif missing.any():
            columns[variable.name] = _completed(columns[variable.name], missing, _states(variable, after[:, i]))
    return pa.table(columns)


def _states(variable: Variable, codes: Codes) -> Any:
    import pyarrow as pa

    return pa.array(variable.states, pa.string()).take(pa.array(codes))


def _completed(column: Any, missing: NDArray[np.bool_], states: Any) -> Any:
    """Fill missing entries from ``states``, in the column's type, or as text if that type cannot hold them."""
    import pyarrow as pa
    from pyarrow import compute

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    try:
        states = states.cast(column.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        column = column.cast(pa.string())
    return compute.if_else(pa.array(missing), states, column)
