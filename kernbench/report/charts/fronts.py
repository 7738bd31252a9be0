"""Pareto fronts: accuracy against the time of a fit, a panel for each data set."""

from dataclasses import replace
from functools import partial

import numpy as np

from kernbench.report import text
from kernbench.report.charts.drawing import layout, scales
from kernbench.report.charts.drawing.picture import Picture
from kernbench.report.charts.drawing.styles import INK, styles_of
from kernbench.report.statistics import median_or_none
from kernbench.report.tables.table import csv_text
from kernbench.report.tables.tradeoffs import fronts

LEAST = 0.01  # height of a panel over its middle value: what differs by less is equal on it


def front_picture(results):
    """Draw accuracy against time for every method; None for an experiment that is no race.

    Returns
    -------
    Picture or None
    """
    found, metric = fronts(results), results.experiment.metrics[0]
    if not found:
        return None
    title = f"{text.capitalised(metric.label)} against the time of a fit"
    styles, name = styles_of(results), "fronts"
    panels = [
        layout.Panel(
            results.file_name(name, dataset),
            label := results.category_label("dataset", dataset),
            _words(results, metric, label, points),
            partial(_draw, results, metric, styles, label, points),
        )
        for dataset, points in found.items()
    ]
    shown = dict.fromkeys(point.method for points in found.values() for point in points)
    key = [(results.short_label(method), replace(styles[method], dash="none")) for method in shown]
    drawn = layout.multiples(panels, title, layout.MEDIUM, key)
    better = "lower" if metric.direction == "lower" else "higher"
    caption = (
        f"{title}: further left is faster, {better} is better. Filled: no other method is at least as fast and as "
        "accurate, and better in one, in the same runs; the line joins these. Medians of time, means of accuracy; "
        "methods that are far worse lie outside."
    )
    rows = [("dataset", "method", "fit_seconds", metric.name, "memory", "filled", "on_front_with_memory")]
    rows += [
        (dataset, p.method, p.seconds, p.value, p.memory, int(p.fast), int(p.on_front))
        for dataset, points in found.items()
        for p in points
    ]
    lead = f"↑ {text.heading(metric)}  → fit time (s)"
    return Picture(results.file_name(name), caption, *drawn, csv_text(rows), shape="panels large", lead=lead)


def _words(results, metric, label, points):
    front = [
        f"{text.names([results.short_label(p.method)])} {text.with_unit(metric, p.value)} in {text.seconds(p.seconds)}"
        for p in points
        if p.fast
    ]
    return f"{label}, on the front: {text.listed(front)}."


def _draw(results, metric, styles, title, points, axes, fonts):
    axes.set_xscale("log")
    for point in points:
        style = styles[point.method]
        drawn = {"marker": style.marker, "color": style.colour, "markersize": 6.5, "linestyle": "none", "zorder": 3}
        drawn["markerfacecolor"] = style.colour if point.fast else "none"
        axes.plot(point.seconds, metric.factor * point.value, **drawn)
    front = [point for point in points if point.fast]
    x, y = [point.seconds for point in front], [metric.factor * point.value for point in front]
    axes.step(x, y, where="post", color=INK, linewidth=0.9, zorder=2)
    # Methods that are far worse, such as the zero model, must not hide the differences between the others.
    sign = 1.0 if metric.direction == "lower" else -1.0
    costs = {point: sign * metric.factor * point.value for point in points}
    middle = median_or_none(costs.values())
    least = LEAST * abs(middle)
    spread = max(np.median([abs(cost - middle) for cost in costs.values()]) * 8, least)
    shown = [point for point in points if costs[point] <= middle + spread]
    low, high = scales.limits([[point.seconds for point in shown]], True)
    values = [metric.factor * point.value for point in shown]
    centre = (min(values) + max(values)) / 2
    y_low, y_high = scales.limits([[*values, centre - least / 2, centre + least / 2]], False)
    axes.set_xlim(low, high)
    axes.set_ylim(y_low, y_high)
    layout.dress(axes, fonts, title=title)
    layout.set_ticks(axes.xaxis, scales.ticks(low, high, True))
    layout.set_ticks(axes.yaxis, scales.round_ticks(y_low, y_high))
