"""KernelSVC(solver="scs") on streams: chunks, memory maps, batches."""

import pickle
import tracemalloc
from copy import deepcopy
from functools import partial

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsRestClassifier

from kernbench import KernelSVC, load
from kernbench.estimators.fit.outcome import OF_AN_OUTCOME

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning", "ignore:.*fitted its sample of:UserWarning"
)


def draw(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n) > 0, "yes", "no")


def svc(cap=200, alpha=0.01, **options):
    options = {"gamma": 0.5, "random_state": 0, "max_iter": 60, **options}
    return KernelSVC(solver="scs", C=1 / (alpha * cap), solver_options={"sample_cap": cap}, **options)


def chunks_of(X, y, size=150):
    return [(X[i : i + size], y[i : i + size]) for i in range(0, len(y), size)]


def endless(seed=0, size=150):
    while True:
        yield draw(size, seed)
        seed += 1


X_NEW, Y_NEW = draw(1000, 999)


@pytest.mark.parametrize("form", ["list", "iterator", "whole", "csr", "endless"])
def test_every_form_of_a_stream_learns(form):
    X, y = draw(1500, 1)
    chunks = {
        "list": chunks_of(X, y),
        "iterator": iter(chunks_of(X, y)),
        "whole": [(X, y)],
        "csr": chunks_of(sparse.csr_matrix(X), y),
        "endless": endless(),
    }[form]
    model = svc().fit_chunks(chunks)
    fitted = KernelSVC(gamma=0.5, C=1 / (0.01 * 1500)).fit(X, y)
    assert model.score(X_NEW, Y_NEW) > fitted.score(X_NEW, Y_NEW) - 0.06
    assert len(model.support_) <= 200 and model.support_vectors_.shape == (len(model.support_), 3)
    assert model.duality_gap_ is None and model.n_iter_[0] <= 60
    assert list(model.classes_) == ["no", "yes"]


def test_a_stream_that_fits_the_sample_is_solved_as_fit_solves_it():
    X, y = draw(300, 2)
    model = svc(cap=400, alpha=0.1, max_iter=400).fit_chunks([(X, y)])
    C = 1 / (0.1 * 300)
    best = KernelSVC(gamma=0.5, C=C, dtype="float64").fit(X, y)
    assert np.corrcoef(model.decision_function(X_NEW), best.decision_function(X_NEW))[0, 1] > 0.999
    # n in C = 1 / (alpha n) is the cap, so alpha is 0.1 here and the objective that of `fit` with C as above.
    assert model.objective_ == pytest.approx(best.objective_, rel=2e-3) and model._scs_stream.source.n_sample == 300


def test_chunks_of_an_array_are_the_array():
    X, y = draw(600, 3)
    assert svc().fit_chunks([(X, y)]).score(X_NEW, Y_NEW) == pytest.approx(
        svc().fit_chunks(chunks_of(X, y)).score(X_NEW, Y_NEW), abs=0.05
    )
    a, b = (svc().fit_chunks(chunks_of(X, y)) for _ in range(2))
    np.testing.assert_array_equal(a.dual_coef_, b.dual_coef_)


def draw_thin(n, d, seed, n_stored=6):
    """Rows of a few entries each, whose sum tells the classes apart."""
    rng = np.random.default_rng(seed)
    stored = rng.normal(size=n * n_stored), rng.integers(d, size=n * n_stored), np.arange(n + 1) * n_stored
    X = sparse.csr_matrix(stored, shape=(n, d))
    return X, np.where(np.asarray(X.sum(axis=1)).ravel() > 0, "yes", "no")


def in_batches(model, chunks):
    for X, y in chunks:
        model.partial_fit(X, y, classes=["no", "yes"])
    return model


