"""The checks of a solver: each is a function of its registry entry that raises AssertionError with what it found.

They ask nothing that a right solver may refuse, and compare with kernbench's own solvers of the kind where an optimum
is needed.
"""

from dataclasses import replace
from itertools import product

import numpy as np
from threadpoolctl import threadpool_limits

from kernbench.kernels.threads import single_threaded_blas
from kernbench.solvers import driver
from kernbench.solvers.base import Solution
from kernbench.solvers.checks.lockstep import Tally, Tolerance, follow, require, require_close
from kernbench.solvers.checks.problems import FORMS, build, enclosed_optimum, make_problem, objective_of
from kernbench.solvers.kinds import TWINS

STEPS = 40  # iterations of a check, more where a solver works in larger blocks
SLACK = 1e-6  # of an objective: what rounding may account for
TWIN = Tolerance(coef=1e-6, objective=1e-7, gap=1e-4, gap_floor=1e-7, keys=False)
SHARE = 0.15  # of the rounds of the twins that must be compared; near the optimum rounding may part them
SOLVED = 1e-4  # relative gap of that
NOISE = 0.25  # of the objective at which a run ends that does not converge


def takes_what_the_estimators_give(entry):
    """The first two arguments go by position, all others by name; unknown ones are refused."""
    problem = _problem(entry, weighted=True)
    for twin in TWINS:
        build(entry, problem, twin)
        for options in ({"no_such_option": 1}, {"alpha": problem.alpha}):
            try:
                if "alpha" in options:
                    entry.load(twin)(problem.data(twin), problem.y, problem.alpha)
                else:
                    build(entry, problem, twin, **options)
            except TypeError:
                continue
            raise AssertionError("TypeError is not raised for alpha by position, or for an unknown keyword")


def offers_its_losses_and_refuses_the_others(entry):
    """``losses`` is what the constructor accepts as ``loss``, of the losses of its kind."""
    for loss in entry.kind.losses:
        try:
            build(entry, _problem(entry), "reference", loss=loss)
        except ValueError as error:
            require(loss not in entry.losses, f"loss={loss!r} is among its losses and refused: {error}")
        else:
            require(loss in entry.losses, f"loss={loss!r} is accepted, but not among its losses")


def refuses_bad_problems(entry):
    """Weights that are negative or of another number, alpha <= 0 and one class alone raise ValueError."""
    problem = _problem(entry)
    bad = {
        "negative weights": {"weights": -np.ones(problem.n)},
        "three weights": {"weights": np.ones(3)},
        "alpha = -1": {"alpha": -1.0},
        "alpha = 0": {"alpha": 0.0},
        "no class with weight" if entry.kind.real_targets else "a class without weight": {
            "weights": np.where(problem.y > 0, 1.0, 0.0) * (not entry.kind.real_targets)
        },
    }
    for (name, options), twin in product(bad.items(), TWINS):
        try:
            build(entry, problem, twin, **options)
        except ValueError:
            continue
        raise AssertionError(f"{name}: no ValueError is raised")


def keeps_the_contract(entry):
    """The attributes and methods of `kernbench.solvers.base.Solver`, with the types it says."""
    for (problem, _), twin in product(_forms(entry), TWINS):
        solver = build(entry, problem, twin)
        require(solver.n_iter == 0 and not solver.converged, "a new solver has n_iter or converged set")
        require(isinstance(solver.granularity, int) and solver.granularity >= 1, "granularity is no integer >= 1")
        steps = _steps(entry)
        done = _advance(solver, steps)
        require(done == solver.n_iter >= 1, f"advance({steps}) returned {done}, and n_iter is {solver.n_iter}")
        count = getattr(solver, entry.kind.counts, None)
        least = 0 if entry.kind.counts == "n_kernel_evaluations" and problem.kernel is None else 1
        require(
            isinstance(count, (int, np.integer)) and count >= least,
            f"{entry.kind.counts} is {count!r} after {done} iterations",
        )
        _require_model(solver.solution(), problem)
        require(np.isfinite(solver.objective()), f"objective() is {solver.objective()!r}")
        gap = solver.gap()
        require(gap is None or gap >= 0, f"gap() is {gap!r}")
        require(bool(solver.check(1e9)) and bool(solver.converged), "check(1e9) does not set converged")
    if entry.kind.first == "rows":
        _require_count_of_rows(entry)


def _require_count_of_rows(entry):
    """On rows that earlier solvers used the count begins with theirs, which estimators subtract."""
    problem = _problem(entry)
    rows = problem.data("compiled")
    rows.batch(np.arange(problem.n))
    found = build(entry, problem, rows=rows).n_kernel_evaluations
    require(
        found == rows.n_evaluations,
        f"n_kernel_evaluations is {found} where the rows have computed {rows.n_evaluations} values; it is to include "
        "rows.n_evaluations",
    )


