"""Sets published in the svmlight / LIBSVM text format, most of which are sparse."""

from kernbench.datasets.entry import DatasetEntry
from kernbench.datasets.files.remote import RemoteFile
from kernbench.datasets.readers.svmlight import read_svmlight
from kernbench.datasets.real.preparation import split_by_seed

ADULT_FEATURES = 123  # the last one does not occur in a9a.t
IJCNN_FEATURES = 22
REUTERS_FEATURES = 8315
W8A_FEATURES = 300

_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary"
_TICK = "https://github.com/X-DataInitiative/tick-datasets"


def adult(paths):
    """a9a and a9a.t as published: CSR, float64."""
    return _both(paths, "a9a", "a9a.t", ADULT_FEATURES)


def ijcnn1(paths):
    """The published parts, unscaled, with the validation part among the training rows: dense, float64.

    A row has thirteen nonzero values of 22: CSR would take as much memory, and dense matrix products are much faster.
    """
    X_train, y_train, X_test, y_test = _both(paths, "ijcnn1", "ijcnn1.t", IJCNN_FEATURES)
    return X_train.toarray(), y_train, X_test.toarray(), y_test


def reuters_money_fx(paths):
    """Articles on money and foreign exchange (+1) against the others: CSR, float64, rows of unit length."""
    return _both(paths, "reuters.trn", "reuters.tst", REUTERS_FEATURES)


@split_by_seed(scaled=False)
def w8a(paths):
    """Web pages of one category (+1) against the others, one binary column per keyword: CSR, float64.

    Only the published training part, without w8a.t. Some rows have no keyword. A third of the test rows also occur in
    the training part.
    """
    return read_svmlight(paths["w8a"], n_features=W8A_FEATURES)


def _both(paths, train, test, n_features):
    return *read_svmlight(paths[train], n_features), *read_svmlight(paths[test], n_features)


ENTRIES = (
    DatasetEntry(
        name="adult",
        summary="Adult census income as LIBSVM's a9a and a9a.t, binary: +1 is an income above $50,000.",
        source=f"{_LIBSVM}.html#a9a",
        n_train=32_561,
        n_test=16_281,
        n_features=123,
        layout="CSR float64",
        positive="24.1%",
        build=adult,
        files=(
            RemoteFile("a9a", "f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906", (f"{_LIBSVM}/a9a",)),
            RemoteFile(
                "a9a.t", "1f448a153f0320399a7e40836eb207655b0bde0f21fc941cc472193daa9f5de9", (f"{_LIBSVM}/a9a.t",)
            ),
        ),
    ),
    DatasetEntry(
        name="ijcnn1",
        summary="IJCNN 2001 challenge as LIBSVM's ijcnn1 and ijcnn1.t: +1 is the rare class.",
        source=f"{_LIBSVM}.html#ijcnn1",
        n_train=49_990,
        n_test=91_701,
        n_features=22,
        layout="dense float64",
        positive="9.7%",
        build=ijcnn1,
        files=(
            RemoteFile(
                "ijcnn1", "7fe291672c3fefe6a7e3c51529becd23f0e985ba05ffb8d53c9c648c1e91cc19", (f"{_LIBSVM}/ijcnn1.bz2",)
            ),
            RemoteFile(
                "ijcnn1.t",
                "e7b0bbd518641980dc322746c6bc59d019d3153934e6258e48f9d8cfae2c4bb8",
                (f"{_LIBSVM}/ijcnn1.t.bz2",),
            ),
        ),
    ),
    DatasetEntry(
        name="w8a",
        kind="subset",
        summary="Web pages by keywords, LIBSVM's w8a without w8a.t: +1 is the rare category; seeded stratified split.",
        source=f"{_LIBSVM}.html#w8a",
        n_train=34_824,
        n_test=14_925,
        n_published=64_700,
        n_features=300,
        layout="CSR float64",
        positive="3.0%",
        build=w8a,
        files=(
            RemoteFile("w8a", "6a9fa8fd5f524303240a5db07d4b3d4a51e8b7b4b20a914105d8e3e8c81640f2", (f"{_LIBSVM}/w8a",)),
        ),
    ),
    DatasetEntry(
        name="reuters-money-fx",
        summary="Reuters-21578 (ModApte) as LASVM's money_fx, weighted words: +1 is the topic money-fx.",
        source=f"{_TICK}/tree/master/binary/reuters, from https://leon.bottou.org/projects/lasvm",
        n_train=7_770,
        n_test=3_299,
        n_features=8_315,
        layout="CSR float64",
        positive="6.9%",
        build=reuters_money_fx,
        files=(
            RemoteFile(
                "reuters.trn",
                "caacd2baf041b15b51ab65c0ec2ac834a439a561fb6708427c1c002c10ac7215",
                (f"{_TICK}/raw/master/binary/reuters/reuters.trn.bz2",),
                aliases=("lasvm_reuters_money_fx.trn",),
            ),
            RemoteFile(
                "reuters.tst",
                "6e267dcb1f83c68bcb1c3f30d7a70dd9fe059e1da39b9c191456ff827507539f",
                (f"{_TICK}/raw/master/binary/reuters/reuters.tst.bz2",),
                aliases=("lasvm_reuters_money_fx.tst",),
            ),
        ),
    ),
)
