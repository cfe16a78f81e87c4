"""Node-wise paths: against the definition, other libraries and third-party files, and on awkward tables."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize
from sklearn.linear_model import LogisticRegression

from mrfit.core.errors import InputError
from mrfit.data.unique_rows import UniqueRows
from mrfit.structures.nodewise.lasso_paths import NodePath, PathPoint, PathSettings, node_paths
from mrfit.structures.nodewise.observed_states import SeenStates
from mrfit.structures.nodewise.path_selection import theoretical_strength
from populations import SHAPES, domain_of, random_codes, random_rows
from reference.nodewise import DenseRegression

PRECISE = PathSettings(100, ratio=0.6, lowest=0.02, tolerance=1e-8)


def _rows(codes: np.ndarray, shape: tuple[int, ...]) -> UniqueRows:
    return UniqueRows.from_codes(domain_of(shape), codes.astype(np.uint8), np.ones(len(codes)))


def _at(rows: UniqueRows, variable: int, strength: float, *, tolerance: float = 1e-9) -> PathPoint:
    """The solution at one strength, from nothing."""
    settings = PathSettings(len(rows.domain), tolerance=tolerance)
    path = node_paths(rows, settings, variables=[variable], strengths=lambda critical: np.array([strength]))[0]
    return path.points[0]


def _worst_violation(rows: UniqueRows, paths: list[NodePath]) -> float:
    """Worst violation over all points, computed from the definition, in units of each path's critical strength."""
    worst, rows = 0.0, SeenStates.of(rows).of_rows(rows)
    for path in (path for path in paths if path.points):
        dense = DenseRegression.of(rows, path.variable)
        for point in path.points:
            worst = max(worst, dense.violation(dense.beta_of(point), point.strength) / path.critical)
    return worst


def _same(first: list[NodePath], second: list[NodePath]) -> None:
    """Bit for bit, but for the last bits of losses: sums over cells are free to be taken in any order."""
    for a, b in zip(first, second, strict=True):
        assert (a.variable, a.critical, len(a.points)) == (b.variable, b.critical, len(b.points))
        for p, q in zip(a.points, b.points, strict=True):
            assert (p.strength, p.violation) == (q.strength, q.violation)
            assert p.loss == pytest.approx(q.loss, rel=1e-13)
            np.testing.assert_array_equal(p.selected, q.selected)
            np.testing.assert_array_equal(p.constant, q.constant)
            for s, t in zip(p.coefficients, q.coefficients, strict=True):
                np.testing.assert_array_equal(s, t)


# -- against the definition --------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(2,) * 6, (2, 3, 4, 2), (3, 3, 3), (3, 1, 2, 2)])
def test_a_path_is_the_reference_at_every_strength(shape: tuple[int, ...], rng: np.random.Generator) -> None:
    """Coefficients, losses and criticals; groups for pairs with more than two states."""
    rows = random_rows(rng, shape, 200, fractional=True)
    for path in node_paths(rows, PRECISE):
        if shape[path.variable] == 1:
            assert not path.points
            continue
        dense = DenseRegression.of(rows, path.variable)
        assert path.critical == pytest.approx(dense.critical, rel=1e-9)
        for point in path.points[::2]:
            expected = dense.solve(point.strength)
            np.testing.assert_allclose(dense.beta_of(point), expected, atol=1e-5)
            assert point.loss == pytest.approx(dense.loss(expected), rel=1e-7)


