"""Comparison of two models of the same variables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from math import hypot
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats
from mrfit.analysis.groups.groups_plot import draw_groups, groups_layout
from mrfit.analysis.stability.resampled_networks import pairs_of
from mrfit.core.domain import Domain
from mrfit.core.errors import InputError, listed
from mrfit.core.html_table import html_table
from mrfit.core.rounding import significant
from mrfit.core.text_table import columns
from mrfit.core.threads import resolve_jobs
from mrfit.learning.cross_validation import mean_over_rows
from mrfit.learning.fit_result import MeanScore
from mrfit.model.markov_network import MarkovNetwork, finite_scores
from mrfit.parameterizations.canonical import Canonical
from mrfit.parameterizations.edge_tables import edge_weights
from mrfit.parameterizations.ordered import Ordered
from mrfit.plots.canvas import Layout
from mrfit.structures.edge_weights import EdgeWeights, Scores, same_scores, unit_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Key = frozenset[tuple[str, str]]  # variables of a parameter, each with its state

_WHERE = {(True, True): "both", (True, False): "a", (False, True): "b"}


@dataclass(frozen=True)
class ComparedEdge:
    """Edge of one or both of two models.

    Attributes
    ----------
    source, target : str
        Names of the variables.
    where : {"a", "b", "both"}
        Models that have the edge.
    a, b : float
        Edge weight in each model, zero where it has no such edge.
    difference : float
        Difference B - A.
    has_sign : bool
        Whether the weights have a sign. Those of categories have none, though their difference has.
    """

    source: str
    target: str
    where: str
    a: float
    b: float
    difference: float  # b - a
    has_sign: bool = True  # of categories weights have none, though their difference has


@dataclass(frozen=True)
class ComparedParameter:
    """Parameter of either of two models.

    Attributes
    ----------
    name : str
        Name in common coordinates.
    order : int
        Number of its variables.
    a, b : float
        Value in each model, zero where it has no such parameter.
    difference : float
        Difference B - A.
    """

    name: str
    order: int
    a: float
    b: float
    difference: float  # b - a


@dataclass(frozen=True)
class ComparedScores:
    """Mean scores per row of two models, in nats, and their difference.

    Attributes
    ----------
    metric : {"pll", "ll"}
        Pseudo-log-likelihood or log-likelihood.
    n_rows : int
        Number of rows.
    a, b : float
        Mean score of each model.
    difference : record
        Difference B - A: its ``mean`` and ``standard_error`` over the same rows.
    """

    metric: str
    n_rows: int
    a: float
    b: float
    difference: MeanScore  # b - a

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "difference": self.difference.mean, "standard_error": self.difference.standard_error}

    def describe(self) -> str:
        difference = self.difference.describe("nats", sign="+")
        means = f"A {self.a:.4f}, B {self.b:.4f}, difference B - A {difference}"
        return f"{self.n_rows:,} rows, mean {self.metric}: {means}"


@dataclass(frozen=True)
class Comparison:
    """Comparison of two models A and B of the same variables; the result of `compare`.

    Parameters
    ----------
    names : tuple of str
        Variables, in the order of model A.
    models : tuple of str
        One-line descriptions of A and B.
    coordinates : str
        Parameterization in which parameters are compared: that of both models, or ``canonical`` if they differ.
    edges : tuple of records
        ``source``, ``target``, ``where`` (``a``, ``b`` or ``both``), edge weights ``a`` and ``b``, and ``difference`` B
        - A; the largest differences first.
    parameters : tuple of records
        ``name``, ``order``, values ``a`` and ``b``, and ``difference`` B - A; the largest differences first.
    scores : record, default None
        Mean scores ``a`` and ``b`` per row, in nats, and their ``difference`` with its standard error. None without
        data.
    unit : str, default ""
        Unit of the edge weights.

    See Also
    --------
    compare : Make a comparison.
    compare_groups : Test whether networks of groups of rows differ.

    Examples
    --------
    >>> import mrfit
    >>> table = {"rain": ["no", "yes"] * 20, "wet": ["no", "yes", "no", "no"] * 10}
    >>> full, empty = mrfit.learn(table).model, mrfit.learn(table, "independent").model
    >>> found = mrfit.compare(full, empty)
    >>> [len(found.edges_in(where)) for where in ("both", "a", "b")]
    [0, 1, 0]
    >>> edge = found.edges[0]
    >>> edge.source, edge.target, round(edge.difference, 2)
    ('rain', 'wet', -1.98)
    """

    names: tuple[str, ...]
    models: tuple[str, str]
    coordinates: str
    edges: tuple[ComparedEdge, ...]
    parameters: tuple[ComparedParameter, ...]
    scores: ComparedScores | None = None
    unit: str = ""

    def __repr__(self) -> str:
        return f"<Comparison: {self._counts}>"

    def edges_in(self, where: str) -> list[ComparedEdge]:
        """Return the edges of both models, or of one alone.

        Parameters
        ----------
        where : {"both", "a", "b"}
            ``a`` and ``b`` are edges that only this model has.

        Returns
        -------
        list of records
        """
        return [edge for edge in self.edges if edge.where == where]

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain values, for JSON."""
        return {
            "variables": list(self.names),
            "models": dict(zip("ab", self.models, strict=True)),
            "coordinates": self.coordinates,
            "edge_weight": self.unit,
            "n_edges": {where: len(self.edges_in(where)) for where in _WHERE.values()},
            "edges": [asdict(edge) for edge in self.edges],
            "parameters": [asdict(parameter) for parameter in self.parameters],
            "scores": None if self.scores is None else self.scores.to_dict(),
        }

    def text(self, top: int = 10) -> str:
        """Return the comparison as lines of text.

        Parameters
        ----------
        top : int, default 10
            Largest number of edges and parameters of each kind.

        Returns
        -------
        str
        """
        return "\n".join(self._lines(top))

    def _lines(self, top: int) -> Iterator[str]:
        yield self._counts
        yield from (f"{letter}: {words}" for letter, words in zip("AB", self.models, strict=True))
        if self.scores is not None:
            yield self.scores.describe()
        for where in "ab":
            lines = [
                [_weight(each.a or each.b, each), f"{each.source} - {each.target}"] for each in self.edges_in(where)
            ]
            yield from _shown(f"edges only in {where.upper()}, {self.unit}:", [["weight", "edge"], *lines], top)
        lines = [
            [_weight(each.a, each), _weight(each.b, each), significant(each.difference, sign="+"),
             f"{each.source} - {each.target}"]
            for each in self.edges_in("both")
            if each.difference
        ]  # fmt: skip
        heads = ["A", "B", "difference B - A"]
        yield from _shown(f"edge weights that differ most, {self.unit}:", [[*heads, "edge"], *lines], top)
        lines = [
            [*(significant(value, sign="+") for value in (each.a, each.b, each.difference)), each.name]
            for each in self._different
        ]
        yield from _shown(f"parameters that differ most, {self.coordinates}:", [[*heads, "parameter"], *lines], top)

    @property
    def _counts(self) -> str:
        both, only_a, only_b = (len(self.edges_in(where)) for where in _WHERE.values())
        return f"{both:,} edge{'' if both == 1 else 's'} in both, {only_a:,} only in A, {only_b:,} only in B"

    @property
    def _different(self) -> list[ComparedParameter]:
        return [each for each in self.parameters if each.difference]

    def _repr_html_(self) -> str:
        facts = {"A": self.models[0], "B": self.models[1], "edges": self._counts}
        if self.scores is not None:
            facts["scores"] = self.scores.describe()
        facts[f"parameters ({self.coordinates})"] = "A, B, difference B - A"
        rows = [(each.name, f"{each.a:+.4f}, {each.b:+.4f}, {each.difference:+.4f}") for each in self._different[:10]]
        return html_table("Comparison", facts, rows)

    def layout(self, layout: Layout = "force") -> Floats:
        """Return the positions of the variables in the picture.

        Parameters
        ----------
        layout : {"force", "circle"} or array, default "force"
            Layout by the mean of both networks, on a circle, or positions of shape (n_variables, 2).

        Returns
        -------
        array of shape (n_variables, 2)
        """
        return groups_layout(self.names, self._panels[:2], layout)

    def figure(self, *, layout: Layout = "force", title: str | None = None) -> Figure:
        """Draw A, B and the difference B - A side by side, on one layout and one scale of edge weights.

        Parameters
        ----------
        layout : {"force", "circle"} or array, default "force"
            Positions of the variables in all three panels.
        title : str, default None
            Title of the figure.

        Returns
        -------
        matplotlib Figure
        """
        signed = np.stack([self._has_sign, self._has_sign, np.ones_like(self._has_sign)])
        return draw_groups(self.names, self._panels, self.layout(layout), title=title, unit=self.unit, signed=signed)

    @property
    def _has_sign(self) -> NDArray[np.bool_]:
        """Whether the weight of each pair has a sign, in the order of `pairs_of`."""
        out = np.ones(len(pairs_of(len(self.names))), bool)
        for edge in self.edges:
            out[self._place(edge)] = edge.has_sign
        return out

    def _place(self, edge: ComparedEdge) -> int:
        """The number of a pair in the order of `pairs_of`."""
        n = len(self.names)
        a, b = sorted((self.names.index(edge.source), self.names.index(edge.target)))
        return a * (2 * n - a - 1) // 2 + b - a - 1

    @property
    def _panels(self) -> list[tuple[str, Floats]]:
        weights = np.zeros((3, len(pairs_of(len(self.names)))))
        for edge in self.edges:
            weights[:, self._place(edge)] = edge.a, edge.b, edge.difference
        return list(zip(("A", "B", "difference B - A"), weights, strict=True))


