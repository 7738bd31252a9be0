"""Races are complete: every public model that does the task, the usual choice, and a zero model."""

from importlib.util import find_spec

import numpy as np
import pytest
import sklearn.ensemble  # noqa: F401  when it is imported, by snapml for instance, it draws a seed from the system

from kernbench._models import BY_NAME
from kernbench.experiments.declare import Recommendation
from kernbench.experiments.declare.entrants import entered, missing
from kernbench.experiments.measure.landmarks import NystroemLogistic, NystroemRegressor, NystroemSVC
from kernbench.experiments.measure.objectives import svm_objective
from kernbench.experiments.measure.zero import ZeroClassifier, ZeroRegressor
from kernbench.experiments.registry import EXPERIMENTS, get

RACES = [
    pytest.param(experiment, display, id=f"{experiment.name}-{display.name}")
    for experiment in EXPERIMENTS
    for display in experiment.tables
    if isinstance(display, Recommendation)
]


@pytest.mark.parametrize(("experiment", "display"), RACES)
def test_a_race_has_every_model_that_does_the_task_or_says_why_not(experiment, display):
    assert missing(experiment, display) == []


@pytest.mark.parametrize(("experiment", "display"), RACES)
def test_our_own_model_for_the_task_takes_part(experiment, display):
    assert display.main in entered(experiment, display)


@pytest.mark.parametrize(("experiment", "display"), RACES)
def test_a_reason_belongs_to_a_model_that_does_not_run(experiment, display):
    for name, reason in display.left_out.items():
        assert BY_NAME[name].task == display.models
        assert len(reason.split()) >= 5
        assert name not in entered(experiment, display)


@pytest.mark.parametrize("scale", ["quick", "paper"])
@pytest.mark.parametrize(("experiment", "display"), RACES)
def test_the_usual_choice_and_a_zero_model_run_where_others_do(experiment, display, scale):
    shown = display.methods or [method.name for method in experiment.methods]
    assert display.baseline in shown and display.zero in shown
    assert "zero:Zero" in experiment.method(display.zero).estimator or display.zero == "majority"
    for setting in experiment.scales[scale].settings:
        if display.datasets is None or setting.name in display.datasets:
            racing = [name for name in shown if setting.takes(name)]
            assert display.baseline not in racing or display.zero in racing, setting.name


@pytest.mark.parametrize(("experiment", "display"), RACES)
def test_linear_models_on_features_say_how_a_user_writes_them(experiment, display):
    for name in display.methods or [method.name for method in experiment.methods]:
        method = experiment.method(name)
        on_landmarks = ".landmarks:Nystroem" in method.estimator and "library" not in method.params
        if on_landmarks or method.estimator.endswith(":FixedFeaturesRidge"):
            assert method.code.startswith("from sklearn.pipeline import make_pipeline"), name


@pytest.mark.parametrize(
    ("code", "requires"),
    sorted({(method.code, method.requires or "") for e in EXPERIMENTS for method in e.methods if method.code}),
)
def test_what_a_user_writes_can_be_run(code, requires):
    *imports, expression = code.splitlines()
    compile(code, "code", "exec")
    if requires and find_spec(requires) is None:
        pytest.skip(f"{requires} is not installed")
    names = {}
    exec("\n".join(imports), names)
    X = np.random.default_rng(0).normal(size=(1050, 2))
    inside = np.where((X**2).sum(axis=1) < 1.4, 1, -1)
    predicted = eval(expression, names).fit(X, inside).predict(X)
    assert np.mean(np.sign(predicted) == inside) > 0.9


def test_a_model_that_is_forgotten_is_found():
    experiment = get("peers-svm")
    methods = tuple(m.name for m in experiment.methods if "nystroem" not in m.name)
    display = Recommendation("a kernel SVM", "test_error", "libsvm", 0.0, methods=methods)
    found = missing(experiment, display)
    assert {"KernelSVCCV", "LinearSVC", "LinearSVCCV", "RankedRangeClassifier"} <= set(found)
    assert not entered(experiment, display) & set(found)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_zero_classifier_is_the_best_constant(fit_intercept):
    X, y = np.zeros((13, 2)), np.repeat([3, 7], [4, 9])
    model = ZeroClassifier(C=2.0, gamma=1.0, fit_intercept=fit_intercept).fit(X, y)
    assert (model.predict(X) == 7).all()
    objective, _ = svm_objective(model, X, y)
    # The mean hinge of a constant b in [-1, 1] is 4/13 (1 + b) + 9/13 (1 - b).
    assert objective == pytest.approx(8 / 13 if fit_intercept else 1.0)


def test_the_zero_regressor_is_the_mean():
    model = ZeroRegressor(alpha=1.0).fit(np.zeros((3, 1)), [1.0, 2.0, 6.0])
    assert model.predict(np.zeros((2, 1))).tolist() == [3, 3]


def test_linear_models_on_landmarks_predict():
    X = np.random.default_rng(0).normal(size=(300, 2))
    squares = (X**2).sum(axis=1)
    inside = squares < 1.4
    for library in ("kernbench", "sklearn"):
        model = NystroemSVC(gamma=1.0, C=10.0, n_landmarks=100, library=library, random_state=0)
        assert np.mean(model.fit(X, inside).predict(X) == inside) > 0.95
    scores = NystroemLogistic(gamma=1.0, random_state=0).fit(X, inside).decision_function(X)
    assert np.mean((scores > 0) == inside) > 0.9
    model = NystroemRegressor(gamma=0.5, alpha=1e-6, n_landmarks=100, random_state=0).fit(X, squares)
    assert np.mean((model.predict(X) - squares) ** 2) < 0.05 * squares.var()
