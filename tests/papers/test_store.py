"""Results are kept whatever happens, and never mixed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from mrfit.core.errors import InputError
from mrfit_papers.reproduction import _missing
from mrfit_papers.store import NAME, Session, Store
from mrfit_papers.unit import Unit


@dataclass(frozen=True)
class Square(Unit):
    """A unit that needs no data."""

    number: int
    kind: ClassVar[str] = "square"

    def data(self) -> tuple[tuple[str, str], ...]:
        return ()

    def describe(self) -> str:
        return f"the square of {self.number}"

    def run(self) -> dict[str, Any]:
        return {"square": self.number**2}


def filled(folder: Path, numbers: range) -> None:
    with Store.opened(folder) as store:
        for unit in map(Square, numbers):
            store.add(unit, unit.run(), 0.1)


def test_results_are_there_when_the_folder_is_opened_again(tmp_path: Path) -> None:
    filled(tmp_path / "new" / "folder", range(3))
    with Store.opened(tmp_path / "new" / "folder") as store:
        assert store.missing(map(Square, range(5))) == [Square(3), Square(4)]
        found = {unit: record.result for unit, record in store.of(map(Square, range(5))).items()}
        assert found == {Square(n): {"square": n * n} for n in range(3)}


def test_what_a_kill_left_of_the_last_line_is_taken_away_at_every_byte(tmp_path: Path) -> None:
    filled(tmp_path, range(2))
    path = tmp_path / NAME
    whole = path.read_bytes()
    before_last = whole.rstrip(b"\n").rfind(b"\n") + 1
    for end in range(before_last, len(whole)):
        path.write_bytes(whole[:end])
        with Store.opened(tmp_path) as store:
            assert store.missing(map(Square, range(2))) == [Square(1)]
        filled(tmp_path, range(1, 2))
        assert path.read_bytes() == whole


def test_a_kill_before_the_first_line_leaves_nothing_to_repair(tmp_path: Path) -> None:
    filled(tmp_path, range(1))
    path = tmp_path / NAME
    path.write_bytes(path.read_bytes()[:10])
    filled(tmp_path, range(1))
    assert next(iter(Store.read(tmp_path).records.values())).result == {"square": 0}


def test_two_processes_do_not_write_into_one_folder(tmp_path: Path) -> None:
    with Store.opened(tmp_path), pytest.raises(InputError, match="Another process"), Store.opened(tmp_path):
        pass


def test_a_release_leaves_results_valid(tmp_path: Path) -> None:
    """Results versions decide which results are current; the versions of mrfit that made them are on the page."""
    filled(tmp_path, range(1))
    path = tmp_path / NAME
    first, rest = path.read_text().split("\n", 1)
    header = json.loads(first)
    header["versions"]["mrfit"] = "0.1.0"
    path.write_text(json.dumps(header) + "\n" + rest)
    with Store.opened(tmp_path) as store:
        assert store.missing([Square(0), Square(1)]) == [Square(1)]
        store.begin_session(Session("2020-01-01", "a processor", 2, mrfit="0.3.0"))
        store.close_session(Session("2020-01-01", "a processor", 2, 1, mrfit="0.3.0"))
    assert Store.read(tmp_path).mrfit_versions == ["0.1.0", "0.3.0"]


def test_a_result_of_the_same_unit_under_other_conditions_is_refused(tmp_path: Path) -> None:
    filled(tmp_path, range(1))
    path = tmp_path / NAME
    path.write_text(path.read_text().replace(Square(0).key, "0" * 64))
    with Store.opened(tmp_path) as store, pytest.raises(InputError, match="the square of 0 from other data"):
        store.missing([Square(0)])


class Square2(Square):
    """Square unit after its results have changed."""

    results_version: ClassVar[int] = 2


def test_a_result_of_an_older_version_is_run_again_and_never_shown(tmp_path: Path) -> None:
    """The page says how many there are."""
    filled(tmp_path, range(3))
    units = [Square2(n) for n in range(4)]
    with Store.opened(tmp_path) as store:
        assert store.missing(units) == units
        assert store.of(units) == {}
        assert store.outdated(units) == {unit: ["square"] for unit in units[:3]}
        store.add(units[0], {"square": 100}, 0.1)
    again = Store.read(tmp_path)
    assert {unit: record.result for unit, record in again.of(units).items()} == {units[0]: {"square": 100}}
    assert list(again.outdated(units)) == units[1:3]
    assert again.of([Square(0)])[Square(0)].result == {"square": 0}  # and who has the older code sees its own
    said = _missing(units, again.of(units), again.outdated(units))
    assert (
        "3 of 4 units are not shown: 1 have no result yet and 2 have a result of an older version of `square`" in said
    )


def test_a_result_of_a_newer_version_is_not_replaced(tmp_path: Path) -> None:
    with Store.opened(tmp_path) as store:
        store.add(Square2(1), {"square": 1}, 0.1)
    with Store.opened(tmp_path) as store, pytest.raises(InputError, match=r"newer version of 'square'"):
        store.missing([Square(1)])


def test_results_stored_before_versions_were_named_are_of_the_first(tmp_path: Path) -> None:
    filled(tmp_path, range(1))
    assert "versions" not in json.loads((tmp_path / NAME).read_text().splitlines()[1])
    assert Store.read(tmp_path).of([Square(0)])


@pytest.mark.parametrize("line", ["nonsense", "[]", '{"other": 1}', "1"])
def test_a_damaged_line_is_named(tmp_path: Path, line: str) -> None:
    filled(tmp_path, range(2))
    path = tmp_path / NAME
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], line, *lines[1:]]) + "\n")
    with pytest.raises(InputError, match="Line 2 of"):
        Store.read(tmp_path)


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InputError, match="it is a file"), Store.opened(tmp_path / "file"):
        pass
    assert (tmp_path / "file").read_text() == "mine"


def test_a_stranger_s_file_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text("my own notes\n")
    with pytest.raises(InputError, match="Line 1 of"), Store.opened(tmp_path):
        pass
    assert (tmp_path / NAME).read_text() == "my own notes\n"


def test_looking_does_not_write(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no results"):
        Store.read(tmp_path)
    assert list(tmp_path.iterdir()) == []
    filled(tmp_path, range(1))
    with pytest.raises(InputError, match="reading only"):
        Store.read(tmp_path).add(Square(1), {}, 0.0)


def test_sessions_are_kept_beside_results(tmp_path: Path) -> None:
    session = Session("2020-01-01", "a processor", 2, 5, 1.5, 1e9)
    with Store.opened(tmp_path) as store:
        store.close_session(session)
    assert Store.read(tmp_path).sessions == [session]


def test_a_session_that_is_closed_takes_the_place_of_its_beginning(tmp_path: Path) -> None:
    """One that was killed stays: its results were made on that machine."""
    killed, next_one = Session("2020-01-01", "one", 2), Session("2020-01-02", "other", 2)
    closed = Session("2020-01-02", "other", 2, 5, 1.5, 1e9)
    with Store.opened(tmp_path) as store:
        store.begin_session(killed)
    with Store.opened(tmp_path) as store:
        store.begin_session(next_one)
        store.close_session(closed)
    assert Store.read(tmp_path).sessions == [killed, closed]


def test_a_key_depends_on_all_that_decides_a_result() -> None:
    """The version of mrfit is no part of that, but the one from which results versions count."""
    assert len({Square(1).key, Square(2).key, Square2(1).key}) == 3
    assert Square(1).determined_by()["mrfit"] == "0.1.0"
