"""Declared tables: the data they take from records, and how these are printed."""

from dataclasses import replace

import pytest

from kernbench.experiments.declare import CrossTable, Metric, MetricTable, PaperData, PaperNumber, Quantity
from kernbench.report import text
from kernbench.report.page.displays import tables_of
from kernbench.report.records.cells import Cell
from kernbench.report.tables.facts import data_table, failure_table
from kernbench.report.tables.metric_table import metric_table, setups_told
from kernbench.report.tables.quantities import mean_entry, seconds_to


@pytest.fixture
def made(toy, records):
    """The one table a display makes of some records."""

    def made(rows, display, experiment=None):
        (table,) = tables_of(records.results(replace(experiment or toy, tables=(display,)), rows))
        return table

    return made


def row_of(table, method, block=0):
    """The entries of a method's row by the headings of the CSV."""
    (row,) = (row for row in table.blocks[block][1] if row[0].text == method)
    return dict(zip((column.csv_label for column in table.columns), row, strict=True))


def test_cross_table_puts_the_papers_number_beside_ours(toy, records, made):
    paper = (PaperNumber("adult", "smo", "test_error", 0.15, 0.002), *toy.paper_numbers)
    table = made(records.race(), CrossTable("t", "T", "test_error"), replace(toy, paper_numbers=paper))
    entries = dict(zip((column.csv_label for column in table.columns), table.blocks[0][1][0]))
    assert entries["libsvm_test_error"].text == "14.90 ± 0.00 (14.9)"
    assert entries["smo_test_error"].text == "14.90 ± 0.00 (15.00 ± 0.20)"
    assert entries["sbp_test_error"].text == "14.92 ± 0.00"
    assert "In brackets: the paper's number, and the ± that it prints." in table.notes
    without = made(records.race(), CrossTable("t", "T", "test_error"))
    assert "In brackets: the paper's number." in without.notes


def test_cross_table_with_a_baseline_divides_within_a_repeat(toy, records, made):
    display = CrossTable("t", "T", "fit_seconds", baseline="libsvm", methods=("smo", "sbp-quarter"))
    rows = [records.one("libsvm", repeat=k, seconds=s) for k, s in enumerate((8.0, 4.0))]
    rows += [records.one("smo", repeat=k, seconds=s) for k, s in enumerate((2.0, 2.0))]
    elsewhere = records.one("sbp-quarter", seconds=1.0)
    elsewhere["environment"]["processor"] = "Another CPU"
    table = made([*rows, elsewhere], display)
    _, other, ours = table.blocks[0][1][0]
    assert ours.value == pytest.approx((2 / 8 + 2 / 4) / 2) and ours.text.endswith(" ×")
    assert other.value is None  # a time on another machine means something else


def test_cross_table_of_differences_carries_its_sign(toy, records, made):
    display = CrossTable("t", "T", "test_error", baseline="libsvm", difference=True)
    table = made(records.race(), display)
    entries = dict(zip((column.csv_label for column in table.columns), table.blocks[0][1][0]))
    assert entries["sbp-quarter_minus_libsvm_test_error"].text == "+0.10 [+0.10, +0.10] (+0.10)"
    assert table.columns[0].label == "test error (points)"  # not %
    assert "libsvm_minus_libsvm_test_error" not in entries


def test_a_difference_is_paired_within_repeats_and_has_an_interval(records, made):
    errors = {"libsvm": (0.10, 0.20, 0.30), "smo": (0.11, 0.22, 0.33)}
    rows = [records.one(m, repeat=k, error=e) for m, own in errors.items() for k, e in enumerate(own)]
    column = Quantity("test_error", "difference", baseline="libsvm")
    entry = row_of(made(rows, MetricTable("m", "M", (column,))), "SMO")["test_error_minus_libsvm"]
    # Mean 2 points, standard deviation 1 point; 4.303 is Student's t for 2 degrees of freedom.
    assert entry.text == "+2.00 [−0.48, +4.48]" and entry.error == pytest.approx(0.01 / 3**0.5)
    display = CrossTable("t", "T", "test_error", baseline="libsvm", difference=True, methods=("libsvm", "smo"))
    table = made(rows, display)
    assert table.blocks[0][1][0][1].text == entry.text
    assert table.notes[-2].startswith("[ , ]: 95 % interval")
    unpaired = [*rows[:3], records.one("smo", repeat=3)]
    assert row_of(made(unpaired, MetricTable("m", "M", (column,))), "SMO")["test_error_minus_libsvm"].value is None


