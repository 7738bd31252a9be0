"""Dask actors, one on each worker: a call is one message to each worker and one back."""

import asyncio
from concurrent.futures import CancelledError
from contextlib import suppress

from kernbench.distributed.cluster.workers import WorkersLost, addresses, check_not_lost, lost

TRIES = 4  # of a call; workers may be lost in between


class Stopped(RuntimeError):
    """A call that was stopped because its caller no longer waits for it."""


class Actor:
    """Base of the objects that `Actors` creates; their calls can be stopped.

    A long method calls `check` regularly.
    """

    _number, _last_stopped = 0, -1

    def do(self, number, method, *arguments):
        """Do the call of this number, counted from 1."""
        self._number = number
        return getattr(self, method)(*arguments)

    def stop(self, number):
        """End the calls up to this one at their next `check`; called while one of them runs."""
        self._last_stopped = number

    def check(self):
        """Raise Stopped if the current call was stopped."""
        if self._number <= self._last_stopped:
            raise Stopped(f"call {self._number} was stopped")


class Actors:
    """One object on each worker that holds parts of the data, over these parts.

    They are Dask's actors: calls bypass the scheduler, which takes several milliseconds for a task. If a worker is
    lost, Dask computes its parts again, and all objects are created again. Ctrl-C ends a call on the workers, too.

    Parameters
    ----------
    client : distributed.Client
    parts : list of Future
    make : subclass of Actor
    arguments : callable
        ``arguments(own)`` returns a tuple, those of the object over the parts whose numbers are `own`. Futures among
        them, or in lists among them, arrive as their results.

    Attributes
    ----------
    is_new : bool
        True until the objects are called for the first time.
    shares : list of list of int
        The parts of each object.
    """

    def __init__(self, client, parts, make, arguments):
        self._client, self._parts, self._make, self._arguments = client, parts, make, arguments
        self._futures, self.shares, self.is_new, self._n_calls = None, [], True, 0

    def call(self, method, arguments, tries=TRIES):
        """Return pairs (own, result): the parts of each object, and its ``method(*arguments(own))``.

        Objects for which ``arguments(own)`` is None are not called.

        Raises
        ------
        WorkersLost
            If workers are lost repeatedly, or parts cannot be recomputed.
        """
        for trial in range(tries):
            try:
                if self._futures is None:
                    self._create()
                sent = [arguments(own) for own in self.shares]
                asked = [k for k, each in enumerate(sent) if each is not None]
                self._n_calls += 1
                calls = [(k, (self._n_calls, method, *sent[k])) for k in asked]
                answers = self._client.sync(self._call, "do", calls)
                found = [(self.shares[k], _result_of(answer)) for k, answer in zip(asked, answers)]
                self.is_new = False
                return found
            except KeyboardInterrupt:
                if self._futures is not None:
                    self._client.loop.add_callback(self._stop, self._n_calls)
                raise
            except lost() as error:
                self._futures = None
                if trial == tries - 1:
                    raise WorkersLost(f"workers were lost {tries} times in one pass over the rows: {error}") from error
        return None

    async def _stop(self, number):
        """Stop the calls up to this one; lost objects are ignored."""
        calls = [(k, (number,)) for k in range(len(self._futures))]
        with suppress(Exception):
            # In the event loop of a worker: the thread of its objects is busy with the call that is to end.
            await self._call("stop", calls, separate_thread=False)

    async def _call(self, method, arguments, **options):
        from distributed.protocol import to_serialize

        calls = [
            self._client.rpc(self._addresses[k]).actor_execute(
                actor=self._futures[k].key, function=method, args=[to_serialize(one) for one in each], kwargs=options
            )
            for k, each in arguments
        ]
        return await asyncio.gather(*calls, return_exceptions=True)

    def _create(self):
        """Make the objects, each where its parts are."""
        from distributed import wait

        shares = shares_of(self._client, self._parts)
        self.shares, self.is_new = list(shares.values()), True
        # If a worker is lost now, another one takes its place.
        futures = [
            self._client.submit(
                self._make, *self._arguments(own), workers=[worker], allow_other_workers=True, actor=True, pure=False
            )
            for worker, own in shares.items()
        ]
        wait(futures)
        for future in futures:
            if future.status == "error":
                raise future.exception()
        holders = self._client.who_has(futures)
        self._addresses = [next(iter(holders.get(future.key, ())), None) for future in futures]
        if None in self._addresses:
            raise OSError("a worker was lost")
        self._futures = futures


def _result_of(answer):
    if isinstance(answer, BaseException):
        raise answer
    if answer["status"] != "OK":
        raise answer["exception"]
    return answer["result"]


def shares_of(client, parts):
    """Return which parts each worker holds, a dict; a part that several hold goes to the one that has fewer."""
    from distributed import wait

    with suppress(CancelledError):  # of a part that is lost, which is named below
        wait(parts)
    check_not_lost(parts)
    for part in parts:
        if part.status == "error":
            raise part.exception()
    holders, everybody = client.who_has(parts), sorted(addresses(client))
    if not everybody:
        raise OSError("the cluster has no worker left")
    shares = {}
    for k, part in enumerate(parts):
        held_by = sorted(holders.get(part.key, ())) or everybody
        shares.setdefault(min(held_by, key=lambda worker: len(shares.get(worker, ()))), []).append(k)
    return shares
