"""The judgement of a claim on one data set, the rule for all of them, and the records that it needs."""

from dataclasses import dataclass

from kernbench.report import text
from kernbench.report.records.cells import paired
from kernbench.report.statistics import finite

HOLDS, FAILS, OPEN = "holds", "does not hold", "cannot be judged"
HELD, MISSED = "held so far", "did not hold so far"  # in each repeat, where these are too few to judge
SINGLE = "1 repeat: no interval."
ROUNDING = 1e-12  # 0.150 - 0.149 must not fail a margin of 0.001


@dataclass(frozen=True)
class Judgement:
    """The verdict on a claim for one data set.

    Attributes
    ----------
    dataset : str
    verdict : {"holds", "does not hold", "cannot be judged", "held so far", "did not hold so far"}
        The last two by `correction.corrected`.
    why : str
        Sentences with the numbers behind it.
    interval : str
        A sentence on the scatter over repeats.
    value : float or None
        The decisive number, if there is one.
    p_value : float or None
        Of the test behind the verdict; None for a single repeat, and for equal repeats without chance.
    n_repeats : int
        That can be compared.
    untested : {"held so far", "did not hold so far", "cannot be judged"}
        The verdict without a test that decides: the last, unless all repeats agree.
    """

    dataset: str
    verdict: str
    why: str
    interval: str = ""
    value: float | None = None
    p_value: float | None = None
    n_repeats: int = 0
    untested: str = OPEN

    @property
    def words(self):
        """The verdict; with the number of repeats where these are too few to judge."""
        is_untested = self.verdict in (HELD, MISSED) and self.n_repeats
        return so_far(self.verdict, [self.n_repeats]) if is_untested else self.verdict

    @property
    def is_single(self):
        """Whether the number of a single repeat was compared with the limit, without an interval."""
        return self.n_repeats == 1 and self.interval == SINGLE


def is_at_most(limit, estimate, interval=None):
    """Whether an estimate is at most a limit: the one rule, for claims and for recommendations.

    Parameters
    ----------
    limit, estimate : float
    interval : (float, float) or None
        Confidence interval of the estimate; None for a single repeat.

    Returns
    -------
    bool or None
        None, "cannot be judged", if the limit lies inside the interval.
    """
    slack = ROUNDING * max(1.0, abs(limit))
    if interval is not None and interval[0] < limit - slack and limit + slack < interval[1]:
        return None
    return estimate <= limit + slack


def all_of(answers):
    """One answer from several of `is_at_most`, all of which must be True for a claim to hold."""
    return False if False in answers else None if None in answers else True


def verdict_of(answers):
    """The same as a verdict."""
    return {True: HOLDS, False: FAILS, None: OPEN}[all_of(answers)]


def untested_of(answers):
    """What a claim did in all repeats, from their own answers; "cannot be judged" if these differ."""
    found = set(answers)
    return HELD if found == {True} else MISSED if found == {False} else OPEN


def so_far(verdict, counts, where=""):
    """``"held in its one repeat"``, ``"did not hold in any of 1 to 3 repeats on 2 data sets, too few to judge"``.

    Parameters
    ----------
    verdict : {"held so far", "did not hold so far"}
    counts : list of int
        Repeats on each data set.
    where : str
        Which data sets, such as ``" on 2 data sets"``.
    """
    if max(counts) == 1:
        return f"{'held' if verdict == HELD else 'did not hold'} in its one repeat{where}"
    each = "held in each of" if verdict == HELD else "did not hold in any of"
    return f"{each} {text.span(counts, 'repeat')}{where}, too few to judge"


def p_value_of(answers, p_values):
    """The p-value of a verdict from several tests, as `verdict_of` combines their answers.

    A verdict of "holds" needs all of them, so that the largest counts; "does not hold" needs one.
    """
    known = [p_value for answer, p_value in zip(answers, p_values) if answer is not False and p_value is not None]
    failing = [p_value for answer, p_value in zip(answers, p_values) if answer is False]
    if failing:
        return None if None in failing else min(failing)
    return max(known, default=None)


def scatter_of(found, n_repeats, show, what=""):
    """A sentence on an estimate over two repeats or more.

    Parameters
    ----------
    found : kernbench.report.statistics.Estimate
    n_repeats : int
    show : callable
        An end of the interval as text.
    what : str
        What the ends are of, as the end of the interval.
    """
    low, high = found.interval
    if high - low <= ROUNDING * max(abs(low), abs(high)):
        return f"{n_repeats} repeats, all equal."
    mean, scale = ("Geometric mean", " on logarithms") if found.is_geometric else ("Mean", "")
    return f"{mean} of {n_repeats} repeats; 95 % interval {show(low)} to {show(high)}{what}, by Student's t{scale}."


UNDECIDED = " The limit lies inside the interval: this cannot be judged."


class CannotBeJudged(Exception):
    """The reason, a sentence, why a claim cannot be judged on a data set."""


def pairs_of(results, metric, dataset, method, baseline):
    """The values of method and baseline in the repeats that can be compared, at least one.

    Raises
    ------
    CannotBeJudged
    """
    cells = [results.cell(dataset, name) for name in (method, baseline)]
    require_results(results, cells)
    pairs = [tuple(finite(metric.of(record)) for record in pair) for pair in paired(*cells)]
    if not pairs:
        raise CannotBeJudged("No repeat has both methods on the same data and set-up.")
    require_numbers(metric, [None if None in pair else pair for pair in pairs])
    return pairs


def has_chance(results, dataset, claim):
    """Whether other repeats of the methods of a claim might have other results."""
    methods = (claim.method, *([] if claim.baseline is None else [claim.baseline]))
    return any(results.has_chance(dataset, method) for method in methods)


def require_results(results, cells):
    """Raise CannotBeJudged if one of the cells has no successful run, or fails in some repeats.

    Those that succeed would be judged as if they were all: of a method that is near its limits, the fast ones.
    """
    why = [_why_not(results.label(cell.method), cell) for cell in cells if cell.failed or not cell.ok]
    if why:
        raise CannotBeJudged(" ".join(why))


def require_numbers(metric, values):
    """Raise CannotBeJudged if a value, one for each repeat, is None: of a fit that diverged, or never came there.

    The others would be judged as if they were all.
    """
    n_without, n = values.count(None), len(values)
    if n_without:
        some = f"{n_without} of {n} repeats {'has' if n_without == 1 else 'have'} no"
        raise CannotBeJudged(f"{'No repeat has a' if n_without == n else some} measured {metric.label}.")


def _why_not(label, cell):
    if not cell.failed:
        return f"{label} has not been run on these data."
    n_failed, n = len(cell.failed), len(cell.failed) + len(cell.ok)
    where = f"in {n_failed} of {n} repeats" if cell.ok else "here"
    return f"{label} failed {where} ({text.listed(cell.statuses)})."
