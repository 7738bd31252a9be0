"""The tables of every experiment: its data, and the runs that failed."""

from kernbench.report import text
from kernbench.report.statistics import finite
from kernbench.report.tables.table import Column, Entry, Table, words


def data_table(results):
    """The kind of each data set (full, subset or generated), its sizes and its checksum."""
    columns = (
        Column("data", "data", numeric=False),
        Column("kind", "kind", numeric=False),
        Column("train", "n_train"),
        Column("test", "n_test"),
        Column("features", "n_features"),
        Column("SHA-256", "checksum", numeric=False),
        Column("what it is", "description", numeric=False),
    )
    papers = any(map(results.had_in_paper, results.datasets))
    columns += (Column("what the paper had", "paper", numeric=False),) if papers else ()
    rows = []
    for dataset in results.datasets:
        data, setting = results.data(dataset), results.setting(dataset)
        sentences = [str(data.get("description") or ""), setting.note if setting else ""]
        checksum = str(data.get("checksum") or text.DASH)
        sizes = ((data.get(key), finite(data.get(key))) for key in ("n_train", "n_test", "n_features"))
        rows.append(
            (
                words(dataset),
                words(results.kind(dataset)),
                *(Entry(text.count(number), value) for value, number in sizes),
                Entry(checksum[:12], checksum, mark="code"),
                words(" ".join(text.sentence(sentence) for sentence in sentences if sentence)),
                *([words(results.had_in_paper(dataset) or text.DASH)] if papers else []),
            )
        )
    return Table(results.file_name("data"), "The data these numbers are from", columns, [("", rows)])


def failure_table(results):
    """Runs that ended in an error, a time-out or out of memory; None when there were none."""
    columns = (
        Column("data", "data", numeric=False),
        Column("method", "method", numeric=False),
        Column("repeat", "repeat"),
        Column("ended by", "status", numeric=False),
        Column("message", "error", numeric=False),
    )
    rows = [
        (
            words(cell.dataset),
            words(results.label(cell.method)),
            Entry(str(record["repeat"]), record["repeat"]),
            words(record["status"], mark="bad"),
            words(record.get("error") or text.DASH),
        )
        for cell in results.cells.values()
        for record in cell.failed
    ]
    if not rows:
        return None
    return Table(results.file_name("failures"), "Runs that failed", columns, [("", rows)])
