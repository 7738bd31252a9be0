"""Verdicts of a whole page corrected for their number: among a hundred tests at 5 %, five err by chance alone."""

from dataclasses import replace

from kernbench.report import text
from kernbench.report.claims.judgement import OPEN
from kernbench.report.statistics import holm

LEVEL = 0.05  # the probability that any tested verdict of the page is due to chance


def corrected(judgements):
    """The judgements; of those not significant among all of them, what all repeats agree in, if they do.

    So more repeats never make a claim look weaker: a single repeat decides nothing, either.

    Parameters
    ----------
    judgements : list of Judgement
        All of a page. Those of several repeats without a p-value stay as they are.

    Returns
    -------
    list of Judgement
        In the same order.
    """
    tested = [k for k, judgement in enumerate(judgements) if judgement.p_value is not None]
    undecided = [one.n_repeats == 1 or one.verdict == OPEN for one in judgements]
    found = [replace(one, verdict=one.untested) if is_open else one for one, is_open in zip(judgements, undecided)]
    for k, p_value in zip(tested, holm([judgements[k].p_value for k in tested])):
        if p_value >= LEVEL and not undecided[k]:
            alone, together = (text.significant(value, 2) for value in (found[k].p_value, p_value))
            sentence = f" So few repeats do not decide this (p = {alone})."
            if found[k].p_value < LEVEL:
                sentence = (
                    f" Alone this would be decided (p = {alone}), but not as one of {len(tested)} verdicts of this "
                    f"page (p = {together} by Holm's method): more repeats may decide it."
                )
            found[k] = replace(found[k], verdict=found[k].untested, why=found[k].why + sentence)
    return found
