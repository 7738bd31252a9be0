"""The recommendation follows from the records, also if there is none."""

from dataclasses import replace

import pytest

from kernbench.experiments.declare import Method, Metric, Recommendation
from kernbench.report.tables.facts import data_table
from kernbench.report.tables.metric_table import COUNTED
from kernbench.report.verdict.advice import margins_told
from kernbench.report.verdict.verdict import recommendation, verdicts


def test_verdict_names_the_fastest_of_the_good(toy, records, advised):
    found = advised(toy, records.race())
    assert found.headline == 'For a kernel SVM, use KernelSVC(solver="smo").'
    assert any("4.5 times as fast as LIBSVM" in sentence for sentence in found.sentences)
    assert 'KernelSVC(solver="smo"' in found.code


def test_the_usual_choice_stays_where_it_is_faster_in_most_runs(toy, records, advised):
    times = {"smo": (1.0, 5.0, 9.0), "libsvm": (6.0, 4.5, 8.0)}  # medians 5 and 6, ratios 6, 0.9, 0.89
    rows = [
        records.one(method, repeat=k, seconds=seconds) for method, row in times.items() for k, seconds in enumerate(row)
    ]
    assert advised(toy, rows).advices[0].method == "libsvm"
    assert advised(toy, [row for row in rows if row["repeat"] != 2]).advices[0].method == "smo"


def test_the_fastest_is_so_in_the_runs_of_both(toy, records, advised):
    """SMO has more repeats than SBP, and these on a slower machine, where it takes longer than SBP on the fast one."""
    slow = records.one()["environment"] | {"processor": "Slow CPU"}
    rows = [records.one("libsvm", seconds=8.0), records.one("sbp", seconds=3.0), records.one("smo", seconds=2.0)]
    rows += [records.one("smo", repeat=k, seconds=6.0, environment=slow) for k in (1, 2)]
    found = advised(toy, rows)
    assert found.advices[0].method == "smo" and found.advices[0].times == {"libsvm": 8.0, "sbp": 3.0, "smo": 6.0}


def test_methods_without_a_common_run_are_compared_by_the_usual_choice(toy, records, advised):
    """The peer was run on a fast machine alone, beside the slowest method and not beside the usual choice."""
    fast = {"repeat": 1, "environment": records.one()["environment"] | {"processor": "Fast CPU 1"}}
    rows = [records.one("libsvm", seconds=8.0), records.one("smo", seconds=2.0), records.one("sbp", seconds=20.0)]
    beside = [records.one("sbp", seconds=10.0, **fast), records.one("other", seconds=1.0, **fast)]
    (advice,) = advised(toy, [*rows, *beside]).advices
    assert advice.method == "smo" and advice.times["other"] < advice.times["smo"] and advice.ratio == 4.0
    # Beside the usual choice it takes a tenth of that one's time, SMO a quarter.
    assert advised(toy, [*rows, *beside, records.one("libsvm", seconds=10.0, **fast)]).advices[0].method == "other"


def test_a_faster_method_that_may_be_worse_is_so_in_the_runs_of_both(toy, records, advised):
    """SBP is faster than SMO in each run of both; SMO's median is less by runs of its own."""
    errors, slow = (0.14, 0.16), records.one()["environment"] | {"processor": "Slow CPU"}
    rows = [records.one(name, repeat=k, error=0.15, seconds=9.0) for k in (0, 1) for name in ("libsvm", "smo")]
    rows += [records.one("sbp", repeat=k, error=errors[k], seconds=8.0) for k in (0, 1)]
    rows += [records.one("smo", repeat=k, error=0.15, seconds=1.0, environment=slow) for k in (2, 3, 4)]
    (advice,) = advised(toy, rows).advices
    assert advice.times["smo"] < advice.times["sbp"] and advice.unclear == ["sbp"]


def test_verdict_does_not_take_the_fastest_if_it_is_worse(toy, records, advised):
    rows = [
        records.one("libsvm", error=0.149, seconds=8.0),
        records.one("smo", error=0.149, seconds=4.0),
        records.one("sbp", error=0.17, seconds=1.0),
    ]
    assert 'solver="smo"' in advised(toy, rows).headline


