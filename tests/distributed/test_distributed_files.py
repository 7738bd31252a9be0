"""`Distributed` on files and chunks: the model of one array, whichever way the rows are cut."""

import pickle
import sys

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

import kernbench
from kernbench import ROCSVC, DoublyStochasticClassifier, KernelSVC, KernelSVR, LinearSVC, PartialAUCClassifier
from kernbench.distributed import Distributed, FileBlocks
from kernbench.distributed.blocks.spread import gamma_of, spread_of, spread_of_entries
from kernbench.features import Nystroem, RandomFeatures
from kernbench.kernels import Gaussian
from kernbench.kernels.bandwidth import scale
from kernbench.validation import container
from kernbench.validation.container import available_bytes

N = 18_000

MODELS = {
    "bundle": ROCSVC(random_state=0),
    "newton": ROCSVC(solver="newton", random_state=0),
    "adamax": ROCSVC(solver="adamax", max_iter=25, random_state=0),
    "gradient": ROCSVC(solver="gradient", max_iter=25, random_state=0),
    "squared": ROCSVC(loss="squared"),
    "pairs": ROCSVC(pairs="n_samples", random_state=0),
    "nystroem": ROCSVC("rbf", n_landmarks=40, random_state=0),
    "kmeans": ROCSVC("rbf", n_landmarks=20, landmarks="kmeans", random_state=0),
    "median": ROCSVC("rbf", gamma="median", n_landmarks=20, random_state=0),
    "random": ROCSVC("rbf", features="random", n_features=64, random_state=0),
    "window": PartialAUCClassifier((0.0, 0.3), random_state=0),
    "window-auc": PartialAUCClassifier((0.0, 0.3), loss="hinge", start="auc", threshold="window", random_state=0),
    "window-nystroem": PartialAUCClassifier((0.05, 0.3), kernel="rbf", n_landmarks=20, random_state=0),
    "tight": PartialAUCClassifier((0.0, 0.3), solver="svmpauc-tight", random_state=0),
    "linear": LinearSVC(solver="bundle", random_state=0),
    "hinge": LinearSVC("hinge", solver="bundle", random_state=0, class_weight="balanced", fit_intercept=False),
}


def weights_of(model):
    return model.feature_coef_ if hasattr(model, "feature_coef_") else model.coef_


