"""A real cluster of two processes; and what is said where there is none."""

from __future__ import annotations

import gzip
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import forked
from dying import DEATHS, DyingLoss, deadly, jobs_of, on_full_disk, scaled
from mrfit.analysis.stability.edge_bootstrap import bootstrap_edges
from mrfit.cli.main import main
from mrfit.core import cluster as clusters
from mrfit.core.cluster import cluster, held, is_address, mapped, n_at_once
from mrfit.core.errors import DataError, InputError
from mrfit.data.encoding import ParseOptions
from mrfit.data.partitioned_table import PartitionedTable
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning import Learner
from mrfit.learning.partitioned_rows import ShardedRows
from mrfit.learning.penalty_specs import L2
from mrfit.parameterizations.canonical import Canonical
from mrfit.penalties.l2 import Ridge
from mrfit.penalties.penalized_objective import PenalizedObjective
from mrfit.solvers.minimize import minimize
from mrfit.solvers.newton import TruncatedNewton
from mrfit.structures.simple import ChowLiuTree, Learned
from mrfit.structures.structure import Structure

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[clusters._Cluster]:
    """One cluster for all tests: workers take seconds to start, and those that are forked, as here, half a second."""
    import dask

    os.environ[DEATHS] = str(tmp_path_factory.mktemp("deaths"))
    forked.load()
    settings = {
        "distributed.scheduler.allowed-failures": 1,
        "distributed.worker.multiprocessing-method": "forkserver",
        "distributed.nanny.environ": {DEATHS: os.environ[DEATHS]},  # what is forked may run since before it was set
    }
    with dask.config.set(settings), clusters._connected("local:2") as found:
        yield found


@pytest.fixture
def _on_cluster(connection: clusters._Cluster) -> Iterator[None]:
    token = clusters._active.set(connection)
    yield
    clusters._active.reset(token)


@pytest.fixture
def table(data_dir: Path, tmp_path: Path) -> Path:
    """Real rows in four files."""
    lines = gzip.decompress((data_dir / "nltcs" / "valid.csv.gz").read_bytes()).decode().splitlines()
    for k in range(4):
        (tmp_path / f"{k}.csv").write_text("\n".join(lines[k::4]) + "\n")
    return tmp_path


@pytest.mark.usefixtures("_on_cluster")
def test_results_stand_in_the_order_of_items() -> None:
    told: list[float] = []
    assert mapped(scaled, [3.0, 1.0, 2.0], shared=(2.0,), callback=told.append) == [6.0, 2.0, 4.0]
    assert told == [3.0, 1.0, 2.0]
    kept = held(list, ["abc", "de"])
    assert kept.ask(len) == [3, 2]
    assert kept.made(sorted).ask(tuple) == [("a", "b", "c"), ("d", "e")]
    assert n_at_once() == 2
    assert mapped(jobs_of, [0, 1]) == [1, 1]  # a worker has one thread, whatever the machine has


@pytest.mark.usefixtures("_on_cluster")
def test_merged_counts_give_the_bits_of_this_machine(table: Path) -> None:
    learner = Learner(ChowLiuTree(), L2(strength=(1.0, 10.0)), folds=2)
    there = learner.fit(PartitionedTable.of(table), errors="sandwich")
    clusters._active.set(None)
    here = learner.fit(PartitionedTable.of(table), errors="sandwich")
    np.testing.assert_array_equal(there.model.w, here.model.w)
    np.testing.assert_array_equal(there.model.errors.covariance, here.model.errors.covariance)
    assert [fit.held_out for fit in there.fits] == [fit.held_out for fit in here.fits]
    assert "Counts of 4 files were merged" in there.structure.remarks[-1]


@pytest.mark.usefixtures("_on_cluster")
def test_many_jobs_give_the_bits_of_this_machine(table: Path) -> None:
    """Regressions of all variables, by steps and by paths; resamples, in a pool and by fits; folds."""
    rows = UniqueRows.from_file(table)
    ebic, tree = Learned(select="ebic"), Learner(ChowLiuTree(), L2(strength=1.0))
    told: list[int] = []
    jobs: list[Callable[[], np.ndarray]] = [
        lambda: Learned(max_degree=2).learn(rows, callback=told.append).report.coefficients,
        lambda: ebic.learn(rows, callback=told.append).report.coefficients,
        lambda: bootstrap_edges(ebic, rows, resamples=20, callback=told.append).networks.weights,
        lambda: bootstrap_edges(tree, rows, resamples=3, callback=told.append).networks.weights,
        lambda: np.array(
            [fit.fold_scores for fit in replace(tree, penalty=L2(strength=(1.0, 9.0)), folds=2).fit(rows).fits]
        ),
    ]
    there = [job() for job in jobs]
    assert sum(told) == 16 + 16 + 20 + 3
    clusters._active.set(None)
    for found, job in zip(there, jobs, strict=True):
        np.testing.assert_array_equal(found, job())


@pytest.mark.usefixtures("_on_cluster")
def test_a_killed_worker_changes_no_digit(table: Path) -> None:
    """Killed while it builds a shard, expands it, or works out a product: others make the shard again."""
    parts = PartitionedTable.of(table)
    rows, parameters = ShardedRows(parts), Canonical(parts.domain, Structure.complete(len(parts.domain)))

    def optimum(moment: str | None) -> np.ndarray:
        if moment is not None:
            Path(os.environ[DEATHS], moment).touch()
        objective = rows.objective(DyingLoss, parameters, jobs=1)
        problem = PenalizedObjective(objective, Ridge(10.0), total_weight=rows.total_weight)
        w = minimize(problem, TruncatedNewton(), tolerance=1e-2).w
        product = objective.expand(w).product(w)
        assert moment is None or not Path(os.environ[DEATHS], moment).exists()  # somebody died
        return np.concatenate([w, product])

    undisturbed = optimum(None)
    for moment in ("building", "expansion", "product"):
        np.testing.assert_array_equal(optimum(moment), undisturbed)


