"""Cutting planes for a convex risk R of scores: alpha/2 ||f||^2 + R(f) to a certified gap.

::

    CuttingPlanes (cutting_planes)         base of linear/bundle and ranking/bundle, svmpauc_tight; each has its Risk
      |  first point: the solution for a sample of the data, by the same method; then for every cut
      |-- Risk (_risk)                     R and its slope at the new point; NaN and Ctrl-C are looked for here
      |-- Cuts (_cuts)                     the tangents so far, and the lower bound of the objective that they give
      |     '-- SimplexQP (_simplex_qp)      their small dual programme: one multiplier a cut
      |-- a direction from the best point: to the minimiser of the tangents alone (plain), or a Newton step with
      |     Preconditioner                 a Hessian matrix of the risk, where columns are few
      |     SmoothedNewton                 conjugate gradients on a smoothed risk, where they are many
      '-- SampledLine (_line_search)       how far along the line, by the scores of a sample; the next cut is there

``limited_memory`` (BFGS) serves the differences of convex functions in ranking/. The cores of ``cutting_planes``,
``smoothed_newton`` and ``limited_memory`` have their names with an underscore.
"""
