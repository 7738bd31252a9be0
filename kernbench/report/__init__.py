"""The report: records → tables, figures and sentences → one HTML page.

::

    building.py      build(): the whole way, from a results folder to a report folder
      records.py       read the results folder, remember what could not be read
      aggregate.py     records of the repeats → cells and groups
      sections.py      all that is said about one experiment at one scale
        comparison.py    its tables
        drawings.py      its figures: what is in them;  figures.py draws,  svg.py places them
        claims.py        whether the paper's claim holds
        provenance.py    where the numbers come from
      overall.py       profiles over all experiments
      verdict.py       which solver to use, and why
      page.py          HTML and Markdown, by templates/
      folder.py        files, whole or not at all
    statistics.py  curves.py  tables.py  labels.py  style.py  text.py    what they share
"""

from kernbench.report.building import Built, build

__all__ = ["Built", "build"]
