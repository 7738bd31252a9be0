"""Bounds are judged by the mean over repeats, in the direction of their metric; a page without a race works."""

import math
from dataclasses import replace

import pytest

from kernbench.experiments import registry
from kernbench.experiments.declare import Bound, Claim, Metric, Scale, Setting
from kernbench.report import build
from kernbench.report.claims.findings import PARTLY, Finding, findings, standing, tone
from kernbench.report.claims.judgement import FAILS, HELD, HOLDS, MISSED, OPEN


@pytest.mark.parametrize(("bound", "verdict"), [(0.14, MISSED), (0.15, HELD), (0.16, HELD)])
def test_less_is_better_up_to_the_bound(measured, records, found, bound, verdict):
    (finding,) = found(measured, [records.one(error=0.15)], Bound("", "smo", "test_error", bound))
    assert finding.verdict == verdict


@pytest.mark.parametrize(("bound", "verdict"), [(0.8, HELD), (0.9, MISSED)])
def test_more_is_better_from_the_bound(measured, records, found, bound, verdict):
    (finding,) = found(measured, [records.one(metrics={"rate": 0.85})], Bound("", "smo", "rate", bound))
    assert finding.verdict == verdict
    assert f"85.00 %, to be at least {100 * bound:.2f} %" in finding.judgements[0].why


@pytest.mark.parametrize(
    ("errors", "verdict", "interval"),
    [
        ((0.1, 0.12, 0.3), OPEN, "−10.03 % to 44.70 %"),
        ((0.1, 0.11, 0.12), HOLDS, "8.52 % to 13.48 %"),
        ((0.3, 0.31, 0.32), FAILS, "28.52 % to 33.48 %"),
    ],
)
def test_a_bound_inside_the_interval_of_the_mean_cannot_be_judged(measured, records, found, errors, verdict, interval):
    rows = [records.one(repeat=k, error=error) for k, error in enumerate(errors)]
    (finding,) = found(measured, rows, Bound("", "smo", "test_error", 0.2))
    (judgement,) = finding.judgements
    assert finding.verdict == judgement.verdict == verdict
    assert ("inside the interval" in judgement.why) == (verdict == OPEN)
    assert judgement.interval == f"Mean of 3 repeats; 95 % interval {interval}, by Student's t."


@pytest.mark.parametrize(("bound", "verdict"), [(0.7, HOLDS), (0.84, OPEN), (0.99, FAILS)])
def test_an_interval_is_judged_in_the_direction_of_its_metric(measured, records, found, bound, verdict):
    rows = [records.one(repeat=k, metrics={"rate": rate}) for k, rate in enumerate((0.80, 0.85, 0.90))]
    (finding,) = found(measured, rows, Bound("", "smo", "rate", bound))
    assert finding.verdict == verdict
    assert ("inside the interval" in finding.judgements[0].why) == (verdict == OPEN)


def test_the_test_behind_the_verdict_on_a_ratio_is_that_of_its_interval(measured, records, found):
    """A median of 0.5 would hold where the test, on the mean of logarithms, leaves it open."""
    claim = Bound("", "smo", "fit_seconds", 0.8, baseline="libsvm")
    ratios = (0.5, 0.49, 0.51, 0.5, 0.5, 0.5, 0.5, 0.49, 0.51, 6.0)
    rows = [records.one("libsvm", repeat=k, seconds=1.0) for k in range(10)]
    rows += [records.one("smo", repeat=k, seconds=seconds) for k, seconds in enumerate(ratios)]
    ((judgement,),) = (finding.judgements for finding in found(measured, rows, claim))
    assert judgement.verdict == OPEN and judgement.p_value > 0.05
    assert judgement.value == pytest.approx(math.prod(ratios) ** 0.1)
    assert judgement.interval == (
        "Geometric mean of 10 repeats; 95 % interval 0.365 × to 1.12 ×, by Student's t on logarithms."
    )


def test_a_metric_that_is_a_ratio_has_a_geometric_mean(measured, records, found):
    speed_up = Metric("speed_up", "speed-up", "higher", ("metrics", "speed_up"), "×")
    rows = [records.one(repeat=k, metrics={"speed_up": x}) for k, x in enumerate((1.0, 4.0))]
    with_ratio = replace(measured, metrics=(*measured.metrics, speed_up))
    ((judgement,),) = (finding.judgements for finding in found(with_ratio, rows, Bound("", "smo", "speed_up", 1.5)))
    assert judgement.value == pytest.approx(2.0) and judgement.interval.startswith("Geometric mean of 2 repeats")


