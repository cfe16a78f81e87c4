"""`mrfit query` and `mrfit logz`: good questions, wrong ones, and what is printed."""

from __future__ import annotations

import io
import math
import os
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from forked import run_apart
from mrfit.registry import ENGINES

Shell = Callable[..., Any]

# p(a) = 0.3, 0.7; b equals a with 0.9 | 0.8; c is impossible in state 2 if b is 1.
SMALL = """MARKOV
3
2 2 3
3
1 0
2 0 1
2 1 2
2
0.3 0.7
4
0.9 0.1 0.2 0.8
6
0.5 0.25 0.25 0.5 0.5 0
# mrfit {"states": {"smoker": ["no", "yes"], "cough, dry": ["no", "yes"], "x=y": ["low", "mid", "high"]}}
"""
P_COUGH = 0.3 * 0.1 + 0.7 * 0.8


def dense(n: int) -> str:
    """All pairs of n variables: one clique."""
    pairs = [(i, j) for i in range(n) for j in range(i)]
    scopes = "\n".join(f"2 {i} {j}" for i, j in pairs)
    tables = "\n".join("4 1 2 2 1" for _ in pairs)
    return f"MARKOV\n{n}\n{' '.join('2' * n)}\n{len(pairs)}\n{scopes}\n{tables}\n"


@pytest.fixture(name="folder", autouse=True)
def _folder(tmp_path: Path, shell: Shell) -> Path:
    (tmp_path / "small.uai").write_text(SMALL)
    return tmp_path


def test_as_json(shell: Shell) -> None:
    ran = shell("query", "small.uai", "--evidence", "smoker=yes", "--json")
    assert (ran.code, ran.err) == (0, "")
    document = ran.document
    assert list(document) == [
        "engine", "why", "exact", "remarks", "given", "log_z", "error", "marginals", "evidence", "errors",
        "log_p_evidence", "log_p_evidence_error", "before", "before_errors", "joint", "map", "explain", "log_p_given",
        "log_p_given_error",
    ]  # fmt: skip
    assert (document["exact"], document["error"], document["remarks"]) == (True, 0.0, [])
    assert document["given"] == "smoker=yes"
    assert document["log_z"] == pytest.approx(math.log(0.7))
    assert document["log_p_given"] == pytest.approx(math.log(0.7))
    assert document["marginals"]["cough, dry"] == pytest.approx({"no": 0.2, "yes": 0.8})
    assert document["errors"]["cough, dry"] == document["before_errors"]["cough, dry"] == {"no": 0.0, "yes": 0.0}
    assert document["before"]["cough, dry"] == pytest.approx({"no": 1 - P_COUGH, "yes": P_COUGH})
    assert list(document["marginals"]) == ["cough, dry", "x=y"]
    assert (document["joint"], document["map"], document["explain"]) == ([], None, [])


def test_nothing_given(shell: Shell) -> None:
    document = shell("query", "small.uai", "--json").document
    assert document["before"] is None
    assert document["log_p_given"] is None
    assert list(document["marginals"]) == ["smoker", "cough, dry", "x=y"]
    out = shell("query", "small.uai").out
    assert out.splitlines()[:2] == ["no evidence", "exact"]
    assert out.splitlines()[3].split() == ["variable", "state", "probability"]


def test_a_table_for_people(shell: Shell) -> None:
    ran = shell("query", "small.uai", "--evidence", "smoker=yes", "--ask", '"cough, dry"')
    assert ran.out.splitlines() == [
        "given smoker=yes: cough, dry=yes 0.590 -> 0.800",
        "exact",
        "log Z -0.3567, log probability of the evidence -0.3567",
        "variable    state  before  after  change",
        "cough, dry  no      0.410  0.200  -0.210",
        "            yes     0.590  0.800  +0.210",
    ]
    assert ran.err == ""
    assert shell("query", "small.uai", "--verbose").err.startswith("mrfit: note: engine ")
    assert shell("query", "small.uai", "--verbose", "--quiet").err == ""


def test_joint_states_best_states_and_explanations(shell: Shell) -> None:
    arguments = ["query", "small.uai", "--evidence", '"cough, dry=yes"', "--ask", "smoker", "--ask", "smoker,x=y"]
    document = shell(*arguments, "--map", "--explain", "--json").document
    (joint,) = document["joint"]
    assert joint["variables"] == ["smoker", "x=y"]
    assert sum(cell["p"] for cell in joint["table"]) == pytest.approx(1.0)
    assert {"states": {"smoker": "no", "x=y": "high"}, "p": 0.0, "error": 0.0} in joint["table"]
    assert document["map"]["states"] == {"smoker": "yes", "cough, dry": "yes", "x=y": "low"}
    (told,) = document["explain"]
    assert told["influences"][0]["p_without"] == pytest.approx(0.7)
    out = shell(*arguments, "--map", "--explain").out
    assert "most probable together" in out
    assert "cough, dry=yes  " in out


