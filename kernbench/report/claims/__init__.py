"""The verdicts on claims: on how many data sets they hold, and with which numbers.

::

    findings.py    all claims of an experiment, each over its data sets
    races.py       Claim: a method against a baseline, perhaps in a part of its time
    bounds.py      Bound: a number, or a ratio of two
    passing.py     Passing: how soon a trace reaches another method's final value
    judgement.py   the verdict on one data set
    correction.py  all verdicts of a page, corrected for their number
"""
