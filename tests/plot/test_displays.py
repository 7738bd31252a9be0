"""Displays draw the numbers of the model, on the axes that they are given; a figure needs no screen."""

import copy
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

pyplot = pytest.importorskip("matplotlib.pyplot")

from kernbench import KernelNoveltyDetector, KernelSVC, LinearSVC, PartialAUCClassifier, ROCSVC, ROCSVCCV  # noqa: E402, I001
from kernbench.metrics import auc_interval, partial_auc, roc_curve  # noqa: E402
from kernbench.plot import PartialROCDisplay, PathDisplay, TraceDisplay  # noqa: E402


@pytest.fixture(autouse=True)
def no_screen():
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def two_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    return X, (X[:, 0] + rng.normal(size=200) > 0.5).astype(int)


@pytest.fixture
def solvers(two_classes):
    fits = {"sdca": KernelSVC(solver="sdca", random_state=0), "smo": KernelSVC()}
    return {name: model.fit(*two_classes) for name, model in fits.items()}


def test_importing_kernbench_or_its_displays_does_not_import_matplotlib():
    code = "import kernbench, kernbench.plot, sys; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-P", "-c", code], check=False).returncode == 0


def test_a_missing_matplotlib_is_named_with_the_command_that_installs_it(monkeypatch, solvers):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        TraceDisplay.from_estimator(solvers)


# --- traces ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("x", ["seconds", "n_iter", "n_kernel_evaluations"])
def test_curves_are_columns_of_the_traces(solvers, x):
    display = TraceDisplay.from_estimator(solvers, x=x)
    assert [line.get_label() for line in display.lines_] == list(solvers)
    for line, model in zip(display.lines_, solvers.values()):
        np.testing.assert_array_equal(line.get_xdata(), model.trace_[x])
        np.testing.assert_array_equal(line.get_ydata(), model.trace_["objective"])


def test_a_gap_bounds_the_distance_to_the_optimum(two_classes, solvers):
    """Of primal and of dual objectives, against an optimum that is known to more digits."""
    optimum = KernelSVC(tol=1e-9, dtype="float64").fit(*two_classes).objective_
    for y, scale in (("gap", 1.0), ("relative_gap", optimum)):
        for display in (
            TraceDisplay.from_estimator(solvers, y=y),
            TraceDisplay.from_estimator(solvers, y=y, same_problem=True),
        ):
            assert display.ax_.get_yscale() == "log"
            for line, model in zip(display.lines_, solvers.values()):
                distance = np.abs(np.array(model.trace_["objective"]) - optimum)
                assert np.all(line.get_ydata() * scale >= distance * (1 - 1e-5) - 1e-9)
    shared = TraceDisplay.from_estimator(solvers, y="gap", same_problem=True).lines_
    own = TraceDisplay.from_estimator(solvers, y="gap").lines_
    for narrow, wide in zip(shared, own):
        assert np.all(narrow.get_ydata() <= wide.get_ydata() + 1e-12)


def test_an_objective_below_the_optimum_by_less_than_its_gap_belongs_to_the_same_problem(two_classes):
    """The gap includes the rounding error of the objective."""
    exact = KernelSVC(tol=1e-9, dtype="float64").fit(*two_classes)
    rounded = copy.copy(exact)
    rounded.objective_, rounded.duality_gap_ = exact.objective_ * (1 - 1e-4), exact.objective_ * 4e-4
    display = TraceDisplay.from_estimator({"exact": exact, "rounded": rounded}, y="gap", same_problem=True)
    own = TraceDisplay.from_estimator(exact, y="gap").lines_[0].get_ydata()
    for line in display.lines_:
        np.testing.assert_allclose(line.get_ydata(), own, rtol=1e-6, atol=2 * exact.duality_gap_)


def test_a_trace_of_several_problems_has_a_line_for_each_in_one_colour(two_classes):
    X, _ = two_classes
    model = KernelSVC().fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    display = TraceDisplay.from_estimator(model, y="gap")
    assert len(display.lines_) == len(model.trace_) == 3
    assert len({line.get_color() for line in display.lines_}) == 1
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["KernelSVC(solver='smo')"]


def test_a_column_that_begins_late_is_drawn_from_there(two_classes):
    model = KernelSVC(callback=lambda now: {"late": 1.0} if now.n_iter_[0] else None).fit(*two_classes)
    (line,) = TraceDisplay.from_estimator(model, y="late").lines_
    assert np.isnan(line.get_ydata()[0]) and line.get_ydata()[-1] == 1.0


