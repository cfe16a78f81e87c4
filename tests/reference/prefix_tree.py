"""Contents of prefix trees, one cell and one node at a time."""

from __future__ import annotations

import numpy as np

Chunk = tuple[np.ndarray, np.ndarray, np.ndarray]  # node of each cell, parent of each node, nodes of each feature


def bits_of(chunks: list[Chunk], n_cells: int) -> np.ndarray:
    """The matrix again: walk from every cell's node to the root."""
    parts = [np.zeros((n_cells, 0), int)]
    for code, parent, runs in chunks:
        bits = np.zeros((n_cells, len(runs) - 1), int)
        for cell in range(n_cells):
            node = int(code[cell])
            while node != 0:
                bits[cell, np.searchsorted(runs, node, side="right") - 1] += 1
                assert parent[node] < node
                node = int(parent[node])
        parts.append(bits)
    return np.hstack(parts)
