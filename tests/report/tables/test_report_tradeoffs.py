"""Trade-offs: on the front is what no other method beats in accuracy, time and memory."""

from dataclasses import replace

import pytest

from kernbench.experiments import registry
from kernbench.report.charts.fronts import front_picture
from kernbench.report.tables.optimality import optimality_words
from kernbench.report.tables.tradeoffs import fronts, tradeoff_table


def points(results):
    ((_, found),) = fronts(results).items()
    return {point.method: point for point in found}


def test_a_method_that_is_beaten_in_everything_is_off_the_front(toy, records):
    found = points(records.results(toy, records.race(1)))
    assert found["smo"].on_front and not found["sbp"].on_front
    assert not found["libsvm"].on_front  # as accurate as SMO, and slower


def test_memory_puts_a_slower_method_on_the_front(toy, records):
    rows = records.race(1)
    rows[0]["peak_memory_bytes"] = 1_000_000
    found = points(records.results(toy, rows))
    assert found["libsvm"].on_front and not found["libsvm"].fast


def test_memory_counts_where_it_is_known_of_both(toy, records):
    rows = [records.one("smo"), records.one("sbp", error=0.2, seconds=2.0, peak_memory_bytes=None)]
    found = points(records.results(toy, rows))
    assert found["smo"].on_front and not found["sbp"].on_front and found["sbp"].memory is None
    picture = front_picture(records.results(toy, rows))
    assert "adult,sbp,2.0,0.2,,0,0" in picture.csv.splitlines()


def test_methods_are_compared_in_the_repeats_of_both(toy, records):
    """Each repeat draws its data anew: SBP, worse in everything, has the one on which all are good."""
    errors, seconds = (0.1, 0.3, 0.3), (1.0, 4.0, 4.0)
    rows = [records.one("smo", repeat=k, error=e, seconds=s) for k, (e, s) in enumerate(zip(errors, seconds))]
    found = points(records.results(toy, [*rows, records.one("sbp", error=0.11, seconds=1.1)]))
    assert found["sbp"].value < found["smo"].value and found["sbp"].seconds < found["smo"].seconds
    assert found["smo"].on_front and not found["sbp"].on_front and not found["sbp"].fast
    apart = points(records.results(toy, [*rows, records.one("sbp", repeat=3, error=0.11, seconds=1.1)]))
    assert apart["sbp"].on_front and apart["smo"].on_front  # no repeat compares them


def test_times_of_two_machines_are_not_compared(toy, records):
    """SBP, slower on any machine, was measured on a faster one."""
    fast = records.one()["environment"] | {"processor": "Fast CPU"}
    rows = [records.one("smo", seconds=2.0), records.one("sbp", seconds=1.0, environment=fast)]
    found = points(records.results(toy, rows))
    assert found["smo"].on_front and found["sbp"].on_front and found["smo"].fast
    rows += [records.one("smo", repeat=1, seconds=0.5, environment=fast), records.one("sbp", repeat=1, seconds=4.0)]
    rows += [records.one("smo", repeat=2, seconds=0.5, environment=fast)]
    rows += [records.one("sbp", repeat=2, seconds=1.0, environment=fast)]
    found = points(records.results(toy, rows))
    assert found["smo"].on_front and not found["sbp"].on_front


def test_equal_methods_are_both_on_the_front(toy, records):
    rows = [records.one("smo"), records.one("sbp")]
    found = points(records.results(toy, rows))
    assert found["smo"].on_front and found["sbp"].on_front


def test_more_is_better_where_the_metric_says_so(toy, records):
    first = replace(toy.metrics[0], direction="higher")
    turned = replace(toy, metrics=(first, *toy.metrics[1:]), tables=())
    rows = [records.one("smo", error=0.8, seconds=2.0), records.one("sbp", error=0.9, seconds=1.0)]
    found = points(records.results(turned, rows))
    assert found["sbp"].on_front and not found["smo"].on_front


