"""More rows than memory holds, or than one machine: the same fits on files and, with Dask, on a cluster."""

from kernbench.distributed.file_blocks import FileBlocks
from kernbench.distributed.mapped_blocks import MappedBlocks
from kernbench.distributed.meta_estimator import Distributed

__all__ = ["Distributed", "FileBlocks", "MappedBlocks"]
