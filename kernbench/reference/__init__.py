"""The same algorithms in plain NumPy, file for file: learn a method here, see it made fast in its twin.

A reference has the constructor, the attributes and the iterates of its twin (in float64, up to rounding), and
draws its random numbers in the same order. Clarity comes first: what the compiled twin keeps up to date
incrementally is computed afresh here.
"""
