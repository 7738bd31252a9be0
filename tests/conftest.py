"""Seeds for all tests; small problems with known optima, and oracles that share no code with the tested modules."""

import gc
import os
import re
import signal
import subprocess
import sys
from types import SimpleNamespace

# Two processes of tests share the cores; tests of threads ask for them. Before NumPy loads its BLAS.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import hypothesis
import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.svm import SVC

from kernbench import _lazy
from kernbench.experiments import plugins
from kernbench.experiments import registry as experiments
from kernbench.kernels.functions import Gaussian, Precomputed
from kernbench.reference.kernels.rows import KernelRows as ReferenceRows
from kernbench.solvers import registry as solvers

# Commands are tested on what they print into a file: these would have rich print for a terminal.
for asked in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
    os.environ.pop(asked, None)
# What they print is read in the encoding of the locale, which this overrides in children.
os.environ.pop("PYTHONIOENCODING", None)

# Shells start background jobs with Ctrl-C ignored, and children inherit it; the tests of Ctrl-C need it answered.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# --- seeds ----------------------------------------------------------------------------------------


def seeds_of(text):
    """Return the seeds that KERNBENCH_TEST_SEEDS means: "3", "0,4" or "0-9"."""
    if not re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", text):
        raise pytest.UsageError(f"KERNBENCH_TEST_SEEDS is like 3, 0,4 or 0-9, not {text!r}")
    ends = [[int(end) for end in part.split("-")] for part in text.split(",")]
    return [seed for first, *last in ends for seed in range(first, (last or [first])[0] + 1)]


GIVEN = os.environ.get("KERNBENCH_TEST_SEEDS")
SEEDS = seeds_of(GIVEN or "0")

# The same examples each time; those of seeds that were asked for are new ones.
hypothesis.settings.register_profile("kernbench", derandomize=not GIVEN, deadline=None)
hypothesis.settings.load_profile("kernbench")


def pytest_configure(config):
    """Leave the order of tests to pytest-randomly, where it is installed, but not their seeds."""
    config.option.randomly_reset_seed = False


def pytest_collection_finish():
    """Spare the garbage collector the tests themselves: they stay, and to walk over all of them takes half a second."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def tests_stay_frozen():
    """Leave freezing to the hook above: a report would collect before it is drawn, and thaw the tests with the rest."""
    idle = dict.fromkeys(("collect", "freeze", "unfreeze"), lambda: None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kernbench.report.building.gc", SimpleNamespace(**idle))
        yield


@pytest.fixture(scope="session", params=SEEDS)
def global_random_seed(request):
    """A seed, for a test of what holds for all seeds: KERNBENCH_TEST_SEEDS=0-9 runs it with ten. Otherwise it is 0."""
    return request.param


@pytest.fixture(autouse=True)
def global_state(request):
    """Set NumPy's global state, which ``random_state=None`` draws from."""
    every = "global_random_seed" in request.fixturenames
    np.random.seed(request.getfixturevalue("global_random_seed") if every else SEEDS[0])


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef):
    """Set it for fixtures that many tests share, too, whichever test is the first."""
    if fixturedef.scope != "function":
        np.random.seed(SEEDS[0])


@pytest.fixture(scope="session", autouse=True)
def no_entropy_of_the_system():
    """Let ``numpy.random.default_rng()`` fail: what it draws is another thing each time."""
    seeded = np.random.default_rng

    def default_rng(seed=None):
        if seed is None:
            raise AssertionError(
                "default_rng(None) draws its seed from the operating system: in a test pass a number, in kernbench use "
                "kernbench.problems.draws.as_generator, which draws it from NumPy's global state"
            )
        return seeded(seed)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(np.random, "default_rng", default_rng)
        yield


# --- problems -------------------------------------------------------------------------------------


def _problem(x, y, **known):
    x = np.array(x, dtype=np.float64)
    K = np.exp(-0.5 * (x[:, None] - x[None]) ** 2)
    rows = ReferenceRows(x[:, None], Gaussian(1.0))
    y = np.array(y, dtype=np.float64)
    return SimpleNamespace(X=x[:, None], y=y, K=K, rows=rows, n=len(x), alpha=1 / len(x), **known)


@pytest.fixture
def six_points():
    """No intercept, C = 1: the optimum u of (R) and its water level, to all printed digits."""
    return _problem(
        [-2, -1, -0.5, 0.5, 1, 2],
        [-1, -1, 1, -1, 1, 1],
        dual=np.array([0.685524, 1, 1, 1, 1, 0.685524]),
        heights=np.array([1, 0.714996, -0.356812, -0.356812, 0.714996, 1]),
        norm=1.4447889663,
        loss=0.5472720865,
        optimum=0.7212233496,
        nu=0.3787903281,
        gamma=0.6921426058,
    )


