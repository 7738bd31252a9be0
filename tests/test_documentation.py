"""What the README, the pages of docs/ and the docstrings show runs as it stands there."""

import ast
import builtins
import doctest
import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest

import kernbench
from kernbench._models import MODELS
from kernbench.cli import main
from kernbench.cli.group import CONTEXT
from kernbench.cli.models.estimators import NAMES, find, parameters
from kernbench.experiments import registry

ROOT = Path(__file__).parents[1]
WRITTEN = ("api", "gallery", "project", "report")  # folders that a build of the site fills
OWN = [path for path in sorted((ROOT / "docs").rglob("*.md")) if path.relative_to(ROOT).parts[1] not in WRITTEN]
PAGES = [ROOT / "README.md", *OWN]
OTHERS = [ROOT / name for name in ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "asv_bench/README.md")]
EXAMPLE = re.compile(r"^ *>>> (?!.*# doctest: \+SKIP)", re.MULTILINE)
WITH_EXAMPLES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted((ROOT / "kernbench").rglob("*.py*"))
    if path.suffix in (".py", ".pyx") and EXAMPLE.search(path.read_text(encoding="utf-8"))
    if path.relative_to(ROOT).parts[1] != "deep"  # tests/deep runs those
]
SNIPPETS = [page for page in PAGES if "```python" in page.read_text(encoding="utf-8")]


@pytest.mark.parametrize(
    "page",
    [page for page in SNIPPETS if page.name != "deep.md"],  # tests/deep runs those
    ids=lambda page: page.name,
)
def test_snippets_of_a_page_run_one_after_another(page, tmp_path, monkeypatch):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    monkeypatch.chdir(tmp_path)
    snippets = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert snippets
    names = {"__name__": "snippet"}
    for snippet in snippets:
        if "sklearn.callback" in snippet:
            pytest.importorskip("sklearn.callback", reason="scikit-learn has callbacks from 1.9 on")
        exec(compile(snippet, page.name, "exec"), names)


@pytest.mark.parametrize("module", WITH_EXAMPLES)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_examples_of_docstrings_run(module, tmp_path, monkeypatch):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    monkeypatch.chdir(tmp_path)
    results = doctest.testmod(import_module(module))
    assert results.attempted > 0 and results.failed == 0


def undefined_names(docstring):
    """Names that the example of a docstring uses and neither imports nor defines."""
    examples = doctest.DocTestParser().get_examples(docstring)
    nodes = list(ast.walk(ast.parse("".join(example.source for example in examples))))
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    known = {alias.asname or alias.name.partition(".")[0] for node in imports for alias in node.names}
    known |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    known |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    names = [node for node in nodes if isinstance(node, ast.Name)]
    known |= {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return {node.id for node in names} - known - vars(builtins).keys()


def test_names_that_an_example_does_not_define_are_found():
    assert undefined_names(">>> import a.b, c as d\n>>> e = [a, d, *(f(g) for g in range(3))]") == {"f"}
    assert undefined_names(">>> def f(a=b):\n...     return a\n>>> f(c)\n1") == {"b", "c"}


def test_examples_of_docstrings_import_what_they_use():
    """Whoever copies one from the site has none of the names of its module."""
    missing = {}
    paths = (path for path in sorted((ROOT / "kernbench").rglob("*.py*")) if path.suffix in (".py", ".pyx"))
    for path, text in ((path, path.read_text(encoding="utf-8")) for path in paths):
        if ">>>" in text and path.suffix == ".py":
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.ClassDef | ast.FunctionDef) and (docstring := ast.get_docstring(node)):
                    if names := undefined_names(docstring):
                        missing[f"{path.stem}.{node.name}"] = names
        elif ">>>" in text and path.suffix == ".pyx":
            for docstring in re.findall(r'"""(.*?)"""', text, re.DOTALL):
                if names := undefined_names(docstring):
                    missing[f"{path.stem}: {docstring.partition('.')[0]}"] = names
    assert missing == {}


