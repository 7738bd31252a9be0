"""Rows: indices out of bounds and NaN are refused wherever rows come in, and valid matrices of any format pass."""

import numpy as np
import pytest
from scipy import sparse

from kernbench import KernelSVC, LinearSVC, closed_form_limit
from kernbench._models import MODELS
from kernbench.features import feature_block
from kernbench.kernels import Gaussian, Hellinger, Laplacian, Linear
from kernbench.kernels.rows import KernelRows
from kernbench.validation.arrays import check_finite, check_indices, csr_from_parts

N, D = 40, 6
Y = np.arange(N) % 2


@pytest.fixture
def X():
    return sparse.random(N, D, density=0.5, format="csr", random_state=0)


def damaged(X, what):
    """A copy of X with one fault."""
    X = X.copy()
    if what == "too large":
        X.indices[7] = X.shape[1]
    elif what == "far too large":
        X.indices[-1] = 10**9
    elif what == "negative":
        X.indices[0] = -1
    elif what == "decreasing":
        X.indptr[3] = X.indptr[2] - 1
    elif what == "beyond the end":
        X.indices = X.indices[:-3]
    elif what == "not from 0":
        X.indptr[0] = 1
    return X


FAULTS = ("too large", "far too large", "negative", "decreasing", "beyond the end", "not from 0")
ENTRANCES = {
    **{f"{model.name}.fit": lambda X, model=model: model.load()().fit(X, Y) for model in MODELS},
    "KernelSVC.fit_chunks": lambda X: KernelSVC(solver="scs").fit_chunks([(X, Y)]),
    "closed_form_limit": lambda X: closed_form_limit(X, Y),
    "kernel(X)": lambda X: Gaussian(1.0)(X),
    "kernel(Z, X)": lambda X: Laplacian(1.0)(np.ones((2, D)), X),
    "Linear.diag": lambda X: Linear().diag(X),
    "Hellinger.diag": lambda X: Hellinger().diag(X),
    "KernelRows": lambda X: KernelRows(X, Linear()),
    "feature_block": lambda X: feature_block(0, 0, 8, X, Gaussian(1.0)),
}


@pytest.mark.parametrize("index", [np.int32, np.int64], ids=["int32", "int64"])
@pytest.mark.parametrize("entrance", ENTRANCES)
def test_indices_out_of_bounds_are_refused(X, entrance, index):
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    for fault in FAULTS:
        with pytest.raises(ValueError, match="is not a valid CSR matrix"):
            ENTRANCES[entrance](damaged(X, fault))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_indices_out_of_bounds_are_refused_after_the_fit(X, model):
    fitted = model.load()().fit(X, X if model.task == "ratio" else Y)
    method = getattr(fitted, {"transform": "transform", "ratio": "log_ratio"}.get(model.task, "predict"))
    with pytest.raises(ValueError, match="is not a valid CSR matrix"):
        method(damaged(X, "far too large"))


@pytest.mark.parametrize("layout", ["csr", "csc", "bsr"])
@pytest.mark.parametrize("kind", ["matrix", "array"])
def test_the_message_names_the_place(layout, kind):
    """SciPy builds such a matrix without a complaint."""
    make = getattr(sparse, f"{layout}_{kind}")
    one = np.ones((3, 1, 1)) if layout == "bsr" else np.ones(3)
    matrix = make((one, np.array([0, 5, 1]), np.array([0, 1, 3, 3])), shape=(2, 3) if layout == "csc" else (3, 2))
    place = "column 1 has the row index 5" if layout == "csc" else "row 1 has the column index 5"
    with pytest.raises(ValueError, match=f"X is not a valid {layout.upper()} matrix: {place}"):
        check_indices(matrix)
    with pytest.raises(ValueError, match="is not a valid"):
        LinearSVC().fit(matrix, np.arange(matrix.shape[0]) % 2)


@pytest.mark.parametrize("layout", ["csr", "csc", "bsr", "coo", "lil", "dok", "dia"])
def test_valid_matrices_of_any_format_pass(X, layout):
    for matrix in (
        X.asformat(layout),
        sparse.csr_array(X).asformat(layout),
        sparse.csr_matrix((N, D)).asformat(layout),
    ):
        check_indices(matrix)
    np.testing.assert_allclose(Gaussian(1.0)(X.asformat(layout)), Gaussian(1.0)(X.toarray()))


@pytest.mark.parametrize("column", [-1, D, 10**6])
def test_lists_with_indices_out_of_bounds_are_refused_before_they_are_converted(X, column):
    matrix = X.tolil()
    matrix.rows[3], matrix.data[3] = [column], [1.0]
    for take in (check_indices, Gaussian(1.0), lambda rows: LinearSVC().fit(rows, Y)):
        with pytest.raises(ValueError, match="row 3 must have as many column indices as values, from 0 to 5"):
            take(matrix)
    matrix.rows[3] = [0, 1]
    with pytest.raises(ValueError, match="as many column indices as values"):
        check_indices(matrix)


def test_indices_of_the_other_byte_order_are_read(X):
    """As in archives that were written on another machine."""
    indices, indptr = (part.astype(part.dtype.newbyteorder()) for part in (X.indices, X.indptr))
    np.testing.assert_array_equal(csr_from_parts(X.data, indices, indptr, X.shape).toarray(), X.toarray())
    indices[3] = D
    with pytest.raises(ValueError, match=f"has the column index {D}"):
        csr_from_parts(X.data, indices, indptr, X.shape)


