"""Where the numbers come from: set-ups, commits and days."""

from kernbench.report import text
from kernbench.report.records.cells import part, setup_of

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
    "peer": "other libraries",
}
COMMIT, PEER = "git_commit", "peer"  # several commits may have the same code, several methods the same set-up
RARE = ("host", "jobs", "overcommitted", "plugin")  # in the environment of few records


def environments(records):
    """The set-ups of some records as (label, value) pairs for people, each with the number of its records, most first.

    Returns
    -------
    list of (list of (str, str), int)
    """
    found = {}
    for record in records:
        environment = part(record, "environment")
        shown = tuple(str(environment.get(name)) for name in LABELS if name not in (COMMIT, PEER))
        found.setdefault((shown, setup_of(record)), []).append(environment)  # of one code, as in the notes of tables
    return sorted(((_described(own), len(own)) for own in found.values()), key=lambda entry: -entry[1])


def _described(alike):
    """Environments that differ by commits of the same code and by the library measured at most, as pairs."""
    pairs = []
    for key, label in LABELS.items():
        value = alike[0].get(key)
        if key == COMMIT:
            value = ", ".join(dict.fromkeys(map(_commit, alike)))
        if key == PEER:
            value = ", ".join(sorted({str(peer) for one in alike if (peer := one.get(PEER))})) or None
        if value is None and key in (*RARE, PEER):
            continue
        pairs.append((label, text.DASH if value is None else str(value)))
    return pairs


def _commit(environment):
    commit = environment.get(COMMIT) or "not a checkout"
    return f"{commit} with uncommitted changes" if environment.get("git_dirty") else str(commit)


def dates(records):
    """The first and the last day of the records, as text."""
    days = sorted({str(record.get("started") or "")[:10] for record in records} - {""})
    if not days:
        return text.DASH
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
