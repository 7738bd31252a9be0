"""Doubly stochastic models of streams that fail, or are refused: who is named, and what the model is afterwards."""

import numpy as np
import pytest
from doubly_stochastic_cases import LABELS, SMALL, TARGETS, X, Y, fresh, of
from sklearn.base import clone

from kernbench import (
    ROCSVC,
    DoublyStochasticClassifier,
    DoublyStochasticGPRegressor,
    DoublyStochasticRegressor,
    KernelSVC,
)
from kernbench.estimators.fit.outcome import OF_AN_OUTCOME
from kernbench.kernels import ReciprocalSemigroup

# Models of these tests are small, and some have no window.
pytestmark = pytest.mark.filterwarnings("ignore:.*steps of .* rows are so noisy")


def broken():
    yield X[:150], LABELS[:150]
    yield X[150:300], LABELS[150:300]
    raise OSError("the disk is gone")


@pytest.mark.parametrize(
    "last, message",
    [
        ((X[:5, :1], LABELS[:5]), "chunk 3 of the stream has 1 features, those before had 2"),
        ((X[:5], np.array(["no", "maybe", "no", "no", "no"])), "chunk 3 of the stream: y holds .*maybe"),
        ((np.full((5, 2), np.nan), LABELS[:5]), "chunk 3 of the stream: .*NaN"),
    ],
)
def test_a_bad_chunk_is_named_and_leaves_a_usable_model(last, message):
    rng = np.random.default_rng(0)
    V, labels = rng.normal(size=(6000, 2)), LABELS[rng.integers(400, size=6000)]
    model = DoublyStochasticClassifier(random_state=0)
    with pytest.raises(ValueError, match=message):
        model.fit_chunks(iter([(V[:4500], labels[:4500]), (V[4500:], labels[4500:]), last]))
    assert model.n_iter_ >= 4
    model.partial_fit(X, LABELS)
    assert model.predict(X).shape == (400,)


def test_a_stream_that_fails_among_the_first_rows_leaves_a_model_of_these():
    model = DoublyStochasticClassifier(random_state=0)
    with pytest.raises(OSError, match="the disk is gone"):
        model.fit_chunks(broken())
    model.partial_fit(X, LABELS)


@pytest.mark.parametrize("name", ["classifier", "regressor", "novelty", "gp", "gp-std"])
def test_a_stream_that_fails_midway_leaves_a_model_that_goes_on(name):
    model, data, method = fresh(name, batch_size=64, block_size=16, max_iter=-1)

    def chunks():
        for _ in range(30):
            yield data if len(data) > 1 else data[0]
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        model.fit_chunks(chunks(), **({"n_samples": 12000} if name.startswith("gp") else {}))
    before = model.n_iter_[0]
    assert before > 60 and np.all(np.isfinite(of(model, method)(X)))
    model.partial_fit(*data)
    assert model.n_iter_ == [before + 7]


@pytest.mark.parametrize("name", ["classifier", "regressor", "novelty"])
def test_a_stream_that_fails_midway_has_no_outcome(name):
    """It kept that of the fit before it."""
    model, data, _ = fresh(name, max_iter=-1)
    model.fit(*data)

    def chunks():
        for _ in range(30):
            yield data if len(data) > 1 else data[0]
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        model.fit_chunks(chunks())
    assert not vars(model).keys() & set(OF_AN_OUTCOME)
    model.partial_fit(*data)
    assert model.status_ == "finished" and np.isfinite(model.objective_)


def test_the_error_that_leaves_one_class_is_raised_itself():
    """Not that a class is missing, with the advice to pass `classes`."""

    def chunks():
        yield X[LABELS == "no"], LABELS[LABELS == "no"]
        raise OSError("the disk is gone")

    model = DoublyStochasticClassifier(random_state=0)
    with pytest.raises(OSError, match="the disk is gone"):
        model.fit_chunks(chunks())
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize("model", [DoublyStochasticClassifier(random_state=0), KernelSVC(solver="scs", random_state=0)])
def test_a_label_that_is_missing_late_is_named_by_its_chunk(model):
    rng = np.random.default_rng(0)

    def chunks():
        for k in range(3):
            rows = rng.normal(size=(3000, 2))
            labels = np.where(rows[:, 0] > 0, "yes", "no").astype(object)
            if k == 2:
                labels[:] = np.where(np.arange(3000) % 2, None, labels)
            yield rows, labels

    with pytest.raises(ValueError, match="chunk 3 of the stream: y holds labels of another type.*NoneType, str"):
        clone(model).fit_chunks(chunks())


