"""`KernelSVC` with many classes: one against the rest, and several problems at once."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_classification
from sklearn.svm import SVC

from kernbench import load
from kernbench.estimators import KernelSVC
from kernbench.estimators.svm import expansion
from kernbench.kernels import threads
from kernbench.solvers import registry

X, Y = load_iris(return_X_y=True)
# `closed-form` is for small C without an intercept only: it has separate tests.
SOLVERS = [name for name in registry.names("kernel-svm") if name != "closed-form"]
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def settings(solver, max_iter=512):
    """A short, repeatable run."""
    return {"solver": solver, "random_state": 0, **({} if solver == "smo" else {"max_iter": max_iter})}


# --- one against the rest -----------------------------------------------------------------------------------


def test_one_against_the_rest_is_scikit_learns():
    model = KernelSVC(multi_class="ovr", tol=1e-6).fit(X, Y)
    gamma = 1 / (4 * X.var())
    theirs = [SVC(gamma=gamma, tol=1e-6).fit(X, Y == k) for k in range(3)]
    expected = np.column_stack([one.decision_function(X) for one in theirs])
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-4)
    np.testing.assert_array_equal(model.predict(X), expected.argmax(axis=1))
    assert model.dual_coef_.shape == (3, len(model.support_))
    assert model.intercept_.shape == model.objective_.shape == model.n_iter_.shape == (3,)
    for k, one in enumerate(theirs):  # row k is class k, positive
        full, other = np.zeros(len(Y)), np.zeros(len(Y))
        full[model.support_] = model.dual_coef_[k]
        other[one.support_] = one.dual_coef_[0]
        np.testing.assert_allclose(full, other, atol=1e-3)


def test_two_classes_are_one_problem_either_way():
    own = Y > 0
    one = KernelSVC(multi_class="ovr").fit(X[own], Y[own])
    two = KernelSVC().fit(X[own], Y[own])
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))


def test_linear_weights_of_one_against_the_rest():
    model = KernelSVC("linear", multi_class="ovr").fit(X, Y)
    assert model.coef_.shape == (3, 4)
    np.testing.assert_allclose(X @ model.coef_.T + model.intercept_, model.decision_function(X), atol=1e-8)


@pytest.mark.parametrize("form", ["dense", "sparse", "precomputed"])
def test_saved_model_of_one_against_the_rest_predicts_as_the_live_one(form, tmp_path):
    rows = {"dense": X, "sparse": sparse.csr_matrix(X), "precomputed": X @ X.T}[form]
    model = KernelSVC("precomputed" if form == "precomputed" else "rbf", multi_class="ovr").fit(rows, Y)
    model.save(tmp_path / "model.npz")
    loaded = load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.decision_function(rows), model.decision_function(rows))
    np.testing.assert_array_equal(loaded.predict(rows), model.predict(rows))


def test_layout_of_a_model_stays_when_its_parameter_changes():
    model = KernelSVC(multi_class="ovr").fit(X, Y)
    expected = model.decision_function(X)
    np.testing.assert_array_equal(model.set_params(multi_class="ovo").decision_function(X), expected)


def test_file_whose_layout_does_not_add_up_is_refused():
    model = KernelSVC(multi_class="ovr").fit(X, Y)
    model.intercept_ = model.intercept_[:2]
    with pytest.raises(ValueError, match=r"intercept_ has shape \(2,\), not \(3,\)"):
        model._check_fitted_state()


def test_classes_against_the_rest_share_their_rows():
    """No kernel value is computed twice if the matrix fits into the cache; each problem counts separately."""
    model = KernelSVC(multi_class="ovr", solver="pegasos", random_state=0, tol=0.5).fit(X, Y)
    assert 0 < model.n_kernel_evaluations_ <= len(Y) ** 2
    counts = [trace["n_kernel_evaluations"][-1] for trace in model.trace_]
    assert sum(counts) == model.n_kernel_evaluations_
    assert all(trace["n_kernel_evaluations"][0] == 0 for trace in model.trace_)


@quiet
def test_weights_of_zero_are_left_out_of_every_problem():
    weights = np.where(np.arange(len(Y)) % 3, 1.0, 0.0)
    model = KernelSVC(multi_class="ovr", gamma=0.2, tol=1e-8).fit(X, Y, sample_weight=weights)
    kept = KernelSVC(multi_class="ovr", gamma=0.2, tol=1e-8).fit(X[weights > 0], Y[weights > 0])
    np.testing.assert_allclose(model.decision_function(X), kept.decision_function(X), atol=1e-6)


def test_warning_counts_classes():
    with pytest.warns(match="in 3 of 3 classes"):
        KernelSVC(multi_class="ovr", max_iter=1).fit(X, Y)


def test_verbose_names_the_class_and_the_rest(capsys):
    KernelSVC(multi_class="ovr", verbose=1).fit(X, np.array(["ash", "oak", "yew"])[Y])
    assert "KernelSVC smo: oak against the rest" in capsys.readouterr().out


# --- several at once ----------------------------------------------------------------------------------------


@quiet
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_model_does_not_depend_on_the_number_of_jobs(solver, multi_class):
    run = {**settings(solver, 300), "multi_class": multi_class}
    one = KernelSVC(**run).fit(X, Y)
    for n_jobs in (2, -1):
        many = KernelSVC(**run, n_jobs=n_jobs).fit(X, Y)
        assert many.n_iter_.tolist() == one.n_iter_.tolist() and many.status_ == one.status_
        if multi_class == "ovo":
            np.testing.assert_array_equal(many.dual_coef_, one.dual_coef_)
        # Shared rows were fetched in other batches, whose rounding may differ.
        np.testing.assert_allclose(many.decision_function(X), one.decision_function(X), atol=1e-9)


def test_jobs_leave_the_threads_of_blas_as_they_were():
    def threads_of_blas():
        return [library["num_threads"] for library in threads._controller().select(user_api="blas").info()]

    before = threads_of_blas()
    for n_jobs in (2, 3):
        KernelSVC(n_jobs=n_jobs).fit(X, Y)
    assert threads_of_blas() == before


@pytest.mark.usefixtures("begin_together")
def test_callbacks_of_many_jobs_come_one_at_a_time():
    inside, seen, idents = [], [], set()

    def watch(model):
        inside.append(1)
        time.sleep(0.01)  # time for another thread to come in, were it allowed to
        assert len(inside) == 1
        seen.append(tuple(model.classes_))
        idents.add(threading.get_ident())
        inside.pop()
        return {"support": len(model.support_)}

    model = KernelSVC(n_jobs=3, callback=watch).fit(X, Y)
    assert len(idents) >= 2
    assert set(seen) == {(0, 1), (0, 2), (1, 2)}
    assert all("support" in trace for trace in model.trace_)
    seen.clear()
    KernelSVC(n_jobs=3, multi_class="ovr", callback=watch).fit(X, Y)
    assert set(seen) == {(False, True)}


def test_error_in_one_of_many_jobs_is_raised_and_leaves_the_model():
    model = KernelSVC(n_jobs=2).fit(X, Y)
    expected = model.decision_function(X)
    model.set_params(callback=lambda model: 0.5)
    with pytest.raises(ValueError, match="None, a dict of trace columns, or True"):
        model.fit(X, Y)
    np.testing.assert_array_equal(model.decision_function(X), expected)


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="sends itself a signal")
def test_ctrl_c_ends_many_jobs_and_leaves_a_usable_model():
    X, y = make_classification(900, 8, n_informative=5, n_classes=3, flip_y=0.1, random_state=0)
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored
    timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))

    def run_has_begun(model):
        if timer.ident is None:
            timer.start()

    run = {"solver": "sbp", "C": 1e8, "gamma": 1e-3, "tol": 1e-9, "max_iter": 10**12}
    model = KernelSVC(n_jobs=2, random_state=0, callback=run_has_begun, **run)
    try:
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, handler)
    assert "interrupted" in model.status_ and model.status_[-1] in ("not started", "interrupted")
    assert np.all(np.isfinite(model.decision_function(X))) and set(model.predict(X)) <= {0, 1, 2}


def test_ctrl_c_in_a_callback_ends_all_jobs():
    def press_ctrl_c(model):
        raise KeyboardInterrupt

    model = KernelSVC(n_jobs=2, callback=press_ctrl_c)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert "interrupted" in model.status_ and not model.converged_


def test_time_budget_holds_for_many_jobs():
    with pytest.warns(match=r"max_seconds=1e-09 .*raise max_seconds"):
        model = KernelSVC(solver="sbp", n_jobs=2, tol=1e-12, max_iter=10**9, max_seconds=1e-9).fit(X, Y)
    assert model.status_ == ["max_seconds"] * 3


def test_verbose_of_many_jobs_is_one_bar_of_problems(capsys):
    KernelSVC(verbose=1, n_jobs=2).fit(X, Y)
    shown = capsys.readouterr().out
    assert "KernelSVC smo: problems" in shown and "3/3" in shown and "objective" not in shown


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
@pytest.mark.parametrize("few", [0, 256])
def test_values_do_not_depend_on_the_rows_held_at_one_time(shape, few, monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(120) % 7
    X = rng.normal(size=(7, 4))[y] + rng.normal(size=(120, 4))
    model = KernelSVC(decision_function_shape=shape).fit(X, y)
    expected, labels = model.decision_function(X), model.predict(X)
    monkeypatch.setattr(expansion, "FEW_SUPPORT_VECTORS", few)
    for n_products, n_values in ((1, 10**6), (11, 10**6), (11, 17), (10**6, 17)):
        monkeypatch.setattr(expansion, "PRODUCT_BYTES", 8 * 7 * 6 * n_products)
        monkeypatch.setattr(expansion, "CHUNK_BYTES", 8 * len(model.support_) * n_values)
        np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(model.predict(X), labels)
