"""``kernbench fit``: fit a model to a data file and save it."""

import shlex
import sys
import warnings
from copy import copy
from inspect import signature
from pathlib import Path
from time import perf_counter

import click

from kernbench.cli.models.estimators import NAMES, SEARCHES, check_parameters, find, parameters, summary
from kernbench.cli.plugins.option import PLUGIN

INTERRUPTED = 130


class FitCommand(click.Command):
    """Adds the estimators and their parameters to the help."""

    def format_epilog(self, ctx, formatter):
        """Write the first line of each estimator's docstring, and its parameters with their defaults."""
        classes = {name: model.load() for name, model in NAMES.items()}
        with formatter.section("Estimators"):
            formatter.write_dl([(name, summary(estimator)) for name, estimator in classes.items()])
        for name, estimator in classes.items():
            with formatter.section(f"Parameters of {name}, with their defaults"):
                formatter.write_text(" ".join(f"{k}={_shown(v)}" for k, v in parameters(estimator).items()))


def _shown(default):
    text = str(default).lower() if default is None or isinstance(default, bool) else f"{default}"
    return text.replace(", ", ",")  # one word for a shell


@click.command("fit", cls=FitCommand)
@click.argument("data")
@click.option(
    "--estimator", default="kernelsvc", show_default=True, metavar="NAME", help=f"One of: {', '.join(NAMES)}."
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the estimator, such as C=10; may be repeated.",
)
@click.option(
    "--tune",
    is_flag=True,
    help="Choose C (or alpha) by cross-validation, and gamma among --set gammas=... where there is one; for "
    f"{', '.join(name.lower() for name in SEARCHES)}.",
)
@click.option(
    "--label",
    default="-1",
    show_default=True,
    metavar="COLUMN",
    help="Label column of a table, by position (0 is the first, -1 the last) or name.",
)
@click.option("--test", metavar="FILE", help="A file with test examples: LIBSVM text, CSV, TSV or NPZ.")
@click.option(
    "--test-size",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="SHARE",
    help="Set a share of DATA aside for the test, stratified by class.",
)
@click.option(
    "--chunk-rows",
    type=click.IntRange(min=1),
    metavar="N",
    help="Read the file N rows at a time, once, for data that do not fit into memory; rows should be in random order.",
)
@click.option(
    "--scheduler", metavar="ADDRESS", help="Fit on the workers of this Dask scheduler; DATA is a folder that they see."
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of the split and of stochastic solvers.",
)
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Save the model here, such as model.npz.")
@PLUGIN
@click.option("--quiet", is_flag=True, help="Show no progress bar.")
@click.pass_context
def command(ctx, data, estimator, settings, tune, label, test, test_size, chunk_rows, scheduler, seed, out, quiet):
    """Fit a model to DATA: a file (LIBSVM text, CSV, TSV or NPZ, plain or compressed) or the name of a data set.

    A folder stands for all files in it, which need not fit into memory: .svm, .svmlight, .libsvm, .csv, .parquet,
    .arrow, .feather and .npy. Compressed text and .tsv files among them are an error. For .npy, --label names the
    .npy file that holds the labels, or a folder of such files.

    A table has numbers only, apart from the labels. They are used as they are: a kernel needs columns of similar scale.

    Ctrl-C ends the fit early, as does SIGTERM, by which a batch system ends a job; the model reached so far is saved.

    \b
    Examples:
      kernbench fit adult-like --set C=10 --set gamma=0.05
      kernbench fit train.svm --test test.svm --set C=10 --out model.npz
      kernbench fit train.svm --tune --set "Cs=[0.1, 1, 10]" --set "gammas=[0.01, 0.1]"
      kernbench fit table.csv --label income --test-size 0.2 --out model.npz
      kernbench fit train.svm --set solver=sbp --set max_seconds=30 --out model.npz
      kernbench fit train.svm --plugin mine.py --set solver=mine
      kernbench fit train.svm --estimator linearsvc --set C=0.1 --set loss=hinge
      kernbench fit rare.csv --estimator rocsvc --set kernel=rbf --set alpha=1e-3
      kernbench fit rare.csv --estimator rocsvc --set "threshold=('sensitivity', 0.9)"
      kernbench fit huge.svm --estimator doublystochasticclassifier --chunk-rows 50000
      kernbench fit parts/ --estimator rocsvc --label clicked --scheduler tcp://10.0.0.1:8786
      kernbench fit rare.csv --estimator rocsvccv --set kernel=rbf --out ranking.npz
    """
    from kernbench._files import check_writable_file
    from kernbench.cli.models.blocks import BlockFit, is_folder, labels_of
    from kernbench.cli.models.literals import parse_settings
    from kernbench.cli.models.sources import (
        check_names,
        chunks_of,
        column_names,
        is_file,
        label_column,
        names_in_folder,
        test_rows,
        train_and_test,
    )
    from kernbench.datasets.readers.detect import format_of

    entry = find(estimator, tune)
    if out is not None:
        check_writable_file(out)
    build = entry.load()
    params = parse_settings(settings, build)
    if params.get("kernel") == "precomputed":
        raise ValueError("kernel=precomputed is for use from Python: the command line reads examples, not kernels")
    if params.get("refit") is False:
        raise ValueError("refit=false leaves no model to score or to save: leave it out")
    params.setdefault("random_state", seed)
    check_parameters(build(**params))  # before a large file is read
    model = build(**params, verbose=int(not quiet and sys.stdout.isatty()))
    if scheduler is not None and not is_folder(data):
        raise ValueError(f"--scheduler takes a folder of files that the workers see, and {data!r} is not one")
    is_read_last = is_folder(data) or chunk_rows is not None
    if is_read_last and test is not None:
        if not is_file(test):
            raise FileNotFoundError(f"there is no file {test}")
        format_of(test)  # refuses what --test does not read, such as .npy and .parquet, before a long fit
    if is_folder(data):
        if test is not None and label.endswith(".npy"):
            raise ValueError("--label names a .npy file, and a file of --test must hold its labels: leave --test out, "
                             "and compare by kernbench predict")  # fmt: skip
        if chunk_rows is not None or test_size is not None:
            raise ValueError(f"{data} is a folder, of which all rows are learned from: leave --chunk-rows and "
                             "--test-size out, and give test examples by --test")  # fmt: skip
        if test is not None:
            check_names(test, label_column(label), names_in_folder(data, label_column(label)))
        X = y = names = None
        fitted = BlockFit(model, data, labels_of(label), scheduler)
        seconds, interrupted = _fit(fitted.fit)
        model, examples = fitted.model, fitted.shape
    elif chunk_rows is None:
        X, y, X_test, y_test = train_and_test(
            data, label=label_column(label), test=test, test_size=test_size, seed=seed, stratify=entry.task != "regress"
        )
        names = column_names(data, label_column(label))  # before a fit of hours, after which the file may be gone
        _warn_of_columns_without_names(data, names)
        seconds, interrupted = _fit(lambda: model.fit(X, y))
        examples = X.shape
    else:
        stream = chunks_of(data, model, chunk_rows, label=label_column(label), test_size=test_size)
        names = column_names(data, label_column(label))
        _warn_of_columns_without_names(data, names)
        if test is not None:
            check_names(test, label_column(label), names)
        X = y = None
        counted = {}
        if "n_samples" in signature(model.fit_chunks).parameters:
            counted["n_samples"] = sum(len(y) for _, y in stream)  # in a pass before
        seconds, interrupted = _fit(lambda: model.fit_chunks(stream, **counted))
        examples = stream.n_rows, getattr(model, "n_features_in_", 0)
    if not hasattr(model, "n_iter_"):
        raise click.Abort  # interrupted before there was a model
    # Those of a folder are in the model. It is given rows without names here, and would warn of them.
    names = vars(model).pop("feature_names_in_", names)
    if out is not None:  # before anything else can go wrong
        model.set_params(verbose=0)
        _save(model, names, out)
    try:
        if X is None:
            X_test, y_test = test_rows(test, label_column(label), getattr(model, "n_features_in_", None), names)
        _print_outcome(entry.task, model, examples, X, y, X_test, y_test, seconds)
    finally:
        if out is not None:
            click.echo(f"model saved to {out}; next: kernbench predict {shlex.quote(str(out))} DATA")
    if interrupted:
        click.echo("kernbench: interrupted; the model is the one reached so far", err=True)
        ctx.exit(INTERRUPTED)


