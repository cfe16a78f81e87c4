"""A bit matrix stored as chunks of columns, each chunk a prefix tree over its distinct row patterns.

Rows are cells, columns are features. Within a chunk a cell's pattern is the set of features active in it;
patterns share prefixes, so they form a tree: a node is its parent's pattern plus one feature. Then

* the sums of parameters over all patterns of the chunk cost one addition a node,
* a product with the matrix costs one table lookup a cell and chunk,
* the adjoint adds into the cell's node and folds every node onto its parent and its feature.

Eight dense features give the full 256-entry byte table; hundreds of rarely active ones still give one
short chunk. So the density of the data does not matter, and there is no second format for sparse data.
"""

from __future__ import annotations

import numpy as np

from mrfit._kernels.machine_code.compiled import njit

MAX_NODES = 65535  # node numbers are stored in 16 bits
# Cost of one tree node (a dependent addition, two scattered ones on the way back) in units of one cell's lookup and
# add; measured on the 20 benchmark sets, flat between 2 and 4.
NODE_COST = 2.0
_PATIENCE = 16  # features to look past the best width before a chunk is closed


@njit(cache=True, nogil=True)
def grow(start, members, first, n_cells, code, parent, runs):
    """Build the tree over features first, first + 1, ... and close the chunk where its cost per feature is lowest.

    ``members[start[f]:start[f + 1]]`` are the cells in which feature f is active. The chunk ends where its cost per
    feature covered, (n_cells + NODE_COST * nodes) / width, is smallest. Fills ``code`` (the node of each cell),
    ``parent`` (of each node) and ``runs``: nodes are numbered in the order of their features, those of the chunk's k-th
    feature are runs[k] .. runs[k + 1] - 1. Returns the end of the chunk.
    """
    n_features = len(start) - 1
    child = np.empty(MAX_NODES, np.int32)
    seen_at = np.full(MAX_NODES, -1, np.int32)
    code[:n_cells] = 0
    parent[0] = 0
    runs[0] = n_nodes = 1
    best_cost, best_end = np.inf, first
    for f in range(first, n_features):
        # A feature adds at most one child to each node, and at most one for each cell where it is active.
        if n_nodes + min(n_nodes, start[f + 1] - start[f]) > MAX_NODES:
            break
        for at in range(start[f], start[f + 1]):
            cell = members[at]
            node = code[cell]
            if seen_at[node] != f:
                seen_at[node] = f
                child[node] = n_nodes
                parent[n_nodes] = node
                n_nodes += 1
            code[cell] = child[node]
        runs[f + 1 - first] = n_nodes
        cost = (n_cells + NODE_COST * n_nodes) / (f + 1 - first)
        # Cost per feature falls while patterns are shared, and rises once they multiply. Look a little past the least,
        # since a rare feature may lower it again.
        if cost <= best_cost:
            best_cost, best_end = cost, f + 1
        elif f + 1 - best_end >= _PATIENCE or cost > 2.0 * best_cost:
            break
    # Remove nodes past the end of the chunk; their cells fall back to the nearest remaining ancestor.
    for cell in range(n_cells):
        while code[cell] >= runs[best_end - first]:
            code[cell] = parent[code[cell]]
    return best_end


# The kernels below take whole arrays and offsets: slices passed from function to function cost two atomic
# reference counts each, as much as ten cells; slices made and used within one function are free.


@njit(cache=True, nogil=True)
def node_sums(parent, low, runs, run_low, width, w, w_low, sums, sums_low):
    """Sum the parameters of each node's pattern, for the tree stored at ``low``.

    The nodes of one feature have different parents, all with lower numbers, so the loop over them is free of
    dependencies.
    """
    up, out = parent[low:], sums[sums_low:]
    out[0] = 0.0
    for k in range(width):
        x = w[w_low + k]
        for node in range(runs[run_low + k], runs[run_low + k + 1]):
            out[node] = out[up[node]] + x


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def fold_nodes(parent, low, runs, run_low, width, bins, bins_low, gradient, gradient_low):
    """Apply the adjoint of `node_sums`: every node's total goes to its parent and to its feature."""
    up, totals = parent[low:], bins[bins_low:]
    for k in range(width - 1, -1, -1):
        # A child belongs to a later feature than its parent, so totals are complete when their feature is reached.
        x = 0.0
        for node in range(runs[run_low + k], runs[run_low + k + 1]):
            x += totals[node]
            totals[up[node]] += totals[node]
        gradient[gradient_low + k] = x


