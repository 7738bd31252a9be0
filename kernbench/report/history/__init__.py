"""The history of the project, from the results that asv keeps: a page that works offline.

::

    results.py   asv's files: the values of each benchmark at each commit
    drawing.py   a figure for each benchmark, a panel for each combination of its parameters
    page.py      history_files: the page, its figures and its table
"""

from kernbench.report.history.page import history_files, history_section

__all__ = ["history_files", "history_section"]
