"""scikit-learn's callbacks: every model reports its fit as a tree of tasks, and no fit changes."""

import re
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from kernbench import ROCSVC, ROCSVCCV, KernelSVC, KernelSVCCV, LinearSVC
from kernbench._callbacks import SILENT, current_report
from kernbench._models import ESTIMATORS, MODELS
from kernbench.features import RandomFeatures

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn has callbacks from 1.9 on")
STREAMING = [model for model in ESTIMATORS if hasattr(model.load(), "partial_fit")]
PREDICT = ("decision_function", "predict", "log_ratio", "transform")
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::UserWarning")


class Recorder:
    """Keeps what it is told; `stop_after` many tasks of iterations it asks to stop."""

    def __init__(self, stop_after=None):
        self.calls, self.contexts, self.fitted, self.stop_after = [], [], [], stop_after

    def setup(self, estimator, context):
        self.calls.append("setup")

    def teardown(self, estimator, context):
        self.calls.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.contexts.append(context)
        self.calls.append(("begin", _path(context)))

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
        self.calls.append(("end", _path(context)))
        self.examples, self.metadata = (X, y), metadata
        if context.task_name == "iterations" and fitted_estimator is not None:
            self.fitted.append(fitted_estimator)
        return self.stop_after is not None and len(self.fitted) >= self.stop_after


class Propagated(Recorder):
    """Passed on to the estimators inside."""

    max_propagation_depth = None


def _path(context):
    above = () if context.parent is None else _path(context.parent)
    return (*above, (context.estimator_name, context.task_name, context.task_id))


def names_of(recorder):
    return Counter((context.estimator_name, context.task_name) for context in recorder.contexts)


def assert_well_formed(recorder):
    """Set-up first and teardown last; each task ends once, after it began and within its parent."""
    assert recorder.calls[0] == "setup" and recorder.calls[-1] == "teardown"
    began, ended = [], []
    for name, path in recorder.calls[1:-1]:
        if name == "begin":
            assert path not in began and path[:-1] not in ended
            began.append(path)
        else:
            assert path in began and path not in ended
            ended.append(path)
    assert sorted(began) == sorted(ended)


def examples_of(task, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 4))
    margin = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=120)
    return (X, X + 0.3) if task == "ratio" else (X, margin if task == "regress" else (margin > 0).astype(int))


def made(model, **settings):
    known = model.load()().get_params()
    common = {"random_state": 0, "max_iter": 40, "block_size": 8, **settings}
    return model.load()(**{name: value for name, value in common.items() if name in known})


@quiet
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_every_model_reports_its_fit_and_every_iterative_one_its_progress(model):
    X, y = examples_of(model.task)
    recorder = Recorder()
    fitted = made(model).set_callbacks(recorder).fit(X, y)
    assert_well_formed(recorder)
    assert recorder.contexts[0].task_name == "fit" and recorder.contexts[0].parent is None
    silent = made(model).fit(X, y)
    predict = next(name for name in PREDICT if hasattr(fitted, name))
    if model in ESTIMATORS:
        assert recorder.fitted
        assert recorder.examples == ((None, None) if model.task == "ratio" else (X, y))
        last = recorder.fitted[-1]
        np.testing.assert_allclose(getattr(last, predict)(X), getattr(silent, predict)(X), rtol=1e-6, atol=1e-6)
    else:
        assert recorder.contexts[0].max_subtasks == 0  # a fit without iterations
    np.testing.assert_array_equal(getattr(fitted, predict)(X), getattr(silent, predict)(X))
    assert not {"_callback_fit_ctx", "_parent_callback_ctx", "_skl_callbacks_to_teardown"} & set(vars(fitted))
    assert current_report() is SILENT


@quiet
def test_a_callback_stops_the_iterations():
    X, y = examples_of("classify")
    recorder = Recorder(stop_after=1)
    fitted = LinearSVC(tol=1e-15, max_iter=10**9, solver="pegasos", random_state=0).set_callbacks(recorder).fit(X, y)
    assert fitted.status_ == "callback" and fitted.n_iter_[0] < 10**9
    assert_well_formed(recorder)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_each_pair_of_classes_is_a_task(n_jobs):
    X, y = make_classification(90, 5, n_classes=3, n_informative=4, n_redundant=0, random_state=0)
    recorder = Recorder()
    weights = np.ones(90)
    fitted = KernelSVC(n_jobs=n_jobs).set_callbacks(recorder).fit(X, y, weights)
    assert_well_formed(recorder)
    assert recorder.metadata == {"sample_weight": weights}
    root, runs = recorder.contexts[0], [c for c in recorder.contexts if c.parent is recorder.contexts[0]]
    assert root.max_subtasks == 3 and root.sequential_subtasks == (n_jobs is None)
    assert {run.task_id: run.task_name for run in runs} == {0: "0 against 1", 1: "0 against 2", 2: "1 against 2"}
    assert all(run.max_subtasks is None for run in runs)
    np.testing.assert_allclose(fitted.decision_function(X), KernelSVC().fit(X, y).decision_function(X), atol=0.05)


