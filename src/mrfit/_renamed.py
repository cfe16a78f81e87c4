"""Internal: names of earlier versions. They work for one release, with a warning."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, cast

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


def warn(old: str, new: str, level: int) -> None:
    """Say that a name has changed, at the place that is so many calls up."""
    warnings.warn(f"{old} is now {new}; the old name goes with the next release.", FutureWarning, stacklevel=level + 1)


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
