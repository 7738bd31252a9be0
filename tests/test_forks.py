"""A process that is forked after parallel loops have run computes what its parent does; it never waits for ever."""

import multiprocessing
import os
import subprocess
import sys
import textwrap

import pytest

SCRIPT = """
    import os, sys, traceback
    import numpy as np
    from scipy import sparse
    from threadpoolctl import threadpool_info, threadpool_limits

    from kernbench import KernelSVC, PartialAUCClassifier, ROCSVC
    from kernbench import DoublyStochasticClassifier, metrics
    from kernbench.features import Nystroem, RandomFeatures
    from kernbench.kernels import Gaussian, Matern, threads
    from kernbench.kernels.blocks import block, matmul
    from kernbench.kernels.elementwise import exp
    from kernbench.kernels.rows import KernelRows

    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 30))
    y = (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int)
    thin = sparse.random(1500, 400, 0.05, "csr", random_state=0)
    scores = np.round(rng.normal(size=300_000), 3)
    labels = rng.integers(0, 2, len(scores))
    weights = rng.normal(size=len(X))
    model = KernelSVC(random_state=0).fit(X, y)

    # Everything with a loop over threads, in sizes for which these are woken.
    WORK = {
        "predict": lambda: model.decision_function(X),
        "fit smo": lambda: KernelSVC(random_state=0).fit(X, y).dual_coef_,
        "fit sdca": lambda: KernelSVC(solver="sdca", max_iter=6000, random_state=0).fit(X, y).dual_coef_,
        "fit classes": lambda: KernelSVC(n_jobs=2).fit(X[:300], np.arange(300) % 4).dual_coef_,
        "fit bundle": lambda: ROCSVC(random_state=0).fit(X, y).coef_,
        "fit features": lambda: DoublyStochasticClassifier(max_iter=1, random_state=0).fit(X, y).decision_function(X),
        "fit window": lambda: PartialAUCClassifier(fpr_range=(0, 0.2), random_state=0).fit(X, y).coef_,
        "random features": lambda: RandomFeatures(Gaussian(2.0), 256, random_state=0).fit_transform(X),
        "sketches": lambda: RandomFeatures("poly", 256, random_state=0).fit_transform(thin.toarray()),
        "nystroem": lambda: Nystroem(Gaussian(2.0), 64, random_state=0).fit_transform(X),
        "roc_auc": lambda: metrics.roc_auc(labels, scores),
        "partial_auc": lambda: metrics.partial_auc(labels, scores, (0.1, 0.3)),
        "block": lambda: block(Gaussian(2.0), X, X),
        "sparse block": lambda: block(Gaussian(2.0), thin, thin),
        "matmul": lambda: matmul(Matern(1.5, 2.0), X, X, weights),
        "rows": lambda: KernelRows(X, Gaussian(2.0)).matvec(weights),
        "elementwise": lambda: exp(scores),
    }

    def same(ours, theirs):
        return np.allclose(ours, theirs, rtol=1e-6, atol=1e-9)

    def check_forks(version):
        for name, work in WORK.items():
            work()  # the pool of threads is there when the process is forked
            print(version, name, flush=True)
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    code = 0 if same(work(), expected[name]) and same(work(), expected[name]) else 2
                except BaseException:
                    traceback.print_exc()
                os._exit(code)
            _, status = os.waitpid(child, 0)
            assert status == 0, f"{version}: {name}: the child ended with {status}"
            assert same(work(), expected[name]), f"{version}: {name}: in the parent, after the fork"

    with threadpool_limits(2, user_api="openmp"):
        assert any(p["user_api"] == "openmp" and p["num_threads"] == 2 for p in threadpool_info())
        expected = {name: work() for name, work in WORK.items()}
        check_forks("OpenMP of this machine")
        threads._pause_openmp = None
        check_forks("OpenMP before 5.0")
    print("all")
"""

QUASI_RANDOM = """
    import os, signal

    from kernbench.features.draws import sobol

    sobol._lock.acquire()  # as if another thread drew points
    child = os.fork()
    if child == 0:
        signal.alarm(100)  # ends a child that waits for ever
        sobol.sobol_points((0,), 2, 0, 4)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""
LIMITED = """
    import os, signal
    from threading import Event, Thread

    import scipy.linalg.cython_blas
    from threadpoolctl import threadpool_info, threadpool_limits

    from kernbench.kernels.threads import single_threaded_blas

    def n_threads():
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    def check_child(found_inside):
        child = os.fork()
        if child == 0:
            signal.alarm(100)  # ends a child that waits for ever
            code = 0 if n_threads() == found_inside else 1
            if found_inside != before:
                limit.__exit__(None, None, None)
            with limit:
                code |= set(n_threads()) != {1}
            os._exit(code if n_threads() == before else 2)
        assert os.waitpid(child, 0)[1] == 0

    def need_limit():
        with limit:
            inside.set()
            leave.wait()

    limit, inside, leave = single_threaded_blas(), Event(), Event()
    with threadpool_limits(2, user_api="blas"):
        before, thread = n_threads(), Thread(target=need_limit, daemon=True)
        thread.start()
        inside.wait()
        check_child(before)
        with limit:
            check_child([1] * len(before))
        assert set(n_threads()) == {1}  # the other thread of the parent still needs it
        leave.set()
        thread.join()
        assert n_threads() == before != [1] * len(before)
"""
NEEDS_FORK = pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")


@NEEDS_FORK
def test_a_child_that_is_forked_while_points_are_drawn_draws_its_own():
    done = subprocess.run([sys.executable, "-P", "-c", textwrap.dedent(QUASI_RANDOM)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@NEEDS_FORK
def test_a_child_that_is_forked_while_another_thread_limits_blas_has_no_limit():
    """Unless the forking thread needs it, too."""
    command = [sys.executable, "-P", "-W", "ignore", "-c", textwrap.dedent(LIMITED)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@NEEDS_FORK
def test_a_forked_child_computes_what_its_parent_does():
    """With the OpenMP of this machine and then as if it were older; one process, as most of the time is its start."""
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-W", "ignore", "-c", textwrap.dedent(SCRIPT)],
            capture_output=True,
            text=True,
            timeout=240,
            env={**os.environ, "OMP_WAIT_POLICY": "passive"},  # idle threads leave the cores to other tests
        )
    except subprocess.TimeoutExpired as error:
        pytest.fail(f"a child never returned, after: {(error.stdout or b'').decode().splitlines()[-1:]}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("all\n")
