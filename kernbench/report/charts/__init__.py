"""Figures of the report: one module for each kind in :mod:`kernbench.experiments.declare.figures`.

::

    curves.py     Curves: lines, alone or as small multiples;  lines.py  their points
    marks.py      Marks: a row for each category, a mark for each method
    heat.py       HeatMap: coloured cells with numbers;  grid.py  what it shares with marks
    contours.py   Contours: a function on a grid, as small multiples
    profiles.py   Profiles: share of problems within a factor of the best;  overall.py  over all experiments
    speed.py      how many times faster than the usual choice, the first figure of the page
    choices.py    the recommended methods by size of the data
    fronts.py     accuracy against time
    drawing/      what they share
      layout.py       canvases, panels, labels at the ends of lines;  frame.py  scales.py  axes and their ticks
      styles.py       a colour, marker and dash for each method
      key.py          what lines and marks stand for, once for all panels
      svg.py          from matplotlib to SVG;  picture.py  Picture: what they return

Each kind has a function ``picture(display, results)`` that returns a Picture, or None if the records have nothing to
draw.
"""
