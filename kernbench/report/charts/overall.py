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

    A problem is a repeat on a data set of an experiment, on one set-up. Methods are identified by their labels. As many
    as two experiments have in common on a data set, without a time budget, are compared on the problems on which all of
    them were run. A method has solved a problem when its objective is within 10⁻³ of the best one there.

    Returns
    -------
    list of Picture
    """
    scales = dict.fromkeys(found.scale for found in results)
    pictures = [_profile(scale, [found for found in results if found.scale == scale]) for scale in scales]
    return [picture for picture in pictures if picture is not None]


def _profile(scale, results):
    problems, labels = {}, {}
    for found in results:
        for label, key, cost in _costs(found):
            problems.setdefault(key, {})[label] = cost
            labels[label] = None
    together = _together(problems)
    shared = [label for label in labels if label in together]
    factors = {label: [] for label in shared}
    counted = {key for key, costs in problems.items() if together <= costs.keys()}
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


def _together(problems):
    """The largest set of methods that two experiments or more have on one data set; of several, on most problems."""
    races = {}
    for (experiment, dataset, _), costs in problems.items():
        races.setdefault((experiment, dataset), set()).update(costs)
    homes = {(experiment, frozenset(labels)) for (experiment, _), labels in races.items()}
    sets = {one & other for home, one in homes for place, other in homes if home != place}
    numbers = {labels: sum(labels <= costs.keys() for costs in problems.values()) for labels in sets}
    return max(sets, key=lambda labels: (len(labels), numbers[labels], sorted(labels)), default=frozenset())


def _costs(results):
    """Yield (label, problem, (seconds, objective)) for every method without a budget that has an objective.

    Not for methods that the experiments define, such as the zero model, which solve nothing.
    """
    for (dataset, method), cell in results.cells.items():
        declared = results.method(method)
        if declared is None or declared.estimator.startswith("kernbench.experiments.") or results.has_budget(method):
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