def test_a_ratio_is_of_one_repeat_on_one_set_up(measured, records, found):
    claim = Bound("", "smo", "fit_seconds", 0.3, baseline="libsvm")
    rows = [records.one("libsvm", seconds=8.0), records.one("smo", seconds=2.0)]
    (finding,) = found(measured, rows, claim)
    assert finding.verdict == HELD and finding.judgements[0].value == 0.25
    rows[0]["environment"]["processor"] = "Another CPU"
    assert found(measured, rows, claim)[0].verdict == OPEN


@pytest.mark.parametrize("ours, why", [(2.0, "0.25 ×, to be at most 0.3 ×"), (2.4032, "0.3004 ×, to be at most 0.3 ×")])
def test_a_ratio_has_as_many_digits_as_tell_it_from_its_bound(measured, records, found, ours, why):
    claim = Bound("", "smo", "fit_seconds", 0.3, baseline="libsvm")
    rows = [records.one("libsvm", seconds=8.0), records.one("smo", seconds=ours)]
    assert why in found(measured, rows, claim)[0].judgements[0].why


def test_nothing_measured_is_open(measured, records, found):
    claim = Bound("", "smo", "test_error", 0.2)
    assert found(measured, [records.failure("smo")], claim)[0].verdict == OPEN
    assert found(measured, [records.one(metrics={})], claim)[0].verdict == OPEN


def test_many_data_sets_that_agree_share_a_line(measured, records, found):
    rows = [records.one(dataset=f"d{k}", error=0.1 + 0.03 * k, repeat=r) for k in range(5) for r in range(2)]
    (finding,) = found(measured, rows, Bound("", "smo", "test_error", 0.2))
    shown = [judgement.dataset for judgement in finding.judgements]
    assert finding.verdict == PARTLY and shown == ["d4", "4 of 5 data sets"]
    assert "10.00 % (d0) to 19.00 % (d3)" in finding.judgements[1].why


def test_ratios_that_share_a_line_say_of_what_they_are(measured, records, found):
    rows = [records.one(name, dataset=f"d{k}", seconds=s) for k in range(5) for name, s in (("smo", 1), ("libsvm", 4))]
    (finding,) = found(measured, rows, Bound("", "smo", "fit_seconds", 0.3, baseline="libsvm"))
    assert finding.judgements[0].why == "Fit time of SMO over LIBSVM's from 0.25 × (d0) to 0.25 × (d4)."


@pytest.fixture
def on_six(measured):
    """The same on six declared data sets, of which the first four are recorded."""
    settings = tuple(Setting(f"d{k}", {}, methods=None if k < 6 else ("sbp",)) for k in range(7))
    return replace(measured, scales={"paper": Scale(settings, repeats=1, time_limit=60)})


def test_a_claim_holds_on_all_its_data_sets_or_it_says_on_how_many(on_six, records, found, twice):
    claim = Bound("", "smo", "test_error", 0.2)
    rows = [record for k in range(4) for record in twice(f"d{k}")]
    (finding,) = found(on_six, rows, claim)
    assert finding.verdict == PARTLY and finding.words == "holds on all 4 data sets; 2 have no records"
    assert finding.absent == ["d4", "d5"]  # d6 is not for this method
    (finding,) = found(on_six, rows + [records.failure("smo", dataset=f"d{k}") for k in (4, 5)], claim)
    assert finding.verdict == PARTLY and finding.words == "holds on all 4 data sets judged; 2 cannot be judged"
    (finding,) = found(on_six, rows + twice("d4", error=0.3), claim)
    assert finding.verdict == PARTLY and finding.words == "holds on 4 of 5 data sets; 1 has no records"
    (finding,) = found(on_six, rows + twice("d4") + twice("d5"), claim)
    assert finding.verdict == HOLDS and finding.words == "holds on all 6 data sets"


