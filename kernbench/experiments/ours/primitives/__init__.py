"""``primitives``: kernel blocks and feature maps against bare matrix products and against scikit-learn.

Kernel blocks, feature maps, and how well the maps approximate their kernels. Ours, not a paper's; the kernels
and their features are those of Dai et al. (NIPS 2014), Table 1.

::

    catalogue.py       every kernel: its parameters, its rows, its features …
    peers.py           … and its counterpart in scikit-learn or SciPy
    inputs.py          rows, drawn from formulas
    errors.py          how errors are measured; the asv suite reads this file and the two before, too
    blocks.py          a cell: values, precision and speed of a kernel's blocks
    approximation.py   a cell: error of random features, of their draws, of Nyström's landmarks
    rates.py           a cell: speed of feature maps; speed-up by threads
    declaration.py     the experiment: data, methods, metrics, claims
    displays.py        its tables and figures
"""
