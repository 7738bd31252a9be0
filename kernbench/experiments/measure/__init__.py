"""How a method is measured, in the process of a cell. All measurements of experiments are built from these.

::

    race.py          a cell: load, choose alpha, fit and predict on the clock, judge off the clock
    building.py      estimators from their declarations;  landmarks.py  of linear models on Nyström's features
    zero.py          zero models: the best constant
    search.py        alpha by validation
    clock.py         seconds of a call, and of a fit that is traced
    judging.py       classifiers: test error, objective, gap
    ranking.py       models that rank: AUC, the truth's AUC, objective over pairs
    objectives.py    norms and objectives;  svm_family.py  of regression, one class and shares nu, with bounds
    optimum.py       the certified optimum of a Gaussian SVM
    alternation.py   routines timed in turn, for ratios of times
    rates.py         powers with which quantities fall, with intervals
    record.py        what a measurement returns
    memory.py        resident and peak memory
"""
