"""``pauc-deep``: networks trained for a range of false positive rates, and by other losses.

::

    images.py        long-tailed image sets from files: CIFAR-10, Tiny-ImageNet, CheXpert
    photographs.py   how these files are read
    methods.py       the trainer's four methods, LibAUC's two, a linear score
    measuring.py     a cell: the step size by validation, the curve along the run
"""
