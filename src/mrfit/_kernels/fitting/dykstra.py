"""The proximal operator of a sum of norms of overlapping groups, on one number for each block.

minimise 1/2 ||v - norm||^2 + sum over groups A of limit[A] * ||v_A||, v_A the entries members[start[A]:start[A+1]].

The dual writes norm - v as a sum of vectors x_A, each supported on A and no longer than limit[A]: the nearest such sum
to ``norm``. ``dual`` holds the entries of all x_A, one after the other, in the order of ``members``.
"""

from __future__ import annotations

import math

import numpy as np

from mrfit._kernels.arithmetic.copies import copy_into
from mrfit._kernels.machine_code.compiled import njit

_FIRST_SWEEPS = 4
_MOST_NEWTON = 30
# A dual vector may fall short of its limit by this share, through rounding, which the gap ignores.
_ROUNDING = 1e-14
_MOST_PRODUCTS = 200
_PRODUCTS_PER_SWEEP = 4  # products for Newton's method per preceding sweep, each as expensive as a product
_COARSE = 1e-5  # distance at which Newton's method identifies the vanishing groups
_SHORT = 1e-8  # length at which a group counts as vanishing, as a share of its limit


@njit(cache=True, nogil=True, error_model="numpy")
def _sweep(limit, start, members, dual, v, vanished, only):
    """Minimise over each x_A in turn, once; ``only`` marks the groups to visit."""
    for a in range(len(limit)):
        if limit[a] == 0.0 or not only[a]:
            continue
        # Without x_A the residual on the group is v_A + x_A. The best x_A is its projection onto the ball of radius
        # ``limit``, and what the ball cannot hold stays in v.
        first, last = start[a], start[a + 1]
        total = 0.0
        for k in range(first, last):
            z = v[members[k]] + dual[k]
            total += z * z
        length = math.sqrt(total)
        vanished[a] = length <= limit[a]
        if vanished[a]:
            for k in range(first, last):
                dual[k] += v[members[k]]
                v[members[k]] = 0.0
        else:
            share = limit[a] / length
            for k in range(first, last):
                z = v[members[k]] + dual[k]
                dual[k] = share * z
                v[members[k]] = z - dual[k]


@njit(cache=True, nogil=True, error_model="numpy")
def _residual(norm, limit, start, members, dual, out):
    """Compute norm - sum of the x_A from scratch, without the rounding that repeated updates accumulate."""
    copy_into(out, norm)
    for a in range(len(limit)):
        if limit[a] > 0.0:
            for k in range(start[a], start[a + 1]):
                out[members[k]] -= dual[k]


@njit(cache=True, nogil=True, error_model="numpy")
def _zeroed(v, limit, start, members, vanished, out):
    """Copy v with every vanished group exactly zero."""
    copy_into(out, v)
    for a in range(len(limit)):
        if limit[a] > 0.0 and vanished[a]:
            for k in range(start[a], start[a + 1]):
                out[members[k]] = 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def _gap(limit, start, members, dual, residual, point):
    """Return the primal value of ``point`` minus the dual value, as a sum of nonnegative terms without cancellation.

    limit * r - x . v = (limit - |x|) r + |x| r / 2 * |x/|x| - v/r|^2 with r = |v|.
    """
    total = 0.0
    for b in range(len(point)):
        total += 0.5 * (point[b] - residual[b]) ** 2
    for a in range(len(limit)):
        if limit[a] == 0.0:
            continue
        first, last = start[a], start[a + 1]
        r2 = 0.0
        x2 = 0.0
        for k in range(first, last):
            r2 += point[members[k]] ** 2
            x2 += dual[k] ** 2
        r = math.sqrt(r2)
        x = math.sqrt(x2)
        if r == 0.0:
            continue
        if x == 0.0:
            total += limit[a] * r
            continue
        angle = 0.0
        for k in range(first, last):
            angle += (dual[k] / x - point[members[k]] / r) ** 2
        short = limit[a] - x
        if short > _ROUNDING * limit[a]:
            total += short * r
        total += 0.5 * x * r * angle
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _lengths(limit, start, members, only, v, pull, length):
    """Compute |v_A| of the selected groups, and pull[B] = sum over groups with B of limit / length."""
    pull[:] = 0.0
    for a in range(len(limit)):
        length[a] = 0.0
        if limit[a] == 0.0 or not only[a]:
            continue
        total = 0.0
        for k in range(start[a], start[a + 1]):
            total += v[members[k]] ** 2
        length[a] = math.sqrt(total)
        if length[a] > 0.0:
            for k in range(start[a], start[a + 1]):
                pull[members[k]] += limit[a] / length[a]


