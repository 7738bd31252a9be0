"""How numbers and tables are printed, also with hostile names."""

import csv
import io
from dataclasses import replace

import numpy as np
import pytest

from kernbench.experiments import registry
from kernbench.experiments.declare import Metric
from kernbench.report import text
from kernbench.report.tables.table import NOTHING, Column, Entry, Table, csv_text, words


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "–"),
        (2e-5, "20 µs"),
        (0.0123, "12.3 ms"),
        (8.35, "8.35 s"),
        (195.0, "195 s"),
        (7199.0, "7,200 s"),
        (7200.0, "2 h"),
    ],
)
def test_seconds_carry_their_unit(value, shown):
    assert text.seconds(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "–"),
        (0.12345, "0.123"),
        (12345.0, "12,300"),
        (1.2e7, "1.2 × 10⁷"),
        (3.2e9, "3.2 × 10⁹"),
        (1e-7, "1 × 10⁻⁷"),
    ],
)
def test_significant_digits_without_e_notation(value, shown):
    assert text.significant(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(99.4, "99 s"), (100.0, "2 min"), (5990.0, "100 min"), (6000.0, "1.7 h"), (90000.0, "25 h")]
)
def test_waiting_times_are_in_seconds_minutes_or_hours(value, shown):
    assert text.duration(value) == shown


def test_counts_are_whole_up_to_a_million():
    assert [text.count(value) for value in (None, 999_999, 1_500_000)] == ["–", "999,999", "1.50 × 10⁶"]


def test_the_last_of_several_names_follows_an_and():
    assert [text.listed("abc"[:n]) for n in range(4)] == ["", "a", "a and b", "a, b and c"]


def test_names_of_methods_with_commas_of_their_own_are_quoted_in_a_list():
    assert text.names(["LinearSVC", "Nyström, bundle method"]) == "LinearSVC and “Nyström, bundle method”"
    assert text.names(["sketch and solve"]) == "“sketch and solve”" and text.names([]) == ""


def test_a_difference_shows_its_sign_but_zero_has_none():
    assert text.points(0.0007) == "+0.07"
    assert text.points(-0.0007) == "−0.07"
    assert text.points(-1e-9) == "0.00"


def test_file_names_cannot_leave_their_folder():
    assert text.file_name("../../etc/passwd") == "etc-passwd"
    assert text.file_name("...") == "unnamed"


def a_table(*rows):
    return Table("t", "c", (Column("method", "method", False), Column("error", "error")), [("adult", list(rows))])


def test_csv_keeps_full_precision_and_gives_errors_their_column():
    content = a_table((words("SMO"), Entry("14.91 ± 0.02", 0.14913, 0.0002))).to_csv()
    assert list(csv.reader(io.StringIO(content))) == [
        ["data", "method", "error", "error_standard_error"],
        ["adult", "SMO", "0.14913", "0.0002"],
    ]


def test_csv_fields_are_never_formulas():
    content = a_table((words("=HYPERLINK(1)"), Entry("-1", -1.0))).to_csv()
    assert list(csv.reader(io.StringIO(content)))[1] == ["adult", "'=HYPERLINK(1)", "-1.0"]


def test_csv_numbers_are_numbers():
    rows = [(np.float64(0.0111), -2.5, -3, "-0.25", "+1e-3", "-x", "@x")]
    fields = next(csv.reader(io.StringIO(csv_text(rows))))
    assert fields == ["0.0111", "-2.5", "-3", "-0.25", "+1e-3", "'-x", "'@x"]


def test_markdown_aligns_numbers_to_the_right():
    lines = a_table((words("SMO"), Entry("0.1", 0.1))).to_markdown().splitlines()
    assert lines[:2] == ["| data | method | error |", "| --- | --- | ---: |"]


def test_nothing_is_a_dash_to_people_and_empty_to_programs():
    table = a_table((words("SMO"), NOTHING))
    assert table.to_csv().splitlines()[1] == "adult,SMO,"
    assert "| – |" in table.to_markdown()


def test_markdown_of_a_hostile_name_stays_in_its_cell():
    markdown = a_table((words("a|b\n<script>*x*"), NOTHING)).to_markdown()
    assert len(markdown.splitlines()) == 3
    assert r"a\|b \<script\>\*x\*" in markdown


def test_a_number_and_its_unit_stay_on_one_line():
    shown = text.unbroken("1.5 % of 3 s, 0.2 × as much; × alone, 2 of 3")
    assert shown == "1.5\u00a0% of 3\u00a0s, 0.2\u00a0× as much; × alone, 2 of 3"


def test_possessives():
    assert (text.possessive("LIBSVM"), text.possessive("Pegasos")) == ("LIBSVM's", "Pegasos'")
    assert text.possessive("SCS, 300 features") == "“SCS, 300 features”'s"


