"""One call of `advance` does bounded work, so that budgets and Ctrl-C, which are looked at between calls, hold."""

import re

import numpy as np
import pytest

from kernbench._models import BY_NAME
from kernbench.solvers import driver, registry

N = 60
PASSES = 5  # over all rows that a call may make beside its iterations, such as refreshed sums
# Passes of an iteration: rows fetched ahead leave a tiny cache before they are used, and batch methods search along a
# line or solve a subproblem; Newton's method makes up to 250 Hessian products by conjugate gradients.
OF_ITERATION = {"newton": 300}
OF_OTHERS = 10
STEPS = {"smo": 100 * N}  # of a working set, which is solved at once
UNITS = {"n_kernel_evaluations": N * N, "n_inner_products": N, "n_feature_values": 4096 * N}  # of a pass


class Counted:
    """A solver that notes what each call of `advance` was asked for and did."""

    def __init__(self, solver, counter):
        self.solver, self.counter, self.calls = solver, counter, []

    def __getattr__(self, name):
        return getattr(self.solver, name)

    def advance(self, n_iter):
        iterations, work = self.n_iter, getattr(self, self.counter)
        advanced = self.solver.advance(n_iter)
        self.calls.append((n_iter, self.n_iter - iterations, getattr(self, self.counter) - work))
        return advanced


def calls_of(entry, rows, strength, monkeypatch, **limits):
    """Fit an estimator to a hard problem with a cache of less than two rows; return the calls of its first solver."""
    made, run = [], driver.run
    X = np.ones((N, 3)) if rows == "equal" else 1e6 + 1e3 * np.random.default_rng(0).normal(size=(N, 3))

    def counted(solver, **parameters):
        made.append(Counted(solver, entry.kind.counts))
        return run(made[-1], **parameters)

    monkeypatch.setattr(driver, "run", counted)
    model = BY_NAME[entry.kind.estimator].load()()
    options = {"solver": entry.name, "loss": entry.losses[:2][-1], "random_state": 0, "tol": 1e-12, "cache_size": 1e-4}
    options |= {"C": strength, "alpha": 1 / strength, "fit_intercept": entry.name != "closed-form", **limits}
    if entry.kind.counts == "n_kernel_evaluations":
        options["kernel"] = "rbf"
    model.set_params(**{key: value for key, value in options.items() if key in model.get_params()})
    try:
        model.fit(X, np.arange(N) % 2)
    except ValueError as error:
        assert re.search("scale the features|lower step_size", str(error)), error
    return made[0].granularity, made[0].calls


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("strength", [1e12, 1e-8])
@pytest.mark.parametrize("rows", ["equal", "far"])
@pytest.mark.parametrize("entry", registry.SOLVERS, ids=lambda entry: f"{entry.problem}-{entry.name}")
def test_the_work_of_a_call_is_bounded(entry, rows, strength, monkeypatch):
    """In kernel values, inner products or feature values, and in iterations, on degenerate problems with extreme C."""
    grain, calls = calls_of(entry, rows, strength, monkeypatch, max_iter=100)
    assert calls or rows == "equal"  # of equal rows, 0 may be known to be optimal at once
    passes = OF_ITERATION.get(entry.name, OF_OTHERS)
    for asked, done, work in calls:
        assert done <= max(asked, grain) + STEPS.get(entry.name, N)
        assert work <= (PASSES + passes * max(asked, grain)) * UNITS[entry.kind.counts]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("entry", registry.SOLVERS, ids=lambda entry: f"{entry.problem}-{entry.name}")
def test_out_of_time_there_is_no_second_call(entry, monkeypatch):
    """The first call asks for one unit of iterations, whatever `max_iter` allows."""
    grain, calls = calls_of(entry, "equal", 1e12, monkeypatch, max_seconds=1e-9)
    assert [asked for asked, *_ in calls] in ([max(1, grain)], [])
