"""Objects on workers that are called directly: one message to each worker and one back."""

import asyncio


class Crew:
    """One object on each of some workers.

    These are Dask's actors. Calls go past the scheduler, which takes several milliseconds for a task.

    Parameters
    ----------
    client : distributed.Client
    make : type
        Of the objects.
    arguments : dict of {str: tuple}
        Worker: the arguments of its object. Futures among them, or in lists among them, arrive as their results.

    Raises
    ------
    OSError, KilledWorker, FutureCancelledError
        If workers are lost meanwhile; see `kernbench.distributed.workers.lost`.
    """

    def __init__(self, client, make, arguments):
        from distributed import wait

        self._client = client
        # Another worker takes the place of one that is lost just now.
        self._futures = [
            client.submit(make, *each, workers=[worker], allow_other_workers=True, actor=True, pure=False)
            for worker, each in arguments.items()
        ]
        wait(self._futures)
        for future in self._futures:
            if future.status == "error":
                raise future.exception()
        holders = client.who_has(self._futures)
        self._addresses = [next(iter(holders.get(future.key, ())), None) for future in self._futures]
        if None in self._addresses:
            raise OSError("a worker was lost")

    def call(self, method, arguments):
        """Return what ``method(*arguments[k])`` of object k returns, for each of them, in a list."""
        answers = self._client.sync(self._call, method, arguments)
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
            if answer["status"] != "OK":
                raise answer["exception"]
        return [answer["result"] for answer in answers]

    async def _call(self, method, arguments):
        from distributed.protocol import to_serialize

        calls = [
            self._client.rpc(address).actor_execute(
                actor=future.key, function=method, args=[to_serialize(one) for one in each], kwargs={}
            )
            for address, future, each in zip(self._addresses, self._futures, arguments, strict=True)
        ]
        return await asyncio.gather(*calls, return_exceptions=True)