def test_validation_is_a_column_and_pipelines_show_their_last_step(two_classes):
    model = make_pipeline(StandardScaler(), PartialAUCClassifier((0, 0.5), validation=0.3, random_state=0))
    display = TraceDisplay.from_estimator(model.fit(*two_classes), y="validation_partial_auc")
    np.testing.assert_array_equal(display.lines_[0].get_ydata(), model[-1].trace_["validation_partial_auc"])
    assert display.ax_.get_ylabel() == "validation partial auc"


def test_pipelines_in_a_dict_show_their_last_step(two_classes):
    model = make_pipeline(StandardScaler(), LinearSVC(random_state=0)).fit(*two_classes)
    (line,) = TraceDisplay.from_estimator({"scaled": model}, x="n_iter").lines_
    np.testing.assert_array_equal(line.get_xdata(), model[-1].trace_["n_iter"])
    assert line.get_label() == "scaled"


def test_equal_names_are_numbered(solvers):
    display = TraceDisplay.from_estimator([solvers["smo"], solvers["smo"]])
    assert list(display.curves) == ["KernelSVC(solver='smo'), 1", "KernelSVC(solver='smo'), 2"]


@pytest.mark.parametrize(
    "options, message",
    [
        ({"y": "gpa"}, "did you mean 'gap'"),
        ({"x": "second"}, "did you mean 'seconds'"),
        ({"x": "gap"}, "unknown column 'gap'. Known"),
    ],
)
def test_an_unknown_column_is_named_with_those_that_there_are(solvers, options, message):
    with pytest.raises(ValueError, match=message):
        TraceDisplay.from_estimator(solvers, **options)


def test_what_cannot_be_drawn_of_traces_is_refused(two_classes, solvers):
    X, y = two_classes
    with pytest.raises(NotFittedError):
        TraceDisplay.from_estimator(KernelSVC())
    with pytest.raises(ValueError, match="GaussianNB keeps no trace_"):
        TraceDisplay.from_estimator(GaussianNB().fit(X, y))
    with pytest.raises(ValueError, match="at least one"):
        TraceDisplay.from_estimator([])
    with pytest.raises(ValueError, match="no certificate"):
        TraceDisplay.from_estimator(PartialAUCClassifier((0, 0.5)).fit(X, y), y="gap")
    with pytest.raises(ValueError, match="do not hold|does not hold numbers"):
        TraceDisplay.from_estimator(KernelSVC(callback=lambda now: {"word": "a"}).fit(X, y), y="word")
    with pytest.raises(ValueError, match="different objectives"):
        others = [solvers["smo"], KernelSVC(C=100.0).fit(X, y)]
        TraceDisplay.from_estimator(others, y="gap", same_problem=True)
    with pytest.raises(ValueError, match="different numbers of them"):
        three = KernelSVC().fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
        TraceDisplay.from_estimator([solvers["smo"], three], y="gap", same_problem=True)
    perfect = copy.copy(solvers["smo"])
    perfect.objective_ = 0.0
    with pytest.raises(ValueError, match="its optimum is 0; choose y='gap'"):
        TraceDisplay.from_estimator(perfect, y="relative_gap")


# --- ROC curves -----------------------------------------------------------------------------------


def test_curve_area_and_threshold_are_those_of_the_metrics(two_classes):
    X, y = two_classes
    model = PartialAUCClassifier((0.1, 0.4), threshold="window").fit(X, y)
    display, score = PartialROCDisplay.from_estimator(model, X, y), model.decision_function(X)
    fpr, tpr, _ = roc_curve(y, score)
    np.testing.assert_array_equal(display.line_.get_xdata(), fpr)
    np.testing.assert_array_equal(display.line_.get_ydata(), tpr)
    assert display.fpr_range == (0.1, 0.4) and display.area == partial_auc(y, score, (0.1, 0.4))
    found = model.predict(X) == 1
    assert display.rates == pytest.approx((found[y == 0].mean(), found[y == 1].mean()))
    (window,) = display.ax_.patches
    assert (window.get_x(), window.get_x() + window.get_width()) == pytest.approx((0.1, 0.4))
    assert f"{display.area:.3f}" in display.line_.get_label()


def test_the_window_of_a_pipeline_is_that_of_its_last_step(two_classes):
    X, y = two_classes
    model = make_pipeline(StandardScaler(), PartialAUCClassifier((0.1, 0.4))).fit(X, y)
    display = PartialROCDisplay.from_estimator(model, X, y)
    assert display.fpr_range == (0.1, 0.4)
    assert display.area == partial_auc(y, model.decision_function(X), (0.1, 0.4))


