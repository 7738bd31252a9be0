"""RandomFeatures follows scikit-learn's conventions: its checks, and tools for transformers."""

import pickle
import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernbench import load
from kernbench.features import RandomFeatures
from kernbench.features.maps.plan import plan
from kernbench.features.maps.sketches import RandomDegreeMap
from kernbench.kernels import Gaussian
from kernbench.kernels.functions import (
    ArcCosine,
    Cauchy,
    ChiSquared,
    DotProduct,
    Hellinger,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
)


@parametrize_with_checks(
    [
        RandomFeatures(n_features=20),
        RandomFeatures("laplacian", 15, keep_frequencies=False),
        RandomFeatures("poly", 16, gamma="median", coef0=1.0),
        RandomFeatures("poly", 16, form="random-degree"),
        RandomFeatures("linear", 16),
        RandomFeatures("additive_chi2", 21),
        RandomFeatures(Matern(), 16, form="phase", draws="qmc"),
        RandomFeatures(Gaussian(2.0), 16, draws="fastfood"),
        RandomFeatures(ArcCosine(), 16, draws="orthogonal", block_size=3),
        RandomFeatures(ChiSquared(), 21),
        RandomFeatures(Hellinger() * Gaussian() + Polynomial(2), 10),
    ]
)
@pytest.mark.filterwarnings("ignore::UserWarning:kernbench")
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(30, 4))


def test_feature_names_and_data_frames(X):
    features = RandomFeatures(n_features=6, random_state=0).fit(X)
    assert features.get_feature_names_out().tolist() == [f"randomfeatures{i}" for i in range(6)]
    pandas = pytest.importorskip("pandas")
    frame = features.set_output(transform="pandas").transform(X)
    assert isinstance(frame, pandas.DataFrame)
    assert frame.columns.tolist() == [f"randomfeatures{i}" for i in range(6)]


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix, sparse.csr_array], ids=["dense", "matrix", "array"])
def test_precision_is_preserved(X, convert):
    features = RandomFeatures(Gaussian(), 8, random_state=0)
    single = features.fit_transform(convert(X.astype(np.float32)))
    double = features.fit_transform(convert(X))
    assert (single.dtype, double.dtype) == (np.float32, np.float64)
    np.testing.assert_allclose(single, double, atol=1e-6)
    assert features.fit_transform(convert(np.ones((3, 2), dtype=np.int64))).dtype == np.float64
    assert get_tags(features).transformer_tags.preserves_dtype == ["float64", "float32"]


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_frequencies_are_kept_for_each_precision(convert):
    X = np.where(np.arange(200).reshape(10, 20) % 7 == 0, 0.1, 0.0)
    features, fresh = (RandomFeatures(Gaussian(), 8, random_state=0).fit(X) for _ in range(2))
    features.transform(convert(X.astype(np.float32)))
    np.testing.assert_array_equal(features.transform(convert(X)), fresh.transform(convert(X)))


@pytest.mark.parametrize("layout", ["F order", "read-only", "strided", "CSC", "COO"])
def test_format_agnosticism(X, layout):
    features = RandomFeatures(Gaussian(), 8, random_state=0).fit(X)
    expected = features.transform(X)
    frozen = X.copy()
    frozen.setflags(write=False)
    rows = {
        "F order": np.asfortranarray(X),
        "read-only": frozen,
        "strided": np.repeat(X, 2, axis=0)[::2],
        "CSC": sparse.csc_matrix(X),
        "COO": sparse.coo_matrix(X),
    }[layout]
    np.testing.assert_allclose(features.transform(rows), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kernel", [Gaussian(2.0), ChiSquared(), Hellinger(), Polynomial(2)], ids=str)
@pytest.mark.parametrize("form", ["dense", "stored zeros", "stored twice"])
def test_rows_stay_as_they_were(kernel, form):
    X = np.abs(np.random.default_rng(0).normal(size=(20, 40))) * (np.arange(40) % 8 == 0)
    if form != "dense":
        rows, columns = np.nonzero(X)
        values = X[rows, columns]
        if form == "stored zeros":
            rows, columns, values = np.append(rows, [0, 1]), np.append(columns, [1, 2]), np.append(values, [0.0, 0.0])
        else:
            rows, columns, values = np.tile(rows, 2), np.tile(columns, 2), np.tile(0.5 * values, 2)
        starts = np.searchsorted(np.sort(rows), np.arange(21))
        order = np.argsort(rows, kind="stable")
        X = sparse.csr_matrix((values[order], columns[order], starts), shape=(20, 40))
    before = X.copy()
    RandomFeatures(kernel, 64, random_state=0).fit(X).transform(X)
    if form == "dense":
        np.testing.assert_array_equal(X, before)
    else:
        for part in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(X, part), getattr(before, part))


