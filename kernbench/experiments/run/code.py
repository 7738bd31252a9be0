"""Digests of the code that a cell runs: by them a record is known to be of this code, whatever else has changed.

Two digests are in the ``environment`` of a record: ``code``, of the package without its experiments, and
``experiment_code``, of the modules of experiments that the cell names and that these import. What declares, schedules
or shows measurements counts in neither: the cell, which is part of the key of its record, holds all that a declaration
decides. So a change to one experiment leaves the records of the others valid, and so does a new label or claim.

A change to what all share outdates every record, days of measurements. Where none of them can tell the difference, as
when an error that no fit ran into is mended, `MEASURE_ALIKE` says so, with the reason.
"""

import ast
import hashlib
import re
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2]
SOURCES = (".py", ".pyx", ".pxd", ".h")
COMPILED = (".so", ".pyd")
GENERATED = "_cython"  # Cython's helpers: another file with each compiler and Python, of no source in the package
EXPERIMENTS = "experiments"
SHOWING = ("cli", "report")  # folders of the package that show measurements, and make none
SURROUNDING = (EXPERIMENTS, "run", "processes")  # of every cell: its process, threads, memory and limits
DECLARING = ((EXPERIMENTS, "declare"), (EXPERIMENTS, "registry.py"))
# Digest of a later state of the shared code: that of the earlier one, which records of both carry, and the reason.
MEASURE_ALIKE = {
    "38d2d40627895325": (
        "d878b289b109939f",
        "errors that no recorded fit ran into, or that was measured again. Searches: scorers of one's own or that "
        "fail, rows of text, weights in races, late workers. Rows without a weight, in streams, blocks and step "
        "sizes; warm starts of other problems, targets and dtypes; first fits of `dca-exact` to wide sparse rows. "
        "Kernels: sums and products on many rows, widths of rows afar, power series in float32, bounds on the errors "
        "of values. SMO: cores of one row, sets of two with nu. SCS on few rows, projections that underflow, small "
        "covered masses, ranks of residuals below 1e-260, small rests of a pass. Batches of SDCA after the first "
        "pass: they were cut where the clock told. Networks: frozen parameters and statistics, scores that are not "
        "finite, half precision, datasets that augment (two races of AGD-SBCD were measured again). Rounding of "
        "intercepts that are stored for columns far from the origin. What Ctrl-C or an error leaves; scores beyond "
        "2^53; cuts at the narrowest smoothing; class weights and validation rows that are checked. Files of several "
        "kinds and widths, names of columns, labels of 64 bits, complex rows. Thin sparse rows of narrow kernels; "
        "float32 rows of a linear kernel with an intercept; few rows after a fit of a Gaussian process; deadlines of "
        "Newton's ascent and of earlier runs; weighted pairs. Certificates: bounds that are not numbers, weights of "
        "the rows on which float32 is measured, small negative eigenvalues; for squared losses of `sdca` and "
        "`pegasos` in float32, the share of rounding in a gap, a hundredth of it or less. Intercepts of NORMA on rows "
        "shorter than 1, of one class that outweighs the other by 10^9, and of Huber's loss with a delta far above "
        "the spread; step features of rows of zeros; warm starts of svmpauc-tight as published. "
        "KernelSVCCV(search='halving') had no records, and nor had cascades of kernel machines, stochastic DCA with "
        "squared losses, averages that change between runs and models of another C, loss or intercept that go on. "
        "Rows without a weight in steps and bounds; rare large targets; features that are all zero; rows of extreme "
        "scales; failed runs of partial_fit; columns in another order; frames as output, read-only arrays, metadata "
        "routing; intercepts and dual bounds of targets below 1e-60, and starts far worse than zero; starts of small "
        "steps from another C, gamma of weighted sparse rows whose mean is far from 0, negative levels of indefinite "
        "kernels, stochastic window solvers on few rows, parameters, indices and shapes that are checked; classes and "
        "rows of streams without a weight, sparse rows without entries or with unused room, equal rows in Newton's "
        "ascent; signals and other threads in long products; how the end of SMO and of later runs is judged, starts "
        "of tiny products, factors that outputs share in Newton's method for kernels (its races were measured again). "
        "Linear Newton at a tiny C, Pegasos begun with other weights, kernel values counted over several outputs, "
        "parts without rows; conjugate subgradients with an intercept, which no record has. Rows without a weight "
        "towards the sample of SCS, its starts after another validation; float32 rows in Nystroem maps of float64 "
        "rows, leverage scores of indefinite matrices, blocks and widths of features that are checked; tuples in "
        "model files; names and counts of streams, labels in chunks. Complex scores and dates in metrics, missing "
        "entries of tables in chunks, terms of power series that are checked. Line searches of `wolfe` and `scs` for "
        "kernel values above 1e18; masked entries, weights that are dates or complex, labels that are not a time, text "
        "among classes that are numbers, classes without a weight on blocks; median distances whose squares are 0 or "
        "overflow. KernelSVCCV on two threads has the numbers of one; this and halving, which breaks ties by areas "
        "under ROC curves, were measured again. Ctrl-C between runs, Python functions as kernels in warm starts, "
        "weighted certificates where no row is sensitive, chunks that fail, coefficients beyond float32, bounds at w = "
        "0, gaps of unfinished steps of `dca-exact`, checks after more iterations than asked for; medians of sparse "
        "rows far from 0, power series and distances that overflow, linear regression on many wide sparse rows; kept "
        "rows of text files, memory of containers, masked images; scores that fail and weights in races; splits of "
        "files with rare classes, columns of one name, measurements without times; class weights in the kernels of "
        "streams, third classes without weight, options that are refused. Averages that begin anew, streams of rows "
        "too large for a kernel, landmarks and rows held out without a weight or range, indefinite kernels in ranges "
        "of ranks, asymmetric matrices, sigmoids whose terms cancel, updates before a warm start, validation rows; "
        "indices of data frames in files, precision and width of rows on clusters; Ctrl-C while rows are left out, in "
        "forks and in last fits. Late digits of the objectives and gaps of pair losses, and of gaps along paths: at "
        "most 2 % of a gap far below the default tolerance, with the same coefficients. Windows on batches of two "
        "samples (the density ratios of `dsg-losses` that have one were measured again), orders of two streams, "
        "classes that are given to streams, streams that fail. Searches and ranges with indefinite kernels, rounding "
        "of gaps of `dca-exact` on kernel matrices, scores that overflow, signatures of weighted data, starts within a "
        "time budget, SMO at a limit of iterations, kernel values below the normal range, rows of text for kernel "
        "objects, labels of several files, files without an entry, memory of containers. Other searches and fits have "
        "the same numbers, to the bit",
    )
}
_NAME = re.compile(r"kernbench\.experiments\.[\w.]+(:\w+)?")