def test_an_unfinished_fit_that_errs_less_is_named_but_not_advised(toy, records, advised):
    rows = [
        records.one("libsvm", error=0.149, seconds=8.0),
        records.one("smo", error=0.149, seconds=4.0),
        records.one("sbp", error=0.14, seconds=30.0),
    ]
    found = advised(toy, rows)
    assert 'solver="smo"' in found.headline
    better = "Slower, but of a better test error than the method to use by more than 0.20 points"
    assert f"{better}: SBP on adult (14.00 % in 30 s)." in found.sentences


def test_a_slower_method_is_named_only_if_it_is_better_than_the_one_to_use(toy, records, advised):
    rows = [
        records.one("libsvm", error=0.16, seconds=8.0),
        records.one("smo", error=0.149, seconds=4.0),
        records.one("sbp", error=0.15, seconds=30.0),  # better than LIBSVM, which is not what is advised
    ]
    found = advised(toy, rows)
    assert found.advices[0].method == "smo" and not any("Slower, but" in sentence for sentence in found.sentences)


def test_the_usual_choice_is_no_runner_up_where_it_is_worse_than_the_one_to_use(toy, records, advised):
    rows = [records.one("libsvm", error=0.16, seconds=4.1), records.one("smo", error=0.149, seconds=4.0)]
    assert not any("No worse and" in sentence for sentence in advised(toy, rows).sentences)
    rows[0]["metrics"]["test_error"] = 0.149
    assert "No worse and at most 1.1 times as slow: LIBSVM (scikit-learn SVC) on adult." in advised(toy, rows).sentences


def test_times_of_different_set_ups_are_not_divided(toy, records, advised):
    elsewhere = records.one()["environment"] | {"processor": "Another CPU"}
    rows = [records.one("libsvm", error=0.149, seconds=8.0), records.one("smo", error=0.149, seconds=2.0)]
    for seconds in (2.1, 1.9):  # whether it would be faster there is not known
        found = advised(toy, [*rows, records.one("sbp", error=0.14, seconds=seconds, environment=elsewhere)])
        assert found.advices[0].method == "smo"
        assert not any("times as slow" in sentence for sentence in found.sentences)
        assert (
            "Slower, or timed on another set-up, but of a better test error than the method to use by more than "
            f"0.20 points: SBP on adult (14.00 % in {seconds} s on another set-up)."
        ) in found.sentences
        (told,) = (sentence for sentence in found.sentences if sentence.startswith("First to come"))
        assert "SBP" not in told
        assert found.table.blocks[0][1][0][4].text == "4 × as long"  # LIBSVM, in the same run


def test_a_method_without_a_trace_is_near_the_usual_choice_when_it_is_done(toy, records, advised):
    rows = [records.one("libsvm", error=0.149, seconds=8.0), records.one("smo", error=0.149, seconds=4.0)]
    rows += [records.one("sbp", error=0.155, seconds=1.0, trace={})]
    (told,) = (sentence for sentence in advised(toy, rows).sentences if sentence.startswith("First to come"))
    assert told.endswith("and to stay there: SBP (adult, 1 s).")
    rows[-1]["metrics"]["test_error"] = 0.2
    (told,) = (sentence for sentence in advised(toy, rows).sentences if sentence.startswith("First to come"))
    assert told.endswith("and to stay there: SMO (adult, 4 s).")


def test_races_with_other_margins_have_sentences_of_their_own(toy, records):
    (display,) = (table for table in toy.tables if isinstance(table, Recommendation))
    other = replace(toy, name="other", tables=(replace(display, margin=0.0),))
    (found,) = verdicts([records.results(experiment, records.race()) for experiment in (toy, other)])
    fastest = "SMO was the fastest of the methods whose test error is no worse than that of LIBSVM"
    assert found.sentences[0].startswith(f"On adult of toy, {fastest} (to 0.20 points): ")
    assert found.sentences[1].startswith(f"On adult of other, {fastest}: ")
    assert margins_told(found.advices).startswith(
        "“Equal accuracy” and “no worse” allow for a margin, each race its own: 0.00 to 0.20 points of test error. "
    )


