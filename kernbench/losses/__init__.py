"""Losses of an output or of a pair: values, slopes, conjugates, and the lower bounds that follow from them.

* :mod:`~kernbench.losses.base` -- what a loss says of itself; the refusal of one that is not offered;
* :mod:`~kernbench.losses.table` -- all losses, from which methods take those of a kind with the properties they need;
* :mod:`~kernbench.losses.margin` -- hinge, squared hinge, logistic: value, slope, dual (``_margin.h``: in C);
* :mod:`~kernbench.losses.regression` -- losses of residuals: the same (``_regression.h``);
* :mod:`~kernbench.losses.output` -- losses of outputs, for batches: value and slope (``_output.h``);
* :mod:`~kernbench.losses.pairwise` -- the names of the losses of pairs;
* :mod:`~kernbench.losses.duality` -- lower bounds of the optimum: certified gaps.
"""