@pytest.mark.filterwarnings("error::UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("output", ["pandas", "polars"])
@pytest.mark.parametrize(
    "last",
    [LinearSVC(solver="bundle"), KernelSVC(), DoublyStochasticClassifier(max_iter=5, random_state=0)],
    ids=lambda model: type(model).__name__,
)
def test_transformers_may_be_set_to_return_data_frames(last, output, examples):
    pytest.importorskip(output, reason=f"{output} is not installed")
    X, y = examples(200, 3)
    pipeline = make_pipeline(StandardScaler(), Nystroem(n_landmarks=20, random_state=0), last)
    chunks, labels = np.array_split(X, 3), np.array_split(y, 3)
    expected = Distributed(pipeline).fit(chunks, labels).decision_function(chunks)
    with config_context(transform_output=output):
        model = Distributed(pipeline).fit(chunks, labels)
    np.testing.assert_array_equal(model.decision_function(chunks), expected)
    model = Distributed(clone(pipeline).set_output(transform=output)).fit(chunks, labels)
    model.estimator_.set_output(transform="default")
    np.testing.assert_array_equal(model.decision_function(chunks), expected)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", MODELS)
def test_the_model_is_that_of_the_array_and_the_same_bits_for_any_cut(name, examples, in_files):
    X, y = examples(N, 6)
    sample_weight = (
        np.random.default_rng(5).integers(1, 3, size=N) * 1.0 if name in ("bundle", "window", "linear") else None
    )
    plain = clone(MODELS[name]).fit(X, y, sample_weight)
    models = [
        Distributed(MODELS[name]).fit(data, labels, sample_weight).estimator_
        for data, labels in ((in_files(X, (9_999,)), y), (np.split(X, [1, 5_000, 5_001]), np.split(y, [4])))
    ]
    for model in models:
        # Features of a kernel are rounded otherwise, and a problem that is not convex carries that on.
        rel = 1e-8 if name == "window-nystroem" else 1e-10
        assert model.objective_ == pytest.approx(plain.objective_, rel=rel)
        assert model.converged_ == plain.converged_ and model.n_iter_ == plain.n_iter_
        gap = "duality_gap_" if plain.duality_gap_ is not None else "subproblem_gap_"
        # The gap of an array includes a bound on rounding errors, which needs all rows.
        assert getattr(model, gap) == pytest.approx(getattr(plain, gap), rel=1e-3, abs=1e-8)
        assert model.n_kernel_evaluations_ == plain.n_kernel_evaluations_
        np.testing.assert_allclose(model.decision_function(X[:50]), plain.decision_function(X[:50]), atol=1e-6)
    assert np.array_equal(weights_of(models[0]), weights_of(models[1]))
    assert np.array_equal(models[0].intercept_, models[1].intercept_)


@pytest.mark.parametrize("model", [ROCSVC(random_state=0), LinearSVC(solver="bundle", random_state=0)])
def test_sparse_chunks_give_the_model_of_the_matrix(model, examples):
    X, y = examples(N, 8, is_sparse=True)
    plain = clone(model).fit(X, y)
    found = Distributed(model).fit([(X[:500], y[:500]), (X[500:], y[500:])]).estimator_
    assert found.objective_ == pytest.approx(plain.objective_, rel=1e-10)
    np.testing.assert_allclose(found.coef_, plain.coef_, rtol=1e-8)


@pytest.mark.parametrize("memory", [0, 10**9])
def test_a_pipeline_is_that_of_the_array(memory, examples, in_files):
    X, y = examples(5_000, 6)
    X = X * np.arange(1, 7) + np.array([0, 0, 0, 0, 0, 50.0])
    X[:, 2] = 0.1
    for step in (
        Nystroem(Gaussian(2.0), 30, random_state=0),
        RandomFeatures(gamma="scale", n_features=64, random_state=0),
    ):
        pipeline = make_pipeline(StandardScaler(), step, LinearSVC(solver="bundle", random_state=0))
        plain = clone(pipeline).fit(X, y)
        model = Distributed(pipeline, memory=memory).fit(in_files(X, (3_000,)), y)
        np.testing.assert_allclose(model.estimator_[0].scale_, plain[0].scale_, rtol=1e-12)
        assert model.estimator_[-1].objective_ == pytest.approx(plain[-1].objective_, rel=1e-9)
        np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X), atol=1e-6)


@pytest.mark.parametrize(
    "settings", [{"with_std": False}, {"with_mean": False}, {"with_mean": False, "with_std": False}]
)
def test_a_scaler_of_one_kind_is_that_of_the_array(settings, examples):
    X, y = examples(500, 3)
    plain = StandardScaler(**settings).fit(X)
    model = Distributed(make_pipeline(StandardScaler(**settings), LinearSVC())).fit([X[:200], X[200:]], y)
    for name in ("mean_", "var_", "scale_"):
        found, expected = (getattr(scaler, name) for scaler in (model.estimator_[0], plain))
        assert found is expected is None or found == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(model.estimator_[0].transform(X), plain.transform(X), rtol=1e-12)


def test_a_quarter_of_the_memory_that_is_left_is_for_rows_and_features(monkeypatch):
    monkeypatch.setattr("kernbench.distributed.meta_estimator.available_bytes", lambda: 1000)
    kept = [Distributed(ROCSVC(), memory=memory)._keep_bytes(needed) for memory, needed in
            (("auto", 600), ("auto", 1200), (77, 600))]  # fmt: skip
    assert kept == [100, 0, 77]


@pytest.mark.parametrize("own", container.CGROUPS, ids=["v2", "v1"])
def test_free_memory_is_what_the_container_has_left(own, monkeypatch, tmp_path):
    groups = [group._replace(folder=tmp_path if group is own else tmp_path / "absent") for group in container.CGROUPS]
    monkeypatch.setattr(container, "CGROUPS", groups)
    assert container.memory_limit() == (None, None)
    (tmp_path / own.limit).write_text("1000000\n")
    (tmp_path / own.usage).write_text("700000\n")
    assert available_bytes() == 300_000
    active, inactive = own.pages
    (tmp_path / "memory.stat").write_text(f"anon 400000\n{active} 200000\n{inactive} 100000\n")
    assert container.memory_limit() == (1_000_000, 600_000) and available_bytes() == 600_000
    (tmp_path / own.usage).write_text("1400000\n")
    assert available_bytes() == 0
    (tmp_path / own.limit).write_text("max\n")
    assert available_bytes() > 1_000_000


