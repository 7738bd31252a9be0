"""Stubs are those that tools/types/stubs writes; results have the types of docstrings; what users write runs."""

import ast
import inspect
import re
import runpy
from importlib import import_module
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import get_type_hints

import pytest

import kernbench
from kernbench import plot
from kernbench._models import BY_NAME, MODELS
from kernbench.distributed import Distributed

TOOLS = Path(__file__).resolve().parents[1] / "tools" / "types"
SCRIPT = TOOLS / "stubs"
loader = SourceFileLoader("types_stubs", str(SCRIPT))
stubs = module_from_spec(spec_from_loader("types_stubs", loader))
loader.exec_module(stubs)


@pytest.mark.parametrize("package", stubs.PACKAGES)
def test_the_stub_names_what_the_package_offers(package):
    folder = Path(import_module(package).__file__).parent
    found = (folder / "__init__.pyi").read_text()
    assert found == stubs.stub_of(package), "run tools/types/stubs"


COMPILED_STUBS = sorted(Path(kernbench.__file__).parent.rglob("_[a-z]*.pyi"))


def parameters(function):
    """Names and defaults; not which are keywords only, as Cython's text has its ``*`` one place too late."""
    given = function.args
    named = [one.arg for one in given.args + given.kwonlyargs if one.arg != "self"]
    values = [ast.unparse(value) for value in given.defaults + given.kw_defaults if value is not None]
    return named, values


@pytest.mark.parametrize("path", COMPILED_STUBS, ids=lambda path: path.stem)
def test_the_stub_of_a_compiled_module_is_true(path):
    """Its classes have those methods and attributes, with those parameters, and no other public ones."""
    module = import_module(f"kernbench.{path.parent.name}.{path.stem}")
    classes = [node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.ClassDef)]
    assert {node.name for node in classes} == {
        name for name, found in vars(module).items() if inspect.isclass(found) and found.__module__ == module.__name__
    }
    for node in classes:
        found = getattr(module, node.name)
        assert [base.id for base in node.bases] in ([], [found.__base__.__name__])
        described = {function.name: function for function in node.body}
        assert described.keys() - {"__init__"} == {name for name in vars(found) if not name.startswith("_")}
        for name, function in described.items():
            if name == "__init__":
                text = found.__doc__.partition("\n")[0].replace(node.name, "def f", 1) + ": ..."
                assert parameters(function) == parameters(ast.parse(text).body[0]), node.name
            elif not function.decorator_list:  # a property has no parameters
                names = [one for one in inspect.signature(getattr(found, name)).parameters if one != "self"]
                assert parameters(function)[0] == names, f"{node.name}.{name}"


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_every_parameter_of_a_model_has_a_type(model):
    for method in ("__init__", "fit"):
        function = inspect.unwrap(getattr(model.load(), method))
        missing = [
            name
            for name, parameter in inspect.signature(function).parameters.items()
            if name != "self" and parameter.annotation is parameter.empty
        ]
        assert not missing, f"{model.name}.{method}: {missing}"


def documented_attributes(cls):
    """Fitted attributes of a docstring, and of those of the models whose attributes it says it has, too."""
    section = re.split(r"\n\n\S+[^\n]*\n---", inspect.getdoc(cls).partition("\nAttributes\n----------\n")[2])[0]
    names = set(re.findall(r"\b\w+_\b", " ".join(re.findall(r"(?m)^\w+(?:, \w+)*", section))))
    for name in re.findall(r"All other attributes are those of `(\w+)`", section):
        names |= documented_attributes(BY_NAME[name].load())
    return names


def declared_attributes(cls):
    """Names that a type checker finds in a class: those of its body, and those that its methods assign to ``self``."""
    names = set()
    for base in cls.__mro__:
        names |= vars(base).keys() | inspect.get_annotations(base).keys()
        if base.__module__.startswith("kernbench"):
            nodes = [node for node in ast.walk(ast.parse(inspect.getsource(base))) if isinstance(node, ast.Attribute)]
            names |= {
                node.attr for node in nodes if isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self"
            }
    return names


FITTED = [*(model.load() for model in MODELS), *(getattr(plot, name) for name in plot.__all__), Distributed]


@pytest.mark.parametrize("cls", FITTED, ids=lambda cls: cls.__name__)
def test_every_documented_attribute_is_declared(cls):
    """Checkers that read the sources of scikit-learn, as pyright does, call any other one an error."""
    documented = documented_attributes(cls)
    assert documented and documented <= declared_attributes(cls)


# What some models choose by themselves and others are given; and kernels, of which functions have no random features.
DIFFER = {"alphas", "batch_size", "block_size", "kernel", "n_features", "n_landmarks"}


def test_a_parameter_has_the_same_type_in_all_models():
    """Many are described by the name of another model alone."""
    types = {}
    for model in MODELS:
        for name, annotation in get_type_hints(model.load().__init__).items():
            types.setdefault(name, {}).setdefault(str(annotation), []).append(model.name)
    assert {name: found for name, found in types.items() if len(found) > 1 and name not in DIFFER} == {}
    assert all(len(types[name]) > 1 for name in DIFFER)


def returned_names(docstring):
    """The names of the parts of a result that a docstring lists; none of a result that is one."""
    found = re.search(r"^Returns\n-+\n(.*?)(?=\n\n|\Z)", docstring or "", re.MULTILINE | re.DOTALL)
    lines = re.findall(r"^(\w[\w, ]*) : ", found[1], re.MULTILINE) if found else []
    names = [name for line in lines for name in line.split(", ")]
    return names if len(names) > 1 else []


def test_names_of_the_parts_of_a_result_are_read():
    assert returned_names("A.\n\nReturns\n-------\na, b : float\n    C : d.\nc : int\n\nRaises\n") == ["a", "b", "c"]
    assert returned_names("A.\n\nReturns\n-------\nndarray of shape (n,)") == returned_names(None) == []


def test_a_result_of_several_parts_is_a_tuple_of_as_many_types():
    package, n_found, wrong = Path(kernbench.__file__).parent, 0, []
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = returned_names(ast.get_docstring(node)) if isinstance(node, ast.FunctionDef) else []
            annotation = ast.unparse(node.returns) if names and node.returns else "Any"
            if annotation != "Any":
                n_found += 1
                tuples = [part for part in ast.walk(node.returns) if isinstance(part, ast.Subscript)]
                if [len(part.slice.elts) for part in tuples if part.value.id == "tuple"] != [len(names)]:
                    wrong.append(f"{path.name}: {node.name} -> {annotation} for {', '.join(names)}")
    assert not wrong and n_found > 10


def test_what_users_write_runs(tmp_path, monkeypatch, capsys):
    """Type checkers do not: they believe wrong types of results."""
    pytest.importorskip("matplotlib.pyplot").switch_backend("agg")
    monkeypatch.chdir(tmp_path)
    found = runpy.run_path(str(TOOLS / "typical_use.py"))
    assert found["n_predicted"] == found["n_in_file"] == len(found["mean"]) == len(found["X"])
    assert found["unlabelled"]
