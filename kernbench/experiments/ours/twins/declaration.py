"""``twins``: compiled solvers over their references, as a heat map."""

from kernbench.experiments.declare import Axis, Bound, Experiment, HeatMap, Method, MetricTable, Scale, Setting
from kernbench.experiments.declare import metrics as m

HERE = "kernbench.experiments.ours.twins"


def _scale(sizes, seconds, repeats, time_limit):
    settings = (
        Setting(f"rows-{n}", {"n_rows": n, "n_columns": 16}, {"seconds": seconds}, f"{HERE}.runs:load_rows",
                label=f"{n:,} rows")
        for n in sizes
    )  # fmt: skip
    return Scale(settings=tuple(settings), repeats=repeats, time_limit=time_limit)


EXPERIMENT = Experiment(
    name="twins",
    title="Compiled solvers over their NumPy references",
    paper="Ours",
    methods=(Method("twins", "all solvers", f"{HERE}.runs:measure"),),
    scales={"quick": _scale((256, 1024), 0.005, 1, 120.0), "paper": _scale((256, 1024, 4096), 0.2, 3, 1800.0)},
    metrics=(
        m.ratio("median", "median speed-up over all solvers"),
        m.ratio("least", "least speed-up"),
        m.number("n_solvers", "solvers", direction="higher"),
        m.number("n_apart", "pairs that took different numbers of iterations"),
        m.PEAK_MEMORY,
    ),
    claims=(
        Bound("No compiled solver is slower than its reference.", "twins", "least", 1.0),
        Bound(
            "Half of the compiled solvers are at least five times as fast as their references.", "twins", "median", 5.0
        ),
    ),
    measure=f"{HERE}.runs:measure",
    tables=(MetricTable("speed-ups", "Over all solvers of the registry", ("median", "least", "n_solvers", "n_apart")),),
    figures=(
        HeatMap(
            "speed-up",
            "Speed-up of compiled solvers over their references",
            Axis("trace.speed_up", "time of the reference over that of the compiled solver", log=True),
            row="trace.solver",
            column="dataset",
            note="Equally many iterations from the start, processor time of one thread. Where a kernel's rows are "
            "most of the work, both twins spend it in matrix products, so that little can be gained.",
        ),
    ),
    threads=1,
    own_data=True,
    note="All solvers of the registry that have both twins. Problems have 16 columns; losses are the first that a "
    "solver offers, or the squared error for regressions.",
)
