"""Records in, report out."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from kernbench._version import __version__
from kernbench.report.folder import output_folder, write_files


@dataclass
class Built:
    """What was written.

    Attributes
    ----------
    page : Path
        The HTML page.
    headline : str
        The verdict.
    notes : list of str
        About records that could not be used.
    n_records, n_files : int
    """

    page: Path
    headline: str
    notes: list = field(default_factory=list)
    n_records: int = 0
    n_files: int = 0


def build(results="results", out="reports", *, on_step=None):
    """Turn a folder of records into a report.

    Writes ``index.html`` (one page, needs nothing else), ``summary.md``, and every figure and table as SVG
    and CSV in ``figures/`` and ``tables/``. All of it is made before the first file is replaced,
    ``index.html`` last.

    Parameters
    ----------
    results : str or Path, default="results"
        As `kernbench.experiments.run` writes it.
    out : str or Path, default="reports"
        Made if need be. Files of the same names are replaced, others are left alone.
    on_step : callable, optional
        Called with a few words before each step.

    Returns
    -------
    Built

    Raises
    ------
    ValueError
        If there are no records (the message says which command makes some) or `out` cannot be written.
    """
    on_step = on_step or (lambda words: None)
    on_step("reading records")
    from kernbench.report.records import read_results

    found = read_results(results)
    out = Path(out)
    with output_folder(out) as scratch:
        on_step("loading the figures' library")
        page = _page(found, on_step)
        on_step("writing")
        files = _files(page)
        write_files(out, scratch, files)
    return Built(out / "index.html", page.verdict.headline, page.notes, page.n_records, len(files))


def _page(found, on_step):
    from kernbench.experiments import registry
    from kernbench.report.overall import overall_profile
    from kernbench.report.page import Page, solver_table
    from kernbench.report.sections import make_section
    from kernbench.report.style import looks
    from kernbench.report.verdict import no_race, verdict

    sections, verdicts = [], []
    for group in found.groups:
        experiment = registry.get(group.experiment)
        # A known solver looks the same on the whole page, any other method within its experiment.
        budgeted = {method.name for method in experiment.methods if method.depends_on}
        styles = looks([*(method.name for method in experiment.methods), *group.methods()], budgeted)
        on_step(f"drawing {group.experiment}, {group.scale} scale")
        sections.append(make_section(experiment, group, styles))
        if experiment.is_race:
            verdicts.append(verdict(experiment, group))
    overall = []
    for scale in dict.fromkeys(group.scale for group in found.groups):
        of_scale = [group for group in found.groups if group.scale == scale]
        declared = {group.experiment: registry.get(group.experiment) for group in of_scale}
        overall.append(overall_profile(declared, of_scale))
    # The paper's own data speak first; where they say nothing yet, small ones may.
    answered = [candidate for candidate in verdicts if candidate.table is not None]
    return Page(
        verdict=(answered or verdicts or [no_race(sections)])[0],
        sections=sections,
        solvers=solver_table(),
        overall=[picture for picture in overall if picture is not None],
        notes=found.notes,
        version=__version__,
        date=datetime.now(UTC).date().isoformat(),
        n_records=len(found.records),
    )


def _files(page):
    from kernbench.report.page import render_html, render_markdown

    tables = [table for section in page.sections for table in section.tables] + [page.solvers]
    tables += [page.verdict.table] if page.verdict.table is not None else []
    pictures = [picture for section in page.sections for _, group in section.pictures for picture in group]
    pictures += page.overall
    files = {f"tables/{table.name}.csv": table.to_csv() for table in tables}
    for picture in pictures:
        files[f"figures/{picture.name}.svg"] = picture.svg_file
        files[f"figures/{picture.name}.csv"] = picture.csv
    files["summary.md"] = render_markdown(page)
    files["index.html"] = render_html(page)
    return files