def test_a_margin_of_none_is_not_told_as_a_number(toy, records):
    (display,) = (table for table in toy.tables if isinstance(table, Recommendation))
    exact = replace(toy, tables=(replace(display, margin=0.0),))
    (found,) = verdicts([records.results(exact, records.race())])
    assert margins_told(found.advices).startswith("“Equal accuracy” and “no worse” allow for no margin. ")
    renamed = [replace(m, label="loss") if m.name == display.metric else m for m in toy.metrics]
    (found,) = verdicts(
        [records.results(toy, records.race()), records.results(replace(exact, metrics=tuple(renamed)), records.race())]
    )
    told = "“Equal accuracy” and “no worse” allow for a margin: 0.20 points of test error; for none of loss. "
    assert margins_told(found.advices).startswith(told)


def test_records_and_repeats_are_those_of_the_race(toy, records):
    """SBP is measured on the same data, three times and on more cores, and takes no part in the race."""
    (display,) = (table for table in toy.tables if isinstance(table, Recommendation))
    race = replace(toy, tables=(replace(display, methods=("libsvm", "smo")),))
    rows = [records.one("libsvm", seconds=8.0), records.one("smo", seconds=2.0)]
    rows += [records.one("sbp", repeat=k, seconds=1.0) for k in range(3)]
    for row in rows[2:]:
        row["seconds"]["fit_cpu"] = 10.0
    (found,) = verdicts([records.results(race, rows)])
    assert found.table.blocks[0][1][0][-1].value == 2
    assert found.basis.endswith(", 1 repeat.")
    assert found.caveats[0] == "One repeat only: nothing is known of the scatter."
    assert not any("SBP" in caveat for caveat in found.caveats)


def test_an_error_that_is_less_by_scatter_alone_is_not_named(toy, records, advised):
    rows = [records.one("libsvm", repeat=k, error=0.149, seconds=8.0) for k in range(3)]
    rows += [records.one("sbp", repeat=k, error=error, seconds=30.0) for k, error in enumerate((0.1, 0.17, 0.14))]
    (advice,) = advised(toy, rows).advices
    assert advice.method == "libsvm" and advice.better == []


def test_a_usual_choice_that_fails_now_and_then_remains_the_level(toy, records, advised):
    rows = [records.one("libsvm", error=0.149, seconds=8.0), records.failure("libsvm", repeat=1)]
    rows += [records.one("sbp", repeat=k, error=0.17, seconds=1.0) for k in range(2)]
    assert advised(toy, rows).advices[0].method == "libsvm"


def test_without_libsvm_the_best_error_is_the_level(toy, records, advised):
    rows = [records.one("smo", error=0.149, seconds=4.0), records.one("sbp", error=0.17, seconds=1.0)]
    assert 'solver="smo"' in advised(toy, rows).headline


def test_verdict_says_it_when_libsvm_wins(toy, records, advised):
    rows = [records.one("libsvm", error=0.149, seconds=1.0), records.one("smo", error=0.149, seconds=4.0)]
    found = advised(toy, rows)
    assert found.headline == "For a kernel SVM, use sklearn.svm.SVC()."
    assert "from sklearn.svm import SVC" in found.code
    assert found.sentences[0] == (
        "On adult, the usual choice, LIBSVM (scikit-learn SVC) was the fastest of the methods whose test error is no "
        "worse than its own (to 0.20 points)."
    )


def test_verdict_does_not_hide_early_stopping(toy, records, advised):
    early = records.one("smo", error=0.149, seconds=1.0)
    early["metrics"]["objective"] = 0.4
    found = advised(toy, [records.one("libsvm", error=0.149, seconds=8.0), early])
    assert any(
        "stops earlier, or minimises something else: its objective is up to 33 % above" in sentence
        for sentence in found.sentences
    )