@pytest.mark.parametrize("ranks", [(10, 60), np.array([10, 60])], ids=["tuple", "array"])
def test_a_window_of_ranks_is_drawn_in_rates(two_classes, ranks):
    X, y = two_classes
    model = PartialAUCClassifier(ranks=ranks).fit(X, y)
    display = PartialROCDisplay.from_estimator(model, X, y)
    assert display.fpr_range == model.fpr_range_ == pytest.approx((10 / np.sum(y == 0), 60 / np.sum(y == 0)))
    assert display.area == partial_auc(y, model.decision_function(X), model.fpr_range_)
    assert len(display.ax_.patches) == 1


def test_threshold_weights_and_name_are_those_asked_for(two_classes):
    X, y = two_classes
    model, weights = ROCSVC(random_state=0).fit(X, y), 1.0 + np.arange(len(y)) % 3
    score = model.decision_function(X)
    display = PartialROCDisplay.from_estimator(model, X, y, threshold=0.5, sample_weight=weights, name="mine")
    assert display.area == partial_auc(y, score, sample_weight=weights) != partial_auc(y, score)
    shares = [np.average(score[y == k] >= 0.5, weights=weights[y == k]) for k in (0, 1)]
    assert display.rates == pytest.approx(shares) and shares[0] != shares[1]
    (marker,) = (line for line in display.ax_.lines if line.get_marker() == "o")
    assert (*marker.get_xdata(), *marker.get_ydata()) == display.rates
    assert display.line_.get_label().startswith("mine: AUC ")
    assert display.plot(name="another").line_.get_label().startswith("another: AUC ")
    without = PartialROCDisplay.from_estimator(model, X, y, threshold=None)
    assert without.rates is None and [line.get_marker() for line in without.ax_.lines] == ["None"]


@pytest.mark.parametrize("positive", [0, 1])
def test_either_class_can_be_the_positive_one(two_classes, positive):
    X, y = two_classes
    score = X[:, 0] if positive else -X[:, 0]
    display = PartialROCDisplay.from_predictions(y, score, pos_label=positive, threshold=0.0)
    found = score >= 0
    assert display.rates == pytest.approx((found[y != positive].mean(), found[y == positive].mean()))
    assert display.area == partial_auc(y, score, pos_label=positive)
    options = {"confidence": 0.9, "n_resamples": 50, "random_state": 0}
    band, relabelled = (
        PartialROCDisplay.from_predictions(labels, score, pos_label=label, **options).band
        for labels, label in ((y, positive), (y == positive, None))
    )
    np.testing.assert_array_equal(band, relabelled)


def test_probabilities_are_cut_at_a_half(two_classes):
    X, y = two_classes
    model = GaussianNB().fit(X, y)
    display = PartialROCDisplay.from_estimator(model, X, y)
    found = model.predict_proba(X)[:, 1] >= 0.5
    assert display.rates == pytest.approx((found[y == 0].mean(), found[y == 1].mean()))


@pytest.mark.parametrize("labels", [(0, 1), ("no", "yes")], ids=["numbers", "words"])
def test_ties_at_the_threshold_are_marked_as_they_are_predicted(two_classes, labels):
    """Ten trees may tie at 0.5, where a forest predicts its first class."""
    X, y = two_classes[0], np.asarray(labels)[two_classes[1]]
    shuffled = np.random.default_rng(0).permutation(y)
    model = RandomForestClassifier(n_estimators=10, random_state=0).fit(X[::2], shuffled[::2])
    assert np.any(model.predict_proba(X)[:, 1] == 0.5)
    weights, found = 1.0 + np.arange(len(y)) % 3, model.predict(X) == labels[1]
    for weight in (None, weights):
        display = PartialROCDisplay.from_estimator(model, X, y, sample_weight=weight)
        shares = [np.average(found, weights=(y == label) * (1.0 if weight is None else weight)) for label in labels]
        assert display.rates == pytest.approx(shares)
    at_half = PartialROCDisplay.from_estimator(model, X, y, threshold=0.5)
    assert at_half.rates[0] > PartialROCDisplay.from_estimator(model, X, y).rates[0]


