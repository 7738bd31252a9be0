"""Metrics that several experiments share, and shorthands to declare others.

In the order of their arguments: name (and where a record keeps it), label, relative tolerance.
"""

from kernbench.experiments.declare.parts import Metric


def number(name, label, tolerance=0.0, direction="lower", *, place=None, **rest):
    """A plain number among the ``metrics`` of a record."""
    return Metric(name, label, direction, place or ("metrics", name), tolerance=tolerance, **rest)


def percent(name, label, tolerance=0.01, direction="lower", *, unit="%", **rest):
    """A fraction, printed in per cent."""
    return number(name, label, tolerance, direction, unit=unit, factor=100.0, **rest)


def points(name, label, tolerance=0.05, direction="lower", **rest):
    """A difference of fractions, printed in percentage points."""
    return percent(name, label, tolerance, direction, unit="points", **rest)


def ratio(name, label, tolerance=0.1, direction="higher", **rest):
    """A factor, such as a speed-up."""
    return number(name, label, tolerance, direction, unit="×", **rest)


def seconds(phase, label):
    """The ``seconds`` of a phase."""
    return number(f"{phase}_seconds", label, 0.2, place=("seconds", phase), unit="s")


def megabytes(name, label, place):
    """A number of bytes."""
    return number(name, label, 0.1, place=place, unit="MB", factor=2.0**-20)


FIT_SECONDS = seconds("fit", "fit time")
PREDICT_SECONDS = seconds("predict", "predict time")
N_ITER = number("n_iter", "iterations", 0.1, deterministic=True)
N_SUPPORT = number("n_support", "support vectors", 0.02, deterministic=True)
N_KERNEL_EVALUATIONS = number(
    "n_kernel_evaluations", "kernel evaluations", 0.01, place=("n_kernel_evaluations",), deterministic=True
)
OBJECTIVE = number("objective", "objective", 1e-3)
TEST_ERROR = percent("test_error", "test error")
AUC = percent("auc", "AUC", 1e-3, "higher")
PEAK_MEMORY = megabytes("peak_memory", "peak memory", ("peak_memory_bytes",))
WORKING_MEMORY = megabytes("working_memory", "working memory", ("working_memory_bytes",))

# Of a model that ranks.
RANKING = (
    AUC,
    points("gap", "AUC below the truth's"),
    points("gap_population", "AUC below the population's"),
    FIT_SECONDS,
    seconds("search", "time to choose α"),
    seconds("predict", "scoring time"),
    number("objective", "objective over all pairs", 1e-3),
    number("alpha", "α"),
    N_ITER,
    PEAK_MEMORY,
)
