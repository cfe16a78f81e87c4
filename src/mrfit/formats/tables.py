"""Output tables: CSV, also gzipped, and Parquet."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mrfit.core.errors import InputError
from mrfit.data.dataset import Dataset
from mrfit.data.encoding import UNOBSERVED
from mrfit.data.storage import is_standard_input

_SUFFIXES = (".csv", ".csv.gz", ".parquet")


def check_table_path(path: str | Path) -> None:
    """Refuse a name whose suffix is not that of a table; ``-`` is CSV."""
    if not is_standard_input(path) and not Path(path).name.lower().endswith(_SUFFIXES):
        raise InputError(
            f"The name {Path(path).name!r} does not say which kind of table it is; let it end in "
            f"{', '.join(_SUFFIXES[:-1])} or {_SUFFIXES[-1]}."
        )


def table_of(rows: Dataset) -> Any:
    """Return an Arrow table of state names; missing cells are null."""
    import pyarrow as pa

    columns = {}
    for i, variable in enumerate(rows.domain):
        codes = np.ascontiguousarray(rows.codes[:, i])
        indices = pa.array(codes, mask=codes == UNOBSERVED)
        columns[variable.name] = pa.DictionaryArray.from_arrays(indices, pa.array(variable.states, pa.string()))
    return pa.table(columns)


def table_bytes(table: Any, path: str | Path) -> bytes:
    """Return an Arrow table as the content of a CSV or Parquet file, by the name of the file."""
    check_table_path(path)
    name = Path(path).name.lower()
    content = io.BytesIO()
    if name.endswith(".parquet"):
        from pyarrow import parquet

        parquet.write_table(table, content)
    elif name.endswith(".gz"):
        with gzip.GzipFile(fileobj=content, mode="wb", filename="", mtime=0) as packed:  # equal tables give equal files
            _write_csv(table, packed)
    else:
        _write_csv(table, content)
    return content.getvalue()


def _write_csv(table: Any, file: Any) -> None:
    """Write CSV with quotes only where necessary; Arrow's own writer would quote all text."""
    import pyarrow as pa
    from pyarrow import compute

    file.write(_line(table.column_names).encode())
    for batch in table.to_batches(max_chunksize=2**16):
        texts = []
        for column in batch.columns:
            encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
            spelled = [_field(value, alone=batch.num_columns == 1) for value in encoded.dictionary.to_pylist()]
            texts.append(pa.array(spelled, pa.string()).take(encoded.indices).fill_null(""))
        lines = compute.binary_join_element_wise(*texts, ",").to_pylist()
        file.write("".join(f"{line}\n" for line in lines).encode())


def _field(value: object, *, alone: bool) -> str:
    """Format a field; an empty field alone on its line is quoted, because an empty line is not a row."""
    if isinstance(value, bool):
        return str(value).lower()
    return _line([value] if alone else [value, "0"]).removesuffix("\n").removesuffix("" if alone else ",0")


def _line(fields: Sequence[object]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(fields)
    return line.getvalue()
