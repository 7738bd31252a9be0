"""Kernels that are Python functions: called with batches, and their results are checked."""

import warnings
from functools import partial
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from kernbench import ROCSVC, KernelNuSVC, KernelRegressor, KernelRegressorCV, KernelSVC, KernelSVCCV
from kernbench.kernels import Callable, Gaussian, Kernel
from kernbench.kernels.blocks import block, matmul
from kernbench.kernels.rows import KernelRows


class Moody:
    """A kernel function with a given kind of result, which records the numbers of rows it is called with."""

    def __init__(self):
        self.mood, self.shown = None, []

    def __call__(self, X, Z):
        self.shown.append((X.shape[0], Z.shape[0]))
        values = np.asarray((X @ Z.T).todense() if sparse.issparse(X) else X @ Z.T)
        return values if self.mood is None else self.mood(values)


def raises(values):
    raise KeyError("not today")


def interrupts(values):
    raise KeyboardInterrupt


BAD_ANSWERS = {
    "one column": (lambda values: values[:, :1], r"returned shape \(2, 1\) for 2 rows against 30; it must"),
    "turned": (lambda values: values.T, r"returned shape \(30, 2\)"),
    "one number": (lambda values: 1.0, r"returned shape \(\)"),
    "nothing": (lambda values: None, r"returned shape \(\)"),
    "NaN": (lambda values: values * np.nan, "NaN or infinity"),
    "infinity": (lambda values: values * np.inf, "NaN or infinity"),
    "too large for float32": (lambda values: values * 1e300, "NaN or infinity"),
    "words": (lambda values: values.astype(str).astype(object) + "!", "kernel function returned"),
    "complex": (lambda values: values * 1j, "kernel function returned"),
}


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
@pytest.mark.parametrize("mood, message", BAD_ANSWERS.values(), ids=BAD_ANSWERS)
def test_bad_answers_are_refused(X, mood, message):
    function = Moody()
    rows = KernelRows(X, Callable(function))
    function.mood = mood
    with pytest.raises(ValueError, match=message):
        rows.batch([1, 2])
    for compute in (
        lambda: block(Callable(function), X[:2], X, dtype=np.float32),
        lambda: matmul(Callable(function), X[:2], X, np.ones(30), dtype=np.float32),
        lambda: rows.block([1, 2], [3, 4, 5]),
        lambda: rows.product([1, 2], [3, 4, 5], np.ones(3)),
    ):
        with pytest.raises(ValueError, match="kernel function returned"):
            compute()


@pytest.mark.parametrize(
    "failure", [raises, interrupts, lambda values: values * np.nan], ids=["raises", "Ctrl-C", "NaN"]
)
@pytest.mark.parametrize("then", ["ask again", "restrict", "release"])
def test_rows_that_were_not_computed_are_never_served(X, failure, then):
    """The cache had already assigned slots to them when the function failed."""
    function = Moody()
    rows = KernelRows(X, Callable(function), dtype=np.float64)
    rows.batch([4, 7])
    function.mood = failure
    with pytest.raises((KeyError, KeyboardInterrupt, ValueError)):
        rows.batch([4, 5, 6])
    function.mood = None
    K, active = X @ X.T, np.arange(30)
    if then != "ask again":
        active = active[3:]
        rows.restrict(np.arange(3, 30))
    if then == "release":
        active = np.arange(30)
        rows.release()
    for _ in range(2):
        wanted = np.searchsorted(active, [5, 6, 4, 7])
        np.testing.assert_allclose(rows.batch(wanted), K[[5, 6, 4, 7]][:, active], rtol=0, atol=1e-12)


def test_errors_of_the_function_come_through(X):
    function = Moody()
    function.mood = raises
    for compute in (
        lambda: KernelRows(X, Callable(function)).row(0),
        lambda: block(Callable(function), X, X),
        lambda: matmul(Callable(function), X, X, np.ones(30)),
    ):
        with pytest.raises(KeyError, match="not today"):
            compute()


