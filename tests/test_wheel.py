"""The wheel: built, installed, and used without a compiler."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from mrfit import MarkovNetworkLearner
from mrfit._kernels.machine_code.load import levels_of_host

ROOT = Path(__file__).parents[1]
LEVEL = next(iter(levels_of_host()), None)

LISTEN = "import sys\nfrom compilations import names_of_compiled\ncompiled = names_of_compiled()\n"
RUN = """
from mrfit.cli.main import main
for command in sys.argv[1:]:
    code = main(command.split())
    assert code == 0, command
"""
# What a command does before its work, and one small kernel.
USE_A_KERNEL = """
import numpy as np
from mrfit._kernels.fitting.cells import gather
from mrfit.cli.output import note_compiling
note_compiling(quiet=False)
gather(np.array([3.0, 5.0]), np.array([1, -1]), np.empty(2))
"""
TELL = """
import mrfit
print("COMPILED", mrfit.__file__, *compiled)
"""

COMMANDS = (
    "fit two.csv --strength 1 -o fitted.mrf",
    "score model.mrf two.csv",
    "fit three.csv --strength 1",
    "structure two.csv --max-degree 2",
    "structure three.csv --max-degree 2",
    "structure two.csv --select ebic",
    "structure three.csv --select ebic",
    "fit two.csv --objective likelihood --parameterization spectral --penalty l1 --strength 1",
    "fit two.csv --objective likelihood --order 3 --penalty hierarchical --strength 1",
    "fit two.csv --penalty tied --groups 2 --strength 1",
    "warm-up --jobs 1",
    "reproduce --help",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the installed wheel, whose code is for this processor's level, and a model and tables beside it."""
    if LEVEL is None:
        pytest.skip("there is no level of code for this processor")
    base = tmp_path_factory.getbasetemp()
    build = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "built"
    try:
        build.mkdir()  # which one worker can do
    except FileExistsError:
        wait_for(build / "done")
    else:
        build_wheel(build)
    folder = tmp_path_factory.mktemp("wheel")
    (wheel,) = build.glob("*.whl")
    shutil.copy(wheel, folder)
    subprocess.run([*PIP, "install", *OPTIONS, "--no-compile", "--target", folder / "site", wheel], check=True)
    MarkovNetworkLearner().fit({name: [0, 1, 1, 0] for name in "abc"}).model_.save(folder / "model.mrf")
    (folder / "two.csv").write_text("a,b,c\n" + "0,0,1\n0,1,0\n1,1,1\n1,1,0\n0,0,0\n1,0,1\n" * 5)
    (folder / "three.csv").write_text("a,b,c\n" + "0,x,1\n1,y,0\n2,z,1\n2,z,0\n0,x,0\n1,z,1\n" * 5)
    return folder


PIP = [sys.executable, "-m", "pip"]
OPTIONS = ("--quiet", "--no-deps", "--disable-pip-version-check", "--no-cache-dir")


def build_wheel(folder: Path) -> None:
    """Build a wheel from a copy of the sources; those who wait for it may go on, whether it succeeds or not.

    What `make` compiled from these very sources is taken; without it this compiles all, which takes minutes.
    """
    source = folder / "source"
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    build = {**os.environ, "HATCH_BUILD_HOOK_ENABLE_CUSTOM": "true", "MRFIT_LEVELS": LEVEL.name}
    try:
        subprocess.run([*PIP, "wheel", *OPTIONS, "--no-build-isolation", "-w", folder, source], env=build, check=True)
    finally:
        (folder / "done").touch()


def wait_for(path: Path) -> None:
    for _ in range(2400):
        if path.exists():
            return
        time.sleep(0.5)
    raise TimeoutError(f"{path} did not appear")


def compiled_by(site: Path, code: str, *commands: str, package: str = "site", **named: str) -> tuple[list[str], str]:
    """The names of the kernels that a process compiled, with nothing kept from earlier ones, and its stderr."""
    path = os.pathsep.join([str(site / package), str(ROOT / "tests")])
    environment = {"PYTHONPATH": path, "NUMBA_CACHE_DIR": str(site / "cache"), **named}
    shutil.rmtree(site / "cache", ignore_errors=True)
    ran = subprocess.run(
        [sys.executable, "-c", LISTEN + code + TELL, *commands],
        cwd=site,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr
    mark, file, *names = ran.stdout.splitlines()[-1].split()
    assert (mark, Path(file).parents[1]) == ("COMPILED", site / package)
    return names, ran.stderr


def test_nothing_is_compiled(site: Path) -> None:
    """Nor does any command say that it was."""
    assert compiled_by(site, RUN, *COMMANDS) == ([], "")


def test_the_wheel_says_for_what_it_is(site: Path) -> None:
    """A wheel with machine code is for one Python and one kind of machine."""
    (wheel,) = site.glob("*.whl")
    assert not wheel.name.endswith("-none-any.whl")
    names = zipfile.ZipFile(wheel).namelist()
    code = [name for name in names if name.startswith("mrfit/_kernels/_compiled/")]
    assert {Path(name).suffix for name in code} == {".nbc", ".json"}
    assert all(name.startswith(("mrfit/", "mrfit_papers/", "mrfit-")) for name in names)


@pytest.fixture
def changed(site: Path) -> Path:
    """A second copy of the installed package, to be spoilt."""
    shutil.rmtree(site / "changed", ignore_errors=True)
    return shutil.copytree(site / "site", site / "changed") / "mrfit" / "_kernels"


def test_another_numba_compiles_and_says_so(site: Path, changed: Path) -> None:
    """Another llvmlite, Python or numpy has the same effect."""
    made_for = changed / "_compiled" / "made-for.json"
    versions = json.loads(made_for.read_text())
    made_for.write_text(json.dumps(versions | {"numba": "0.1"}))
    names, said = compiled_by(site, USE_A_KERNEL, package="changed")
    assert names
    message = f"mrfit: the compiled code of this package is for numba 0.1, not {versions['numba']}: "
    assert " ".join(said.split()).startswith(message)
    assert len(re.findall(r"^\S", said, flags=re.MULTILINE)) == 1


def test_a_damaged_file_compiles_and_says_so(site: Path, changed: Path) -> None:
    """Anything that numba has against what it is given."""
    for file in (changed / "_compiled").rglob("*.nbc"):
        file.write_bytes(b"no code")
    names, said = compiled_by(site, USE_A_KERNEL, package="changed")
    assert names
    assert " ".join(said.split()).startswith("mrfit: the compiled code of this package cannot be loaded (")
    assert len(re.findall(r"^\S", said, flags=re.MULTILINE)) == 1


def test_a_changed_source_compiles(site: Path, changed: Path) -> None:
    """Code is found by the text that it was made from."""
    with (changed / "fitting" / "cells.py").open("a") as file:
        file.write("# another line\n")
    names, _ = compiled_by(site, USE_A_KERNEL, package="changed")
    assert names


def test_a_processor_asked_for_by_name_compiles(site: Path) -> None:
    """Users who name a processor for numba get code for it."""
    names, said = compiled_by(site, USE_A_KERNEL, NUMBA_CPU_NAME="generic")
    assert names
    assert said.startswith("mrfit: NUMBA_CPU_NAME or NUMBA_CPU_FEATURES asks for code of its own: ")
