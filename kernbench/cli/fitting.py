"""``kernbench fit``: a data file into a model file."""

import sys
import warnings
from pathlib import Path
from time import perf_counter

import click

INTERRUPTED = 130
# What users type -> class in kernbench.estimators.
ESTIMATORS = {"kernelsvc": "KernelSVC", "linearsvc": "LinearSVC", "rocsvc": "ROCSVC", "rocsvccv": "ROCSVCCV"}


@click.command("fit")
@click.argument("data")
@click.option(
    "--estimator",
    default="kernelsvc",
    show_default=True,
    metavar="NAME",
    help=f"One of: {', '.join(ESTIMATORS)}.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the estimator; may be repeated.",
)
@click.option(
    "--label",
    default="-1",
    show_default=True,
    metavar="COLUMN",
    help="Label column of a table, by position or name.",
)
@click.option("--test", metavar="FILE", help="Test examples.")
@click.option(
    "--test-size",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="SHARE",
    help="Set a share of DATA aside for the test, stratified.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Of the split and of stochastic solvers.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FILE", help="Save the model here, such as model.npz."
)
@click.option("--quiet", is_flag=True, help="No progress bar.")
@click.pass_context
def command(ctx, data, estimator, settings, label, test, test_size, seed, out, quiet):
    """Fit a model to DATA: a file (LIBSVM text, CSV, TSV or NPZ, plain or packed) or the name of a data set.

    Ctrl-C ends the fit early; the model as of then is saved.

    \b
    Examples:
      kernbench fit adult-like --set C=10 --set gamma=0.05
      kernbench fit train.svm --test test.svm --set C=10 --out model.npz
      kernbench fit table.csv --label income --test-size 0.2 --out model.npz
      kernbench fit train.svm --set solver=sbp --set max_seconds=30 --out model.npz
      kernbench fit train.svm --estimator linearsvc --set C=0.1 --set loss=hinge
      kernbench fit rare.csv --estimator rocsvc --set kernel=rbf --set alpha=1e-3
      kernbench fit rare.csv --estimator rocsvc --set "threshold=('sensitivity', 0.9)"
      kernbench fit rare.csv --estimator rocsvccv --set kernel=rbf --out ranking.npz

    Estimators: kernelsvc, the support vector classifier; linearsvc, the same on the columns as they are;
    rocsvc, which maximises the area under the ROC curve; rocsvccv, the same with alpha by cross-validation.

    Parameters of kernelsvc, with their defaults: C=1.0 kernel=rbf gamma=scale solver=smo tol=1e-3 max_iter=-1
    max_seconds=none fit_intercept=true class_weight=none dtype=auto cache_size=500 and more: see KernelSVC.

    Parameters of linearsvc: C=1.0 loss=auto solver=sdca tol=1e-4 fit_intercept=true class_weight=none and
    more: see LinearSVC.

    Parameters of rocsvc: alpha=1e-3 kernel=linear gamma=scale features=auto n_landmarks=none pairs=all
    loss=auto threshold=youden solver=bundle tol=1e-3 and more: see ROCSVC and ROCSVCCV.
    """
    from kernbench._names import unknown_name
    from kernbench.cli.literals import parse_settings
    from kernbench.cli.outputs import check_writable_file
    from kernbench.cli.sources import label_column, train_and_test

    if estimator.lower() not in ESTIMATORS:
        raise ValueError(unknown_name("estimator", estimator, ESTIMATORS))
    if out is not None:
        check_writable_file(out)
    from kernbench import estimators

    build = getattr(estimators, ESTIMATORS[estimator.lower()])
    params = parse_settings(settings, build)
    if params.get("kernel") == "precomputed":
        raise ValueError(
            "kernel=precomputed is for use from Python: the command line reads examples, not kernels"
        )
    params.setdefault("random_state", seed)
    # Wrong values are refused before a large file is read.
    _check_params(build(**params))
    X, y, X_test, y_test = train_and_test(
        data, label=label_column(label), test=test, test_size=test_size, seed=seed
    )
    model = build(**params, verbose=int(not quiet and sys.stdout.isatty()))
    seconds, interrupted = _fit(model, X, y)
    if not hasattr(model, "n_iter_"):
        raise click.Abort  # interrupted before there was a model
    _print_outcome(model, X, y, X_test, y_test, seconds)
    if out is not None:
        model.set_params(verbose=0)
        model.save(out)
        click.echo(f"model saved to {out}; next: kernbench predict {out} DATA")
    if interrupted:
        click.echo("kernbench: interrupted; the model is the one as of then", err=True)
        ctx.exit(INTERRUPTED)


def _check_params(model):
    """Fit a few points: every parameter is checked, none of the data is needed."""
    few = range(40)  # enough for folds and for held-out rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.set_params(verbose=0, max_iter=1).fit([[i / len(few)] for i in few], [i % 2 for i in few])


def _fit(model, X, y):
    """Fit; return the seconds it took and whether Ctrl-C ended it. Warnings go to standard error."""
    interrupted = False
    start = perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(X, y)
        except KeyboardInterrupt:
            interrupted = True
    seconds = perf_counter() - start
    for warning in caught:
        click.echo(f"kernbench: warning: {' '.join(str(warning.message).split())}", err=True)
    return seconds, interrupted


def _print_outcome(model, X, y, X_test, y_test, seconds):
    import numpy as np

    from kernbench.metrics import roc_auc
    from kernbench.report import text

    def error(X, y):
        return f"{text.percent(float(np.mean(model.predict(X) != y)))} %"

    def auc(X, y):
        known = np.isin(model.classes_, y).all()
        return f"{roc_auc(y, model.decision_function(X)):.5f}" if known else "one class only"

    objectives = np.atleast_1d(model.objective_)
    gaps = np.atleast_1d(np.nan if model.duality_gap_ is None else model.duality_gap_)
    pairs = "" if len(objectives) == 1 else f" (largest of {len(objectives)} pairs of classes)"
    status = model.status_ if isinstance(model.status_, str) else text.listed(dict.fromkeys(model.status_))
    ranking = []
    if not hasattr(model, "C"):  # a model that ranks
        ranking = [("alpha", f"{model.alpha_:g}")] if hasattr(model, "alpha_") else []
        ranking.append(("training AUC", auc(X, y)))
        if X_test is not None:
            ranking.append(("test AUC", auc(X_test, y_test)))
    rows = [
        ("examples", f"{X.shape[0]:,} × {X.shape[1]:,}"),
        ("training error", error(X, y)),
        (
            "test error",
            error(X_test, y_test) if X_test is not None else "no test examples (--test, --test-size)",
        ),
        *ranking,
        ("objective", f"{np.max(objectives):.6g}{pairs}"),
        ("duality gap", "–" if np.isnan(gaps).all() else f"{np.nanmax(gaps):.3g}{pairs}"),
        ("ended", status),
        ("time", text.seconds(seconds)),
        ("iterations", f"{int(np.sum(model.n_iter_)):,}"),
        ("kernel evaluations", text.count(model.n_kernel_evaluations_)),
    ]
    if hasattr(model, "support_"):
        rows.append(("support vectors", f"{len(model.support_):,}"))
    for name, value in rows:
        click.echo(f"{name:<20}{value}")
