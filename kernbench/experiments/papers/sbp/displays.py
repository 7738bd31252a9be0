"""Tables and figures that the experiments on the batch perceptron share."""

from kernbench.experiments.declare import Axis, Curves, MetricTable

SPAN = 2.0  # highest over lowest test error shown; those of SMO and of first models are many times higher
ERRORS = ("curve_error", "early_error", "epoch_error", "test_error", "rise")

COUNTING = (
    "Kernel evaluations are counted as in the paper, without a cache: n for a step of SBP, and for one of SMO, which "
    "changes one coefficient, as there is no intercept; one for each support vector for a step of the others, which "
    "use one example. (These could also compute a row of n for each step that changes a coefficient, which costs more "
    "at first.) The number of values actually computed is smaller, since rows are cached and computed in batches."
)
WHOLE_CURVE = (
    "Mean over the curve: over evaluations from n²/100 to 10 n², equally spaced in the logarithm; an error of 50 % "
    "is counted before the first model. A method that ended earlier keeps its final model."
)
TEST_ROWS = (
    "An error rate p on m test rows has a standard error of √(p(1 − p)/m) of its own: 0.3 points on Reuters "
    "and Adult, 0.08 on MNIST. Repeats share the test rows, so their spread does not include it."
)


def run_tables(methods, errors=ERRORS, note=WHOLE_CURVE, of="evaluations", more=""):
    """Tables of the errors at fixed numbers of evaluations, and of the costs of the runs, whose note may say `more`."""
    errors = MetricTable(
        "errors", f"Test errors at equal numbers of {of}", errors, methods=methods, notes=(note, TEST_ROWS)
    )
    costs = MetricTable(
        "costs",
        "Cost of the runs",
        ("evaluations", "computed", "n_support", "run_seconds", "working_memory"),
        methods=methods,
        notes=(
            "Evaluations: as the paper counts them, without a cache. Share computed: the share actually computed, "
            "since rows are cached. Time: includes the evaluation of models on the way, at most some 60. Working "
            f"memory: the cache, 2 GB at most, and the data.{more}",
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
