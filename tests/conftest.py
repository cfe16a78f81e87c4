"""Fixtures for all tests."""

from __future__ import annotations

import os

# Before numpy is imported, which reads it then. Workers of xdist and the threads of each would wait for each other:
# on matrices as small as those of tests that takes ten times as long as the work.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import fcntl
import gc
import importlib.util
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from mrfit import registry as plugins
from mrfit._names import NAMES
from mrfit.data.unique_rows import UniqueRows


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what a test registers, and leave plug-ins of the machine out."""
    monkeypatch.setattr(plugins, "_registered", {kind: {} for kind in NAMES})
    monkeypatch.setattr(plugins, "_is_discovered", True)


@pytest.fixture
def data_dir() -> Path:
    """The directory of the real data sets, where there is one."""
    if not os.environ.get("MRFIT_DATA"):
        pytest.skip("MRFIT_DATA is not set: real data sets absent")
    return Path(os.environ["MRFIT_DATA"])


@pytest.fixture
def named_rows(data_dir: Path) -> Callable[[str, str], UniqueRows]:
    """Distinct rows of a part of a real data set."""
    return lambda name, part: _read(data_dir / name / f"{part}.csv.gz")


@cache
def _read(path: Path) -> UniqueRows:
    """Once in a process: reading takes longer than most of what is done with the rows."""
    return UniqueRows.from_file(path)


@pytest.fixture
def conformance_dir() -> Path:
    """The directory of models, data and answers that nobody in this project made, where there is one."""
    if not os.environ.get("MRFIT_CONFORMANCE"):
        pytest.skip("MRFIT_CONFORMANCE is not set: third-party reference values absent")
    return Path(os.environ["MRFIT_CONFORMANCE"])


@pytest.fixture(scope="session")
def built_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of the docs, built once for all processes that run tests."""
    if importlib.util.find_spec("sphinx") is None:
        (pytest.fail if os.environ.get("MRFIT_SITE") else pytest.skip)("Sphinx is not installed: `make site` does it")
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "site"
    with Path(f"{folder}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "index.html").exists():
            building = Path(f"{folder}.building")
            docs = Path(__file__).parents[1] / "docs"
            sphinx = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", docs, building]
            ran = subprocess.run(sphinx, capture_output=True, text=True)
            assert ran.returncode == 0, ran.stderr
            building.rename(folder)
    return folder


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Modules and tests stay until the end: looking for garbage among them takes an eighth of collecting them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the longest tests first: a worker that begins one last would be waited for."""
    items.sort(
        key=lambda item: (
            item.path.name not in ("test_wheel.py", "test_site.py", "test_site_in_browser.py", "test_golden.py")
        )
    )


# The first call of a kernel compiles it, so no example has a time limit.
settings.register_profile("mrfit", deadline=None)
settings.load_profile("mrfit")


@pytest.fixture
def rng() -> np.random.Generator:
    """The only source of random numbers in tests that do not draw their own seeds."""
    return np.random.default_rng(0)
