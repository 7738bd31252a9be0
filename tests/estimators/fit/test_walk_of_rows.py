"""The rows that a fit is given pass through few files, each of which is handed them once.

A reader who asks what happens to X has so many files to open, and never returns to one. A visit is a call

* of a function in a file of kernbench from another file (a call within a file is none),
* with the rows among its arguments other than ``self``: X itself, an array of as many rows and columns made of it, or
  a record of them (`Rows`, `Examined`).

The walk ends where rows have become the data of a solver, a design: solvers' modules are compiled, and are given
nothing else. Objects that keep the rows, the task and the certificate, may read them again.
"""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import kernbench
from kernbench import ROCSVC, LinearSVC, PartialAUCClassifier, RankedRangeClassifier
from kernbench.estimators.fit.certificate import Examined
from kernbench.estimators.roc.rows import Rows

ROOT = Path(kernbench.__file__).parent
N_ROWS = 157  # no other array of a fit has so many rows and two dimensions


def visits(fit):
    """Return the files that `fit` visits, in order, as paths within kernbench."""
    files = []

    def holds_rows(value):
        is_array = isinstance(value, np.ndarray) or sparse.issparse(value)
        return isinstance(value, Rows | Examined) or (is_array and value.ndim == 2 and value.shape[0] == N_ROWS)

    def note_call(frame, event, _):
        code = frame.f_code
        path = Path(code.co_filename)
        if event != "call" or not path.is_relative_to(ROOT) or frame.f_back.f_code.co_filename == code.co_filename:
            return
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        if any(name != "self" and holds_rows(frame.f_locals.get(name)) for name in names):
            files.append(str(path.relative_to(ROOT)))

    sys.setprofile(note_call)
    try:
        fit()
    finally:
        sys.setprofile(None)
    return files


def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 3))
    return X, (X[:, 0] + rng.normal(size=N_ROWS) > 0.5).astype(int), rng.uniform(0.5, 2.0, N_ROWS)


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize(
    ("model", "most"),
    [
        (PartialAUCClassifier(random_state=0), 8),
        (PartialAUCClassifier(solver="agd-sbcd", max_iter=50, random_state=0), 8),
        (ROCSVC(random_state=0), 10),  # and the certificate
        (LinearSVC(random_state=0), 10),
        (LinearSVC(solver="sdca", warm_start=True, random_state=0), 10),
        (LinearSVC(intercept_scaling=np.inf), 10),  # a centre instead of the certificate
        (RankedRangeClassifier(random_state=0), 12),  # and a centre, a constant column and the range of the weights
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "fit") else "",
)
def test_rows_visit_few_files_and_none_twice(model, most, is_weighted):
    X, y, weights = data()
    files = visits(lambda: model.fit(X, y, weights if is_weighted else None))
    assert "validation/rows.py" in files  # they are checked: the trace sees calls
    assert len(files) == len(set(files)), files
    assert len(files) <= most, files


def test_each_class_against_the_rest_adds_its_design_and_its_certificate():
    X, y, _ = data()
    files = visits(lambda: LinearSVC(random_state=0).fit(X, y + (X[:, 1] > 0)))
    of_a_class = files[-3:]
    assert of_a_class[:2] == ["solvers/design/__init__.py", "estimators/fit/certificate.py"]
    assert files[-9:] == 3 * of_a_class
    assert len(files[:-6]) == len(set(files)) <= 10, files


def test_a_file_that_is_visited_twice_is_seen():
    from kernbench.kernels.domain import largest_entry
    from kernbench.validation.arrays import check_indices

    X, _, _ = data()
    seen = visits(lambda: (largest_entry(X), check_indices(X), largest_entry(X)))
    assert seen == ["kernels/domain.py", "validation/arrays.py", "kernels/domain.py"]
