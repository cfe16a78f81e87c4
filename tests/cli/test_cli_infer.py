"""`mrfit infer`: the files of the UAI competitions."""

from __future__ import annotations

import gzip
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrfit.formats.uai_results import read_map, read_mar, read_pr
from mrfit.inference.map.best_state import WAYS

Shell = Callable[..., Any]

SMALL = "MARKOV\n3\n2 2 3\n2\n2 0 1\n2 1 2\n4\n1 2 3 4\n6\n5 1 1 1 5 0\n"
Z = 1 * 7 + 2 * 6 + 3 * 7 + 4 * 6


@pytest.fixture(name="folder", autouse=True)
def _folder(tmp_path: Path, shell: Shell) -> Path:
    (tmp_path / "small.uai").write_text(SMALL)
    (tmp_path / "one.evid").write_text("1 0 1")
    (tmp_path / "pairs.evid").write_text("1\n0 1\n")
    (tmp_path / "many.evid").write_text("2\n1 1 0\n1 0 1\n")
    return tmp_path


def test_answers_without_evidence(shell: Shell, folder: Path) -> None:
    assert shell("infer", "small.uai", "--task", "MAP").out == "MAP\n3 1 1 1\n"
    assert shell("infer", "small.uai", "--task", "PR", "-o", "small.uai.PR").out == "wrote small.uai.PR\n"
    assert read_pr(folder / "small.uai.PR") == pytest.approx(math.log(Z))
    shell("infer", "small.uai", "--task", "MAR", "-o", "small.uai.MAR", "--quiet")
    np.testing.assert_allclose(read_mar(folder / "small.uai.MAR")[0], [19 / Z, 45 / Z])


@pytest.mark.parametrize("dialect", [["one.evid"], ["pairs.evid"], ["many.evid", "--sample", "2"]], ids=str)
def test_three_dialects_of_evidence(shell: Shell, folder: Path, dialect: list[str]) -> None:
    """Observed variables have probabilities 0 and 1, and their state in the best one."""
    shell("infer", "small.uai", *dialect, "--task", "mar", "-o", "a.MAR", "--quiet")
    observed, free, _ = read_mar(folder / "a.MAR")
    assert observed.tolist() == [0.0, 1.0]
    np.testing.assert_allclose(free, [21 / 45, 24 / 45])
    shell("infer", "small.uai", *dialect, "--task", "map", "-o", "a.MAP", "--quiet")
    assert read_map(folder / "a.MAP")[0] == 1


@pytest.mark.parametrize(("word", "base"), [("10", 10.0), ("e", math.e), ("2", 2.0)])
def test_bases_of_logarithms(shell: Shell, word: str, base: float) -> None:
    ran = shell("infer", "small.uai", "--task", "PR", "--log-base", word)
    assert float(ran.out.split()[1]) == pytest.approx(math.log(Z, base))


