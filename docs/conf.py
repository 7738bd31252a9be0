"""Configuration of the documentation site: ``sphinx-build docs site``, offline.

Pages of other folders (the report, CONTRIBUTING.md) and the API reference are written by `_pages` before Sphinx reads
its sources.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import _design  # noqa: E402
import _mathml  # noqa: E402
import _pages  # noqa: E402
import _papers  # noqa: E402
from sphinx_gallery.sorting import ExplicitOrder  # noqa: E402

import kernbench  # noqa: E402

_pages.write(Path(__file__).parent)

project = "kernbench"
author = "The kernbench developers"
copyright = author  # noqa: A001
version = release = kernbench.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = [_pages.EXTRA, "gallery/GALLERY_HEADER.rst", "**/*.ipynb", "gallery/*.py"]
language = "en"
nitpicky = True
# Of other projects there is no index here; a name of ours that does not resolve is an error.
nitpick_ignore_regex = [(r"py:.*", r"(sklearn|numpy|scipy|matplotlib|torch|dask|pandas|collections|abc)\..*")]
suppress_warnings = ["config.cache"]  # of the gallery's settings, which are functions in part

myst_enable_extensions = ["colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 4

toc_object_entries_show_parents = "hide"
autodoc_member_order = "bysource"
autodoc_mock_imports = ["torch"]  # the site is the same with and without it
autodoc_typehints = "none"  # types are in the docstrings
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "backreferences_dir": "api/examples",
    "doc_module": ("kernbench",),
    "within_subsection_order": "FileNameSortKey",
    "subsection_order": ExplicitOrder(["*"]),
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 3600,
    "write_computation_times": False,
    "download_all_examples": False,
    "abort_on_example_error": True,
    "thumbnail_size": (480, 340),
}

html_theme = "pydata_sphinx_theme"
html_title = "kernbench"
html_static_path = ["_static"]
html_extra_path = [_pages.EXTRA]
html_css_files = ["kernbench.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "kernbench"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "tutorial": [], "choose": [], "design": []}  # the last has wide diagrams


def setup(app):
    """Connect what changes pages on their way."""
    app.connect("source-read", _design.insert)
    app.connect("source-read", _papers.insert)
    app.connect("source-read", _pages.links_to_pages)  # of what was inserted, too
    app.connect("autodoc-process-docstring", _pages.as_restructured_text, priority=100)  # before numpydoc
    app.connect("autodoc-skip-member", _pages.skip_foreign_members)
    _mathml.setup(app)
