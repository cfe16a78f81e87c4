"""Mutants: a file below ``src/mrfit``, a text that stands in it once, and what takes its place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """One small mistake."""

    path: str
    old: str
    new: str

    @property
    def package(self) -> str:
        return self.path.partition("/")[0]

    def __str__(self) -> str:
        return f"{self.path}: {self.old.strip()} -> {self.new.strip() or 'nothing'}"


# ruff: noqa: E501  (texts stand as they do in the sources)
_CHANGES: dict[str, list[tuple[str, str]]] = {
    "penalties/group_l1.py": [
        ("return self._shrunk(w, step * self._slope)", "return self._shrunk(w, self._slope)"),
        ("out=factor, where=norm > by", "out=factor, where=norm > 0"),
        ("self._shrunk(gradient, self._slope), gradient", "gradient, gradient"),
        ("np.divide(self._slope, norm, out=pull", "np.divide(self.weight, norm, out=pull"),
        ("group - n_without", "group"),
        ("[touched] / self.weight[touched]", "[touched]"),
        ("norm[group] ** 1.5", "norm[group] ** 2"),
        ("(self._sums(start * end) <= 0)", "(self._sums(start * end) < 0)"),
        ("np.minimum.at", "np.maximum.at"),
        ("np.append(weight > 0, False)", "np.append(weight >= 0, False)"),
        ("smallest, 0.0) * self._slope", "smallest, 0.0) * self.weight"),
    ],
    "penalties/hierarchical_l1.py": [
        ("float(self._limit @ self._group_norms(w))", "float(self.weight[self._own.top] @ self._group_norms(w))"),
        ("dual, step / last, out=dual", "dual, last / step, out=dual"),
        ("left = self._kernel_prox(length, np.where(zero, self._limit, 0.0)", "left = self._kernel_prox(length, self._limit"),
        ("used = present | (", "used = present & ("),
        ("else 1.0 / gauge", "else 1.0"),
        ("np.bincount(groups.keeper[alone], norm[alone] ** 2", "0 * np.bincount(groups.keeper[alone], norm[alone] ** 2"),
        ("slope = self._limit / np.where(zero, 1.0, length)", "slope = self._limit"),
        ("float(residual @ residual) / cost", "float(residual @ residual) / (2.0 * cost)"),
        ("np.divide(np.sqrt(pull), norm", "np.divide(pull, norm"),
        ("minlength=len(groups.top)) <= 0", "minlength=len(groups.top)) >= 0"),
        ("(np.diff(start) < 1)", "(np.diff(start) < 0)"),
    ],
    "penalties/l1.py": [
        ("np.abs(w) - step * self.thresholds", "np.abs(w) - self.thresholds"),
        ("np.abs(w) - steps * self.thresholds", "np.abs(w) - steps * self.weight"),
        ("= self.weight == 0", "= self.weight >= 0"),
        ("return self.strength / float(", "return 1.0 / float("),
        ("weight = weight.copy()", "pass"),
        ("float(exceeds(gradient, self.weight, 0.0))", "float(exceeds(gradient, self.weight, 1.0))"),
    ],
    "penalties/l2.py": [
        ("0.5 * self.strength", "self.strength"),
        ("w - self.toward", "w + self.toward"),
        ("self._touched(np.ones_like(w))", "np.ones_like(w)"),
        ("else ~self.penalized", "else self.penalized"),
        ("self._touched(v)", "v"),
    ],
    "penalties/penalized_objective.py": [
        ("gradient + self.penalty.gradient(w) / self.total_weight", "gradient + self.penalty.gradient(w)"),
        ("scale * self.penalty.hessian_product(w, v)", "self.penalty.hessian_product(w, v)"),
        ("self.penalty.hessian(np.zeros(len(matrix))) / self.total_weight", "self.penalty.hessian(np.zeros(len(matrix)))"),
        ("self.total_weight * own(r)", "own(r)"),
        ("smooth.diagonal() * self.total_weight", "smooth.diagonal()"),
        ("objective.is_convex and penalty.is_convex", "objective.is_convex or penalty.is_convex"),
        ("smooth.diagonal() + scale * self.penalty.hessian_diagonal(w)", "smooth.diagonal()"),
    ],
    "penalties/penalty.py": [
        ("return replace(self, strength=factor * self.strength) if", "return replace(self, strength=factor) if"),
        ("np.max(np.abs(self.min_norm_subgradient(w, gradient))", "np.max((self.min_norm_subgradient(w, gradient))"),
        ("(middle, high) if is_too_weak(middle)", "(middle, high) if not is_too_weak(middle)"),
        ("self.strength / max(self.strength, self.critical_strength(gradient))", "1.0"),
        ("self.penalty.prox(w, self.strength * step)", "self.penalty.prox(w, step)"),
        ("min_norm_subgradient(w, gradient / self.strength)", "least_subgradient(w, gradient)"),
        ("np.sqrt(self.strength) * factor", "self.strength * factor"),
        ("self.penalty.dual_scale(gradient / self.strength, at=at)", "self.penalty.dual_scale(gradient, at=at)"),
        ("else self.strength * own", "else own"),
        ("prox_by_steps(w, self.strength * steps)", "prox_by_steps(w, steps)"),
        ("lambda w, step: prox(w, self.strength * step)", "lambda w, step: prox(w, step)"),
        (".min(initial=np.inf), steps)", ".max(initial=0.0), steps)"),
        ("self.scaled(1.0 / total_weight)", "self.scaled(1.0)"),
    ],
    "penalties/penalty_strength.py": [("if not 0 < strength", "if not 0 <= strength")],
    "penalties/cluster_penalty.py": [
        ("np.asarray(sums * share, np.float64)", "np.asarray(sums, np.float64)"),
        ("(1.0 - share[self.assignment])", "(1.0 + share[self.assignment])"),
        ("-self.strength * share[self.assignment], 0.0)", "self.strength * share[self.assignment], 0.0)"),
        ("y[tied] += inverse[tied]", "y[tied] -= inverse[tied]"),
        ("loose = 1.0 - self.strength", "loose = 1.0 + self.strength"),
        ("share[self.assignment] == 1.0", "share[self.assignment] >= 1.0 / 2"),
        ("np.where(pinned, 0.0, 1.0 /", "np.where(pinned, 1.0, 1.0 /"),
    ],
    "penalties/penalty_weight.py": [("weight.max(initial=0.0) < np.inf", "weight.max(initial=0.0) <= np.inf")],
    "objectives/cached.py": [
        ("np.array_equal(w, self._point):  #", "True:  #"),
        ("return a is b or", "return len(a) > 0 or"),
        ("self._point = read_only(w)", "self._point = w"),
        ("self.passes += round(explicit.products)", "self.passes += 0"),
        ("return None if latest is None else lambda: latest", "return None"),
        ("return self.passes - self._passes_at_hessian", "return self.passes"),
    ],
    "objectives/conditional_loss.py": [
        ("return float(self._values.sum()) / self.cells.total_weight", "return float(self._values.sum())"),
        ("self._collected(curvature()) / self.cells.total_weight", "self._collected(curvature())"),
        ("entries /= self.cells.total_weight", "pass"),
        ("return self._slots.copy()", "return self._slots"),
        ("self._features.at(curvature() / self.cells.total_weight)", "self._features.at(curvature())"),
    ],
    "objectives/decomposable_closed_form.py": [("(number[:, None] * log_p", "(log_p")],
    "objectives/feature_covariance.py": [
        ("second -= np.outer(first, first)", "pass"),
        ("out *= 1.0 - _SHRINKAGE", "out *= 1.0 + _SHRINKAGE"),
        ("frequency * (1.0 - frequency)", "frequency"),
    ],
    "objectives/chow_liu_closed_form.py": [
        ("1 - n_neighbours", "-n_neighbours"),
        ("np.log(p / product)", "np.log(p)"),
        ("(-np.where(weight == 0", "(np.where(weight == 0"),
    ],
    "objectives/gradient_products.py": [
        ("np.sqrt(rows.sample_weight / rows.total_weight)", "rows.sample_weight / rows.total_weight"),
        ("sums -= excess", "sums += excess"),
        ("sums = total * gradient", "sums = total * 0.0 * gradient"),
    ],
    "objectives/hessian.py": [
        ("self.entries + scale * penalty.hessian(w)", "self.entries + penalty.hessian(w)"),
        ("number < 0, n, number", "number <= 0, n, number"),
        ("common(r) / scale - r / total", "common(r) / scale"),
        ("block / s / s[:, None]", "block / s"),
        ("ridge, common = scale * penalty.stiffness(w)", "ridge, common = penalty.stiffness(w)"),
        ("(s[:, None] * block * s)", "(block * s)"),
        ("np.flatnonzero(number >= 0)", "np.flatnonzero(number > 0)"),
    ],
    "objectives/likelihood.py": [
        ("return point.log_z - float(", "return point.log_z + float("),
        ("float(point.gradient @ v) + float(self._observed @ v)", "float(point.gradient @ v)"),
        ("observed + np.outer(gradient, gradient)", "observed"),
        ("(1.0 - t) * self._share", "self._share"),
        ("log_outside + np.log(t) * outside", "log_outside"),
        ("moments /= total", "pass"),
        ("else self.partial_moments + self.observed", "else self.partial_moments"),
    ],
    "objectives/weighted_mean.py": [
        ("[share * each for", "[each for"),
        ("[np.ix_(chosen, chosen)]", "[np.ix_(chosen, chosen[::-1])]"),
        ("all(part.is_convex", "any(part.is_convex"),
        ("lambda t: self._mean(dual(t)", "lambda t: self._mean(dual(1.0)"),
    ],
    "objectives/objective.py": [
        ("hessian=lambda: change(self.hessian())", "hessian=lambda: self.hessian()"),
        ("else lambda: change(hessian())", "else lambda: hessian()"),
        ("w.copy() if w.flags.writeable else w", "w"),
        ("0.5 * (matrix + matrix.T)", "0.5 * matrix"),
    ],
    "objectives/reparameterized.py": [
        ("self._adjoint.power(2) @ inner", "self._adjoint @ inner"),
        ("lambda v: self._adjoint @ inner.product(self.matrix @ v)", "lambda v: self._adjoint @ inner.product(v)"),
        ("return None if matrix is None else Matrix(matrix).through(self._adjoint).entries", "return None"),
        ("dual=inner.dual", "dual=None"),
        ("through(self._adjoint[chosen])", "through(self._adjoint[chosen[::-1]])"),
    ],
    "objectives/row_scores.py": [
        ("scores = len(base.shape) * log_p[at]", "scores = (len(base.shape) - 1) * log_p[at]"),
        ("if i in covariates:", "if i not in given:"),
        ("- log_z[number.ravel()]", "+ log_z[number.ravel()]"),
        ("keepdims=True)\n        p = np.exp(log_potentials -", "keepdims=True)\n        p = np.exp(log_potentials +"),
    ],
    "objectives/screening.py": [
        ("at.sums - at.slopes**2", "at.sums + at.slopes**2"),
        (" - at.slopes * along[self._owner]", ""),
        ("self.cells.arrays.n_free > 0", "self.cells.arrays.n_free >= 0"),
        ("np.log(self._values[with_states] / self.cells.total_weight)", "np.log(self._values[with_states])"),
    ],
    "objectives/sharded.py": [
        ("weight / sum(weights)", "1.0 / len(weights) + 0.0 * weight"),
        ("self._expansion is None or not np.array_equal(self._point, w)", "self._expansion is None"),
        ("all(are_convex)", "any(are_convex)"),
    ],
    "objectives/tree_likelihood.py": [
        ("return log_z - float(w @ self.observed)", "return log_z + float(w @ self.observed)"),
        ("/ (2.0 * step)", "/ step"),
        ("w - step * v)", "w)"),
        ("value - float(gradient @ w), t", "value, t"),
        ("(1.0 - t) * share", "share"),
        ("if t == 1.0:", "if t <= 1.0:"),
    ],
    "solvers/accelerated.py": [
        ("@ (w - self.here.w)) > 0.0", "@ (w - self.here.w)) < 0.0"),
        ("(self.momentum - 1.0) / momentum", "(self.momentum + 1.0) / momentum"),
        ("length * ahead.gradient, length)", "length * ahead.gradient, 1.0)"),
    ],
    "solvers/fista.py": [
        ("0.5 / length * float", "5.0 / length * float"),
        ("problem.clip(problem.penalty.prox(w, step))", "problem.penalty.prox(w, step)"),
        ("smooth = expansion.value - self.problem.penalty.value(w)", "smooth = expansion.value"),
        ("here.w + push *", "here.w - push *"),
    ],
    "solvers/lbfgs.py": [
        ("~problem.held(state.w, state.gradient)", "np.ones(len(state.w), bool)"),
        ("gradient - state.gradient, memory", "gradient + state.gradient, memory"),
    ],
    "solvers/limited_memory.py": [
        ("q += (a - float", "q += (a + float"),
        ("q -= a * y", "q += a * y"),
        ("[-memory:]", "[:memory]"),
        ("(float(s @ y) / float(y @ scaled))", "(float(y @ scaled) / float(s @ y))"),
        ("CurvaturePairs.at(expansion, problem.objective.rough_hessian())", "CurvaturePairs.at(expansion, None)"),
    ],
    "solvers/method.py": [
        ("np.clip(out[at], -bound, bound)", "np.clip(out[at], -np.inf, bound)"),
        ("(np.abs(w[at]) >= self.bound[at])", "(np.abs(w[at]) > self.bound[at])"),
        ("* np.sign(w[at]) <= 0)", "* np.sign(w[at]) >= 0)"),
        (" + t * loose", ""),
        ("state.dual is None or not self.is_convex", "state.dual is None"),
        ("state.dual(t)", "state.dual(1.0)"),
        ("self.objective.is_convex and self.penalty.is_convex", "self.objective.is_convex or self.penalty.is_convex"),
        ("1e-4 * expected", "1e4 * expected"),
        ("<= 0.9 * abs(step * slope0)", ">= 0.9 * abs(step * slope0)"),
        ('self.calls["products"] += 1', 'self.calls["products"] += 0'),
        ("self.held(w, -direction)", "self.held(w, direction)"),
        ("subgradient.copy() if subgradient is gradient", "subgradient if subgradient is gradient"),
        (", -subgradient.min(initial=0.0)))", ", 0.0))"),
    ],
    "solvers/minimize.py": [
        ("if violation <= tolerance and (gap", "if violation <= tolerance or (gap"),
        ("gap <= gap_tolerance)", "gap >= gap_tolerance)"),
        ("if problem.is_convex else Status", "if problem.objective.is_convex else Status"),
        ("np.abs(state.w[problem.bounded]) >= problem", "np.abs(state.w[problem.bounded]) > problem"),
        ("at_rest if violation <= tolerance else Status.NO_DECREASE", "at_rest"),
    ],
    "solvers/newton.py": [
        ("while (pushed := problem.leaving(state.w, direction)).any():", "while (pushed := problem.leaving(state.w, direction)).all():"),
        ("np.where(free, -state.gradient / np", "np.where(free, state.gradient / np"),
        ("yield explicit.hessian().division(), self.max_products", "yield divide, self.max_products"),
        ("min(0.0625, np.sqrt(first)) * first", "10.0 * first"),
        ("explicit.products + dividing > self.max_products", "explicit.products + dividing < self.max_products"),
    ],
    "solvers/owlqn.py": [
        ("np.sign(state.w), -np.sign(slope))", "np.sign(state.w), np.sign(slope))"),
        ("kinked & (w * orthant < 0), 0.0, w", "kinked & (w * orthant > 0), 0.0, w"),
        ("gradient + penalty_slope", "gradient"),
        ("(direction * orthant < 0)] = 0.0", "(direction * orthant > 0)] = 0.0"),
        ("moving = ~problem.held(state.w, slope) & (", "moving = ("),
    ],
    "solvers/projected_gradient.py": [
        ("state.w - state.length * state.full_gradient", "state.w + state.length * state.full_gradient"),
        ("float(move @ move) / curvature if", "curvature / float(move @ move) if"),
        ("self.project(w - gradient)", "self.project(w + gradient)"),
    ],
    "solvers/proximal_newton.py": [
        ("return np.setdiff1d(chosen, slope.held)", "return chosen"),
        ("np.clip(target, -bound, bound) - self.here", "target - self.here"),
        ("float(self.gradient @ direction) + change", "float(self.gradient @ direction) - change"),
        ("np.outer(change, change / curvature)", "np.outer(change, change)"),
        ("0.5 * (block + block.T)", "0.5 * (block - block.T)"),
        ("damping *= 0.1 if halvings == 0", "damping *= 10.0 if halvings == 0"),
        ("np.fill_diagonal(self.hessian, self._diagonal + ridge)", "np.fill_diagonal(self.hessian, self._diagonal)"),
        ("< 0.9 * self.violation", "< np.inf"),
        ("np.union1d(np.flatnonzero(w != 0), problem.free)", "np.flatnonzero(w != 0)"),
        ("score = np.bincount(block[entering], size**2,", "score = np.bincount(block[entering], 0.0 * size,"),
    ],
    "solvers/solution.py": [("(Status.CONVERGED, Status.STATIONARY, Status", "(Status.CONVERGED, Status")],
    "solvers/suitability.py": [
        ("or Trait.DIFFERENTIABLE in penalty.traits", "and Trait.DIFFERENTIABLE in penalty.traits"),
        ("and not inspect.isabstract(kind)", "and inspect.isabstract(kind)"),
        ("and other not in _NOT_CHOSEN", ""),
    ],
    "solvers/quadratics/descent.py": [
        ("length if length * bend <= size else size / (1.05 * bend)", "length"),
        ("here.gradient + push * (here.gradient - before.gradient)", "here.gradient"),
    ],
    "solvers/quadratics/orthant.py": [
        ("(np.abs(slope) > threshold + tolerance) | (threshold == 0)", "(np.abs(slope) > threshold + tolerance)"),
        ("slope[active] + threshold[active] * np.sign", "slope[active] - threshold[active] * np.sign"),
        ("np.sign(v) * np.sign(direction) < 0.0", "np.sign(v) * np.sign(direction) > 0.0"),
        ("np.divide(-v, direction", "np.divide(v, direction"),
        ("v[active[zero]] = 0.0", "pass"),
    ],
    "solvers/quadratics/active_manifold.py": [
        ("0.5 * float(move @ bend)", "float(move @ bend)"),
        ("-= (1.0 - firmness) * outer.data", "+= (1.0 - firmness) * outer.data"),
        ("self.v, self.slope = v, self.slope + bend", "self.v, self.slope = v, self.slope"),
        ("matrix.diagonal() + curvature.diagonal", "matrix.diagonal() - curvature.diagonal"),
    ],
    "solvers/quadratics/quadratic_minimum.py": [("return quadratic.w - divided", "return quadratic.w + divided")],
    "solvers/quadratics/quadratic.py": [("self.gradient + self.product(v - self.w)", "self.product(v - self.w)")],
}  # fmt: skip

MUTANTS = [Mutant(path, old, new) for path, changes in _CHANGES.items() for old, new in changes]
