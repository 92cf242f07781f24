"""Sphinx configuration. Nothing here needs a network.

Build with warnings as errors::

    python -m sphinx -W -b html docs docs/_build/html
"""

import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
sys.path.insert(0, str(HERE.parent))

import skrep  # noqa: E402

project = "skrep"
author = "The skrep developers"
project_copyright = author
release = skrep.__version__
version = ".".join(release.split(".")[:2])

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "skrep_docs",
]
toc_object_entries_show_parents = "hide"
templates_path = ["_templates"]
exclude_patterns = ["_build", "_ext", "_generated", "_templates", "examples"]
default_role = "literal"

autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "auto_examples",
    "backreferences_dir": "_generated/backreferences",
    "doc_module": ("skrep",),
    "inspect_global_variables": True,
    "download_all_examples": False,
    "min_reported_time": 0,
    "within_subsection_order": "ExampleTitleSortKey",
    "remove_config_comments": True,
    "matplotlib_animations": False,
    "show_signature": False,
    "abort_on_example_error": True,
}
# An example that warns is a broken example: the reader would see the warning.
warnings.filterwarnings("error", module="skrep")

html_theme = "pydata_sphinx_theme"
html_title = "skrep"
html_static_path = ["_static"]
html_css_files = ["skrep.css"]
html_copy_source = False
html_show_sourcelink = False
html_sidebars = {"index": [], "install": []}
html_theme_options = {
    "navbar_align": "left",
    "show_toc_level": 2,
    "show_nav_level": 1,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "a11y-light",
    "pygments_dark_style": "a11y-dark",
}