def test_short_labels_lose_their_remarks_alone():
    """Two methods of one name before the first bracket are not called the same."""
    labels = ("LIBSVM (scikit-learn SVC)", "SMO (exact), λ = 1", "SMO (exact), λ validated", "plain")
    assert list(map(text.short, labels)) == ["LIBSVM", "SMO, λ = 1", "SMO, λ validated", "plain"]


def test_no_two_methods_of_a_data_set_have_one_short_label():
    for name in registry.names():
        experiment = registry.get(name)
        for setting in (setting for scale in experiment.scales.values() for setting in scale.settings):
            shown = [text.short(method.label) for method in experiment.methods if setting.takes(method.name)]
            assert len(shown) == len(set(shown)), (name, setting.name)


@pytest.mark.parametrize(
    ("value", "error", "shown"),
    [
        (1.1, 0.0076, "1.1000 ± 0.0076"),
        (0.2201, 0.0114, "0.220 ± 0.011"),
        (1234.5, 120.0, "1,234 ± 120"),
        (-0.0001, 0.02, "0.000 ± 0.020"),
        (1.5, 0.0, "1.5 ± 0"),
        (11_617.0, 0.0, "11,617 ± 0"),
        (1e-6, 2e-8, "1 × 10⁻⁶ ± 2 × 10⁻⁸"),
        (0.3441237, 6e-6, "0.3441237 ± 6 × 10⁻⁶"),
        (-2.6612e9, 1.2e6, "−2.6612 × 10⁹ ± 1,200,000"),
        (1 / 3, 1e-12, "0.3333333 ± 1 × 10⁻¹²"),
    ],
)
def test_a_value_has_as_many_decimals_as_its_error(value, error, shown):
    assert text.with_error(value, error) == shown


def test_an_error_is_not_rounded_to_nothing():
    assert text.percent(0.1491, 0.0002) == "14.91 ± 0.02"
    assert text.percent(0.00071, 0.000041) == "0.0710 ± 0.0041"
    assert text.percent(0.5, 0.0) == "50.00 ± 0.00"


def test_a_fraction_times_100_has_two_decimals_in_a_difference_too_and_says_what_it_is():
    area = Metric("pauc", "pAUC", "higher", ("metrics", "pauc"), "", 100.0)
    assert text.signed(area, 0.002071) == "+0.21" and text.amount(area, 0.002071) == "0.21 points"
    assert text.heading(area) == "pAUC (× 100)"
    other = Metric("gap", "gap", "lower", ("metrics", "gap"), "points", 100.0)
    assert text.heading(other) == "gap (points)" and text.amount(other, 0.002071) == "0.21 points"


def test_a_value_and_its_error_are_in_one_unit():
    memory = Metric("memory", "memory", "lower", ("peak_memory_bytes",), "MB", 2.0**-20)
    assert text.scaled(memory, 3 * 2**20, 2**18) == "3.00 ± 0.25"
    assert text.signed(memory, 2**20, 2**18) == "+1 ± 0.25" and text.amount(memory, 2**21) == "2 MB"
    small = Metric("mse", "error", "lower", ("metrics", "mse"))
    assert text.signed(small, -7.4e-5) == "−7.4 × 10⁻⁵" and text.amount(small, 7.4e-5) == "7.4 × 10⁻⁵"
    assert text.signed(small, 12_345.0) == "+12,300"


def test_a_count_of_one_repeat_has_as_many_digits_as_one_of_several():
    count = Metric("n", "rows read", "lower", ("metrics", "n"), deterministic=True)
    assert [text.scaled(count, 522_910.0, *error) for error in ([], [0.0])] == ["522,910", "522,910 ± 0"]
    assert [text.scaled(count, value) for value in (7.0, 0.12345, 1234.5, 1.234567e7)] == [
        "7",
        "0.123",
        "1,230",
        "1.23 × 10⁷",
    ]
    assert text.with_unit(replace(count, unit="rows"), 522_910.0) == "522,910 rows"
    assert text.scaled(replace(count, deterministic=False), 522_910.0) == "523,000"
    assert text.scaled(count, float("inf")) == text.significant(float("inf"))


def test_a_difference_of_nothing_has_no_sign():
    for metric in (Metric("m", "m", "lower", ("m",)), Metric("m", "m", "lower", ("m",), "%", 100.0)):
        assert {text.signed(metric, difference) for difference in (0.0, -0.0)} <= {"0", "0.00"}


def test_a_papers_whole_percentage_keeps_a_decimal():
    error = Metric("error", "error", "lower", ("metrics", "error"), "%", 100.0)
    assert [text.printed(error, value) for value in (0.15, 0.149)] == ["15.0", "14.9"]
