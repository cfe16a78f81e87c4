"""Advice: for every kind of table, and commands that can be followed."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas
import pytest

from mrfit import UniqueRows
from mrfit.analysis.advice.advice import Advice, Source, describe, pooled_seconds
from mrfit.analysis.advice.network_seconds import extrapolated, network_seconds
from mrfit.cli.main import main
from mrfit.core.errors import InputError
from mrfit.data.encoding import ParseOptions

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
KEEP = ParseOptions(missing="keep")


def _write(path: Path, columns: dict[str, np.ndarray]) -> None:
    lines = [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    path.write_text("\n".join([",".join(columns), *lines]) + "\n")


def _frame(columns: dict[str, np.ndarray]) -> pandas.DataFrame:
    return pandas.DataFrame({name: column.astype(str) for name, column in columns.items()})


def _chain(rng: np.random.Generator, n_rows: int, n: int, n_states: int = 2) -> dict[str, np.ndarray]:
    column, columns = rng.integers(0, n_states, n_rows), {}
    for k in range(n):
        column = np.where(rng.random(n_rows) < 0.7, column, rng.integers(0, n_states, n_rows))
        columns[f"v{k}"] = column.astype(object)
    return columns


def _plenty(rng: np.random.Generator) -> dict[str, np.ndarray]:
    return _chain(rng, 400, 4)


def _scarce(rng: np.random.Generator) -> dict[str, np.ndarray]:
    return _chain(rng, 60, 8)


def _ordered_with_holes(rng: np.random.Generator) -> dict[str, np.ndarray]:
    columns = _chain(rng, 800, 3, n_states=3)
    columns["v0"][rng.random(800) < 0.2] = "NA"
    return columns


def _scarce_with_holes(rng: np.random.Generator) -> dict[str, np.ndarray]:
    columns = _scarce(rng)
    columns["v1"][:12] = "NA"
    return columns


KINDS = [_ordered_with_holes, _scarce_with_holes]
QUICKER = {"stability": "--resamples 10", "power": "--repetitions 2", "nodes": "--resamples 3"}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__[1:])
def test_advice_can_be_followed(
    kind: Callable[..., dict[str, np.ndarray]],
    rng: np.random.Generator,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Every command runs, after those before it; also where a column is left out, which a filled table still has."""
    monkeypatch.chdir(tmp_path)
    columns = kind(rng)
    _write(Path("t.csv"), columns | {"id": np.arange(len(columns["v0"]))})
    asked = ["advise", "t.csv", "--exclude", "id", "--header"]
    assert main(asked) == 0
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) <= 24
    assert main([*asked, "--json"]) == 0
    for step in json.loads(capsys.readouterr().out)["steps"]:
        assert any(step["command"] in line for line in printed)
        program, word, *arguments = shlex.split(step["command"])
        assert program == "mrfit"
        assert main([word, *arguments, *shlex.split(QUICKER.get(word, "")), "--quiet", "--jobs", "1"]) == 0, step


def test_where_rows_are_plenty_nothing_is_selected(rng: np.random.Generator, tmp_path: Path) -> None:
    _write(tmp_path / "t.csv", _plenty(rng))
    found = Advice.of(UniqueRows.from_file(tmp_path / "t.csv"))
    assert "--errors sandwich" in found.steps[0].command
    assert not found.cautions
    assert "40 rows for each" in found.facts[1]


def test_where_they_are_few_edges_are(rng: np.random.Generator, tmp_path: Path) -> None:
    _write(tmp_path / "t.csv", _scarce(rng))
    found = Advice.of(UniqueRows.from_file(tmp_path / "t.csv"))
    assert "--select ebic" in found.steps[0].command
    assert found.steps[-1].command == "mrfit power model.mrf --rows 60,120,240"
    assert any("only strong edges" in caution for caution in found.cautions)