def test_a_weight_of_2_is_a_row_repeated(two_classes):
    X, y = two_classes
    weights = np.where(X[:, 1] > 0, 2, 1)
    once = PartialROCDisplay.from_predictions(y, X[:, 0], sample_weight=weights, threshold=0.3)
    twice = PartialROCDisplay.from_predictions(np.repeat(y, weights), np.repeat(X[:, 0], weights), threshold=0.3)
    assert once.rates == pytest.approx(twice.rates) and once.area == pytest.approx(twice.area)
    np.testing.assert_allclose([once.fpr, once.tpr], [twice.fpr, twice.tpr])


@pytest.mark.parametrize("fpr_range", [(0.0, 1.0), (0.0, 0.3)])
def test_band_and_interval_have_the_asked_confidence(two_classes, fpr_range):
    X, y = two_classes
    options = {"fpr_range": fpr_range, "confidence": 0.9, "n_resamples": 200, "random_state": 0}
    display = PartialROCDisplay.from_predictions(y, X[:, 0], **options)
    assert display.interval == auc_interval(y, X[:, 0], **options)
    grid, low, high = display.band
    (area,) = display.ax_.collections
    corners = area.get_paths()[0].vertices
    assert np.all(np.isin(low, corners[:, 1])) and np.all(np.isin(high, corners[:, 1]))
    height = np.interp(grid, display.fpr, display.tpr)
    assert np.all(low <= high) and np.mean((low - 0.05 <= height) & (height <= high + 0.05)) > 0.95
    wider = PartialROCDisplay.from_predictions(y, X[:, 0], **options | {"confidence": 0.99}).band
    assert np.mean(wider[2] - wider[1]) > np.mean(high - low)


