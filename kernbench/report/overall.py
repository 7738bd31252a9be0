"""Performance profiles over all experiments: every problem that the same solvers were run on counts alike."""

import numpy as np

from kernbench.report.aggregate import part
from kernbench.report.charts import profiles
from kernbench.report.statistics import finite
from kernbench.report.style import looks

SOLVED = 1e-3  # relative distance to the best objective of a problem up to which it counts as solved


def overall_profile(experiments, groups):
    """The profile of fit times over the problems of all experiments at one scale.

    A problem is a repeat on a data set of an experiment. Methods are the same where their labels are, and
    count when they were run in two experiments or more, without a time budget; problems, when all these
    methods were run on them. A method has solved a problem when its objective is within 10⁻³ of the best one
    there.

    Parameters
    ----------
    experiments : dict of str to Experiment
    groups : list of Group
        Of one scale.

    Returns
    -------
    Picture or None
        None where fewer than two methods were run in two experiments.
    """
    problems, homes = {}, {}
    for group in groups:
        for label, key, cost in _costs(experiments[group.experiment], group):
            problems.setdefault(key, {})[label] = cost
            homes.setdefault(label, set()).add(group.experiment)
    shared = [label for label, places in homes.items() if len(places) > 1]
    factors = {label: [] for label in shared}
    counted = {key for key, costs in problems.items() if all(label in costs for label in shared)}
    for key in sorted(counted):
        costs = {label: _if_solved(problems[key], label) for label in shared}
        best = min(costs.values(), default=np.inf)
        if best < np.inf:
            for label, cost in costs.items():
                factors[label].append(cost / best)
    names = sorted({key[0] for key in counted})
    by_slug = looks([_slug(label) for label in shared])
    scale = groups[0].scale
    return profiles.drawn(
        f"all-{scale}-fit-time-profile",
        f"Time of a fit over all experiments, {scale} scale",
        "fit time: factor over the best",
        factors,
        {label: by_slug[_slug(label)] for label in shared},
        note="Repeats on the data sets of "
        + ", ".join(names)
        + " on which all of these solvers were run; solved means within 10⁻³ of the best objective there.",
    )


def _costs(experiment, group):
    """Yield (label, problem, (seconds, objective)) for every method without a budget that has an objective."""
    free = {method.name: method.label for method in experiment.methods if method.depends_on is None}
    for (dataset, method), cell in group.cells.items():
        for record in cell.ok + cell.failed:
            objective = finite(part(record, "metrics").get("objective"))
            seconds = finite(part(record, "seconds").get("fit"))
            failed = record["status"] != "ok"
            if method in free and (failed or (objective is not None and seconds)):
                key = (group.experiment, dataset, record["repeat"])
                yield free[method], key, (np.inf, np.inf) if failed else (seconds, objective)


def _if_solved(costs, label):
    """A method's seconds on a problem, infinite where its objective is not near the best."""
    best = min(objective for _, objective in costs.values())
    seconds, objective = costs[label]
    return seconds if objective <= best + SOLVED * abs(best) else np.inf


def _slug(label):
    """The name by which a solver's look is known: its short label, ``"LIBSVM, 2 GB cache"`` as libsvm-2-gb-cache."""
    return label.partition(" (")[0].lower().replace(",", "").replace(" ", "-")
