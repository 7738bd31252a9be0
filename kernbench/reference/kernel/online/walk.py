"""Kernel rows for the steps of online methods, one at a time."""

import numpy as np


class Walk:
    """Gives the rows of steps, and counts them."""

    def __init__(self, rows):
        self.rows = rows
        self.n_steps = self.n_looked = 0  # rows, and single kernel values

    @property
    def n_kernel_evaluations(self):
        return self.n_steps * self.rows.n_rows + self.n_looked

    n_inner_products = n_kernel_evaluations

    def row(self, i):
        """Return the values of k(x_i, .) at all examples."""
        self.n_steps += 1
        return np.asarray(self.rows.row(i), dtype=np.float64)

    def add_rows(self, members, steps, responses):
        """Add steps[k] times the row of members[k] to all responses; rows whose step is 0 are not counted."""
        for i, step in zip(members, steps):
            if step != 0.0:
                responses += step * self.row(i)


def intercept_search(problem):
    """Return the function that finds the best intercept of a problem for responses f(x_i)."""
    return problem.best_intercept
