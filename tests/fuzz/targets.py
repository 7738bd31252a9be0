"""What is fed with whatever: each target draws an input and passes, or fails with anything but a sentence.

``tests/fuzz/test_fuzz.py`` runs each target on a few inputs in the suite, ``tools/fuzz`` for as long as one likes.

* ``data_files``: damaged data files are read, whole and in chunks, or refused by a `DataFileError` that names the file.
* ``model_files``: changed model files are refused by a `ValueError`, or the model predicts, or refuses to.
* ``kernels``: kernel matrices of any numbers are what NumPy gives, up to the rounding of the largest, or are refused.
* ``estimators``: models of any numbers and parameters score finitely, or are refused.
* ``command_line``: any words after ``kernbench`` end in 0 or 2, or for ``doctor`` in 1 where it finds a fault,
  and never in a traceback or an internal error.
"""

import contextlib
import io
import json
import re
import tempfile
import warnings
import zipfile
from pathlib import Path

import numpy as np
from click.testing import CliRunner
from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from kernbench import load
from kernbench._models import ESTIMATORS
from kernbench.datasets import DataFileError, chunks, read_file
from kernbench.kernels import functions

CORPUS = Path(__file__).parent / "corpus"
SEEDS = {kind: sorted((CORPUS / kind).iterdir()) for kind in ("data", "models")}

# Where readers and compiled loops have their edges.
NUMBERS = (0.0, -0.0, 1.0, -1.0, 0.1, 1e-300, 1e-40, 1e-8, 1e8, 1e19, 1e38, 1e154, 1e300, np.inf, -np.inf, np.nan)
TOKENS = (
    *(b"nan", b"inf", b"-1", b"1e999", b"0x1", b"99999999999", b"qid:1"),
    *(b":", b",", b";", b'"', b"#", b"{", b"}", b"\n", b"\r", b"\t", b" ", b"\0"),
    *(b"\xff\xfe", b"PK\x05\x06", b"\x93NUMPY"),
)


def _damaged(draw, content):
    """Return the bytes with up to eight changes: other bytes, tokens inserted, parts left out or said twice."""
    content = bytearray(content)
    for _ in range(draw(st.integers(0, 8))):
        at = draw(st.integers(0, len(content)))
        kind = draw(st.sampled_from(("byte", "token", "cut", "twice", "end")))
        if kind == "byte" and at < len(content):
            content[at] = draw(st.integers(0, 255))
        elif kind == "token":
            content[at:at] = draw(st.sampled_from(TOKENS))
        elif kind == "cut":
            del content[at : at + draw(st.integers(1, 40))]
        elif kind == "twice":
            content[at:at] = content[at : at + draw(st.integers(1, 40))]
        elif kind == "end":
            del content[at:]
    return bytes(content)