def _fit(fit):
    """Call `fit`; return the seconds it took and whether Ctrl-C, or what kills it, ended it. Warnings go to stderr."""
    interrupted = False
    start = perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            fit()
        except KeyboardInterrupt:
            interrupted = True
    seconds = perf_counter() - start
    for warning in caught:
        click.echo(f"kernbench: warning: {' '.join(str(warning.message).split())}", err=True)
    return seconds, interrupted


def _some(names, most=6):
    """Return names in one line; of many the first."""
    return ", ".join(names) if len(names) <= most else f"{len(names):,}: {', '.join(names[: most // 2])}, …"


def _warn_of_columns_without_names(source, names):
    """Say which features have no name in a header: R and pandas write row numbers as such a column."""
    places = [str(place) for place, name in enumerate(names or (), 1) if not str(name).strip()]
    if places:
        click.echo(
            f"kernbench: warning: {source}: the header has no name for feature {', '.join(places)}: if it holds row "
            "numbers, as R and pandas write them, remove the column",
            err=True,
        )


def _save(model, names, path):
    """Save a model with the names of its columns, if they are known: `predict` compares them with those of a table."""
    import numpy as np

    saved = copy(model)
    if names is not None:
        saved.feature_names_in_ = np.array(names, dtype=object)
    saved.save(path)


