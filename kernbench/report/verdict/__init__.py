"""The recommendations of all experiments, with one headline for each task.

::

    advice.py     the recommendation for one data set
    reasons.py    the reasons for and against it, in sentences
    verdict.py    one Verdict for each task
    choices.py    the first table of the page, over all tasks
"""
