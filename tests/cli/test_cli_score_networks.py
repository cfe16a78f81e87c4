"""`mrfit score` with networks of other programs: tables, features too wide for a table, trees, and no exact log Z."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mrfit import Dataset, read_network
from mrfit.core.errors import InputError
from mrfit.core.rounding import with_error
from mrfit.data.encoding import ParseOptions
from mrfit.data.unique_rows import UniqueRows
from mrfit.model.factor_network import FactorNetwork

Shell = Callable[..., Any]
N = 12

WIDE = f"""{",".join(["2"] * (N - 1) + ["3"])}
MN {{
1.5 {" ".join(f"+v{i}_1" for i in range(N - 1))} -v{N - 1}_1
-0.7 {" ".join(f"+v{i}_0" for i in range(N - 1))}
0.4 +v0_1
tree {{
(v0_1 (v1_0 (v2_1 (v3_1 (v4_0 (v5_0 (v6_1 (v7_0
  (v8_1 (v9_1 (v10_1 (v11_2 0.3 -1) 2) 1) 0.5) 1) 0.2) 3) 1) 2) 0.1) 1.5) -0.25)
}}
}}
"""


@pytest.fixture(name="network")
def _network(tmp_path: Path) -> FactorNetwork:
    (tmp_path / "wide.mn").write_text(WIDE)
    network = read_network(tmp_path / "wide.mn")
    assert network.conjunctions
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(0, c, 30) for c in network.domain.shape])
    rows[:5] = 1
    rows[5:8] = 0
    (tmp_path / "wide.data").write_text("\n".join(",".join(map(str, row)) for row in rows.tolist()) + "\n")
    return network


def _by_hand(network: FactorNetwork, row: tuple[int, ...]) -> tuple[float, float]:
    """pll and ll of a row, from the potentials of all joint states."""
    q = dict(
        zip(
            states := list(product(*map(range, network.domain.shape))),
            network.log_potential(np.array(states)),
            strict=True,
        )
    )
    log_z = float(np.logaddexp.reduce(list(q.values())))
    pll = 0.0
    for i, c in enumerate(network.domain.shape):
        pll += q[row] - float(np.logaddexp.reduce([q[(*row[:i], s, *row[i + 1 :])] for s in range(c)]))
    return pll, float(q[row]) - log_z


@pytest.mark.parametrize("metric", ["pll", "ll"])
def test_features_and_trees_of_many_variables(
    metric: str, shell: Shell, network: FactorNetwork, tmp_path: Path
) -> None:
    rows = [tuple(map(int, line.split(","))) for line in (tmp_path / "wide.data").read_text().split()]
    document = shell("score", "wide.mn", "wide.data", "--metric", metric, "--per-row", "--json").document
    expected = [_by_hand(network, row)[metric == "ll"] for row in rows[:12]]
    assert document["per_row"][:12] == pytest.approx(expected, abs=1e-9)
    assert document[metric] == pytest.approx(np.mean(document["per_row"]), abs=1e-12)
    assert document.get("log_z_error", 0.0) == 0.0
    data = Dataset.from_file(tmp_path / "wide.data", domain=network.domain, header=False)
    mean, each = getattr(network, metric)(data), getattr(network, f"{metric}_rows")(data)
    assert mean == pytest.approx(document[metric], abs=1e-12)
    assert each == pytest.approx(document["per_row"], abs=1e-12)


@pytest.mark.parametrize("metric", ["pll", "ll"])
def test_rows_with_missing_values(metric: str, shell: Shell, network: FactorNetwork, tmp_path: Path) -> None:
    """A row is scored by what it has: sums over the states of its missing cell."""
    row = [1] * N
    (tmp_path / "holes.data").write_text(",".join(["?", *map(str, row[1:])]) + "\n" + ",".join(map(str, row)) + "\n")
    found = shell("score", "wide.mn", "holes.data", "--missing", "observed", "--metric", metric, "--per-row", "--json")
    both = [_by_hand(network, (s, *row[1:])) for s in range(2)]
    assert found.document["per_row"][1] == pytest.approx(both[1][metric == "ll"], abs=1e-9)
    if metric == "ll":
        assert found.document["per_row"][0] == pytest.approx(np.logaddexp(both[0][1], both[1][1]), abs=1e-9)
    else:
        assert found.document["per_row"][0] > both[1][0]


def test_the_example_of_libra(shell: Shell, conformance_dir: Path, tmp_path: Path) -> None:
    """Negated conditions, 26 features; and the pseudo-log-likelihoods of Libra's own run."""
    folder = conformance_dir / "libra"
    expected = json.loads((folder / "expected.json").read_text())
    (tmp_path / "cold.data").write_bytes(gzip.decompress((folder / "cold.data.gz").read_bytes()))
    for metric in ("pll", "ll"):
        document = shell("score", str(folder / "cold.mn"), "cold.data", "--metric", metric, "--json").document
        assert document[metric] == pytest.approx(expected["cold.mn"][f"mean_{metric.upper()}"], abs=1e-8)
    (tmp_path / "msweb.data").write_bytes(gzip.decompress((folder / "msweb.test.gz").read_bytes()))
    ran = shell("score", str(folder / "msweb-cl.mn.gz"), "msweb.data", "--metric", "ll")
    assert f"mean ll {expected['msweb-cl.mn']['mean_LL_msweb_test']:.4f} nats a row" in ran.out


