"""Measured numbers in README.md and docs/, written from the records of the checked-in report.

A page marks the place of a text by ``<!-- numbers: NAME -->`` and ``<!-- /numbers -->``; between them stands what the
function of that name in `TEXTS` returns. ``python docs/_numbers.py`` writes all; a test fails while one differs.
"""

import re
import sys
from math import ceil
from statistics import fmean, median, stdev

from _records import ROOT, Records
from scipy.stats import t

from kernbench.report.statistics import mean_and_error

MARKED = re.compile(r"(<!-- numbers: ([\w-]+) -->\n)(.*?)(<!-- /numbers -->)", re.DOTALL)
SVM = {
    "adult": "Adult, 32,561 × 123, γ = 0.05, C = 1",
    "adult-wide": "Adult, γ = 0.005, C = 100",
    "covtype": "covtype (Forest cover), 50,000 × 54, γ = 0.0075, C = 10",
    "mnist-8-vs-rest": "MNIST 8 against the rest, 60,000 × 784, γ = 0.02, C = 1000",
    "ijcnn1": "ijcnn1, 49,990 × 22, γ = 2, C = 32",
    "w8a": "w8a, 34,824 × 300, γ = 0.05, C = 10",
}
SVC = ("libsvm", "libsvm-tuned")  # with the default cache and with 2 GB
SVM_METHODS = ("libsvm", "libsvm-tuned", "intelex-f32", "intelex-f64", "smo", "smo-f64")


def _significant(value, digits=2):
    return "–" if value is None else f"{float(f'{value:.{digits}g}'):,.10g}"


def _range(values):
    low, high = (f"{end(values):.0f}" for end in (min, max))
    return low if low == high else f"{low} to {high}"


def _mean(values, digits=2):
    """Mean ± standard error in percent, rounded as in the tables of the report."""
    mean, error = mean_and_error(values)
    shown = f"{round(100 * mean, digits) + 0.0:.{digits}f}"  # + 0.0 makes -0 a 0
    return shown if error is None else f"{shown} ± {100 * error:.{digits}f}"


def _repeats(records, places):
    """How often the fits that a table of times shows were measured, a sentence."""
    counts = {len(records.of(*place)) for place in places} - {0}
    return "Each fit once." if counts == {1} else f"Medians of times over {_range(counts)} repeats."


def _table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _svm(records):
    """Seconds of a fit by data set and method, and factors over SVC by data set and cache."""
    seconds = {name: {method: records.seconds("peers-svm", name, method) for method in SVM_METHODS} for name in SVM}
    seconds = {name: row for name, row in seconds.items() if row["smo"] and row["libsvm-tuned"]}
    return seconds, {name: [records.speed_up("peers-svm", name, peer, "smo") for peer in SVC] for name in seconds}


def _gap(records, name, method):
    return max(records.values("peers-svm", name, method, metric="relative_gap").values())


def svm_headline(records):
    """What the README says of speed."""
    seconds, factors = _svm(records)
    n_sets = len({name.removesuffix("-wide") for name in seconds})
    sets = f"{len(seconds)} problems on {n_sets}" if n_sets < len(seconds) else f"{n_sets}"
    machine = records.machine(*(("peers-svm", name, method) for name in seconds for method in (*SVC, "smo")))
    least = [min(factor for factor in found if factor) for found in factors.values()]
    errors = [[records.values("peers-svm", name, m, metric="test_error") for m in ("smo", SVC[0])] for name in seconds]
    apart = max(abs(mine[k] - theirs[k]) for mine, theirs in errors for k in mine.keys() & theirs.keys())
    same = f"test errors at most {ceil(1e4 * apart) / 100:g} points apart" if apart else "equal test errors"
    return (
        f"On {sets} public data sets `KernelSVC` trains **{_range(least)} times faster than scikit-learn's `SVC`** "
        f"with the\nfaster of its default cache and one of 2 GB, with {same} and a certified\nduality gap "
        f"(kernel values in float32, the default for many rows;\n{machine};\n"
        "[table](docs/performance.md)). `ROCSVC` minimises its loss over all pairs of millions of rows, without "
        "drawing pairs.\n"
    )


