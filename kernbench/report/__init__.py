"""The report: records -> tables, figures and sentences -> one HTML page.

::

    build (building)                 from a results folder to a report folder
      |-- records/                   read and checked against the schema: one Results an experiment
      |-- page.sections              for every experiment
      |     |-- tables/  charts/     its declared displays: tables as data, figures as SVG
      |     '-- claims/              on how many data sets each claim holds
      |-- verdict/                   which method for which task, over all experiments; charts.choices draws it
      |-- page/                      HTML and Markdown by templates/, with provenance and the commands to run again
      '-- history/                   results of asv over commits, a page of their own

``comparison/`` sets two results folders side by side (``kernbench compare``). ``text`` prints numbers, ``statistics``
summarises repeats; both are used everywhere.
"""

from kernbench.report.building import Built, build

__all__ = ["Built", "build"]
