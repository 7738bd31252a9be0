"""References of the solvers of rankings and of ranges of ranks."""