def test_verdict_on_generated_data_says_so_first(toy, records, advised):
    found = advised(toy, records.race(scale="quick", dataset="blobs", kind="generated"))
    assert found.stand_in and "no real data" in found.basis
    assert not advised(toy, records.race()).stand_in


def test_a_declared_kind_of_data_counts_in_place_of_the_loaders(toy, records, advised):
    """Such as of images that are deformed at random, read from the files of the full data."""
    (setting,) = toy.scales["quick"].settings
    scales = toy.scales | {"quick": replace(toy.scales["quick"], settings=(replace(setting, kind="generated"),))}
    declared, rows = replace(toy, scales=scales), records.race(scale="quick", dataset="blobs")
    found = advised(declared, rows)
    assert found.stand_in and found.basis.startswith("Measured on generated data (blobs) only, no real data")
    assert found.table.blocks[0][1][0][0].text == "blobs (generated)"
    assert data_table(records.results(declared, rows)).blocks[0][1][0][1].text == "generated"
    assert data_table(records.results(toy, rows)).blocks[0][1][0][1].text == "full"


def test_verdict_names_who_might_be_first_another_day(toy, records, advised):
    rows = [
        records.one("libsvm", error=0.149, seconds=8.0),
        records.one("smo", error=0.149, seconds=2.0),
        records.one("sbp", error=0.149, seconds=2.1),
    ]
    assert "No worse and at most 1.1 times as slow: SBP on adult." in advised(toy, rows).sentences
    assert not any("No worse and" in sentence for sentence in advised(toy, records.race()).sentences)


def test_verdict_without_a_finished_run_recommends_nothing(toy, records, advised):
    found = advised(toy, [records.failure("smo"), records.failure("libsvm", "memory")])
    assert found.headline.startswith("No method can be recommended")
    assert found.table is None
    assert not any("One repeat" in caveat for caveat in found.caveats)


def test_a_budgeted_run_is_never_the_advice(toy, records, advised):
    rows = [records.one("libsvm", error=0.149, seconds=8.0), records.one("sbp-quarter", error=0.149, seconds=1.0)]
    assert advised(toy, rows).headline == "For a kernel SVM, use sklearn.svm.SVC()."


def test_the_zero_model_is_never_the_advice_and_what_does_not_beat_it_is_named(toy, records):
    (display,) = (table for table in toy.tables if isinstance(table, Recommendation))
    raced = replace(
        toy,
        methods=(*toy.methods, Method("zero", "zero model", "kernbench.experiments.measure.zero:ZeroClassifier")),
        tables=(replace(display, left_out={"LinearSVC": "it has no kernel"}),),
    )

    def results(zero_error):
        return records.results(raced, [*records.race(), records.one("zero", error=zero_error, seconds=1e-5)])

    def found(zero_error):
        (verdict,) = verdicts([results(zero_error)])
        return verdict

    assert "KernelSVC" in found(0.24).headline and "KernelSVC" in found(0.149).headline
    useless = "No better than the zero model, a constant: the method on adult."
    assert useless not in found(0.24).caveats and useless in found(0.149).caveats
    assert useless not in found(0.149).table.notes  # or the box would say it twice
    alone = [recommendation(*raced.tables, results(zero_error)).notes for zero_error in (0.24, 0.149)]
    assert useless not in alone[0] and useless in alone[1]
    assert "LinearSVC is not in the race of toy: it has no kernel." in found(0.24).table.notes


def test_every_experiment_that_recommends_reaches_the_top(toy, records):
    other = replace(toy, name="other")
    rows = [record | {"dataset": "mnist"} for record in records.race()]
    (found,) = verdicts([records.results(toy, records.race()), records.results(other, rows)])
    experiments = [row[8].text for row in found.table.blocks[0][1]]
    assert experiments == ["toy", "other"]
    assert any("On adult and mnist, SMO was the fastest" in sentence for sentence in found.sentences)


