"""What docs/deep.md shows runs as it stands there."""

import re
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="kernbench.deep needs PyTorch")

PAGE = Path(__file__).parents[2] / "docs" / "deep.md"


def test_snippets_of_the_page_run_one_after_another(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    snippets = re.findall(
        r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    assert len(snippets) > 4
    names = {"__name__": "snippet"}
    for snippet in snippets:
        exec(compile(snippet, PAGE.name, "exec"), names)
