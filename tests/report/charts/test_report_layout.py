"""What figures share: ticks, colours and marks, legends and titles that fit."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from kernbench.report import text
from kernbench.report.charts.drawing.frame import legible
from kernbench.report.charts.drawing.layout import LARGE_FONTS, SIZE, apart, fitted, name_inside, tick, with_legend
from kernbench.report.charts.drawing.scales import beyond, limits, round_ticks, ticks
from kernbench.report.charts.drawing.styles import category_styles, method_styles
from kernbench.report.charts.marks import legend_columns


def test_names_at_the_ends_of_lines_keep_apart():
    levels = apart([0.5, 0.51, 0.52, 0.9], 0.1)
    assert (np.diff(levels) >= 0.1 - 1e-12).all() and levels[-1] == pytest.approx(0.9)
    assert apart([0.97, 0.98, 0.99], 0.1)[-1] <= 1.0


def test_a_short_logarithmic_axis_has_even_ticks():
    assert ticks(0.45, 1.25, True) == pytest.approx([0.6, 0.8, 1.0, 1.2])
    assert ticks(0.4, 2.5, True) == pytest.approx([0.5, 1.0, 2.0])


@pytest.mark.parametrize("ends", [(0.013, 0.9), (0.9, 1.1), (30.0, 40.0), (0.0, 1e4)])
@pytest.mark.parametrize("log", [False, True])
def test_ticks_lie_within_their_axis(ends, log):
    found = ticks(*(end + 1e-3 * log for end in ends), log)
    assert found and all(ends[0] <= tick <= ends[1] + 1e-3 for tick in found)


def test_more_methods_than_colours_still_look_different():
    found = method_styles([f"method-{letter}" for letter in "abcdefghijkl"])
    assert len(set(found.values())) == 12


def test_categories_seen_together_differ_and_keep_their_look():
    found = category_styles([["a", "b"], ["c", "b"], ["a", "d"]])
    assert found["a"].colour == found["c"].colour != found["b"].colour == found["d"].colour


def test_many_powers_of_ten_are_thinned_evenly():
    found = ticks(1e-1, 1e15, log=True)
    assert len(found) <= 7 and len({b / a for a, b in zip(found, found[1:])}) <= 2
    assert ticks(1.0, 1e5, log=True) == [10.0**k for k in range(6)]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (1e6, "10⁶"),
        (2e6, "2·10⁶"),
        (3.5e6, "3.5·10⁶"),
        (5e-5, "5·10⁻⁵"),
        (1.25e5, "1.25·10⁵"),
        (1e10, "10¹⁰"),
        (4.04e7, "4.04·10⁷"),
    ],
)
def test_ticks_say_the_number_itself(value, words):
    assert tick(value) == words


def test_close_ticks_have_different_words():
    assert len({tick(value) for value in (91.012325, 91.01233, 91.012335)}) == 3
    assert [tick(0.1 * 3), tick(-50000.0)] == ["0.3", "−50000"]


def test_a_percentage_that_rounds_to_zero_has_no_sign():
    assert [text.percent(value) for value in (-1e-9, -0.0123)] == ["0.00", "−1.23"]


@pytest.mark.parametrize(
    ("lengths", "n_columns"),
    [([3] * 4, 3), ([15] * 4, 3), ([29] * 4, 2), ([30] * 4, 1), ([5, 5, 40], 3), ([45] * 2, 1)],
)
def test_the_legend_of_marks_is_no_wider_than_the_picture(lengths, n_columns):
    names = ["x" * length for length in lengths]
    assert legend_columns(names) == n_columns
    canvas = Figure(figsize=SIZE, layout="constrained")
    axes = canvas.add_subplot()
    for name in names:
        axes.plot([1.0], [1.0], marker="o", linestyle="none", label=name)
    legend = canvas.legend(
        loc="outside lower left", ncols=legend_columns(names), fontsize=LARGE_FONTS.note, frameon=False
    )
    canvas.draw_without_rendering()
    assert legend.get_window_extent().x1 / canvas.dpi <= SIZE[0]


@pytest.mark.parametrize("length", [10, 48])
def test_the_legend_below_a_figure_is_no_wider_and_leaves_room_for_its_lines(length):
    names = [f"{k:0>{length}}" for k in range(12)]
    size = with_legend(names, LARGE_FONTS)
    canvas = Figure(figsize=size, layout="constrained")
    axes = canvas.add_subplot()
    name_inside(axes, [axes.plot([1.0], [1.0])[0] for _ in names], names, LARGE_FONTS)
    canvas.draw_without_rendering()
    box = axes.get_legend().get_window_extent()
    assert box.x0 >= 0 and box.x1 / canvas.dpi <= size[0]
    assert axes.get_window_extent().height / canvas.dpi >= SIZE[1] / 2


def test_labels_of_ticks_that_run_into_each_other_are_left_out():
    labels = [(10.0, "0.2"), (14.0, "0.25"), (18.0, "0.3"), (60.0, "0.5")]
    assert legible(labels, 7.5) == [(10.0, "0.2"), (60.0, "0.5")]
    assert legible(labels[::3], 7.5) == labels[::3]


def test_titles_of_panels_fit_by_smaller_letters_and_then_by_fewer():
    assert fitted("adult", 8.5, 120.0) == ("adult", 8.5) and fitted("", 8.5, 120.0) == ("", 8.5)
    title, size = fitted("x" * 25, 8.5, 120.0)
    assert title == "x" * 25 and 6.8 <= size < 8.5
    title, size = fitted("x" * 60, 8.5, 120.0)
    assert size == pytest.approx(6.8) and title.endswith("x…") and 25 < len(title) < 30


@pytest.mark.parametrize("log", [False, True])
def test_an_axis_of_huge_numbers_ends_somewhere(log):
    """Numbers of a record are finite, but may be infinite in the unit of the metric; one must not end the report."""
    low, high = limits([[0.1, 1.7e308], [np.inf]], log)
    assert np.isfinite([low, high]).all() and low < high
    assert np.isfinite(ticks(low, high, True) if log else round_ticks(low, high)).all()
    assert np.isfinite(beyond(limits([[1e-17, 1e300]], log), 0.3, log))
