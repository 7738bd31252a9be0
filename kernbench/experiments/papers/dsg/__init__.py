"""Doubly stochastic gradients: the paper's figures and tables, with what others would use beside.

Dai, Xie, He, Liang, Raj, Balcan and Song, "Scalable Kernel Methods via Doubly Stochastic Gradients", NIPS 2014.

::

    ridge.py        ``dsg-ridge``: Figure 4, a function of two variables
    svm.py          ``dsg-svm``: Figure 6, three data sets, one pass and equal time
    multiclass.py   ``dsg-multiclass``: Figure 7, digits and photographs
    cost.py         ``dsg-cost``: Tables 2 and 3, orders of time and memory

    parts.py        methods and metrics they share
    data.py         loaders: prepared and generated data
    rivals.py       linear SVMs on a fixed number of features, as one estimator
    ridge_runs.py   cells of ``dsg-ridge``
    stream_runs.py  a cell of ``dsg-multiclass``, on an endless stream
    cost_runs.py    a cell of ``dsg-cost``
    evaluation.py   errors of classifiers
"""
