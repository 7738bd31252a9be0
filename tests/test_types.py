"""Stubs of the packages that import their names on first use are those that tools/types/stubs writes."""

import inspect
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

from kernbench._models import MODELS

SCRIPT = Path(__file__).resolve().parents[1] / "tools" / "types" / "stubs"
loader = SourceFileLoader("types_stubs", str(SCRIPT))
stubs = module_from_spec(spec_from_loader("types_stubs", loader))
loader.exec_module(stubs)


@pytest.mark.parametrize("package", stubs.PACKAGES)
def test_the_stub_names_what_the_package_offers(package):
    import importlib

    folder = Path(importlib.import_module(package).__file__).parent
    found = (folder / "__init__.pyi").read_text()
    assert found == stubs.stub_of(package), "run tools/types/stubs"


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
