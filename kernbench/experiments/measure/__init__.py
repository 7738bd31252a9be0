"""How a method is measured, in the process of a cell. Whatever an experiment measures is made from these.

::

    race.py          a cell: load, choose alpha, fit and predict on the clock, judge off the clock
    building.py      estimators from their declarations
    search.py        alpha by validation
    clock.py         seconds of a call, and of a fit that is traced
    judging.py       classifiers: test error, objective, gap
    ranking.py       models that rank: AUC, the truth's AUC, objective over pairs
    objectives.py    norms and objectives
    optimum.py       the certified optimum of a Gaussian SVM
    alternation.py   routines timed in turn, for ratios of times
    record.py        what a measurement returns
    memory.py        resident and peak memory
"""
