"""The moments of a model by chains that are annealed from anywhere and from the data."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from mrfit._typing import Codes, Floats
from mrfit.analysis.goodness.independent_draws import Drawn
from mrfit.analysis.goodness.moment_estimates import Portrait
from mrfit.analysis.goodness.row_moments import States
from mrfit.analysis.goodness.typical_counts import SIDES, Typical
from mrfit.core.errors import InputError
from mrfit.core.factors import Factors
from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.sampling.annealed import Annealed, annealed_enough
from mrfit.inference.sampling.annealing import AnnealingEstimate
from mrfit.inference.sampling.annealing_path import AnnealingPath
from mrfit.inference.sampling.base_distribution import tree, uniform
from mrfit.inference.sampling.gibbs_chains import Chains, code_type

DRAWS, BETWEEN = 25, 4  # of each chain, and sweeps between them
_FIRST = 2000  # temperatures, if there is time
_ROWS = 2048  # that a base is made from
_APART = 10.0  # nats by which bases may differ
_LEAST_ESS = 5.0  # of chains that are believed
_AGREE = 3.0  # joint standard errors
_LEAST_ERROR = 1e-12  # of a base that is the distribution itself
_HERE = SIDES.index("typical")


def by_chains(
    factors: Factors,
    rows: UniqueRows,
    typical: Typical,
    *,
    n_chains: int,
    max_temperatures: int,
    seed: int,
    jobs: int,
    why: str = "it was asked for",
    triples: bool = False,
) -> Portrait:
    """Half of the chains begin anywhere, half in a tree of the data; weights say what each end is worth.

    A run from a base finds at most what it comes by, so what it says of a region is rather too little: of every region
    (fewer, as many, and more variables away from their first state than in the data) the larger answer is taken. That
    shows which mode has the mass, even where chains from the data never leave it.
    """
    runs = _runs(factors, rows, n_chains=n_chains, max_temperatures=max_temperatures, seed=seed, jobs=jobs)
    if not any(estimate.ess for estimate, _ in runs):
        raise InputError(
            f"None of {len(runs) * n_chains} chains found a joint state that is possible under the model. Its tables "
            "may contradict each other: check it with --engine tree, which can tell, or give more time by --seconds."
        )
    log_shares = np.stack([_by_region(run, typical) for run in runs])  # (bases, regions, chains)
    taken, log_z, error = _pooled(log_shares)
    shares = np.exp(taken - log_z).sum(axis=1).ravel()  # a chain is in one region
    codes = _continued(factors, np.concatenate([codes for _, codes in runs]), shares, seed=seed, jobs=jobs)
    drawn = Drawn(States(factors.shape), codes, shares)
    remarks = _remarks(runs, typical, drawn)
    return Portrait(
        Annealed.word,
        why,
        False,
        drawn.moments(triples=triples),
        log_z,
        error,
        n_rows=drawn.ess,
        is_known=not remarks,
        n_groups=drawn.ess,
        remarks=remarks,
    )


def _runs(
    factors: Factors, rows: UniqueRows, *, n_chains: int, max_temperatures: int, seed: int, jobs: int
) -> list[tuple[AnnealingEstimate, Codes]]:
    """Anneal from two bases: the uniform distribution, and the tree of largest mutual information in the data."""
    p = rows.sample_weight / rows.total_weight
    some = rows.codes[np.random.default_rng((seed, 21)).choice(len(p), _ROWS, p=p)]
    return [
        annealed_enough(
            factors,
            base,
            chains=n_chains,
            temperatures=min(_FIRST, max_temperatures),
            max_temperatures=max_temperatures,
            seed=(seed, 22 + number),
            jobs=jobs,
        )
        for number, base in enumerate((uniform(factors.shape), tree("data", factors.shape, some)))
    ]


def _by_region(run: tuple[AnnealingEstimate, Codes], typical: Typical) -> Floats:
    """Logarithms of the part of Z that each chain stands for in each region, (regions, chains)."""
    estimate, codes = run
    region = typical.side(np.count_nonzero(codes, axis=1))
    inside = region == np.arange(len(SIDES))[:, None]
    return np.where(inside, estimate.log_weights - np.log(len(region)), -np.inf)


def _pooled(log_shares: Floats) -> tuple[Floats, float, float]:
    """Combine the runs' estimates of log Z region by region.

    In each region the largest estimate is averaged with those that agree with it. Weights are inverse errors rather
    than inverse variances, because errors are estimates too. Returns the shares taken, log Z of all regions, and its
    error.
    """
    taken = np.full_like(log_shares, -np.inf)
    for region in range(log_shares.shape[1]):
        log_z = logsumexp(log_shares[:, region], axis=1)
        best = int(np.argmax(log_z))
        if log_z[best] == -np.inf:
            continue
        error = np.maximum([_error(row) for row in log_shares[:, region]], _LEAST_ERROR)
        agree = log_z >= log_z[best] - _AGREE * np.hypot(error, error[best])
        part = agree / error / np.sum(agree / error)
        taken[agree, region] = log_shares[agree, region] + np.log(part[agree, None])
    log_z = float(logsumexp(taken))
    shares = np.exp(taken - log_z).sum(axis=1)
    return taken, log_z, float(np.sqrt((shares.var(axis=1, ddof=1) * shares.shape[1]).sum()))


def _error(log_weights: Floats) -> float:
    """Standard error of the logarithm of the sum of the weights."""
    most = log_weights.max()
    w = np.exp(log_weights - most) if most > -np.inf else np.zeros(len(log_weights))
    return float(w.std(ddof=1) * np.sqrt(len(w)) / w.sum()) if w.any() else 0.0


def _continued(factors: Factors, codes: Codes, shares: Floats, *, seed: int, jobs: int) -> Codes:
    """Rows of chains that go on from where they are, (chains, rows, variables): sweeps leave shares as they are."""
    alive = shares > 0.0
    start = codes[np.where(alive, np.arange(len(codes)), alive.argmax())]
    chains = Chains(AnnealingPath.between(uniform(factors.shape).factors, factors), start, (seed, 24), jobs=jobs)
    out: Codes = np.empty((DRAWS, factors.n_variables, len(codes)), code_type(factors.shape))
    chains.record(BETWEEN, out)
    return np.ascontiguousarray(out.transpose(2, 0, 1))


def _remarks(runs: list[tuple[AnnealingEstimate, Codes]], typical: Typical, drawn: Drawn) -> tuple[str, ...]:
    """Say why the moments are unreliable; empty if they are not.

    Chains from the uniform base usually find less than those from the data, because they have not converged. If they
    find very much less, or more without a mode of their own, it is unknown what else was missed.
    """
    (anywhere, ends), (near, _) = runs
    apart = anywhere.log_z - near.log_z
    sums = anywhere.shares @ np.count_nonzero(ends, axis=1)
    is_elsewhere = apart > 0.0 and typical.side(np.array(sums)) != _HERE
    way_on = "Check it with --engine tree if that fits, or give more time by --seconds."
    if drawn.ess < _LEAST_ESS:
        return (f"Chains do not mix: all {len(drawn.shares)} of them are worth {drawn.ess:.1f}. {way_on}",)
    if abs(apart) > _APART and not is_elsewhere:
        return (
            f"Chains do not mix: from anywhere they find log Z {anywhere.log_z:.1f}, from the data {near.log_z:.1f}. "
            f"{way_on}",
        )
    return ()
