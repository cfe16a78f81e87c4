"""Choice of the machine code in a package for a processor."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import llvmlite.binding
import pytest

from mrfit import _kernels
from mrfit._kernels.arithmetic.copies import copy_into
from mrfit._kernels.machine_code import build as shipping
from mrfit._kernels.machine_code import load as shipped
from mrfit._kernels.machine_code.build import (
    _all_sources,
    _build_environment,
    _copy_from_store,
    _forget_unused,
    _record_files,
    _store,
    is_made,
    ship,
)
from mrfit._kernels.machine_code.load import LEVELS, Level, levels_of_host, usable

V4, V3 = LEVELS


@pytest.fixture
def processor(monkeypatch: pytest.MonkeyPatch):
    """Have LLVM find a processor with these features, and say of some others that it lacks them."""

    def has(features: set[str]) -> None:
        found = dict.fromkeys(V4.needs | {"sse2", "avx512vbmi"}, False) | dict.fromkeys(features, True)
        monkeypatch.setattr(llvmlite.binding, "get_host_cpu_features", lambda: found)

    return has


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A directory with machine code for both levels, as far as names go."""
    for level in LEVELS:
        (tmp_path / level.name).mkdir()
    shipped.sign(tmp_path, sources="these")
    return tmp_path


def test_levels_are_those_of_the_psabi() -> None:
    """x86-64 psABI: v4 is v3 and the five parts of AVX-512, by LLVM's names."""
    assert V4.needs - V3.needs == {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}
    assert V3.needs < V4.needs
    assert [level.name for level in LEVELS] == ["x86-64-v4", "x86-64-v3"]


def test_each_processor_gets_the_best_that_it_can_run(processor, package: Path) -> None:
    processor(set(V4.needs))
    assert usable(package).directory == package / V4.name
    processor(set(V3.needs))
    assert usable(package).directory == package / V3.name
    processor({"sse2"})
    assert usable(package) == shipped.Shipped(None, "the compiled code of this package is for other processors")


@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.name)
def test_one_feature_less_is_another_level(level: Level, processor, package: Path) -> None:
    """No part of a level is taken for granted because another part is there."""
    for feature in level.needs:
        processor(set(V4.needs) - {feature})
        assert level not in levels_of_host()
        assert usable(package).directory != package / level.name


def test_code_for_better_processors_alone_is_none(processor, package: Path) -> None:
    (package / V3.name).rmdir()
    processor(set(V3.needs))
    assert usable(package).directory is None


def test_a_processor_that_llvm_does_not_know_gets_none(monkeypatch: pytest.MonkeyPatch, package: Path) -> None:
    def unknown() -> None:
        raise RuntimeError("not known")

    monkeypatch.setattr(llvmlite.binding, "get_host_cpu_features", unknown)
    assert usable(package).directory is None


def test_what_is_made_is_taken_only_for_the_same_sources_and_levels(processor, package: Path) -> None:
    """A wheel takes compiled code from a checkout only if it is complete and up to date."""
    processor(set(V4.needs))
    assert not is_made(package)
    shipped.sign(package, sources=_all_sources())
    assert is_made(package)
    (package / V4.name).rmdir()
    assert not is_made(package)
    assert is_made(package, [V3.name])
    processor({"sse2"})
    assert not is_made(package, [V3.name])


