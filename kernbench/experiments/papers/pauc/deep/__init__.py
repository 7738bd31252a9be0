"""``pauc-deep``: networks trained for a range of false positive rates, and by other losses.

::

    settings.py      the data sets, and how much of the grids is tried on each
    images.py        long-tailed image sets from files: CIFAR-10, MNIST, Tiny-ImageNet, CheXpert
    planes.py        the subset of CIFAR-10, one colour after the other
    photographs.py   how these files are read
    methods.py       the trainer's four methods, LibAUC's two, a linear score
    augmentation.py  images that are shifted at random
    measuring.py     a cell: a grid of parameters by validation, the curve along the run
"""