def _print_outcome(task, model, examples, X, y, X_test, y_test, seconds):
    import numpy as np

    from kernbench.cli.models.scores import scores
    from kernbench.report import text

    gap = np.nan if model.duality_gap_ is None else model.duality_gap_
    status = model.status_ if isinstance(model.status_, str) else text.listed(dict.fromkeys(model.status_))
    rows = [("examples", f"{examples[0]:,} × {examples[1]:,}")]
    if task != "regress":
        rows.append(("classes", _some([str(label) for label in model.classes_]) + " (positive)" * (task == "rank")))
    if X is not None:  # of a stream nothing is left to be scored
        on_training = scores(task, model, X, y)
        rows += [(f"training {name}", value) for name, value in on_training]
    if X_test is None:
        ways = "--test" if X is None else "--test, --test-size"
        rows.append(("test" if X is None else f"test {on_training[0][0]}", f"no test examples ({ways})"))
    else:
        rows += [(f"test {name}", value) for name, value in scores(task, model, X_test, y_test)]
    if hasattr(model, "alpha_"):  # chosen by cross-validation
        rows.append(("alpha", f"{model.alpha_:g}"))
    if hasattr(model, "best_params_"):
        chosen = {name: value if isinstance(value, str) else f"{value:g}" for name, value in model.best_params_.items()}
        rows += list(chosen.items())
        if hasattr(model, "best_score_"):
            rows.append(("cross-validated score", f"{model.best_score_:.5g}"))
    rows += [
        ("objective", _largest(model.objective_, 6)),
        ("duality gap", _largest(gap, 3)),
        ("ended", status),
        ("time", text.seconds(seconds)),
        ("iterations", f"{int(np.sum(model.n_iter_)):,}"),
        ("kernel evaluations", text.count(model.n_kernel_evaluations_)),
    ]
    if hasattr(model, "support_"):
        rows.append(("support vectors", f"{len(model.support_):,}"))
    width = max(20, *(len(name) + 1 for name, _ in rows))
    for name, value in rows:
        click.echo(f"{name:<{width}}{value}")


def _largest(values, digits):
    """Return the largest of the values of all problems, as text; a dash where one of them is not known."""
    import numpy as np

    values = np.atleast_1d(values)
    if np.isnan(values).any():
        return "–"
    return f"{np.max(values):.{digits}g}" + (f" (largest of {len(values)} problems)" if len(values) > 1 else "")
