"""The experiments on doubly stochastic gradients: declared as in the paper, correctly judged, runnable."""

from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import Ridge
from sklearn.svm import OneClassSVM

from kernbench import DoublyStochasticClassifier
from kernbench._lazy import load
from kernbench.datasets import load as load_data
from kernbench.datasets import real
from kernbench.experiments import get
from kernbench.experiments.papers.dsg import data, evaluation, peers, svm
from kernbench.experiments.papers.dsg.runs import gp as gp_runs
from kernbench.experiments.papers.dsg.runs import losses as loss_runs
from kernbench.experiments.papers.dsg.runs import molecules as molecule_runs
from kernbench.experiments.papers.dsg.runs import ridge as ridge_runs
from kernbench.experiments.papers.dsg.runs import stream as stream_runs
from kernbench.experiments.papers.dsg.runs.exact_ratio import ExactDensityRatio
from kernbench.experiments.run.cells import plan

NAMES = ("dsg-ridge", "dsg-gp", "dsg-svm", "dsg-multiclass", "dsg-molecules", "dsg-losses", "dsg-cost")
RIDGE, GP, SVM, MULTICLASS, MOLECULES, LOSSES, COST = EXPERIMENTS = [get(name) for name in NAMES]


pytestmark = pytest.mark.filterwarnings("ignore:.*did not reach")


# --- what is declared ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("experiment", "dataset", "method", "metric", "value"),
    [
        (SVM, "adult", "k-sdca", "test_error", 0.15),
        (SVM, "adult", "doubly-64", "test_error", 0.153),
        (SVM, "mnist8m-8-vs-6", "doubly-1024", "test_error", 0.0026),
        (SVM, "forest-median", "norma", "test_error", 0.10),
        (MULTICLASS, "mnist8m", "lenet-doubly", "test_error", 0.005),
        (MULTICLASS, "mnist8m", "lenet", "test_error", 0.006),
        (MULTICLASS, "cifar10", "doubly", "test_error", 0.11),
        (MOLECULES, "qm7", "doubly", "mae", 2.97),
        (COST, "gaussian-rows", "norma", "model_d", 1.0),
        (COST, "gaussian-rows", "doubly", "model_d", 0.0),
    ],
)
def test_numbers_are_those_of_the_paper(experiment, dataset, method, metric, value):
    assert experiment.paper_number(dataset, method, metric) == value


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.name)
def test_quick_scale_needs_no_files(experiment, monkeypatch, tmp_path):
    monkeypatch.setenv("KERNBENCH_DATA", str(tmp_path))
    monkeypatch.setenv("KERNBENCH_CACHE", str(tmp_path))
    for setting in experiment.scale("quick").settings:
        small = {"n_train": 2000} if setting.name == "gaussian-rows" else {}
        load(setting.loader)(**setting.arguments_of(0) | small)


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


# --- data ---------------------------------------------------------------------------------------------------


def test_generated_molecules_have_an_energy_that_does_not_depend_on_the_order_of_atoms():
    found = data.generated_molecules(50, 10)
    matrices = real.molecules.full_matrices(found.X_train)
    drawn = real.molecules.randomly_sorted(matrices, np.random.default_rng(0), noise=50.0)
    assert not np.array_equal(drawn, matrices)
    for one, other in zip(matrices, drawn):
        np.testing.assert_allclose(np.linalg.eigvalsh(one), np.linalg.eigvalsh(other), rtol=1e-9, atol=1e-9)


def test_random_convolutions_have_a_grid_of_filters():
    rng = np.random.default_rng(0)
    images = rng.random((2, 3072), dtype=np.float32)
    filters = rng.standard_normal((75, 4)).astype(np.float32)
    found = data._convolved(images, filters)
    assert found.shape == (2, 36) and (found >= 0).all()
    patch = images[0].reshape(32, 32, 3)[:5, :5].transpose(2, 0, 1)  # the order of sliding windows
    patch = (patch.reshape(-1) - patch.mean()) / (patch.std() + 0.05)
    windows = np.lib.stride_tricks.sliding_window_view(images[0].reshape(32, 32, 3), (5, 5), axis=(0, 1))
    first = windows[0, 0].reshape(-1)
    np.testing.assert_allclose((first - first.mean()) / (first.std() + 0.05), patch, atol=1e-5)


# --- how models are judged -----------------------------------------------------------------------------------


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


