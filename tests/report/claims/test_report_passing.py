"""How soon one method's trace reaches the final value of another, and what a claim about it says."""

import math

import pytest

from kernbench.experiments.declare import Passing
from kernbench.report.claims.findings import judge
from kernbench.report.claims.judgement import FAILS, HOLDS, OPEN
from kernbench.report.statistics import estimate, mean_interval

SECONDS = {"fit": 10.0, "solver": 9.5}  # half a second passes before the trace begins


@pytest.fixture
def judged(toy, records):
    """Judge a claim on records of a base that ends at an error of .2 after 10 s, and of a method with a trace."""

    def judged(seconds, errors, fraction=0.5, **changes):
        claim = Passing("SMO passes SBP.", "smo", "sbp", "test_error", fraction, **changes)
        trace = {"seconds": seconds, "test_error": errors}
        rows = [records.one("sbp", error=0.2), records.one("smo", error=errors[-1], trace=trace)]
        for row in rows:
            row["seconds"] = dict(SECONDS)
        return judge(records.results(toy, rows), "adult", claim)

    return judged


def test_the_time_counts_from_which_the_trace_stays_at_the_level(judged):
    found = judged([0.0, 1.0, 2.0, 4.0, 9.5], [0.5, 0.19, 0.3, 0.2, 0.1])
    assert found.verdict == HOLDS and found.value == pytest.approx(4.5)
    assert "after 4.5 s, to be at most 5 s, 50 % of SBP's 10 s" in found.why
    assert judged([0.0, 1.0, 2.0, 4.0, 9.5], [0.5, 0.19, 0.3, 0.2, 0.1], 0.44).verdict == FAILS


def test_a_trace_that_ends_above_the_level_never_reaches_it(judged):
    steps = [0.0, 1.0, 9.5], [0.5, 0.1, 0.201]
    found = judged(*steps)
    assert found.verdict == FAILS and "never reaches" in found.why
    assert judged(*steps, later=True).verdict == HOLDS
    assert judged(*steps, within=0.01).value == pytest.approx(1.5)


def test_a_start_at_the_level_counts_as_reaching_it(judged):
    assert judged([0.0, 4.0, 9.5], [0.2, 0.15, 0.1]).value == pytest.approx(0.5)


def test_later_turns_the_claim_round(judged):
    steps = [0.0, 4.0, 9.5], [0.5, 0.2, 0.1]
    assert [judged(*steps, fraction, later=True).verdict for fraction in (0.44, 0.46)] == [HOLDS, FAILS]


def test_more_is_better_for_a_metric_that_says_so(toy, records):
    claim = Passing("", "smo", "sbp", "converged", 1.0)
    trace = {"seconds": [1.0, 2.0, 3.0], "converged": [0.1, 0.9, 1.0]}
    rows = [records.one("sbp", seconds=2.5), records.one("smo", trace=trace)]
    rows[0]["metrics"]["converged"] = 0.9
    assert judge(records.results(toy, rows), "adult", claim).value == pytest.approx(2.0)


def test_a_negative_value_may_be_missed_by_a_share_of_its_magnitude(toy, records):
    claim = Passing("", "smo", "sbp", "objective", 1.0, within=0.1)
    trace = {"seconds": [1.0, 2.0, 3.0], "objective": [0.0, -0.95, -1.0]}
    rows = [records.one("sbp", seconds=10.0), records.one("smo", trace=trace)]
    rows[0]["metrics"]["objective"] = -1.0
    assert judge(records.results(toy, rows), "adult", claim).value == pytest.approx(2.0)


def test_without_the_baseline_the_claim_is_open(toy, records):
    claim = Passing("", "smo", "sbp", "test_error", 1.0)
    assert judge(records.results(toy, [records.one("smo")]), "adult", claim).verdict == OPEN


def test_repeats_on_both_sides_or_that_never_arrive_leave_the_claim_open(toy, records):
    claims = [Passing("", "smo", "sbp", "test_error", 0.5, later=later) for later in (False, True)]
    arrivals = {"in time": (2.0, 2.1), "late": (7.0, 7.1), "apart": (2.0, 8.0), "never": (2.0, None)}
    found = {}
    for name, row in arrivals.items():
        rows = [records.one("sbp", repeat=k, error=0.2, seconds=10.0) for k in range(2)]
        for k, at in enumerate(row):
            trace = {"seconds": [1.0, at or 9.0], "test_error": [0.5, 0.3 if at is None else 0.1]}
            rows.append(records.one("smo", repeat=k, trace=trace))
        found[name] = [judge(records.results(toy, rows), "adult", claim) for claim in claims]
    assert {name: [one.verdict for one in both] for name, both in found.items()} == {
        "in time": [HOLDS, FAILS], "late": [FAILS, HOLDS], "apart": [OPEN, OPEN], "never": [OPEN, OPEN],
    }  # fmt: skip
    assert "in 1 of 2 repeats" in found["never"][0].why and "or never" in found["never"][0].interval


