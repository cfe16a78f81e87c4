"""Counts of parts against those of the whole table, and the cells and optimum made of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrfit.core.domain import Domain
from mrfit.core.errors import DataError, InputError
from mrfit.data.dataset import Dataset
from mrfit.data.encoding import ParseOptions
from mrfit.data.unique_rows import UniqueRows
from mrfit.objectives.counts import blanket_counts
from mrfit.objectives.counts.blanket_counts import BlanketCounts
from mrfit.objectives.counts.conditional_cells import ConditionalCells
from mrfit.objectives.pseudo_likelihood import PseudoLikelihood
from mrfit.parameterizations.canonical import Canonical
from mrfit.penalties.l2 import Ridge
from mrfit.penalties.penalized_objective import PenalizedObjective
from mrfit.solvers.minimize import minimize
from mrfit.solvers.newton import TruncatedNewton
from mrfit.structures.structure import Structure
from populations import SHAPES, STRUCTURES, domain_of, problems, random_codes, random_rows
from reference.tables import blanket

MIXED = (2, 3, 2, 4, 2)
RING = Structure.from_edges(5, [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)])


def _tables(counts: BlanketCounts) -> list[list[tuple[list[int], float]]]:
    return [list(zip(each.codes().tolist(), each.sample_weight.tolist(), strict=True)) for each in counts.states]


def _expected(codes: np.ndarray, weight: np.ndarray, columns: list[int]) -> list[tuple[list[int], float]]:
    counter: Counter[tuple[int, ...]] = Counter()
    for row, each in zip(codes[:, columns].tolist(), weight.tolist(), strict=True):
        counter[tuple(row)] += each
    return [(list(row), total) for row, total in sorted(counter.items()) if total > 0]


@pytest.fixture(params=[2**16, 0], ids=["tables", "lists"])
def _most_entries(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blanket_counts, "_MOST_ENTRIES", request.param)


@pytest.mark.usefixtures("_most_entries")
@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("shape", SHAPES)
def test_counts_are_those_of_a_counter(shape: str, structure: str, rng: np.random.Generator) -> None:
    rows = random_rows(rng, SHAPES[shape], 60)
    chosen = STRUCTURES[structure](len(rows.domain))
    found = _tables(BlanketCounts.of(rows, chosen))
    parameters = Canonical(rows.domain, chosen.closure())
    for i, n_states in enumerate(rows.domain.shape):
        joined = {int(j) for edge in chosen.edges for j in edge if i in edge}
        assert found[i] == _expected(rows.codes, rows.sample_weight, sorted({i} | joined))
        if n_states > 1:  # variables that share a parameter are counted together
            assert set(blanket(parameters, i)) <= {i} | joined


@pytest.mark.usefixtures("_most_entries")
@pytest.mark.parametrize("fractional", [False, True])
def test_any_split_in_any_order_gives_the_counts_of_the_whole(fractional: bool, rng: np.random.Generator) -> None:
    """Whole weights as integers; halves and quarters add up exactly, too."""
    codes, weight = random_codes(rng, MIXED, 300), rng.integers(0, 9, 300) / (4.0 if fractional else 1.0)
    whole = BlanketCounts.of(UniqueRows.from_codes(domain_of(MIXED), codes, weight), RING)
    part_of = rng.integers(0, 4, 300)
    parts = [
        BlanketCounts.of(UniqueRows.from_codes(domain_of(MIXED), codes[part_of == k], weight[part_of == k]), RING)
        for k in range(4)
    ]
    for order in (parts, parts[::-1], [BlanketCounts.merged(parts[:3]), parts[3]]):
        merged = BlanketCounts.merged(order)
        assert _tables(merged) == _tables(whole)
        assert merged.total_weight == whole.total_weight == weight.sum()


def _sorted_cells(cells: ConditionalCells, i: int) -> list[tuple[float, ...]]:
    a = cells.arrays
    total = a.total[a.cell_start[i] : a.cell_start[i + 1]]
    if a.n_free[i] != 1:
        return sorted((each,) for each in total.tolist())
    return sorted(zip(total.tolist(), a.counts[a.count_start[i] : a.count_start[i + 1]].tolist(), strict=True))


@given(problems(), st.integers(1, 3))
@settings(max_examples=40)
def test_value_and_gradient_are_those_of_the_rows(problem: tuple[UniqueRows, Canonical, np.ndarray], jobs: int) -> None:
    rows, parameters, w = problem
    counted = ConditionalCells.from_counts(BlanketCounts.of(rows, parameters.structure), parameters, jobs=jobs)
    present = ConditionalCells.count(rows, parameters)
    assert counted.n_cells == present.n_cells
    (value, gradient), (expected, slope) = (PseudoLikelihood(each).value_and_gradient(w) for each in (counted, present))
    assert value == pytest.approx(expected, rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(gradient, slope, rtol=1e-12, atol=1e-12)


def test_cells_of_parts_are_the_integers_of_the_whole_and_lead_to_its_optimum(data_dir: Path) -> None:
    """Rows are real, and are counted in parts from files, without a table of distinct rows."""
    path = data_dir / "plants" / "valid.csv.gz"
    rows = UniqueRows.from_file(path)
    n = len(rows.domain)
    structure = Structure.from_edges(n, [(i, j) for i in range(n) for j in (i + 1, i + 7) if j < n])
    parameters = Canonical(rows.domain, structure)
    table = Dataset.from_file(path)
    parts = [
        BlanketCounts.of(UniqueRows.from_codes(table.domain, table.codes[k::3], table.sample_weight[k::3]), structure)
        for k in range(3)
    ]
    streamed = BlanketCounts.from_file(path, structure, ParseOptions(rows.domain))
    present = ConditionalCells.count(rows, parameters)
    optima = []
    for counts in (BlanketCounts.merged(parts), streamed):
        cells = ConditionalCells.from_counts(counts, parameters)
        assert all(_sorted_cells(cells, i) == _sorted_cells(present, i) for i in range(n))
        optima.append(_optimum(cells))
    for w in optima:
        np.testing.assert_allclose(w, _optimum(present), rtol=0, atol=1e-12)


def _optimum(cells: ConditionalCells) -> np.ndarray:
    problem = PenalizedObjective(PseudoLikelihood(cells), Ridge(10.0), total_weight=cells.total_weight)
    solution = minimize(problem, TruncatedNewton(), tolerance=1e-13)
    assert solution.converged
    return solution.w


def test_a_structure_within_the_one_that_was_counted(rng: np.random.Generator) -> None:
    rows = random_rows(rng, MIXED, 80)
    counts = BlanketCounts.of(rows, RING)
    smaller = Canonical(rows.domain, Structure.from_edges(5, [(1, 2)]))
    w = rng.standard_normal(smaller.n_parameters)
    found, expected = (
        PseudoLikelihood(cells).value_and_gradient(w)
        for cells in (ConditionalCells.from_counts(counts, smaller), ConditionalCells.count(rows, smaller))
    )
    assert found[0] == pytest.approx(expected[0], rel=1e-12)
    np.testing.assert_allclose(found[1], expected[1], atol=1e-12)
    with pytest.raises(InputError, match="joins variables that were not counted together"):
        ConditionalCells.from_counts(counts, Canonical(rows.domain, Structure.complete(5)))
    with pytest.raises(InputError, match="of another domain"):
        ConditionalCells.from_counts(counts, Canonical(domain_of((2,) * 5), RING))


def test_what_does_not_add_up_is_refused(rng: np.random.Generator) -> None:
    rows = random_rows(rng, MIXED, 20)
    with pytest.raises(DataError, match="no counts to merge"):
        BlanketCounts.merged([])
    other = BlanketCounts.of(rows, Structure.independent(5))
    with pytest.raises(DataError, match="Part 2 was counted with another domain or structure"):
        BlanketCounts.merged([BlanketCounts.of(rows, RING), other])
    with pytest.raises(InputError, match="over 4 variables, the domain has 5"):
        BlanketCounts.of(rows, Structure.independent(4))
    with pytest.raises(InputError, match="need the states in advance"):
        BlanketCounts.from_batches([], RING, ParseOptions())


def test_states_are_found_in_a_first_pass(tmp_path: Path) -> None:
    """Every file may hold a state first; a missing value is a state if the options say so."""
    (tmp_path / "1.csv").write_text("a,b,id\nx,1,1\ny,0,2\n")
    (tmp_path / "2.csv").write_text("b,a,id\n2,w,3\n,x,4\n")
    reading = ParseOptions(missing="state", exclude=["id"])
    pair = Structure.from_edges(2, [(0, 1)])
    counts = BlanketCounts.from_file(tmp_path, pair, reading)
    rows = UniqueRows.from_file(tmp_path, reading)
    assert counts.domain == rows.domain
    assert counts.domain.to_states() == {"a": ["w", "x", "y"], "b": ["0", "1", "2", "missing"]}
    assert _tables(counts) == _tables(BlanketCounts.of(rows, pair))
    with pytest.raises(InputError, match="A stream can be read only once"):
        BlanketCounts.from_file("-", pair)


def test_cells_without_a_value_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n0,1\n1,?\n")
    domain = Domain.from_states({"a": ["0", "1"], "b": ["0", "1"]})
    pair = Structure.from_edges(2, [(0, 1)])
    with pytest.raises(DataError, match="1 values are missing, and counting needs complete rows"):
        BlanketCounts.from_file(tmp_path / "t.csv", pair, ParseOptions(domain, missing="keep"))
    (tmp_path / "w.csv").write_text("a,b,w\n0,1,0\n1,1,0\n")
    with pytest.raises(DataError, match="Every row has weight zero"):
        BlanketCounts.from_file(tmp_path / "w.csv", pair, ParseOptions(domain), weight="w")