def test_a_table_over_experiments_with_other_baselines_and_metrics_names_them(toy, records):
    metric = Metric("loss", "mean loss", "lower", ("metrics", "loss"))
    display = Recommendation("a kernel SVM", "loss", "smo", 0.1)
    other = replace(toy, name="other", metrics=(metric, *toy.metrics), tables=(display,))
    rows = [record | {"metrics": {"loss": 0.25}} for record in records.race()]
    (alone,) = verdicts([records.results(toy, records.race())])
    (both,) = verdicts([records.results(toy, records.race()), records.results(other, rows)])
    assert [alone.table.columns[k].label for k in (3, 5)] == ["speed (LIBSVM = 1)", "test error (%)"]
    assert [both.table.columns[k].label for k in (3, 5)] == ["speed (usual choice = 1)", "accuracy"]
    assert both.table.blocks[0][1][1][5].text == "mean loss 0.25"


def test_each_baseline_has_a_sentence_of_its_own_with_as_many_names_as_races(toy, records):
    (display,) = (table for table in toy.tables if isinstance(table, Recommendation))
    other = replace(toy, name="other", tables=(replace(display, baseline="sbp", rough=None),))
    (found,) = verdicts(
        [
            records.results(toy, records.race()),
            records.results(other, [*records.race(), *records.race(dataset="mnist")]),
        ]
    )
    fastest = "SMO was the fastest of the methods whose test error is no worse than that of"
    assert found.sentences[:2] == [
        f"In 1 of 3 races (adult of toy), {fastest} LIBSVM (to 0.20 points): 4.5 times as fast as LIBSVM in the same "
        "run.",
        f"In 2 of 3 races (adult of other and mnist), {fastest} SBP (to 0.20 points): 10 times as fast as SBP in the "
        "same run.",
    ]
    assert [sentence for sentence in found.sentences if "stopping early" in sentence] == [
        f"It does not win by stopping early: its objective is nowhere above {peer}'s." for peer in ("LIBSVM", "SBP")
    ]
    (rough,) = (sentence for sentence in found.sentences if sentence.startswith("First to come"))
    assert "(adult of toy, " in rough and "mnist" not in rough


def test_races_are_compared_with_the_usual_choice_only_where_that_was_measured(toy, records, advised):
    elsewhere = records.race(1, dataset="mnist")
    for row in elsewhere:
        if row["method"] == "libsvm":
            row["environment"]["processor"] = "Another CPU"
    alone = [row for row in records.race(1, dataset="blobs") if row["method"] != "libsvm"]
    found = advised(toy, [*records.race(), *elsewhere, *alone]).sentences
    fastest = "SMO was the fastest of the methods whose test error is no worse than"
    assert found[:2] == [
        f"In 2 of 3 races (adult and mnist), {fastest} that of LIBSVM (to 0.20 points): 4.5 times as fast as LIBSVM in "
        "the same run, where that has a time (1 race).",
        f"In 1 of 3 races (blobs), where LIBSVM has no result, {fastest} the best (to 0.20 points).",
    ]


def test_objectives_are_compared_within_repeats(toy, records, advised):
    """The medians, 0.3 and 0.2, would say the contrary of the two repeats that both have."""
    rows = [records.one("libsvm", repeat=k, seconds=8.0) for k in range(2)]
    rows += [records.one("smo", repeat=k) for k in range(5)]
    for row, objective in zip(rows, (0.2, 0.4, 0.25, 0.5, 0.1, 0.2, 0.2), strict=True):
        row["metrics"]["objective"] = objective
    assert any("its objective is up to 25 % above LIBSVM's" in sentence for sentence in advised(toy, rows).sentences)


def test_values_side_by_side_are_those_of_the_repeats_of_all(toy, records, advised):
    rows = [records.one("libsvm", repeat=k, error=error, seconds=8.0) for k, error in enumerate((0.1, 0.2, 0.9))]
    rows += [records.one("sbp-quarter", repeat=k, error=error) for k, error in enumerate((0.1, 0.22))]
    (told,) = (sentence for sentence in advised(toy, rows).sentences if sentence.startswith("With 25 %"))
    assert told.endswith("test error was: SBP 16.00 %; LIBSVM ended at 15.00 %.")