def compare(
    a: MarkovNetwork, b: MarkovNetwork, data: Any = None, *, metric: str = "pll", jobs: int | None = None
) -> Comparison:
    """Compare two models of the same variables: edges, parameters, and scores of rows.

    Parameters
    ----------
    a : MarkovNetwork
        Model A.
    b : MarkovNetwork
        Model B, with the same variables, states and covariates.
    data : table, default None
        Rows to score by both models, best held-out ones. None leaves scores out.
    metric : {"pll", "ll"}, default "pll"
        Pseudo-log-likelihood, or log-likelihood, which needs an exact log Z or one known from learning.
    jobs : int, default None
        Number of threads that score rows; None uses all processors.

    Returns
    -------
    Comparison

    Raises
    ------
    MrfitError
        If variables, states or covariates differ, or log Z is unknown.

    See Also
    --------
    compare_groups : Learn a network from each group of rows, and test whether they differ.
    MarkovNetwork.pll : The score of one model.

    Examples
    --------
    >>> import mrfit
    >>> table = {"rain": ["no", "yes"] * 20, "wet": ["no", "yes", "no", "no"] * 10}
    >>> table["cold"] = ["no"] * 20 + ["yes"] * 20
    >>> tree, full = mrfit.learn(table, "tree").model, mrfit.learn(table).model
    >>> difference = mrfit.compare(tree, full, table).scores.difference
    >>> round(difference.mean, 4), round(difference.standard_error, 4)
    (0.0002, 0.0127)
    """
    _check_domains(a.domain, b.domain)
    if set(a.covariates) != set(b.covariates):
        raise InputError(
            f"The covariates of A are {listed(a.covariates) or 'none'}, those of B {listed(b.covariates) or 'none'}, "
            "so they do not answer the same question; compare models with the same covariates."
        )
    if metric not in ("pll", "ll"):
        raise InputError(f"There is no metric {metric!r}; choose pll or ll.")
    one, other = _in_same_coordinates(a, b)
    edges, unit = _edges(a, b)
    return Comparison(
        names=a.domain.names,
        models=(a.describe(), b.describe()),
        coordinates=one.parameters.word,
        edges=edges,
        unit=unit,
        parameters=_parameters(one, other),
        scores=None if data is None else _scores(a, b, data, metric, resolve_jobs(jobs)),
    )


