"""The first table and figure of the page: over all races, which method, and what a wrong choice costs."""

from dataclasses import replace

import pytest

from kernbench.experiments.declare import Method, Recommendation
from kernbench.report.charts.choices import choice_picture
from kernbench.report.verdict.advice import advise
from kernbench.report.verdict.choices import best_within, choice_table, choices
from kernbench.report.verdict.verdict import verdicts

SMO, TUNED = "kernbench.estimators.svm.kernel_svc:KernelSVC", {"solver": "smo", "cache_size": 10}
ERRORS, SECONDS = (0.10, 0.12, 0.40, 0.41, 0.41), (1.0, 1.1, 9.0, 9.1, 9.2)


@pytest.fixture
def row(toy, records):
    """The one row of the table on some records, by heading."""

    def row(rows, experiment=toy):
        table = choice_table(choices(verdicts([records.results(experiment, rows)])))
        ((_, (entries,)),) = table.blocks
        return {column.csv_label: entry for column, entry in zip(table.columns, entries, strict=True)}

    return row


def plain(entry):
    return entry.text.replace("\u00a0", " ")


def test_a_row_says_what_to_use_where_and_what_else_costs(row, records):
    found = row(records.race())
    assert plain(found["method"]) == 'KernelSVC(solver="smo")'
    assert plain(found["data_sets"]) == "1 of 1 race: 1,000 × 20"
    assert plain(found["seconds"]) == "2 s"
    assert plain(found["times_as_long_as_usual"]) == "LIBSVM (scikit-learn SVC) takes 4.5 × as long"
    assert plain(found["cost_of_wrong_choice"]) == "10 × the time (SBP)"
    assert found["n_records"].value == 12


def test_outside_the_page_the_task_is_a_column_of_its_name(toy, records):
    table = choice_table(choices(verdicts([records.results(toy, records.race())])))
    assert table.to_csv().startswith("task,method,data_sets,")
    assert table.to_markdown().splitlines()[0].startswith("| task | use | where it won |")
    assert table.to_csv().splitlines()[1].startswith("A kernel SVM,")


def test_a_race_that_a_constant_wins_is_told(toy, row, records):
    raced = replace(toy, methods=(*toy.methods, Method("zero", "zero model", "sklearn.dummy:DummyClassifier")))
    others = [*records.race(), *records.race(dataset="mnist")]
    rows = [*others, records.one("zero", error=0.24), records.one("zero", error=0.149, dataset="mnist")]
    assert plain(row(rows, raced)["data_sets"]) == "2 of 2 races, no better than a constant in 1: 1,000 × 20"


def test_a_less_accurate_choice_is_priced_in_accuracy(row, records):
    rows = [*records.race(1)[:1], records.one("smo", error=0.149), records.one("sbp", error=0.2, seconds=0.5)]
    assert "5.10 points of test error (SBP)" in plain(row(rows)["cost_of_wrong_choice"])


def test_a_wrong_choice_is_priced_within_repeats(row, records):
    """Each repeat draws its data anew, and SBP has the first two alone, on which all err less and are faster."""
    rows = [records.one("smo", repeat=k, error=e, seconds=s) for k, (e, s) in enumerate(zip(ERRORS, SECONDS))]
    rows += [records.one("libsvm", repeat=k, error=e, seconds=2 * s) for k, (e, s) in enumerate(zip(ERRORS, SECONDS))]
    rows += [records.one("sbp", repeat=k, error=ERRORS[k] + 0.05, seconds=4 * SECONDS[k]) for k in range(2)]
    assert plain(row(rows)["cost_of_wrong_choice"]) == "4 × the time (SBP); 5.00 points of test error (SBP)"


def test_a_wrong_choice_that_was_run_once_is_told(row, records):
    rows = [record for record in records.race() if record["method"] != "sbp" or not record["repeat"]]
    assert plain(row(rows)["cost_of_wrong_choice"]) == "10 × the time (SBP, one run)"


def test_who_failed_has_no_price_and_is_named(toy, row, records):
    """SBP is the slowest where it ends, in two runs of three."""
    rows = [record for record in records.race() if record["method"] != "sbp" or record["repeat"]]
    rows += [records.failure("sbp"), records.failure("sbp-quarter", repeat=3)]  # the latter has a budget
    assert plain(row(rows)["cost_of_wrong_choice"]) == "4.5 × the time (LIBSVM); some failed: SBP"
    (verdict,) = verdicts([records.results(toy, rows)])
    told = "The slowest method is the slowest that ended every fit. Some failed: SBP on adult."
    assert told in verdict.table.notes
    assert "the other methods that ended every fit" in " ".join(choice_table(choices([verdict])).notes)
    assert "failed" not in plain(row(records.race())["cost_of_wrong_choice"])


