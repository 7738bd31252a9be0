"""An experiment without a race, and its findings on some claims."""

from dataclasses import replace

import pytest

from kernbench.experiments.declare import Bound, Metric, MetricTable, Scale
from kernbench.report.claims.findings import findings

RATE = Metric("rate", "rate", "higher", ("metrics", "rate"), "%", 100.0)


@pytest.fixture
def measured(toy):
    """The toy with claims of bounds and nothing of a race."""
    return replace(
        toy,
        metrics=(*toy.metrics, RATE),
        tables=(MetricTable("all", "All", ("test_error",)),),
        figures=(),
        scales={"paper": Scale((), repeats=1, time_limit=60)},
        paper_numbers=(),
        claims=(Bound("It errs little.", "smo", "test_error", 0.2),),
    )


@pytest.fixture
def found(records):
    """The findings on some claims."""

    def found(experiment, rows, *claims):
        return findings([records.results(replace(experiment, claims=claims), rows)])[0]

    return found


@pytest.fixture
def twice(records):
    """Two equal records of SMO on a data set, where nothing is left to chance."""
    return lambda dataset, **changes: [records.one(dataset=dataset, repeat=k, **changes) for k in range(2)]