def test_the_closed_form_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    X, y, points = rng.uniform(-3, 3, (60, 2)), rng.standard_normal(60), rng.uniform(-3, 3, (7, 2))
    mean, variance = gp_runs.closed_form(X, y, points, gamma=0.5, noise_variance=0.3)
    oracle = GaussianProcessRegressor(RBF(1.0), alpha=0.3, optimizer=None).fit(X, y)
    expected, deviation = oracle.predict(points, return_std=True)
    np.testing.assert_allclose(mean, expected, atol=1e-8)
    np.testing.assert_allclose(variance, deviation**2, atol=1e-8)


@pytest.mark.parametrize("features", ["random", "nystroem"])
def test_ridge_on_features_is_that_of_scikit_learn(features, monkeypatch):
    monkeypatch.setattr(peers, "ROWS_AT_ONCE", 70)  # several blocks
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 3)), rng.standard_normal(200)
    model = peers.FixedFeaturesRidge(0.3, 1e-2, features, 20, random_state=0).fit(X, y)
    Z = model.map_.transform(X)
    oracle = Ridge(alpha=1e-2 * 200, fit_intercept=False).fit(Z, y)
    np.testing.assert_allclose(model.predict(X), oracle.predict(Z), rtol=1e-5, atol=1e-6)


# --- what runs ----------------------------------------------------------------------------------------------


SMALL = {"n_train": 300, "n_test": 100}


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


@pytest.mark.parametrize("method", ["doubly", "doubly-average", "r-ridge", "k-sdca", "n-pegasos"])
def test_regressions_come_closer_to_the_function(outcome, method):
    budget = {"max_seconds": 0.5} if method in ("k-sdca", "n-pegasos") else {}
    found = outcome(RIDGE, "ridge-2d", method, arguments={"n_train": 4096, "n_test": 100}, steps=12, **budget)
    assert found["metrics"]["mse"] < 0.06  # that of f = 0 is 0.0657
    assert found["metrics"]["mse"] == pytest.approx(found["trace"]["mse"][-1], rel=1e-6)
    assert found["trace"]["curve"].count("truth") == len(found["trace"]["value"]) / 2
    if method == "doubly":
        assert found["metrics"]["n_iter"] == 12 and found["metrics"]["n_feature_values"] > 12 * 1024 * 256


def test_the_rate_of_the_theory_is_seen(outcome):
    found = outcome(RIDGE, "rate", "rate", arguments={"n_train": 500}, steps=[8, 16, 32, 64])
    assert found["metrics"]["slope"] < -0.6
    assert found["trace"]["n_iter"] == [8, 16, 32, 64]


def test_a_gaussian_process_is_held_against_its_closed_form(outcome):
    found = outcome(GP, "ridge-2d", "default", arguments={"n_train": 1000, "n_test": 20})
    assert found["metrics"]["mean_error"] < 0.2 and found["metrics"]["variance_error"] < 0.5
    rough = outcome(GP, "ridge-2d", "blocks", arguments={"n_train": 1000, "n_test": 20}, steps=[1, 8])
    assert rough["trace"]["mean_error"][1] < rough["trace"]["mean_error"][0]
    norma = outcome(GP, "ridge-2d-narrow", "norma", arguments={"n_train": 1000, "n_test": 20}, steps=[1, 32])
    assert norma["trace"]["mean_error"][1] < min(0.5, norma["trace"]["mean_error"][0])
    assert norma["trace"]["variance_error"][1] < norma["trace"]["variance_error"][0]


@pytest.mark.parametrize(("limit", "fits"), [(1e-9, 3), (10.0, 2)])
def test_features_grow_until_the_posterior_stays(cell_of, limit, fits):
    cell = cell_of(GP, "ridge-2d", "default", arguments={"n_train": 300, "n_test": 20})
    params = {"gamma": 0.3, "noise_variance": 0.1, "steps": [1], "sizes": [32, 128, 512], "mean_moves": limit,
              "variance_moves": limit}  # fmt: skip
    found = gp_runs.measure_growing(SimpleNamespace(**{**vars(cell), "params": params}))
    metrics, trace = found["metrics"], found["trace"]
    assert trace["n_iter"] == [32, 128, 512][:fits] and metrics["n_features"] == trace["n_iter"][-1]
    assert metrics["n_iter"] == fits and metrics["mean_error"] == trace["mean_error"][-1]
    assert trace["variance_error"][-1] < trace["variance_error"][0]
    assert (metrics["variance_moved"] <= limit) == (fits == 2)


