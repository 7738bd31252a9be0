"""The experiment ``primitives``: measurements and sizes, claims, and what the report shows."""

from kernbench.experiments.declare import Bound, Experiment, Method, Scale, Setting
from kernbench.experiments.declare import metrics as m
from kernbench.experiments.ours.primitives.catalogue import CATALOGUE
from kernbench.experiments.ours.primitives.displays import FIGURES, TABLES

HERE = "kernbench.experiments.ours.primitives"
LOADER = f"{HERE}.inputs:load"

METHODS = (
    Method("block", "kernel blocks", "kernbench.kernels.blocks:block", measure=f"{HERE}.blocks:measure"),
    Method(
        "features",
        "random features",
        "kernbench.features:RandomFeatures",
        measure=f"{HERE}.approximation:random_features",
    ),
    Method("draws", "ways to draw", "kernbench.features:RandomFeatures", measure=f"{HERE}.approximation:draws"),
    Method("nystroem", "Nyström", "kernbench.features:Nystroem", measure=f"{HERE}.approximation:nystroem"),
    Method("maps", "feature maps", "kernbench.features:RandomFeatures", measure=f"{HERE}.rates:feature_maps"),
    Method("threads", "threads", "kernbench.kernels.blocks:block", measure=f"{HERE}.rates:threads"),
)


def _kernel_setting(entry, sizes):
    """The data set of a kernel: rows of its kind, its blocks, and its features where it has them."""
    methods = ("block",) + (("features",) if entry.forms else ())
    if entry.name == "gaussian":
        methods += ("draws",)
    return Setting(
        entry.name,
        {"kind": entry.rows, "n_rows": sizes["n_rows"], "n_columns": sizes["n_columns"]},
        {
            "kernel": entry.name,
            "shapes": sizes["product_shapes"] if entry.product else sizes["loop_shapes"],
            "seconds": sizes["seconds"],
            "n_features": sizes["n_features"],
            "n_seeds": sizes["n_seeds"],
        },
        LOADER,
        label=entry.label,
        methods=methods,
    )


def _settings(**sizes):
    clusters = Setting(
        "clusters",
        {"kind": "clusters", "n_rows": sizes["n_cluster_rows"], "n_columns": sizes["n_columns"]},
        {"kernel": "gaussian", "n_landmarks": sizes["n_landmarks"], "n_seeds": sizes["n_cluster_seeds"]},
        LOADER,
        label="Gaussian on clusters",
        methods=("nystroem",),
    )
    large = Setting(
        "gaussian-large",
        {"kind": "points", "n_rows": sizes["n_large_rows"], "n_columns": 50},
        {
            "kernel": "gaussian",
            "n_features": sizes["n_large_features"],
            "n_landmarks": sizes["n_large_landmarks"],
            "n_block_rows": sizes["n_block_rows"],
            "seconds": sizes["large_seconds"],
        },
        LOADER,
        label="Gaussian",
        methods=("maps", "threads"),
    )
    return (*(_kernel_setting(entry, sizes) for entry in CATALOGUE), clusters, large)


QUICK = Scale(
    settings=_settings(
        n_rows=128,
        n_columns=8,
        product_shapes=[[1024, 64], [1024, 256]],
        loop_shapes=[[512, 64]],
        seconds=0.1,
        n_features=[16, 64, 256, 1024, 4096],
        n_seeds=20,
        n_cluster_seeds=5,
        n_cluster_rows=400,
        n_landmarks=[5, 10, 20, 40, 80],
        n_large_rows=2000,
        n_large_features=1024,
        n_large_landmarks=128,
        n_block_rows=1024,
        large_seconds=0.5,
    ),
    repeats=1,
    time_limit=120.0,
    memory_limit=4 * 2**30,
)

PAPER = Scale(
    settings=_settings(
        n_rows=1000,
        n_columns=8,
        product_shapes=[[4096, 64], [4096, 256]],
        loop_shapes=[[1024, 64]],
        seconds=0.5,
        n_features=[16, 32, 64, 128, 256, 512, 1024, 2048, 4096],
        n_seeds=40,
        n_cluster_seeds=10,
        n_cluster_rows=2000,
        n_landmarks=[5, 10, 20, 40, 80, 160, 320],
        n_large_rows=20_000,
        n_large_features=4096,
        n_large_landmarks=512,
        n_block_rows=4096,
        large_seconds=5.0,
    ),
    repeats=3,
    time_limit=600.0,
)


