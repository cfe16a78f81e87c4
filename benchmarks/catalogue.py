"""All benchmarks, by name."""

from __future__ import annotations

from importlib import import_module

from benchmarks.benchmark import Benchmark

MODULES = (
    "pseudo_likelihood", "whole_fits", "first_use_table", "compiling", "code_levels", "node_paths", "structure_cost",
    "structure_quality", "noise_edges", "ebic_groups", "ebic_refit", "tying", "kmeans1d", "tying_recovery",
    "parameterizations", "spectra", "transforms", "exact_likelihood", "exact_likelihood_trees", "exact_solvers",
    "exact_large", "message_passing", "best_states", "gibbs", "calibration", "exact_inference", "checks",
    "goodness_level",
    "stochastic_likelihood", "frozen_chains", "surrogates", "errors", "bootstrap", "reading", "forecasts",
    "large_trees", "counting", "cluster", "wide", "groups", "missing", "explorer",
)  # fmt: skip


def catalogue() -> dict[str, Benchmark]:
    modules = [import_module(f"benchmarks.{module}") for module in MODULES]
    return {benchmark.name: benchmark for module in modules for benchmark in module.BENCHMARKS}
