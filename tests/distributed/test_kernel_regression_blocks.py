"""`KernelSVR`, `KernelRegressor` and `KernelNoveltyDetector` on rows in blocks: certified as on one array."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernbench import KernelNoveltyDetector, KernelRegressor, KernelSVR
from kernbench.distributed import Distributed, cascade, svm_task
from kernbench.features import Nystroem

N = 2_000


@pytest.fixture(scope="module")
def rows(examples):
    X, y = examples(N, 4)
    return X, np.sin(2.0 * X[:, 1]) + X[:, 0] + 0.3 * y + 100.0


MODELS = {
    "svr": KernelSVR(C=3.0),
    "weights": KernelSVR(C=3.0),
    "float32": KernelSVR(C=3.0, dtype="float32"),
    "narrow": KernelSVR(gamma=5.0, C=100.0, epsilon=0.5),
    "linear": KernelSVR(kernel="linear"),
    "no intercept": KernelRegressor("epsilon_insensitive", fit_intercept=False, solver="smo"),
    "absolute": KernelRegressor("absolute_error"),
    "quantile": KernelRegressor("quantile", quantile=0.9, alpha=0.01),
    "one class": KernelNoveltyDetector(),
    "few outliers": KernelNoveltyDetector(nu=0.02, gamma=1.0),
    "all": KernelNoveltyDetector(nu=1.0),
    "weighted outliers": KernelNoveltyDetector(nu=0.1),
}


def fit(model, X, y, weights=None):
    needs_labels = not isinstance(getattr(model, "estimator", model), KernelNoveltyDetector)
    return model.fit(X, *([y] if needs_labels else []), sample_weight=weights)


@pytest.mark.parametrize("name", MODELS)
def test_the_solution_is_that_of_one_kernel_matrix(name, rows, in_files, monkeypatch):
    monkeypatch.setattr(cascade, "MOST_JOINING", 100)  # several rounds
    X, y = rows
    weights = np.arange(N) % 3 * 1.0 if name.startswith("weight") else None
    tol = 1e-3 if name == "float32" else 1e-4
    model = type(MODELS[name])(**{**MODELS[name].get_params(), "tol": tol})
    plain = fit(model, X, y, weights)
    runs = [fit(Distributed(model), data, y, weights) for data in (in_files(X, (7, 999)), [X[:1_500], X[1_500:]])]
    found = runs[0].estimator_
    assert found.converged_ and found.status_ == "converged" and 1 <= runs[0].n_rounds_ <= 25
    assert 0 <= found.duality_gap_ <= tol * abs(found.objective_)
    # Each is a bound for the other.
    assert found.objective_ - found.duality_gap_ <= plain.objective_ + 1e-9 * abs(plain.objective_)
    assert plain.objective_ - plain.duality_gap_ <= found.objective_ + 1e-9 * abs(plain.objective_)
    values = (model.score_samples if "nu" in model.get_params() else model.predict)(X)
    here = (found.score_samples if "nu" in model.get_params() else found.predict)(X)
    assert np.abs(here - values).max() <= 0.02 * np.ptp(values)
    assert np.array_equal(found.support_vectors_, X[found.support_].astype(found.support_vectors_.dtype))
    other = runs[1].estimator_  # however the rows are cut
    for attribute in ("dual_coef_", "support_", "intercept_", "objective_"):
        assert np.array_equal(getattr(found, attribute), getattr(other, attribute)), attribute


@pytest.mark.parametrize("name", ["svr", "weights", "few outliers", "weighted outliers"])
def test_the_objective_and_the_gap_are_those_of_all_rows(name, rows):
    X, y = rows
    weights = np.arange(N) % 3 * 1.0 if name.startswith("weight") else np.ones(N)
    model = type(MODELS[name])(**{**MODELS[name].get_params(), "dtype": "float64", "tol": 1e-3})
    model = fit(Distributed(model), [X], y, weights).estimator_
    coef = model.dual_coef_[0]
    if "nu" in model.get_params():
        scores, total = model.score_samples(X), model.nu * weights.sum()
        norm, loss = coef @ scores[model.support_], weights @ np.maximum(0.0, model.offset_ - scores)
        assert coef.sum() == pytest.approx(total, rel=1e-9)
        primal, dual, unit = 0.5 * norm + loss - total * model.offset_, -0.5 * norm, N
    else:
        values = model.predict(X)
        norm, loss = (
            coef @ (values[model.support_] - model.intercept_),
            weights @ np.maximum(0.0, abs(values - y) - 0.1),
        )
        primal, unit = 0.5 * norm + model.C * loss, model.C * weights.sum()
        dual = coef @ y[model.support_] - 0.1 * np.abs(coef).sum() - 0.5 * norm
    assert model.objective_ == pytest.approx(primal / unit, rel=1e-7)
    assert model.duality_gap_ == pytest.approx((primal - dual) / unit, rel=1e-3, abs=1e-9)


def test_pipelines_and_rows_without_a_sort_order(rows):
    X, y = rows
    order = np.argsort(y)
    model = make_pipeline(StandardScaler(), KernelSVR())
    plain = KernelSVR().fit(StandardScaler().fit_transform(X), y)
    found = Distributed(model).fit([X[order]], y[order])
    assert found.estimator_[-1].objective_ == pytest.approx(plain.objective_, rel=2e-3)
    assert found.score([X], y) > 0.8 and found.n_rounds_ >= 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_run_that_is_stopped_leaves_a_model_of_all_rows(rows):
    X, y = rows
    for model in (KernelSVR(C=100.0, max_iter=50), KernelNoveltyDetector(max_iter=1)):
        found = fit(Distributed(model), [X], y).estimator_
        assert not found.converged_ and found.duality_gap_ > 0 and len(found.predict(X)) == N


@pytest.mark.parametrize(
    "model, message",
    [
        (KernelSVR(kernel="precomputed"), "matrix of all pairs"),
        (KernelSVR(loss="squared_epsilon_insensitive"), "loss='epsilon_insensitive', got"),
        (KernelSVR(shrinking=False), "no effect on a cascade"),
        (KernelRegressor(), "'absolute_error' or 'quantile', got loss='squared_error'"),
        (KernelRegressor("absolute_error", solver="sdca"), "choose solver='smo'"),
        (KernelRegressor("quantile", solver_options={"working_set_size": 64}), "no effect on a cascade"),
        (KernelNoveltyDetector(nu=2.0), "nu must be"),
        (KernelNoveltyDetector(warm_start=True), "warm_start"),
    ],
    ids=str,
)
def test_other_ways_to_fit_it_are_refused(model, message, rows):
    X, y = rows
    with pytest.raises(ValueError, match=message):
        fit(Distributed(model), [X], y)


def test_ctrl_c_before_the_first_working_set_is_ctrl_c(rows, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(svm_task, "support_of_parts", interrupted)
    model = Distributed(KernelSVR())
    with pytest.raises(KeyboardInterrupt):
        model.fit([rows[0]], rows[1])
    assert not hasattr(model, "estimator_")


def test_bad_targets_and_weights_are_refused(rows):
    X, y = rows
    with pytest.raises(ValueError, match="non-zero"):
        Distributed(KernelSVR()).fit([X], y, np.zeros(N))
    with pytest.raises(ValueError, match="NaN or infinity"):
        Distributed(KernelSVR()).fit([X], np.where(y > 100, np.nan, y))
    with pytest.raises(ValueError, match="no path"):
        Distributed(KernelNoveltyDetector()).path([X], None, [0.1])


def test_landmarks_of_classes_need_labels(rows):
    model = make_pipeline(Nystroem(n_landmarks=5, landmarks="stratified"), KernelNoveltyDetector())
    with pytest.raises(ValueError, match="landmarks='stratified' needs class labels: give them as y"):
        Distributed(model).fit([rows[0]])


def test_equal_targets_equal_rows_and_few_rows(rows):
    X, _ = rows
    constant = Distributed(KernelSVR()).fit([X], np.full(N, 3.0)).estimator_
    assert constant.converged_ and np.all(constant.predict(X) == 3.0)
    for data in (np.ones((50, 2)), X[:1], X[:5]):
        assert Distributed(KernelNoveltyDetector()).fit([data]).estimator_.converged_
    assert len(Distributed(KernelSVR()).fit([X[:1]], [2.0]).predict(X[:3])) == 3
