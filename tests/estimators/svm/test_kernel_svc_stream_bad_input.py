"""KernelSVC(solver="scs") on streams with bad chunks, that break off, or that cannot be learnt from."""

from copy import deepcopy

import numpy as np
import pytest
from scs_streams import X_NEW, Y_NEW, draw, endless, svc

from kernbench.estimators.fit.outcome import OF_AN_OUTCOME

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning", "ignore:.*fitted its sample of:UserWarning"
)


def test_rows_that_wait_survive_a_batch_that_fails():
    X, y = draw(200, 5)
    no, yes = y == "no", y == "yes"
    model = svc().partial_fit(X[no], y[no], classes=["no", "yes"])
    expected = deepcopy(model).partial_fit(X[yes], y[yes]).decision_function(X)
    options = model.solver_options
    with pytest.raises(ValueError, match="unknown option of solver 'scs' 'grwth'"):
        model.set_params(solver_options={**options, "grwth": 10}).partial_fit(X[yes], y[yes])
    model.set_params(solver_options=options).partial_fit(X[no][:1], y[no][:1])
    assert set(model.predict(X)) == {"no"} and len(model._scs_stream.waiting[0][1]) == no.sum() + 1
    model.partial_fit(X[yes], y[yes])
    assert np.corrcoef(model.decision_function(X), expected)[0, 1] > 0.95


@pytest.mark.parametrize(
    "spoil, sentence",
    [
        (lambda X, y: (np.where(np.arange(3) == 1, np.nan, X), y), "chunk 30 .*column 1 holds NaN.*in row"),
        (lambda X, y: (X[:, :2], y), "chunk 30 .*2 features, those before had 3"),
        (lambda X, y: (X, np.full(len(y), "maybe")), "chunk 30 .*'maybe'.*not among"),
        (lambda X, y: (X, y[:-1]), "chunk 30 .*got shapes"),
        (lambda X, y: (X, y, -np.ones(len(y))), "chunk 30 .*weights"),
        (lambda X, y: (np.char.add(X.astype(str), "x"), y), "chunk 30 .*not numbers"),
        (lambda X, y: (X + 1j, y), "chunk 30 .*complex"),
        (lambda X, y: X, "chunk 30 must be a tuple"),
    ],
    ids=["nan", "features", "labels", "shapes", "weights", "text", "complex", "no tuple"],
)
def test_a_bad_late_chunk_is_named_and_the_model_stays(spoil, sentence):
    def stream():
        for number, chunk in enumerate(endless(), start=1):
            yield spoil(*chunk) if number == 30 else chunk

    model = svc(cap=300, max_iter=500)
    with pytest.raises(ValueError, match=sentence):
        model.fit_chunks(stream())
    assert model.n_iter_[0] > 5 and model.score(X_NEW, Y_NEW) > 0.7


