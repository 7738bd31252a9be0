"""Tables of the report.

::

    table.py          Table, Column, Entry: numbers and how they are printed; as CSV and Markdown
    metric_table.py   MetricTable: a row for each method, a column for each quantity
    quantities.py     … its entries
    cross_table.py    CrossTable: a row for each data set, a column for each method
    tradeoffs.py      accuracy, time and memory of every method, and which of them no other beats
    optimality.py     how near the optimum a method came: a column of tables on accuracy and time
    facts.py          the data of an experiment and the runs that failed
"""