@pytest.mark.parametrize("engine", [engine for engine in ("auto", *ENGINES) if engine != "max-product"])
def test_every_engine_can_be_asked_for(shell: Shell, engine: str) -> None:
    document = shell("query", "small.uai", "--engine", engine, "--json").document
    if engine == "mean-field":  # rough here
        assert sum(document["marginals"]["smoker"].values()) == pytest.approx(1.0)
    else:
        assert document["marginals"]["smoker"] == pytest.approx({"no": 0.3, "yes": 0.7}, abs=0.05)
    assert document["engine"] == engine or engine == "auto"


def test_uncertain_evidence(shell: Shell) -> None:
    document = shell("query", "small.uai", "--evidence", "smoker~0.7:0.3", "--json").document
    assert document["given"] == "smoker~0.7:0.3"
    assert document["marginals"]["smoker"] == pytest.approx({"no": 0.5, "yes": 0.5})


def test_names_with_commas_and_signs(shell: Shell) -> None:
    document = shell("query", "small.uai", "--evidence", 'x=y=mid,"cough, dry=no"', "--json").document
    assert document["given"] == "x=y=mid, cough, dry=no"


def test_evidence_that_is_typed_and_in_files(shell: Shell, folder: Path) -> None:
    (folder / "e.evid").write_text("1 0 1")
    together = shell("query", "small.uai", "--evidence", "smoker=yes", "--evidence", "x=y=low", "--json").document
    from_file = shell("query", "small.uai", "--evidence", "x=y=low", "--evidence", "e.evid", "--json").document
    assert from_file["given"] == together["given"] == "smoker=yes, x=y=low"
    assert from_file["marginals"]["cough, dry"] == pytest.approx(together["marginals"]["cough, dry"])
    (folder / "smoker").write_text("1 0 1")  # a file by any name that holds no =
    assert shell("query", "small.uai", "--evidence", "smoker", "--json").document["given"] == "smoker=yes"
    twice = shell("query", "small.uai", "--evidence", "e.evid", "--evidence", "smoker=no")
    assert (twice.code, twice.out) == (2, "")
    assert "'smoker' has evidence twice, 'yes' and 'no'; give it once" in twice.err
    assert "absent.evid" in shell("query", "small.uai", "--evidence", "absent.evid").err


@pytest.mark.parametrize("command", ["query", "logz", "sample"])
def test_given_is_an_alias_of_evidence(shell: Shell, folder: Path, command: str) -> None:
    """A lasting one: nothing is said of it."""
    ran, alias = (shell(command, "small.uai", option, "smoker=yes") for option in ("--evidence", "--given"))
    assert ran.code == 0
    assert (alias.code, alias.out, alias.err) == (ran.code, ran.out, ran.err)
    assert "now" not in ran.err
    assert ran.out != shell(command, "small.uai").out


def test_many_variables_are_sorted_by_how_far_they_moved(shell: Shell, folder: Path) -> None:
    (folder / "chain.uai").write_text(
        "MARKOV\n30\n" + "2 " * 30 + "\n29\n" + "".join(f"2 {i} {i + 1}\n" for i in range(29)) + "4 9 1 1 9\n" * 29
    )
    out = shell("query", "chain.uai", "--evidence", "v10=1", "--top", "4").out.splitlines()
    shown = [line.split()[0] for line in out[4:12:2]]
    assert shown == ["v9", "v11", "v8", "v12"]
    assert out[-1].startswith("... and 25 more variables, which change by at most 0.256 ")
    out = shell("query", "chain.uai", "--top", "2").out
    assert "... and 28 more variables (--top N shows more)" in out


def test_a_model_that_only_what_is_given_makes_small(shell: Shell, folder: Path) -> None:
    (folder / "dense.uai").write_text(dense(50))
    given = ",".join(f"v{i}=1" for i in range(40))
    ran = shell("query", "dense.uai", "--evidence", given, "--ask", "v49", "--engine", "tree")
    assert ran.code == 0
    assert "probabilities before are not shown" in ran.err
    assert "probability" in ran.out
    assert shell("query", "dense.uai", "--evidence", given, "--engine", "tree", "--json").document["before"] is None


@pytest.mark.parametrize(
    "arguments",
    [("query", "small.uai"), ("query", "small.uai", "--plan"), ("logz", "small.uai")]
    + [("infer", "small.uai", "--task", task) for task in ("MAR", "PR")],
    ids=" ".join,
)
def test_an_engine_for_most_probable_states_answers_no_marginals(shell: Shell, arguments: tuple[str, ...]) -> None:
    """Its max-marginals are no probabilities: 0.46 beside 0.41 here."""
    ran = shell(*arguments, "--engine", "max-product")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        "mrfit: The engine 'max-product' finds most probable states, but neither marginals nor log Z. Choose one of "
        "'auto', 'enumeration', 'tree', 'bp', 'trw', 'mean-field', 'gibbs', 'ais', 'tempering'.\n"
    )