@cache
def shared_digest(folder=PACKAGE):
    """A digest of the code that all cells share: other commits may have it, and uncommitted changes have their own.

    Of a state listed in `MEASURE_ALIKE` it is that of the earlier one.

    Parameters
    ----------
    folder : Path
        Folder of a package. Its subfolders `SHOWING` do not count, and of its experiments only what is `SURROUNDING`
        cells; compiled modules count if their sources are missing.

    Returns
    -------
    str
        16 hexadecimal digits of a SHA-256.
    """

    def counts(path):
        parts = path.relative_to(folder).parts
        if parts[0] in SHOWING or (parts[0] == EXPERIMENTS and not _is_in(parts, SURROUNDING)):
            return False
        module = path.name.partition(".")[0]
        is_without_source = module != GENERATED and not path.with_name(f"{module}.pyx").exists()
        return path.suffix in SOURCES or (path.suffix in COMPILED and is_without_source)

    digest = _digest((path for path in folder.rglob("*") if counts(path)), folder)
    return MEASURE_ALIKE.get(digest, (digest, ""))[0]


def names_in(cell):
    """Names of modules of experiments, and of objects in them, that a cell loads, as a frozenset."""
    named = [cell.loader, cell.estimator, cell.evaluate, cell.measure, *_texts(cell.params), *_texts(cell.arguments)]
    return frozenset(name for name in named if _NAME.fullmatch(name))


def experiment_digest(names):
    """A digest of the modules of experiments that are run if objects of some names are loaded.

    Parameters
    ----------
    names : iterable of str
        As `names_in` gives them.

    Returns
    -------
    str
        16 hexadecimal digits of a SHA-256.
    """
    return _digest(files_of(names), PACKAGE)


def files_of(names, package=PACKAGE):
    """The files of experiments that are run if objects of some names are loaded.

    Parameters
    ----------
    names : iterable of str
        As ``"kernbench.experiments.measure.zero:ZeroClassifier"``.
    package : Path
        Folder of the package.

    Returns
    -------
    set of Path
        The modules named, and those that they import, or name as text, at the top or inside a function, and so on,
        without those that only declare.
    """
    waiting, found = list(names), set()
    while waiting:
        path = _module(waiting.pop(), package)
        parts = path.relative_to(package).parts
        if path not in found and not any(_is_in(parts, place) for place in DECLARING):
            found.add(path)
            waiting += _names_of(path)
    return found


def _is_in(parts, place):
    return parts[: len(place)] == place


def _module(name, package):
    """The file of a module, or of the module or package that an object belongs to."""
    parts = name.partition(":")[0].split(".")[1:]
    for end in range(len(parts), 0, -1):
        place = package.joinpath(*parts[:end])
        for path in (place.with_name(f"{place.name}.py"), place / "__init__.py"):
            if path.is_file():
                return path
    raise ValueError(f"{name} is no module of kernbench")


@cache
def _names_of(path):
    """Names of modules of experiments, and of objects in them, that a file imports or has as text."""
    found = []
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and ":" in node.value:
            found.append(node.value)
    return [name for name in found if _NAME.fullmatch(name)]


def _texts(value):
    if isinstance(value, str):
        return [value]
    values = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [text for inner in values for text in _texts(inner)]


def _digest(paths, folder):
    digest = hashlib.sha256()
    for place, path in sorted((path.relative_to(folder).as_posix(), path) for path in paths):
        digest.update(f"{place}\n{path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
