"""At the edge of the numbers a fit gives a finite model or a ValueError that says what to change, nothing else."""

import re
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernbench._models import BY_NAME, ESTIMATORS
from kernbench.losses.margin import MARGIN_LOSSES
from kernbench.solvers import registry
from kernbench.solvers.kinds import KINDS

SOLVERS = {name: [] for name in (model.name for model in ESTIMATORS)}
for kind in KINDS.values():
    if kind.estimator in SOLVERS and "solver" in BY_NAME[kind.estimator].load()().get_params():
        SOLVERS[kind.estimator] += registry.names(kind.name)
SOLVERS["RankedRangeRegressor"] = SOLVERS["RankedRangeClassifier"]  # of one kind, with the losses of both
LOSSES = {(entry.kind.estimator, entry.name): entry.losses for entry in registry.SOLVERS}
for solver in SOLVERS["RankedRangeRegressor"]:
    of_both = LOSSES["RankedRangeClassifier", solver]
    LOSSES["RankedRangeClassifier", solver] = [loss for loss in of_both if loss in MARGIN_LOSSES]
    LOSSES["RankedRangeRegressor", solver] = [loss for loss in of_both if loss not in MARGIN_LOSSES]
CASES = [(name, solver) for name, solvers in SOLVERS.items() for solver in solvers or [None]]
REMEDY = re.compile(r"\b(must|use|choose|scale|raise|lower|give|set|at most)\b")
NO_SENTENCE = re.compile("internal|broadcast|shapes|aligned|infs or NaNs")  # of NumPy and SciPy, about their arguments
MAY_BE_INFINITE = ("duality_gap_", "subproblem_gap_", "criticality_")  # where there is no certificate


@st.composite
def problems(draw):
    """Two to ten rows: constant columns, equal rows, tiny and huge numbers; labels of two classes."""
    n, d = draw(st.integers(2, 10)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    X = rng.normal(size=(n, d))
    shape = draw(st.sampled_from(["plain", "zero", "equal", "twice", "constant column", "whole numbers"]))
    if shape == "zero":
        X[:] = 0
    elif shape == "equal":
        X[:] = X[0]
    elif shape == "twice":
        X[n // 2 :] = X[: n - n // 2]
    elif shape == "constant column":
        X[:, 0] = draw(st.sampled_from([0.0, 1.0, 1e6]))
    elif shape == "whole numbers":
        X = np.round(X)
    scale = draw(st.sampled_from([1.0, 1.0, 1e-8, 1e-40, 1e-54, 1e-81, 1e-162, 1e-300, 1e20, 1e77, 1e150]))
    return scale * X, np.concatenate([[0, 1], rng.integers(0, 2, n - 2)])


@st.composite
def parameters(draw, known, losses):
    """Extreme values of the parameters that a model has."""
    chosen = {
        "loss": draw(st.sampled_from(losses)),
        "C": draw(st.sampled_from([1.0, 1e-100, 1e-12, 1e6, 1e12, 1e100])),
        "alpha": draw(st.sampled_from([1.0, 100.0, 1e-100, 1e-12, 1e6, 1e100])),
        "noise_variance": draw(st.sampled_from([0.1, 1e-12, 1e12])),
        "kernel": draw(st.sampled_from(["rbf", "linear", "poly"])),
        "features": draw(st.sampled_from(["auto", "random"])),
        "batch_size": draw(st.sampled_from([1, 1024])),
        "block_size": draw(st.sampled_from(["auto", 1])),
        "max_iter": draw(st.sampled_from([1, 30])),
        "max_seconds": draw(st.sampled_from([None, 1e-9])),
        "cv": 2,
        "alphas": [1e-3, 1.0],
        "random_state": 0,
    }
    return {name: value for name, value in chosen.items() if name in known}


def fit(model, task, X, y, scale=1.0):
    if task == "regress":
        return model.fit(X, scale * y)
    if task == "ratio":
        return model.fit(X[y == 0], X[y == 1])
    return model.fit(X) if task == "novelty" else model.fit(X, y)


def not_finite(model, X):
    """Return the names of fitted attributes and methods that hold a NaN or an infinity."""
    values = {name: value for name, value in vars(model).items() if name.endswith("_") and name[0] != "_"}
    for method in ("predict", "decision_function", "log_ratio", "score_samples"):
        if hasattr(model, method):
            values[method] = getattr(model, method)(X)
    return [
        name
        for name, value in values.items()
        if isinstance(value, float | np.ndarray) and np.asarray(value).dtype.kind == "f"
        if np.any(np.isnan(value)) or (name not in MAY_BE_INFINITE and np.any(np.isinf(value)))
    ]


@pytest.mark.parametrize("name, solver", CASES)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_a_fit_ends_in_a_finite_model_or_a_sentence(name, solver, data):
    listed = BY_NAME[name]
    known = listed.load()().get_params()
    losses = LOSSES[name, solver] if solver else [known.get("loss")]
    chosen = data.draw(parameters(known, losses)) | ({} if solver is None else {"solver": solver})
    X, y = data.draw(problems())
    model = listed.load()(**chosen)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            fit(model, listed.task, X, y, data.draw(st.sampled_from([1.0, 1e-200, 1e-9, 1e100])))
        except ValueError as error:
            assert REMEDY.search(str(error)) and not NO_SENTENCE.search(str(error))
        else:
            no_score = any("No cell has a finite mean score" in str(warning.message) for warning in caught)
            assert not_finite(model, X) == (["best_score_"] if no_score else [])  # R² of one row held out


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name, solver", CASES)
def test_plain_rows_are_fitted_with_default_parameters(name, solver):
    listed, y = BY_NAME[name], np.arange(20) % 2
    X = np.random.default_rng(0).normal(size=(20, 2)) + y[:, None]
    model = listed.load()(**({} if solver is None else {"solver": solver}))
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    fit(model, listed.task, X, y)
    assert not_finite(model, X) == []


@pytest.mark.filterwarnings("ignore")
def test_kernel_values_whose_products_underflow_are_refused_or_solved():
    """The steps of ``norma`` divided by the curvature of the loss times the largest k(x, x), which is 0 in float64."""
    x = 1e-162 * np.array([1.0, 2.0, -1.0, 3.0])
    model = BY_NAME["KernelSVC"].load()(
        kernel="precomputed", solver="norma", loss="log_loss", fit_intercept=False, random_state=0, max_iter=20
    )
    try:
        model.fit(np.outer(x, x), [0, 1, 0, 1])
    except ValueError as error:
        assert "scale the features" in str(error)
    else:
        assert np.isfinite(model.objective_)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("solver", ["norma", "pegasos"])
def test_the_best_multiple_of_a_function_may_be_tiny(solver):
    """It was sought by bisection from 1, which takes as many steps as there are powers of two in between."""
    model = BY_NAME["KernelRegressor"].load()(
        solver=solver, loss="quantile", kernel="linear", max_iter=1, random_state=0, alpha=1.0
    )
    model.fit(np.array([[0.0], [0.44]]), np.array([-6e-140, 8e-140]))
    assert np.isfinite(model.objective_) and model.objective_ <= 1e-139


@pytest.mark.filterwarnings("ignore")
def test_covariances_that_overflow_name_the_remedy():
    X = 1e20 * np.random.default_rng(0).normal(size=(11, 3))
    model = BY_NAME["DoublyStochasticClassifier"].load()(loss="squared_hinge", kernel="linear", random_state=0)
    with pytest.raises(ValueError, match="not finite: scale the features"):
        model.fit(X, np.arange(11) % 2, sample_weight=np.linspace(0.0, 2e300, 11))
