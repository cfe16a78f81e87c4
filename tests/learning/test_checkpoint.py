"""A fit that is stopped goes on where it was, and ends as one that was not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mrfit.core.errors import InputError
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning import Learner
from mrfit.learning import checkpoint as kept_fits
from mrfit.learning.penalty_spec import PenaltySpec
from mrfit.learning.penalty_specs import L1, L2
from mrfit.learning.tying_specs import HardTied, LearnTieRelearn, SoftTied

NamedRows = Callable[..., UniqueRows]


class StoppedError(Exception):
    """Stand-in for the interrupt of a user."""


def stop_after(n_most: int) -> Callable[[int, int], None]:
    def count(n_done: int, n: int) -> None:
        if n_done > n_most:
            raise StoppedError

    return count


@pytest.mark.parametrize(
    "penalty",
    [
        L2((0.1, 1, 10)),
        L1(),
        SoftTied((0.1, 10), groups=(2, 5)),
        HardTied((0.1, 10), groups=2),
        LearnTieRelearn((0.1, 1), groups=2),
    ],
    ids=lambda penalty: penalty.word,
)
def test_stopped_fits_end_as_one(penalty: PenaltySpec, named_rows: NamedRows, tmp_path: Path) -> None:
    """Stored fits keep their bits; later ones agree within the tolerance, since solvers remember Hessians."""
    rows, file = named_rows("czech", "data"), tmp_path / "kept"
    learner = Learner(penalty=penalty, folds=2, tolerance=1e-9)
    whole = learner.fit(rows)
    for n_most in (2, 3):
        with pytest.raises(StoppedError):
            learner.fit(rows, resume=file, progress=stop_after(n_most))
        file.write_bytes(file.read_bytes() + b'{"number": 99, "res')  # as if it had been killed while writing
    n_lines = file.read_bytes().count(b"\n")
    found = learner.fit(rows, resume=file)
    assert file.read_bytes().count(b"\n") > n_lines > 3
    np.testing.assert_array_equal(found.fits[0].model.w, whole.fits[0].model.w)
    assert found.fits[0].solution.trace == whole.fits[0].solution.trace
    for fit, other in zip(found.fits, whole.fits, strict=True):
        np.testing.assert_allclose(fit.model.w, other.model.w, atol=1e-6)
        assert (fit.rounds == ()) == (other.rounds == ())
        assert fit.fold_scores == pytest.approx(other.fold_scores, abs=1e-9)
        assert fit.solution.converged
    again = learner.fit(rows, resume=file)
    np.testing.assert_array_equal(again.model.w, found.model.w)


def test_long_fits_go_on_from_their_last_point(
    named_rows: NamedRows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_fits, "_SECONDS", 0.0)
    rows, learner = named_rows("czech", "data"), Learner(penalty=L1(5.0), tolerance=1e-9)
    whole = learner.fit(rows)

    def stop(strength: float, record: object) -> None:
        if getattr(record, "iteration", 0) == whole.best.solution.iterations - 2:
            raise StoppedError

    with pytest.raises(StoppedError):
        learner.fit(rows, resume=tmp_path / "kept", callback=stop)
    found = learner.fit(rows, resume=tmp_path / "kept")
    assert found.best.solution.converged
    assert found.best.solution.trace[0].value < whole.best.solution.trace[0].value
    np.testing.assert_allclose(found.model.w, whole.model.w, atol=1e-7)


def test_a_fit_that_a_callback_stops_is_not_kept(named_rows: NamedRows, tmp_path: Path) -> None:
    rows, learner = named_rows("czech", "data"), Learner(penalty=L2(1.0))
    assert not learner.fit(rows, resume=tmp_path / "kept", callback=lambda *_: True).best.solution.converged
    assert learner.fit(rows, resume=tmp_path / "kept").best.solution.converged


def test_other_runs_and_strangers_files_are_refused(named_rows: NamedRows, tmp_path: Path) -> None:
    rows, file = named_rows("czech", "data"), tmp_path / "kept"
    learner = Learner(penalty=L2((1.0, 2.0)))
    learner.fit(rows, rows, resume=file)
    before = file.read_bytes()
    some = rows.on_columns(range(4))
    for other, table, valid, said in (
        (Learner(penalty=L2(1.0)), rows, rows, "learner"),
        (learner, some, some, "table"),
        (learner, rows, None, "validation rows"),
    ):
        with pytest.raises(InputError, match=f"not of the same {said}"):
            other.fit(table, valid, resume=file)
    assert file.read_bytes() == before
    (tmp_path / "mine").write_text("a,b\n0,1\n")
    with pytest.raises(InputError, match="another file"):
        learner.fit(rows, resume=tmp_path / "mine")
    assert (tmp_path / "mine").read_text() == "a,b\n0,1\n"


def test_a_fit_that_is_refused_leaves_no_file(named_rows: NamedRows, tmp_path: Path) -> None:
    """Such a file would refuse the command that is right."""
    path, rows = tmp_path / "kept", named_rows("czech", "data")
    with pytest.raises(InputError, match="needs held-out rows"):
        Learner(penalty=SoftTied()).fit(rows, resume=path)
    assert not path.exists()


def test_damage_is_named(named_rows: NamedRows, tmp_path: Path) -> None:
    rows, file, learner = named_rows("czech", "data"), tmp_path / "kept", Learner(penalty=L2(1.0))
    learner.fit(rows, resume=file)
    file.write_bytes(file.read_bytes().replace(b'"kind": "Solution"', b'"kind": "Sorrow"'))
    with pytest.raises(InputError, match="holds no optimum where one should be"):
        learner.fit(rows, resume=file)


def test_files_of_earlier_versions_are_read(named_rows: NamedRows, tmp_path: Path) -> None:
    rows, file, learner = named_rows("czech", "data"), tmp_path / "kept", Learner(penalty=SoftTied(1.0, groups=2))
    learner.fit(rows, resume=file)
    assert b'"kind": "Round"' in file.read_bytes()
    learner, file = Learner(penalty=L2(1.0)), tmp_path / "l2"
    whole = learner.fit(rows, resume=file)
    former = b'"coordinates": null, "log_z_error": null, "learning_error": null'
    file.write_bytes(file.read_bytes().replace(b'"coordinates": null', former))
    assert former in file.read_bytes()
    np.testing.assert_array_equal(learner.fit(rows, resume=file).model.w, whole.model.w)