def returns_copies(entry):
    """A change of the arrays of a solution does not change the solver."""
    solver = build(entry, _problem(entry))
    _advance(solver, _steps(entry))
    first = solver.solution()
    expected = first.coef.copy()
    for part in (first.coef, *first.state.values()):
        part = np.asarray(part)
        part[...] = part == 0  # another value for every number, and for booleans
    np.testing.assert_allclose(solver.solution().coef, expected, rtol=1e-12, atol=1e-300)


def states_its_objective(entry):
    """``objective()`` is that of ``solution()``, computed again in float64 from its coefficients."""
    for (problem, form), loss, twin in product(_forms(entry, weighted=True), entry.losses, TWINS):
        solver = build(entry, problem, twin, loss=loss)
        for _ in range(3):
            _advance(solver, _steps(entry))
            found = objective_of(problem, solver.solution(), loss)
            require_close(
                f"objective() ({form}, {loss})", solver.objective(), found, SLACK, other="computed from solution()"
            )


def certifies_its_distance_to_the_optimum(entry):
    """No objective is below the optimum, and a gap is never less than the distance to it."""
    for (problem, form), loss in product(_forms(entry, weighted=True, n=80), entry.losses):
        lower, upper = enclosed_optimum(problem, loss, entry)
        solver = build(entry, problem, loss=loss)
        for _ in range(5):
            _advance(solver, _steps(entry))
            objective, gap = solver.objective(), solver.gap()
            require(
                objective >= lower - SLACK * abs(lower),
                f"{form}, {loss}: the objective {objective!r} is below the optimum, which is at least {lower!r}",
            )
            require(
                gap is None or objective - gap <= upper + SLACK * abs(upper),
                f"{form}, {loss}: the gap {gap!r} at {objective!r} is wrong, since {upper!r} has been reached",
            )


def improves(entry):
    """A run has a lower objective than f = 0; if it stops by its gap, that is at most ten times tol."""
    tol = 1e-2
    for (problem, form), loss in product(_forms(entry, n=100), entry.losses):
        start = build(entry, problem, loss=loss).objective()
        found = _run(entry, problem, loss, tol)
        require(
            found.objective < start,
            f"{form}, {loss}: after {found.n_iter} iterations the objective is {found.objective!r}, at first {start!r}",
        )
        if found.converged and found.gap is not None and "gap" in entry.stopping:
            require(
                found.gap <= 10 * tol * abs(found.objective),
                f"{form}, {loss}: converged with tol={tol} at a gap of {found.gap!r} and {found.objective!r}",
            )


def twins_are_in_lockstep(entry):
    """The compiled class on compiled rows and the reference on reference rows take the same steps.

    A solver with a reference alone is followed on both kinds of rows.
    """
    tally, length = Tally(), entry.load().granularity
    problems = _forms(entry, n=max(60, length), weighted=True, C=30.0)
    for (problem, form), seed, loss in product(problems, (0, 1), entry.losses):
        pair = [build(entry, problem, twin, loss=loss, random_state=seed) for twin in TWINS]
        follow(*pair, tally, TWIN, rounds=12, length=length, rounding=_near_the_end, label=f"{form}, {loss}")
    tally.require(SHARE)


def draws_by_its_seed(entry):
    """Equal seeds give equal solutions, and ``random_state=None`` is NumPy's global state; a solver that draws nothing
    (``draws=False``) neither uses its seed nor changes that state."""
    problem = _problem(entry)

    def coef(seed, twin="compiled"):
        solver = build(entry, problem, twin, random_state=seed)
        _advance(solver, _steps(entry))
        return solver.solution().coef

    np.testing.assert_array_equal(coef(1), coef(1), "two runs with one seed differ")
    if not entry.draws:
        np.testing.assert_array_equal(coef(1), coef(2), "it draws: say draws=True")
    remedy = "as_generator of kernbench.problems.draws makes a generator of random_state"
    before = np.random.get_state()
    try:
        for twin in TWINS:
            np.random.seed(1)
            unused = np.random.get_state()[1].copy()
            first = coef(None, twin)
            if not entry.draws:
                np.testing.assert_array_equal(np.random.get_state()[1], unused, "it draws: say draws=True")
            np.random.seed(1)
            message = f"two runs of np.random.seed(1) and random_state=None differ: {remedy}"
            np.testing.assert_array_equal(first, coef(None, twin), message)
    finally:
        np.random.set_state(before)


def may_be_split(entry):
    """Several calls of `advance` by multiples of ``granularity`` are one long call."""
    whole, parts = (build(entry, _problem(entry, n=100)) for _ in range(2))
    unit = whole.granularity
    _advance(whole, 12 * unit)
    for count in (1, 4, 2, 5):
        _advance(parts, count * unit)
    np.testing.assert_array_equal(whole.solution().coef, parts.solution().coef)