def svm_table(records):
    """The table of docs/performance.md and what it shows."""
    seconds, factors = _svm(records)
    rows = []
    for name, row in seconds.items():
        ours = f"**{_significant(row['smo'])} / {_significant(row['smo-f64'])}**"
        speed = " / ".join(f"{factor:.0f} ×" if factor else "–" for factor in factors[name])
        pairs = (("intelex-f32", "smo"), ("intelex-f64", "smo-f64"))
        over = [records.speed_up("peers-svm", name, *pair) for pair in pairs]
        intelex = " / ".join(f"{factor:.1f} ×" if factor else "–" for factor in over)
        gaps = " / ".join(f"{_gap(records, name, method):.0e}" for method in ("libsvm-tuned", "smo"))
        shown = [_significant(row[method]) for method in SVM_METHODS[:4]]
        rows.append([SVM[name], shown[0], shown[1], f"{shown[2]} / {shown[3]}", ours, speed, intelex, gaps])
    head = ["task", "`SVC`", "`SVC(cache_size=2000)`", "scikit-learn-intelex, float32 / float64",
            "`KernelSVC`, float32 / float64", "over `SVC`, 200 MB / 2 GB", "over intelex, float32 / float64",
            "relative gap, `SVC` / ours"]  # fmt: skip
    places = [("peers-svm", name, method) for name in seconds for method in SVM_METHODS]
    repeats = {len(records.of(*place)) for place in places} - {0}
    over = f"medians of {_range(repeats)} repeats" if max(repeats) > 1 else "of one repeat"
    note = (
        f"\nSeconds of a fit, `tol=1e-3` in each library's own sense, {over}; "
        f"{records.machine(*places)}. Speed-ups: medians over the repeats that both methods have on one set-up. "
        "A dash: not measured, or not done in the time limit.\n"
    )
    return _table(head, rows) + note


def svm_limits(records):
    """Kernel values for each row and support vector, and what float64 costs, docs/performance.md."""
    rows, names, methods = [], ("ijcnn1", "covtype"), ("smo", "smo-f64", "limit")
    for name in names:
        found = records.of("peers-svm", name, "smo").values()
        values = median(r["n_kernel_evaluations"] / r["metrics"]["n_support"] / r["data"]["n_train"] for r in found)
        seconds = [records.seconds("peers-svm", name, method) for method in methods]
        rows.append([SVM[name], f"{values:.1f}", *(_significant(value) for value in seconds)])
    head = ["task", "values for each row and support vector", "fit in float32, s", "in float64, s", "the rows, s"]
    machine = records.machine(*(("peers-svm", name, method) for name in names for method in methods))
    return f"{_table(head, rows)}\n{machine}.\n"


THREADED = {
    "kernel machines": ("KernelSVC", "KernelNuSVC", "KernelSVR", "KernelNuSVR", "KernelRegressor", "KernelRegressorCV",
                        "KernelNoveltyDetector"),
    "`KernelSVCCV`": ("KernelSVCCV",),
    "doubly stochastic models": ("DoublyStochasticClassifier", "DoublyStochasticRegressor",
                                 "DoublyStochasticGPRegressor", "DoublyStochasticNoveltyDetector",
                                 "DoublyStochasticDensityRatio"),
    "linear models": ("LinearSVC", "LinearSVCCV", "LinearRegressor"),
    "models that rank": ("ROCSVC", "ROCSVCCV", "PartialAUCClassifier", "PartialAUCClassifierCV",
                         "AUCMarginClassifier"),
}  # fmt: skip


def threads(records):
    """How much faster whole fits are with a second thread, docs/performance.md."""
    rows, places = [], []
    for label, names in THREADED.items():
        own = [("scaling", name, "fit") for name in names]
        found = [records.values(*place, metric="thread_speed_up").values() for place in own]
        ends = [f"{end(map(median, found)):.1f}" for end in (min, max)]
        rows.append([label, " to ".join(dict.fromkeys(ends))])
        places += own
    table = _table(["whole fits of", "times as fast with two threads"], rows)
    return f"{table}\nMedians over the repeats of the experiment `scaling`. {records.machine(*places)}.\n"


