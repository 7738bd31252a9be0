"""``kernbench fit``: fit a model to a data file and save it."""

import sys
import warnings
from pathlib import Path
from time import perf_counter

import click

from kernbench.cli.estimators import NAMES, check_parameters, find, parameters, summary
from kernbench.cli.plugins import PLUGIN

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
    "--estimator",
    default="kernelsvc",
    show_default=True,
    metavar="NAME",
    help=f"One of: {', '.join(NAMES)}.",
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
    help="Set a share of DATA aside for the test, stratified by class.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of the split and of stochastic solvers.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FILE", help="Save the model here, such as model.npz."
)
@PLUGIN
@click.option("--quiet", is_flag=True, help="No progress bar.")
@click.pass_context
def command(ctx, data, estimator, settings, label, test, test_size, seed, out, quiet):
    """Fit a model to DATA: a file (LIBSVM text, CSV, TSV or NPZ, plain or packed) or the name of a data set.

    Ctrl-C ends the fit early; the model reached so far is saved.

    \b
    Examples:
      kernbench fit adult-like --set C=10 --set gamma=0.05
      kernbench fit train.svm --test test.svm --set C=10 --out model.npz
      kernbench fit table.csv --label income --test-size 0.2 --out model.npz
      kernbench fit train.svm --set solver=sbp --set max_seconds=30 --out model.npz
      kernbench fit train.svm --plugin mine.py --set solver=mine
      kernbench fit train.svm --estimator linearsvc --set C=0.1 --set loss=hinge
      kernbench fit rare.csv --estimator rocsvc --set kernel=rbf --set alpha=1e-3
      kernbench fit rare.csv --estimator rocsvc --set "threshold=('sensitivity', 0.9)"
      kernbench fit rare.csv --estimator rocsvccv --set kernel=rbf --out ranking.npz
    """
    from kernbench.cli.literals import parse_settings
    from kernbench.cli.outputs import check_writable_file
    from kernbench.cli.sources import label_column, train_and_test

    entry = find(estimator)
    if out is not None:
        check_writable_file(out)
    build = entry.load()
    params = parse_settings(settings, build)
    if params.get("kernel") == "precomputed":
        raise ValueError(
            "kernel=precomputed is for use from Python: the command line reads examples, not kernels"
        )
    params.setdefault("random_state", seed)
    check_parameters(build(**params))  # before a large file is read
    X, y, X_test, y_test = train_and_test(
        data,
        label=label_column(label),
        test=test,
        test_size=test_size,
        seed=seed,
        stratify=entry.task != "regress",
    )
    model = build(**params, verbose=int(not quiet and sys.stdout.isatty()))
    seconds, interrupted = _fit(model, X, y)
    if not hasattr(model, "n_iter_"):
        raise click.Abort  # interrupted before there was a model
    _print_outcome(entry.task, model, X, y, X_test, y_test, seconds)
    if out is not None:
        model.set_params(verbose=0)
        model.save(out)
        click.echo(f"model saved to {out}; next: kernbench predict {out} DATA")
    if interrupted:
        click.echo("kernbench: interrupted; the model is the one reached so far", err=True)
        ctx.exit(INTERRUPTED)


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


def _print_outcome(task, model, X, y, X_test, y_test, seconds):
    import numpy as np

    from kernbench.cli.scores import scores
    from kernbench.report import text

    objectives = np.atleast_1d(model.objective_)
    gaps = np.atleast_1d(np.nan if model.duality_gap_ is None else model.duality_gap_)
    pairs = "" if len(objectives) == 1 else f" (largest of {len(objectives)} pairs of classes)"
    status = model.status_ if isinstance(model.status_, str) else text.listed(dict.fromkeys(model.status_))
    rows = [("examples", f"{X.shape[0]:,} × {X.shape[1]:,}")]
    on_training = scores(task, model, X, y)
    rows += [(f"training {name}", value) for name, value in on_training]
    if X_test is None:
        rows.append((f"test {on_training[0][0]}", "no test examples (--test, --test-size)"))
    else:
        rows += [(f"test {name}", value) for name, value in scores(task, model, X_test, y_test)]
    if hasattr(model, "alpha_"):  # chosen by cross-validation
        rows.append(("alpha", f"{model.alpha_:g}"))
    rows += [
        ("objective", f"{np.max(objectives):.6g}{pairs}"),
        ("duality gap", "–" if np.isnan(gaps).all() else f"{np.nanmax(gaps):.3g}{pairs}"),
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
