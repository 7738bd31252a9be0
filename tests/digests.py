"""Fit every solver and estimator on fixed problems, and compare the numbers with those of another version.

    python tests/digests.py new.json                       write digests, and the arrays themselves to new.npz
    python tests/digests.py new.json --compare old.json    ... and list what differs from an earlier run

To compare two commits, run it once with each of them in PYTHONPATH; it uses names that both have. Bits are equal only
for the same machine, BLAS and number of threads: one thread is set here. A digest that differs is reported with its
largest relative difference, max |new - old| / max |old|. pytest does not collect this file.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy is imported

import argparse  # noqa: E402
import hashlib  # noqa: E402
import json  # noqa: E402
import sys  # noqa: E402
import warnings  # noqa: E402
from collections import Counter  # noqa: E402
from functools import partial  # noqa: E402
from pathlib import Path  # noqa: E402

import numpy as np  # noqa: E402
from scipy import sparse  # noqa: E402
from sklearn.base import is_regressor  # noqa: E402
from sklearn.utils.validation import has_fit_parameter  # noqa: E402

import kernbench  # noqa: E402
from kernbench import ROCSVC, ROCSVCCV, KernelSVC, LinearSVC, kernels  # noqa: E402
from kernbench._models import MODELS  # noqa: E402
from kernbench.features import Nystroem, RandomFeatures  # noqa: E402
from kernbench.kernels.rows import KernelRows  # noqa: E402
from kernbench.kernels.threads import single_threaded_blas  # noqa: E402
from kernbench.kernels.two_precisions import TwoPrecisionRows  # noqa: E402
from kernbench.solvers.design import as_design  # noqa: E402
from kernbench.solvers.registry import SOLVERS  # noqa: E402

N, N_TEST, D = 160, 40, 6
STEPS = {"scs": 60, "wolfe": 40, "closed-form": 2, "bundle": 15, "newton": 6, "gradient": 40, "adamax": 40}
FORMS = ("dense32", "dense64", "csr32", "csr64")
METHODS = ("transform", "decision_function", "predict", "log_ratio")


def problem(n_classes=2):
    """Rows with a curved boundary, labels, weights, and rows to predict."""
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(N + N_TEST, D))
    scores = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=len(X))
    y = np.digitize(scores, np.quantile(scores, np.arange(1, n_classes) / n_classes))
    if n_classes == 2:
        y = 2 * y - 1
    weights = rng.uniform(0.3, 3.0, size=N)
    return X[:N], y[:N], weights, X[N:]


def in_form(X, form):
    """Return X dense or as CSR with a third of its entries, in the precision that the name ends with."""
    dtype = np.float32 if form.endswith("32") else np.float64
    if form.startswith("dense"):
        return X.astype(dtype)
    return sparse.csr_matrix(np.where(np.abs(X) > 0.97, X, 0.0).astype(dtype))


def solver_cases():
    """Yield (name, function that returns arrays) for the compiled class of each entry of the registry."""
    X, y, weights, _ = problem()
    for entry in SOLVERS:
        for loss in entry.losses:
            kind = f"{entry.problem}/{entry.name}/{loss}"
            for form in FORMS:
                for variant, settings in variants(entry, weights).items():
                    settings = {**settings, "loss": loss}
                    yield f"{kind}/{form}/{variant}", partial(run, entry, in_form(X, form), y, settings)
            if entry.two_precisions:
                settings = {"loss": loss, "classic_rows": 0}
                yield f"{kind}/two precisions", partial(run, entry, X, y, settings, two_precisions=True)


def variants(entry, weights):
    """Names and settings of the problems that a solver is run on."""
    if entry.kind.first == "rows":
        plain = entry.kind.defaults
        return {
            "bias": {"fit_intercept": True},
            "no bias": {"fit_intercept": False},
            "weights": plain | {"weights": weights},
        }
    if entry.problem == "roc-svm":
        return {
            "all pairs": {},
            "drawn pairs": {"n_pairs": 300},
            "weights": {"weights": weights},
            "kernel": {"as_kernel": True},
        }
    return {"plain": {}, "weights": {"weights": weights}}


def run(entry, X, y, settings, *, two_precisions=False):
    """Do some iterations of one solver; return its result."""
    settings = dict(settings)
    as_kernel = settings.pop("as_kernel", False) or entry.kind.first == "rows"
    data, kernel = X, kernels.Gaussian(2.0)
    if two_precisions:
        data = TwoPrecisionRows(X, kernel, cache_bytes=10**7)
    elif as_kernel:
        data = KernelRows(X, kernel, dtype=X.dtype, cache_bytes=10**7)
    if entry.kind.first == "batches":
        weights = settings.pop("weights", None)
        is_softmax = settings["loss"] == "softmax"
        labels = (y > 0 if is_softmax else y).astype(np.float64)
        data, y = entry.kind.make_data(X, y=labels, weights=weights, batch_size=50), kernel
        settings |= {"n_outputs": 2, "block_size": 16} if is_softmax else {"block_size": 16}
    elif entry.kind.first == "design":
        data = as_design(data)
    solver = entry.load()(data, y, alpha=1 / (3 * N), random_state=0, **settings)
    with single_threaded_blas():
        solver.advance(STEPS.get(entry.name, 10 * N))
        solution = solver.solution()
        return {
            "coef": solution.coef,
            "intercept": solution.intercept,
            "progress": [solver.n_iter, solver.n_kernel_evaluations, solver.objective(), solver.gap()],
        }


def estimator_cases():
    """Yield (name, function that returns arrays) for the classifiers, with each of their solvers."""
    by_problem = {}
    for entry in SOLVERS:
        by_problem.setdefault(entry.problem, []).append(entry)
    for form in FORMS:
        dtype = "float32" if form.endswith("32") else "float64"
        for entry in by_problem["kernel-svm"]:
            for loss in entry.losses:
                model = KernelSVC(solver=entry.name, loss=loss, C=3.0, dtype=dtype, max_iter=60, random_state=0)
                if entry.name == "closed-form":
                    model.set_params(C=0.5 / (3 * N), fit_intercept=False)  # weights are at most 3
                yield f"KernelSVC/{entry.name}/{loss}/{form}", partial(fit, model, form)
        for entry in by_problem["linear-svm"]:
            for loss in entry.losses:
                model = LinearSVC(solver=entry.name, loss=loss, C=3.0, max_iter=300, random_state=0)
                yield f"LinearSVC/{entry.name}/{loss}/{form}", partial(fit, model, form)
        for entry in by_problem["roc-svm"]:
            for features in ("auto", "nystroem", "random", "exact"):
                for loss in ("auto", "squared_hinge", "squared"):
                    model = ROCSVC(
                        "rbf", solver=entry.name, features=features, loss=loss, dtype=dtype, max_iter=20,
                        alpha=0.01, n_landmarks=50 if features == "nystroem" else None,
                        n_features=64 if features == "random" else None, random_state=0,
                    )  # fmt: skip
                    yield f"ROCSVC/{entry.name}/{features}/{loss}/{form}", partial(fit, model, form)
            for pairs in ("all", "n_samples"):
                model = ROCSVC(solver=entry.name, pairs=pairs, max_iter=20, random_state=0)
                yield f"ROCSVC/{entry.name}/linear/{pairs}/{form}", partial(fit, model, form)
        for kernel in ("linear", "rbf"):
            model = ROCSVCCV(kernel, alphas=[1e-3, 1e-2, 0.1], cv=3, random_state=0)
            yield f"ROCSVCCV/{kernel}/{form}", partial(fit, model, form)
        for landmarks in ("uniform", "kmeans", "leverage"):
            model = Nystroem("rbf", 30, landmarks=landmarks, random_state=0)
            yield f"Nystroem/{landmarks}/{form}", partial(fit, model, form)
        for draws in ("iid", "orthogonal", "qmc"):
            model = RandomFeatures("rbf", 64, draws=draws, random_state=0)
            yield f"RandomFeatures/rbf/{draws}/{form}", partial(fit, model, form)
        for kernel in (kernels.Laplacian(1.5), kernels.Polynomial(2, c=1.0), kernels.ArcCosine(1)):
            model = RandomFeatures(kernel, 64, random_state=0)
            yield f"RandomFeatures/{kernel!r}/{form}", partial(fit, model, form)
    for solver in ("smo", "sdca", "scs"):
        for multi_class in ("ovo", "ovr"):
            model = KernelSVC(solver=solver, multi_class=multi_class, max_iter=200, random_state=0)
            yield f"KernelSVC/{solver}/three classes/{multi_class}", partial(fit, model, "dense64", 3)
    model = LinearSVC(random_state=0)
    yield "LinearSVC/three classes", partial(fit, model, "dense64", 3)


def model_cases():
    """Yield (name, function that returns arrays) for each public model, and for settings of a few that others lack."""
    few = {"random_state": 0, "max_iter": 50, "cv": 3}
    for entry in MODELS:
        known = entry.load()().get_params()
        model = entry.load()(**{name: value for name, value in few.items() if name in known})
        for form in FORMS:
            yield f"{entry.name}/as it is/{form}", partial(fit, model, form)
    for name, model in {
        "linear": KernelSVC("linear"),
        "laplacian": KernelSVC("laplacian"),
        "poly": KernelSVC("poly"),
        "an object": KernelSVC(kernels.Gaussian(1.5)),
        "a function": KernelSVC(lambda A, B: A @ B.T),
        "median": KernelSVC(gamma="median", random_state=3),
        "too narrow": KernelSVC(gamma=1e6, max_iter=200),
        "sbp nu": KernelSVC(solver="sbp", random_state=0, max_iter=1024, solver_options={"nu": 0.1}),
        "balanced": KernelSVC(class_weight="balanced"),
        "four jobs": LinearSVC(n_jobs=4, random_state=0),
        "without intercept": LinearSVC(fit_intercept=False, random_state=0),
        "squared": ROCSVC(loss="squared"),
        "threshold": ROCSVC(threshold=("sensitivity", 0.9), threshold_on=0.2, random_state=0),
        "one standard error": ROCSVCCV("rbf", cv=3, random_state=0, selection="1se", n_landmarks=40),
    }.items():
        yield f"{type(model).__name__}/{name}", partial(fit, model, "dense64")
    for model in (KernelSVC("precomputed"), ROCSVC("precomputed")):
        yield repr(model), partial(fit_kernel_matrix, model)


def continued_cases():
    """Yield (name, function that returns arrays) for paths, warm starts and streams."""
    for model in (
        KernelSVC(random_state=0),
        KernelSVC(solver="sdca", max_iter=500, random_state=0),
        LinearSVC(random_state=0),
        ROCSVC("rbf", random_state=0),
        ROCSVC(solver="newton", random_state=0),
    ):
        yield f"path/{model!r}", partial(follow_path, model)
        yield f"warm start/{model!r}", partial(fit_twice, model)
    for dtype in ("float32", "float64"):  # working sets, shrinking; float64 by way of float32 rows
        for loss in ("hinge", "squared_hinge"):
            yield f"many rows/smo/{loss}/{dtype}", partial(fit_many_rows, KernelSVC(loss=loss, dtype=dtype))
    yield "many rows/bundle", partial(fit_many_rows, ROCSVC(random_state=0), 20_000)
    for model in (KernelSVC(solver="scs", random_state=0), ROCSVC(random_state=0), ROCSVC("rbf", random_state=0)):
        yield f"stream/{model!r}", partial(fit_in_parts, model)
    model = KernelSVC(solver="scs", max_iter=30, random_state=0, solver_options={"sample_cap": 80})
    yield f"chunks/{model!r}", partial(fit_in_chunks, model)


def follow_path(model):
    """The models of three regularisations."""
    X, y, _, X_test = problem()
    models = model.path(X, y, [0.3, 1.0, 3.0])
    return {f"{k}: {name}": value for k, model in enumerate(models) for name, value in shown(model, X_test).items()}


def fit_twice(model):
    """The second of two fits, on other weights, from the first one's solution."""
    X, y, weights, X_test = problem()
    model.set_params(warm_start=True).fit(X, y)
    return shown(model.fit(X, y, sample_weight=weights), X_test)


