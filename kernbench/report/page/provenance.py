"""Where the numbers come from: set-ups and days."""

from kernbench.report import text
from kernbench.report.records.cells import part

LABELS = {
    "kernbench": "kernbench",
    "git_commit": "commit",
    "host": "machine",
    "processor": "processor",
    "n_cores": "cores",
    "n_threads": "threads per fit",
    "jobs": "fits at a time",
    "overcommitted": "MORE THREADS THAN CORES, times mean little",
    "plugin": "plug-in",
    "blas": "BLAS",
    "platform": "system",
    "python": "Python",
    "numpy": "NumPy",
    "scipy": "SciPy",
    "scikit-learn": "scikit-learn",
}
SHOWN = (*LABELS, "git_dirty")
RARE = ("host", "jobs", "overcommitted", "plugin")  # in the environment of few records


def environments(records):
    """The environments of some records that look different, each with the number of its records, most first."""
    found = {}
    for record in records:
        environment = part(record, "environment")
        key = tuple(str(environment.get(name)) for name in SHOWN)
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