@njit(cache=True, nogil=True, error_model="numpy")
def _value(norm, limit, v, length):
    total = 0.0
    for b in range(len(v)):
        total += 0.5 * (v[b] - norm[b]) ** 2
    for a in range(len(limit)):
        total += limit[a] * length[a]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _direction(limit, start, members, length, pull, v, gradient, precision, out):
    """Solve Hessian . out = -gradient by conjugate gradients with the diagonal 1 + pull, on the entries v > 0.

    Returns the number of products. It is separate from the conjugate gradients of the solvers, which take products as a
    function: a product here takes microseconds, less than a call from compiled code back into Python.
    """
    n = len(v)
    r = np.empty(n)
    p = np.empty(n)
    product = np.empty(n)
    out[:] = 0.0
    rho = 0.0
    for b in range(n):
        r[b] = -gradient[b] if v[b] > 0.0 else 0.0
        p[b] = r[b] / (1.0 + pull[b])
        rho += r[b] * p[b]
    target = precision * precision * rho
    for used in range(_MOST_PRODUCTS):
        if rho <= target or rho == 0.0:
            return used
        for b in range(n):
            product[b] = (1.0 + pull[b]) * p[b]
        for a in range(len(limit)):
            if length[a] == 0.0:
                continue
            dot = 0.0
            for k in range(start[a], start[a + 1]):
                dot += v[members[k]] * p[members[k]]
            dot *= limit[a] / length[a] ** 3
            for k in range(start[a], start[a + 1]):
                product[members[k]] -= v[members[k]] * dot
        curvature = 0.0
        for b in range(n):
            curvature += p[b] * product[b]
        if curvature <= 0.0:
            return used
        alpha = rho / curvature
        new = 0.0
        for b in range(n):
            out[b] += alpha * p[b]
            r[b] -= alpha * product[b]
            new += r[b] * r[b] / (1.0 + pull[b])
        beta = new / rho
        rho = new
        for b in range(n):
            p[b] = r[b] / (1.0 + pull[b]) + beta * p[b]
    return _MOST_PRODUCTS


@njit(cache=True, nogil=True, error_model="numpy")
def _drop_short(limit, start, members, length, v, alive):
    """Deactivate the groups that tend to zero; return their number."""
    dropped = 0
    for a in range(len(limit)):
        if alive[a] and limit[a] > 0.0 and length[a] <= _SHORT * limit[a]:
            alive[a] = False
            dropped += 1
            for k in range(start[a], start[a + 1]):
                v[members[k]] = 0.0
    return dropped


@njit(cache=True, nogil=True, error_model="numpy")
def _newton(norm, limit, start, members, alive, v, precision, budget):
    """Minimise over the entries v > 0 alone, where all active groups are smooth.

    Returns the remaining budget of products, and whether it converged.
    """
    n = len(v)
    pull = np.empty(n)
    length = np.empty(len(limit))
    gradient = np.empty(n)
    step = np.empty(n)
    trial = np.empty(n)
    scale = math.sqrt(np.sum(norm * norm))
    _lengths(limit, start, members, alive, v, pull, length)
    for _ in range(_MOST_NEWTON):
        if _drop_short(limit, start, members, length, v, alive) > 0:
            _lengths(limit, start, members, alive, v, pull, length)
        value = _value(norm, limit, v, length)
        size = 0.0
        for b in range(n):
            gradient[b] = v[b] * (1.0 + pull[b]) - norm[b] if v[b] > 0.0 else 0.0
            size += gradient[b] ** 2
        size = math.sqrt(size)
        if size <= precision * scale:  # the function is 1-strongly convex, so this bounds the distance too
            return budget, True
        if budget <= 0:
            return budget, False
        forcing = min(0.1, math.sqrt(size / scale))
        budget -= 2 + _direction(limit, start, members, length, pull, v, gradient, forcing, step)
        alpha = 1.0
        while True:
            change = 0.0
            for b in range(n):
                # A step may not cross zero, where the norms have kinks. An entry that tends to zero shrinks by 50 a
                # step, until `_drop_short` removes its group.
                trial[b] = max(v[b] + alpha * step[b], 0.02 * v[b])
                change += gradient[b] * (trial[b] - v[b])
            _lengths(limit, start, members, alive, trial, pull, length)
            # If the change is below the rounding of the value, accept the step.
            if abs(change) <= 1e-14 * value:
                break
            if change < 0.0 and _value(norm, limit, trial, length) <= value + 1e-4 * change:
                break
            alpha *= 0.5
            if alpha < 1e-6:
                return budget, False
        copy_into(v, trial)
    return budget, False


@njit(cache=True, nogil=True, error_model="numpy")
def _revive(limit, start, members, fits, residual, alive, point):
    """Reactivate groups that cannot absorb their residual; their blocks restart at the residual."""
    zero = np.zeros(len(point), np.bool_)
    for a in range(len(limit)):
        alive[a] = alive[a] or not fits[a]
        if limit[a] > 0.0 and not alive[a]:
            for k in range(start[a], start[a + 1]):
                zero[members[k]] = True
    for b in range(len(point)):
        if zero[b]:
            point[b] = 0.0
        elif point[b] <= 0.0:
            point[b] = max(residual[b], 0.0)


