"""The kernel Perceptron (Rosenblatt 1958; Freund and Schapire 1999), pass by pass.

If an example is misclassified or on the decision boundary, its coefficient grows by one; otherwise nothing changes.
Cotter, Shalev-Shwartz, Srebro, ICML 2012, run it for one pass in random order and turn its iterates into one function:
one of them drawn at random (the online-to-batch conversion of their Theorem D.4), their average, or the last.
"""

import numpy as np

from kernbench.problems.draws import UniformStream, seed_of
from kernbench.problems.kernel.online import ORDERS, OUTPUTS, pass_order, require_count
from kernbench.problems.margin_problem import require_state
from kernbench.reference.kernel.online.online import OnlineSolver
from kernbench.solvers.base import Solution
from kernbench.validation.numbers import check_name

STATE = ("mistakes", "responses", "mistake_sums", "response_sums", "drawn", "counts", "seed")


class Perceptron(OnlineSolver):
    """Kernel Perceptron, its direction reported in alpha/2 ||f||^2 + (1/n) sum_i w_i hinge(y_i (f(x_i) + b)).

    Parameters
    ----------
    rows : KernelRows
        Rows of the n by n kernel matrix.
    y : array-like of shape (n,)
        Labels, -1 or +1.
    alpha : float
        Regularisation of the objective, > 0: determines the multiple of the direction and the gap; no step depends on
        it.
    weights : array-like of shape (n,), optional
        Ones by default. A mistake on example i adds w_i to its coefficient; examples of weight 0 are skipped.
    fit_intercept : bool, default=True
        Learn with the kernel k + r^2, r^2 = max k(x_i, x_i): a mistake also adds w_i y_i r^2 to b. The
        reported b is the best for the reported f.
    loss : {"hinge"}, default="hinge"
        Of the objective.
    n_passes : int or None, default=1
        Passes over the data; the paper's theory is about one. With None, until a pass makes no mistake.
    order : {"random", "index"}, default="random"
        Of the examples in a pass: a new permutation for each, or the order of the data.
    output : {"last", "average", "random"}, default="last"
        What is reported of the iterates after each step: the last, their average, or one drawn uniformly.
    random_state : None, int, RandomState or Generator
        Seeds the permutations and the random choice.
    initial : Solution, optional
        Where to start. With the state of a run of this solver that run is continued; otherwise ``coef`` is a warm
        start.

    Attributes
    ----------
    finished : bool
        Whether the requested passes are done, or a pass made no mistake; independent of the gap.
    n_mistakes : int
    n_logical_evaluations : int
        The paper's count: to evaluate f at an example, one evaluation per support vector. ``n_kernel_evaluations``
        counts what was computed: n for each mistake, since all responses are kept.

    Raises
    ------
    ValueError
        With a sentence that says what to change.
    """

    losses = ("hinge",)
    dual_point = "scaled"
    n_logical_evaluations = 0

    def __init__(self, rows, y, *, alpha, weights=None, fit_intercept=True, loss="hinge", n_passes=1,
                 order="random", output="last", random_state=None, initial=None):  # fmt: skip
        super().__init__(rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept, loss=loss)
        n = self._problem.n
        self._n_passes = require_count("n_passes", n_passes)
        self._order_name = check_name("order", order, ORDERS)
        self._output = check_name("output", output, OUTPUTS)
        self._bias_step = self._diagonal.max() if self._problem.fit_intercept else 0.0
        self.n_mistakes = 0
        self.n_logical_evaluations = 0
        self.finished = False
        self._mistakes = np.zeros(n)  # f = sum_i mistakes_i y_i k(x_i, .)
        self._responses = np.zeros(n)
        self._mistake_sums = np.zeros(n)  # of the iterates after each step
        self._response_sums = np.zeros(n)
        self._drawn = np.zeros(n)  # the iterate drawn at random
        self._intercept = 0.0
        self._first = 0  # n_iter at a warm start
        self._mistakes_before = 0  # n_mistakes when the pass began
        self._faultless = False  # whether the last pass made no mistake
        self._seed = seed_of(random_state, initial)
        if initial is not None:
            self._start_from(initial)
        self._coins = UniformStream(self._seed, 0, position=self.n_iter - self._first)
        self._order = pass_order(self._seed, (self.n_iter - self._first) // n, n, order)

    def advance(self, n_iter):
        """Do up to `n_iter` steps, within the requested passes; return how many were done."""
        done = 0
        while done < n_iter and not self.finished:
            self._step()
            done += 1
        return done

    def solution(self):
        """Return the direction chosen by `output` with its best multiple and intercept."""
        found = self._expansion()
        counts = [self.n_mistakes, self.n_logical_evaluations, self._first, self._mistakes_before, self._faultless]
        state = {
            "mistakes": self._mistakes.copy(),
            "responses": self._responses.copy(),
            "mistake_sums": self._mistake_sums.copy(),
            "response_sums": self._response_sums.copy(),
            "drawn": self._drawn.copy(),
            "counts": np.array([*counts, self._intercept], dtype=np.float64),
            "seed": np.array([float(self._seed)]),
        }
        return Solution(found.coef, found.intercept, self.n_iter, state)

    def _step(self):
        n = self._problem.n
        i = self._order[(self.n_iter - self._first) % n]
        weight, y_i = self._problem.weights[i], self._y[i]
        self.n_iter += 1
        if weight > 0:
            self.n_logical_evaluations += np.count_nonzero(self._mistakes)
            if y_i * (self._responses[i] + self._intercept) <= 0:
                self.n_mistakes += 1
                self._mistakes[i] += weight
                self._responses += weight * y_i * self._row(i)
                self._intercept += weight * y_i * self._bias_step
        if self._output == "average":
            self._mistake_sums += self._mistakes
            self._response_sums += self._responses
        steps = self.n_iter - self._first
        if self._output == "random" and self._coins.next()[0] * steps < 1:
            self._drawn = self._mistakes.copy()
        if steps % n == 0:
            self._end_pass(steps // n)

    def _end_pass(self, n_done):
        self._faultless = self.n_mistakes == self._mistakes_before
        self.finished = self._faultless or n_done >= (self._n_passes or np.inf)
        self._mistakes_before = self.n_mistakes
        if not self.finished:
            self._order = pass_order(self._seed, n_done, self._problem.n, self._order_name)

    def _expansion(self):
        mistakes, responses = self._mistakes, self._responses
        if self._output == "average" and self.n_iter > self._first:
            share = 1.0 / (self.n_iter - self._first)
            mistakes, responses = share * self._mistake_sums, share * self._response_sums
        elif self._output == "random" and self.n_iter > self._first:
            mistakes, responses = self._drawn, self._problem.rows.matvec(self._y * self._drawn)
        return self._expanded(self._y * mistakes, responses)

    def _start_from(self, initial):
        state = require_state(initial, self._problem.n, STATE)
        self.n_iter = initial.n_iter
        if state is None:
            self._first = initial.n_iter
            self._mistakes = np.maximum(0.0, self._y * initial.coef)
            self._responses = self._problem.rows.matvec(self._y * self._mistakes)
            self._intercept = float(initial.intercept) if self._problem.fit_intercept else 0.0
            return
        self._mistakes, self._responses, self._mistake_sums, self._response_sums, self._drawn = (
            state[key] for key in STATE[:5]
        )
        *counts, self._intercept = state["counts"].tolist()
        self.n_mistakes, self.n_logical_evaluations, self._first, self._mistakes_before = map(int, counts[:4])
        self._faultless = bool(counts[4])
        n_done = (self.n_iter - self._first) // self._problem.n
        self.finished = self._faultless or n_done >= (self._n_passes or np.inf)
