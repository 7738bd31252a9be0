"""Losses of one output or of a pair, and what is known of them exactly: values, slopes, conjugates.

* :mod:`~kernbench.losses.margin` -- hinge, squared hinge, logistic: value, slope, dual (``_margin.h``: in C);
* :mod:`~kernbench.losses.pairwise` -- names of the losses of pairs;
* :mod:`~kernbench.losses.duality` -- lower bounds of the optimum: certified gaps.
"""
