"""Arrays that are not NumPy's: torch, polars, pyarrow and whatever speaks DLPack; those on a device are rejected."""

import warnings

import numpy as np
import pytest
from sklearn.utils.validation import has_fit_parameter

from kernbench import DoublyStochasticRegressor, KernelSVC, metrics
from kernbench._models import ESTIMATORS, MODELS
from kernbench.validation.foreign import host_array

SETTINGS = {
    "ROCSVCCV": {"alphas": [0.1, 0.01]},
    "KernelSVCCV": {"Cs": [0.1, 1.0], "cv": 2},
    "LinearSVCCV": {"Cs": [0.1, 1.0], "cv": 2},
    "KernelRegressorCV": {"alphas": [0.1, 0.01], "cv": 2},
    "PartialAUCClassifierCV": {"alphas": [0.1, 0.01], "cv": 2},
    "AUCMarginClassifier": {"max_iter": 20},
    "Nystroem": {"n_landmarks": 10},
    "RandomFeatures": {"n_features": 10},
    **{f"DoublyStochastic{name}": {"max_iter": 10} for name in ("Classifier", "Regressor", "NoveltyDetector")},
    "DoublyStochasticDensityRatio": {"max_iter": 10},
}
WEIGHTED = [model for model in ESTIMATORS if has_fit_parameter(model.load()(), "sample_weight")]
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
every_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)


