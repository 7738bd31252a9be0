"""The claims of an experiment, each with its verdict on every data set to which it applies."""

from collections import Counter
from dataclasses import dataclass
from itertools import islice

from kernbench.experiments.declare import Bound, Claim, Passing
from kernbench.report import text
from kernbench.report.claims.bounds import judge_bound, summed_up
from kernbench.report.claims.correction import corrected
from kernbench.report.claims.judgement import FAILS, HELD, HOLDS, MISSED, OPEN, CannotBeJudged, Judgement, so_far
from kernbench.report.claims.passing import judge_passing
from kernbench.report.claims.races import judge_race

PARTLY = "holds in part"
UNRECORDED = "has no records"
PLURALS = {
    HOLDS: "hold",
    PARTLY: "hold in part",
    FAILS: "do not hold",
    HELD: HELD,
    MISSED: MISSED,
    OPEN: OPEN,
    UNRECORDED: "have no records",
}
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
    held, missed : tuple of int
        The numbers of repeats, too few to judge, on data sets on which it held in each, or did not in any.
    """

    text: str
    judgements: list
    n_holding: int
    n_failing: int
    n_open: int
    absent: list
    generated: bool = False
    held: tuple = ()
    missed: tuple = ()

    @property
    def n_judged(self):
        """Data sets on which it holds or does not hold."""
        return self.n_holding + self.n_failing

    @property
    def verdict(self):
        """``"holds"`` only if it does wherever it applies; also how the page marks it.

        Repeats that are too few to judge count only where there are no others: ``"held so far"`` if it did on all data
        sets with records, ``"did not hold so far"`` if it did on none.
        """
        if self.n_judged:
            rest = self.n_failing or self.n_open or self.absent or self.held or self.missed
            return FAILS if not self.n_holding else PARTLY if rest else HOLDS
        if self.held:
            return OPEN if self.missed or self.n_open else HELD
        return MISSED if self.missed else OPEN

    @property
    def words(self):
        """The verdict and its counts.

        As ``"holds on 4 of 5 data sets judged; held in its one repeat on 2 data sets; 1 cannot be judged"``.
        """
        noun = "generated data set" if self.generated else "data set"
        untested = [(verdict, counts) for verdict, counts in ((HELD, self.held), (MISSED, self.missed)) if counts]
        rest = [f"{self.n_open} cannot be judged"] if self.n_open else []
        rest += [f"{len(self.absent)} {'has' if len(self.absent) == 1 else 'have'} no records"] if self.absent else []
        parts = []
        if self.n_judged:
            where = f" on {self._share(noun)}{' judged' if untested or self.n_open else ''}"
            if self.n_judged == 1:
                where = self._where(1, noun, untested or rest)
            parts.append(f"{HOLDS if self.n_holding else FAILS}{where}")
        for verdict, counts in untested:
            is_among_others = self.n_judged or len(untested) > 1 or rest
            parts.append(so_far(verdict, counts, self._where(len(counts), noun, is_among_others)))
        if not parts:
            return OPEN if self.judgements else UNRECORDED
        return "; ".join([*parts, *rest])

    def _where(self, number, noun, is_among_others):
        """The data sets of a verdict; nothing for the only one, unless it is generated."""
        if number > 1 or is_among_others:
            return f" on {text.plural(number, noun)}"
        return " on generated data" if self.generated else ""

    def _share(self, noun):
        """On how many of the data sets it holds, or does not hold: ``"both data sets"``, ``"any of 3 data sets"``."""
        if self.n_holding and self.n_failing:
            return f"{self.n_holding} of {text.plural(self.n_judged, noun)}"
        if self.n_judged == 2:
            return f"both {noun}s" if self.n_holding else f"either {noun}"
        return f"{'all' if self.n_holding else 'any of'} {text.plural(self.n_judged, noun)}"


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
        held=tuple(judgement.n_repeats for judgement in judgements if judgement.verdict == HELD),
        missed=tuple(judgement.n_repeats for judgement in judgements if judgement.verdict == MISSED),
    )


def judge(results, dataset, claim):
    """The judgement of a claim, of any kind, on one data set."""
    try:
        return JUDGES[type(claim)](results, dataset, claim)
    except CannotBeJudged as reason:
        return Judgement(dataset, OPEN, str(reason))


def standing(found):
    """All findings in a few words: ``"the claim holds"``, ``"4 of 9 claims hold, 1 does not hold, 4 held so far"``."""
    if not found:
        return ""
    if len(found) == 1:
        return f"the claim {found[0].words}"
    counts = Counter(finding.verdict if finding.judgements else UNRECORDED for finding in found)
    known = {verdict: number for verdict in PLURALS if (number := counts[verdict])}
    (first, n_first), *others = ((verdict if n == 1 else PLURALS[verdict], n) for verdict, n in known.items())
    parts = [f"{n_first} of {len(found)} claims {first}", *(f"{number} {verdict}" for verdict, number in others)]
    return ", ".join(parts)


def tone(found):
    """How the page marks all findings together, as it marks one; empty without any."""
    tones = {finding.verdict for finding in found}
    if len(tones) < 2:
        return tones.pop() if tones else ""
    if tones <= {FAILS, MISSED, OPEN}:
        return FAILS if FAILS in tones else MISSED
    return OPEN if tones <= {HELD, MISSED, OPEN} else PARTLY
