"""Every output that the tutorial shows is the output got."""

import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
spec = importlib.util.spec_from_file_location("docs_snippets", DOCS / "_snippets.py")
snippets = importlib.util.module_from_spec(spec)
spec.loader.exec_module(snippets)


@pytest.mark.parametrize("page", snippets.PAGES, ids=lambda page: page.name)
def test_outputs_shown_are_those_got(page, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    n_shown = 0
    for found, printed in snippets.outputs(page.read_text(encoding="utf-8")):
        assert snippets.agree(found["output"] or "", printed), (found["output"], printed)
        n_shown += bool(printed)
    assert n_shown >= 6


def test_outputs_are_written_below_their_snippets():
    page = "a\n\n```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n\n```python\nx = 1\n```\nb\n"
    written = snippets.with_outputs(page)
    assert written == page.replace("3\n", "2\n") == snippets.with_outputs(written)


@pytest.mark.parametrize(
    "shown, printed, same",
    [
        ("AUC 0.891 True", "AUC 0.893 True", True),
        ("gap 4e-06", "gap 9e-06", True),
        ("gap 4e-06", "gap 4e-03", False),
        ("AUC 0.891", "AUC 0.791", False),
        ("converged: True", "converged: False", False),
        ("1 2", "1", False),
        ("", "1", False),
    ],
)
def test_outputs_agree_up_to_rounding_of_their_numbers(shown, printed, same):
    assert snippets.agree(shown, printed) is same
