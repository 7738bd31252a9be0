"""Who computes the sums of a batch: this process, or the workers of a cluster."""

from dataclasses import dataclass, replace

from kernbench.distributed.crew import Crew
from kernbench.distributed.dask_blocks import TRIES, n_bytes_of, shares_of
from kernbench.distributed.streaming.gradients import Gradients, Setup
from kernbench.distributed.workers import lost


@dataclass
class Team:
    """Base: keeps what `Gradients` need, counts bytes.

    Attributes
    ----------
    setup : Setup
        Without what the solver says: seed, loss, outputs, block size, preconditioner.
    strata : list of Stratum
    rows : list
        Those of each stratum, or futures of them.
    """

    setup: Setup
    strata: list
    rows: list
    n_passes = n_bytes_sent = n_bytes_received = 0

    def _complete(self, solver):
        """Complete the setup by what the solver says."""
        self.setup = replace(
            self.setup, block_size=solver.block_size, seed=solver.seed, loss=solver.loss,
            n_outputs=solver.n_outputs, precondition=solver.precondition,
        )  # fmt: skip


class LocalTeam(Team):
    """This process alone."""

    _own = None

    def step(self, solver, update, *rest):
        """Return losses and slopes of all strata, and what each member rounds; see `Gradients.step`."""
        self.n_passes += 1
        if self._own is None:
            self._complete(solver)
            update = None
            self._own = Gradients(self.setup, list(range(len(self.strata))), self.strata, solver.A, self.rows)
        losses, slopes, sums = self._own.step(update, *rest)
        return losses, slopes, [[part] for part in sums]

    def rounded(self, exponents):
        """Return the sums of the last step again, with other exponents."""
        return [[part] for part in self._own.rounded(exponents)]


class DaskTeam(Team):
    """One `Gradients` on each worker, over the strata that it holds.

    A worker that is lost is replaced: the new one begins with the coefficients as they are.
    """

    client = _crew = _step = None

    def step(self, solver, *step):
        """Return losses and slopes of all strata, and what each member rounds; see `Gradients.step`."""
        self._step = solver, step
        self.n_passes += 1
        for trial in range(TRIES):
            try:
                now = step if self._crew is not None else (None, *step[1:])
                crew, shares = self._members(solver)
                found = self._call(crew, "step", now, len(shares))
                break
            except lost() as error:
                self._crew = None
                if trial == TRIES - 1:
                    raise RuntimeError(f"workers were lost in {TRIES} tries of a step: {error}") from error
        losses, slopes = [0.0] * len(self.strata), [0.0] * len(self.strata)
        for own, (some_losses, some_slopes, _) in zip(shares, found):
            for number, loss, slope in zip(own, some_losses, some_slopes):
                losses[number], slopes[number] = loss, slope
        return losses, slopes, list(zip(*(sums for _, _, sums in found)))

    def rounded(self, exponents):
        """Return the sums of the last step again, with other exponents."""
        try:
            crew, shares = self._crew
            return list(zip(*self._call(crew, "rounded", (exponents,), len(shares))))
        except lost():
            self._crew = None
            solver, step = self._step
            return self.step(solver, *step[:-1], exponents)[2]

    def _call(self, crew, method, arguments, n_members):
        found = crew.call(method, [arguments] * n_members)
        self.n_bytes_sent += n_members * n_bytes_of(arguments)
        self.n_bytes_received += n_bytes_of(found)
        return found

    def _members(self, solver):
        if self._crew is None:
            self._complete(solver)
            shares = shares_of(self.client, self.rows)
            arguments = {
                worker: (
                    self.setup, own, [self.strata[k] for k in own], solver.A.copy(), [self.rows[k] for k in own],
                )
                for worker, own in shares.items()
            }  # fmt: skip
            self._crew = Crew(self.client, Gradients, arguments), list(shares.values())
        return self._crew
