"""Which of scikit-learn's checks run by default."""

from pathlib import Path

import pytest

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
