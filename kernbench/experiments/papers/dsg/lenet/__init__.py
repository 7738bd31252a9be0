"""Networks of ``dsg-multiclass``: LeNet, its features as inputs of kernel methods, and what is trained on these.

::

    classifier.py   LeNet, or its fully connected layers alone, as an estimator
    features.py     the images, the trained network, and its features in memory or as a stream
    runs.py         how the cells are measured

Figure 7 compares three: a network trained as a whole ("jointly"), fully connected layers on the features of its
convolutions, which stay as they are ("fixed"), and a kernel method on these features.
"""
