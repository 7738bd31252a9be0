"""Tables and figures that the experiments on the batch perceptron share."""

from kernbench.experiments.base import Axis, Curves, MetricTable

COUNTING = (
    "Kernel evaluations are counted as in the paper, nothing being kept: n for a step of SBP, 2 n for one of SMO, "
    "and one for each support vector for a step of the others, which look at one example. What was really "
    "computed is less, since rows are kept and asked for in batches."
)


def error_table(methods):
    """The errors at fixed numbers of evaluations, and what a run took."""
    return MetricTable(
        "errors",
        "Test errors on the way, and what the runs took",
        (
            "curve_error",
            "early_error",
            "epoch_error",
            "test_error",
            "rise",
            "settled_share",
            "evaluations",
            "computed",
            "n_support",
        ),
        methods=methods,
        notes=(
            "Mean over the curve: over evaluations from n²/100 to 10 n², equally spaced in the logarithm; half "
            "before the first model. Share before it settles: of its evaluations, until the test error stays "
            "within a point of the last.",
        ),
    )


def error_curves(name, title, what, methods=None):
    """A panel for each data set, a line for each method."""
    return Curves(
        name,
        title,
        Axis("trace.passes", what, log=True),
        Axis("trace.test_error", "test error", "%", 100.0, log=True),
        panel="dataset",
        methods=methods,
        marks=False,
        shared_x=False,
        shared_y=False,
        heading=title,
        note="Medians over repeats, where there are several; shaded, their range.",
    )
