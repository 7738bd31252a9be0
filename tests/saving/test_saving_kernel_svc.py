"""Model files: saved models are restored bit for bit, and errors for other files name them."""

import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from kernbench.estimators import KernelRegressorCV, KernelSVC, KernelSVCCV, PartialAUCClassifier
from kernbench.kernels.functions import Gaussian
from kernbench.saving import load
from kernbench.solvers import registry

X, Y = load_iris(return_X_y=True)
B = (Y == 1).astype(int)
SMALL = np.where(X > 2, X, 0)


def resaved(path, *, change):
    """Write the model file again with its arrays and header changed by ``change(arrays, header)``."""
    with np.load(path, allow_pickle=False) as archive:
        arrays = dict(archive)
    header = json.loads(str(arrays.pop("header")))
    change(arrays, header)
    np.savez(path, header=np.array(json.dumps(header)), **arrays)


@pytest.mark.parametrize(
    ("model", "rows", "y"),
    [
        (KernelSVC(), X, B),
        (KernelSVC(decision_function_shape="ovo", class_weight={0: 2.0, 2: 0.5}), X, Y),
        (KernelSVC(Gaussian(1.3), dtype="float32"), X.astype(np.float32), Y),
        (KernelSVC("laplacian", gamma="median", random_state=np.random.RandomState(0)), X, Y),
        (KernelSVC("poly", degree=2, coef0=1.0), X, Y),
        (KernelSVC("linear", callback=print), X, B),
        (KernelSVC("precomputed"), X @ X.T, Y),
        (KernelSVC(), sparse.csr_matrix(SMALL), Y),
        (KernelSVC(), sparse.csr_array(SMALL), B),
        (KernelSVC(solver="sbp", tol=0.5, random_state=0, solver_options={"burn_in": 4}), X, B),
    ],
    ids=["two", "ovo", "single", "median", "poly", "linear", "precomputed", "csr_matrix", "csr_array", "sbp"],
)
def test_saved_model_comes_back(tmp_path, capsys, model, rows, y):
    path = tmp_path / "model.npz"
    model.fit(rows, y).save(path)
    loaded = load(path)
    np.testing.assert_array_equal(loaded.decision_function(rows), model.decision_function(rows))
    np.testing.assert_array_equal(loaded.predict(rows), model.predict(rows))
    for name, value in vars(model).items():
        if not name.endswith("_") or name.startswith("_"):
            continue
        found = getattr(loaded, name)
        assert type(found) is type(value), name
        if sparse.issparse(value):
            assert (found != value).nnz == 0 and found.dtype == value.dtype
        elif isinstance(value, np.ndarray):
            np.testing.assert_array_equal(found, value)
            assert found.dtype == value.dtype, name
        else:
            assert found == value, name
    kept = {k: v for k, v in model.get_params().items() if k not in ("callback", "random_state")}
    assert {k: loaded.get_params()[k] for k in kept} == kept
    assert list(tmp_path.iterdir()) == [path]  # no temporary left


@pytest.mark.parametrize(
    "classes",
    [
        np.array([3, 5, 9]),
        np.array([-1.0, 0.0, 2.0]),
        np.array(["ash", "öak", "yew"]),
        np.array(["ash", "öak", "yew"], dtype=object),
        np.array([False, True]),
    ],
    ids=["int", "float", "str", "object", "bool"],
)
def test_labels_of_any_kind_come_back(tmp_path, classes):
    y = classes[Y % len(classes)]
    model = KernelSVC().fit(X, y)
    model.save(tmp_path / "model.npz")
    loaded = load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.predict(X).dtype == model.predict(X).dtype == classes.dtype


def test_feature_names_come_back(tmp_path):
    model = KernelSVC().fit(X, Y)
    model.feature_names_in_ = np.array(["a", "b", "c", "d"], dtype=object)
    model.save(tmp_path / "model.npz")
    names = load(tmp_path / "model.npz").feature_names_in_
    assert names.dtype == object and names.tolist() == ["a", "b", "c", "d"]


