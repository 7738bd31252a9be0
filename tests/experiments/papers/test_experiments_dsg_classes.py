"""``dsg-svm`` and ``dsg-multiclass``: rivals and settings, how classifiers are judged, what runs."""

from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest

from kernbench import DoublyStochasticClassifier, KernelSVC
from kernbench.datasets import load as load_data
from kernbench.estimators.doubly_stochastic.parameters import full_steps_of
from kernbench.experiments import get
from kernbench.experiments.papers.dsg import data, evaluation, peers, svm
from kernbench.experiments.papers.dsg.runs import stream as stream_runs
from kernbench.experiments.run.cells import plan

SVM, MULTICLASS = get("dsg-svm"), get("dsg-multiclass")
SMALL = {"n_train": 300, "n_test": 100}

pytestmark = pytest.mark.filterwarnings("ignore:.*did not reach")


def test_every_rival_has_the_time_of_the_doubly_stochastic_pass():
    for method in SVM.methods:
        if method.name.endswith("-timed"):
            twin = SVM.method(method.name.removesuffix("-timed"))
            assert (method.depends_on, method.budget_fraction) == ("doubly", 1.0)
            assert method.estimator == twin.estimator
            assert "passes" in twin.params and "passes" not in method.params


def test_rivals_take_the_batches_of_algorithm_1():
    for scale in ("quick", "paper"):
        for cell in plan([SVM], scale, repeats=1)[0]:
            large = cell.dataset.startswith("forest") or cell.dataset.endswith("deformed")
            if not cell.method.startswith(("doubly", "zero", "minimum")):
                assert cell.params["batch_size"] == (1024 if large else 64)


def test_the_passes_that_notes_and_claims_tell_are_100_batches():
    for n_rows, batch_size, passes in ((32_561, 1024, "3.1"), (11_769, 1024, "8.7"), (522_910, 8192, "1.6")):
        assert f"{100 * batch_size / n_rows:.1f}" == passes and passes in svm.PASSES[0]
        assert any(f"{passes} passes" in claim.text for claim in SVM.claims)


def test_the_note_tells_after_which_steps_they_get_shorter():
    """A pass over any of these data sets has fewer."""
    steps = {full_steps_of(DoublyStochasticClassifier(), n, -(-n // 1024)) for n in (11_769, 32_561, 49_990)}
    assert f"after the first {steps.pop()} they get shorter" in get("dsg-batches").note and not steps


def test_the_passes_of_smo_are_explained_since_its_iterations_visit_no_rows():
    assert evaluation._rows_of_a_step(KernelSVC(fit_intercept=False), 100) == 1
    (effort,) = [table for table in SVM.tables if table.name == "effort"]
    assert "passes" in effort.metrics and any(note.startswith("SMO: its passes are steps") for note in effort.notes)


def test_labels_name_a_method_without_the_others_beside_it():
    """The first screen of the report shows a label alone, its end in parentheses or after a comma cut off."""
    for experiment in (SVM, get("dsg-ridge")):
        shown = [method.label.partition(" (")[0].partition(",")[0] for method in experiment.methods]
        assert not [label for label in shown if label.startswith(("the ", "r-:", "n-:"))]


def test_of_the_forests_only_the_narrow_one_runs_by_name_alone():
    settings = {setting.name: setting.optional for setting in SVM.scale("paper").settings}
    assert [name for name, optional in settings.items() if optional] == ["forest-narrow"]


def test_methods_that_visit_all_rows_for_each_are_not_run_on_millions():
    cells = plan([SVM], "paper", repeats=1)[0]
    on_deformed = {cell.method for cell in cells if cell.dataset == "mnist-8-vs-6-deformed"}
    assert on_deformed and not {name for name in on_deformed if name.startswith(("k-", "norma"))}


def test_the_regulariser_is_the_papers():
    adult, mnist = (SVM.scale("paper").setting(name) for name in ("adult", "mnist-8-vs-6"))
    assert adult.params["alpha"] == 1 / (100 * 32_561) and mnist.params["alpha"] == 1 / 11_769
    assert (0.5 / mnist.params["gamma"]) ** 0.5 == pytest.approx(9.03)


@pytest.mark.skipif(find_spec("torch") is not None, reason="PyTorch is here")
def test_without_pytorch_networks_are_named_gaps():
    cells, gaps = plan([MULTICLASS], "quick")
    assert {cell.dataset for cell in cells} == {"digits"}
    assert {gap.method for gap in gaps} == {
        "lenet",
        "lenet-top",
        "lenet-doubly",
        "lenet-doubly-alpha",
        "lenet-doubly-median",
        "lenet-kernel-svc",
    }


def test_random_convolutions_have_the_means_of_filters_over_a_grid_of_parts():
    rng = np.random.default_rng(0)
    images = rng.random((2, 3072), dtype=np.float32)
    filters = rng.standard_normal((75, 4)).astype(np.float32)
    image, maps = images[1].reshape(32, 32, 3), np.empty((28, 28, 4))
    for i, j in np.ndindex(28, 28):
        patch = image[i : i + 5, j : j + 5].transpose(2, 0, 1).ravel()  # one colour after the other
        maps[i, j] = np.maximum(0.0, (patch - patch.mean()) / (patch.std() + 0.05) @ filters)
    parts = [slice(0, 9), slice(9, 19), slice(19, 28)]
    expected = [maps[a, b].mean(axis=(0, 1)) for a in parts for b in parts]
    np.testing.assert_allclose(data._convolved(images, filters)[1], np.concatenate(expected), rtol=1e-4)


def test_the_balanced_error_is_the_mean_of_the_classes():
    y = np.array([1, -1, -1, -1, -1])
    fit = SimpleNamespace(
        model=SimpleNamespace(n_iter_=np.array([20]), batch_size=2),
        data=SimpleNamespace(y_test=y, y_train=np.ones(10)),
        predictions=np.array([-1, -1, -1, -1, 1]),
    )
    found = evaluation.classifier(fit)
    assert found["test_error"] == pytest.approx(0.4)
    assert found["balanced_error"] == pytest.approx((1.0 + 0.25) / 2)
    assert found["passes"] == 4.0
    for solver, passes in (("pegasos", 4.0), ("sdca", 2.0)):  # an iteration is a step on a batch; a visit of a row
        fit.model = SimpleNamespace(n_iter_=np.array([20]), solver=solver, solver_options={"batch_size": 2})
        assert evaluation.classifier(fit)["passes"] == passes


@pytest.mark.parametrize("precondition", [True, False])
def test_the_error_after_one_pass_is_that_of_a_fit_of_one_pass(precondition):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 2))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(400) > 0, 1, -1)
    given = SimpleNamespace(X_test=X[250:], y_test=y[250:], y_train=y[:250])

    def judged(**settings):
        model = DoublyStochasticClassifier(batch_size=64, block_size=16, alpha=0.01, precondition=precondition,
                                           random_state=0, **settings).fit(X[:250], y[:250])  # fmt: skip
        return evaluation.classifier(SimpleNamespace(model=model, data=given, predictions=model.predict(X[250:])))

    once, often = judged(max_iter=4), judged(max_iter=12)
    assert once["test_error"] != often["test_error"]
    assert once["one_pass_error"] == often["one_pass_error"] == once["test_error"]
    assert judged(max_iter=12, average="tail")["one_pass_error"] is judged(max_iter=3)["one_pass_error"] is None


