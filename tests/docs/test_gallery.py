"""Every script of the gallery runs by itself, warns of nothing, and ends with a picture."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("plot_*.py"))


# Warnings are errors, but for that of show() without a screen.
RUN = """
import runpy, sys, warnings
import matplotlib; matplotlib.use("agg")
import matplotlib.pyplot as plt
warnings.simplefilter("error"); warnings.filterwarnings("ignore", "FigureCanvasAgg is non-interactive")
runpy.run_path(sys.argv[1], run_name="__main__")
figures = [plt.figure(number) for number in plt.get_fignums()]
axes = [ax for figure in figures for ax in figure.axes]
assert axes and all(ax.has_data() for ax in axes), "no picture"
assert all(ax.get_xlim()[0] >= 0 for ax in axes if ax.get_xlabel() == "seconds"), "the axis of time begins below 0"
"""


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_script_draws_a_picture(path, tmp_path):
    result = subprocess.run(
        [sys.executable, "-c", RUN, path], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_script_says_what_it_shows_and_begins_with_data_of_its_own(path):
    """It can be copied: no file of this project, nothing from the network."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    title, line, *text = ast.get_docstring(tree).splitlines()
    assert len(line) == len(title) and set(line) == {"="} and len(" ".join(text)) > 80
    names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert "show" in names and not {"fetch", "load_own"} & names
    assert "fetch_" not in path.read_text(encoding="utf-8")
