"""Labels that are whole numbers of a small range are counted, not sorted, as by `numpy.unique`; weights of classes."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier

from kernbench import DoublyStochasticClassifier, KernelNuSVC, KernelSVC, KernelSVCCV, KernelSVR, LinearSVC, LinearSVCCV
from kernbench.estimators.arguments.training_data import check_labels


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8, bool, np.float64, str])
@pytest.mark.parametrize("labels", [[0, 1], [-128, 127], [3, 5, 90], [-7, -6], range(40)], ids=str)
def test_labels_are_those_of_unique(dtype, labels):
    if np.dtype(dtype).kind == "b" or (np.dtype(dtype).kind == "u" and min(labels) < 0):
        labels = [0, 1]
    y = np.random.default_rng(0).choice(np.array(labels), size=200).astype(dtype)
    y[:2] = np.array([min(labels), max(labels)]).astype(dtype)
    classes, codes = check_labels(y)
    expected_classes, expected_codes = np.unique(y, return_inverse=True)
    assert classes.dtype == expected_classes.dtype and codes.dtype == expected_codes.dtype
    np.testing.assert_array_equal(classes, expected_classes)
    np.testing.assert_array_equal(codes, expected_codes)


def test_labels_far_apart_are_sorted():
    classes, codes = check_labels(np.array([2**62, -(2**62), 2**62]))
    assert classes.tolist() == [-(2**62), 2**62] and codes.tolist() == [1, 0, 1]


@pytest.mark.parametrize("model", [KernelSVC(), LinearSVC(), KernelSVR()], ids=lambda model: type(model).__name__)
def test_labels_that_are_missing_in_a_table_are_refused(model):
    pandas = pytest.importorskip("pandas")
    y = pandas.Series(["no", "yes", None] * 4, dtype="string")
    with pytest.raises(ValueError, match="y holds missing values"):
        clone(model).fit(np.zeros((12, 2)), y)


@pytest.mark.parametrize("model", [KernelSVC(), LinearSVC()], ids=lambda model: type(model).__name__)
def test_days_are_labels_but_not_missing_ones(model):
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = np.where(X[:, 0] > 0, np.datetime64("2020-01-01"), np.datetime64("2020-01-02"))
    assert clone(model).fit(X, y).classes_.tolist() == sorted(set(y.tolist()))
    y[3] = np.datetime64("NaT")
    with pytest.raises(ValueError, match="y holds missing values .NaT.: leave out the rows without a label"):
        clone(model).fit(X, y)
    with pytest.raises(ValueError, match="the classes hold NaT: leave it out, and rows without a label"):
        DoublyStochasticClassifier(max_iter=5, random_state=0).fit_chunks([(X, y)])


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="NumPy has no StringDType before 2.0")
@pytest.mark.parametrize("model", [KernelSVC(), LinearSVC()], ids=lambda model: type(model).__name__)
def test_labels_may_be_strings_of_any_length(model):
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = np.where(X[:, 0] > 0, "positive", "negative")
    fitted = clone(model).fit(X, y.astype(np.dtypes.StringDType()))
    assert fitted.classes_.tolist() == ["negative", "positive"]
    np.testing.assert_array_equal(fitted.predict(X), clone(model).fit(X, y).predict(X))


STREAMS = [
    KernelSVC(solver="scs", max_iter=5, random_state=0),
    DoublyStochasticClassifier(batch_size=4, max_iter=5, random_state=0),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", [KernelSVC(), LinearSVC(), *STREAMS], ids=lambda model: type(model).__name__)
def test_class_weights_of_labels_that_are_digits_as_text(model):
    """As those of data sets of OpenML are; scikit-learn 1.9 looks for the number 1."""
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    weights = {"0": 2.0, "1": 5.0}
    own = clone(model).set_params(class_weight=weights).fit(X, y.astype(str))
    assert own.class_weight_.tolist() == [2.0, 5.0]
    numbers = clone(model).set_params(class_weight={0: 2.0, 1: 5.0}).fit(X, y)
    np.testing.assert_array_equal(own.decision_function(X), numbers.decision_function(X))
    assert clone(model).set_params(class_weight={"1": 3.0}).fit(X, y.astype(str)).class_weight_.tolist() == [1.0, 3.0]


@pytest.mark.parametrize("model", [KernelSVC(), LinearSVC()], ids=lambda model: type(model).__name__)
def test_balanced_weights_are_those_of_repeated_rows(model):
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.repeat([0, 1], [10, 30])
    weights = np.where(y == 0, 3, 1 + np.arange(40) % 2)
    copies = np.repeat(np.arange(40), weights)
    balanced = clone(model).set_params(class_weight="balanced")
    repeated = clone(balanced).fit(X[copies], y[copies])
    assert balanced.fit(X, y, weights).class_weight_ == pytest.approx(repeated.class_weight_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", STREAMS, ids=lambda model: type(model).__name__)
def test_class_weights_that_a_fit_refuses_are_refused_by_streams_too(model):
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.array(["no", "yes"])[np.arange(40) % 2]
    for weights, message in (({"Yes": 5.0}, "not in class_weight"), ({"no": 0.0}, "class 'no' has weight 0")):
        weighted = clone(model).set_params(class_weight=weights)
        for learn in (weighted.fit, weighted.partial_fit, lambda X, y: weighted.fit_chunks([(X, y)])):
            with pytest.raises(ValueError, match=message):
                learn(X, y)
    given = clone(model).set_params(class_weight={"yes": 5.0}).partial_fit(X, y)
    assert given.class_weight_.tolist() == [1.0, 5.0]


@pytest.mark.parametrize("given", [int, str], ids=["numbers", "text"])
def test_text_is_not_among_numbers_of_a_stream_nor_numbers_among_text(given):
    """NumPy compares them as text: with many classes 10 came before 2, and rows got the label of another class."""
    X, y = np.random.default_rng(0).normal(size=(48, 2)), np.arange(48) % 12
    other = str if given is int else int
    model = DoublyStochasticClassifier(max_iter=5, precondition=False, random_state=0)
    learned = clone(model).partial_fit(X, y.astype(given))
    with pytest.raises(ValueError, match="y holds .*, which are not among the classes"):
        learned.partial_fit(X[:1], np.array([3]).astype(other))
    with pytest.raises(ValueError, match="y holds .*, which are not among the classes"):
        clone(model).fit_chunks([(X, y.astype(other))], classes=np.unique(y.astype(given)))


LABELS = np.array(["low", "middle", "high", "top"])


def four_classes():
    y = np.arange(120) % 4
    return np.random.default_rng(0).normal(size=(120, 2)) + 2.0 * np.column_stack([y == 1, y == 2]), LABELS[y]


@pytest.mark.parametrize("empty", [["low"], ["top"], ["high", "middle"]], ids=str)
@pytest.mark.parametrize("class_weight", [None, "balanced", {"low": 2.0, "top": 1.5}], ids=str)
@pytest.mark.parametrize(
    "model",
    [
        KernelSVC(tol=1e-8),
        KernelSVC(tol=1e-8, max_iter=10**6),  # by the driver
        KernelSVC(tol=1e-8, multi_class="ovr"),
        KernelNuSVC(nu=0.5, tol=1e-8),
        LinearSVC(tol=1e-8),
    ],
    ids=["small pairs", "pairs", "against the rest", "nu", "linear"],
)
def test_a_class_without_weight_is_left_out_as_its_rows_are(model, class_weight, empty):
    X, y = four_classes()
    weights = np.where(np.isin(y, empty), 0.0, 1.0 + np.arange(120) // 4 % 2)
    used = weights > 0
    whole = clone(model).set_params(class_weight=class_weight).fit(X, y, weights)
    # Classes without rows cannot be in a dict of weights that lacks others.
    own = {k: w for k, w in class_weight.items() if k not in empty} if isinstance(class_weight, dict) else class_weight
    part = clone(model).set_params(class_weight=own).fit(X[used], y[used], weights[used])
    np.testing.assert_array_equal(whole.classes_, part.classes_)
    np.testing.assert_allclose(whole.class_weight_, part.class_weight_)
    np.testing.assert_allclose(whole.decision_function(X), part.decision_function(X), atol=1e-5)
    np.testing.assert_array_equal(whole.predict(X), part.predict(X))
    if hasattr(whole, "slack_budget") and len(empty) == 2:
        assert whole.slack_budget(X, y, weights) == pytest.approx(part.slack_budget(X[used], y[used], weights[used]))
    if hasattr(whole, "n_support_"):
        np.testing.assert_array_equal(whole.n_support_, part.n_support_)
        np.testing.assert_array_equal(whole.support_, np.flatnonzero(used)[part.support_])


@pytest.mark.parametrize(
    "model",
    [KernelSVC(), KernelNuSVC(nu=0.01), LinearSVC(), DoublyStochasticClassifier(random_state=0, max_iter=10)],
    ids=lambda model: type(model).__name__,
)
def test_bootstrap_samples_may_lack_a_rare_class(model):
    """They are sample weights for `BaggingClassifier`."""
    X, y = four_classes()
    keep = (y != "middle") | (np.arange(120) < 8)  # 2 rows of this class
    X, y = X[keep], y[keep]
    bagged = BaggingClassifier(model, n_estimators=10, max_samples=0.5, random_state=0).fit(X, y)
    assert {len(one.classes_) for one in bagged.estimators_} == {3, 4}
    assert set(bagged.predict(X)) <= set(LABELS) and bagged.score(X, y) > 0.25


@pytest.mark.parametrize("model", [KernelSVCCV(cv=3), LinearSVCCV(cv=3)], ids=lambda model: type(model).__name__)
def test_a_search_needs_weight_in_every_class(model):
    X, y = four_classes()
    with pytest.raises(ValueError, match="every example of class 'high' has weight 0"):
        clone(model).fit(X, y, np.where(y == "high", 0.0, 1.0))


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_one_class_with_weight_is_refused(class_weight):
    X, y = four_classes()
    with pytest.raises(ValueError, match="every example of class 'high' has weight 0"):
        KernelSVC(class_weight=class_weight).fit(X, y, np.where(y == "low", 1.0, 0.0))
