"""The verdict on a claim against a baseline follows from the records; undecidable claims are reported as such."""

from dataclasses import replace

import pytest

from kernbench.experiments.declare import Claim, Metric
from kernbench.report.claims.findings import PARTLY, findings, judge
from kernbench.report.claims.judgement import FAILS, HELD, HOLDS, OPEN, is_at_most, p_value_of


@pytest.fixture
def judged(toy, records):
    """Judge a claim, the toy's by default, on adult."""

    def judged(toy, rows, claim=None):
        return judge(records.results(toy, rows), "adult", claim or toy.claims[0])

    return judged


def test_claim_holds_within_margin_and_time(toy, records, judged):
    found = judged(toy, records.race())
    assert found.verdict == HOLDS
    assert "0.10 points worse, within the margin of 0.20 points" in found.why


def test_what_is_better_is_not_said_to_be_within_the_margin(toy, records, judged):
    rows = [records.one("libsvm", error=0.159, seconds=8.0), records.one("sbp-quarter", error=0.149, seconds=2.0)]
    found = judged(toy, rows)
    assert found.verdict == HOLDS and "1.00 points better, to be worse by 0.20 points at most." in found.why


def test_claim_fails_on_error(toy, records, judged):
    rows = [records.one("libsvm", error=0.149, seconds=8.0), records.one("sbp-quarter", error=0.16, seconds=2.0)]
    found = judged(toy, rows)
    assert found.verdict == FAILS and "beyond the margin" in found.why


def test_a_difference_just_beyond_the_margin_is_told_apart_from_it(toy, records, judged):
    rows = [records.one("libsvm", error=0.15, seconds=8.0), records.one("sbp-quarter", error=0.15202, seconds=2.0)]
    found = judged(toy, rows)
    assert found.verdict == FAILS and "0.202 points worse, beyond the margin of 0.20 points" in found.why


def test_claim_fails_on_time(toy, records, judged):
    rows = [records.one("libsvm", error=0.149, seconds=8.0), records.one("sbp-quarter", error=0.149, seconds=3.0)]
    found = judged(toy, rows)
    assert found.verdict == FAILS and "over the 2 s allowed" in found.why


def test_claim_at_its_margin_exactly_holds(toy, records, judged):
    rows = [records.one("libsvm", error=0.149, seconds=8.0), records.one("sbp-quarter", error=0.151, seconds=2.0)]
    assert judged(toy, rows).verdict == HOLDS


def test_claim_is_open_when_a_method_was_not_run_or_failed(toy, records, judged):
    assert "has not been run" in judged(toy, [records.one("libsvm")]).why
    found = judged(toy, [records.failure("libsvm"), records.one("sbp-quarter")])
    assert found.verdict == OPEN and "failed here (timeout)" in found.why


def test_claim_is_open_when_some_repeats_failed(toy, records, judged):
    base = [records.one("libsvm", repeat=k, error=0.149, seconds=8.0) for k in range(4)]
    rows = [*base, records.one("sbp-quarter", error=0.149, seconds=1.9)]
    assert judged(toy, rows).verdict == HOLDS
    found = judged(toy, [*rows, *(records.failure("sbp-quarter", repeat=k) for k in range(1, 4))])
    assert found.verdict == OPEN and "failed in 3 of 4 repeats (timeout)" in found.why


def test_claim_is_open_across_setups(toy, records, judged):
    elsewhere = records.one("sbp-quarter", seconds=1.0)
    elsewhere["environment"]["processor"] = "Another CPU"
    found = judged(toy, [records.one("libsvm", seconds=8.0), elsewhere])
    assert found.verdict == OPEN and "same data and set-up" in found.why


@pytest.mark.parametrize(
    ("errors", "verdict"), [((0.16, 0.14, 0.15), OPEN), ((0.1395, 0.15, 0.1605), HOLDS), ((0.15, 0.16, 0.171), FAILS)]
)
def test_a_margin_inside_the_interval_of_the_differences_cannot_be_judged(toy, records, judged, errors, verdict):
    rows = [records.one("libsvm", repeat=k, error=e, seconds=8.0) for k, e in enumerate((0.14, 0.15, 0.16))]
    rows += [records.one("sbp-quarter", repeat=k, error=e, seconds=2.0) for k, e in enumerate(errors)]
    found = judged(toy, rows)
    assert found.verdict == verdict and ("cannot be judged" in found.why) == (verdict == OPEN)


def test_the_interval_is_students_on_the_differences_within_repeats(toy, records, judged):
    errors = {"libsvm": (0.10, 0.20, 0.30), "smo": (0.11, 0.22, 0.30)}
    rows = [records.one(name, repeat=k, error=e) for name, row in errors.items() for k, e in enumerate(row)]
    found = judged(toy, rows, Claim("", "smo", "libsvm", "test_error", 0.0))
    # differences 1, 2 and 0 points: 1 ± 4.303 · 1 / √3
    assert found.interval == (
        "How much worse SMO is than LIBSVM, mean over 3 repeats: +1.00 points (95 % interval −1.48 to +3.48, by "
        "Student's t on the differences within repeats)."
    )
    assert found.verdict == OPEN
    assert judged(toy, records.race(1)).interval == "1 repeat: no interval."


