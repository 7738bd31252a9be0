"""Doubly stochastic gradients: the paper's figures and tables, with what others would use beside.

Dai, Xie, He, Liang, Raj, Balcan and Song, "Scalable Kernel Methods via Doubly Stochastic Gradients", NIPS 2014.

::

    ridge.py        ``dsg-ridge``: Figure 4, a function of two variables
    gp.py           ``dsg-gp``: Figure 5, a Gaussian process
    svm.py          ``dsg-svm``: Figure 6, three data sets, one pass and equal time
    batches.py      ``dsg-batches``: small batches and many passes, which the paper does not vary
    multiclass.py   ``dsg-multiclass``: Figure 7, digits and photographs; multiclass_settings.py its methods and sets
    molecules.py    ``dsg-molecules``: Figure 7, energies of molecules
    losses.py       ``dsg-losses``: section 4, each loss beside its exact solution
    cost.py         ``dsg-cost``: Tables 2 and 3, orders of time and memory

    parts.py        methods and metrics they share
    data.py         loaders: prepared and generated data
    peers.py        linear SVMs on a fixed number of features, as one estimator
    lenet/          networks of ``dsg-multiclass``, which need PyTorch
    runs/           how the cells of an experiment are measured; stream.py those of ``dsg-multiclass``, on endless data
    evaluation.py   errors of classifiers
"""