def test_pages_with_snippets_are_found():
    names = {page.name for page in SNIPPETS}
    assert {"README.md", "index.md", "kernel_svm.md", "roc_svm.md", "estimators.md", "deep.md"} <= names


def test_docstrings_with_examples_are_found_and_every_model_has_some():
    modules = {model.address.partition(":")[0] for model in MODELS}
    assert modules | {"kernbench.metrics", "kernbench.pairs._pairs", "kernbench.plot.trace"} <= set(WITH_EXAMPLES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_of_a_page_lead_to_files(page):
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if not (page.parent / link).exists()]
    assert not missing


FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
ESTIMATOR, SETTING = re.compile(r"--estimator\s+(\w+)"), re.compile(r"--set \"?(\w+)=")


def commands_of(text):
    """The commands ``kernbench …`` of a page, in its blocks for a shell and in its sentences."""
    blocks = [block for language, block in FENCED.findall(text) if language in ("", "sh")]
    inline = [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", FENCED.sub("", text))]
    lines = [line.removeprefix("$ ") for line in (*"".join(blocks).splitlines(), *inline)]
    parts = [part.strip() for line in lines for part in line.split("&&")]
    return [part for part in parts if part.startswith("kernbench ")]


@pytest.mark.parametrize("page", [*PAGES, *OTHERS], ids=lambda page: page.parent.name + "-" + page.name)
def test_commands_of_a_page_exist_with_their_options_and_experiments(page):
    commands = commands_of(page.read_text(encoding="utf-8"))
    assert commands or page.name not in ("README.md", "benchmarks.md", "CONTRIBUTING.md")
    for command in commands:
        words, group = shlex.split(command, comments=True)[1:], main
        while hasattr(group, "get_command") and words:
            group = group.get_command(None, words.pop(0))
            assert group is not None, command
        known = {name for parameter in group.params for name in parameter.opts} | {"--help"}
        assert {word for word in words if word.startswith("--")} <= known, command
        if group.name in ("run", "snapshot") and "--plugin" not in words:
            named = group.make_context(group.name, words, resilient_parsing=True, **CONTEXT).params["experiments"]
            assert {*named} <= {*registry.names(), "all", "NAME", "width"}, command  # CONTRIBUTING.md declares the last


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name + "-" + page.name)
def test_estimators_and_settings_of_a_page_exist(page):
    text = page.read_text(encoding="utf-8")
    assert {*ESTIMATOR.findall(text)} <= NAMES.keys()
    known = {name for model in NAMES.values() for name in parameters(model.load())}
    assert {*SETTING.findall(text)} <= known  # in tables, of one estimator or another
    for command in commands_of(text):
        if command.startswith("kernbench fit"):
            model = find(*ESTIMATOR.findall(command) or ["kernelsvc"], tune="--tune" in command)
            assert {*SETTING.findall(command)} <= parameters(model.load()).keys(), command


def test_commands_are_found_in_blocks_and_in_sentences():
    text = "a `kernbench list` b\n\n```\n$ pip install . && kernbench run  # c\n```\n`x\ny` `kernbench\nfit a`\n"
    assert commands_of(text) == ["kernbench run  # c", "kernbench list", "kernbench fit a"]


def test_maps_of_packages_are_complete():
    """A docstring that names four modules of five names all: a new one belongs on the map."""
    missing = {}
    for path in sorted(Path(kernbench.__file__).parent.rglob("__init__.py")):
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        files = [file.stem for file in path.parent.iterdir() if file.suffix in (".py", ".pyx")]
        modules = {name.lstrip("_") for name in files if not name.startswith("__")}
        modules |= {inner.parent.name for inner in path.parent.glob("*/__init__.py")}
        unnamed = {name for name in modules if not re.search(rf"(?<![a-z]){name}(?![a-z])", text, re.IGNORECASE)}
        if 5 * len(unnamed) <= len(modules) and unnamed:
            missing[path.parent.name] = unnamed
    assert not missing