@pytest.mark.parametrize("estimator", [KernelSVC, KernelRegressor, ROCSVC])
def test_a_function_that_is_not_symmetric_is_refused(X, estimator):
    """Its rows would be taken for its columns: a model of nothing, that says it has converged."""
    order = np.triu(np.ones((X.shape[1], X.shape[1])))
    y = np.where(X[:, 0] > 0, 1, 0)
    with pytest.raises(ValueError, match=r"must be symmetric: .* k\(x, z\) is .* and k\(z, x\) is"):
        estimator(kernel=lambda A, B: A @ order @ B.T).fit(X, y)
    with warnings.catch_warnings(action="ignore"):
        estimator(kernel=lambda A, B: A.astype(np.float16) @ B.T.astype(np.float16), max_iter=1).fit(X, y)


def test_a_kernel_with_values_of_its_own_is_refused(X):
    """Those of the class that it is derived from were taken, in silence."""

    class Ones(Gaussian):
        def __call__(self, X, Z=None, **options):
            return np.ones((len(X), len(X if Z is None else Z)))

    with pytest.raises(ValueError, match="Ones has a __call__ of its own, which the compiled loops do not ask"):
        KernelSVC(kernel=Ones(1.0)).fit(X, np.where(X[:, 0] > 0, 1, 0))


@pytest.mark.parametrize("names", [{}, {"routine": "of-my-own"}], ids=["no routine", "an unknown one"])
def test_a_kernel_without_a_compiled_routine_is_refused(X, names):
    OfMyOwn = type("OfMyOwn", (Kernel,), names)
    with pytest.raises(ValueError, match="OfMyOwn names no compiled routine .* pass a Python function"):
        KernelSVC(kernel=OfMyOwn()).fit(X, np.where(X[:, 0] > 0, 1, 0))


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
def test_the_function_is_shown_batches_of_rows_as_they_were_given(X, storage):
    function = Moody()
    rows = KernelRows(storage(X), Callable(function), dtype=np.float64)
    np.testing.assert_allclose(rows.batch([3, 1, 4, 1]), (X @ X.T)[[3, 1, 4, 1]], rtol=0, atol=1e-12)
    assert function.shown == [(3, 30)]
    rows.batch([3, 4])
    assert function.shown == [(3, 30)]  # from the cache
    rows.batch([3, 5])
    assert function.shown == [(3, 30), (1, 30)]
    np.testing.assert_allclose(rows.block([0, 2], [5, 6, 7]), (X @ X.T)[np.ix_([0, 2], [5, 6, 7])], atol=1e-12)
    assert function.shown[2:] == [(2, 3)]
    np.testing.assert_allclose(rows.matvec(np.ones(30)), (X @ X.T).sum(axis=1), atol=1e-12)
    assert function.shown[3:] == [(30, 30)]


def test_the_function_is_never_shown_nothing(X):
    """scikit-learn's pairwise kernels raise for empty input, and so may other functions."""
    function = Moody()
    rows = KernelRows(X, Callable(function))
    rows.batch([1, 2])
    rows.batch([2, 1])
    rows.batch([])
    rows.block([], [1])
    rows.product([1], [], [])
    rows.matvec(np.zeros(30))
    block(Callable(function), X[:0], X)
    block(Callable(function), X, X[:0])
    matmul(Callable(function), X, X[:0], np.zeros(0))
    assert 0 not in np.array(function.shown)


def test_answers_of_other_types_are_converted(X):
    for convert in (np.asfortranarray, np.float32, lambda values: values.tolist(), np.matrix):
        function = Moody()
        function.mood = convert
        K = Callable(function)(X)
        assert K.dtype == np.float64 and K.flags.c_contiguous
        np.testing.assert_allclose(K, X @ X.T, rtol=0, atol=1e-5)


def test_diagonal_with_bad_values_is_refused(X):
    for mood, _ in (BAD_ANSWERS[name] for name in ("NaN", "nothing", "words")):
        function = Moody()
        function.mood = mood
        with pytest.raises(ValueError, match="kernel function returned"):
            Callable(function).diag(X)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.coo_array])
