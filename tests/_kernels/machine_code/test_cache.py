"""Cache of compiled code, also where neither the package nor the home directory can be written."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import mrfit
from mrfit import MarkovNetworkLearner
from mrfit._kernels.machine_code import cache as kernel_cache

COMPILE = """
import numpy as np
from mrfit._kernels.fitting.cells import gather
out = np.empty(2)
gather(np.array([3.0, 5.0]), np.array([1, -1]), out)
assert out.tolist() == [5.0, 0.0]
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package in which nobody, not even root, can make the directory for compiled code."""
    no_machine_code = shutil.ignore_patterns("_compiled", "*.nb?", "*.pyc.*")  # the last: just being written
    copied = shutil.copytree(Path(mrfit.__file__).parent, tmp_path / "site" / "mrfit", ignore=no_machine_code)
    for place in places_of_code(copied.parent):
        shutil.rmtree(place, ignore_errors=True)
        place.touch()
    (tmp_path / "home").touch()
    return copied.parent


def places_of_code(package: Path) -> list[Path]:
    """Return the folders of numba's cache: one beside the files of each kernel package."""
    kernels = package / "mrfit" / "_kernels"
    folders = [kernels, *(each for each in kernels.iterdir() if each.is_dir() and each.name[0] != "_")]
    return [folder / "__pycache__" for folder in folders]


def can_be_written(package: Path) -> None:
    """Take away what stands in the place of the folders of code."""
    for place in places_of_code(package):
        place.unlink()


