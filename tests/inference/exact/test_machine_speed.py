"""The speed of a machine is measured once, and forecasts of long runs are its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from mrfit import Factors
from mrfit.inference.exact import machine_speed
from mrfit.inference.exact.junction_tree import JunctionTree


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(machine_speed, "_file", lambda: tmp_path / "caches" / "speed.json")
    machine_speed.speed_factor.cache_clear()
    yield tmp_path / "caches" / "speed.json"
    machine_speed.speed_factor.cache_clear()


def test_it_is_kept(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = machine_speed.speed_factor()
    assert 0.0 < found < 1000.0
    assert json.loads(file.read_text())["slowness"] == found
    machine_speed.speed_factor.cache_clear()
    monkeypatch.setattr(machine_speed, "_measured", lambda: pytest.fail("measured again"))
    assert machine_speed.speed_factor() == found


@pytest.mark.parametrize("content", ["", "[]", '{"machine": "another", "slowness": 3.0}', '{"slowness": "fast"}'])
def test_what_is_not_of_this_machine_is_measured_anew(
    file: Path, content: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.parent.mkdir()
    file.write_text(content)
    monkeypatch.setattr(machine_speed, "_measured", lambda: 2.5)
    assert machine_speed.speed_factor() == 2.5


def test_a_home_that_cannot_be_written(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.parent.write_text("a file where a directory should be")
    monkeypatch.setattr(machine_speed, "_measured", lambda: 2.5)
    assert machine_speed.speed_factor() == 2.5


def test_long_forecasts_are_scaled(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And short ones are not worth a measurement."""
    monkeypatch.setattr(machine_speed, "_measured", lambda: 3.0)
    n = 24
    pairs = tuple((i, j) for i in range(n) for j in range(i))
    large, small = (Factors((2,) * k, pairs[: k * (k - 1) // 2], [0.0] * (2 * k * (k - 1))) for k in (n, 5))
    forecasts = [JunctionTree().plan(factors).forecast for factors in (large, small)]
    machine_speed.speed_factor.cache_clear()
    file.unlink()
    monkeypatch.setattr(machine_speed, "_measured", lambda: 1.0)
    again = [JunctionTree().plan(factors).forecast for factors in (large, small)]
    assert forecasts[0] == pytest.approx(3.0 * again[0])
    assert forecasts[1] == again[1]