def test_the_slope_of_a_trace_is_that_of_its_later_part():
    steps = [1, 2, 4, 8, 16, 32]
    trace = {"n_iter": steps, "mse": [5.0, 5.0, *(3.0 / t for t in steps[2:])]}
    assert ridge_runs._slope(trace) == pytest.approx(-1.0)
    assert ridge_runs._slope({"n_iter": [1, 8, 8], "mse": [1.0, 0.5, 0.5]}) is None


@pytest.mark.parametrize("method", ["doubly", "sampler-sgd", "svc"])
def test_many_classes_are_told_apart(outcome, method):
    params = {"max_iter": 20} if method == "doubly" else {"max_epochs": 20} if method == "sampler-sgd" else {}
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


@pytest.mark.parametrize("method", ["doubly", "doubly-entries", "doubly-sorted", "ridge-predicates-4", "kernel-ridge"])
def test_energies_are_better_than_a_constant(outcome, method):
    streamed = method in ("doubly", "doubly-entries")
    params = {"permutations": 10, "votes": 3, "search": {"width": [1, 4], "damping": [1e-5]}} if streamed else {}
    found = outcome(MOLECULES, "generated-molecules", method, arguments={"n_train": 200, "n_test": 50}, **params)
    metrics = found["metrics"]
    assert metrics["mae"] < 0.9 * metrics["constant_mae"]
    n_entries = 8 * 9 // 2
    assert (metrics["n_columns"] > n_entries) == (method in ("doubly", "ridge-predicates-4"))
    if streamed:
        assert metrics["width"] in (1, 4) and metrics["chosen_damping"] == 1e-5
        assert metrics["n_features"] == 128 * metrics["n_iter"] and found["seconds"]["search"] > 0


def test_a_width_is_chosen_on_molecules_that_are_held_out(monkeypatch):
    """Of three widths the one that learns is chosen; test rows are not seen, and 9 of 10 molecules are trained with."""
    rng = np.random.default_rng(0)
    seen = []

    class Model:
        def __init__(self, gamma):
            self.gamma = gamma

        def fit(self, X, y):
            seen.append(len(X))
            return self

        def predict(self, X):
            return X[:, 0] + abs(self.gamma - gammas[1])

    train = rng.standard_normal((40, 1))
    median = molecule_runs.median_distance(lambda rows: rows, train)
    gammas = [0.5 / (width * median) ** 2 for width in (1, 2, 4)]
    asked = {"search": {"width": [1, 2, 4]}, "trial_permutations": 3}
    chosen = molecule_runs._choose(Model, {}, asked, lambda rows: rows, train, train[:, 0], rng)
    assert chosen == {"width": 2, "gamma": pytest.approx(gammas[1])} and seen == [36 * 3] * 3


def test_descent_and_ridge_regression_are_those_of_their_iterations(outcome):
    """Steps and linear systems, written out, on the same random matrices."""
    small = {"n_train": 30, "n_test": 20}
    settings = {"widths": [2], "alphas": [1e-4, 1e-2], "steps": [3, 50], "votes": 1}
    found = outcome(MOLECULES, "generated-molecules", "conditioning", arguments=small, **settings)
    made, step = data.generated_molecules(**small), 1.0
    train, test = (real.molecules.full_matrices(X) for X in (made.X_train, made.X_test))
    seed = plan([MOLECULES], "quick", methods=["conditioning"], repeats=1)[0][0].seed
    draw = molecule_runs.drawing(train, np.random.default_rng(seed), step)
    median, Z = molecule_runs.median_distance(draw, train), draw(train).astype(float)
    rows = draw(test).astype(float)

    def kernel(A, B):
        squares = (A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1) - 2 * A @ B.T
        return np.exp(-squares / (2 * (2 * median) ** 2))

    K, target = kernel(Z, Z) / 30, made.y_train - made.y_train.mean()
    coefs = [np.linalg.solve(K + alpha * np.eye(30), target) / 30 for alpha in (1e-4, 1e-2)]
    largest, a = np.linalg.eigvalsh(K)[-1], np.zeros(30)
    for t in range(1, 51):
        a += (target - 30 * K @ a) / (30 * largest)
        if t in (3, 50):
            coefs.append(a.copy())
    errors = [np.abs(kernel(rows, Z) @ coef + made.y_train.mean() - made.y_test).mean() for coef in coefs]
    np.testing.assert_allclose(found["trace"]["mae"], errors, rtol=1e-4)
    np.testing.assert_allclose(found["trace"]["alpha"], [1e-4, 1e-2, largest / 3, largest / 50], rtol=1e-5)
    assert found["metrics"]["ridge_mae"] == min(found["trace"]["mae"][:2])


