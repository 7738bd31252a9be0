"""Marks: a row for each category, a mark in it for each method."""

from kernbench.report import text
from kernbench.report.charts import layout, scales
from kernbench.report.labels import category_label
from kernbench.report.pictures import Picture
from kernbench.report.style import GRID, INK, category_looks
from kernbench.report.tables import csv_text
from kernbench.report.tidy import medians

ROW = 0.27  # inches
LEGEND_ROW, ROOM_FOR = 0.17, 1  # inches of a row of the legend, and how many rows there is room for
SHORT = 15  # letters of a name in the legend; of longer ones, fewer stand side by side


def picture(display, experiment, group, looks):
    """Draw a :class:`~kernbench.experiments.declare.Marks`; None where there is nothing to draw.

    Parameters
    ----------
    display : kernbench.experiments.declare.Marks
    experiment : kernbench.experiments.declare.Experiment
    group : Group
    looks : dict of str to Look
        Of methods.

    Returns
    -------
    Picture or None
    """
    found = medians(display, group, [display.row, display.mark])
    if not found:
        return None
    rows = list(dict.fromkeys(row for row, _ in found))
    marks = list(dict.fromkeys(mark for _, mark in found))
    marks_looks = looks if display.mark == "method" else category_looks([marks])
    row_names = [category_label(experiment, group, display.row, row) for row in rows]
    mark_names = {mark: category_label(experiment, group, display.mark, mark) for mark in marks}

    def draw(axes, fonts):
        if display.value.log:
            axes.set_xscale("log")
        for place, row in enumerate(rows):
            values = [found[row, mark] for mark in marks if (row, mark) in found]
            axes.plot([min(values), max(values)], [place, place], color=GRID, linewidth=2.5, zorder=1)
        for mark in marks:
            points = [(found[row, mark], place) for place, row in enumerate(rows) if (row, mark) in found]
            look = marks_looks[mark]
            style = {"marker": look.marker, "markersize": 6.5, "color": look.colour, "linestyle": "none"}
            axes.plot(*zip(*points), **style, label=mark_names[mark], zorder=3)
        axes.set_ylim(len(rows) - 0.4, -0.6)
        layout.head(axes, display.title, fonts)
        layout.dress(axes, fonts, x_label=layout.axis_words(display.value), grid="x")
        axes.set_yticks(range(len(rows)), row_names)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        _tick(axes, display, found)
        if display.reference is not None:
            axes.axvline(display.reference, color=INK, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1.5)
        if len(marks) > 1:
            axes.figure.legend(
                loc="outside lower left",
                ncols=_columns(mark_names),
                frameon=False,
                fontsize=fonts.note,
                labelcolor=INK,
            )

    name = text.file_name(f"{group.experiment}-{group.scale}-{display.name}")
    words = _words(display, rows, row_names, marks, mark_names, found)
    legend = LEGEND_ROW * max(0, -(-len(marks) // _columns(mark_names)) - ROOM_FOR)
    size = (layout.SIZE[0], ROW * len(rows) + 1.2 + legend)
    page, file = layout.one(name, display.title, words, draw, size)
    caption = [text.sentence(display.title)]
    if display.reference is not None and display.reference_label:
        caption.append(f"Dashed: {display.reference_label}.")
    csv_rows = [(display.row, display.mark, layout.axis_words(display.value))]
    csv_rows += [(*names, repr(float(value))) for names, value in found.items()]
    caption = " ".join([*caption, *([display.note] if display.note else [])])
    return Picture(name, caption, words, page, file, csv_text(csv_rows), display.heading)


def _columns(names):
    """Columns of the legend."""
    return 3 if max(map(len, names.values())) <= SHORT else 2


def _tick(axes, display, found):
    reference = [] if display.reference is None else [display.reference]
    low, high = scales.limits([[*found.values(), *reference]], display.value.log)
    layout.set_ticks(axes.xaxis, scales.ticks(low, high, display.value.log))
    axes.set_xlim(low, high)


def _words(display, rows, row_names, marks, mark_names, found):
    parts = [f"{display.value.label}."]
    for row, row_name in zip(rows, row_names):
        values = [
            f"{mark_names[mark]} {text.significant(found[row, mark])}"
            for mark in marks
            if (row, mark) in found
        ]
        parts.append(f"{row_name}: {text.listed(values)}.")
    return " ".join(parts)
