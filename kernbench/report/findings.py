"""The claims of an experiment, each with its verdict on every data set it is about."""

from dataclasses import dataclass

from kernbench.experiments.declare import Claim
from kernbench.report.bounds import bound_interval, judge_bound, summed_up
from kernbench.report.claims import FAILS, HOLDS, OPEN, interval_sentence, judge, overall


@dataclass(frozen=True)
class Finding:
    """A claim and what became of it.

    Attributes
    ----------
    text : str
        The claim.
    verdict, sentence : str
        On all data sets together.
    judgements : list of (Judgement, str)
        With the sentence on the interval.
    datasets : list of str
        Where it was judged.
    """

    text: str
    verdict: str
    sentence: str
    judgements: list
    datasets: list


def findings(experiment, group):
    """All claims, in the order of their declaration.

    Parameters
    ----------
    experiment : kernbench.experiments.declare.Experiment
    group : Group

    Returns
    -------
    list of Finding
        Without those that concern none of the data sets recorded here.
    """
    found = []
    for claim in experiment.claims:
        datasets = _datasets(experiment, group, claim)
        if datasets:
            found.append(_finding(experiment, group, claim, datasets))
    return found


def _datasets(experiment, group, claim):
    """The recorded data sets a claim is about."""
    declared = {setting.name: setting for setting in experiment.scale(group.scale).settings}
    names = [claim.method] + ([] if claim.baseline is None else [claim.baseline])
    return [
        name
        for name in group.datasets
        if (claim.datasets is None or name in claim.datasets)
        and (name not in declared or all(declared[name].takes(method) for method in names))
    ]


def _finding(experiment, group, claim, datasets):
    if isinstance(claim, Claim):
        judgements = [judge(experiment, group, dataset, claim) for dataset in datasets]
        intervals = [interval_sentence(experiment, group, dataset, claim) for dataset in datasets]
        verdict, sentence = overall(judgements)
        return Finding(claim.text, verdict, sentence, list(zip(judgements, intervals)), datasets)
    judgements = [judge_bound(experiment, group, dataset, claim) for dataset in datasets]
    listed = [
        (
            judgement,
            bound_interval(experiment, group, judgement.dataset, claim) if judgement in judgements else "",
        )
        for judgement in summed_up(experiment, claim, judgements)
    ]
    return Finding(claim.text, overall(judgements)[0], "", listed, datasets)


def standing(found):
    """All findings in a few words: ``"the claim holds"``, ``"4 of 5 claims hold"``; empty without any.

    Parameters
    ----------
    found : list of Finding
    """
    if not found:
        return ""
    if len(found) == 1:
        return f"the claim {found[0].verdict}"
    counts = [sum(finding.verdict == verdict for finding in found) for verdict in (HOLDS, FAILS, OPEN)]
    words = f"{counts[0]} of {len(found)} claims hold"
    return f"{words}, {counts[2]} cannot be judged" if counts[2] else words
