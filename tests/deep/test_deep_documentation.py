"""What docs/deep.md shows runs as it stands there, and docstrings name what there is."""

import re
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="kernbench.deep needs PyTorch")

from kernbench.deep import DeepPartialAUCClassifier
from kernbench.deep.trainer.methods import METHODS

PAGE = Path(__file__).parents[2] / "docs" / "deep.md"


def test_snippets_of_the_page_run_one_after_another(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    snippets = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(snippets) > 4
    names = {"__name__": "snippet"}
    for snippet in snippets:
        exec(compile(snippet, PAGE.name, "exec"), names)


def test_the_options_of_methods_are_those_the_trainer_documents():
    text = DeepPartialAUCClassifier.__doc__
    entry = text[text.index("method_options : ") : text.index("validation : ")]
    named = set(re.findall(r"``(\w+)``", entry))
    assert named == {option for method in METHODS.values() for option in method.options}