@pytest.mark.usefixtures("data_dir")
def test_commands_that_learn_again_say_the_same(
    connection: clusters._Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Resamples of nodes, tables of power and of a check, and permutations, by workers and by this process."""
    monkeypatch.chdir(tmp_path)
    assert main(["fit", "czech:data", "--structure", "tree", "-o", "m.mrf", "--quiet"]) == 0
    address = connection.client.scheduler.address
    for command in (
        "nodes m.mrf czech:data --resamples 3",
        "power m.mrf --rows 100,200 --repetitions 2",
        "check m.mrf czech:data --bootstrap 3",
        "compare-groups czech:data --by smoke --tests permutations --permutations 3",
    ):
        said = []
        for where in ([], ["--cluster", address]):
            assert main([*command.split(), "--json", *where]) == 0
            said.append(capsys.readouterr().out)
        assert said[0] == said[1], command


def test_units_of_experiments_have_the_same_results(
    connection: clusters._Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    results = []
    for folder, where in (("here", []), ("there", ["--cluster", connection.client.scheduler.address])):
        assert main(["reproduce", "spec-table1", "--quick", "--out", folder, "--jobs", "1", "--quiet", *where]) == 0
        units = map(json.loads, Path(folder, "results.jsonl").read_text().splitlines()[1:])
        results.append({unit["key"]: unit["result"] for unit in units if "result" in unit})
    assert len(results[0]) == 14
    assert results[0] == results[1]


@pytest.mark.usefixtures("_on_cluster")
def test_what_breaks_is_named(table: Path) -> None:
    with pytest.raises(InputError, match=r"\d+ workers of the cluster local:2 died while working on 'x.csv'"):
        mapped(deadly, ["x.csv"], name=repr)
    with pytest.raises(InputError, match=r"A worker of the cluster local:2 failed on 'x.csv': .*No space left"):
        mapped(on_full_disk, ["x.csv"], name=repr)
    (table / "9.csv").write_text("a,b\n1,x\n")
    with pytest.raises(DataError, match=r"'9.csv': Its columns differ from those of the files before it"):
        PartitionedTable.of(table)
    domain = PartitionedTable.of(table / "0.csv").domain
    (table / "9.csv").write_text(",".join("7" for _ in domain) + "\n")
    with pytest.raises(DataError, match=r"'9.csv': Column 'v0' holds '7' .*not one of its states"):
        Learner(ChowLiuTree()).fit(PartitionedTable.of(table, ParseOptions(domain), header=False))
    (table / "9.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match=r"'9.csv'"):
        PartitionedTable.of(table)


@pytest.mark.usefixtures("_on_cluster")
def test_all_workers_lost(connection: clusters._Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "_POLL_SECONDS", 0.1)
    monkeypatch.setattr(clusters, "_MOST_SECONDS_WITHOUT_WORKERS", 0.5)
    connection.client.cluster.scale(0)
    while connection.client.nthreads():  # one that is still going would take the task, and die with it
        time.sleep(0.05)
    try:
        with pytest.raises(InputError, match=r"All workers of the cluster local:2 were lost while 1.0 was running"):
            mapped(scaled, [1.0], shared=(2.0,))
    finally:
        connection.client.cluster.scale(2)
        connection.client.wait_for_workers(2)


@pytest.mark.usefixtures("_on_cluster")
def test_a_scheduler_that_goes(connection: clusters._Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client then cancels what it waits for."""

    def go(future: distributed.Future) -> bool:
        connection.client.cancel([future], force=True)
        return True

    monkeypatch.setattr(clusters, "_is_done", go)
    with pytest.raises(InputError, match=r"The scheduler of the cluster local:2 stopped while 60 was running"):
        mapped(time.sleep, [60])


@pytest.mark.parametrize("n", [1, 3])
def test_so_many_processes_are_started_as_were_asked_for(n: int) -> None:
    """Whatever the number of processors."""
    with cluster(f"local:{n}"):
        assert n_at_once() == n


def test_a_scheduler_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "_CONNECT_SECONDS", 0.5)
    with (
        pytest.raises(InputError, match=r"The cluster tcp://127.0.0.1:9 did not answer"),
        cluster("tcp://127.0.0.1:9"),
    ):
        pass
    for wrong in ("local:0", "local", "local:many"):
        with (
            pytest.raises(InputError, match=f"'{wrong}' is not the address of a cluster; write local:4"),
            cluster(wrong),
        ):
            pass
    token = clusters._active.set(clusters._Cluster("local:1", None))
    with pytest.raises(InputError, match="local:1 is in use already"), cluster("local:2"):
        pass
    clusters._active.reset(token)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("local:4", True),
        ("tcp://a:1", True),
        ("host:8786", True),
        ("10.0.0.1:8786", True),
        ("school", False),
        ("a:b", False),
    ],
)
def test_addresses(text: str, expected: bool) -> None:
    assert is_address(text) is expected


def test_without_dask_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(InputError, match=r"not installed. Install it: pip install 'mrfit\[cluster\]'"),
        cluster("local:2"),
    ):
        pass


def test_threads_give_results_in_order() -> None:
    assert mapped(scaled, list(range(20)), shared=(2.0,), jobs=3) == [2.0 * k for k in range(20)]
    assert mapped(scaled, [], shared=(2.0,)) == []
