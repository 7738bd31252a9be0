"""More rows than memory holds, or than one machine: the same fits on files and, with Dask, on a cluster.

::

    Distributed.fit (meta_estimator)
      |-- exactness      which estimators can be fitted on blocks without approximation; errors that name alternatives
      |-- reading        X, y and weights as blocks of rows, one of
      |     blocks/        FileBlocks (by sources/), MappedBlocks (features of other blocks): this process reads
      |     cluster/       DaskBlocks: each worker holds parts (held_rows), and Actors call them without the scheduler
      |-- scaling, spaces    scalers, kernels and feature maps fitted to blocks, by blocks.spread or drawn rows
      '-- tasks, svm_task, regression_task, streaming/    the estimator's task, with blocks in place of arrays
            '-- estimators.fit.path.fit_task     the one fit: its solvers ask a `BlockDesign` for sums over all rows
                  blocks.scores(w), .combine(g), .moments(...), .rows(i): a pass over files, or one call to each worker

A kernel machine solved by SMO is a ``cascade`` of working sets, which begins with ``parts`` of the rows;
``predictions`` applies the fitted model block by block.
"""

from kernbench.distributed.blocks.file_blocks import FileBlocks
from kernbench.distributed.blocks.mapped_blocks import MappedBlocks
from kernbench.distributed.meta_estimator import Distributed

__all__ = ["Distributed", "FileBlocks", "MappedBlocks"]
