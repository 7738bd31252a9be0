"""Pages that the site takes from elsewhere: the API reference, the report, and files of the root folder.

The pages of docs/ are written to be read on GitHub, too: their links lead to files of the repository. `site_page` says
which page of the site shows a file, and `links_to_pages` follows it.
"""

import ast
import importlib
import inspect
import posixpath
import re
import shutil
from pathlib import Path

import kernbench
from kernbench._models import BY_NAME, ESTIMATORS, TRANSFORMERS

ROOT = Path(__file__).resolve().parent.parent
INSTALLED = Path(kernbench.__file__).parent.parent  # where kernbench is imported from
CITATION = re.compile(r"\s*\[\d+\]_")
CONTINUED = re.compile(r"\\\n\s*")  # a backslash at the end of a line
TYPE_LINE = re.compile(r"^\w[\w, *]* : .*$", re.MULTILINE)
FITTED = re.compile(r"(?<![\w`])(\w+_)(?![\w`])")  # n_features_in_, which would be a link
LINK = re.compile(r"\[([^\]]*)\]\((?!https?:|mailto:|#)([^)#\s]+)(#[^)\s]*)?\)")
EXTRA = "report/files"  # below docs/: copied to the root of the site as it is
WRITTEN = ("api", "gallery", "project", "report")  # folders of docs/ that a build fills

# Where the site shows files that are not in docs/: the file, and its page without suffix.
SHOWN = {
    "README.md": "index",
    "CONTRIBUTING.md": "project/contributing",
    "CHANGELOG.md": "project/changelog",
    "asv_bench/README.md": "project/asv",
    "reports/summary.md": "report/index",
    "reports/details": "report/index",
    "examples": "gallery/index",
}
# Links to the module of a public class lead to the class in the API reference.
CLASSES = {
    f"{model.address.partition(':')[0].replace('.', '/')}.py": f"api/{module}.{model.name}"
    for module, models in (("kernbench", ESTIMATORS), ("kernbench.features", TRANSFORMERS))
    for model in models
}
# Pages of their own, copied to the same places of the site beside the files that they link to.
COPIED = ("reports/index.html", "reports/history.html", "reports/summary.md", "reports/records.jsonl.xz")

TASKS = {
    "Labels": "classify",
    "Rankings of two classes": "rank",
    "Numbers": "regress",
    "Novelty and density ratios": ("novelty", "ratio"),
}
MODULES = {  # of the API reference, in its order; estimators and saving show what the package itself shows
    "kernbench.features": None,
    "kernbench.kernels": None,
    "kernbench.metrics": None,
    "kernbench.plot": None,
    "kernbench.datasets": None,
    "kernbench.distributed": None,
    "kernbench.deep": None,
    "kernbench.pairs": None,
    "kernbench.saving": ("save",),
    "kernbench.solvers.registry": ("names", "get", "add"),
    "kernbench.solvers.driver": ("run", "FitResult"),
    "kernbench.solvers.entry": ("SolverEntry",),
    "kernbench.experiments": None,
    "kernbench.report": None,
}
NEEDS_MORE = ("kernbench.deep",)  # PyTorch, which a build of the site does without


# --- links ----------------------------------------------------------------------------------------


def site_page(path):
    """Return the page of the site that shows a file of the repository, without suffix; None if none does."""
    if path in SHOWN:
        return SHOWN[path]
    folder, name = posixpath.split(path)
    if folder == "reports/details" and name.endswith(".md"):
        return f"report/{name.removesuffix('.md')}"
    if path in CLASSES:
        return CLASSES[path]
    if path.startswith("docs/") and path.endswith((".md", ".rst")):
        return posixpath.splitext(path.removeprefix("docs/"))[0]
    return None


def links_on_site(text, file):
    """Return the Markdown of `file` with links to files of the repository replaced by those to pages of the site.

    Raises
    ------
    ValueError
        For a link to a file that the site does not show.
    """
    here = posixpath.dirname(site_page(file))

    def replaced(found):
        text, target, anchor = found.groups()
        path = posixpath.normpath(posixpath.join(posixpath.dirname(file), target))
        if path in COPIED and path.endswith(".html"):
            return f'<a href="{posixpath.relpath(path, here or ".")}">{text}</a>'
        page = site_page(path)
        if page is None:
            if path.startswith("docs/"):
                return found[0]  # a picture
            raise ValueError(f"{file}: the site has no page for {target}")
        suffix = ".rst" if page.startswith(("api/", "gallery/")) else ".md"
        return f"[{text}]({posixpath.relpath(page, here or '.')}{suffix}{anchor or ''})"

    return LINK.sub(replaced, text)


def links_to_pages(app, docname, source):
    """Replace links of a Markdown page that Sphinx has read, if it is a file of docs/."""
    if docname.split("/")[0] not in WRITTEN and (ROOT / f"docs/{docname}.md").is_file():
        source[0] = links_on_site(source[0], f"docs/{docname}.md")


# --- the API reference ----------------------------------------------------------------------------


def documented():
    """Return the sections of the API reference: title -> (module, names)."""
    sections = {}
    for title, tasks in TASKS.items():
        names = [model.name for model in ESTIMATORS if model.task in tasks]
        sections[title] = ("kernbench", names)
    others = [name for name in kernbench.__all__ if name not in BY_NAME and name != "__version__"]
    sections["Functions of the package"] = ("kernbench", others)
    return sections | {module: (module, public_names(module)) for module in MODULES}


