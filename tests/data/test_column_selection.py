"""Selection of the columns that are variables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mrfit.core.domain import Domain
from mrfit.core.errors import DataError, InputError
from mrfit.data import Dataset
from mrfit.data.encoding import ParseOptions
from mrfit.data.unique_rows import UniqueRows

N = 196
TABLE: dict[str, Any] = {
    "id": [f"p{k}" for k in range(N)],
    "a": [k % 2 for k in range(N)],
    "income": [round(30 + 20 * np.sin(k), 1) for k in range(N)],
    "b, c": [k // 2 % 3 for k in range(N)],
}


def test_columns_that_tell_rows_apart_are_refused_together() -> None:
    with pytest.raises(DataError) as raised:
        Dataset.from_table(TABLE)
    message = str(raised.value)
    assert message.startswith(
        "Columns 'id', 'income' have a different value in nearly every row ('id': 196 in 196 rows)"
    )
    assert "exclude=[...]" in message
    assert "include=[...]" in message
    with pytest.raises(DataError, match="Column 'id' has a different value"):
        Dataset.from_table(TABLE, exclude=["income"])


def test_they_are_left_out_or_kept() -> None:
    assert Dataset.from_table(TABLE, exclude=["id", "income"]).domain.names == ("a", "b, c")
    assert Dataset.from_table(TABLE, columns=["b, c", "a"]).domain.names == ("a", "b, c")
    assert Dataset.from_table(TABLE, exclude="id", include="income").n_variables == 3
    assert Dataset.from_table(TABLE, include=True).domain.shape[0] == N
    assert Dataset.from_table(TABLE, columns=["id", "a"], include=["id"]).domain.names == ("id", "a")


def test_declared_states_are_never_suspected() -> None:
    frame = pd.DataFrame(TABLE).drop(columns="income")
    assert Dataset.from_table(frame, states={"id": TABLE["id"]}).n_variables == 3
    assert Dataset.from_table(frame.astype({"id": "category"})).n_variables == 3


@pytest.mark.parametrize(
    ("values", "weight"),
    [
        (range(20), None),  # small tables
        ([*range(50), *range(50)], None),  # every state twice
        ([*range(21), *([0] * 21)], None),
        (range(50), [2] * 50),  # a table of counts
        (range(30), [0] * 29 + [60]),
        ([*range(20), *([None] * 20)], None),
    ],
)
def test_no_false_alarm(values: Any, weight: Any) -> None:
    data = Dataset.from_table({"a": list(values)}, sample_weight=weight, missing="state")
    assert data.n_variables == 1


@pytest.mark.parametrize(
    ("values", "weight"),
    [
        (range(21), None),
        (np.linspace(0, 1, 100).round(2), None),
        (range(50), [1] * 50),
        (range(50), [2.5] * 50),  # fractions are no counts
        ([*range(30), *([None] * 100)], None),  # numbers of some persons
    ],
)
def test_alarm(values: Any, weight: Any) -> None:
    with pytest.raises(DataError, match="a different value in nearly every row"):
        Dataset.from_table({"a": list(values)}, sample_weight=weight, missing="state")


def test_a_table_of_counts_has_distinct_rows() -> None:
    """Every row another, but not every value of a column."""
    cells = np.array(np.meshgrid(range(30), range(2))).reshape(2, -1).T
    assert Dataset.from_table(cells, sample_weight=np.arange(60)).n_rows == 60


def test_with_a_domain_other_columns_may_hold_anything() -> None:
    domain = Domain.from_states({"a": ["0", "1"]})
    assert Dataset.from_table({**TABLE, "list": [[k] for k in range(N)]}, domain=domain).n_rows == N


def test_all_columns_with_too_many_states_are_named() -> None:
    table = {"id": range(300), "half": [k // 2 * 3 for k in range(300)], "real": np.linspace(0, 1, 300)}
    with pytest.raises(DataError, match=r"Columns 'id', 'real' have too many different values \('id': 300 in 300 rows"):
        Dataset.from_table(table)
    with pytest.raises(DataError, match=r"Columns 'id', 'short' have too many"):  # and those found meanwhile
        Dataset.from_table({"short": [min(k, 240) for k in range(300)], "id": range(300)})


@pytest.mark.parametrize("option", ["columns", "exclude", "include"])
def test_unknown_names(option: str) -> None:
    with pytest.raises(DataError, match=rf"{option}=\[\.\.\.\] names 'incom', which.*Did you mean 'income'\?"):
        Dataset.from_table(TABLE, **{option: ["incom"]})  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"'zzzz', which the table lacks. The columns are 'id', 'a'"):
        Dataset.from_table(TABLE, **{option: ["zzzz"]})  # type: ignore[arg-type]


def test_nothing_left() -> None:
    with pytest.raises(DataError, match="No column is left of 'a'"):
        Dataset.from_table({"a": [0, 1]}, exclude=["a"])


def test_a_domain_keeps_its_columns() -> None:
    domain = Domain.from_states({"a": ["0", "1"], "b": ["0", "1"]})
    ParseOptions(domain, columns=["a", "b", "id"], exclude=["c"])
    for options in ({"exclude": ["b"]}, {"columns": ["a"]}):
        with pytest.raises(InputError, match="The columns 'b' are left out"):
            ParseOptions(domain, **options)  # type: ignore[arg-type]


def test_files(tmp_path: Path) -> None:
    frame = pd.DataFrame(TABLE).assign(count=1)
    for name, write in (("t.csv", frame.to_csv), ("t.parquet", frame.to_parquet)):
        write(tmp_path / name, index=False)
        path = tmp_path / name
        with pytest.raises(DataError, match=rf"'{name}': Columns 'id', 'income' have a different value"):
            Dataset.from_file(path, weight="count")
        reading = ParseOptions(exclude=["id", "income", "count"])
        assert UniqueRows.from_file(path, reading, weight="count").domain.names == ("a", "b, c")
        assert Dataset.from_file(path, columns=["a", "count"], weight="count").domain.names == ("a",)


def test_libra_files(tmp_path: Path) -> None:
    (tmp_path / "t.data").write_text("2|0,1\n3|1,1\n")
    data = Dataset.from_file(tmp_path / "t.data", exclude=["v0"])
    assert (data.domain.names, data.sample_weight.tolist()) == (("v1",), [2, 3])
