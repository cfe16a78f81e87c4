"""Codes under a domain that is found or given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from mrfit.core.domain import Domain
from mrfit.core.errors import DataError, InputError
from mrfit.data import frames
from mrfit.data.encoding import Encoder, ParseOptions
from mrfit.data.frames import table_batches

SMOKER = Domain.from_states({"smoker": ["no", "yes"], "age": ["young", "old"]})
TABLE = {"age": ["old", "young", "old"], "smoker": ["yes", "no", "no"]}


def coded(table: object, **options: Any) -> tuple[Domain, list[list[int]], Encoder]:
    """The domain, final codes and the coder after all batches of a table."""
    coder = Encoder(ParseOptions(**options))
    provisional = np.concatenate([coder.encode(batch)[0] for batch in table_batches(table)])
    domain, remaps = coder.finish()
    final = [[int(remap[code]) for remap, code in zip(remaps, row, strict=True)] for row in provisional]
    return domain, final, coder


def refused(table: object, **options: Any) -> str:
    with pytest.raises(DataError) as raised:
        coded(table, **options)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_states_are_found_and_ordered() -> None:
    domain, codes, _ = coded(TABLE)
    assert domain.to_states() == {"age": ["old", "young"], "smoker": ["no", "yes"]}
    assert codes == [[0, 1], [1, 0], [0, 0]]


@pytest.mark.parametrize("cells", [1, 3, 1000])
def test_states_found_late_change_nothing(monkeypatch: pytest.MonkeyPatch, cells: int) -> None:
    monkeypatch.setattr(frames, "_CELLS_PER_BATCH", cells)
    domain, codes, _ = coded({"a": ["10", "9", "9", "1"]})
    assert domain.to_states() == {"a": ["1", "9", "10"]}
    assert codes == [[2], [1], [1], [0]]


def test_columns_are_matched_by_name_and_others_ignored() -> None:
    table = {**TABLE, "id": list(range(3))}
    domain, codes, _ = coded(table, domain=SMOKER)
    assert domain is SMOKER
    assert codes == [[1, 1], [0, 0], [0, 1]]


def test_ignored_columns_may_hold_anything() -> None:
    table = {"id": list(range(1000)), "a": [0, 1] * 500, "hole": [None] * 1000}
    assert len(coded(table, domain=Domain.from_states({"a": ["0", "1"]}))[1]) == 1000


def test_absent_column() -> None:
    message = refused({"smoker": ["no"], "Age": ["old"]}, domain=SMOKER)
    assert "'age', which the table lacks; its columns are 'smoker', 'Age'" in message


def test_unknown_state() -> None:
    table = {"smoker": ["no"] * 117 + ["sometimes"], "age": ["old"] * 118}
    assert refused(table, domain=SMOKER) == (
        "Column 'smoker' holds 'sometimes' (row 118), which is not one of its states: 'no', 'yes'. "
        "Add it to the domain or pass unknown='drop'."
    )
    _, codes, coder = coded(table, domain=SMOKER, unknown="drop")
    assert len(codes) == 117
    assert coder.dropped_rows == 1


def test_rows_of_messages_count_through_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "_CELLS_PER_BATCH", 2)
    assert "(row 6)" in refused({"a": [0, 1, 0, 1, 0, 2]}, domain=Domain.from_states({"a": ["0", "1"]}))
    assert "row 5" in refused({"a": [0, 1, 0, 1, None, 1]})


def test_unmet_categories_outside_the_domain_do_not_matter() -> None:
    table = pd.DataFrame({"a": pd.Categorical(["x"], categories=["x", "other"])})
    assert coded(table, domain=Domain.from_states({"a": ["x", "y"]}))[1] == [[0]]


@pytest.mark.parametrize("values", [[1, 0], [1.0, 0.0], ["1.0", "0.0"], ["+1", "-0"], [True, False]])
def test_numbers_match_by_value(values: list[object]) -> None:
    states = ["false", "true"] if values[0] is True else ["0", "1"]
    assert coded({"a": values}, domain=Domain.from_states({"a": states}))[1] == [[1], [0]]


@pytest.mark.parametrize("values", [[1, 0], [True, False], ["1.0", "0"], ["TRUE", "false"]])
@pytest.mark.parametrize("states", [["0", "1"], ["1", "0"], ["false", "true"], ["0", "1", "missing"]])
def test_truth_values_are_bits_and_bits_truth_values(values: list[object], states: list[str]) -> None:
    truth = [states.index(state) for state in ("1", "0", "true", "false") if state in states]
    assert coded({"a": values}, domain=Domain.from_states({"a": states}))[1] == [[code] for code in truth]


@pytest.mark.parametrize("states", [["-1", "1"], ["0", "1", "2"], ["1", "2"], ["no", "yes"], ["false", "true", "0"]])
def test_other_states_are_no_truth_values(states: list[str]) -> None:
    """A spin of -1 is not false, and 1 among three answers is not true."""
    domain = Domain.from_states({"a": states})
    message = refused({"a": [True, "1"] if "true" in states else [True]}, domain=domain)
    assert "which is not one of its states" in message


def test_arrays_are_matched_by_position_where_their_columns_have_no_names() -> None:
    domain = Domain.from_states({"b": ["0", "1"], "a": ["0", "1"]})
    rows = [[0, 1], [1, 1]]
    for table in (rows, np.array(rows), sp.csr_array(np.array(rows))):
        assert coded(table, domain=domain)[1] == rows
    assert "'b', 'a', which the table lacks; its columns are 'v0'" in refused([[0, 1, 1]], domain=domain)
    assert "'b', 'a', which the table lacks" in refused({"v0": [0], "v1": [1]}, domain=domain)
    numbered = Domain.from_states({"v1": ["0", "1"], "v0": ["0", "1"]})
    assert coded([[0, 1, 5]], domain=numbered)[1] == [[1, 0]]  # numbers are names there


def test_states_of_a_domain_match_by_value() -> None:
    domain = Domain.from_states({"a": ["1.0", "2.0"], "b": ["True", "False"]})
    assert coded({"a": [2, 1], "b": [True, False]}, domain=domain)[1] == [[1, 0], [0, 1]]
    message = refused({"a": [1]}, domain=Domain.from_states({"a": ["1", "1.0"]}))
    assert "the state '1.0' is given twice" in message


def test_given_states() -> None:
    domain, codes, _ = coded(TABLE, states={"age": ["young", "middle", "old"]})
    assert domain.to_states() == {"age": ["young", "middle", "old"], "smoker": ["no", "yes"]}
    assert [row[0] for row in codes] == [2, 0, 2]
    assert "holds 'old' (row 1)" in refused(TABLE, states={"age": ["young"]})
    assert len(coded(TABLE, states={"age": ["young"]}, unknown="drop")[1]) == 1
    assert "States are given for 'sex', which the table lacks" in refused(TABLE, states={"sex": ["f"]})


def test_missing_is_an_error_with_two_ways_on() -> None:
    message = refused({"a": ["x", None]})
    assert "Column 'a' has no value (empty or NaN) in row 2" in message
    assert "missing='drop'" in message
    assert "missing='state'" in message


def test_missing_rows_are_dropped() -> None:
    domain, codes, coder = coded({"a": ["x", None, "y"], "b": [1, 0, None]}, missing="drop")
    assert codes == [[0, 1]]
    assert coder.dropped_rows == 2
    assert domain.shape == (2, 2)


def test_missing_is_a_state_where_it_occurs() -> None:
    domain, codes, _ = coded({"a": [None, "0", "1"], "b": [1, 0, 1]}, missing="state")
    assert domain.to_states() == {"a": ["0", "1", "missing"], "b": ["0", "1"]}
    assert codes == [[2, 1], [0, 0], [1, 1]]


def test_missing_joins_given_states() -> None:
    domain, codes, _ = coded({"a": [None, "y"]}, states={"a": ["y", "x"]}, missing="state")
    assert domain.to_states() == {"a": ["y", "x", "missing"]}
    assert codes == [[2], [0]]


@pytest.mark.parametrize("missing", ["error", "drop", "state"])
def test_a_domain_with_a_missing_state_takes_missing_values(missing: str) -> None:
    domain = Domain.from_states({"a": ["x", "missing"]})
    assert coded({"a": [None, "x"]}, domain=domain, missing=missing)[1] == [[1], [0]]


def test_a_domain_without_a_missing_state_gets_none() -> None:
    domain = Domain.from_states({"a": ["x", "y"]})
    assert "do not include 'missing'" in refused({"a": [None, "x"]}, domain=domain, missing="state")


def test_ones_take_the_coding_of_their_table() -> None:
    assert coded({"a": [1, 1], "b": [-1, 1]})[0].to_states() == {"a": ["-1", "1"], "b": ["-1", "1"]}
    assert coded({"a": [1, 1], "b": [-1, 2]})[0].to_states() == {"a": ["0", "1"], "b": ["-1", "2"]}


def test_declared_order_is_kept() -> None:
    sizes = pd.Categorical(["l", "s"], categories=["s", "m", "l"])
    domain, codes, _ = coded(pd.DataFrame({"size": sizes}))
    assert domain.to_states() == {"size": ["s", "m", "l"]}
    assert codes == [[2], [0]]


def test_too_many_states(monkeypatch: pytest.MonkeyPatch) -> None:
    assert coded({"age": [*range(255), *range(255)]})[0].shape == (255,)
    message = refused({"age": np.linspace(0, 1, 412)})
    assert "Column 'age' has too many different values (412 in 412 rows)" in message
    assert "at most 255 states. Bin them first, or leave them out with exclude=[...]" in message
    monkeypatch.setattr(frames, "_CELLS_PER_BATCH", 200)
    assert "400 in 400 rows" in refused({"age": range(1000)})


def test_nothing_left() -> None:
    assert "None of the 2 rows is left" in refused({"a": ["x", None], "b": [None, 1]}, missing="drop")
    assert "None of the 1 rows is left" in refused({"a": ["z"]}, states={"a": ["x"]}, unknown="drop")


def test_wrong_options() -> None:
    with pytest.raises(InputError, match="missing='skip' is not an option; use one of 'error', 'drop', 'state'"):
        ParseOptions(missing="skip")
    with pytest.raises(InputError, match="unknown='state' is not an option"):
        ParseOptions(unknown="state")
    with pytest.raises(InputError, match="Both domain and states are given"):
        ParseOptions(domain=SMOKER, states={"age": ["old"]})


def test_no_batches() -> None:
    with pytest.raises(DataError, match="no rows"):
        Encoder().finish()
