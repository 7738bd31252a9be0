"""What the checked-in report says of the five papers, put into the pages of docs/papers as Sphinx reads them.

``<!-- report: sbp -->`` is the place of what was found about a paper, ``<!-- report: papers -->`` of a table of all.
The report is read as Markdown, as ``kernbench report`` writes it: claims from ``summary.md``, tables and remarks from
``details/``. A heading that is not there raises LookupError, so that a page cannot lose its table unnoticed.
"""

import re
from dataclasses import dataclass
from pathlib import Path

REPORT = Path(__file__).resolve().parent.parent / "reports"
PLACE = re.compile(r"^<!-- report: (\w+) -->$", re.MULTILINE)
CLAIM = re.compile(r"^\* \*(?P<verdict>[^*]+):\* (?P<claim>.*)$", re.MULTILINE)
KINDS = ("hold", "hold in part", "do not hold", "held so far", "did not hold so far", "could not be judged")
DIFFERENCES = "How this differs from the paper"


@dataclass(frozen=True)
class Paper:
    """A page of docs/papers.

    Attributes
    ----------
    page, group : str
        The file without suffix; the paper's heading in the report.
    tables : tuple of (experiment, heading)
        Sections of the report's details that the page shows; a heading may be the beginning of one.
    """

    page: str
    group: str
    tables: tuple


PAPERS = (
    Paper("sbp", "Batch perceptron", (("sbp-libsvm", "The paper's numbers, ours, and LIBSVM on the same machine"),)),
    Paper("roc_svm", "ROC-SVM", (("rocsvm-linear", "AUC on the test rows"), ("rocsvm-linear", "Time of a fit"))),
    Paper("scs", "Conjugate subgradients", (("scs-accuracy", "Accuracy on the test rows"),)),
    Paper(
        "partial_auc",
        "Partial AUC",
        (("pauc-test", r"pAUC over \[0.05, 0.5\] on the test rows"), ("pauc-test", "Time of a fit, α being chosen")),
    ),
    Paper(
        "doubly_sgd",
        "Doubly stochastic",
        (("dsg-svm", "Test error after one pass"), ("dsg-svm", "Test error in the time of")),
    ),
)


def insert(app, docname, source):
    """Put what was found into a page that Sphinx has read."""
    source[0] = filled(source[0])


def filled(text, folder=REPORT):
    """Return the text of a page with what the report in `folder` says."""
    pages = {paper.page: paper for paper in PAPERS}
    return PLACE.sub(
        lambda found: overview(folder) if found[1] == "papers" else findings(folder, pages[found[1]]), text
    )


def section(text, heading, level=2):
    """Return what a Markdown text has below a heading, up to the next one of the same or a higher level."""
    found = re.search(rf"^{'#' * level} {re.escape(heading)}\n(.*?)(?=^#{{1,{level}}} |\Z)", text, re.M | re.S)
    if not found:
        raise LookupError(f"the report has no section {heading!r}: run kernbench report, or change docs/_papers.py")
    return found[1].strip()


def titled(text, beginning):
    """Return the only heading of the second level that begins so; what was given if there is no such heading."""
    found = re.findall(rf"^## ({re.escape(beginning)}.*)$", text, re.M)
    return found[0] if len(found) == 1 else beginning


def _details(folder, experiment):
    return (folder / "details" / f"{experiment}-paper.md").read_text(encoding="utf-8")


def _group(folder, paper):
    return section((folder / "summary.md").read_text(encoding="utf-8"), paper.group)


def counts(text):
    """Count the claims of a part of the summary by their verdicts, in the order of `KINDS`.

    In part holds what does on some of its data sets, whether it fails on the others, cannot be judged there, has too
    few repeats or no records, which follows a semicolon: as the page of the report marks it.
    """
    found = [0] * len(KINDS)
    for verdict in (match["verdict"] for match in CLAIM.finditer(text)):
        if verdict.startswith("does not hold"):
            kind = 2
        elif verdict.startswith("holds"):
            kind = 1 if ";" in verdict or re.match(r"holds on \d+ of \d", verdict) else 0
        elif verdict.startswith("held"):
            kind = 5 if "did not hold" in verdict or "cannot be judged" in verdict else 3
        else:
            kind = 4 if verdict.startswith("did not hold") else 5
        found[kind] += 1
    return found


def findings(folder, paper):
    """Return what was found: each experiment's claims with their verdicts, its table, and how it differs.

    Parameters
    ----------
    folder : Path
        A report as ``kernbench report --compact`` writes it.
    paper : Paper
    """
    claims = re.sub(r"^### \[([^\]]*)\]\(details/([^)]*)\), (.*)$", r"**[\1](../../reports/details/\2)**, \3",
                    _group(folder, paper), flags=re.MULTILINE)  # fmt: skip
    citation, claims = claims.split("\n\n", 1)
    parts = [f"{citation}.", "### Claims", claims]
    for experiment, heading in paper.tables:
        details = _details(folder, experiment)
        title, heading = details.splitlines()[0].removeprefix("# "), titled(details, heading)
        parts += [f"### {heading}", f"{title}:", section(details, heading)]
    for experiment in dict.fromkeys(name for name, _ in paper.tables):
        parts += [f"### {DIFFERENCES}", section(_details(folder, experiment), DIFFERENCES)]
    return "\n\n".join(parts) + "\n"


def overview(folder):
    """Return the table of all papers: how many of the claims hold; "so far" in repeats that are too few to judge."""
    rows = []
    for paper in PAPERS:
        text = _group(folder, paper)
        citation = text.splitlines()[0]
        numbers = " | ".join(str(n) for n in counts(text))
        rows.append(f"| [{citation}](papers/{paper.page}.md) | {numbers} |\n")
    head = f"| paper | {' | '.join(KINDS)} |\n|---|{'---:|' * len(KINDS)}\n"
    return head + "".join(rows)
