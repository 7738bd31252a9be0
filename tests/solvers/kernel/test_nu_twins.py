"""Every solver of the problems with a share nu: the compiled class against its NumPy reference, step by step."""

from functools import partial

import numpy as np
import pytest
from lockstep import Tally, TieWatchingSet, Tolerance, case_name, cases, follow, parted_by_a_tie, see, watch_ties

from kernbench.problems.novelty_problem import NU_LOSSES
from kernbench.reference.kernel.smo.working_set import WorkingSet
from kernbench.solvers.checks.problems import build, make_problem
from kernbench.solvers.kinds import KINDS

# Options that take other paths through a solver's code; every solver is also run with its defaults.
VARIANTS = {"smo": [{"classic_rows": 0, "working_set_size": 16}]}
CASES = [case for kind in ("kernel-nu-svm", "kernel-nu-regression", "kernel-novelty") for case in cases(kind, VARIANTS)]
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0].problem}-{case_name(case)}")
TIGHT = Tolerance(coef=1e-8, objective=1e-8, gap=1e-5, gap_floor=1e-8, keys=False)
SHARE = 0.2  # of the rounds, which must be compared before rounding parts the twins


class WatchingFamilies(TieWatchingSet):
    """Watches the choice of pairs, of the family first."""

    def _pair(self):
        violation, best = WorkingSet._pair(self)
        if best is not None and self.smo.n_iter:
            families = self._ends(self.e, self.e)
            sizes = [top - bottom for *_, top, bottom in families]
            can_grow, can_shrink, top, _ = families[int(np.argmax(sizes))]
            curvature = np.maximum(self.diagonal[best[0]] + self.diagonal - 2 * self.kernel[best[0]], 1e-12)
            gains = (np.maximum(top - self.e, 0) ** 2 / curvature)[can_shrink]
            for best_two in (sizes, np.sort(self.e[can_grow])[-2:], np.sort(gains)[-2:]):
                see(self.smo, np.diff(best_two))
        return violation, best


def compare(case, problem, tally, nu, label, **follow_options):
    entry, options = case
    loss = NU_LOSSES[entry.losses[0]](nu)
    compiled, reference = (
        build(entry, problem, twin, loss=loss, tol=1e-4, shrinking=False, **options)
        for twin in ("compiled", "reference")
    )
    watch_ties(reference, WatchingFamilies)
    rounding = partial(parted_by_a_tie, least=1e-13)
    follow(compiled, reference, tally, TIGHT, rounding=rounding, label=label, **follow_options)


@every_case
def test_twin_is_in_lockstep(case, global_random_seed):
    tally = Tally()
    for seed in range(4 * global_random_seed, 4 * global_random_seed + 4):
        problem = make_problem(case[0].kind, 60, seed, weighted=bool(seed % 2))
        compare(case, problem, tally, 0.4, f"{seed=}", rounds=12, length=1)
    tally.require(SHARE)


@every_case
def test_twin_is_in_lockstep_on_any_problem(case):
    """Problems of all shapes, the same ones in every run."""
    rng, tally = np.random.default_rng(0), Tally()
    for _ in range(4):
        n, d, seed = int(rng.integers(4, 51)), int(rng.integers(1, 21)), int(rng.integers(10**6))
        C, nu = float(rng.choice([0.1, 1.0, 30.0])), float(rng.uniform(0.05, 0.3))
        problem = make_problem(KINDS[case[0].problem], n, seed, d=d, C=C)
        if case[0].problem == "kernel-nu-svm":
            nu *= 2.0 * min(np.mean(problem.y > 0), np.mean(problem.y < 0))
        compare(case, problem, tally, nu, f"{n=} {d=} {seed=} {C=} {nu=}", rounds=8, length=3)
    tally.require(SHARE)