def test_a_sparse_answer_is_an_answer(X, storage, form):
    def function(X, Z):
        return form(X @ Z.T)

    rows = storage(X)
    np.testing.assert_allclose(Callable(function)(rows), X @ X.T, rtol=1e-12, atol=1e-12)
    y = np.arange(len(X)) % 2
    model = KernelSVC(function).fit(rows, y)
    np.testing.assert_allclose(
        model.decision_function(rows), KernelSVC("linear", tol=1e-6).fit(rows, y).decision_function(rows), atol=1e-2
    )


WORDS = ["".join(word) for word in product("abc", repeat=3)]
COUNTS = np.array([[word.count(letter) for letter in "abc"] for word in WORDS], dtype=float)


def of_words(X, Z):
    """The linear kernel of the counts of letters."""
    assert isinstance(X[0], str) and isinstance(Z[-1], str)
    X, Z = (np.array([[word.count(letter) for letter in "abc"] for word in rows]) for rows in (X, Z))
    return X @ Z.T


@pytest.mark.parametrize("form", [list, np.array, lambda words: np.array(words, dtype=object), tuple])
def test_rows_of_text_are_given_to_the_function(form):
    """As those of `SVC` are; the model is that of the same kernel of numbers."""
    words, numbers = form(WORDS), Callable(lambda X, Z: X @ Z.T)
    y = COUNTS @ [1.0, -2.0, 0.5]
    for model, labels in ((KernelSVC(), y > 0), (KernelSVC(), np.digitize(y, [-1, 1])), (KernelRegressor(), y)):
        ours = clone(model).set_params(kernel=of_words).fit(words, labels)
        expected = clone(model).set_params(kernel=numbers).fit(COUNTS, labels)
        values = "predict" if isinstance(model, KernelRegressor) else "decision_function"
        np.testing.assert_allclose(getattr(ours, values)(words), getattr(expected, values)(COUNTS), rtol=1e-7)
        assert ours.n_features_in_ == 1 and len(ours.support_vectors_) == len(ours.support_)
    assert cross_val_score(KernelSVC(of_words), words, y > 0, cv=3).mean() > 0.7
    twice = KernelSVC(of_words, warm_start=True).fit(words, y > 0).fit(words, y > 0)
    assert twice.n_iter_ <= KernelSVC(of_words).fit(words, y > 0).n_iter_


class Cycle:
    """A graph, as libraries have them: its items are its nodes, here as many in each."""

    def __init__(self, weight):
        self.weight = weight

    def __len__(self):
        return 3

    def __iter__(self):
        return iter(range(3))

    def __getitem__(self, node):
        return {(node + 1) % 3: self.weight}


def of_cycles(X, Z):
    return np.outer([graph.weight for graph in X], [graph.weight for graph in Z])


class Scaled:
    """A linear kernel function, whose factor can be changed."""

    factor = 1.0

    def __call__(self, X, Z):
        return self.factor * (X @ Z.T)


MODELS = {
    "KernelSVC": KernelSVC,
    "KernelNuSVC": partial(KernelNuSVC, nu=0.4),
    "KernelRegressor": partial(KernelRegressor, "epsilon_insensitive"),
    "ROCSVC": partial(ROCSVC, alpha=0.01, features="nystroem"),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_warm_start_with_a_function_that_was_changed_in_place_solves_the_new_problem(name, X):
    y, kernel, make = (X[:, 0] > np.median(X[:, 0])) * 1.0, Scaled(), MODELS[name]
    warm = make(kernel=kernel, tol=1e-6, warm_start=True, random_state=0).fit(X, y)
    kernel.factor = 0.01
    cold = make(kernel=kernel, tol=1e-6, random_state=0).fit(X, y)
    assert cold.objective_ != pytest.approx(warm.objective_, rel=1e-3)
    assert warm.fit(X, y).objective_ == pytest.approx(cold.objective_, rel=1e-5)
    assert 0.0 <= warm.duality_gap_ <= 1e-6 * abs(warm.objective_)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "ROCSVC"])
