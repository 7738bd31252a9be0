"""The verdict on some records."""

import pytest

from kernbench.report.verdict.verdict import verdicts


@pytest.fixture
def advised(records):
    """The one verdict on some records."""

    def advised(toy, rows):
        (found,) = verdicts([records.results(toy, rows)])
        return found

    return advised
