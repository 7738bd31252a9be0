"""The documentation site without building it: no public name, no page and no link is forgotten."""

import importlib
import importlib.util
import inspect
import posixpath
import re
import subprocess
import sys
from pathlib import Path

import pytest

import kernbench
from kernbench._models import MODELS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
TOCTREE = re.compile(r"^ *(?:```\{toctree\}|\.\. toctree::)\n((?: *:[^\n]*\n)*)\n?((?:[ \w./-]+\n)+)", re.MULTILINE)
GALLERY = "gallery/index"  # written by sphinx-gallery, with its own toctree


def load(name):
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)  # dataclasses look there
    spec.loader.exec_module(module)
    return module


pages, design, papers = load("_pages"), load("_design"), load("_papers")


@pytest.fixture(scope="module")
def texts():
    """Page of the site, without suffix -> text."""
    own = {
        path.relative_to(DOCS).with_suffix("").as_posix(): path.read_text(encoding="utf-8")
        for path in DOCS.rglob("*.md")
        if path.relative_to(DOCS).parts[0] not in pages.WRITTEN
    }
    own = {page: papers.filled(design.filled(text)) for page, text in own.items()}
    own = {page: pages.links_on_site(text, f"docs/{page}.md") for page, text in own.items()}
    written = pages.api_pages() | pages.copied_pages()
    return own | {posixpath.splitext(name)[0]: text for name, text in written.items()}


