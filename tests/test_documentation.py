"""What the README and the pages of docs/ show runs as it stands there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
WITHOUT_SNIPPETS = ["performance.md"]


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name not in WITHOUT_SNIPPETS], ids=lambda page: page.name
)
def test_snippets_of_a_page_run_one_after_another(page, tmp_path, monkeypatch):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    monkeypatch.chdir(tmp_path)
    snippets = re.findall(
        r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    assert snippets
    names = {"__name__": "snippet"}
    for snippet in snippets:
        exec(compile(snippet, page.name, "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_of_a_page_lead_to_files(page):
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if not (page.parent / link).exists()]
    assert not missing
