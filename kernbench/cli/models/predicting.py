"""``kernbench predict``: predictions of a saved model."""

import csv
import sys
from pathlib import Path

import click

from kernbench._models import task_of
from kernbench.cli.models.estimators import TASKS


@click.command("predict")
@click.argument("model_file", metavar="MODEL", type=click.Path(path_type=Path))
@click.argument("data")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="FILE", help="Write CSV here. [default: standard output]"
)
@click.option("--decision", is_flag=True, help="Add columns of decision values.")
@click.option(
    "--probabilities", is_flag=True, help="Add a column of probabilities for each class, of a model that has them."
)
@click.option(
    "--label", default="-1", show_default=True, metavar="COLUMN", help="Label column of a table, by position or name."
)
def command(model_file, data, out, decision, probabilities, label):
    """Predict the labels of DATA with a model of 'kernbench fit'.

    DATA is a file, or the name of a data set, which gives its test part.

    The output is CSV, one row for each example, in their order. Where DATA has labels, the error is printed.
    A table with exactly as many columns as the model has features is read as one without labels. Where the model was
    fitted to columns with names, those of a table with a header must be the same, in the same order. A first line of
    just these names is a header, even if they are numbers.

    \b
    Examples:
      kernbench predict model.npz new.csv
      kernbench predict model.npz test.svm --out predictions.csv --decision
      kernbench predict calibrated.npz test.svm --probabilities
    """
    from kernbench._files import check_writable_file
    from kernbench.cli.models.sources import label_column, rows_to_predict

    if out is not None:
        check_writable_file(out)
    from kernbench.cli.models.scores import summary
    from kernbench.saving import load

    model = load(model_file)
    task = task_of(model)
    if task not in TASKS:
        raise ValueError(f"{model_file} holds a {type(model).__name__}, which predicts no labels")
    if decision and task == "regress":
        raise ValueError("--decision is for classifiers: the predictions of a regressor are its decision values")
    if probabilities and not hasattr(model, "predict_proba"):
        raise ValueError(
            "this model has no probabilities: fit kernelsvccv with --set calibration=sigmoid, "
            "or doublystochasticclassifier with --set loss=log_loss"
        )
    names = vars(model).pop("feature_names_in_", None)  # compared here, for the rows come without them
    X, y = rows_to_predict(data, model, label=label_column(label), names=names)
    predicted = model.predict(X)
    columns = {}
    if decision:
        columns |= _decision_columns(model.decision_function(X), model)
    if probabilities:
        columns |= {f"probability_{name}": values for name, values in zip(model.classes_, model.predict_proba(X).T)}
    if out is None:
        _write(sys.stdout, predicted, columns)
        sys.stdout.flush()  # before the summary, which says that it was written
    else:
        from kernbench._files import written_whole

        with written_whole(out) as file:
            _write(file, predicted, columns)
    # The summary must not mix with predictions on standard output.
    click.echo(summary(task, model, predicted, y), err=out is None)


def _decision_columns(values, model):
    """Return the decision values by the name of their column: the class, or the number of the pair of classes."""
    if values.ndim == 1:
        return {"decision": values}
    of_pairs = getattr(model, "decision_function_shape", "ovr") == "ovo"  # three classes have three pairs
    names = range(values.shape[1]) if of_pairs else model.classes_
    return {f"decision_{name}": column for name, column in zip(names, values.T, strict=True)}


def _write(file, labels, columns):
    writer = csv.writer(file, lineterminator="\n")
    n_outputs = 1 if labels.ndim == 1 else labels.shape[1]
    names = ["prediction"] if n_outputs == 1 else [f"prediction_{k}" for k in range(n_outputs)]
    writer.writerow([*names, *columns])
    for i, label in enumerate(labels.reshape(len(labels), n_outputs)):
        writer.writerow([*label, *(repr(float(values[i])) for values in columns.values())])
