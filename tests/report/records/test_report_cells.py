"""Which records may be compared by their times, and the order of data sets."""

from dataclasses import replace

from kernbench.experiments.declare import Scale, Setting
from kernbench.report.records.cells import setup_of


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