def slugs(text):
    """The anchors of a Markdown page, as GitHub and MyST make them."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#{1,4} (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


# --- the API reference ----------------------------------------------------------------------------


def test_every_public_name_has_a_page():
    """Of the package itself and of all its public packages; names that are shown twice have one."""
    shown = [(module, name) for module, names in pages.documented().values() for name in names]
    assert len(set(shown)) == len(shown)
    objects = {id(getattr(importlib.import_module(m), name)) for m, name in shown if m not in pages.NEEDS_MORE}
    missing = []
    for package in ("kernbench", *(f"kernbench.{name}" for name in kernbench._PACKAGES)):
        module = importlib.import_module(package)
        for name in getattr(module, "__all__", ()):
            if name != "__version__" and id(getattr(module, name)) not in objects:
                missing.append(f"{package}.{name}")
    assert not missing


@pytest.mark.parametrize("module", pages.NEEDS_MORE)
def test_public_names_of_a_module_that_is_only_read_are_those_it_has(module):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    found = importlib.import_module(module)
    assert sorted(pages.public_names(module)) == sorted(found.__all__)
    for name in found.__all__:
        kind, summary = pages.described(module, name)
        assert kind == ("class" if isinstance(getattr(found, name), type) else "function") and len(summary) > 15


def test_a_row_of_the_reference_says_what_a_name_is():
    index = pages.api_pages()["api/index.rst"]
    rows = re.findall(r"^   \* - :doc:`([^<]+) <[^>]+>`\n     - (.*)$", index, re.MULTILINE)
    assert len(rows) > 100
    assert [name for name, summary in rows if len(summary) < 15 or summary.startswith(f"{name}(")] == []


def test_inherited_members_of_other_packages_are_left_out():
    model = kernbench.KernelSVC
    assert (
        pages.skip_foreign_members(None, "class", "get_metadata_routing", model.get_metadata_routing, False, {}) is True
    )
    assert pages.skip_foreign_members(None, "class", "path", model.path, False, {}) is None


def test_headings_of_docstrings_are_underlined_on_a_line_of_their_own():
    """A paragraph that is wrapped together with its heading is no section."""
    sections = "Attributes|Examples|Notes|Parameters|Raises|References|Returns|See Also|Yields"
    joined = re.compile(rf"^ *(?:{sections}) +-{{4,}}", re.MULTILINE)
    package = Path(kernbench.__file__).parent
    found = [path for path in package.rglob("*.py*") if path.suffix in (".py", ".pyx")]
    assert len(found) > 300
    assert [path.name for path in found if joined.search(path.read_text(encoding="utf-8"))] == []


def test_docstrings_on_the_site_have_bars_in_code_only():
    """Elsewhere |x| is a substitution in reStructuredText, and a build of the site fails."""
    code, wrong = re.compile(r"``.*?``|::\n\n(?:(?: +.*)?\n)+|^>>>.*", re.MULTILINE), []
    for module, names in pages.documented().values():
        for name in names if module not in pages.NEEDS_MORE else ():
            shown = getattr(importlib.import_module(module), name)
            members = inspect.getmembers(shown) if inspect.isclass(shown) else []
            own = {f"{name}.{member}": value for member, value in members if not member.startswith("_")}
            for place, value in ({name: shown} | own).items():
                if re.search(r"(?<![\w|\\])\|(?![\s|])", code.sub("", f"{inspect.getdoc(value)}\n")):
                    wrong.append(place)
    assert wrong == []


def test_types_of_docstrings_become_text_that_links_to_nothing():
    lines = [
        "Attributes",
        "----------",
        "names_ : ndarray of shape (n_features_in_,)",
        "    Of x_.",
        "a : {1, \\",
        "  2}",
    ]
    pages.as_restructured_text(None, "class", "X", None, {}, lines)
    assert lines == [*lines[:2], "names_ : ndarray of shape (`n_features_in_`,)", "    Of x_.", "a : {1, 2}"]


# --- the chart of estimators -----------------------------------------------------------------------


def branches(text):
    """Yield (first answer, modules that are linked below it) of the chart, a list of lists in Markdown."""
    chart = text[text.index(":::{div} chart") :]
    for branch in re.split(r"^  - ", chart, flags=re.MULTILINE)[1:]:
        answer, _, below = branch.partition("\n")
        yield answer, re.findall(r"\]\(\.\./(kernbench/[\w/]+\.py)\)", below)


def test_the_chart_leads_to_every_model_in_the_branch_of_its_task():
    text = (DOCS / "choose.md").read_text(encoding="utf-8")
    found = {module: answer for answer, modules in branches(text) for module in modules}
    tasks = {model.address.partition(":")[0].replace(".", "/") + ".py": model.task for model in MODELS}
    assert found.keys() == tasks.keys()
    for task in set(tasks.values()):
        assert len({found[module] for module in tasks if tasks[module] == task}) == 1, task
    assert len(set(found.values())) == len(set(tasks.values()))


def test_links_of_the_chart_are_pages_of_the_reference():
    text = (DOCS / "choose.md").read_text(encoding="utf-8")
    on_site = pages.links_on_site(text, "docs/choose.md")
    for model in MODELS:
        module = "kernbench.features" if model.task == "transform" else "kernbench"
        assert f"[`{model.name}`](api/{module}.{model.name}.rst)" in on_site


# --- the design -----------------------------------------------------------------------------------


def test_every_package_is_in_the_table_of_the_design():
    folders = {path.parent.name for path in Path(kernbench.__file__).parent.glob("*/__init__.py")}
    assert set(design.ORDER) == folders
    rows = re.findall(r"^\| `(\w+)` \| (.{20,}) \|$", design.packages(), re.MULTILINE)
    assert [name for name, _ in rows] == list(design.ORDER)


def test_diagrams_of_the_design_are_those_of_docstrings():
    text = (DOCS / "design.md").read_text(encoding="utf-8")
    places = [name for name in design.PLACE.findall(text) if name != "packages"]
    filled = design.filled(text)
    assert len(places) > 4 and not design.PLACE.search(filled)
    for name in places:
        docstring = importlib.import_module(f"kernbench.{name.replace('/', '.')}").__doc__
        lines = design.diagram(name).split("\n")[1:-2]
        assert len(lines) > 2 and all(line in docstring and line in filled for line in lines)
    with pytest.raises(LookupError, match="validation has no diagram"):
        design.diagram("validation")


# --- pages and links ------------------------------------------------------------------------------


def test_every_page_is_in_one_toctree(texts):
    found = []
    for page, text in texts.items():
        for _, entries in TOCTREE.findall(text):
            for entry in entries.split():
                found.append(posixpath.normpath(posixpath.join(posixpath.dirname(page), entry)))
    missing = {*texts, GALLERY} - {"index", *found}
    assert not missing, f"no toctree has {sorted(missing)}: add them to that of docs/guides.md or of another page"
    assert sorted(found) == sorted({*texts, GALLERY} - {"index"})


def test_links_lead_to_pages_and_their_headings(texts):
    wrong = []
    for page, text in texts.items():
        for target, anchor in re.findall(r"\]\((?!https?:|mailto:)([^)#\s]*)(#[^)\s]*)?\)", text):
            place = posixpath.normpath(posixpath.join(posixpath.dirname(page), target)) if target else f"{page}.md"
            name, suffix = posixpath.splitext(place)
            if name.startswith("gallery/"):
                name = name.removeprefix("gallery/")
                known = name == "index" or (ROOT / "examples" / f"{name}.py").is_file()
            elif suffix in (".md", ".rst"):
                known = name in texts and (not anchor or anchor[1:] in slugs(texts[name]))
            else:
                known = (DOCS / place).is_file()
            if not known:
                wrong.append(f"{page}: {target}{anchor}")
        for target in re.findall(r"^:link: (\S+)\n:link-type: doc", text, re.MULTILINE):
            place = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
            example = ROOT / "examples" / f"{place.removeprefix('gallery/')}.py"
            if place not in {*texts, GALLERY} and not (place.startswith("gallery/") and example.is_file()):
                wrong.append(f"{page}: {target}")
    assert not wrong


@pytest.mark.parametrize(
    "file, text, on_site",
    [
        ("docs/benchmarks.md", "[a](../CONTRIBUTING.md#x)", "[a](project/contributing.md#x)"),
        ("docs/papers/a.md", "[a](../../reports/details/b-paper.md)", "[a](../report/b-paper.md)"),
        ("CONTRIBUTING.md", "[a](docs/benchmarks.md) [b](#c)", "[a](../benchmarks.md) [b](#c)"),
        ("reports/summary.md", "[a](index.html)", '<a href="../reports/index.html">a</a>'),
        ("docs/a.md", "[a](https://b.org/c.md)", "[a](https://b.org/c.md)"),
    ],
)
def test_links_to_files_become_links_to_pages(file, text, on_site):
    assert pages.links_on_site(text, file) == on_site


def test_a_link_to_a_file_without_a_page_is_refused():
    with pytest.raises(ValueError, match="docs/a.md: the site has no page for ../setup.py"):
        pages.links_on_site("[a](../setup.py)", "docs/a.md")


def test_writing_pages_again_leaves_equal_files_and_removes_old_ones(tmp_path):
    pages.write(tmp_path)
    index = tmp_path / "api" / "index.rst"
    before, old = index.stat().st_mtime_ns, tmp_path / "api" / "kernbench.Gone.rst"
    old.write_text("")
    pages.write(tmp_path)
    assert index.stat().st_mtime_ns == before and not old.exists()
    assert (tmp_path / pages.EXTRA / "reports" / "index.html").is_file()


# --- the whole ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path):
    pytest.importorskip("sphinx_gallery", reason='needs pip install ".[docs]"')
    command = [sys.executable, "-P", "-m", "sphinx", "-q", "-W", "--keep-going", "-d", tmp_path / "trees", DOCS]
    result = subprocess.run([*command, tmp_path / "site"], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    for page in (tmp_path / "site").rglob("*.html"):
        assert str(ROOT) not in page.read_text(encoding="utf-8"), page
