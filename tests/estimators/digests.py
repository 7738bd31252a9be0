"""Fit every solver through its estimator on fixed problems and print a digest of each fitted attribute.

    python tests/estimators/digests.py > now.txt       # on either commit; then compare the two files with diff

Equal lines mean equal bits. Compare on one machine with one BLAS and the same number of threads only.
"""

import hashlib
import os
import re
import sys
import warnings

import numpy as np
from scipy import sparse

from kernbench import ROCSVC, ROCSVCCV, KernelSVC, LinearSVC
from kernbench.kernels import Gaussian
from kernbench.solvers import registry

RUN = ("trace_", "feature_map_")  # the trace holds seconds; the map's own attributes are digested one by one


def blobs(n, d, n_classes, seed, spread=0.8):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return rng.normal(size=(n_classes, d))[y] + spread * rng.normal(size=(n, d)), y


def digest(value):
    if sparse.issparse(value):
        return digest(np.concatenate([value.data, value.indices, value.indptr]))
    if isinstance(value, np.ndarray) and value.dtype != object:
        return f"{value.dtype}{value.shape} {hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()[:12]}"
    return re.sub(r" at 0x\w+", "", repr(value))


def report(name, model):
    for attribute, value in sorted(vars(model).items()):
        if attribute.endswith("_") and attribute not in RUN:
            print(f"{name:<44} {attribute:<22} {digest(value)}")
    for attribute, value in sorted(vars(getattr(model, "feature_map_", None) or object).items()):
        if attribute.endswith("_") and not attribute.startswith("_"):
            print(f"{name:<44} map.{attribute:<18} {digest(value)}")


def kernel_models():
    two, three, wide = blobs(300, 6, 2, 0), blobs(240, 6, 3, 1, 0.5), blobs(2600, 44, 2, 2, 2.0)
    weights = np.random.default_rng(5).integers(0, 4, size=300).astype(float)
    for entry in registry.SOLVERS:
        if entry.problem != "kernel-svm":
            continue
        name = entry.name
        options = {"solver": name, "random_state": 0, "max_iter": 1024, "fit_intercept": name != "closed-form"}
        for loss in entry.losses:
            yield f"KernelSVC {name} {loss}", KernelSVC(loss=loss, **options), (*two, None)
        yield f"KernelSVC {name} weights", KernelSVC(class_weight="balanced", **options), (*two, weights)
        yield f"KernelSVC {name} three", KernelSVC(**options), (*three, None)
        yield f"KernelSVC {name} against the rest", KernelSVC(multi_class="ovr", **options), (*three, None)
        yield (f"KernelSVC {name} warm", KernelSVC(warm_start=True, **{**options, "max_iter": 256}), (*two, None))
    X, y = three
    positive = abs(X)
    for kernel in ("linear", "laplacian", "poly", "chi2", Gaussian(1.5)):
        yield f"KernelSVC {kernel}", KernelSVC(kernel), (positive, y, None)
    yield "KernelSVC median", KernelSVC(gamma="median", random_state=3), (X, y, None)
    yield "KernelSVC precomputed", KernelSVC("precomputed"), (X @ X.T, y, None)
    yield "KernelSVC callable", KernelSVC(lambda A, B: A @ B.T), (X, y, None)
    yield "KernelSVC sparse", KernelSVC(), (sparse.csr_matrix(np.where(X > 0.3, X, 0)), y, None)
    yield ("KernelSVC sbp nu", KernelSVC(solver="sbp", random_state=0, solver_options={"nu": 0.1}), (*two, None))
    yield "KernelSVC float32 by size", KernelSVC(max_iter=4000), (*wide, None)
    yield "KernelSVC two precisions", KernelSVC(dtype="float64", max_iter=4000), (*wide, None)
    yield "KernelSVC too narrow", KernelSVC(gamma=1e6, max_iter=200), (*wide, None)
    yield "KernelSVC too narrow float64", KernelSVC(gamma=1e6, dtype="float64", max_iter=200), (*wide, None)
    yield "KernelSVC three of many rows", KernelSVC(max_iter=500), (*blobs(3300, 5, 3, 9), None)


def linear_models():
    two, three = blobs(400, 8, 2, 3), blobs(300, 8, 4, 4, 0.5)
    weights = np.random.default_rng(6).integers(0, 4, size=400).astype(float)
    for entry in registry.SOLVERS:
        if entry.problem != "linear-svm":
            continue
        options = {"solver": entry.name, "random_state": 0, "max_iter": 2000}
        for loss in entry.losses:
            yield f"LinearSVC {entry.name} {loss}", LinearSVC(loss=loss, **options), (*two, None)
        yield (f"LinearSVC {entry.name} weights", LinearSVC(class_weight="balanced", **options), (*two, weights))
        yield f"LinearSVC {entry.name} four", LinearSVC(n_jobs=2, **options), (*three, None)
        yield f"LinearSVC {entry.name} warm", LinearSVC(warm_start=True, **options), (*two, None)
    X, y = three
    yield "LinearSVC sparse", LinearSVC(random_state=0), (sparse.csr_matrix(np.where(X > 0.3, X, 0)), y, None)
    yield ("LinearSVC no intercept", LinearSVC(random_state=0, fit_intercept=False, dtype="float32"), (X, y, None))