SEARCHES = {
    "grid-svc": "`GridSearchCV(SVC)`",
    "grid-intelex": "`GridSearchCV`, intelex",
    "grid-kernel": "`GridSearchCV(KernelSVC)`",
    "exact": "`KernelSVCCV`",
    "race": '`search="race"`',
    "halving": '`search="halving"`',
    "halving-svc": "`HalvingGridSearchCV(SVC)`",
    "halving-kernel": "`HalvingGridSearchCV(KernelSVC)`",
}
TUNED = {
    "digits": "digits, 1,297 × 64, ten classes",
    "adult-5000-grid": "Adult, 5,000 × 123",
    "adult-10000-grid": "Adult, 10,000 × 123",
    "w8a-10000-grid": "w8a, 10,000 × 300, sparse",
    "ijcnn1-10000-grid": "ijcnn1, 10,000 × 22",
    "covtype-10000-grid": "covtype, 10,000 × 54",
}


def searches(records):
    """Time to a tuned model, the median, and its mean test error, docs/performance.md."""

    def entry(name, method):
        found = records.values("tuning", name, method, metric="test_error").values()
        if not found:
            return "–"
        return f"{_significant(records.seconds('tuning', name, method))} s, {_mean(list(found))}"

    def repeats(name):
        return _range({len(records.of("tuning", name, method)) for method in SEARCHES} - {0})

    rows = [
        [label, *(entry(name, method) for method in SEARCHES), repeats(name)]
        for name, label in TUNED.items()
        if records.of("tuning", name, "exact")
    ]
    machine = records.machine(*(("tuning", name, method) for name in TUNED for method in SEARCHES))
    return f"{_table(['rows', *SEARCHES.values(), 'repeats'], rows)}\nMedians, and means of errors. {machine}.\n"


def gp_std(records):
    """Errors of mean and variances of the Gaussian process, docs/doubly_stochastic.md."""
    rows = []
    for name, width in (("ridge-2d", "median width"), ("ridge-2d-narrow", "a fifth of it")):
        for method, label in (("default", "variances at points"), ("operator", "those of the operator"),
                              ("half-features", "at points, half the features")):  # fmt: skip
            errors = [records.values("dsg-gp", name, method, metric=f"{what}_error") for what in ("mean", "variance")]
            if errors[0]:
                shown = (_mean(list(found.values()), digits=1) for found in errors)
                rows.append([f"{width}, {label}", *shown, str(len(errors[0]))])
    return _table(["", "mean, %", "variance, %", "repeats"], rows)


LINEAR_WINDOW = {
    "logistic": "logistic regression", "all-pairs": "`ROCSVC`, all pairs, hinge", "svmpauc-tight": "`svmpauc-tight`",
    "dca": "`dca`, one threshold, log_loss", "proximal-dca": "`proximal-dca`, one threshold, log_loss",
    "agd-sbcd-lambdas": "`agd-sbcd`, λs, log_loss", "agd-sbcd": "`agd-sbcd`, one threshold, log_loss",
    "dca-exact": "`dca-exact`, log_loss", "dca-exact-hinge": "`dca-exact`, hinge",
    "boosted-trees": "HistGradientBoosting, not linear", "lightgbm": "LightGBM, not linear",
    "libauc-sopas": "LibAUC, `SOPAs`",
}  # fmt: skip
WINDOW_SETS = ("adult", "ijcnn1", "w8a")


def window_table(records):
    """Partial AUC on fresh rows, docs/performance.md."""

    def entry(name, method):
        found = list(records.values("pauc-test", name, method, metric="test_pauc").values())
        return f"{_mean(found)} ({len(found)})" if found else "–"

    rows = [[label, *(entry(name, method) for name in WINDOW_SETS)] for method, label in LINEAR_WINDOW.items()]
    return _table(["", *WINDOW_SETS], rows)


