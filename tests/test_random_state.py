"""What is drawn, and from where: ``random_state=None`` is NumPy's global state, and the tests have seeds."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from joblib import parallel_backend
from sklearn.base import clone

from kernbench._models import MODELS
from kernbench._random import as_generator
from kernbench.estimators.fit.continuation import cold_start
from kernbench.kernels.bandwidth import median_distance
from kernbench.metrics import auc_interval
from kernbench.reference.kernels.bandwidth import median_distance as reference_median_distance

# Settings with which a fit to 60 rows draws something, where the default draws nothing that shows. After so few steps
# the objective must be below that of f = 0, which is returned otherwise.
DRAWS = {
    "KernelSVC": {"solver": "sdca", "max_iter": 100},
    "ROCSVC": {"kernel": "rbf", "n_landmarks": 10},
    "ROCSVCCV": {"kernel": "rbf", "n_landmarks": 10, "alphas": [0.1, 0.01], "n_jobs": 2},
    "PartialAUCClassifierCV": {"kernel": "rbf", "n_landmarks": 10, "alphas": [0.1, 0.01], "cv": 2},
    "PartialAUCClassifier": {"kernel": "rbf", "n_landmarks": 10},
    "RankedRangeClassifier": {"kernel": "rbf", "n_landmarks": 10},
    "RankedRangeRegressor": {"kernel": "rbf", "n_landmarks": 10},
    "LinearSVC": {"solver": "sdca", "max_iter": 200},
    "LinearSVCCV": {"solver": "sdca", "max_iter": 200, "Cs": [0.1, 1.0], "cv": 2},
    "LinearRegressor": {"solver": "sdca", "max_iter": 200, "alpha": 0.1},
    "KernelRegressor": {"solver": "sdca", "max_iter": 200},
    "KernelRegressorCV": {"solver": "sdca", "max_iter": 200, "alphas": [0.1, 0.01], "cv": 2},
    "AUCMarginClassifier": {"max_iter": 50},
    "Nystroem": {"n_landmarks": 10},
    "RandomFeatures": {"n_features": 10},
}
STILL = (
    "KernelNuSVC",
    "KernelSVR",
    "KernelNuSVR",
    "KernelNoveltyDetector",
    "KernelSVCCV",
)  # draw for gamma="median" only, from more rows than here
OUTPUTS = ("decision_function", "predict", "log_ratio", "transform")
every_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::UserWarning")


def problem_of(task, seed):
    """Rows, and targets that fit the task."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3))
    margin = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=60)
    if task == "regress":
        return X, margin
    return X, X + 0.3 if task == "ratio" else np.where(margin > np.median(margin), 1, 0)


def output_of(fitted, X):
    return getattr(fitted, next(name for name in OUTPUTS if hasattr(fitted, name)))(X)


@pytest.fixture
def workers_in_threads():
    """Searches with ``n_jobs`` get threads: processes would import kernbench first, and draw nothing themselves."""
    with parallel_backend("threading"):
        yield


@quiet
@every_model
@pytest.mark.usefixtures("workers_in_threads")
def test_a_script_repeats_after_seeding_numpy(model, global_random_seed):
    """Two fits after ``np.random.seed`` are equal to the bit; without it the second one differs.

    The outputs of the second one agree only if 10 landmarks of 60 rows are the same (1 in 7e10), if 100 indices below
    60 are, or if continuous numbers are.
    """
    X, y = problem_of(model.task, global_random_seed)
    estimator = model.load()(**DRAWS.get(model.name, {}))
    assert estimator.random_state is None

    def script():
        return [output_of(clone(estimator).fit(X, y), X) for _ in range(2)]

    np.random.seed(global_random_seed)
    first = script()
    np.random.seed(global_random_seed)
    np.testing.assert_array_equal(first, script())
    draws = np.any(first[0] != first[1])
    assert draws or model.name in STILL, "nothing is drawn: name settings in DRAWS with which something is"
    assert not draws or model.name not in STILL, "something is drawn: take it out of STILL"


@quiet
@every_model
@pytest.mark.usefixtures("workers_in_threads")
def test_a_fit_with_a_seed_leaves_the_global_state_alone(model):
    X, y = problem_of(model.task, 0)
    before = np.random.get_state()[1].copy()
    model.load()(**DRAWS.get(model.name, {}), random_state=0).fit(X, y)
    np.testing.assert_array_equal(np.random.get_state()[1], before)


