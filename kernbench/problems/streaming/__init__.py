"""Sources of examples for methods that learn from samples or from a stream.

* :mod:`~kernbench.problems.streaming.batches` -- batches of arrays, pass after pass, or of a stream;
* :mod:`~kernbench.problems.streaming.recent` -- the latest rows of a run of batches;
* :mod:`~kernbench.problems.streaming.shuffled` -- random orders that are never written down;
* :mod:`~kernbench.problems.streaming.samples`, :mod:`~kernbench.problems.streaming.stream_source` -- growing samples:
  of the rows of a kernel matrix, of a stream;
* :mod:`~kernbench.problems.streaming.step_sizes`, :mod:`~kernbench.problems.streaming.averages` -- step sizes and
  averages of stochastic gradient methods.
"""
