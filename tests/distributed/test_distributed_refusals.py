"""`Distributed` refuses estimators that need all rows at once, and data and labels that make no sense."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from kernbench import ROCSVC, DoublyStochasticDensityRatio, KernelSVC, LinearSVC, PartialAUCClassifier
from kernbench.datasets import write_svmlight
from kernbench.distributed import Distributed
from kernbench.distributed.cluster.collections import gathered
from kernbench.distributed.cluster.held_rows import describe
from kernbench.features import Nystroem


@pytest.mark.parametrize(
    "estimator, message",
    [
        (KernelSVC(solver="sdca"), "solver='smo' or 'scs'"),
        (LinearSVC(solver="sdca"), "solver='bundle'"),
        (LinearSVC(solver="sdca", intercept_scaling=np.inf), "intercept_scaling=inf.* choose solver='newton'"),
        (LinearSVC(solver="bundle", intercept_scaling=np.inf), "choose 'newton' or 'auto', or a finite"),
        (LinearSVC(solver="newton", intercept_scaling=np.inf, fit_intercept=False), "choose solver='bundle'"),
        (LogisticRegression(), "cannot be fitted block by block: use ROCSVC"),
        (ROCSVC("rbf", features="exact"), "features='nystroem' or 'random'"),
        (ROCSVC("precomputed"), "matrix of all pairs"),
        (ROCSVC("rbf", landmarks="leverage"), "'stratified', 'uniform' or 'kmeans'"),
        (ROCSVC(threshold_on=0.2), "adjust_threshold"),
        (PartialAUCClassifier(solver="agd-sbcd"), "solver='dca-exact'"),
        (PartialAUCClassifier(validation=0.2), r"a pair \(X, y\)"),
        (PartialAUCClassifier(features="exact"), "features='nystroem' or 'random'"),
        (ROCSVC(warm_start=True), "warm_start=True has no effect"),
        (make_pipeline(MinMaxScaler(), ROCSVC()), "step 'minmaxscaler'"),
        (make_pipeline(StandardScaler(), LinearSVC(solver="newton")), "solver='bundle'"),
        (make_pipeline(Nystroem("precomputed"), LinearSVC(solver="bundle")), "precomputed"),
        (make_pipeline(Nystroem(landmarks="leverage"), LinearSVC()), "choose 'uniform', 'stratified' or 'kmeans'"),
    ],
)
def test_an_estimator_that_needs_all_rows_is_refused_with_what_does_it(estimator, message, examples):
    X, y = examples(20, 3)
    with pytest.raises(ValueError, match=message):
        Distributed(estimator).fit([X], y)


def test_data_that_make_no_sense_are_refused(examples, monkeypatch):
    X, y = examples(20, 3)
    model = Distributed(ROCSVC())
    broken = X.copy()
    broken[5, 2] = np.nan
    for data, labels, message in (
        ([X[:5], broken[5:]], y, "column 2 of chunk 1 holds NaN, first in its row 0"),
        ([sparse.csr_matrix(X[:5]), sparse.csr_matrix(broken[5:])], y, "column 2 of chunk 1 holds NaN"),
        ([(X[:5], y[:5]), (broken[5:], y[5:])], None, "column 2 of chunk 1 holds NaN"),
        ([X], y[:9], "y has 9 entries and X has 20 rows"),
        ([X], np.ones(20), "greater than one; got 1 class"),
        ([X], np.arange(20) % 3, "Only binary classification"),
        ([X], None, "no labels"),
        ([np.full((20, 3), 1e200)], y, "too large for this kernel"),
        ([X[:5], np.ma.masked_greater(X[5:], 1.0)], y, "chunk 1 must have no masked entries"),
        ([(X, np.ma.masked_greater(y, 0))], None, "y of chunk 0 must have no masked entries"),
        ([X], np.ma.masked_greater(y, 0), "labels or weights must have no masked entries"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(data, labels)
    with pytest.raises(ValueError, match="sample_weight has 3 entries"):
        model.fit([X], y, np.ones(3))
    for estimator in (ROCSVC(), KernelSVC(solver="scs")):
        with pytest.raises(ValueError, match="every example of class '1' has weight 0"):
            Distributed(estimator).fit([X], y, (y < 0).astype(float))
    with pytest.raises(ValueError, match="StandardScaler takes dense rows here"):
        Distributed(make_pipeline(StandardScaler(), LinearSVC())).fit([sparse.csr_matrix(X)], y)
    with pytest.raises(ValueError, match="DoublyStochasticDensityRatio has no sample_weight: leave it out"):
        Distributed(DoublyStochasticDensityRatio()).fit([X], [X], np.ones(20))
    for memory in (-1, 1e9):
        with pytest.raises(ValueError, match="memory must be an integer of at least 0"):
            Distributed(ROCSVC(), memory=memory).fit([X], y)
    monkeypatch.setattr("kernbench.distributed.meta_estimator.available_bytes", lambda: 1000)
    with pytest.raises(ValueError, match="bytes a row"):
        model.fit([X], y)


def test_validation_rows_too_large_are_refused(examples):
    X, y = examples(200, 3)
    model = Distributed(PartialAUCClassifier((0.0, 0.5), validation=(1e200 * X[:50], y[:50])))
    with pytest.raises(ValueError, match="too large for this kernel in float64"):
        model.fit([X], y)


def test_masked_entries_of_collections_are_refused():
    dask_array, masked = pytest.importorskip("dask.array"), np.ma.masked_greater(np.arange(6.0), 4.0)
    with pytest.raises(ValueError, match="a chunk of X must have no masked entries"):
        describe(masked.reshape(3, 2))
    with pytest.raises(ValueError, match="an array of labels or weights must have no masked entries"):
        gathered(None, dask_array.from_array(masked, chunks=3))


@pytest.mark.parametrize("kind", ["npy", "svm", "pairs", "frames"])
@pytest.mark.parametrize("name", ["lables.npy", "clicked", 2])
def test_labels_that_no_file_and_no_column_can_be_are_refused(tmp_path, examples, kind, name):
    X, y = examples(100, 3)
    if kind == "npy":
        np.save(tmp_path / "x.npy", X)
    elif kind == "svm":
        write_svmlight(tmp_path / "x.svm", X, y)
    data = {"pairs": [(X, y)], "frames": [pytest.importorskip("pandas").DataFrame(X, columns=["a", "b", "clicked"])]}
    data = data.get(kind, tmp_path)
    with pytest.raises(ValueError, match="neither a file nor a column"):
        Distributed(ROCSVC()).fit(data, name)
    fitted = Distributed(ROCSVC()).fit([X], y)
    with pytest.raises(ValueError, match="neither a file nor a column"):
        fitted.score(data, name)
