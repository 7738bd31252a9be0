"""The claims of an experiment, each with its verdict on every data set to which it applies."""

from dataclasses import dataclass
from itertools import islice

from kernbench.experiments.declare import Bound, Claim, Passing
from kernbench.report import text
from kernbench.report.claims.bounds import judge_bound, summed_up
from kernbench.report.claims.correction import corrected
from kernbench.report.claims.judgement import FAILS, HOLDS, OPEN, CannotBeJudged, Judgement
from kernbench.report.claims.passing import judge_passing
from kernbench.report.claims.races import judge_race

PARTLY = "holds in part"
UNRECORDED = "has no records"
JUDGES = {Claim: judge_race, Bound: judge_bound, Passing: judge_passing}


@dataclass(frozen=True)
class Finding:
    """A claim, and on how many of its data sets it holds. What was never measured counts neither for nor against it.

    Attributes
    ----------
    text : str
        The claim.
    judgements : list of Judgement
        To be listed; many agreeing data sets share one.
    n_holding, n_failing, n_open : int
        Measured data sets on which it holds, does not hold and cannot be judged.
    absent : list of str
        Data sets to which it applies at this scale that have no record, without those that run only when asked for.
    generated : bool
        Whether all of its data are generated, although a reader might expect real ones.
    n_single : int
        Data sets on which it holds or does not hold by the number of a single repeat, without an interval.
    """

    text: str
    judgements: list
    n_holding: int
    n_failing: int
    n_open: int
    absent: list
    generated: bool = False
    n_single: int = 0

    @property
    def n_judged(self):
        """Data sets on which it holds or does not hold."""
        return self.n_holding + self.n_failing

    @property
    def verdict(self):
        """``"holds"`` only if it does wherever it applies; also how the page marks it."""
        if not self.n_judged:
            return OPEN
        if not self.n_holding:
            return FAILS
        return PARTLY if self.n_failing or self.n_open or self.absent else HOLDS

    @property
    def words(self):
        """The verdict, its counts and where a single repeat decides.

        As ``"holds on 4 of 5 data sets judged (one repeat on 2 of 5); 1 cannot be judged; 2 have no records"``.
        """
        if not self.n_judged:
            return OPEN if self.judgements else UNRECORDED
        noun = "generated data set" if self.generated else "data set"
        rest = [f"{self.n_open} cannot be judged"] if self.n_open else []
        rest += [f"{len(self.absent)} {'has' if len(self.absent) == 1 else 'have'} no records"] if self.absent else []
        where = f" on {self._share(noun)}{' judged' if self.n_open else ''}"
        if self.n_judged == 1:
            where = f" on 1 {noun}" if rest else " on generated data" if self.generated else ""
        single = f" ({self.repeats})" if self.repeats else ""
        return "; ".join([f"{HOLDS if self.n_holding else FAILS}{where}{single}", *rest])

    def _share(self, noun):
        """On how many of the data sets it holds, or does not hold: ``"both data sets"``, ``"any of 3 data sets"``."""
        if self.n_holding and self.n_failing:
            return f"{self.n_holding} of {text.plural(self.n_judged, noun)}"
        if self.n_judged == 2:
            return f"both {noun}s" if self.n_holding else f"either {noun}"
        return f"{'all' if self.n_holding else 'any of'} {text.plural(self.n_judged, noun)}"

    @property
    def repeats(self):
        """Where the number of a single repeat decides, in words: ``"one repeat on 3 of 5"``; else empty."""
        if not self.n_single:
            return ""
        if self.n_single < self.n_judged:
            return f"one repeat on {self.n_single} of {self.n_judged}"
        return "one repeat" if self.n_judged == 1 else "one repeat each"


def findings(page):
    """All claims that concern a data set of their scale, the verdicts corrected for the number of all.

    Parameters
    ----------
    page : list of Results
        All that the page shows: its verdicts are corrected together.

    Returns
    -------
    list of (list of Finding)
        For each of the results, in the order of their claims.
    """
    asked = [[(claim, *_datasets(results, claim)) for claim in results.experiment.claims] for results in page]
    judgements = corrected(
        [
            judge(results, dataset, claim)
            for results, claims in zip(page, asked)
            for claim, recorded, _ in claims
            for dataset in recorded
        ]
    )
    remaining = iter(judgements)
    return [
        [
            _finding(results, claim, recorded, absent, list(islice(remaining, len(recorded))))
            for claim, recorded, absent in claims
            if recorded or absent
        ]
        for results, claims in zip(page, asked)
    ]


def _datasets(results, claim):
    """The data sets to which a claim applies at this scale: those with records, and others that run by default."""
    settings = {setting.name: setting for setting in results.experiment.scale(results.scale).settings}
    methods = [claim.method] + ([] if claim.baseline is None else [claim.baseline])
    names = [
        name
        for name in dict.fromkeys([*results.datasets, *settings])
        if (claim.datasets is None or name in claim.datasets)
        and (name not in settings or all(settings[name].takes(method) for method in methods))
    ]
    recorded = [name for name in names if name in results.datasets]
    return recorded, [name for name in names if name not in recorded and not settings[name].optional]


def _finding(results, claim, recorded, absent, judgements):
    verdicts = [judgement.verdict for judgement in judgements]
    return Finding(
        text=claim.text,
        judgements=summed_up(results, claim, judgements) if isinstance(claim, Bound) else judgements,
        n_holding=verdicts.count(HOLDS),
        n_failing=verdicts.count(FAILS),
        n_open=verdicts.count(OPEN),
        absent=absent,
        generated=bool(recorded)
        and not results.experiment.own_data
        and all(results.kind(dataset) == "generated" for dataset in recorded),
        n_single=sum(judgement.is_single and judgement.verdict != OPEN for judgement in judgements),
    )


def judge(results, dataset, claim):
    """The judgement of a claim, of any kind, on one data set."""
    try:
        return JUDGES[type(claim)](results, dataset, claim)
    except CannotBeJudged as reason:
        return Judgement(dataset, OPEN, str(reason))


def standing(found):
    """All findings in a few words: ``"the claim holds"``, ``"4 of 5 claims hold (2 with single repeats), 1 in part"``.

    A single repeat is no evidence of what others would say: how many of those that hold have one is told with them.
    """
    if not found:
        return ""
    if len(found) == 1:
        return f"the claim {found[0].words}"
    verdicts = [finding.verdict for finding in found]
    n_without = sum(not finding.judgements for finding in found)
    n_open = verdicts.count(OPEN) - n_without
    n_holding = verdicts.count(HOLDS)
    n_single = sum(finding.verdict == HOLDS and finding.n_single > 0 for finding in found)
    single = f" ({n_single} with single repeats)" if n_single else ""
    parts = [f"{n_holding} of {len(found)} claims {'holds' if n_holding == 1 else 'hold'}{single}"]
    parts += [f"{verdicts.count(PARTLY)} in part"] if PARTLY in verdicts else []
    parts += [f"{n_open} cannot be judged"] if n_open else []
    parts += [f"{n_without} without records"] if n_without else []
    return ", ".join(parts)


def tone(found):
    """How the page marks all findings together, as it marks one; empty without any."""
    tones = {finding.verdict for finding in found}
    if tones == {FAILS, OPEN}:
        return FAILS
    return tones.pop() if len(tones) == 1 else PARTLY if tones else ""
