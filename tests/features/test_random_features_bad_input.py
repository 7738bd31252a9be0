"""Errors for invalid input say what to change."""

import re

import numpy as np
import pytest
from scipy import sparse

import kernbench
from kernbench.estimators import DoublyStochasticClassifier
from kernbench.features import FeatureBlocks, Nystroem, RandomFeatures, feature_block
from kernbench.features.maps.rows import indices_of
from kernbench.kernels.functions import (
    Callable,
    ChiSquared,
    DotProduct,
    ExponentialChiSquared,
    Gaussian,
    Hellinger,
    Intersection,
    Laplacian,
    Linear,
    Polynomial,
    SkewedChiSquared,
)
from kernbench.kernels.names import NAMES

X = np.random.default_rng(0).random((10, 3))


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"n_features": 0}, "n_features must be a positive integer at most 4294967295, got 0"),
        ({"n_features": 2.5}, "n_features must be a positive integer"),
        ({"n_features": True}, "n_features must be a positive integer"),
        ({"block_size": -1}, "block_size must be a positive integer"),
        ({"block_size": "8"}, "block_size must be a positive integer"),
        ({"keep_frequencies": 1}, "keep_frequencies must be True or False"),
        ({"form": "pairs"}, "unknown form 'pairs'; did you mean 'pair'?"),
        ({"draws": "orthogonl"}, "unknown draws 'orthogonl'; did you mean 'orthogonal'?"),
        ({"draws": None}, "unknown draws None"),
        ({"kernel": "rbff"}, "unknown kernel 'rbff'; did you mean 'rbf'?"),
        ({"kernel": 3}, "kernel must be a name, a kernel object or a function"),
        ({"gamma": -1.0}, "gamma must be"),
        ({"random_state": "seed"}, "random_state must be"),
        ({"random_state": -1}, "random_state must be"),
    ],
)
def test_parameters(parameters, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        RandomFeatures(**parameters).fit(X)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_refused_for_a_lack_of_random_features_if_its_kernel_has_none(name):
    models = RandomFeatures(name, 6), DoublyStochasticClassifier(name, max_iter=1, max_blocks=1, random_state=0)
    refused = []
    for model in models:
        try:
            model.fit(X, X[:, 0] > 0.5)
        except ValueError as error:
            assert "no random features" in str(error)
            refused.append(model)
    assert len(refused) in (0, len(models))


@pytest.mark.parametrize(
    "kernel, parameters, message",
    [
        (Gaussian(), {"n_features": 7, "form": "pair"}, "multiple of 2, got 7; take 6 or 8, or form='phase'"),
        (ChiSquared(), {"n_features": 5, "form": "vector"}, "multiple of 6, got 5; take 6, or form='scalar'"),
        (Gaussian(), {"form": "vector"}, "no features of form 'vector'; form must be one of 'auto', 'pair'"),
        (ChiSquared(), {"form": "pair"}, "form must be one of 'auto', 'vector', 'scalar'"),
        (Gaussian() * Linear(), {"form": "random"}, "Gaussian times Linear has no features of form 'random'"),
        (Laplacian(), {"draws": "orthogonal"}, "draws must be one of 'iid', 'qmc'"),
        (ChiSquared(), {"draws": "fastfood"}, "draws must be one of 'iid', 'qmc'"),
        (DotProduct(), {"draws": "qmc"}, "draws must be one of 'iid'"),
        (Gaussian() * Gaussian(), {"draws": "qmc"}, "in a product cannot be drawn with draws='qmc'"),
        (Gaussian() + Linear() * Gaussian(), {"n_features": 1}, "a sum of 2 kernels needs at least as many"),
    ],
)
def test_what_does_not_go_together(kernel, parameters, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        RandomFeatures(kernel, **parameters).fit(X)


@pytest.mark.parametrize(
    ("kernel", "form", "n_features", "message", "enough"),
    [
        (Gaussian() + Laplacian(), "pair", 5, "multiple of 2 and at least 4, got 5; take 4 or 6, or form='phase'", 4),
        (Gaussian() + Laplacian(), "pair", 2, "2 columns at a time here, for each of 2 terms", 4),
        (ChiSquared() + Intersection(), "vector", 6, "at least 12, got 6; take 12, or form='scalar'", 12),
    ],
)
def test_the_columns_that_a_sum_needs_are_those_of_all_its_terms(kernel, form, n_features, message, enough):
    """The message was about the share of one term, and its advice led to the same message."""
    features = RandomFeatures(kernel, n_features, form=form)
    with pytest.raises(ValueError, match=re.escape(message)):
        features.fit(X)
    assert features.set_params(n_features=enough).fit_transform(X).shape == (10, enough)


@pytest.mark.parametrize("kernel", [ExponentialChiSquared(), Gaussian() + ExponentialChiSquared()])
def test_kernels_without_random_features(kernel):
    message = "no random features of ExponentialChiSquared.*Gaussian.*Hellinger.*Nystroem"
    with pytest.raises(ValueError, match=message):
        RandomFeatures(kernel).fit(X)


@pytest.mark.parametrize("transformer", [RandomFeatures, Nystroem])
def test_kernel_class_in_place_of_an_object(transformer):
    with pytest.raises(ValueError, match=r"kernel=Gaussian is a class: pass a kernel object, Gaussian\(...\)"):
        transformer(Gaussian, 5).fit(np.ones((6, 2)))


@pytest.mark.parametrize("kernel", ["precomputed", np.dot, Callable(np.dot)])
def test_kernels_that_are_no_formula(kernel):
    with pytest.raises(ValueError, match="no random features of (Precomputed|Callable)"):
        RandomFeatures(kernel).fit(np.eye(3))


@pytest.mark.parametrize("kernel, place", [(ChiSquared(), 0.0), (Hellinger(), 0.0), (SkewedChiSquared(0.5), -0.5)])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_the_domain_names_the_column(kernel, place, convert):
    rows = X.copy()
    rows[7, 2] = place - 0.25
    features = RandomFeatures(kernel, 12)
    with pytest.raises(ValueError, match=r"column 2 holds -0\.\d+ \(row 7\)"):
        features.fit(convert(rows))
    features.fit(X)
    with pytest.raises(ValueError, match="column 2"):
        features.transform(convert(rows))
    with pytest.raises(ValueError, match="column 2"):
        feature_block(0, 0, 12, convert(rows), kernel)


def test_not_finite_entries_name_the_column():
    rows = X.copy()
    rows[3, 1] = np.nan
    with pytest.raises(ValueError, match="column 1 holds NaN"):
        RandomFeatures().fit(rows)


def test_values_too_large_for_the_kernel():
    rows = (1e20 * X).astype(np.float32)
    with pytest.raises(ValueError, match="scale the features.*float64"):
        RandomFeatures(Polynomial(3)).fit(rows)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("make", "rows"),
    [
        (lambda form: RandomFeatures("poly", 16, degree=20, form=form), 1e-9 * X),
        (lambda form: RandomFeatures("poly", 16, form=form), 1e110 * X),
        (lambda form: RandomFeatures(Polynomial(1100, 1.0, 1e-3), 16, form=form), X),
    ],
    ids=["large scale", "small scale", "high degree"],
)
def test_a_power_series_that_float64_does_not_hold_is_refused_with_a_remedy(make, rows):
    with pytest.raises(ValueError, match="Polynomial: the coefficients of its power series.*form='tensor-sketch'"):
        make("random-degree").fit(rows)
    assert np.isfinite(make("tensor-sketch").fit_transform(rows)).all()


def test_coefficients_whose_sum_overflows_are_refused():
    with pytest.raises(ValueError, match="DotProduct: the coefficients of its power series.*scale the coefficients"):
        FeatureBlocks(DotProduct((1e308, 1e308)), 8, 3)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kernel", [Gaussian(1e-39), Gaussian(1e-39) * Gaussian(1.0)], ids=["single", "product"])
def test_a_length_scale_too_small_for_float32_is_refused(kernel):
    """Frequencies of factors add up in float64, and the sum overflowed to features that were NaN."""
    rows, features = np.zeros((2, 3)), RandomFeatures(kernel, 4)
    with pytest.raises(ValueError, match=r"length scale of Gaussian\(sigma=1e-39\) is too small for.* in float32"):
        features.fit_transform(rows.astype(np.float32))
    assert np.isfinite(features.fit_transform(rows)).all()


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((-1, 0, 8), "seed must be an integer of at least 0 and at most 18446744073709551615, got -1"),
        ((2**64, 0, 8), "seed must be an integer"),
        ((0, -1, 8), "block must be an integer of at least 0 and at most 4294967295"),
        ((0, 2**32, 8), "block must be an integer"),
        ((0, 1.5, 8), "block must be an integer"),
        ((0, 0, 0), "n_columns must be a positive integer"),
        ((0, 0, "8"), "n_columns must be a positive integer"),
    ],
)
def test_blocks(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        feature_block(*arguments, X, Gaussian())


def test_blocks_of_what_is_no_kernel_or_no_block():
    with pytest.raises(ValueError, match="kernel must be a kernel object"):
        FeatureBlocks("rbf", 8, 3)
    with pytest.raises(ValueError, match="form='exact' has finitely many features"):
        feature_block(0, 0, 8, X, Linear(), form="exact")
    with pytest.raises(ValueError, match="two dimensions"):
        feature_block(0, 0, 8, X[0], Gaussian())
    with pytest.raises(ValueError, match="X must hold real numbers, got complex ones"):
        feature_block(0, 0, 8, 1j * X, Gaussian())


def test_quasi_random_points_come_to_an_end():
    with pytest.raises(ValueError, match="beyond the 2\\^30 of a Sobol sequence"):
        feature_block(0, 2**31, 8, X, Gaussian(), draws="qmc")
    wide = sparse.csr_matrix((1, 30_000))
    with pytest.raises(ValueError, match="Sobol sequences have at most 21201"):
        feature_block(0, 0, 8, wide, Gaussian(), draws="qmc")


def test_columns_beyond_32_bits_are_refused():
    """Their numbers would wrap around, and entries would be read from columns before the first."""
    parts = np.ones(2), np.array([0, 2**31 - 1], dtype=np.int64), np.array([0, 1, 2], dtype=np.int64)
    np.testing.assert_array_equal(indices_of(sparse.csr_matrix(parts, shape=(2, 2**31)))[0], parts[1])
    wide = 2**31 + 1
    with pytest.raises(ValueError, match=f"X has {wide} features: the columns of sparse rows are numbered in 32 bits"):
        indices_of(sparse.csr_matrix(parts, shape=(2, wide)))


def test_not_a_number_is_not_hidden_in_a_block():
    with pytest.raises(ValueError, match="NaN"):
        feature_block(0, 0, 8, np.full((2, 3), np.nan), Gaussian())


@pytest.mark.parametrize(
    "attribute, value, message",
    [
        ("seed_", -1, "seed_"),
        ("seed_", 2**64, "seed_"),
        ("n_features_in_", 0, "n_features_in_"),
        ("kernel_", 3, "kernel_"),
        ("forms_", ["phase"], "forms_"),
        ("n_features", 0, "n_features"),
        ("feature_names_in_", np.array(["a"], dtype=object), "feature_names_in_ has another length"),
    ],
)
def test_damaged_files_are_refused(tmp_path, attribute, value, message):
    features = RandomFeatures(Gaussian(), 8).fit(X)
    setattr(features, attribute, value)
    features.save(tmp_path / "features.npz")
    with pytest.raises(ValueError, match=f"features.npz is damaged.*{message}"):
        kernbench.load(tmp_path / "features.npz")


def test_a_kernel_that_is_a_function_is_not_saved_because_it_is_not_fitted(tmp_path):
    with pytest.raises(ValueError, match="no random features"):
        RandomFeatures(lambda A, B: A @ B.T).fit(X).save(tmp_path / "features.npz")
