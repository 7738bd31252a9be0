"""Build a report from records."""

import gc
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kernbench._version import __version__
from kernbench.experiments.run.storing.manifest import MANIFEST, read_manifest
from kernbench.report.page.folder import output_folder, write_files

RECORDS = "records.jsonl.xz"  # beside the page, in a compact report


@dataclass
class Built:
    """What was written.

    Attributes
    ----------
    page : Path
        The HTML page.
    headline : str
        The verdict, one line for each task.
    notes : list of str
        Descriptions of records that could not be used.
    n_records, n_files : int
    """

    page: Path
    headline: str
    notes: list[Any] = field(default_factory=list)
    n_records: int = 0
    n_files: int = 0


def build(
    results: str | Path = "results",
    out: str | Path = "reports",
    *,
    history: str | Path | None = None,
    compact: bool = False,
    on_step: Callable[..., Any] | None = None,
) -> Built:
    """Turn a folder of records into a report.

    Writes ``index.html`` (one page, needs nothing else), ``summary.md`` with ``details/`` of every experiment, and
    every figure and table as SVG and CSV in ``figures/`` and ``tables/``. Everything is made before the first file is
    replaced, ``index.html`` last.
    For an experiment with records at both scales, the paper's is shown.

    Parameters
    ----------
    results : str or Path, default="results"
        As `kernbench.experiments.run` writes it.
    out : str or Path, default="reports"
        Created if necessary. Files of the same names are replaced, others are kept. A compact report is replaced by
        another one only: its records would stay beside a page that is not made from them.
    history : str or Path, optional
        Folder of asv's results, for a page ``history.html``; by default ``history`` inside `out`, where it exists.
    compact : bool, default=False
        A report to keep under version control: ``records.jsonl.xz``, which holds the last record of each repeat of a
        cell, of declared experiments, in place of ``tables/`` and of all figures but the first.
    on_step : callable, optional
        Called with a few words before each step.

    Returns
    -------
    Built

    Raises
    ------
    ValueError
        If there are no records (the message says which command makes some), or `out` cannot be written or holds a
        compact report.
    """
    out, on_step = Path(out), on_step or (lambda words: None)
    if holds_compact(out) and not compact:
        raise ValueError(
            f"{out} holds a compact report with its records: choose another folder, such as --out results/report, or "
            "replace it by one made with --compact"
        )
    on_step("reading records")
    from kernbench.report.records.reading import read_results

    found, notes = read_results(results)
    with output_folder(out) as scratch:
        on_step("loading the figures' library")
        gc.collect()
        gc.freeze()  # or the collector would walk through all records again for every few figures
        try:
            page = _page(found, notes, on_step, runs=read_manifest(Path(results)).get("runs"))
        finally:
            gc.unfreeze()
        on_step("writing")
        history = _history(history, out, compact)
        page.has_history, page.is_compact = bool(history), compact
        manifest = _manifest(results)
        page.has_manifest = bool(manifest)
        if compact:
            files = history | manifest | _first_figure(page) | {RECORDS: _packed(found)} | _texts(page)
        else:
            files = history | manifest | _figures_and_tables(page) | _texts(page)
        write_files(out, scratch, files)
    headline = "\n".join(verdict.headline for verdict in page.verdicts)
    return Built(out / "index.html", headline, page.notes, page.n_records, len(files))


def holds_compact(folder: str | Path) -> bool:
    """Return whether a folder holds a compact report, such as the ``reports`` of a checkout."""
    return (Path(folder) / RECORDS).exists()


def _history(folder, out, compact):
    """The files of the page on the history; none without results of asv."""
    folder = folder or (out / "history" if (out / "history").is_dir() else None)
    if folder is None:
        return {}
    from kernbench.report.history import history_files

    return history_files(folder, compact=compact)


def _manifest(results):
    """What `kernbench snapshot` says of its records, to stand beside the page."""
    path = Path(results) / MANIFEST
    return {MANIFEST: path.read_text(encoding="utf-8")} if path.is_file() else {}


def _page(found, notes, on_step, runs):
    from kernbench.report.charts.choices import choice_picture
    from kernbench.report.charts.overall import overall_profiles
    from kernbench.report.charts.speed import speed_picture
    from kernbench.report.claims.findings import findings
    from kernbench.report.page.page import Page, solver_table
    from kernbench.report.page.sections import make_section
    from kernbench.report.verdict.choices import choice_table, choices
    from kernbench.report.verdict.headlines import headline_table
    from kernbench.report.verdict.verdict import verdicts, without_recommendation

    shown = {}
    for results in _in_order(found):
        shown.setdefault(results.experiment.name, results)
    on_step("judging the claims")
    sections = []
    for results, stated in zip(shown.values(), findings(list(shown.values()))):
        on_step(f"drawing {results.experiment.name}, {results.scale} scale")
        sections.append(make_section(results, stated, runs))
    advised = verdicts(found)
    chosen = choices(advised)
    return Page(
        verdicts=advised or [without_recommendation(sections)],
        headlines=headline_table(advised, sections),
        speed=speed_picture(advised),
        choices=choice_table(chosen),
        choice_picture=choice_picture(chosen),
        sections=sections,
        solvers=solver_table(),
        overall=overall_profiles(found),
        notes=notes,
        version=__version__,
        date=datetime.now(UTC).date().isoformat(),
        n_records=sum(len(results.records) for results in found),
    )


def _in_order(found):
    """The results in the order of the registry, an experiment's paper scale first."""
    from kernbench.experiments import registry

    order = registry.names()
    return sorted(found, key=lambda results: (order.index(results.experiment.name), results.scale != "paper"))


def _figures_and_tables(page):
    files = {f"tables/{table.name}.csv": table.to_csv() for table in page.every_table}
    for picture in page.every_picture:
        files[f"figures/{picture.name}.svg"] = picture.svg_file
        files[f"figures/{picture.name}.csv"] = picture.csv
    return files


def _first_figure(page):
    picture = page.speed
    return {} if picture is None else {f"figures/{picture.name}.svg": picture.svg_file}


def _packed(found):
    from kernbench.experiments.run.storing.packing import packed

    return packed(record for results in found for record in results.records)


def _texts(page):
    from kernbench.report.page.page import render_details, render_html, render_markdown

    files = {f"details/{section.name}.md": render_details(section) for section in page.sections}
    files["summary.md"] = render_markdown(page)
    files["index.html"] = render_html(page)
    return files
