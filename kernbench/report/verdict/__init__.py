"""What to use: the recommendations of all experiments, one headline for each task.

::

    advice.py     the answer for one data set
    reasons.py    the reasons for and against it, in sentences
    verdict.py    the boxes at the top of the page
"""