def api_pages():
    """Return the pages of the API reference: path below docs/ -> text."""
    pages, index = {}, ["API reference", "=============", "", "Every public name, by what it is for.", ""]
    for title, (module, names) in documented().items():
        index += [title, "-" * len(title), ""]
        if title == module:
            index += [described(module)[1], ""]
        index += [f".. currentmodule:: {module}", "", ".. list-table::", "   :widths: 35 65", "   :class: api", ""]
        for name in names:
            page = f"{module}.{name}"
            index += [f"   * - :doc:`{name} </api/{page}>`", f"     - {described(module, name)[1]}"]
            pages[f"api/{page}.rst"] = _api_page(module, name)
        index += [
            "",
            ".. toctree::",
            "   :hidden:",
            f"   :caption: {title}",
            "",
            *(f"   {module}.{name}" for name in names),
            "",
        ]
    return pages | {"api/index.rst": "\n".join(index)}


def public_names(module):
    """Return the public names of a module in the order of `MODULES`, of one in `NEEDS_MORE` without importing it."""
    if module in NEEDS_MORE:
        return [name for name, _ in _read(module)]
    listed = MODULES[module] or importlib.import_module(module).__all__
    first = [model.name for model in TRANSFORMERS if module == "kernbench.features"]
    return [*first, *(name for name in listed if name not in first)]


def described(module, name=None):
    """Return what a public name is, ``"class"``, ``"function"`` or ``"data"``, and the first paragraph about it.

    Without a name, those of the module itself.
    """
    if module in NEEDS_MORE:
        node = dict(_read(module))[name] if name else _parsed(module)
        return ("class" if isinstance(node, ast.ClassDef) else "function"), _paragraph(ast.get_docstring(node))
    thing = importlib.import_module(module)
    if name:
        thing = getattr(thing, name)
        if not (inspect.isclass(thing) or callable(thing)):
            return "data", "The built-in ones, by name."
    text = inspect.getdoc(thing) or ""
    if name and text.startswith(f"{name}("):  # the signature, with which Cython begins docstrings of classes
        text = text.partition("\n\n")[2]
    return ("class" if inspect.isclass(thing) else "function"), _paragraph(text)


def _paragraph(text):
    return CITATION.sub("", " ".join(text.split("\n\n")[0].split()))


def _parsed(module):
    path = INSTALLED.joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(path.read_text(encoding="utf-8"))


def _read(module):
    """Yield the names that a module imports from its own package, and their definitions."""
    for imported in _parsed(module).body:
        if isinstance(imported, ast.ImportFrom) and imported.module.startswith(module):
            for alias in imported.names:
                yield alias.name, _definition(imported.module, alias.name)


def _definition(module, name):
    for node in _parsed(module).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
            return node
        if isinstance(node, ast.ImportFrom) and name in {alias.name for alias in node.names}:
            return _definition(node.module, name)
    raise LookupError(f"{module} does not define {name}")


def _api_page(module, name):
    kind = described(module, name)[0]
    lines = [name, "=" * len(name), "", f".. currentmodule:: {module}", "", f".. auto{kind}:: {name}"]
    if kind == "class":
        lines += ["   :members:", "   :inherited-members:"]
    if kind == "data":
        lines += ["   :no-value:"]
    lines += ["", f".. minigallery:: {module}.{name}", "   :add-heading: Gallery", "   :heading-level: -", ""]
    return "\n".join(lines)


def as_restructured_text(app, what, name, thing, options, lines):
    """Make types of parameters and attributes what numpydoc expects: on one line, fitted attributes as code."""
    text = CONTINUED.sub("", "\n".join(lines))
    lines[:] = TYPE_LINE.sub(lambda line: _type_with_code(line[0]), text).split("\n")


def _type_with_code(line):
    names, colon, kind = line.partition(" : ")
    return names + colon + FITTED.sub(r"`\1`", kind)


def skip_foreign_members(app, what, name, member, skip, options):
    """Leave out what a class inherits from other packages."""
    function = inspect.unwrap(member.fget if isinstance(member, property) else member)
    module = getattr(function, "__module__", None)
    return True if module and not module.startswith("kernbench") else None


# --- the report and files of the root folder ------------------------------------------------------


def copied_pages():
    """Return the pages that are files from elsewhere: path below docs/ -> text."""
    details = sorted((ROOT / "reports" / "details").glob("*.md"))
    files = [path for path in SHOWN if (ROOT / path).is_file() and path != "README.md"]
    files += [f"reports/details/{path.name}" for path in details]
    pages = {f"{site_page(path)}.md": links_on_site((ROOT / path).read_text(encoding="utf-8"), path) for path in files}
    names = "\n".join(path.stem for path in details)
    pages["report/index.md"] += f"\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"
    return pages


def write(docs):
    """Write all of these pages below `docs`, and remove those of an earlier build; leave equal files as they are."""
    pages = api_pages() | copied_pages()
    for folder in ("api", "project", "report"):
        for path in (docs / folder).glob("*.*"):
            if path.relative_to(docs).as_posix() not in pages:
                path.unlink()
    for name, text in pages.items():
        path = docs / name
        path.parent.mkdir(exist_ok=True)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for name in COPIED:
        copy = docs / EXTRA / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, copy)


if kernbench.__doc__ is None:
    raise RuntimeError("the API reference is written from docstrings: leave out -OO")
