"""Every data set, listed once: what it is, where it comes from and which function builds it."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field

from kernbench._names import unknown_name
from kernbench.datasets import generators, generators_sparse, real
from kernbench.datasets.storage import RemoteFile

_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary"
_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
_MNIST = ("https://ossci-datasets.s3.amazonaws.com/mnist", "http://yann.lecun.com/exdb/mnist")


@dataclass(frozen=True)
class DatasetEntry:
    """One data set as it stands in the list; printing it gives a readable account.

    Attributes
    ----------
    name : str
    kind : {"full", "generated", "bundled"}
        As in :class:`~kernbench.datasets.Dataset`.
    summary : str
    source : str
    n_train, n_test : int
        Sizes of the whole set; for a generated one the sizes drawn by default.
    n_features : int
    layout : {"dense float32", "dense float64", "CSR float64"}
    positive : str
        Share of +1 in the training part, as text.
    files : tuple of RemoteFile
        What a real set is read from.
    """

    name: str
    kind: str
    summary: str
    source: str
    n_train: int
    n_test: int
    n_features: int
    layout: str
    positive: str
    build: Callable = field(repr=False)
    files: tuple = ()

    @property
    def options(self):
        """Keyword arguments of `load` beyond sizes and seed, with their defaults."""
        parameters = inspect.signature(self.build).parameters.values()
        return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}

    def __str__(self):
        lines = [
            f"{self.name} ({self.kind}): {self.summary}",
            f"  {self.n_train:,} training and {self.n_test:,} test examples, {self.n_features:,} features, "
            f"{self.layout}, {self.positive} positive",
            f"  source: {self.source}",
        ]
        if self.options:
            lines.append(
                "  options: " + ", ".join(f"{name}={value!r}" for name, value in self.options.items())
            )
        if self.files:
            lines.append("  files: " + ", ".join(file.name for file in self.files))
        return "\n".join(lines)


def _generated(name, build, summary, **facts):
    source = f"kernbench.datasets.{build.__module__.rpartition('.')[2]}.{build.__name__}"
    return DatasetEntry(name=name, kind="generated", summary=summary, source=source, build=build, **facts)


def _mnist_file(name, checksum):
    return RemoteFile(name, checksum, tuple(f"{origin}/{name}.gz" for origin in _MNIST))


DATASETS = (
    _generated(
        "blobs",
        generators.blobs,
        "Two overlapping Gaussians; the best classifier is linear.",
        n_train=2000,
        n_test=2000,
        n_features=10,
        layout="dense float64",
        positive="50%",
    ),
    _generated(
        "moons",
        generators.moons,
        "Two interleaving half circles in the plane, with Gaussian noise.",
        n_train=2000,
        n_test=2000,
        n_features=2,
        layout="dense float64",
        positive="50%",
    ),
    _generated(
        "checkerboard",
        generators.checkerboard,
        "Squares of two colours in the plane, some labels flipped; no linear classifier beats chance.",
        n_train=2000,
        n_test=2000,
        n_features=2,
        layout="dense float64",
        positive="50%",
    ),
    _generated(
        "rings",
        generators.rings,
        "Two concentric rings in the plane, with noise on the radius.",
        n_train=2000,
        n_test=2000,
        n_features=2,
        layout="dense float64",
        positive="50%",
    ),
    _generated(
        "sparse-text",
        generators_sparse.sparse_text,
        "Generated stand-in for text: unit rows of weighted word counts, word frequencies after Zipf's law.",
        n_train=4000,
        n_test=4000,
        n_features=5000,
        layout="CSR float64",
        positive="20%",
    ),
    _generated(
        "adult-like",
        generators_sparse.adult_like,
        "Generated stand-in of the shape of Adult (a9a), not Adult: fourteen one-hot encoded attributes.",
        n_train=4000,
        n_test=4000,
        n_features=123,
        layout="CSR float64",
        positive="about 24%",
    ),
    DatasetEntry(
        name="breast-cancer",
        kind="bundled",
        summary="Breast Cancer Wisconsin (Diagnostic): +1 is malignant; seeded stratified split.",
        source="sklearn.datasets.load_breast_cancer, from https://archive.ics.uci.edu/dataset/17",
        n_train=400,
        n_test=169,
        n_features=30,
        layout="dense float64",
        positive="37.3%",
        build=real.breast_cancer,
    ),
    DatasetEntry(
        name="adult",
        kind="full",
        summary="Adult census income as LIBSVM's a9a and a9a.t, binary: +1 is an income above $50,000.",
        source="https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary.html#a9a",
        n_train=32561,
        n_test=16281,
        n_features=123,
        layout="CSR float64",
        positive="24.1%",
        build=real.adult,
        files=(
            RemoteFile(
                "a9a",
                "f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906",
                (f"{_LIBSVM}/a9a",),
            ),
            RemoteFile(
                "a9a.t",
                "1f448a153f0320399a7e40836eb207655b0bde0f21fc941cc472193daa9f5de9",
                (f"{_LIBSVM}/a9a.t",),
            ),
        ),
    ),
    DatasetEntry(
        name="covtype",
        kind="full",
        summary="Forest cover types: +1 is type 2 (lodgepole pine), -1 the rest; seeded stratified split.",
        source="https://archive.ics.uci.edu/dataset/31/covertype",
        n_train=522910,
        n_test=58102,
        n_features=54,
        layout="dense float32",
        positive="48.8%",
        build=real.covtype,
        files=(
            RemoteFile(
                "covtype.data",
                "0a9371cef7c964b5475d6053cc3e0894a5aa6f65ad1ed3ecb01c45aa96217945",
                (f"{_UCI}/covtype/covtype.data.gz",),
            ),
        ),
    ),
    DatasetEntry(
        name="mnist-8-vs-rest",
        kind="full",
        summary="Handwritten digits, pixels divided by 255: +1 is the digit 8, -1 the rest.",
        source="http://yann.lecun.com/exdb/mnist/",
        n_train=60000,
        n_test=10000,
        n_features=784,
        layout="dense float32",
        positive="9.8%",
        build=real.mnist_8_vs_rest,
        files=(
            _mnist_file(
                "train-images-idx3-ubyte", "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"
            ),
            _mnist_file(
                "train-labels-idx1-ubyte", "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"
            ),
            _mnist_file(
                "t10k-images-idx3-ubyte", "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"
            ),
            _mnist_file(
                "t10k-labels-idx1-ubyte", "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"
            ),
        ),
    ),
)


def get(name):
    """The entry called `name`; ValueError with the nearest name if there is none."""
    for entry in DATASETS:
        if entry.name == name:
            return entry
    raise ValueError(unknown_name("data set", name, [entry.name for entry in DATASETS]))
