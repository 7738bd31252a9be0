"""The first screen: what to use, how much faster it is, and the race that says so."""

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from kernbench.experiments.declare import Recommendation
from kernbench.report.charts.choices import choice_picture
from kernbench.report.charts.speed import COLUMNS, speed_picture
from kernbench.report.verdict.choices import choice_table, choices
from kernbench.report.verdict.headlines import MOST_ROWS, headline_table, recommended
from kernbench.report.verdict.verdict import verdicts

SECTIONS = [SimpleNamespace(name="toy-paper")]
HOLLOW = "fill-opacity: 0; stroke: var(--blue)"


@pytest.fixture
def judged(toy, records):
    """The verdicts on some records."""
    return lambda rows, experiment=toy: verdicts([records.results(experiment, rows)])


def test_a_row_says_what_to_use_how_much_faster_it_is_and_where_that_was_measured(judged, records):
    ((_, (row,)),) = headline_table(judged(records.race()), SECTIONS).blocks
    assert [entry.text for entry in row[1:]] == [
        'KernelSVC(solver="smo")',
        "4.5 × as fast as LIBSVM (scikit-learn SVC); chosen in 1 of 1 race",
        "A toy race",
    ]
    assert row[3].link == "#toy-paper"
    markdown = headline_table(judged(records.race()), SECTIONS).to_markdown("details")
    assert markdown.endswith("| [A toy race](details/toy-paper.md) |")


def test_a_race_that_the_page_does_not_show_is_no_link(judged, records):
    ((_, (row,)),) = headline_table(judged(records.race()), []).blocks
    assert row[3].link == ""


def test_a_row_says_how_many_other_experiments_have_races_of_its_task(toy, records):
    found = verdicts([records.results(replace(toy, name=name), records.race()) for name in ("one", "two", "three")])
    ((_, (row,)),) = headline_table(found, []).blocks
    assert row[3].text == "A toy race; and 2 others" and row[3].value == "one"


def test_races_that_another_method_won_have_no_dot(judged, records):
    rows = records.race() + records.race(dataset="mnist")
    rows += [records.one("sbp", dataset="w8a", seconds=0.1), records.one("libsvm", dataset="w8a", seconds=1.0)]
    picture = speed_picture(judged(rows))
    assert [row.split(",")[-3] for row in picture.csv.splitlines()[1:]] == ["adult", "mnist"]
    assert "a dot for each race won" in picture.svg_inline and "Races that another method won" in picture.caption


def test_what_readers_should_know_stands_below_the_table_and_with_the_verdict(toy, judged, records):
    remark = "One fold was run."
    tables = tuple(replace(table, remarks=(remark,)) if hasattr(table, "remarks") else table for table in toy.tables)
    (verdict,) = found = judged(records.race(), replace(toy, tables=tables))
    assert headline_table(found, SECTIONS).notes[1:] == [remark] and remark in verdict.caveats


def test_the_usual_choice_may_be_the_one(judged, records):
    rows = [record for record in records.race() if record["method"] == "libsvm"]
    rows += [records.one("smo", repeat=k, error=0.4) for k in range(3)]
    ((_, (row,)),) = headline_table(judged(rows), SECTIONS).blocks
    assert row[2].text == "is the usual choice; chosen in 1 of 1 race"
    assert "is the usual choice" in speed_picture(judged(rows)).svg_inline


@pytest.fixture
def other_baseline(toy, records):
    """The verdicts on a race against LIBSVM and, in another experiment, on one against another method."""
    (display,) = (table for table in toy.tables if isinstance(table, Recommendation))

    def other_baseline(name):
        other = replace(toy, name="other", tables=(replace(display, baseline=name, rough=None),))
        return verdicts([records.results(experiment, records.race()) for experiment in (toy, other)])

    return other_baseline


def test_factors_over_different_usual_choices_are_not_pooled(other_baseline):
    found = other_baseline("sbp")
    ((_, (row,)),) = headline_table(found, SECTIONS).blocks
    libsvm = "LIBSVM (scikit-learn SVC)"
    assert row[2].text == f"4.5 × as fast as {libsvm}, 10 × as fast as SBP; chosen in 2 of 2 races"
    ((_, (row,)),) = choice_table(choices(found)).blocks
    assert row[3].text.replace("\u00a0", " ") == f"{libsvm} takes 4.5 × as long, SBP takes 10 × as long"


