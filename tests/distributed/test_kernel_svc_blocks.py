"""`KernelSVC` on rows in blocks: a cascade of working sets with the certificate of all rows; samples of chunks."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernbench import KernelNoveltyDetector, KernelSVC, KernelSVR
from kernbench.distributed import Distributed, cascade, parts
from kernbench.distributed.cascade import parts_of

N = 2_000


@pytest.fixture(scope="module")
def rows(examples):
    X, y = examples(N, 4)
    return X, np.where(np.sin(X[:, 1]) + 0.5 * y > 0, "b", "a")


CASCADES = {
    "default": {},
    "float32": {"dtype": "float32"},
    "no-intercept": {"fit_intercept": False, "class_weight": "balanced"},
    "linear": {"kernel": "linear", "C": 0.1},
    "narrow": {"gamma": 5.0, "C": 100.0},
}


@pytest.mark.parametrize("name", CASCADES)
def test_the_dual_objective_is_that_of_one_kernel_matrix(name, rows, in_files, monkeypatch):
    monkeypatch.setattr(cascade, "MOST_JOINING", 100)  # several rounds
    X, y = rows
    weights = np.arange(N) % 3 * 1.0 if name == "default" else None
    model = KernelSVC(tol=1e-4, **{"C": 3.0, **CASCADES[name]})
    plain = model.fit(X, y, weights)
    dual = plain.objective_ - plain.duality_gap_
    found = [Distributed(model).fit(data, y, weights) for data in (in_files(X, (7, 999)), [X[:1_500], X[1_500:]])]
    model = found[0].estimator_
    assert model.converged_ and model.objective_ - model.duality_gap_ == pytest.approx(dual, rel=1e-5)
    assert 0 <= model.duality_gap_ <= 2e-3 * model.objective_
    assert (1 if name == "linear" else 2) <= found[0].n_rounds_ <= 12
    assert np.mean(model.predict(X) == plain.predict(X)) > 0.995
    assert np.array_equal(model.support_vectors_, X[model.support_].astype(model.support_vectors_.dtype))
    assert np.array_equal(found[1].estimator_.dual_coef_, model.dual_coef_)
    assert np.array_equal(found[1].estimator_.intercept_, model.intercept_)


def test_the_objective_and_the_gap_are_those_of_all_rows(rows):
    X, y = rows
    model = Distributed(KernelSVC(C=3.0, tol=1e-3, dtype="float64")).fit([X], y).estimator_
    signs, values = np.where(y == "b", 1.0, -1.0), model.decision_function(X)
    squared_norm = model.dual_coef_[0] @ (values[model.support_] - model.intercept_)
    slack = np.maximum(0.0, 1.0 - signs * values)
    primal = 0.5 * squared_norm + 3.0 * slack.sum()
    dual = np.abs(model.dual_coef_).sum() - 0.5 * squared_norm
    assert model.objective_ == pytest.approx(primal / (3.0 * N), rel=1e-9)
    assert model.duality_gap_ == pytest.approx((primal - dual) / (3.0 * N), rel=1e-6)
    assert model.trace_["objective"][-1] == pytest.approx(dual / (3.0 * N), rel=1e-6)  # of a dual method


def test_kernel_values_of_outputs_are_counted(rows):
    X, _ = rows
    y = np.where(X[:, 0] > 1.0, 1, -1)
    model = Distributed(KernelSVC(kernel="linear", C=10.0, dtype="float64")).fit([X], y).estimator_
    assert model.n_kernel_evaluations_ >= N * len(model.support_)  # the output of every row at least once


def test_rounding_of_float32_values_is_no_part_of_the_certificate(rows):
    X, y = rows
    C, gamma = 1e3, 0.01
    optimum = KernelSVC(C=C, gamma=gamma, dtype="float64", tol=1e-6).fit(X, y)
    model = Distributed(KernelSVC(C=C, gamma=gamma, dtype="float32", tol=1e-3)).fit([X], y).estimator_
    coef, signs = model.dual_coef_[0], np.where(y == "b", 1.0, -1.0)
    squares = np.square(X[:, None] - X[model.support_]).sum(axis=2)
    values = np.exp(-gamma * squares) @ coef
    slack = np.maximum(0.0, 1.0 - signs * (values + model.intercept_))
    objective = (0.5 * coef @ values[model.support_] + C * slack.sum()) / (C * N)
    assert model.objective_ == pytest.approx(objective, rel=1e-10)
    assert model.objective_ - model.duality_gap_ <= optimum.objective_ * (1 + 1e-10)
    assert model.converged_
    with pytest.warns(ConvergenceWarning, match="use dtype='float64'"):
        model = Distributed(KernelSVC(C=100.0, gamma=0.1, dtype="float32", tol=1e-8)).fit([X], y).estimator_
    assert not model.converged_ and model.duality_gap_ > 1e-8 * model.objective_


@pytest.mark.parametrize("estimator", [KernelSVC, KernelSVR])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_run_that_rounding_ends_continues_in_float64(estimator, dtype, examples):
    """As on an array, with dtype="auto"."""
    X, y = examples(N + 1, 4)
    X, y = X.astype(dtype), y if estimator is KernelSVC else X[:, 0] ** 2
    found = Distributed(estimator(C=100.0, gamma=0.1, tol=1e-8)).fit([X], y).estimator_
    assert found.dtype_ == "float32" and found.status_ == "converged"
    assert found.duality_gap_ <= 1e-8 * found.objective_
    assert np.all(np.diff(found.trace_["n_iter"]) >= 0) and found.trace_["n_iter"][-1] == found.n_iter_


@pytest.mark.parametrize("estimator", [KernelSVC, KernelSVR])
def test_a_linear_function_does_not_depend_on_the_origin(estimator, rows):
    X, y = np.round(rows[0] * 2.0**20) / 2.0**20, rows[1] if estimator is KernelSVC else rows[0][:, 0]
    near, far = (
        Distributed(estimator(kernel="linear", dtype="float64")).fit([X + shift], y).estimator_
        for shift in (0, 2.0**30)
    )
    assert np.array_equal(near.dual_coef_, far.dual_coef_) and near.objective_ == far.objective_
    assert near.duality_gap_ == far.duality_gap_ and far.status_ == "converged"
    np.testing.assert_array_equal(far.support_vectors_, X[far.support_] + 2.0**30)
    assert far.score(X + 2.0**30, y) == pytest.approx(near.score(X, y), abs=1e-3)


@pytest.mark.parametrize("estimator", [KernelSVC, KernelSVR, KernelNoveltyDetector])
def test_an_indefinite_kernel_has_no_certificate(estimator, rows):
    X, y = rows[0][:300], rows[1][:300]
    labels = [] if estimator is KernelNoveltyDetector else [y if estimator is KernelSVC else X[:, 0]]
    with pytest.warns(UserWarning, match="is not positive semi-definite on the training rows"):
        model = Distributed(estimator(kernel="sigmoid")).fit([X], *labels).estimator_
    assert model.duality_gap_ is None and len(model.predict(X)) == 300


def test_parts_of_one_class_and_pipelines(rows):
    X, y = rows
    order = np.argsort(y)
    model = make_pipeline(StandardScaler(), KernelSVC(tol=1e-3))
    plain = KernelSVC(tol=1e-3).fit(StandardScaler().fit_transform(X), y)
    found = Distributed(model).fit([X[order]], y[order]).estimator_
    assert found[-1].objective_ == pytest.approx(plain.objective_, rel=1e-3)
    assert found.score(X, y) > 0.8


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("limit", [{"max_iter": 50}, {"callback": lambda model: len(model.predict([[0.0] * 4])) > 0}])
def test_a_run_that_is_stopped_leaves_a_model_of_all_rows(limit, rows):
    X, y = rows
    found = Distributed(KernelSVC(tol=1e-4, **limit)).fit([X], y).estimator_
    assert not found.converged_ and found.duality_gap_ > 0 and len(found.predict(X)) == N


def test_chunks_are_sampled_as_fit_chunks_does(rows, in_files):
    X, y = rows
    model = KernelSVC(solver="scs", random_state=0, max_iter=20, tol=1e-12)
    weights = 1.0 + np.arange(N) % 2
    chunks = [(X[:700], y[:700], weights[:700]), (X[700:], y[700:], weights[700:])]
    with pytest.warns(UserWarning):
        plain = model.fit_chunks(chunks).dual_coef_.copy()
    for data in (in_files(X, (700,)), [X[:700], X[700:]]):
        with pytest.warns(UserWarning):
            found = Distributed(model).fit(data, y, weights).estimator_
        assert np.array_equal(found.dual_coef_, plain)


def test_scaled_chunks_are_sampled_as_an_array(rows):
    X, y = rows
    model = KernelSVC(solver="scs", random_state=0, max_iter=10)
    scaled = StandardScaler().fit_transform(X)
    with pytest.warns(UserWarning):
        plain = model.fit_chunks([(scaled, y)]).decision_function(scaled)
    with pytest.warns(UserWarning):
        found = Distributed(make_pipeline(StandardScaler(), model)).fit([X], y)
    np.testing.assert_allclose(found.decision_function([X]), plain, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    "model, message",
    [
        (KernelSVC(solver="sdca"), "solver='smo' or"),
        (KernelSVC("precomputed"), "matrix of all pairs"),
        (KernelSVC(loss="squared_hinge"), "LinearSVC\\(solver='bundle'"),
        (KernelSVC(solver_options={"max_sets": 1}), "no effect on a cascade"),
        (KernelSVC(warm_start=True), "warm_start"),
    ],
)
def test_other_ways_to_fit_it_are_refused(model, message, rows):
    X, y = rows
    with pytest.raises(ValueError, match=message):
        Distributed(model).fit([X], y)


@pytest.mark.parametrize("scheme", ["ovo", "ovr"])
def test_several_classes_are_solved_as_on_one_array(scheme, rows):
    X, y = rows
    X, y = X[:600], np.where(X[:600, 0] > 0.5, "c", y[:600])
    weights = np.arange(600) % 3 * 1.0
    model = KernelSVC(C=3.0, tol=1e-4, multi_class=scheme)
    plain, found = model.fit(X, y, weights), Distributed(model).fit([X[:100], X[100:]], y, weights)
    fitted = found.estimator_
    assert fitted.converged_ and len(found.n_rounds_) == 3
    np.testing.assert_allclose(fitted.objective_, plain.objective_, rtol=1e-4)
    np.testing.assert_allclose(fitted.decision_function(X), plain.decision_function(X), atol=1e-2)
    assert np.array_equal(fitted.support_vectors_, X[fitted.support_])


def test_paths_and_samples_of_more_than_two_classes_are_refused(rows):
    X, _ = rows
    with pytest.raises(ValueError, match="against the rest"):
        Distributed(KernelSVC(solver="scs")).fit([X], np.arange(N) % 3)
    with pytest.raises(ValueError, match="no path"):
        Distributed(KernelSVC()).path([X], np.arange(N) % 2, [1.0])


@pytest.mark.parametrize("n_rows", [2, 5, 60_000, 70_000])
def test_parts_cover_the_rows(n_rows):
    edges = parts_of(n_rows)
    assert edges[0] == 0 and edges[-1] == n_rows and np.all(np.diff(edges) > 0)
    assert len(edges) - 1 == {2: 2, 5: 4, 60_000: 4, 70_000: 5}[n_rows]


def test_ctrl_c_between_two_working_sets_leaves_the_last_model(rows, monkeypatch):
    X, y = rows
    made = []

    def make(*args, **options):
        made.append(parts.make_smo(*args, **options))
        if len(made) == 2:
            raise KeyboardInterrupt
        return made[-1]

    monkeypatch.setattr(cascade, "MOST_JOINING", 100)  # several rounds
    monkeypatch.setattr(cascade, "make_smo", make)
    model = Distributed(KernelSVC(C=3.0))
    with pytest.raises(KeyboardInterrupt):
        model.fit([X], y)
    assert len(made) == 2 and np.mean(model.predict([X]) == y) > 0.7


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_names_of_columns_are_those_of_a_sampled_fit_too(rows):
    pandas = pytest.importorskip("pandas")
    X, y = rows
    frame = pandas.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    model = Distributed(KernelSVC(solver="scs", max_iter=3, random_state=0)).fit([frame], y)
    assert list(model.feature_names_in_) == list(model.estimator_.feature_names_in_) == list(frame.columns)
