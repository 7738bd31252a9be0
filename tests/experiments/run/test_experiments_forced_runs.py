"""Runs with more threads than cores: refused, or said so in every record."""

import pytest

from kernbench.experiments.run import Store, environment, run
from kernbench.report.page.provenance import environments
from kernbench.report.records.cells import setup_of


@pytest.fixture
def two_records(tmp_path, make_experiment, fake, monkeypatch):
    """A record of a run with two threads on two cores, and one of the same cell when there is one core alone."""
    experiment = make_experiment(fake("good"), threads=2)
    monkeypatch.setattr(environment, "n_cores", lambda: 2)
    run(experiment, results=tmp_path, force=True)
    monkeypatch.setattr(environment, "n_cores", lambda: 1)
    with pytest.raises(ValueError, match="or --force"):
        run(experiment, results=tmp_path)
    run(experiment, results=tmp_path, force=True)
    return Store(tmp_path).records("fake")


def test_a_forced_run_says_so_in_its_environment(two_records):
    usual, forced = (record["environment"] for record in two_records)
    assert "overcommitted" not in usual
    assert forced["overcommitted"] == "1 jobs × 2 threads on 1 cores"


def test_a_forced_record_is_another_measurement_and_its_times_are_compared_with_none(two_records):
    usual, forced = two_records
    assert usual["key"] != forced["key"]
    assert setup_of(usual) != setup_of({**forced, "environment": {**forced["environment"], "n_cores": 2}})


def test_the_report_shows_it(two_records):
    usual, forced = (dict(environments([record])[0][0]) for record in two_records)
    (label,) = forced.keys() - usual.keys()
    assert "MORE THREADS THAN CORES" in label and "2 threads on 1 cores" in forced[label]
