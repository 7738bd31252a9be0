"""The kernel Perceptron on responses, several examples at a time (see `_online`)."""

from libc.math cimport INFINITY

from kernbench.solvers.kernel.online._online cimport BATCH, OnlineSolver

import numpy as np

from kernbench.problems.margin_problem import require_state
from kernbench.solvers.base import Solution
from kernbench.problems.draws import UniformStream, seed_of
from kernbench.problems.kernel.online import ORDERS, OUTPUTS, pass_order, require_count
from kernbench.validation.numbers import check_name

STATE = ("mistakes", "responses", "mistake_sums", "response_sums", "drawn", "counts", "seed")


cdef class Perceptron(OnlineSolver):
    """Kernel Perceptron: a mistake on example i adds w_i y_i k(x_i, .) to f.

    Its direction is reported in alpha/2 ||f||^2 + (1/n) sum_i w_i hinge(y_i (f(x_i) + b)), with the best multiple.

    Parameters
    ----------
    rows : KernelRows
    y : array-like of shape (n,)
        -1 and +1.
    alpha : float
        Regularisation of the objective; no step depends on it.
    weights : array-like of shape (n,), optional
        A mistake on example i adds w_i to its coefficient; examples of weight 0 are skipped.
    fit_intercept : bool, default=True
        Learn with the kernel k + r^2, r^2 = max k(x_i, x_i); the reported b is the best for the reported f.
    loss : {"hinge"}, default="hinge"
        Of the objective.
    n_passes : int or None, default=1
        Passes over the data; with None, until a pass makes no mistake.
    order : {"random", "index"}, default="random"
        A new permutation for each pass, or the order of the data.
    output : {"last", "average", "random"}, default="last"
        Of the iterates after each step.
    random_state : None, int, RandomState or Generator
        Seeds the permutations and the random choice.
    initial : Solution, optional
        Continue a solution of this solver exactly, or use other coefficients as a warm start.

    Attributes
    ----------
    finished : bool
        Whether the requested passes are done, or a pass made no mistake; independent of the gap.
    n_mistakes : int
    n_logical_evaluations : int
        The paper's count: for each example, one evaluation per present support vector. `n_kernel_evaluations` counts
        what was computed: n for each row fetched.

    References
    ----------
    Freund and Schapire, Machine Learning 37 (1999); Cotter, Shalev-Shwartz, Srebro, ICML 2012, Theorem D.4.
    """

    cdef readonly long long n_mistakes, n_logical_evaluations
    cdef readonly bint finished
    cdef object n_passes, order_name, output, seed, coins
    cdef double bias_step, intercept
    cdef long long first, mistakes_before, n_support
    cdef bint faultless, averages
    cdef const Py_ssize_t[::1] order
    cdef const double[::1] uniform      # uniform numbers of the coming steps, for output="random"
    cdef double[::1] weights, mistakes, responses, mistake_sums, response_sums, drawn

    losses = ("hinge",)
    dual_point = "scaled"

    def __init__(self, rows, y, *, alpha, weights=None, fit_intercept=True, loss="hinge", n_passes=1, order="random",
                 output="last", random_state=None, initial=None):
        OnlineSolver.__init__(
            self, rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept, loss=loss,
        )
        n = self.problem.n
        self.n_passes = require_count("n_passes", n_passes)
        self.order_name = check_name("order", order, ORDERS)
        self.output = check_name("output", output, OUTPUTS)
        self.averages = output == "average"
        self.weights = self.problem.weights
        self.bias_step = np.max(self.diagonal) if self.problem.fit_intercept else 0.0
        self.mistakes, self.responses, self.drawn = np.zeros(n), np.zeros(n), np.zeros(n)
        self.mistake_sums, self.response_sums = np.zeros(n), np.zeros(n)
        self.seed = seed_of(random_state, initial)
        if initial is not None:
            self._start_from(initial)
        self.n_support = np.count_nonzero(self.mistakes)
        self.coins = UniformStream(self.seed, 0, position=self.n_iter - self.first)
        self.order = pass_order(self.seed, (self.n_iter - self.first) // n, n, order)

    def advance(self, n_iter):
        """Do up to `n_iter` steps, within the requested passes; return how many were done."""
        cdef Py_ssize_t done = 0, length, place, n = self.problem.n
        while done < n_iter and not self.finished:
            place = (self.n_iter - self.first) % n
            length = min(n_iter - done, BATCH - self.n_iter % BATCH, n - place)
            if self.output == "random":
                self.uniform = np.ascontiguousarray(self.coins.ahead(length)[:length, 0])
                self.coins.position += length
                self._follow_and_draw(self.order[place : place + length])
            else:
                self._follow(self.order[place : place + length])
            done += length
            if place + length == n:
                self._end_pass((self.n_iter - self.first) // n)
        return done

    def _follow_and_draw(self, const Py_ssize_t[::1] examples):
        """Do the steps; the iterate after step t replaces the chosen one with probability 1/t, so all are equally
        likely."""
        cdef Py_ssize_t begin = 0, end
        steps = self.n_iter - self.first + np.arange(1, len(examples) + 1)
        for end in np.append(np.flatnonzero(np.asarray(self.uniform) * steps < 1) + 1, len(examples)):
            self._follow(examples[begin:end])
            if end > begin and self.uniform[end - 1] * steps[end - 1] < 1:
                self.drawn = np.array(self.mistakes)
            begin = end

    cdef Py_ssize_t _steps_on(self, const Py_ssize_t *examples, Py_ssize_t length) except -1:
        cdef:
            Py_ssize_t k, i, n_done
            double passed = 0.0
            bint wrong
        walk = self.walk
        with nogil:
            n_done = walk.open(examples, length, &self.responses[0])
            for k in range(n_done):
                i = examples[k]
                walk.want(k, self.y[i] * (walk.local[k] + self.intercept) if self.weights[i] > 0.0 else INFINITY)
            walk.fetch()
            for k in range(n_done):
                i = examples[k]
                wrong = self._is_wrong(i, walk.local[k])
                if wrong and not walk.has(k):
                    n_done = k
                    break
                self.n_iter += 1
                if self.weights[i] > 0.0:
                    self.n_logical_evaluations += self.n_support
                if wrong:
                    self.n_mistakes += 1
                    self.n_support += self.mistakes[i] == 0.0
                    self.mistakes[i] += self.weights[i]
                    self.intercept += self.weights[i] * self.y[i] * self.bias_step
                    walk.add(k, self.weights[i] * self.y[i], passed)
                passed += 1.0
            walk.close(n_done, &self.responses[0])
            if self.averages:
                walk.add_sums(passed, &self.y[0], &self.mistakes[0], &self.mistake_sums[0], &self.responses[0],
                              &self.response_sums[0])
        return n_done

    cdef inline bint _is_wrong(self, Py_ssize_t i, double response) noexcept nogil:
        return self.weights[i] > 0.0 and self.y[i] * (response + self.intercept) <= 0.0

    def _end_pass(self, n_done):
        self.faultless = self.n_mistakes == self.mistakes_before
        self.finished = self.faultless or n_done >= (self.n_passes or np.inf)
        self.mistakes_before = self.n_mistakes
        if not self.finished:
            self.order = pass_order(self.seed, n_done, self.problem.n, self.order_name)

    # --- what it found -----------------------------------------------------------------------------------------------

    def _expansion(self):
        y, mistakes, responses = self.problem.y, np.asarray(self.mistakes), np.asarray(self.responses)
        steps = self.n_iter - self.first
        if self.output == "average" and steps > 0:
            mistakes, responses = np.asarray(self.mistake_sums) / steps, np.asarray(self.response_sums) / steps
        elif self.output == "random" and steps > 0:
            mistakes = np.asarray(self.drawn)
            responses = self.rows.matvec(y * mistakes)
        return self._expanded(y * mistakes, responses)

    def solution(self):
        """The direction chosen by `output`, with its best multiple and intercept."""
        found = self._found()
        counts = [self.n_mistakes, self.n_logical_evaluations, self.first, self.mistakes_before, self.faultless]
        state = {
            "mistakes": np.array(self.mistakes),
            "responses": np.array(self.responses),
            "mistake_sums": np.array(self.mistake_sums),
            "response_sums": np.array(self.response_sums),
            "drawn": np.array(self.drawn),
            "counts": np.array([*counts, self.intercept], dtype=np.float64),
            "seed": np.array([float(self.seed)]),
        }
        return Solution(found.coef.copy(), found.intercept, self.n_iter, state)

    def _start_from(self, initial):
        y = self.problem.y
        state = require_state(initial, self.problem.n, STATE)
        self.n_iter = initial.n_iter
        if state is None:
            self.first = initial.n_iter
            self.mistakes = np.maximum(0.0, y * initial.coef)
            self.responses = self.rows.matvec(y * np.asarray(self.mistakes))
            self.intercept = float(initial.intercept) if self.problem.fit_intercept else 0.0
            return
        self.mistakes, self.responses, self.mistake_sums, self.response_sums, self.drawn = (
            state[key] for key in STATE[:5]
        )
        *counts, self.intercept = state["counts"].tolist()
        self.n_mistakes, self.n_logical_evaluations, self.first, self.mistakes_before, faultless = map(int, counts)
        self.faultless = faultless
        n_done = (self.n_iter - self.first) // self.problem.n
        self.finished = self.faultless or n_done >= (self.n_passes or np.inf)
