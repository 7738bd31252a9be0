"""The page: the choices first, a menu by paper, sections with one figure and one table open; a short summary."""

import re
from dataclasses import replace

import pytest

from kernbench._models import MODELS
from kernbench.experiments import registry
from kernbench.experiments.declare import MetricTable, Profiles
from kernbench.report import build
from kernbench.report.charts.drawing.svg import _shorter, share_styles
from kernbench.report.page.page import solver_table
from kernbench.report.page.sections import make_section
from kernbench.solvers.registry import SOLVERS


@pytest.fixture
def page(write, records, tmp_path):
    def page(rows):
        built = build(write(rows), tmp_path / "out")
        return built.page.read_text(encoding="utf-8")

    return page


@pytest.mark.usefixtures("undrawn")
def test_the_choices_come_first(page, records):
    content = page(records.race(1))
    first = content.split("</section>")[0]
    assert "Which method for your data?" in first
    assert first.index('<figure class="wide">') < first.index("What to use") < first.index("<details>")
    assert first.index('<figure class="panels choices">') < first.index("Which method, over all races")
    assert '<a href="#toy-paper">A toy race</a>' in first and '<section id="toy-paper"' in content


@pytest.mark.usefixtures("undrawn")
def test_a_new_experiment_stands_under_its_own_group(toy, page, records, monkeypatch):
    others = (replace(toy, name="other", group="A new paper"), replace(toy, name="third", group="A new paper"))
    monkeypatch.setattr(registry, "EXPERIMENTS", (toy, *others))
    rows = [record | {"experiment": name, "key": f"{name}/{record['key']}"}
            for name in ("third", "other", "toy") for record in records.race(1)]  # fmt: skip
    content = page(rows)
    menu = re.search(r"<nav.*?</nav>", content, re.DOTALL)[0]
    assert re.findall(r"<h2>(.*?)</h2>", menu) == ["A new paper", "Ours"]
    assert re.findall(r'href="#([^"]+)"', menu) == ["other-paper", "third-paper", "toy-paper"]  # the registry's order
    assert [content.index(f'<section id="{name}-paper"') for name in ("other", "third", "toy")] == sorted(
        content.index(f'<section id="{name}-paper"') for name in ("other", "third", "toy")
    )


@pytest.mark.usefixtures("undrawn")
def test_a_section_opens_one_figure_and_one_table(toy, page, records, monkeypatch):
    more = Profiles("profile", "Times", "fit_seconds")
    wide = replace(
        toy, figures=(*toy.figures, more), tables=(*toy.tables, MetricTable("x", "Another", ("test_error",)))
    )
    monkeypatch.setattr(registry, "EXPERIMENTS", (wide,))
    content = page(records.race(1))
    section = re.search(r'<section id="toy-paper".*?</section>', content, re.DOTALL)[0]
    opened = re.sub(r"<details>.*?</details>", "", section, flags=re.DOTALL)
    assert opened.count("<figure") == 1 and opened.count("<table") == 1
    assert "More figures (1)" in section and "More tables (2)" in section
    assert "<details open" not in section


@pytest.mark.usefixtures("undrawn")
def test_the_place_in_the_paper_stands_in_the_menu(toy, records):
    experiment = replace(toy, paper="A, B: Title, Venue 2012, Figure 2", group="B")
    section = make_section(records.results(experiment, records.race(1)), [])
    assert section.place == "Figure 2"


def test_every_experiment_of_a_paper_names_its_place_and_group():
    groups = {}
    for experiment in registry.EXPERIMENTS:
        groups.setdefault(experiment.group, []).append(experiment)
        if experiment.group != "Ours":
            assert re.search(r"\b(Table|Figure|section)", experiment.paper), experiment.name
    assert {"ROC-SVM", "Conjugate subgradients", "Partial AUC", "Batch perceptron", "Doubly stochastic", "Ours"} <= set(
        groups
    )


@pytest.mark.usefixtures("undrawn")
def test_solvers_of_one_name_are_told_apart_by_their_estimator(write, records, tmp_path):
    blocks = solver_table().blocks
    for heading, rows in blocks:
        assert heading.partition(":")[0] in {model.name for model in MODELS}
        assert len({name.text for name, *_ in rows}) == len(rows), heading
    assert sum(len(rows) for _, rows in blocks) == len(SOLVERS)
    page = build(write(records.race(1)), tmp_path / "out").page.read_text(encoding="utf-8")
    assert f"All {len(SOLVERS)} solvers" in page and "KernelNuSVC: " in page


@pytest.mark.usefixtures("undrawn")
def test_details_of_an_experiment_stand_beside_the_summary(write, records, tmp_path):
    build(write(records.race(1)), tmp_path / "out")
    summary = (tmp_path / "out/summary.md").read_text(encoding="utf-8")
    details = (tmp_path / "out/details/toy-paper.md").read_text(encoding="utf-8")
    assert "details/toy-paper.md" in summary and "Accuracy, time, memory and optimality" not in summary
    assert "Accuracy, time, memory and optimality" in details and "kernbench run toy" in details


def test_numbers_in_csv_are_numbers(write, records, tmp_path):
    build(write(records.race()), tmp_path / "out")
    paths = list((tmp_path / "out").rglob("*.csv"))
    assert len(paths) > 3
    for path in paths:
        assert not re.search(r"np\.|'-?\d", path.read_text(encoding="utf-8")), path


def test_lines_are_thinned_to_what_a_screen_shows():
    straight = "M 0 0 " + " ".join(f"L {k} {k / 2:.1f}" for k in range(1, 200))
    assert _shorter(straight) == "M 0 0 199 99.5"
    steps = "M 0 0 " + " ".join(f"L {k} {50 * (k % 2)}" for k in range(1, 60))
    assert _shorter(steps).count(" ") == 120  # every corner of a zigzag stays


def test_shared_styles_lose_nothing():
    html = "".join(f'<path style="fill: {colour}" d="{k}"/>' for k in range(3) for colour in ("red", "blue"))
    short, css = share_styles(html + '<path style="once"/>')
    classes = dict(re.findall(r"svg \.(s\d+) \{ (.*?) \}", css))
    assert re.sub(r'class="(s\d+)"', lambda name: f'style="{classes[name[1]]}"', short) == html + '<path style="once"/>'


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize(
    ("n_measured", "says"),
    [(1, "Of the 3 declared, 1 repeat of each fit was measured."), (2, "1 to 2 repeats of each fit were"), (3, "")],
)
def test_the_note_says_how_many_of_the_declared_repeats_were_measured(toy, records, n_measured, says):
    paper = replace(toy, differs="The paper has 10; here there are 3 repeats.", note="More.")
    rows = records.race(n_measured) + ([] if n_measured != 2 else records.race(1, dataset="mnist"))
    note = make_section(records.results(paper, rows), []).note
    assert says in note and ("declared" in note) == bool(says)
    assert note.startswith(paper.differs) and note.endswith(" More.")
    assert make_section(records.results(toy, rows), []).note == toy.note  # an experiment of no paper


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize(
    ("n_measured", "others", "says"),
    [
        (5, 5, "5 repeats of each fit were measured, in place of 3."),
        (2, 5, "2 to 5 repeats of each fit were measured, in place of 3."),
    ],
)
def test_the_note_does_not_leave_more_repeats_than_declared_untold(toy, records, n_measured, others, says):
    paper = replace(toy, differs="The paper has 10; here there are 3 repeats.", note="More.")
    rows = records.race(n_measured) + records.race(others, dataset="mnist")
    assert make_section(records.results(paper, rows), []).note == f"{paper.differs} {says} More."
