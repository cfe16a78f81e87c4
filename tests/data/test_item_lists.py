"""Files of item lists, and rows that stay lists."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from mrfit.data.coding import Reading
from mrfit.data.item_lists import is_item_list, read_items, read_sparse
from mrfit.data.sparse_rows import SparseRows
from mrfit.data.unique_rows import UniqueRows
from mrfit.domain import Domain
from mrfit.errors import DataError, InputError


def _written(folder: Path, text: str, name: str = "rows.items") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_a_line_is_a_row_and_names_what_is_on(tmp_path: Path) -> None:
    """Numbers come by their size and before words; a name counts once in a line; a line may be empty."""
    rows = read_sparse(_written(tmp_path, "10 2\n2 2 bread\n\n10"))
    assert rows.domain.names == ("2", "10", "bread")
    assert set(rows.domain.shape) == {2}
    np.testing.assert_array_equal(rows.entries.toarray(), [[1, 1, 0], [1, 0, 1], [0, 0, 0], [0, 1, 0]])


def test_commas_part_names_with_spaces_and_weights_stand_in_front(tmp_path: Path) -> None:
    rows = read_sparse(_written(tmp_path, "2.5|whole milk, rolls\nrolls\n0|soda\n"))
    assert rows.domain.names == ("rolls", "soda", "whole milk")
    np.testing.assert_array_equal(rows.entries.toarray(), [[1, 0, 1], [1, 0, 0]])
    np.testing.assert_array_equal(rows.sample_weight, [2.5, 1.0])


def test_few_items_are_the_rows_that_a_table_of_them_has(tmp_path: Path) -> None:
    items, table = _written(tmp_path, "a b\n\na b\nb\n"), _written(tmp_path, "a,b\n1,1\n0,0\n1,1\n0,1\n", "t.csv")
    assert read_items(items) == UniqueRows.from_file(table)


def test_several_and_packed_files_are_one_table(tmp_path: Path) -> None:
    first, second = _written(tmp_path, "a b\n"), tmp_path / "more.items.gz"
    second.write_bytes(gzip.compress(b"c\r\n"))
    seen: list[tuple[int, int]] = []
    rows = read_sparse([first, second], progress=lambda done, of: seen.append((done, of)))
    np.testing.assert_array_equal(rows.entries.toarray(), [[1, 1, 0], [0, 0, 1]])
    assert seen[-1][0] == seen[-1][1] == first.stat().st_size + second.stat().st_size


def test_a_domain_ignores_what_it_does_not_know(tmp_path: Path) -> None:
    domain = Domain.from_states({"b": "01", "never": "01"})
    rows = read_sparse(_written(tmp_path, "a b\nb\na\n"), Reading(domain))
    assert rows.domain == domain
    np.testing.assert_array_equal(rows.entries.toarray(), [[1, 0], [1, 0], [0, 0]])
    assert read_sparse(_written(tmp_path, "a b\nb\na\n")).recoded(domain) == rows


def test_columns_may_be_left_out(tmp_path: Path) -> None:
    rows = read_sparse(_written(tmp_path, "a b c\n"), Reading(exclude=("b",)))
    assert rows.domain.names == ("a", "c")


@pytest.mark.parametrize(
    ("text", "reading", "layout", "said"),
    [
        ("\n\n", {}, {}, "no items"),
        ("x|a\n", {}, {}, "Row 1 has the weight 'x'"),
        ("a\n-1|a\n", {}, {}, "Row 2 has the weight '-1'"),
        ("a\n", {"domain": Domain.from_states({"a": ("no", "yes")})}, {}, "states 0 and 1"),
        ("a\n", {}, {"weight": "w"}, "does not apply to lists of items"),
        ("a\n", {"exclude": ("b",)}, {}, "which the table lacks"),
    ],
)
def test_what_is_wrong_is_said_with_the_file(tmp_path: Path, text: str, reading: dict, layout: dict, said: str) -> None:
    with pytest.raises(DataError, match=rf"rows\.items.*{said}"):
        read_sparse(_written(tmp_path, text), Reading(**reading), **layout)


def test_names_and_formats_say_what_is_a_list() -> None:
    assert is_item_list("a.items", None)
    assert is_item_list("a.BASKET.gz", None)
    assert is_item_list("a.txt", "items")
    assert not is_item_list("a.items", "csv")
    assert is_item_list(["a.items", "b.items"], None)
    assert not is_item_list("a.csv", None)


def test_lists_have_no_codes_and_say_what_goes_without() -> None:
    rows = SparseRows.of_matrix(sparse.eye_array(3))
    with pytest.raises(InputError, match=r"3 rows of 3 items are kept as lists.*bound='path'"):
        _ = rows.codes
    with pytest.raises(DataError, match="zeros and ones; got 2"):
        SparseRows.of_matrix(2 * sparse.eye_array(3))


def test_scores_are_made_piece_by_piece(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    codes = (rng.random((50, 7)) < 0.3).astype(np.uint8)
    rows = SparseRows.of_matrix(sparse.csr_array(codes))
    monkeypatch.setattr("mrfit.data.sparse_rows._CODES_AT_ONCE", 30)
    np.testing.assert_array_equal(rows.scored(lambda some: some @ np.arange(7.0)), codes @ np.arange(7.0))


def test_a_table_is_not_read_as_lists(tmp_path: Path) -> None:
    """The readers of coded rows, which lists inherit, name what makes lists."""
    (tmp_path / "t.csv").write_text("a,b\n0,1\n1,1\n")
    rows = UniqueRows.from_file(tmp_path / "t.csv")
    for read in (
        lambda: SparseRows.from_file(tmp_path / "t.csv", domain=rows.domain),
        lambda: SparseRows.from_codes(rows.domain, rows.codes, rows.sample_weight),
        lambda: SparseRows.merged([rows, rows]),
    ):
        with pytest.raises(InputError, match=r"SparseRows\.of_matrix.*Read a table by UniqueRows"):
            read()
