"""``pauc-map``: when a model of a window ranks fresh rows better than a logistic regression.

* `declaration`: the experiment;
* `data`: generated rows, whose hard negatives make a linear model wrong by a chosen amount;
* `runs`: how a cell is measured.
"""
