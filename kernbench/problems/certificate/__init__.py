"""Certificates that hold in floating point: objective and gap of a returned model, with bounds of their own rounding.

    solver's objective and gap --`rounding`: a bound from norms, O(n)--> small against tol: add it to the gap
                               \\--`measured`: float32 kernels, float64 values of some rows--> the same
                                \\--`extended`: the objective and a dual bound afresh in extended precision

* :mod:`~kernbench.problems.certificate.rounding` -- how far rounding may move an objective and a bound;
* :mod:`~kernbench.problems.certificate.kernel_values` -- how far it may move kernel values;
* :mod:`~kernbench.problems.certificate.closest_rows` -- how close rows that differ may be;
* :mod:`~kernbench.problems.certificate.extended` -- scores and inner products in extended precision;
* :mod:`~kernbench.problems.certificate.risks` -- the mean losses of margins and of pairs, with their dual bounds;
* :mod:`~kernbench.problems.certificate.certify` -- the three stages;
* :mod:`~kernbench.problems.certificate.curvature` -- kernels that are not positive semi-definite.
"""
