"""What `kernbench compare` calls worse, better, noisy or not to be judged."""

from dataclasses import replace

import numpy as np
import pytest

from kernbench.experiments import registry
from kernbench.experiments.declare import Metric
from kernbench.report.comparison import as_data, as_markdown, compare_sides, side_of_commit, side_of_store
from kernbench.report.comparison.comparing import BETTER, DATA, FAILED, FEW, MACHINES, NOISY, SAME, UNDECIDED, WORSE
from kernbench.report.statistics import compare, compare_pairs

COUNTER = Metric("n_kernel_evaluations", "kernel evaluations", "lower", ("n_kernel_evaluations",), deterministic=True)
TIMES = (
    Metric("row_seconds", "time of a row", "lower", ("metrics", "row_seconds"), "µs", 1e6),
    Metric("time_ratio", "time over the peer's", "lower", ("metrics", "time_ratio"), "×"),
)
COUNTERS_RATIO = Metric("evaluations_ratio", "most over fewest", "lower", ("metrics", "ratio"), "×", deterministic=True)


@pytest.fixture
def declared(toy, monkeypatch):
    """The toy experiment with a counter, other times and ratios, and tolerances of a tenth."""
    tolerant = [replace(metric, tolerance=0.1) for metric in toy.metrics]
    monkeypatch.setattr(registry, "EXPERIMENTS", (replace(toy, metrics=(*tolerant, COUNTER, *TIMES, COUNTERS_RATIO)),))


@pytest.fixture
def compared(declared, write):
    """``compared(before, after)`` compares two lists of records."""

    def run(before, after, **options):
        sides = [side_of_store(write(rows, name=name)) for rows, name in ((before, "a"), (after, "b"))]
        return compare_sides(*sides, **options)

    return run


@pytest.fixture
def repeats(records):
    """``repeats(seconds, **changes)``: records of one method, a repeat for each number of seconds."""

    def make(seconds, method="smo", **changes):
        return [records.one(method, repeat=k, seconds=float(s), **changes) for k, s in enumerate(seconds)]

    return make


def verdict(outcome, metric):
    (found,) = [change.verdict for change in outcome.changes if change.metric == metric]
    return found


def times(rng, n=10, factor=1.0, noise=0.03):
    return factor * np.exp(noise * rng.standard_normal(n))


def test_the_same_records_do_not_differ(compared, repeats):
    rows = repeats(times(np.random.default_rng(0)))
    outcome = compared(rows, rows)
    assert {change.verdict for change in outcome.changes} == {SAME}
    assert {change.metric for change in outcome.changes} >= {"fit_seconds", "test_error", "n_kernel_evaluations"}
    assert not outcome.environment and not outcome.alone


def test_two_samples_of_one_distribution_raise_no_alarm(compared, repeats):
    rng = np.random.default_rng(1)
    for _ in range(20):
        assert not compared(repeats(times(rng)), repeats(times(rng))).having(WORSE, BETTER)


def test_a_slower_solver_is_found_with_ten_repeats(compared, repeats):
    rng = np.random.default_rng(2)
    found = [verdict(compared(repeats(times(rng)), repeats(times(rng, factor=1.3))), "fit_seconds") for _ in range(10)]
    assert found.count(WORSE) >= 9
    assert verdict(compared(repeats(times(rng, factor=1.3)), repeats(times(rng))), "fit_seconds") == BETTER


def test_a_significant_change_within_the_tolerance_is_none(compared, repeats):
    rng = np.random.default_rng(3)
    before, after = repeats(times(rng, noise=0.001)), repeats(times(rng, factor=1.05, noise=0.001))
    assert verdict(compared(before, after), "fit_seconds") == SAME
    assert verdict(compared(before, after, tolerance=0.02), "fit_seconds") == WORSE


@pytest.mark.parametrize("n_repeats", [1, 10])
def test_one_kernel_evaluation_more_is_always_found(compared, repeats, n_repeats):
    seconds = np.ones(n_repeats)
    after = repeats(seconds)
    after[-1]["n_kernel_evaluations"] += 1
    outcome = compared(repeats(seconds), after)
    assert verdict(outcome, "n_kernel_evaluations") == WORSE
    assert verdict(compared(after, repeats(seconds)), "n_kernel_evaluations") == BETTER


def test_counters_that_change_both_ways_are_judged_by_their_sum(compared, repeats):
    after = repeats(np.ones(2))
    for record, more in zip(after, (1, -5)):
        record["n_kernel_evaluations"] += more
    assert verdict(compared(repeats(np.ones(2)), after), "n_kernel_evaluations") == BETTER
    assert verdict(compared(after, repeats(np.ones(2))), "n_kernel_evaluations") == WORSE


