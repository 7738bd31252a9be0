"""Laws of the Nyström map."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.kernel_approximation import Nystroem as Peer
from sklearn.metrics.pairwise import rbf_kernel
from threadpoolctl import threadpool_limits

from kernbench.features import Nystroem, _transformer
from kernbench.features.nystroem._root_products import multiply, multiply_triangular
from kernbench.features.nystroem._roots import cholesky_root, eigen_root, symmetric_root
from kernbench.kernels import Gaussian, Laplacian, Polynomial

X = np.random.default_rng(0).normal(size=(200, 3))
Y = np.random.default_rng(1).integers(0, 3, size=200)
KERNELS = {"gaussian": Gaussian(1.5), "laplacian": Laplacian(2.0), "polynomial": Polynomial(2, 1.0, 0.3)}
CHOICES = ["uniform", "stratified", "kmeans", "leverage"]
ROOTS = ["cholesky", "eigen", "symmetric"]


@pytest.fixture(params=ROOTS)
def root(request):
    return request.param


@pytest.fixture(params=KERNELS.values(), ids=KERNELS)
def kernel(request):
    return request.param


# --- approximation -----------------------------------------------------------------------------------


def test_exact_with_all_landmarks(kernel, root):
    """The sheet's figure for a Gaussian of 1.5 and 200 rows of three features: 1.7e-9."""
    features = Nystroem(kernel, 200, root=root, random_state=0).fit_transform(X)
    K = kernel(X)
    assert np.abs(features @ features.T - K).max() < 1e-8 * np.abs(K).max()


def test_exact_where_one_row_is_a_landmark(kernel, root):
    model = Nystroem(kernel, 20, root=root, random_state=0).fit(X)
    features = model.transform(X)
    np.testing.assert_allclose(
        features @ features[model.landmark_indices_].T, kernel(X, X[model.landmark_indices_]), atol=1e-8
    )


@pytest.mark.parametrize("choice", CHOICES)
def test_error_is_positive_semi_definite(kernel, root, choice):
    features = Nystroem(kernel, 20, landmarks=choice, root=root, random_state=0).fit(X, Y).transform(X)
    K = kernel(X)
    assert np.linalg.eigvalsh(K - features @ features.T)[0] > -1e-8 * np.abs(K).max()


def test_inner_products_are_those_of_scikit_learn(root):
    """Its features differ by a rotation. Its landmarks are passed as training rows."""
    landmarks = X[:40]
    peer = Peer(kernel="laplacian", gamma=0.5, n_components=40, random_state=0).fit(landmarks).transform(X)
    ours = Nystroem("laplacian", 40, gamma=0.5, root=root).fit(landmarks).transform(X)
    np.testing.assert_allclose(ours @ ours.T, peer @ peer.T, atol=1e-9)


def test_inner_products_do_not_depend_on_the_root(kernel):
    first, *others = (Nystroem(kernel, 30, root=root, random_state=0).fit_transform(X) for root in ROOTS)
    for other in others:
        np.testing.assert_allclose(first @ first.T, other @ other.T, atol=1e-7)


def test_more_landmarks_are_closer():
    errors = []
    for m in (10, 40, 100, 200):
        features = Nystroem(Gaussian(1.5), m, random_state=0).fit_transform(X)
        errors.append(np.trace(Gaussian(1.5)(X) - features @ features.T))
    assert errors[0] > 2 * errors[1] > 4 * errors[2] > 8 * errors[3]


def test_leading_columns_of_the_triangular_root_are_a_smaller_map():
    model = Nystroem(Gaussian(1.5), 30, random_state=0).fit(X)
    smaller = Nystroem(Gaussian(1.5), 10).fit(model.landmarks_[:10])
    leading, small = model.transform(X)[:, :10], smaller.transform(X)
    np.testing.assert_allclose(leading @ leading.T, small @ small.T, atol=1e-9)
    assert np.all(np.tril(model.normalization_, -1) == 0)


def test_eigenvectors_are_ordered_and_orthogonal_on_the_landmarks():
    model = Nystroem(Gaussian(1.5), 30, root="eigen", random_state=0).fit(X)
    assert np.all(np.diff(model.eigenvalues_) < 0)
    on_landmarks = model.transform(model.landmarks_)
    np.testing.assert_allclose(on_landmarks.T @ on_landmarks, np.diag(model.eigenvalues_), atol=1e-9)


# --- rank -----------------------------------------------------------------------------------------------------


