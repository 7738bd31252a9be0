"""The claims of an experiment, each with its verdict on every data set to which it applies."""

from dataclasses import dataclass

from kernbench.experiments.declare import Bound, Claim, Passing
from kernbench.report import text
from kernbench.report.claims.bounds import judge_bound, summed_up
from kernbench.report.claims.judgement import FAILS, HOLDS, OPEN, CannotBeJudged, Judgement
from kernbench.report.claims.passing import judge_passing
from kernbench.report.claims.races import judge_race

PARTLY = "holds in part"
UNRECORDED = "has no records"
JUDGES = {Claim: judge_race, Bound: judge_bound, Passing: judge_passing}


@dataclass(frozen=True)
class Finding:
    """A claim, and on how many of its data sets it holds.

    Attributes
    ----------
    text : str
        The claim.
    judgements : list of Judgement
        To be listed; many agreeing data sets share one.
    n_holding, n_failing, n_datasets : int
        Of all data sets to which the claim applies at this scale, recorded or not, but for those that run only when
        asked for and have no record.
    absent : list of str
        Data sets of these without any record.
    generated : bool
        Whether all of its data are generated, although a reader might expect real ones.
    """

    text: str
    judgements: list
    n_holding: int
    n_failing: int
    n_datasets: int
    absent: list
    generated: bool = False

    @property
    def verdict(self):
        """``"holds"`` only if it does on every data set."""
        if self.n_holding == self.n_datasets:
            return HOLDS
        if self.n_failing:
            return FAILS
        return PARTLY if self.n_holding else OPEN

    @property
    def tone(self):
        """How the page marks it: ``"holds"``, ``"holds in part"``, ``"does not hold"`` or ``"cannot be judged"``."""
        return PARTLY if 0 < self.n_holding < self.n_datasets else self.verdict

    @property
    def words(self):
        """The verdict with its count: ``"holds on 4 of 6 data sets"``."""
        kind = "generated " if self.generated else ""
        if self.verdict == OPEN:
            return OPEN if self.judgements else UNRECORDED
        if self.n_datasets == 1:
            return f"{self.verdict}{' on generated data' if self.generated else ''}"
        if not self.n_holding:
            return f"{FAILS} on {self.n_failing} of {self.n_datasets} {kind}data sets"
        count = (
            f"all {self.n_datasets}" if self.verdict == HOLDS else f"{self.n_holding} of {self.n_datasets}"
        )
        return f"{HOLDS} on {count} {kind}data sets"


def findings(results):
    """All claims that concern a data set of this scale, in the order of their declaration.

    Parameters
    ----------
    results : Results

    Returns
    -------
    list of Finding
    """
    found = []
    for claim in results.experiment.claims:
        datasets = _datasets(results, claim)
        recorded = [dataset for dataset in results.datasets if dataset in datasets]
        if datasets:
            found.append(
                _finding(results, claim, recorded, [name for name in datasets if name not in recorded])
            )
    return found


def _datasets(results, claim):
    """The data sets to which a claim applies at this scale: those that run by default, and any others with records."""
    settings = {setting.name: setting for setting in results.experiment.scale(results.scale).settings}
    names = [claim.method] + ([] if claim.baseline is None else [claim.baseline])
    return [
        name
        for name in dict.fromkeys([*settings, *results.datasets])
        if (name in results.datasets or not settings[name].optional)
        and (claim.datasets is None or name in claim.datasets)
        and (name not in settings or all(settings[name].takes(method) for method in names))
    ]


def _finding(results, claim, recorded, absent):
    judgements = [judge(results, dataset, claim) for dataset in recorded]
    verdicts = [judgement.verdict for judgement in judgements]
    return Finding(
        text=claim.text,
        judgements=summed_up(results, claim, judgements) if isinstance(claim, Bound) else judgements,
        n_holding=verdicts.count(HOLDS),
        n_failing=verdicts.count(FAILS),
        n_datasets=len(recorded) + len(absent),
        absent=absent,
        generated=bool(recorded)
        and not results.experiment.own_data
        and all(results.kind(dataset) == "generated" for dataset in recorded),
    )


def judge(results, dataset, claim):
    """The judgement of a claim, of any kind, on one data set."""
    try:
        return JUDGES[type(claim)](results, dataset, claim)
    except CannotBeJudged as reason:
        return Judgement(dataset, OPEN, str(reason))


def standing(found):
    """All findings in a few words: ``"the claim holds"``, ``"4 of 5 claims hold, 1 on some data sets only"``."""
    if not found:
        return ""
    if len(found) == 1:
        return f"the claim {found[0].words}"
    n_whole = sum(finding.verdict == HOLDS for finding in found)
    n_partly = sum(0 < finding.n_holding < finding.n_datasets for finding in found)
    n_without = sum(not finding.judgements for finding in found)
    n_open = sum(finding.verdict == OPEN for finding in found) - n_without
    parts = [f"{n_whole} of {text.plural(len(found), 'claim')} hold"]
    parts += [f"{n_partly} on some data sets only"] if n_partly else []
    parts += [f"{n_open} cannot be judged"] if n_open else []
    parts += [f"{n_without} without records"] if n_without else []
    return ", ".join(parts)


def tone(found):
    """How the page marks all findings together, as it marks one; empty without any."""
    tones = {finding.tone for finding in found}
    return tones.pop() if len(tones) == 1 else PARTLY if tones else ""