def window_differences(records):
    """Differences on the same splits, docs/performance.md."""

    def difference(name, method, other):
        mine, theirs = (records.values("pauc-test", name, m, metric="test_pauc") for m in (method, other))
        common = sorted(mine.keys() & theirs.keys())
        return f"{_mean([mine[k] - theirs[k] for k in common])} ({len(common)})" if common else "–"

    pairs = [(name, "logistic") for name in ("svmpauc-tight", "agd-sbcd-lambdas", "dca-exact", "lightgbm")]
    pairs += [(name, "libauc-sopas") for name in ("svmpauc-tight", "agd-sbcd-lambdas")]
    rows = [
        [f"{LINEAR_WINDOW[a]} less {LINEAR_WINDOW[b]}", *(difference(name, a, b) for name in WINDOW_SETS)]
        for a, b in pairs
    ]
    return _table(["", *WINDOW_SETS], rows)


CATS = {
    "cross-entropy": "cross-entropy", "cross-entropy-balanced": "cross-entropy, balanced", "agd-sbcd": "AGD-SBCD",
    "auc-margin": "AUC margin", "minibatch": "mini-batch", "libauc-cvar": "LibAUC, CVaR on [0, 0.5]",
    "libauc-aucm": "LibAUC, AUC-M", "pixel-logistic": "logistic regression on pixels",
}  # fmt: skip


def deep_cats(records):
    """Networks on few cats: partial AUC of test images, docs/deep.md."""
    return _networks(records, "cifar10-lt-subset", CATS, digits=1)


def deep_resnet(records):
    """ResNet-20 on long-tailed MNIST: partial AUC of test images, docs/deep.md."""
    names = ("cross-entropy", "cross-entropy-balanced", "agd-sbcd", "auc-margin", "minibatch")
    return _networks(records, "mnist-lt-resnet20", {name: CATS[name] for name in names}, digits=2)


def _networks(records, dataset, methods, digits):
    found = [records.values("pauc-deep", dataset, name, metric="test_pauc").values() for name in methods]
    means = [_mean(list(values), digits=digits) if values else "–" for values in found]
    table = _table(list(methods.values()), [means])
    fewest, most = (end(map(len, found)) for end in (min, max))
    told = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    return table if fewest == 5 else f"Repeats: {told} of the 5 declared.\n\n{table}"


def deep_map(records):
    """Networks by number of positives and range: partial AUC of test images, docs/deep.md."""
    rows = []
    for n_positive in (10, 30, 100):
        for end in ("0.01", "0.05", "0.5"):
            found = {
                name: records.values("pauc-deep", f"mnist-{n_positive}-of-{end}", name, metric="test_pauc")
                for name in ("cross-entropy", "cross-entropy-balanced", "minibatch", "agd-sbcd")
            }
            plain, balanced, window, _ = found.values()
            common = plain.keys() & balanced.keys() & window.keys()
            if len(common) < 2:
                continue
            gains = [[window[k] - other[k] for k in sorted(common)] for other in (plain, balanced)]
            means = [_mean(list(values.values()), digits=1) for values in found.values()]
            rows.append([str(n_positive), f"[0, {end}]", *means, *(_interval(gain) for gain in gains)])
    head = ["positives", "range", "cross-entropy", "cross-entropy, balanced", "mini-batch", "AGD-SBCD"]
    return _table([*head, "mini-batch less cross-entropy", "less balanced"], rows)


def _interval(values, factor=100.0):
    """The 95 % interval of a mean by Student's t."""
    centre, half = factor * fmean(values), factor * t.ppf(0.975, len(values) - 1) * stdev(values) / len(values) ** 0.5
    return f"{centre - half:.1f} to {centre + half:.1f}"


