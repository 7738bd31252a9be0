"""A run of cutting planes or of exact DCA that Ctrl-C breaks off anywhere is one that can be continued."""

import pytest

from kernbench.solvers.registry import get

BUNDLE = get("bundle", "roc-svm")
DCA, TIGHT = get("dca-exact", "partial-auc"), get("svmpauc-tight", "partial-auc")
CASES = [
    (BUNDLE, {}), (TIGHT, {}), (TIGHT, {"plain": True}), (DCA, {"alpha": 1e-2}), (DCA, {"alpha": 0.0}),
]  # fmt: skip


class Interrupting:
    """An object whose methods raise KeyboardInterrupt once, after a number of calls in all."""

    def __init__(self, wrapped, clock):
        vars(self).update(_wrapped=wrapped, _clock=clock)

    def __getattr__(self, name):
        found = getattr(self._wrapped, name)
        if isinstance(found, type) or not callable(found):
            return found

        def call(*args, **keywords):
            returned = found(*args, **keywords)
            self._clock[0] -= 1
            if self._clock[0] == 0:
                raise KeyboardInterrupt  # Python delivers signals when a call returns
            return returned

        return call

    def __setattr__(self, name, value):
        setattr(self._wrapped, name, value)


@pytest.mark.parametrize("entry, options", CASES, ids=lambda case: getattr(case, "name", str(case)))
def test_a_run_broken_off_after_any_call_of_the_core_ends_at_the_optimum(entry, options, ranking, rank, windowed):
    problem = ranking(40, 1)
    make = rank if entry is BUNDLE else windowed

    def new():
        return make(entry, "reference", problem, **{"alpha": 1e-2, "loss": "hinge", "tol": 1e-6, **options})

    whole = new()
    whole.advance(1000)
    assert whole.converged and getattr(whole, "n_cuts", 1) > 0
    critical = whole.criticality(tol=0.1) if entry is DCA else None
    broken_off = 0
    for calls in range(1, 52, 3):
        solver, clock = new(), [calls]
        solver.core = Interrupting(solver.core, clock)
        if hasattr(solver, "cuts"):
            solver.cuts = Interrupting(solver.cuts, clock)
        try:
            solver.advance(1000)
        except KeyboardInterrupt:
            broken_off += 1
            stopped = solver.solution(), solver.objective()
            again = make(entry, "reference", problem, **{"alpha": 1e-2, "loss": "hinge", "tol": 1e-6, **options},
                         initial=stopped[0])  # fmt: skip
            assert again.objective() == pytest.approx(stopped[1], rel=1e-9)
            solver.advance(1000)
        assert solver.converged
        if entry is DCA:  # several critical points
            assert solver.criticality(tol=0.1) <= critical + 1e-2
        else:
            assert solver.objective() - solver.gap() <= whole.objective() * (1 + 1e-9)
            assert solver.objective() == pytest.approx(whole.objective(), rel=2e-2 if options else 3e-6)
    assert broken_off > 5
