"""KernelSVC(solver="scs") on streams: chunks, memory maps, batches."""

import pickle
import tracemalloc
from copy import deepcopy
from functools import partial

import joblib
import numpy as np
import pytest
from scipy import sparse
from scs_streams import X_NEW, Y_NEW, chunks_of, draw, endless, svc
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsRestClassifier

from kernbench import KernelSVC, load

pytestmark = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.ConvergenceWarning", "ignore:.*fitted its sample of:UserWarning"
)


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
