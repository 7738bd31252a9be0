"""Averages of the iterates of a stochastic method, over all steps or the last of them."""

import numpy as np

from kernbench.validation.numbers import check_name, check_number

AVERAGES = ("last", "all", "tail", "weighted")


class Averages:
    """The average of the iterates before each step, f_1 = 0 the first of them.

    Parameters
    ----------
    kind : {"last", "all", "tail", "weighted"}
        The last iterate alone; all of them alike; those from step `first` on or, without it, those after the last
        power of two but one, f_1 left out: at least the last half of the steps and at most the last three quarters;
        all of them, that before step t weighing t.
    first : int, optional
        The first step of a tail; the other kinds ignore it.

    Attributes
    ----------
    sums : list of ndarray
        Weighted sums of the iterates. For a tail without `first` there are two, begun at the last two powers of two.
    weights : ndarray of shape (2,)
        The sum of the weights of each.
    """

    def __init__(self, kind, first=None):
        self.kind, self.first = check_name("average", kind, AVERAGES), first
        if first is not None:
            check_number("average_from", first, at_least=1, whole=True)
        self.doubles = kind == "tail" and first is None
        self.sums, self.weights = [np.zeros(0), np.zeros(0)], np.zeros(2)
        self._begin = 1  # the step before which the average begins

    def add(self, iterate, t):
        """Add the iterate before step t, a vector that may be longer than the one before."""
        if self.kind == "last" or (self.kind == "tail" and self.first is not None and t < self.first):
            return
        if t == self._begin and (self.doubles or t > 1):
            return  # f_1 = 0 would scale the average of the first steps down; for t > 1 see `resume`
        if self.doubles and t & (t - 1) == 0:
            self.sums, self.weights = [self.sums[1], np.zeros(0)], np.array([self.weights[1], 0.0])
        weight = float(t) if self.kind == "weighted" else 1.0
        for k in range(1 + self.doubles):
            if len(self.sums[k]) < len(iterate):
                longer = np.zeros(len(iterate))
                longer[: len(self.sums[k])] = self.sums[k]
                self.sums[k] = longer
            self.sums[k] += weight * iterate if weight != 1.0 else iterate
            self.weights[k] += weight

    def of(self, iterate):
        """Return the average as of now, of the length of `iterate`; the iterate itself if there is none."""
        if self.weights[0] == 0:
            return iterate.copy()
        average = np.zeros(len(iterate))
        average[: len(self.sums[0])] = self.sums[0] / self.weights[0]
        return average

    def state(self):
        """Return the state needed to resume, as new arrays."""
        if self.kind == "last":
            return {}
        return {
            "average_kind": self._code(),
            "average_sum": self.sums[0].copy(),
            "average_next": self.sums[1].copy(),
            "average_weights": self.weights.copy(),
        }

    def resume(self, state, t):
        """Continue from a state, before step t; begin anew without one or after averages of another kind.

        The weights of another kind would outweigh these. An average that begins anew leaves out the iterate before step
        t, which has been the model so far: the average of this iterate alone would hide step t.
        """
        if "average_kind" in state and np.array_equal(state["average_kind"], self._code()):
            self.sums = [np.array(state["average_sum"]), np.array(state["average_next"])]
            self.weights = np.array(state["average_weights"])
        else:
            self._begin = t

    def _code(self):
        return np.array([AVERAGES.index(self.kind), self.first or 0])
