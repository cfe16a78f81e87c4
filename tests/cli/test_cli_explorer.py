"""`mrfit report` and `mrfit explore`."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

import pytest

Shell = Callable[..., Any]


@pytest.fixture
def fitted(shell: Shell, tmp_path: Path) -> Shell:
    (tmp_path / "t.csv").write_text("a,b,c\n0,1,x\n1,0,y\n1,1,x\n0,0,y\n0,1,z\n")
    assert shell("fit", "t.csv", "-o", "m.mrf").code == 0
    return shell


def _document(page: str, part: str = "document") -> Any:
    found = re.search(rf'<script type="application/json" id="{part}">(.*?)</script>', page)
    assert found is not None
    return json.loads(found[1])


def test_a_report_is_one_file(fitted: Shell, tmp_path: Path) -> None:
    ran = fitted("report", "m.mrf", "t.csv", "-o", "r.html", "--title", "<A & B>")
    assert ran.code == 0
    assert re.fullmatch(r"wrote r\.html, \d+ kB; it answers exactly\n", ran.out)
    page = (tmp_path / "r.html").read_text()
    assert "<title>&lt;A &amp; B&gt;</title>" in page
    document = _document(page)
    assert document["title"] == "<A & B>"
    variable = document["variables"][2]
    assert (variable["name"], variable["states"], variable["ordered"]) == ("c", ["x", "y", "z"], False)
    assert variable["frequency"] == [0.4, 0.4, 0.2]


def test_the_same_report_again_has_the_same_bytes(fitted: Shell, tmp_path: Path) -> None:
    for name in ("one.html", "two.html"):
        assert fitted("report", "m.mrf", "t.csv", "-o", name, "--quiet").out == ""
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def test_a_report_as_json(fitted: Shell) -> None:
    told = fitted("report", "m.mrf", "-o", "r.html", "--json").document
    assert told["engine"] == "exact"
    assert told["bytes"] > 10_000


def test_models_of_other_programs(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "m.uai").write_text("MARKOV\n2\n2 2\n1\n2 0 1\n4\n1 2 3 0\n")
    assert shell("report", "m.uai", "-o", "r.html").code == 0
    table = _document((tmp_path / "r.html").read_text(), "tables")[0][1]
    assert table[3] is None


def test_resamples_say_how_stable_edges_are(fitted: Shell, tmp_path: Path) -> None:
    """The output of `mrfit stability` is read; a pair without a line occurred in no bootstrap sample."""
    assert fitted("stability", "t.csv", "--resamples", "3", "-o", "edges.csv", "--quiet").code == 0
    header, *lines = (tmp_path / "edges.csv").read_text().splitlines()
    (tmp_path / "edges.csv").write_text("\n".join([header, *lines[1:]]) + "\n")
    assert fitted("report", "m.mrf", "-o", "r.html", "--stability", "edges.csv").code == 0
    document = _document((tmp_path / "r.html").read_text())
    names = [variable["name"] for variable in document["variables"]]
    found = {frozenset((names[a], names[b])): stability for a, b, _, stability in document["edges"]}
    assert found[frozenset(lines[0].split(",")[:2])] == [0.0, 0.0, 0.0]
    source, target, _, inclusion, *_ = lines[1].split(",")
    assert found[frozenset((source, target))][0] == pytest.approx(float(inclusion), abs=1e-5)


def test_a_model_carries_what_data_and_resamples_say(fitted: Shell, tmp_path: Path) -> None:
    """Its page is then that of the model, the data and the resamples, and MODEL is as it was."""
    assert fitted("stability", "t.csv", "--resamples", "3", "-o", "edges.csv", "--quiet").code == 0
    before = (tmp_path / "m.mrf").read_bytes()
    assert fitted("annotate", "m.mrf", "t.csv", "-o", "data.mrf").out.startswith(
        "wrote data.mrf; it carries frequencies, predictability, pll -"
    )
    ran = fitted("annotate", "data.mrf", "--stability", "edges.csv", "-o", "all.mrf", "--json")
    assert ran.document["scores"][0]["rows"] == 5  # what it carried stays
    assert (tmp_path / "m.mrf").read_bytes() == before
    fitted("report", "m.mrf", "t.csv", "--stability", "edges.csv", "-o", "given.html", "--title", "t")
    fitted("report", "all.mrf", "-o", "carried.html", "--title", "t")
    assert (tmp_path / "given.html").read_bytes() == (tmp_path / "carried.html").read_bytes()
    shown = fitted("show", "all.mrf").words
    assert re.search(r" observed: frequencies, .* of 5 rows, how often resamples have \d edges ", shown)


def test_covariates_are_shown_at_a_state_of_each(fitted: Shell, tmp_path: Path) -> None:
    assert fitted("fit", "t.csv", "--covariates", "c", "-o", "g.mrf", "--quiet").code == 0
    assert "choose a state of each: --evidence c=x" in fitted("report", "g.mrf", "-o", "r.html").err
    assert fitted("report", "g.mrf", "t.csv", "-o", "r.html", "--evidence", "c=y").code == 0
    document = _document((tmp_path / "r.html").read_text())
    assert [variable["name"] for variable in document["variables"]] == ["a", "b"]
    assert document["title"] == "g, c=y"
    assert document["scores"][0]["rows"] == 2


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("a,b\n", "no column 'source', 'target'"),
        ("source,target,inclusion,low,high\na,z,1,0,1\n", "no variable 'z'"),
        ("source,target,inclusion,low,high\na,b,often,0,1\n", "'often'"),
        ("source,target,inclusion,low,high\na,b,1.5,0,1\n", "a share from 0 to 1"),
        ("source,target,inclusion,low,high\na,b,1,0,1\nb,a,1,0,1\n", "line 3: this pair has a line already"),
    ],
)
def test_files_that_say_nothing_of_stability(fitted: Shell, tmp_path: Path, content: str, told: str) -> None:
    (tmp_path / "edges.csv").write_text(content)
    ran = fitted("report", "m.mrf", "-o", "r.html", "--stability", "edges.csv")
    assert ran.code == 2
    assert told in ran.err
    assert ran.err.count("\n") == 1
    assert not (tmp_path / "r.html").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("report", "m.mrf"), "Missing option '-o'"),
        (("report", "none.mrf", "-o", "r.html"), "There is no model file none.mrf"),
        (("report", "m.mrf", "-o", "m.mrf"), "-o m.mrf is what MODEL reads"),
        (("report", "m.mrf", "none.csv", "-o", "r.html"), "none.csv"),
        (("explore", "m.mrf", "--host", "0.0.0.0"), "add --expose if you want that"),
        (("report", "m.mrf", "-o", "r.html", "--stability", "none.csv"), "Cannot read the stability of edges"),
        (("explore", "m.mrf", "--port", "99999"), "--port"),
        (("explore", "m.mrf", "--compare", "none.mrf"), "There is no model file none.mrf"),
        (("explore", "m.mrf", "--compare", "m.mrf", "--stability", "s.csv"), "--stability is of one model"),
        (("annotate", "m.mrf", "-o", "n.mrf"), "give DATA, --stability CSV, or both"),
        (("annotate", "m.mrf", "t.csv", "-o", "m.mrf"), "-o m.mrf is what MODEL reads"),
        (("annotate", "m.mrf", "t.csv"), "Missing option '-o'"),
    ],
)
def test_bad_input_is_one_line(fitted: Shell, arguments: tuple[str, ...], told: str, tmp_path: Path) -> None:
    ran = fitted(*arguments)
    assert ran.code == 2
    assert told in ran.err
    assert ran.err.count("\n") == 1
    assert not (tmp_path / "r.html").exists()


def test_explore_serves_until_it_is_stopped(fitted: Shell, tmp_path: Path) -> None:
    given = ["m.mrf", "t.csv", "--no-browser", "--compare", "m.mrf", "--expose"]
    command = [sys.executable, "-m", "mrfit", "explore", *given]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        with opener.open(address, timeout=20) as response:
            document = _document(response.read().decode())
            assert document["scores"][0]["rows"] == 5
            assert (document["title"], document["other"]["title"]) == ("m", "m")
            assert document["other"]["compared"]["difference"] == 0.0
        with opener.open(address.partition("/open")[0] + "/api/compare", timeout=20) as response:
            assert json.loads(response.read())["scores"]["difference"] == 0.0
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=20)
    assert process.returncode == 0
    *warned, stopped = told.splitlines()
    assert "anyone on the network who knows this address" in " ".join(warned)
    assert stopped == "mrfit: stopped."