@pytest.mark.parametrize("number", [3, 4])
@pytest.mark.parametrize("size", [100, 30])
def test_a_bad_early_chunk_is_named_and_the_rows_before_it_are_fitted(number, size):
    before = [draw(size, seed) for seed in range(number - 1)]
    X, y = draw(size, 100)
    X[size // 2, 1] = np.nan
    model = svc(cap=300, max_iter=200)
    with pytest.raises(ValueError, match=f"chunk {number} .*column 1 holds NaN.*in row {size // 2}"):
        model.fit_chunks(iter([*before, (X, y), draw(size, 101)]))
    expected = svc(cap=300, max_iter=200).fit_chunks(iter(before))
    assert model.n_iter_[0] > 5
    assert model.score(X_NEW, Y_NEW) == pytest.approx(expected.score(X_NEW, Y_NEW), abs=0.05)


def test_a_bad_chunk_of_a_list_leaves_the_rows_of_the_others():
    chunks = [draw(400, seed) for seed in range(4)]
    chunks[2][0][:, 0] = np.inf
    model = svc(cap=300, max_iter=200)
    with pytest.raises(ValueError, match="chunk 3 .*column 0 holds infinity"):
        model.fit_chunks(chunks)
    assert model.score(X_NEW, Y_NEW) > 0.7


@pytest.mark.parametrize("first", [0, 1])
def test_a_bad_early_chunk_leaves_no_model_of_one_class(first):
    X, y = draw(100, 0)
    one = (X[y == "no"], y[y == "no"])
    model = svc()
    with pytest.raises(ValueError, match=f"chunk {first + 1} .*column 2 holds NaN"):
        model.fit_chunks(iter([*[one] * first, (np.where(np.arange(3) == 2, np.nan, X), y)]))
    assert not hasattr(model, "dual_coef_")


def test_a_stream_that_breaks_off_leaves_the_model():
    def stream():
        for number, chunk in enumerate(endless(), start=1):
            if number == 20:
                raise OSError("the disk is gone")
            yield chunk

    model = svc(cap=300, max_iter=500)
    with pytest.raises(OSError, match="the disk"):
        model.fit_chunks(stream())
    assert model.score(X_NEW, Y_NEW) > 0.7


def test_a_stream_that_breaks_off_has_no_outcome():
    """It kept the certificate of the fit before it."""

    def stream():
        for number, chunk in enumerate(endless(), start=1):
            if number == 30:
                raise OSError("the disk is gone")
            yield chunk

    model = svc(cap=300, max_iter=-1).set_params(solver="smo", solver_options=None).fit(*draw(300, 1))
    assert model.converged_ and model.duality_gap_ is not None
    model.set_params(solver="scs", solver_options={"sample_cap": 300}, max_iter=500)
    with pytest.raises(OSError, match="the disk"):
        model.fit_chunks(stream())
    assert model.n_iter_[0] > 5 and not vars(model).keys() & set(OF_AN_OUTCOME)
    model.partial_fit(*draw(150, 2))
    assert model.duality_gap_ is None and np.isfinite(model.objective_)


def test_a_failed_batch_changes_nothing():
    model = svc(max_iter=5).partial_fit(*draw(150, 0))
    before, n_iter = model.decision_function(X_NEW), model.n_iter_[0]
    X, y = draw(50, 1)
    for batch in ((np.where(np.arange(3) == 0, np.inf, X), y), (X[:, :2], y), (X, np.full(50, "maybe"))):
        with pytest.raises(ValueError):
            model.partial_fit(*batch)
    np.testing.assert_array_equal(model.decision_function(X_NEW), before)
    model.partial_fit(X, y)
    assert model.n_iter_[0] == n_iter + 5


@pytest.mark.parametrize("kernel, entry", [("rbf", 1e20), ("linear", 1e20), ("poly", 1e20), ("chi2", -1.0)])
@pytest.mark.parametrize("labels", [("no", "yes"), ("no",)])
def test_a_batch_that_the_kernel_does_not_take_changes_nothing(kernel, entry, labels):
    """Its row was kept, also while only one class had come, and spoilt the batches after it."""

    def batch(seed, labels):
        X, y = draw(150, seed)
        rows = np.isin(y, labels)
        return np.abs(X[rows]), y[rows]

    model = svc(kernel=kernel, max_iter=5).partial_fit(*batch(0, labels), classes=["no", "yes"])
    expected = deepcopy(model)
    X, y = batch(1, labels)
    X[3, 1] = entry
    with pytest.raises(ValueError, match="too large for this kernel in float32" if entry > 0 else "Negative values"):
        model.partial_fit(X, y)
    np.testing.assert_array_equal(model.decision_function(np.abs(X_NEW)), expected.decision_function(np.abs(X_NEW)))
    for either in (model, expected):
        either.partial_fit(*batch(2, ["no", "yes"]))
    np.testing.assert_array_equal(model.dual_coef_, expected.dual_coef_)
    assert model.n_iter_[0] == expected.n_iter_[0]
    model.partial_fit(X, y, sample_weight=np.where(np.arange(len(y)) == 3, 0.0, 1.0))  # which leaves the row out


@pytest.mark.parametrize("form", [list, iter])
def test_a_row_of_a_chunk_that_the_kernel_does_not_take_is_not_kept(form, monkeypatch):
    monkeypatch.setattr("kernbench.estimators.svm.scs_stream.FIRST_ROWS", 50)  # the others are read during the run
    chunks = [draw(400, seed) for seed in range(4)]
    chunks[2][0][200, 1] = 1e20
    model = svc(cap=300, max_iter=500)
    with pytest.raises(ValueError, match="X holds values up to 1e\\+20, too large for this kernel in float32"):
        model.fit_chunks(form(chunks))
    assert model.n_iter_[0] > 0 and np.abs(model._scs_stream.source.X).max() < 10
    assert model.partial_fit(*draw(400, 4)).score(X_NEW, Y_NEW) > 0.7


def test_a_failed_first_batch_leaves_the_model_of_a_fit():
    X, y = draw(100, 0)
    model = svc(max_iter=5).fit(X, y)
    expected = model.decision_function(X_NEW)
    with pytest.raises(ValueError, match="exactly two classes, got \\['no'\\]: pass classes="):
        model.partial_fit(X[y == "no"][:, :2], y[y == "no"])
    np.testing.assert_array_equal(model.decision_function(X_NEW), expected)


@pytest.mark.parametrize(
    "chunks, sentence",
    [
        ([], "empty"),
        (iter(()), "empty"),
        ([(X_NEW[:30], ["no"] * 30)], "two classes"),
        ([(X_NEW[:30], np.arange(30) % 3)], "exactly two classes, got \\[0, 1, 2\\]: .*OneVsRestClassifier"),
    ],
)
def test_streams_that_cannot_be_learnt_from(chunks, sentence):
    with pytest.raises(ValueError, match=sentence):
        svc().fit_chunks(chunks)