def _check_domains(a: Domain, b: Domain) -> None:
    for letter, other, more, less in (("A", "B", a, b), ("B", "A", b, a)):
        if unknown := [name for name in more.names if name not in less]:
            raise InputError(
                f"{letter} has variables that {other} has not: {listed(unknown)}. Compare models of the same variables."
            )
    for variable in a:
        states = b[b.index(variable.name)].states
        if states != variable.states:
            raise InputError(
                f"The states of {variable.name!r} are {listed(variable.states)} in A and {listed(states)} in B; "
                "compare models with the same states in the same order."
            )


def _in_same_coordinates(a: MarkovNetwork, b: MarkovNetwork) -> tuple[MarkovNetwork, MarkovNetwork]:
    """Canonical ones with first states as reference, unless both are in these, in spectral or in the same ordered ones.

    In others the same distribution may have different parameters.
    """
    if type(a.parameters) is type(b.parameters) and a.parameters.is_orthogonal and a.domain == b.domain:
        return a, b
    if a.parameters.word == b.parameters.word == Ordered.word and _same_scores(a, b):
        return a, b
    return _canonical("A", a), _canonical("B", b)


def _canonical(letter: str, model: MarkovNetwork) -> MarkovNetwork:
    if model.has_impossible_states:
        raise InputError(
            f"Some states are impossible under {letter}, so that it has no finite parameters to compare; compare the "
            "scores of rows with mrfit score --per-row."
        )
    own = model.parameters
    is_plain = isinstance(own, Canonical) and not any(own.reference or ())
    return model if is_plain else model.to_parameterization("canonical")


