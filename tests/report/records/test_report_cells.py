"""Which records may be compared by their times, and the order of data sets."""

from dataclasses import replace

import pytest

from kernbench.experiments import registry
from kernbench.experiments.declare import Metric, Scale, Setting
from kernbench.report.records.cells import cells_of, setup_of
from kernbench.report.records.export import error_rows


def test_a_setup_is_the_machine_and_the_code_whatever_the_commit(records):
    def setup(**changes):
        record = records.one()
        return setup_of(record | {"environment": record["environment"] | changes})

    assert setup() == setup(platform="other") != setup(git_commit="decaf")
    assert setup(code="a") == setup(code="a", git_commit="decaf") != setup(code="b")
    assert setup(blas="other") != setup() != setup(n_threads=64)


def test_data_sets_are_in_the_order_of_their_declaration(toy, records):
    settings = tuple(Setting(name, {}) for name in ("first", "second"))
    scales = {"paper": Scale(settings, repeats=1, time_limit=60)}
    experiment = replace(toy, scales=scales, claims=(), paper_numbers=())
    rows = [records.one(dataset=name) for name in ("my.svm", "second", "first")]
    assert records.results(experiment, rows).datasets == ["first", "second", "my.svm"]


def test_the_record_counts_that_was_begun_last_wherever_it_stands(records):
    old, new = (records.one(seconds=s, started=f"2024-05-0{s}T10:00:00+00:00") for s in (1, 2))
    failed = records.failure("smo", started="2024-05-03T10:00:00+00:00")
    for rows in ([old, new], [new, old]):
        (cells,) = cells_of(rows).values()
        (cell,) = cells.values()
        assert cell.ok == [new]
    (cells,) = cells_of([failed, new, old]).values()
    assert not cells["adult", "smo"].ok and cells["adult", "smo"].failed == [failed]


def test_the_error_of_a_fraction_is_1_minus_it_whatever_its_unit(toy, records, monkeypatch):
    rows = [records.one("smo")]
    rows[0]["metrics"]["pauc"] = 0.9
    for metric, error in (
        (Metric("pauc", "pAUC", "higher", ("metrics", "pauc"), "", 100.0), 0.1),
        (Metric("pauc", "AUC", "higher", ("metrics", "pauc"), "%", 100.0), 0.1),
        (Metric("pauc", "speed", "higher", ("metrics", "pauc"), "×"), -0.9),
    ):
        monkeypatch.setattr(registry, "EXPERIMENTS", (replace(toy, metrics=(metric, *toy.metrics)),))
        assert error_rows(rows)[0]["error"] == pytest.approx(error)