def test_an_engine_for_most_probable_states_finds_them(shell: Shell) -> None:
    document = shell("infer", "small.uai", "--task", "MAP", "--engine", "max-product", "--json").document
    assert (document["engine"], document["exact"], document["states"]) == ("max-product", True, [1, 1, 0])
    assert "choose auto, tree" in shell("infer", "small.uai", "--task", "MAP", "--engine", "gibbs").err


def test_a_model_too_large_is_approximated(shell: Shell, folder: Path) -> None:
    """The answer has an error, and the reason is on standard error."""
    (folder / "dense.uai").write_text(dense(50))
    ran = shell("query", "dense.uai", "--ask", "v1", "--verbose")
    assert ran.code == 0
    assert "no exact engine fits. A junction tree of 50 variables needs cliques of" in " ".join(ran.notes)
    _, how, log_z, _, first, _ = ran.out.splitlines()
    assert how == "approximate (ais): +- is a standard error, more --samples make it smaller"
    assert re.fullmatch(r"log Z \d+\.\d+ \+- 0\.\d+", log_z)
    p, error = re.fullmatch(r"v1 +0 +0\.(\d+) \+- 0\.(\d+)", first).groups()  # type: ignore[union-attr]
    assert len(p) == len(error) <= 3
    document = shell("query", "dense.uai", "--ask", "v1", "--json").document
    assert (document["engine"], document["exact"]) == ("ais", False)
    assert document["error"] > 0
    p, error = document["marginals"]["v1"], document["errors"]["v1"]
    assert abs(p["0"] - 0.5) < 4 * error["0"] < 0.1  # by symmetry


def test_plans(shell: Shell, folder: Path) -> None:
    (folder / "dense.uai").write_text(dense(60))
    plan = shell("query", "dense.uai", "--engine", "tree", "--plan", "--json").document
    assert (plan["engine"], plan["fits"], plan["width"]) == ("tree", False, 59)
    assert plan["cells"] == pytest.approx(2**60)
    assert "would be refused" in shell("query", "dense.uai", "--engine", "tree", "--plan").out
    assert shell("query", "dense.uai", "--plan", "--json").document["engine"] == "ais"
    small = shell("query", "small.uai", "--plan", "--json").document
    assert small["fits"]
    assert small["seconds"] < 1


def test_pictures(shell: Shell, folder: Path) -> None:
    for name in ("a.png", "a.svg", "a.pdf"):
        assert shell("query", "small.uai", "--evidence", "smoker=yes", "--plot", name, "--title", "").code == 0
        assert (folder / name).stat().st_size > 1000


def test_standard_input(shell: Shell, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "t.csv").write_text("a,b\n" + "x,y\nx,z\nw,z\nw,y\nx,y\n" * 3)
    shell("fit", "t.csv", "-o", "m.mrf")
    expected = shell("query", "m.mrf", "--json").out
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO((folder / "m.mrf").read_bytes())))
    assert shell("query", "-", "--json").out == expected
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(SMALL.encode())))
    assert shell("logz", "-", "--from", "uai", "--evidence", "smoker=yes").out == f"log Z {math.log(0.7):.10g}\n"


@pytest.mark.parametrize("suffix", [".mrf", ".uai.gz", ".LG", ".mn", ".fg"])
def test_all_formats(shell: Shell, suffix: str) -> None:
    shell("convert", "small.uai", f"copy{suffix}")
    marginals = shell("query", f"copy{suffix}", "--json").document["marginals"]
    expected = shell("query", "small.uai", "--json").document["marginals"]
    for found, p in zip(marginals.values(), expected.values(), strict=True):
        assert list(found.values()) == pytest.approx(list(p.values()))


