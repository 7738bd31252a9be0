"""`kernbench compare` on real runs: no false alarm, and every true one. By hand, with -m slow, on a quiet machine."""

from pathlib import Path

import pytest

from kernbench.experiments import registry
from kernbench.experiments.declare import Experiment, Method, Scale, Setting
from kernbench.experiments.declare import metrics as m
from kernbench.experiments.run import run
from kernbench.report.comparison import compare_sides, side_of_store
from kernbench.report.comparison.comparing import WORSE

TRIES, REPEATS = 20, 10


def declared(**params):
    """An experiment of one method on one data set."""
    setting = Setting("rows", {"name": "adult-like", "n_train": 800, "n_test": 200})
    return Experiment(
        name="probe",
        title="",
        paper="",
        methods=(Method("sbp", "sbp", "compared_fakes:Around", params, seed_param="random_state"),),
        scales={"quick": Scale((setting,), REPEATS, 600.0)},
        metrics=(m.FIT_SECONDS, m.PREDICT_SECONDS, m.TEST_ERROR, m.N_KERNEL_EVALUATIONS, m.PEAK_MEMORY),
        evaluate="compared_fakes:evaluate",
        threads=1,
        warm_up_rows=64,
    )


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """``measured(number, **params)``: the folder of a run; made once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parent))
        patch.setattr(registry, "EXPERIMENTS", (declared(),))
        home, done = tmp_path_factory.mktemp("runs"), {}

        def make(number, **params):
            place = (number, *params.items())
            if place not in done:
                done[place] = home / str(len(done))
                assert not run(declared(**params), results=done[place]).failed
            return done[place]

        yield make


def worse(first, second):
    """What compare calls worse: (data set, metric)."""
    outcome = compare_sides(side_of_store(first), side_of_store(second))
    noisy = [change.metric for change in outcome.having("noisy")]
    print(f"{[(c.dataset, c.metric) for c in outcome.having(WORSE)]}, noisy: {noisy}")
    return [(change.dataset, change.metric) for change in outcome.having(WORSE)]


@pytest.mark.slow
def test_two_runs_of_one_code_do_not_differ(measured):
    alarms = [worse(measured(k), measured(k + 1)) for k in range(TRIES)]
    assert alarms == [[]] * TRIES


@pytest.mark.slow
def test_a_solver_1_3_times_as_slow_is_found_in_nine_of_ten_tries(measured):
    found = [worse(measured(k), measured(k, factor=1.3)) for k in range(10)]
    assert sum(bool(changes) for changes in found) >= 9
    assert {metric for changes in found for _, metric in changes} == {"fit_seconds"}


@pytest.mark.slow
def test_one_more_kernel_evaluation_is_found_in_every_try(measured):
    for k in range(10):
        found = worse(measured(k), measured(k, more=1))
        assert {metric for _, metric in found} >= {"n_kernel_evaluations"}