def test_scipy_on_split_variables(rng: np.random.Generator) -> None:
    """beta = u - v with u, v >= 0 makes the penalty linear: L-BFGS-B knows nothing of l1."""
    rows = random_rows(rng, (2,) * 6, 300, fractional=True)
    for path in node_paths(rows, PRECISE):
        dense = DenseRegression.of(rows, path.variable)
        point = path.points[len(path.points) // 2]

        def split(uv: np.ndarray, dense=dense, strength=point.strength) -> tuple[float, np.ndarray]:
            u, v = uv[:6], uv[6:]
            g = dense.gradient((u - v)[:, None])[:, 0]
            price = np.r_[0.0, np.full(5, strength)]
            return dense.loss((u - v)[:, None]) + price @ (u + v), np.r_[g + price, price - g]

        options = {"ftol": 1e-16, "gtol": 1e-9, "maxiter": 10_000, "maxfun": 20_000}
        found = optimize.minimize(split, np.zeros(12), jac=True, bounds=[(0, None)] * 12, options=options)
        np.testing.assert_allclose(dense.beta_of(point)[:, 0], found.x[:6] - found.x[6:], atol=1e-5)


def test_the_optimum_is_certified_on_every_shape(rng: np.random.Generator) -> None:
    """The violation told is the true one, and no more than was asked for."""
    for shape in SHAPES.values():
        rows = random_rows(rng, shape, 120, fractional=True)
        paths = node_paths(rows, PathSettings(10))
        assert _worst_violation(rows, paths) <= 1.01e-6
        told = max((point.violation for path in paths for point in path.points), default=0.0)
        assert told <= 1e-6


@pytest.mark.parametrize("name", ["nltcs", "dna", "audio"])
def test_the_optimum_is_certified_on_real_nodes(name: str, named_rows: Callable[[str, str], UniqueRows]) -> None:
    rows = named_rows(name, "train")
    variables = np.linspace(0, len(rows.domain) - 1, 4).astype(int).tolist()
    paths = node_paths(rows, PathSettings(15, tolerance=1e-5), variables=variables)
    assert all(len(path.points) > 2 for path in paths)
    assert _worst_violation(rows, paths) <= 1.01e-5


@pytest.mark.parametrize("name", ["dna", "nltcs"])
def test_real_nodes_are_the_reference(name: str, named_rows: Callable[[str, str], UniqueRows]) -> None:
    rows = named_rows(name, "train")
    for variable in (3, 11):
        dense = DenseRegression.of(rows, variable)
        strength = 0.3 * dense.critical
        point = _at(rows, variable, strength)
        assert len(point.selected) > 1
        np.testing.assert_allclose(dense.beta_of(point), dense.solve(strength, share=1e-8), atol=1e-5)


# -- against other libraries -------------------------------------------------------------------------------------


def _with_complements(codes: np.ndarray) -> np.ndarray:
    """Every row and its opposite: the best constant is then minus half the sum of the coefficients.

    Solvers without a free constant see the same problem on columns x - 1/2.
    """
    return np.concatenate([codes, 1 - codes])


def _centred_problem(codes: np.ndarray, variable: int) -> tuple[np.ndarray, np.ndarray]:
    return np.delete(codes, variable, axis=1) - 0.5, 2 * codes[:, variable].astype(int) - 1


def test_scikit_learn_with_a_constant(rng: np.random.Generator) -> None:
    """saga leaves the constant free, as we do; C is one over the strength, which stands against the sum over rows.

    Rows are repeated, not weighted: its step does not know of weights, and diverges with large ones.
    """
    codes = random_codes(rng, (2,) * 7, 250)
    rows = _rows(codes, (2,) * 7)
    for path in node_paths(rows, PRECISE, variables=[0, 3, 6]):
        others = np.delete(codes, path.variable, axis=1).astype(float)
        for point in path.points[1::2]:
            oracle = LogisticRegression(
                l1_ratio=1.0, C=1.0 / point.strength, solver="saga", tol=1e-9, max_iter=20_000, random_state=0
            ).fit(others, codes[:, path.variable])
            beta = DenseRegression.of(rows, path.variable).beta_of(point)[:, 0]
            np.testing.assert_allclose(beta, np.r_[oracle.intercept_, oracle.coef_[0]], atol=1e-5)


@pytest.mark.parametrize("name", ["random", "audio", "dna"])
def test_scikit_learn_on_nodes_without_a_constant(
    name: str, rng: np.random.Generator, request: pytest.FixtureRequest
) -> None:
    """liblinear, on rows and their opposites."""
    codes = _with_complements(_binary_codes(name, rng, request))
    rows = _rows(codes, (2,) * codes.shape[1])
    for variable in (0, 5):
        critical = DenseRegression.of(rows, variable).critical
        for share in (0.5, 0.2):
            point = _at(rows, variable, share * critical)
            design, target = _centred_problem(codes, variable)
            oracle = LogisticRegression(
                l1_ratio=1.0,
                C=1.0 / (share * critical),
                solver="liblinear",
                fit_intercept=False,
                tol=1e-9,
                max_iter=100_000,
                random_state=0,
            ).fit(design, target)
            _assert_centred(rows, variable, point, oracle.coef_[0])


@pytest.mark.parametrize("name", ["random", "audio", "dna"])
def test_celer_on_nodes_without_a_constant(name: str, rng: np.random.Generator, request: pytest.FixtureRequest) -> None:
    celer = pytest.importorskip("celer")
    codes = _with_complements(_binary_codes(name, rng, request))
    rows = _rows(codes, (2,) * codes.shape[1])
    for variable in (0, 5):
        strength = 0.3 * DenseRegression.of(rows, variable).critical
        point = _at(rows, variable, strength)
        design, target = _centred_problem(codes, variable)
        oracle = celer.LogisticRegression(C=1.0 / strength, tol=1e-12, max_iter=200).fit(
            np.asfortranarray(design), target
        )
        _assert_centred(rows, variable, point, oracle.coef_.ravel())


def _binary_codes(name: str, rng: np.random.Generator, request: pytest.FixtureRequest) -> np.ndarray:
    if name == "random":
        return random_codes(rng, (2,) * 10, 200)
    rows = request.getfixturevalue("named_rows")(name, "train")
    return rows.codes[:: len(rows.codes) // 500, :40]


def _assert_centred(rows: UniqueRows, variable: int, point: PathPoint, expected: np.ndarray) -> None:
    beta = DenseRegression.of(rows, variable).beta_of(point)[:, 0]
    np.testing.assert_allclose(beta[1:], expected, atol=1e-5)
    assert beta[0] == pytest.approx(-0.5 * beta[1:].sum(), abs=1e-5)


# -- against third-party files -----------------------------------------------------------------------------------


def _spin_fit(rows: UniqueRows) -> tuple[np.ndarray, np.ndarray]:
    """Fields and couplings of spins s = 2x - 1, each coupling from either side, at the strength of theory.

    The logit of x_i = 1 is 2 (h_i + sum of J_ij s_j) = 2 h_i - 2 sum of J_ij + 4 sum of J_ij x_j.
    """
    n, strength = len(rows.domain), theoretical_strength(rows, 0.2)
    h, J = np.zeros(n), np.zeros((n, n))
    for i in range(n):
        point = _at(rows, i, strength, tolerance=1e-12)
        J[i, point.selected] = point.sizes / 4.0
        h[i] = point.constant[0] / 2.0 + J[i].sum()
    return h, J


def _spin_violation(samples: np.ndarray, h: np.ndarray, J: np.ndarray, c: float = 0.2) -> float:
    """Violation of the node-wise l1 pseudo-likelihood for -1/+1 spins, in means over rows, over all nodes."""
    weight, spins = samples[:, 0] / samples[:, 0].sum(), samples[:, 1:]
    n = spins.shape[1]
    strength = c * np.sqrt(np.log(n**2 / 0.05) / samples[:, 0].sum())
    worst = 0.0
    for i in range(n):
        t = spins[:, i] * (h[i] + spins @ J[i])
        residual = weight * -2.0 / (1.0 + np.exp(2.0 * t)) * spins[:, i]
        gradient = spins.T @ residual
        for j in range(n):
            if j == i:
                worst = max(worst, abs(residual.sum()))
            elif J[i, j]:
                worst = max(worst, abs(gradient[j] + strength * np.sign(J[i, j])))
            else:
                worst = max(worst, abs(gradient[j]) - strength)
    return worst


@pytest.mark.parametrize("case", ["a", "b"])
def test_couplings_learned_by_graphical_model_learning(case: str, conformance_dir: Path) -> None:
    """Regularised pseudo-likelihood of GraphicalModelLearning.jl; it averages the two estimates of a coupling."""
    samples = np.loadtxt(conformance_dir / "gml" / f"{case}_samples.csv", delimiter=",")
    learned = np.loadtxt(conformance_dir / "gml" / f"{case}_RPLE_learned.csv", delimiter=",")
    codes = ((samples[:, 1:] + 1) / 2).astype(np.uint8)
    rows = UniqueRows.from_codes(domain_of((2,) * codes.shape[1]), codes, samples[:, 0])
    h, J = _spin_fit(rows)
    np.testing.assert_allclose((J + J.T) / 2 + np.diag(h), learned, atol=1e-6)
    optimum = json.loads((conformance_dir / "gml" / "expected.json").read_text())[f"{case}_RPLE"]
    np.testing.assert_allclose(J + np.diag(h), optimum["optimum_unsymmetrised"], atol=1e-8)
    # What is in the file is averaged, so the violation that can be asked of it is that of its fields and couplings.
    theirs = _spin_violation(samples, np.diag(learned), learned - np.diag(np.diag(learned)))
    assert _spin_violation(samples, h, J) <= min(1e-10, theirs)


# -- the path itself ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(2,) * 6, (2, 3, 4, 2)])
def test_nothing_is_selected_at_the_critical_strength_and_something_just_below(
    shape: tuple[int, ...], rng: np.random.Generator
) -> None:
    rows = random_rows(rng, shape, 200)
    for path in node_paths(rows, PathSettings(10)):
        assert path.points[0].strength == path.critical
        assert not len(_at(rows, path.variable, path.critical).selected)
        assert not len(_at(rows, path.variable, 1.01 * path.critical).selected)
        assert len(_at(rows, path.variable, 0.999 * path.critical).selected)


@pytest.mark.parametrize("shape", [(2,) * 6, (2, 3, 4, 2)])
def test_warm_starts_change_nothing(shape: tuple[int, ...], rng: np.random.Generator) -> None:
    rows = random_rows(rng, shape, 200)
    for path in node_paths(rows, PRECISE):
        for point in path.points:
            cold, dense = _at(rows, path.variable, point.strength), DenseRegression.of(rows, path.variable)
            np.testing.assert_allclose(dense.beta_of(point), dense.beta_of(cold), atol=1e-5)


def test_strengths_fall_geometrically_from_the_critical_one_to_the_lowest() -> None:
    strengths = PathSettings(5, ratio=0.5, lowest=0.1).strengths(8.0)
    np.testing.assert_allclose(strengths, [8.0, 4.0, 2.0, 1.0])


@pytest.mark.parametrize("most", [0, 1, 2, 3])
def test_a_path_ends_before_it_selects_too_many(most: int, rng: np.random.Generator) -> None:
    """And not earlier: what is recorded is the start of the unbounded path."""
    rows = random_rows(rng, (2,) * 8, 150)
    free = node_paths(rows, PathSettings(8))
    for path, whole in zip(node_paths(rows, PathSettings(most)), free, strict=True):
        sizes = [len(point.selected) for point in whole.points]
        expected = next((k for k, size in enumerate(sizes) if size > most), len(sizes))
        assert len(path.points) == expected
        assert all(len(point.selected) <= most for point in path.points)


@pytest.mark.parametrize("shape", [(2,) * 8, (2, 3, 4, 2)])
def test_a_path_in_stages_is_the_path_at_once(shape: tuple[int, ...], rng: np.random.Generator) -> None:
    """Some go on, some stay, some go on twice; each from where it was."""
    rows = random_rows(rng, shape, 150)
    whole = node_paths(rows, PathSettings(8, ratio=0.8, lowest=0.01))

    def further(path: NodePath) -> np.ndarray:
        n, most = len(path.points), (5, 12, 20)[path.variable % 3]
        return path.critical * 0.8 ** np.arange(n, min(n + 8, most))

    paths = node_paths(rows, PathSettings(8, ratio=0.8, lowest=0.4), further=further)
    for path, expected in zip(paths, whole, strict=True):
        assert len(path.points) == (5, 12, 20)[path.variable % 3]
        for a, b in zip(path.points, expected.points, strict=False):
            assert a.strength == pytest.approx(b.strength, rel=1e-12)
            np.testing.assert_array_equal(a.selected, b.selected)
            np.testing.assert_allclose(a.values, b.values, atol=1e-4)
            assert a.violation <= 1e-6


def test_a_path_that_selected_too_many_does_not_go_on(rng: np.random.Generator) -> None:
    rows, asked = random_rows(rng, (2,) * 8, 150), []

    def further(path: NodePath) -> np.ndarray:
        asked.append(path.variable)
        return np.empty(0)

    paths = node_paths(rows, PathSettings(2), further=further)
    full = len(PathSettings(2).strengths(1.0))
    assert asked == [path.variable for path in paths if len(path.points) == full]
    assert len(asked) < 8


def test_entered_is_the_first_strength_with_the_variable(rng: np.random.Generator) -> None:
    rows = random_rows(rng, (2,) * 6, 150)
    for path in node_paths(rows, PathSettings(6)):
        seen = {j for point in path.points for j in point.selected.tolist()}
        assert path.entered().keys() == seen
        for j, strength in path.entered().items():
            assert strength == max(point.strength for point in path.points if j in point.selected)


def test_sizes_are_coefficients_or_norms(rng: np.random.Generator) -> None:
    rows = random_rows(rng, (2, 2, 3), 300)
    path = node_paths(rows, PathSettings(3))[0]
    point = path.points[-1]
    tables = dict(zip(point.selected.tolist(), point.coefficients, strict=True))
    assert point.sizes.tolist() == [tables[1][0, 0], np.linalg.norm(tables[2])]
    assert point.n_parameters == 3


# -- what must not matter ----------------------------------------------------------------------------------------


def test_weights_are_repeated_rows_and_their_order_does_not_matter(rng: np.random.Generator) -> None:
    domain, codes = domain_of((2, 3, 2, 2)), random_codes(rng, (2, 3, 2, 2), 60)
    times = rng.integers(1, 5, 60)
    weighted = UniqueRows.from_codes(domain, codes, times.astype(float))
    repeated = rng.permutation(np.repeat(codes, times, axis=0))
    _same(
        node_paths(weighted, PathSettings(4)),
        node_paths(UniqueRows.from_codes(domain, repeated, np.ones(len(repeated))), PathSettings(4)),
    )


def test_permuted_columns_permute_the_paths(rng: np.random.Generator) -> None:
    rows = random_rows(rng, (2,) * 6, 200)
    order = rng.permutation(6)
    turned = UniqueRows.from_codes(rows.domain, rows.codes[:, order], rows.sample_weight)
    for k, path in enumerate(node_paths(turned, PRECISE)):
        original = node_paths(rows, PRECISE, variables=[order[k]])[0]
        assert path.critical == pytest.approx(original.critical)
        found, expected = np.zeros(6), np.zeros(6)
        found[order[path.points[-1].selected]] = path.points[-1].sizes
        expected[original.points[-1].selected] = original.points[-1].sizes
        np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("n", [1, 2, 5, 70])
def test_jobs_change_nothing(n: int, rng: np.random.Generator) -> None:
    """Nor does the company in a block."""
    rows = random_rows(rng, (2,) * n, 150)
    alone = node_paths(rows, PathSettings(4, ratio=0.7))
    for jobs in (2, 3):
        _same(alone, node_paths(rows, PathSettings(4, ratio=0.7), jobs=jobs))
    some = list(range(0, n, 3))[::-1]
    _same([alone[i] for i in some], node_paths(rows, PathSettings(4, ratio=0.7), variables=some))


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_callback_sees_every_variable_once(jobs: int, rng: np.random.Generator) -> None:
    """Constant variables count, too."""
    rows = random_rows(rng, (2, 3, 1, 2, 2), 50)
    seen: list[int] = []
    node_paths(rows, PathSettings(4), jobs=jobs, callback=lambda path: seen.append(path.variable))
    assert sorted(seen) == [0, 1, 2, 3, 4]


# -- awkward tables ----------------------------------------------------------------------------------------------


def _awkward(name: str) -> UniqueRows:
    rng = np.random.default_rng(7)
    x, y = rng.integers(0, 2, (100, 4)), rng.integers(0, 3, (100, 3))
    rare = np.zeros((100, 1), int)
    rare[17] = 1
    codes, shape = {
        "a copy": (np.c_[x, x[:, 0]], (2,) * 5),
        "copies and an opposite": (np.c_[x, x[:, 0], x[:, 0], 1 - x[:, 0]], (2,) * 7),
        "a conjunction": (np.c_[x, x[:, 0] & x[:, 1]], (2,) * 5),
        "copies with three states": (np.c_[y, y[:, 0], (y[:, 1] + 1) % 3], (3,) * 5),
        "constants": (np.c_[x, 0 * x[:, 0], 0 * x[:, 0] + 1], (2,) * 6),
        "a copy and a constant": (np.c_[x[:, :1], x[:, :1], rare * 0 + 1], (2,) * 3),
        "a rare value": (np.c_[x, rare], (2,) * 5),
        "a rare third value": (np.c_[y, np.where(rare, 2, x[:, :1])], (3,) * 4),
        "an unseen third value": (np.c_[y, x[:, :2]], (3,) * 5),
        "two variables": (x[:, :2], (2, 2)),
        "one variable": (x[:, :1], (2,)),
        "one row": (x[:1], (2,) * 4),
        "two opposite rows": (np.array([[0, 0, 0, 1], [1, 1, 1, 0]]), (2,) * 4),
        "independent by design": (
            np.array([[a, b, c] for a in range(3) for b in range(3) for c in range(3)]),
            (3,) * 3,
        ),
    }[name]
    return _rows(codes, shape)


AWKWARD = [
    "a copy", "copies and an opposite", "a conjunction", "copies with three states", "constants",
    "a copy and a constant", "a rare value", "a rare third value", "an unseen third value", "two variables",
    "one variable", "one row", "two opposite rows", "independent by design",
]  # fmt: skip


@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_tables_have_finite_certified_paths(name: str) -> None:
    rows = _awkward(name)
    paths = node_paths(rows, PathSettings(len(rows.domain)))
    assert [path.variable for path in paths] == list(range(len(rows.domain)))
    for path in paths:
        for point in path.points:
            assert np.isfinite(point.constant).all()
            assert all(np.isfinite(table).all() for table in point.coefficients)
            assert np.isfinite([point.loss, point.violation]).all()
            assert path.variable not in point.selected
    assert _worst_violation(rows, paths) <= 1.01e-5


def test_a_constant_has_an_empty_path_and_is_never_selected() -> None:
    paths = node_paths(_awkward("constants"), PathSettings(6))
    assert [len(path.points) > 0 for path in paths] == [True] * 4 + [False] * 2
    assert not {4, 5} & {j for path in paths for j in path.entered()}


def test_exact_independence_has_no_neighbours() -> None:
    for path in node_paths(_awkward("independent by design"), PathSettings(3)):
        assert not path.entered()


def test_copies_share_what_one_of_them_would_have() -> None:
    """The data do not determine which copy has the coefficient, but they determine the probabilities and the value."""
    rows = _awkward("copies and an opposite")
    for variable in (1, 2, 3):
        dense = DenseRegression.of(rows, variable)
        strength = 0.2 * dense.critical
        point = _at(rows, variable, strength)
        assert dense.value(dense.beta_of(point), strength) == pytest.approx(
            dense.value(dense.solve(strength), strength)
        )


@pytest.mark.parametrize(("n_rows", "n"), [(6, 12), (12, 60), (30, 60)])
def test_more_variables_than_rows(n_rows: int, n: int) -> None:
    """Coefficients come and go along these paths; every point is optimal all the same."""
    rows = _rows(np.random.default_rng(2).integers(0, 2, (n_rows, n)), (2,) * n)
    paths = node_paths(rows, PathSettings(n, lowest=0.01, tolerance=1e-5))
    assert _worst_violation(rows, paths) <= 1.01e-5


@pytest.mark.parametrize(
    "wrong",
    [{"max_selected": -1}, {"ratio": 1.0}, {"ratio": 0.0}, {"lowest": 0.0}, {"lowest": 1.0}, {"tolerance": 0.0}],
)
def test_settings_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError):
        PathSettings(**{"max_selected": 3, **wrong})


def test_paths_are_the_same_to_the_last_bit_whatever_memory_they_get(rng: np.random.Generator) -> None:
    """Cells of small regressions lie close together in memory; sums must not depend on how close."""
    rows = random_rows(rng, (2,) * 30, 400)

    def bits(jobs: int) -> list[tuple[float, float, bytes]]:
        held = [np.empty(k) for k in rng.integers(1, 60, 50)]  # moves what is allocated next
        paths = node_paths(rows, PathSettings(8, tolerance=1e-5), jobs=jobs)
        assert len(held) == 50
        return [(point.loss, point.violation, point.values.tobytes()) for path in paths for point in path.points]

    first = bits(1)
    for repetition in range(12):
        assert bits(1 + repetition % 2) == first