def test_integers_that_earlier_versions_took_for_true_and_false_are_read(tmp_path):
    path = tmp_path / "model.npz"
    model = KernelSVC().fit(X, B)
    model.save(path)
    resaved(path, change=lambda arrays, header: header["params"].update(fit_intercept=1))
    loaded = load(path)
    assert loaded.fit_intercept is True
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


def test_a_model_of_a_solver_that_is_not_there_predicts(tmp_path, monkeypatch):
    """Predictions do not depend on it: the file of a plug-in's model may go where the plug-in does not."""
    own = replace(registry.get("sdca", "kernel-svm"), name="mine")
    with monkeypatch.context() as patch:
        patch.setattr(registry, "SOLVERS", [*registry.SOLVERS, own])
        model = KernelSVC(solver="mine", random_state=0).fit(X, Y)
        model.save(tmp_path / "model.npz")
    loaded = load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    with pytest.raises(ValueError, match="unknown solver 'mine'"):
        loaded.fit(X, Y)


def test_a_loaded_model_can_be_fitted_and_saved_again(tmp_path):
    KernelSVC(C=3.0, warm_start=True).fit(X, Y).save(tmp_path / "one.npz")
    again = load(tmp_path / "one.npz").fit(X, B)
    again.save(tmp_path / "two.npz")
    np.testing.assert_array_equal(load(tmp_path / "two.npz").decision_function(X), again.decision_function(X))


def test_callback_snapshot_can_be_saved(tmp_path):
    KernelSVC(callback=lambda model: model.save(tmp_path / "now.npz")).fit(X, B)
    assert load(tmp_path / "now.npz").score(X, B) > 0.9