def test_every_table_has_a_column_of_optimality_that_may_say_none(toy, records):
    rows = records.race(1)
    rows[-1]["metrics"]["objective"] = 0.33
    plain = tradeoff_table(records.results(toy, rows))
    place = [column.label for column in plain.columns].index("optimality")
    assert {line[place].text for _, lines in plain.blocks for line in lines} == {"none"}
    assert any(note.startswith("Optimality: none, since") for note in plain.notes)
    table = tradeoff_table(records.results(replace(toy, optimality="objective"), rows))
    place = [column.csv_label for column in table.columns].index("relative_excess_objective")
    ((_, lines),) = table.blocks
    assert {line[0].text: line[place].text for line in lines}["SMO"] == "10 %"


def test_repeats_that_failed_are_told_beside_the_front(toy, records):
    """A method that runs out of time now and then is on the front by its fast repeats."""
    rows = [*records.race(1), *(records.failure("smo", repeat=k) for k in (1, 2))]
    ((_, lines),) = tradeoff_table(records.results(toy, rows)).blocks
    told = {line[0].text: (line[-2].text, line[-1].text, line[-1].value) for line in lines}
    assert told["SMO"] == ("yes", "1 of 3", 1) and told["SBP"][1:] == ("1", 1)


@pytest.mark.parametrize("seconds, word", [((1.0, 1.01, 1.02), ""), ((1.0, 2.0, 4.0), "noisy")])
def test_noisy_is_a_word(toy, records, seconds, word):
    rows = [records.one("smo", repeat=k, seconds=each) for k, each in enumerate(seconds)] + [records.one("sbp")]
    table = tradeoff_table(records.results(toy, rows))
    ((_, lines),) = table.blocks
    (shown,) = (line[2].text for line in lines if line[0].text == "SMO")
    assert shown.endswith(word) and ("noisy" in shown) == bool(word)


def test_what_is_no_race_has_no_front(toy, records):
    timeless = replace(toy, metrics=toy.metrics[:1], tables=(), figures=(), paper_numbers=())
    assert tradeoff_table(records.results(timeless, records.race(1))) is None
    assert tradeoff_table(records.results(toy, [records.one()])) is None


def test_the_figure_names_the_front_in_words(toy, records):
    picture = front_picture(records.results(toy, records.race(1)))
    assert "adult, on the front: SMO 14.90 % in 2 s" in picture.svg_inline
    assert picture.csv.splitlines()[0] == "dataset,method,fit_seconds,test_error,memory,filled,on_front_with_memory"


@pytest.mark.parametrize("name", ["dsg-cost", "cache"])
def test_an_exponent_or_a_ratio_of_times_is_no_accuracy(name):
    """An experiment on the cost of fits has their time as its headline, and no table of accuracy against time."""
    assert registry.get(name).metrics[0].unit == "s"


def test_points_are_in_the_order_of_their_times(toy, records):
    assert list(points(records.results(toy, records.race(1)))) == ["sbp-quarter", "smo", "libsvm", "sbp"]


def test_the_figure_leaves_out_who_is_on_the_front_by_memory_alone(toy, records):
    rows = records.race(1)
    rows[0]["peak_memory_bytes"] = 1_000_000
    picture = front_picture(records.results(toy, rows))
    (words,) = (part for part in picture.svg_inline.split("<desc") if "on the front" in part)
    assert "SMO" in words and "LIBSVM" not in words.partition("</desc>")[0]
    (line,) = (line for line in picture.csv.splitlines() if ",libsvm," in line)
    assert line.endswith(",0,1")  # hollow; on the front with the memory, which its table has


def test_in_the_figure_a_method_far_worse_lies_outside_and_one_far_better_inside(toy, records):
    """The zero model is the fastest, hence on the front; with it in the panel all others would be one point."""
    worse, better = (
        front_picture(records.results(toy, records.race(1) + [records.one("other", error=e, seconds=0.001)])).svg_file
        for e in (0.5, 0.01)
    )
    assert ">15</text>" in worse and ">40</text>" not in worse and ">0.001</text>" not in worse
    assert ">5</text>" in better and ">0.001</text>" in better


def test_optimality_in_words_names_what_it_is(toy, records):
    rows = records.race(1)
    rows[-1]["metrics"]["objective"] = 0.33
    results = records.results(replace(toy, optimality="objective"), rows)
    shown = [optimality_words(results, "adult", name).text for name in ("libsvm", "smo")]
    assert shown == ["best objective", "10 % above the best"]
    other = records.results(replace(toy, optimality="test_error"), rows)
    assert optimality_words(other, "adult", "sbp").text == "test error 14.9 %"
