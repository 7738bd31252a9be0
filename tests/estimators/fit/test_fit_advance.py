"""One call of `advance` does bounded work, so that budgets and Ctrl-C, which are looked at between calls, hold."""

import numpy as np
import pytest

from kernbench._models import BY_NAME
from kernbench.solvers import driver, registry

N = 60
PROBLEMS = ("kernel-svm", "kernel-regression")
PASSES = 5  # over the kernel matrix that a call may make beside its iterations: refreshed sums
ROWS = 8  # of the kernel matrix for an iteration: rows fetched ahead leave a tiny cache before they are used
# `smo` works in rounds of many steps.
CASES = [
    (entry.kind.estimator, entry.name)
    for entry in registry.SOLVERS
    if entry.problem in PROBLEMS and entry.name != "smo"
]


class Counted:
    """A solver that notes what each call of `advance` was asked for and did."""

    def __init__(self, solver):
        self.solver, self.calls = solver, []

    def __getattr__(self, name):
        return getattr(self.solver, name)

    def advance(self, n_iter):
        solver = self.solver
        before = solver.n_iter, solver.n_kernel_evaluations
        advanced = solver.advance(n_iter)
        self.calls.append((n_iter, solver.n_iter - before[0], solver.n_kernel_evaluations - before[1]))
        return advanced


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("equal_rows", [True, False])
@pytest.mark.parametrize("name, solver", CASES)
def test_kernel_values_and_iterations_of_a_call_are_bounded(name, solver, equal_rows, monkeypatch):
    rng = np.random.default_rng(0)
    X = np.ones((N, 3)) if equal_rows else rng.normal(size=(N, 3))
    made, run = [], driver.run

    def counted(solver, **parameters):
        made.append(Counted(solver))
        return run(made[-1], **parameters)

    monkeypatch.setattr(driver, "run", counted)
    # A cache of less than two rows.
    strength = {"C": 1e6} if name == "KernelSVC" else {"alpha": 1e-6}
    options = {"random_state": 0, "cache_size": 1e-4, "max_iter": 300, "tol": 1e-12, **strength}
    if solver != "closed-form" and name == "KernelSVC":
        options["fit_intercept"] = False
    options = {key: value for key, value in options.items() if key in BY_NAME[name].load()().get_params()}
    BY_NAME[name].load()(solver=solver, **options).fit(X, np.arange(N) % 2)
    assert made and made[0].calls
    grain = max(1, made[0].granularity)
    for asked, done, evaluations in made[0].calls:
        assert done <= asked + N + grain
        assert evaluations <= (PASSES * N + ROWS * max(asked, grain)) * N
