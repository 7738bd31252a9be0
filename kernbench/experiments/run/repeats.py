"""How often a cell is repeated when its own time decides: ``repeats="auto"``."""

AUTO = "auto"
MINUTE = 60.0
# Seconds of a cell, loading and evaluation included, and its repeats. Five repeats of a paired difference seldom decide
# one of hundreds of claims, once these are corrected for their number; ten mostly do.
INSTANT, SHORT, LONG = 10.0, MINUTE, 10 * MINUTE
OF_INSTANT, OF_SHORT, OF_MEDIUM, OF_LONG = 10, 5, 3, 1
RULE = (
    "10 repeats of cells below ten seconds, 5 below a minute (or as many as declared), 3 below ten minutes, "
    "1 of longer and of failed ones; of cells with a part of another's time, no more than of that"
)


def most_repeats(declared, repeats=None):
    """Repeats to plan for: `repeats` where it is a number, else as many as any cell may have."""
    if repeats == AUTO:
        return max(declared, OF_INSTANT)
    return declared if repeats is None else repeats


def repeats_for(seconds, declared):
    """Return the number of repeats of a cell that takes `seconds`; one for None, a cell without a success."""
    if seconds is None or seconds >= LONG:
        return OF_LONG
    if seconds >= SHORT:
        return OF_MEDIUM
    return max(declared, OF_SHORT if seconds >= INSTANT else OF_INSTANT)


class AutoRepeats:
    """The cells to measure, by the time that the first repeat of each took.

    Parameters
    ----------
    declared : dict of str to int
        Repeats that each experiment declares.
    """

    def __init__(self, declared):
        self._declared = declared

    def wanted(self, cells, records):
        """Leave out the cells that are known not to be measured, and those that depend on them.

        Parameters
        ----------
        cells : list of Cell
            Each after the one it depends on.
        records : dict of tuple to dict
            By `place`: those of first repeats decide.
        """
        found, outcomes = [], dict(records)
        for cell in cells:
            if self.wants(cell, outcomes) is False:
                outcomes[cell.place] = None
            else:
                found.append(cell)
        return found

    def wants(self, cell, outcomes):
        """Whether a cell is to be measured; None while its first repeat, or what it depends on, is not known.

        Parameters
        ----------
        cell : Cell
        outcomes : dict of tuple to dict
            Records by `place`; None for a cell that is not wanted.
        """
        if cell.needs is not None and outcomes.get(cell.needs, {}) is None:
            return False
        if cell.repeat == 0:
            return True
        first = outcomes.get((*cell.place[:-1], 0))
        if first is None:
            return None
        seconds = first["seconds"].get("total") if first["status"] == "ok" else None
        return cell.repeat < repeats_for(seconds, self._declared[cell.experiment])
