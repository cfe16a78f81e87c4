"""Forecasts of work, against figures that were measured."""

from __future__ import annotations

from dataclasses import replace

from mrfit.analysis.advice.forecast import Forecast
from mrfit.data.preview import FirstLook

LARGE = FirstLook(1_000_000, 100, 13_000_000, 80_000, 1.0, 33_000_000, 1_100_000_000, 124_000_000, 1.0)


def _steps(look: FirstLook, memory: float = 24e9) -> dict[str, tuple[float, float, bool]]:
    forecast = Forecast.of(look, memory)
    return {step.name: (step.bytes, step.seconds, forecast.fits(step)) for step in forecast.steps}


def test_a_million_rows_of_a_hundred_columns() -> None:
    """Forecasts are within a factor of two of the benchmarks: 256 MB and 1.6 s to read, 2 GB and 55 s of paths."""
    steps = _steps(LARGE)
    assert 128e6 < steps["read"][0] < 512e6
    assert 0.8 < steps["read"][1] < 3.2
    assert 1e9 < steps["structure by l1 paths"][0] < 4e9
    assert 27 < steps["structure by l1 paths"][1] < 110


def test_ten_thousand_items_in_lists() -> None:
    """Forecasts are within a factor of two of the benchmark `wide`: 31 s of a processor, 0.06 GB above the start."""
    lists = FirstLook(100_000, 10_000, 4_900_000, 100_000, 1.0, 1_000_000, 11_000_000, 100_000_000, 1.0, is_lists=True)
    n_bytes, seconds, _ = _steps(lists)["structure by l1 paths"]
    assert 0.03e9 < n_bytes < 0.12e9
    assert 16 < seconds < 62


def test_rows_that_repeat_take_the_memory_of_pieces_and_what_does_not_fit_is_said() -> None:
    repeating = replace(LARGE, share_distinct=0.01, n_bytes_needed=1_240_000)
    assert _steps(repeating)["read"][0] < 62e6 < 0.5 * _steps(LARGE)["read"][0]
    assert not _steps(LARGE, 1e9)["fit of all pairs"][2]
    assert _steps(LARGE, 1e9)["the same, rows not held"][2]