def ran(package: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Python on that copy, with a home directory that is none and no cache named by the user but in ``environment``."""
    nowhere = str(package.parent / "home")
    kept = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    own = {"PYTHONPATH": str(package), "HOME": nowhere, "XDG_CACHE_HOME": nowhere, **environment}
    return subprocess.run(
        [sys.executable, *arguments], env=kept | own, cwd=package.parent, capture_output=True, text=True, timeout=300
    )


def test_a_command_where_nothing_usual_can_be_written(package: Path) -> None:
    """One line says where the code is stored; the next call neither compiles nor repeats the line."""
    temporary = package.parent / "temporary"
    temporary.mkdir()
    (package.parent / "table.csv").write_text("a,b\n0,0\n0,1\n1,1\n1,1\n")
    MarkovNetworkLearner().fit({name: [0, 0, 1, 1] for name in "ab"}).model_.save(package.parent / "model.mrf")
    command = ("-m", "mrfit", "score", "model.mrf", "table.csv")  # which needs two kernels, a fit a dozen
    first = ran(package, *command, TMPDIR=str(temporary))
    place = temporary / f"mrfit-{os.getuid()}"
    assert first.returncode == 0, first.stderr
    assert " ".join(first.stderr.split()) == (
        f"mrfit: no directory for compiled code can be written; it is stored in {place}. "
        "Set NUMBA_CACHE_DIR to store it elsewhere."
    )
    assert first.stdout.endswith("4 rows\n")
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    before = sorted(place.rglob("*.nb?"))
    assert before
    second = ran(package, *command, TMPDIR=str(temporary))
    assert (second.returncode, second.stderr) == (0, "")
    assert sorted(place.rglob("*.nb?")) == before


def test_without_any_directory_kernels_still_run(package: Path) -> None:
    """A link that somebody laid in the way is not followed; the library says nothing, the command line one line."""
    temporary, elsewhere = package.parent / "temporary", package.parent / "elsewhere"
    temporary.mkdir()
    elsewhere.mkdir()
    (temporary / f"mrfit-{os.getuid()}").symlink_to(elsewhere)
    say = "from mrfit.cli.output import note_compiling\nnote_compiling(quiet={quiet})\n"
    for code in (COMPILE, say.format(quiet=True) + COMPILE):
        silent = ran(package, "-c", code, TMPDIR=str(temporary))
        assert (silent.returncode, silent.stdout, silent.stderr) == (0, "", "")
    told = ran(package, "-c", say.format(quiet=False) + COMPILE, TMPDIR=str(temporary)).stderr
    assert " ".join(told.split()) == (
        "mrfit: no directory for compiled code can be written; each run compiles again, up to half a minute. "
        "Set NUMBA_CACHE_DIR to store it elsewhere."
    )
    assert not list(elsewhere.iterdir())


def test_the_directory_named_by_the_user_is_respected(package: Path) -> None:
    """NUMBA_CACHE_DIR comes before everything else."""
    named = package.parent / "named"
    done = ran(package, "-c", COMPILE, NUMBA_CACHE_DIR=str(named), TMPDIR=str(package.parent))
    assert done.returncode == 0, done.stderr
    assert len(list(named.rglob("*gather*.nbi"))) == 1
    assert not (package.parent / f"mrfit-{os.getuid()}").exists()


def test_code_is_kept_beside_a_package_that_can_be_written(package: Path) -> None:
    """The usual case."""
    can_be_written(package)
    done = ran(package, "-c", COMPILE)
    assert done.returncode == 0, done.stderr
    assert sum(len(list(place.glob("*gather*.nbi"))) for place in places_of_code(package)) == 1


def test_a_changed_file_is_noticed_by_kernels_of_others(package: Path) -> None:
    """Code that is inlined into a kernel may come from another file; numba alone would keep using the old code."""
    can_be_written(package)
    callee, caller = (package / "mrfit" / "_kernels" / f"{name}.py" for name in ("half", "twice_half"))
    callee.write_text(
        "from mrfit._kernels.machine_code.compiled import njit\n\n@njit(cache=True)\ndef half(x):\n    return x / 2\n"
    )
    caller.write_text(
        "from mrfit._kernels.machine_code.compiled import njit\nfrom mrfit._kernels.half import half\n\n"
        "@njit(cache=True)\ndef twice_half(x):\n    return 2 * half(x)\n"
    )
    call = "from mrfit._kernels.twice_half import twice_half; print(twice_half(3.0), len(twice_half.stats.cache_hits))"
    assert ran(package, "-c", call).stdout.split() == ["3.0", "0"]
    assert ran(package, "-c", call).stdout.split() == ["3.0", "1"]
    callee.write_text(callee.read_text().replace("x / 2", "x / 4"))
    assert ran(package, "-c", call).stdout.split() == ["1.5", "0"]


def test_a_numba_without_the_parts_it_does_not_promise(package: Path) -> None:
    """Its own cache serves then."""
    can_be_written(package)
    without = "import sys\nsys.modules['mrfit._kernels.machine_code.cache'] = None  # its import fails\n"
    done = ran(package, "-c", without + COMPILE)
    assert done.returncode == 0, done.stderr


def test_kernels_run_as_python_where_numba_is_told_not_to_compile(package: Path) -> None:
    """Debuggers need this."""
    done = ran(package, "-c", COMPILE, NUMBA_DISABLE_JIT="1")
    assert done.returncode == 0, done.stderr


def test_only_a_directory_of_our_own_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cached code is executed, so nobody else may have been able to write it."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    place = tmp_path / f"mrfit-{os.getuid()}"
    assert kernel_cache._private_directory() == place
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert kernel_cache._private_directory() == place
    for mode in (0o770, 0o707, 0o755):
        place.chmod(mode)
        assert kernel_cache._private_directory() is None
    place.chmod(0o700)
    with monkeypatch.context() as somebody_else:
        user = os.getuid() + 1
        somebody_else.setattr(os, "getuid", lambda: user)
        (tmp_path / f"mrfit-{user}").mkdir(mode=0o700)  # made by us for them
        assert kernel_cache._private_directory() is None
    place.rmdir()
    place.touch()
    assert kernel_cache._private_directory() is None
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "not" / "there"))
    assert kernel_cache._private_directory() is None


def test_an_index_of_types_that_are_gone_is_as_none(tmp_path: Path) -> None:
    """An update of the package may move a type that signatures in an older cache name."""
    index = kernel_cache._Index(str(tmp_path), "kernel", "stamp")
    index._save_index({"signature": "data"})
    assert index._load_index() == {"signature": "data"}
    path = Path(index._index_path)
    content = path.read_bytes()
    gone = b"cmrfit._kernels.cells\nNoSuchType\n."
    path.write_bytes(content[: content.index(b"\x80")] + gone)
    assert index._load_index() == {}


def test_a_killed_process_leaves_no_index_of_code_that_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numba writes the index first: a kill would leave one that names a file of older sources."""
    older = kernel_cache._Index(str(tmp_path), "kernel", "older sources")
    older.save("signature", "older code")
    newer = kernel_cache._Index(str(tmp_path), "kernel", "newer sources")

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    for step in ("_save_data", "_save_index"):
        with monkeypatch.context() as at:
            at.setattr(newer, step, killed)
            with pytest.raises(KeyboardInterrupt):
                newer.save("signature", "newer code")
        assert newer.load("signature") is None
        assert older.load("signature") == "older code"
    newer.save("signature", "newer code")
    assert newer.load("signature") == "newer code"


def test_processes_that_compile_at_once_do_not_take_each_others_code(tmp_path: Path) -> None:
    """Numba numbers files: both would take the same number, and one signature the other's code."""
    one, other = (kernel_cache._Index(str(tmp_path), "kernel", "sources") for _ in range(2))
    first_look = other._load_index()
    one.save("integers", "code for integers")
    other._load_index = lambda: first_look
    other.save("floats", "code for floats")
    del other._load_index
    assert other.load("floats") == "code for floats"
    assert one.load("integers") in ("code for integers", None)


def test_what_a_killed_process_left_of_its_code_is_swept_up(tmp_path: Path) -> None:
    left = tmp_path / ".kernel.1.nbc.abcd1234.mrfit-partial"
    left.write_bytes(b"a part")
    kernel_cache._Index(str(tmp_path), "kernel", "sources").save("signature", "code")
    assert not left.exists()
    assert len(list(tmp_path.iterdir())) == 2
