"""Learning a pairwise structure, from one sparse regression for each variable or from all of them jointly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations, product
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mrfit.data.unique_rows import UniqueRows
from mrfit.domain import Domain
from mrfit.errors import InputError, listed
from mrfit.structure.learner import LearnedStructure, StructureLearner
from mrfit.structure.mutual_information import maximum_information_tree
from mrfit.structure.nodewise.allowed_pairs import HARDLY, AllowedPairs
from mrfit.structure.nodewise.criteria import HeldOutLoss, ebic
from mrfit.structure.nodewise.forward_selection import PRICE, ForwardGraph, ForwardSelection
from mrfit.structure.nodewise.held_out_price import HeldOutPrice
from mrfit.structure.nodewise.joint_selection import JointSelection
from mrfit.structure.nodewise.path_selection import PathSelection, theoretical_strength
from mrfit.structure.nodewise.pool import RegressionPool
from mrfit.structure.nodewise.remarks import remarks
from mrfit.structure.nodewise.seen_states import SeenStates
from mrfit.structure.nodewise.selection import NeighbourSelection
from mrfit.structure.structure import Structure

BOUNDS = ("gain", "path", "top", "graph", "joint")
HELD_OUT_PRICE = "gain, price valid"
SELECTIONS = ("degree", "ebic", "valid", "strength", "theory")
RULES = ("or", "and")
SCALES = ("raw", "standard")
# Settings that one selection alone looks at.
_LOOKED_AT_BY = {
    "max_degree": "degree",
    "bound": "degree",
    "price": "degree",
    "gamma": "ebic",
    "scale": "ebic",
    "refit": "ebic",
    "select_strength": "strength",
    "theory": "theory",
}


@dataclass(frozen=True)
class Learned(StructureLearner):
    """Pairs chosen by one sparse regression for each variable, or by all of them together.

    Ways to meet a bound on the degree, ``max_degree = d``:

    * ``gain``   each variable takes up to d neighbours by forward steps and exchanges, refitting each time;
    * ``path``   each variable's l1 path stops before it selects more than d;
    * ``top``    each variable keeps the d largest coefficients of a weak l1 regression (the last point of its path with
      at most 50 variables): the reading of Chou et al. (2018) that reproduces their numbers;
    * ``graph``  no variable of the *final* graph has more than d neighbours, edges chosen by gain in both regressions;
    * ``joint``  every edge is *owned* by one of its ends and no variable owns more than d; edges are grown on the joint
      pseudo-likelihood, and who owns them is free: any graph goes whose edges can be dealt so. Neighbours may be many
      more than d, edges up to d for each variable. Held-out rows choose how cautiously to grow: those given, or else a
      fifth of the rows.

    With the first three the two regressions of a pair may disagree: ``rule`` "or" takes an edge that either chose,
    "and" one that both chose, so with "or" the final graph may have larger degrees.

    Instead of by a degree, a point on each path can be selected by the extended BIC (Foygel and Drton 2010; van Borkulo
    et al. 2014), by held-out rows, by a fixed strength, or by the strength of theory, c sqrt(log(n^2 / 0.05) / N)
    (Lokhov et al. 2018). The first two walk on until the best point lies well behind them.

    Parameters
    ----------
    max_degree, bound
        The bound d on the degree and how it is met, for ``select="degree"``: see above.
    price
        For the bound ``gain``: what a neighbour must score, twice the gain it promises, to enter a regression. By
        default the 95% point of chi-square; ``"valid"``: chosen on held-out rows by joint fits of the whole graph, from
        0 to 20, for more neighbours where they pay and fewer where they over-fit.
    rule
        ``or`` or ``and``.
    select
        What decides: ``degree``, ``ebic``, ``valid`` (held-out rows), ``strength`` or ``theory``.
    gamma
        Weight of the extra term of the EBIC; 0 is the BIC, 0.25 what IsingFit uses.
    scale
        For the EBIC of variables of two states: ``raw`` columns as they are, or ``standard``, penalised as if divided
        by their standard deviations, on the paths of glmnet: what IsingFit does, point for point.
    refit
        Whether the EBIC is that of the regression refitted on the neighbours of each point, without a penalty, and
        refitted coefficients are reported. None: yes, but for the scale ``standard``, which repeats IsingFit. Variables
        of more states always do so.
    select_strength
        For ``select="strength"``: the l1 strength against the sum over rows.
    theory
        The constant c of the theoretical strength, for couplings of -1/+1 spins.
    require, forbid
        Pairs of names that must, or must not, be neighbours.
    with_tree
        Whether the tree of most mutual information belongs to the structure, but for pairs that are forbidden. None:
        where the likelihood is learned, which lacks much without it.
    tolerance
        Optimality of the paths, as a share of the critical strength.
    """

    max_degree: int = 15
    bound: str = "gain"
    price: float | str = PRICE
    rule: str = "or"
    select: str = "degree"
    gamma: float = 0.25
    scale: str = "raw"
    refit: bool | None = None
    select_strength: float | None = None
    theory: float = 0.2
    require: Sequence[tuple[str, str]] = ()
    forbid: Sequence[tuple[str, str]] = ()
    with_tree: bool | None = None
    tolerance: float = 1e-5

    word: ClassVar[str] = "learned"
    # Raise one when its way leads from the same rows to another structure. `joint` is at 2 since its refits solve
    # Newton systems with another preconditioner. `gain` stayed at 1 when it got a surcharge for few rows by the rule
    # `or`: no result of so few rows by that rule was stored.
    results_version_of_way: ClassVar[Mapping[str, int]] = dict.fromkeys(
        (*BOUNDS, HELD_OUT_PRICE, *SELECTIONS[1:]), 1
    ) | {"joint": 2}

    def __post_init__(self) -> None:
        for name in ("require", "forbid"):  # lists are welcome, but a value does not change
            object.__setattr__(self, name, tuple(map(tuple, getattr(self, name))))
        for name, value, words in (
            ("bound", self.bound, BOUNDS),
            ("rule", self.rule, RULES),
            ("selection", self.select, SELECTIONS),
            ("scale", self.scale, SCALES),
        ):
            if value not in words:
                raise InputError(f"There is no {name} {value!r}; choose one of {listed(words)}.")
        if self.max_degree < 1:
            raise InputError(f"The degree bound must be at least 1; got {self.max_degree}.")
        strength = self.select_strength
        if self.select == "strength" and not (strength is not None and 0 < strength < np.inf):
            raise InputError(
                f"Selection by strength needs a positive strength; got {strength}. Give one: select_strength=200."
            )
        if not self.theory > 0:
            raise InputError(f"The constant of the theoretical strength must be positive; got {self.theory:g}.")
        if not 0 <= self.gamma <= 1:
            raise InputError(f"gamma of the EBIC lies between 0 and 1; got {self.gamma:g}.")
        self._check_price()
        self._refuse_idle()

    def _check_price(self) -> None:
        is_number = isinstance(self.price, float | int) and 0 <= self.price < np.inf
        if not is_number and self.price != "valid":
            raise InputError(
                f"The price of a neighbour is a number of at least 0, or 'valid' for one chosen on held-out rows; got "
                f"{self.price!r}."
            )
        if self.bound != "gain" and self.price != PRICE:
            raise InputError(f"price={self.price!r} has no effect with bound={self.bound!r}: it needs bound='gain'.")

    def _refuse_idle(self) -> None:
        """What only another selection looks at, and is not as it is by itself, was meant to do something."""
        for setting in fields(self):
            value, needed = getattr(self, setting.name), _LOOKED_AT_BY.get(setting.name, self.select)
            if needed != self.select and value != setting.default:
                raise InputError(
                    f"{setting.name}={value!r} has no effect with select={self.select!r}: it needs select={needed!r}. "
                    "Leave one out."
                )

    def learn(
        self,
        rows: UniqueRows,
        *,
        valid: UniqueRows | None = None,
        jobs: int = 1,
        callback: Callable[[int], None] | None = None,
    ) -> LearnedStructure:
        rows.check_complete("learning")
        pairs = self._allowed_pairs(rows)
        # 1. The neighbours that each variable's own regression chooses.
        selection = self._selection(rows, valid)
        neighbours = selection.neighbours(rows, pairs, jobs=jobs, callback=callback)
        # 2. One graph of them all.
        edges = neighbours.edges(self.rule)
        if self.with_tree:
            edges = np.concatenate([edges, maximum_information_tree(rows).edges])
        structure = Structure.of_pairs(len(rows.domain), pairs.on(edges))
        # 3. The evidence for its edges, and what else there is to say.
        report = neighbours.report(rows, structure.edges)
        said = remarks(rows, selection, neighbours, n_edges=len(report))
        is_bound = self.select == "degree" and self.bound != "joint"  # which says itself what its bound is about
        if is_bound and structure.degrees.max(initial=0) > self.max_degree:
            said.insert(0, self._beyond_the_bound(int(structure.degrees.max())))
        return LearnedStructure(structure, report, neighbours.violation, neighbours.at_end, tuple(said))

    def _beyond_the_bound(self, largest: int) -> str:
        """Why variables have more neighbours than the bound."""
        either = self.rule == "or" and self.bound != "graph"
        reasons = {
            "the rule 'or' keeps an edge that either of its variables chose": either,
            "the tree of most mutual information was added": bool(self.with_tree),
            "required pairs were added": bool(self.require),
        }
        why = ", and ".join(reason for reason, applies in reasons.items() if applies)
        return f"Degrees go up to {largest}: each variable chooses at most {self.max_degree} neighbours; {why}."

    @property
    def way(self) -> str:
        """Name of the way to select neighbours: the bound on the degree, or the criterion used instead of one."""
        if self.select != "degree":
            return self.select
        return HELD_OUT_PRICE if self.price == "valid" else self.bound

    def results_versions(self) -> dict[str, int]:
        return super().results_versions() | {f"{self.word} ({self.way})": self.results_version_of_way[self.way]}

    def _selection(self, rows: UniqueRows, valid: UniqueRows | None) -> NeighbourSelection:
        """What the words say."""
        ways: dict[str, Callable[[], NeighbourSelection]] = {
            "degree": lambda: self._by_degree(valid),
            "ebic": lambda: self._by_ebic(rows),
            "valid": lambda: self._by_held_out(rows, valid),
            "strength": lambda: self._at_one_strength(rows),
            "theory": lambda: self._at_one_strength(rows),
        }
        return ways[self.select]()

    def pool(self, rows: UniqueRows) -> RegressionPool | None:
        """For the networks of many resamples of these rows at once; None where there is nothing better than `learn`."""
        if self.select != "ebic" or self.with_tree or not RegressionPool.suits(rows):
            return None
        pairs = AllowedPairs.of(rows.domain, require=self.require, forbid=self.forbid)
        walk, standard = self._by_ebic(rows).pooled_walk, self.scale == "standard"
        return RegressionPool.of(rows, pairs, walk, gamma=self.gamma, rule=self.rule, standard=standard)

    def _allowed_pairs(self, rows: UniqueRows) -> AllowedPairs:
        """As the user wants them; where IsingFit is repeated, without the variables that it leaves out."""
        pairs = AllowedPairs.of(rows.domain, require=self.require, forbid=self.forbid)
        return pairs.without(_hardly_vary(rows)) if self.scale == "standard" else pairs

    def _by_ebic(self, rows: UniqueRows) -> PathSelection:
        if self.scale == "raw":
            criterion = ebic(rows, self.gamma, refit=self._refits)
            return PathSelection.best_by(criterion, rows, tolerance=self.tolerance)
        if SeenStates.of(rows).has_groups:
            many = next(variable for variable in rows.domain if variable.n_states > 2)
            raise InputError(
                f"Columns are standardised for variables of two states; {many.name!r} has {many.n_states}. "
                "Use the scale 'raw'."
            )
        n_variables = int((~_hardly_vary(rows)).sum())
        criterion = ebic(rows, self.gamma, refit=self._refits, n_variables=n_variables)
        return PathSelection.as_glmnet(criterion, rows, tolerance=self.tolerance)

    @property
    def _refits(self) -> bool:
        """As told; else wherever nobody is to be repeated who has none."""
        return self.scale == "raw" if self.refit is None else self.refit

    def _by_held_out(self, rows: UniqueRows, valid: UniqueRows | None) -> NeighbourSelection:
        if valid is None:
            raise InputError("Selection by held-out rows needs them; give validation rows.")
        loss = HeldOutLoss(valid.recoded(rows.domain), SeenStates.of(rows))
        return PathSelection.best_by(loss, rows, tolerance=self.tolerance)

    def _at_one_strength(self, rows: UniqueRows) -> NeighbourSelection:
        given = self.select_strength
        strength = theoretical_strength(rows, self.theory) if given is None else given
        return PathSelection.at(strength, rows, tolerance=self.tolerance)

    def _by_degree(self, valid: UniqueRows | None) -> NeighbourSelection:
        ways: dict[str, Callable[[], NeighbourSelection]] = {
            "gain": lambda: self._by_gain(valid),
            "graph": lambda: ForwardGraph(self.max_degree),
            "joint": lambda: JointSelection(self.max_degree, valid),
            "path": lambda: PathSelection.up_to(self.max_degree, tolerance=self.tolerance),
            "top": lambda: PathSelection.largest(self.max_degree, tolerance=self.tolerance),
        }
        return ways[self.bound]()

    def _by_gain(self, valid: UniqueRows | None) -> NeighbourSelection:
        if self.price != "valid":
            return ForwardSelection(self.max_degree, float(self.price), either=self.rule == "or")
        if valid is None:
            raise InputError("A price chosen on held-out rows needs them; give validation rows.")
        return HeldOutPrice(self.max_degree, self.rule, valid)

    def with_covariates(self, given: Sequence[str], domain: Domain) -> Learned:
        """They are required everywhere, beyond the bound."""
        if self.select != "degree" or self.bound != "gain":
            raise InputError(
                "Covariates stay in regressions that grow (select='degree', bound='gain'); the others would choose "
                "among them. Use these settings, or a fit of all pairs with the penalty l1."
            )
        others = [name for name in domain.names if name not in given]
        required, forbidden = (*self.require, *product(others, given)), (*self.forbid, *combinations(given, 2))
        return replace(self, require=required, forbid=forbidden, max_degree=self.max_degree + len(given))

    def for_likelihood(self) -> Learned:
        return replace(self, with_tree=True) if self.with_tree is None else self

    def in_words(self) -> str:
        how = {
            "degree": "at most {0.max_degree} edges owned"
            if self.bound == "joint"
            else "at most {0.max_degree} neighbours",
            "ebic": "by the EBIC, gamma {0.gamma:g}",
            "valid": "by held-out rows",
            "strength": "at strength {0.select_strength:g}",
            "theory": "at the strength of theory",
        }
        return f"structure learned ({how[self.select].format(self)})"


def _hardly_vary(rows: UniqueRows) -> NDArray[np.bool_]:
    """Variables of which all rows but one at most are in the same state, which IsingFit leaves out."""
    heaviest = np.array([weights.max() for weights in rows.state_weights])
    return np.array(rows.total_weight - heaviest <= HARDLY)
