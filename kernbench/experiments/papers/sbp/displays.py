"""Tables and figures that the experiments on the batch perceptron share."""

from kernbench.experiments.declare import Axis, Curves, MetricTable

SPAN = 2.0  # of the test errors shown, over the lowest: those of SMO and of first models are far off
ERRORS = ("curve_error", "early_error", "epoch_error", "test_error", "rise")

COUNTING = (
    "Kernel evaluations are counted as in the paper, nothing being kept: n for a step of SBP, 2 n for one "
    "of SMO, and one for each support vector for a step of the others, which look at one example. (A row of n "
    "for each step that changes a coefficient would do as well; at first that is dearer.) What was really computed "
    "is less, since rows are kept and asked for in batches."
)
WHOLE_CURVE = (
    "Mean over the curve: over evaluations from n²/100 to 10 n², equally spaced in the logarithm; half "
    "before the first model. A method that ended before keeps its final model."
)
TEST_ROWS = (
    "An error rate p on m test rows has a standard error of √(p(1 − p)/m) of its own: 0.3 points on Reuters "
    "and Adult, 0.08 on MNIST. Repeats share the test rows, so that their spread does not show it."
)


def run_tables(methods, errors=ERRORS, note=WHOLE_CURVE):
    """The errors at fixed numbers of evaluations; what a run took."""
    errors = MetricTable(
        "errors",
        "Test errors at equal numbers of evaluations",
        errors,
        methods=methods,
        notes=(note, TEST_ROWS),
    )
    costs = MetricTable(
        "costs",
        "What the runs took",
        ("evaluations", "computed", "n_support", "run_seconds", "working_memory"),
        methods=methods,
        notes=(
            "Evaluations: as the paper counts them, nothing being kept. Share computed: what was really "
            "computed, since rows are kept. Time: judging some 60 models on the way included. Working "
            "memory: kept rows, 2 GB at the most, and the data.",
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
