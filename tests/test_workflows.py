"""Each test runs in a workflow, also those that skip where PyTorch or Dask is not installed."""

import re
from pathlib import Path

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
    scripts = (".ci/run", "tools/suite extras")
    assert all(CONSTRAINTS in (ROOT / script.split()[0]).read_text(encoding="utf-8") for script in scripts)
    found = []
    for workflow in (ROOT / ".github" / "workflows").glob("*.yml"):
        steps = re.split(r"^ *- (?=run:|uses:)", workflow.read_text(encoding="utf-8"), flags=re.MULTILINE)
        found += [step for step in steps if any(f"run: {script}" in step for script in scripts)]
    assert len(found) == len(scripts) and all(f"PIP_FIND_LINKS: {source}\n" in step for step in found)