def test_gamma_scale_is_that_of_the_array(examples, in_files):
    for is_sparse in (False, True):
        X, _ = examples(5_000, 3, is_sparse=is_sparse)
        data = [X[:100], X[100:]] if is_sparse else in_files(X, (100,))
        assert gamma_of(spread_of(FileBlocks(data)), 3) == pytest.approx(scale(X), rel=1e-13)
        twice = spread_of(FileBlocks(data), np.full(5_000, 2.0))
        assert gamma_of(twice, 3) == pytest.approx(scale(X), rel=1e-13)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "gamma, size, problem",
    [("median", 1e-170, "small"), ("median", 1e160, "large"), ("scale", 1e-160, "small"), ("scale", 1e160, "large")],
)
def test_rows_of_extreme_scales_are_refused(examples, gamma, size, problem):
    X, y = examples(200, 3)
    model = KernelSVC(gamma=gamma, dtype="float64")
    with pytest.raises(ValueError, match=f"X (is|are) too {problem} for gamma='{gamma}': scale the features"):
        Distributed(model).fit([size * X], y)
    Distributed(clone(model).set_params(kernel="linear")).fit([1e-170 * X], y)  # has no gamma


def test_predictions_of_files_are_those_of_the_plain_model(examples, in_files, tmp_path):
    X, y = examples(5_000, 4)
    folder = in_files(X, (10, 2_500))
    np.save(tmp_path / "labels.npy", y)
    (tmp_path / "labels.npy").rename(folder.parent / "labels.npy")
    model = Distributed(ROCSVC(random_state=0)).fit(str(folder), folder.parent / "labels.npy")
    for data in (folder, [X[:3], X[3:]], X):
        assert np.array_equal(model.decision_function(data), model.estimator_.decision_function(X))
        assert np.array_equal(model.predict(data), model.estimator_.predict(X))
    assert model.score(folder, y) == model.estimator_.score(X, y)
    model.estimator_.save(tmp_path / "model.npz")
    loaded = kernbench.load(tmp_path / "model.npz")
    assert np.array_equal(loaded.decision_function(X), model.decision_function(X))
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(folder), model.predict(X))


@pytest.mark.filterwarnings("error:X (has|does not have)")
@pytest.mark.parametrize(
    "estimator",
    [
        ROCSVC(random_state=0),
        make_pipeline("passthrough", StandardScaler(), ROCSVC(random_state=0)),
        make_pipeline(Nystroem(n_landmarks=20, random_state=0), LinearSVC(solver="bundle")),
    ],
    ids=["alone", "scaled", "mapped"],
)
def test_columns_keep_their_names(estimator, tmp_path, examples):
    pandas = pytest.importorskip("pandas")
    X, y = examples(500, 3)
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    frame.assign(label=y).to_csv(tmp_path / "x.csv", index=False)
    model = Distributed(estimator).fit(tmp_path, "label")
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert np.array_equal(model.predict([frame]), model.estimator_.predict(frame))
    with pytest.raises(ValueError, match="The feature names should match"):
        model.estimator_.predict(frame[["b", "a", "c"]])


@pytest.mark.filterwarnings("error::UserWarning")
def test_columns_of_text_files_need_no_pandas(tmp_path, monkeypatch, examples):
    class Refusing:
        @staticmethod
        def find_spec(name, path=None, target=None):
            assert name != "pandas"

    monkeypatch.delitem(sys.modules, "pandas", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Refusing, *sys.meta_path])
    X, y = examples(200, 3)
    np.savetxt(
        tmp_path / "x.csv", np.column_stack([X, y]), delimiter=",", header="a,b,c,label", comments="", fmt="%.17g"
    )
    linear = LinearSVC(solver="bundle", tol=0.1)
    for estimator in (linear, make_pipeline(StandardScaler(), linear)):
        model = Distributed(estimator).fit(tmp_path, "label")
        assert list(model.feature_names_in_) == ["a", "b", "c"]
        plain = Distributed(estimator).fit([X], y)
        assert np.array_equal(model.decision_function([X]), plain.decision_function([X]))
        assert model.score(tmp_path, "label") == plain.score([X], y)


