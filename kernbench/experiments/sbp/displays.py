"""Tables and figures that the experiments on the batch perceptron share."""

from kernbench.experiments.base import Axis, Curves, MetricTable

SPAN = 2.0  # of the test errors shown, over the lowest: SMO's and first models' are far off

COUNTING = (
    "Kernel evaluations are counted as in the paper, nothing being kept: n for a step of SBP, 2 n for one of SMO, "
    "and one for each support vector for a step of the others, which look at one example. What was really "
    "computed is less, since rows are kept and asked for in batches."
)


def run_tables(methods):
    """The errors at fixed numbers of evaluations; what a run took."""
    errors = MetricTable(
        "errors",
        "Test errors at equal numbers of evaluations",
        ("curve_error", "early_error", "epoch_error", "test_error", "rise"),
        methods=methods,
        notes=(
            "Mean over the curve: over evaluations from n²/100 to 10 n², equally spaced in the logarithm; half "
            "before the first model. A method that ended before keeps its final model.",
        ),
    )
    costs = MetricTable(
        "costs",
        "What the runs took",
        ("evaluations", "computed", "n_support", "run_seconds", "working_memory"),
        methods=methods,
        notes=(
            "Evaluations: as the paper counts them, nothing being kept. Share computed: what was really "
            "computed, since rows are kept. Time: judging some 60 models on the way included.",
        ),
    )
    return errors, costs


def error_curves(name, title, what, methods=None):
    """A panel for each data set, a line for each method."""
    return Curves(
        name,
        title,
        Axis("trace.passes", what, log=True),
        Axis("trace.test_error", "test error", "%", 100.0, log=True),
        panel="dataset",
        methods=methods,
        y_span=SPAN,
        marks=False,
        large=True,
        shared_x=False,
        shared_y=False,
        heading=title,
    )