def test_every_table_says_how_many_repeats_it_is_of(toy, records, made):
    def note(rows):
        return made(rows, MetricTable("m", "M", ("test_error",))).notes[-1]

    methods = [method.name for method in toy.methods]
    single = [records.one(method) for method in methods]
    assert note(single) == "1 repeat: no interval."
    double = [*single, *(records.one(method, repeat=1) for method in methods)]
    assert note(double) == "2 repeats."
    others = f"2 repeats in {len(methods) - 1} entries; 3 of SMO on adult."
    assert note([*double, records.one("smo", repeat=2)]) == others
    many = [records.one(method, f"d{k}") for method in methods for k in range(2)]
    assert note([*double, *double, *many]) == "1 repeat in 10 entries; 2 in 5 entries."
    assert made(single, MetricTable("m", "M", (Quantity("test_error", "repeats"),))).notes == []
    alone = [records.one("smo", name, repeat=k) for name, n in (("adult", 2), ("mnist", 3)) for k in range(n)]
    table = made(alone, MetricTable("m", "M", ("test_error",), methods=("smo",)))
    assert table.notes[-1] == "2 repeats in 1 entry; 3 on mnist."  # its rows are data sets


def test_an_entry_of_some_of_the_repeats_alone_says_of_how_many(records, made):
    """Times of the repeats that arrive are no times of all of them."""
    rows = [records.one(repeat=k, metrics={"test_error": 0.1} if k < 2 else {}, seconds=2.0) for k in range(5)]
    rows += [records.one("libsvm", repeat=k, seconds=4.0) for k in range(3)]
    quantities = ("test_error", Quantity("test_error", "median"), Quantity("fit_seconds", "speed", baseline="libsvm"),
                  Quantity("test_error", "reached", baseline="libsvm"))  # fmt: skip
    told = ("10.00 ± 0.00 (2 of 5)", "10 % (2 of 5)", "2 × (3 of 5)", "2 s (3 of 5)")
    for quantity, shown in zip(quantities, told, strict=True):
        table = made(rows, MetricTable("m", "M", (quantity,)))
        assert [row[1].text for row in table.blocks[0][1] if row[0].text == "SMO"] == [shown]
        assert any(note.startswith("(n of m): over n of m repeats") for note in table.notes)
    table = made(rows, CrossTable("t", "T", "fit_seconds", baseline="libsvm", methods=("libsvm", "smo")))
    assert table.blocks[0][1][0][1].text == "0.5 ± 0 × (3 of 5)"
    whole = made(rows[2:3], MetricTable("m", "M", ("fit_seconds",)))
    assert not any("(n of m)" in note for note in whole.notes)


def test_every_table_says_which_columns_are_medians_over_repeats(records, made):
    columns = ("test_error", Quantity("fit_seconds", "median"), Quantity("fit_seconds", "speed", baseline="libsvm"))
    display = MetricTable("m", "M", (*columns, Quantity("peak_memory", "largest")))
    told = "Medians over repeats: fit time and speed (LIBSVM = 1). Largest over repeats: peak memory."
    assert told in " ".join(made(records.race(), display).notes)
    assert "over repeats:" not in " ".join(made(records.race(1), display).notes)


def test_metric_table_of_one_method_has_a_row_for_each_data_set(toy, records, made):
    display = MetricTable("m", "M", ("test_error", "fit_seconds"), methods=("smo",))
    rows = [records.one(dataset=name, seconds=2.0) for name in ("adult", "mnist")]
    table = made(rows, display)
    assert [[entry.text for entry in row] for row in table.blocks[0][1]] == [
        ["adult", "15.00", "2"],
        ["mnist", "15.00", "2"],
    ]


def test_an_experiment_of_one_method_has_a_row_for_each_data_set(toy, records):
    (smo,) = (method for method in toy.methods if method.name == "smo")
    alone = replace(toy, methods=(smo,), claims=(), tables=(), figures=(), paper_numbers=())
    rows = [records.one(dataset=name) for name in ("adult", "mnist")]
    table = metric_table(MetricTable("m", "M", ("test_error",)), records.results(alone, rows))
    assert [heading for heading, _ in table.blocks] == [""]
    assert [row[0].text for row in table.blocks[0][1]] == ["adult", "mnist"]


