"""UAI models as other programs write them, and as they should not."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from mrfit.core.errors import InputError
from mrfit.formats.uai import read_lg, read_uai, uai_bytes
from mrfit.registry import FORMATS

SMALL = "MARKOV\n2\n2 3\n2\n2 1 0\n1 0\n6\n1 2 3 4 5 6\n2\n0.5 0\n"


def test_the_last_variable_of_a_scope_as_listed_is_fastest() -> None:
    network = read_uai(SMALL.encode(), "small.uai")
    assert network.domain.to_states() == {"v0": ["0", "1"], "v1": ["0", "1", "2"]}
    assert network.tables.scopes == ((1, 0), (0,))
    q = network.log_potential(np.array([[0, 0], [0, 2], [1, 2]]))
    np.testing.assert_allclose(q, [math.log(0.5), math.log(2.5), -np.inf])


@pytest.mark.parametrize(
    "text",
    [
        SMALL.replace("\n", " "),
        SMALL.replace("\n", "\r\n\t "),
        SMALL.replace("\n", "\r"),
        SMALL.replace("MARKOV", "BAYES"),
        SMALL.replace("MARKOV", "markov"),
        "# made by hand\n" + SMALL.replace("2 1 0\n", "2 1 0 # scope\n") + "# end",
        SMALL.replace("1 2 3", "1.0 +2E0 3e+00").replace("0.5", "5e-1"),
    ],
    ids=["one line", "tabs and CRLF", "CR", "bayes", "lower case", "comments", "scientific"],
)
def test_layout_means_nothing(text: str) -> None:
    assert read_uai(text.encode(), "other.uai") == read_uai(SMALL.encode(), "small.uai")


def test_logarithms() -> None:
    logs = read_lg(b"MARKOV 1 2 1 1 0 2 -1.5 -inf", "model.LG")
    assert logs.tables.values.tolist() == [-1.5, -np.inf]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (SMALL.replace("MARKOV", "MARKOFF"), "line 1, token 1: 'MARKOFF' is wrong; expected one of 'MARKOV', 'BAYES'"),
        (SMALL.replace("2 3\n", "2 0\n"), "line 3, token 2: '0' is wrong; expected the number of states of a variable"),
        (SMALL.replace("2 3\n", "2 3.0\n"), "line 3, token 2: '3.0' is wrong.*a whole number"),
        (SMALL.replace("2 1 0\n", "2 1 2\n"), "line 5, token 3: '2' is wrong; expected a variable: 0 to 1"),
        (SMALL.replace("2 1 0\n", "2 1 1\n"), "line 5, token 3: '1' is wrong; a scope must name"),
        (SMALL.replace("2 1 0\n", "3 1 0\n"), "line 5, token 1: '3' is wrong"),
        (SMALL.replace("\n6\n", "\n4\n"), "line 7, token 1: '4' is wrong; table 0 has 6 values"),
        (SMALL.replace("3 4", "3 x4"), "line 8, token 4: 'x4' is wrong; expected a potential, a number"),
        (SMALL.replace("3 4", "3 nan"), "line 8, token 4: 'nan' is wrong; .*a finite number, 0 or more"),
        (SMALL.replace("3 4", "3 inf"), "line 8, token 4: 'inf' is wrong"),
        (SMALL.replace("3 4", "3 -4"), "line 8, token 4: '-4' is wrong"),
        (SMALL.replace("3 4", "3 1_4"), "line 8, token 4: '1_4' is wrong"),
        (SMALL.replace("# ", "") + "7 8", "line 11, token 1: '7' is wrong; expected the end; 2 tokens are left over"),
        (SMALL[:-4], "ends after 19 tokens, where 2 values of table 1 should follow"),
        ("", "ends after 0 tokens"),
        ("MARKOV 0 0", "token 2: '0' is wrong; expected the number of variables: 1 or more"),
        ("MARKOV 1 -2 0", "token 3: '-2' is wrong"),
        ("MARKOV 99999999999999999999 2", "ends after 3 tokens"),
        ("MARKOV 2 2 2 99999999999999 1", "ends after 6 tokens, where a variable should follow"),
        ("MARKOV 1 1000000000000 0", "1e\\+12 states together; the limit is"),
        (f"MARKOV 60 {'2 ' * 60} 1 60 {' '.join(map(str, range(60)))} {2**60} 1 2", "1.15e\\+18 values of table 0"),
        (f"MARKOV 600 {'2 ' * 600} 1 600 {' '.join(map(str, range(600)))} 4 1 2", "table 0 has 4.15e\\+180 values"),
        (SMALL + '# mrfit {"states": {"a": ["x", "y"]}}', "names 1 variables"),
        (SMALL + '# mrfit {"states": [}', "line 11: the comment '# mrfit ...' cannot be understood"),
        (SMALL + '# mrfit {"shift": 1e999}', "shifted by inf"),
        (SMALL + '# mrfit {"states": {"a": 3}}', "cannot be understood"),
    ],
)  # fmt: skip
def test_wrong_files(text: str, complaint: str) -> None:
    """Named by line and token; what is declared is never allocated."""
    with pytest.raises(InputError, match=complaint) as caught:
        read_uai(text.encode(), "bad.uai")
    assert "'bad.uai'" in str(caught.value)


def test_plus_infinity_is_no_logarithm() -> None:
    with pytest.raises(InputError, match=r"token 8: 'inf' is wrong; .*finite number or -inf"):
        read_lg(b"MARKOV 1 2 1 1 0 2 inf 0", "bad.LG")


def test_values_have_all_their_digits(rng: np.random.Generator) -> None:
    network = read_uai(SMALL.replace("0.5", repr(float(rng.random()))).encode(), "small.uai")
    assert FORMATS["lg"].read(FORMATS["lg"].write(network), "x").tables == network.tables
    assert re.search(rb"\d\.\d{15,}", uai_bytes(network))


def test_a_shift_is_there_only_where_it_must_be() -> None:
    huge = read_lg(b"MARKOV 1 2 1 1 0 2 1000 1001", "model.LG")
    assert b'# mrfit {"shift": 1000.5}' in uai_bytes(huge)
    assert b"#" not in uai_bytes(read_lg(b"MARKOV 1 2 1 1 0 2 690 -690", "model.LG"))
