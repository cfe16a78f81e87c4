"""Libra: features, tables and trees, wide ones without tables; rows, schemas and marginals."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrfit.core.errors import InputError
from mrfit.formats.libra_data import (
    LibraRows,
    marginals_bytes,
    read_marginals,
    read_rows,
    read_schema,
    rows_bytes,
    schema_bytes,
)
from mrfit.formats.libra_mn import mn_bytes, read_mn
from mrfit.inference.exact.enumeration import Enumeration
from reference.features import joint_states

MODEL = """2,2,3
MN {
0.7 +v0_1 -v2_0
3 0.25 +v1_1
2
table {
0.5 +v0_1 +v1_1
1.5 +v1_1
-inf +v0_0 +v1_0
}
Features {

-1 +v2_2 -v2_2
4 -v2_1 -v2_2
}
TREE { (v0_1 0.3
  (v2_0 -1 2.5))
}
w 3 0.25
}

"""


def by_hand(x: tuple[int, ...]) -> float:
    a, b, c = x
    value = 0.7 * (a == 1 and c != 0) + 0.25 * (b == 1) + 2.0
    value += 0.5 * (a == 1 and b == 1) + 1.5 * (b == 1)
    value += -np.inf if a == 0 and b == 0 else 0.0
    value += 4.0 * (c == 0)
    return value + (0.3 if a == 1 else -1.0 if c == 0 else 2.5)


@pytest.mark.parametrize("text", [MODEL, MODEL.replace("\n", "\r\n"), MODEL.replace("MN {", "mn\n{")])
def test_every_kind_of_factor(text: str) -> None:
    network = read_mn(text.encode(), "model.mn")
    codes = joint_states((2, 2, 3))
    np.testing.assert_allclose(network.log_potential(codes), [by_hand(tuple(x)) for x in codes.tolist()], atol=1e-12)
    assert read_mn(mn_bytes(network), "again").tables == network.tables


def test_a_wide_feature_is_no_table() -> None:
    """Thirty variables, of which the last may be in two of three states."""
    shape = ",".join(["2"] * 29 + ["3"])
    conditions = " ".join([*(f"+v{i}_1" for i in range(29)), "-v29_1"])
    text = f"{shape}\nMN {{\n1.5 {conditions}\n0.5 +v3_1\n}}\n"
    network = read_mn(text.encode(), "wide.mn")
    assert len(network.tables.values) == 2
    assert len(network.conjunctions) == 1
    assert len(network.factors.values) < 300
    codes = np.ones((3, 30), int)
    codes[:, 29] = [0, 1, 2]
    assert network.log_potential(codes).tolist() == [2.0, 0.5, 2.0]
    assert read_mn(mn_bytes(network), "again") == network


def test_a_wide_tree_is_no_table() -> None:
    """A branch of depth k speaks of k variables; a tree over 40 variables in a row has 41 leaves."""
    tree = "9.0"
    for i in reversed(range(40)):
        tree = f"(v{i}_1 {i}.5 {tree})"
    network = read_mn(f"{','.join('2' * 40)}\nMN {{\ntree {{ {tree} }}\n}}".encode(), "tree.mn")
    codes = np.zeros((3, 40), int)
    codes[0, 39], codes[1, 3] = 1, 1
    assert network.log_potential(codes).tolist() == [39.5, 3.5, 9.0]
    assert network.n_hidden < 40  # branches share what they begin with
    assert len(network.factors.values) < 4000


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1))
def test_wide_and_narrow_say_the_same(seed: int) -> None:
    """Random features over more states than a table is made of; exact by all joint states of a few variables."""
    rng = np.random.default_rng(seed)
    shape = (5, 4, 5, 4)  # 400 cells
    lines = []
    for _ in range(3):
        words = []
        for i in rng.permutation(4)[: rng.integers(1, 5)]:
            words += [f"{'+-'[int(rng.integers(2))]}v{i}_{rng.integers(shape[i])}" for _ in range(rng.integers(1, 3))]
        lines.append((round(float(rng.normal()), 3), words))
    text = "5,4,5,4\nMN {\n" + "".join(f"{w} {' '.join(words)}\n" for w, words in lines) + "}\n"
    network = read_mn(text.encode(), "model.mn")
    codes = joint_states(shape)
    expected = [
        sum(w for w, words in lines if all(_holds(word, x) for word in words)) for x in product(*map(range, shape))
    ]
    np.testing.assert_allclose(network.log_potential(codes), expected, atol=1e-12)
    if network.n_hidden <= 8:
        engine = Enumeration()
        log_z = engine.run(engine.plan(network.factors), network.factors).log_z
        assert log_z == pytest.approx(np.logaddexp.reduce(expected), abs=1e-10)


def _holds(word: str, x: tuple[int, ...]) -> bool:
    variable, _, state = word[2:].partition("_")
    return (x[int(variable)] == int(state)) == (word[0] == "+")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (("0.7 +v0_1", "0.7 +v3_1"), "line 3, token 2: '\\+v3_1' is wrong; there are 3 variables"),
        (("0.7 +v0_1", "0.7 +v0_2"), "line 3, token 2: '\\+v0_2' is wrong; variable 0 has 2 states"),
        (("0.7 +v0_1", "0.7 v0_1"), "line 3, token 2: 'v0_1' is wrong; expected a condition"),
        (("0.7 +v0_1", "x +v0_1"), "line 3, token 1: 'x' is wrong; expected a weight"),
        (("0.7 +v0_1", "nan +v0_1"), "line 3, token 1: 'nan' is wrong; expected a weight, a finite number"),
        (("0.7 +v0_1", "inf +v0_1"), "line 3, token 1: 'inf' is wrong"),
        (("0.7 +v0_1", "0.7 0.7 +v0_1"), "expected the number of a weight, a whole number"),
        (("w 3 0.25", "w 3 0.5"), "line 19, token 3: '0.5' is wrong; weight 3 is 0.25"),
        (("(v0_1 0.3", "(v0_1 0.3 1 2"), "line 16, token 6: '2' is wrong; expected '\\)'|expected"),
        (("-1 2.5))", "-1 2.5)"), "expected '\\)'"),
        (("v2_0 -1", "+v2_0 -1"), "expected a test such as v0_1"),
        (("MN {", "MARKOV {"), "line 2, token 1: 'MARKOV' is wrong; expected 'MN'"),
        (("\n}\n\n", "\n"), "ends where a factor"),
        (("\n}\n\n", "\n}\n}\n"), "line 21, token 1: '}' is wrong; expected the end"),
        (("2,2,3", "2,2,0"), "line 1, token 3: '0' is wrong"),
        (("2,2,3", "2,2,99999999999"), "the limit is"),
        (("2,2,3", ""), "ends after 0 tokens"),
    ],
)
def test_wrong_models(change: tuple[str, str], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        read_mn(MODEL.replace(*change, 1).encode(), "bad.mn")


def test_a_deep_tree_needs_no_recursion() -> None:
    deep = b"2,2\nMN {\ntree {\n" + b"(v0_1 1 " * 20_000 + b"2" + b")" * 20_000 + b"\n}\n}\n"
    assert read_mn(deep, "deep.mn").log_potential(np.array([[0, 0], [1, 0]])).tolist() == [2.0, 1.0]


# --- rows, schemas, marginals


def test_rows_come_back(tmp_path: Path) -> None:
    path = tmp_path / "rows.data"
    rows = LibraRows(np.array([[0, -1, 2], [1, 1, -1]]), np.array([1.0, 0.2]))
    path.write_bytes(rows_bytes(rows))
    assert path.read_text() == "0,*,2\n0.2|1,1,*\n"
    found = read_rows(path, (2, 2, 3))
    np.testing.assert_array_equal(found.codes, rows.codes)
    np.testing.assert_array_equal(found.sample_weight, rows.sample_weight)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("0,1,2\n0,1\n", "line 2 has 2 states; expected 3"),
        ("0,1,3\n", "line 1, variable 2: '3' is wrong; expected a state 0 to 2"),
        ("0,-1,2\n", "variable 1: '-1' is wrong"),
        ("x|0,1,2\n", "the weight b'x' is wrong"),
        ("-1|0,1,2\n", "the weight b'-1' is wrong"),
    ],
)
def test_wrong_rows(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "rows.data"
    path.write_text(text)
    with pytest.raises(InputError, match=complaint):
        read_rows(path, (2, 2, 3))


def test_schemas_and_marginals_come_back(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(schema_bytes((2, 3)))
    assert path.read_text() == "2,3\n"
    assert read_schema(path) == (2, 3)
    answers = ((np.array([0.5, 0.5]), np.array([1.0])), (np.array([0.1, 0.9]), np.array([1.0])))
    path.write_bytes(marginals_bytes(answers))
    assert path.read_text() == "0.5 0.5\n1.0\n\n0.1 0.9\n1.0\n"
    assert [[p.tolist() for p in answer] for answer in read_marginals(path)] == [
        [p.tolist() for p in answer] for answer in answers
    ]
    path.write_text("0.5 x\n")
    with pytest.raises(InputError, match=r"line 1: .* expected the probabilities"):
        read_marginals(path)