def test_forms_of_a_quantity(toy, records, made):
    rows = records.race()
    for row in rows:
        row["metrics"]["objective"] = 0.33 if row["method"] == "sbp" else 0.3
        row["metrics"]["converged"] = row["method"] == "smo" or row["repeat"] == 0
    rows.append(records.failure("smo", repeat=7))
    columns = (
        Quantity("test_error", "paper"),
        Quantity("test_error", "difference", baseline="libsvm"),
        Quantity("fit_seconds", "median"),
        Quantity("peak_memory", "largest"),
        Quantity("converged", "all"),
        Quantity("objective", "excess"),
        Quantity("fit_seconds", "speed", baseline="libsvm"),
        Quantity("test_error", "reached", baseline="libsvm", margin=0.002),
        Quantity("fit_seconds", "repeats"),
    )
    table = made(rows, MetricTable("m", "M", columns))
    shown = {
        method: [entry.text for entry in row_of(table, method).values()][1:]
        for method in ("LIBSVM (scikit-learn SVC)", "SMO", "SBP")
    }
    libsvm = ["14.9", "–", "9 s", "191 MB", "1 of 3", "best", "–", "–", "3"]
    assert shown["LIBSVM (scikit-learn SVC)"] == libsvm
    assert shown["SMO"] == ["–", "0.00 [0.00, 0.00]", "2 s", "191 MB", "yes", "best", "4.5 ×", "2 s", "3 of 4"]
    assert shown["SBP"] == ["–", "+0.02 [+0.02, +0.02]", "20 s", "191 MB", "1 of 3", "10 %", "0.45 ×", "20 s", "3"]
    assert row_of(table, "SBP")["relative_excess_objective"].value == pytest.approx(0.1)


def test_a_repeat_that_never_gets_there_has_no_time(toy, records, made):
    rows = records.race() + [records.one("smo", repeat=3, error=0.2)]
    display = MetricTable("m", "M", (Quantity("test_error", "reached", baseline="libsvm"),))
    assert row_of(made(rows, display), "SMO")["seconds_to_test_error_of_libsvm"].value == 2.0  # nothing to reach there
    table = made([*rows, records.one("libsvm", repeat=3, error=0.149)], display)
    assert row_of(table, "SMO")["seconds_to_test_error_of_libsvm"].value is None


def test_the_value_to_be_reached_is_that_of_the_same_repeat(records, made):
    """Each repeat draws its data anew, so that errors are 10 % or 30 %, of both methods; SMO has each at its end."""
    rows = [records.one(m, repeat=k, error=e) for k, e in enumerate((0.1, 0.3)) for m in ("libsvm", "smo")]
    table = made(rows, MetricTable("m", "M", (Quantity("test_error", "reached", baseline="libsvm"),)))
    assert row_of(table, "SMO")["seconds_to_test_error_of_libsvm"].value == 1.0


def test_papers_numbers_of_other_data_are_marked(toy, records, made):
    display = MetricTable("m", "M", (Quantity("test_error", "paper"),))
    table = made(records.race(scale="quick", dataset="blobs", kind="generated"), display)
    assert row_of(table, "LIBSVM (scikit-learn SVC)")["paper_test_error"].text == "14.9†"
    note = "† blobs: the paper's numbers are from adult."
    assert table.notes[0] == note
    assert note not in made(records.race(kind="subset"), display).notes  # the paper's may be the same part


@pytest.mark.parametrize("differs", [True, False])
def test_a_footnote_says_what_the_paper_had_where_that_differs(toy, records, differs):
    declared = replace(toy, paper_data=(PaperData("adult", "31,562 rows", differs),))
    results = records.results(declared, records.race(kind="subset"))
    table = metric_table(MetricTable("m", "M", (Quantity("test_error", "paper"),)), results)
    assert ("† adult: the paper's numbers are from 31,562 rows." in table.notes) == differs
    facts = data_table(results)
    assert facts.columns[-1].label == "what the paper had" and facts.blocks[0][1][0][-1].text == "31,562 rows"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"form": "mode"}, "unknown form 'mode'"),
        ({"form": "speed"}, "baseline= goes with"),
        ({"form": "mean", "baseline": "libsvm"}, "baseline= goes with"),
    ],
)
def test_a_quantity_that_makes_no_sense_is_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        Quantity("test_error", **arguments)


def test_data_and_failures_are_always_listed(toy, records):
    results = records.results(toy, records.race(1) + [records.failure("smo", "memory", repeat=1)])
    assert data_table(results).blocks[0][1][0][2].text == "1,000"
    assert failure_table(results).blocks[0][1][0][3].text == "memory"
    assert failure_table(records.results(toy, records.race(1))) is None