def test_sources_are_all_of_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Another name, or a byte in any file, is another package."""
    monkeypatch.setattr(_kernels, "__path__", [str(tmp_path / "_kernels")])
    (tmp_path / "_kernels").mkdir()
    (tmp_path / "_kernels" / "a.py").write_text("x = 1")
    seen = [_all_sources()]
    (tmp_path / "b.py").write_text("")
    seen.append(_all_sources())
    (tmp_path / "b.py").rename(tmp_path / "c.py")
    seen.append(_all_sources())
    (tmp_path / "_kernels" / "a.py").write_text("x = 2")
    seen.append(_all_sources())
    assert len(set(seen)) == 4
    (tmp_path / "_kernels" / "a.nbc").write_text("code")
    assert _all_sources() == seen[-1]


def test_code_in_the_directory_of_another_level_is_not_found() -> None:
    """Code is named by its level, so that copied files cannot make a processor run instructions it lacks."""
    codegen = copy_into.targetctx.codegen()
    paths = [shipped._path(Path(level.name), copy_into.py_func, "float64", codegen) for level in LEVELS]
    names = {path.name for path in paths}
    assert len(names) == 2


USE_A_KERNEL = """
from compilations import names_of_compiled
compiled = names_of_compiled()
import numpy as np
from mrfit._kernels.arithmetic.copies import copy_into
copy_into(np.zeros(2), np.ones(2))
print(*compiled)
"""


@pytest.mark.skipif(not levels_of_host(), reason="there is no level of code for this processor")
def test_what_was_made_once_is_taken_from_the_store(tmp_path: Path) -> None:
    """Any checkout can use it: code is found by a digest of its sources, not by their path."""
    (level, *_) = levels_of_host()
    environment = {**os.environ, **_build_environment(level, tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])}

    def ran() -> str:
        done = subprocess.run([sys.executable, "-c", USE_A_KERNEL], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    assert "copy_into" in ran()
    (file,) = (tmp_path / level.name).iterdir()
    assert file.match("copy_into-*.nbc")
    assert ran() == ""


def test_a_store_needs_a_directory_that_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    store = _store()
    assert store is not None
    assert store.is_relative_to(tmp_path / "caches")
    (tmp_path / "none").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "none"))
    assert _store() is None


def filled(folder: Path, *names: str) -> Path:
    folder.mkdir()
    for name in names:
        (folder / name).write_text(f"code of {name}")
    return folder


def test_all_that_a_package_needs_is_taken_by_its_list(tmp_path: Path) -> None:
    """And nothing else; what was of use is not forgotten soon."""
    store = filled(tmp_path / "store", "a.nbc", "b.nbc", "older.nbc")
    _record_files(store, filled(tmp_path / "made", "a.nbc", "b.nbc"), "these")
    for file in store.iterdir():
        os.utime(file, (0, 0))
    assert _copy_from_store(store, tmp_path / "taken", "these")
    assert {file.name: file.read_text() for file in (tmp_path / "taken").iterdir()} == {
        "a.nbc": "code of a.nbc",
        "b.nbc": "code of b.nbc",
    }
    _forget_unused(store)
    assert {file.name for file in store.iterdir()} == {"a.nbc", "b.nbc", "these.list"}


def test_what_has_no_list_or_lacks_a_file_is_made_anew(tmp_path: Path) -> None:
    store = filled(tmp_path / "store", "a.nbc", "b.nbc")
    assert not _copy_from_store(store, tmp_path / "taken", "these")
    _record_files(store, store, "these")
    assert _copy_from_store(store, tmp_path / "taken", "these")
    assert not _copy_from_store(store, tmp_path / "taken", "others")
    (store / "b.nbc").unlink()
    assert not _copy_from_store(store, tmp_path / "taken", "these")


@pytest.mark.skipif(not levels_of_host(), reason="there is no level of code for this processor")
def test_a_package_that_was_made_before_runs_no_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second time; nor does a list of other sources, or of fewer levels, keep it from being made."""
    (level, *_) = levels_of_host()
    made: list[str] = []

    def make(directory: Path, levels, run, store: Path, signatures: Path) -> None:
        made.append(_all_sources())
        for each in levels:
            for folder in (store, directory):
                (folder / each.name).mkdir(parents=True, exist_ok=True)
                (folder / each.name / "a.nbc").touch()

    monkeypatch.setattr(shipping, "_make", make)
    monkeypatch.setattr(shipping, "_store", lambda: tmp_path / "store")
    for folder in ("first", "second"):
        assert ship(tmp_path / folder, [level.name]) == [level.name]
        assert is_made(tmp_path / folder, [level.name])
        assert [file.name for file in (tmp_path / folder / level.name).iterdir()] == ["a.nbc"]
    assert len(made) == 1
    ship(tmp_path / "third")
    assert len(made) == 2
    monkeypatch.setattr(shipping, "_all_sources", lambda: "others")
    ship(tmp_path / "fourth", [level.name])
    assert len(made) == 3


def test_code_that_nothing_used_for_long_is_forgotten(tmp_path: Path) -> None:
    old, new = tmp_path / "old.nbc", tmp_path / "new.nbc"
    for file in (old, new):
        file.touch()
    os.utime(old, (0, 0))
    _forget_unused(tmp_path)
    assert list(tmp_path.iterdir()) == [new]


COMPILE = """
import numba
import numpy as np

@numba.njit(fastmath=True)
def total(values):
    s = 0.0
    for k in range(len(values)):
        s += values[k]
    return s

total.compile((numba.float64[::1],))
(text,) = total.inspect_asm().values()
print("zmm" in text, "ymm" in text)
"""


@pytest.mark.skipif(V3 not in levels_of_host(), reason="other processors make no code for these levels")
@pytest.mark.parametrize(("level", "registers"), [(V4, "True"), (V3, "False True")], ids=["v4", "v3"])
def test_a_level_is_what_numba_compiles_for(level: Level, registers: str) -> None:
    """Wide registers for v4 only; compiled, not run, so that it needs no processor that has them."""
    environment = {**os.environ, **level.environment}
    ran = subprocess.run([sys.executable, "-c", COMPILE], env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout.startswith(registers)
