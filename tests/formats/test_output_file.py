"""Targets of outputs: whole files, through links, into pipes, never over protected files."""

from __future__ import annotations

import os
import resource
import stat
import threading
from pathlib import Path

import pytest

from mrfit.core.errors import InputError
from mrfit.formats.output_file import check_writable, write_output


def test_a_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    """Links may be chained and lead to another folder."""
    (tmp_path / "far").mkdir()
    target = tmp_path / "far" / "target.mrf"
    target.write_bytes(b"old")
    (tmp_path / "middle").symlink_to("far/target.mrf")
    (tmp_path / "link").symlink_to("middle")
    write_output(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "middle").is_symlink()
    assert target.read_bytes() == b"new"
    assert list((tmp_path / "far").iterdir()) == [target]


def test_a_link_that_leads_nowhere_gets_its_target(tmp_path: Path) -> None:
    """Or a message, if that would be in no folder."""
    (tmp_path / "link").symlink_to("target")
    write_output(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"new"
    (tmp_path / "lost").symlink_to("nowhere/target")
    with pytest.raises(InputError, match=r"nowhere does not exist"):
        write_output(tmp_path / "lost", b"new")


def test_a_circle_of_links_is_refused(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    with pytest.raises(InputError, match=r"Cannot write .*one'?: Too many levels"):
        check_writable(tmp_path / "one")


@pytest.mark.parametrize("name", ["pipe", "link"])
def test_a_pipe_is_written_into_and_stays_a_pipe(tmp_path: Path, name: str) -> None:
    """Any target that is not a regular file is treated alike, such as a device."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    write_output(tmp_path / name, b"new")
    reader.join()
    assert received == [b"new"]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "pipe"]


def test_a_stream_that_is_open_already_is_written_into(tmp_path: Path) -> None:
    """`/dev/fd/N` leads to a file here; replacing it would leave the stream with the old one."""
    with (tmp_path / "file").open("wb") as stream:
        write_output(f"/dev/fd/{stream.fileno()}", b"new")
        assert os.fstat(stream.fileno()).st_size == 3
    assert (tmp_path / "file").read_bytes() == b"new"


@pytest.mark.parametrize("name", ["file", "link"])
def test_a_read_only_file_is_refused(tmp_path: Path, name: str) -> None:
    """The administrator is refused, too."""
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "file").chmod(0o444)
    (tmp_path / "link").symlink_to("file")
    for action in (check_writable, lambda path: write_output(path, b"new")):
        with pytest.raises(InputError, match=f"{name}: it is read-only"):
            action(tmp_path / name)
    assert (tmp_path / "file").read_bytes() == b"old"


def test_permissions_are_kept(tmp_path: Path) -> None:
    """A replaced file passes its permissions on; a new one has the usual ones."""
    (tmp_path / "old").write_bytes(b"old")
    (tmp_path / "old").chmod(0o640)
    write_output(tmp_path / "old", b"new")
    assert stat.S_IMODE((tmp_path / "old").stat().st_mode) == 0o640
    write_output(tmp_path / "fresh", b"new")
    (tmp_path / "plain").touch()
    assert (tmp_path / "fresh").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_without_clobber_what_exists_stays(tmp_path: Path) -> None:
    """Pipes have nothing to lose."""
    (tmp_path / "file").write_bytes(b"old")
    with pytest.raises(InputError, match="file: it exists and is not to be overwritten"):
        check_writable(tmp_path / "file", clobber=False)
    check_writable(tmp_path / "new", clobber=False)
    os.mkfifo(tmp_path / "pipe")
    check_writable(tmp_path / "pipe", clobber=False)


def test_a_device_that_is_full_keeps_the_old_file(tmp_path: Path) -> None:
    """Here a limit on the size of files, which fails in the middle of writing as a full disk does."""
    path = tmp_path / "file"
    path.write_bytes(b"old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(InputError, match=r"Cannot write .*file: File too large"):
            write_output(path, bytes(1_000_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_interrupt_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_output(tmp_path / "file", b"new")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["x" * 300, "a\0b", "file/below"])
def test_impossible_names_are_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="Cannot write"):
        write_output(tmp_path / name, b"new")
