"""Which records may be compared by their times."""

from kernbench.report.records.cells import setup_of


def test_a_setup_is_the_machine_and_the_code_whatever_the_commit(records):
    def setup(**changes):
        record = records.one()
        return setup_of(record | {"environment": record["environment"] | changes})

    assert setup() == setup(platform="other") != setup(git_commit="decaf")
    assert setup(code="a") == setup(code="a", git_commit="decaf") != setup(code="b")
    assert setup(blas="other") != setup() != setup(n_threads=64)