@pytest.mark.parametrize("name", ["regressor", "gp"])
@pytest.mark.parametrize(
    "fault, message",
    [
        (lambda X, y: (X, np.where(np.arange(3000) == 7, np.nan, y)), "y holds NaN or infinity"),
        (lambda X, y: (X, np.full(3000, "high")), "y must be numbers"),
        (lambda X, y: (X, y, np.full(3000, "much")), "weights must be numbers"),
    ],
)
def test_bad_targets_and_weights_are_named_by_their_chunk(name, fault, message):
    def chunks():
        rng = np.random.default_rng(0)
        for k in range(3):
            rows = rng.normal(size=(3000, 2))
            yield fault(rows, rows[:, 0]) if k == 2 else (rows, rows[:, 0])

    model, options = fresh(name)[0], {"n_samples": 9000} if name == "gp" else {}
    with pytest.raises(ValueError, match=f"chunk 3 of the stream: {message}"):
        model.set_params(max_iter=-1, batch_size=1024).fit_chunks(chunks(), **options)
    assert model.predict(X).shape == (len(X),)  # of the chunks before


@pytest.mark.parametrize("chunks", [[], [(X[:0], LABELS[:0])]])
def test_an_empty_stream_is_refused(chunks):
    with pytest.raises(ValueError, match="the stream is empty"):
        DoublyStochasticClassifier().fit_chunks(chunks)


def test_a_stream_of_one_class_is_refused():
    with pytest.raises(ValueError, match="at least two classes"):
        DoublyStochasticClassifier().fit_chunks([(X, np.zeros(400))])
    with pytest.raises(ValueError, match="not among the classes"):
        DoublyStochasticClassifier().partial_fit(X, LABELS, classes=["no", "maybe"])
    with pytest.raises(ValueError, match="class_weight='balanced' needs all labels"):
        DoublyStochasticClassifier(class_weight="balanced").partial_fit(X, LABELS)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_classes_may_be_a_set_and_hold_no_nan():
    """A set was one class, itself; a model with the class NaN could not be read from a file."""
    for model in (fresh("classifier", max_iter=3)[0], KernelSVC(solver="scs", max_iter=3, random_state=0), ROCSVC()):
        model.partial_fit(X, LABELS, classes={"yes", "no"}).partial_fit(X, LABELS, classes={"yes", "no"})
        assert model.classes_.tolist() == ["no", "yes"]
        with pytest.raises(ValueError, match="the classes hold NaN"):
            clone(model).partial_fit(X, Y, classes=[0, 1, np.nan])
        if not isinstance(model, ROCSVC):
            assert model.fit_chunks([(X, LABELS)], classes={"yes", "no"}).classes_.tolist() == ["no", "yes"]
            with pytest.raises(ValueError, match="the classes hold NaN"):
                model.fit_chunks([(X, Y)], classes=[0, 1, np.nan])


def test_classes_that_are_given_are_not_widened_by_those_that_come():
    for model in (fresh("classifier")[0], KernelSVC(solver="scs", random_state=0)):
        for classes in ([0], []):
            with pytest.raises(ValueError, match=r"a stream needs (at least|exactly) two classes, got \[0?\]"):
                model.fit_chunks([(X, Y)], classes=classes)
        assert not hasattr(model, "classes_")
        with pytest.raises(ValueError, match=r"y holds \[2\], which are not among the classes \[0, 1\]"):
            model.fit_chunks([(X, np.arange(400) % 3)], classes=[0, 1])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_stream_that_is_refused_leaves_the_fitted_model_as_it_was():
    for model in (fresh("classifier", max_iter=3)[0], KernelSVC(solver="scs", max_iter=3, random_state=0)):
        model.fit(X, LABELS)
        expected, before = model.predict(X), set(vars(model))
        with pytest.raises(ValueError, match="too large for this kernel"):
            model.fit_chunks([(1e300 * X[:, :1], Y)])
        np.testing.assert_array_equal(model.predict(X), expected)
        assert set(vars(model)) == before


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_chunks_whose_columns_are_in_another_order_are_refused(library):
    """They were taken by position."""
    make = pytest.importorskip(library).DataFrame
    tables = [make(dict(zip(names, X.T))) for names in ("ab", "ab", "ba")]
    for model in (fresh("classifier", max_iter=3)[0], KernelSVC(solver="scs", max_iter=3, random_state=0)):
        model.fit_chunks([(table, LABELS) for table in (tables[0], X, tables[1])])
        for chunks in ([(table, LABELS) for table in tables], iter([(tables[0], LABELS), (tables[2], LABELS)])):
            with pytest.raises(ValueError, match=r"chunk \d of the stream has the columns \['b', 'a'\], which should"):
                model.fit_chunks(chunks)
    P, _, Q = tables
    model = fresh("ratio", max_iter=3)[0].fit_chunks([P], [X])
    with pytest.raises(ValueError, match=r"Q has the columns \['b', 'a'\], which should be those of P"):
        model.fit_chunks([P], [Q])


