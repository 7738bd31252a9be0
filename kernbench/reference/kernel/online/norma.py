"""Steps of NORMA: on responses where all terms are kept, on the terms where old ones are dropped."""

from collections import deque

import numpy as np

from kernbench.reference.kernel.online.walk import Walk

__all__ = ["Walk", "steps", "steps_with_terms"]


def steps(walk, drawn, gammas, loss, y, targets, lam, has_intercept, coef, responses, numbers):
    """Do the steps on the examples drawn, all terms kept; `numbers` are the steps done so far and the intercept."""
    for i, gamma in zip(drawn, gammas):
        numbers[0] += 1
        term = -gamma * float(loss.slope(y[i] * (responses[i] + numbers[1]) - targets[i]))
        coef *= 1.0 - gamma * lam
        responses *= 1.0 - gamma * lam
        if term != 0.0:
            coef[i] += term
            responses += term * y[i] * walk.row(i)
        if has_intercept:
            numbers[1] += y[i] * term


def steps_with_terms(walk, drawn, gammas, loss, y, targets, lam, has_intercept, newest, window, table, numbers):
    """Do the steps, and keep the newest terms only; return the table of examples, coefficients and steps of birth."""
    terms = deque([int(i), term, born] for i, term, born in table)
    for i, gamma in zip(drawn, gammas):
        numbers[0] += 1
        term = -gamma * float(loss.slope(y[i] * (_f_at(walk, i, y, terms) + numbers[1]) - targets[i]))
        for old in terms:
            old[1] *= 1.0 - gamma * lam
        if term != 0.0:
            terms.append([i, term, numbers[0]])
        while terms and (len(terms) > (newest or np.inf) or terms[0][2] <= numbers[0] - (window or np.inf)):
            terms.popleft()
        if has_intercept:
            numbers[1] += y[i] * term
    return np.array(terms, dtype=np.float64).reshape(-1, 3)


def _f_at(walk, i, y, terms):
    """f(x_i): one kernel evaluation for each term."""
    if not terms:
        return 0.0
    examples, coef, _ = (np.array(column) for column in zip(*terms))
    walk.n_looked += len(examples)
    values = np.asarray(walk.rows.block(np.array([i]), examples), dtype=np.float64)[0]
    return float(values @ (coef * y[examples]))
