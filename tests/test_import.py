"""Imports that happen on use, and the names of the top level."""

from __future__ import annotations

import subprocess
import sys

import pytest

import mrfit

PRELUDE = "import contextlib, io, sys\n"
REPORT = "\nprint(*sorted({name.partition('.')[0] for name in sys.modules}))"


def loaded_by(code: str) -> set[str]:
    """The packages a fresh interpreter has loaded after running ``code``."""
    ran = subprocess.run(
        [sys.executable, "-c", PRELUDE + code + REPORT], capture_output=True, text=True, check=True, timeout=120
    )
    return set(ran.stdout.split())


def called(*arguments: str) -> str:
    """Code that runs the command line and swallows its output."""
    return (
        "from mrfit.cli.main import main\n"
        f"with contextlib.redirect_stdout(io.StringIO()):\n    code = main({list(arguments)!r})\n"
        "assert code == 0, code"
    )


def test_import_is_light() -> None:
    loaded = loaded_by("import mrfit")
    assert "mrfit" in loaded
    assert loaded.isdisjoint({"numba", "sklearn", "pandas", "matplotlib", "pyarrow", "numpy", "scipy", "click"})


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_overview_is_light(option: str) -> None:
    heavy = {"numpy", "scipy", "numba", "sklearn", "pandas", "polars", "pyarrow", "rich", "matplotlib", "networkx"}
    assert loaded_by(called(option)).isdisjoint({*heavy, "mrfit_papers", "pathlib", "email"})


def test_a_command_explains_itself_without_its_engine() -> None:
    heavy = {"scipy", "numba", "sklearn", "pandas", "polars", "pyarrow", "rich", "matplotlib", "networkx"}
    assert loaded_by(called("fit", "--help")).isdisjoint(heavy)


def test_help_of_the_module_is_help_of_the_command() -> None:
    """`python -m mrfit` goes through the same door: its own list of imports says so."""
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "mrfit", "--help"], capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0
    assert ran.stdout.startswith("Usage: mrfit ")
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in ran.stderr.splitlines()}
    assert "click" in imported
    assert imported.isdisjoint({"numpy", "numba", "sklearn", "pyarrow", "rich", "matplotlib"})


def test_frames_are_told_apart_without_loading_their_libraries() -> None:
    """Scoring an array needs numba, but none of the libraries of other tables nor scikit-learn."""
    code = "import numpy, mrfit\ndata = mrfit.Dataset.from_table(numpy.eye(3, dtype=int))\nassert data.n_rows == 3"
    assert loaded_by(code).isdisjoint({"pandas", "polars", "pyarrow", "sklearn", "matplotlib", "networkx"})


def test_models_are_loaded_without_what_few_questions_need() -> None:
    """Each of these takes longer to load than most commands take to do their work."""
    few = {"scipy.stats", "scipy.optimize"}
    code = f"from mrfit import MarkovNetwork, learn\nassert {few}.isdisjoint(sys.modules), {few} & set(sys.modules)"
    assert loaded_by(code).isdisjoint({"networkx", "distributed", "dask"})


@pytest.mark.parametrize("name", mrfit.__all__)
def test_every_public_name_resolves(name: str) -> None:
    assert getattr(mrfit, name) is not None


def test_names_are_listed() -> None:
    assert dir(mrfit) == sorted(mrfit.__all__)
    assert len(set(mrfit.__all__)) == len(mrfit.__all__)


def test_names_at_the_door_are_the_objects_inside() -> None:
    from mrfit.model.markov_network import MarkovNetwork
    from mrfit.sklearn import MarkovNetworkLearner

    assert mrfit.MarkovNetworkLearner is MarkovNetworkLearner
    assert mrfit.MarkovNetwork is MarkovNetwork


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="module 'mrfit' has no attribute 'MarkovNetwerk'"):
        _ = mrfit.MarkovNetwerk
