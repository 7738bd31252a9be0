"""The sums of a batch, computed by this process or by the workers of a cluster."""

from dataclasses import dataclass, replace

from kernbench.distributed.cluster.actors import Actors
from kernbench.distributed.cluster.dask_blocks import n_bytes_of
from kernbench.distributed.streaming.gradients import Gradients, Setup


@dataclass
class Team:
    """Base: keeps what `Gradients` need, counts bytes.

    Attributes
    ----------
    setup : Setup
        Settings known before the solver: all but seed, loss, outputs, block size and preconditioner.
    strata : list of Stratum
    rows : list
        Rows of each stratum, or futures of them.
    """

    setup: Setup
    strata: list
    rows: list
    n_passes = n_bytes_sent = n_bytes_received = 0

    def _complete(self, solver):
        """Add the settings of the solver to the setup."""
        self.setup = replace(
            self.setup, block_size=solver.block_size, seed=solver.seed, loss=solver.loss,
            n_outputs=solver.n_outputs, precondition=solver.precondition,
        )  # fmt: skip

    def release(self):
        """Release the memory of the members."""


class LocalTeam(Team):
    """All strata in this process."""

    _own = None

    def step(self, solver, update, *rest):
        """Return losses and slopes of all strata, and the rounded sums of each member; see `Gradients.step`."""
        self.n_passes += 1
        if self._own is None:
            self._complete(solver)
            update = None
            numbers = list(range(len(self.strata)))
            self._own = Gradients(self.setup, numbers, self.strata, solver.A, solver.operator_coef, self.rows)
        losses, slopes, sums = self._own.step(update, *rest)
        return losses, slopes, [[part] for part in sums]

    def rounded(self, exponents):
        """Return the sums of the last step again, with other exponents."""
        return [[part] for part in self._own.rounded(exponents)]


class DaskTeam(Team):
    """One `Gradients` on each worker, over the strata that it holds.

    A lost worker is replaced by a new one, which starts from the current coefficients.
    """

    client = actors = _step = None

    def step(self, solver, *step):
        """Return losses and slopes of all strata, and the rounded sums of each member; see `Gradients.step`."""
        self._step = solver, step
        self.n_passes += 1
        if self.actors is None:
            self._complete(solver)
            self.actors = Actors(self.client, self.rows, Gradients, self._arguments_of)
        found = self._call("step", lambda own: (None if self.actors.is_new else step[0], *step[1:]))
        losses, slopes = [0.0] * len(self.strata), [0.0] * len(self.strata)
        for own, (some_losses, some_slopes, _) in found:
            for number, loss, slope in zip(own, some_losses, some_slopes):
                losses[number], slopes[number] = loss, slope
        return losses, slopes, list(zip(*(sums for _, (_, _, sums) in found if sums)))

    def rounded(self, exponents):
        """Return the sums of the last step again, with other exponents."""
        try:
            return list(zip(*(sums for _, sums in self._call("rounded", lambda own: (exponents,), tries=1) if sums)))
        except RuntimeError:  # the members are new and have not done the last step
            solver, step = self._step
            return self.step(solver, *step[:-1], exponents)[2]

    def release(self):
        """Release the memory of the members."""
        self.actors = self._step = None

    def _call(self, method, arguments, **options):
        found = self.actors.call(method, arguments, **options)
        self.n_bytes_sent += sum(n_bytes_of(arguments(own)) for own, _ in found)
        self.n_bytes_received += n_bytes_of(found)
        return found

    def _arguments_of(self, own):
        solver, _ = self._step
        operator = None if solver.operator_coef is None else solver.operator_coef.copy()
        strata, rows = [self.strata[k] for k in own], [self.rows[k] for k in own]
        return self.setup, own, strata, solver.A.copy(), operator, rows
