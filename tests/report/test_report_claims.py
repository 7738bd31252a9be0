"""The claim and the verdict follow from the records, and say so when they cannot."""

from kernbench.report.aggregate import group_records
from kernbench.report.claims import FAILS, HOLDS, OPEN, interval_sentence, judge, overall
from kernbench.report.verdict import verdict


def judged(toy, rows, dataset="adult"):
    (group,) = group_records(rows)
    return judge(toy, group, dataset)


def advised(toy, rows):
    (group,) = group_records(rows)
    return verdict(toy, group)


def test_claim_holds_within_margin_and_time(toy, records):
    found = judged(toy, records.race())
    assert found.verdict == HOLDS
    assert "0.10 points worse, within the margin of 0.20 points" in found.why


def test_claim_fails_on_error(toy, records):
    rows = [
        records.one("libsvm", error=0.149, seconds=8.0),
        records.one("sbp-quarter", error=0.16, seconds=2.0),
    ]
    found = judged(toy, rows)
    assert found.verdict == FAILS and "beyond the margin" in found.why


def test_claim_fails_on_time(toy, records):
    rows = [
        records.one("libsvm", error=0.149, seconds=8.0),
        records.one("sbp-quarter", error=0.149, seconds=3.0),
    ]
    found = judged(toy, rows)
    assert found.verdict == FAILS and "over the 2 s allowed" in found.why


def test_claim_at_its_margin_exactly_holds(toy, records):
    rows = [
        records.one("libsvm", error=0.149, seconds=8.0),
        records.one("sbp-quarter", error=0.151, seconds=2.0),
    ]
    assert judged(toy, rows).verdict == HOLDS


def test_claim_is_open_when_a_method_was_not_run_or_failed(toy, records):
    assert "has not been run" in judged(toy, [records.one("libsvm")]).why
    found = judged(toy, [records.failure("libsvm"), records.one("sbp-quarter")])
    assert found.verdict == OPEN and "did not end well here (timeout)" in found.why


def test_claim_is_open_across_setups(toy, records):
    elsewhere = records.one("sbp-quarter", seconds=1.0)
    elsewhere["environment"]["processor"] = "Another CPU"
    found = judged(toy, [records.one("libsvm", seconds=8.0), elsewhere])
    assert found.verdict == OPEN and "same set-up" in found.why


def test_noise_that_could_decide_is_named(toy, records):
    rows = [records.one("libsvm", repeat=k, error=e, seconds=8.0) for k, e in enumerate((0.14, 0.15, 0.16))]
    rows += [
        records.one("sbp-quarter", repeat=k, error=e, seconds=2.0) for k, e in enumerate((0.16, 0.14, 0.15))
    ]
    assert "Close" in judged(toy, rows).why
    assert "Close" not in judged(toy, records.race()).why


def test_interval_needs_five_repeats(toy, records):
    (few,), (many,) = group_records(records.race(4)), group_records(records.race(5))
    assert interval_sentence(toy, few, "adult") == "4 repeats: no interval (that takes at least 5)."
    assert "Mann–Whitney p" in interval_sentence(toy, many, "adult")


def test_one_miss_is_a_miss_overall(toy, records):
    rows = records.race() + [
        records.one("libsvm", dataset="mnist", error=0.1, seconds=8.0),
        records.one("sbp-quarter", dataset="mnist", error=0.3, seconds=2.0),
    ]
    (group,) = group_records(rows)
    found, sentence = overall([judge(toy, group, dataset) for dataset in group.datasets])
    assert found == FAILS
    assert sentence == "The claim holds on adult; it does not hold on mnist."


def test_verdict_names_the_fastest_of_the_good(toy, records):
    found = advised(toy, records.race())
    assert found.headline == 'Use KernelSVC(solver="smo").'
    assert any("4.5 times as fast as LIBSVM" in sentence for sentence in found.sentences)
    assert 'KernelSVC(solver="smo"' in found.code


def test_verdict_does_not_take_the_fastest_if_it_is_worse(toy, records):
    rows = [
        records.one("libsvm", error=0.149, seconds=8.0),
        records.one("smo", error=0.149, seconds=4.0),
        records.one("sbp", error=0.17, seconds=1.0),
    ]
    assert 'solver="smo"' in advised(toy, rows).headline


def test_an_unfinished_fit_that_errs_less_is_named_but_not_advised(toy, records):
    rows = [
        records.one("libsvm", error=0.149, seconds=8.0),
        records.one("smo", error=0.149, seconds=4.0),
        records.one("sbp", error=0.14, seconds=30.0),
    ]
    found = advised(toy, rows)
    assert 'solver="smo"' in found.headline
    assert "Slower, but below LIBSVM's test error: SBP on adult (14.00 % in 30 s)." in found.sentences


def test_without_libsvm_the_best_error_is_the_level(toy, records):
    rows = [records.one("smo", error=0.149, seconds=4.0), records.one("sbp", error=0.17, seconds=1.0)]
    assert 'solver="smo"' in advised(toy, rows).headline


def test_verdict_says_it_when_libsvm_wins(toy, records):
    rows = [records.one("libsvm", error=0.149, seconds=1.0), records.one("smo", error=0.149, seconds=4.0)]
    found = advised(toy, rows)
    assert found.headline == "Use sklearn.svm.SVC()."
    assert "from sklearn.svm import SVC" in found.code


def test_verdict_does_not_hide_early_stopping(toy, records):
    early = records.one("smo", error=0.149, seconds=1.0)
    early["metrics"]["objective"] = 0.4
    found = advised(toy, [records.one("libsvm", error=0.149, seconds=8.0), early])
    assert any("stops earlier: its objective is up to 33 % above" in sentence for sentence in found.sentences)


def test_verdict_on_generated_data_says_so_first(toy, records):
    found = advised(toy, records.race(scale="quick", dataset="blobs", kind="generated"))
    assert found.stand_in and "no real data" in found.basis
    assert not advised(toy, records.race()).stand_in


def test_verdict_names_who_might_be_first_another_day(toy, records):
    rows = [
        records.one("libsvm", error=0.149, seconds=8.0),
        records.one("smo", error=0.149, seconds=2.0),
        records.one("sbp", error=0.149, seconds=2.1),
    ]
    assert "No worse and at most 1.1 times as slow: SBP on adult." in advised(toy, rows).sentences
    assert not any("No worse and" in sentence for sentence in advised(toy, records.race()).sentences)


def test_verdict_without_a_finished_run_recommends_nothing(toy, records):
    found = advised(toy, [records.failure("smo"), records.failure("libsvm", "memory")])
    assert found.headline.startswith("No solver can be recommended")
    assert found.table is None


def test_a_budgeted_run_is_never_the_advice(toy, records):
    rows = [
        records.one("libsvm", error=0.149, seconds=8.0),
        records.one("sbp-quarter", error=0.149, seconds=1.0),
    ]
    assert advised(toy, rows).headline == "Use sklearn.svm.SVC()."