def test_memory_is_the_same_number_in_every_form(made, records):
    rows = [records.one("smo", peak_memory_bytes=3 * 2**29)]
    table = made(rows, MetricTable("m", "M", (Quantity("peak_memory"), Quantity("peak_memory", "median"))))
    mean, median = (entry.text for entry in table.blocks[0][1][0][1:])
    assert (mean, median) == ("1,540", "1.5 GB") and text.memory(2**20 * 250) == "250 MB"


def test_what_passes_before_the_trace_counts_as_time_to_the_baseline(made, records):
    rows = records.race(1)
    for record in rows:
        record["seconds"] |= {"solver": record["seconds"]["fit"] - 1.5}
    table = made(rows, MetricTable("m", "M", (Quantity("test_error", "reached", baseline="libsvm", margin=0.1),)))
    # SMO's trace, of 2 s, stays within ten points from 0.8 s on.
    assert row_of(table, "SMO")["seconds_to_test_error_of_libsvm"].value == pytest.approx(0.8 + 1.5)


def test_a_repeat_without_a_trace_has_no_time_to_the_baseline(made, records):
    rows = records.race(2)
    next(row for row in rows if row["method"] == "smo")["trace"] = {}
    table = made(rows, MetricTable("m", "M", (Quantity("test_error", "reached", baseline="libsvm", margin=0.1),)))
    assert row_of(table, "SMO")["seconds_to_test_error_of_libsvm"].value is None


def test_the_time_to_a_baseline_that_is_better_when_higher(toy, records):
    accuracy = Metric("accuracy", "accuracy", "higher", ("metrics", "accuracy"))
    trace = {"seconds": [1.0, 2.0, 3.0], "accuracy": [0.5, 0.85, 0.9]}
    rows = [records.one("libsvm"), records.one("smo", seconds=3.0, trace=trace)]
    rows[0]["metrics"]["accuracy"] = 0.9
    smo, libsvm = (records.results(toy, rows).cell("adult", name) for name in ("smo", "libsvm"))
    assert seconds_to(accuracy, smo, libsvm, 0.1) == 2.0 and seconds_to(accuracy, smo, libsvm, 0.0) == 3.0


def test_a_trace_that_is_good_at_once_takes_no_time(toy, records):
    rows = [records.one("libsvm"), records.one("smo", trace={"seconds": [0.0, 1.0], "test_error": [0.1, 0.1]})]
    smo, libsvm = (records.results(toy, rows).cell("adult", name) for name in ("smo", "libsvm"))
    assert seconds_to(toy.metric("test_error"), smo, libsvm, 0.0) == pytest.approx(0.0, abs=1e-6)


def test_the_excess_over_a_negative_least_is_positive(records, made):
    rows = [records.one("libsvm"), records.one("smo")]
    for row, objective in zip(rows, (-2.0, -1.0)):
        row["metrics"]["objective"] = objective
    table = made(rows, MetricTable("m", "M", (Quantity("objective", "excess"),)))
    assert row_of(table, "SMO")["relative_excess_objective"].value == 0.5


def test_the_best_is_so_in_the_repeats_of_both(records, made):
    """Each repeat draws its data anew: SBP has the one alone on which the objective is low, and is above SMO there."""
    rows = [records.one("smo", repeat=k) for k in range(3)] + [records.one("sbp")]
    for row, objective in zip(rows, (0.2, 0.4, 0.5, 0.25), strict=True):
        row["metrics"]["objective"] = objective
    table = made(rows, MetricTable("m", "M", (Quantity("objective", "excess"),)))
    shown = [row_of(table, method)["relative_excess_objective"].text for method in ("SMO", "SBP")]
    assert shown == ["best", "25 %"]


@pytest.mark.parametrize(("objectives", "shown"), [((0.0, 1.0), ["–", "–"]), ((0.0, -1.0), ["100 %", "best"])])
def test_nothing_is_relative_to_a_least_of_zero(records, made, objectives, shown):
    rows = [records.one("smo"), records.one("sbp")]
    for row, objective in zip(rows, objectives, strict=True):
        row["metrics"]["objective"] = objective
    table = made(rows, MetricTable("m", "M", (Quantity("objective", "excess"),)))
    assert [row_of(table, method)["relative_excess_objective"].text for method in ("SMO", "SBP")] == shown


def test_only_times_and_memory_are_called_noisy(records, made):
    rows = [records.one("smo", repeat=k, error=0.1 * x, seconds=x) for k, x in enumerate((1.0, 2.0, 4.0))]
    table = made(rows, MetricTable("m", "M", (Quantity("test_error", "median"), Quantity("fit_seconds", "median"))))
    assert ["noisy" in entry.text for entry in table.blocks[0][1][0][1:]] == [False, True]


