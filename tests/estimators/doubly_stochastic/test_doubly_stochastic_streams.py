"""Doubly stochastic models of streams: chunks, and batch after batch."""

import numpy as np
import pytest
from doubly_stochastic_cases import LABELS, SMALL, TARGETS, X, Y, every_model, fresh, of
from scipy import sparse
from sklearn.base import clone

from kernbench import (
    DoublyStochasticClassifier,
    DoublyStochasticDensityRatio,
    DoublyStochasticGPRegressor,
    DoublyStochasticNoveltyDetector,
    DoublyStochasticRegressor,
    KernelSVC,
    load,
)
from kernbench.estimators.arguments.chunks import Chunk
from kernbench.kernels import ChiSquared

# Models of these tests are small, and some have no window.
pytestmark = pytest.mark.filterwarnings("ignore:.*steps of .* rows are so noisy")


@pytest.mark.parametrize("std", [None, "points", "operator"])
def test_a_gaussian_process_of_chunks_is_that_of_their_rows(std):
    """In one step on all rows, where their order is a matter of rounding."""
    points = X[:3] if std == "points" else None
    settings = {"noise_variance": 0.05, "std": std, "dtype": "float64", "gamma": 1.0, "random_state": 0}
    whole = DoublyStochasticGPRegressor(**settings).fit(X, TARGETS, points=points)
    parts = [(X[:150], TARGETS[:150]), (X[150:], TARGETS[150:])]
    for chunks, n_samples in ((parts, None), (iter(parts), 400)):
        model = DoublyStochasticGPRegressor(**settings, shuffle=False)
        model.fit_chunks(chunks, points=points, n_samples=n_samples)
        assert model.n_samples_ == 400 and model.n_iter_ == [1]
        np.testing.assert_allclose(model.predict(X), whole.predict(X), atol=1e-7)
        if std is not None:
            rows = X if std == "operator" else points
            pair = (each.predict(rows, return_std=True)[1] for each in (model, whole))
            np.testing.assert_allclose(*pair, atol=1e-4)
    with pytest.raises(ValueError, match="give n_samples"):
        model.fit_chunks(iter(parts), points=points)


@pytest.mark.parametrize("name", ["classifier", "classes", "regressor", "novelty"])
def test_a_stream_in_order_does_not_depend_on_its_chunks(name):
    found = []
    for cuts in ([400], [64, 336], [1, 50, 9, 340]):
        model, data, method = fresh(name, shuffle=False, max_iter=-1)
        edges = np.cumsum([0, *cuts])
        chunks = iter([
            data[0][a:b] if len(data) == 1 else (data[0][a:b], data[1][a:b])
            for a, b in zip(edges[:-1], edges[1:], strict=True)
        ])  # fmt: skip
        found.append(getattr(model.fit_chunks(chunks), method)(X))
        assert model.n_iter_ == [7] and model.status_ == "finished"
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


def test_a_chunk_of_weight_0_changes_nothing():
    models = []
    for extra in ([], [(X[:50], LABELS[:50], np.zeros(50))]):
        chunks = [(X[:200], LABELS[:200], np.ones(200)), *extra, (X[200:], LABELS[200:], np.ones(200))]
        # The width is that of the first rows, whatever they weigh: so it is given.
        models.append(DoublyStochasticClassifier(gamma=1.0, shuffle=False, **SMALL).fit_chunks(iter(chunks)))
    np.testing.assert_array_equal(models[0].block_coef_, models[1].block_coef_)


def test_sparse_chunks_are_dense_ones():
    V = np.where(np.abs(X) > 0.6, X, 0)
    dense, thin = (
        DoublyStochasticClassifier(dtype="float64", **SMALL).fit_chunks(
            [(form(V[:200]), Y[:200]), (form(V[200:]), Y[200:])]
        )
        for form in (np.asarray, sparse.csr_matrix)
    )
    np.testing.assert_allclose(thin.decision_function(V), dense.decision_function(V), atol=1e-10)


@pytest.mark.parametrize(
    "model, points",
    [
        (DoublyStochasticRegressor(ChiSquared(), block_size=400, solver_options={"form": "vector"}), None),
        (DoublyStochasticRegressor(ChiSquared(), block_size=40, solver_options={"form": "scalar"}), None),
        (DoublyStochasticGPRegressor(std="points", block_size=16), 3),
    ],
    ids=["vector", "scalar", "points"],
)
def test_duplicate_entries_of_chunks_are_summed(model, points):
    """The maps of additive kernels would take each of them for an entry of its own, and so would norms of rows."""
    rng = np.random.default_rng(0)
    V = np.where(rng.random((400, 200)) < 0.02, rng.exponential(size=(400, 200)), 0.0)
    whole = sparse.csr_matrix(V)
    halves = np.repeat(whole.data / 2, 2), np.repeat(whole.indices, 2), whole.indptr * 2
    parts = sparse.csr_matrix(halves, shape=V.shape)
    options, found = {} if points is None else {"points": V[:points]}, []
    for form in (whole, parts):
        each = clone(model).set_params(batch_size=400, dtype="float64", random_state=0)
        each.fit_chunks([(form, TARGETS)], **options)
        found.append((each.block_coef_, getattr(each, "std_", 0.0)))
    for of_parts, of_whole in zip(*reversed(found), strict=True):
        np.testing.assert_array_equal(of_parts, of_whole)
    assert parts.nnz == 2 * whole.nnz  # of the caller