def test_a_claim_that_fails_everywhere_or_is_not_measured_says_so(on_six, records, found, twice):
    rows = [*twice("d0"), *twice("d1")]
    (finding,) = found(on_six, rows, Bound("", "smo", "test_error", 0.1))
    assert finding.verdict == FAILS and finding.words == "does not hold on either data set; 4 have no records"
    (finding,) = found(on_six, rows, Bound("", "smo", "test_error", 0.2))
    assert finding.words == "holds on both data sets; 4 have no records"
    (finding,) = found(on_six, rows + twice("d2"), Bound("", "smo", "test_error", 0.1))
    assert finding.words == "does not hold on any of 3 data sets; 3 have no records"
    failed = [records.failure("smo", dataset=f"d{k}") for k in (2, 3, 4)]
    (finding,) = found(on_six, failed + twice("d5", error=0.05), Bound("", "smo", "test_error", 0.1))
    assert finding.words == "holds on 1 data set; 3 cannot be judged; 2 have no records"
    assert finding.verdict == PARTLY
    (finding,) = found(on_six, rows + failed, Claim("", "smo", "libsvm", "test_error", 0.1))
    assert finding.verdict == OPEN and finding.words == "cannot be judged"


def test_standing_tells_claims_that_hold_in_part(on_six, records, found, twice):
    claim = Bound("", "smo", "test_error", 0.2)
    assert standing(found(on_six, twice("d0"), claim)) == "the claim holds on 1 data set; 5 have no records"
    of_one = replace(claim, datasets=("d0",))
    assert standing(found(on_six, twice("d0"), claim, of_one)) == "1 of 2 claims holds, 1 holds in part"
    assert standing(found(on_six, twice("d0"), of_one, of_one)) == "2 of 2 claims hold"


def test_standing_does_not_count_what_is_not_tested_among_what_holds(on_six, records, found, twice):
    held, missed = (Bound("", "smo", "test_error", bound, datasets=("d0",)) for bound in (0.2, 0.1))
    once = [records.one(dataset="d0"), *twice("d1")]
    holds = replace(held, datasets=("d1",))
    assert standing(found(on_six, once, held, held)) == "2 of 2 claims held so far"
    assert standing(found(on_six, once, held, missed)) == "1 of 2 claims held so far, 1 did not hold so far"
    all_three = found(on_six, once, held, holds, missed)
    assert standing(all_three) == "1 of 3 claims holds, 1 held so far, 1 did not hold so far"


def test_a_claim_without_any_record_is_listed_as_such(on_six, records, found):
    claims = [Bound("", "smo", "test_error", 0.2, datasets=(name,)) for name in ("d0", "d5")]
    listed = found(on_six, [records.one(dataset="d0")], *claims)
    assert [finding.words for finding in listed] == ["held in its one repeat", "has no records"]
    assert listed[1].absent == ["d5"] and listed[1].verdict == OPEN and not listed[1].generated
    assert standing(listed) == "1 of 2 claims held so far, 1 has no records"


def test_data_sets_that_run_only_when_asked_for_count_with_records_only(on_six, records, found):
    declared = on_six.scales["paper"].settings
    optional = tuple(replace(setting, optional=setting.name in ("d4", "d5")) for setting in declared)
    asked = replace(on_six, scales={"paper": Scale(optional, repeats=1, time_limit=60)})
    rows = [records.one(dataset=f"d{k}") for k in range(5)]
    (finding,) = found(asked, rows, Bound("", "smo", "test_error", 0.2))
    assert finding.words == "held in its one repeat on 5 data sets" and finding.absent == []
    assert found(asked, rows, Bound("", "smo", "test_error", 0.2, datasets=("d5",))) == []


def test_standing_counts_verdicts(measured, records, found):
    claims = [Bound("", "smo", "test_error", bound) for bound in (0.1, 0.2)] + [Bound("", "sbp", "rate", 1.0)]
    rows = [records.one(error=0.15, repeat=k) for k in range(2)]
    assert standing(found(measured, rows, *claims)) == "1 of 3 claims holds, 1 does not hold, 1 cannot be judged"