@njit(cache=True, nogil=True, error_model="numpy")
def _polished(norm, limit, start, members, vanished, dual, point, tolerance, sweeps):
    """Alternate Newton steps on the nonzero blocks with sweeps over the vanished groups on the zero blocks.

    Vanished groups contain only zero blocks, and other groups contribute nothing there, so the two parts are
    independent. Returns whether it found the solution; ``dual`` is feasible in any case.
    """
    n = len(norm)
    alive = ~vanished
    residual = np.empty(n)
    fits = np.ones(len(limit), np.bool_)
    small = (0.25 * tolerance) ** 2 * np.sum(norm * norm)
    precision = _COARSE
    budget = _PRODUCTS_PER_SWEEP * sweeps
    while budget > 0:
        budget, done = _newton(norm, limit, start, members, alive, point, precision, budget)
        for a in range(len(limit)):
            if limit[a] > 0.0 and alive[a]:
                total = 0.0
                for k in range(start[a], start[a + 1]):
                    total += point[members[k]] ** 2
                share = limit[a] / math.sqrt(total) if total > 0.0 else 0.0
                for k in range(start[a], start[a + 1]):
                    dual[k] = share * point[members[k]]
        _residual(norm, limit, start, members, dual, residual)
        left = 0.0
        for _ in range(sweeps):
            budget -= 1
            _sweep(limit, start, members, dual, residual, fits, ~alive)
            left = 0.0
            for b in range(n):
                if point[b] == 0.0:
                    left += residual[b] ** 2
            if left <= small:
                break
        if left <= small and done and precision == _COARSE:
            precision = 0.25 * tolerance
            continue
        if left <= small:
            return done
        precision = _COARSE
        # Sweeps show which groups cannot vanish after all: those whose ball does not hold the residual.
        fits |= alive
        _revive(limit, start, members, fits, residual, alive, point)
    return False


@njit(cache=True, nogil=True, error_model="numpy")
def overlapping_prox(norm, limit, start, members, dual, tolerance, most_sweeps):
    """Return the minimiser v, and a bound on its distance from the exact one.

    The method is dual block-coordinate descent, which is Dykstra's algorithm, in the given order of the groups. Once
    the set of vanishing groups has settled, Newton's method solves for the rest. It ends at a distance of at most
    ``tolerance`` times the Euclidean norm of ``norm``.

    Parameters
    ----------
    norm
        Argument of the operator, one number >= 0 for each block.
    limit
        Step times weight of every group; groups of limit zero are left out.
    start, members
        Blocks of every group. For nested groups with the innermost first, one sweep is exact.
    dual
        Starting point, any numbers within the limits, such as zeros; overwritten by the solution.

    Returns
    -------
    v, distance, sweeps
        Groups that vanish are exactly zero in v.
    """
    n = len(norm)
    v = np.empty(n)
    point = np.empty(n)
    residual = np.empty(n)
    everything = np.ones(len(limit), np.bool_)
    vanished = np.zeros(len(limit), np.bool_)
    scale = math.sqrt(np.sum(norm * norm))
    _residual(norm, limit, start, members, dual, v)
    sweeps = 0
    until = 1
    while True:
        while sweeps < until:
            _sweep(limit, start, members, dual, v, vanished, everything)
            sweeps += 1
        _residual(norm, limit, start, members, dual, v)
        _zeroed(v, limit, start, members, vanished, point)
        # The primal is 1-strongly convex: 1/2 distance^2 is at most its excess over the optimum, and so over the dual.
        distance = math.sqrt(2.0 * _gap(limit, start, members, dual, v, point))
        if distance <= tolerance * scale or sweeps >= most_sweeps:
            return np.maximum(point, 0.0), distance, sweeps
        if sweeps >= _FIRST_SWEEPS:
            trial = dual.copy()
            positive = np.maximum(point, 0.0)
            found = _polished(norm, limit, start, members, vanished, trial, positive, tolerance, sweeps)
            _residual(norm, limit, start, members, trial, residual)
            if found:
                bound = math.sqrt(2.0 * _gap(limit, start, members, trial, residual, positive))
                if bound < distance:
                    copy_into(dual, trial)
                    return positive, bound, sweeps
            if np.sum(residual * residual) < np.sum(v * v):
                copy_into(dual, trial)
                copy_into(v, residual)
        # Sweeps double between attempts of Newton's method, whose budget is in proportion to them: neither method costs
        # more than a constant times the better of the two.
        until = min(most_sweeps, max(_FIRST_SWEEPS, 2 * sweeps))


@njit(cache=True, nogil=True, error_model="numpy")
def what_is_left(norm, limit, start, members, dual, most_sweeps):
    """Return norm - sum of the x_A after ``most_sweeps`` sweeps from ``dual``, or fewer once it is zero."""
    v = np.empty(len(norm))
    vanished = np.zeros(len(limit), np.bool_)
    everything = np.ones(len(limit), np.bool_)
    _residual(norm, limit, start, members, dual, v)
    for _ in range(most_sweeps):
        if not v.any():
            break
        _sweep(limit, start, members, dual, v, vanished, everything)
    _residual(norm, limit, start, members, dual, v)
    return v