def data_files(draw):
    seed = draw(st.sampled_from(SEEDS["data"]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("damaged" + "".join(seed.suffixes))
        path.write_bytes(_damaged(draw, seed.read_bytes()))
        in_chunks = [] if ".npz" in path.suffixes else [lambda path: list(chunks(path, 3))]
        for read in (read_file, *in_chunks):
            try:
                read(path)
            except DataFileError as problem:
                assert "damaged" in str(problem), f"the message does not name the file: {problem}"


def _members(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _changed(draw, value):
    """Return the JSON value with one of its parts replaced."""
    odd = st.sampled_from((None, True, -1, 0, 2**70, 1e308, "", "KernelSVC", [], {}, [[1]], {"$array": "nothing"}))
    if isinstance(value, dict) and value and draw(st.booleans()):
        name = draw(st.sampled_from(sorted(value)))
        return {**value, name: _changed(draw, value[name])}
    if isinstance(value, list) and value and draw(st.booleans()):
        at = draw(st.integers(0, len(value) - 1))
        return [*value[:at], _changed(draw, value[at]), *value[at + 1 :]]
    return draw(odd)


def _other_array(draw, array):
    kind = draw(st.sampled_from(("dtype", "shape", "cut", "value")))
    if kind == "dtype":
        other = draw(st.sampled_from(("f4", "f8", "i1", "i8", "u1", "?", "c16")))
        with np.errstate(all="ignore"):
            return array.astype(other) if array.dtype.kind in "fiub" else array
    if kind == "shape":
        return array.reshape(-1)[: draw(st.integers(0, array.size))].reshape(
            draw(st.sampled_from(((-1,), (1, -1), (-1, 1))))
        )
    if kind == "cut":
        return array[: draw(st.integers(0, len(array)))] if array.ndim else array
    array = array.copy()
    if array.size and array.dtype.kind in "fiu":
        with np.errstate(all="ignore"):
            array.reshape(-1)[draw(st.integers(0, array.size - 1))] = np.array(draw(st.sampled_from(NUMBERS))).astype(
                array.dtype
            )
    return array


def model_files(draw):
    seed = draw(st.sampled_from(SEEDS["models"]))
    members = _members(seed)
    for _ in range(draw(st.integers(1, 3))):
        name = draw(st.sampled_from(sorted(members)))
        array = np.load(io.BytesIO(_members(seed)[name]))
        if name == "header.npy" and draw(st.booleans()):
            array = np.array(json.dumps(_changed(draw, json.loads(str(array)))))
        elif name != "header.npy":
            array = _other_array(draw, array)
        changed = io.BytesIO()
        np.save(changed, array)
        members[name] = _damaged(draw, changed.getvalue()) if draw(st.integers(0, 4)) == 0 else changed.getvalue()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "changed.npz"
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                model = load(path)
                X = np.linspace(-1, 1, 3 * getattr(model, "n_features_in_", 2)).reshape(3, -1)
                model.predict(X) if hasattr(model, "predict") else model.transform(X)
            except ValueError:
                return  # refused, when it is read or when its parts do not fit each other


def _numbers(draw, shape):
    plain = st.floats(-3, 3, width=32)
    odd = st.sampled_from(NUMBERS)
    return draw(arrays_of.arrays(np.float64, shape, elements=plain if draw(st.booleans()) else st.one_of(plain, odd)))


KERNELS = ("Gaussian", "Laplacian", "Linear", "Polynomial", "Sigmoid")


def _plain(name, X, Z):
    """Return a kernel matrix by its formula, and what its rounding errors are a multiple of."""
    products, size = X @ Z.T, np.abs(X) @ np.abs(Z).T
    differences = X[:, None] - Z
    # Entries are rounded when the centre is subtracted from them.
    largest = np.full_like(products, 1.0 + max(np.abs(X).max(), np.abs(Z).max()))
    return {
        "Gaussian": (np.exp(-0.5 * (differences**2).sum(axis=2)), largest),
        "Laplacian": (np.exp(-np.abs(differences).sum(axis=2)), largest),
        "Linear": (products, size),
        "Polynomial": ((products + 1.0) ** 3, (size + 1.0) ** 3),
        "Sigmoid": (np.tanh(products), size + 1.0),
    }[name]


def kernels(draw):
    n, m, d = (draw(st.integers(1, 6)) for _ in range(3))
    X, Z = _numbers(draw, (n, d)), _numbers(draw, (m, d))
    assume(np.isfinite(X).all() and np.isfinite(Z).all())
    name, rows = draw(st.sampled_from(KERNELS)), np.vstack([X, Z])
    kernel = getattr(functions, name)()
    with np.errstate(all="ignore"):
        try:
            together, apart = kernel(rows), kernel(X, Z)
        except ValueError as problem:
            assert "too large" in str(problem) and np.abs(rows).max() > 1e150
            return
        expected, size = _plain(name, rows, rows)
    assert together.shape == (n + m, n + m) and apart.shape == (n, m)
    within = np.isfinite(expected) & np.isfinite(size)  # terms that overflow may cancel to anything
    error = 1e-14 * size + 1e-300
    everywhere, corner = np.s_[:, :], np.s_[:n, n:]
    for found, wanted, place in (
        (together, expected, everywhere),
        (apart, expected[corner], corner),
        (apart, together[corner], corner),
    ):
        compared = within[place]
        assert (np.abs(found[compared] - wanted[compared]) <= error[place][compared]).all()
    finite = np.isfinite(together)
    scale = np.abs(together[finite]).max(initial=0)
    np.testing.assert_allclose(together, together.T, rtol=0, atol=1e-12 * scale)
    if name in ("Gaussian", "Laplacian"):
        assert finite.all() and (together >= 0).all() and (np.abs(np.diag(together) - 1) < 1e-12).all()


PARAMETERS = {
    "C": (1e-300, 1e-6, 1.0, 1e9, 1e300, np.inf, 0, -1, np.nan, "one"),
    "alpha": (1e-300, 1e-6, 1.0, 1e9, 0, -1, np.nan, None),
    "gamma": ("scale", "auto", 1e-300, 1.0, 1e300, 0, -1, np.nan, "wide"),
    "kernel": ("rbf", "linear", "poly", "sigmoid", "laplacian", "cosine", "nothing"),
    "tol": (1e-12, 1e-3, 1.0, 0, -1, np.nan),
    "nu": (1e-6, 0.2, 0.9, 1.0, 0, -1, 2, np.nan),
    "epsilon": (0, 0.1, 1e9, -1, np.nan),
    "max_iter": (1, 7, 0, -1, 2.5),
    "fit_intercept": (True, False),
    "batch_size": (1, 3, 0, -1),
    "random_state": (0, 7, "seed"),
}


NO_SENTENCE = re.compile("internal|broadcast|shapes|aligned|infs or NaNs")  # of NumPy and SciPy, about their arguments


def estimators(draw):
    model = draw(st.sampled_from(ESTIMATORS))
    estimator = model.load()()
    known = estimator.get_params(deep=False)
    if "max_seconds" in known:
        estimator.set_params(max_seconds=2)
    for name in draw(st.lists(st.sampled_from(sorted(set(PARAMETERS) & set(known))), max_size=3, unique=True)):
        estimator.set_params(**{name: draw(st.sampled_from(PARAMETERS[name]))})
    n, d = draw(st.integers(1, 12)), draw(st.integers(1, 4))
    X = _numbers(draw, (n, d))
    y = (
        _numbers(draw, n)
        if model.task == "regress"
        else np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    )
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            estimator.fit(*{"novelty": (X,), "ratio": (X, X[::-1] + 1)}.get(model.task, (X, y)))
        except (ValueError, TypeError) as error:  # TypeError as scikit-learn's for what is no number
            assert not NO_SENTENCE.search(str(error)), f"{estimator} refuses its rows with: {error}"
            return
        method = next(name for name in ("decision_function", "predict", "log_ratio") if hasattr(estimator, name))
        scores = getattr(estimator, method)(X)
        assert np.isfinite(np.asarray(scores, dtype=float)).all(), f"{estimator} scores its own rows as {scores}"


WORDS = (
    *"list run report compare results new check doctor fit predict data".split(),
    *"solvers kernels models experiments datasets show merge clean export solver experiment verify".split(),
    *"--help -h --version --set C=1 C= = --out --test --results --json --model KernelSVC --kind".split(),
    *("train.svm", "model.npz", "nothing", "", " ", "-", "--", "--no-such", "\x00", "é", "1", "-1", "nan"),
)
SLOW = {"run", "report"}  # measured by tests of their own; here only their words are looked at


def command_line(draw):
    from kernbench.cli import main

    words = draw(st.lists(st.sampled_from(WORDS), max_size=6))
    assume(not SLOW & set(words) or {"--help", "-h"} & set(words))
    runner = CliRunner()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Path("train.svm").write_bytes((CORPUS / "data" / "small.svm").read_bytes())
        Path("model.npz").write_bytes(SEEDS["models"][0].read_bytes())
        answer = runner.invoke(main, words)
    if answer.exception is not None and not isinstance(answer.exception, SystemExit):
        raise answer.exception
    allowed = (0, 1, 2) if "doctor" in words else (0, 2)
    assert answer.exit_code in allowed, f"kernbench {words} ended with {answer.exit_code}"
    for bad in ("Traceback", "internal error"):
        assert bad not in answer.output, f"kernbench {words} printed {answer.output}"


TARGETS = {target.__name__: target for target in (data_files, model_files, kernels, estimators, command_line)}