def test_landmarks_with_columns_in_another_order_are_refused(examples):
    pandas = pytest.importorskip("pandas")
    X, y = examples(500, 3)
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    ranking = ROCSVC("rbf", features="nystroem", random_state=0)
    for model in (ranking, make_pipeline(Nystroem(random_state=0), LinearSVC())):
        own = getattr(model, "steps", [[None, model]])[0][1]
        for landmarks in (frame[:9], X[:9]):
            own.set_params(landmarks=landmarks)
            Distributed(model).fit([frame], y)
        own.set_params(landmarks=frame[["b", "a", "c"]][:9])
        with pytest.raises(ValueError, match=r"landmarks has the columns \['b', 'a', 'c'\], which should be"):
            Distributed(model).fit([frame], y)


@pytest.mark.parametrize("kind, estimator", [(is_classifier, ROCSVC()), (is_regressor, KernelSVR())])
def test_it_is_what_its_estimator_is(kind, estimator, examples):
    X, y = examples(300, 3)
    model = Distributed(estimator)
    assert kind(model) and kind(Distributed(make_pipeline(StandardScaler(), estimator)))
    assert get_tags(model).input_tags.sparse
    order = np.argsort(y)  # folds of one class, unless they are stratified
    assert np.isfinite(cross_val_score(model, X[order], y[order], cv=3, error_score="raise")).all()


def test_a_path_leaves_the_model_of_a_fit(examples):
    pandas = pytest.importorskip("pandas")
    X, y = examples(500, 3)
    model = Distributed(ROCSVC(random_state=0)).fit([pandas.DataFrame(X, columns=["a", "b", "c"])], y)
    before = dict(vars(model))
    assert len(model.path([X[:400, :2]], y[:400], [0.1, 0.01])) == 2
    assert vars(model) == before and model.n_samples_ == 500
    with pytest.raises(ValueError, match="should be those of fit"):
        model.predict([pandas.DataFrame(X, columns=["c", "b", "a"])])


def test_one_number_weighs_all_rows(examples):
    X, y = examples(500, 3)
    number, array = (Distributed(ROCSVC(random_state=0)).fit([X], y, weights) for weights in (2.0, np.full(500, 2.0)))
    assert np.array_equal(number.estimator_.coef_, array.estimator_.coef_)


def test_a_second_fit_forgets_the_columns_of_the_first(examples):
    pandas = pytest.importorskip("pandas")
    X, y = examples(500, 3)
    model = Distributed(ROCSVC(random_state=0)).fit([pandas.DataFrame(X, columns=["a", "b", "c"])], y)
    model.fit([X[:, :2]], y)
    assert not hasattr(model, "feature_names_in_")
    assert np.array_equal(model.predict([X[:, :2]]), model.estimator_.predict(X[:, :2]))
    model.set_params(estimator=KernelSVR()).fit([X], X[:, 0])
    assert not hasattr(model, "classes_") and hasattr(model, "n_rounds_")


def test_a_path_is_that_of_the_array(examples, in_files):
    X, y = examples(5_000, 4)
    folder = in_files(X, (2_000,))
    plain = ROCSVC(random_state=0).path(X, y, [0.1, 1e-3])
    for model, expected in zip(Distributed(ROCSVC(random_state=0)).path(folder, y, [0.1, 1e-3]), plain, strict=True):
        assert model.alpha == expected.alpha and model.objective_ == pytest.approx(expected.objective_, rel=1e-10)


def test_validation_rows_and_a_path_of_partial_auc_are_those_of_the_array(examples):
    X, y = examples(4_000, 5)
    model = PartialAUCClassifier((0.0, 0.3), random_state=0, validation=(X[:900], y[:900]))
    plain = clone(model).fit(X[900:], y[900:])
    found = Distributed(model).fit([X[900:2_000], X[2_000:]], y[900:]).estimator_
    assert found.validation_score_ == pytest.approx(plain.validation_score_, abs=5e-3)
    assert found.fpr_range_ == plain.fpr_range_
    model = PartialAUCClassifier((0.0, 0.3), random_state=0)
    for one, other in zip(Distributed(model).path([X], y, [0.1, 1e-3]), model.path(X, y, [0.1, 1e-3]), strict=True):
        assert one.objective_ == pytest.approx(other.objective_, rel=1e-10)