def test_the_papers_number_stands_beside_a_missing_one_of_ours(records):
    failed = Cell("adult", "smo", failed=[records.failure("smo")])
    assert mean_entry(failed, None, None, str, "14.9").text == "timeout (14.9)"
    shown = [mean_entry(Cell("adult", "smo"), None, None, str, paper).text for paper in ("14.9", "")]
    assert shown == ["– (14.9)", "–"]


def test_what_holds_in_no_repeat_is_no(records, made):
    rows = [records.one("smo")]
    rows[0]["metrics"]["converged"] = False
    table = made(rows, MetricTable("m", "M", (Quantity("converged", "all", label="did it"),)))
    assert table.blocks[0][1][0][1].text == "no" and table.columns[1].label == "did it"


def test_cross_tables_say_which_data_a_papers_numbers_are_from(records, made):
    table = made(records.race(scale="quick", dataset="blobs", kind="generated"), CrossTable("t", "T", "test_error"))
    assert "† blobs: the paper's numbers are from adult." in table.notes


def test_a_ratio_to_zero_is_no_number(records, made):
    rows = [records.one("libsvm", error=0.0), records.one("smo", error=0.1)]
    table = made(rows, CrossTable("t", "T", "test_error", baseline="libsvm"))
    assert table.blocks[0][1][0][1].value is None


def test_the_csv_of_the_data_has_whole_checksums_and_numbers(toy, records):
    row = data_table(records.results(toy, records.race(1))).blocks[0][1][0]
    assert [entry.value for entry in row[2:6]] == [1000, 500, 20, "ab" * 32]


def test_a_table_of_one_method_explains_what_it_marks(toy, records):
    (libsvm,) = (method for method in toy.methods if method.name == "libsvm")
    alone = replace(toy, methods=(libsvm,), claims=(), tables=(), figures=(), paper_numbers=toy.paper_numbers[:2])
    rows = [records.one("libsvm", scale="quick", dataset="blobs", kind="generated")]
    table = metric_table(MetricTable("m", "M", (Quantity("test_error", "paper"),)), records.results(alone, rows))
    assert table.blocks[0][1][0][1].text == "14.9†"
    assert "† blobs: the paper's numbers are from adult." in table.notes


@pytest.mark.parametrize(
    ("display", "told"),
    [
        (MetricTable("m", "M", ("test_error", Quantity("fit_seconds", "median"))), True),
        (MetricTable("m", "M", ("test_error",)), False),
        (CrossTable("t", "T", "fit_seconds"), True),
        (CrossTable("t", "T", "fit_seconds", baseline="libsvm"), False),
        (CrossTable("t", "T", "test_error"), False),
    ],
)
def test_a_table_of_times_names_the_data_sets_of_several_machines(records, made, display, told):
    rows = records.race() + records.race(dataset="mnist")
    for record in rows[4:8]:  # a repeat on adult
        record["environment"]["processor"] = "Fast CPU"
    notes = [note for note in made(rows, display).notes if note.startswith("Repeats on")]
    assert [note.partition(" are ")[0] for note in notes] == ["Repeats on adult"] * told
    assert not [note for note in made(records.race(), display).notes if "set-ups" in note]


def test_many_data_sets_with_several_set_ups_are_counted(toy, records):
    """A race has its data in its table already: a list of all that differ would be longer than the table."""
    many, few = ([f"set-{i}" for i in range(n)] for n in (14, 3))

    def found(experiment, mixed, names):
        rows = [row | {"dataset": name} for name in names for row in records.race()]
        for row in rows:
            processor = f"CPU {row['repeat']}" if row["dataset"] in mixed else "CPU"
            row["environment"] = row["environment"] | {"processor": processor}
        return records.results(experiment, rows)

    def told(races):
        (note,) = setups_told(races)
        return note.split(" are from several set-ups")[0]

    def races(results, names):
        return [(results, name) for name in names]

    one, other = found(toy, many, many), found(replace(toy, name="other"), few, few)
    assert told(races(one, many)) == "Repeats on all 14 data sets"
    assert told(races(one, many[:3])) == "Repeats on set-0, set-1 and set-2"
    same = found(replace(toy, name="same"), [], few)
    counted = "Repeats on 14 of 17 data sets, which the tables of their experiments name,"
    assert told(races(one, many) + races(same, few)) == counted
    assert told(races(one, many) + races(other, few)) == "Repeats on all 17 data sets"
    most = found(toy, many[1:], many)
    assert told(races(most, many)).startswith("Repeats on set-1, set-2, ")  # no other table would name them