def test_as_json(shell: Shell, folder: Path) -> None:
    document = shell("infer", "small.uai", "one.evid", "--task", "MAR", "--json").document
    assert (document["task"], document["exact"], len(document["marginals"])) == ("MAR", True, 3)
    assert document["marginals"][0] == [0.0, 1.0]
    assert shell("infer", "small.uai", "--task", "MAP", "--json").document["states"] == [1, 1, 1]
    document = shell("infer", "small.uai", "--task", "PR", "--json", "-o", "a.PR").document
    assert document["log_z"] == pytest.approx(math.log(Z))
    assert document["log_base"] == 10.0
    assert read_pr(folder / "a.PR") == pytest.approx(document["log_z"])


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("small.uai", "Missing option '--task'"),
        ("small.uai --task XX", "'XX' is not one of"),
        ("small.uai many.evid --task PR", "holds 2 samples of evidence"),
        ("small.uai many.evid --task PR --sample 3", "has no sample 3; it holds 2"),
        ("small.uai --task PR --sample 1", "add EVID"),
        ("small.uai --task PR --log-base 1", "no base of logarithms"),
        ("small.uai --task PR --log-base x", "no base of logarithms"),
        ("small.uai one.evid --task PR -o one.evid", "-o one.evid is what EVID reads"),
        ("small.uai zero.evid --task PR", "probability zero under the model: v1=1, v2=2"),
        ("small.uai absent.evid --task PR", "no file 'absent.evid'"),
        ("- - --task PR", "cannot both be standard input"),
    ],
)
def test_wrong_calls(shell: Shell, folder: Path, arguments: str, complaint: str) -> None:
    (folder / "zero.evid").write_text("2 1 1 2 2")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    ran = shell("infer", *arguments.split(), "--quiet")
    assert (ran.code, ran.out) == (2, "")
    assert complaint in ran.err
    assert ran.err.count("\n") == 1
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("name", ["Promedus_24", "Segmentation_11", "Pedigree_11"])
def test_stored_answers_of_the_competition(shell: Shell, folder: Path, conformance_dir: Path, name: str) -> None:
    """Marginals and Z of 2014, to the digits that are stored."""
    files = conformance_dir / "uai2014"
    model, evidence = files / f"{name}.uai.gz", files / f"{name}.uai.evid"
    assert shell("infer", model, evidence, "--task", "MAR", "-o", "found.MAR").code == 0
    (folder / "stored.MAR").write_bytes(gzip.decompress((files / f"{name}.uai.MAR.gz").read_bytes()))
    for found, stored in zip(read_mar(folder / "found.MAR"), read_mar(folder / "stored.MAR"), strict=True):
        np.testing.assert_allclose(found, stored, atol=2e-5)
    value = float(shell("infer", model, evidence, "--task", "PR").out.split()[1])
    assert value == pytest.approx(read_pr(files / f"{name}.uai.PR") / math.log(10), rel=1e-5)


@pytest.mark.parametrize("engine", WAYS)
def test_most_probable_states_by_any_way(shell: Shell, folder: Path, engine: str) -> None:
    found = shell("infer", "small.uai", "--task", "MAP", "--engine", engine, "--json")
    assert (found.code, found.document["engine"]) == (0, engine)
    assert found.document["gap"] == pytest.approx(0.0, abs=1e-9)
    refused = shell("infer", "small.uai", "--task", "MAR", "--engine", engine)
    assert refused.code == (0 if engine == "tree" else 2)
    if refused.code:
        assert "hoose one of 'auto', 'enumeration', 'tree', 'bp', 'trw'" in refused.err


def test_scores_of_rows_under_models_of_other_programs(shell: Shell, folder: Path) -> None:
    """Scores equal those under the same model in our own format."""
    (folder / "rows.data").write_text("0,0,0\n1,1,1\n2|1,0,2\n")
    shell("convert", "small.uai", "small.mn")
    ll = [math.log(1 * 5 / Z), math.log(4 * 5 / Z), math.log(3 * 1 / Z)]
    for name in ("small.uai", "small.mn"):
        document = shell("score", name, "rows.data", "--metric", "ll", "--per-row", "--json").document
        assert document["per_row"] == pytest.approx(ll)
        assert shell("score", name, "rows.data", "--json").document["pll"] < 0
    (folder / "plain").write_text(SMALL)
    assert shell("score", "plain", "rows.data", "--from", "uai", "--metric", "ll").code == 0


def test_files_hold_no_more_digits_than_are_known(shell: Shell, folder: Path) -> None:
    """Files have no column for an error, so that they print one digit more than is certain."""
    ran = shell("infer", "small.uai", "--task", "MAR", "--engine", "gibbs", "-o", "a.MAR")
    assert re.search(r"The largest standard error of a probability is 0\.0\d+\.$", ran.err, re.MULTILINE)
    numbers = [text for text in (folder / "a.MAR").read_text().split()[2:] if "." in text]
    assert len(numbers) == 7
    assert all(len(text) <= len("0.12345") for text in numbers)
    document = shell("infer", "small.uai", "--task", "MAR", "--engine", "gibbs", "--json").document
    assert document["exact"] is False
    errors = document["errors"][0]
    np.testing.assert_allclose(read_mar(folder / "a.MAR")[0], document["marginals"][0], atol=0.06 * errors[0] + 1e-9)
    pr = shell("infer", "small.uai", "--task", "PR", "--engine", "ais")
    assert "The standard error of log Z is 0.0" in pr.err
    assert len(pr.out.split()[1]) <= len("1.80618")
    exact = shell("infer", "small.uai", "--task", "PR").out.split()[1]
    assert exact == repr(math.log(Z) / math.log(10))