def test_chunks_of_sparse_columns_are_sparse_ones():
    pandas = pytest.importorskip("pandas")
    V = sparse.csr_matrix(np.where(np.abs(X) > 0.6, X, 0))
    frame = pandas.DataFrame.sparse.from_spmatrix(V, columns=[f"c{j}" for j in range(V.shape[1])])
    assert sparse.issparse(Chunk(1, (frame, Y), None).take(5)[0])
    thin, of_frame = (DoublyStochasticClassifier(**SMALL).fit_chunks([(form, Y)]) for form in (V, frame))
    assert np.array_equal(of_frame.block_coef_, thin.block_coef_)


@every_model
def test_a_model_learns_from_batch_after_batch(name):
    model, data, method = fresh(name, max_iter=-1)
    before = None
    for start in range(0, 160, 40):
        part = [column[start : start + 40] for column in data]
        options = {"classes": np.unique(data[1])} if name in ("classifier", "classes", "paper") else {}
        model.partial_fit(*part, **options)
        assert before is None or model.n_iter_ > before
        before = model.n_iter_
    assert np.all(np.isfinite(of(model, method)(X)))


def test_streams_of_the_ratio_and_of_novelty():
    rng = np.random.default_rng(0)
    P, Q = rng.normal(size=(6000, 1)), rng.normal(0.5, 1, size=(6000, 1))
    model = DoublyStochasticDensityRatio(random_state=0).fit_chunks([P[:2000], P[2000:]], iter([Q]))
    assert model.n_iter_ == [12] and np.corrcoef(model.log_ratio(Q), -Q[:, 0])[0, 1] > 0.9
    detector = DoublyStochasticNoveltyDetector(batch_size=64, random_state=0).fit_chunks([P[:3000], (P[3000:], None)])
    assert detector.n_iter_ == [94]


def test_weights_of_classes_are_weights_of_their_rows():
    weights = np.where(LABELS == "no", 2.0, 1.0)
    by_class, by_row = (DoublyStochasticClassifier(class_weight=given, **SMALL) for given in ({"no": 2.0}, None))
    by_class.partial_fit(X, LABELS)
    by_row.partial_fit(X, LABELS, sample_weight=weights)
    np.testing.assert_array_equal(by_class.block_coef_, by_row.block_coef_)
    by_class.fit_chunks([(X, LABELS)])
    by_row.fit_chunks([(X, LABELS, weights)])
    np.testing.assert_array_equal(by_class.block_coef_, by_row.block_coef_)


def test_the_kernel_is_that_of_the_rows_whatever_the_weights_of_classes():
    """As that of `KernelSVC`: they are factors of losses."""
    n = 6 * SMALL["batch_size"]
    rows = np.vstack([X[:n], 100 * X[:1]]), np.append(LABELS[:n], LABELS[n])
    found = []
    for given in (None, {label: 9.0 for label in np.unique(LABELS)[:1]}):
        for fit in ("fit", "partial_fit", "fit_chunks"):
            model = DoublyStochasticClassifier(gamma="scale", class_weight=given, **SMALL)
            getattr(model, fit)(*(([rows],) if fit == "fit_chunks" else rows))
            found.append(model.kernel_.sigma)
    np.testing.assert_allclose(found, found[0], rtol=1e-12)


@pytest.mark.parametrize("model", [DoublyStochasticRegressor, DoublyStochasticNoveltyDetector])
def test_weights_of_chunks_are_those_of_their_rows(model):
    n = 6 * SMALL["batch_size"]
    weights = np.random.default_rng(0).uniform(0.5, 2, size=n)
    targets = None if model is DoublyStochasticNoveltyDetector else TARGETS[:n]
    of_batch, of_chunks = (model(gamma=1.0, shuffle=False, **SMALL) for _ in range(2))
    of_batch.partial_fit(X[:n], targets, sample_weight=weights)
    of_chunks.fit_chunks([(X[:n], targets, weights)])
    np.testing.assert_array_equal(of_batch.block_coef_, of_chunks.block_coef_)


def test_two_streams_have_the_same_weight_in_a_batch(monkeypatch):
    taken = []

    def keep(self, reader, X, take, **rest):
        taken.append(take(40))

    monkeypatch.setattr(DoublyStochasticDensityRatio, "_fit_stream", keep)
    DoublyStochasticDensityRatio(random_state=0).fit_chunks([X[:5]], [X[:20]])
    ((_, y, weights),) = taken
    assert [weights[y == side].sum() for side in (1.0, -1.0)] == pytest.approx([25.0, 25.0])


