"""Data files of the user's own as data sets of experiments."""

import os
from pathlib import Path

from kernbench._lazy import load
from kernbench._names import printable
from kernbench.experiments.declare import Setting

LOADER = "kernbench.datasets:load_own"


def with_own_files(experiments, datasets):
    """Add the data sets that are files to the experiments that take such data.

    Parameters
    ----------
    experiments : list of Experiment
    datasets : list of str or None
        Names of settings, and files. A name of a setting takes precedence over a file of that name.

    Returns
    -------
    experiments : list of Experiment
    datasets : list of str or None
        Names only; a file's is its own, without the folder.

    Raises
    ------
    ValueError
        If a file is malformed or none of the experiments takes its data, or two files have one name.
    FileNotFoundError
        If a name looks like a path and the file does not exist.
    """
    if datasets is None:
        return experiments, None
    known = {s.name for e in experiments for scale in e.scales.values() for s in scale.settings}
    names, own = [], set()
    for dataset in datasets:
        if dataset in known or not _is_path(dataset):
            names.append(dataset)
            continue
        path = Path(dataset).resolve()
        if path in own:  # given twice, as my.svm and ./my.svm
            continue
        if not path.is_file():
            raise FileNotFoundError(f"there is no data file {dataset}, and no data set of that name")
        try:
            path.name.encode()
        except UnicodeEncodeError:
            raise ValueError(f"{printable(dataset)}: the name is not UTF-8 text; rename the file") from None
        if path.name in known:
            raise ValueError(f"{dataset}: there is a data set {path.name!r} already; rename the file")
        experiments = _with_file(experiments, path)
        known.add(path.name)
        own.add(path)
        names.append(path.name)
    return experiments, names


def _is_path(text):
    return os.sep in text or bool(Path(text).suffix) or Path(text).is_file()


def _with_file(experiments, path):
    from kernbench.kernels.bandwidth import scale

    data = load(LOADER)(path)
    found = []
    for experiment in experiments:
        own = experiment.own_file
        if own is not None and own.task == data.task:
            params = dict(own.params)
            if params.get("gamma") == "scale":
                params["gamma"] = scale(data.X_train)
            setting = Setting(
                path.name,
                {"path": str(path)},
                params,
                LOADER,
                note="a quarter of its rows, drawn again in each repeat, are the test rows",
                methods=own.methods,
                repeat_argument="split_seed",
            )
            experiment = experiment.with_settings(setting)
        found.append(experiment)
    if found == experiments:
        names = ", ".join(experiment.name for experiment in experiments)
        raise ValueError(
            f"{path.name} holds {data.task} data, and of the experiments chosen none takes files of these: {names}"
        )
    return found
