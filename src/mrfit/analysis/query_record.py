"""Answers of a model as records, and the cost of a query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from mrfit._renamed import with_former_keys
from mrfit.inference.exact.tree_plan import TreePlan
from mrfit.inference.plan import Plan, as_float
from mrfit.model.queries.answer import Answer, BestState, Explanation, JointProbabilities, Marginals, joint_error
from mrfit.model.queries.questions import Queryable

Tables = Mapping[str, Mapping[str, float]]  # probabilities by variable and state


@dataclass(frozen=True)
class PlanSummary:
    """Cost of a query."""

    engine: str
    why: str
    fits: bool
    cells: float
    most_cells: float
    bytes: float
    seconds: float
    width: int | None  # of a junction tree: the variables of its largest clique but one
    largest: list[str] | None
    figures: str

    @classmethod
    def of(cls, plan: Plan, names: Sequence[str]) -> PlanSummary:
        tree = plan if isinstance(plan, TreePlan) else None
        return cls(
            engine=plan.engine,
            why=plan.why,
            fits=plan.fits,
            cells=as_float(plan.n_cells),
            most_cells=as_float(plan.max_cells),
            bytes=as_float(plan.n_bytes),
            seconds=plan.forecast,
            width=None if tree is None else tree.width,
            largest=None if tree is None else [names[v] for v in tree.largest],
            figures=plan.figures(names),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return asdict(self)


@dataclass(frozen=True)
class QuerySummary:
    """Probabilities given the evidence, and before it; joint and best states; what moved them.

    Covariates are known before, too. ``before`` is None without other evidence, or if the model is small enough only
    with evidence.
    """

    after: Marginals
    before: Marginals | None
    joints: tuple[JointProbabilities, ...]
    best: BestState | None
    explanations: tuple[Explanation, ...]

    @classmethod
    def of(
        cls,
        model: Queryable,
        asked: Sequence[tuple[str, ...]],
        *,
        evidence: Mapping[str, Any],
        best: bool = False,
        explain: bool = False,
        engine: str = "auto",
        seed: int = 0,
        samples: int | None = None,
        precision: float | None = None,
    ) -> QuerySummary:
        """Ask a model: for single variables, for the joint states of several, or for all that are not known."""
        how: dict[str, Any] = {"engine": engine, "seed": seed, "samples": samples, "precision": precision}
        single = [names[0] for names in asked if len(names) == 1]
        after = model.marginals(single if asked else None, evidence=evidence, **how)
        before = None
        always = {name: evidence[name] for name in model.covariates}
        if len(evidence) > len(always) and model.plan(evidence=always, **how).fits:
            before = model.marginals(list(after.marginals), evidence=always, **how)
        return cls(
            after,
            before,
            tuple(model.joint(names, evidence=evidence, **how) for names in asked if len(names) > 1),
            model.map(evidence=evidence, seed=seed) if best else None,
            tuple(model.explain(name, evidence, **how) for name in single) if explain else (),
        )

    @property
    def log_p_given(self) -> float | None:
        """The logarithm of the probability of the evidence."""
        return None if self.before is None else self.after.log_z - self.before.log_z

    @property
    def log_p_given_error(self) -> float | None:
        """Its standard error; None where it is unknown, or there is no evidence."""
        return None if self.before is None else joint_error(self.after.error, self.before.error)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks on approximate answers, each once."""
        answers: list[Answer | None] = [self.after, self.before, *self.joints, self.best, *self.explanations]
        return tuple(dict.fromkeys(remark for answer in answers if answer is not None for remark in answer.remarks))

    @property
    def is_exact(self) -> bool:
        """Whether the probabilities of single variables are exact, before and after."""
        return self.after.exact and (self.before is None or self.before.exact)

    @property
    def has_errors(self) -> bool:
        """Whether the errors of all probabilities are known, as zeros or otherwise."""
        tables = [self.after, *([] if self.before is None else [self.before])]
        return all(table.largest_error is not None for table in tables) and all(
            joint.error is not None for joint in self.joints
        )

    @property
    def moved(self) -> dict[str, float]:
        """Total variation distance, from 0 to 1, by which the evidence moved each variable."""
        return movements(self.after.marginals, None if self.before is None else self.before.marginals)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        record = {
            **self.after.to_dict(),
            "log_p_evidence": self.log_p_given,
            "log_p_evidence_error": self.log_p_given_error,
            "before": None if self.before is None else self.before.marginals,
            "before_errors": None if self.before is None else self.before.errors,
            "joint": [
                {"variables": list(joint.states), "exact": joint.exact, "table": joint.to_dict()["joint"]}
                for joint in self.joints
            ],
            "map": None if self.best is None else self.best.to_dict(),
            "explain": [explanation.to_dict() for explanation in self.explanations],
        }
        return with_former_keys(record, log_p_evidence="log_p_given", log_p_evidence_error="log_p_given_error")


def movements(after: Tables, before: Tables | None) -> dict[str, float]:
    """Total variation distances of the distributions of variables; zero where nothing was before."""
    if before is None:
        return dict.fromkeys(after, 0.0)
    return {
        name: 0.5 * sum(abs(p - before[name][state]) for state, p in states.items()) for name, states in after.items()
    }
