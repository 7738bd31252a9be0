"""``kernbench predict``: a model file and examples into predictions."""

import csv
import sys
from pathlib import Path

import click


@click.command("predict")
@click.argument("model_file", metavar="MODEL", type=click.Path(path_type=Path))
@click.argument("data")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write CSV here. [default: standard output]",
)
@click.option("--decision", is_flag=True, help="Decision values beside the labels.")
@click.option(
    "--label",
    default="-1",
    show_default=True,
    metavar="COLUMN",
    help="Label column of a table, by position or name.",
)
def command(model_file, data, out, decision, label):
    """Predict the labels of DATA with a model of 'kernbench fit'.

    DATA is a file, or the name of a data set, which gives its test part.

    The output is CSV, one row for each example, in their order. Where DATA has labels, the error is printed.
    A table with as many columns as the model has features is taken to have no labels.

    \b
    Examples:
      kernbench predict model.npz new.csv
      kernbench predict model.npz test.svm --out predictions.csv --decision
    """
    from kernbench.cli.outputs import check_writable_file
    from kernbench.cli.sources import label_column, rows_to_predict

    if out is not None:
        check_writable_file(out)
    from kernbench.saving import load

    model = load(model_file)
    X, y = rows_to_predict(data, model, label=label_column(label))
    labels = model.predict(X)
    values = model.decision_function(X) if decision else None
    if out is None:
        _write(sys.stdout, labels, values, model.classes_)
    else:
        from kernbench._files import written_whole

        with written_whole(out) as file:
            _write(file, labels, values, model.classes_)
    # The summary must not mix with predictions on standard output.
    click.echo(_summary(labels, y, model.classes_), err=out is None)


def _write(file, labels, values, classes):
    writer = csv.writer(file, lineterminator="\n")
    if values is None:
        columns = []
    elif values.ndim == 1:
        columns = ["decision"]
    elif values.shape[1] == len(classes):
        columns = [f"decision_{name}" for name in classes]
    else:
        columns = [f"decision_{i}" for i in range(values.shape[1])]
    writer.writerow(["prediction", *columns])
    for i, label in enumerate(labels):
        row = [] if values is None else [repr(float(value)) for value in values[i : i + 1].ravel()]
        writer.writerow([label, *row])


def _summary(labels, y, classes):
    import numpy as np

    from kernbench.report import text

    examples = text.plural(len(labels), "example")
    if y is None:
        return f"{examples}, no labels to compare with"
    unknown = set(np.unique(y).tolist()) - set(classes.tolist())
    if unknown:
        shown = text.listed(repr(label) for label in sorted(unknown, key=str)[:3])
        return f"{examples}; labels such as {shown} are not among the model's classes: no error to print"
    n_wrong = int(np.sum(labels != y))
    return f"error {text.percent(n_wrong / len(labels))} % ({n_wrong:,} of {examples})"
