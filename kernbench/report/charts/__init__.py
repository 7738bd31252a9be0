"""Declared figures, drawn: one module for each kind in :mod:`kernbench.experiments.declare.displays`.

::

    curves.py     Curves: lines, alone or as small multiples
    marks.py      Marks: a row for each category, a mark for each method
    heat.py       HeatMap: coloured cells with numbers
    contours.py   Contours: a function on a grid, as small multiples
    profiles.py   Profiles: share of problems within a factor of the best
    layout.py     what they share: canvases, panels, axes, labels at the ends of lines

Each has a function ``picture(display, experiment, group, looks)`` that returns a Picture, or None where the
records hold nothing to draw.
"""
