"""The report: records → tables, figures and sentences → one HTML page.

Records are processed by these folders in this order; each uses only those above it::

    text.py  statistics.py    how numbers are printed; statistics over repeats
    records/                  a results folder → Results: an experiment's declaration and its records
    tables/                   declared tables
    charts/                   declared figures, as SVG
    claims/                   on how many data sets each claim holds
    verdict/                  which method to use for a task, over all experiments
    page/                     sections, HTML and Markdown
    building.py               build(): from a results folder to a report folder
"""

from kernbench.report.building import Built, build

__all__ = ["Built", "build"]
