"""Element-wise maths of the interaction screening loss on a block of cells, laid out as for `logistic`.

With z = 0 for the reference and m the mean of z over all S + 1 states of a variable, a row in state s adds exp(m -
z_s): for two states exp(-z/2) in the second and exp(z/2) in the first (Vuffray et al. 2016). If states have
probabilities proportional to exp(z_s), each adds the same on average, and the gradients of m - z_s sum to zero over
states. The truth is therefore the minimum, for any number of states. A cell only needs the term of each state, count *
exp(m - z_s), and their sum over all states.
"""

from __future__ import annotations

from mrfit._kernels.arithmetic.elementary import exp_nonpositive
from mrfit._kernels.machine_code.compiled import njit

_LARGEST = 600.0  # larger exponents are clipped, to keep sums over rows finite; no line search ends with them


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def _exp(x):
    e = exp_nonpositive(-min(abs(x), _LARGEST))
    return 1.0 / e if x > 0.0 else e


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"})
def screening_loss(n_free, n_cells, z, counts, at, total, cell, residual, mean, sums):
    """Sum the terms of all states; fill residual = sum / (S + 1) - term of each state, and ``sums`` by cell.

    ``mean`` is scratch of length n_cells.
    """
    share = 1.0 / (n_free + 1.0)
    for c in range(n_cells):
        mean[c], sums[c] = 0.0, total[cell + c]
    for s in range(n_free):
        z_s, counts_s = z[s * n_cells : (s + 1) * n_cells], counts[at + s * n_cells : at + (s + 1) * n_cells]
        for c in range(n_cells):
            mean[c] += share * z_s[c]
            sums[c] -= counts_s[c]  # finally the count of the reference
    for c in range(n_cells):
        sums[c] *= _exp(mean[c])
    for s in range(n_free):
        z_s, residual_s = z[s * n_cells : (s + 1) * n_cells], residual[s * n_cells : (s + 1) * n_cells]
        counts_s = counts[at + s * n_cells : at + (s + 1) * n_cells]
        for c in range(n_cells):
            residual_s[c] = -counts_s[c] * _exp(mean[c] - z_s[c])
            sums[c] -= residual_s[c]
    value = 0.0
    for c in range(n_cells):
        value += sums[c]
    for s in range(n_free):
        residual_s = residual[s * n_cells : (s + 1) * n_cells]
        for c in range(n_cells):
            residual_s[c] += share * sums[c]
    return value


@njit(cache=True, nogil=True)
def keep_terms(n_free, n_cells, residual, sums, at, sums_at, kept):
    """Store the term of every state at ``at`` and their sum at ``sums_at``, from which the Hessian is computed."""
    share = 1.0 / (n_free + 1.0)
    for c in range(n_cells):
        kept[sums_at + c] = sums[c]
    for s in range(n_free):
        for c in range(n_cells):
            kept[at + s * n_cells + c] = share * sums[c] - residual[s * n_cells + c]


@njit(cache=True, nogil=True, error_model="numpy")
def screening_curvature_times(n_free, n_cells, direction, kept, at, sums_at, residual, mean, along):
    """Fill residual = sum over states s of term_s (u - e_s) (u - e_s)' direction in each cell.

    u is the vector of 1 / (S + 1), and e_s has a one at s, none for the reference; ``mean`` and ``along`` are scratch.
    """
    share = 1.0 / (n_free + 1.0)
    for c in range(n_cells):
        mean[c], along[c] = 0.0, 0.0
    for s in range(n_free):
        term_s, direction_s = kept[at + s * n_cells : at + (s + 1) * n_cells], direction[s * n_cells :]
        for c in range(n_cells):
            mean[c] += share * direction_s[c]
            along[c] += term_s[c] * direction_s[c]
    for c in range(n_cells):
        along[c] = share * (mean[c] * kept[sums_at + c] - along[c])
    for s in range(n_free):
        term_s, direction_s = kept[at + s * n_cells : at + (s + 1) * n_cells], direction[s * n_cells :]
        residual_s = residual[s * n_cells : (s + 1) * n_cells]
        for c in range(n_cells):
            residual_s[c] = along[c] - term_s[c] * (mean[c] - direction_s[c])


@njit(cache=True, nogil=True, error_model="numpy")
def screening_curvature_diagonal(n_free, n_cells, kept, at, sums_at, residual):
    """Fill the diagonal of each cell's curvature."""
    share = 1.0 / (n_free + 1.0)
    for s in range(n_free):
        for c in range(n_cells):
            rest = (1.0 - 2.0 * share) * kept[at + s * n_cells + c]
            residual[s * n_cells + c] = share * share * kept[sums_at + c] + rest