def may_be_resumed(entry):
    """A solver that starts from the solution of another one, with its generator, continues exactly as that one."""
    problem, rng = _problem(entry, n=100, weighted=True), np.random.default_rng(3)
    whole = build(entry, problem, random_state=np.random.default_rng(3))
    begun = build(entry, problem, random_state=rng)
    unit = whole.granularity
    _advance(whole, 6 * unit)
    _advance(begun, 2 * unit)
    solution = begun.solution()
    rest = build(entry, problem, random_state=rng, initial=solution)
    require(rest.n_iter == begun.n_iter, f"n_iter is {rest.n_iter} after a start from {begun.n_iter}")
    objectives = rest.objective(), begun.objective()
    require_close("after a start from it, the objective", *objectives, SLACK, other="that of the solution was")
    _advance(rest, 4 * unit)
    scale = max(np.abs(whole.solution().coef).max(), 1e-300)
    np.testing.assert_allclose(rest.solution().coef, whole.solution().coef, rtol=0, atol=1e-4 * scale)
    any_start = build(entry, problem, initial=Solution(np.array(solution.coef)))
    require(np.isfinite(any_start.objective()), "it does not start from coefficients without a state")


def starts_from_the_solution_for_another_C(entry):
    """From the solution for ten times C a run gets as far as from f = 0, if it may take its time.

    That solution need not be feasible: coefficients exceed their bounds, and clipped to these their sum is not 0.
    """
    tol = 1e-3
    for (problem, form), loss in product(_forms(entry, n=100), entry.losses):
        for max_seconds in (0.5, 5.0):  # more if it is needed: the machine may be busy
            limits = {"times": 10, "max_seconds": max_seconds}
            start = _run(entry, replace(problem, alpha=problem.alpha / 10.0), loss, tol, **limits).solution
            warm, cold = (_run(entry, problem, loss, tol, initial=initial, **limits) for initial in (start, None))
            most = cold.objective + (10.0 * tol if cold.converged else NOISE) * abs(cold.objective)
            if warm.objective <= most:
                break
        require(
            warm.objective <= most,
            f"{form}, {loss}: from the solution for 10 C a run ends at the objective {warm.objective!r}, from f = 0 at "
            f"{cold.objective!r}",
        )


def ignores_the_number_of_threads(entry):
    """One and two threads give the same bits."""
    problem, found = _problem(entry, n=400, d=20), []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="openmp"):
            solver = build(entry, problem)
            _advance(solver, _steps(entry))
            found.append(solver.solution().coef)
    np.testing.assert_array_equal(*found)


def works_on_rows_of_single_precision(entry):
    """On float32 rows of a kernel, a run has the objective of one on float64 rows, to three digits."""
    if entry.kind.first != "rows":
        return
    problem, found = _problem(entry, n=150), []
    for dtype in (np.float32, np.float64):
        solver = build(entry, problem, data={"dtype": dtype})
        _advance(solver, 10 * _steps(entry))
        found.append(solver.objective())
    require_close("the objective on float32 rows", *found, 1e-3, other="on float64 rows")


LAWS = {
    law.__name__.replace("_", " "): law
    for law in (
        takes_what_the_estimators_give,
        offers_its_losses_and_refuses_the_others,
        refuses_bad_problems,
        keeps_the_contract,
        returns_copies,
        states_its_objective,
        certifies_its_distance_to_the_optimum,
        improves,
        twins_are_in_lockstep,
        draws_by_its_seed,
        may_be_split,
        may_be_resumed,
        starts_from_the_solution_for_another_C,
        ignores_the_number_of_threads,
        works_on_rows_of_single_precision,
    )
}


def _problem(entry, n=60, **options):
    return make_problem(entry.kind, n, **options)


def _forms(entry, n=60, **options):
    """The problems of a check, one of each form of the kind, with the names of these."""
    forms = FORMS[entry.problem]
    return [(make_problem(entry.kind, n, k, form=form, **options), form) for k, form in enumerate(forms)]


def _steps(entry):
    return -(-STEPS // entry.load().granularity) * entry.load().granularity


def _run(entry, problem, loss, tol, *, times=1, max_seconds=5.0, **options):
    """Run a new solver to its end, for at most `times` as many iterations as an estimator lets it do."""
    solver = build(entry, problem, loss=loss, **options)
    if solver.first_check is None:
        solver.tol = tol
    max_iter = times * entry.iteration_limit(problem.n)
    return driver.run(solver, tol=tol, max_iter=max_iter, max_seconds=max_seconds)


def _advance(solver, n_iter):
    """Advance as the driver does, with a BLAS of one thread."""
    with single_threaded_blas():
        return solver.advance(n_iter)


def _near_the_end(compiled, reference):
    gap = reference.gap()
    solved = gap is not None and gap <= SOLVED * abs(reference.objective())
    return "next to the optimum" if solved else None


def _require_model(solution, problem):
    coef = solution.coef
    require(
        isinstance(coef, np.ndarray) and coef.shape == (problem.n_coef,) and coef.dtype == np.float64,
        f"solution().coef is no float64 array of shape ({problem.n_coef},): {type(coef).__name__} "
        f"{getattr(coef, 'dtype', '')} {np.shape(coef)}",
    )
    require(np.isfinite(coef).all(), "solution().coef is not finite")
    require(np.isfinite(solution.intercept), f"the intercept is {solution.intercept!r}")