def window_training(records):
    """Seconds and training pAUC of the solvers, docs/performance.md."""
    methods = {"svmpauc-tight": "`svmpauc-tight`, plain", "svmpauc-tight-ours": "`svmpauc-tight`",
               "agd-sbcd": "`agd-sbcd`, λs", "agd-sbcd-threshold": "`agd-sbcd`, one threshold",
               "dca-exact": "`dca-exact`"}  # fmt: skip
    sets = ("ijcnn1", "w8a", "mnist-8-vs-rest", "edema-stand-in")

    def entry(name, method):
        found = records.values("pauc-train", name, method, metric="train_pauc")
        if not found:
            return "–"
        return f"{_significant(records.seconds('pauc-train', name, method))} s, {_mean([median(found.values())])}"

    table = _table(["set", *methods.values()], [[name, *(entry(name, m) for m in methods)] for name in sets])
    counts = {name: {len(records.of("pauc-train", name, method)) for method in methods} - {0} for name in sets}
    repeats = ", ".join(f"{_range(found)} of {name}" for name, found in counts.items() if found)
    machine = records.machine(*(("pauc-train", name, method) for name in sets for method in methods))
    return f"{table}\nMedians; repeats: {repeats}. {machine}.\n"


def one_pass(records):
    """Test errors after one pass or 100 batches, docs/doubly_stochastic.md."""
    averaged = "steps of 1, averaged tail"
    large = f"batches of 8,192, blocks of 2,048, damping 1e-6, {averaged}"
    cells = (
        ("dsg-svm", "adult", "doubly", "Adult, default"),
        ("dsg-svm", "adult", "doubly-64", "Adult, the paper's setting: batches of 64, blocks of 32, averaged tail"),
        ("dsg-svm", "mnist-8-vs-6", "doubly", "MNIST's 8 against 6, 50 principal components"),
        ("dsg-svm", "forest", "doubly", "Forest cover, 522,910 rows, 0.3 times the median distance"),
        ("dsg-svm", "forest", "doubly-large-sharp", f"Forest cover, 0.3 times the median distance, {large}"),
        ("dsg-svm", "forest-median", "doubly", "Forest cover, the median distance"),
        ("dsg-svm", "forest-median", "doubly-sharp", f"Forest cover, the median distance, damping 1e-5, {averaged}"),
        ("dsg-svm", "forest-median", "doubly-large-sharp", f"Forest cover, the median distance, {large}"),
        ("dsg-svm", "forest-median", "minimum", "Forest cover, the median distance: the exact model, `KernelSVC`"),
        ("dsg-multiclass", "mnist", "doubly", "MNIST, ten classes, softmax"),
        ("dsg-multiclass", "mnist", "sampler-sgd", "MNIST: scikit-learn's `RBFSampler` with SGD, equal time"),
        ("dsg-multiclass", "mnist", "kernel-svc", "MNIST: `KernelSVC`"),
        ("dsg-multiclass", "mnist", "nystroem", "MNIST: `Nystroem` of 1,000 landmarks with `LinearSVC`"),
        ("dsg-multiclass", "mnist", "svc", "MNIST: scikit-learn's `SVC`"),
    )
    rows = []
    for *place, label in cells:
        errors = list(records.values(*place, metric="test_error").values())
        if errors:
            is_ours = place[-1].startswith("doubly")  # iterations of the others are not rows or batches
            seen = f"{fmean(records.values(*place, metric='passes').values()):.1f}" if is_ours else "–"
            rows.append([label, _mean(errors), seen, f"{_significant(records.seconds(*place))} s", str(len(errors))])
    table = _table(["", "test error, %", "passes", "time of the fit", "repeats"], rows)
    return f"{table}\n{records.machine(*(place for *place, _ in cells))}.\n"


