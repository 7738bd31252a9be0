"""With ``dtype="auto"`` a run whose certificate the rounding of float32 keeps from `tol` ends in float64."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from kernbench import KernelRegressor, KernelSVC, KernelSVR
from kernbench.estimators.fit.widening import RunData, is_too_rounded, joined

N = 2100  # above the size up to which "auto" is float64


def problem(d, n=N):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=n)


def classes(d=5):
    X, y = problem(d)
    return X, np.where(y > 0.3, 1, -1)


def hard(kind, **options):
    """A model whose coefficients are so large that float32 values cannot certify it, and its data."""
    if kind == "regression":
        return KernelSVR(C=1e3, **options), *problem(10)
    return KernelSVC(C=1e3, class_weight={1: 100.0}, **options), *classes()


@pytest.mark.parametrize("kind", ["regression", "classes"])
def test_large_C_converges_in_float64_by_itself(kind):
    model, X, y = hard(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model.fit(X, y)
    assert model.converged_ and model.dtype_ == "float64"
    assert 0.0 <= model.duality_gap_ <= model.tol * model.objective_
    exact = hard(kind, dtype="float64")[0].fit(X, y)
    assert model.objective_ - model.duality_gap_ <= exact.objective_
    assert exact.objective_ - exact.duality_gap_ <= model.objective_

    trace = model.trace_
    assert {len(values) for values in trace.values()} == {len(trace["n_iter"])}
    for name in ("n_iter", "seconds", "n_kernel_evaluations"):
        assert np.all(np.diff(trace[name]) >= 0), name
    assert trace["n_iter"][-1] == model.n_iter_[0]
    assert trace["n_kernel_evaluations"][-1] == model.n_kernel_evaluations_ >= N * N


def test_float32_on_request_stays_float32():
    model, X, y = hard("classes", dtype="float32")
    with pytest.warns(ConvergenceWarning, match="dtype='float64'"):
        model.fit(X, y)
    assert model.dtype_ == "float32" and model.status_ == "stagnated"


@pytest.mark.parametrize("kind", ["regression", "classes"])
def test_limits_count_both_parts(kind):
    model, X, y = hard(kind, dtype="float32")
    with pytest.warns(ConvergenceWarning):
        in_float32 = int(np.max(model.fit(X, y).n_iter_))
    limited = model.set_params(dtype="auto", max_iter=in_float32)
    with pytest.warns(ConvergenceWarning):
        limited.fit(X, y)
    assert limited.dtype_ == "float32" and limited.n_iter_[0] <= in_float32
    if kind == "regression":  # which takes more than two steps in float64
        with pytest.warns(ConvergenceWarning, match="stopped at max_iter"):
            limited.set_params(max_iter=in_float32 + 2).fit(X, y)
        assert limited.dtype_ == "float64" and limited.n_iter_[0] == in_float32 + 2


def test_a_callback_sees_one_run():
    seen = []
    model, X, y = hard("classes", callback=lambda state: seen.append((int(state.n_iter_[0]), state.dtype_)))
    model.fit(X, y)
    steps = [n_iter for n_iter, _ in seen]
    assert steps == sorted(steps) and steps[-1] == model.n_iter_[0]
    assert seen[0][1] == "float32" and seen[-1][1] == "float64"


def test_a_path_continues_in_float64_and_other_outputs_begin_in_float32():
    X, y = classes()
    easy, difficult = KernelSVC(class_weight={1: 100.0}).path(X, y, Cs=[0.1, 1e3])
    assert easy.converged_ and difficult.converged_ and easy.dtype_ == difficult.dtype_ == "float64"

    X, y = problem(10)
    both = KernelRegressor("epsilon_insensitive", alpha=0.01 / N).fit(X, np.column_stack([y, 100.0 * y]))
    alone = KernelRegressor("epsilon_insensitive", alpha=0.01 / N).fit(X, 100.0 * y)
    assert both.dtype_ == "float64" and alone.dtype_ == "float32"
    np.testing.assert_array_equal(both.dual_coef_[1][np.isin(both.support_, alone.support_)], alone.dual_coef_[0])


def test_data_is_made_anew_after_a_wider_problem():
    class Made:
        def __init__(self):
            self.of = []

        def make_data(self, dtype=None):
            self.of.append(dtype)
            return object()

    class Sharing:
        shares_data = True

    made, data = Made(), RunData(Sharing)
    data.prepare(made)
    first = data.now
    data.prepare(made)
    assert data.now is first
    data.widen(made)
    data.prepare(made)
    assert made.of == [None, "float64", None]


def test_ctrl_c_while_float64_rows_are_made_keeps_the_run_in_float32(monkeypatch):
    def interrupted(*given):
        raise KeyboardInterrupt

    model, X, y = hard("classes")
    monkeypatch.setattr(RunData, "widen", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.status_ == "interrupted" and model.duality_gap_ > model.tol * model.objective_
    assert np.isfinite(model.decision_function(X)).all()


def test_joined_parts_have_one_trace():
    from kernbench.solvers.base import Solution
    from kernbench.solvers.driver import FitResult

    def part(seconds, n_iter, trace):
        return FitResult(Solution(np.zeros(1)), "converged", n_iter, seconds, 0, 1.0, 0.0, trace)

    first = part(2.0, 10, {"n_iter": [0, 10], "seconds": [0.0, 2.0]})
    second = part(1.0, 5, {"n_iter": [10, 15], "seconds": [0.0, 1.0]})
    whole = joined(first, second)
    assert (whole.n_iter, whole.seconds) == (15, 3.0)
    assert whole.trace == {"n_iter": [0, 10, 10, 15], "seconds": [0.0, 2.0, 2.0, 3.0]}


@pytest.mark.parametrize(
    "before, after, expected",
    [("converged", "stagnated", True), ("stalled", "stalled", True), ("stalled", "converged", False),
     ("max_iter", "max_iter", False)],
)  # fmt: skip
def test_a_run_goes_on_where_rounding_ended_it(before, after, expected):
    assert is_too_rounded(before, SimpleNamespace(status=after, is_indefinite=False)) == expected
    assert not is_too_rounded(before, SimpleNamespace(status=after, is_indefinite=True))
