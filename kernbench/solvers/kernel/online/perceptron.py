"""The kernel Perceptron (Rosenblatt 1958; Freund and Schapire, Machine Learning 37, 1999), pass by pass.

If an example is misclassified or on the decision boundary, its coefficient grows by one; otherwise nothing changes.
Cotter, Shalev-Shwartz, Srebro, ICML 2012, run it for one pass in random order and turn its iterates into one function:
one of them drawn at random (the online-to-batch conversion of their Theorem D.4), their average, or the last.
"""

import numpy as np

from kernbench.problems.draws import UniformStream, seed_of
from kernbench.problems.kernel.online import ORDERS, OUTPUTS, pass_order, require_count
from kernbench.problems.margin_problem import require_state
from kernbench.solvers.base import Solution
from kernbench.solvers.kernel.online.online import BATCH, OnlineSolver
from kernbench.validation.numbers import check_name

STATE = ("mistakes", "responses", "mistake_sums", "response_sums", "drawn", "counts", "seed")


class Perceptron(OnlineSolver):
    """Kernel Perceptron: a mistake on example i adds w_i y_i k(x_i, .) to f.

    Its direction is reported in alpha/2 ||f||^2 + (1/n) sum_i w_i hinge(y_i (f(x_i) + b)), with the best multiple.

    Parameters
    ----------
    alpha : float
        Regularisation of the objective, > 0: determines the multiple of the direction and the gap; no step depends on
        it.
    weights : array-like of shape (n,), optional
        A mistake on example i adds w_i to its coefficient; examples of weight 0 are skipped.
    fit_intercept : bool, default=True
        Learn with the kernel k + r^2, r^2 = max k(x_i, x_i): a mistake also adds w_i y_i r^2 to b. The reported b is
        the best for the reported f.
    loss : {"hinge"}, default="hinge"
        The loss of the objective in which the direction is reported.
    n_passes : int or None, default=1
        Passes over the data; the paper's theory is about one. None runs until a pass makes no mistake.
    order : {"random", "index"}, default="random"
        A new permutation for each pass, or the order of the data.
    output : {"last", "average", "random"}, default="last"
        The iterate reported: the last, the average, or one drawn uniformly, of those after each step.
    random_state : None, int, RandomState or Generator
        Seeds the permutations and the random choice.

    Attributes
    ----------
    finished : bool
        Whether the requested passes are done, or a pass made no mistake; independent of the gap.
    n_mistakes : int
    n_logical_evaluations : int
        The paper's count: for each example, one evaluation per present support vector. `n_kernel_evaluations` counts
        what was computed: n for each row fetched.
    """

    losses = ("hinge",)
    dual_point = "scaled"

    def __init__(self, rows, y, *, alpha, weights=None, fit_intercept=True, loss="hinge", n_passes=1, order="random",
                 output="last", random_state=None, initial=None, core="compiled"):  # fmt: skip
        super().__init__(core, rows, y, alpha=alpha, weights=weights, fit_intercept=fit_intercept, loss=loss)
        n = self.problem.n
        self.n_passes = require_count("n_passes", n_passes)
        self.order_name = check_name("order", order, ORDERS)
        self.output = check_name("output", output, OUTPUTS)
        self.bias_step = self.largest if self.problem.fit_intercept else 0.0
        # f = sum_i mistakes_i y_i k(x_i, .), and f(x_i); the sums of both after each step; the iterate drawn at random
        self.mistakes, self.responses, self.mistake_sums, self.response_sums, self.drawn = np.zeros((5, n))
        self.numbers = np.zeros(5)  # steps; mistakes; logical evaluations; the intercept; support vectors
        self.first = 0  # n_iter at a warm start
        self.mistakes_before = 0  # n_mistakes when the pass began
        self.faultless = False  # whether the last pass made no mistake
        self.seed = seed_of(random_state, initial)
        if initial is not None:
            self._start_from(initial)
        self.numbers[4] = np.count_nonzero(self.mistakes)
        self.coins = UniformStream(self.seed, 0, position=self.n_iter - self.first)
        self.order = pass_order(self.seed, (self.n_iter - self.first) // n, n, order)

    @property
    def n_mistakes(self):
        return int(self.numbers[1])

    @property
    def n_logical_evaluations(self):
        return int(self.numbers[2])

    def advance(self, n_iter):
        """Do up to `n_iter` steps, within the requested passes; return how many were done."""
        done, n = 0, self.problem.n
        while done < n_iter and not self.finished:
            place = (self.n_iter - self.first) % n
            length = min(n_iter - done, BATCH - self.n_iter % BATCH, n - place)
            examples = self.order[place : place + length]
            if self.output == "random":
                self._steps_and_draw(examples)
            else:
                self._steps(examples)
            done += length
            if place + length == n:
                self._end_pass((self.n_iter - self.first) // n)
        return done

    def _steps(self, examples):
        self.core.steps(
            self.walk, examples, self.y, self.problem.weights, self.bias_step, self.output == "average", self.mistakes,
            self.responses, self.mistake_sums, self.response_sums, self.numbers,
        )  # fmt: skip

    def _steps_and_draw(self, examples):
        """Do the steps; the iterate after step t replaces the chosen one with probability 1/t, so all are equally
        likely."""
        uniform = self.coins.ahead(len(examples))[: len(examples), 0]
        self.coins.position += len(examples)
        chosen = uniform * (self.n_iter - self.first + np.arange(1, len(examples) + 1)) < 1
        begin = 0
        for end in np.append(np.flatnonzero(chosen) + 1, len(examples)):
            self._steps(examples[begin:end])
            if end > begin and chosen[end - 1]:
                self.drawn = self.mistakes.copy()
            begin = end

    def _end_pass(self, n_done):
        self.faultless = self.n_mistakes == self.mistakes_before
        self.finished = self.faultless or n_done >= (self.n_passes or np.inf)
        self.mistakes_before = self.n_mistakes
        if not self.finished:
            self.order = pass_order(self.seed, n_done, self.problem.n, self.order_name)

    def _expansion(self):
        mistakes, responses = self.mistakes, self.responses
        steps = self.n_iter - self.first
        if self.output == "average" and steps > 0:
            mistakes, responses = self.mistake_sums / steps, self.response_sums / steps
        elif self.output == "random" and steps > 0:
            mistakes, responses = self.drawn, self.rows.matvec(self.y * self.drawn)
        return self._expanded(self.y * mistakes, responses)

    def solution(self):
        """The direction chosen by `output`, with its best multiple and intercept."""
        found = self._found()
        _, n_mistakes, n_logical, intercept, _ = self.numbers
        counts = np.array([n_mistakes, n_logical, self.first, self.mistakes_before, self.faultless, intercept])
        arrays = (self.mistakes, self.responses, self.mistake_sums, self.response_sums, self.drawn, counts,
                  np.array([float(self.seed)]))  # fmt: skip
        state = {name: values.copy() for name, values in zip(STATE, arrays)}
        return Solution(found.coef.copy(), found.intercept, self.n_iter, state)

    def _start_from(self, initial):
        state = require_state(initial, self.problem.n, STATE)
        self.numbers[0] = initial.n_iter
        if state is None:
            self.first = initial.n_iter
            self.mistakes = np.maximum(0.0, self.y * initial.coef)
            self.responses = self.rows.matvec(self.y * self.mistakes)
            self.numbers[3] = float(initial.intercept) if self.problem.fit_intercept else 0.0
            return
        self.mistakes, self.responses, self.mistake_sums, self.response_sums, self.drawn = (
            state[key] for key in STATE[:5]
        )
        n_mistakes, n_logical, first, before, faultless, intercept = state["counts"].tolist()
        self.numbers[1:4] = n_mistakes, n_logical, intercept if self.problem.fit_intercept else 0.0
        self.first, self.mistakes_before, self.faultless = int(first), int(before), bool(faultless)
        n_done = (self.n_iter - self.first) // self.problem.n
        self.finished = self.faultless or n_done >= (self.n_passes or np.inf)
