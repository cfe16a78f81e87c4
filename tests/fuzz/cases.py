"""One case: files in a folder and the arguments of a command, all from one number."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from fuzz.damage import (
    TABLE,
    TEXT,
    Rng,
    pick,
    spoiled,
    spoiled_gzip,
    spoiled_json,
    write_spoiled_model,
)  # fmt: skip
from model_files import parts_of
from mrfit.cli.main import main
from mrfit.core.domain import Domain
from mrfit.core.factors import Factors
from mrfit.formats.models import format_of, network_bytes
from mrfit.model.factor_network import FactorNetwork

SEED = 20_18

_NAMES = ("smoker", "cough", "age", "region")


@dataclass(frozen=True)
class Case:
    """Command to run, and the files it may write."""

    arguments: list[str]
    outputs: tuple[str, ...] = ()


@cache
def table() -> bytes:
    """A small sound table with two to four states a column."""
    rng = np.random.default_rng(SEED)
    states = (("no", "yes"), ("0", "1"), ("old", "middle", "young"), ("1", "2", "3", "4"))
    rows = [",".join(pick(rng, column) for column in states) for _ in range(40)]
    return "\n".join([",".join(_NAMES), *rows, ""]).encode()


@cache
def _parquet() -> bytes:
    import pyarrow as pa
    from pyarrow import csv, parquet

    content = io.BytesIO()
    parquet.write_table(csv.read_csv(pa.BufferReader(table())), content)
    return content.getvalue()


@cache
def models() -> list[tuple[bytes, dict[str, bytes]]]:
    """Sound models: plain, in other coordinates, tied."""
    ways = (
        ["--structure", "tree"],
        ["--parameterization", "spectral"],
        ["--penalty", "tied", "--groups", "2", "--strength", "1"],
    )
    found = []
    with TemporaryDirectory() as folder:
        data, path = Path(folder) / "table.csv", Path(folder) / "model.mrf"
        data.write_bytes(table())
        for way in ways:
            assert main(["fit", str(data), *way, "-o", str(path), "--quiet"]) == 0
            found.append((path.read_bytes(), parts_of(path)))
    return found


# --- options

_NUMBERS = ("0", "1", "2", "-1", "1e300", "1e-300", "nan", "inf", "1e999", "", "abc", "0.5", "1,2", "2,,3", "9" * 40)
_OPTIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "common": {
        "--seed": ("0", "7", "-1", "x", "1e3", "9" * 30),
        "--jobs": ("1", "2", "0", "-1", "-7", "x"),
        "--json": (),
        "--quiet": (),
        "--no-such-option": (),
    },
    "reading": {
        "--weight": ("cough", "region", "smoker", "absent", ""),
        "--header": (),
        "--no-header": (),
        "--missing": ("drop", "state", "error", "x"),
        "--unknown": ("drop", "error"),
    },
    "structure": {
        "--max-degree": ("1", "2", "15", "1,2", *_NUMBERS),
        "--bound": ("gain", "path", "top", "graph", "joint"),
        "--price": ("valid", "12", "x", *_NUMBERS),
        "--rule": ("or", "and"),
        "--select": ("degree", "ebic", "valid", "strength", "theory"),
        "--gamma": _NUMBERS,
        "--scale": ("raw", "standard", "x"),
        "--refit": (),
        "--no-refit": (),
        "--select-strength": ("1", "5", *_NUMBERS),
        "--require": ("smoker,cough", "smoker,smoker", "smoker", "a,b"),
        "--forbid": ("smoker,cough", "age,region", ","),
        "--valid": ("valid.csv", "absent.csv", ""),
    },
    "fit": {
        "--structure": ("complete", "independent", "tree", "l1", "order:2", "order:all", "order:0", "order:x", "edges:",
                        "edges:edges.csv", "x", ""),
        "--order": ("1", "2", "3", "all", "0", "-1", "x"),
        "--penalty": ("l2", "l1", "group", "hierarchical", "flat-l1", "flat-l2", "none", "pseudo-counts", "tied",
                      "hard", "ltr"),
        "--objective": ("pseudo", "likelihood", "pseudo-likelihood"),
        "--engine": ("auto", "enumeration", "tree", "exact"),
        "--parameterization": ("canonical", "spectral", "full", "ising", "generalized-ising", "ordered"),
        "--ordered": ("all", "age", "age,smoker", "absent", "", ","),
        "--covariates": ("age", "smoker,cough", "age,age", "absent", "", ","),
        "--covariates-on-edges": (),
        "--reference": ("first", "last", "random", "smoker=yes", "smoker=x", "x=y", "="),
        "--search": ("exact", "hierarchical"),
        "--strength": ("1", "1,10", "0.1", *_NUMBERS),
        "--folds": ("0", "2", "3", "1", "100", "-1"),
        "--free-orders": ("", "1", "1,2", "7", *_NUMBERS),
        "--solver": ("newton", "lbfgs", "owlqn", "proximal-newton", "fista"),
        "--tolerance": ("1e-3", "1e-6", *_NUMBERS),
        "--max-iterations": ("5", "50", "0", "-1", "x"),
        "--states": ("states.json", "absent.json"),
        "--groups": ("1", "2", "2,3", *_NUMBERS),
        "--tie": ("all", "apart", "orders"),
        "--pin-zero": (),
        "--start": ("l2", "random"),
        "--restarts": ("1", "2", "0"),
        "--growth": ("0.1,2", "1,1", "-1,2", "x"),
        "--plot-scores": ("scores.png", "scores.txt", ""),
    },
    "spectrum": {
        "--estimator": ("flat-l1", "flat-l2", "pseudo-counts"),
        "--columns": ("smoker,cough", "smoker", "absent", ""),
        "--most": ("2", "3", "1", "100"),
        "--strength": ("1", "1,2", *_NUMBERS),
        "--folds": ("2", "3", "1", "1000"),
        "--max-order": ("0", "1", "9"),
    },
    "question": {
        "--given": ("smoker=yes", "smoker=yes,cough=0", "smoker=no,smoker=yes", "age~1:0:2", "age~1:x", "age~", "x=1",
                    "=", "~", '"', "smoker", "smoker=", "region=1,region=2", "smoker~-1:2", "smoker~nan:1", ""),
        "--evidence": ("odd.evid", "table.csv", "absent.evid", ""),
        "--from": ("mrf", "uai", "x"),
    },
    "query": {
        "--ask": ("cough", "cough,age", "cough,cough", "absent", "", '"age"', ","),
        "--engine": ("auto", "tree", "enumeration", "x"),
        "--map": (),
        "--explain": (),
        "--plan": (),
        "--top": ("0", "1", "-1"),
    },
    "sample": {"-n": ("1", "7", "0", "-1", "x", "9" * 30)},
    "impute": {"--how": ("map", "draw", "x"), "--draws": ("1", "3", "0"), "--unknown": ("drop", "error")},
    "infer": {"--task": ("PR", "MAR", "MAP", "x"), "--log-base": _NUMBERS, "--sample": ("1", "2", "0")},
    "model": {"--top": ("0", "1", "3", "-1", "999999"), "--metric": ("pll", "ll"), "--per-row": (),
              "--groups": ("1", "2", "0", "99999"), "--delta": _NUMBERS, "--xi": _NUMBERS},
    "theory": {"--objective": ("likelihood", "pseudo", "pseudo-likelihood", "x"), "--draws": ("1", "50", "0", "x")},
}  # fmt: skip
_CHEAP_SPECTRUM = ["--folds", "2", "--max-order", "0"]
_OF_COMMAND = {
    "fit": ("common", "reading", "structure", "fit"),
    "structure": ("common", "reading", "structure"),
    "spectrum": ("common", "reading", "spectrum"),
    "score": ("common", "reading", "model"),
    "show": ("common", "model"),
    "theory": ("common", "reading", "model", "theory"),
    "query": ("common", "question", "query"),
    "sample": ("common", "question", "sample"),
    "impute": ("common", "impute"),
    "logz": ("common", "question"),
    "infer": ("common", "infer"),
}


def _options(rng: Rng, command: str, count: int) -> list[str]:
    words: list[str] = []
    for _ in range(count):
        options = _OPTIONS[pick(rng, _OF_COMMAND[command])]
        option = pick(rng, options)
        words += [option, pick(rng, options[option])] if options[option] else [option]
    return words


# --- kinds of cases


def _with_output(rng: Rng, command: str, arguments: list[str]) -> Case:
    """Sometimes to a file, and sometimes where nothing can be written."""
    names = {"fit": "out.mrf", "structure": "out.csv"}
    outputs = ("scores.png",)
    if command in names and rng.random() < 0.7:
        outputs += (names[command],)
        name = (
            names[command] if rng.random() < 0.9 else pick(rng, ["absent/out.csv", ".", "x" * 300, "", *arguments[:1]])
        )
        arguments = [*arguments, "-o", name]
    return Case([command, *arguments], outputs)


def _spoil_table(rng: Rng, folder: Path) -> Case:
    writers: dict[str, Callable[[], bytes]] = {
        "odd.csv": lambda: spoiled(rng, table(), TABLE),
        "odd.tsv": lambda: spoiled(rng, table().replace(b",", b"\t"), TABLE),
        "odd.txt": lambda: spoiled(rng, table().replace(b",", b";"), TABLE),
        "odd.data": lambda: spoiled(rng, table().partition(b"\n")[2].replace(b"\n", b"\n2|"), TABLE),
        "odd.csv.gz": lambda: spoiled_gzip(rng, table()),
        "odd.parquet": lambda: spoiled(rng, _parquet(), TEXT),
    }
    name = pick(rng, writers)
    (folder / name).write_bytes(writers[name]())
    command = pick(rng, ["fit", "fit", "structure", "score", "spectrum"])
    cheap = {"fit": ["--structure", pick(rng, ["independent", "tree", "l1"])], "spectrum": _CHEAP_SPECTRUM}
    files = ["model.mrf", name] if command == "score" else [name]
    if command in ("fit", "structure") and rng.random() < 0.2:
        files = ["table.csv", "--valid", name]
    return _with_output(rng, command, [*files, *cheap.get(command, []), *_options(rng, command, int(rng.integers(2)))])


def _spoil_edges(rng: Rng, folder: Path) -> Case:
    lines = [",".join(pick(rng, [*_NAMES, "x"][: 4 + (rng.random() < 0.1)]) for _ in range(int(rng.integers(1, 6))))
             for _ in range(int(rng.integers(0, 6)))]  # fmt: skip
    text = pick(rng, ["", "source,target\n", "# comment\n", "\ufeff"]) + "\n".join(lines)
    (folder / "edges.csv").write_bytes(spoiled(rng, text.encode(), TEXT) if rng.random() < 0.7 else text.encode())
    return _with_output(rng, "fit", ["table.csv", "--structure", "edges:edges.csv", *_options(rng, "fit", 1)])


def _spoil_states(rng: Rng, folder: Path) -> Case:
    (folder / "states.json").write_bytes(spoiled_json(rng, (folder / "states.json").read_bytes()))
    return _with_output(rng, "fit", ["table.csv", "--states", "states.json", "--structure", "tree"])


def _odd_options(rng: Rng, folder: Path) -> Case:
    command = pick(rng, ["fit", "fit", "fit", "structure", "score", "spectrum", "show", "theory"])
    files = {
        "score": ["model.mrf", "table.csv"],
        "show": ["tied.mrf"],
        "theory": pick(rng, [["tied.mrf"], ["tied.mrf", "table.csv"]]),
    }
    cheap = _CHEAP_SPECTRUM if command == "spectrum" else []
    arguments = files.get(command, ["table.csv"]) + cheap + _options(rng, command, int(rng.integers(1, 6)))
    if rng.random() < 0.1:
        arguments.pop(int(rng.integers(len(arguments))))
    return _with_output(rng, command, arguments)


def _spoil_model(rng: Rng, folder: Path) -> Case:
    write_spoiled_model(rng, folder / "odd.mrf", *pick(rng, models()))
    command = pick(rng, ["show", "show", "score", "theory"])
    files = ["odd.mrf", "table.csv"] if command == "score" else ["odd.mrf"]
    return Case([command, *files, *_options(rng, command, int(rng.integers(2)))])


def _spoil_network(rng: Rng, folder: Path) -> Case:
    """A model of another program, and its conversion."""
    suffix = pick(rng, [".uai", ".LG", ".mn", ".fg"])
    domain = Domain.from_states({"smoker": ["no", "yes"], "cough": ["0", "1"], "age": ["old", "middle", "young"]})
    tables = [((1, 0), [0.5, -1.0, 2.0, 0.0]), ((2,), [0.0, -np.inf, 1.0]), ((), [3.0])]
    network = FactorNetwork(domain, Factors.from_tables(domain.shape, tables))
    content = network_bytes(network, format_of(f"odd{suffix}"), suffix)
    (folder / f"odd{suffix}").write_bytes(spoiled(rng, content, TEXT))
    target = pick(rng, ["out.mrf", "out.uai", "out.LG.gz", "out.mn", "out.fg", "out.txt"])
    words = [pick(rng, ["--from", "--to"]), pick(rng, ["uai", "mn", "fg", "x"])] if rng.random() < 0.2 else []
    return Case(["convert", f"odd{suffix}", target, *words], (target,))


def _ask(rng: Rng, folder: Path) -> Case:
    """A question to a sound model, with odd options, evidence and rows."""
    (folder / "odd.evid").write_bytes(spoiled(rng, b"2 0 1 2 0", TEXT))
    rows = b"smoker,age,other\nno,?,1\n?,old,2\nyes,young,3\n"
    (folder / "holes.csv").write_bytes(spoiled(rng, rows, TABLE) if rng.random() < 0.5 else rows)
    command = pick(rng, ["query", "query", "query", "sample", "impute", "logz", "infer"])
    files = {"impute": ["model.mrf", "holes.csv"], "infer": ["model.mrf", "odd.evid", "--task", "PR"]}
    words = [*files.get(command, ["model.mrf"]), *_options(rng, command, int(rng.integers(4)))]
    if command in ("sample", "impute"):
        return Case([command, *words, "-o", "rows.csv"], ("rows.csv",))
    return Case([command, *words])


_KINDS = (
    _spoil_table,
    _spoil_table,
    _spoil_model,
    _spoil_model,
    _odd_options,
    _odd_options,
    _spoil_edges,
    _spoil_states,
    _spoil_network,
    _ask,
)


def make_case(number: int, folder: Path) -> Case:
    """Fill a folder and say what to run in it; the same for the same number."""
    rng = np.random.default_rng([SEED, number])
    sound = {
        "table.csv": table(),
        "valid.csv": table(),
        "model.mrf": models()[0][0],
        "tied.mrf": models()[2][0],
        "edges.csv": b"smoker,cough\nage,region\n",
        "states.json": json.dumps({"smoker": ["no", "yes"], "age": ["young", "middle", "old"]}).encode(),
    }
    for name, content in sound.items():
        (folder / name).write_bytes(content)
    (folder / "empty").mkdir()
    return pick(rng, _KINDS)(rng, folder)