def _edges(a: MarkovNetwork, b: MarkovNetwork) -> tuple[tuple[ComparedEdge, ...], str]:
    """All pairs that either joins, by one kind of edge weight for both; and its unit.

    A variable counts as ordered where both models give its states the same scores.
    """
    weighed = [_weighed(model, scores) for model, scores in zip((a, b), common_scores(a, b), strict=True)]
    weights = [_weights(model, edges) for model, edges in zip((a, b), weighed, strict=True)]
    found, joined = [], weights[0] | weights[1]
    for pair in joined:
        source, target = sorted(pair, key=a.domain.index)
        where = _WHERE[pair in weights[0], pair in weights[1]]
        one, other = (own[pair][0] if pair in own else 0.0 for own in weights)
        has_sign = joined[pair][1]
        found.append(ComparedEdge(source, target, where, one, other, other - one, has_sign))
    unit = unit_of(np.concatenate([edges.kinds for edges in weighed]))
    return tuple(sorted(found, key=lambda edge: -abs(edge.difference))), unit


def common_scores(a: MarkovNetwork, b: MarkovNetwork) -> tuple[Scores, Scores]:
    """The scores of each model's variables that both give the same; None where they differ."""
    own = dict(zip(a.domain.names, a.state_scores, strict=True))
    other = dict(zip(b.domain.names, b.state_scores, strict=True))
    same = {name: scores if same_scores(scores, other[name]) else None for name, scores in own.items()}
    return tuple(same[name] for name in a.domain.names), tuple(same[name] for name in b.domain.names)


def _same_scores(a: MarkovNetwork, b: MarkovNetwork) -> bool:
    other = dict(zip(b.domain.names, b.state_scores, strict=True))
    return all(same_scores(own, other[name]) for name, own in zip(a.domain.names, a.state_scores, strict=True))


def _weighed(model: MarkovNetwork, scores: Scores) -> EdgeWeights:
    return edge_weights(model.parameters, model.w, scores)


def _weights(model: MarkovNetwork, edges: EdgeWeights) -> dict[frozenset[str], tuple[float, bool]]:
    """Return the weights of all edges that are not zero, and whether each has a sign."""
    names = model.domain.names
    known = zip(edges.edges.tolist(), edges.values.tolist(), edges.has_sign.tolist(), strict=True)
    return {frozenset((names[i], names[j])): (weight, has_sign) for (i, j), weight, has_sign in known if weight}


def _parameters(a: MarkovNetwork, b: MarkovNetwork) -> tuple[ComparedParameter, ...]:
    """All that either has."""
    known = [_named(model) for model in (a, b)]
    found = []
    for key, (name, order, _) in (known[1] | known[0]).items():
        one, other = (own[key][2] if key in own else 0.0 for own in known)
        found.append(ComparedParameter(name, order, one, other, other - one))
    return tuple(sorted(found, key=lambda each: -abs(each.difference)))


def _named(model: MarkovNetwork) -> dict[object, tuple[str, int, float]]:
    """Name, order and value of every parameter, by what it means whatever the order of variables."""
    parameters, domain = model.parameters, model.domain
    out: dict[object, tuple[str, int, float]] = {}
    for k, name in enumerate(parameters.names()):
        states: Key = frozenset((domain[i].name, domain[i].states[s]) for i, s in parameters.states(k))
        scope = frozenset(domain.names[i] for i in parameters.scope(k))
        key: object = (scope, states) if isinstance(parameters, Ordered) else states or name
        out[key] = name, int(parameters.order_of_parameter[k]), float(model.w[k])
    return out


def _weight(value: float, edge: ComparedEdge) -> str:
    """Format an edge weight, with its sign if it has one."""
    return significant(value, sign="+" if edge.has_sign else "")


def _scores(a: MarkovNetwork, b: MarkovNetwork, data: Any, metric: str, jobs: int) -> ComparedScores:
    rows = a.coded_rows(data)
    order = [a.domain.index(name) for name in b.domain.names]
    one = finite_scores(a.row_scores(metric), a, rows.codes, jobs=jobs)
    other = finite_scores(b.row_scores(metric), b, np.ascontiguousarray(rows.codes[:, order]), jobs=jobs)
    means = [mean_over_rows(scores, rows).mean for scores in (one, other)]
    difference = mean_over_rows(other - one, rows)
    if metric == "ll":
        difference = replace(difference, log_z_error=hypot(a.known_log_z_error, b.known_log_z_error))
    return ComparedScores(metric, rows.n_rows, means[0], means[1], difference)


def _shown(heading: str, rows: list[list[str]], top: int) -> Iterator[str]:
    """A heading and a table of numbers and a name, of which the first row says what stands in it."""
    head, *lines = rows
    if not lines:
        return
    yield heading
    yield from (f"  {line}" for line in columns([head, *lines[:top]], n_names=1))
    if len(lines) > top:
        yield f"  ... and {len(lines) - top:,} more"