def test_log_z(shell: Shell) -> None:
    ran = shell("logz", "small.uai", "--evidence", "smoker=yes,x=y=high")
    assert ran.out == f"log Z {math.log(0.7 * 0.2 * 0.25):.10g}\n"
    document = shell("logz", "small.uai", "--json").document
    assert document["log_z"] == pytest.approx(0.0, abs=1e-12)
    assert document["exact"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["small.uai", "--evidence", "smoker=maybe"], "has no state 'maybe'; its states are 'no', 'yes'"),
        (["small.uai", "--evidence", "age=old"], "no variable 'age'; the variables are 'smoker'"),
        (["small.uai", "--evidence", "smoker=yes,smoker=no"], "'smoker' has evidence twice, 'yes' and 'no'"),
        (
            ["small.uai", "--evidence", "smoker"],
            "nor NAME=STATE; write it like --evidence smoker=yes",
        ),
        (["small.uai", "--evidence", ""], "holds an empty name"),
        (["small.uai", "--evidence", "smoker~1"], "for each of its 2 states"),
        (["small.uai", "--evidence", "smoker~a:b"], "like smoker~0.2:0.8"),
        (["small.uai", "--evidence", "smoker~0:0"], "not all 0"),
        (["small.uai", "--evidence", '"cough, dry=yes",x=y=high'], "probability zero under the model: cough, dry=yes"),
        (["small.uai", "--evidence", "absent.evid"], "no file 'absent.evid'"),
        (["small.uai", "--evidence", "many.evid"], "holds 2 samples"),
        (["small.uai", "--evidence", "wrong.evid"], "'wrong.evid', line 1, token 3: '7' is wrong"),
        (["small.uai", "--ask", "age"], "no variable 'age'"),
        (["small.uai", "--ask", "smoker,smoker"], "names a variable twice"),
        (["small.uai", "--ask", "smoker,x=y", "--evidence", "smoker=no"], "'smoker' is both asked for and evidence"),
        (
            ["dense.uai", "--ask", ",".join(f"v{i}" for i in range(28))],
            "28 variables with 2.7e+08 joint states; the limit",
        ),
        (["small.uai", "--explain"], "--explain needs evidence"),
        (["small.uai", "--engine", "magic"], "'magic' is not one of"),
        (["small.uai", "--plot", "small.uai"], "--plot small.uai is what MODEL reads"),
        (["small.uai", "--plot", "a.txt"], "let it end in .png, .svg or .pdf"),
        (["small.uai", "--plot", "old.png", "--no-clobber"], "exists and is not to be overwritten"),
        (["small.uai", "--plot", "new.png", "--ask", "smoker,x=y"], "--plot draws single variables"),
        (["small.uai", "--plot", "new.png", "--plan"], "nothing for --plot to draw"),
        (["small.uai", "--title", "x"], "add --plot FILE"),
        (["absent.uai"], "no file 'absent.uai'"),
        (["old.png"], "known are .mrf, .uai"),
        (["old.png", "--from", "mrf"], "not a model file of mrfit"),
        (["small.uai", "--from", "fg"], "line 1, token 1"),
        (["cut.uai"], "'cut.uai' ends after"),
        (["huge.uai"], "1.15e+18 values of table 0 should follow"),
        (["dense.uai", "--engine", "tree"], "cliques of 1.2e+18 cells in all, the largest of 60 variables ('v0', 'v1'"),
        (["dense.uai", "--engine", "tree", "--map"], "Observe some variables of the largest clique"),
        (["dense.uai", "--engine", "enumeration"], "goes over all 1.2e+18 joint states of 60 variables"),
        (["wide.mn"], "A junction tree of 612 variables needs cliques of"),
        (["-", "--evidence", "-"], "cannot both be standard input"),
    ],
)
def test_wrong_calls(shell: Shell, folder: Path, arguments: list[str], complaint: str) -> None:
    """One line that says it, after at most the note on the engine; and nothing is written."""
    files = {
        "old.png": "",
        "many.evid": "2\n1 0 1\n1 1 0\n",
        "wrong.evid": "1 0 7",
        "cut.uai": SMALL[:60],
        "huge.uai": f"MARKOV\n60\n{'2 ' * 60}\n1\n60 {' '.join(map(str, range(60)))}\n{2**60}\n1 2\n",
        "dense.uai": dense(60),
        "wide.mn": _wide(),
    }
    for name, content in files.items():
        (folder / name).write_text(content)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    ran = shell("query", *arguments)
    assert (ran.code, ran.out) == (2, "")
    *notes, line = ran.err.splitlines()
    assert complaint in line
    assert all(each.startswith("mrfit: note: engine") for each in notes)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def _wide() -> str:
    """Many conjunctions of many variables: cliques with hidden ones that no memory holds."""
    lines = []
    for k in range(60):
        chosen = sorted({(7 * k + 11 * j * (k + 1)) % 60 for j in range(25)})
        lines.append("0.5 " + " ".join(f"+v{i}_1" for i in chosen))
    return ",".join("2" * 60) + "\nMN {\n" + "\n".join(lines) + "\n}\n"


def test_a_reader_that_leaves_early(folder: Path) -> None:
    """`mrfit query ... | head -1` ends without a word of complaint."""
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as closed:
        ran = run_apart("query", "small.uai", "--quiet", cwd=folder, stdout=closed)
    assert (ran.returncode, ran.stderr) == (141, b"")
