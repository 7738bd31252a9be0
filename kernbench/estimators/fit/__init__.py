"""One fit for every estimator; :mod:`kernbench.estimators` lists the files.

::

    Estimator.fit(X, y) or .path(X, y, strengths)
      |-- its Task              checks its ``arguments``, centres rows (centring) and chooses the solver (choice);
      |                         holds Problems (problem): one, or one a pair of classes; starts from continuation
      '-- fit_task (path)
            |-- Runs (runs)     each problem along the path, in threads, within one time budget
            |     |-- problem.make_data()     kernel rows or a design (solver_data)
            |     |-- problem.make_solver()   the registry's class with the options of the user (solver)
            |     |-- solvers.driver.run()    advances the solver: clock, stopping rule, trace, Ctrl-C
            |     |-- certified (certificate) objective and gap of the model itself, with their rounding
            |     '-- RunData.widen (widening) float64 rows for a second part where float32 does not reach `tol`
            |-- assembled (folding), set_outcome    fitted attributes (outcome); gaps count the rounding of intercepts
            '-- warnings                      they name the parameter to change (outcome)

``small`` fits models of few rows, a ``small_problem`` each, without runs. Where a run ends far from the optimum,
``smaller_strength`` looks for a better model on the way to it. ``fitted_state`` checks models that are read from files.
"""