def _share(name, label, **rest):
    return m.percent(name, label, 0.1, "higher", **rest)


def _block_metrics():
    """The rates of a block by precision and number of columns."""
    for dtype in ("float32", "float64"):
        for columns in (64, 256):
            place, name = ("metrics", f"{dtype}-{columns}"), f"{dtype}_{columns}"
            words = dtype if columns == 64 else f"{dtype}, {columns} columns"
            yield _share(f"gemm_share_{name}", f"share of the product, {words}", place=(*place, "gemm_share"))
            yield m.ratio(f"speed_up_{name}", f"speed-up, {words}", place=(*place, "speed_up"))


def _error(name, label, place):
    return m.number(name, label, 1e-3, place=place, deterministic=True)


def _ratios(place, labels):
    """Errors of some choices over that of the plain one."""
    for name, label in labels.items():
        yield _error(f"{name}_{place}", f"error ratio of {label}", ("metrics", place, name))


METRICS = (
    *_block_metrics(),
    m.number("float32_error", "error of float32", 1.0),
    m.number("peer_difference", "difference from the peer", 10.0),
    _error("error", "error at the most features", ("metrics", "error")),
    _error("slope", "slope of the error", ("metrics", "slope")),
    *_ratios("over_iid", {"orthogonal": "orthogonal draws", "qmc": "quasi-random draws", "fastfood": "Fastfood"}),
    *_ratios(
        "over_uniform",
        {"stratified": "stratified landmarks", "kmeans": "k-means landmarks", "leverage": "leverage scores"},
    ),
    _share("cosine_share", "share of product + cosine"),
    m.ratio("map_speed_up", "speed-up over RBFSampler", place=("metrics", "speed_up")),
    m.ratio("nystroem_speed_up", "speed-up over scikit-learn's Nystroem"),
    _share("normals_share", "drawing frequencies: share of NumPy's normals"),
    *(
        m.ratio(f"threads_{name}", f"speed-up by threads, {what}", place=("metrics", "threads", what))
        for name, what in (("block", "K(X, X)"), ("product", "K(X, X) @ a"), ("features", "features of X"))
    ),
    m.PEAK_MEMORY,
)

CLAIMS = (
    Bound(
        "A Gaussian block of 256 columns in float32 takes at most 1.3 times the bare matrix product.",
        "block",
        "gemm_share_float32_256",
        1 / 1.3,
        datasets=("gaussian",),
    ),
    Bound(
        "A Gaussian block of 64 columns in float32 is at least three times as fast as scikit-learn's rbf_kernel.",
        "block",
        "speed_up_float32_64",
        3.0,
        datasets=("gaussian",),
    ),
    Bound(
        "Blocks in float32, on rows of 8 columns, are within 2·10⁻⁶ of the largest value of those in float64.",
        "block",
        "float32_error",
        2e-6,
    ),
    Bound(
        "The error of random features falls at least like the power −0.4 of their number (in theory, −½).",
        "features",
        "slope",
        -0.4,
    ),
    Bound("Orthogonal draws err no more than independent ones.", "draws", "orthogonal_over_iid", 1.0),
    Bound("Landmarks by k-means err no more than uniform ones.", "nystroem", "kmeans_over_uniform", 1.0),
    Bound(
        "Random features take at most 1.3 times one matrix product and one pass of cosines.",
        "maps",
        "cosine_share",
        1 / 1.3,
    ),
)

EXPERIMENT = Experiment(
    name="primitives",
    title="Kernel blocks and feature maps",
    paper="Ours; kernels and features of Dai et al., Scalable Kernel Methods via Doubly Stochastic "
    "Gradients, NIPS 2014, Table 1",
    methods=METHODS,
    scales={"quick": QUICK, "paper": PAPER},
    metrics=METRICS,
    claims=CLAIMS,
    tables=TABLES,
    figures=FIGURES,
    own_data=True,
    note="Errors, those of float32 and those of approximations, are on the rows listed below, of 8 columns. Blocks are "
    "timed on more rows of the same kinds, with 64 and 256 columns. Rates are of one thread, whatever the cells were "
    "given; only the figure of threads uses more. Routines that are compared were called in turn within one process, "
    "and a time is the lower quartile of its calls: other work on the machine only ever adds.",
)