@pytest.mark.parametrize("name", ["classifier", "regressor", "gp", "novelty"])
@pytest.mark.parametrize("rows", [1e100 * X, 0 * X - 1.0], ids=["too large", "outside the domain"])
def test_later_rows_are_checked_as_the_first(name, rows):
    kernel = {} if rows.max() > 0 else {"kernel": ReciprocalSemigroup(1.0)}
    model, data, method = fresh(name, dtype="float32", max_iter=-1, **kernel)
    data = (np.abs(data[0]), *data[1:])
    message = "too large for this kernel" if rows.max() > 0 else "column 0"
    model.partial_fit(*data)
    before = model.block_coef_.copy()
    with pytest.raises(ValueError, match=message):
        model.partial_fit(rows, *data[1:])
    np.testing.assert_array_equal(model.block_coef_, before)
    chunks = [(part, *data[1:]) if len(data) > 1 else part for part in (data[0], rows)]
    with pytest.raises(ValueError, match=message):
        fresh(name, dtype="float32", shuffle=False, max_iter=-1, **kernel)[0].fit_chunks(chunks)


@pytest.mark.parametrize("chunks", [None, 3, [None], ["ab"], [(1, 2, 3, 4)], [()]], ids=repr)
@pytest.mark.parametrize("name", ["classifier", "regressor", "gp", "novelty"])
def test_what_is_no_chunk_is_refused(name, chunks):
    options = {"n_samples": 10} if name == "gp" and not isinstance(chunks, list) else {}
    with pytest.raises(ValueError, match="chunks must be|chunk 1 must"):
        fresh(name)[0].fit_chunks(chunks, **options)


def test_rows_of_a_batch_that_is_refused_do_not_count():
    model = DoublyStochasticGPRegressor(**SMALL).partial_fit(X, TARGETS)
    with pytest.raises(ValueError):
        model.partial_fit(X * 1e200, TARGETS)
    assert model.n_samples_ == len(X)


@pytest.mark.parametrize(
    "model",
    [DoublyStochasticRegressor(kernel="linear"), DoublyStochasticGPRegressor(kernel="linear", block_size=32)],
    ids=lambda model: type(model).__name__,
)
def test_rows_that_are_refused_in_a_step_leave_no_trace(model):
    """They stayed in the window, on which later steps are, and were counted."""
    V = np.random.default_rng(0).normal(size=(300, 3))
    y = V @ [1.0, -2.0, 0.5]
    model, other = (clone(model).set_params(random_state=0).partial_fit(V[:200], y[:200]) for _ in range(2))
    before = dict(vars(model))
    with pytest.raises(ValueError, match="diverges"):
        model.partial_fit(1e8 * V, y)
    assert vars(model).keys() == before.keys() and all(vars(model)[name] is before[name] for name in before)
    for one in (model, other):
        one.partial_fit(V[200:], y[200:])
    np.testing.assert_array_equal(model.block_coef_, other.block_coef_)


@pytest.mark.filterwarnings("ignore:overflow encountered", "ignore:invalid value encountered")
def test_coefficients_that_are_not_finite_do_not_replace_the_model():
    model = DoublyStochasticRegressor(precondition=False, random_state=0).partial_fit(X, TARGETS)
    expected = model.predict(X)
    with pytest.raises(ValueError, match="numbers leave the range of float32"):
        model.partial_fit(X, 1e40 * TARGETS)
    np.testing.assert_array_equal(model.predict(X), expected)
    assert model.n_iter_ == [1]
