"""Sets published in the svmlight / LIBSVM text format, most of them sparse."""

from kernbench.datasets.entry import DatasetEntry
from kernbench.datasets.storage import RemoteFile
from kernbench.datasets.svmlight import read_svmlight

ADULT_FEATURES = 123  # the last one never occurs in a9a.t

_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary"


def adult(paths):
    """a9a and a9a.t as published: CSR, float64."""
    X_train, y_train = read_svmlight(paths["a9a"], n_features=ADULT_FEATURES)
    X_test, y_test = read_svmlight(paths["a9a.t"], n_features=ADULT_FEATURES)
    return X_train, y_train, X_test, y_test


ENTRIES = (
    DatasetEntry(
        name="adult",
        kind="full",
        summary="Adult census income as LIBSVM's a9a and a9a.t, binary: +1 is an income above $50,000.",
        source=f"{_LIBSVM}.html#a9a",
        n_train=32561,
        n_test=16281,
        n_features=123,
        layout="CSR float64",
        positive="24.1%",
        build=adult,
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
)
