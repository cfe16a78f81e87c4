"""Temporary files of a process that was killed while writing, and when they are swept up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mrfit.core.temporary_file import replacing, scratch_folder
from mrfit.formats.output_file import write_output

_WRITES = """
import os, signal, sys
from pathlib import Path
from mrfit.core.temporary_file import replacing
with replacing(Path(sys.argv[1]), mode=0o644) as file:
    file.write(b"a part")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def _killed_while_writing(target: Path) -> None:
    done = subprocess.run([sys.executable, "-c", _WRITES, str(target)], check=False)
    assert done.returncode == -signal.SIGKILL


def _partial(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name.endswith(".mrfit-partial")]


def test_what_a_killed_process_left_is_swept_up_by_the_next_write(tmp_path: Path) -> None:
    """Whatever the next target is; other people's hidden files stay."""
    (tmp_path / "model.mrf").write_bytes(b"old")
    (tmp_path / ".model.mrf.abcdefgh").write_bytes(b"somebody else's")
    for _ in range(3):
        _killed_while_writing(tmp_path / "model.mrf")
    assert (tmp_path / "model.mrf").read_bytes() == b"old"
    assert _partial(tmp_path)
    write_output(tmp_path / "other.csv", b"new")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".model.mrf.abcdefgh", "model.mrf", "other.csv"]


def test_a_file_that_is_being_written_is_not_swept_up(tmp_path: Path) -> None:
    with replacing(tmp_path / "model.mrf", mode=0o644) as file:
        file.write(b"whole")
        code = "import sys; from mrfit.formats.output_file import write_output; write_output(sys.argv[1], b'other')"
        subprocess.run([sys.executable, "-c", code, str(tmp_path / "other.csv")], check=True)
        assert len(_partial(tmp_path)) == 1
    assert (tmp_path / "model.mrf").read_bytes() == b"whole"
    assert not _partial(tmp_path)


def test_content_is_on_disk_before_it_takes_the_place_of_the_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "model.mrf"
    target.write_bytes(b"old")
    seen: list[tuple[bytes, bytes]] = []
    fsync = os.fsync

    def watched(handle: int) -> None:
        fsync(handle)
        seen.append((target.read_bytes(), _partial(tmp_path)[0].read_bytes()))

    monkeypatch.setattr(os, "fsync", watched)
    write_output(target, b"new")
    assert seen == [(b"old", b"new")]
    assert target.read_bytes() == b"new"


_WORKS_IN_A_FOLDER = """
import os, signal
from mrfit.core.temporary_file import scratch_folder
with scratch_folder() as folder:
    (folder / "part").write_bytes(b"a part")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_folder_that_a_killed_process_left_is_swept_up_by_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One in use, and what only looks like one, stay."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", _WORKS_IN_A_FOLDER], env=environment, check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "mrfit-scratch-link").symlink_to(tmp_path / "elsewhere")
    with scratch_folder() as mine, scratch_folder() as other:
        assert not left.exists()
        assert mine.is_dir()
        assert other.is_dir()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["elsewhere", "mrfit-scratch-link"]
