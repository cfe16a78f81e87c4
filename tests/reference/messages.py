"""Messages and mean field from their definitions: dictionaries of vectors, sums over all cells."""

from __future__ import annotations

from itertools import product

import numpy as np

Tables = dict[tuple[int, ...], np.ndarray]  # positive numbers, one axis for each variable
Edge = tuple[tuple[int, ...], int]


class PlainMessages:
    """Belief propagation with weights of factors (tables are raised to one over them)."""

    def __init__(self, fields: list[np.ndarray], tables: Tables, weight: dict[tuple[int, ...], float] | None = None):
        self.fields, self.weight = fields, weight or dict.fromkeys(tables, 1.0)
        self.tables = {scope: table ** (1.0 / self.weight[scope]) for scope, table in tables.items()}
        self.to_variable: dict[Edge, np.ndarray] = {(a, i): np.ones(len(fields[i])) for a in tables for i in a}
        self.to_factor: dict[Edge, np.ndarray] = {(a, i): np.ones(len(fields[i])) for a in tables for i in a}

    def belief(self, i: int) -> np.ndarray:
        out = self.fields[i].copy()
        for (a, j), message in self.to_variable.items():
            if j == i:
                out = out * message ** self.weight[a]
        return out / out.sum()

    def joint(self, a: tuple[int, ...]) -> np.ndarray:
        out = self.tables[a].copy()
        for cell in product(*map(range, out.shape)):
            for i, s in zip(a, cell, strict=True):
                out[cell] *= self.to_factor[a, i][s]
        return out / out.sum()

    def update(self, a: tuple[int, ...], i: int, *, maximise: bool = False, damping: float = 0.0) -> None:
        new, table = np.zeros(len(self.fields[i])), self.tables[a]
        for cell in product(*map(range, table.shape)):
            value = table[cell] * np.prod([self.to_factor[a, j][s] for j, s in zip(a, cell, strict=True) if j != i])
            s = cell[a.index(i)]
            new[s] = max(new[s], value) if maximise else new[s] + value
        self.to_variable[a, i] = (new / new.max()) ** (1.0 - damping) * self.to_variable[a, i] ** damping

    def receive(self, i: int, *, maximise: bool = False) -> None:
        for a in self.tables:
            if i in a:
                self.update(a, i, maximise=maximise)

    def spread(self, i: int, *, damping: float) -> None:
        """Send, and let the neighbours hear of it at once."""
        self.send(i)
        for a in self.tables:
            for j in a if i in a else ():
                if j != i:
                    self.update(a, j, damping=damping)

    def send(self, i: int) -> None:
        for a in self.tables:
            if i in a:
                total, message = self.belief(i), self.to_variable[a, i]
                out = np.divide(total, message, out=np.zeros_like(total), where=total > 0)
                self.to_factor[a, i] = out / out.max()

    def start(self) -> None:
        for i in range(len(self.fields)):
            self.send(i)

    def sweep(self, number: int, *, maximise: bool = False) -> None:
        """Variables up in even sweeps, down in odd ones."""
        order = range(len(self.fields))
        for i in order if number % 2 == 0 else reversed(order):
            self.receive(i, maximise=maximise)
            self.send(i)

    def flood(self) -> None:
        for i in range(len(self.fields)):
            self.receive(i)
        self.start()


def mean_field_sweep(fields: list[np.ndarray], log_tables: Tables, p: list[np.ndarray]) -> None:
    """One update of every variable in turn, in place."""
    for i, field in enumerate(fields):
        expected = field.copy()
        for a, table in log_tables.items():
            if i in a:
                for cell in product(*map(range, table.shape)):
                    others = [p[j][s] for j, s in zip(a, cell, strict=True) if j != i]
                    expected[cell[a.index(i)]] += table[cell] * np.prod(others)
        p[i] = np.exp(expected - expected.max())
        p[i] /= p[i].sum()


def mean_field_bound(fields: list[np.ndarray], log_tables: Tables, p: list[np.ndarray]) -> float:
    """E[log-potential] + entropy."""
    total = sum(float(q @ field - q @ np.log(q)) for q, field in zip(p, fields, strict=True))
    for a, table in log_tables.items():
        for cell in product(*map(range, table.shape)):
            total += float(table[cell] * np.prod([p[j][s] for j, s in zip(a, cell, strict=True)]))
    return total