def test_a_fit_that_calls_that_of_its_base_class_is_one_task():
    class Longer(LinearSVC):
        def fit(self, X, y, sample_weight=None):
            return super().fit(X, y, sample_weight)

    recorder = Recorder()
    Longer(random_state=0).set_callbacks(recorder).fit(*examples_of("classify"))
    assert_well_formed(recorder)
    assert recorder.calls.count("setup") == 1 and names_of(recorder)["Longer", "fit"] == 1


@quiet
@pytest.mark.parametrize("model", STREAMING, ids=lambda model: model.name)
def test_streams_do_not_call_callbacks(model):
    X, y = examples_of(model.task)
    recorder = Recorder()
    options = {"solver": "scs"} if model.name == "KernelSVC" else {}
    estimator = made(model, **options).set_callbacks(recorder)
    given = {"classes": [0, 1]} if model.task in ("classify", "rank") else {}
    data = (X,) if model.task == "novelty" else (X, y)
    estimator.partial_fit(*data, **given)
    if hasattr(estimator, "fit_chunks"):
        chunks = {"ratio": ([X], [y]), "novelty": ([X],)}.get(model.task, ([(X, y)],))
        estimator.fit_chunks(*chunks)
    assert recorder.calls == []
    estimator.fit(*data)
    assert recorder.calls != []


def test_a_fit_inside_another_is_not_reported_as_a_part_of_it():
    X, y = examples_of("classify")
    recorder = Recorder()
    model = KernelSVC(callback=lambda now: LinearSVC(random_state=0).fit(X, y) is None)
    fitted = model.set_callbacks(recorder).fit(X, y)
    assert_well_formed(recorder)
    assert names_of(recorder) == {("KernelSVC", "fit"): 1, ("KernelSVC", "iterations"): len(fitted.trace_["seconds"])}


def test_tasks_begin_and_end_with_the_model_of_that_moment():
    class Models(Recorder):
        def __init__(self):
            super().__init__()
            self.begun, self.ended = [], []

        def on_fit_task_begin(self, estimator, context, *, fitted_estimator):
            self.begun.append((context.task_name, fitted_estimator))

        def on_fit_task_end(self, estimator, context, *, fitted_estimator):
            self.ended.append((context.task_name, fitted_estimator))

    X, y = examples_of("rank")
    recorder = Models()
    fitted = LinearSVC(random_state=0).set_callbacks(recorder).fit(X, y)
    assert all(model.predict(X).shape == y.shape for name, model in recorder.begun if name == "iterations")
    assert recorder.ended[-1][0] == "fit"
    np.testing.assert_array_equal(recorder.ended[-1][1].coef_, fitted.coef_)
    recorder = Models()
    ROCSVC().set_callbacks(recorder).path(X, y, [0.1, 1.0])
    assert recorder.ended[-1] == ("path", None)  # the models are others


def test_a_path_has_a_task_for_each_strength():
    X, y = examples_of("rank")
    recorder = Recorder()
    ROCSVC().set_callbacks(recorder).path(X, y, [0.1, 1.0])
    assert_well_formed(recorder)
    assert [c.task_name for c in recorder.contexts if c.parent is recorder.contexts[0]] == ["alpha=1", "alpha=0.1"]


@pytest.mark.parametrize("n_jobs", [None, pytest.param(2, marks=pytest.mark.slow)])
def test_cells_of_a_path_are_tasks_whatever_works_on_the_folds(n_jobs):
    X, y = examples_of("rank")
    search, recorder = ROCSVCCV(alphas=[1.0, 0.1], cv=3, n_jobs=n_jobs, random_state=0), Propagated()
    with parallel_config(backend="threading"):
        reported = clone(search).set_callbacks(recorder).fit(X, y)
    assert_well_formed(recorder)
    assert recorder.contexts[0].max_subtasks == 3
    found = names_of(recorder)
    assert found["ROCSVCCV", "alpha=1"] == found["ROCSVCCV", "alpha=0.1"] == found["ROCSVCCV", "refit"] == 1
    np.testing.assert_array_equal(reported.auc_path_, search.fit(X, y).auc_path_)


@pytest.mark.parametrize("search", ["exact", "race", "halving"])
def test_cells_and_refit_of_a_search_are_tasks(search):
    X, y = examples_of("classify")
    recorder = Recorder()
    model = KernelSVCCV([0.1, 1.0], [0.5, 0.1], cv=3, search=search).set_callbacks(recorder).fit(X, y)
    assert_well_formed(recorder)
    root = recorder.contexts[0]
    parts = {context.task_id: context.task_name for context in recorder.contexts if context.parent is root}
    done = np.flatnonzero(np.isfinite(model.cv_results_["mean_test_score"]))
    assert root.max_subtasks == 5 and set(parts) == {*done, 4} and parts[4] == "refit"
    assert all(parts[k] == "C={C:g}, gamma={gamma}".format(**model.cv_results_["params"][k]) for k in done)
    assert names_of(recorder)["KernelSVCCV", "iterations"] >= 1