@pytest.mark.parametrize("name", ["czech", "rochdale", "yeast", "jokes"])
def test_forecasts_are_of_the_size_of_what_was_measured(name: str, named_rows: Callable[..., UniqueRows]) -> None:
    """Forecasts lie between half and twice the seconds in the stored records of the benchmark."""
    records = json.loads((BENCHMARKS / "results" / "bootstrap.json").read_text())["records"]
    measured = next(record["refitted"] for record in records if record["set"] == name)
    assert 0.5 < pooled_seconds(named_rows(name, "data")) / measured < 2.0


@pytest.mark.parametrize(
    ("measured", "n", "seconds"),
    [
        ([(5, 2.0)], 5, 2.0),  # all columns: nothing to extrapolate
        ([(8, 1.5)], 16, 6.0),  # by the square where growth is not known
        ([(8, 0.25), (16, 2.0)], 32, 16.0),  # by the cube, as it grew
        ([(8, 0.0), (16, 1.0)], 32, 4.0),
        ([(8, 1.0), (16, 0.9)], 64, 3.6),  # never slower than linearly
        ([(8, 0.01), (16, 1.0)], 32, 8.0),  # nor faster than by the cube
    ],
)
def test_what_is_not_measured_is_extrapolated(measured: list[tuple[int, float]], n: int, seconds: float) -> None:
    assert extrapolated(measured, n) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("price", "columns"), [(1e-4, [8, 8, 16, 32, *[40] * 7]), (2e-3, [8, 8, 16, 32]), (0.1, [8, 8])]
)
def test_columns_are_doubled_until_a_second_is_measured(price: float, columns: list[int]) -> None:
    """The first run, on few rows, loads compiled code; the clock is that of a learner that takes n^2 a network."""
    rng, seconds, asked, n_rows = np.random.default_rng(0), [0.0], [], []
    rows = UniqueRows.of(_frame(_chain(rng, 200, 40, n_states=3)))

    def learn(part: UniqueRows) -> None:
        asked.append(len(part.domain))
        n_rows.append(part.n_distinct)
        seconds[0] += price * len(part.domain) ** 2

    found = network_seconds(learn, rows, clock=lambda: seconds[0])
    assert found == pytest.approx(price * 40**2)
    assert asked == columns
    assert n_rows[0] == 50
    of_one_sample = n_rows[1 : len(set(columns)) + 1]  # distinct rows of a bootstrap sample, none of them merged
    assert 100 < min(of_one_sample) == max(of_one_sample) < 200


def test_networks_that_take_longer_than_others_count_in_the_forecast() -> None:
    """A quick learner is measured on several samples; every fourth of them takes forty times as long."""
    rows = UniqueRows.of(_frame(_chain(np.random.default_rng(0), 200, 8, n_states=3)))
    seconds, n_calls = [0.0], [0]

    def learn(part: UniqueRows) -> None:
        n_calls[0] += 1
        seconds[0] += 4.0 if n_calls[0] % 4 == 0 else 0.1

    assert network_seconds(learn, rows, clock=lambda: seconds[0]) == pytest.approx((0.1 + 0.1 + 4.0) / 3)
    quick = network_seconds(lambda part: seconds.__setitem__(0, seconds[0] + 1e-3), rows, clock=lambda: seconds[0])
    assert quick == pytest.approx(1e-3)