def test_a_warm_start_on_other_objects_solves_their_problem(name):
    """SciPy's matrices are printed without their entries, a graph as its address."""

    def of_matrices(X, Z):
        return sparse.vstack(list(X)) @ sparse.vstack(list(Z)).T

    def shrunk(graphs):
        for graph in graphs:
            graph.weight *= 0.1
        return graphs

    weights = np.linspace(-1.0, 2.0, 20)
    y = (weights > 0.3) * 1.0
    large, small = ([sparse.csr_matrix([[factor * weight]]) for weight in weights] for factor in (1.0, 0.1))
    cases = (of_matrices, large, lambda rows: small), (of_cycles, list(map(Cycle, weights)), shrunk)
    for kernel, rows, change in cases:
        warm = MODELS[name](kernel=kernel, tol=1e-6, warm_start=True).fit(rows, y)
        before, rows = warm.objective_, change(rows)
        cold = MODELS[name](kernel=kernel, tol=1e-6).fit(rows, y)
        assert cold.objective_ != pytest.approx(before, rel=1e-3)
        assert warm.fit(rows, y).objective_ == pytest.approx(cold.objective_, rel=1e-5)


@pytest.mark.parametrize("form", [list, tuple])
def test_graphs_are_given_to_the_function(form):
    """NumPy makes a row of numbers of the nodes of each where all have as many."""
    weights = np.linspace(-1.0, 2.0, 20)
    graphs, y = form(map(Cycle, weights)), weights > 0.3
    ours = KernelSVC(of_cycles, tol=1e-6).fit(graphs, y)
    plain = KernelSVC("linear", tol=1e-6).fit(weights[:, None], y)
    np.testing.assert_allclose(ours.decision_function(graphs), plain.decision_function(weights[:, None]), atol=1e-3)
    assert ours.predict(graphs[:3]).tolist() == [False] * 3


def test_sequences_of_different_lengths_are_given_to_the_function():
    def of_lengths(X, Z):
        assert isinstance(X[0], list)
        return np.outer(list(map(len, X)), list(map(len, Z)))

    rows = [[0.5] * (1 + k % 4) for k in range(20)]
    y = np.arange(20) % 4 > 1
    assert KernelSVC(of_lengths).fit(rows, y).score(rows, y) == 1.0


def test_text_of_digits_stays_text():
    """One column of it: a table of such text is converted to numbers."""

    def of_digits(X, Z):
        assert isinstance(X[0], str) and isinstance(Z[0], str)
        return np.outer([text.count("1") for text in X], [text.count("1") for text in Z])

    rows = ["1" * (1 + k % 4) for k in range(20)]
    y = np.arange(20) % 4 > 1
    assert KernelSVC(of_digits).fit(rows, y).score(rows, y) == 1.0


def test_numbers_among_rows_of_text_are_refused():
    with pytest.raises(ValueError, match="X holds text: could not convert string to float: 'ab'"):
        KernelSVC(of_words).fit(np.array(["ab", 1.0, "c"], dtype=object), [0, 1, 0])


def test_rows_of_text_and_numbers_are_given_to_the_function():
    """Every row of a table with text, as ``SVC`` does."""
    table = np.array([[word, str(k % 5)] for k, word in enumerate(WORDS)], dtype=object)
    seen = []

    def function(X, Z):
        seen.append((X.shape[1], Z.shape[1]))
        return of_words(X[:, 0], Z[:, 0]) + X[:, 1].astype(float)[:, None] * Z[:, 1].astype(float)

    y = COUNTS[:, 0] > 0
    model = KernelSVC(function).fit(table, y)
    assert model.score(table, y) > 0.9 and model.n_features_in_ == 2 and set(seen) == {(2, 2)}
    with pytest.raises(ValueError, match="X must have 2 columns as in fit, got shape"):
        model.predict(table[:, :1])
    with pytest.raises(ValueError, match="0 sample"):
        model.predict(table[:0])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(table, y[1:])
    with pytest.raises(ValueError, match="is a Python function, which cannot be stored"):
        model.save("nowhere.npz")