@pytest.mark.parametrize(("method", "model_d"), [("doubly", 0.0), ("norma", 1.0), ("r-pegasos", 0.0)])
def test_orders_are_measured(outcome, method, model_d):
    found = outcome(
        COST, "gaussian-rows", method, arguments={"n_train": 800, "n_features": 256}, sizes=[200, 400, 800],
        widths=[16, 64, 256],
    )["metrics"]  # fmt: skip
    assert found["model_d"] == pytest.approx(model_d, abs=0.15)
    assert found["model_n"] == pytest.approx(1.0, abs=0.35)
    if method == "doubly":
        blocks = np.ceil(np.array([200, 400, 800]) / 128)
        expected = np.polyfit(np.log([200, 400, 800]), np.log(blocks * (blocks + 1)), 1)[0]
        assert found["work_n"] == pytest.approx(expected, abs=0.3)


# --- losses without an experiment in the paper ---------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"target": "ratio", "floor": 0.05}, {"target": "ratio", "floor": 0.7}])
def test_the_exact_density_ratio_is_the_minimiser(settings):
    """No small change of the function lowers the objective, written out here once more."""
    found = data.shifted_normals(120, 1)
    P, Q = found.X_train[found.y_train > 0], found.X_train[found.y_train < 0]
    model = ExactDensityRatio(gamma=0.5, alpha=0.05, **settings).fit(P, Q)
    K = np.exp(-0.5 * (model.rows_ - model.rows_.T) ** 2)

    def objective(a):
        f, floor = K @ a, settings.get("floor")
        if floor is None:
            losses = np.exp(f[len(P) :]).mean() - f[: len(P)].mean()
        else:
            tangent = np.log(floor) + (f[: len(P)] - floor) / floor
            phi = np.where(f[: len(P)] > floor, np.log(np.maximum(f[: len(P)], floor)), tangent)
            losses = np.maximum(0, f[len(P) :]).mean() - phi.mean()
        return 0.025 * a @ f + losses

    least = objective(model.coef_)
    np.testing.assert_allclose(model.function(Q), (K @ model.coef_)[len(P) :], atol=1e-10)
    for change in np.random.default_rng(0).standard_normal((20, len(K))):
        assert objective(model.coef_ + 1e-3 * change) > least


def test_the_exact_novelty_detector_is_in_the_scale_of_the_other_one():
    found = data.two_clusters(200, 50)
    model = loss_runs.exact_novelty_detector(nu=0.2, gamma=0.5).fit(found.X_train)
    oracle = OneClassSVM(nu=0.2, gamma=0.5, tol=1e-8).fit(found.X_train)
    expected = oracle.score_samples(found.X_test) / (0.2 * 200)
    np.testing.assert_allclose(loss_runs.outputs(model, found.X_test), expected, atol=1e-6)


def test_the_quantiles_that_are_known_are_those_of_the_rows():
    found = data.noisy_waves(20_000, 1)
    for quantile in (0.1, 0.5, 0.9):  # six standard deviations: a probability of failure of 2e-9
        below = np.mean(found.y_train <= data.wave_quantile(found.X_train, quantile))
        assert abs(below - quantile) < 6 * np.sqrt(quantile * (1 - quantile) / 20_000)


@pytest.mark.parametrize(
    ("dataset", "method"),
    [
        ("svr", "plain-regression"),
        ("quantile-90", "plain-regression"),
        ("density-ratio", "plain-ratio"),
        ("density-ratio", "cycled-ratio"),
        ("ratio-itself", "cycled-ratio"),
        ("relative-novelty", "plain-ratio"),
    ],
)
def test_every_loss_comes_near_its_exact_solution(outcome, dataset, method):
    found = outcome(LOSSES, dataset, method, arguments={"n_train": 200, "n_test": 100}, max_iter=400)
    assert found["metrics"]["distance"] < 0.25 and found["metrics"]["certificate"] < 1e-6
    assert found["trace"]["distance"][-1] == pytest.approx(found["metrics"]["distance"])
    if dataset == "quantile-90":
        assert found["metrics"]["share"] == pytest.approx(0.9, abs=0.03)


def test_an_exact_solution_is_at_no_distance_from_itself(outcome):
    found = outcome(LOSSES, "novelty", "exact-novelty", arguments={"n_train": 200, "n_test": 100})
    assert found["metrics"]["distance"] == found["metrics"]["share_off"] == 0.0
    assert found["metrics"]["share"] <= 0.1 and found["metrics"]["n_iter"] is None
