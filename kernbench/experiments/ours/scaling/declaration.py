"""``scaling``: the stated orders of all public models, against measured ones."""

from kernbench.experiments.declare import (
    Axis,
    Bound,
    Curves,
    Experiment,
    Method,
    MetricTable,
    PaperNumber,
    Quantity,
    Scale,
    Setting,
)
from kernbench.experiments.declare import metrics as m
from kernbench.experiments.ours.scaling.orders import STATED

HERE = "kernbench.experiments.ours.scaling"
SLACK = 0.1  # of an exponent, for data that outgrow the processor's caches
SECONDS = ("time of a fit", "s")


def _setting(model, order, sizes, widths, rounds):
    return Setting(
        model.name,
        {"n_rows": sizes[order.rows][-1], "n_columns": widths[0]},
        {
            "model": model.address,
            "task": model.task,
            "params": order.params,
            "passes": order.passes,
            "batch_size": order.batch_size,
            "order": [order.rows, order.columns],
            "sizes": sizes[order.rows],
            "widths": widths,
            "rounds": rounds,
        },
        f"{HERE}.data:load",
    )


def _scale(*, sizes, widths, rounds, repeats, time_limit):
    settings = (_setting(model, order, sizes, widths, rounds) for model, order in STATED)
    return Scale(settings=tuple(settings), repeats=repeats, time_limit=time_limit)


def _slope(letter, what):
    """The metrics of an exponent."""
    yield m.number(f"slope_{letter}", f"exponent of {what}", 0.15)
    for end in ("low", "high"):
        yield m.number(f"slope_{letter}_{end}", f"{end} end of its interval", 0.3)
    yield m.number(f"beyond_{letter}", f"exponent of {what}, low end, less the stated one", 1.0)


def _columns(letter):
    """The columns of a table about an exponent."""
    yield Quantity(f"slope_{letter}", "median")
    yield Quantity(f"slope_{letter}_low", "median", label="from")
    yield Quantity(f"slope_{letter}_high", "median", label="to")
    yield Quantity(f"slope_{letter}", "paper", label="stated")


def _names(rows):
    return tuple(model.name for model, order in STATED if order.rows == rows)


def _by_rows(name, rows, words):
    return Curves(
        name,
        f"Time of a fit by rows, stated order {words}",
        Axis("trace.n_rows", "rows", log=True),
        Axis("trace.by_rows", *SECONDS, log=True),
        panel="dataset",
        slope=float(rows),
        slope_label=words,
        datasets=_names(rows),
    )


EXPERIMENT = Experiment(
    name="scaling",
    title="How the time of a fit grows: rows, columns, threads",
    paper="Ours",
    methods=(Method("fit", "one fit", f"{HERE}.runs:measure"),),
    scales={
        "quick": _scale(
            sizes={1: [2000, 4000, 8000], 2: [512, 1024, 2048]},
            widths=[16, 32, 64],
            rounds=2,
            repeats=1,
            time_limit=60.0,
        ),
        "paper": _scale(
            sizes={1: [8000, 16_000, 32_000, 64_000], 2: [2048, 4096, 8192, 16_384]},
            widths=[16, 64, 256],
            rounds=3,
            repeats=1,
            time_limit=1800.0,
        ),
    },
    metrics=(
        *_slope("n", "rows"),
        *_slope("d", "columns"),
        m.ratio("thread_speed_up", "speed-up with all threads"),
        m.FIT_SECONDS,
        m.PEAK_MEMORY,
    ),
    claims=(
        *(
            Bound(
                f"Where the stated order of rows is {words}, the time of a fit grows no faster, to 0.1 in the "
                "exponent.",
                "fit",
                "slope_n",
                order + SLACK,
                datasets=_names(order),
                fitted=("slope_n", "slope_n_low", "slope_n_high"),
            )
            for order, words in ((1, "n"), (2, "n²"))
        ),
        Bound(
            "The time of a fit grows at most in proportion to the columns, to 0.1 in the exponent.",
            "fit",
            "slope_d",
            1 + SLACK,
            fitted=("slope_d", "slope_d_low", "slope_d_high"),
        ),
    ),
    paper_numbers=tuple(
        PaperNumber(model.name, "fit", f"slope_{letter}", float(value))
        for model, order in STATED
        for letter, value in (("n", order.rows), ("d", order.columns))
    ),
    measure=f"{HERE}.runs:measure",
    tables=(
        MetricTable(
            "orders",
            "Exponents of rows and columns in the time of a fit, with 95 % intervals, and as stated",
            (*_columns("n"), *_columns("d"), "thread_speed_up", "fit_seconds"),
            notes=(
                "A power of n or d fitted to the logarithms of all times by least squares. Small sizes lie below their "
                "order, since fixed costs count. Fit time: of the most rows, one thread.",
            ),
        ),
    ),
    figures=(
        _by_rows("rows-linear", 1, "n"),
        _by_rows("rows-quadratic", 2, "n²"),
        Curves(
            "columns",
            "Time of a fit by columns, stated order d",
            Axis("trace.n_columns", "columns", log=True),
            Axis("trace.by_columns", *SECONDS, log=True),
            panel="dataset",
            slope=1.0,
            slope_label="d",
        ),
        Curves(
            "threads",
            "Speed-up of a fit by threads",
            Axis("trace.threads", "threads", log=True),
            Axis("trace.speed_up", "speed-up", log=True),
            panel="dataset",
            slope=1.0,
            slope_label="ideal",
            slope_through=(1.0, 1.0),
        ),
    ),
    own_data=True,
    note="The models are those of the public list. Where the order is that of an iteration or a pass, the number of "
    "iterations is limited and the tolerance too small to end earlier: 20 cuts or steps of exact ranking solvers, 5 "
    "passes of linear ones, 2 of KernelRegressor, KernelRegressorCV and LinearSVCCV, 10 on small batches, one of "
    "doubly stochastic gradients. Models that SMO solves run to their default tolerance, and models of features "
    "transform the rows as well. γ = 1 / (2d), so that kernel values do not depend on d. Times over rows and columns "
    "are processor times of one thread, the speed-up by threads is of elapsed times.",
)