class Foreign:
    """An array that speaks DLPack and nothing else."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.device = array, device

    def __dlpack__(self, **arguments):
        return self.array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.device


def problem_of(task):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(50, 3))
    margin = X[:, 0] + 0.3 * rng.normal(size=50)
    if task == "ratio":
        return X, X + 0.3
    return X, margin if task == "regress" else (margin > 0).astype(int)


def made(model):
    random = {"random_state": 0} if "random_state" in model.load()().get_params() else {}
    return model.load()(**SETTINGS.get(model.name, {}), **random)


def output(fitted, X):
    names = ("decision_function", "predict", "log_ratio", "transform")
    return getattr(fitted, next(name for name in names if hasattr(fitted, name)))(X)


@quiet
@every_model
def test_arrays_by_dlpack(model):
    X, y = problem_of(model.task)
    expected = output(made(model).fit(X, y), X)
    fitted = made(model).fit(Foreign(X), Foreign(y))
    np.testing.assert_array_equal(output(fitted, Foreign(X)), expected)


@quiet
@every_model
def test_a_device_array_is_rejected(model):
    X, y = problem_of(model.task)
    device = (2, 0)  # CUDA
    elsewhere = f"is not in the memory of the CPU .DLPack device type {device[0]}.* copy it first"
    with pytest.raises(ValueError, match="X, a .*Foreign, " + elsewhere):
        made(model).fit(Foreign(X, device), y)
    if model.task in ("classify", "rank", "regress"):
        with pytest.raises(ValueError, match="y, a .*Foreign, " + elsewhere):
            made(model).fit(X, Foreign(y, device))
    with pytest.raises(ValueError, match="X, a .*Foreign, " + elsewhere):
        output(made(model).fit(X, y), Foreign(X, device))


@quiet
@pytest.mark.parametrize("model", WEIGHTED, ids=lambda model: model.name)
def test_weights_by_dlpack(model):
    X, y = problem_of(model.task)
    weights = np.random.default_rng(0).uniform(1, 2, size=len(X))
    expected = output(made(model).fit(X, y, sample_weight=weights), X)
    np.testing.assert_array_equal(output(made(model).fit(X, y, sample_weight=Foreign(weights)), X), expected)
    with pytest.raises(ValueError, match="sample_weight, a .*Foreign, is not in the memory of the CPU"):
        made(model).fit(X, y, sample_weight=Foreign(weights, (2, 0)))


@pytest.mark.parametrize("device", [(4, 0), (8, 0), (14, 1)], ids=["OpenCL", "Metal", "oneAPI"])
def test_every_device_but_the_host_is_rejected(device):
    assert host_array(Foreign(np.ones(3), (3, 0)), "y").tolist() == [1, 1, 1]  # pinned memory
    with pytest.raises(ValueError, match=f"DLPack device type {device[0]}"):
        host_array(Foreign(np.ones(3), device), "y")


def test_metrics_take_them_too():
    y, score = np.array([0, 0, 1, 1]), np.array([0.1, 0.4, 0.35, 0.8])
    assert metrics.roc_auc(Foreign(y), Foreign(score), sample_weight=Foreign(np.ones(4))) == 0.75
    with pytest.raises(ValueError, match="score, a .* copy it first"):
        metrics.roc_auc(y, Foreign(score, (2, 0)))


@quiet
@every_model
def test_torch_tensors(model):
    torch = pytest.importorskip("torch")
    X, y = problem_of(model.task)
    X = X.astype(np.float32)
    rows = torch.from_numpy(X.T.copy()).T
    fitted = made(model).fit(rows, torch.from_numpy(y))
    np.testing.assert_array_equal(output(fitted, torch.from_numpy(X)), output(made(model).fit(X, y), X))


def test_torch_tensors_that_are_no_rows_of_numbers():
    torch = pytest.importorskip("torch")
    rows = torch.ones(3, 2)
    assert np.shares_memory(host_array(rows, "X"), rows.numpy())  # no copy where none is needed
    for tensor, message in (
        (rows.bfloat16(), "X, a torch.Tensor, cannot be read as an array"),
        (rows.clone().requires_grad_(), r"X, a torch.Tensor, cannot be read as an array: .*detach\(\)"),
        (rows.to("meta"), "X, a torch.Tensor, is not in the memory of the CPU"),
        (rows.to_sparse(), "X, a torch.Tensor, "),
    ):
        with pytest.raises(ValueError, match=message):
            host_array(tensor, "X")


@quiet
@every_model
@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_tables(model, library):
    module = pytest.importorskip(library)
    X, y = problem_of(model.task)
    make = module.DataFrame if library == "polars" else module.table
    table = make(dict(zip("abc", X.T)))
    if y.ndim == 2:
        second = make(dict(zip("abc", y.T)))
    else:
        second = module.Series(y) if library == "polars" else module.chunked_array([y[:20], y[20:]])
    fitted = made(model).fit(table, second)
    np.testing.assert_array_equal(output(fitted, table), output(made(model).fit(X, y), X))
    assert fitted.feature_names_in_.tolist() == ["a", "b", "c"]


def test_a_lazy_frame_is_rejected():
    polars = pytest.importorskip("polars")
    with pytest.raises(ValueError, match=r"X is a query that was not run \(LazyFrame\): give X.collect\(\)"):
        host_array(polars.LazyFrame({"a": [1.0]}), "X")


def table_with_dates(library, numbers):
    """A table of a column of numbers and one of days; of NumPy, an array of days alone."""
    module, days = pytest.importorskip(library), np.datetime64("2020-01-01") + np.arange(len(numbers))
    if library == "numpy":
        return np.column_stack([days, days])
    return (module.table if library == "pyarrow" else module.DataFrame)({"a": numbers, "day": days})


@every_model
@pytest.mark.parametrize("library", ["numpy", "pandas", "polars", "pyarrow"])
def test_dates_are_rejected(model, library):
    """Libraries would count them in units of their own."""
    X, y = problem_of(model.task)
    table = table_with_dates(library, X[:, 0])
    where = "X holds" if library == "numpy" else "X: the column 'day' holds"
    message = f"(?i){where} (date|timestamp).*, not numbers: encode it first, or leave it out"
    with pytest.raises(ValueError, match=message):
        made(model).fit(table, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = made(model).fit(X[:, :2], y[:, :2] if y.ndim == 2 else y)
        with pytest.raises(ValueError, match=message):
            output(fitted, table)


@pytest.mark.parametrize("library", ["numpy", "pandas", "polars", "pyarrow"])
def test_dates_in_chunks_are_rejected(library):
    X, y = problem_of("regress")
    with pytest.raises(ValueError, match="(?i)X of chunk 2.* holds (date|timestamp).*, not numbers"):
        DoublyStochasticRegressor(max_iter=5).fit_chunks([(X[:, :2], y), (table_with_dates(library, X[:, 0]), y)])


@pytest.mark.parametrize(
    "place, spoil, message",
    [
        (0, lambda X: np.ma.masked_greater(X, 1.0), "X of chunk 2 must have no masked entries"),
        (1, lambda y: np.ma.masked_greater(y, 1.0), "y of chunk 2 must have no masked entries"),
        (2, lambda weights: np.ma.masked_greater(weights, 1.5), "weights of chunk 2 must have no masked entries"),
        (2, lambda weights: weights + 0j, "weights of chunk 2 must hold real numbers, got complex128"),
        (2, lambda weights: weights.astype("m8[s]"), "weights of chunk 2 must hold real numbers, got timedelta64"),
        (0, lambda X: Foreign(X, (2, 0)), "X of chunk 2, a .*Foreign, is not in the memory of the CPU"),
        (1, iter, "y of chunk 2 is a .*iterator, not an array"),
    ],
    ids=["masked rows", "masked targets", "masked weights", "complex weights", "times", "device", "iterator"],
)
def test_chunks_are_rejected_as_arrays_are(place, spoil, message):
    chunk = (*problem_of("regress"), np.linspace(1, 2, 50))
    spoilt = [*chunk[:place], spoil(chunk[place]), *chunk[place + 1 :]]
    with pytest.raises(ValueError, match=message):
        DoublyStochasticRegressor(max_iter=5).fit_chunks([chunk, spoilt])


def test_chunks_by_dlpack():
    chunk = (*problem_of("regress"), np.linspace(1, 2, 50))
    plain, foreign = (
        DoublyStochasticRegressor(max_iter=5, random_state=0).fit_chunks([tuple(map(form, chunk))])
        for form in (np.asarray, Foreign)
    )
    np.testing.assert_array_equal(foreign.block_coef_, plain.block_coef_)


@pytest.mark.parametrize("type_of_column", ["Float64", object])
def test_missing_values_of_pandas_are_named(type_of_column):
    pandas = pytest.importorskip("pandas")
    X, y = problem_of("classify")
    table = pandas.DataFrame({"a": X[:, 0], "b": pandas.Series([pandas.NA, *X[1:, 1]], dtype=type_of_column)})
    with pytest.raises(ValueError, match=r"column 'b' holds NaN, first in row 0|X holds missing values \(pandas.NA\)"):
        KernelSVC().fit(table, y)
