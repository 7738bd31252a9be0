"""The list of public models against the code: each estimator is in it, with its address and its task."""

import importlib
import inspect
import pkgutil
import re
import runpy
import warnings
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, clone, is_classifier, is_outlier_detector, is_regressor
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import has_fit_parameter

import kernbench
import kernbench.estimators
import kernbench.features
from kernbench._models import BY_NAME, ESTIMATORS, MODELS, TRANSFORMERS, task_of
from kernbench.kernels import ChiSquared, Gaussian, Polynomial

WEIGHTED = [model for model in ESTIMATORS if has_fit_parameter(model.load()(), "sample_weight")]
WITH_KERNEL = [model for model in MODELS if "kernel" in model.load()().get_params()]
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::UserWarning")
FITS_TASK = {
    "classify": is_classifier,
    "rank": lambda model: is_classifier(model) and not model.__sklearn_tags__().classifier_tags.multi_class,
    "regress": is_regressor,
    "novelty": is_outlier_detector,
    "ratio": lambda model: hasattr(model, "log_ratio"),
    "transform": lambda model: hasattr(model, "transform"),
}


def short_fit(model, **settings):
    """A fitted model of few iterations, and what it says of its rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    targets = X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=60)
    settings = {"random_state": 0, "max_iter": 20, "cv": 2, "n_components": 20, "block_size": 64} | settings
    known = model.load()().get_params()
    fitted = model.load()(**{name: value for name, value in settings.items() if name in known})
    y = X[:40] if model.task == "ratio" else targets if model.task == "regress" else (targets > 0).astype(int)
    fitted.fit(X, y)
    says = next(name for name in ("transform", "decision_function", "predict", "log_ratio") if hasattr(fitted, name))
    return fitted, getattr(fitted, says)(X)


def estimator_classes(package):
    """Name -> address of the classes of a package that define the parameters of a scikit-learn estimator.

    Base classes leave ``__init__``, which lists the parameters, to those that derive from them.
    """
    found = {}
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, type) and issubclass(value, BaseEstimator) and "__init__" in vars(value):
                if value.__module__ == module.name:
                    found[name] = f"{module.name}:{name}"
    return found


def test_the_list_holds_every_estimator_and_nothing_else():
    found = estimator_classes(kernbench.estimators) | estimator_classes(kernbench.features)
    assert found == {model.name: model.address for model in MODELS}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_a_model_is_what_its_entry_says(model):
    estimator = model.load()()
    assert type(estimator).__name__ == model.name and task_of(estimator) == model.task
    assert FITS_TASK[model.task](estimator)
    assert callable(estimator.save)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_every_parameter_is_documented(model):
    """By its name at the margin of its section; several names may share an entry."""
    section = re.search(r"\nParameters\n-+\n(.*?)\n\n\S+[^\n]*\n---", inspect.getdoc(model.load()), re.DOTALL)[1]
    described = re.findall(r"\w+", " ".join(re.findall(r"(?m)^(\w+(?:, \w+)*)", section)))
    assert set(model.load()().get_params()) <= set(described)


@quiet
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_every_attribute_of_a_fit_is_documented(model):
    """With it, or in the class whose attributes it says it has, too."""
    described, names = "", [model.name]
    for name in names:
        section = inspect.getdoc(BY_NAME[name].load()).partition("\nAttributes\n----------\n")[2]
        described += re.split(r"\n\n\S+[^\n]*\n---", section)[0] + "\n"
        names += re.findall(r"All other attributes are those of `(\w+)`", section)
    fitted, _ = short_fit(model)
    found = {name for name in dir(fitted) if name.endswith("_") and not name.startswith("_") and hasattr(fitted, name)}
    assert found <= set(re.findall(r"\w+", " ".join(re.findall(r"(?m)^(\w+(?:, \w+)*)", described))))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_a_gap_is_documented_as_one_that_may_be_none(model):
    """As with Ctrl-C before the certificate is complete."""
    types = re.findall(r"(?m)^(?:\w+, )*duality_gap_(?:, \w+)* : (.*)$", inspect.getdoc(model.load()))
    assert all("None" in text for text in types)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_every_parameter_is_cloned(model):
    values = {name: [name] for name in model.load()().get_params(deep=False)}
    estimator = model.load()().set_params(**values)
    assert clone(estimator).get_params(deep=False) == values


@quiet
@pytest.mark.parametrize("model", WITH_KERNEL, ids=lambda model: model.name)
def test_parameters_of_a_named_kernel_are_those_of_its_object(model):
    """Its scale is `gamma`, or the only one that is searched."""
    of_name = {"kernel": "poly", "coef0": 0.5, "gamma": 0.3, "gammas": [0.3]}
    _, named = short_fit(model, degree=2, **of_name)
    _, cubic = short_fit(model, **of_name)
    np.testing.assert_array_equal(named, short_fit(model, kernel=Polynomial(2, c=0.5, scale=0.3))[1])
    np.testing.assert_array_equal(cubic, short_fit(model, kernel=Polynomial(3, c=0.5, scale=0.3))[1])
    assert not np.array_equal(named, cubic)


@quiet
@pytest.mark.parametrize("model", WITH_KERNEL, ids=lambda model: model.name)
@pytest.mark.parametrize(
    "kernel, is_restricted",
    [
        ("rbf", False),
        ("additive_chi2", True),
        (0.5 * ChiSquared() * Gaussian(), True),
        (Gaussian() * Gaussian(), False),
    ],
    ids=repr,
)
def test_tags_say_whether_rows_may_have_negative_entries(model, kernel, is_restricted):
    known = model.load()().get_params()
    settings = {"kernel": kernel, "gamma": 1.0} | ({"kernels": [kernel, "laplacian"]} if "kernels" in known else {})
    settings = {name: value for name, value in settings.items() if name in known}
    assert model.load()(**settings).__sklearn_tags__().input_tags.positive_only == is_restricted
    if is_restricted:
        with pytest.raises(ValueError, match="Negative values in data: ChiSquared needs entries x >= 0, but column"):
            short_fit(model, **settings)
    else:
        short_fit(model, **settings)


@quiet
@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: model.name)
def test_every_fit_is_shown_and_looked_at(model, capsys):
    seen = []
    short_fit(model, callback=seen.append)
    assert seen and capsys.readouterr().out == ""
    short_fit(model, verbose=1)
    assert model.name in capsys.readouterr().out


@quiet
@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: model.name)
def test_every_fit_ends_after_its_seconds(model):
    """After one iteration, of a start if there is one, if the time is over; a search has then no cell to choose."""
    settings = {"max_seconds": 1e-9, "max_iter": 10**6, "tol": 1e-12}
    if model.task == "regress":
        settings["loss"] = "epsilon_insensitive"  # one step of Newton minimises squared errors
    if model.name.endswith("CV"):
        with pytest.raises(ValueError, match="max_seconds=1e-09 ended the search"):
            short_fit(model, **settings)
        return
    fitted, _ = short_fit(model, **settings)
    n_iter = 0 if model.name in ("PartialAUCClassifier", "RankedRangeClassifier") else 1
    assert fitted.status_ == "max_seconds" and not fitted.converged_ and np.all(np.equal(fitted.n_iter_, n_iter))


@quiet
@pytest.mark.parametrize("model", WEIGHTED, ids=lambda model: model.name)
def test_weights_that_are_requested_are_routed(model):
    """Fits are wrapped, for callbacks and to stay whole, which must not hide their arguments."""
    rng = np.random.default_rng(0)
    X, targets, weights = rng.normal(size=(60, 3)), rng.normal(size=60), rng.uniform(0.1, 3.0, size=60)
    y = targets if model.task == "regress" else (targets + X[:, 0] > 0).astype(int)
    known = model.load()().get_params()
    settings = {"random_state": 0, "max_iter": 20, "cv": 2}
    estimator = model.load()(**{name: value for name, value in settings.items() if name in known})
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(FunctionTransformer(), clone(estimator).set_fit_request(sample_weight=True))
        pipeline.fit(X, y, sample_weight=weights)
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            make_pipeline(FunctionTransformer(), clone(estimator)).fit(X, y, sample_weight=weights)
    found, weighted, plain = (
        getattr(fitted, "decision_function" if hasattr(fitted, "decision_function") else "predict")(X)
        for fitted in (pipeline, clone(estimator).fit(X, y, sample_weight=weights), clone(estimator).fit(X, y))
    )
    np.testing.assert_array_equal(found, weighted)
    assert not np.array_equal(found, plain)


def test_names_are_listed_once():
    assert len(BY_NAME) == len(MODELS) == len(ESTIMATORS) + len(TRANSFORMERS)


@pytest.mark.parametrize("package, models", [(kernbench, ESTIMATORS), (kernbench.features, TRANSFORMERS)])
def test_packages_show_their_models(package, models):
    for model in models:
        assert getattr(package, model.name) is model.load()
        assert model.name in package.__all__ and model.name in dir(package)


def test_every_public_name_can_be_imported():
    for name in kernbench.__all__:
        assert getattr(kernbench, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'KernelSVS'"):
        kernbench.KernelSVS  # noqa: B018


def test_what_is_looked_for_leaks_runs():
    """tools/sanitize fits every estimator by this script, whose failure is not one of the suite."""
    script = Path(__file__).resolve().parents[1] / "tools" / "fit_everything.py"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runpy.run_path(str(script))["main"](repeats=1)


WITH_FEATURES = [model for model in ESTIMATORS if "features" in inspect.signature(model.load()).parameters]


@pytest.mark.parametrize("features", ["nystroem", "random"])
@pytest.mark.parametrize("model", WITH_FEATURES, ids=lambda model: model.name)
def test_features_inside_are_arrays_whatever_the_output_of_transformers(model, features):
    pytest.importorskip("pandas", reason="pandas is not installed")
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = X[:, 0] - X[:, 1] ** 2 + 1.0
    y = y if model.task == "regress" else (y > 0).astype(int)
    settings = {"kernel": "rbf", "features": features, "random_state": 0}
    settings |= {"cv": 2} if model.name.endswith("CV") else {}
    learn = ["fit", "partial_fit"] if hasattr(model.load(), "partial_fit") else ["fit"]
    for name in learn:
        found = []
        for output in ("default", "pandas"):
            with config_context(transform_output=output):
                fitted = getattr(model.load()(**settings), name)(X, y)
                found.append(fitted.predict(X))
                found.append(fitted.feature_coef_)
        np.testing.assert_array_equal(found[2], found[0])
        np.testing.assert_array_equal(found[3], found[1])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore:.*rows are so noisy")
@pytest.mark.parametrize(
    "model", [model for model in ESTIMATORS if hasattr(model.load(), "partial_fit")], ids=lambda model: model.name
)
def test_a_model_whose_arrays_are_read_only_learns_on(model, tmp_path):
    """As that of `OneVsRestClassifier.partial_fit` in a worker of joblib, which maps large arrays into memory."""
    live = model.load()(**({"solver": "scs", "max_iter": 20} if model.name == "KernelSVC" else {}))
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = X[:, 0] if model.task == "regress" else X + 0.3 if model.task == "ratio" else (X[:, 0] > 0).astype(int)
    live.set_params(random_state=0).partial_fit(X, y)
    joblib.dump(live, tmp_path / "model")
    mapped = joblib.load(tmp_path / "model", mmap_mode="r")
    predict = next(name for name in ("decision_function", "log_ratio", "predict") if hasattr(live, name))
    for one in (live, mapped):
        one.partial_fit(X[::-1], y[::-1])
    np.testing.assert_array_equal(getattr(mapped, predict)(X), getattr(live, predict)(X))