def test_where_more_is_better_less_is_worse_in_the_interval_too(toy, records, judged):
    rate = Metric("rate", "rate", "higher", ("metrics", "rate"), "%", 100.0)
    rates = {"libsvm": (0.30, 0.20, 0.10), "smo": (0.29, 0.18, 0.10)}
    rows = [records.one(name, repeat=k, metrics={"rate": r}) for name, row in rates.items() for k, r in enumerate(row)]
    found = judged(replace(toy, metrics=(*toy.metrics, rate)), rows, Claim("", "smo", "libsvm", "rate", 0.0))
    assert "+1.00 points (95 % interval −1.48 to +3.48" in found.interval


def test_an_interval_that_ends_at_the_limit_up_to_rounding_is_on_one_side():
    assert is_at_most(0.001, 0.0005, (0.0, 0.150 - 0.149)) is True  # 0.0010000000000000009
    assert is_at_most(0.001, 0.0005, (0.0, 0.0011)) is None
    assert is_at_most(0.150 - 0.149, 0.002, (0.001, 0.003)) is False


def test_a_verdict_has_the_p_value_of_the_tests_that_it_needs():
    assert p_value_of([True, True], [0.01, 0.04]) == 0.04  # both
    assert p_value_of([False, True], [0.2, 0.01]) == 0.2  # the one that fails
    assert p_value_of([False, False], [0.03, 0.01]) == 0.01  # either
    assert p_value_of([True, True], [0.03, None]) == 0.03
    assert p_value_of([False, True], [None, 0.01]) is None


def test_times_on_both_sides_of_the_limit_cannot_be_judged(toy, records, judged):
    claim = Claim("", "smo", "libsvm", "test_error", 0.002, time_fraction=0.5)
    times = ((2.0, 3.0, 4.4), (1.0, 1.5, 2.0), (6.0, 6.5, 7.0))
    rows = [[records.one("libsvm", repeat=k, seconds=8.0) for k in range(3)] for _ in times]
    for race, row in zip(rows, times):
        race += [records.one("smo", repeat=k, seconds=seconds) for k, seconds in enumerate(row)]
    assert [judged(toy, race, claim).verdict for race in rows] == [OPEN, HOLDS, FAILS]


def test_an_open_difference_beside_a_time_that_decides_is_no_open_claim(toy, records, judged):
    rows = [records.one("libsvm", repeat=k, error=e, seconds=8.0) for k, e in enumerate((0.14, 0.15, 0.16))]
    rows += [records.one("smo", repeat=k, error=e, seconds=9.0) for k, e in enumerate((0.16, 0.14, 0.15))]
    found = judged(toy, rows, Claim("", "smo", "libsvm", "test_error", 0.002, time_fraction=1.0))
    assert found.verdict == FAILS and "It took 9 s, over the 8 s allowed" in found.why
    assert "the difference cannot be judged" in found.why and "this cannot be judged" not in found.why


def test_times_are_judged_by_ratios_whatever_the_machines(toy, records, judged):
    """Ten times as long on a slower machine, and always nine tenths of what is allowed."""
    claim = Claim("", "smo", "libsvm", "test_error", 0.002, time_fraction=0.5)
    machines, shares = (1.0, 10.0, 1.0, 10.0, 5.0), (0.45, 0.455, 0.445, 0.45, 0.45)

    def found(shares):
        rows = []
        for k, (slower, share) in enumerate(zip(machines, shares)):
            changes = {"repeat": k, "environment": records.one()["environment"] | {"processor": f"CPU {slower}"}}
            rows.append(records.one("libsvm", seconds=8.0 * slower, **changes))
            rows.append(records.one("smo", seconds=8.0 * slower * share, **changes))
        return judged(toy, rows, claim)

    within = found(shares)
    assert within.verdict == HOLDS and within.untested == HELD
    assert "It took 12.5 s, within the 13.9 s allowed (50 % of 27.7 s)." in within.why  # geometric means
    # In all, 44.8 s in place of 44; within the limit on one machine by more than it is over it on the other.
    apart = found((0.1, 0.55))
    assert "It took 5.93 s, within the 12.6 s allowed (50 % of 25.3 s)." in apart.why
    assert apart.verdict == OPEN and apart.untested == OPEN


