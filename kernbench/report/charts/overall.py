"""Performance profiles over all experiments: every problem on which the same solvers were run has equal weight."""

import numpy as np

from kernbench.report.charts.drawing.styles import method_styles
from kernbench.report.charts.profiles import draw_profiles
from kernbench.report.records.cells import run_of
from kernbench.report.records.rows import place
from kernbench.report.statistics import finite

SOLVED = 1e-3  # relative distance to the best objective of a problem up to which it counts as solved


def overall_profiles(results):
    """The profile of fit times over the problems of all experiments, one for each scale that has enough.

    A problem is a repeat on a data set of an experiment, on one set-up. Methods are identified by their labels. Those
    of two or more experiments, without a time budget, are compared on the problems on which all of them were run. A
    method has solved a problem when its objective is within 10⁻³ of the best one there.

    Returns
    -------
    list of Picture
    """
    scales = dict.fromkeys(found.scale for found in results)
    pictures = [_profile(scale, [found for found in results if found.scale == scale]) for scale in scales]
    return [picture for picture in pictures if picture is not None]


def _profile(scale, results):
    problems, homes = {}, {}
    for found in results:
        for label, key, cost in _costs(found):
            problems.setdefault(key, {})[label] = cost
            homes.setdefault(label, set()).add(found.experiment.name)
    shared = [label for label, places in homes.items() if len(places) > 1]
    factors = {label: [] for label in shared}
    counted = {key for key, costs in problems.items() if all(label in costs for label in shared)}
    for key in sorted(counted):
        costs = {label: _if_solved(problems[key], label) for label in shared}
        best = min(costs.values(), default=np.inf)
        if best < np.inf:
            for label, cost in costs.items():
                factors[label].append(cost / best)
    by_slug = method_styles([_slug(label) for label in shared])
    return draw_profiles(
        f"all-{scale}-fit-time-profile",
        f"Time of a fit over all experiments, {scale} scale",
        "fit time: factor over the best",
        factors,
        {label: by_slug[_slug(label)] for label in shared},
        note="Repeats on the data sets of "
        + ", ".join(sorted({key[0] for key in counted}))
        + " in which all of these solvers were run on one set-up; solved: within 10⁻³ of the best objective there.",
    )


def _costs(results):
    """Yield (label, problem, (seconds, objective)) for every method without a budget that has an objective."""
    for (dataset, method), cell in results.cells.items():
        if results.method(method) is None or results.has_budget(method):
            continue
        for record in cell.records:
            objective, seconds = (finite(place(record, path)) for path in ("metrics.objective", "seconds.fit"))
            failed = record["status"] != "ok"
            if failed or (objective is not None and seconds):
                key = (results.experiment.name, dataset, run_of(record))
                yield results.label(method), key, (np.inf, np.inf) if failed else (seconds, objective)


def _if_solved(costs, label):
    """A method's seconds on a problem, infinite if its objective is not near the best."""
    best = min(objective for _, objective in costs.values())
    seconds, objective = costs[label]
    return seconds if objective <= best + SOLVED * abs(best) else np.inf


def _slug(label):
    """The name by which a solver's style is known: its short label, ``"LIBSVM, 2 GB cache"`` as libsvm-2-gb-cache."""
    return label.partition(" (")[0].lower().replace(",", "").replace(" ", "-")
