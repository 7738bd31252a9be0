"""The kinds of problem that solvers solve.

The registry, ``kernbench list``, the tests that all solvers of a kind must pass and the benchmarks read it.
"""

from dataclasses import dataclass, field

from kernbench._lazy import load
from kernbench.losses.table import losses_of

TWINS = ("compiled", "reference")


def reference_of(compiled):
    """Return the address of the reference twin of what is at the address `compiled`.

    The package ``reference`` mirrors the package and its ``solvers``, without the underscores of compiled modules:
    ``kernbench.solvers.kernel._sdca`` becomes ``kernbench.reference.kernel.sdca``.
    """
    package, _, path = compiled.replace("._", ".").partition(".")
    return f"{package}.reference.{path.removeprefix('solvers.')}"


def load_twin(compiled, twin="compiled"):
    """Import and return the object at ``compiled``, an address ``"module:name"``, or its reference twin."""
    return load(compiled if twin == "compiled" else reference_of(compiled))


@dataclass(frozen=True)
class Kind:
    """A kind of problem: what its solvers minimise, and what they are made from.

    Attributes
    ----------
    name : str
    estimator : str
        The public estimator that offers its solvers.
    words : str
        A short description of what they minimise.
    first : str
        Name of a solver's first argument: ``"rows"`` of a kernel matrix, a ``"design"`` (features, or a kernel) from
        which scores are computed, or a source of ``"batches"``, which hold labels and weights as well; the kernel is
        then the second argument. A design by default, as the next two.
    options : tuple of str
        Parameters that every solver of this kind takes, besides those of all solvers.
    counts : str
        The attribute of a solver that counts its work: ``"n_kernel_evaluations"``, ``"n_inner_products"`` or
        ``"n_feature_values"``.
    losses : tuple of str
        Names of the losses; a solver may minimise some of them only, and others besides for another kind.
    defaults : dict
        Keywords of its solvers where the defaults of their classes, which serve another kind too, do not fit.
    real_targets : bool
        Whether y holds any numbers, not -1 and +1.
    compiled : str
        ``"module:name"`` of the function that makes the first argument of a compiled solver, from ``(X, kernel)`` and
        the keywords ``dtype`` and ``cache_bytes`` of kernel rows. `kernel` is None for features. A reference solver
        takes what the reference twin of this function makes.
    """

    name: str
    estimator: str
    words: str
    options: tuple
    losses: tuple
    first: str = "design"
    counts: str = "n_inner_products"
    compiled: str = "kernbench.solvers.design:design_of"
    defaults: dict = field(default_factory=dict)
    real_targets: bool = False

    def make_data(self, X, kernel=None, *, twin="compiled", **options):
        """Return the first argument of a solver: the rows of the kernel matrix of X, or a design."""
        return load_twin(self.compiled, twin)(X, kernel, **options)


KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            name="kernel-svm",
            estimator="KernelSVC",
            words="a loss of the margin, with a kernel",
            first="rows",
            options=("fit_intercept", "loss"),
            counts="n_kernel_evaluations",
            losses=losses_of("margin"),
            compiled="kernbench.kernels.rows:KernelRows",
        ),
        Kind(
            name="linear-svm",
            estimator="LinearSVC",
            words="a loss of the margin, on explicit features",
            options=("loss",),
            losses=losses_of("margin"),
        ),
        Kind(
            name="roc-svm",
            estimator="ROCSVC",
            words="a loss of pairs, on features or with a kernel",
            options=("loss", "n_pairs", "balanced"),
            counts="n_kernel_evaluations",
            losses=losses_of("pair"),
        ),
        Kind(
            name="partial-auc",
            estimator="PartialAUCClassifier",
            words="a loss of pairs over a range of false positive rates",
            options=("loss", "fpr_range", "ranks"),
            losses=losses_of("pair"),
        ),
        Kind(
            name="ranked-range",
            estimator="RankedRangeClassifier",
            words="the mean of the losses within a range of ranks",
            options=("loss", "ranked_range"),
            losses=losses_of("rank"),
        ),
        Kind(
            name="auc-margin",
            estimator="AUCMarginClassifier",
            words="the min-max margin loss of the AUC",
            options=("loss", "margin"),
            losses=("auc_margin",),
        ),
        Kind(
            name="doubly-stochastic",
            estimator="DoublyStochasticClassifier",
            words="a loss of an output, with random features of a kernel, on batches of examples",
            first="batches",
            options=("loss", "block_size"),
            counts="n_feature_values",
            losses=losses_of("output"),
            compiled="kernbench.solvers.streaming:batches_of",
        ),
        Kind(
            name="kernel-regression",
            estimator="KernelRegressor",
            words="a loss of the residual, with a kernel",
            first="rows",
            options=("fit_intercept", "loss"),
            counts="n_kernel_evaluations",
            losses=losses_of("residual"),
            compiled="kernbench.kernels.rows:KernelRows",
            defaults={"loss": "squared_error", "fit_intercept": False},
            real_targets=True,
        ),
        Kind(
            name="kernel-nu-svm",
            estimator="KernelNuSVC",
            words="minus the smallest margins, those of the share nu of the weight, with a kernel",
            first="rows",
            options=("loss",),
            counts="n_kernel_evaluations",
            losses=("nu_margin",),
            compiled="kernbench.kernels.rows:KernelRows",
            defaults={"loss": "nu_margin"},
        ),
        Kind(
            name="kernel-nu-regression",
            estimator="KernelNuSVR",
            words="the largest residuals, those of the share nu of the weight, with a kernel",
            first="rows",
            options=("loss",),
            counts="n_kernel_evaluations",
            losses=("nu_residual",),
            compiled="kernbench.kernels.rows:KernelRows",
            defaults={"loss": "nu_residual"},
            real_targets=True,
        ),
        Kind(
            name="kernel-novelty",
            estimator="KernelNoveltyDetector",
            words="scores below a level, which the share nu of the weight falls short of, with a kernel; y is ignored",
            first="rows",
            options=("loss",),
            counts="n_kernel_evaluations",
            losses=("one_class",),
            compiled="kernbench.kernels.rows:KernelRows",
            defaults={"loss": "one_class"},
            real_targets=True,
        ),
        Kind(
            name="linear-regression",
            estimator="LinearRegressor",
            words="a loss of the residual, on explicit features",
            options=("loss",),
            losses=losses_of("residual"),
            defaults={"loss": "squared_error"},
            real_targets=True,
        ),
    )
}