def test_unfitted_model_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        KernelSVC().save(tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


def test_python_function_as_kernel_is_not_saved(tmp_path):
    model = KernelSVC(lambda A, B: A @ B.T).fit(X, Y)
    with pytest.raises(ValueError, match="cannot be saved.*Python function"):
        model.save(tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


def test_trace_of_strange_objects_is_left_out_with_a_warning(tmp_path):
    model = KernelSVC(callback=lambda model: {"odd": object()}).fit(X, B)
    with pytest.warns(UserWarning, match="the trace is not saved") as caught:
        model.save(tmp_path / "model.npz")
    assert caught[0].filename == __file__
    assert not hasattr(load(tmp_path / "model.npz"), "trace_")


def test_other_attributes_that_are_no_data_are_refused(tmp_path):
    model = KernelSVC().fit(X, B)
    model.extra_ = object()
    with pytest.raises(ValueError, match="cannot be saved to .*: extra_ is a object"):
        model.save(tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "model, names",
    [
        (
            KernelRegressorCV([0.1], cv=2),
            "alphas gammas epsilons cv scoring refit memory callback random_state".split(),
        ),
        (KernelSVCCV([1.0], cv=2), ["Cs"]),
        (PartialAUCClassifier((0.0, 0.5)), ["validation", "landmarks"]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_parameters_that_are_no_data_have_their_defaults_in_the_loaded_model(model, names, tmp_path):
    model.fit(X, B)
    expected = model.predict(X)
    for name in names:
        before = getattr(model, name)
        model.set_params(**{name: object()}).save(tmp_path / "model.npz")
        model.set_params(**{name: before})
        loaded = load(tmp_path / "model.npz")
        assert getattr(loaded, name) == getattr(type(model)(), name)
        np.testing.assert_array_equal(loaded.predict(X), expected)


def test_failed_save_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model.npz"
    model = KernelSVC().fit(X, Y)
    model.save(path)
    before = path.read_bytes()

    def full_disk(file, **arrays):
        file.write(b"half a file")
        raise OSError("No space left on device")

    monkeypatch.setattr(np, "savez", full_disk)
    with pytest.raises(OSError, match="No space"):
        model.save(path)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


# --- files that are not model files --------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path):
    """A good model file of sparse support vectors."""
    KernelSVC().fit(sparse.csr_array(SMALL), Y).save(tmp_path / "model.npz")
    return tmp_path / "model.npz"


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="absent.npz"):
        load(tmp_path / "absent.npz")


@pytest.mark.parametrize("content", [b"", b"hello", b"\x93NUMPY" + b"\0" * 50, b"PK\x03\x04" + b"\0" * 100])
def test_file_of_another_kind(tmp_path, content):
    (tmp_path / "model.npz").write_bytes(content)
    with pytest.raises(ValueError, match=r"model\.npz is not a model file"):
        load(tmp_path / "model.npz")


def test_folder_is_refused(tmp_path):
    with pytest.raises(ValueError, match="is not a model file"):
        load(tmp_path)


def test_a_file_that_may_not_be_read_is_not_called_truncated(path, monkeypatch):
    def refuse(*args, **options):
        raise PermissionError(13, "Permission denied", str(path))

    with monkeypatch.context() as patched, pytest.raises(PermissionError):
        patched.setattr("builtins.open", refuse)
        load(path)


def test_npz_without_header(tmp_path):
    np.savez(tmp_path / "model.npz", a=np.ones(3))
    with pytest.raises(ValueError, match=r"model\.npz is not a model file: .* without a kernbench header"):
        load(tmp_path / "model.npz")


def test_pickled_content_is_never_executed(tmp_path):
    class Trap:
        def __reduce__(self):
            return (open, (str(tmp_path / "sprung"), "w"))

    np.savez(tmp_path / "model.npz", header=np.array([Trap()], dtype=object))
    with pytest.raises(ValueError, match=r"model\.npz"):
        load(tmp_path / "model.npz")
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_truncated_file(path, share):
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(ValueError, match=r"model\.npz is not a model file.*truncated"):
        load(path)


def test_flipped_bytes_are_noticed(path):
    """For any flipped byte: an error that names the file, or (in unused bytes) the same model."""
    content = path.read_bytes()
    expected = load(path).decision_function(X)
    n_refused = 0
    for at in np.linspace(0, len(content) - 1, 150).astype(int):
        damaged = bytearray(content)
        damaged[at] ^= 0x55
        path.write_bytes(bytes(damaged))
        try:
            model = load(path)
        except ValueError as error:
            assert "model.npz" in str(error)
            n_refused += 1
        else:
            np.testing.assert_array_equal(model.decision_function(X), expected)
    assert n_refused > 100


def test_a_later_format_says_which_version_wrote_it(path):
    resaved(path, change=lambda arrays, header: header.update(format_version=2, kernbench="9.1"))
    with pytest.raises(ValueError, match=r"model\.npz has model format 2, written by kernbench 9\.1"):
        load(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays, header: header.update({"class": "os.system"}),
        lambda arrays, header: header.update({"class": ["KernelSVC"]}),
        lambda arrays, header: header.pop("params"),
        lambda arrays, header: header["params"].update(decision_function_shape="all"),
        lambda arrays, header: header["params"].update(break_ties="no"),
        lambda arrays, header: header["params"].update(unknown=True),
        lambda arrays, header: header["attributes"].pop("dual_coef_"),
        lambda arrays, header: header["attributes"].update(save=1),
        lambda arrays, header: header["attributes"].update(__class__="x"),
        lambda arrays, header: header["attributes"].update(n_features_in_=7),
        lambda arrays, header: header["attributes"].update(kernel_="rbf"),
        lambda arrays, header: header["attributes"]["kernel_"].update({"$kernel": "Callable"}),
        lambda arrays, header: header["attributes"]["kernel_"].update(sigma=-1.0),
        lambda arrays, header: header["attributes"].update(dtype_="float16"),
        lambda arrays, header: arrays.pop("dual_coef_"),
        lambda arrays, header: arrays.update(dual_coef_=arrays["dual_coef_"][:, 1:]),
        lambda arrays, header: arrays.update(dual_coef_=arrays["dual_coef_"] * np.nan),
        lambda arrays, header: arrays.update(dual_coef_=arrays["dual_coef_"].astype(str)),
        lambda arrays, header: arrays.update(n_support_=arrays["n_support_"][::-1] - 100),
        lambda arrays, header: arrays.update(classes_=arrays["classes_"][::-1]),
        lambda arrays, header: arrays.update(classes_=np.repeat(arrays["classes_"][:1], len(arrays["classes_"]))),
        lambda arrays, header: arrays.update(intercept_=arrays["intercept_"][:2]),
        lambda arrays, header: arrays.update({"support_vectors_.indices": arrays["support_vectors_.indices"] + 10**6}),
        lambda arrays, header: arrays.update({"support_vectors_.indptr": arrays["support_vectors_.indptr"][::-1]}),
        lambda arrays, header: arrays.update({"support_vectors_.data": arrays["support_vectors_.data"] + np.inf}),
    ],
)
def test_inconsistent_content_is_refused(path, change):
    resaved(path, change=change)
    with pytest.raises(ValueError, match=r"model\.npz") as caught:
        load(path)
    assert "or needs kernbench" not in str(caught.value)  # this version wrote it


def test_archive_member_that_claims_a_huge_shape(path):
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000,), }"
    header += b" " * (64 - (10 + len(header) + 1) % 64) + b"\n"
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("extra.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    with pytest.raises(ValueError, match=r"model\.npz"):
        load(path)


# --- files of earlier versions ------------------------------------------------------------------------------

HEADER_OF_0_1 = """
{"format": "kernbench model", "format_version": 1, "kernbench": "0.1.0", "class": "KernelSVC", "params":
{"C": 1.0, "cache_size": 500, "callback": null, "class_weight": null, "coef0": 0.0,
"decision_function_shape": "ovr", "degree": 3, "dtype": "auto", "fit_intercept": true, "gamma": "scale",
"kernel": {"$kernel": "Gaussian", "sigma": 1.5}, "max_iter": -1, "max_seconds": null, "random_state": null,
"solver": "smo", "solver_options": null, "tol": 0.001, "verbose": 0, "warm_start": false}, "attributes":
{"n_features_in_": 2, "classes_": {"$array": "classes_"}, "class_weight_": {"$array": "class_weight_"},
"dtype_": "float64", "kernel_": {"$kernel": "Gaussian", "sigma": 1.5}, "support_": {"$array": "support_"},
"n_support_": {"$array": "n_support_"}, "dual_coef_": {"$array": "dual_coef_"}, "intercept_": {"$array":
"intercept_"}, "support_vectors_": {"$array": "support_vectors_"}, "n_iter_": {"$array": "n_iter_"},
"n_kernel_evaluations_": 16, "converged_": true, "fit_status_": 0, "objective_": 0.36, "duality_gap_": 0.0,
"status_": "converged", "trace_": {"n_iter": [0, 2], "seconds": [0.0, 0.1], "objective": [0.0, 0.36]}}}
"""


def test_model_of_version_0_1_is_read(tmp_path):
    rows = np.array([[0.0, 0.0], [0.0, 1.0], [2.0, 2.0], [2.0, 3.0]])
    np.savez(
        tmp_path / "model.npz",
        header=np.array(HEADER_OF_0_1),
        classes_=np.array(["no", "yes"]),
        class_weight_=np.ones(2),
        support_=np.arange(4, dtype=np.int32),
        n_support_=np.array([2, 2], dtype=np.int32),
        dual_coef_=np.array([[-0.4, -1.0, 1.0, 0.4]]),
        intercept_=np.zeros(1),
        support_vectors_=rows,
        n_iter_=np.array([2]),
    )
    model = load(tmp_path / "model.npz")
    K = np.exp(-((rows[:, None] - rows) ** 2).sum(axis=2) / (2 * 1.5**2))
    np.testing.assert_allclose(model.decision_function(rows), K @ [-0.4, -1.0, 1.0, 0.4], rtol=1e-12)
    assert model.predict(rows).tolist() == ["no", "no", "yes", "yes"]