@pytest.mark.parametrize("form", [list, iter])
def test_two_streams_are_shuffled_apart(form, monkeypatch):
    """With an integer as random_state, row i of one came together with row i of the other."""
    taken = []

    def keep(self, X, weights, take, **rest):
        taken.append(take(100))

    monkeypatch.setattr(DoublyStochasticDensityRatio, "_fit_stream", keep)
    DoublyStochasticDensityRatio(random_state=0).fit_chunks(form([X[:50]]), form([X[:50]]))
    ((V, y, _),) = taken
    orders = [V[y == side] for side in (1.0, -1.0)]
    assert not np.array_equal(*orders)
    np.testing.assert_array_equal(*(np.sort(order, axis=0) for order in orders))


def test_each_call_of_partial_fit_has_its_own_order_of_rows(monkeypatch):
    model, seeds = DoublyStochasticClassifier(**SMALL), []
    source_of = model._source_of

    def noted(*arguments):
        make = source_of(*arguments)
        return lambda dtype, batch_size, seed: seeds.append(seed) or make(dtype, batch_size, seed)

    monkeypatch.setattr(model, "_source_of", noted)
    model.partial_fit(X, LABELS).partial_fit(X, LABELS)
    assert len(set(seeds)) == 2


def test_a_model_of_a_file_goes_on_from_its_level():
    model = fresh("novelty")[0].fit(X)
    level = model._progress.solution.intercept
    del model._progress  # which no file keeps
    assert model._progress_so_far().solution.intercept == level != 0.0


def test_the_average_of_a_model_of_a_file_begins_after_its_next_step(tmp_path):
    """It was the model of the file itself, whatever the rows of the step."""
    fresh("novelty")[0].fit(X).save(tmp_path / "model.npz")
    model = load(tmp_path / "model.npz")
    before = model.decision_function(X)
    model.partial_fit(X[:50])
    state = model._progress.solution.state
    np.testing.assert_array_equal(model.block_coef_, state["iterate"])
    assert model.offset_ == state["level"] and not np.array_equal(model.decision_function(X), before)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore:.*fitted its sample")
@pytest.mark.parametrize("gamma", ["scale", "median"])
def test_rows_of_weight_zero_do_not_determine_the_kernel_of_a_stream(gamma):
    both, weights = np.concatenate([X, 1e3 + 1e3 * X]), np.repeat([1.0, 0.0], len(X))
    scs = KernelSVC(solver="scs", gamma=gamma, max_iter=3, random_state=0)
    for model in (*(fresh(name, gamma=gamma, max_iter=3)[0] for name in ("classifier", "regressor", "novelty")), scs):
        y = None if isinstance(model, DoublyStochasticNoveltyDetector) else LABELS
        y = TARGETS if type(model).__name__ == "DoublyStochasticRegressor" else y
        twice = None if y is None else np.concatenate([y, y])
        alone = clone(model).fit_chunks([(X, y)]).kernel_
        assert clone(model).fit_chunks([(both, twice, weights)]).kernel_.sigma == pytest.approx(alone.sigma, rel=1e-9)
        batch = clone(model).partial_fit(both, twice, sample_weight=weights)
        assert batch.kernel_.sigma == pytest.approx(alone.sigma, rel=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_model_of_chunks_knows_the_names_of_their_columns(library):
    """Rows with columns in another order were taken by position."""
    make = pytest.importorskip(library).DataFrame
    table, other = (make(dict(zip(names, X.T))) for names in ("ab", "ba"))
    scs = KernelSVC(solver="scs", max_iter=3, random_state=0)
    for model, *chunks in (
        (fresh("classifier", max_iter=3)[0], [(table, LABELS)]),
        (scs, [(table, LABELS)]),
        (fresh("gp", batch_size=100, block_size=16, max_iter=3)[0], [(table, TARGETS)]),
        (fresh("novelty", max_iter=3)[0], iter([X, table])),
        (fresh("ratio", max_iter=3)[0], [table], [X]),
        (fresh("ratio", max_iter=3)[0], [X], [table]),
    ):
        assert model.fit_chunks(*chunks).feature_names_in_.tolist() == ["a", "b"]
        predict = next(name for name in ("decision_function", "log_ratio", "predict") if hasattr(model, name))
        assert getattr(model, predict)(table).shape == (400,)
        with pytest.raises(ValueError, match="The feature names should match"):
            getattr(model, predict)(other)
    assert not hasattr(scs.fit_chunks([(X, LABELS)]), "feature_names_in_")


@pytest.mark.parametrize(("fitted", "now"), [(None, "operator"), (None, "points"), ("operator", None)])
def test_standard_deviations_are_those_of_the_fit(fitted, now):
    model = DoublyStochasticGPRegressor(**SMALL, std=fitted).fit(X, TARGETS).set_params(std=now)
    with pytest.raises(ValueError, match=f"fitted with std={fitted!r}, and has std={now!r} now"):
        model.predict(X, return_std=True)
