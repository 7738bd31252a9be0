"""The recommendations of all experiments, with one headline for each task.

::

    advice.py     the recommendation for one data set
    reasons.py    the reasons for and against it, in sentences
    verdict.py    the boxes at the top of the page
"""
