"""Whatever is wrong gives exit code 2, one line that names it, and no file."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from model_files import rewrite
from mrfit import MarkovNetworkLearner

Shell = Callable[..., Any]

# Longer than this is no clear line; the longest honest one lists the names of all data sets.
LONGEST = 400

FILES = {
    "good.csv": "smoker,cough\nyes,no\nno,yes\nyes,yes\nno,no\n",
    "empty.csv": "",
    "blank.csv": "\n\n\n",
    "only_names.csv": "smoker,cough\n",
    "ragged.csv": "smoker,cough\nyes,no\nno\n",
    "long.csv": "smoker,cough\nyes,no\nno,yes,yes\n",
    "twice.csv": "smoker,smoker\nyes,no\n",
    "hole.csv": "smoker,cough\nyes,no\nno,\n",
    "nan.csv": "smoker,cough\nyes,1\nno,NaN\n",
    "all_holes.csv": "smoker,cough\n,no\nyes,\n",
    "sometimes.csv": "smoker,cough\nyes,no\nsometimes,no\n",
    "narrow.csv": "smoker\nyes\n",
    "negative.csv": "smoker,cough,count\nyes,no,3\nno,yes,-2\n",
    "zero.csv": "smoker,cough,count\nyes,no,0\nno,yes,0\n",
    "wordy.csv": "smoker,cough,count\nyes,no,three\n",
    "nan_weight.csv": "smoker,cough,count\nyes,no,nan\n",
    "only_weights.csv": "count\n1\n",
    "negative.data": "2|1,0\n-1|0,1\n",
    "continuous.csv": "x\n" + "".join(f"{k}.5\n" for k in range(300)),
    "latin.csv": "smoker,caf\u00e9\nyes,no\n".encode("latin-1"),
    "plain.csv.gz": b"smoker,cough\nyes,no\n",
    "cut.csv.gz": gzip.compress(b"smoker,cough\n" + b"yes,no\n" * 50)[:-12],
    "fake.parquet": b"smoker,cough\nyes,no\n",
    "table.xlsx": b"PK",
    "folder.csv/": "",
    "winter.csv": "smoker,winter\n",
    "latin_edges.csv": "smoker,caf\u00e9\n".encode("latin-1"),
    "not.json": "{nope",
    "list.json": "[1, 2]",
    "flat.json": '{"smoker": "yes"}',
    "stranger.json": '{"nobody": ["no", "yes"]}',
    "narrow.json": '{"smoker": ["no"]}',
    "repeating.json": '{"smoker": ["no", "yes", "no"]}',
    "junk.mrf": b"junk",
    "empty.mrf": b"",
    "folder.mrf/": "",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Good and broken files, and no named data."""
    monkeypatch.setenv("MRFIT_DATA", str(tmp_path / "nowhere"))
    for name, content in FILES.items():
        if name.endswith("/"):
            (tmp_path / name).mkdir()
        else:
            (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return tmp_path


@pytest.fixture
def model_file(folder: Path) -> Path:
    MarkovNetworkLearner().fit(pd.read_csv(folder / "good.csv")).model_.save(folder / "good.mrf")
    return folder / "good.mrf"


def listing(folder: Path) -> dict[str, bytes | None]:
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def assert_refused(shell: Shell, folder: Path, arguments: list[str], named: str) -> None:
    before = listing(folder)
    ran = shell(*arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.startswith("mrfit: ")
    assert ran.err.endswith("\n")
    assert ran.err.count("\n") == 1
    assert "Traceback" not in ran.err
    assert named in ran.err
    assert len(ran.err) <= LONGEST
    assert listing(folder) == before


USAGE = [
    ([], "mrfit --help"),
    (["data"], "mrfit data --help"),
    (["guess"], "'guess'"),
    (["data", "guess"], "'guess'"),
    (["--guess"], "'--guess'"),
    (["fit"], "'DATA...'"),
    (["fit", "good.csv", "more.csv"], "more.csv"),
    (["fit", "good.csv", "--guess"], "'--guess'"),
    (["fit", "good.csv", "--strength"], "'--strength'"),
    (["fit", "good.csv", "--penalty", "l7"], "'l7'"),
    (["fit", "good.csv", "--solver", "sgd"], "'sgd'"),
    (["fit", "good.csv", "--missing", "guess"], "'guess'"),
    (["fit", "good.csv", "--seed", "x"], "'--seed'"),
    (["fit", "good.csv", "--jobs", "two"], "'two'"),
    (["score"], "'MODEL'"),
    (["score", "good.mrf"], "'DATA'"),
    (["score", "good.mrf", "good.csv", "--unknown", "guess"], "'guess'"),
    (["show"], "'MODEL'"),
    (["show", "good.mrf", "--top", "-1"], "'--top'"),
    (["show", "good.mrf", "--top", "many"], "'many'"),
    (["data", "get"], "'NAMES...'"),
    (["data", "path"], "NAME"),
    (["demo", "extra"], "extra"),
]


@pytest.mark.parametrize(
    ("arguments", "named"), USAGE, ids=lambda value: " ".join(value) if type(value) is list else ""
)
def test_wrong_usage(shell: Shell, folder: Path, arguments: list[str], named: str) -> None:
    assert_refused(shell, folder, arguments, named)


TABLES = [
    ("absent.csv", "'absent.csv'"),
    ("nowhere/t.csv", "'nowhere/t.csv'"),
    ("table.xlsx", "'table.xlsx'"),
    ("no_suffix", "'no_suffix'"),
    ("folder.csv", "'folder.csv'"),
    ("empty.csv", "'empty.csv'"),
    ("blank.csv", "'blank.csv'"),
    ("only_names.csv", "'only_names.csv'"),
    ("ragged.csv", "'ragged.csv' row 2"),
    ("long.csv", "'long.csv' row 2"),
    ("twice.csv", "'smoker'"),
    ("hole.csv", "'cough'"),
    ("nan.csv", "'cough'"),
    ("negative.data", "'-1'"),
    ("continuous.csv", "'x'"),
    ("latin.csv", "'latin.csv'"),
    ("plain.csv.gz", "'plain.csv.gz'"),
    ("cut.csv.gz", "'cut.csv.gz'"),
    ("fake.parquet", "'fake.parquet'"),
    ("nobody:train", "'nobody'"),
    ("nltcx:train", "'nltcs'"),
    ("nltcs:holdout", "'holdout'"),
    ("nltcs:", "'train', 'valid', 'test'"),
    ("nltcs:train", "`mrfit data get nltcs`"),
]


@pytest.mark.parametrize(("table", "named"), TABLES)
def test_tables_that_cannot_be_learned_from(shell: Shell, folder: Path, table: str, named: str) -> None:
    assert_refused(shell, folder, ["fit", table, "-o", "model.mrf"], named)


@pytest.mark.parametrize(
    ("table", "named"), [*TABLES, ("sometimes.csv", "'sometimes'"), ("narrow.csv", "'cough'")], ids=lambda value: value
)
def test_tables_that_cannot_be_scored(shell: Shell, folder: Path, model_file: Path, table: str, named: str) -> None:
    if table == "continuous.csv":
        named = "'smoker'"  # what the model needs and the table lacks
    assert_refused(shell, folder, ["score", model_file.name, table, "--json"], named)


@pytest.mark.parametrize(
    ("table", "named"),
    [("sometimes.csv", "'sometimes'"), ("narrow.csv", "'cough'"), ("absent.csv", "'absent.csv'"), ("", "--valid")],
)
def test_held_out_rows_that_do_not_fit(shell: Shell, folder: Path, table: str, named: str) -> None:
    assert_refused(shell, folder, ["fit", "good.csv", "--valid", table, "-o", "model.mrf"], named)


@pytest.mark.parametrize(
    ("table", "column", "named"),
    [
        ("negative.csv", "count", "'-2'"),
        ("wordy.csv", "count", "'three'"),
        ("nan_weight.csv", "count", "'nan'"),
        ("zero.csv", "count", "zero"),
        ("good.csv", "count", "'count'"),
        ("only_weights.csv", "count", "weights"),
        ("negative.data", "count", "--weight count"),
    ],
)
@pytest.mark.parametrize("command", ["fit", "score"])
def test_wrong_row_weights(
    shell: Shell, folder: Path, model_file: Path, command: str, table: str, column: str, named: str
) -> None:
    arguments = ["fit", table, "-o", "model.mrf"] if command == "fit" else ["score", "good.mrf", table, "--json"]
    assert_refused(shell, folder, [*arguments, "--weight", column], named)


def test_no_row_left(shell: Shell, folder: Path, model_file: Path) -> None:
    assert_refused(shell, folder, ["fit", "all_holes.csv", "--missing", "drop", "-o", "model.mrf"], "rows")
    assert_refused(shell, folder, ["score", "good.mrf", "all_holes.csv", "--missing", "drop"], "rows")


@pytest.mark.parametrize(
    ("option", "value", "named"),
    [
        ("--structure", "bush", "'bush'"),
        ("--structure", "order", "'order'"),
        ("--structure", "order:0", "0"),
        ("--structure", "order:-1", "order:-1"),
        ("--structure", "order:x", "order:x"),
        ("--structure", "order:1.5", "order:1.5"),
        ("--structure", "edges:", "'edges:'"),
        ("--structure", "edges:absent.txt", "'absent.txt'"),
        ("--structure", "edges:folder.csv", "'folder.csv'"),
        ("--structure", "edges:winter.csv", "'winter'"),
        ("--structure", "edges:latin_edges.csv", "'latin_edges.csv'"),
        ("--structure", "complete:3", "'complete:3'"),
        ("--strength", "0", "0"),
        ("--strength", "-1", "-1"),
        ("--strength", "abc", "'abc'"),
        ("--strength", "nan", "nan"),
        ("--strength", "inf", "inf"),
        ("--strength", "", "--strength"),
        ("--strength", "1,,2", "'1,,2'"),
        ("--strength", "1,0", "0"),
        ("--strength", "3,-2,1", "-2"),
        ("--free-orders", "x", "'x'"),
        ("--free-orders", "1.5", "'1.5'"),
        ("--free-orders", "nan", "'nan'"),
        ("--free-orders", "inf", "'inf'"),
        (
            "--penalty=l1",
            "--solver=newton",
            "`TruncatedNewton` needs a differentiable penalty; `L1` is not. Use `Fista` or `OWLQN`",
        ),
        ("--penalty=l1", "--solver=lbfgs", "`LBFGS` needs a differentiable penalty"),
        ("--jobs", "0", "0"),
        ("--jobs", "-3", "-3"),
        ("--tolerance", "0", "tolerance"),
        ("--tolerance", "-1e-6", "tolerance"),
        ("--tolerance", "nan", "tolerance"),
        ("--max-iterations", "-1", "-1"),
        ("--states", "absent.json", "'absent.json'"),
        ("--states", "folder.csv", "'folder.csv'"),
        ("--states", "not.json", "'not.json'"),
        ("--states", "latin.csv", "'latin.csv'"),
        ("--states", "list.json", "'list.json'"),
        ("--states", "flat.json", "'flat.json'"),
        ("--states", "stranger.json", "'nobody'"),
        ("--states", "narrow.json", "'yes'"),
        ("--states", "repeating.json", "'no'"),
    ],
)
def test_wrong_options_of_fit(shell: Shell, folder: Path, option: str, value: str, named: str) -> None:
    assert_refused(shell, folder, ["fit", "good.csv", "-o", "model.mrf", option, value], named)


@pytest.mark.parametrize(
    ("target", "named"), [("absent/model.mrf", "absent"), ("folder.mrf", "folder.mrf"), (".", "directory"), ("", "-o")]
)
def test_targets_that_cannot_be_written(shell: Shell, folder: Path, target: str, named: str) -> None:
    assert_refused(shell, folder, ["fit", "good.csv", "-o", target], named)


def test_a_target_is_checked_before_the_table_is_read(shell: Shell, folder: Path) -> None:
    assert_refused(shell, folder, ["fit", "empty.csv", "-o", "absent/model.mrf"], "absent/model.mrf")


def test_a_refused_fit_keeps_the_old_model(shell: Shell, folder: Path, model_file: Path) -> None:
    assert_refused(shell, folder, ["fit", "ragged.csv", "-o", model_file.name], "row 2")
    assert_refused(shell, folder, ["fit", "good.csv", "--strength", "0", "-o", model_file.name], "strength")


@pytest.mark.parametrize("command", ["show", "score"])
@pytest.mark.parametrize("name", ["absent.mrf", "junk.mrf", "empty.mrf", "folder.mrf", "good.csv", "nowhere/good.mrf"])
def test_files_that_are_no_models(shell: Shell, folder: Path, command: str, name: str) -> None:
    assert_refused(shell, folder, [command, name, "good.csv"][: 3 if command == "score" else 2], name)


def test_a_model_cut_anywhere_is_refused(shell: Shell, folder: Path, model_file: Path) -> None:
    whole = model_file.read_bytes()
    for length in range(0, len(whole), 23):
        (folder / "cut.mrf").write_bytes(whole[:length])
        assert_refused(shell, folder, ["show", "cut.mrf"], "cut.mrf")


def test_a_damaged_model_never_ends_in_a_traceback(shell: Shell, folder: Path, model_file: Path) -> None:
    """Every bit of the archive's directory, and some of its contents; a bit that means nothing may pass."""
    whole = model_file.read_bytes()
    directory = whole.rindex(b"PK\x01\x02", 0, whole.rindex(b"PK\x01\x02"))
    places = [*range(0, directory, 29), *range(directory, len(whole))]
    for place in places:
        for bit in (0, 3, 5):
            damaged = bytearray(whole)
            damaged[place] ^= 1 << bit
            (folder / "damaged.mrf").write_bytes(damaged)
            ran = shell("show", "damaged.mrf")
            assert ran.code in (0, 2)
            assert ran.err.count("\n") == (1 if ran.code else 0)


def _without(key: str) -> Callable[[dict[str, Any], dict[str, Any]], object]:
    return lambda description, arrays: (description if key in description else arrays).pop(key)


ALTERATIONS: dict[str, Callable[[dict[str, Any], dict[str, Any]], object]] = {
    "foreign format": lambda description, arrays: description.update(format="something else"),
    "newer schema": lambda description, arrays: description.update(schema=99),
    "unknown parameterization": lambda description, arrays: description.update(parameterization={"name": "astral"}),
    "no domain": _without("domain"),
    "a list as domain": lambda description, arrays: description.update(domain=[1, 2]),
    "an empty domain": lambda description, arrays: description.update(domain={}),
    "another domain": lambda description, arrays: description.update(domain={"smoker": ["no", "maybe", "yes"]}),
    "no provenance": _without("provenance"),
    "no parameters": _without("w"),
    "too few parameters": lambda description, arrays: arrays.update(w=arrays["w"][:1]),
    "parameters not numbers": lambda description, arrays: arrays.update(w=np.array(["a", "b", "c"])),
    "parameters not finite": lambda description, arrays: arrays.update(w=arrays["w"] * np.nan),
    "scope of a stranger": lambda description, arrays: arrays.update(scopes_2=np.array([[0, 9]])),
    "scope below zero": lambda description, arrays: arrays.update(scopes_2=np.array([[-1, 1]])),
    "scope with a repeated variable": lambda description, arrays: arrays.update(scopes_2=np.array([[1, 1]])),
    "scope of the wrong size": lambda description, arrays: arrays.update(scopes_2=np.array([[0, 1, 1]])),
    "scopes in a row": lambda description, arrays: arrays.update(scopes_2=np.array([0, 1])),
    "an array of no meaning": lambda description, arrays: arrays.update(colour=np.zeros(2)),
}


@pytest.mark.parametrize("alteration", ALTERATIONS)
def test_altered_models_are_refused(shell: Shell, folder: Path, model_file: Path, alteration: str) -> None:
    rewrite(model_file, ALTERATIONS[alteration], folder / "altered.mrf")
    assert_refused(shell, folder, ["show", "altered.mrf"], "altered.mrf")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["path", "nobody"], "'nobody'"),
        (["path", "nltcx"], "'nltcs'"),
        (["path", "nltcs:holdout"], "'holdout'"),
        (["path", "nltcs:train", "--data", "absent"], "'absent'"),
        (["path", "nltcs", "--data", "good.csv"], "'good.csv'"),
        (["get", "nobody"], "'nobody'"),
        (["get", "nltcs", "--data", "good.csv"], "good.csv"),
    ],
    ids=lambda value: " ".join(value) if type(value) is list else "",
)
def test_wrong_words_after_data(shell: Shell, folder: Path, arguments: list[str], named: str) -> None:
    assert_refused(shell, folder, ["data", *arguments], named)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["-o", "absent/demo"], "absent"),
        (["-o", "folder"], "folder.mrf"),
        (["--jobs", "0"], "0"),
        (["--seed", "-1"], "-1"),
    ],
    ids=lambda value: " ".join(value) if type(value) is list else "",
)
def test_wrong_options_of_the_demo(shell: Shell, folder: Path, arguments: list[str], named: str) -> None:
    assert_refused(shell, folder, ["demo", *arguments], named)