def test_tasks_have_headlines_of_their_own(toy, records):
    metric = Metric("auc", "AUC", "higher", ("metrics", "auc"), "%", 100.0)
    ranking = replace(
        toy,
        name="other",
        methods=(*toy.methods, Method("own", "Ours alone", "kernbench.experiments.ours:Peer")),
        metrics=(*toy.metrics, metric),
        tables=(Recommendation("ranking", "auc", "libsvm", 0.005),),
    )
    rows = [
        records.one(name, seconds=seconds, metrics={"auc": auc})
        for name, auc, seconds in (("libsvm", 0.9, 4.0), ("smo", 0.89, 1.0), ("own", 0.91, 2.0))
    ]
    first, second = verdicts([records.results(toy, records.race()), records.results(ranking, rows)])
    assert first.headline.startswith("For a kernel SVM, use KernelSVC")
    # More is better: SMO's 89 % is below the margin.
    assert second.headline == "For ranking, use Ours alone." and second.code == ""


def test_a_verdict_rests_on_the_data_sets_of_its_task_alone(toy, records):
    (display,) = (table for table in toy.tables if isinstance(table, Recommendation))
    other = replace(display, name="other", task="ranking", datasets=("mnist",))
    third = replace(display, name="third", task="regression", datasets=("blobs",))
    both = replace(toy, tables=(replace(display, datasets=("adult",)), other, third))
    rows = [*records.race(3), *(record | {"dataset": "mnist"} for record in records.race(2))]
    rows.append(records.failure("other", dataset="mnist"))
    first, second = verdicts([records.results(both, rows)])
    assert "(adult)" in first.basis and "mnist" not in first.basis and first.basis.endswith("3 repeats.")
    assert "adult" not in second.basis and "mnist" in second.basis and "1 to 2 repeats" in second.basis
    assert not any("failed" in caveat for caveat in first.caveats)
    assert "1 fit failed: see “What is missing” in each experiment." in second.caveats


def test_a_wrong_choice_is_priced(toy, records, advised):
    (row,) = advised(toy, records.race()).table.blocks[0][1]
    assert row[4].value == 10.0 and row[4].text == "10 × as long" and row[9].value == 12
    assert row[6].text == "none"
    named = advised(replace(toy, optimality="test_error"), records.race()).table.blocks[0][1][0]
    assert named[6].text.startswith("test error ")


def test_a_factor_is_of_the_runs_of_both_methods(toy, records, advised):
    rows = [row for row in records.race() if row["method"] != "libsvm" or not row["repeat"]]
    table = advised(toy, rows).table
    ((_, (row,)),) = table.blocks
    assert [row[k].text for k in (3, 4)] == ["4 × (1 of 3)", "10 × as long"]  # LIBSVM's, and SBP's
    assert COUNTED in table.notes and COUNTED not in advised(toy, records.race()).table.notes


def test_small_data_speak_until_there_are_real_ones(toy, records):
    quick = records.results(toy, records.race(scale="quick", dataset="blobs", kind="generated"))
    paper = records.results(toy, [records.failure("smo")])
    assert verdicts([paper, quick])[0].stand_in
    assert not verdicts([records.results(toy, records.race()), quick])[0].stand_in


@pytest.fixture
def main_is_ours(toy):
    """The toy with `KernelSVC` as our own model for the task."""
    tables = [replace(t, main="KernelSVC") if isinstance(t, Recommendation) else t for t in toy.tables]
    return replace(toy, tables=tuple(tables))


def test_nothing_is_recommended_where_our_own_model_was_not_measured(main_is_ours, records, advised):
    rows = [records.one("libsvm", seconds=8.0), records.one("sbp-quarter", seconds=2.0)]
    found = advised(main_is_ours, rows)  # SBP has a part of LIBSVM's time: this is not our best
    assert found.headline == "No method can be recommended yet for a kernel SVM: KernelSVC was not measured."
    assert not found.advices and "SVC()" not in found.headline
    rows += [records.one("libsvm", dataset="mnist"), records.one("smo", dataset="mnist", seconds=0.5)]
    found = advised(main_is_ours, rows)
    assert found.headline == 'For a kernel SVM, use KernelSVC(solver="smo").'
    assert [advice.dataset for advice in found.advices] == ["mnist"]
    assert "KernelSVC was not measured on adult: nothing is recommended there." in found.caveats


