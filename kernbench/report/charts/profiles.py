"""Performance profiles: the share of problems on which a method is within a factor of the best."""

import numpy as np

from kernbench.report import text
from kernbench.report.charts.drawing import layout, scales
from kernbench.report.charts.drawing.picture import Picture
from kernbench.report.charts.drawing.styles import styles_of
from kernbench.report.records.cells import run_of
from kernbench.report.statistics import finite
from kernbench.report.tables.table import csv_text

WORST = 1e3  # factors beyond are not drawn


def picture(display, results):
    """Draw :class:`~kernbench.experiments.declare.Profiles`; None if there are fewer than two methods."""
    factors, styles = factors_of(display, results), styles_of(results)
    return draw_profiles(
        results.file_name(display.name),
        display.title,
        f"{results.experiment.metric(display.metric).label}: factor over the best",
        {results.label(method): found for method, found in factors.items()},
        {results.label(method): styles[method] for method in factors},
        note=f"Repeats on data sets in which all of these methods were run on one set-up. {display.note}".rstrip(),
        heading=display.heading,
    )


def draw_profiles(name, title, x_label, factors, styles, *, note="", heading=""):
    """Draw profiles; None if there are fewer than two methods, or no problem.

    Parameters
    ----------
    name : str
        Base name of the files.
    title, x_label : str
    factors : dict of str to list of float
        Factors by label, as :func:`factors_of` gives them by method.
    styles : dict of str to Style
        Factors by label.
    note, heading : str

    Returns
    -------
    Picture or None
    """
    n_problems = len(next(iter(factors.values()), ()))
    if len(factors) < 2 or n_problems == 0:
        return None
    seen = [factor for found in factors.values() for factor in found if factor <= WORST]
    end = scales.limits([[1.0, *seen]], log=True)[1]

    def draw(axes, fonts):
        handles = []
        for label, found in factors.items():
            x, y = _steps(found, end)
            style = {"color": styles[label].colour, "linestyle": styles[label].dash, "linewidth": 2.0}
            style |= {"marker": styles[label].marker, "markersize": 5, "markevery": max(1, len(x) // 5)}
            handles += axes.step(x, y, where="post", clip_on=False, **style)
        axes.set_xscale("log")
        axes.set_xlim(1.0, end)
        axes.set_ylim(0.0, 1.02)
        layout.dress(axes, fonts, title=title, x_label=x_label, y_label="share of problems")
        layout.set_ticks(axes.xaxis, scales.ticks(1.0, end, True))
        layout.name_inside(axes, handles, list(factors), fonts)

    words = " ".join(_sentence(label, found) for label, found in factors.items())
    count = text.plural(n_problems, "problem")
    caption = f"{text.sentence(title)} The share of {count} on which a method is within a factor of the best. {note}"
    rows = [("method", x_label, "share of problems")]
    rows += [(label, *point) for label, found in factors.items() for point in zip(*_steps(found, None))]
    drawn = layout.one(name, title, words, draw, layout.with_legend(list(factors), layout.LARGE_FONTS))
    return Picture(name, caption.rstrip(), *drawn, csv_text(rows), heading)


def factors_of(display, results):
    """Each method's factor over the best on each problem, infinite if it failed.

    Returns
    -------
    dict of str to list of float
        Lists of one length, problem by problem.
    """
    metric, methods = results.experiment.metric(display.metric), results.chosen_methods(display)
    factors = {method: [] for method in methods}
    for dataset in results.chosen_datasets(display):
        cells = [results.cell(dataset, method) for method in methods]
        if not cells or not all(cell.records for cell in cells):
            continue
        values = [{run_of(record): finite(metric.of(record)) for record in cell.ok} for cell in cells]
        runs = ({run_of(record) for record in cell.records} for cell in cells)
        for run in sorted(set.intersection(*runs)):
            costs = [found.get(run) or np.inf for found in values]
            if min(costs) < np.inf:
                for method, cost in zip(methods, costs):
                    factors[method].append(cost / min(costs))
    return factors


def _steps(found, end):
    """The steps of the share of problems, as drawn up to `end`; without one, all of them."""
    x = np.sort([factor for factor in found if factor < np.inf and (end is None or factor <= WORST)])
    y = np.arange(1, len(x) + 1) / len(found)
    x, y = np.concatenate([[1.0], x]), np.concatenate([[0.0], y])
    return (x, y) if end is None else (np.append(x, end), np.append(y, y[-1]))


def _sentence(name, found):
    best, ever = (sum(factor <= most for factor in found) / len(found) for most in (1.0, WORST))
    return f"{name}: the best on {100 * best:.0f} % of the problems, within a factor of 1,000 on {100 * ever:.0f} %."