def ranking_models():
    X, y = blobs(400, 6, 2, 7, 1.5)
    y = y * (np.arange(400) % 5 == 1)
    weights = np.random.default_rng(6).integers(0, 4, size=400).astype(float)
    for entry in registry.SOLVERS:
        if entry.problem != "roc-svm":
            continue
        for loss in entry.losses:
            for kernel in ("linear", "rbf"):
                options = {"solver": entry.name, "random_state": 0, "max_iter": 60, "loss": loss, "kernel": kernel}
                yield f"ROCSVC {entry.name} {loss} {kernel}", ROCSVC(**options), (X, y, None)
        options = {"solver": entry.name, "random_state": 0, "max_iter": 60}
        yield f"ROCSVC {entry.name} weights", ROCSVC(**options), (X, y, weights)
        yield f"ROCSVC {entry.name} pairs", ROCSVC(pairs="n_samples", **options), (X, y, None)
        yield f"ROCSVC {entry.name} warm", ROCSVC(warm_start=True, **{**options, "max_iter": 5}), (X, y, None)
        yield f"ROCSVC {entry.name} nystroem", ROCSVC("rbf", features="nystroem", **options), (X, y, None)
    yield "ROCSVC random", ROCSVC("rbf", features="random", random_state=0), (X, y, None)
    yield "ROCSVC squared", ROCSVC(loss="squared"), (X, y, None)
    yield "ROCSVC squared rbf", ROCSVC("rbf", loss="squared", random_state=0), (X, y, weights)
    yield ("ROCSVC held", ROCSVC(threshold=("sensitivity", 0.9), threshold_on=0.2, random_state=0), (X, y, None))
    yield "ROCSVC precomputed", ROCSVC("precomputed"), (X @ X.T, y, weights)
    yield "ROCSVCCV", ROCSVCCV(cv=3, random_state=0), (X, y, None)
    yield ("ROCSVCCV rbf 1se", ROCSVCCV("rbf", cv=3, random_state=0, selection="1se", n_landmarks=40), (X, y, weights))


def paths():
    X, y = blobs(240, 6, 3, 1, 0.5)
    for name, model in {
        "KernelSVC path": KernelSVC(),
        "KernelSVC path pegasos": KernelSVC(solver="pegasos", max_iter=512, random_state=0),
        "LinearSVC path": LinearSVC(random_state=0, loss="hinge"),
    }.items():
        for one in model.path(X, y, [1.0, 0.1, 10.0]):
            report(f"{name} {one.C:g}", one)
    y = (y == 2).astype(int)
    for kernel in ("linear", "rbf"):
        for solver in ("bundle", "adamax"):
            model = ROCSVC(kernel, solver=solver, random_state=0, pairs="n_samples", max_iter=50, n_landmarks=30)
            for one in model.path(X, y, [1e-3, 1e-1]):
                report(f"ROCSVC path {kernel} {solver} {one.alpha:g}", one)
    for model in ROCSVC(loss="squared").path(X, y, [1e-3, 1e-1]):
        report(f"ROCSVC path squared {model.alpha:g}", model)


def streams():
    X, y = blobs(900, 6, 2, 8, 1.5)
    for name, model in {
        "KernelSVC scs": KernelSVC(solver="scs", random_state=0),
        "ROCSVC": ROCSVC(random_state=0),
        "ROCSVC rbf": ROCSVC("rbf", random_state=0, loss="squared_hinge", n_landmarks=30),
    }.items():
        for start in range(0, 900, 300):
            model.partial_fit(X[start : start + 300], y[start : start + 300], classes=[0, 1])
        report(f"{name} partial_fit", model)
    model = KernelSVC(solver="scs", random_state=0, max_iter=50)
    report("KernelSVC scs chunks", model.fit_chunks([(X[:400], y[:400]), (X[400:], y[400:])]))


def main():
    warnings.simplefilter("ignore")
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        sys.stderr.write("OPENBLAS_NUM_THREADS is not 1: bits may depend on the number of threads\n")
    for models in (kernel_models, linear_models, ranking_models):
        for name, model, (X, y, weights) in models():
            report(name, model.fit(X, y, sample_weight=weights))
            if name.endswith("warm"):
                report(f"{name} again", model.fit(X, y))
                report(f"{name} other rows", model.fit(X[:-7], y[:-7]))
    paths()
    streams()


if __name__ == "__main__":
    main()
