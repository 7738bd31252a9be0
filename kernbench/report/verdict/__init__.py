"""The recommendations of all experiments, with one headline for each task.

::

    advice.py     the recommendation for one data set
    reasons.py    the reasons for and against it, in sentences
    verdict.py    one Verdict for each task
    headlines.py  the table of the first screen: what to use, and how much faster it is
    choices.py    the table of all recommendations, over all tasks
"""