@quiet
@pytest.mark.parametrize("random_state", [None, "module", "legacy", "generator"])
def test_a_fit_that_draws_nothing_changes_no_state(random_state):
    from kernbench import KernelSVC

    X, y = problem_of("classify", 0)
    legacy, generator = np.random.RandomState(0), np.random.default_rng(0)
    given = {"module": np.random, "legacy": legacy, "generator": generator}.get(random_state)
    states = [
        lambda: np.random.get_state()[1:3],
        lambda: legacy.get_state()[1:3],
        lambda: generator.bit_generator.state,
    ]
    before = [repr(state()) for state in states]
    KernelSVC(random_state=given).fit(X, y)
    KernelSVC(random_state=given).fit(X, y + (X[:, 0] > 1))  # three classes
    assert [repr(state()) for state in states] == before
    with pytest.raises(ValueError, match="random_state must be"):
        KernelSVC(random_state=-1).fit(X, y)


def test_a_start_without_draws_makes_no_generators():
    from kernbench import KernelSVC

    last = cold_start(KernelSVC(random_state=3), (), 3, draws=False)
    assert last.draws == [None] * 3 and last.kernel_seed == 0


@pytest.mark.parametrize("make", [lambda: None, lambda: np.random], ids=["None", "numpy.random"])
def test_none_is_the_global_state(make):
    np.random.seed(3)
    first, second = as_generator(make()).random(), as_generator(make()).random()
    assert first != second  # equal for one seed in 2^52
    np.random.seed(3)
    assert (as_generator(make()).random(), as_generator(make()).random()) == (first, second)
    assert as_generator(np.random.RandomState(3)).random() == first


def test_a_random_state_gives_the_128_bits_of_a_seed():
    words = np.random.RandomState(3).randint(2**32, size=4, dtype=np.uint32)
    assert as_generator(np.random.RandomState(3)).random() == np.random.default_rng(words).random()


@pytest.mark.parametrize("function", [median_distance, reference_median_distance])
def test_the_median_heuristic_draws_where_there_are_more_rows(function):
    X = np.random.default_rng(0).normal(size=(50, 2))
    before = np.random.get_state()[1].copy()
    function(X, n_rows=50)
    np.testing.assert_array_equal(np.random.get_state()[1], before)
    np.random.seed(5)
    first = function(X, n_rows=20)
    np.random.seed(5)
    assert function(X, n_rows=20) == first


def test_a_bootstrap_repeats():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    score, found = y + rng.normal(size=40), []
    for _ in range(2):
        np.random.seed(2)
        found.append(auc_interval(y, score, fpr_range=(0.0, 0.5), n_resamples=50))
    assert found[0] == found[1] != auc_interval(y, score, fpr_range=(0.0, 0.5), n_resamples=50)


# --- the tests themselves -------------------------------------------------------------------------


def test_no_generator_is_seeded_by_the_system():
    with pytest.raises(AssertionError, match="pass a number"):
        np.random.default_rng()
    assert np.random.default_rng(1).random() == np.random.Generator(np.random.PCG64(1)).random()


def collected(seeds):
    """What pytest says of the law above with these seeds."""
    test = f"{__file__}::test_a_script_repeats_after_seeding_numpy"
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "--collect-only", test]
    environment = {**os.environ, "KERNBENCH_TEST_SEEDS": seeds}
    found = subprocess.run(command, env=environment, cwd=Path(__file__).parent, capture_output=True, text=True)
    return found.returncode, found.stdout + found.stderr


@pytest.fixture
def seeds_of(request):
    """The function of the file ``conftest.py`` of all tests, which is no module to import."""
    plugins = request.config.pluginmanager.get_plugins()
    return next(plugin.seeds_of for plugin in plugins if hasattr(plugin, "seeds_of"))


def test_seeds_are_read(seeds_of, global_random_seed):
    assert seeds_of("3") == [3] and seeds_of("0,4-6") == [0, 4, 5, 6]
    assert global_random_seed in seeds_of(os.environ.get("KERNBENCH_TEST_SEEDS") or "0")
    for wrong in ("many", "", "3-", "-3", "0, 4"):
        with pytest.raises(pytest.UsageError, match=f"is like 3, 0,4 or 0-9, not '{wrong}'"):
            seeds_of(wrong)


@pytest.mark.slow
def test_seeds_may_be_chosen():
    code, text = collected("0,4-6")
    assert code == 0 and sorted(re.findall(r"\[(\d+)-LinearSVC\]", text)) == ["0", "4", "5", "6"]


@pytest.mark.slow
def test_seeds_that_are_none_are_refused():
    code, text = collected("many")
    assert code == pytest.ExitCode.USAGE_ERROR and "is like 3, 0,4 or 0-9, not 'many'" in text


@pytest.mark.parametrize("turn", [1, 2])
def test_each_test_begins_with_the_first_seed(turn):
    first = int(re.match(r"\d+", os.environ.get("KERNBENCH_TEST_SEEDS") or "0")[0])
    assert np.random.random_sample() == np.random.RandomState(first).random_sample()