def test_works_in_a_pipeline_and_a_search():
    X = np.random.default_rng(0).normal(size=(400, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    model = make_pipeline(RandomFeatures(random_state=0), LogisticRegression())
    grid = {"randomfeatures__n_features": [2, 64], "randomfeatures__gamma": [0.1, 1.0]}
    search = GridSearchCV(model, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.8 and search.best_params_["randomfeatures__n_features"] == 64


def test_bandwidth_is_that_of_the_other_estimators(X):
    assert RandomFeatures("rbf", gamma=0.5).fit(X).kernel_ == Gaussian(1.0)
    scaled = RandomFeatures("rbf", gamma="scale").fit(X).kernel_
    assert scaled.sigma == pytest.approx(np.sqrt(0.5 * X.shape[1] * X.var()))
    medians = [RandomFeatures("rbf", gamma="median", random_state=0).fit(X).kernel_.sigma for _ in range(2)]
    assert medians[0] == medians[1] > 0


def test_partial_fit_keeps_the_first_batch(X):
    features = RandomFeatures(n_features=16, random_state=0).partial_fit(X)
    expected = features.transform(X)
    np.testing.assert_array_equal(features.partial_fit(100 * X).transform(X), expected)
    np.testing.assert_array_equal(RandomFeatures(n_features=16, random_state=0).fit(X).transform(X), expected)
    with pytest.raises(ValueError, match="features"):
        features.partial_fit(X[:, :2])


@pytest.mark.parametrize(
    "kernel, form",
    [
        (Gaussian(), "pair"),
        (ChiSquared(), "scalar"),
        (Polynomial(4), "random-degree"),
        (Polynomial(4), "tensor-sketch"),
        (Gaussian() * ArcCosine(), "phase"),
        (Gaussian(1e-3), "pair"),  # some rows go by float64
    ],
)
def test_memory_is_bounded(kernel, form, monkeypatch):
    """Beside the result, of 20 MB, a few megabytes."""
    monkeypatch.setattr("kernbench.features._transformer.CHUNK_BYTES", 1_000_000)
    X = np.random.default_rng(0).random((10_000, 30)).astype(np.float32)
    X[:, 1:] *= np.linspace(0, 1, len(X), dtype=np.float32)[:, None]
    features = RandomFeatures(kernel, 512, form=form, random_state=0).fit(X)
    features.transform(X[:10])
    tracemalloc.start()
    try:
        Z = features.transform(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak - Z.nbytes < 12_000_000


@pytest.mark.parametrize("change", [{"n_features": 40}, {"form": "phase"}, {"draws": "qmc"}, {"block_size": 8}])
@pytest.mark.parametrize("keep_frequencies", [True, False])
def test_parameters_set_after_fit_do_not_change_the_map(change, keep_frequencies, tmp_path):
    X = np.random.default_rng(0).normal(size=(10, 3))
    features = RandomFeatures(Gaussian(), 20, keep_frequencies=keep_frequencies, random_state=0).fit(X)
    expected = features.transform(X)
    np.testing.assert_array_equal(features.set_params(**change).transform(X), expected)
    features.save(tmp_path / "map.npz")
    np.testing.assert_array_equal(load(tmp_path / "map.npz").transform(X), expected)
    anew = RandomFeatures(Gaussian(), random_state=0, **{"n_features": 20, **change}).fit_transform(X)
    np.testing.assert_array_equal(features.fit_transform(X), anew)


def test_pickles_of_earlier_versions_take_their_settings_from_parameters():
    X = np.random.default_rng(0).normal(size=(5, 3))
    features = RandomFeatures(Gaussian(), 20, draws="orthogonal", block_size=8, random_state=0).fit(X)
    expected = features.transform(X)
    del features.settings_
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(features)).transform(X), expected)


def test_damaged_settings_are_refused():
    features = RandomFeatures(Gaussian(), 20, random_state=0).fit([[1.0, 2.0]])
    for settings in ({}, {**features.settings_, "block_size": -1}, {**features.settings_, "form": "scalar"}):
        features.settings_ = settings
        with pytest.raises(ValueError):
            features._check_fitted_state()


@pytest.mark.parametrize("n_features", [5, 7, 8])
def test_terms_of_a_sum_make_as_many_columns_as_asked_for(n_features):
    X = np.ones((3, 2))
    assert RandomFeatures(Gaussian() + Laplacian() + Cauchy(), n_features).fit_transform(X).shape == (3, n_features)


def test_an_exact_term_takes_the_columns_it_needs_and_a_drawn_one_an_even_share():
    kernel = Gaussian() + Linear()
    assert [term.n_columns for term in plan(kernel, 16, 3)] == [13, 3]
    assert [term.n_columns for term in plan(kernel, 16, 3, may_be_exact=False)] == [8, 8]


def test_no_degree_is_drawn_whose_coefficient_is_0():
    """Ten tenths add up to less than 1."""
    kernel = DotProduct([0.1] * 10 + [0.0])
    assert RandomDegreeMap(0, kernel, 2).upper[-2:].tolist() == [1.0, 1.0]


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_features_are_finite_where_frequencies_are_not():
    assert np.isfinite(RandomFeatures(Matern(nu=1e-5), 64, random_state=0).fit_transform(np.eye(3))).all()