@pytest.mark.parametrize(
    ("verdicts", "mark"),
    [
        ((), ""),
        ((OPEN, OPEN), OPEN),
        ((FAILS, OPEN), FAILS),
        ((FAILS, MISSED), FAILS),
        ((FAILS, HOLDS), PARTLY),
        ((HOLDS, HELD), PARTLY),
        ((FAILS, HELD), PARTLY),
        ((HELD, HELD), HELD),
        ((HELD, OPEN), OPEN),
        ((HELD, MISSED), OPEN),
        ((MISSED, OPEN), MISSED),
    ],
)
def test_claims_of_which_none_holds_are_not_marked_as_holding_in_part(verdicts, mark):
    made = {
        HOLDS: Finding("", [None], 1, 0, 0, []),
        FAILS: Finding("", [None], 0, 1, 0, []),
        OPEN: Finding("", [None], 0, 0, 1, []),
        HELD: Finding("", [None], 0, 0, 0, [], held=(1,)),
        MISSED: Finding("", [None], 0, 0, 0, [], missed=(1,)),
    }
    assert [made[verdict].verdict for verdict in verdicts] == list(verdicts)
    assert tone([made[verdict] for verdict in verdicts]) == mark


@pytest.mark.usefixtures("undrawn")
def test_a_page_of_measurements_alone_recommends_nothing(measured, records, found, write, tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "EXPERIMENTS", (measured,))
    out = tmp_path / "page"
    build(write([records.one(repeat=k) for k in range(2)]), out)
    page = (out / "index.html").read_text(encoding="utf-8")
    assert "The claim holds." in page and "Which method" not in page and "It errs little." in page
    assert "the claim holds" in page
    assert (out / "tables" / "toy-paper-all.csv").exists()


def test_times_are_compared_at_equal_precision(records):
    peers = registry.get("peers-svm")
    (claim,) = (claim for claim in peers.claims if "intelex in float64" in claim.text)
    times = {"smo": 1.0, "smo-f64": 4.0, "intelex-f64": 5.0}
    rows = [records.one(name, seconds=s, experiment="peers-svm", key=name) for name, s in times.items()]
    ((finding,),) = findings([records.results(replace(peers, claims=(claim,)), rows)])
    assert finding.judgements[0].verdict == MISSED and finding.judgements[0].value == 0.8


@pytest.mark.parametrize(("n_claims", "verdict"), [(1, HOLDS), (20, HELD)])
def test_verdicts_are_corrected_for_their_number_on_the_page(measured, records, found, n_claims, verdict):
    rows = [records.one(repeat=k, error=error) for k, error in enumerate((0.10, 0.12, 0.14))]  # p = 0.013 at 0.22
    claims = [Bound(str(k), "smo", "test_error", 0.22) for k in range(n_claims)]
    stated = found(measured, rows, *claims)
    assert {finding.verdict for finding in stated} == {verdict}
    said = stated[0].judgements[0].why
    assert ("not as one of 20 verdicts of this page" in said) == (verdict == HELD)


def test_a_difference_that_no_chance_makes_survives_any_number_of_claims(measured, records, found):
    rows = [records.one(repeat=k, error=0.1) for k in range(3)]
    claims = [Bound(str(k), "smo", "test_error", 0.11) for k in range(200)]
    stated = found(measured, rows, *claims)
    assert {finding.verdict for finding in stated} == {HOLDS}
    assert stated[0].judgements[0].interval == "3 repeats, all equal."


def test_experiments_of_a_page_share_the_correction(measured, records):
    rows = [records.one(repeat=k, error=error) for k, error in enumerate((0.10, 0.12, 0.14))]
    one = records.results(replace(measured, claims=(Bound("", "smo", "test_error", 0.22),)), rows)
    ((alone,),) = findings([one])
    together = [finding for (finding,) in findings([one] * 20)]
    assert alone.verdict == HOLDS and {finding.verdict for finding in together} == {HELD}


FITTED = ("slope", "low", "high")


@pytest.fixture
def with_slopes(measured):
    """The toy with a fitted power and the ends of its interval, and the power less a number that each record has."""
    names = (*FITTED, "beyond")
    return replace(
        measured, metrics=(*measured.metrics, *(Metric(name, name, "lower", ("metrics", name)) for name in names))
    )


