"""Each test runs in a workflow, also those that skip where PyTorch or Dask is not installed."""

import re
from pathlib import Path

TESTS = Path(__file__).parent
LIST = TESTS.parent / ".ci" / "tests-of-extras.txt"
NEEDS_EXTRAS = re.compile(r"""importorskip\("(torch|dask|distributed)[".]|find_spec\("torch"\) is None""")


def test_tests_that_need_pytorch_or_dask_are_listed_for_the_environment_that_has_them():
    listed = [TESTS.parent / line for line in LIST.read_text(encoding="utf-8").split()]
    assert all(path.exists() for path in listed)
    needing = {path for path in TESTS.rglob("test_*.py") if NEEDS_EXTRAS.search(path.read_text(encoding="utf-8"))}
    assert {path for path in needing if not {path, *path.parents} & set(listed)} == set()
    assert needing
