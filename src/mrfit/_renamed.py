"""Internal: names of earlier versions. They work for one release, with a warning."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, TypeVar, cast

Kind = TypeVar("Kind", bound=type)

NAMES = {
    "Complete": "CompleteGraph",
    "Coordinates": "ParameterizationOptions",
    "Errors": "StandardErrors",
    "Fitted": "FitResult",
    "FlatL1": "UniformL1",
    "FlatL2": "SumOfSquares",
    "Given": "FixedStructure",
    "Group": "GroupLasso",
    "Grown": "LikelihoodGrowth",
    "Hierarchical": "HierarchicalLasso",
    "Independent": "NoInteractions",
    "LikelihoodChoice": "LikelihoodSpec",
    "Network": "FactorNetwork",
    "Parts": "PartitionedTable",
    "Power": "SampleSizeStudy",
    "Solver": "SolverOptions",
    "Tied": "SoftTied",
    "Tree": "ChowLiuTree",
    "UpToOrder": "AllInteractions",
    "drawn_goodness": "bootstrap_goodness",
    "power": "sample_size",
    "spectrum": "interaction_spectrum",
}  # of `mrfit`

MODULES = {
    "mrfit.data.coding": "mrfit.data.encoding",
    "mrfit.data.layout": "mrfit.data.file_layout",
    "mrfit.errors": "mrfit.core.errors",
    "mrfit.report": "mrfit.plots",
    "mrfit.report.check": "mrfit.analysis.goodness.check_plot",
    "mrfit.report.group_networks": "mrfit.analysis.groups.groups_plot",
    "mrfit.report.layout_file": "mrfit.plots.layout_file",
    "mrfit.report.marginals": "mrfit.plots.marginals_plot",
    "mrfit.report.network": "mrfit.plots.network_plot",
    "mrfit.report.nodes": "mrfit.analysis.nodes.node_plot",
    "mrfit.report.page": "mrfit.plots.page",
    "mrfit.report.residuals": "mrfit.analysis.goodness.residual_plot",
    "mrfit.report.stability": "mrfit.analysis.stability.stability_plot",
    "mrfit.tying": "mrfit.learning.tying",
    "mrfit.tying.kmeans1d": "mrfit.data.kmeans1d",
}


JSON_KEYS = (
    ("fit", "penalty_strength", "strength"),
    ("fit", "max_gradient", "violation"),
    ("fit", "data_passes", "passes"),
    ("fit", "at_bound", "held"),
    ("fit", "spurious_mode", "phantom_mode"),
    ("check", "spurious_mode", "phantom_mode"),
    ("structure", "max_gradient", "violation"),
    ("structure", "edges.weight", "edges.strength"),
    ("stability", "penalty_strength", "strength"),
    ("stability", "penalty_strengths", "strengths"),
    ("spectrum", "penalty_strength", "strength"),
    ("spectrum", "ignoring.penalty_strength", "ignoring.strength"),
    ("query", "evidence", "given"),
    ("query", "log_p_evidence", "log_p_given"),
    ("query", "log_p_evidence_error", "log_p_given_error"),
    ("logz", "evidence", "given"),
    ("nodes", "nodes.node_strength", "nodes.strength"),
    ("compare-groups", "nodes.node_strengths", "nodes.strengths"),
    ("plan", "steps.data_passes", "steps.passes"),
    ("show", "covariates", "given"),
    ("demo", "penalty_strength", "strength"),
    ("demo", "max_gradient", "violation"),
)  # of the documents that commands print: command, new and earlier name; both are there for one release

OPTIONS = {"--given": "--covariates", "--given-edges": "--covariates-on-edges"}  # of commands that learn


def warn(old: str, new: str, level: int) -> None:
    """Warn of a renamed object, in the name of the caller ``level`` frames up."""
    warnings.warn(message(old, new), FutureWarning, stacklevel=level + 1)


def with_former_keys(record: Mapping[str, Any], **former: str) -> dict[str, Any]:
    """Return a record for JSON with some values also under their earlier names, ``new="old"``."""
    return {**record, **{old: record[new] for new, old in former.items() if new in record}}


def message(old: str, new: str) -> str:
    return f"{old} is now {new}; the old name goes with the next release."


def settings(**names: str) -> Callable[[Kind], Kind]:
    """Class decorator: accept arguments by their earlier names, ``old="new"``, and keep the attributes of that name.

    The signature stays that of the new names, by which scikit-learn finds the parameters of an estimator.
    """

    def decorate(cls: Kind) -> Kind:
        initialize: Callable[..., None] = cls.__init__  # type: ignore[misc]

        @wraps(initialize)
        def with_new_names(self: Any, *args: Any, **arguments: Any) -> None:
            initialize(self, *args, **by_new_names(arguments, names, of=cls.__name__, level=2))

        setattr(cls, "__init__", with_new_names)  # noqa: B010 - mypy lets nobody assign to a method
        for old, new in names.items():
            if not hasattr(cls, old):
                setattr(cls, old, attribute(old, new))
        return cls

    return decorate


def by_new_names(arguments: Mapping[str, Any], names: Mapping[str, str], *, of: str, level: int) -> dict[str, Any]:
    """Return keyword arguments with earlier names replaced; ``old__setting`` is a setting of the argument ``old``."""
    found = {name: value for name, value in arguments.items() if name.partition("__")[0] not in names}
    for name in [name for name in arguments if name not in found]:
        old, nested, setting = name.partition("__")
        new = names[old] + nested + setting
        if new in found:
            raise TypeError(f"{of} got {name!r} and {new!r}, its new name; pass {new!r} only.")
        warn(f"{name!r} of {of}", repr(new), level + 1)
        found[new] = arguments[name]
    return found


def attribute(old: str, new: str) -> property:
    """Make an attribute of an earlier name, which has the value of the new one."""

    def value(self: Any) -> Any:
        of = type(self).__name__
        warn(f"{of}.{old}", f"{of}.{new}", level=2)
        return getattr(self, new)

    return property(value, doc=f"Earlier name of `{new}`.")


class _RenamedModule:
    """Loader of a module under its earlier name. (The base classes of `importlib.abc` take 10 ms to import.)"""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        warn(spec.name, MODULES[spec.name], level=6)
        module = importlib.import_module(MODULES[spec.name])
        self._spec = module.__spec__  # which the import is about to replace by ``spec``
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its own specification back; it has been executed under its own name."""
        module.__spec__ = self._spec


class RenamedModules:
    """Finds modules by their earlier names."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, cast(Any, _RenamedModule())) if fullname in MODULES else None


def install() -> None:
    """Let earlier module names be imported.

    First of all ways: the folders of new packages hold files that would be taken for modules of the old ones.
    """
    if not any(isinstance(finder, RenamedModules) for finder in sys.meta_path):
        sys.meta_path.insert(0, RenamedModules())
