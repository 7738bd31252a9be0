"""Text from records, data sets, plug-ins and declarations is text in HTML, SVG, Markdown and for the shell."""

import json
import shlex
import xml.etree.ElementTree
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from click.testing import CliRunner
from markdown_it import MarkdownIt

from kernbench.cli import main
from kernbench.experiments import registry
from kernbench.experiments.declare import Method, Setting
from kernbench.report import build
from kernbench.report.tables.table import markdown_rows, markdown_text

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "</style></title><script>alert(1)</script>",
    "<!-- not a comment -->",
    "a|b || c",
    "`code` ``` and ~~struck~~",
    "**bold** _slanted_ [link](javascript:alert(1)) ![image](x)",
    "two\nlines\n\n# a heading\n- an item\n    code",
    "&lt;img src=x onerror=alert(1)&gt; &#60;b&#62;",
    "$(rm -r /) ; rm -r / ${HOME} $x$ \\frac{1}{2}",
    ' id="a" style="color: red" d="M 0 0 L 1 1" transform="rotate(0 1)',
    'url(#a"b) xlink:href="#c" #010203',
    "font-family: x",
    "\\ \\| back \\\\",
    "\x00\x1b[31m\u202eturned round",
    "# heading",
    "1. item",
    "- item",
    "=== ---",
    "---",
    "0.00091",
    "1)",
)


class Structure(HTMLParser):
    """Counts tags with the names of their attributes, and keeps the text between."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.text = Counter(), ""
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags[tag, *sorted(name for name, _ in attributes)] += 1

    def handle_data(self, data):
        self.text += data

    def handle_comment(self, data):
        self.tags["a comment"] += 1


def shown(text):
    """What a reader sees of a text, but for white space."""
    return " ".join("".join(c if c.isprintable() or c.isspace() else "\ufffd" for c in text).split())


def records_of(words, records):
    """Two records for each word, which stands in every text of the first; the second is a failure."""
    for k, word in enumerate(words):
        texts = {"name": word, "kind": word, "checksum": word, "description": word, "n_train": 10 + k}
        environment = {
            name: word
            for name in ("kernbench", "git_commit", "code", "host", "processor", "n_cores", "n_threads", "jobs",
                         "overcommitted", "plugin", "blas", "platform", "python", "numpy", "scipy", "scikit-learn")
        }  # fmt: skip
        common = {"dataset": word, "data": texts, "environment": environment, "started": word, "params": {word: word}}
        trace = {"seconds": [1.0, 2.0], "test_error": [0.5, 0.2], word: [word, word]}
        yield records.one("libsvm", key=f"{k}a", **common, metrics={"test_error": 0.2, word: 1.0}, trace=trace)
        yield records.failure(word, key=f"{k}b", **common, error=word)


@pytest.fixture(scope="module")
def pages(tmp_path_factory, records):
    """The folders of two reports that differ in the words alone: hostile and harmless ones."""
    folders = {}
    for kind, words in (("hostile", HOSTILE), ("harmless", [f"word{k}" for k in range(len(HOSTILE))])):
        folder = tmp_path_factory.mktemp(kind)
        rows = [json.dumps(record) + "\n" for record in records_of(words, records)]
        (folder / "toy.jsonl").write_text("".join(rows))
        scale = records.toy.scales["paper"]
        settings = tuple(Setting(word, {}, note=word, label=word) for word in words)
        experiment = replace(
            records.toy,
            title=words[0], paper=f"{words[1]}, Table 1", note=words[2],
            methods=(Method("libsvm", words[3], "sklearn.svm:SVC"), *records.toy.methods[1:]),
            scales={"paper": replace(scale, settings=(*scale.settings, *settings))},
        )  # fmt: skip
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(registry, "EXPERIMENTS", (experiment,))
            build(folder, folder / "page")
        folders[kind] = folder / "page"
    return folders


def read(folder, name):
    return (folder / name).read_text(encoding="utf-8")


def test_html_has_the_tags_and_attributes_of_a_harmless_page(pages):
    hostile, harmless = (Structure(read(folder, "index.html")) for folder in pages.values())
    assert set(hostile.tags) == set(harmless.tags)
    text = shown(hostile.text)
    assert [word for word in HOSTILE if shown(word) not in text] == []
    assert not any(c in read(pages["hostile"], "index.html") for c in "\x00\x1b\u202e")


def test_figures_are_well_formed_and_keep_the_words(pages):
    texts = ""
    for path in sorted((pages["hostile"] / "figures").glob("*.svg")):
        texts += " ".join(xml.etree.ElementTree.fromstring(path.read_text(encoding="utf-8")).itertext())
    assert "font-family: x" in texts and "#010203" in texts


@pytest.mark.parametrize("name", ["summary.md", "details/toy-paper.md"])
def test_markdown_has_the_elements_of_a_harmless_page(pages, name):
    render = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render
    hostile, harmless = (Structure(render(read(folder, name))) for folder in pages.values())
    assert hostile.tags == harmless.tags
    if name != "summary.md":
        text = shown(hostile.text)
        assert [word for word in HOSTILE if shown(word) not in text] == []


def test_commands_are_one_line_each_and_words_for_the_shell(pages):
    page = read(pages["hostile"], "details/toy-paper.md")
    lines = [line for line in page.splitlines() if line.startswith("    ")]
    assert len(lines) == len([line for line in read(pages["harmless"], "details/toy-paper.md").splitlines()
                              if line.startswith("    ")])  # fmt: skip
    assert lines and all(shlex.split(line)[0] == "kernbench" for line in lines)


def printed(folder, words, records):
    """What `compare` and `results show` print of a folder whose records contain the words, beside one without them."""
    for side, texts in (("these", words), ("those", ["nothing"])):
        (folder / side).mkdir(parents=True)
        rows = [json.dumps(record) + "\n" for record in records_of(texts, records)]
        (folder / side / "toy.jsonl").write_text("".join(rows), encoding="utf-8")
    both = ("compare", str(folder / "these"), str(folder / "those"))
    verbs = ((*both, "--markdown"), both, ("results", "show", "--results", both[1]))
    return [CliRunner().invoke(main, verb).output for verb in verbs]


def test_commands_print_text_of_records_as_text(tmp_path, records, toy):
    hostile = printed(tmp_path / "hostile", HOSTILE, records)
    harmless = printed(tmp_path / "harmless", [f"word{k}" for k in range(len(HOSTILE))], records)
    render = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render
    compared, expected = Structure(render(hostile[0])), Structure(render(harmless[0]))
    assert compared.tags == expected.tags
    assert all(f"word{k}" in expected.text for k in range(len(HOSTILE)))
    text = shown(compared.text)
    assert [word for word in HOSTILE if shown(word) not in text] == []
    for output in hostile:
        assert all(c.isprintable() or c in "\n\u00a0" for c in output)


@pytest.mark.parametrize("word", HOSTILE)
def test_a_cell_of_markdown_shows_any_text(word):
    render = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render
    table = "\n".join(markdown_rows(("a", "b"), ("---", "---"), [(word, "x"), ("y", word)]))
    found = Structure(render(table))
    assert found.tags == Structure(render("| a | b |\n| --- | --- |\n| c | d |\n| e | f |")).tags
    assert shown(found.text).count(shown(word)) == 2
    alone = Structure(render(markdown_text(word)))
    assert dict(alone.tags) == {("p",): 1} and shown(alone.text) == shown(word)