def test_times_are_compared_within_repeats_by_the_geometric_mean_of_their_shares(toy, records):
    wholes, shares = (10.0, 20.0, 40.0), (0.4, 0.44, 0.42)  # times of 4 to 17 s, all below half of their repeat's
    rows = [records.one("sbp", repeat=k, error=0.2, seconds=whole) for k, whole in enumerate(wholes)]
    for k, share in enumerate(shares):
        trace = {"seconds": [1.0, share * wholes[k]], "test_error": [0.5, 0.1]}
        rows.append(records.one("smo", repeat=k, trace=trace))
    found = judge(records.results(toy, rows), "adult", Passing("", "smo", "sbp", "test_error", 0.5))
    logs = [math.log(share) for share in shares]
    interval = [100 * math.exp(end) for end in mean_interval(logs)]
    assert found.verdict == HOLDS and found.value == pytest.approx(20.0 * math.prod(shares) ** (1 / 3))
    assert found.p_value == pytest.approx(estimate(logs, math.log(0.5)).p_value)
    assert found.interval == (
        f"Geometric mean of 3 repeats; 95 % interval {interval[0]:.3g} % to {interval[1]:.3g} % of SBP's time, by "
        "Student's t on logarithms."
    )


def test_the_level_is_that_of_the_same_repeat(toy, records):
    """Each repeat draws its data anew: to SBP's 10 % and 30 %, not to their mean, SMO takes half of its time."""
    levels, rows = (0.1, 0.3), []
    for k, level in enumerate(levels):
        trace = {"seconds": [2.0, 5.0], "test_error": [level + 0.05, level]}
        rows += [
            records.one("sbp", repeat=k, error=level, seconds=10.0),
            records.one("smo", repeat=k, error=level, trace=trace),
        ]
    found = judge(records.results(toy, rows), "adult", Passing("", "smo", "sbp", "test_error", 0.5))
    assert found.value == pytest.approx(5.0)
    assert found.why.startswith("It reaches SBP's final test error of 10.00 % to 30.00 % after 5 s")


def test_without_a_trace_over_time_the_claim_is_open(toy, records):
    for trace in ({}, {"test_error": [0.5, 0.1]}, {"seconds": [1.0], "test_error": [0.5, 0.1]}):
        rows = [records.one("sbp", error=0.2), records.one("smo", error=0.1, trace=trace)]
        for later in (False, True):
            claim = Passing("", "smo", "sbp", "test_error", 1.0, later=later)
            found = judge(records.results(toy, rows), "adult", claim)
            assert found.verdict == OPEN and found.why == "A repeat has no trace of test error over time."


def test_a_repeat_that_diverged_leaves_the_claim_open(toy, records):
    """Its trace ends in no numbers, and its last one is no value at which it stays."""
    trace = {"seconds": [1.0, 2.0, 3.0], "test_error": [0.5, 0.1, None]}
    rows = [records.one("sbp", error=0.2, seconds=10.0), records.one("smo", metrics={}, trace=trace)]
    found = judge(records.results(toy, rows), "adult", Passing("", "smo", "sbp", "test_error", 1.0))
    assert found.verdict == OPEN and found.why == "No repeat has a measured test error."


def test_without_a_time_of_the_baseline_in_each_repeat_the_claim_is_open(toy, records):
    rows = [records.one("sbp", repeat=k, error=0.2) for k in range(2)]
    rows += [records.one("smo", repeat=k, error=0.1) for k in range(2)]
    rows[1]["seconds"] = {}
    found = judge(records.results(toy, rows), "adult", Passing("", "smo", "sbp", "test_error", 1.0))
    assert found.verdict == OPEN and found.why == "Times are missing."


def test_one_repeat_is_said_where_the_trace_arrives_and_where_it_does_not(judged):
    for last in (0.1, 0.3):
        found = judged([0.0, 4.0, 9.5], [0.5, 0.3, last])
        assert found.is_single and found.interval == "1 repeat: no interval."