def test_columns_are_the_rank(root):
    symmetric = root == "symmetric"  # whose columns are the landmarks
    assert Nystroem("linear", 50, root=root, random_state=0).fit_transform(X).shape[1] == (50 if symmetric else 3)
    repeated = np.repeat(X[:7], 20, axis=0)
    model = Nystroem(Gaussian(1.5), 140, root=root).fit(repeated)
    features = model.transform(repeated)
    assert features.shape[1] == (140 if symmetric else 7)
    assert np.linalg.matrix_rank(features, tol=1e-6) == 7
    np.testing.assert_allclose(features @ features.T, Gaussian(1.5)(repeated), atol=1e-9)


def test_rank_tol_cuts_the_spectrum():
    K = Gaussian(3.0)(X)
    values = np.linalg.eigvalsh(K)
    for tol in (1e-2, 1e-4, 1e-6):
        model = Nystroem(Gaussian(3.0), 200, root="eigen", rank_tol=tol).fit(X)
        assert model.normalization_.shape[1] == np.sum(values > tol * values[-1])


def test_equal_rows_make_one_column(root):
    rows = np.full((30, 2), 3.0)
    for choice in CHOICES:
        model = Nystroem(Gaussian(1.0), 10, landmarks=choice, root=root, random_state=0)
        features = model.fit(rows, np.arange(30) % 2).transform(rows)
        assert features.shape == (30, 10 if root == "symmetric" else 1)
        np.testing.assert_allclose(features @ features.T, 1.0, rtol=1e-12)


def test_zero_kernel_makes_a_column_of_zeros(root):
    features = Nystroem("linear", 5, root=root).fit_transform(np.zeros((8, 3)))
    np.testing.assert_array_equal(features, np.zeros((8, 5 if root == "symmetric" else 1)))


# --- invariances ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "choice, root, dtype",
    [
        *((choice, "eigen", np.float32) for choice in CHOICES),
        ("stratified", "eigen", np.float64),
        ("uniform", "cholesky", np.float32),
        ("leverage", "cholesky", np.float64),
    ],
)
def test_threads_agnosticism(choice, root, dtype):
    rows = np.random.default_rng(0).normal(size=(1100, 8)).astype(dtype)
    labels = np.arange(1100) % 3

    def run(n_threads):
        with threadpool_limits(n_threads):
            model = Nystroem("rbf", 90, landmarks=choice, root=root, gamma="median", random_state=0)
            return model.fit(rows, labels).transform(rows)

    one = run(1)
    for n_threads in (2, 3):
        np.testing.assert_array_equal(run(n_threads), one)


def test_chunk_size_agnosticism(kernel, root, monkeypatch):
    model = Nystroem(kernel, 20, root=root, random_state=0).fit(X)
    whole = model.transform(X)
    monkeypatch.setattr(_transformer, "CHUNK_BYTES", 1000)
    monkeypatch.setattr(_transformer, "MIN_CHUNK_ROWS", 7)
    np.testing.assert_allclose(model.transform(X), whole, rtol=1e-10, atol=1e-12)


def wide_csr(X):
    matrix = sparse.csr_array(X)
    parts = (matrix.data, matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64))
    return sparse.csr_array(parts, matrix.shape)


FORMATS = {
    "Fortran": np.asfortranarray,
    "every other row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "csr_matrix": sparse.csr_matrix,
    "csr of 64-bit indices": wide_csr,
    "csc": sparse.csc_array,
    "list": lambda X: X.tolist(),
}


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)
@pytest.mark.parametrize("choice", CHOICES)
def test_format_agnosticism(choice, form):
    rows = np.where(np.abs(X) > 0.8, X, 0.0)
    models = [Nystroem("rbf", 12, landmarks=choice, random_state=0).fit(given, Y) for given in (rows, form(rows))]
    dense, other = (model.transform(given) for model, given in zip(models, (rows, form(rows))))
    assert sparse.issparse(models[1].landmarks_) == sparse.issparse(form(rows))
    np.testing.assert_allclose(dense @ dense.T, other @ other.T, atol=1e-9)


def test_read_only_rows():
    rows = X.copy()
    rows.setflags(write=False)
    model = Nystroem(n_landmarks=9, random_state=0)
    np.testing.assert_array_equal(model.fit_transform(rows), model.fit_transform(X))


