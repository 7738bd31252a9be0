"""``peers-auc``: other linear classifiers, judged by AUC.

::

    declaration.py   data, methods, claims, tables and figures
    peers.py         linear rankers of scikit-survival and LibAUC
"""