def test_counters_of_a_method_with_a_time_budget_are_not_exact(compared, repeats):
    after = repeats(np.ones(2), "sbp-quarter")
    after[0]["n_kernel_evaluations"] += 1
    assert verdict(compared(repeats(np.ones(2), "sbp-quarter"), after), "n_kernel_evaluations") == FEW


def test_fewer_than_five_repeats_judge_counters_alone(compared, repeats):
    outcome = compared(repeats([1.0] * 4), repeats([9.0] * 4))
    assert verdict(outcome, "fit_seconds") == FEW
    assert verdict(outcome, "n_kernel_evaluations") == SAME


def test_times_that_scatter_by_a_quarter_are_noisy(compared, repeats):
    outcome = compared(repeats(np.linspace(1, 2, 10)), repeats(np.linspace(5, 10, 10)))
    assert verdict(outcome, "fit_seconds") == NOISY


@pytest.mark.parametrize("factor, expected", [(1.0, SAME), (1.3, WORSE)])
@pytest.mark.parametrize("stretch", [(1, 2), (3, 3.1)])
def test_times_on_a_shared_processor_are_judged_by_its_time(compared, records, factor, expected, stretch):
    """Noisy, or all longer than the processor's; the other side is as fast as its processor time."""
    rng = np.random.default_rng(4)

    def rows(factor, *stretch, **changes):
        own = times(rng, factor=factor)
        clock = zip(own * np.linspace(*stretch, 10), own)
        return [
            records.one("smo", repeat=k, seconds=float(wall)) | changes
            | {"seconds": {"fit": float(wall), "fit_cpu": float(cpu), "predict": 0.1}}
            for k, (wall, cpu) in enumerate(clock)
        ]  # fmt: skip

    outcome = compared(rows(1.0, *stretch), rows(factor, 1, 1))
    assert verdict(outcome, "fit_seconds") == expected
    if expected == WORSE:
        assert "fit\\_seconds (processor time)" in as_markdown(outcome)
    threads = {"environment": records.one()["environment"] | {"n_threads": 2}}
    rows_of_two = rows(1.0, *stretch, **threads), rows(factor, *stretch, **threads)
    assert not any(change.clock for change in compared(*rows_of_two).changes)


def test_times_of_two_machines_are_not_divided(compared, repeats, records):
    environment = records.one()["environment"] | {"processor": "Another CPU"}
    outcome = compared(repeats(np.ones(10)), repeats(np.full(10, 3.0), environment=environment))
    assert verdict(outcome, "fit_seconds") == MACHINES
    assert ("processor", "Test CPU", "Another CPU") in outcome.environment
    assert verdict(outcome, "n_kernel_evaluations") == MACHINES
    assert "times, memory and counters of two machines are not compared" in as_markdown(outcome)
    assert verdict(outcome, "test_error") == SAME  # accuracies can be compared


def test_what_older_records_do_not_tell_of_their_environment_is_a_dash(compared, repeats, records):
    newer = records.one()["environment"] | {"code": "ab12"}
    outcome = compared(repeats(np.ones(2)), repeats(np.ones(2), environment=newer))
    assert outcome.environment == [("code", "–", "ab12")]


def test_shares_of_two_machines_are_no_change(compared, records):
    """Two repeats were measured on a machine three times as fast before, and eight since; nothing has changed."""
    fast = records.one()["environment"] | {"processor": "Fast CPU"}

    def rows(n_slow, n_fast, factor=1.0):
        on = [({}, 3.0)] * n_slow + [({"environment": fast}, 1.0)] * n_fast
        noise = np.linspace(1, 1.02, len(on))
        return [records.one(repeat=k, seconds=factor * s * x, **c) for k, ((c, s), x) in enumerate(zip(on, noise))]

    outcome = compared(rows(10, 2), rows(8, 10))
    assert verdict(outcome, "fit_seconds") == SAME
    (change,) = [change for change in outcome.changes if change.metric == "fit_seconds"]
    assert (change.n_first, change.n_second) == (10, 8) and change.first == pytest.approx(change.second, rel=0.02)
    assert verdict(compared(rows(10, 2), rows(8, 10, 1.5)), "fit_seconds") == WORSE  # and not noisy