def test_each_usual_choice_has_a_row_of_the_figure(other_baseline):
    picture = speed_picture(other_baseline("sbp"))
    lines = re.findall(r"<text[^>]*>([^<]*)</text>", picture.svg_inline)
    named = ["KernelSVC against LIBSVM (scikit-learn SVC)", "KernelSVC against SBP"]
    assert [line for line in lines if "against" in line] == named and lines.count("A kernel SVM") == 2
    assert f"{named[0]}: adult of toy 4.5." in picture.svg_inline
    assert f"{named[1]}: adult of other 10." in picture.svg_inline
    rows = [row.split(",")[-4:] for row in picture.csv.splitlines()[1:]]
    assert rows == [["LIBSVM (scikit-learn SVC)", "adult of toy", "4.5", "3"], ["SBP", "adult of other", "10.0", "3"]]


def test_a_race_of_which_the_method_is_the_usual_choice_has_no_factor(other_baseline):
    found = other_baseline("smo")
    ((_, (row,)),) = headline_table(found, SECTIONS).blocks
    share = "chosen in 2 of 2 races, in 1 of them as the usual choice"
    assert row[2].text == f"4.5 × as fast as LIBSVM (scikit-learn SVC); {share}"
    assert "KernelSVC is the usual choice: adult of other 1." in speed_picture(found).svg_inline


def test_long_names_are_broken_into_lines_and_leave_room_for_the_dots(toy, judged, records):
    methods = tuple(
        replace(method, label="a usual choice whose name is as long as that of a pipeline of features and a model")
        if method.name == "libsvm"
        else method
        for method in toy.methods
    )
    lines = re.findall(
        r"<text[^>]*>([^<]*)</text>", speed_picture(judged(records.race(), replace(toy, methods=methods))).svg_inline
    )
    named = [line for line in lines if "pipeline" in line or "usual choice whose" in line]
    assert len(named) == 2 and max(len(line) for line in named) <= COLUMNS


def test_races_on_data_of_one_name_have_names_of_their_own_in_both_figures(toy, records):
    found = verdicts([records.results(replace(toy, name=name), records.race()) for name in ("one", "two")])
    assert "adult of one 4.5, adult of two 4.5" in speed_picture(found).svg_inline
    _, *rows = speed_picture(found).csv.splitlines()
    assert [row.split(",")[-3] for row in rows] == ["adult of one", "adult of two"]
    assert "adult of two, 1,000 rows: SMO in 2 s" in choice_picture(choices(found)).svg_inline


def test_a_data_set_on_which_the_usual_choice_has_no_time_has_no_dot(judged, records):
    rows = records.race() + [records.one("smo", dataset="mnist")]
    assert "mnist" not in speed_picture(judged(rows)).csv
    assert "adult,4.5" in speed_picture(judged(rows)).csv
    ((_, (row,)),) = headline_table(judged(rows), SECTIONS).blocks
    libsvm = "LIBSVM (scikit-learn SVC)"
    assert row[2].text == f"4.5 × as fast as {libsvm} where that has a time (1 race); chosen in 2 of 2 races"


def test_a_usual_choice_that_never_finished_is_said(judged, records):
    ((_, (row,)),) = headline_table(judged([records.one("smo")]), SECTIONS).blocks
    assert row[2].text == "LIBSVM (scikit-learn SVC) has no time to compare with; chosen in 1 of 1 race"


def test_what_the_reader_has_is_declared(toy, judged, records):
    tables = tuple(replace(table, have="a toy") if hasattr(table, "have") else table for table in toy.tables)
    ((_, (row,)),) = headline_table(judged(records.race(), replace(toy, tables=tables)), SECTIONS).blocks
    assert row[0].text == "a toy"


def test_every_recommendation_of_ours_says_what_the_reader_has():
    from kernbench.experiments import registry
    from kernbench.experiments.declare import Recommendation

    for experiment in registry.EXPERIMENTS:
        for table in experiment.tables:
            assert not isinstance(table, Recommendation) or table.have, experiment.name


def test_the_first_screen_is_short(judged, records):
    (verdict,) = judged(records.race())
    assert len(recommended([verdict] * 9)) == MOST_ROWS
    assert headline_table([], []) is None and speed_picture([]) is None


def test_a_task_whose_usual_choice_is_recommended_gives_way_to_one_with_a_factor(judged, records):
    (compared,) = judged(records.race())
    usual = [record for record in records.race() if record["method"] == "libsvm"]
    (usual,) = judged(usual + [records.one("smo", repeat=k, error=0.4) for k in range(3)])
    shown = [verdict for verdict, _ in recommended([usual] * 4 + [compared] * 4)]
    assert [verdict is compared for verdict in shown] == [True] * 4 + [False] * (MOST_ROWS - 4)


