"""Does a claim hold here? Yes, no, or why nobody can say. A miss is an answer too.

This is the race, :class:`~kernbench.experiments.declare.Claim`; `bounds` judges the other kind.
"""

from dataclasses import dataclass
from math import hypot

from kernbench.report import text
from kernbench.report.aggregate import part, setup_of
from kernbench.report.labels import amount, label_of, short_label, signed, with_unit
from kernbench.report.statistics import MIN_REPEATS, compare, finite, finite_values, mean_and_error

HOLDS, FAILS, OPEN = "holds", "does not hold", "cannot be judged"
ROUNDING = 1e-12  # 0.150 - 0.149 must not fail a margin of 0.001


@dataclass(frozen=True)
class Judgement:
    """The verdict on a claim for one data set.

    Attributes
    ----------
    dataset : str
    verdict : {"holds", "does not hold", "cannot be judged"}
    why : str
        Sentences with the numbers behind it.
    value : float or None
        The number that decided, where there is one.
    """

    dataset: str
    verdict: str
    why: str
    value: float | None = None


def judge(experiment, group, dataset, claim=None):
    """Judge a claim on one data set, as :class:`kernbench.experiments.declare.Claim` defines it.

    Parameters
    ----------
    experiment : kernbench.experiments.declare.Experiment
    group : Group
    dataset : str
    claim : kernbench.experiments.declare.Claim, optional
        The experiment's first by default.

    Returns
    -------
    Judgement
    """
    claim = claim or experiment.claim
    metric, peer = experiment.metric(claim.metric), short_label(experiment, claim.baseline)
    cells = [group.cell(dataset, name) for name in (claim.method, claim.baseline)]
    reasons = [missing(experiment, cell) for cell in cells if not cell.ok]
    if reasons:
        return Judgement(dataset, OPEN, " ".join(reasons))
    pairs = [pair for pair in paired(*cells) if all(finite(metric.of(record)) is not None for record in pair)]
    if not pairs:
        why = "No repeat has both methods on the same set-up with a measured " + metric.label + "."
        return Judgement(dataset, OPEN, why)

    (value, error), (base_value, base_error) = (
        mean_and_error(metric.of(pair[side]) for pair in pairs) for side in (0, 1)
    )
    worse_by = value - base_value if metric.direction == "lower" else base_value - value
    good_enough = worse_by <= claim.margin + ROUNDING
    sentences = [
        f"{text.capitalised(metric.label)} {with_unit(metric, value)} against {text.possessive(peer)} "
        f"{with_unit(metric, base_value)}: {amount(metric, abs(worse_by))} "
        f"{'worse' if worse_by > 0 else 'better'}{_margin(metric, claim, good_enough)}."
    ]
    in_time = True
    if claim.time_fraction is not None:
        in_time, sentence = _time(claim, pairs)
        sentences.append(sentence)
    if in_time is None:
        return Judgement(dataset, OPEN, " ".join(sentences))
    if in_time and abs(worse_by - claim.margin) < 2 * hypot(error or 0.0, base_error or 0.0):
        sentences.append("Close: the distance to the margin is within two standard errors.")
    return Judgement(dataset, HOLDS if good_enough and in_time else FAILS, " ".join(sentences))


def _margin(metric, claim, good_enough):
    """How the difference stands to the margin, as the end of a sentence."""
    if claim.margin == 0:
        return ""
    if claim.margin < 0:
        return f", to be better by {amount(metric, -claim.margin)} at least"
    return f", {'within' if good_enough else 'beyond'} the margin of {amount(metric, claim.margin)}"


def missing(experiment, cell):
    """Why a cell has no result, as a sentence."""
    label = label_of(experiment, cell.method)
    if not cell.failed:
        return f"{label} has not been run on these data."
    statuses = text.listed(dict.fromkeys(record["status"] for record in cell.failed))
    return f"{label} did not end well here ({statuses})."


def paired(method, baseline):
    """Records of the same repeat on the same set-up: elsewhere, a time means something else."""
    base = {(record["repeat"], setup_of(record)): record for record in baseline.ok}
    keyed = (((record["repeat"], setup_of(record)), record) for record in method.ok)
    return [(record, base[key]) for key, record in keyed if key in base]


def _time(claim, pairs):
    """Whether the claim's share of the time was kept (None: not recorded), and the sentence that says so."""
    times = [tuple(finite(part(record, "seconds").get("fit")) for record in pair) for pair in pairs]
    if any(time is None for pair in times for time in pair):
        return None, "Times are missing."
    own, base = (sum(pair[side] for pair in times) / len(times) for side in (0, 1))
    allowed = claim.time_fraction * base + claim.time_slack
    kept = own <= allowed
    slack = f" and {text.seconds(claim.time_slack)} for looks at the clock" if claim.time_slack else ""
    return kept, (
        f"It took {text.seconds(own)}, {'within' if kept else 'over'} the {text.seconds(allowed)} allowed "
        f"({100 * claim.time_fraction:g} % of {text.seconds(base)}{slack})."
    )


def interval_sentence(experiment, group, dataset, claim=None):
    """What a test over repeats says about method and baseline, or that there are too few repeats."""
    claim = claim or experiment.claim
    metric = experiment.metric(claim.metric)
    method, peer = label_of(experiment, claim.method), short_label(experiment, claim.baseline)
    samples = [
        finite_values(metric.of(record) for record in group.cell(dataset, name).ok)
        for name in (claim.method, claim.baseline)
    ]
    found = compare(*samples)
    if found is None:
        n_repeats = min(len(sample) for sample in samples)
        few = f"{text.plural(n_repeats, 'repeat')}: no interval (that takes at least {MIN_REPEATS})."
        return few if n_repeats else ""
    low, high, difference = (signed(metric, value) for value in (found.low, found.high, found.difference))
    return (
        f"{method} minus {peer}, medians over repeats: {difference} "
        f"(95 % bootstrap interval {low} to {high}); "
        f"Mann–Whitney p = {found.p_value:.2g}; a repeat of {method} is below one of {peer} with probability "
        f"{found.superiority:.2f}."
    )


def overall(judgements):
    """One verdict over all data sets, and a sentence that counts them.

    Parameters
    ----------
    judgements : list of Judgement

    Returns
    -------
    verdict : str
    sentence : str
    """
    names = {
        verdict: [j.dataset for j in judgements if j.verdict == verdict] for verdict in (HOLDS, FAILS, OPEN)
    }
    parts = [f"{verdict} on {text.listed(datasets)}" for verdict, datasets in names.items() if datasets]
    verdict = FAILS if names[FAILS] else HOLDS if names[HOLDS] else OPEN
    return verdict, f"The claim {'; it '.join(parts)}." if parts else "There is nothing to judge."