@pytest.mark.parametrize("years", [(2031, None), (None, 2031), (2031, 2031), (2031, 2001)])
@pytest.mark.parametrize("n_elsewhere", [8, 10])
def test_repeats_that_two_machines_have_measured_are_compared_on_one(compared, records, repeats, years, n_elsewhere):
    """Another machine measured the same repeats, later or earlier, on one side or on both: it hides nothing."""
    elsewhere = records.one()["environment"] | {"processor": "Another CPU"}

    def rows(seconds, year):
        seconds = seconds * np.linspace(1, 1.02, 10)
        if year is None:
            return repeats(seconds)
        more = repeats(9 * seconds[:n_elsewhere], environment=elsewhere, started=f"{year}-01-01T00:00:00+00:00")
        return [*repeats(seconds), *(record | {"key": f"elsewhere {k}"} for k, record in enumerate(more))]

    for factor, expected in ((1.0, SAME), (1.5, WORSE)):
        outcome = compared(rows(1.0, years[0]), rows(factor, years[1]))
        (change,) = [change for change in outcome.changes if change.metric == "fit_seconds"]
        assert change.verdict == expected and change.n_first == change.n_second == 10


@pytest.mark.parametrize("metric", [metric.name for metric in TIMES])
def test_short_times_and_ratios_of_times_are_judged_as_times(compared, records, metric):
    def rows(values, **changes):
        return [records.one(repeat=k, metrics={metric: float(value)}, **changes) for k, value in enumerate(values)]

    elsewhere = {"environment": records.one()["environment"] | {"processor": "Another CPU"}}
    assert verdict(compared(rows(np.ones(10)), rows(np.full(10, 3.0), **elsewhere)), metric) == MACHINES
    assert verdict(compared(rows(np.linspace(1, 2, 10)), rows(np.linspace(5, 10, 10))), metric) == NOISY
    slower = rows(np.linspace(1, 1.01, 10)), rows(np.linspace(1.3, 1.31, 10))
    assert verdict(compared(*slower), metric) == WORSE
    assert verdict(compared(*slower, tolerance=0.5), metric) == SAME


def test_a_ratio_of_counters_is_compared_exactly(compared, records):
    before, after = ([records.one(metrics={"ratio": value})] for value in (2.0, 2.001))
    assert verdict(compared(before, after, tolerance=0.5), "evaluations_ratio") == WORSE


def test_cells_on_data_that_have_changed_under_one_name_are_not_judged(compared, repeats, records):
    data = records.one()["data"] | {"checksum": "cd" * 32}
    outcome = compared(repeats(np.ones(10)), repeats(np.full(10, 3.0), data=data))
    assert {change.verdict for change in outcome.changes} == {DATA}
    assert "the data have changed under one name" in as_markdown(outcome)
    some = [*repeats(np.ones(10))[:9], *repeats(np.ones(10), data=data)[9:]]
    assert {change.verdict for change in compared(repeats(np.ones(10)), some).changes} == {DATA}


def test_a_worse_accuracy_is_found_repeat_by_repeat(compared, records):
    """The repeats differ from each other more than the two sides do."""
    errors = np.linspace(0.1, 0.3, 10)
    rows = [[records.one(repeat=k, error=f * e) for k, e in enumerate(errors)] for f in (1, 1.2)]
    assert verdict(compared(*rows), "test_error") == WORSE
    assert verdict(compared(*reversed(rows)), "test_error") == BETTER


def test_five_pairs_that_agree_decide_nothing_and_are_told(compared, records):
    """Their p value is 2⁻⁴ at the least."""
    rows = [[records.one(repeat=k, error=f * e) for k, e in enumerate(np.linspace(0.1, 0.3, 5))] for f in (1, 1.2)]
    assert verdict(compared(*rows), "test_error") == UNDECIDED


def test_cells_of_one_side_are_listed(compared, repeats, records):
    outcome = compared(repeats([1, 1]), [*repeats([1, 1]), records.one("sbp"), records.failure("libsvm")])
    assert [cell[1:] for cell in outcome.alone] == [("toy", "paper", "adult", "sbp")]


def test_two_commits_of_one_store(declared, write, repeats, records):
    environment = records.one()["environment"]
    old = repeats(np.ones(10), environment=environment | {"git_commit": "aaaa1111"})
    new = repeats(np.full(10, 2.0), environment=environment | {"git_commit": "aaaa2222"})
    folder = write([*old, *new])
    sides = [side_of_commit(folder, commit) for commit in ("aaaa1", "aaaa2")]
    assert verdict(compare_sides(*sides), "fit_seconds") == WORSE
    for wrong in ("aaaa", "bbbb", "a"):
        with pytest.raises(ValueError, match="aaaa1111, aaaa2222"):
            side_of_commit(folder, wrong)


def test_every_output_names_the_cell(compared, repeats):
    outcome = compared(repeats(times(np.random.default_rng(4))), repeats(np.full(10, 2.0)))
    assert "| toy \\[paper\\] adult / smo | fit\\_seconds |" in as_markdown(outcome)
    (change,) = [c for c in as_data(outcome)["changes"] if c["metric"] == "fit_seconds"]
    assert change["verdict"] == WORSE and change["ratio"] == pytest.approx(2, rel=0.1)
    assert change["test"]["low"] < 0  # of first - second


