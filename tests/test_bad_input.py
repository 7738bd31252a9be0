"""Bad input: whatever the model, a ValueError that says what to change, before any model is made of it."""

import re
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.utils.validation import has_fit_parameter

from kernbench._models import ESTIMATORS, MODELS
from kernbench.kernels import Gaussian

N_ROWS, N_COLUMNS = 60, 4
LABELLED = ("classify", "rank")

# Parameters that several models share: bad values, and what the message says.
PARAMETERS = [
    ("C", 0, "C must be a positive number"),
    ("C", -1.0, "C must be a positive number"),
    ("C", np.inf, "C must be a positive finite number"),
    ("C", "1", "C must be a positive number"),
    ("C", True, "C must be a positive number"),
    ("alpha", -1.0, "alpha must be"),
    ("alpha", np.nan, "alpha must be"),
    ("alpha", True, "alpha must be"),
    ("tol", 0.0, "tol must be a positive number"),
    ("tol", np.nan, "tol must be a positive finite number"),
    ("max_iter", 0, "max_iter must be a positive integer, or -1"),
    ("max_iter", -2, "max_iter must be a positive integer, or -1"),
    ("max_iter", 10.5, "max_iter must be a positive integer, or -1"),
    ("max_seconds", 0, "max_seconds must be a positive number of seconds, or None"),
    ("cache_size", 0, "cache_size must be a positive number of megabytes"),
    ("cache_size", -5, "cache_size must be a positive number of megabytes"),
    ("solver", "smoo", "unknown solver 'smoo'"),
    ("solver", None, "unknown solver None"),
    ("loss", "hinges", "unknown loss"),
    ("loss", None, "unknown loss"),
    ("kernel", "rbff", "unknown kernel 'rbff'; did you mean 'rbf'?"),
    ("gamma", "scael", "unknown gamma 'scael'; did you mean 'scale'?"),
    ("gamma", 0.0, "gamma must be"),
    ("dtype", "float46", "unknown dtype 'float46'; did you mean 'float64'?"),
    ("dtype", np.float64, "unknown dtype"),
    ("class_weight", "balance", "class_weight must be None, 'balanced' or a dict"),
    ("class_weight", {0: -1.0}, "class_weight of class 0 must be a finite number of at least 0"),
    ("class_weight", {0: float("inf")}, "class_weight of class 0 must be a finite number of at least 0, got inf"),
    ("degree", 1.5, "degree must be a positive integer, got 1.5"),
    ("coef0", np.nan, "coef0 must be a finite number"),
    ("coef0", -1.0, "coef0 must be at least 0"),
    ("fit_intercept", "no", "fit_intercept must be True or False"),
    ("intercept_scaling", 0, "intercept_scaling must be a positive number"),
    ("warm_start", "yes", "warm_start must be True or False"),
    ("shrinking", None, "shrinking must be True or False"),
    ("shuffle", 1.0, "shuffle must be True or False"),
    ("break_ties", "no", "break_ties must be True or False"),
    ("decision_function_shape", "ovx", "unknown decision_function_shape 'ovx'; did you mean 'ovr'?"),
    ("features", "exacter", "unknown features 'exacter'; did you mean 'exact'?"),
    ("landmarks", "kmean", "unknown landmarks 'kmean'; did you mean 'kmeans'?"),
    ("n_landmarks", 0, "n_landmarks must be a positive integer"),
    ("n_features", 0, "n_features must be a positive integer"),
    ("threshold", "youdin", "unknown threshold 'youdin'; did you mean 'youden'?"),
    ("threshold", ("sensitivity", 2), "the sensitivity of a threshold must be above 0 and at most 1"),
    ("threshold_on", 2.0, "threshold_on must be 'train', or the share of the rows to hold out"),
    ("fpr_range", (0.5, 0.2), "fpr_range must be a pair (a, b) of numbers with 0 <= a < b <= 1"),
    ("ranked_range", (1, 1), "ranked_range must be two integers (m, n), 0 <= m < n"),
    ("nu", 0.0, "nu must be a positive number"),
    ("nu", 1.5, "nu must be a positive number"),
    ("batch_size", 0, "batch_size must be a positive integer"),
    ("block_size", 0, "block_size must be a positive integer"),
    ("max_blocks", 0, "max_blocks must be a positive integer"),
    ("step_size", 0, "step_size must be a positive number"),
    ("damping", -1, "damping must be a number of at least 0"),
    ("schedule", "invers", "unknown schedule 'invers'; did you mean 'inverse'?"),
    ("average", "tial", "unknown average 'tial'; did you mean 'tail'?"),
    ("keep", "first", "unknown keep 'first'"),
    ("Cs", [], "Cs must be a list of positive numbers"),
    ("alphas", [], "alphas must be a list of positive numbers"),
    ("gammas", [], "gammas must hold at least one value"),
    ("refit", 2, "refit must be True, False, the name of a score or a function"),
    ("memory", 3, "memory must be the path of a folder, or None"),
    ("random_state", "seed", "random_state must be None"),
    ("random_state", -1, "random_state must be None"),
    ("n_jobs", 0, "n_jobs must be a number of threads"),
    ("n_jobs", 1.5, "n_jobs must be a number of threads"),
    ("callback", 3, "callback must be a function or a list of functions"),
    ("callback", [print, "print"], "callback must be a function or a list of functions"),
    ("verbose", -1, "verbose must be 0, or 1 for a progress bar"),
    ("cv", 1, "cv must be at least 2 folds"),
    ("cv", True, "cv must be at least 2 folds"),
    ("cv", [3], "cv must make pairs of row numbers"),
    ("cv", [([0.5], [1.5])], "cv must make pairs of row numbers"),
    ("scoring", {"mine": 3}, "scoring must hold names of scores and functions, got 3"),
    ("refit", "accuracyy", "with a single score refit must be True, False, a function or 'score'"),
    ("solver_options", [1], "solver_options must be a dict"),
    ("solver_options", {"alpha": 1.0}, "solver_options must not hold alpha"),
    ("solver_options", {"burn": 1}, "unknown option of solver"),
]
# Kernels that these belong to.
KERNELS = {"gamma": "rbf", "degree": "poly", "coef0": "poly", "landmarks": "rbf", "n_landmarks": "rbf"}


