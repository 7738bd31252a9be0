"""Heat maps: coloured cells, each with its number."""

import math

from matplotlib.patches import Rectangle

from kernbench.report import text
from kernbench.report.charts import layout
from kernbench.report.labels import category_label
from kernbench.report.pictures import Picture
from kernbench.report.style import BLUE, INK
from kernbench.report.tables import csv_text
from kernbench.report.tidy import medians

ROW = 0.3  # inches
FAINT, FULL = 0.06, 0.62  # opacity of the least and the largest value: letters on it stay readable
GAP = 0.04  # between cells, as a share of one


def picture(display, experiment, group, looks):
    """Draw a :class:`~kernbench.experiments.declare.HeatMap`; None where there is nothing to draw.

    Parameters
    ----------
    display : kernbench.experiments.declare.HeatMap
    experiment : kernbench.experiments.declare.Experiment
    group : Group
    looks : dict of str to Look
        Not used: colour means the value.

    Returns
    -------
    Picture or None
    """
    found = medians(display, group, [display.row, display.column])
    if not found:
        return None
    rows, columns = (list(dict.fromkeys(names[side] for names in found)) for side in (0, 1))
    row_names = [category_label(experiment, group, display.row, row) for row in rows]
    column_names = [category_label(experiment, group, display.column, column) for column in columns]

    def draw(axes, fonts):
        for (row, column), share in _shares(found, display.value.log).items():
            x, y = columns.index(column), rows.index(row)
            axes.add_patch(
                Rectangle(
                    (x - 0.5 + GAP, y - 0.5 + GAP),
                    1 - 2 * GAP,
                    1 - 2 * GAP,
                    facecolor=BLUE,
                    alpha=FAINT + (FULL - FAINT) * share,
                    linewidth=0,
                )
            )
            number = text.significant(found[row, column], 2)
            axes.text(x, y, number, ha="center", va="center", fontsize=fonts.note, color=INK)
        layout.head(axes, display.title, fonts)
        layout.dress(axes, fonts, grid="")
        axes.set_xlim(-0.5, len(columns) - 0.5)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_yticks(range(len(rows)), row_names)
        axes.set_xticks(range(len(columns)), [name.replace(", ", "\n") for name in column_names])
        axes.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(False)

    name = text.file_name(f"{group.experiment}-{group.scale}-{display.name}")
    words = _words(display, rows, row_names, columns, column_names, found)
    size = (layout.SIZE[0], ROW * len(rows) + 0.95)
    page, file = layout.one(name, display.title, words, draw, size)
    caption = [text.sentence(display.title), f"{layout.axis_words(display.value).capitalize()}."]
    csv_rows = [(display.row, display.column, layout.axis_words(display.value))]
    csv_rows += [(*names, repr(float(value))) for names, value in found.items()]
    caption = " ".join([*caption, *([display.note] if display.note else [])])
    return Picture(name, caption, words, page, file, csv_text(csv_rows), display.heading)


def _shares(found, log):
    """Where each value lies between the least and the largest, from 0 to 1."""
    scaled = {names: math.log(value) if log else value for names, value in found.items()}
    low, high = min(scaled.values()), max(scaled.values())
    return {names: (value - low) / (high - low) if high > low else 1.0 for names, value in scaled.items()}


def _words(display, rows, row_names, columns, column_names, found):
    parts = [f"{display.value.label}."]
    for row, row_name in zip(rows, row_names):
        values = [
            f"{column_name} {text.significant(found[row, column], 2)}"
            for column, column_name in zip(columns, column_names)
            if (row, column) in found
        ]
        parts.append(f"{row_name}: {text.listed(values)}.")
    return " ".join(parts)