def test_entries_past_the_end_of_the_last_row_do_not_matter(X):
    roomy = X.copy()
    roomy.indices, roomy.data = np.append(X.indices, [10**6]), np.append(X.data, [1.0])
    check_indices(roomy)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("layout", ["csr", "csc"])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_models_ignore_room_behind_the_last_entry(X, model, layout):
    """It was reserved, and may hold anything."""

    def fitted(rows):
        estimator = model.load()()
        seeded = {"random_state": 0} if "random_state" in estimator.get_params() else {}
        return estimator.set_params(**seeded).fit(rows, rows if model.task == "ratio" else Y)

    X = X.asformat(layout)
    roomy = X.copy()
    roomy.data = np.append(X.data, [np.nan, 7.0])
    roomy.indices = np.append(X.indices, [0, 1]).astype(X.indices.dtype)
    found, expected = fitted(roomy), fitted(X)
    method = next(name for name in ("decision_function", "predict", "transform", "log_ratio") if hasattr(found, name))
    np.testing.assert_array_equal(*(as_array(getattr(of, method)(roomy)) for of in (found, expected)))
    assert len(roomy.data) == len(X.data) + 2, "the caller's matrix was changed"


def as_array(values):
    return values.toarray() if sparse.issparse(values) else values


def test_a_matrix_that_holds_an_entry_twice_is_not_changed_by_a_fit():
    X = sparse.csr_matrix((np.ones(5), np.array([1, 1, 0, 0, 2]), np.array([0, 2, 3, 5])), shape=(3, 3))
    model = KernelSVC().fit(X, [0, 1, 1])
    assert X.data.tolist() == [1.0] * 5 and X.indices.tolist() == [1, 1, 0, 0, 2]
    np.testing.assert_allclose(model.decision_function(X), model.decision_function(X.toarray()))


def test_blocks_of_rows_are_counted_in_blocks():
    matrix = sparse.bsr_matrix((np.ones((1, 2, 3)), np.array([1]), np.array([0, 1, 1])), shape=(4, 6))
    check_indices(matrix)
    matrix.indices[0] = 2
    with pytest.raises(ValueError, match="column indices go from 0 to 1"):
        check_indices(matrix)


def test_fewer_values_than_indices_are_refused(X):
    X.data = X.data[:-1]
    with pytest.raises(ValueError, match="end within indices and data"):
        check_indices(X)


def test_blocks_that_do_not_divide_a_matrix_are_refused():
    matrix = sparse.bsr_matrix((np.ones((1, 2, 3)), np.array([1]), np.array([0, 1, 1])), shape=(4, 6))
    matrix._shape = (5, 6)
    with pytest.raises(ValueError, match="do not divide a matrix of shape"):
        check_indices(matrix)


@pytest.mark.parametrize(
    "part, value, said",
    [
        ("col", [0, 9, 2], "entry 1 has the column index 9, but column indices go from 0 to 2"),
        ("row", [0, 1, -1], "entry 2 has the row index -1, but row indices go from 0 to 1"),
        ("data", [1.0, 1.0], "its arrays row, col and data differ in length"),
    ],
)
def test_coordinates_out_of_bounds_are_refused_before_they_are_converted(part, value, said):
    matrix = sparse.coo_matrix((np.ones(3), ([0, 1, 1], [0, 1, 2])), shape=(2, 3))
    check_indices(matrix)
    setattr(matrix, part, np.array(value))
    with pytest.raises(ValueError, match=f"X is not a valid COO matrix: {said}"):
        check_indices(matrix)


@pytest.mark.parametrize(
    "offsets, said", [([0, 0], "distinct and between"), ([0, 2**31], "distinct and between"), ([0], "as many"),
                      ([0.0, 1.0], "as many integer offsets as diagonals")]
)  # fmt: skip
def test_diagonals_that_are_none_are_refused(offsets, said):
    matrix = sparse.dia_matrix((np.ones((2, 3)), [0, 1]), shape=(3, 3))
    check_indices(matrix)
    matrix.offsets = np.array(offsets)
    with pytest.raises(ValueError, match=f"X is not a valid DIA matrix: .*{said}"):
        check_indices(matrix)


def test_blocks_of_no_size_are_refused():
    matrix = sparse.bsr_matrix((4, 6), blocksize=(2, 3))
    matrix.data = np.empty((0, 0, 3))
    with pytest.raises(ValueError, match=r"blocks of shape \(0, 3\) do not divide a matrix"):
        check_indices(matrix)


# --- NaN ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix, np.asfortranarray], ids=["dense", "CSR", "Fortran"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", [Gaussian(1.0), Laplacian(1.0), Linear(), Gaussian(1.0) + Linear()], ids=str)
def test_nan_is_refused_by_a_kernel(convert, dtype, kernel):
    X = np.ones((5, 4), dtype=dtype)
    Z = X.copy()
    Z[3, 2] = np.nan
    with pytest.raises(ValueError, match="^X contains NaN: column 2 holds NaN, first in row 3"):
        kernel(convert(Z), X)
    with pytest.raises(ValueError, match="^Z contains NaN: column 2 holds NaN, first in row 3"):
        kernel(X, convert(Z))
    with pytest.raises(ValueError, match="^X contains NaN"):
        kernel(convert(Z))


def test_finite_entries_pass_however_large():
    for X in (np.empty((0, 3)), np.ones((2, 2), dtype=int), np.full((2, 2), 1e308), sparse.csr_matrix((3, 3))):
        check_finite(X)


def test_estimators_name_the_column_of_nan(X):
    X.data[0] = np.nan
    with pytest.raises(ValueError, match=f"column {X.indices[0]} holds NaN, first in row 0"):
        KernelSVC().fit(X, Y)


def test_names_of_columns_are_forgotten_with_an_array(X):
    pandas = pytest.importorskip("pandas")
    rows = X.toarray()
    model = KernelSVC().fit(pandas.DataFrame(rows, columns=[f"c{j}" for j in range(D)]), Y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(rows)
    assert not hasattr(model.fit(rows, Y), "feature_names_in_")