def test_the_best_of_a_small_budget_is_so_within_repeats(toy, records):
    rows = [records.one("smo", repeat=k, error=error) for k, error in enumerate(ERRORS)]
    rows += [records.one("sbp", repeat=k, error=ERRORS[k] + 0.05) for k in range(2)]  # 16 % in the mean, SMO 29 %
    rows += [records.one("libsvm", repeat=k, error=error + 0.01) for k, error in enumerate(ERRORS)]
    (verdict,) = verdicts([records.results(toy, rows)])
    assert best_within(verdict.advices[0], 1.0) == ("smo", pytest.approx(0.288))


def test_the_small_budget_is_a_share_of_the_time_in_the_same_run(toy, records):
    """On a fast machine all takes half as long: SMO is never done in a tenth of LIBSVM's time there."""
    fast = records.one()["environment"] | {"processor": "Fast CPU"}
    rows = []
    for k, (seconds, environment) in enumerate([(1.0, {}), (1.0, {}), (0.5, fast)]):
        changes = {"repeat": k, "environment": environment or records.one()["environment"]}
        rows.append(records.one("libsvm", seconds=8.0 * seconds, **changes))
        rows.append(records.one("smo", seconds=seconds, trace={}, **changes))
    (verdict,) = verdicts([records.results(toy, rows)])
    assert best_within(verdict.advices[0], 0.1) is None  # though 0.5 s are within a tenth of the median, 0.8 s
    assert best_within(verdict.advices[0], 0.125)[0] == "smo"


def test_who_has_another_budget_or_fails_is_no_choice_of_a_small_one(toy, records):
    rows = [row for row in records.race() if row["method"] in ("libsvm", "sbp-quarter")]
    fast = [records.one("smo", seconds=0.01), records.failure("smo", repeat=1), records.one("sbp", seconds=7.0)]
    (verdict,) = verdicts([records.results(toy, [*rows, *fast])])
    assert best_within(verdict.advices[0], 0.9)[0] == "sbp"


def test_data_sets_of_one_choice_share_a_row(row, records):
    rows = records.race(1) + records.race(1, dataset="mnist")
    rows[-1]["data"] = rows[-1]["data"] | {"n_train": 60_000}
    for record in rows[4:]:
        record["data"] = record["data"] | {"n_train": 60_000}
    assert plain(row(rows)["data_sets"]) == "2 of 2 races: 1,000–60,000 × 20"


def test_a_usual_choice_without_a_time_is_not_this_one(row, records):
    failed = [records.failure("libsvm", repeat=k) for k in range(3)]
    rows = [record for record in records.race() if record["method"] != "libsvm"] + failed
    assert plain(row(rows)["times_as_long_as_usual"]) == "LIBSVM (scikit-learn SVC) has no time to compare with"
    other = records.race(dataset="mnist")
    assert (
        plain(row(rows + other)["times_as_long_as_usual"])
        == "LIBSVM (scikit-learn SVC) takes 4.5 × as long where that has a time (1 race)"
    )


def test_a_method_that_fails_now_and_then_is_not_the_one_to_use(toy, records):
    rows = [record for record in records.race(5) if record["method"] != "smo"]
    fast = records.one("smo", seconds=0.01), *(records.failure("smo", repeat=k) for k in range(1, 5))
    sound = [records.one("smo", repeat=k, seconds=0.01) for k in range(5)]
    (display,) = (table for table in toy.tables if isinstance(table, Recommendation))
    chosen = [advise(records.results(toy, [*rows, *own]), display, "adult").method for own in (fast, sound)]
    assert chosen[0] != "smo" and chosen[1] == "smo"


def test_generated_data_are_named(row, records):
    assert "generated" in plain(row(records.race(scale="quick", dataset="blobs", kind="generated"))["data_sets"])


def test_times_that_scatter_are_called_noisy(row, records):
    rows = records.race()
    for record, seconds in zip((r for r in rows if r["method"] == "smo"), (0.5, 2.0, 4.0)):
        record["seconds"]["fit"] = seconds
    assert plain(row(rows)["seconds"]) == "2 s, noisy"