@pytest.mark.parametrize("n_repeats", [5, 10])
def test_a_change_among_many_tests_is_told_though_five_repeats_do_not_decide(compared, records, n_repeats):
    """Twelve cells of two times and more: 5 against 5 values have p values of at least .0079, 10 against 10 of 1e-5."""
    rng = np.random.default_rng(5)

    def side(factor):
        return [
            records.one(f"m{k}", repeat=r, seconds=float(factor * s))
            for k in range(12)
            for r, s in enumerate(times(rng, n_repeats))
        ]

    outcome = compared(side(1.0), side(3.0))
    found = {change.verdict for change in outcome.changes if change.metric == "fit_seconds"}
    assert found == ({WORSE} if n_repeats == 10 else {UNDECIDED})
    assert ("| not decided |" in as_markdown(outcome)) == (n_repeats == 5)
    again = compared(side(1.0), side(1.0))
    assert not again.having(WORSE, BETTER) and len(again.having(UNDECIDED)) <= 1


def test_the_least_p_values_are_those_of_separate_samples():
    for n in (5, 8, 10, 12):
        ascending = np.arange(1.0, n + 1)
        apart = compare(ascending, ascending + 100)
        assert apart.p_value == pytest.approx(apart.least_p_value)
        pairs = compare_pairs([(value, 2 * value) for value in ascending])
        assert pairs.p_value == pytest.approx(pairs.least_p_value)


@pytest.mark.parametrize("kept", [True, False], ids=["the old records are there", "another folder"])
def test_a_method_that_fails_now_became_worse(compared, repeats, records, kept):
    before = repeats(np.ones(3), started="2024-05-01T10:00:00+00:00")
    later = {"started": "2024-05-02T10:00:00+00:00"}
    after = [records.failure("smo", repeat=k, key=f"other code/{k}", **later) for k in range(3)]
    outcome = compared(before, [*before, *after] if kept else after)
    (change,) = outcome.having(WORSE)
    assert (change.metric, change.first, change.second, change.n_second) == (FAILED, 0, 3, 3)
    assert not outcome.alone and [c.metric for c in outcome.changes] == [FAILED]
    assert [c.metric for c in compared(after + before[:1], before).having(BETTER)] == [FAILED]
    more = [*before, records.failure("smo", repeat=5)]
    assert not any(c.metric == FAILED for c in compared(more, before).changes)  # that repeat was not run again
    some = compared(before, [*after[:1], *before[1:]])
    assert verdict(some, FAILED) == WORSE and verdict(some, "fit_seconds") == FEW


@pytest.mark.parametrize("order", [1, -1], ids=["failed later", "failed first"])
def test_a_failure_hides_no_success_of_the_same_measurement(compared, declared, write, repeats, records, order):
    """As in the report: a process that was killed is no property of code that has finished the same fit."""
    environment = records.one()["environment"] | {"git_commit": "aaaa1111"}
    days = [f"2024-05-0{day}T10:00:00+00:00" for day in (1, 2)][::order]
    fits = repeats(np.ones(3), started=days[0], environment=environment)
    killed = [records.failure("smo", repeat=k, started=days[1], environment=environment) for k in range(3)]
    outcome = compared(fits, [*fits, *killed])
    assert outcome.changes and {change.verdict for change in outcome.changes} <= {SAME, FEW}
    assert not any(change.metric == FAILED for change in outcome.changes)
    side = side_of_commit(write([*fits, *killed]), "aaaa1111")
    assert [record["status"] for record in side.records] == ["ok"] * 3


def test_a_commit_has_its_records_though_a_later_one_measured_the_same(declared, write, repeats, records):
    """Commits with the same code have the same keys."""
    environment = records.one()["environment"]
    rows = [
        record
        for day, commit in enumerate(("aaaa1111", "bbbb1111"), 1)
        for record in repeats([1.0 * day], started=f"2024-05-0{day}", environment=environment | {"git_commit": commit})
    ]
    folder = write(rows)
    for commit, seconds in (("aaaa", 1.0), ("bbbb", 2.0)):
        assert [record["seconds"]["fit"] for record in side_of_commit(folder, commit).records] == [seconds]


def test_other_repeats_of_one_side_do_not_turn_an_accuracy_round(compared, records):
    def rows(errors):
        return [records.one("smo", repeat=k, error=error) for k, error in enumerate(errors)]

    before = [0.10 + 0.001 * k for k in range(12)]
    after = [0.13 + 0.001 * k for k in range(12)]
    outcome = compared(rows([*before, *[0.3] * 15]), rows(after))  # the repeats in addition are hard
    (change,) = (change for change in outcome.changes if change.metric == "test_error")
    assert change.verdict == WORSE and change.second > change.first and change.n_first == 12