def test_an_estimated_log_z_brings_its_error(shell: Shell, tmp_path: Path) -> None:
    """A complete graph of 40 variables without couplings, by which log Z is known, and no engine can know it."""
    n, rng = 40, np.random.default_rng(1)
    fields = rng.standard_normal((n, 2))
    tables = [((i,), field) for i, field in enumerate(fields)]
    tables += [((i, j), np.zeros(4)) for i in range(n) for j in range(i)]
    scopes = "\n".join(f"{len(scope)} {' '.join(map(str, scope))}" for scope, _ in tables)
    values = "\n".join(f"{len(t)} {' '.join(repr(float(v)) for v in t)}" for _, t in tables)
    (tmp_path / "dense.LG").write_text(f"MARKOV\n{n}\n{'2 ' * n}\n{len(tables)}\n{scopes}\n{values}\n")
    (tmp_path / "zeros.data").write_text(",".join(["0"] * n) + "\n" + ",".join(["0"] * (n - 1) + ["1"]) + "\n")
    truth = np.mean([fields[:, 0].sum(), fields[:-1, 0].sum() + fields[-1, 1]])
    truth -= np.logaddexp(fields[:, 0], fields[:, 1]).sum()
    ran = shell("score", "dense.LG", "zeros.data", "--metric", "ll", "--json")
    document = ran.document
    assert 0 < document["log_z_error"] < 0.5
    assert document["ll"] == pytest.approx(truth, abs=5 * document["log_z_error"])
    text = shell("score", "dense.LG", "zeros.data", "--metric", "ll", "--verbose")
    assert "engine ais" in text.err
    assert document["standard_error"] == pytest.approx(math.hypot(document["row_error"], document["log_z_error"]))
    scores = fields[:-1, 0].sum() + fields[-1] - np.logaddexp(fields[:, 0], fields[:, 1]).sum()
    assert document["row_error"] == pytest.approx(scores.std() / math.sqrt(2), rel=1e-6)
    number = with_error(document["ll"], document["standard_error"])
    parts = f"{document['row_error']:.2g} over rows, {document['log_z_error']:.2g} of log Z"
    assert f"mean ll {number} nats a row ({parts}), 2 rows" in text.words
    assert "log_z_error" not in shell("score", "dense.LG", "zeros.data", "--json").document


def test_a_domain_for_counted_rows(network: FactorNetwork, tmp_path: Path) -> None:
    rows = UniqueRows.from_file(tmp_path / "wide.data", domain=network.domain, header=False)
    assert rows.domain == network.domain
    assert rows == UniqueRows.from_dataset(
        Dataset.from_file(tmp_path / "wide.data", domain=network.domain, header=False)
    )
    assert UniqueRows.from_file(tmp_path / "wide.data", columns=["v0", "v1"], header=False).domain.names == ("v0", "v1")


def test_options_for_counted_rows_that_cannot_be(network: FactorNetwork, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"domain= is a field of the reading"):
        UniqueRows.from_file(tmp_path / "wide.data", ParseOptions(), domain=network.domain)
    with pytest.raises(InputError, match=r"no option 'domian' for files; choose among .*'domain'"):
        UniqueRows.from_file(tmp_path / "wide.data", domian=network.domain)  # type: ignore[call-arg]