def test_single_precision(root):
    """Rounding errors of kernel values are not amplified even if the kernel matrix is nearly singular."""
    for kernel in (Gaussian(10.0), Laplacian(2.0), Polynomial(3, 1.0, 0.1)):
        model = Nystroem(kernel, 150, root=root, random_state=0)
        double, single = (model.fit_transform(X.astype(dtype)) for dtype in (np.float64, np.float32))
        assert single.dtype == np.float32 and double.dtype == np.float64
        single = single.astype(np.float64)
        assert np.abs(single @ single.T - double @ double.T).max() < 2e-4 * np.abs(kernel(X)).max()


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
def test_float32_rows_of_a_map_of_float64_rows_are_as_accurate_as_their_entries(root, storage):
    """The root amplified the rounding errors of float32 kernel values, up to 1e5 times."""
    rows = np.random.default_rng(1).normal(size=(600, 2)).astype(np.float32)
    model = Nystroem(Gaussian(3.0), 300, root=root, random_state=0).fit(storage(rows.astype(np.float64)))
    single, double = (model.transform(storage(rows.astype(dtype))) for dtype in (np.float32, np.float64))
    assert single.dtype == np.float32
    np.testing.assert_array_equal(single, double.astype(np.float32))


def test_precomputed_kernel_is_the_kernel(root):
    K = Gaussian(1.5)(X)
    for choice in ("uniform", "stratified", "leverage"):
        settings = {"landmarks": choice, "root": root, "random_state": 0}
        one = Nystroem(Gaussian(1.5), 20, **settings).fit(X, Y).transform(X)
        other = Nystroem("precomputed", 20, **settings).fit(K, Y).transform(K)
        # All diagonal entries are 1 but for rounding, and the order of Cholesky's pivots depends on it.
        np.testing.assert_allclose(one @ one.T, other @ other.T, atol=1e-9)


def test_function_is_the_kernel(root):
    def function(A, B):
        return np.exp(-np.square(A[:, None] - B[None]).sum(axis=2) / (2 * 1.5**2))

    for choice in CHOICES:
        settings = {"landmarks": choice, "root": root, "random_state": 0}
        one = Nystroem(Gaussian(1.5), 20, **settings).fit(X, Y).transform(X)
        other = Nystroem(function, 20, **settings).fit(X, Y).transform(X)
        np.testing.assert_allclose(one @ one.T, other @ other.T, atol=1e-9)


def test_gamma_does_not_change_the_draw_of_landmarks():
    chosen = [
        np.sort(Nystroem("rbf", 10, gamma=gamma, random_state=3).fit(X).landmark_indices_)
        for gamma in ("scale", "median", 0.3)
    ]
    np.testing.assert_array_equal(chosen[0], chosen[1])
    np.testing.assert_array_equal(chosen[0], chosen[2])


def test_seed_draws_the_landmarks():
    def features(seed):
        return Nystroem(n_landmarks=10, random_state=seed).fit(X).landmark_indices_.tolist()

    assert features(0) == features(0) != features(1)
    assert features(np.random.RandomState(5)) == features(np.random.RandomState(5))
    generator = np.random.default_rng(5)
    assert features(generator) != features(generator)


# --- the products ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 1e-5), (np.float64, 1e-13)])
@pytest.mark.parametrize("n, m, r", [(0, 3, 2), (1, 1, 1), (255, 17, 5), (256, 8, 8), (700, 33, 40)])
def test_products_with_a_root(n, m, r, dtype, tolerance):
    rng = np.random.default_rng(0)
    values, full = rng.normal(size=(n, m)).astype(dtype), rng.normal(size=(m, r)).astype(dtype)
    out = np.empty((n, r), dtype=dtype)
    multiply(full, values, out)
    np.testing.assert_allclose(out, values.astype(float) @ full, rtol=0, atol=tolerance * m)
    triangle = rng.normal(size=(m, m)).astype(dtype)  # what is below the diagonal is not read
    expected = values.astype(float) @ np.triu(triangle)
    multiply_triangular(triangle, values)
    np.testing.assert_allclose(values, expected, rtol=0, atol=tolerance * m)


def test_products_refuse_shapes_that_do_not_fit():
    with pytest.raises(ValueError, match="cannot multiply 3 columns"):
        multiply(np.ones((4, 2)), np.ones((5, 3)), np.ones((5, 2)))
    with pytest.raises(ValueError, match="cannot multiply 3 columns"):
        multiply_triangular(np.ones((4, 4)), np.ones((5, 3)))


# --- memory ---------------------------------------------------------------------------------------------------

PEAK = """
import numpy as np
from kernbench.features import Nystroem
X = np.random.default_rng(0).normal(size=(30_000, 50))
Nystroem("rbf", 400, random_state=0).fit(X[:1000]).transform(X[:5000])
before = peak()
features = Nystroem("rbf", 400, random_state=0).fit_transform(X)
print(peak() - before - features.nbytes)
"""


