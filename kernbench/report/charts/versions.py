"""Times of fits over the commits of a store, a panel for each experiment."""

from functools import partial

import numpy as np

from kernbench.report import text
from kernbench.report.charts.drawing import layout, scales
from kernbench.report.charts.drawing.picture import Picture
from kernbench.report.charts.drawing.styles import BLUE, INK
from kernbench.report.tables.table import csv_text


def version_picture(versions):
    """Draw the factors of times over commits; None if no experiment has times at two commits.

    Parameters
    ----------
    versions : list of kernbench.report.records.versions.Version

    Returns
    -------
    Picture or None
    """
    names = sorted({name for version in versions for name in version.factors})
    if not names:
        return None
    every = [quantile for version in versions for name in version.factors for quantile in _spread(version, name)]
    ends = scales.limits([[1.0, *every]], True)
    panels = [
        layout.Panel(f"commits-{name}", name, _words(name, versions), partial(_draw, name, versions, ends))
        for name in names
    ]
    title = "Time of a fit over that at the first commit"
    caption = f"{title}. Line: geometric mean over cells; shade: their quartiles. Commits by their first records."
    rows = [("experiment", "commit", "day", "factor")]
    rows += [(name, v.commit, v.day, v.factor(name)) for name in names for v in versions if v.factors.get(name)]
    drawn = layout.multiples(panels, title)
    return Picture("commits", caption, *drawn, csv_text(rows), shape="panels", lead="↑ factor  → commits")


def _spread(version, name):
    return np.quantile(version.factors[name], (0.25, 0.75)).tolist()


def _words(name, versions):
    parts = [f"{v.commit} {text.significant(v.factor(name))} ×" for v in versions if v.factors.get(name)]
    return f"{name}: {text.listed(parts)}."


def _draw(name, versions, ends, axes, fonts):
    places = [0, *(i for i, version in enumerate(versions) if version.factors.get(name))]
    factors = [1.0, *(versions[i].factor(name) for i in places[1:])]
    low, high = zip((1.0, 1.0), *(_spread(versions[i], name) for i in places[1:]))
    axes.set_yscale("log")
    axes.fill_between(places, low, high, color=BLUE, alpha=0.22, linewidth=0)
    axes.plot(places, factors, color=BLUE, marker="o", markersize=3.5, linewidth=1.6)
    axes.axhline(1.0, color=INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1.5)
    axes.set_xlim(-0.3, len(versions) - 0.7)
    axes.set_ylim(*ends)
    layout.dress(axes, fonts, title=name)
    layout.set_ticks(axes.yaxis, scales.ticks(*ends, True))
    axes.set_xticks([0, len(versions) - 1], [versions[0].commit[:7], versions[-1].commit[:7]])