def test_a_forecast_is_measured_on_the_table(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    """One thousand times the seconds of a network, on the processors there are; none where nothing can be learned."""
    monkeypatch.setattr("mrfit.analysis.advice.advice.network_seconds", lambda learn, rows: 4.2)
    rows = UniqueRows.of(_frame(_chain(rng, 60, 8, n_states=3)))
    for jobs, words in ((1, "1 hour on 1 processor"), (4, "20 minutes on 4 processors")):
        (reason,) = (step.reason for step in Advice.of(rows, jobs=jobs).steps if "stability" in step.command)
        assert reason == f"how often each edge appears across bootstrap samples; about {words}"
    monkeypatch.setattr("mrfit.analysis.advice.advice.network_seconds", lambda learn, rows: None)
    (reason,) = (step.reason for step in Advice.of(rows).steps if "stability" in step.command)
    assert reason == "how often each edge appears across bootstrap samples"


def test_a_table_that_cannot_be_learned_from_has_no_forecast(rng: np.random.Generator) -> None:
    def refuse(rows: UniqueRows) -> None:
        raise InputError("It takes too much.")

    assert network_seconds(refuse, UniqueRows.of(_frame(_chain(rng, 60, 8)))) is None


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "1 second"), (42.0, "40 seconds"), (170.0, "3 minutes"), (4200.0, "1 hour"), (200_000.0, "2 days")],
)
def test_durations_have_one_digit(seconds: float, words: str) -> None:
    assert describe(seconds) == words


def test_what_to_mind_is_named(rng: np.random.Generator, tmp_path: Path) -> None:
    columns = _plenty(rng)
    columns["same"] = np.zeros(400, int)
    columns["patient"] = np.arange(400) % 100
    columns["rare"] = (np.arange(400) < 3).astype(int)
    columns["v0"][:40] = "NA"
    _write(tmp_path / "t.csv", columns)
    found = Advice.of(UniqueRows.from_file(tmp_path / "t.csv", KEEP))
    said = " ".join(found.cautions)
    assert "never vary carry no information; --exclude them: same" in said
    assert "patient: many values with few rows each" in said
    assert "rare=1 (3)" in said
    assert "most in v0 (10%)" in found.facts[2]
    assert "10% of rows lack some" in found.facts[2]


def test_codes_of_missing_answers_come_first(
    rng: np.random.Generator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Such codes are neither rare states to merge nor answers in an order; the first step can be taken."""
    monkeypatch.chdir(tmp_path)
    columns = _chain(rng, 900, 3, n_states=3)
    columns["v0"][:4], columns["v1"][2:7] = -99, 77
    _write(Path("t.csv"), columns)
    found = Advice.of(UniqueRows.from_file("t.csv", KEEP), Source("t.csv"))
    said = " ".join(found.cautions)
    assert "codes that look like missing answers: v0=-99, v1=77. Read them as missing: --na-values -99,77" in said
    assert "join them" not in said
    first, *others = found.steps
    assert first.command == "mrfit advise t.csv --na-values -99,77"
    assert any("--ordered v2" in step.command for step in others)
    assert main(shlex.split(first.command)[1:]) == 0
    again = capsys.readouterr().out
    assert "codes that look" not in again
    assert "mrfit fit t.csv --na-values -99,77 --missing em --penalty none --ordered all" in again


def test_how_data_are_read_is_repeated(
    rng: np.random.Generator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    _write(Path("my t.csv"), _plenty(rng) | {"id": np.arange(400)})
    assert main(["advise", "my t.csv", "--exclude", "id", "--header"]) == 0
    assert "mrfit fit 'my t.csv' --exclude id --header --penalty none" in capsys.readouterr().out
    assert main(["advise", "my t.csv"]) == 2
    assert "id" in capsys.readouterr().err


def test_json_says_what_is_missing_where(
    rng: np.random.Generator, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _write(tmp_path / "t.csv", _scarce_with_holes(rng))
    assert main(["advise", str(tmp_path / "t.csv"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["missing"]["columns"][0] == {"name": "v1", "missing": 12.0, "share": 0.2}
    assert found["missing"]["patterns"][1] == {"missing": ["v1"], "rows": 12.0}
    assert [set(step) for step in found["steps"]] == [{"command", "reason"}] * len(found["steps"])


@pytest.mark.parametrize("content", ["a\n0\n1\n", "a,b\n0,1\n0,0\n"])
def test_one_column_that_varies_is_no_network(content: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(content)
    with pytest.raises(InputError, match="needs at least two columns that vary"):
        Advice.of(UniqueRows.from_file(tmp_path / "t.csv"))
