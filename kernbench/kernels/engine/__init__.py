"""Compute kernel matrices tile by tile: prepare the rows, choose an engine, fill the tiles.

::

    KernelRows (kernels/_rows.pyx), block and matmul (kernels/blocks.py)
      |
      |-- operands/_operand.Operand     rows of X and of Z, lifted, centred, scaled and stored (operands/prepared)
      |-- engines.make_engine           one Engine for a kernel and two operands, by how the rows are stored:
      |     "dense"   _gemm_engine      gemm, then a map of inner products (values/); _near redoes close rows
      |     "strips"  coordinates/      a term for each pair of entries, added or multiplied
      |     "csr"     _sparse_engine    either of the two, from the stored entries
      |     several   _combined_engine  sums and products of kernels: the tiles of its components, combined
      |
      '-- Engine.fill (_engine)         distributes panels x tiles over threads: gather a panel, fill its tiles
          _products                     K @ A and weighted sums of rows, by the same tiles, never storing K

The loops over a tile are C: ``_tiles.h`` (rows and dot products), ``values/_maps.h`` (inner products to kernel values)
and ``coordinates/_coordinates.h``. ``_routines.h`` names the formulas that they know.
"""
