"""The page on the history: figures over commits, and a table of first and last values."""

from datetime import UTC, datetime

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from kernbench.report import text
from kernbench.report.history.drawing import SHORT, draw_benchmark, scaled, words_of
from kernbench.report.history.results import read
from kernbench.report.tables.table import NOTHING, Column, Entry, Table, words


def history_files(folder, *, compact=False):
    """The page, and its figures and table as files of their own.

    Parameters
    ----------
    folder : str or Path
        Results of asv.
    compact : bool, default=False
        Only the page.

    Returns
    -------
    dict of str to str
        Relative path to content; ``history.html`` last.
    """
    tables, pictures = _content(folder)
    if compact:
        return {"history.html": _render("history.html.j2", tables, pictures, linked=False)}
    files = {f"tables/{table.name}.csv": table.to_csv() for table in tables}
    for picture in pictures:
        files[f"figures/{picture.name}.svg"] = picture.svg_file
        files[f"figures/{picture.name}.csv"] = picture.csv
    files["history.html"] = _render("history.html.j2", tables, pictures)
    return files


def history_section(folder):
    """The history as a section of HTML, for a page that has the report's style."""
    return _render("section.html.j2", *_content(folder))


def _content(folder):
    """A table for each machine, and the figures, of what is not 0 everywhere."""
    tables, pictures = [], []
    every = [series for series in read(folder) if any(value for *_, value in series.points)]
    for machine in dict.fromkeys(series.machine for series in every):
        own = [series for series in every if series.machine == machine]
        commits = sorted({point[:2] for series in own for point in series.points})
        tables.append(_table(machine, own, commits))
        for name in dict.fromkeys(series.benchmark for series in own):
            same = [series for series in own if series.benchmark == name]
            pictures.append(draw_benchmark(name, machine, same, commits))
    return tables, pictures


def _table(machine, every, commits):
    """The first and the last value of every series, and their ratio."""
    rows = []
    for series in every:
        factor, unit = scaled(series.unit)
        (*_, first), (*_, last) = series.points[0], series.points[-1]
        ratio = _ratio(series.unit, first, last)
        over = NOTHING if ratio is None else Entry(text.times(ratio), ratio)
        what = words_of(series.benchmark)
        unit = "" if unit == what else unit
        values = [Entry(f"{text.significant(factor * value)} {unit}".rstrip(), value) for value in (first, last)]
        name = f"{what}, {series.label}" if series.label else series.benchmark
        rows.append((words(name), words(series.points[0][1][:SHORT], "code"), *values, over))
    (start, _), (end, commit) = commits[0], commits[-1]
    span = f"from {_day(start)} to {_day(end)} ({commit[:SHORT]})"
    caption = f"{text.plural(len(commits), 'commit')} {span} on {machine}"
    columns = (
        Column("benchmark", "benchmark", numeric=False),
        Column("first commit", "first_commit", numeric=False),
        Column("value there", "first"),
        Column("value at the last", "last"),
        Column("last over first", "ratio"),
    )
    notes = [
        "Lower is better for all of them. Times, and what says “timing” in its unit, scatter from run to run; counts "
        "and errors are the same on every run. Where the unit is a log10, the ratio is that of the numbers themselves."
    ]
    return Table(text.file_name(f"history-{machine}"), caption, columns, [("", rows)], notes)


def _ratio(unit, first, last):
    """The last value over the first; of logarithms, that of the numbers. None unless both are above 0."""
    if unit.startswith("log10"):
        return 10.0 ** (last - first)
    return last / first if first > 0 and last > 0 else None


def _day(milliseconds):
    return datetime.fromtimestamp(milliseconds / 1000, UTC).date().isoformat()


def _render(template, tables, pictures, linked=True):
    environment = Environment(
        loader=ChoiceLoader([PackageLoader("kernbench.report.history"), PackageLoader("kernbench.report.page")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals["linked"] = linked
    return environment.get_template(template).render(tables=tables, pictures=pictures).lstrip()
