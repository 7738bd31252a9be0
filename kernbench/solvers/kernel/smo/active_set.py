"""Shrinking: the active coordinates of the dual problem, and those left out for the time being.

Coordinates at a bound whose gradient indicates that they will stay there are left out, which shortens kernel rows and
gradient. When the others are solved, the gradient of those left out is reconstructed from the coefficients that changed
since (Joachims 1999), and the conditions are tested on all.
"""

import numpy as np

from kernbench._interrupts import undivided

SHRINK_SHARE = 0.3  # leave coordinates out only if they are at least this share


class ActiveSet:
    """The dual state of all coordinates, and that of the active ones.

    Parameters
    ----------
    problem : MarginProblem
    rows : KernelRows
    whole : State
        Of all coordinates.

    Attributes
    ----------
    whole : State
        Of all coordinates; as of the last `write_back` if some are left out.
    state : State
        Of the active coordinates; `whole` itself if all are active.
    indices : ndarray of intp or None
        The active coordinates, ascending; None means all.
    """

    def __init__(self, problem, rows, whole):
        self._problem, self._rows, self._with_bias = problem, rows, problem.fit_intercept
        self.whole = self.state = whole
        self.indices = None
        self._dropped = []  # pairs: coordinates left out, all coefficients at that time

    def align_rows(self):
        """Make the rows those of the active coordinates: Ctrl-C, pressed twice, may have come between their changes."""
        if self._rows.n_rows != len(self.state.beta):  # the same ones if as many, since one set contains the other
            self._rows.release()
            if self.indices is not None:
                self._rows.restrict(self.indices)

    def shrink(self, members):
        """Leave out what is possible, but no member of the last working set; return the members' new positions."""
        shrinkable = self.state.shrinkable(self._with_bias)
        shrinkable[members] = False
        if shrinkable.sum() >= SHRINK_SHARE * len(shrinkable):
            members = self._leave_out(shrinkable, members)
        return members

    def restore(self, members, tol, gradient):
        """Activate all coordinates; then leave out again those that satisfy the conditions.

        Parameters
        ----------
        members : ndarray of intp
        tol : float
        gradient : ndarray
            The `full_gradient`.

        Returns
        -------
        members : ndarray of intp
            Their new positions.
        violation : float
            The largest over all coordinates.
        """
        was_active = np.zeros(self._problem.n, dtype=bool)
        was_active[self.indices] = True
        members = self.indices[members]
        self.activate_all(gradient)
        violation = self.state.violation(self._with_bias)
        if violation > tol:
            shrinkable = self.state.shrinkable(self._with_bias) & ~was_active
            if shrinkable.sum() >= SHRINK_SHARE * len(shrinkable):
                shrinkable[members] = False
                members = self._leave_out(shrinkable, members)
        return members, violation

    def activate_all(self, gradient):
        """Activate all coordinates, and set their gradient."""
        self.write_back()
        with undivided():  # rows and state are those of the same coordinates
            self._rows.release()
            self.indices, self._dropped, self.state = None, [], self.whole
            self.whole.e[:] = gradient

    def write_back(self):
        """Copy the active coefficients and their gradient to `whole`."""
        if self.indices is not None:
            self.whole.beta[self.indices] = self.state.beta
            self.whole.e[self.indices] = self.state.e

    def compute_gradient(self):
        """Activate all coordinates, and compute their gradient from their coefficients."""
        self.write_back()
        whole = self.whole
        used = np.flatnonzero(whole.beta)
        # The longest step: after Ctrl-C in it the same coordinates are active as before.
        products = self._rows.product(np.arange(self._problem.n), used, whole.beta[used])
        self.activate_all(whole.linear - products - whole.ridge * whole.beta)

    def start_gradient(self, initial, reach):
        """Do so at the start, from K times the coefficients of `initial` if that is known and saves work.

        Parameters
        ----------
        initial : Solution
            Its coefficients were clipped and balanced to those of `whole`.
        reach : float
            Changes of a coefficient below this count as rounding.
        """
        whole, products = self.whole, initial.state.get("products")
        steps = whole.beta - initial.coef
        changed = np.flatnonzero(np.abs(steps) > np.minimum(whole.least_change, reach))
        if products is None or 2 * len(changed) > np.count_nonzero(whole.beta):
            self.compute_gradient()
            return
        products = products + self._rows.product(np.arange(self._problem.n), changed, steps[changed])
        whole.e[:] = whole.linear - products - whole.ridge * whole.beta

    def full_gradient(self, count):
        """Return the gradient of all coordinates.

        For those left out it is computed from the coefficients that changed since, or from all non-zero ones if these
        are fewer. Coordinates that are left out do not move, so the ridge does not enter.
        """
        self.write_back()
        beta, e = self.whole.beta, self.whole.e.copy()
        start = self.whole.linear - self.whole.ridge * beta
        used = np.flatnonzero(beta)
        for coordinates, then in self._dropped:
            changed = np.flatnonzero(beta != then)
            if len(used) < len(changed):
                products = self._rows.product(coordinates, used, beta[used], count=count)
                e[coordinates] = start[coordinates] - products
            else:
                e[coordinates] -= self._rows.product(coordinates, changed, (beta - then)[changed], count=count)
        return e

    def _leave_out(self, shrinkable, members):
        """Leave out the coordinates `shrinkable` (a mask over the active ones)."""
        active = np.arange(self._problem.n) if self.indices is None else self.indices
        self.write_back()
        keep = np.flatnonzero(~shrinkable)
        position = np.full(len(shrinkable), -1, dtype=np.intp)
        position[keep] = np.arange(len(keep))
        members = position[members]
        members = members[members >= 0]
        dropped, indices = (active[shrinkable], self.whole.beta.copy()), active[keep]
        state = self.whole.take(indices)
        self._rows.restrict(keep)  # the longest step: Ctrl-C in it leaves indices and state as they were
        # No call from here on, so that Ctrl-C does not part these, nor them from the members that the caller stores.
        self.indices, self._dropped, self.state = indices, [*self._dropped, dropped], state
        return members
