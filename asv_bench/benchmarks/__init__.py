"""Benchmarks for asv: time, peak memory and tracked accuracy of kernel blocks, solvers and estimators.

Lower is better for every number, as asv assumes: it calls a value that rises a regression, whatever it means.
So accuracy is tracked as an error or as log10 of a gap, never as a score.

Methods called ``time_*`` give seconds and ``peakmem_*`` bytes of the whole process; both depend on the
machine. Methods called ``track_*`` give counts and errors that are the same on every run, except those whose
unit says "timing".
"""