def test_a_fit_that_is_refused_leaves_the_model(examples):
    X, y = examples(300, 3)
    model = Distributed(ROCSVC(random_state=0)).fit([X[:200], X[200:]], [y[:200], y[200:]])
    before = model.predict(X), set(vars(model))
    for bad in (np.where(np.arange(3) == 1, np.nan, X), X[:, :0]):
        with pytest.raises(ValueError):
            model.fit([bad[:200], bad[200:]], [y[:200], y[200:]])
        assert np.array_equal(model.predict(X), before[0]) and set(vars(model)) == before[1]
    fresh = Distributed(DoublyStochasticClassifier(random_state=0))
    with pytest.raises(ValueError):
        fresh.fit([X[:200], X[200:] * np.nan], [y[:200], y[200:]])
    assert not hasattr(fresh, "estimator_")  # the next call of partial_fit is the first one
    assert fresh.partial_fit([X[:200], X[200:]], [y[:200], y[200:]]).score(X, y) > 0.5


def test_columns_of_another_order_are_refused(examples):
    pandas = pytest.importorskip("pandas")
    X, y = examples(300, 3)
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    permuted = frame[["b", "a", "c"]]
    linear = LinearSVC(solver="bundle", max_iter=20, tol=0.1)
    for estimator in (linear, make_pipeline(StandardScaler(), linear)):
        model = Distributed(estimator).fit([frame], y)
        assert np.array_equal(model.predict([frame]), model.predict([X]))
        for rows in ([permuted], permuted):
            with pytest.raises(ValueError, match="in their order|in the same order"):
                model.predict(rows)
    stream = Distributed(DoublyStochasticClassifier(batch_size=64, block_size=16)).partial_fit([frame], y)
    with pytest.raises(ValueError, match="in their order"):
        stream.partial_fit([permuted], y)


def test_labels_in_a_column_are_scored_as_those_in_a_row(examples):
    X, y = examples(300, 3)
    model = Distributed(LinearSVC(solver="bundle", max_iter=20, tol=0.1)).fit([X], y)
    for rows in ([X[:100], X[100:]], X):
        assert model.score(rows, y[:, None]) == model.score(rows, y) > 0.7


@pytest.mark.parametrize("estimator", [LinearSVC(solver="bundle", max_iter=20, tol=0.1), KernelSVR(C=0.1)])
def test_scores_are_weighted(estimator, examples):
    X, y = examples(200, 3)
    model, weights = Distributed(estimator).fit([X], y), np.arange(200) % 3
    for rows in ([X[:100], X[100:]], X):
        score = model.score(rows, y, sample_weight=weights)
        assert score == pytest.approx(model.estimator_.score(X, y, sample_weight=weights)) != model.score(rows, y)


def test_the_spread_of_no_rows_changes_no_other():
    nothing, some = spread_of_entries(np.ones((2, 3)), np.zeros(2)), spread_of_entries(np.arange(6.0).reshape(2, 3))
    assert nothing.join(some) == some == some.join(nothing)


@pytest.mark.parametrize("model", [
    ROCSVC("rbf", gamma="median", n_landmarks=20, random_state=0),
    PartialAUCClassifier((0.0, 0.5), kernel="rbf", features="nystroem", landmarks="uniform", random_state=0),
])  # fmt: skip
def test_landmarks_are_those_of_the_rows_with_a_weight(model, examples):
    X, y = examples(700, 3)
    used = np.arange(700) % 3 > 0
    found = Distributed(model).fit([X[:200], X[200:]], y, used.astype(float)).estimator_
    expected = Distributed(model).fit([X[used]], y[used]).estimator_
    plain = clone(model).fit(X, y, used.astype(float))
    for other in (expected, plain):
        np.testing.assert_array_equal(found.feature_map_.landmarks_, other.feature_map_.landmarks_)