@pytest.mark.parametrize(("limit", "verdict"), [(1.0, MISSED), (1.4, OPEN), (1.6, OPEN), (2.1, HELD)])
def test_a_fitted_power_of_one_repeat_has_the_interval_of_its_fit(with_slopes, records, found, limit, verdict):
    row = records.one(metrics={"slope": 1.5, "low": 1.1, "high": 2.0, "beyond": 0.5})
    for metric, less in (("slope", 0.0), ("beyond", 1.0)):
        (finding,) = found(with_slopes, [row], Bound("", "smo", metric, limit - less, fitted=FITTED))
        (judgement,) = finding.judgements
        assert finding.verdict == verdict
        ends = f"{1.1 - less:.3g} to {2.0 - less:.3g}"
        assert judgement.interval == f"1 repeat; 95 % interval {ends}, of the fit to the points of the repeat."


def test_repeats_of_a_fitted_power_have_the_interval_over_repeats(with_slopes, records, found):
    rows = [records.one(repeat=k, metrics={"slope": 1.5 + k / 100, "low": 0.0, "high": 3.0}) for k in range(3)]
    (finding,) = found(with_slopes, rows, Bound("", "smo", "slope", 1.6, fitted=FITTED))
    assert finding.verdict == HOLDS and "interval 1.49 to 1.53, by Student's t" in finding.judgements[0].interval


@pytest.mark.parametrize(
    "claim", [Bound("", "smo", "slope", 1.6, fitted=FITTED), Claim("", "smo", "sbp", "slope", 0.1)]
)
def test_repeats_without_a_number_are_not_left_out(with_slopes, records, found, claim):
    """A fit that diverged has none: the others are not all."""
    rows = [records.one(name, repeat=k, metrics={"slope": 1.5}) for name in ("smo", "sbp") for k in range(3)]
    (finding,) = found(with_slopes, rows, claim)
    assert finding.verdict == HOLDS
    for n, words in ((1, "1 of 3 repeats has no"), (2, "2 of 3 repeats have no"), (3, "No repeat has a")):
        rows[n - 1]["metrics"]["slope"] = None
        (finding,) = found(with_slopes, rows, claim)
        assert finding.verdict == OPEN and finding.judgements[0].why == f"{words} measured slope."


@pytest.mark.parametrize("base", [0.0, -0.3])
def test_a_repeat_without_a_ratio_is_not_left_out_and_one_of_a_negative_number_not_judged(
    measured, records, found, base
):
    """Of two negative objectives the smaller, which is better, has the larger ratio to the other."""
    claim = Bound("", "smo", "objective", 0.5, baseline="libsvm")
    rows = [records.one("smo", repeat=k, metrics={"objective": -0.1}) for k in range(2)]
    rows += [records.one("libsvm", repeat=k, metrics={"objective": value}) for k, value in enumerate((0.3, base))]
    (finding,) = found(measured, rows, claim)
    assert finding.verdict == OPEN
    why = "LIBSVM's objective is not above 0 in a repeat: a ratio to it says nothing."
    assert finding.judgements[0].why == why


def test_the_end_of_an_interval_has_as_many_digits_as_tell_it_from_the_limit(with_slopes, records, found):
    row = records.one(metrics={"slope": -0.7, "low": -1.0, "high": -0.39971})
    (finding,) = found(with_slopes, [row], Bound("", "smo", "slope", -0.4, fitted=FITTED))
    assert finding.verdict == OPEN and "−1 to −0.3997, of" in finding.judgements[0].interval


def test_the_ends_over_data_sets_have_as_many_digits_as_tell_them_from_the_limit(measured, records, found):
    rows = [records.one(dataset=f"d{k}", error=error) for k, error in enumerate((0.1, 0.15, 0.15, 0.15, 0.199996))]
    (finding,) = found(measured, rows, Bound("", "smo", "test_error", 0.2))
    (judgement,) = finding.judgements
    assert "from 10.00 % (d0) to 19.9996 % (d4)." in judgement.why


def test_an_interval_that_is_not_declared_or_of_a_ratio_is_refused(measured):
    with pytest.raises(ValueError, match="slope"):
        replace(measured, claims=(Bound("", "smo", "test_error", 1.0, fitted=FITTED),))
    with pytest.raises(ValueError, match="not of a ratio"):
        Bound("", "smo", "test_error", 1.0, baseline="libsvm", fitted=FITTED)