@pytest.mark.parametrize(("wall", "busy", "n_threads", "exceeds"), [
    (8.0, 15.5, 1, True),
    (8.0, 8.4, 1, False),
    (8.0, 15.5, 2, False),
    (0.01, 0.02, 1, False),  # too short for the clock of the processor
    (8.0, None, 1, False),
])  # fmt: skip
def test_a_method_on_more_cores_than_its_threads_is_told(toy, records, advised, wall, busy, n_threads, exceeds):
    rows = records.race()
    for record in rows:
        if record["method"] == "libsvm":
            record["seconds"] |= {"fit": wall, "fit_cpu": busy}
            record["environment"] = record["environment"] | {"n_threads": n_threads}
    told = [caveat for caveat in advised(toy, rows).caveats if "more cores" in caveat]
    expected = (
        "LIBSVM computed on more cores than the threads it was given, and than the others (on adult): in equal "
        "conditions it takes longer."
    )
    assert told == ([expected] if exceeds else [])


@pytest.mark.parametrize(("measured", "told"), [(15.5, True), (9.5, False)])
def test_a_processor_time_of_several_cores_is_told(toy, records, advised, measured, told):
    """Where the processor time is what is compared, more than the whole cell took."""
    rows = records.race()
    for record in rows:
        if record["method"] == "libsvm":
            record["seconds"] |= {"fit": 10 * measured, "measured": measured, "total": 8.0}
    found = [caveat for caveat in advised(toy, rows).caveats if "more cores" in caveat]
    expected = (
        "LIBSVM computed on more cores than the threads it was given (on adult): its time is that of all cores "
        "together, longer than it took."
    )
    assert found == ([expected] if told else [])


def test_a_failure_of_our_own_model_is_a_measurement(main_is_ours, records, advised):
    found = advised(main_is_ours, [records.one("libsvm", seconds=8.0), records.failure("smo")])
    assert found.headline == "For a kernel SVM, use sklearn.svm.SVC()."


def test_a_method_that_may_be_worse_is_not_recommended_but_named(toy, records, advised):
    errors = {"libsvm": (0.14, 0.15, 0.16), "smo": (0.13, 0.15, 0.17), "sbp": (0.141, 0.151, 0.161)}
    times = {"libsvm": 8.0, "smo": 1.0, "sbp": 4.0}
    rows = [
        records.one(method, repeat=k, error=error, seconds=times[method])
        for method, row in errors.items()
        for k, error in enumerate(row)
    ]
    found = advised(toy, rows)  # differences of ±1 point leave SMO open; SBP's are 0.1 each time
    assert found.headline == 'For a kernel SVM, use KernelSVC(solver="sbp").'
    words = "Faster, but it cannot be judged from these repeats whether they are worse: SMO on adult."
    assert words in found.sentences


def test_a_factor_from_the_only_run_of_both_is_told(toy, records, advised):
    """On mnist LIBSVM was run once, SMO three times."""
    once = [row for row in records.race(dataset="mnist") if row["method"] != "libsvm" or not row["repeat"]]
    assert "4 times as fast as LIBSVM in the only run of both." in advised(toy, once).sentences[0]
    some = "4 to 4.5 times as fast as LIBSVM in the same run (the only one in 1 race)."
    assert some in advised(toy, [*records.race(), *once]).sentences[0]


def test_a_value_of_a_budget_from_one_repeat_is_told(toy, records, advised):
    rows = [records.one("libsvm", repeat=k, error=error, seconds=8.0) for k, error in enumerate((0.1, 0.2))]
    rows += [records.one("sbp-quarter", error=0.12)]
    (told,) = (sentence for sentence in advised(toy, rows).sentences if sentence.startswith("With 25 %"))
    assert told.endswith("test error was, in one repeat: SBP 12.00 %; LIBSVM ended at 10.00 %.")
