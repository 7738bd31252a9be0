"""What docs/estimators.md says of several threads of a program, each line under stress."""

import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from sklearn.base import clone
from threadpoolctl import threadpool_info, threadpool_limits

from kernbench._models import MODELS
from kernbench.kernels.threads import single_threaded_blas

N_THREADS = 8
SETTINGS = {
    "KernelSVC": {"gamma": 0.5},
    "ROCSVC": {"kernel": "rbf", "n_landmarks": 20},
    "ROCSVCCV": {"kernel": "rbf", "n_landmarks": 20, "alphas": [0.1, 0.01]},
    "LinearSVCCV": {"Cs": [0.1, 1.0], "cv": 2},
    "KernelRegressorCV": {"alphas": [0.1, 0.01], "cv": 2},
    "PartialAUCClassifierCV": {"kernel": "rbf", "n_landmarks": 20, "alphas": [0.1, 0.01], "cv": 2},
    "PartialAUCClassifier": {"kernel": "rbf", "n_landmarks": 20},
    "RankedRangeClassifier": {"kernel": "rbf", "n_landmarks": 20},
    "RankedRangeRegressor": {"kernel": "rbf", "n_landmarks": 20},
    "AUCMarginClassifier": {"max_iter": 20},
    "Nystroem": {"n_landmarks": 20},
    "RandomFeatures": {"n_features": 64},
    "DoublyStochasticGPRegressor": {"block_size": 256},
    **{
        f"DoublyStochastic{name}": {"max_iter": 10}
        for name in ("Classifier", "Regressor", "DensityRatio", "NoveltyDetector")
    },
}
STREAMS = {
    "KernelSVC": {"solver": "scs", "gamma": 0.5},
    "ROCSVC": {"kernel": "rbf", "n_landmarks": 20},
    "DoublyStochasticGPRegressor": {"block_size": 256},
}
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::UserWarning")
every_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)


def n_blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


@pytest.fixture(autouse=True)
def stress():
    """Let Python change threads often, and BLAS have two."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    with threadpool_limits(2, user_api="blas"):
        before = n_blas_threads()
        yield
        assert n_blas_threads() == before  # the limit that fits and predictions set is lifted
    sys.setswitchinterval(interval)


def problem_of(task):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(60, 5))
    margin = X[:, 0] + 0.3 * rng.normal(size=60)
    if task == "ratio":
        return X, X + 0.3
    return X, margin if task == "regress" else (margin > 0).astype(int)


def made(model, settings=SETTINGS):
    random = {"random_state": 0} if "random_state" in model.load()().get_params() else {}
    return model.load()(**settings.get(model.name, {}), **random)


def output(fitted, X):
    names = ("decision_function", "predict", "log_ratio", "transform")
    return getattr(fitted, next(name for name in names if hasattr(fitted, name)))(X)


def in_threads(function, arguments):
    """Return the results of calls that begin together, one in each thread."""
    barrier = Barrier(len(arguments))

    def call(argument):
        barrier.wait()
        return function(argument)

    with ThreadPoolExecutor(len(arguments)) as pool:
        return list(pool.map(call, arguments))


@quiet
@every_model
def test_predictions_of_one_model_from_eight_threads_have_the_bits_of_one(model):
    X, y = problem_of(model.task)
    fitted = made(model).fit(X, y)
    Z = np.tile(X, (3, 1))
    expected = output(fitted, Z)
    for found in in_threads(lambda _: [output(fitted, Z) for _ in range(3)], range(N_THREADS)):
        for again in found:
            np.testing.assert_array_equal(again, expected)


@quiet
@every_model
def test_separate_estimators_are_fitted_at_once(model):
    X, y = problem_of(model.task)
    expected = output(made(model).fit(X, y), X)
    for found in in_threads(lambda estimator: output(estimator.fit(X, y), X), [made(model) for _ in range(3)]):
        np.testing.assert_array_equal(found, expected)


@quiet
@pytest.mark.parametrize(
    "model", [model for model in MODELS if hasattr(made(model, STREAMS), "partial_fit")], ids=lambda model: model.name
)
def test_calls_of_partial_fit_wait_for_each_other(model):
    """All batches are the same, so that the model does not depend on their order, only on each being learnt whole."""
    X, y = problem_of(model.task)
    alone = made(model, STREAMS)
    for _ in range(5):
        alone.partial_fit(X, y)
    shared = made(model, STREAMS).partial_fit(X, y)
    in_threads(lambda estimator: [estimator.partial_fit(X, y) for _ in range(2)], [shared, shared])
    np.testing.assert_array_equal(output(shared, X), output(alone, X))
    clone(shared)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no such timer here")
@pytest.mark.parametrize("limit", [1, 2])  # 1: there is nothing to limit, so that the counting takes most of the time
def test_ctrl_c_leaves_blas_as_it_was(limit):
    """At any step of entering and leaving: a count that remains would switch the limit off for good."""
    before, rng = n_blas_threads(), np.random.default_rng(0)

    def interrupt(number, frame):
        raise KeyboardInterrupt

    handler = signal.signal(signal.SIGALRM, interrupt)
    n_interrupts = 0
    try:
        with threadpool_limits(limit, user_api="blas"):
            for seconds in rng.uniform(1e-6, 3e-4, size=1000):
                try:
                    signal.setitimer(signal.ITIMER_REAL, seconds)
                    while True:
                        with single_threaded_blas():
                            pass
                except KeyboardInterrupt:
                    n_interrupts += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, handler)
    assert n_interrupts == 1000 and n_blas_threads() == before
    with single_threaded_blas():
        assert set(n_blas_threads()) == {1}


def test_blas_keeps_one_thread_as_long_as_a_thread_needs_it():
    """Some leave while others are inside."""

    def enter(seed):
        for pause in np.random.default_rng(seed).integers(200, size=15):
            with single_threaded_blas():
                sum(range(pause))
                assert set(n_blas_threads()) == {1}

    in_threads(enter, range(N_THREADS))