def test_tasks_whose_method_won_most_races_come_first(judged, records):
    """One task has three races, of which SMO won one; another has two, and SMO won both."""
    rows = records.race() + records.race(dataset="mnist")
    (both,) = judged(rows)
    rows = [*records.race(), *(records.one("libsvm", dataset=name, seconds=1.0) for name in ("a", "b"))]
    rows += [records.one("sbp", dataset="a", seconds=0.1), records.one("smo", dataset="b", error=0.4)]
    (one,) = judged(rows)
    assert len(one.advices) == 3
    assert [verdict is both for verdict, _ in recommended([one] * 5 + [both] * 3)] == [True] * 3 + [False] * 3


def test_the_row_and_the_verdict_name_one_method_where_two_are_chosen_as_often(judged, records):
    """That of the larger problem, whichever data set comes first."""
    for fast, slow in (("adult", "mnist"), ("mnist", "adult")):
        rows = [records.one("smo", dataset=fast, seconds=0.1), records.one("libsvm", dataset=fast, seconds=1.0)]
        rows += [records.one("smo", dataset=slow, seconds=40.0), records.one("libsvm", dataset=slow, seconds=20.0)]
        (verdict,) = found = judged(rows)
        assert {advice.method for advice in verdict.advices} == {"smo", "libsvm"}
        ((_, (row,)),) = headline_table(found, SECTIONS).blocks
        assert f"use {row[1].text}." in verdict.headline and "KernelSVC" not in row[1].text


def test_of_two_methods_chosen_as_often_the_slower_one_is_not_preferred(judged, records):
    """SMO wins on many rows in 0.1 s; LIBSVM wins on few rows, and takes 20 s there."""
    rows = [records.one("smo", dataset="adult", seconds=0.1), records.one("libsvm", dataset="adult", seconds=1.0)]
    for row in rows:
        row["data"] = row["data"] | {"n_train": 50_000}
    rows += [records.one("smo", dataset="mnist", seconds=40.0), records.one("libsvm", dataset="mnist", seconds=20.0)]
    (verdict,) = judged(rows)
    assert verdict.headline == 'For a kernel SVM, use KernelSVC(solver="smo").'


def test_of_two_methods_chosen_as_often_the_one_on_real_data_is_preferred(judged, records):
    """SMO wins on many rows that are generated, LIBSVM on few that are real."""
    rows = [records.one("smo", seconds=0.1, kind="generated"), records.one("libsvm", seconds=1.0, kind="generated")]
    for row in rows:
        row["data"] = row["data"] | {"n_train": 50_000}
    rows += [records.one("smo", dataset="mnist", seconds=40.0), records.one("libsvm", dataset="mnist", seconds=20.0)]
    (verdict,) = judged(rows)
    assert verdict.headline == "For a kernel SVM, use sklearn.svm.SVC()."


def test_factors_from_one_run_are_told_in_the_row_and_counted_below_the_table(judged, records):
    """On mnist LIBSVM was run once, SMO three times."""
    once = [row for row in records.race(dataset="mnist") if row["method"] != "libsvm" or not row["repeat"]]
    libsvm, rest = "LIBSVM (scikit-learn SVC)", "on one run of the usual choice, of the recommended method, or of both"

    def told(rows):
        table = headline_table(judged(rows), SECTIONS)
        ((_, (row,)),) = table.blocks
        return row[2].text, table.notes[0]

    shown, note = told(records.race() + once)
    assert shown == f"4–4.5 × as fast as {libsvm} (in 1 race from one run); chosen in 2 of 2 races"
    assert f"1 of these 2 races rests {rest}" in note
    assert told(once)[0] == f"4 × as fast as {libsvm} in one run; chosen in 1 of 1 race"
    shown, note = told(once + [row | {"dataset": "w8a"} for row in once])
    assert shown == f"4 × as fast as {libsvm} in one run each; chosen in 2 of 2 races"
    assert f"2 of these 2 races rest {rest}" in note
    assert not any("one run" in words for words in told(records.race()))


def test_a_dot_from_one_run_is_hollow(judged, records):
    """On mnist LIBSVM was run once, SMO three times."""
    once = [row for row in records.race(dataset="mnist") if row["method"] != "libsvm" or not row["repeat"]]
    picture = speed_picture(judged(records.race() + once))
    assert "adult 4.5, mnist 4 in one run." in picture.svg_inline
    assert picture.caption.endswith("have no dot. Hollow: from a single run.")
    header, *rows = picture.csv.splitlines()
    assert [row.rpartition(",")[2] for row in (header, *rows)] == ["runs", "3", "1"]
    several = speed_picture(judged(records.race()))
    assert "Hollow" not in several.caption and "in one run" not in several.svg_inline
    assert picture.svg_inline.count(HOLLOW) == 1 and HOLLOW not in several.svg_inline