def test_the_table_says_what_no_worse_and_noisy_mean(toy, records):
    def notes(rows):
        return " ".join(choice_table(choices(verdicts([records.results(toy, rows)]))).notes)

    rows = records.race()
    assert "allow for a margin: 0.20 points of test error." in notes(rows) and "Noisy:" not in notes(rows)
    for record, seconds in zip((r for r in rows if r["method"] == "smo"), (0.5, 2.0, 4.0)):
        record["seconds"]["fit"] = seconds
    assert "Noisy: the quartiles of the repeats" in notes(rows)


def test_arguments_that_only_tune_are_left_out(toy, row, records):
    tuned = Method(
        "smo", "SMO", "kernbench.estimators.svm.kernel_svc:KernelSVC", {"solver": "smo", "kernel": "rbf", "tol": 1e-6}
    )
    methods = tuple(tuned if method.name == "smo" else method for method in toy.methods)
    assert plain(row(records.race(), replace(toy, methods=methods))["method"]) == 'KernelSVC(solver="smo")'


def test_the_small_budget_takes_traced_methods_as_far_as_they_came(toy, records):
    (verdict,) = verdicts([records.results(toy, records.race(1))])
    (advice,) = verdict.advices
    # After 0.4 of LIBSVM's 8 s SMO's trace has its second point, half of the way down from 50 %; LIBSVM is not done.
    assert best_within(advice, 0.05) == ("smo", pytest.approx(0.149 + (0.5 - 0.149) / 2))
    assert best_within(advice, 0.04) is None
    assert best_within(advice, 1.0) == ("libsvm", pytest.approx(0.149))


def test_the_small_budget_counts_what_passes_before_the_trace(toy, records):
    rows = records.race(1)
    for record in rows:
        record["seconds"]["solver"] = record["seconds"]["fit"] - 0.5
    (verdict,) = verdicts([records.results(toy, rows)])
    assert best_within(verdict.advices[0], 0.05) is None
    assert best_within(verdict.advices[0], 0.1125) == ("smo", pytest.approx(0.149 + (0.5 - 0.149) / 2))


def test_the_zero_model_is_not_a_choice_of_a_small_budget(toy, records):
    raced = replace(toy, methods=(*toy.methods, Method("zero", "zero model", "sklearn.dummy:DummyClassifier")))
    rows = [*records.race(1), records.one("zero", error=0.24, seconds=1e-5)]
    (display,) = (table for table in toy.tables if isinstance(table, Recommendation))
    advice = advise(records.results(raced, rows), display, "adult")
    assert best_within(advice, 0.01) is None and best_within(advice, 1.0)[0] != "zero"


def test_without_the_usual_choice_there_is_no_small_budget(row, records):
    rows = records.race(1)
    assert plain(row(rows)["in_a_hurry"]).startswith("SMO, test error")
    others = [record for record in rows if record["method"] != "libsvm"]
    for record in others:
        record["seconds"]["fit"] = 20.0  # a tenth of which is longer than the beginning of SMO's trace
    assert plain(row(others)["in_a_hurry"]) == "–"


def test_where_no_method_is_done_in_a_tenth_of_the_time_the_table_says_so(row, records):
    rows = [record | {"trace": {}} for record in records.race(1)]
    assert plain(row(rows)["in_a_hurry"]) == "no method finished in time in every repeat"


def test_the_figure_has_a_panel_for_each_task_and_the_usual_choice(toy, records):
    picture = choice_picture(choices(verdicts([records.results(toy, records.race())])))
    assert picture.svg_inline.count('role="img"') == 1
    assert "adult, 1,000 rows: SMO in 2 s, LIBSVM in 9 s" in picture.svg_inline
    header, line = picture.csv.splitlines()
    assert line == "a kernel SVM,SMO,adult,toy,1000.0,2.0,LIBSVM,9.0"


def test_the_figure_has_the_factor_of_the_runs_of_both(toy, records):
    """LIBSVM was run more often, and on a slower machine: the table says 4.5 times as long."""
    slow = records.one()["environment"] | {"processor": "Slow CPU 1"}
    rows = records.race() + [records.one("libsvm", repeat=k, seconds=100.0, environment=slow) for k in range(3, 9)]
    picture = choice_picture(choices(verdicts([records.results(toy, rows)])))
    assert "SMO in 2 s, LIBSVM in 9 s" in picture.svg_inline and picture.csv.splitlines()[1].endswith("LIBSVM,9.0")
    alone = [row for row in rows if row["method"] != "libsvm" or row["repeat"] > 2]
    picture = choice_picture(choices(verdicts([records.results(toy, alone)])))
    assert "LIBSVM has no time" in picture.svg_inline and picture.csv.splitlines()[1].endswith("LIBSVM,")


