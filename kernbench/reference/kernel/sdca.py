"""Steps of stochastic dual coordinate ascent with kernel rows: the core of `solvers.kernel.sdca`."""

import numpy as np

from kernbench.losses.margin import dual_pair, pair_room

NO_CHANGE = 1e-13  # dual variables nearer than this are equal, and so are a variable and a bound
NO_VIOLATION = 1e-12  # batches that violate the optimality conditions by less are skipped
LEAST_CURVATURE = 1e-12
INSIDE = 1e-3  # partners are judged by the curvature of psi this far inside its domain: at its ends it may be infinite


class Work:
    """The arrays of the problem that steps need, and the number of kernel values they took.

    Parameters
    ----------
    rows : KernelRows
    problem : MarginProblem
    scale : float
        1 / (alpha n).
    batch : int
        Visits of a batch.
    largest : int
        Different examples among them, at most.
    """

    def __init__(self, rows, problem, scale, batch, largest):
        self.rows, self.loss, self.scale, self.batch = rows, problem.loss, scale, batch
        self.y, self.weights, self.diagonal = problem.y, problem.weights, rows.diagonal()
        self.n_kernel_evaluations = 0

    def add_rows(self, indices, steps, responses):
        """responses += sum_q steps[q] K[indices[q]]."""
        if len(indices):
            responses += np.asarray(steps) @ np.asarray(self.rows.batch(indices), dtype=np.float64)
            self.n_kernel_evaluations += len(indices) * len(responses)


def single_steps(work, visits, offset, dual, responses, visited):
    """Set the dual variable of each visited example to its best value; count them in `visited` as they are done.

    A batch ends where `offset` plus their number is a multiple of the size of batches.
    """
    for i in visits:
        y, w, a = work.y[i], work.weights[i], dual[i]
        best = work.loss.dual_coordinate(a, y * responses[i], w * work.diagonal[i] * work.scale)
        if abs(best - a) > NO_CHANGE * max(1.0, abs(a)):
            dual[i] = best
            work.add_rows([i], [y * w * (best - a) * work.scale], responses)
        visited[0] += 1


def batch_step(work, batch, dual, responses):
    """Move the dual variables of a batch of different examples, all from the same responses."""
    y, w, a = work.y[batch], work.weights[batch], dual[batch]
    z = y * responses[batch]
    alone = _best(work, a, z, w * work.diagonal[batch] * work.scale)
    moves = np.abs(alone - a) > NO_CHANGE * np.maximum(1.0, np.abs(a))
    batch, y, w, a, z = (values[moves] for values in (batch, y, w, a, z))
    if len(batch):
        K = np.asarray(work.rows.batch(batch), dtype=np.float64)[:, batch]
        dual[batch] = _best(work, a, z, np.abs(K) @ w * work.scale)
        work.add_rows(batch, y * w * (dual[batch] - a) * work.scale, responses)


def _best(work, a, z, curvatures):
    """Return the best value of each dual variable, given its margin or residual and the curvature of a step."""
    return np.array([work.loss.dual_coordinate(*one) for one in zip(a, z, curvatures)])


def pair_steps(work, visits, offset, dual, responses, visited):
    """Exchange mass between each visited example and its best partner in the batch; else as `single_steps`."""
    while visited[0] < len(visits):
        length = min(len(visits) - visited[0], work.batch - (offset + visited[0]) % work.batch)
        _exchange(work, visits[visited[0] : visited[0] + length], dual, responses)
        visited[0] += length


def _exchange(work, batch, dual, responses):
    batch = np.array(list(dict.fromkeys(batch)), dtype=np.intp)  # uniform draws may come twice
    e, at_upper, at_lower = _pulls(work, batch, dual, responses)
    top, bottom = e.max(where=~at_upper, initial=-np.inf), e.min(where=~at_lower, initial=np.inf)
    if not top - bottom > NO_VIOLATION:
        return
    batch = batch[~((at_upper & (e > top)) | (at_lower & (e < bottom)))]
    y, w, diagonal = work.y[batch], work.weights[batch], work.diagonal[batch]
    K = np.asarray(work.rows.batch(batch), dtype=np.float64)[:, batch]
    a, f = dual[batch], responses[batch]
    for i in range(len(batch)):
        j = _partner(work, i, a, y, w, f, diagonal, K[i])
        if j is None:
            continue
        ends, curvature = [i, j], (diagonal[i] + diagonal[j] - 2 * K[i, j]) * work.scale
        s = dual_pair(work.loss, a[ends], y[ends], w[ends], f[i] - f[j], curvature)
        a[i] = _in_domain(work.loss, a[i] + y[i] * s / w[i])
        a[j] = _in_domain(work.loss, a[j] - y[j] * s / w[j])
        f += s * work.scale * (K[i] - K[j])
    moved = a != dual[batch]
    steps = y * w * (a - dual[batch]) * work.scale
    dual[batch] = a
    work.add_rows(batch[moved], steps[moved], responses)


def _pulls(work, members, dual, responses):
    """Return y psi'(a) - f, the slope in the signed mass y w a, and whether this is at its upper and lower bound."""
    a, y = dual[members], work.y[members]
    e = y * work.loss.dual_slope(a) - responses[members]
    highest, lowest = a >= work.loss.upper, a <= 0.0
    return e, np.where(y > 0, highest, lowest), np.where(y > 0, lowest, highest)


def _partner(work, i, a, y, w, f, diagonal, row):
    """Return the candidate with which i gains most, by a parabola within the bounds of both; None if no gain is
    possible."""
    slopes, own = (y * work.loss.dual_slope(a), work.loss.dual_curvature(np.clip(a, INSIDE, 1 - INSIDE)) / w)
    grow, shrink = np.transpose([pair_room(work.loss, *one) for one in zip(a, y, w)])
    h = np.maximum((diagonal[i] + diagonal - 2 * row) * work.scale + (own[i] + own), LEAST_CURVATURE)
    slope = (slopes[i] - f[i]) - (slopes - f)
    s = np.clip(slope / h, -np.minimum(shrink[i], grow), np.minimum(grow[i], shrink))
    gains = s * (slope - 0.5 * s * h)
    j = int(np.argmax(gains))
    return j if gains[j] > 0.0 else None


def _in_domain(loss, a):
    if a <= NO_CHANGE:
        return 0.0
    return a if loss.upper - a > NO_CHANGE else loss.upper
