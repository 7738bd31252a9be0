"""The commands that make the records of an experiment again, quoted for the shell."""

import shlex

from kernbench.experiments.run.patterns import matches
from kernbench.report.records.cells import part

OVERCOMMITTED = "overcommitted"
REPORT = ("kernbench", "report", "--out")  # in a checkout, `reports` holds the report of a release, which stays


def commands(results, runs=None):
    """The shell commands that made the records, with their limits, threads and repeats, and the report.

    A snapshot, with the `runs` of its manifest, has one: its limits are those declared, and repeats depend on times.
    Further ones repeat what runs repeated more often than that.

    One command for all cells that were run alike: in most cases, one. Where the limits of some records are unknown,
    since they are of an older version, they count as those of the other records, if these agree.

    Returns
    -------
    list of str
    """
    if runs is not None:
        scale = [] if results.scale == "paper" else ["--scale", results.scale]
        start = ["kernbench", "snapshot", results.experiment.name, *scale]
        made = [start, *([*start, *options] for options in _repeated(results, runs))]
        return [
            shlex.join(_one_line(words)) for words in (*made, [*REPORT, "snapshot/report", "--results", "snapshot"])
        ]
    known = {limits for record in results.records if any(limits := _limits(record))}
    usual = known.pop() if len(known) == 1 else (None, None)
    groups = {}
    for (dataset, method), cell in results.cells.items():
        repeats = 1 + max(record["repeat"] for record in cell.records)
        for options in dict.fromkeys(_options(results, record, usual) for record in cell.records):
            groups.setdefault((options, repeats), []).append((dataset, method))
    start = ["kernbench", "run", results.experiment.name, "--scale", results.scale]
    made = [
        [*start, "--repeats", str(repeats), *options, *_selection(results, cells), *_plugins(results, cells)]
        for (options, repeats), cells in groups.items()
    ]
    return [shlex.join(_one_line(words)) for words in (*made, [*REPORT, "results/report", *_plugins(results)])]


def _repeated(results, runs):
    """The options of the runs of a snapshot that asked for a number of repeats of cells of this experiment."""
    name, found = results.experiment.name, {}
    paths = ["/".join((name, *place)) for place in results.cells]
    for run in runs:
        repeats = run.get("repeats")
        if repeats is None or name not in run.get("experiments", [name]):
            continue
        skip = tuple(_matching(run.get("skip", []), paths))
        left = [path for path in paths if not any(matches(path, pattern) for pattern in skip)]
        found.setdefault((repeats, skip), {}).update(dict.fromkeys(_matching(run.get("only", ["*"]), left)))
    for (repeats, skip), only in found.items():
        chosen = [] if "*" in only else [word for pattern in only for word in ("--only", pattern)]
        left_out = [word for pattern in skip for word in ("--skip", pattern)]
        if only:
            yield [*chosen, *left_out, "--repeats", str(repeats)]


def _matching(patterns, paths):
    """The patterns that match one of the paths."""
    return [pattern for pattern in patterns if any(matches(path, pattern) for path in paths)]


def _limits(record):
    limits = part(record, "limits")
    return limits.get("seconds"), limits.get("bytes")


def _options(results, record, usual):
    """The options of `kernbench run` that change a record, where they are not the experiment's own."""
    scale, environment = results.experiment.scale(results.scale), part(record, "environment")
    seconds, memory = _limits(record) if any(_limits(record)) else usual
    threads, jobs = environment.get("n_threads"), environment.get("jobs")
    options = []
    if seconds is not None and seconds != scale.time_limit:
        options += ["--time-limit", f"{seconds:.10g}"]
    if memory is not None and memory != scale.memory_limit:
        options += ["--memory-limit", f"{memory / 2**20:.10g}"]
    if threads is not None and threads != results.experiment.threads:
        options += ["--threads", str(threads)]
    if jobs is not None:
        options += ["--jobs", str(jobs)]
    if environment.get(OVERCOMMITTED):
        options.append("--force")
    return tuple(options)


def _selection(results, cells):
    """The options that choose these cells; none for all that run by default."""
    settings = {setting.name: setting for setting in results.experiment.scale(results.scale).settings}
    wanted = set(cells)
    datasets, methods = (list(dict.fromkeys(names)) for names in zip(*cells))

    def made_by(datasets, methods):
        """The cells of a run of these, without methods of packages that may be absent."""
        return {
            (dataset, method)
            for dataset in datasets
            for method in methods
            if dataset not in settings or settings[dataset].takes(method)
        }

    declared = [name for name, setting in settings.items() if not setting.optional]
    everything = [method.name for method in results.experiment.methods]
    needed = {method.name for method in results.experiment.methods if method.requires is None}
    whole = made_by(declared, everything)
    if wanted <= whole and not {cell for cell in whole - wanted if cell[1] in needed}:
        return []
    chosen = [word for dataset in datasets for word in ("--dataset", dataset)]
    of_these = made_by(datasets, everything)
    if wanted <= of_these and not {cell for cell in of_these - wanted if cell[1] in needed}:
        return chosen
    if set(datasets) == set(declared):
        chosen = []
    if wanted == made_by(datasets, methods):
        return [*chosen, *(word for method in methods for word in ("--method", method))]
    patterns = ("/".join(map(_literal, (results.experiment.name, *cell))) for cell in cells)
    return [word for pattern in patterns for word in ("--only", pattern)]


def _literal(name):
    """A name as a pattern that matches it alone."""
    return "".join(f"[{character}]" if character in "*?[" else character for character in name)


def _plugins(results, cells=None):
    records = (
        record for place, cell in results.cells.items() if cells is None or place in cells for record in cell.records
    )
    found = {part(record, "environment").get("plugin") for record in records}
    names = sorted({str(name).rpartition(" ")[0] or str(name) for name in found if name})
    return [word for name in names for word in ("--plugin", name)]


def _one_line(words):
    """Words without line breaks and other control characters, which a page would not show as such."""
    return ["".join(c if c.isprintable() else "\ufffd" for c in word) for word in words]