def test_the_band_of_large_samples_has_the_standard_error_of_a_share():
    """Where all negatives are below all positives but for a known share, the height is binomial: sd √(p(1-p)/n)."""
    n = 400
    y = np.repeat([0, 1], n)
    score = np.concatenate([np.linspace(0, 1, n), np.where(np.arange(n) < n // 4, -1.0, 2.0)])
    options = {"confidence": 0.6827, "n_resamples": 2000, "random_state": 0}
    grid, low, high = PartialROCDisplay.from_predictions(y, score, **options).band
    k = np.searchsorted(grid, 0.5)
    assert 0.5 * (high[k] - low[k]) == pytest.approx(np.sqrt(0.75 * 0.25 / n), rel=0.15)


def test_a_window_is_shaded_once_where_wanted(two_classes):
    X, y = two_classes
    first = PartialROCDisplay.from_predictions(y, X[:, 0], fpr_range=(0, 0.2), name="a")
    PartialROCDisplay.from_predictions(y, X[:, 1], fpr_range=(0, 0.2), name="b", ax=first.ax_, shade_window=False)
    assert len(first.ax_.patches) == 1 and len(first.ax_.get_legend().get_texts()) == 2


def test_what_cannot_be_drawn_of_scores_is_refused(two_classes):
    X, y = two_classes
    with pytest.raises(ValueError, match="sample_weight"):
        PartialROCDisplay.from_predictions(y, X[:, 0], confidence=0.9, sample_weight=np.ones(len(y)))
    with pytest.raises(ValueError, match="fpr_range"):
        PartialROCDisplay.from_predictions(y, X[:, 0], fpr_range=(0.5, 0.2))
    with pytest.raises(ValueError, match="threshold"):
        PartialROCDisplay.from_predictions(y, X[:, 0], threshold="0.1")
    for n_resamples in (0, 1.5):  # of the band, also where the interval of the whole area needs none
        with pytest.raises(ValueError, match="n_resamples must be"):
            PartialROCDisplay.from_predictions(y, X[:, 0], confidence=0.9, n_resamples=n_resamples)
    with pytest.raises(ValueError, match="two classes"):
        PartialROCDisplay.from_estimator(KernelSVC().fit(X, np.arange(len(X)) % 3), X, y)
    with pytest.raises(NotFittedError):
        PartialROCDisplay.from_estimator(ROCSVC(), X, y)


# --- paths ----------------------------------------------------------------------------------------


def test_paths_draw_coefficients_objectives_and_scores(two_classes):
    X, y = two_classes
    models = LinearSVC().path(X, y, [1.0, 0.01, 0.1])
    display = PathDisplay.from_models(models)
    assert display.ax_.get_xlabel() == "C" and display.ax_.get_xscale() == "log"
    np.testing.assert_array_equal(display.strengths, [0.01, 0.1, 1.0])
    found = {model.C: model for model in models}
    for k, line in enumerate(display.lines_):
        np.testing.assert_array_equal(line.get_ydata(), [found[C].coef_[0, k] for C in display.strengths])
    objective = PathDisplay.from_models(models, "objective").values[:, 0]
    np.testing.assert_array_equal(objective, [found[C].objective_ for C in display.strengths])
    score = PathDisplay.from_models(models, "score", X=X, y=y).values[:, 0]
    np.testing.assert_array_equal(score, [found[C].score(X, y) for C in display.strengths])


def test_scores_of_pipelines_are_those_of_the_whole_pipeline(two_classes):
    X, y = two_classes
    X = 100.0 * X + 50.0  # the last step alone would score rows that are not scaled
    models = [make_pipeline(StandardScaler(), LinearSVC(C=C)).fit(X, y) for C in (0.001, 1.0)]
    expected = [model.score(X, y) for model in models]
    assert expected != [model[-1].score(X, y) for model in models]
    for values in ("score", lambda model: model.score(X, y)):
        np.testing.assert_array_equal(PathDisplay.from_models(models, values, X=X, y=y).values[:, 0], expected)
    coefficients = PathDisplay.from_models(iter(models)).values
    np.testing.assert_array_equal(coefficients, [model[-1].coef_[0] for model in models])


def test_paths_over_alpha_support_vectors_and_own_quantities(two_classes):
    X, y = two_classes
    display = PathDisplay.from_models(ROCSVC().path(X, y, [1.0, 0.1]), lambda model: model.objective_)
    assert display.strength_name == "alpha" and display.values.shape == (2, 1)
    models = KernelSVC().path(X, y, [0.1, 1.0])
    display = PathDisplay.from_models(models, "n_support")
    np.testing.assert_array_equal(display.values[:, 0], [len(model.support_) for model in models])


def test_lines_of_named_columns_have_their_names(two_classes):
    pandas = pytest.importorskip("pandas")
    X, y = two_classes
    display = PathDisplay.from_models(LinearSVC().path(pandas.DataFrame(X, columns=["a", "b", "c"]), y, [0.1, 1.0]))
    assert [line.get_label() for line in display.lines_] == ["a", "b", "c"]
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["a", "b", "c"]
    several = LinearSVC().path(pandas.DataFrame(X, columns=["a", "b", "c"]), np.digitize(X[:, 0], [-1, 1]), [0.1, 1.0])
    display = PathDisplay.from_models(several)  # a line for each class and column
    assert len(display.lines_) == 9 and display.names is None and display.ax_.get_legend() is None


def test_a_search_over_alpha_shows_its_scores_and_its_choice(two_classes):
    search = ROCSVCCV(alphas=[1.0, 0.1, 0.01], random_state=0).fit(*two_classes)
    display, order = PathDisplay.from_estimator(search), np.argsort(search.alphas_)
    np.testing.assert_array_equal(display.lines_[0].get_ydata(), search.mean_auc_[order])
    np.testing.assert_array_equal(display.errors[:, 0], search.standard_error_[order])
    assert display.chosen == search.alpha_
    heights = display.ax_.collections[0].get_paths()[0].vertices[:, 1]
    for sign in (-1, 1):
        assert np.all(np.isin(display.values[:, 0] + sign * display.errors[:, 0], heights))
    (text,) = display.ax_.get_legend().get_texts()
    assert text.get_text() == f"alpha = {search.alpha_:.3g}"
    assert list(display.ax_.lines[-1].get_xdata()) == [search.alpha_, search.alpha_]


def test_what_is_no_path_is_refused(two_classes):
    X, y = two_classes
    models = LinearSVC().path(X, y, [0.1, 1.0])
    for wrong, message in [
        ({"models": models[:1]}, "at least two"),
        ({"models": [models[0], models[0]]}, "do not differ"),
        ({"models": models, "values": "coefs"}, "must be one of"),
        ({"models": models, "values": ["coef"]}, "must be one of"),
        ({"models": models, "values": "n_support"}, "does not exist"),
        ({"models": models, "values": "score"}, "needs X= and y="),
        ({"models": models, "values": lambda model: np.ones(int(10 * model.C))}, "different lengths along the path"),
    ]:
        with pytest.raises(ValueError, match=message):
            PathDisplay.from_models(**wrong)
    with pytest.raises(ValueError, match="ROCSVCCV"):
        PathDisplay.from_estimator(models[0])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_path_is_along_its_strength_alone(two_classes):
    X, y = two_classes

    def fits(*settings, model=LinearSVC):
        return [model(max_iter=5, **params).fit(X, y) for params in settings]

    beside = {"random_state": 0, "verbose": 1, "n_jobs": 1, "callback": lambda model: None}
    same = [{"C": 1.0, "class_weight": {0: 2.0}, **beside}, {"C": 2.0, "class_weight": {0: 2.0}}]
    assert PathDisplay.from_models(fits(*same)).strengths.tolist() == [1.0, 2.0]
    held = [sparse.csr_matrix(X), sparse.csr_matrix(X), sparse.csr_matrix(X + 1.0)]
    models = fits(*({"alpha": 10.0**k, "validation": (held[k], y)} for k in range(3)), model=PartialAUCClassifier)
    assert PathDisplay.from_models(models[:2]).strengths.tolist() == [1.0, 10.0]
    with pytest.raises(ValueError, match="differ in validation"):
        PathDisplay.from_models(models)
    rows = [{"alpha": 0.1, "validation": (X, y)}, {"alpha": 1.0, "validation": (X.copy(), list(y))}]
    assert PathDisplay.from_models(fits(*rows, model=PartialAUCClassifier)).strengths.tolist() == [0.1, 1.0]
    for settings, message in [
        (({"C": 1.0, "loss": "hinge"}, {"C": 2.0, "loss": "log_loss"}), "these models differ in loss, too"),
        (({"C": 1.0, "class_weight": {0: 2.0}}, {"C": 2.0, "class_weight": {0: 3.0}}), "differ in class_weight"),
        (({"C": 1.0, "class_weight": {0: 2.0}}, {"C": 2.0}), "differ in class_weight"),
    ]:
        with pytest.raises(ValueError, match=message):
            PathDisplay.from_models(fits(*settings))
    with pytest.raises(ValueError, match="differ in validation"):
        PathDisplay.from_models(fits(rows[0], {"alpha": 1.0, "validation": (X + 1.0, y)}, model=PartialAUCClassifier))
    with pytest.raises(ValueError, match="of one estimator, got LinearSVC and KernelSVC"):
        PathDisplay.from_models([*fits({"C": 1.0}), KernelSVC(C=2.0).fit(X, y)], "objective")


# --- all displays ---------------------------------------------------------------------------------


def test_displays_draw_on_given_axes_with_given_style(two_classes, solvers):
    X, y = two_classes
    figure, axes = pyplot.subplots(1, 3)
    models = LinearSVC().path(X, y, [0.1, 1.0])
    displays = [
        TraceDisplay.from_estimator(solvers["smo"], ax=axes[0], color="k"),
        PartialROCDisplay.from_predictions(y, X[:, 0], ax=axes[1], color="k"),
        PathDisplay.from_models(models, ax=axes[2], color="k"),
    ]
    for display, ax in zip(displays, axes):
        assert display.ax_ is ax and display.figure_ is figure
        assert {line.get_color() for line in ax.lines} == {"k"}
        again = display.plot()  # on axes of its own
        assert again is display and display.ax_ is not ax


def test_a_relative_gap_to_a_negative_optimum_is_positive(two_classes):
    model = KernelNoveltyDetector().fit(two_classes[0])
    assert model.objective_ < 0
    (line,) = TraceDisplay.from_estimator(model, y="relative_gap").lines_
    assert np.all(line.get_ydata() > 0)


def test_a_score_at_the_threshold_is_positive():
    y, score = [0, 0, 1, 1], [0.1, 0.5, 0.5, 0.9]
    assert PartialROCDisplay.from_predictions(y, score, threshold=0.5).rates == (0.5, 1.0)
    weights = [1.0, 0.0, 1.0, 1.0]
    assert PartialROCDisplay.from_predictions(y, score, threshold=0.5, sample_weight=weights).rates == (0.0, 1.0)


def test_the_band_of_equal_scores_is_the_diagonal():
    display = PartialROCDisplay.from_predictions([0, 1] * 10, [1.0] * 20, confidence=0.9, n_resamples=20)
    fpr, low, high = display.band
    np.testing.assert_allclose([low, high], [fpr, fpr], atol=1e-12)


def test_an_interval_is_written_with_its_lower_end_first(two_classes):
    display = PartialROCDisplay.from_predictions(two_classes[1], two_classes[0][:, 0], confidence=0.9)
    low, high = map(float, display.line_.get_label().partition("[")[2].rstrip("]").split(", "))
    assert low < display.area < high
