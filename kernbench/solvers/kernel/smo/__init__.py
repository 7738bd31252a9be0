"""Sequential minimal optimisation on working sets: the dual of the kernel SVM to a certified gap.

::

    SMO (smo), the method: rows of one precision, or float32 rows and then float64 rows from there
      '-- OneSet (one_set) or SeveralSets (several_sets): Rounds (rounds), on a State (dual_state: coefficients,
            |                                              gradient, violations)
            |-- ActiveSet (active_set)             coordinates that are left out, and their gradient afterwards
            |-- SetSize (set_size)                 how many coordinates a set has: it follows the free coefficients
            |-- state.choose                       which coordinates violate the conditions most
            |-- core.solve (_smo)                  pair or single steps inside the set (_working_set), in cache
            |-- core.subtract_rows (_smo)          rows of the members that moved: the gradient of all coordinates
            |-- Stagnation (stagnation)            without progress: gradient computed afresh, smaller sets, stalled
            '-- is_certified (certificate)         may the run stop: the gap beside the violation

`joint` does rounds for several problems on the same rows at once, such as the folds of a search: its inner problems are
those of `_working_set`, on one kernel block, and the gradients of all problems take one product. At a large C a problem
ends by Newton steps on its free coefficients (`face`).

A problem that fits memory is one working set. ``_small_problems`` runs small ones without the driver: a regression, a
novelty detector, or (``_small_pairs``) all pairs of classes from one kernel matrix. Steps are in ``_steps``, those of
problems with a share nu in ``_signs``; ``_coordinates`` and ``_kinks`` hold what they work on.
"""
