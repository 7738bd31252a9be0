"""SearchDisplay draws the columns of cv_results_, with the cell chosen."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

pyplot = pytest.importorskip("matplotlib.pyplot")

from kernbench import KernelSVC, KernelSVCCV  # noqa: E402
from kernbench.plot import SearchDisplay  # noqa: E402

X, Y = load_iris(return_X_y=True)
CS, GAMMAS = [10.0, 0.1, 1.0], [0.1, "scale"]


@pytest.fixture(autouse=True)
def no_screen():
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")


def test_lines_are_means_and_bands_standard_errors():
    search = KernelSVCCV(CS, GAMMAS, cv=3).fit(X, Y)
    display = SearchDisplay.from_estimator(search, linestyle=":")
    mean = search.cv_results_["mean_test_score"].reshape(3, 2)[[1, 2, 0]]
    for k, line in enumerate(display.lines_):
        np.testing.assert_array_equal(line.get_xdata(), [0.1, 1.0, 10.0])
        np.testing.assert_array_equal(line.get_ydata(), mean[:, k])
        assert line.get_linestyle() == ":"
    assert [line.get_label() for line in display.lines_] == ["gamma = 0.1", "gamma = scale"]
    folds = [search.cv_results_[f"split{k}_test_score"] for k in range(3)]
    error = (np.std(folds, axis=0, ddof=1) / np.sqrt(3)).reshape(3, 2)[[1, 2, 0]]
    np.testing.assert_allclose(display.errors, error.T)
    for k, area in enumerate(display.ax_.collections):
        heights = area.get_paths()[0].vertices[:, 1]
        for sign in (-1, 1):
            assert np.all(np.isin(display.means[k] + sign * display.errors[k], heights))
    assert display.best == (search.best_params_["C"], search.best_params_["gamma"])
    star = [line for line in display.ax_.lines if line.get_marker() == "*"]
    assert [line.get_ydata() for line in star] == [[search.best_score_]]


def test_a_surface_of_a_grid_search_in_a_pipeline_on_given_axes():
    search = GridSearchCV(KernelSVC(), {"C": CS, "gamma": [1.0, 0.1]}, cv=3)
    model, ax = make_pipeline(StandardScaler(), search).fit(X, Y), pyplot.subplots()[1]
    display = SearchDisplay.from_estimator(model, kind="surface", ax=ax)
    assert display.ax_ is ax and display.lines == [0.1, 1.0]
    table = model[-1].cv_results_["mean_test_score"].reshape(3, 2)[[1, 2, 0]][:, [1, 0]].T
    np.testing.assert_array_equal(np.ravel(display.surface_.get_array()), np.ravel(table))
    edges = display.surface_.get_coordinates()[0, :, 0]
    np.testing.assert_allclose(np.diff(edges), 1.0)  # each C as wide as the others
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0.1", "1", "10"]


def test_one_parameter_and_several_scores():
    search = KernelSVCCV(CS, cv=3, scoring=["accuracy", "f1_macro"], refit="f1_macro").fit(X, Y)
    assert SearchDisplay.from_estimator(search).score_name == "f1 macro"
    display = SearchDisplay.from_estimator(search, score="accuracy")
    assert display.means.shape == (1, 3) and display.ax_.get_legend() is None
    with pytest.raises(ValueError, match="score must be one of"):
        SearchDisplay.from_estimator(search, score="auc")
    alike = ["accuracy", "balanced_accuracy"]  # both names end in "accuracy"
    search = GridSearchCV(KernelSVC(), {"C": CS}, cv=3, scoring=alike, refit=False).fit(X, Y)
    with pytest.raises(ValueError, match="several scores, none of which decided: choose score="):
        SearchDisplay.from_estimator(search)
    display = SearchDisplay.from_estimator(search, score="accuracy")
    assert display.best is None
    np.testing.assert_allclose(display.errors[0], search.cv_results_["std_test_accuracy"][[1, 2, 0]] / np.sqrt(2))
    with pytest.raises(ValueError, match="choose kind='lines'"):
        display.plot(kind="surface")
    with pytest.raises(ValueError, match="kind must be one of"):
        display.plot(kind="bars")


def test_certified_intervals_are_bars():
    search = KernelSVCCV([0.1, 1.0, 10.0], [0.1], cv=3, certify=0.05).fit(X, Y)
    display = SearchDisplay.from_estimator(search)
    table = [search.cv_results_[f"certified_{bound}"] for bound in ("lower", "upper")]
    np.testing.assert_array_equal(display.certified[:, 0], table)
    known = np.isfinite(table[0])
    assert known.any()
    bars = next(own for own in display.ax_.collections if hasattr(own, "get_segments")).get_segments()
    ends = np.array([np.asarray(bar)[:, 1] for bar in bars if len(bar)])
    np.testing.assert_array_equal(ends[np.isfinite(ends).all(axis=1)], np.transpose(table)[known])
    assert SearchDisplay.from_estimator(KernelSVCCV([1.0, 2.0], [0.1], cv=3).fit(X, Y)).certified is None


def test_each_kernel_with_its_gamma_is_a_line():
    search = KernelSVCCV([0.1, 1.0], [0.1, 1.0], kernels=["rbf", "linear"], cv=2).fit(X, Y)
    display = SearchDisplay.from_estimator(search)
    labels = ["kernel = rbf, gamma = 0.1", "kernel = rbf, gamma = 1", "kernel = linear"]
    assert [line.get_label() for line in display.lines_] == labels
    for line, own in zip(display.means, search.cv_results_["mean_test_score"].reshape(2, 3).T, strict=True):
        np.testing.assert_array_equal(line, own)


def ticks(display):
    return [label.get_text() for label in display.ax_.get_xticklabels()]


def test_kernels_and_gammas_are_drawn_for_a_single_c():
    """A kernel without gamma has a place of its own on an axis of values that are not all numbers."""
    search = KernelSVCCV([1.0], [0.1, 1.0], kernels=["rbf", "linear"], cv=2).fit(X, Y)
    display = SearchDisplay.from_estimator(search)
    assert display.x_name == "gamma" and ticks(display) == ["0.1", "1", "None"]
    assert [line.get_label() for line in display.lines_] == ["kernel = rbf", "kernel = linear"]
    first, second, linear = search.cv_results_["mean_test_score"]
    np.testing.assert_array_equal(display.means, [[first, second, np.nan], [np.nan, np.nan, linear]])
    (star,) = (line for line in display.ax_.lines if line.get_marker() == "*")
    assert list(star.get_xdata()) == [search.best_index_] and display.lines_[0].get_linestyle() == "None"
    (star,) = SearchDisplay.from_estimator(search, kind="surface").ax_.lines
    assert list(star.get_xdata()) == [search.best_index_]


def test_parameters_without_numbers_are_drawn():
    for grid, drawn in (
        ({"gamma": ["scale", "auto"]}, ["scale", "auto"]),
        ({"class_weight": [{0: 2.0}, None]}, ["{0: 2.0}", "None"]),  # not hashable
        ({"gamma": ["scale", 0.1], "fit_intercept": [True, False]}, ["scale", "0.1"]),
    ):
        search = GridSearchCV(KernelSVC(), grid, cv=2).fit(X, Y)
        display = SearchDisplay.from_estimator(search)
        assert ticks(display) == drawn and display.ax_.get_xscale() == "linear"
        assert np.nanmax(display.means) == search.best_score_


def test_true_and_false_are_no_numbers():
    search = GridSearchCV(KernelSVC(), {"C": [0.1, 1.0], "fit_intercept": [True, False]}, cv=2).fit(X, Y)
    display = SearchDisplay.from_estimator(search)
    assert display.x_name == "C"
    assert [line.get_label() for line in display.lines_] == ["fit_intercept = True", "fit_intercept = False"]


@pytest.mark.parametrize(
    "grid, message",
    [
        ({"C": [1.0, 2.0], "gamma": [0.1, 1.0], "tol": [1e-3, 1e-4]}, "more than two parameters"),
        ([{"C": [1.0]}, {"gamma": [0.1]}], "different parameters"),
    ],
)
def test_what_cannot_be_drawn_is_said(grid, message):
    search = GridSearchCV(KernelSVC(), grid, cv=2).fit(X, Y)
    with pytest.raises(ValueError, match=message):
        SearchDisplay.from_estimator(search)


def test_an_estimator_without_a_table_is_rejected():
    with pytest.raises(ValueError, match="has no cv_results_"):
        SearchDisplay.from_estimator(KernelSVC().fit(X, Y))


def test_an_axis_with_a_zero_is_linear():
    for x, scale in (([0.0, 1.0], "linear"), ([0.1, 1.0], "log")):
        display = SearchDisplay(x, [None], [[0.5, 0.6]], [[0.1, 0.1]]).plot()
        assert display.ax_.get_xscale() == scale


def test_the_star_of_a_surface_is_at_the_cell_chosen():
    display = SearchDisplay([0.1, 1.0, 10.0], ["a", "b"], np.ones((2, 3)), np.ones((2, 3)), best=(10.0, "a"))
    (star,) = display.plot(kind="surface").ax_.lines
    assert (*star.get_xdata(), *star.get_ydata()) == (2, 0)
