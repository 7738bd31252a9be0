"""Tests that need PyTorch or Dask run in a workflow; a release has one version everywhere, and all files."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from kernbench._version import __version__

TESTS = Path(__file__).parent
ROOT = TESTS.parent
LIST = ROOT / ".ci" / "tests-of-extras.txt"
CONSTRAINTS = ".ci/torch-constraints.txt"
NEEDS_EXTRAS = re.compile(r"""importorskip\("(torch|dask|distributed)[".]|find_spec\("torch"\) is None""")


def test_tests_that_need_pytorch_or_dask_are_listed_for_the_environment_that_has_them():
    listed = [ROOT / line for line in LIST.read_text(encoding="utf-8").split()]
    assert all(path.exists() for path in listed)
    needing = {path for path in TESTS.rglob("test_*.py") if NEEDS_EXTRAS.search(path.read_text(encoding="utf-8"))}
    assert {path for path in needing if not {path, *path.parents} & set(listed)} == set()
    assert needing


def test_a_workflow_that_installs_pytorch_tells_pip_where_its_build_without_cuda_is():
    source = re.search(r"PIP_FIND_LINKS=(\S+)", (ROOT / CONSTRAINTS).read_text(encoding="utf-8"))[1]
    scripts = (".ci/run", 'tools/suite "${{ matrix.which }}"')
    assert all(CONSTRAINTS in (ROOT / script.split()[0]).read_text(encoding="utf-8") for script in scripts)
    found = []
    for workflow in (ROOT / ".github" / "workflows").glob("*.yml"):
        steps = re.split(r"^ *- (?=run:|uses:)", workflow.read_text(encoding="utf-8"), flags=re.MULTILINE)
        found += [step for step in steps if any(f"run: {script}" in step for script in scripts)]
    assert len(found) == len(scripts) and all(f"PIP_FIND_LINKS: {source}\n" in step for step in found)


@pytest.mark.parametrize("words", [[], ["old"], ["-k", "sdca"]])
def test_the_suite_with_a_word_it_does_not_know_installs_nothing(words, tmp_path):
    for name in ("python", "pytest"):
        (tmp_path / name).write_text(f"#!/bin/sh\necho {name} was called\n")
        (tmp_path / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run([ROOT / "tools" / "suite", *words], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.startswith("usage: tools/suite oldest|")


@pytest.mark.parametrize("script", [".ci/run", "tools/sanitize", "tools/release/test"])
def test_a_script_that_needs_a_checkout_says_so_elsewhere(script, tmp_path):
    copy = tmp_path / script
    copy.parent.mkdir(parents=True)
    shutil.copy(ROOT / script, copy)
    done = subprocess.run([copy, __file__, "python3"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"{script} ") and last.endswith(": run it in a checkout, with git")


def test_scripts_in_python_whose_names_do_not_say_so_are_linted():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    files = [path for path in (ROOT / "tools").rglob("*") if path.is_file() and not path.suffix]
    scripts = [path for path in files if path.read_text(encoding="utf-8").startswith("#!/usr/bin/env python")]
    names = {path.relative_to(ROOT).as_posix() for path in scripts}
    assert names and names == set(settings["tool"]["ruff"]["extend-include"])


def test_the_main_job_of_the_readme_leaves_the_checked_in_report_alone():
    """Tests compare that one with the pages, and fail for newcomers who have replaced it."""
    (command,) = re.findall(r"<!-- main-job -->\n```\n\$ (.*)\n```", (ROOT / "README.md").read_text(encoding="utf-8"))
    written = re.findall(r"kernbench report .*--out (\w+)/", command)
    assert written and f"/{written[0]}/" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()


def test_environments_in_the_folders_that_the_pages_name_are_ignored():
    pages = [(ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "CONTRIBUTING.md")]
    named = [re.findall(r"python -m venv (\S+)", page) for page in pages]
    assert all(named)
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    unchecked = settings["tool"]["codespell"]["skip"].split(",")
    for name in {name for names in named for name in names}:
        assert {f"{name}/", f"/{name}/"} & set(ignored)
        assert name.startswith(".") or name in unchecked  # it skips hidden folders


def test_the_citation_has_the_version_of_the_package():
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


@pytest.mark.parametrize("tag, passes", [("v1.2.3", True), ("v1.2.4", False), ("v1.2", False)])
def test_a_release_stops_where_its_tag_is_not_the_version_that_was_built(tag, passes, tmp_path):
    workflow = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    command = re.search(r"the tag names the version that was built\n.*\n *run: (.*)\n", workflow)[1]
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "kernbench-1.2.3.tar.gz").touch()
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, env={**os.environ, "GITHUB_REF_NAME": tag})
    assert (done.returncode == 0) is passes


@pytest.mark.parametrize("heading, passes", [("1.2.3 (2026-01-31)", True), ("1.2.3 (unreleased)", False), ("", False)])
def test_a_release_stops_where_the_changelog_calls_it_unreleased(heading, passes, tmp_path):
    workflow = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    command = re.search(r"the changelog says when it was released\n.*\n *run: (.*)\n", workflow)[1]
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n## {heading}\n\n## 1.2.2 (2025-01-31)\n")
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, env={**os.environ, "GITHUB_REF_NAME": "v1.2.3"})
    assert (done.returncode == 0) is passes
    assert re.search(
        rf"^## {re.escape(__version__)} \(", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )


def test_links_of_the_readme_lead_to_the_repository_from_the_page_of_the_package_index(tmp_path):
    script = tmp_path / "tools" / "release" / "readme"
    script.parent.mkdir(parents=True)
    shutil.copy(ROOT / "tools" / "release" / "readme", script)
    before = (ROOT / "README.md").read_text(encoding="utf-8")
    (tmp_path / "README.md").write_text(before + "[here](#more) [there](https://example.org/a)\n", encoding="utf-8")
    subprocess.run([script, "https://github.com/o/n", "v1.2.3"], check=True)
    after = (tmp_path / "README.md").read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)]*)\)", after)
    assert targets[-2:] == ["https://github.com/o/n/blob/v1.2.3/README.md#more", "https://example.org/a"]
    assert "won](https://github.com/o/n/raw/v1.2.3/reports/figures/speed.svg)](https://github.com/o/n/blob/" in after
    found = [re.match(r"https://github\.com/o/n/(?:blob|raw)/v1\.2\.3/([^#]+)", target) for target in targets[:-1]]
    assert len(found) > 30 and all((ROOT / link[1]).exists() for link in found)
    # The source distribution is built from what the script has written.
    workflow = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    assert 0 < workflow.index("run: tools/release/readme ") < workflow.index("-m build --sdist")


def test_versions_of_python_that_are_declared_are_those_that_are_tested_and_have_wheels():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project, wheels = settings["project"], settings["tool"]["cibuildwheel"]["build"]
    declared = re.findall(r"Python :: (3\.\d+)\n", "\n".join([*project["classifiers"], ""]))
    assert project["requires-python"] == f">={declared[0]}"
    matrix = (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
    assert sorted(set(re.findall(r'\{ python: "(3\.\d+)"', matrix))) == declared
    assert [f"3.{minor}" for minor in re.findall(r"cp3(\d+)-", " ".join(wheels))] == declared
    (builder,) = (name for name in project["optional-dependencies"]["release"] if name.startswith("cibuildwheel"))
    assert f'"{builder}"' in (ROOT / "tools" / "release" / "wheels").read_text(encoding="utf-8")
    by_hand = re.search(r"for python in (.*); do", (ROOT / "tools" / "release" / "build").read_text(encoding="utf-8"))
    assert by_hand[1].split() == [f"python{version}" for version in declared]


@pytest.mark.skipif(shutil.which("git") is None or not (ROOT / ".git").exists(), reason="needs git and a checkout")
def test_the_source_distribution_holds_all_files_that_are_checked_in(monkeypatch):
    """Its README says how to run the tests and to build the site, and links to the report."""
    lists = pytest.importorskip("setuptools.command.egg_info", reason="setuptools reads MANIFEST.in")
    command = ["git", "-c", "safe.directory=*", "ls-files"]  # the checkout may be of another user
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    monkeypatch.chdir(ROOT)
    found = lists.FileList()
    for line in (ROOT / "MANIFEST.in").read_text(encoding="utf-8").splitlines():
        found.process_template_line(line)
    checked_in = {name for name in done.stdout.splitlines() if os.path.exists(name)}
    missing = checked_in - {os.path.normpath(name) for name in found.files}
    by_itself = re.compile(r"MANIFEST\.in|setup\.py|pyproject\.toml|kernbench/.*\.py")  # setuptools adds them untold
    assert len(checked_in) > 1000 and {name for name in missing if not by_itself.fullmatch(name)} == set()