@pytest.mark.parametrize("kernel", ["rbf", "linear", "laplacian"])
@pytest.mark.parametrize("form", [list, iter, "batches", "one class first"])
def test_sparse_chunks_are_dense_ones(form, kernel):
    X, y = draw_thin(900, 40, 0)
    X.indices[::2], X.data[::7] = X.indices[1::2], 0.0  # entries that are stored twice, and zeros
    if form == "one class first":
        order = np.argsort(y, kind="stable")
        X, y = X[order], y[order]
    models = []
    for rows in (X, X.toarray(), X.astype(np.float32).tocsc()):
        model = svc(kernel=kernel, max_iter=8)  # more would amplify rounding from kink to kink
        learn = partial(in_batches, model) if isinstance(form, str) else lambda c, m=model: m.fit_chunks(form(c))
        models.append(learn(chunks_of(rows, y)))
    thin, dense, single = models
    assert thin.support_vectors_.format == "csr" and isinstance(dense.support_vectors_, np.ndarray)
    assert thin.support_vectors_.dtype == thin.dtype_ == "float32" and thin.support_vectors_.has_canonical_format
    np.testing.assert_allclose(thin.dual_coef_, dense.dual_coef_, rtol=1e-6)
    np.testing.assert_allclose(thin.support_vectors_.toarray(), dense.support_vectors_)
    for other in (dense, single):
        np.testing.assert_allclose(other.decision_function(X), thin.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("form", [list, iter, "batches", "one class first"])
def test_sparse_chunks_stay_sparse(form):
    X, y = draw_thin(900, 20_000, 0)
    if form == "one class first":
        order = np.argsort(y, kind="stable")
        X, y = X[order], y[order]
    chunks, model = chunks_of(X, y), svc(cap=100, kernel="linear", max_iter=10)
    tracemalloc.start()
    try:
        in_batches(model, chunks) if isinstance(form, str) else model.fit_chunks(form(chunks))
        model.predict(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4e6  # the slots would take 16 MB


def test_full_sparse_rows_are_kept_dense():
    X, y = draw(300, 0)
    assert isinstance(svc().fit_chunks(chunks_of(sparse.csr_matrix(X), y)).support_vectors_, np.ndarray)


def test_a_sparse_stream_takes_dense_rows_too():
    X, y = draw_thin(450, 40, 0)
    mixed = [(rows if k != 1 else rows.toarray(), labels) for k, (rows, labels) in enumerate(chunks_of(X, y))]
    thin, other = (in_batches(svc(max_iter=5), chunks) for chunks in (chunks_of(X, y), mixed))
    assert sparse.issparse(other.support_vectors_)
    assert np.array_equal(other.dual_coef_, thin.dual_coef_)
    late = in_batches(svc(max_iter=5), mixed[1:])  # begins with dense rows
    assert isinstance(late.support_vectors_, np.ndarray)
    whole = in_batches(svc(max_iter=5), chunks_of(X.toarray(), y)[1:])
    assert np.array_equal(late.dual_coef_, whole.dual_coef_)


def test_a_sparse_stream_is_saved_pickled_and_interrupted(tmp_path):
    X, y = draw_thin(600, 40, 0)
    live = svc(max_iter=10).partial_fit(X[:300], y[:300])
    pickled = pickle.loads(pickle.dumps(live))
    for model in (live, pickled):
        model.partial_fit(X[300:], y[300:])
    assert np.array_equal(live.dual_coef_, pickled.dual_coef_)
    assert np.array_equal(live.decision_function(X), pickled.decision_function(X))
    live.save(tmp_path / "model.npz")
    assert np.array_equal(load(tmp_path / "model.npz").decision_function(X), live.decision_function(X))

    def press_ctrl_c(model):
        if model.n_iter_[0] > 25:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        live.set_params(callback=press_ctrl_c, max_iter=10_000, tol=1e-12).partial_fit(X[:300], y[:300])
    assert live.n_iter_[0] > 25 and sparse.issparse(live.support_vectors_)
    assert live.set_params(callback=None, max_iter=10).partial_fit(X[:300], y[:300]).score(X, y) > 0.5


def test_rows_that_wait_are_copies():
    X, y = draw(150, 0)
    X = X[y == "no"]
    model, expected = (svc(max_iter=5).partial_fit(rows, ["no"] * len(X), classes=["no", "yes"]) for rows in (X, X + 0))
    X[:] = 1e3
    for either in (model, expected):
        either.partial_fit(*draw(150, 1))
    assert np.array_equal(model.dual_coef_, expected.dual_coef_)


@pytest.mark.parametrize("form", [list, iter])
def test_chunks_may_be_of_one_class_each(form):
    X, y = draw(300, 3)
    chunks = [(X[y == label], y[y == label]) for label in ("no", "yes")]
    model = svc(cap=300).fit_chunks(form(chunks))
    assert model.score(X_NEW, Y_NEW) > svc(cap=300).fit_chunks([(X, y)]).score(X_NEW, Y_NEW) - 0.03


def test_a_memory_map_is_read_where_it_is_drawn_only(tmp_path):
    X, y = draw(20_000, 4)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    tracemalloc.start()
    model = svc(cap=100, max_iter=20).fit_chunks([(mapped, y)])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < X.nbytes  # 480 kB
    assert model._scs_stream.source.n_seen < 6000


def test_partial_fit_improves_and_goes_on_after_pickling():
    model, scores = svc(max_iter=-1), []
    for seed in range(5):
        X, y = draw(150, seed)
        model.partial_fit(X, y)
        scores.append(model.score(X_NEW, Y_NEW))
        model = pickle.loads(pickle.dumps(model))
    assert scores[-1] > scores[0] - 0.02 and scores[-1] > 0.7
    assert len(model.support_) <= 200 and model.n_iter_[0] == 5 * 20


@pytest.mark.parametrize("form", ["pickle", "joblib", "copy"])
def test_a_copy_continues_the_stream(form, tmp_path):
    live = svc(max_iter=10).partial_fit(*draw(150, 0))
    if form == "joblib":  # it stores each array by itself: identity of arrays is lost
        joblib.dump(live, tmp_path / "model")
    copied = {
        "pickle": lambda: pickle.loads(pickle.dumps(live)),
        "joblib": lambda: joblib.load(tmp_path / "model"),
        "copy": lambda: deepcopy(live),
    }[form]()
    for model in (live, copied):
        model.partial_fit(*draw(150, 1))
    np.testing.assert_array_equal(live.dual_coef_, copied.dual_coef_)
    assert copied.n_iter_[0] == 20


@pytest.mark.parametrize("change", [{"C": 1e-3}, {"fit_intercept": False}], ids=str)
def test_a_stream_goes_on_with_another_objective(change):
    """The direction of the last one would keep all steps from descending."""
    changed, always = (KernelSVC(solver="scs", gamma=0.5, random_state=0, max_iter=60, **o) for o in ({}, change))
    for k in range(6):
        if k == 3:
            changed.set_params(**change)
        for model in (changed, always):
            model.partial_fit(*draw(200, k), classes=["no", "yes"])
    assert changed.objective_of_sample_ <= 1.05 * always.objective_of_sample_


def test_alpha_can_be_set_itself():
    X, y = draw(300, 2)
    a = svc(cap=250, alpha=0.02).fit_chunks([(X, y)])
    b = svc(cap=250).set_params(solver_options={"sample_cap": 250, "alpha": 0.02}).fit_chunks([(X, y)])
    np.testing.assert_allclose(a.dual_coef_, b.dual_coef_, rtol=1e-9)


def test_a_larger_cap_between_batches_leaves_the_sample_as_it_is():
    model = svc(cap=60).partial_fit(*draw(150, 2))
    model.set_params(solver_options={"sample_cap": 200}).partial_fit(*draw(150, 3))
    assert len(model.support_) <= 60 and model.duality_gap_ is None
    assert model.objective_of_sample_ > 0 and np.isfinite(model.objective_)


def test_batches_of_one_class_wait_for_the_other():
    X, y = draw(200, 5)
    model = svc().partial_fit(X[y == "no"], y[y == "no"], classes=["no", "yes"])
    assert set(model.predict(X)) == {"no"}
    model.partial_fit(X[y == "yes"], y[y == "yes"])
    assert model.score(X, y) > 0.7
    model.partial_fit(X[y == "no"][:10], ["no"] * 10)
    assert model.score(X, y) > 0.7


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


def test_of_more_rows_than_the_sample_holds_the_latest_wait():
    X, _ = draw(30, 0)
    model = svc(cap=10).partial_fit(X, np.full(30, "yes"), classes=["no", "yes"])
    np.testing.assert_array_equal(model._scs_stream.waiting[0][0], X[-10:])


def test_partial_fit_after_fit_starts_afresh():
    X, y = draw(200, 6)
    model = svc().partial_fit(X, y).fit(X, y)
    assert model.duality_gap_ is not None
    model.partial_fit(X, y)
    assert model.duality_gap_ is None and model.n_iter_[0] <= 60


def test_weight_zero_is_leaving_out():
    X, y = draw(400, 7)
    weights = (np.arange(400) % 2).astype(float)
    noise = np.where(weights > 0, y, np.where(y == "yes", "no", "yes"))
    model = svc().fit_chunks([(X, noise, weights)])
    assert model.score(X_NEW, Y_NEW) > 0.7
    assert svc(class_weight={"yes": 20.0}).fit_chunks([(X, y)]).predict(X_NEW).tolist().count("yes") > 600
    for weights in (np.zeros(400), np.where(y == "yes", 0.0, 1.0)):
        with pytest.raises(ValueError, match="before both classes had come; rows of weight 0 do not count"):
            svc().fit_chunks([(X, y, weights)])


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


@pytest.mark.parametrize("form", [list, iter])
def test_empty_chunks_are_passed_over(form):
    X, y = draw(500, 1)
    nothing, parts = (X[:0], y[:0]), chunks_of(X, y)
    a = svc().fit_chunks(form(parts))
    b = svc().fit_chunks(form([nothing, parts[0], nothing, nothing, *parts[1:], nothing]))
    np.testing.assert_array_equal(a.dual_coef_, b.dual_coef_)
    with pytest.raises(ValueError, match="chunk 3 .*2 features"):
        svc().fit_chunks(form([parts[0], nothing, (X[:0, :2], y[:0])]))
    with pytest.raises(ValueError, match="empty"):
        svc().fit_chunks(form([nothing, nothing]))


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


def test_more_than_two_classes_stream_one_against_the_rest():
    X, y = X_NEW, np.digitize(X_NEW[:, 0], [-0.5, 0.5])
    with pytest.raises(ValueError, match="exactly two classes"):
        svc().partial_fit(X, y)
    with pytest.raises(ValueError, match="exactly two classes"):
        svc().partial_fit(X[y < 2], y[y < 2], classes=[0, 1, 2])
    model = OneVsRestClassifier(svc())
    for rows in (slice(0, 500), slice(500, 1000)):
        model.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    assert model.score(X, y) > 0.7


def test_names_of_columns_are_forgotten_with_a_new_stream():
    model = svc(max_iter=5)
    model.feature_names_in_ = np.array(["a", "b", "c"], dtype=object)
    assert not hasattr(model.fit_chunks([draw(150, 0)]), "feature_names_in_")


def test_what_cannot_stream_says_so():
    assert not hasattr(KernelSVC(), "partial_fit") and not hasattr(KernelSVC(), "fit_chunks")
    with pytest.raises(AttributeError):
        KernelSVC(solver="scs", kernel="precomputed").partial_fit  # noqa: B018
    with pytest.raises(ValueError, match="balanced"):
        svc(class_weight="balanced").fit_chunks([draw(50, 0)])
    with pytest.raises(ValueError, match="redraw"):
        model = svc().set_params(solver_options={"validation": "holdout"})
        model.fit_chunks([draw(50, 0)])
    assert not hasattr(clone(svc().partial_fit(*draw(50, 0))), "_scs_stream")


def test_streams_that_stop_short_warn():
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        svc(max_iter=3, tol=1e-9).fit_chunks([draw(500, 0)])