def test_the_refit_of_a_search_has_a_task_for_each_pair_of_classes():
    X, y = make_classification(90, 5, n_classes=3, n_informative=4, n_redundant=0, random_state=0)
    recorder = Recorder()
    KernelSVCCV([1.0], [0.5], cv=2).set_callbacks(recorder).fit(X, y)
    assert_well_formed(recorder)
    (refit,) = (context for context in recorder.contexts if context.task_name == "refit")
    assert refit.max_subtasks == 3 and refit.parent is recorder.contexts[0]
    assert [c.task_name for c in recorder.contexts if c.parent is refit] == [
        "0 against 1", "0 against 2", "1 against 2"
    ]  # fmt: skip


def test_a_callback_stops_a_search_which_takes_the_best_cell_so_far():
    class Enough(Recorder):
        def on_fit_task_end(self, estimator, context, **given):
            super().on_fit_task_end(estimator, context, **given)
            return context.task_name.startswith("C=1,")

    recorder, (X, y) = Enough(), examples_of("classify")
    model = KernelSVCCV([10.0, 1.0, 0.1], [0.5], cv=3).set_callbacks(recorder)
    with pytest.warns(ConvergenceWarning, match="after 2 of 3 cells, since a callback stopped it"):
        model.fit(X, y)
    assert_well_formed(recorder)
    assert np.isnan(model.cv_results_["mean_test_score"]).tolist() == [True, False, False]


def test_a_search_without_a_refit_reports_its_cells():
    recorder, (X, y) = Recorder(), examples_of("classify")
    KernelSVCCV([1.0, 0.1], [0.5], cv=3, refit=False).set_callbacks(recorder).fit(X, y)
    assert_well_formed(recorder)
    assert recorder.contexts[0].max_subtasks == 2 and len(recorder.contexts) == 3


@pytest.mark.slow
def test_folds_in_other_processes_move_the_progress_bar(capsys):
    X, y = examples_of("rank")
    bar = callback.ProgressBar(max_propagation_depth=None)
    ROCSVCCV(alphas=[1.0, 0.1], cv=3, n_jobs=2, random_state=0).set_callbacks(bar).fit(X, y)
    shown = capsys.readouterr().out
    assert re.search(r"ROCSVCCV - fit .* 100%", shown) and "refit" in shown


def test_grid_search_and_pipelines_pass_their_callbacks_on(recwarn):
    X, y = examples_of("classify")
    recorder = Propagated()
    pipeline = make_pipeline(RandomFeatures(n_features=16, random_state=0), LinearSVC(random_state=0))
    GridSearchCV(pipeline, {"linearsvc__C": [0.1, 1.0]}, cv=2).set_callbacks(recorder).fit(X, y)
    assert_well_formed(recorder)
    found = names_of(recorder)
    assert found["LinearSVC", "fit"] == found["RandomFeatures", "fit"] == 5 <= found["LinearSVC", "iterations"]
    assert not [warning for warning in recwarn if "callback" in str(warning.message)]


def test_scores_are_monitored():
    X, y = examples_of("classify")
    monitor = callback.ScoringMonitor(scoring="accuracy")
    fitted = KernelSVC().set_callbacks(monitor).fit(X, y)
    log = monitor.get_logs().data
    assert log[0]["task_name"] == "fit" and log[0]["accuracy"] == fitted.score(X, y)
    assert log[-1]["task_name"] == "iterations" and log[-1]["accuracy"] == fitted.score(X, y)


def test_a_failing_callback_is_torn_down():
    class Failing(Recorder):
        def on_fit_task_end(self, estimator, context):
            raise RuntimeError("full disk")

    X, y = examples_of("classify")
    recorder = Failing()
    model = LinearSVC().set_callbacks(recorder)
    with pytest.raises(RuntimeError, match="full disk"):
        model.fit(X, y)
    assert recorder.calls[-1] == "teardown" and current_report() is SILENT
    model.set_callbacks().fit(X, y)
    assert recorder.calls.count("setup") == 1


def test_a_warning_names_the_line_of_the_fit():
    X, y = examples_of("classify")
    with pytest.warns(UserWarning, match="did not reach tol") as caught:
        LinearSVC(max_iter=1, tol=1e-12).set_callbacks(Recorder()).fit(X, y)
    assert {warning.filename for warning in caught} == {__file__}


def test_older_versions_of_scikit_learn_have_no_callbacks():
    code = (
        "from importlib import util; find = util.find_spec\n"
        "util.find_spec = lambda name, *rest: None if name == 'sklearn.callback' else find(name, *rest)\n"
        "from kernbench import LinearSVC\n"
        "model = LinearSVC(random_state=0).fit([[0.0], [1.0], [2.0]], [0, 1, 1])\n"
        "assert model.predict([[3.0]]) == 1\n"
        "assert not hasattr(model, 'set_callbacks') and not hasattr(LinearSVC.path, '__wrapped__')\n"
        "from kernbench._callbacks import SILENT, current_report\n"
        "assert current_report() is SILENT\n"
    )
    # Without the folder in which the tests run: its sources may not be compiled.
    subprocess.run([sys.executable, "-P", "-c", code], check=True)