@njit(cache=True, nogil=True)
def lookup(codes, code_start, first_chunk, last_chunk, first_cell, n_cells, table, table_start, shift, z, at):
    """Add to z[at + c] the sum over chunks of the table entry of cell c.

    Chunks are taken four, two or one at a time, so that z stays in a register across chunks.
    """
    g, out = first_chunk, z[at : at + n_cells]
    while last_chunk - g >= 4:
        code0, table0 = codes[code_start[g] + first_cell :], table[table_start[g] + shift :]
        code1, table1 = codes[code_start[g + 1] + first_cell :], table[table_start[g + 1] + shift :]
        code2, table2 = codes[code_start[g + 2] + first_cell :], table[table_start[g + 2] + shift :]
        code3, table3 = codes[code_start[g + 3] + first_cell :], table[table_start[g + 3] + shift :]
        for c in range(n_cells):
            out[c] += (table0[code0[c]] + table1[code1[c]]) + (table2[code2[c]] + table3[code3[c]])
        g += 4
    if last_chunk - g >= 2:
        code0, table0 = codes[code_start[g] + first_cell :], table[table_start[g] + shift :]
        code1, table1 = codes[code_start[g + 1] + first_cell :], table[table_start[g + 1] + shift :]
        for c in range(n_cells):
            out[c] += table0[code0[c]] + table1[code1[c]]
        g += 2
    if last_chunk - g == 1:
        code0, table0 = codes[code_start[g] + first_cell :], table[table_start[g] + shift :]
        for c in range(n_cells):
            out[c] += table0[code0[c]]


@njit(cache=True, nogil=True)
def add(codes, code_start, first_chunk, last_chunk, first_cell, n_cells, bins, bin_start, shift, r, at):
    """Apply the adjoint of `lookup`: add r[at + c] to the node of cell c in every chunk.

    Several chunks are taken at a time: additions into different trees are independent, which hides the latency of two
    additions to the same entry.
    """
    g, residual = first_chunk, r[at : at + n_cells]
    while last_chunk - g >= 4:
        code0, bins0 = codes[code_start[g] + first_cell :], bins[bin_start[g] + shift :]
        code1, bins1 = codes[code_start[g + 1] + first_cell :], bins[bin_start[g + 1] + shift :]
        code2, bins2 = codes[code_start[g + 2] + first_cell :], bins[bin_start[g + 2] + shift :]
        code3, bins3 = codes[code_start[g + 3] + first_cell :], bins[bin_start[g + 3] + shift :]
        for c in range(n_cells):
            x, i0, i1, i2, i3 = residual[c], code0[c], code1[c], code2[c], code3[c]
            b0, b1, b2, b3 = bins0[i0], bins1[i1], bins2[i2], bins3[i3]
            bins0[i0] = b0 + x
            bins1[i1] = b1 + x
            bins2[i2] = b2 + x
            bins3[i3] = b3 + x
        g += 4
    if last_chunk - g >= 2:
        code0, bins0 = codes[code_start[g] + first_cell :], bins[bin_start[g] + shift :]
        code1, bins1 = codes[code_start[g + 1] + first_cell :], bins[bin_start[g + 1] + shift :]
        for c in range(n_cells):
            x, i0, i1 = residual[c], code0[c], code1[c]
            b0, b1 = bins0[i0], bins1[i1]
            bins0[i0] = b0 + x
            bins1[i1] = b1 + x
        g += 2
    if last_chunk - g == 1:
        code0, bins0 = codes[code_start[g] + first_cell :], bins[bin_start[g] + shift :]
        for c in range(n_cells):
            bins0[code0[c]] += residual[c]
