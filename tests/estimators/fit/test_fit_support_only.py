"""Models with a precomputed kernel predict from the columns of support vectors alone (scikit-learn #22363)."""

import numpy as np
import pytest

import kernbench
from kernbench import _models
from kernbench.features import Nystroem
from kernbench.kernels import Gaussian

RNG = np.random.default_rng(22363)
X, Z = RNG.normal(size=(90, 3)), RNG.normal(size=(20, 3))
SCORE = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * RNG.normal(size=90)
TRAIN, TEST = Gaussian(1.2)(X, X), Gaussian(1.2)(Z, X)
LABELS = {"classify": np.digitize(SCORE, (0.0, 1.0)), "rank": (SCORE > 0).astype(int), "regress": SCORE}
MODELS = [
    model.name
    for model in _models.ESTIMATORS
    if hasattr(model.load(), "support_only") and model.name != "AUCMarginClassifier"  # it takes features only
]


def fitted(name, **settings):
    """Return a model fitted to the kernel matrix; two classes where it takes no more."""
    model = _models.BY_NAME[name].load()(kernel="precomputed", **settings)
    task = "rank" if name == "RankedRangeClassifier" else _models.BY_NAME[name].task
    return model.fit(TRAIN, LABELS.get(task))


def outputs(model, K):
    """Return all predictions."""
    found = [model.predict(K)]
    return [*found, model.decision_function(K)] if hasattr(model, "decision_function") else found


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", MODELS)
def test_precomputed_kernels_need_columns_of_support_vectors_only(name, tmp_path):
    model = fitted(name, **({"cv": 2, "alphas": [0.1]} if name == "PartialAUCClassifierCV" else {}))
    narrow = model.support_only()
    assert 0 < len(model.support_) <= 90 and narrow.n_features_in_ == len(model.support_)
    narrow.save(tmp_path / "model.npz")
    for other in (narrow, kernbench.load(tmp_path / "model.npz")):
        for found, expected in zip(outputs(other, TEST[:, model.support_]), outputs(model, TEST), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    for other, width in ((narrow, 90), (model, 7)):
        if len(model.support_) < 90 or other is model:
            with pytest.raises(ValueError, match=f"X has {width} features.* input; .*support_only.. support vectors"):
                other.predict(TEST[:, :width])
    assert model.n_features_in_ == 90  # the copy changes nothing


def test_the_models_with_a_kernel_have_the_method():
    assert {"KernelSVC", "KernelRegressor", "ROCSVC", "ROCSVCCV", "PartialAUCClassifier"} <= set(MODELS)


@pytest.mark.parametrize("settings", [{}, {"decision_function_shape": "ovo"}, {"multi_class": "ovr"}])
def test_many_classes_whose_rows_are_all_support_vectors_in_another_order(settings):
    """Support vectors are sorted by class, so the width alone would not tell which columns K has."""
    model = kernbench.KernelSVC(kernel="precomputed", C=1e-3, **settings).fit(TRAIN, np.arange(90) % 3)
    assert len(model.support_) > 80 and np.any(np.diff(model.support_) < 0)
    found = model.support_only().decision_function(TEST[:, model.support_])
    np.testing.assert_allclose(found, model.decision_function(TEST), rtol=1e-12, atol=1e-12)


def test_landmarks_are_the_columns_of_a_nystroem_map():
    model = fitted("ROCSVC", features="nystroem", n_landmarks=12, random_state=0)
    used = model.feature_map_.landmark_indices_
    found = model.support_only().decision_function(TEST[:, used])
    np.testing.assert_allclose(found, model.decision_function(TEST), rtol=1e-12, atol=1e-12)
    assert isinstance(model.feature_map_, Nystroem) and model.feature_map_.n_features_in_ == 90


def test_names_of_columns_follow():
    pandas = pytest.importorskip("pandas")
    names = [f"row {i}" for i in range(90)]
    model = kernbench.KernelSVC(kernel="precomputed").fit(pandas.DataFrame(TRAIN, columns=names), LABELS["rank"])
    narrow, frame = model.support_only(), pandas.DataFrame(TEST, columns=names)
    np.testing.assert_array_equal(narrow.predict(frame.iloc[:, model.support_]), model.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        narrow.predict(frame.iloc[:, model.support_[::-1]])


def test_support_only_is_refused_where_it_says_nothing():
    with pytest.raises(ValueError, match="support_only is for kernel='precomputed'"):
        kernbench.KernelSVC().fit(X, LABELS["rank"]).support_only()
    constant = kernbench.KernelRegressor(kernel="precomputed", loss="epsilon_insensitive").fit(TRAIN, np.zeros(90))
    with pytest.raises(ValueError, match="no support vectors"):
        constant.support_only()
