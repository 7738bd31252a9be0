"""Records as a flat table for other programs: a row for each record, or for each method, task and error."""

import csv
import json
from pathlib import Path

from kernbench._files import written_whole
from kernbench.experiments.run.storing.packing import ENDING, packed
from kernbench.report.statistics import finite

IDENTITY = ("experiment", "scale", "dataset", "method", "repeat", "seed", "status", "error", "started", "key")
NUMBERS = ("peak_memory_bytes", "working_memory_bytes", "n_kernel_evaluations")
NESTED = ("metrics", "seconds", "params", "data", "environment")
FORMATS = ("csv", "json", "parquet", ENDING)


def record_rows(records):
    """One row for each record, nested objects as columns such as ``metrics.test_error``; traces are left out.

    Returns
    -------
    list of dict
        All with the same keys.
    """
    rows = []
    for record in records:
        row = {name: record.get(name) for name in (*IDENTITY, *NUMBERS)}
        for name in NESTED:
            row |= _flat(name, record.get(name) or {})
        rows.append(row)
    columns = dict.fromkeys(column for row in rows for column in row)
    return [{column: row.get(column) for column in columns} for row in rows]


def _flat(prefix, values):
    flat = {}
    for name, value in values.items():
        place = f"{prefix}.{name}"
        if isinstance(value, dict):
            flat |= _flat(place, value)
        else:
            flat[place] = json.dumps(value) if isinstance(value, list) else value
    return flat


def error_rows(found):
    """One row for each method, task and repeat, with the headline metric as an error: lower is better.

    From it follow Elo ratings, win rates and improvability, as benchmarks of tabular learners compute them.

    Parameters
    ----------
    found : list of Results

    Returns
    -------
    list of dict
        ``method``, ``task`` (``experiment/scale/dataset``), ``repeat``, ``metric``, ``error``, ``fit_seconds``,
        ``predict_seconds``. A task has one metric: the first of the experiment that a record of the task has. Records
        without it have no row. The error of a metric that is better when higher is 1 minus it if that is a fraction,
        else minus it.
    """
    rows = []
    for results in found:
        for dataset in results.datasets:
            records = [record for method in results.methods(dataset) for record in results.cell(dataset, method).ok]
            for metric in results.experiment.metrics:
                measured = [(record, value) for record in records if (value := finite(metric.of(record))) is not None]
                if measured:
                    rows += [_error_row(results, metric, *pair) for pair in measured]
                    break
    return rows


def _error_row(results, metric, record, value):
    if metric.direction == "higher":
        value = 1 - value if metric.factor == 100.0 and metric.unit != "points" else -value
    return {
        "method": record["method"],
        "task": f"{results.experiment.name}/{results.scale}/{record['dataset']}",
        "repeat": record["repeat"],
        "metric": metric.name,
        "error": value,
        **{f"{phase}_seconds": record["seconds"].get(phase) for phase in ("fit", "predict")},
    }


def _of_one_type(values):
    """A column as Parquet takes it: numbers among text, as γ may be 0.1 or "scale", become text, as in a CSV file."""
    kinds = {
        bool if isinstance(value, bool) else str if isinstance(value, str) else float
        for value in values
        if value is not None
    }
    return values if len(kinds) < 2 else [None if value is None else str(value) for value in values]


def write_rows(rows, path, form):
    """Write rows to a file, whole or not at all.

    Parameters
    ----------
    rows : list of dict
        All with the same keys.
    path : str or Path
    form : {"csv", "json", "parquet", "jsonl.xz"}

    Raises
    ------
    ValueError
        For Parquet without pandas and pyarrow.
    """
    if form == "parquet":
        try:
            import pandas
            import pyarrow  # noqa: F401  pandas writes Parquet with it
        except ImportError as error:
            raise ValueError("Parquet needs pandas and pyarrow: pip install pandas pyarrow, or choose CSV") from error
        columns = {name: _of_one_type([row[name] for row in rows]) for name in (rows[0] if rows else ())}
        with written_whole(Path(path), "wb") as file:
            pandas.DataFrame(columns).to_parquet(file)
        return
    if form == ENDING:
        with written_whole(Path(path), "wb") as file:
            file.write(packed(rows))
        return
    with written_whole(Path(path)) as file:
        if form == "json":
            json.dump(rows, file, indent=1, ensure_ascii=False)
        elif rows:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
