"""Steps of SIMBA: the core of `solvers.linear.simba`."""

import numpy as np

MOST_SLACK = 2.0  # enough, as heights lie in [-1, 1]
SMALLEST = 1e-150  # relative to the largest q_i: entries that underflow could never recover


def steps(design, columns, problem, drawn, horizon, radius, budget, u, q, counts, lags, numbers):
    """Do a step for each pair of uniform numbers; `numbers` are the steps done so far, entries touched, the steps of
    this game, |u|^2 and the sum of the step lengths."""
    n, d = problem.n, len(u)
    size = 1.0 / np.sqrt(2.0 * horizon)
    n_used = np.count_nonzero(problem.weights > 0)
    rate = np.sqrt(max(np.log(n_used), 1e-12) / horizon)
    floor = np.where(problem.weights > 0, SMALLEST, 0.0)
    for for_example, for_feature in drawn:
        i = _drawn(np.cumsum(problem.weights * q), for_example)
        # w steps along z_i
        u += (size * problem.y[i] / radius) * design.rows([i])[0]
        squares = np.cumsum(u**2)
        squared_norm = squares[-1]
        shrunk = size / max(1.0, np.sqrt(squared_norm))
        counts[i] += 1.0
        lags[i] += numbers[4]
        # update p by the heights along one feature
        v = _slack_of_the_likeliest(q, problem.weights, budget)
        if squared_norm > 0:
            j = _drawn(squares, for_feature)
            # z_ij |w|^2 / w_j, with w = u / max(1, |u|)
            see = squared_norm / (u[j] * max(1.0, np.sqrt(squared_norm)) * radius)
            v = v + see * problem.y * columns.rows([j])[0]
        v = np.clip(v, -1.0 / rate, 1.0 / rate)
        q *= 1.0 - rate * v + (rate * v) ** 2
        q[:] = np.maximum(q / q.max(), floor)
        numbers[:3] += 1, n + 3 * d, 1
        numbers[3:5] = squared_norm, numbers[4] + shrunk


def _slack_of_the_likeliest(q, weights, budget):
    """Return the xi in [0, 2]^n that maximises sum_i w_i q_i xi_i with sum_i w_i xi_i <= budget: largest q_i first."""
    order = np.argsort(-q, kind="stable")
    spent = MOST_SLACK * np.cumsum(weights[order])
    room = np.maximum(budget - (spent - MOST_SLACK * weights[order]), 0.0)
    slack = np.zeros(len(order))
    used = weights[order] > 0
    slack[order[used]] = np.minimum(MOST_SLACK, room[used] / weights[order[used]])
    return slack


def _drawn(cumulative, u):
    """The entry that a uniform number stands for, in proportion to the steps of `cumulative`."""
    return min(int(np.searchsorted(cumulative, u * cumulative[-1], side="right")), len(cumulative) - 1)