def batches(records):
    """Errors of small batches and of many passes beside the default's, docs/doubly_stochastic.md."""
    sets = {
        "adult": "Adult",
        "w8a": "w8a",
        "ijcnn1": "ijcnn1",
        "magic": "MAGIC",
        "mnist-8-vs-6": "MNIST's 8 against 6",
        "covtype": "Forest cover, 20,000 rows",
    }
    heads = {
        "default": "default",
        "small": "batches of 64, blocks of 32",
        "smaller": "batches of 64, blocks of 16",
        "no-window": "batches of 64, blocks of 32, no window",
        "many": "3,000 steps",
    }
    rows = []
    for name, label in sets.items():
        cells = []
        for method in heads:
            found = list(records.values("dsg-batches", name, method, metric="test_error").values())
            cells.append(_mean(found) if found else "–")
        rows.append([label, *cells])
    places = [("dsg-batches", name, method) for name in sets for method in heads]
    found = {name: [records.speed_up("dsg-batches", each, name, "default") for each in sets] for name in heads}
    small, many = ([factor for factor in found[name] if factor] for name in ("small", "many"))
    if not (small and many):
        return "There are no records of `dsg-batches` in the report.\n"
    table = _table(["test error, %", *heads.values()], rows)
    return (
        f"{table}\n{records.machine(*places)}. Batches of 64 with blocks of 32 take {_range(small)} times as long as "
        f"the default, 3,000 steps {_range(many)} times.\n"
    )


def lenet(records):
    """A network, and methods on its features, docs/doubly_stochastic.md."""
    methods = {
        "lenet": "LeNet, trained as a whole",
        "lenet-top": "two fully connected layers",
        "lenet-doubly": "doubly stochastic, the paper's ν and width",
        "lenet-doubly-alpha": "the same with `alpha=1e-6`",
        "lenet-doubly-median": "the same with `alpha=1e-6`, the median distance as width",
        "lenet-kernel-svc": "`KernelSVC`",
    }
    datasets = {"mnist-lenet": "MNIST, 60,000 rows", "mnist-deformed-lenet": "400,000 deformed digits"}
    rows = []
    for method, label in methods.items():
        row = [label]
        for dataset in datasets:
            place = ("dsg-multiclass", dataset, method)
            errors = list(records.values(*place, metric="test_error").values())
            row += [_mean(errors), f"{_significant(records.seconds(*place))} s"] if errors else ["–", "–"]
        rows.append(row)
    header = ["", *(name for label in datasets.values() for name in (f"{label}: error, %", "time"))]
    cells = [("dsg-multiclass", dataset, method) for dataset in datasets for method in methods]
    return f"{_table(header, rows)}\n{_repeats(records, cells)} {records.machine(*cells)}.\n"


def workers(records):
    """Fits over an array, files and workers, docs/distributed.md."""
    methods = {
        "array": "one array",
        "files": "files",
        "one-worker": "one worker",
        "two-workers": "two workers",
        "logistic": "dask-ml's `LogisticRegression`, two workers",
        "incremental": "dask-ml's `Incremental` SGD",
    }
    place = ("distributed", "linear")
    rows = [
        [label, f"{_significant(records.seconds(*place, name))} s",
         f"{100 * fmean(records.values(*place, name, metric='auc').values()):.2f}"]
        for name, label in methods.items() if records.of(*place, name)
    ]  # fmt: skip
    table = _table(["4 million × 50, float32", "time of the fit", "AUC, %"], rows)
    places = [(*place, name) for name in methods]
    return f"{table}\n{_repeats(records, places)} {records.machine(*places)}.\n"


TEXTS = {
    "svm-headline": svm_headline,
    "svm-table": svm_table,
    "svm-limits": svm_limits,
    "searches": searches,
    "threads": threads,
    "gp-std": gp_std,
    "window-table": window_table,
    "window-differences": window_differences,
    "window-training": window_training,
    "deep-cats": deep_cats,
    "deep-map": deep_map,
    "deep-resnet": deep_resnet,
    "one-pass": one_pass,
    "batches": batches,
    "lenet": lenet,
    "workers": workers,
}


def pages():
    """The pages that may hold marks."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def filled(text, records):
    """A page's text with its numbers from the records; KeyError for a mark of another name."""
    return MARKED.sub(lambda found: found[1] + TEXTS[found[2]](records) + found[4], text)


def main():
    """Write the numbers into all pages; print those that changed."""
    records = Records()
    for page in pages():
        text = page.read_text(encoding="utf-8")
        new = filled(text, records)
        if new != text:
            page.write_text(new, encoding="utf-8")
            print(page.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
