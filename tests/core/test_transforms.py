"""Walsh-Hadamard, subset sums, tensor products and exponentials against plain twins and identities."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mrfit._kernels.fitting.state_products import scale_and_subtract
from mrfit.core import transforms
from mrfit.core.errors import InputError
from reference.transforms import MATRICES, butterflies, by_definition

KINDS = list(MATRICES)
SIZES = [*range(16), 17, 18, 20]  # all small ones, one block, two blocks, eight
ADJOINTS = [
    ("walsh_hadamard", "walsh_hadamard"),
    ("subset_sums", "superset_sums"),
    ("inverse_subset_sums", "inverse_superset_sums"),
]
INVERSES = [("subset_sums", "inverse_subset_sums"), ("superset_sums", "inverse_superset_sums")]
SHAPES = [
    ([], []),
    ([3], [2]),
    ([1], [4]),
    ([2, 3], [3, 2]),
    ([3, 1, 2, 4], [2, 3, 1, 5]),
    ([2] * 8, [3] * 8),
    ([3] * 7, [2] * 7),
    ([2, 3, 2, 3, 2, 3, 5], [3, 2, 2, 3, 1, 4, 5]),
    ([4, 40], [2, 40]),
    ([2, 3, 1500], [3, 2, 2]),
]


def applied(kind: str, a: np.ndarray, jobs: int = 1) -> np.ndarray:
    result = a.copy()
    getattr(transforms, kind)(result, jobs=jobs)
    return result


def integers(rng: np.random.Generator, n: int) -> np.ndarray:
    """Values whose sums are exact, so that any order of additions gives the same bits."""
    return rng.integers(-1000, 1000, 1 << n).astype(float)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", SIZES)
def test_equals_the_plain_butterflies(kind: str, n: int, rng: np.random.Generator) -> None:
    a = integers(rng, n)
    np.testing.assert_array_equal(applied(kind, a), butterflies(kind, a))


@pytest.mark.parametrize("kind", KINDS)
def test_as_accurate_as_the_plain_butterflies(kind: str, rng: np.random.Generator) -> None:
    a = rng.normal(size=1 << 14)
    np.testing.assert_allclose(applied(kind, a), butterflies(kind, a), rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data(), n=st.integers(0, 7))
def test_equals_the_definition(kind: str, data: st.DataObject, n: int) -> None:
    a = data.draw(arrays(np.float64, 1 << n, elements=st.integers(-1000, 1000)))
    np.testing.assert_array_equal(applied(kind, a), by_definition(kind, a))


@pytest.mark.parametrize(("kind", "adjoint"), ADJOINTS)
@pytest.mark.parametrize("n", [3, 9, 13, 18])
def test_adjoint(kind: str, adjoint: str, n: int, rng: np.random.Generator) -> None:
    """<M a, b> = <a, M' b>."""
    a, b = rng.integers(-3, 4, (2, 1 << n)).astype(float)
    assert applied(kind, a) @ b == a @ applied(adjoint, b)


@pytest.mark.parametrize("n", SIZES)
def test_walsh_hadamard_twice_is_2_to_the_n(n: int, rng: np.random.Generator) -> None:
    a = rng.normal(size=1 << n)
    np.testing.assert_allclose(applied("walsh_hadamard", applied("walsh_hadamard", a)), a * 2.0**n, atol=2e-15 * 4.0**n)


@pytest.mark.parametrize(("kind", "inverse"), [*INVERSES, *((b, a) for a, b in INVERSES)])
@pytest.mark.parametrize("n", SIZES)
def test_round_trip(kind: str, inverse: str, n: int, rng: np.random.Generator) -> None:
    a = integers(rng, n)
    np.testing.assert_array_equal(applied(inverse, applied(kind, a)), a)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [4, 18, 19, 20, 21])
def test_threads_change_no_bit(kind: str, n: int, rng: np.random.Generator) -> None:
    a = rng.normal(size=1 << n)
    alone = applied(kind, a)
    for jobs in (2, 3):
        np.testing.assert_array_equal(applied(kind, a, jobs), alone)


