"""Solvers: one driver, `minimize`, and the methods it runs.

``minimize(objective, method, penalty=...)`` returns a `Solution` with its certificate (how far the returned point is
from optimal) and its trace. To write your own method, derive from `Method`: make a state, and improve a state.
"""

from mrfit.solvers.fista import Fista
from mrfit.solvers.lbfgs import LBFGS
from mrfit.solvers.method import CompositeProblem, Method, State
from mrfit.solvers.minimize import minimize
from mrfit.solvers.newton import TruncatedNewton
from mrfit.solvers.owlqn import OWLQN
from mrfit.solvers.projected_gradient import ProjectedGradient
from mrfit.solvers.proximal_newton import ProximalNewton
from mrfit.solvers.solution import Record, Solution, Status

__all__ = [
    "LBFGS",
    "OWLQN",
    "CompositeProblem",
    "Fista",
    "Method",
    "ProjectedGradient",
    "ProximalNewton",
    "Record",
    "Solution",
    "State",
    "Status",
    "TruncatedNewton",
    "minimize",
]