def test_memory_is_the_output_and_some_chunks(run_with_peak):
    """The kernel values of all rows at once would be another 96 MB."""
    assert int(run_with_peak(PEAK, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")) < 40e6


def test_symmetric_root_is_scikit_learns_on_well_conditioned_landmarks():
    X = np.random.default_rng(5).normal(size=(60, 4))
    ours = Nystroem(Gaussian(1.0), 60, root="symmetric", random_state=0).fit(X)
    K = rbf_kernel(ours.landmarks_, gamma=0.5)
    R = ours.normalization_
    np.testing.assert_array_equal(R, R.T)
    np.testing.assert_allclose(R @ K @ R, np.eye(60), atol=1e-7)
    theirs = Peer(gamma=0.5, n_components=60, random_state=0).fit(X)
    order = np.argsort(ours.landmark_indices_)
    expected = theirs.transform(X)[:, np.argsort(theirs.component_indices_)]
    np.testing.assert_allclose(ours.transform(X)[:, order], expected, atol=1e-7)


def test_features_of_the_symmetric_root_on_the_landmarks_are_the_root_of_their_kernel():
    X = np.random.default_rng(5).normal(size=(40, 3))
    model = Nystroem(Gaussian(1.0), 40, root="symmetric").fit(np.concatenate([X[:20], X[:20]]))
    Z = model.transform(model.landmarks_)
    assert Z.shape == (40, 40) and len(model.eigenvalues_) == 20  # every row twice
    np.testing.assert_allclose(Z, Z.T, atol=1e-9)
    np.testing.assert_allclose(Z @ Z, rbf_kernel(model.landmarks_, gamma=0.5), atol=1e-9)


def test_symmetric_root_by_hand():
    """The kernel is 2^-(x - z)² of one column."""
    kernel, rows = Gaussian((0.5 / np.log(2.0)) ** 0.5), np.array([[0.0], [1.0], [2.0]])
    model = Nystroem(kernel, landmarks=rows[:2], root="symmetric").fit(rows)
    found = model.transform(rows)
    np.testing.assert_allclose(model.normalization_, [[1.11535507, -0.29885849], [-0.29885849, 1.11535507]], atol=5e-9)
    np.testing.assert_allclose(found[2], [-0.07971955, 0.53899888], atol=5e-9)
    np.testing.assert_allclose(found @ found.T, [[1, 0.5, 0.0625], [0.5, 1, 0.5], [0.0625, 0.5, 0.296875]], atol=1e-12)
    twice = Nystroem(kernel, landmarks=rows[[0, 0]], root="symmetric").fit(rows)
    np.testing.assert_allclose(twice.normalization_, np.full((2, 2), 0.35355339), atol=5e-9)
    np.testing.assert_allclose(twice.transform(rows[:1]), [[0.70710678, 0.70710678]], atol=5e-9)


@pytest.mark.parametrize("root", [eigen_root, symmetric_root, cholesky_root])
@pytest.mark.parametrize("K", [[[1.0, 2.0], [2.0, 1.0]], [[2.0, 0.0], [0.0, -1.0]], [[0.0, 1.0], [1.0, 0.0]]])
def test_a_root_of_a_matrix_that_is_not_semi_definite_warns(root, K):
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        root(np.array(K), 1e-10)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("root", [eigen_root, symmetric_root, cholesky_root])
def test_negative_eigenvalues_of_the_size_that_is_cut_are_not_warned_of(root):
    assert root(np.diag([1.0, -1e-3]), 1e-2).kept.size > 0


def test_the_eigen_root_of_single_rows_keeps_what_rank_tol_says():
    """Its columns are as accurate as those of double rows, which other roots of single rows are not."""
    X = np.random.default_rng(0).normal(size=(60, 2)).astype(np.float32)
    single, double = (Nystroem(Gaussian(3.0), 60, root="eigen").fit(rows) for rows in (X, X.astype(np.float64)))
    assert single.normalization_.shape == double.normalization_.shape
    assert single.normalization_.shape[1] > Nystroem(Gaussian(3.0), 60).fit(X).normalization_.shape[1]


def test_the_largest_entry_of_each_eigenvector_is_positive():
    A = np.random.default_rng(0).normal(size=(24, 24))
    matrix = eigen_root(A @ A.T, 1e-12).matrix
    assert matrix.shape == (24, 24) and np.all(matrix[np.abs(matrix).argmax(axis=0), np.arange(24)] > 0.0)
