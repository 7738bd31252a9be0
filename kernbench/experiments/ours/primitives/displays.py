"""What the report shows of ``primitives``."""

from kernbench.experiments.declare import Axis, Contours, Curves, HeatMap, Marks, MetricTable

GALLERY, BLOCKS, FEATURES, MAPS = ("The kernels", "Blocks", "Random features and Nyström", "Feature maps and threads")
N_FEATURES = Axis("trace.n_features", "features", log=True)
ERROR = Axis("trace.error", "relative error", log=True)

FIGURES = (
    Curves(
        "curves",
        "The kernels in one dimension",
        Axis("trace.z", "z"),
        Axis("trace.value", "k(x, z)"),
        line="trace.x",
        panel="dataset",
        shared_x=False,
        marks=False,
        ordered=True,
        y_range=(-0.12, 1.08),
        methods=("block",),
        heading=GALLERY,
        note="Value of k(x, z) over z; the number beside a line is its x.",
    ),
    Contours(
        "planes",
        "The kernels in the plane",
        "trace.plane",
        "k(x, z)",
        methods=("block",),
        heading=GALLERY,
        note="Value of k(x, z) over z in two dimensions; x is the dot. Ten steps from 0 to 1.",
    ),
    HeatMap(
        "block-times",
        "Time of kernel blocks, bare matrix product = 1",
        Axis("trace.gemm_times", "time over that of the bare matrix product of the same shape", log=True),
        column="trace.shape",
        where=(("trace.routine", "kernbench"),),
        methods=("block",),
        heading=BLOCKS,
        note="One thread. What is not a function of a matrix product costs a loop over columns for each "
        "value, and is timed on fewer rows, with 64 columns only.",
    ),
    Marks(
        "peers",
        "Time of a block, float32, 64 columns",
        Axis("trace.gemm_times", "time, bare matrix product = 1", log=True),
        mark="trace.routine",
        where=(("trace.shape", "float32, 64 columns"),),
        reference=1.0,
        reference_label="the bare matrix product",
        methods=("block",),
        heading=BLOCKS,
        note="One thread; all routines of a row were timed in turn in one process.",
    ),
    Curves(
        "convergence",
        "Error of random features against their number",
        N_FEATURES,
        ERROR,
        line="trace.form",
        panel="dataset",
        slope=-0.5,
        slope_label="slope −½",
        methods=("features",),
        heading=FEATURES,
        note="Relative error: ‖K − Φ Φᵀ‖ over ‖K‖, Frobenius norms.",
    ),
    Curves(
        "draws",
        "Ways to draw the Gaussian's frequencies",
        N_FEATURES,
        ERROR,
        line="trace.draws",
        slope=-0.5,
        slope_label="slope −½",
        methods=("draws",),
        heading=FEATURES,
    ),
    Curves(
        "landmarks",
        "Nyström: ways to choose landmarks",
        Axis("trace.n_landmarks", "landmarks", log=True),
        ERROR,
        line="trace.landmarks",
        methods=("nystroem",),
        heading=FEATURES,
    ),
    Marks(
        "maps",
        "Time of a feature map",
        Axis("trace.microseconds_per_row", "time per row", "µs", log=True),
        row="trace.map",
        mark="trace.library",
        methods=("maps",),
        heading=MAPS,
        note="Gaussian, float32, one thread, timed in turn in one process. Yardstick: one bare matrix "
        "product of the shape of the features, then NumPy's vectorised cosine in place.",
    ),
    Curves(
        "threads",
        "Speed-up by threads",
        Axis("trace.threads", "threads", log=True),
        Axis("trace.speed_up", "speed-up", log=True),
        line="trace.routine",
        slope=1.0,
        slope_label="ideal",
        slope_through=(1.0, 1.0),
        methods=("threads",),
        heading=MAPS,
        note="Gaussian, float32: time with one thread over the time with as many as shown, timed in turn. "
        "Where the machine has other work to do, a second thread waits for its core.",
    ),
)

TABLES = (
    MetricTable(
        "blocks",
        "Kernel blocks: rates on rows of 64 columns, errors on rows of 8",
        (
            *(f"{what}_{dtype}_64" for dtype in ("float32", "float64") for what in ("gemm_share", "speed_up")),
            "float32_error",
            "peer_difference",
        ),
        methods=("block",),
        notes=(
            "Share of the product: the time of a bare matrix product of the same shape over the block's. "
            "Speed-up: over scikit-learn's or SciPy's function of the same values, where there is one. "
            "Errors: largest difference over the largest value; the peer is compared in float64.",
        ),
    ),
    MetricTable(
        "features",
        "Random features: error at the largest number, and the fitted slope of its fall",
        ("error", "slope"),
        methods=("features",),
        notes=("Of a kernel's first form: root mean square over seeds. Slope: least squares on the logarithms.",),
    ),
    MetricTable(
        "draws",
        "Ways to draw the Gaussian's frequencies: error over that of independent draws",
        ("orthogonal_over_iid", "qmc_over_iid", "fastfood_over_iid"),
        methods=("draws",),
        notes=(
            "Root mean square over seeds, median over numbers of features; below 1 is better than independent draws.",
        ),
    ),
    MetricTable(
        "landmarks",
        "Ways to choose landmarks: error over that of uniform ones",
        ("stratified_over_uniform", "kmeans_over_uniform", "leverage_over_uniform"),
        methods=("nystroem",),
        notes=(
            "Root mean square over seeds, median over numbers of landmarks; below 1 is better than uniform. "
            "The clusters are of very uneven sizes, and the rarest are the positive class.",
        ),
    ),
    MetricTable(
        "maps",
        "Feature maps",
        ("cosine_share", "map_speed_up", "nystroem_speed_up", "normals_share"),
        methods=("maps",),
        notes=(
            "Share: the time of one bare matrix product and one vectorised cosine in place over that of "
            "RandomFeatures; above 100 % where cosines taken in cache save more than all else costs. "
            "Normals: the time of as many numbers by numpy.random over that of frequencies and one row of "
            "features.",
        ),
    ),
)
