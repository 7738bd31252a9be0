"""The box at the top of the page: which solver to use, and why, computed from the records."""

import json
from dataclasses import dataclass, field

from kernbench.report import text
from kernbench.report.advice import advise
from kernbench.report.claims import HOLDS
from kernbench.report.labels import KINDS, data_of, kind_of, label_of, peer_of, scaled, spelled
from kernbench.report.reasons import reasons
from kernbench.report.statistics import finite
from kernbench.report.tables import Column, Entry, Table, words


@dataclass
class Verdict:
    """What stands in the box at the top of the page.

    Attributes
    ----------
    headline : str
    basis : str
        Which data it rests on.
    stand_in : bool
        None of them is real.
    sentences : list of str
    code : str
        How to use it.
    table : Table or None
        A row for each data set.
    caveats : list of str
    question : str
        What the headline answers.
    """

    headline: str
    basis: str = ""
    stand_in: bool = False
    sentences: list = field(default_factory=list)
    code: str = ""
    table: Table | None = None
    caveats: list = field(default_factory=list)
    question: str = "Which solver to use for a kernel machine, and why?"


def no_race(sections):
    """What stands in the box when no experiment recommends a solver: the standing of the claims.

    Parameters
    ----------
    sections : list of Section

    Returns
    -------
    Verdict
    """
    found = [finding for section in sections for finding in section.findings]
    holding = sum(finding.verdict == HOLDS for finding in found)
    if len(found) == 1:
        headline = f"The claim {found[0].verdict}."
    elif found:
        headline = f"{holding} of {len(found)} claims hold."
    else:
        headline = f"{text.plural(sum(section.n_records for section in sections), 'measurement')}, no claims."
    return Verdict(
        headline,
        "These experiments recommend no solver; one that does is run by: kernbench run sbp-libsvm",
        sentences=[
            f"{section.experiment.title}, {section.scale} scale: {section.standing or 'no claims'}."
            for section in sections
        ],
        question="What do these experiments say?",
    )


def verdict(experiment, group):
    """The verdict from one experiment at one scale.

    Parameters
    ----------
    experiment : kernbench.experiments.declare.Experiment
    group : Group

    Returns
    -------
    Verdict
    """
    advices = [found for dataset in group.datasets if (found := advise(experiment, group, dataset))]
    if not advices:
        headline = "No solver can be recommended yet: no run came to its end."
        return Verdict(headline, *_basis(group), caveats=_caveats(group))
    counts = {}
    for advice in advices:
        counts.setdefault(advice.method, []).append(advice.seconds)
    # The choice on most data sets; among equals the one that had the larger problems.
    chosen = max(counts, key=lambda name: (len(counts[name]), sum(counts[name])))
    return Verdict(
        f"Use {spelled(experiment, chosen)}.",
        *_basis(group),
        reasons(experiment, group, advices, chosen),
        _code(experiment, chosen),
        _table(experiment, group, advices),
        _caveats(group),
    )


def _code(experiment, chosen):
    """Two lines to copy."""
    method = experiment.method(chosen)
    module, _, estimator = method.estimator.partition(":")
    package = "kernbench" if module.startswith("kernbench.") else module
    arguments = [f"{key}={json.dumps(value)}" for key, value in method.params.items()]
    arguments += ["C=1.0", 'gamma="scale"']
    return f"from {package} import {estimator}\nmodel = {estimator}({', '.join(arguments)}).fit(X, y)"


def _basis(group):
    """On which data and how often, as a sentence; and whether all of them are stand-ins."""
    kinds = {}
    for dataset in group.datasets:
        kinds.setdefault(kind_of(group, dataset), []).append(dataset)
    words = [
        f"{KINDS.get(kind, 'data of unknown kind')} ({text.listed(datasets)})"
        for kind, datasets in kinds.items()
    ]
    stand_in = set(kinds) == {"generated"}
    only = " only, no real data" if stand_in else ""
    repeats = max((len(cell.ok) + len(cell.failed) for cell in group.cells.values()), default=0)
    sentence = (
        f"Measured on {text.listed(words)}{only}, at {group.scale} scale, {text.plural(repeats, 'repeat')}."
    )
    return sentence, stand_in


def _caveats(group):
    caveats = []
    if max((cell.n_repeats for cell in group.cells.values()), default=0) < 2:
        caveats.append("One repeat only: nothing is known of the scatter.")
    if group.scale == "quick":
        caveats.append(
            "Quick scale: small problems and times of fractions of a second. For a judgement on the paper's "
            "own data: kernbench run --scale paper"
        )
    failed = [record for record in group.records if record["status"] != "ok"]
    if failed:
        caveats.append(f"{text.plural(len(failed), 'fit')} failed; see the list below.")
    return caveats


def _table(experiment, group, advices):
    metric, peer = experiment.metrics[0], peer_of(experiment)
    columns = (
        Column("your data look like", "data", numeric=False),
        Column("examples × features", "n_train"),
        Column("use", "method", numeric=False),
        Column(f"{metric.label}{f' ({metric.unit})' if metric.unit else ''}", metric.name),
        Column("training time", "fit_seconds"),
        Column(f"speed ({peer} = 1)", "speed"),
    )
    rows = []
    for advice in advices:
        data = data_of(group, advice.dataset)
        n_train, n_features = finite(data.get("n_train")), finite(data.get("n_features"))
        rows.append(
            (
                words(f"{advice.dataset} ({advice.kind})"),
                Entry(f"{text.count(n_train)} × {text.count(n_features)}", data.get("n_train")),
                words(label_of(experiment, advice.method)),
                Entry(scaled(metric, advice.error), advice.error),
                Entry(text.seconds(advice.seconds), advice.seconds),
                Entry(
                    text.DASH if advice.ratio is None else f"{text.significant(advice.ratio, 2)} ×",
                    advice.ratio,
                ),
            )
        )
    return Table(
        f"{group.experiment}-{group.scale}-verdict", "Which solver, by data set", columns, [("", rows)]
    )