def test_slack_counts_in_each_repeat_and_leaves_no_negative_ratio(toy, records, judged):
    claim = Claim("", "smo", "libsvm", "test_error", 0.002, time_fraction=1.0, time_slack=0.15)
    rows = [records.one("libsvm", repeat=k, seconds=seconds) for k, seconds in enumerate((2.0, 2.1, 2.2))]
    rows += [records.one("smo", repeat=k, seconds=seconds) for k, seconds in enumerate((0.1, 0.12, 0.11))]
    assert judged(toy, rows, claim).verdict == HOLDS
    for row, late in zip(rows[3:], (0.10, 0.14, 0.12)):
        row["seconds"]["fit"] = rows[row["repeat"]]["seconds"]["fit"] + late
    found = judged(toy, rows, claim)
    assert found.untested == HELD and "by less than the 150 ms by which a solver may notice" in found.why


def test_a_time_of_zero_has_no_ratio(toy, records, judged):
    claim = Claim("", "smo", "libsvm", "test_error", 0.002, time_fraction=0.5)
    found = judged(toy, [records.one("libsvm", seconds=8.0), records.one("smo", seconds=0.0)], claim)
    assert found.verdict == OPEN and "Times are missing." in found.why


def test_times_on_one_side_may_be_too_few_to_judge(toy, records, judged):
    """Both repeats are within the limit, which lies inside the interval of their mean."""
    rows = [records.one("libsvm", repeat=k, seconds=8.0) for k in range(2)]
    rows += [records.one("smo", repeat=k, seconds=seconds) for k, seconds in enumerate((3.0, 3.9))]
    found = judged(toy, rows, Claim("", "smo", "libsvm", "test_error", 0.002, time_fraction=0.5))
    assert found.verdict == OPEN and "both sides" not in found.why
    assert found.why.endswith("This limit lies inside the interval over repeats: the time cannot be judged.")


@pytest.mark.parametrize(
    ("own", "verdict", "words"),
    [
        (3.9e-3, HOLDS, "within the 4 ms allowed"),
        (30e-3, OPEN, "the run is too short to judge"),
        (60e-3, FAILS, "over the 4 ms allowed"),
    ],
)
def test_a_small_overrun_of_a_short_budget_cannot_be_judged(toy, records, judged, own, verdict, words):
    claim = Claim("", "smo", "libsvm", "test_error", 0.002, time_fraction=1.0, time_slack=0.05)
    found = judged(toy, [records.one("libsvm", seconds=4e-3), records.one("smo", seconds=own)], claim)
    assert found.verdict == verdict and words in found.why


def test_an_overrun_that_is_small_beside_the_budget_is_allowed(toy, records, judged):
    claim = Claim("", "smo", "libsvm", "test_error", 0.002, time_fraction=1.0, time_slack=0.05)
    rows = [records.one("libsvm", seconds=4.0), records.one("smo", seconds=4.04)]
    assert judged(toy, rows, claim).verdict == HOLDS


def test_a_worse_result_fails_whatever_the_time(toy, records, judged):
    claim = Claim("", "smo", "libsvm", "test_error", 0.002, time_fraction=1.0, time_slack=0.05)
    rows = [records.one("libsvm", seconds=4e-3), records.one("smo", error=0.3, seconds=30e-3)]
    assert judged(toy, rows, claim).verdict == FAILS


def test_one_miss_is_a_miss_over_all_data_sets(toy, records):
    rows = records.race()
    for row in rows:
        row["seconds"]["fit"] *= 0.9 - 0.01 * row["repeat"] if row["method"] == "sbp-quarter" else 1.0
    rows += [
        records.one("libsvm", dataset="mnist", error=0.1, seconds=8.0),
        records.one("sbp-quarter", dataset="mnist", error=0.3, seconds=2.0),
    ]
    ((found,),) = findings([records.results(toy, rows)])
    assert found.verdict == PARTLY
    assert found.words == "holds on 1 data set; did not hold in its one repeat on 1 data set"


@pytest.mark.parametrize(
    ("own", "words"),
    [
        (0.444, "44.40 %: equal, within"),
        (0.44401, "equal to within 0.01 points, within"),
        (0.4441, "0.01 points worse, within"),
    ],
)
def test_a_difference_that_is_not_seen_is_called_equal(toy, records, judged, own, words):
    claim = Claim("", "smo", "libsvm", "test_error", 0.002)
    assert words in judged(toy, [records.one("libsvm", error=0.444), records.one("smo", error=own)], claim).why


@pytest.mark.parametrize(
    ("margin", "words"),
    [
        (0.0, "1.00 points better."),
        (-0.005, "better, to be better by 0.50 points at least."),
        (0.01, "better, to be worse by 1.00 points at most."),
    ],
)
def test_a_margin_is_told_where_there_is_one(toy, records, judged, margin, words):
    claim = Claim("", "sbp", "libsvm", "test_error", margin)
    assert words in judged(toy, [records.one("libsvm", error=0.15), records.one("sbp", error=0.14)], claim).why
