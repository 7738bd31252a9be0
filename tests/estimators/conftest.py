"""Which of scikit-learn's checks run by default; problems of a fit that begin together."""

from pathlib import Path
from threading import Barrier

import pytest

from kernbench.estimators.fit.runs import Runs

HERE = Path(__file__).parent
TWIN = "check_estimator_sparse_matrix"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Of each file one estimator is checked with sparse matrices, too; all are with sparse arrays.

    These two are the slowest checks: each fits to fifteen formats, which all estimators read by the same function.
    """
    seen = set()
    for item in items:
        if item.name.endswith(f"-{TWIN}]") and HERE in item.path.parents:
            if item.path in seen:
                item.add_marker(pytest.mark.slow)
            seen.add(item.path)


@pytest.fixture
def begin_together(monkeypatch):
    """Let the first two problems of each fit begin when both have a thread; otherwise one may solve them all."""
    both, solve = Barrier(2), Runs._solve_path

    def wait_and_solve(runs, k, *arguments):
        if k < 2:
            both.wait(60.0)
        return solve(runs, k, *arguments)

    monkeypatch.setattr(Runs, "_solve_path", wait_and_solve)
