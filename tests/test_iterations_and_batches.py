"""``max_iter`` and ``n_iter_`` mean what docs/estimators.md says, and a row has the same prediction in any batch."""

import numpy as np
import pytest

from kernbench import KernelSVC
from kernbench._models import BY_NAME, ESTIMATORS, MODELS
from kernbench.solvers import registry

PROBLEMS = {
    "KernelSVC": "kernel-svm",
    "LinearSVC": "linear-svm",
    "KernelRegressor": "kernel-regression",
    "LinearRegressor": "linear-regression",
    "ROCSVC": "roc-svm",
    "PartialAUCClassifier": "partial-auc",
    "RankedRangeClassifier": "ranked-range",
    "RankedRangeRegressor": "ranked-range",
}
SETTINGS = {
    "ROCSVC": {"kernel": "rbf", "n_landmarks": 20},
    "PartialAUCClassifier": {"kernel": "rbf", "n_landmarks": 20},
    "AUCMarginClassifier": {"max_iter": 20},
    "Nystroem": {"n_landmarks": 20},
    "RandomFeatures": {"n_features": 64},
}
LIMITED = [model for model in ESTIMATORS if "max_iter" in model.load()().get_params()]
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::UserWarning")


def problem_of(task, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 4))
    margin = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=60)
    if task == "ratio":
        return X, X + 0.3
    return X, margin if task == "regress" else (margin > np.median(margin)).astype(int)


def made(model, **settings):
    known = model.load()().get_params()
    common = {"tol": 1e-14, "random_state": 0, "block_size": 8}
    return model.load()(**{name: value for name, value in common.items() if name in known}, **settings)


@quiet
@pytest.mark.parametrize("k", [1, 7, 40])
@pytest.mark.parametrize(
    "model, solver",
    [(m, s) for m in LIMITED for s in (registry.names(PROBLEMS[m.name]) if m.name in PROBLEMS else [None])],
    ids=lambda value: getattr(value, "name", value),
)
def test_max_iter_is_reached_or_not_and_never_exceeded(model, solver, k):
    X, y = problem_of(model.task)
    fitted = made(model, max_iter=k, **({} if solver is None else {"solver": solver})).fit(X, y)
    assert isinstance(fitted.n_iter_, np.ndarray) and fitted.n_iter_.dtype.kind == "i"
    assert fitted.n_iter_.shape == (1,) and 0 <= fitted.n_iter_[0] <= k
    if fitted.status_ == "max_iter":
        assert fitted.n_iter_[0] == k


@quiet
@pytest.mark.parametrize("model", [m for m in LIMITED if hasattr(m.load(), "path")], ids=lambda model: model.name)
def test_max_iter_limits_each_model_of_a_path(model):
    X, y = problem_of(model.task)
    strengths = {"Cs": [0.1, 1.0, 10.0]} if hasattr(model.load()(), "C") else {"alphas": [1e-3, 1e-2, 1e-1]}
    for fitted in made(model, max_iter=5).path(X, y, **strengths):
        assert fitted.n_iter_.shape == (1,) and 0 <= fitted.n_iter_[0] <= 5
        assert fitted.status_ != "max_iter" or fitted.n_iter_[0] == 5


@quiet
@pytest.mark.parametrize(
    "model", [m for m in LIMITED if "warm_start" in m.load()().get_params()], ids=lambda model: model.name
)
def test_max_iter_limits_each_fit_of_a_warm_start(model):
    """``n_iter_`` counts the iterations of the last fit; of the doubly stochastic models, batches so far."""
    X, y = problem_of(model.task)
    fitted = made(model, max_iter=3, warm_start=True)
    so_far = 0
    for _ in range(3):
        before, so_far = so_far, int(fitted.fit(X, y).n_iter_[0])
        taken = so_far - before if model.name.startswith("DoublyStochastic") else so_far
        assert 0 <= taken <= 3
        assert fitted.status_ != "max_iter" or taken == 3


@quiet
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_max_iter_limits_each_of_several_problems(n_jobs):
    X, y = problem_of("regress")
    fitted = KernelSVC(max_iter=4, tol=1e-12, n_jobs=n_jobs).fit(X, np.digitize(y, [-1.0, 0.0, 1.0]))
    assert fitted.n_iter_.shape == (6,) and np.all(fitted.n_iter_ <= 4)
    assert all(n == 4 for n, status in zip(fitted.n_iter_, fitted.status_, strict=True) if status == "max_iter")
    assert "max_iter" in fitted.status_


@quiet
@pytest.mark.parametrize(
    "name, settings, n_problems",
    [
        ("KernelSVC", {}, 6),
        ("KernelSVC", {"multi_class": "ovr"}, 4),
        ("LinearSVC", {}, 4),
        ("KernelRegressor", {}, 2),
        ("LinearRegressor", {}, 2),
    ],
)
def test_n_iter_has_one_number_for_each_problem(name, settings, n_problems):
    X, y = problem_of(BY_NAME[name].task)
    targets = np.column_stack([y, y**2]) if BY_NAME[name].task == "regress" else np.arange(60) % 4
    fitted = made(BY_NAME[name], max_iter=5, **settings).fit(X, targets)
    assert fitted.n_iter_.shape == (n_problems,) and np.all(fitted.n_iter_ <= 5)


@quiet
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_a_row_has_the_same_prediction_alone_and_in_a_batch(model, dtype):
    """Up to 16 ulp of the largest value, at the default C: BLAS adds in an order that depends on the number of rows.

    The root of a Nyström map multiplies the rounding errors of kernel values by its norm.
    """
    X, y = problem_of(model.task)
    known = model.load()().get_params()
    random = {"random_state": 0} if "random_state" in known else {}
    fitted = model.load()(**SETTINGS.get(model.name, {}), **random).fit(X.astype(dtype), y)
    names = ("decision_function", "predict", "log_ratio", "transform")
    predict = getattr(fitted, next(name for name in names if hasattr(fitted, name)))
    Z = np.random.default_rng(1).normal(size=(101, 4)).astype(dtype)
    batch = predict(Z)
    alone = np.concatenate([predict(Z[i : i + 1]) for i in range(len(Z))])
    single = np.float32 in (batch.dtype, dtype) or getattr(fitted, "dtype_", "float64") == "float32"
    ulp = np.finfo(np.float32 if single else np.float64).eps * np.abs(batch).max()
    root = getattr(getattr(fitted, "feature_map_", fitted), "normalization_", np.ones((1, 1)))
    np.testing.assert_allclose(alone, batch, rtol=0, atol=16 * max(1, np.linalg.norm(root)) * ulp)


@quiet
@pytest.mark.parametrize("C", [1.0, 100.0])
@pytest.mark.parametrize("name", ["KernelSVC", "KernelSVR"])
def test_alone_and_in_a_batch_at_a_large_C_differ_by_rounding_of_the_terms(name, C):
    """Coefficients of opposite signs cancel: their sum of magnitudes is thousands of times the largest value."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = (X[:, 0] + 0.4 * rng.normal(size=600) > 0).astype(int)
    model = BY_NAME[name].load()(C=C, dtype="float64").fit(X, y)
    predict = model.decision_function if name == "KernelSVC" else model.predict
    batch = predict(X)
    alone = np.concatenate([predict(X[i : i + 1]) for i in range(100)])
    ulp = np.finfo(np.float64).eps * np.abs(model.dual_coef_).sum()
    np.testing.assert_allclose(alone, batch[:100], rtol=0, atol=16 * ulp)