def test_rows_of_text_have_no_names_of_an_earlier_table():
    pandas = pytest.importorskip("pandas")
    y = COUNTS[:, 0] > 0
    model = KernelSVC().fit(pandas.DataFrame(COUNTS, columns=list("abc")), y)
    model.set_params(kernel=of_words).fit(WORDS, y)
    assert model.n_features_in_ == 1 and not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_of_text_in_another_order_are_refused(library):
    """They were taken by position, unlike those of numbers."""
    make = pytest.importorskip(library).DataFrame
    y, table = COUNTS[:, 0] > 0, make({"word": WORDS, "other": WORDS[::-1]})
    model = KernelSVC(lambda X, Z: of_words(X[:, 0], Z[:, 0])).fit(table, y)
    assert model.feature_names_in_.tolist() == ["word", "other"] and model.score(table, y) > 0.9
    for rows in (table[["other", "word"]], make({"Word": WORDS, "other": WORDS})):
        with pytest.raises(ValueError, match="The feature names should match those that were passed during fit"):
            model.predict(rows)


def test_numbers_as_objects_or_text_stay_numbers():
    y = COUNTS[:, 0] > 0

    def function(X, Z):
        assert X.dtype == Z.dtype == np.float64
        return X @ Z.T

    for rows in (COUNTS.astype(object), COUNTS.astype(str).astype(object).tolist()):
        assert KernelSVC(function).fit(rows, y).predict(rows).shape == y.shape


def test_rows_of_text_are_told_of_precomputed():
    """By a model that takes no text."""
    with pytest.raises(ValueError, match="kernel='precomputed'"):
        ROCSVC(kernel=np.dot).fit([["a b"], ["c"]], [0, 1])


@pytest.mark.parametrize("search", ["exact", "race", "halving"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_searches_take_rows_of_text(search, n_classes):
    y = np.digitize(COUNTS @ [1.0, -2.0, 0.5], [0.0] if n_classes == 2 else [-1, 1])
    # Values of pairs of classes: small counts put rows on a pair's boundary, where rounding decides a vote.
    settings = {"Cs": [0.1, 1.0, 10.0], "cv": 3, "tol": 1e-6, "search": search, "random_state": 0}
    settings["decision_function_shape"] = "ovo"
    ours = KernelSVCCV(kernel=of_words, **settings).fit(WORDS, y)
    matrix = KernelSVCCV(kernel="precomputed", **settings).fit(COUNTS @ COUNTS.T, y)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], matrix.cv_results_["mean_test_score"])
    np.testing.assert_allclose(ours.decision_function(WORDS), matrix.decision_function(COUNTS @ COUNTS.T), atol=1e-2)
    assert ours.score(WORDS, y) > 0.8


def test_a_search_of_a_regressor_takes_rows_of_text():
    y = COUNTS @ [1.0, -2.0, 0.5]
    settings = {"alphas": [1.0, 0.01], "cv": 3}
    ours = KernelRegressorCV(kernel=of_words, **settings).fit(WORDS, y)
    matrix = KernelRegressorCV(kernel="precomputed", **settings).fit(COUNTS @ COUNTS.T, y)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], matrix.cv_results_["mean_test_score"], rtol=1e-6)
    np.testing.assert_allclose(ours.predict(WORDS), matrix.predict(COUNTS @ COUNTS.T), rtol=1e-6)


def test_the_slack_of_rows_of_text_is_that_of_their_kernel():
    y = COUNTS[:, 0] > COUNTS[:, 1]
    ours = KernelSVC(of_words, tol=1e-6).fit(WORDS, y)
    numbers = KernelSVC("linear", tol=1e-6).fit(COUNTS, y)
    assert ours.slack_budget(WORDS, y) == pytest.approx(numbers.slack_budget(COUNTS, y), abs=1e-4)