@pytest.fixture
def seven_points():
    """With an intercept, C = 1."""
    return _problem(
        [-2, -1, -0.5, 0.5, 1, 2, 3],
        [-1, -1, 1, -1, 1, 1, 1],
        dual=np.array([0.821566, 1, 1, 1, 1, 0.129715, 0.691851]),
        intercept=0.136226,
        norm=1.5139059,
        optimum=0.6424537082,
        nu=0.3162321837,
        gamma=0.6605430318,
    )


@pytest.fixture
def random_problem():
    """A function from a seed to an overlapping, unbalanced problem with integer weights."""

    def make(seed, n=30):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, 2))
        y = np.where(X[:, 0] * X[:, 1] + 0.4 * rng.normal(size=n) > 0.3, 1.0, -1.0)
        y[:2] = 1, -1
        weights = rng.integers(0, 4, size=n).astype(np.float64)
        weights[:2] = 1, 2
        K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
        rows = ReferenceRows(K, Precomputed())
        return SimpleNamespace(X=X, y=y, K=K, weights=weights, n=n, rows=rows, rng=rng)

    return make


@pytest.fixture
def optimum():
    """A function that solves (R): LIBSVM with an intercept, a box-constrained quasi-Newton dual without."""

    def solve(K, y, alpha, weights=None, fit_intercept=True):
        n = len(y)
        w = np.ones(n) if weights is None else weights
        if fit_intercept:
            # SVC drops examples of weight 0, and then does not match a precomputed K.
            used = np.flatnonzero(w)
            svc = SVC(kernel="precomputed", C=1 / (alpha * n), tol=1e-9)
            svc.fit(K[np.ix_(used, used)], y[used], sample_weight=w[used])
            coef, b = np.zeros(n), svc.intercept_[0]
            coef[used[svc.support_]] = svc.dual_coef_[0]
        else:
            Q = y[:, None] * K * y
            result = minimize(
                lambda a: (0.5 * a @ Q @ a - a.sum(), Q @ a - 1),
                np.zeros(n),
                jac=True,
                method="L-BFGS-B",
                bounds=[(0, w_i / (alpha * n)) for w_i in w],
                options={"maxiter": 20000, "maxfun": 100000, "ftol": 0, "gtol": 1e-12},
            )
            coef, b = y * result.x, 0.0
        f = K @ coef
        value = 0.5 * alpha * coef @ f + w @ np.maximum(0, 1 - y * (f + b)) / n
        return SimpleNamespace(coef=coef, intercept=b, objective=value)

    return solve


# Not ru_maxrss on Linux: it begins at what the parent held when it forked, here the process of all tests.
PEAK = """
def peak():
    try:
        with open("/proc/self/status") as status:
            for line in status:
                if line.startswith("VmHWM"):
                    return 1024 * int(line.split()[1])
    except OSError:
        pass
    import resource, sys
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
"""


@pytest.fixture
def run_with_peak():
    """A function that runs code in another process and returns what it prints: ``peak()`` is its largest memory yet."""
    pytest.importorskip("resource")
    if "libasan" in os.environ.get("LD_PRELOAD", ""):
        pytest.skip("AddressSanitizer holds back freed memory")

    def run(code, *arguments, **environment):
        command = [sys.executable, "-P", "-c", PEAK + code, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def forgotten_plugins():
    """Forget, after the test, which plug-ins it loaded."""
    lists = (solvers.SOLVERS, experiments.EXPERIMENTS, plugins.PLUGINS, sys.path)
    before = [list(kept) for kept in lists]
    yield
    for kept, content in zip(lists, before, strict=True):
        kept[:] = content
    for name in [name for name in sys.modules if name.startswith("kernbench_plugin_")]:
        del sys.modules[name]
    _lazy.load.cache_clear()


@pytest.fixture
def write_plugin(tmp_path, forgotten_plugins):
    """A function ``write(name, *changes, kind="kernel-svm")``: the file that ``kernbench new`` writes, changed.

    Each change is a pair of texts, of which the first must be in the file once.
    """
    from kernbench.cli import main

    def write(name, *changes, kind="kernel-svm"):
        # By the whole command line: a command called by itself would keep its own names of help options.
        words = ["new", "solver", name, "--kind", kind, "--folder", str(tmp_path)]
        main(words, standalone_mode=False)
        path = tmp_path / f"{name.replace('-', '_')}.py"
        text = path.read_text()
        for old, new in changes:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        path.write_text(text)
        return path

    return write