@pytest.mark.parametrize("method", ["doubly", "doubly-64", "norma", "k-sdca", "r-pegasos", "n-sdca"])
def test_classifiers_learn_in_one_pass_and_are_followed(outcome, method):
    found = outcome(SVM, "adult-like", method, arguments=SMALL)
    # A single pass of SDCA with so little regularisation may be worse than a constant.
    assert found["metrics"]["test_error"] < (0.7 if method.endswith("sdca") else 0.5)
    assert found["metrics"]["passes"] >= 1
    # So little of Pegasos may end above f = 0, which is returned instead of the last iterate.
    replaced = method == "r-pegasos"
    assert replaced or found["trace"]["test_error"][-1] == found["metrics"]["test_error"]
    assert (found["metrics"]["n_feature_values"] is not None) == method.startswith("doubly")


@pytest.mark.parametrize("method", ["doubly", "sampler-sgd", "svc"])
def test_many_classes_are_told_apart(outcome, method):
    params = {"max_iter": 20} if method == "doubly" else {"max_epochs": 4} if method == "sampler-sgd" else {}
    assert outcome(MULTICLASS, "digits", method, **params)["metrics"]["test_error"] < 0.1


def test_one_pass_has_the_batches_the_features_and_the_width_it_is_told():
    digits, methods = load_data("digits"), {name: MULTICLASS.method(name) for name in ("pass-default", "pass-wide")}
    fits = {name: peers.OnePass(0.5, **method.params) for name, method in methods.items()}
    models = {name: fit.fit(digits.X_train[:400], digits.y_train[:400]).model_ for name, fit in fits.items()}
    assert [model.block_coef_.shape for model in models.values()] == [(8, 12, 10), (8, 25, 10)]
    assert [model.kernel_.sigma for model in models.values()] == [1.0, 4.0]
    assert evaluation._rows_of_a_step(fits["pass-wide"], 400) == 50
    stream = MULTICLASS.method("doubly-stream").params
    assert stream["block_size"] / stream["batch_size"] == fits["pass-default"].features
    assert stream["batch_size"] == fits["pass-default"].largest_batch and "step_size" not in stream


def test_a_fit_to_an_endless_stream_reads_as_many_rows_as_asked_for(monkeypatch, cell_of):
    digits = load_data("digits")

    class Digits:
        def chunks(self, rows, n_rows):
            self.asked = (rows, n_rows)
            for start in range(0, n_rows, 500):
                yield digits.X_train[start : start + 500], digits.y_train[start : start + 500]

    endless = Digits()
    monkeypatch.setattr(stream_runs, "stream", lambda name, seed: (endless, digits.X_test, digits.y_test))
    cell = cell_of(MULTICLASS, "digits", "doubly", rows=1000, max_iter=-1, batch_size=100)
    found = stream_runs.measure(SimpleNamespace(**{**vars(cell), "arguments": {"name": "digits"}}))
    assert endless.asked[1] == 1000
    assert found["metrics"]["n_iter"] == 10 and found["metrics"]["test_error"] < 0.3


def test_on_features_of_lenet_kernel_machines_of_one_width_are_compared():
    machine, doubly = (MULTICLASS.method(name).params for name in ("lenet-kernel-svc", "lenet-doubly-median"))
    assert machine["gamma"] == doubly["gamma"] and f"C = {machine['C']:g} and a width of one median" in MULTICLASS.note
    assert ("lenet-doubly-median", "lenet-kernel-svc") in {(c.method, c.baseline) for c in MULTICLASS.claims}