def problem_of(task):
    """Rows, and what fits the task: labels, targets, another sample or nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_COLUMNS))
    margin = X[:, 0] + 0.5 * rng.normal(size=N_ROWS)
    if task == "ratio":
        return X, X + 0.3
    return X, margin if task == "regress" else (margin > 0).astype(int)


@cache
def parameters_of(model):
    return frozenset(model.load()().get_params())


def has(model, *names):
    return parameters_of(model).issuperset(names)


def is_weighted(model):
    return has_fit_parameter(model.load()(), "sample_weight")


def predict(fitted, X):
    names = ("decision_function", "predict", "log_ratio", "transform")
    return getattr(fitted, next(name for name in names if hasattr(fitted, name)))(X)


@cache
def fitted_by_default(model):
    """A fit to the rows of `problem_of`, to predict with."""
    return model.load()().fit(*problem_of(model.task))


def answer_to(model, X, y, **settings):
    """What a fit with these parameters says: the message of its ValueError, or what it did instead."""
    estimator = model.load()(**settings)  # not checked yet
    try:
        estimator.fit(X, y)
    except ValueError as error:
        return str(error)
    except Exception as error:  # the other cases are tried, too
        return f"<{type(error).__name__}: {error}>"
    return "<no error>"


every_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)


@every_model
def test_bad_parameters(model):
    """All of a model in one test, since the start of a test takes longer than a case; failures are listed."""
    X, y = problem_of(model.task)
    wrong = []
    for name, value, message in PARAMETERS:
        if has(model, name):
            kernel = {"kernel": KERNELS[name]} if name in KERNELS else {}
            answer = answer_to(model, X, y, **{name: value}, **kernel)
            if answer.startswith("<") or message not in answer:
                wrong.append((name, value, answer))
    assert not wrong, "\n".join(map(str, wrong))


@pytest.mark.parametrize("value", ["x", None, np.inf, True])
@pytest.mark.parametrize(
    "model, name",
    [
        (model, name)
        for name in ("degree", "coef0", "delta", "epsilon", "quantile")
        for model in MODELS
        if has(model, name)
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_parameter_that_is_not_used_is_checked(model, name, value):
    """By the default kernels and losses; a grid may hold others."""
    X, y = problem_of(model.task)
    with pytest.raises(ValueError, match=f"{name} must be "):
        model.load()(**{name: value}).fit(X, y)


class Thing:
    """What no parameter takes."""


WRONG = {"thing": Thing(), "text": "no such", "nan": np.nan, "list": [Thing()], "dict": {"x": Thing()}}
# How messages name a parameter other than by its own name.
NAMED = {"gammas": "gamma", "kernels": "kernel", "solver_options": "solver_options|option of solver"}


@every_model
def test_every_parameter_is_checked(model):
    X, y = problem_of(model.task)
    wrong = []
    for name, (kind, value) in product(sorted(parameters_of(model)), WRONG.items()):
        if (name, kind) != ("memory", "text"):  # any text names a folder
            answer = answer_to(model, X, y, **{name: value})
            if answer.startswith("<") or not re.search(NAMED.get(name, name), answer):
                wrong.append((name, kind, answer))
    assert not wrong, "\n".join(map(str, wrong))


@pytest.mark.parametrize("model", [model for model in MODELS if has(model, "degree")], ids=lambda model: model.name)
def test_degree_0_is_for_kernels_without_one(model):
    """As in SVC, where it makes a polynomial constant."""
    X, y = problem_of(model.task)
    model.load()(degree=0).fit(X, y)
    with pytest.raises(ValueError, match="degree must be a positive integer, got 0"):
        model.load()(kernel="poly", degree=0).fit(X, y)


@pytest.mark.parametrize("model", [model for model in ESTIMATORS if has(model, "kernel")], ids=lambda model: model.name)
def test_a_number_is_no_kernel(model):
    X, y = problem_of(model.task)
    message = "kernel must be a name, a kernel object or a function, got 3"
    if model.name.startswith("DoublyStochastic"):
        message = "there are no random features of kernel=3. Names of kernels that have them: rbf"
    with pytest.raises(ValueError, match=re.escape(message)):
        model.load()(kernel=3).fit(X, y)


@every_model
@pytest.mark.parametrize("make", [np.array, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("value, word", [(np.nan, "NaN"), (-np.inf, "infinity")])
def test_what_is_not_finite_is_named_by_its_column(model, make, value, word):
    X, y = problem_of(model.task)
    bad = X.copy()
    bad[17, 2] = value
    message = f"column 2 holds {word}, first in row 17"
    with pytest.raises(ValueError, match=message):
        model.load()().fit(make(bad), y)
    if make is np.array:
        with pytest.raises(ValueError, match=message):
            predict(fitted_by_default(model), bad)


@every_model
@pytest.mark.parametrize("make", [np.array, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("value, word", [(np.nan, "NaN"), (np.inf, "infinity")])
def test_what_is_not_finite_is_named_where_scikit_learn_does_not_look(model, make, value, word):
    X, y = problem_of(model.task)
    X[17, 2] = value
    with config_context(assume_finite=True), pytest.raises(ValueError, match=f"column 2 holds {word}, first in row "):
        model.load()().fit(make(X), y)


@every_model
@pytest.mark.parametrize(
    "spoil, message",
    [
        (lambda X: X.astype(str).astype(object) + "cm", "X holds text.*Encode it as numbers"),
        (lambda X: X + 1j, "Complex data not supported"),
        (lambda X: X[:, :0], "0 feature"),
        (lambda X: X[0], "2D array"),
        (lambda X: X[:, :, None], "dim 3"),
    ],
    ids=["text", "complex", "no columns", "one row", "three dimensions"],
)
def test_bad_rows(model, spoil, message):
    X, y = problem_of(model.task)
    with pytest.raises(ValueError, match=message):
        model.load()().fit(spoil(X), y)


def with_missing(X):
    X = X.astype(object)
    X[7, 1] = pytest.importorskip("pandas").NA
    return X


# Rows that are no numbers, and what the message says.
NO_NUMBERS = {
    "text": (lambda X: X.astype(str).astype(object) + "cm", "X holds text.*Encode it as numbers"),
    "ragged": (lambda X: [[1.0], *X[1:].tolist()], "inhomogeneous"),
    "missing": (with_missing, "missing values .pandas.NA."),
}


@pytest.mark.parametrize("model", [model for model in ESTIMATORS if has(model, "kernel")], ids=lambda model: model.name)
@pytest.mark.parametrize("kind", NO_NUMBERS)
def test_rows_of_a_kernel_object_are_numbers(model, kind):
    """It can be called, as a Python function can, which takes any rows."""
    X, y = problem_of(model.task)
    spoil, message = NO_NUMBERS[kind]
    with pytest.raises(ValueError, match=message):
        model.load()(kernel=Gaussian(1.0)).fit(spoil(X), y)


@every_model
def test_masked_entries_are_rejected(model):
    """Conversions to arrays drop the mask, without a word."""
    X, y = problem_of(model.task)
    masked = np.ma.masked_array(X, np.arange(X.size).reshape(X.shape) == 7)
    message = "X must have no masked entries, .*: fill them in .numpy.ma.filled., or leave out their rows"
    fitted = model.load()().fit(np.ma.masked_array(X), y)  # which are none
    with pytest.raises(ValueError, match=message):
        model.load()().fit(masked, y)
    with pytest.raises(ValueError, match=message):
        predict(fitted, masked)
    if model.task in ("regress", *LABELLED):
        with pytest.raises(ValueError, match="y must have no masked entries"):
            model.load()().fit(X, np.ma.masked_array(y, np.arange(N_ROWS) == 7))


# What NumPy takes for one object.
NO_ARRAYS = {"generator": lambda values: (value for value in values), "dict": lambda values: dict(enumerate(values))}


@every_model
@pytest.mark.parametrize("kind", NO_ARRAYS)
def test_rows_that_are_no_array(model, kind):
    X, y = problem_of(model.task)
    message = f"X is a {kind}, not an array: make a list, an array or a data frame of it"
    with pytest.raises(ValueError, match=message):
        model.load()().fit(NO_ARRAYS[kind](X), y)
    with pytest.raises(ValueError, match=message):
        predict(fitted_by_default(model), NO_ARRAYS[kind](X))


@pytest.mark.parametrize(
    "model", [model for model in ESTIMATORS if model.task not in ("ratio", "novelty")], ids=lambda model: model.name
)
def test_labels_that_are_no_array(model):
    X, y = problem_of(model.task)
    for kind, make in NO_ARRAYS.items():
        with pytest.raises(ValueError, match=f"y is a {kind}, not an array"):
            model.load()().fit(X, make(y))
    with pytest.raises(ValueError, match="y should be a 1d array"):
        model.load()().fit(X, "the name of a column")


@pytest.mark.parametrize("model", [model for model in ESTIMATORS if is_weighted(model)], ids=lambda model: model.name)
def test_weights_that_are_no_numbers(model):
    X, y = problem_of(model.task)
    with pytest.raises(ValueError, match="sample_weight is a generator, not an array"):
        model.load()().fit(X, y, sample_weight=(1.0 for _ in y))
    for weights in ("balanced", np.full(N_ROWS, "heavy"), np.full(N_ROWS, Thing())):
        with pytest.raises(ValueError, match="sample_weight must be numbers, one for each row"):
            model.load()().fit(X, y, sample_weight=weights)


@pytest.mark.parametrize(
    "model", [model for model in ESTIMATORS if model.task not in ("ratio", "novelty")], ids=lambda model: model.name
)
def test_rows_and_labels_of_different_number(model):
    X, y = problem_of(model.task)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.load()().fit(X[:-1], y)
    with pytest.raises(ValueError, match="0 sample"):
        model.load()().fit(X[:0], y[:0])


@pytest.mark.parametrize(
    "model", [model for model in ESTIMATORS if model.task in LABELLED], ids=lambda model: model.name
)
@pytest.mark.parametrize(
    "spoil, message",
    [
        (np.zeros_like, "The number of classes has to be greater than one; got 1 class"),
        (lambda y: y + 0.5 * np.arange(len(y)), "Unknown label type"),
        (lambda y: np.where(y == 0, np.nan, y), "Input y contains NaN"),
        (lambda y: np.where(y == 0, np.nan, y.astype(str).astype(object)), "y holds missing values: leave out"),
        (lambda y: None, "requires y"),
        (lambda y: np.column_stack([y, y]), "1d array|multi-output|y should be"),
    ],
    ids=["one class", "real numbers", "NaN", "a missing one", "none", "two columns"],
)
def test_bad_labels(model, spoil, message):
    X, y = problem_of(model.task)
    with pytest.raises(ValueError, match=message):
        model.load()().fit(X, spoil(y))


@pytest.mark.parametrize(
    "model", [model for model in ESTIMATORS if model.task == "regress"], ids=lambda model: model.name
)
@pytest.mark.parametrize(
    "spoil, message",
    [
        (lambda y: np.where(y > 0, np.inf, y), "infinity"),
        (lambda y: np.where(y > 0, np.nan, y), "NaN"),
        (lambda y: np.full(len(y), "a"), "numbers"),
        (lambda y: np.datetime64("2020-01-01") + np.arange(len(y)), "y must be numbers.*got times"),
    ],
    ids=["infinity", "NaN", "text", "dates"],
)
def test_bad_targets(model, spoil, message):
    X, y = problem_of(model.task)
    with pytest.raises(ValueError, match=message):
        model.load()().fit(X, spoil(y))


@pytest.mark.parametrize("model", [model for model in ESTIMATORS if is_weighted(model)], ids=lambda model: model.name)
@pytest.mark.parametrize(
    "weights, message",
    [
        (-np.ones(N_ROWS), "sample_weight must be at least 0"),
        (np.zeros(N_ROWS), "weight 0|at least one non-zero"),
        (np.ones(N_ROWS - 1), "sample_weight"),
        (np.ones((N_ROWS, 2)), "[Ss]ample.weight"),
        (np.full(N_ROWS, np.nan), "NaN"),
        (np.full(N_ROWS, 1e308), "the sum of sample_weight is infinite"),
        (np.ones(N_ROWS) + 0j, "sample_weight must hold real numbers, got complex128"),
        (np.datetime64("2020-01-01") + np.arange(N_ROWS), "sample_weight must hold real numbers, got datetime64"),
        ([np.timedelta64(1, "s")] * N_ROWS, "sample_weight must hold real numbers, got timedelta64"),
        (np.timedelta64(1, "s"), "sample_weight must hold real numbers, got timedelta64"),
        (np.ma.masked_greater(np.arange(N_ROWS), 50), "sample_weight must have no masked entries"),
    ],
    ids=["negative", "all zero", "short", "two columns", "NaN", "too large", "complex", "dates", "times", "a time",
         "masked"],
)  # fmt: skip
def test_bad_weights(model, weights, message):
    X, y = problem_of(model.task)
    with pytest.raises(ValueError, match=message):
        model.load()().fit(X, y, sample_weight=weights)


@pytest.mark.parametrize(
    "model",
    [model for model in ESTIMATORS if model.task in LABELLED and is_weighted(model)],
    ids=lambda model: model.name,
)
@pytest.mark.parametrize("label", [0, 1])
def test_a_class_of_weight_0(model, label):
    X, y = problem_of(model.task)
    with pytest.raises(ValueError, match=f"every example of class '?{label}'? has weight 0"):
        model.load()().fit(X, y, sample_weight=np.where(y == label, 0.0, 1.0))


@pytest.mark.parametrize("model", [model for model in MODELS if has(model, "C")], ids=lambda model: model.name)
def test_an_infinite_c_is_answered_with_what_stands_for_it(model):
    X, y = problem_of(model.task)
    with pytest.raises(ValueError, match="got inf: for a hard margin pass a large one, such as 1e10"):
        model.load()(C=np.inf).fit(X, y)
    assert np.isfinite(model.load()(C=1e10).fit(X, y).objective_)


@pytest.mark.parametrize(
    "model", [model for model in ESTIMATORS if has(model, "callback")], ids=lambda model: model.name
)
def test_a_fit_that_fails_leaves_the_fitted_model_as_it_was(model):
    """Kernel, precision and labels are set before the run: the coefficients of the fit before would be of another."""
    X, y = problem_of(model.task)
    fitted = model.load()().fit(X, y)
    before, expected = set(vars(fitted)), predict(fitted, X)

    def fail(model):
        raise RuntimeError("in the middle of the run")

    fitted.set_params(callback=fail, **({"gamma": 50.0} if has(model, "gamma") else {}))
    other = y[:, :2] if model.task == "ratio" else y if model.task == "regress" else np.where(y, "a", "b")
    with pytest.raises(RuntimeError, match="in the middle"):
        fitted.fit(X[:, :2], other)
    np.testing.assert_array_equal(predict(fitted, X), expected)
    assert set(vars(fitted)) == before
    if model.task in LABELLED:
        np.testing.assert_array_equal(fitted.classes_, [0, 1])


STREAMING = {"KernelSVC": {"solver": "scs"}}  # parameters without which a model has no partial_fit


def streaming(model):
    return model.load()(**STREAMING.get(model.name, {}))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore:.*rows are so noisy")
@pytest.mark.parametrize(
    "model", [model for model in ESTIMATORS if hasattr(streaming(model), "partial_fit")], ids=lambda model: model.name
)
def test_a_batch_that_fails_leaves_the_fitted_model_as_it_was(model):
    X, y = problem_of(model.task)
    fitted = streaming(model).fit(X, y)
    before, expected = dict(vars(fitted)), predict(fitted, X)
    if has(model, "gamma"):
        fitted.set_params(gamma=50.0)  # a new start, with another kernel
    with pytest.raises(ValueError, match="too large for this kernel"):
        fitted.partial_fit(1e300 * X, y)
    np.testing.assert_array_equal(predict(fitted, X), expected)
    assert all(vars(fitted)[name] is before[name] for name in before if name != "gamma")
    assert set(vars(fitted)) == set(before)
