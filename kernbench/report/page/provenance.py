"""Where the numbers come from, and the command that reproduces them."""

import shlex

from kernbench.report import text
from kernbench.report.records.cells import part

LABELS = {
    "kernbench": "kernbench",
    "git_commit": "commit",
    "host": "machine",
    "processor": "processor",
    "n_cores": "cores",
    "n_threads": "threads per fit",
    "overcommitted": "MORE THREADS THAN CORES, times mean little",
    "plugin": "plug-in",
    "blas": "BLAS",
    "platform": "system",
    "python": "Python",
    "numpy": "NumPy",
    "scipy": "SciPy",
    "scikit-learn": "scikit-learn",
}
RARE = ("host", "overcommitted", "plugin")  # in the environment of few records


def environments(records):
    """The different environments of some records, each with the number of its records, most records first."""
    found = {}
    for record in records:
        environment = part(record, "environment")
        key = tuple(sorted((name, str(value)) for name, value in environment.items()))
        first, number = found.get(key, (environment, 0))
        found[key] = (first, number + 1)
    return sorted(found.values(), key=lambda entry: -entry[1])


def described(environment):
    """An environment as (label, value) pairs for people."""
    pairs = []
    for key, label in LABELS.items():
        value = environment.get(key)
        if value is None and key in RARE:
            continue
        if key == "git_commit":
            value = value or "not a checkout"
            value = f"{value}, with uncommitted changes" if environment.get("git_dirty") else value
        pairs.append((label, text.DASH if value is None else str(value)))
    return pairs


def dates(records):
    """The first and the last day of the records, as text."""
    days = sorted({str(record.get("started") or "")[:10] for record in records} - {""})
    if not days:
        return text.DASH
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def command(results):
    """The shell command that reproduces the records of an experiment."""
    experiment, scale = results.experiment, results.experiment.scale(results.scale)
    words = ["kernbench", "run", experiment.name, "--scale", results.scale]
    repeats = 1 + max(record["repeat"] for record in results.records)
    if repeats != scale.repeats:
        words += ["--repeats", str(repeats)]
    threads = {part(record, "environment").get("n_threads") for record in results.records} - {None}
    if len(threads) == 1 and threads != {experiment.threads}:
        words += ["--threads", str(threads.pop())]
    usual = [setting.name for setting in scale.settings if not setting.optional]
    if set(usual) != set(results.datasets):
        for dataset in results.datasets:
            words += ["--dataset", dataset]
    usual = {method.name for method in experiment.methods if method.requires is None}
    if usual - set(results.methods()):
        for method in results.methods():
            words += ["--method", method]
    plugins = {part(record, "environment").get("plugin") for record in results.records} - {None}
    for name in sorted({plugin.split()[0] for plugin in plugins}):
        words += ["--plugin", name]
    return shlex.join(words)
