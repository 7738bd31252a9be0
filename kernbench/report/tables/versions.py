"""The commits of a store as a table."""

from kernbench.report import text
from kernbench.report.tables.table import NOTHING, Column, Entry, Table, words

CHANGED = 0.05  # a mean factor of times this far from 1 is worth a word


def version_table(versions):
    """A row for each commit, a column for each experiment; None without two commits.

    Parameters
    ----------
    versions : list of kernbench.report.records.versions.Version
    """
    if not versions:
        return None
    names = sorted({name for version in versions for name in (*version.factors, *version.compared)})
    rows = []
    for version in versions:
        entries = [_entry(version, name) for name in names]
        n_records = Entry(f"{version.n_records:,}", version.n_records)
        rows.append((words(version.commit, mark="code"), words(version.day or text.DASH), n_records, *entries))
    columns = (
        Column("commit", "commit", numeric=False),
        Column("first record", "day", numeric=False),
        Column("records", "n_records"),
        *(Column(name, f"{name}_time_factor") for name in names),
    )
    return Table(
        "commits",
        "Time of a fit over that at the first commit, by experiment",
        columns,
        [("", rows)],
        [
            "Geometric means over the cells that both commits have on one machine. Counters: how many deterministic "
            "numbers (iterations, kernel evaluations) of the same data and seed differ from the commit before."
        ],
    )


def _entry(version, name):
    factor, compared = version.factor(name), version.compared.get(name)
    parts = [] if factor is None else [f"{text.significant(factor)} ×"]
    if factor is not None and abs(factor - 1) > CHANGED:
        parts.append("slower" if factor > 1 else "faster")
    if version.changed.get(name):
        parts.append(f"({version.changed[name]} of {compared} counters differ)")
    return Entry(" ".join(parts), factor) if parts else NOTHING