def test_what_the_estimator_has_is_there(examples):
    X, y = examples(600, 3)
    model = Distributed(DoublyStochasticClassifier(loss="log_loss", max_iter=3, block_size=8, random_state=0)).fit(
        [X], y
    )
    assert np.array_equal(model.predict_proba([X[:9], X[9:]]), model.estimator_.predict_proba(X))
    assert not hasattr(Distributed(ROCSVC()), "predict_proba")
    assert clone(model).get_params()["estimator__loss"] == "log_loss"
    model.set_params(estimator__loss="hinge").fit([X], y)
    assert model.estimator_.loss == "hinge" and not hasattr(model, "predict_proba")


def test_three_classes_are_fitted_against_the_rest(examples, in_files):
    X, y = examples(5_000, 4)
    y = np.where(X[:, 1] > 1, "c", np.where(y > 0, "b", "a"))
    plain = LinearSVC(solver="bundle", random_state=0).fit(X, y)
    model = Distributed(LinearSVC(solver="bundle", random_state=0)).fit(in_files(X, (2_000,)), y)
    assert model.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(model.estimator_.coef_, plain.coef_, rtol=1e-8, atol=1e-10)


def test_a_run_of_no_time_still_leaves_a_model(examples, in_files):
    X, y = examples(20_000, 4)
    seen = []
    model = ROCSVC(random_state=0, callback=lambda model: seen.append(model.decision_function(X[:3])) or True)
    fitted = Distributed(model).fit(in_files(X, (5,)), y).estimator_
    assert fitted.status_ == "callback" and len(seen) == 1


def test_the_default_solver_of_a_linear_svc_passes_over_blocks(examples):
    X, y = examples(60, 3)
    model, named = (
        Distributed(LinearSVC(random_state=0, **given)).fit(X, y).estimator_ for given in ({}, {"solver": "bundle"})
    )
    assert model.solver_ == "bundle" and model.solver == "auto" and model.dtype_ == "float64"
    single = Distributed(LinearSVC(random_state=0, dtype="float32")).fit(X, y).estimator_
    plain = LinearSVC(random_state=0, solver="bundle", dtype="float32").fit(X, y)
    assert single.dtype_ == plain.dtype_ == "float32"
    np.testing.assert_allclose(single.coef_, plain.coef_, rtol=1e-4)
    np.testing.assert_array_equal(model.coef_, named.coef_)


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize(
    "model",
    [
        LinearSVC(solver="bundle", tol=1e-6),
        KernelSVC(tol=1e-6),
        KernelSVC(tol=1e-6, multi_class="ovr"),
        DoublyStochasticClassifier(max_iter=20, random_state=0),
    ],
    ids=["linear", "pairs", "against the rest", "doubly stochastic"],
)
def test_a_class_without_weight_is_left_out_as_on_an_array(model, class_weight, examples):
    X, _ = examples(300, 3)
    y = np.array(["low", "middle", "high"])[(X[:, 0] > 0.0).astype(int) + (X[:, 0] > 1.0)]
    weights = np.where(y == "middle", 0.0, 1.0 + np.arange(300) % 2)
    model = clone(model).set_params(class_weight=class_weight)
    plain = clone(model).fit(X, y, weights)
    found = Distributed(model).fit(np.array_split(X, 3), y, weights).estimator_
    assert found.classes_.tolist() == plain.classes_.tolist() == ["high", "low"]
    np.testing.assert_allclose(found.class_weight_, plain.class_weight_)
    if isinstance(model, DoublyStochasticClassifier):  # whose batches are others
        assert found.score(X[weights > 0], y[weights > 0]) > 0.9
    else:
        np.testing.assert_allclose(found.decision_function(X), plain.decision_function(X), atol=1e-2)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log_loss"])
def test_a_free_intercept_is_found_by_newton_on_blocks(examples, in_files, loss):
    X, y = examples(3_000, 4)
    plain = LinearSVC(loss, intercept_scaling=np.inf, random_state=0).fit(X + 3.0, y)
    model, named = (
        Distributed(clone(plain).set_params(solver=solver)).fit(in_files(X + 3.0, (1_000,)), y).estimator_
        for solver in ("auto", "newton")
    )
    np.testing.assert_array_equal(named.coef_, model.coef_)
    assert model.solver_ == "newton" and model.converged_
    np.testing.assert_allclose(model.objective_, plain.objective_, rtol=plain.tol)