def test_the_figure_names_no_time_that_was_not_measured(toy, records):
    rows = [row for row in records.race() if row["method"] != "libsvm"] + [records.failure("libsvm", repeat=0)]
    picture = choice_picture(choices(verdicts([records.results(toy, rows)])))
    assert "adult, 1,000 rows: SMO in 2 s, LIBSVM has no time." in picture.svg_inline
    assert picture.csv.splitlines()[1] == "a kernel SVM,SMO,adult,toy,1000.0,2.0,LIBSVM,"
    usual = [row for row in records.race() if row["method"] == "libsvm"]
    smo = [records.one("smo", repeat=k, error=0.4) for k in range(3)]
    picture = choice_picture(choices(verdicts([records.results(toy, usual + smo)])))
    assert "adult, 1,000 rows: LIBSVM (scikit-learn SVC) in 9 s, the usual choice." in picture.svg_inline


def test_marks_of_the_legend_are_not_cut_off_beside_a_long_name(toy, records):
    name = "SMO, with a cache of ten rows, a tolerance of its own"
    methods = [replace(method, label=name) if method.name == "smo" else method for method in toy.methods]
    found = records.results(replace(toy, methods=tuple(methods)), records.race())
    picture = choice_picture(choices(verdicts([found])))
    assert ">SMO, with a cache of ten rows, a …<" in picture.svg_inline  # in the legend
    assert f"1,000 rows: {name} in 2 s" in picture.svg_inline  # in words


def test_settings_of_one_class_keep_their_names(toy, records):
    """Both are KernelSVC(solver="smo") in code, which leaves out what only tunes it."""
    tuned = Method("tuned", "SMO, small cache", SMO, TUNED)
    wins = [records.one("tuned", dataset="mnist", seconds=1.0), records.one("libsvm", dataset="mnist", seconds=9.0)]
    (verdict,) = verdicts([records.results(replace(toy, methods=(*toy.methods, tuned)), records.race() + wins)])
    assert len(choices([verdict])) == 1
    assert any(told.startswith("On adult, SMO was the fastest") for told in verdict.sentences)
    assert any(told.startswith("On mnist, SMO, small cache was the fastest") for told in verdict.sentences)
    other = "Measured with other settings than those of the code below"
    assert f'{other}: KernelSVC(solver="smo", cache_size=10) on mnist.' in verdict.sentences
    (alone,) = verdicts([records.results(toy, records.race())])
    assert not any(told.startswith(other) for told in alone.sentences)
    assert "mnist, 1,000 rows: SMO, small cache in 1 s, LIBSVM in 9 s" in choice_picture(choices([verdict])).svg_inline


def test_a_default_is_no_other_setting(toy, records):
    methods = [replace(m, params=m.params | {"kernel": "rbf"}) if m.name == "smo" else m for m in toy.methods]
    other = replace(toy, name="other", methods=tuple(methods))
    (verdict,) = verdicts([records.results(experiment, records.race()) for experiment in (toy, other)])
    assert not any("other settings" in told for told in verdict.sentences)


def test_usual_choices_of_one_name_are_named_once(toy, records):
    methods = [replace(m, label=f"linear, {m.label}") if m.name == "libsvm" else m for m in toy.methods]
    other = replace(toy, name="other", methods=tuple(methods))
    found = [records.results(experiment, records.race()) for experiment in (toy, other)]
    ((_, (entries,)),) = choice_table(choices(verdicts(found))).blocks
    assert plain(entries[3]) == "LIBSVM (scikit-learn SVC) takes 4.5 × as long"


def test_without_sizes_there_is_a_table_and_no_figure(toy, records):
    rows = [record | {"data": {}} for record in records.race(1)]
    found = choices(verdicts([records.results(toy, rows)]))
    assert choice_picture(found) is None and choice_table(found) is not None
    assert choice_table([]) is None


def test_data_of_several_experiments_are_told_apart_where_set_ups_differ(toy, records):
    other = records.race()
    for row in other:
        row["environment"] = row["environment"] | {"processor": f"CPU {row['repeat']}"}
    found = [records.results(toy, records.race()), records.results(replace(toy, name="other"), other)]
    (told,) = (note for note in choice_table(choices(verdicts(found))).notes if "several set-ups" in note)
    assert told.startswith("Repeats on adult of other are from several set-ups")