def fit_many_rows(model, n=4000):
    """A fit on rows of 80 columns, enough of them for the paths through the code that small problems do not take."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n + N_TEST, 80))
    y = np.where(X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=len(X)) > 0, 1, -1)
    return shown(model.fit(X[:n], y[:n]), X[n:])


def fit_in_parts(model):
    """A model of four batches."""
    X, y, _, X_test = problem()
    for start in range(0, N, N // 4):
        model.partial_fit(X[start : start + N // 4], y[start : start + N // 4], classes=[-1, 1])
    return shown(model, X_test)


def fit_in_chunks(model):
    """A model of the same batches, read as often as it needs them."""
    X, y, _, X_test = problem()
    chunks = [(X[start : start + N // 4], y[start : start + N // 4]) for start in range(0, N, N // 4)]
    return shown(model.fit_chunks(chunks, classes=[-1, 1]), X_test)


def fit_kernel_matrix(model):
    """A model of the products of the rows."""
    X, y, weights, X_test = problem()
    return shown(model.fit(X @ X.T, y, sample_weight=weights), X_test @ X.T)


def fit(model, form, n_classes=2):
    """A fitted model on rows of a form, with weights where there are two classes and it takes them."""
    X, y, weights, X_test = problem(n_classes)
    if is_regressor(model):
        y = y + X[:, 0]
    X, X_test = in_form(X, form), in_form(X_test, form)
    if hasattr(model, "log_ratio"):
        return shown(model.fit(X, X_test), X_test)
    if n_classes == 2 and has_fit_parameter(model, "sample_weight"):
        return shown(model.fit(X, y, sample_weight=weights), X_test)
    return shown(model.fit(X, y), X_test)


def shown(model, X_test):
    """What a fitted model says of other rows, and its attributes that are numbers or labels."""
    found = {name: getattr(model, name)(X_test) for name in METHODS if hasattr(model, name)}
    for name in dir(model):
        if name.endswith("_") and not name.startswith("_") and name != "refit_time_":
            value = getattr(model, name, None)
            if as_array(value).dtype != object:
                found[name] = value
    return found


def measure(cases, wanted=""):
    """Run the cases whose name contains `wanted`; return {name: {array's name: array}}."""
    results = {}
    for name, function in cases:
        if wanted not in name:
            continue
        if name in results:
            raise ValueError(f"two cases are called {name!r}")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = function()
        except ValueError as error:  # an error is behaviour, too
            found = {"refused": str(error)}
        results[name] = {key: as_array(value) for key, value in found.items()}
    return results


def as_array(value):
    """Return numbers, a sparse matrix, text or None as an array that is saved without pickle."""
    if sparse.issparse(value):
        value = value.toarray()
    if isinstance(value, (list, tuple)):
        value = [np.nan if item is None else item for item in value]
    return np.ascontiguousarray(value)


def digest(array):
    """Return a short hash of an array's type, shape and bytes."""
    text = f"{array.dtype.str}{array.shape}".encode()
    return hashlib.sha256(text + array.tobytes()).hexdigest()[:16]


def write(results, path):
    """Write digests to `path` and arrays beside it."""
    digests = {name: {key: digest(array) for key, array in found.items()} for name, found in results.items()}
    path.write_text(json.dumps(digests, indent=1) + "\n", encoding="utf-8")
    arrays = {f"{name}::{key}": array for name, found in results.items() for key, array in found.items()}
    np.savez_compressed(path.with_suffix(".npz"), **{key.replace("/", "|"): a for key, a in arrays.items()})


def read(path):
    """Return the content of files of `write`, as {name: {key: array}}."""
    results = {}
    with np.load(path.with_suffix(".npz")) as file:
        for joined in file.files:
            name, _, key = joined.replace("|", "/").partition("::")
            results.setdefault(name, {})[key] = file[joined]
    return results


def difference(new, old):
    """Return max |new - old| / max |old|, or None if it is undefined: other shapes, text, NaN."""
    if new.shape != old.shape or new.dtype.kind not in "iufb" or old.dtype.kind not in "iufb":
        return None
    new, old = new.astype(np.float64), old.astype(np.float64)
    if not np.array_equal(np.isfinite(new), np.isfinite(old)):
        return None
    finite = np.isfinite(new)
    largest = np.abs(old[finite]).max(initial=0.0)
    apart = np.abs(new[finite] - old[finite]).max(initial=0.0)
    return apart / largest if largest else apart


def compare(new, old):
    """Return lines that describe the differences, and the number of cases that are in both."""
    lines = [f"only new: {name}" for name in sorted(new.keys() - old.keys())]
    lines += [f"only old: {name}" for name in sorted(old.keys() - new.keys())]
    both = [name for name in new if name in old]
    for name in both:
        for key in dict.fromkeys([*new[name], *old[name]]):
            if key not in new[name] or key not in old[name]:
                lines.append(f"{name}: {key} is in one of them only")
            elif digest(new[name][key]) != digest(old[name][key]):
                apart = difference(new[name][key], old[name][key])
                how = "another shape or text" if apart is None else f"{apart:.2g} relative"
                lines.append(f"{name}: {key} differs, {how}")
    return lines, len(both)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="file of digests to write; its arrays go to the .npz beside it")
    parser.add_argument("--compare", type=Path, metavar="OLD", help="file of digests of another version")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases whose name contains this text")
    options = parser.parse_args(arguments)
    results = measure([*solver_cases(), *estimator_cases(), *model_cases(), *continued_cases()], options.only)
    write(results, options.out)
    kinds = Counter(name.partition("/")[0] for name in results)
    refused = sum("refused" in found for found in results.values())
    print(f"{Path(kernbench.__file__).parent}: {dict(kinds)}, of these {refused} refused")
    if options.compare is None:
        return 0
    old = {name: found for name, found in read(options.compare).items() if options.only in name}
    lines, n_both = compare(results, old)
    print(*lines, f"{n_both} cases in both, {len(lines)} differences", sep="\n")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