def test_many_bits_above_a_block_need_two_passes(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Smaller passes do with 2**18 values what 2**27 values need."""
    monkeypatch.setattr(transforms.butterflies, "BLOCK_BITS", 11)
    monkeypatch.setattr(transforms.butterflies, "ROW_BITS", 4)
    monkeypatch.setattr(transforms, "_PARALLEL_LENGTH", 1)
    a = integers(rng, 18)
    for kind in KINDS:
        np.testing.assert_array_equal(applied(kind, a, 2), butterflies(kind, a))


@pytest.mark.parametrize("n_rows_bits", range(1, 10))
def test_every_number_of_bits_above_a_block(
    n_rows_bits: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transforms.butterflies, "BLOCK_BITS", 18 - n_rows_bits)
    a = integers(rng, 18)
    np.testing.assert_array_equal(applied("walsh_hadamard", a), butterflies("walsh_hadamard", a))


def test_an_array_that_begins_between_vectors(rng: np.random.Generator) -> None:
    """Nothing supposes more than the alignment of one value."""
    a = integers(rng, 13)
    room = np.empty(len(a) + 1)
    room[1:] = a
    transforms.walsh_hadamard(room[1:])
    np.testing.assert_array_equal(room[1:], butterflies("walsh_hadamard", a))


SYMPY = {
    "fwht": "walsh_hadamard",
    "ifwht": "walsh_hadamard",
    "mobius_subset": "subset_sums",
    "mobius_superset": "superset_sums",
}


def test_answers_of_sympy(conformance_dir: Path) -> None:
    cases = json.loads((conformance_dir / "transforms" / "sympy_wht_mobius.json").read_text())["cases"]
    for case in cases:
        given_values, expected = ([float(Fraction(value)) for value in case[key]] for key in ("input", "output"))
        a = np.zeros(len(expected))
        a[: len(given_values)] = given_values
        scale = len(a) if case["op"] == "ifwht" else 1
        np.testing.assert_allclose(applied(SYMPY[case["op"]], a) / scale, expected, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize(("before", "after"), SHAPES)
def test_tensor_product_equals_einsum(before: list[int], after: list[int], rng: np.random.Generator) -> None:
    a = rng.normal(size=before)
    matrices = [rng.normal(size=(c, k)) for c, k in zip(after, before, strict=True)]
    n = len(before)
    operands = [part for i, matrix in enumerate(matrices) for part in (matrix, [n + i, i])]
    expected = np.einsum(a, list(range(n)), *operands, list(range(n, 2 * n)), optimize=True)
    kept = a.copy()
    np.testing.assert_allclose(transforms.tensor_product(a, matrices), expected, atol=1e-11)
    np.testing.assert_array_equal(a, kept)


def test_tensor_product_of_transposed_views(rng: np.random.Generator) -> None:
    a, left, right = rng.normal(size=(4, 3)).T, rng.normal(size=(3, 3)).T, rng.normal(size=(4, 2)).T
    np.testing.assert_allclose(transforms.tensor_product(a, [left, right]), left @ a @ right.T, atol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_transforms_are_tensor_products(kind: str, rng: np.random.Generator) -> None:
    a = rng.normal(size=(2,) * 9)
    np.testing.assert_allclose(
        transforms.tensor_product(a, [MATRICES[kind]] * 9).ravel(), applied(kind, a.ravel()), atol=1e-11
    )


@pytest.mark.parametrize("length", [1, 7, 1024, 1025, 5000, (1 << 19) + 5])
@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_exponentiate(length: int, jobs: int, rng: np.random.Generator) -> None:
    q = 50.0 * rng.normal(size=length)
    result = q.copy()
    largest, total = transforms.exponentiate(result, jobs=jobs)
    assert largest == q.max()
    np.testing.assert_allclose(result, np.exp(q - q.max()), rtol=1e-14)
    np.testing.assert_allclose(total, np.sum(result, dtype=np.longdouble).astype(float), rtol=1e-15)
    alone = q.copy()
    assert transforms.exponentiate(alone) == (largest, total)
    np.testing.assert_array_equal(result, alone)


def test_exponentiate_shows_a_nan() -> None:
    assert np.isnan(transforms.exponentiate(np.array([0.0, np.nan, 1.0]))[1])


def test_scale_and_subtract(rng: np.random.Generator) -> None:
    a, b = rng.normal(size=(2, 1000))
    expected = 3.0 * a - b
    scale_and_subtract(a, 3.0, b)
    np.testing.assert_allclose(a, expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("function", [transforms.walsh_hadamard, transforms.exponentiate])
@pytest.mark.parametrize(
    ("a", "found"),
    [
        (np.zeros(4, np.float32), "float32"),
        (np.zeros((2, 2)), r"shape \(2, 2\)"),
        (np.zeros(8)[::2], "contiguous"),
        ([1.0, 2.0], "list"),
        (np.broadcast_to(0.0, 1), "read-only"),
    ],
)
def test_bad_arrays(function, a: np.ndarray, found: str) -> None:
    with pytest.raises(InputError, match=found):
        function(a)


@pytest.mark.parametrize("length", [0, 3, 12, 1000])
def test_length_that_is_no_power_of_two(length: int) -> None:
    with pytest.raises(InputError, match=f"holds {length} values"):
        transforms.subset_sums(np.zeros(length))


def test_no_log_potentials() -> None:
    with pytest.raises(InputError, match="empty"):
        transforms.exponentiate(np.zeros(0))


@pytest.mark.parametrize("shapes", [[(2, 2)], [(2, 2), (2, 2)], [(2, 2), (3,)]])
def test_matrices_that_do_not_fit(shapes: list[tuple[int, ...]]) -> None:
    with pytest.raises(InputError, match="one per axis"):
        transforms.tensor_product(np.zeros((2, 3)), [np.zeros(shape) for shape in shapes])
